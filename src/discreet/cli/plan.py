"""discreet plan --cells K --population N --target-risk q"""

from functools import partial
from pathlib import Path

import click

from discreet.cli.grouped import COMPUTED, KNOWN, OUTPUT, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.options import full_option, page_options, pages_asked

PARAMETERS = {"target risk": "--target-risk"}


@click.command(name="plan", cls=Command)
@option(KNOWN, "--cells", type=int, required=True, help="Number of possible cells of the table.")
@option(KNOWN, "--population", type=int, required=True, help="Number of persons in the population.")
@option(
    COMPUTED, "--target-risk", required=True,
    help="Greatest probability allowed that a sample unique is a population unique, as 0.05.",
)  # fmt: skip
@option(
    COMPUTED, "--prior", type=click.Choice(["uniform", "multinomial"]),
    help="What is assumed of the population before the sample: every table alike, or every person "
    "as likely in any cell [default: both].",
)  # fmt: skip
@page_options
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(
    cells: int,
    population: int,
    target_risk: str,
    prior: str | None,
    as_json: bool,
    full: bool,
    **pages: Path | None,
) -> None:
    """How large a sample may be, so that a sample unique is seldom a population unique.

    By the Bayes formulas of Cohen and Sackrowitz, which treat all cells alike.
    """
    from discreet.cli.show import outside, show
    from discreet.data.writing import check_outputs
    from discreet.flows.plan import plan
    from discreet.report.plan import plan_document, plan_json

    check_outputs(pages_asked(pages), [])
    with speaking_of(PARAMETERS):
        plans = plan(cells, population, target_risk, prior)
    show(
        partial(plan_document, plans),
        partial(plan_json, plans),
        as_json=as_json,
        full=full,
        report=pages["report"],
        others=outside(pages, plans),
    )
