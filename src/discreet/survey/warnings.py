"""What a steward should look at before trusting the figures, seen in the data themselves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.missing import EVERY_COLUMN
from discreet.data.summary import Summary
from discreet.engines.contract import CellStore, IdleCode, WeightCheck
from discreet.engines.key_space import KeyLevels
from discreet.errors import WeightError, must_be
from discreet.numerics.rounding import above, alike
from discreet.survey.attributes.sensitive import SensitiveFigures
from discreet.survey.impossible import ImpossibleList

LOOKS_MISSING = frozenset(
    {"na", "n/a", "nan", "null", "none", ".", "*", "?", "-", "missing", "refused", "don't know",
     "no answer", "not stated"}
)  # fmt: skip
NEGATIVE_CODES = frozenset(
    {"-1", "-2", "-3", "-6", "-7", "-8", "-9", "-66", "-77", "-88", "-98", "-99", "-777", "-888",
     "-998", "-999", "-9999"}
)  # fmt: skip
NO_WEIGHTS = frozenset(
    {"age", "amount", "bmi", "cost", "earnings", "eur", "height", "id", "income", "kg", "pay",
     "price", "rent", "revenue", "salary", "score", "tax", "turnover", "usd", "wage", "wages",
     "wealth", "year"}
)  # fmt: skip
MOST_PEOPLE = 8.5e9
WIDEST = 10_000  # times the smallest weight
SHOWN_CODES = 5
MANY_LEVELS = 1_000


def data_warnings(
    cells: CellStore,
    summary: Summary,
    impossible: ImpossibleList | None,
    sensitive: Sequence[SensitiveFigures] = (),
    weight: str | None = None,
) -> tuple[str, ...]:
    """One plain sentence for each thing that looks amiss; `weight` is the name of its column."""
    found = [*_about_weights(cells, summary, weight)]
    if impossible is not None and impossible.n_idle:
        found.append(
            f"{impossible.n_idle:,} of the {impossible.n_rows:,} impossible combinations name a "
            "level that never occurs, so they have no effect"
        )
    found += _about_totals(cells, summary)
    found += map(_about_code, cells.idle_codes)
    for key in cells.keys:
        found += _about_key(key, cells.n_records)
        shown = [value for value in key.values if value is not None]
        found += _about_levels(f"key {key.name!r}", [*dict.fromkeys((*shown, *key.labels))])
    for figures in sensitive:
        found += _about_levels(f"sensitive variable {figures.name!r}", figures.levels)
    if summary.sample_size == 1:
        found.append("the file has a single record, so it is unique whatever the keys are")
    return tuple(found)


def _about_code(idle: IdleCode) -> str:
    where = "any column" if idle.column == EVERY_COLUMN else repr(idle.column)
    return f"the code {idle.code!r} for {idle.kind} never occurs in {where}, so it has no effect"


def check_weights(name: str | None, weights: WeightCheck | None) -> None:
    """The weights add up to no more people than there are; raises WeightError where they do."""
    if weights is not None and weights.total > MOST_PEOPLE:
        rule = "survey weights, the persons that each record stands for"
        got = "a sum of more people than there are on earth"
        remedy = "is it an amount? take the column of weights, or give the size of the population"
        raise WeightError(must_be(f"weight {name!r}", rule, got, remedy=f"{remedy} (population)"))


def _about_the_weight(
    name: str, weights: WeightCheck, n_records: int, known: bool
) -> Iterator[str]:
    """Signs that the column holds something else than survey weights, or scaled ones."""
    parts = {part.casefold() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    if parts & NO_WEIGHTS:
        yield (
            f"the weight {name!r} has the name of something else: a survey weight is the number of "
            "persons that a record stands for; if this is none, every estimate is wrong"
        )
    if weights.largest > WIDEST * weights.smallest:
        yield (
            f"the largest weight is {_size(weights.largest / weights.smallest)} times the "
            "smallest: that is more like an amount than a survey weight"
        )
    if not known and alike(weights.total, n_records):
        yield (
            "the weights add up to the number of records, so the file is taken for the whole "
            "population; if they were scaled to that, give the size of the population"
        )


def _about_weights(cells: CellStore, summary: Summary, name: str | None) -> Iterator[str]:
    if cells.weights is None or name is None:
        return
    known = summary.population_size_known
    yield from _about_the_weight(name, cells.weights, cells.n_records, known)
    if cells.weights.n_below_one:
        yield (
            f"{cells.weights.n_below_one:,} of {cells.n_records:,} weights are below 1: a record "
            "cannot stand for less than itself, so these may not be design weights"
        )
        undersized = cells.cells.fold(Undersized())
        if undersized:
            yield (
                f"in {undersized:,} cells the weights sum to less than the records there are; the "
                "individual risk takes these cells for complete"
            )
    size = summary.population_size if known else None
    ratio = 1.0 if size is None else cells.weights.total / size
    if size is not None and not (above(ratio, 0.8) and above(1.25, ratio)):
        yield (
            f"the weights sum to {_size(cells.weights.total)}, far from the population of "
            f"{_size(size)} that was given"
        )


def _about_totals(cells: CellStore, summary: Summary) -> Iterator[str]:
    if summary.n_table_cells < cells.cells.n_cells and summary.size_indices.is_partition:
        yield (
            f"the {summary.n_table_cells:,} possible cells that were given are fewer than the "
            f"{cells.cells.n_cells:,} that hold records, so no model of the table can use them"
        )


def _about_key(key: KeyLevels, n_records: int) -> Iterator[str]:
    levels = len(key.values)
    if levels == n_records and n_records > 1:
        yield (
            f"key {key.name!r} is different in every record: it looks like an identifier, and it "
            "alone makes every record unique; take it out of the keys"
        )
    elif levels > MANY_LEVELS:
        yield (
            f"key {key.name!r} has {levels:,} levels: an intruder rarely knows a value so exactly; "
            "group it, or leave it out"
        )
    if levels == 1:
        only = "missing" if key.values[0] is None else "the same"
        yield f"key {key.name!r} is {only} in every record, so it adds nothing"


def looks_missing(levels: Sequence[str]) -> list[str]:
    """The levels that are written as people write missing values."""
    codes = [level for level in levels if level.strip().casefold() in LOOKS_MISSING]
    negative = [level for level in levels if _is_negative(level)]
    if set(negative) <= NEGATIVE_CODES:  # else numbers below nought are ordinary here
        codes += negative
    return codes


def _about_levels(name: str, levels: Sequence[str]) -> Iterator[str]:
    """Levels that are written as people write missing values."""
    codes = looks_missing(levels)
    if codes:
        shown = " and ".join(repr(code) for code in codes[:SHOWN_CODES])
        yield (
            f"{name} has {shown} among its levels: if that stands for no value, say so "
            f"by a code for missing or suppressed values (missing code {codes[0]})"
        )


def _is_negative(level: str) -> bool:
    try:
        return float(level) < 0
    except ValueError:
        return False


def _size(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


@dataclass(frozen=True, slots=True)
class Undersized:
    """Cells whose weights sum to less than their records: no sampling design gives such weights.

    The individual risk takes p = 1 there, so with the risk 1/f, the highest there is.
    """

    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> int:
        """Of some cells."""
        if batch.weight_total is None:
            return 0
        slack = 1e-9  # what sums of weights may lose by rounding
        return int(np.count_nonzero(batch.weight_total < batch.sample_count * (1 - slack)))

    def joined(self, one: int, other: int) -> int:
        """Of the cells of both."""
        return one + other
