"""How far the shares of a table moved."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.protection.analysis_request import AnalysisRequest
from discreet.protection.estimates_kept import (
    AnalysisKept,
    counts_of,
    estimate_kept,
    exact,
    mean_overlap,
)
from discreet.protection.model_columns import ModelCells, ModelColumn, model_cells, model_column
from discreet.protection.model_fit import CONFIDENCE

BEFORE, AFTER = 0, 1
TABLE = "table"
MOST_TABLE_CELLS = 1 << 16


def table_kept(
    asked: AnalysisRequest, tables: Sequence[pa.Table], weights: Sequence[FloatArray]
) -> AnalysisKept | Unavailable:
    """The shares of the cells that occur in one of the files."""
    columns = [model_column(tables, name, category=True) for name in asked.predictors]
    sides = [
        model_cells(columns, np.zeros(len(w)), np.ones(len(w), dtype=np.bool_), w, file)
        for file, w in enumerate(weights)
    ]
    for side, which in zip(sides, ("original", "protected"), strict=True):
        if not side.n_records:
            return Unavailable(f"none of the {which} records has all values of the table")
    shares = [_shares(columns, side) for side in sides]
    names = sorted({*shares[BEFORE], *shares[AFTER]})
    if len(names) > MOST_TABLE_CELLS:
        return Unavailable(f"the table has more than {MOST_TABLE_CELLS:,} cells that are not empty")
    pairs = [[own.get(cell, 0.0) for own in shares] for cell in names]
    same = Unavailable("a table is compared as it was recoded")
    estimates = tuple(
        estimate_kept(
            ", ".join(_cell_name(columns, cell)),
            _share_figure(before, sides[BEFORE].effective),
            _share_figure(after, sides[AFTER].effective),
            same,
        )
        for cell, (before, after) in zip(names, pairs, strict=True)
    )
    none = Unavailable("a share has no sign to change")
    return AnalysisKept(
        request=asked.text,
        kind=TABLE,
        estimates=estimates,
        overlap=mean_overlap(estimates),
        sign_changed=none,
        significance_changed=none,
        distance=exact(sum(abs(before - after) for before, after in pairs) / 2),
        **counts_of(*sides),
    )


def _shares(columns: Sequence[ModelColumn], cells: ModelCells) -> dict[tuple[int, ...], float]:
    levels = np.stack([cells.values[column.name] for column in columns], axis=1).astype(np.int64)
    shares = cells.weight / cells.weight.sum()
    return {tuple(row): float(x) for row, x in zip(levels.tolist(), shares, strict=True)}


def _cell_name(columns: Sequence[ModelColumn], cell: Sequence[int]) -> list[str]:
    return [f"{c.name}={(c.labels or ())[v]}" for c, v in zip(columns, cell, strict=True)]


def _share_figure(share: float, n: float) -> Figure:
    """A share with Wilson's interval of n records, of a weighted file as many as (Σ w)² / Σ w²."""
    from scipy.special import ndtri

    z = float(ndtri((1 + CONFIDENCE) / 2))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)))
    return Figure(
        value=share,
        how=How.ESTIMATE,
        low=min(max(middle - half, 0.0), share),
        high=max(min(middle + half, 1.0), share),
        standard_error=float(np.sqrt(max(share * (1 - share), 0.0) / n)),
        confidence=CONFIDENCE,
    )
