"""E(1/F) in the closed forms that polettini prints; they lose digits as p nears 1."""

import numpy as np

from discreet.numerics.arrays import FloatArray
from discreet.survey.models.inverse_mean import printed_form_of_three


def closed_form_of_two(p: FloatArray) -> FloatArray:
    """E(1/F) for f = 2 as (p/q²)(p log p + q); loses digits as p nears 1 (polettini section 2)."""
    q = 1 - p
    return p / q**2 * (p * np.log(p) + q)


def closed_form_of_three(p: FloatArray) -> FloatArray:
    """E(1/F) for f = 3 as (p/2q³)(q(3q − 2) − 2p² log p); loses digits as p nears 1.

    The last form in polettini section 2 divides by q² instead, see `printed_form_of_three`.
    """
    return printed_form_of_three(p) / (1 - p)
