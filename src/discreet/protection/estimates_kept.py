"""What became of the estimates of an analysis, one by one and together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.protection.model_columns import ModelCells


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateKept:
    """One estimate with its 95 % interval before and after.

    `overlap` is the mean of the shares of the two intervals that lie in both (Karr, Kohnen,
    Oganian, Reiter and Sanil 2006), 0 if none does; `standardised_difference` how many standard
    errors (before) it moved. `original` is the estimate before any recoding.
    """

    name: str
    before: Figure
    after: Figure
    overlap: Outcome
    standardised_difference: Outcome
    original: Outcome

    @property
    def sign_changed(self) -> bool:
        """Whether the estimates lie on two sides of 0."""
        return float(self.before.value or 0) * float(self.after.value or 0) < 0

    @property
    def significance_changed(self) -> bool:
        """Whether one interval holds 0 and the other does not."""
        return _holds_0(self.before) != _holds_0(self.after)

    def to_json(self) -> dict[str, Any]:
        """All of it by name."""
        return {
            "name": self.name,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "overlap": self.overlap.to_json(),
            "standardised_difference": self.standardised_difference.to_json(),
            "original": self.original.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisKept:
    """What became of one analysis.

    `overlap` is the mean over the estimates (all coefficients but the constant, or all cells of a
    table), `sign_changed` and `significance_changed` the share of coefficients of which that is so,
    `distance` the share of persons in another cell of a table. `left_out_before` and
    `left_out_after` records lack a value that is needed. `only_before` and `only_after` are the
    coefficients that one of the two models has alone. Standard errors are the classical ones; the
    logistic regression is of the level `success`.
    """

    request: str
    kind: str
    estimates: tuple[EstimateKept, ...]
    overlap: Outcome
    sign_changed: Outcome
    significance_changed: Outcome
    distance: Outcome
    records_before: Figure
    records_after: Figure
    left_out_before: Figure
    left_out_after: Figure
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    success: str = ""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it by name."""
        figures = ("overlap", "sign_changed", "significance_changed", "distance")
        counts = ("records_before", "records_after", "left_out_before", "left_out_after")
        return {
            "request": self.request,
            "kind": self.kind,
            **{name: getattr(self, name).to_json() for name in (*figures, *counts)},
            "estimates": [one.to_json() for one in self.estimates],
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
            "success": self.success,
            "notes": list(self.notes),
        }


def counts_of(before: ModelCells, after: ModelCells) -> dict[str, Any]:
    """The records of both files, and those left out, by the names of the result."""
    return {
        "records_before": exact(before.n_records),
        "records_after": exact(after.n_records),
        "left_out_before": exact(before.left_out),
        "left_out_after": exact(after.left_out),
    }


def exact(value: float) -> Figure:
    """An exact figure."""
    return Figure(value=value, how=How.EXACT)


def estimate_kept(name: str, before: Figure, after: Figure, original: Outcome) -> EstimateKept:
    """One estimate before and after."""
    gone = float(after.value or 0) - float(before.value or 0)
    moved: Outcome = Unavailable("its standard error before is 0")
    if before.standard_error:
        moved = exact(gone / before.standard_error)
    return EstimateKept(
        name=name,
        before=before,
        after=after,
        overlap=exact(interval_overlap(before, after)),
        standardised_difference=moved,
        original=original,
    )


def interval_overlap(one: Figure, other: Figure) -> float:
    """½ (|both| / |one| + |both| / |other|) of two intervals; 0 if they do not meet.

    Of an interval without length it says whether the other holds it.
    """
    low, high = max(_low(one), _low(other)), min(_high(one), _high(other))
    if high < low:
        return 0.0
    lengths = [_high(one) - _low(one), _high(other) - _low(other)]
    return sum((high - low) / length if length > 0 else 1.0 for length in lengths) / 2


def _low(figure: Figure) -> float:
    return -np.inf if figure.low is None else figure.low


def _high(figure: Figure) -> float:
    return np.inf if figure.high is None else figure.high


def _holds_0(figure: Figure) -> bool:
    return _low(figure) <= 0 <= _high(figure)


def mean_overlap(estimates: Sequence[EstimateKept]) -> Outcome:
    """The mean overlap of intervals."""
    values = [one.overlap.value for one in estimates if isinstance(one.overlap, Figure)]
    known = [value for value in values if value is not None]
    return exact(float(np.mean(known))) if known else _nothing()


def share_of(changed: Sequence[bool]) -> Outcome:
    """The share of coefficients that changed."""
    return exact(sum(changed) / len(changed)) if changed else _nothing()


def _nothing() -> Unavailable:
    return Unavailable("no coefficient but the constant is in both models")
