"""The riskiest key combinations: fewest records first, then the rarest by their levels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import KeyLevels
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.rounding import order_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskyCell:
    """A combination that few records share: `records` lie in it, `sample_count` match each of them.

    The two differ only where missing values match other values.
    `expected_count` is the number of records it would hold if the keys were independent,
    n · ∏ (share of the level): of two equally small cells, the one with less is the stranger.
    """

    levels: tuple[str, ...]
    sample_count: float
    records: int
    weight_total: float | None
    expected_count: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidates:
    levels: IntArray
    sample_count: CountArray
    records: IntArray
    weight_total: FloatArray
    log_expected: FloatArray

    def best(self, limit: int) -> "_Candidates":
        rarest = order_of(-self.log_expected, scale=1.0)  # like levels add up in another order
        order = rarest[np.argsort(self.sample_count[rarest], kind="stable")][:limit]
        return _Candidates(
            levels=self.levels[order],
            sample_count=self.sample_count[order],
            records=self.records[order],
            weight_total=self.weight_total[order],
            log_expected=self.log_expected[order],
        )


def riskiest_cells(
    batches: Iterable[CellBatch],
    keys: Sequence[KeyLevels],
    margins: Sequence[IntArray],
    limit: int = 20,
) -> tuple[RiskyCell, ...]:
    """The `limit` riskiest cells of all batches; `margins` are the one-way counts of each key."""
    total = int(margins[0].sum())
    shares = [np.log(np.maximum(margin, 1) / total) for margin in margins]
    best: _Candidates | None = None
    for batch in batches:
        here = _candidates(_few(batch, limit), shares, total).best(limit)
        best = here if best is None else _join(best, here).best(limit)
    return () if best is None else _named(best, keys, batch.weight_total is not None)


def _few(batch: CellBatch, limit: int) -> CellBatch:
    """Only the cells of a batch that are small enough to be among its riskiest."""
    ordered = np.sort(batch.sample_count)
    small = batch.sample_count <= ordered[min(limit, len(ordered)) - 1]
    return CellBatch(
        coding=batch.coding,
        words=batch.words[small],
        sample_count=batch.sample_count[small],
        records=batch.n_records[small],
        weight_total=None if batch.weight_total is None else batch.weight_total[small],
    )


def _candidates(batch: CellBatch, shares: Sequence[FloatArray], total: int) -> _Candidates:
    levels = batch.levels()
    log_expected = np.log(total) + sum(share[levels[:, j]] for j, share in enumerate(shares))
    weights = batch.weight_total
    return _Candidates(
        levels=levels,
        sample_count=batch.sample_count,
        records=batch.n_records,
        weight_total=np.zeros(len(batch)) if weights is None else weights,
        log_expected=np.asarray(log_expected, dtype=np.float64),
    )


def _join(one: _Candidates, other: _Candidates) -> _Candidates:
    return _Candidates(
        levels=np.concatenate([one.levels, other.levels]),
        sample_count=np.concatenate([one.sample_count, other.sample_count]),
        records=np.concatenate([one.records, other.records]),
        weight_total=np.concatenate([one.weight_total, other.weight_total]),
        log_expected=np.concatenate([one.log_expected, other.log_expected]),
    )


def _named(best: _Candidates, keys: Sequence[KeyLevels], weighted: bool) -> tuple[RiskyCell, ...]:
    return tuple(
        RiskyCell(
            levels=tuple(key.labels[level] for key, level in zip(keys, row, strict=True)),
            sample_count=float(count) if count % 1 else int(count),
            records=int(records),
            weight_total=float(weight) if weighted else None,
            expected_count=float(np.exp(log_expected)),
        )
        for row, count, records, weight, log_expected in zip(
            best.levels,
            best.sample_count,
            best.records,
            best.weight_total,
            best.log_expected,
            strict=True,
        )
    )
