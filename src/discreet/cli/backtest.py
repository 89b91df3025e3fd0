"""discreet backtest POPULATION --keys a,b,c"""

from functools import partial
from typing import Any

import click

from discreet.cli.engines import engine_of, engine_options, source_of
from discreet.cli.grouped import COMPUTED, KNOWN, OUTPUT, READING, Command, option
from discreet.cli.option_names import speaking_of
from discreet.cli.options import (
    Names,
    Numbers,
    code_options,
    codes_by_column,
    csv_from,
    csv_options,
    full_option,
    model_names,
    page_options,
    pages_asked,
)


@click.command(name="backtest", cls=Command)
@click.argument("file")
@option(
    KNOWN, "--keys", "--key-vars", "--keyVars", "--qi", "keys", type=Names(), required=True,
    help="Columns an intruder may know.",
)  # fmt: skip
@option(
    COMPUTED, "--fractions", type=Numbers(), default=(0.01, 0.05, 0.1),
    help="Sizes of the samples, as parts of the population [default: .01,.05,.1].",
)  # fmt: skip
@option(
    COMPUTED, "--repeats", type=int, default=20, show_default=True, help="Samples of each size."
)
@option(COMPUTED, "--models", default="auto", show_default=True, help="auto, or names with commas.")
@option(
    COMPUTED, "--stratum",
    help="A key: as many persons are drawn from each of its levels, and weighted.",
)  # fmt: skip
@option(
    COMPUTED, "--seed", type=click.IntRange(min=0), default=1, show_default=True,
    help="Seed of all samples.",
)  # fmt: skip
@engine_options
@page_options
@full_option
@option(OUTPUT, "--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@option(
    READING, "--missing", default="category", show_default=True,
    help="What a missing key is: category, drop or error.",
)  # fmt: skip
@code_options
@csv_options
def command(file: str, **options: Any) -> None:
    """Which model to trust on data like FILE, taken as a whole population.

    Draws samples, asks every model for the population uniques among the sample uniques, and
    compares with the truth. Ctrl-C shows the samples done so far.
    """
    from discreet.cli.console import progress_bar
    from discreet.cli.show import outside, show
    from discreet.data.records import open_records
    from discreet.data.writing import check_outputs
    from discreet.flows.backtest import backtest
    from discreet.report.backtest import backtest_document, backtest_json

    csv = csv_from(*(options[name] for name in ("delimiter", "quote", "encoding", "decimal")))
    plain = ("keys", "fractions", "repeats", "stratum", "missing", "seed")
    codes = ("missing_codes", "suppressed_codes", "not_applicable_codes")
    asked = {name: options[name] for name in plain} | {
        name: codes_by_column(options[name]) for name in codes
    }
    asked |= {"models": model_names(options["models"]), "csv": csv}
    with speaking_of(), progress_bar() as progress, engine_of(options, progress) as engine:
        source = open_records(source_of(file, engine), csv, options["sheet"])
        check_outputs(pages_asked(options), source.files, source.parts)
        league = backtest(source, **asked, engine=engine, progress=progress)
    show(
        partial(backtest_document, league),
        partial(backtest_json, league),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, league, source.name),
    )
