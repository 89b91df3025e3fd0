"""What the search for the best margins hands over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.choice.best_set.frontier import Frontier
from discreet.figures import Outcome
from discreet.notebooks import Result
from discreet.numerics.bit_sets import Axes
from discreet.tables.refused_margin import RiskMeasure

Names = tuple[str, ...]


class Family(StrEnum):
    """Among which releases the chosen one was sought."""

    ALL = "all sets of margins"
    DECOMPOSABLE = "decomposable sets of margins"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecomposableBest:
    """The best decomposable release found: margins, utility, and a bound on any other's utility."""

    chosen: tuple[Names, ...]
    utility: float
    upper_bound: float
    optimal: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BestMargins(Result):
    """The margins to publish, how good they are, and how much better any choice could be.

    `chosen` is all that is out afterwards (what was out before included), none part of another;
    `to_publish` is what is new in it. No safe release of `family` has a utility above
    `upper_bound`; `optimal` says that this one reaches it (for weights that are not whole, to a
    millionth of the greatest weight for each request). `risk` is that of all that is out together:
    measure (3), minus the least width of a small cell's bounds, or the share of small cells
    identified. `others` are other safe sets that were met, best first.
    """

    names: Names
    measure: RiskMeasure
    min_width: int | None
    max_share: float | None
    small: int
    n_small_cells: int
    requested: Mapping[Names, float]
    already: tuple[Names, ...]
    chosen: tuple[Names, ...]
    to_publish: tuple[Names, ...]
    utility: float
    upper_bound: float
    family: Family
    optimal: bool
    risk: Outcome
    decomposable: DecomposableBest | None
    frontier: Frontier | None
    others: tuple[tuple[tuple[Names, ...], float], ...]
    conflicts: tuple[tuple[Names, ...], ...]
    seed: int
    seconds: float
    complete: bool
    notes: tuple[str, ...]

    @property
    def total_weight(self) -> float:
        """The utility of a release that holds everything wanted."""
        return float(sum(self.requested.values()))

    @property
    def gap(self) -> float:
        """How much utility a better release of the family could add at most."""
        return max(self.upper_bound - self.utility, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the bound: 0 where nothing is better."""
        return self.gap / self.upper_bound if self.upper_bound > 0 else 0.0

    def margin_names(self, axes: Axes) -> Names:
        """The names of the variables at these positions."""
        return tuple(self.names[axis] for axis in axes)

    def described(self) -> dict[str, Any]:
        """The result under its JSON names, as it stands within that of a choice."""
        return _json(self)


def _json(found: BestMargins) -> dict[str, Any]:
    return {
        "measure": found.measure.value,
        "min_width": found.min_width,
        "max_share": found.max_share,
        "small": found.small,
        "n_small_cells": found.n_small_cells,
        "already": _lists(found.already),
        "chosen": _lists(found.chosen),
        "to_publish": _lists(found.to_publish),
        "utility": found.utility,
        "upper_bound": found.upper_bound,
        "total_weight": found.total_weight,
        "gap": found.gap,
        "relative_gap": found.relative_gap,
        "family": found.family.value,
        "optimal": found.optimal,
        "risk": found.risk.to_json(),
        "decomposable": _decomposable_json(found.decomposable),
        "frontier": _frontier_json(found),
        "others": [{"chosen": _lists(sets), "utility": worth} for sets, worth in found.others],
        "conflicts": [_lists(one) for one in found.conflicts],
        "seed": found.seed,
        "seconds": round(found.seconds, 3),
        "complete": found.complete,
        "notes": list(found.notes),
    }


def _lists(margins: Iterable[Names]) -> list[list[str]]:
    return [list(names) for names in margins]


def _decomposable_json(best: DecomposableBest | None) -> dict[str, Any] | None:
    if best is None:
        return None
    return {
        "chosen": _lists(best.chosen),
        "utility": best.utility,
        "upper_bound": best.upper_bound,
        "optimal": best.optimal,
    }


def _frontier_json(found: BestMargins) -> dict[str, Any] | None:
    edge = found.frontier
    if edge is None:
        return None
    return {
        "released": _lists(map(found.margin_names, edge.released)),
        "blocked": _lists(map(found.margin_names, edge.blocked)),
        "unreleasable": _lists(map(found.margin_names, edge.unreleasable)),
        "order": edge.order,
        "complete": edge.complete,
    }
