"""Array types, and arrays that nobody can change by accident."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
CountArray = IntArray | FloatArray  # whole, but for matches that count in part


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, marked so that writing to it raises."""
    array.flags.writeable = False
    return array
