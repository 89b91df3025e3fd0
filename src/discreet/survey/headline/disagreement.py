"""What to make of other models: those that the data contradict are no argument."""

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.figures import Figure, Outcome
from discreet.numerics.rounding import above, alike, first_largest


def disagreement(
    led: Outcome, others: Mapping[str, float], contradicted: Sequence[str]
) -> str | None:
    """One sentence or two on the other models; None where there are none, or nothing to doubt.

    `led` are the population uniques that lead; models named in `contradicted` do not fit the data
    by their own account.
    """
    if not others or not isinstance(led, Figure) or led.low == led.high:
        return None
    fitting = {name: value for name, value in others.items() if name not in contradicted}
    out = len(others) - len(fitting)
    said = []
    if out:
        of_all = "the other model" if len(others) == 1 else f"{out} of {len(others)} other models"
        argument = "it is no argument" if out == 1 else "they are no argument"
        said.append(f"the data contradict {of_all}, so {argument}")
    if fitting:
        said.append(_those_that_fit(fitting, led))
    return "; ".join(said)


def _those_that_fit(fitting: Mapping[str, float], led: Figure) -> str:
    """What they say, and what to do where some of them lie outside the limits of the estimate."""
    names, values = list(fitting), np.array(list(fitting.values()))
    low, high = (names[first_largest(sign * values, scale=1.0)] for sign in (-1, 1))
    if len(fitting) == 1:
        told = f"{low}, which fits, says {_rounded(fitting[low])}"
    elif alike(fitting[low], fitting[high], scale=1.0):
        told = f"the {len(fitting)} that fit say {_rounded(fitting[low])}"
    else:
        told = (
            f"the {len(fitting)} that fit say {_rounded(fitting[low])} ({low}) to "
            f"{_rounded(fitting[high])} ({high})"
        )
    if not any(_is_outside(value, led) for value in fitting.values()):
        return f"{told}, within the limits"
    return f"{told}: a backtest on data like these tells which to trust"


def _is_outside(value: float, led: Figure) -> bool:
    low, high = led.low, led.high
    return (low is not None and above(low, value)) or (high is not None and above(value, high))


def _rounded(number: float) -> str:
    if 0 < number < 0.1:
        return "less than 0.1"
    return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"
