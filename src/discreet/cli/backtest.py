"""discreet backtest POPULATION --keys a,b,c"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.options import Names, Numbers, csv_from, csv_options
from discreet.cli.single_options import OnceCommand

PATH = click.Path(path_type=Path)


@click.command(name="backtest", cls=OnceCommand)
@click.argument("population")
@click.option(
    "--keys", "--key-vars", "--keyVars", "--qi", "keys", type=Names(), required=True,
    help="Columns an intruder may know.",
)  # fmt: skip
@click.option(
    "--fractions", type=Numbers(), default=(0.01, 0.05, 0.1), help="Of the sample [.01,.05,.1]."
)
@click.option("--repeats", type=int, default=20, show_default=True, help="Samples of each size.")
@click.option("--models", default="auto", show_default=True, help="auto, or names with commas.")
@click.option("--stratum", help="A key: as many persons from each of its levels, weighted.")
@click.option("--missing", default="category", show_default=True, help="category, drop or error.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--report", type=PATH, help="Write an HTML page with plots.")
@csv_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def command(population: str, **options: Any) -> None:
    """Which model to trust on data like POPULATION, a file taken as a whole population.

    Draws samples, asks every model for the population uniques among the sample uniques, and
    compares with the truth. Ctrl-C shows the samples done so far.
    """
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.report.backtest import backtest_document, backtest_json
    from discreet.survey.backtest.league import backtest

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    source = open_records(population, csv)
    report = options["report"]
    if report is not None:
        check_outputs([report], source.files, source.parts)
    names = options["models"]
    with progress_bar() as progress:
        league = backtest(
            source,
            options["keys"],
            fractions=options["fractions"],
            repeats=options["repeats"],
            models=names if names == "auto" else [name.strip() for name in names.split(",")],
            stratum=options["stratum"],
            missing=options["missing"],
            seed=options["seed"],
            csv=csv,
            progress=progress,
        )
    show(
        partial(backtest_document, league),
        partial(backtest_json, league),
        as_json=options["as_json"],
        report=report,
    )
