"""discreet plan --cells K --population N --target-risk q"""

from functools import partial
from pathlib import Path

import click

from discreet.cli.option_names import speaking_of
from discreet.cli.single_options import OnceCommand

PATH = click.Path(path_type=Path)
PARAMETERS = {
    "n_table_cells": "--cells",
    "population_size": "--population",
    "target risk": "--target-risk",
}


@click.command(name="plan", cls=OnceCommand)
@click.option("--cells", type=int, required=True, help="Possible cells of the table.")
@click.option("--population", type=int, required=True, help="Size of the population.")
@click.option("--target-risk", required=True, help="Highest unique probability allowed, as 0.05.")
@click.option(
    "--prior", type=click.Choice(["uniform", "multinomial"]), help="One prior [default: both]."
)
@click.option("--report", type=PATH, help="Write the curve as an HTML page.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(
    cells: int,
    population: int,
    target_risk: str,
    prior: str | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """How large a sample may be, so that a sample unique is seldom a population unique.

    By the Bayes formulas of Cohen and Sackrowitz, which treat all cells alike.
    """
    from discreet.cli.show import show
    from discreet.data.writing import check_outputs
    from discreet.report.plan import plan_document, plan_json
    from discreet.survey.models.sample_size import plan_sample_size

    if report is not None:
        check_outputs([report], [])
    priors = [prior] if prior else ["uniform", "multinomial"]
    with speaking_of(PARAMETERS):
        plans = [plan_sample_size(cells, population, target_risk, p) for p in priors]
    show(partial(plan_document, plans), partial(plan_json, plans), as_json=as_json, report=report)
