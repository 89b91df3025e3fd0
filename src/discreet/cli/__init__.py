"""The command line: parse, one library call, render. Heavy imports wait until a command runs."""

import io
import os
import sys
from pathlib import Path

import click

from discreet.cli.exit_codes import run_and_report
from discreet.cli.lazy import LazyGroup
from discreet.numerics.linear_algebra import keep_to_one_thread


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    commands={
        "assess": (
            "discreet.cli.assess",
            "Who stands out in a file of records, who could be found.",
        ),
        "protect": (
            "discreet.cli.protect",
            "Change a file of records until the rules hold, and show what it cost.",
        ),
        "audit": ("discreet.cli.audit", "What released margins of a table reveal of it."),
        "attack": (
            "discreet.cli.attack",
            "What published tables reveal together, without the data behind them.",
        ),
        "choose": (
            "discreet.cli.choose",
            "What to publish of a table: the most useful release within a limit on risk.",
        ),
        "counts": ("discreet.cli.counts", "What the statistics of counts give away of them."),
        "policies": ("discreet.cli.policies", "What safe means: the policies, and your own."),
        "plan": ("discreet.cli.plan", "How large a sample may be for a given risk."),
        "backtest": (
            "discreet.cli.backtest",
            "Which model to trust: all of them on samples of a known population.",
        ),
        "papers": (
            "discreet.cli.papers",
            "Every figure of the five papers: printed, computed, verdict.",
        ),
        "demo": (
            "discreet.cli.demo",
            "Assess a survey of a population that is known in full.",
        ),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="discreet", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Disclosure risk for discrete data: survey files, contingency tables, counts."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Run the command line and exit: 0 done, 1 a fault of ours, 2 bad input, 3 a rule is broken,
    4 one is undecided, 130 stopped."""
    nowhere = Path(os.devnull)
    sys.stdout = sys.stdout or nowhere.open("w")
    sys.stderr = sys.stderr or nowhere.open("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    keep_to_one_thread()
    sys.exit(run_and_report(cli, sys.argv[1:]))
