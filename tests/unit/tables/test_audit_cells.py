"""Cells of a large table that an audit looks at: ties are told apart by no last bit."""

import numpy as np
import pytest

from discreet.figures import Unavailable
from discreet.tables import audit_cells
from discreet.tables.audit_cells import CellAudit, LookedAt

CELL = CellAudit(levels=(0,), truth=1, lower=0, upper=3, how="exact")


@pytest.mark.parametrize("bits", [-4, -1, 0, 1, 4])
def test_cells_expected_to_hold_as_much_as_the_confidence_are_not_found(bits):
    """1 · 1 / 2 by logarithms is a half, give or take its last bits."""
    cells = LookedAt(
        cells=(CELL,),
        small=(CELL,),
        n_small=7,
        tightness=Unavailable("not asked"),
        greatest_left=0.5 * (1 + bits * 2**-52),
        notes=(),
    )
    assert cells.n_measured(0.5) == 7
    assert cells.n_measured(0.499) == 1


@pytest.mark.parametrize("seed", range(3))
def test_of_cells_that_are_as_exposed_the_first_are_looked_at(monkeypatch, seed):
    monkeypatch.setattr(audit_cells, "MOST_NAMED", 4)
    noise = np.random.default_rng(seed).integers(-3, 4, 12) * 2.0**-52
    widths, truths = np.full(12, 5), np.ones(12, dtype=np.int64)
    mean = np.repeat([0.1, 1 / 3], 6) * (1 + noise)
    assert audit_cells._most_exposed(widths, truths, mean).tolist() == [0, 1, 6, 7]
