"""discreet attack --published t1.csv --published t2.xlsx"""

from functools import partial
from typing import Any

import click

from discreet.cli.exit_codes import leave_with
from discreet.cli.grouped import COMPUTED, KNOWN, OUTPUT, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.options import PagePath, full_option, policy_option
from discreet.cli.published import given_of, published_options

PLAIN = ("knows", "policy", "small", "most", "areas", "area_seconds", "seconds", "seed")


@click.command(name="attack", cls=Command)
@option(
    KNOWN, "--published", multiple=True, required=True, metavar="FILE[ | …]",
    help="A table as it was published: CSV, Excel, JSON-stat 2 or PX; may be given several times. "
    "Behind a bar stands what is to be said of it: 't2.csv | sex=F' (women only), "
    "'t3.csv | rounded(5)', 'rounded(5,nearest)', 'perturbed(4)', 'withheld(1..4)'; "
    "and how it is to be read: 'sheet=2021', 'encoding=latin-1', 'decimal=,'.",
)  # fmt: skip
@published_options
@option(
    KNOWN, "--knows", multiple=True, metavar="A=1,B=2:0..3",
    help="What an intruder also knows: from 0 to 3 persons have these levels; may be given several "
    "times.",
)  # fmt: skip
@policy_option
@option(
    COMPUTED, "--small", type=int,
    help="Counts from 1 up to it are small: none may follow [default: 2, or what --policy calls "
    "small].",
)  # fmt: skip
@option(
    COMPUTED, "--most", type=click.IntRange(0), default=1000, show_default=True,
    help="So many figures are listed with their derivation, the smallest first.",
)  # fmt: skip
@option(
    COMPUTED, "--areas", metavar="VAR",
    help="A variable whose levels are areas: for each of them, how many records are certain and "
    "how far two tables that fit can differ.",
)  # fmt: skip
@option(
    COMPUTED, "--area-seconds", type=float, default=10.0, show_default=True,
    help="Time allowed for each area.",
)  # fmt: skip
@option(COMPUTED, "--seconds", type=float, default=60.0, show_default=True, help="Time allowed.")
@option(
    COMPUTED, "--seed", type=click.IntRange(0), default=1, show_default=True,
    help="Seed of the draws that estimate the number of tables.",
)  # fmt: skip
@option(OUTPUT, "--report", type=PagePath(), help="Write a report, as .html or .pdf.")
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(**options: Any) -> None:
    """What follows from published tables together, without the data behind them.

    Which figures follow that no table shows, each with a derivation to check by hand. Exit code 3
    means that a small count follows.
    """
    with speaking_of({"published": "--published"}):
        _run(options)


def _run(options: dict[str, Any]) -> None:
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.flows.attack import attack
    from discreet.report.attack.document import attack_document
    from discreet.report.attack.json import attack_json

    with progress_bar() as progress:
        found = attack(
            list(options["published"]),
            progress=progress,
            **{name: options[name] for name in PLAIN},
            **given_of(options),
        )
    show(
        partial(attack_document, found),
        partial(attack_json, found),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
    )
    leave_with(found.verdict)
