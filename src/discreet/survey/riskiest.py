"""The riskiest key combinations: highest risk first, then fewest records, then rarest levels."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import CellStore
from discreet.engines.local.grouping import in_order
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE, order_of
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK

SHOWN_ROWS = 5  # of one combination


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskyCell:
    """A combination that few records share: `records` lie in it, `sample_count` match each of them.

    The two differ only where missing values match other values. `rows` are its first records, from
    1 in the order of the file, and `carried` what each holds in the columns to carry. `risk` and
    `population_unique` are the recommended ones, None where there are none.
    `expected_count` is the number of records it would hold if the keys were independent,
    n · ∏ (share of the level): of two equally small cells, the one with less is the stranger.
    """

    levels: tuple[str, ...]
    sample_count: float
    records: int
    weight_total: float | None
    expected_count: float
    rows: tuple[int, ...] = ()
    carried: tuple[tuple[str, ...], ...] = ()
    risk: float | None = None
    population_unique: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Cells that may be among the riskiest, one row each."""

    words: IntArray
    risk: FloatArray
    unique: FloatArray
    sample_count: CountArray
    records: IntArray
    weight_total: FloatArray
    log_expected: FloatArray

    def part(self, rows: IntArray) -> "Candidates":
        """Some of them."""
        return Candidates(**{f.name: getattr(self, f.name)[rows] for f in fields(Candidates)})

    def joined(self, other: "Candidates") -> "Candidates":
        """Both together."""
        pairs = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        return Candidates(**{name: np.concatenate(pair) for name, pair in pairs.items()})

    def best(self, limit: int) -> "Candidates":
        """The riskiest, in their order: of equal ones those whose codes come first."""
        by_code = self.part(in_order(self.words))
        rarest = order_of(-by_code.log_expected, scale=1.0)  # like levels add up in another order
        fewest = rarest[np.argsort(by_code.sample_count[rarest], kind="stable")]
        return by_code.part(fewest[order_of(by_code.risk[fewest])][:limit])


@dataclass(frozen=True, slots=True)
class Riskiest:
    """The `limit` riskiest cells: highest risk first, then fewest records, then rarest levels.

    `shares` are the logarithms of the shares of the levels of each key among `total` records.
    Without a risk beside the cells 1/f stands in; cells without one come last.
    """

    shares: tuple[FloatArray, ...]
    total: int
    limit: int
    told: bool

    @property
    def reads(self) -> tuple[str, ...]:
        """The risks, where there are some."""
        return (RISK, POPULATION_UNIQUE) if self.told else ()

    def of(self, batch: CellBatch) -> Candidates:
        """Of some cells."""
        few, risk, unique = self._few(batch)
        levels = (few.coding.level(few.words, j) for j in range(len(self.shares)))
        logs = (share[level] for share, level in zip(self.shares, levels, strict=True))
        log_expected = np.asarray(np.log(self.total) + sum(logs), dtype=np.float64)
        weights = few.weight_total
        found = Candidates(
            words=few.words,
            risk=risk,
            unique=unique,
            sample_count=few.sample_count,
            records=few.n_records,
            weight_total=np.zeros(len(few)) if weights is None else weights,
            log_expected=log_expected,
        )
        return self._rarest(found).best(self.limit)

    def joined(self, one: Candidates, other: Candidates) -> Candidates:
        """Of the cells of both."""
        return one.joined(other).best(self.limit)

    def _few(self, batch: CellBatch) -> tuple[CellBatch, FloatArray, FloatArray]:
        """Only the cells that may be among the riskiest, with their risks."""
        risk, unique = 1.0 / batch.sample_count, np.zeros(len(batch))
        if self.told:
            risk = np.nan_to_num(batch.extra[RISK], nan=-1.0)
            unique = batch.extra[POPULATION_UNIQUE]
        least = np.sort(risk)[::-1][min(self.limit, len(risk)) - 1]
        kept = np.flatnonzero(risk >= least * (1 - ALIKE) if least > 0 else risk >= least)
        return batch.part(kept), risk[kept], unique[kept]

    def _rarest(self, found: Candidates) -> Candidates:
        """Where very many cells have one risk and one count, those that may be among the rarest: a
        whole file of uniques need not be put in order for twenty of them."""
        risk, count = found.risk, found.sample_count
        alike = risk.min() == risk.max() and count.min() == count.max()
        if len(risk) <= self.limit or not alike:
            return found
        last = _end_of_tie(found.log_expected, self.limit)
        return found.part(np.flatnonzero(found.log_expected <= last))


def riskiest_cells(
    store: CellStore,
    margins: Sequence[IntArray],
    *,
    told: bool,
    limit: int = 20,
) -> tuple[RiskyCell, ...]:
    """The `limit` riskiest cells; `margins` are the one-way counts of each key, and `told` says
    that each cell has its risk beside it."""
    total = int(margins[0].sum())
    shares = tuple(np.log(np.maximum(margin, 1) / total) for margin in margins)
    best = store.cells.fold(Riskiest(shares, total, limit, told))
    rows = store.rows_in(best.words, SHOWN_ROWS)
    named = _named(best, store, rows, told=told)
    held = iter(store.carried([row for at in rows for row in at]))
    return tuple(replace(one, carried=tuple(next(held) for _ in one.rows)) for one in named)


def _end_of_tie(values: FloatArray, limit: int) -> float:
    """The `limit`-th smallest value, or the last of those that are alike with it one by one."""
    start, reach = float(np.partition(values, limit - 1)[limit - 1]), 1e-6
    while True:
        end = start + reach
        near = np.sort(values[(values >= start) & (values <= end)])
        gaps = np.flatnonzero(np.diff(near, append=end) > 4 * ALIKE * (1 + np.abs(near)))
        if len(gaps):
            return float(near[gaps[0]])
        reach *= 10


def _named(
    best: Candidates, store: CellStore, rows: Sequence[tuple[int, ...]], *, told: bool
) -> tuple[RiskyCell, ...]:
    keys, levels = store.keys, store.cells.space.coding.decode(best.words)
    weighted = store.cells.weighted
    found = []
    for i, at in enumerate(rows):
        count, risk = best.sample_count[i], float(best.risk[i])
        unique = float(best.unique[i])
        found.append(
            RiskyCell(
                levels=tuple(k.labels[n] for k, n in zip(keys, levels[i], strict=True)),
                sample_count=float(count) if count % 1 else int(count),
                records=int(best.records[i]),
                weight_total=float(best.weight_total[i]) if weighted else None,
                expected_count=float(np.exp(best.log_expected[i])),
                rows=at,
                risk=risk if told and risk >= 0 else None,
                population_unique=unique if told and not np.isnan(unique) else None,
            )
        )
    return tuple(found)
