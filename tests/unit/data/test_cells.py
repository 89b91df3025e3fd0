"""A batch of cells knows the levels behind its codes."""

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding


def test_levels_are_those_that_were_encoded():
    coding = Coding.of_sizes([2, 3, 4], limit=6)
    levels = np.array([[0, 2, 3], [1, 0, 1]])
    batch = CellBatch(
        coding=coding,
        words=coding.encode(levels),
        sample_count=np.array([1, 5]),
        weight_total=None,
    )
    assert len(batch) == 2
    assert batch.words.shape == (2, 2)
    assert (batch.levels() == levels).all()
