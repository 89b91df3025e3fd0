"""The worst of several figures of one kind, as far as each of them is known."""

from collections.abc import Mapping
from dataclasses import replace

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import above, first_largest
from discreet.policy.verdict import ends


def worst_figure(risks: Mapping[str, Outcome], most: float = 1.0) -> Outcome:
    """The greatest of several risks, `most` being the greatest that there is.

    Where one is only estimated, the worst lies between the greatest lower and upper limits; where
    one is not known, it is at least the worst of the others.
    """
    known = [risk for risk in risks.values() if isinstance(risk, Figure)]
    missing = [f"{name}: {r.reason}" for name, r in risks.items() if isinstance(r, Unavailable)]
    if not known:
        reasons = {risk.reason for risk in risks.values() if isinstance(risk, Unavailable)}
        return Unavailable("; ".join(sorted(reasons)))
    low = max(ends(one)[0] for one in known)
    if missing and above(most, low):
        return Figure(value=None, low=low, high=most, how=How.BOUND, note="; ".join(missing))
    top = known[first_largest([ends(one)[1] for one in known])]
    if top.how is How.EXACT:
        return top
    high = ends(top)[1]
    return replace(top, low=min(low, high), high=high)
