"""Which model to trust: all of them on samples of a known population."""

from collections.abc import Iterable
from typing import Any

from discreet.data.records import open_records
from discreet.engines.contract import Engine
from discreet.flows.engine import engine_or_default
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable_in_parts
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent
from discreet.survey.backtest.league import Backtest, league
from discreet.survey.backtest.options import BacktestOptions
from discreet.survey.backtest.sampling_trial import PopulationCells
from discreet.survey.projection import AllCells

MOST_OF_POPULATION = 20_000_000  # occupied cells that samples are drawn from
RENAMED = {"codes": "'missing_codes', 'suppressed_codes' and 'not_applicable_codes'"}


@in_one_thread
@stoppable_in_parts
@documented_by(BacktestOptions, renamed=RENAMED)
def backtest(
    source: Any,
    keys: Iterable[str] | None = None,
    options: BacktestOptions | None = None,
    *,
    sheet: str | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
    **keywords: Any,
) -> Backtest:
    """Every model on samples drawn from a file that is taken as a whole population.

    `source` and `sheet` are those of `assess`.

    Each sample is drawn without replacement, simply at random, or with `stratum` (a key) as many
    persons from each of its levels, weighted accordingly. The models see what they would see of
    such a sample: its cells, weights and the size of the population. If the user interrupts, the
    samples done so far are returned. The population is read once.
    """
    if keys is not None or options is None:
        keywords = {"keys": keys, **keywords}
    asked = options_of(BacktestOptions, options, keywords)
    records = open_records(source, asked.csv, sheet)
    with engine_or_default(engine, progress).count(asked.request(records)) as store:
        cells = AllCells.of(store.cells, MOST_OF_POPULATION)
        population = PopulationCells(
            coding=cells.coding, levels=cells.coding.decode(cells.words), counts=cells.records
        )
    return league(population, records.name, asked, progress)
