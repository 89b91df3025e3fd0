"""The command line: parse, one library call, render. Heavy imports wait until a command runs."""

import sys

import click

from discreet.cli.failing import run_and_report
from discreet.cli.lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    commands={
        "assess": (
            "discreet.cli.assess",
            "Who stands out in a file of records, who could be found.",
        ),
        "demo": (
            "discreet.cli.demo",
            "Assess a survey of a population that is known in full.",
        ),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="discreet", message="%(prog)s %(version)s")
def cli() -> None:
    """Disclosure risk for discrete data: survey files, contingency tables, counts."""


def main() -> None:
    """Run the command line and exit: 0 done, 2 bad input, 3 the policy says no, 130 stopped."""
    sys.exit(run_and_report(cli))
