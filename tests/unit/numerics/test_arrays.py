"""Arrays that nobody can change by accident."""

import numpy as np
import pytest

from discreet.numerics.arrays import read_only


def test_writing_to_a_read_only_array_raises():
    array = read_only(np.arange(3))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 7
    assert array.tolist() == [0, 1, 2]
