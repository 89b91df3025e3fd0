"""The riskiest key combinations: highest risk first, then fewest records, then rarest levels."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import CellStore, KeyLevels
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE, order_of
from discreet.survey.headline.record_risk import CellRisks

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
class _Candidates:
    cell: IntArray
    risk: FloatArray
    unique: FloatArray
    levels: IntArray
    sample_count: CountArray
    records: IntArray
    weight_total: FloatArray
    log_expected: FloatArray

    def best(self, limit: int) -> "_Candidates":
        rarest = order_of(-self.log_expected, scale=1.0)  # like levels add up in another order
        fewest = rarest[np.argsort(self.sample_count[rarest], kind="stable")]
        order = fewest[order_of(self.risk[fewest])][:limit]
        return _Candidates(
            cell=self.cell[order],
            risk=self.risk[order],
            unique=self.unique[order],
            levels=self.levels[order],
            sample_count=self.sample_count[order],
            records=self.records[order],
            weight_total=self.weight_total[order],
            log_expected=self.log_expected[order],
        )


def riskiest_cells(
    cells: CellStore,
    margins: Sequence[IntArray],
    risks: CellRisks | None,
    limit: int = 20,
) -> tuple[RiskyCell, ...]:
    """The `limit` riskiest cells of all batches; `margins` are the one-way counts of each key.

    Cells without a risk come last; where no cell has one, 1/f stands in.
    """
    total = int(margins[0].sum())
    shares = [np.log(np.maximum(margin, 1) / total) for margin in margins]
    best: _Candidates | None = None
    first, weighted = 0, False
    for batch in cells.batches():
        here = _rarest(*_few(batch, risks, first, limit), shares, total, limit)
        found = _candidates(*here).best(limit)
        best = found if best is None else _join(best, found).best(limit)
        first += len(batch)
        weighted = batch.weight_total is not None
    if best is None:
        return ()
    rows = cells.rows_in(best.cell.tolist(), SHOWN_ROWS)
    named = _named(best, cells.keys, rows, weighted=weighted, told=risks is not None)
    held = iter(cells.carried([row for at in rows for row in at]))
    return tuple(replace(one, carried=tuple(next(held) for _ in one.rows)) for one in named)


def _few(
    batch: CellBatch, risks: CellRisks | None, first: int, limit: int
) -> tuple[CellBatch, IntArray, FloatArray, FloatArray]:
    """Only the cells of a batch that may be among its riskiest: cells, places, risks, uniques."""
    here = slice(first, first + len(batch))
    risk = 1.0 / batch.sample_count if risks is None else np.nan_to_num(risks.risk[here], nan=-1.0)
    unique = np.zeros(len(batch)) if risks is None else risks.population_unique[here]
    least = np.sort(risk)[::-1][min(limit, len(risk)) - 1]
    kept = np.flatnonzero(risk >= least * (1 - ALIKE) if least > 0 else risk >= least)
    return batch.part(kept), kept + first, risk[kept], unique[kept]


def _rarest(
    batch: CellBatch,
    cell: IntArray,
    risk: FloatArray,
    unique: FloatArray,
    shares: Sequence[FloatArray],
    total: int,
    limit: int,
) -> tuple[CellBatch, IntArray, FloatArray, FloatArray, FloatArray]:
    """Where very many cells have one risk and one count, those that may be among the rarest, and
    the expected counts: a whole file of uniques need not be put in order for twenty of them."""
    levels = (batch.coding.level(batch.words, j) for j in range(len(shares)))
    rarity = np.log(total) + sum(share[level] for share, level in zip(shares, levels, strict=True))
    log_expected = np.asarray(rarity, dtype=np.float64)
    kept = np.arange(len(batch))
    count = batch.sample_count
    if len(batch) > limit and risk.min() == risk.max() and count.min() == count.max():
        kept = np.flatnonzero(log_expected <= _end_of_tie(log_expected, limit))
    return batch.part(kept), cell[kept], risk[kept], unique[kept], log_expected[kept]


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


def _candidates(
    batch: CellBatch,
    cell: IntArray,
    risk: FloatArray,
    unique: FloatArray,
    log_expected: FloatArray,
) -> _Candidates:
    levels = batch.levels()
    weights = batch.weight_total
    return _Candidates(
        cell=cell,
        risk=risk,
        unique=unique,
        levels=levels,
        sample_count=batch.sample_count,
        records=batch.n_records,
        weight_total=np.zeros(len(batch)) if weights is None else weights,
        log_expected=log_expected,
    )


def _join(one: _Candidates, other: _Candidates) -> _Candidates:
    pairs = {f.name: (getattr(one, f.name), getattr(other, f.name)) for f in fields(_Candidates)}
    return _Candidates(**{name: np.concatenate(pair) for name, pair in pairs.items()})


def _named(
    best: _Candidates,
    keys: Sequence[KeyLevels],
    rows: Sequence[tuple[int, ...]],
    *,
    weighted: bool,
    told: bool,
) -> tuple[RiskyCell, ...]:
    found = []
    for i, at in enumerate(rows):
        count, risk = best.sample_count[i], float(best.risk[i])
        unique = float(best.unique[i])
        found.append(
            RiskyCell(
                levels=tuple(k.labels[n] for k, n in zip(keys, best.levels[i], strict=True)),
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
