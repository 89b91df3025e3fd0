"""Scientists by name: what each wants of a table, and in which units he loses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from discreet.choice.actors import Scientist, Study
from discreet.choice.utility import Association, CellCounts, Deviance, Hellinger, Requests
from discreet.errors import InputError, must_be
from discreet.masks.contract import Axes

REQUESTS = "requests"


@dataclass(frozen=True, slots=True)
class Preset:
    """A study by name: what is wanted, and what a loss is counted in."""

    study: Study
    wants: str
    unit: str


PRESETS: Mapping[str, Preset] = {
    "counts": Preset(
        CellCounts(), "the counts of all cells", "persons in the wrong cell, summed over cells"
    ),
    "squares": Preset(
        CellCounts(error="squared"), "the counts, large errors above all", "squared errors, summed"
    ),
    "association": Preset(
        Association(),
        "how each two variables depend on each other",
        "mean difference of log-linear association terms",
    ),
    "fit": Preset(Deviance(), "a log-linear model of the table", "deviance of the true counts"),
    "shape": Preset(Hellinger(), "the distribution over the cells", "Hellinger distance, 0 to 1"),
}
WANTS_REQUESTS = "the margins that were requested"
UNIT_REQUESTS = "share of requests not met, by weight"
DEFAULT = {"counts": 1.0, "association": 1.0, "shape": 1.0}


def scientists(
    weights: Mapping[str, float] | None,
    requests: Sequence[tuple[Axes, float]] = (),
    *,
    n_variables: int = 2,
) -> tuple[Scientist, ...]:
    """Users by name with their weights.

    Where none is named: those who want requested margins, if there are requests, else those who
    want counts, association and shape, alike; of one variable there is no association.
    """
    usual = DEFAULT if n_variables > 1 else {"counts": 1.0, "shape": 1.0}
    named = dict(weights or ({REQUESTS: 1.0} if requests else usual))
    if REQUESTS in named and not requests:
        raise InputError(must_be("request", f"given where {REQUESTS!r} are a user", "none"))
    if requests and REQUESTS not in named:
        rule = f"with {REQUESTS!r} among the users"
        raise InputError(must_be("request", rule, f"users {', '.join(named)}"))
    return tuple(
        Scientist(name=name, studies=[(1.0, _study(name, requests))], weight=weight)
        for name, weight in named.items()
    )


def wants(name: str) -> str:
    """What the user wants."""
    return PRESETS[name].wants if name in PRESETS else WANTS_REQUESTS


def unit(name: str) -> str:
    """What his loss is counted in."""
    return PRESETS[name].unit if name in PRESETS else UNIT_REQUESTS


def _study(name: str, requests: Sequence[tuple[Axes, float]]) -> Study:
    if name == REQUESTS:
        return Requests(margins=tuple(requests))
    if name not in PRESETS:
        near = get_close_matches(name, [*PRESETS, REQUESTS], n=1)
        remedy = f"did you mean {near[0]!r}?" if near else None
        rule = f"one of {', '.join([*PRESETS, REQUESTS])}"
        raise InputError(must_be("user", rule, repr(name), remedy=remedy))
    return PRESETS[name].study
