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
    out = [name for name in others if name in contradicted]
    said = [_those_that_fit(fitting, led)] if fitting else []
    if out:
        models = "1 other model" if len(out) == 1 else f"{len(out)} other models"
        no_argument = "is no argument" if len(out) == 1 else "are no argument"
        said.append(f"the data contradict {models}, which {no_argument} against it")
    return "; ".join(said)


def _those_that_fit(fitting: Mapping[str, float], led: Figure) -> str:
    names, values = list(fitting), np.array(list(fitting.values()))
    low, high = (names[first_largest(sign * values, scale=1.0)] for sign in (-1, 1))
    if len(fitting) == 1:
        told = f"{low}, which the data do not contradict, says {_rounded(fitting[low])}"
    elif alike(fitting[low], fitting[high], scale=1.0):
        told = f"{len(fitting)} models that the data do not contradict say {_rounded(fitting[low])}"
    else:
        told = (
            f"{len(fitting)} models that the data do not contradict say from "
            f"{_rounded(fitting[low])} ({low}) to {_rounded(fitting[high])} ({high})"
        )
    return f"{told}, {_against(fitting, led)}"


def _against(fitting: Mapping[str, float], led: Figure) -> str:
    """Which of them lie outside the limits of the estimate."""
    outside = [name for name, value in fitting.items() if _is_outside(value, led)]
    if not outside:
        return "within its limits"
    if len(outside) == len(fitting):
        return "outside its limits: a backtest on data like these tells which to trust"
    listed = " and ".join(filter(None, (", ".join(outside[:-1]), outside[-1])))
    return f"{listed} outside its limits: a backtest on data like these tells which to trust"


def _is_outside(value: float, led: Figure) -> bool:
    low, high = led.low, led.high
    return (low is not None and above(low, value)) or (high is not None and above(value, high))


def _rounded(number: float) -> str:
    if 0 < number < 0.1:
        return "less than 0.1"
    return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"
