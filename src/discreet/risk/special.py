"""Special uniques of a file: SUDA scores, what contributes to them, and one record explained."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.data.arrays import FloatArray
from discreet.figures import Outcome, Unavailable
from discreet.progress import Progress
from discreet.risk.projection import AllCells
from discreet.risk.suda import (
    Attribution,
    Convention,
    Derivation,
    Scaling,
    SpecialUniques,
    derive,
    special_uniques,
)

DEFAULT_DIS = 0.1  # of the SDC Practice Guide and sdcMicro, where none is estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShare:
    """What a key contributes to the sum of all SUDA scores, as shares of it.

    `shared` adds up to 1 over the keys; `involved` (sdcMicro's contribution) does not.
    """

    key: str
    shared: float
    involved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialFigures:
    """SUDA of a file: minimal sample uniques up to `max_size` keys. Exact."""

    found: SpecialUniques
    keys: tuple[KeyShare, ...]
    dis: float
    dis_estimate: Outcome
    example: Derivation | None
    example_text: str | None

    @property
    def n_scored(self) -> int:
        """Records with a score above 0."""
        return int((self.found.scores() > 0).sum())

    def columns(self) -> dict[str, FloatArray]:
        """What goes into the file of records."""
        odds = self.found.n_keys < 28
        scaling = Scaling.ODDS if odds else Scaling.SHARE
        return {
            "suda_score": self.found.scores(Convention.ELLIOT),
            "suda_score_guide": self.found.scores(Convention.GUIDE),
            f"dis_suda_{scaling.value}": self.found.dis_suda(self.dis, scaling=scaling),
        }


def special_figures(
    cells: AllCells,
    max_size: int,
    *,
    sampling_fraction: float | None,
    progress: Progress,
) -> SpecialFigures:
    """SUDA scores of all cells, with the record of the highest score explained.

    A missing value counts as a level of its own here, whatever the policy.
    """
    levels = cells.coding.decode(cells.words)

    def report(share: float) -> None:
        progress("searching for minimal sample uniques (compiled on first use)", share)

    found = special_uniques(levels, cells.records, max_size=max_size, progress=report)
    estimate = _dis(found, sampling_fraction)
    dis = DEFAULT_DIS if isinstance(estimate, Unavailable) else float(estimate.value or DEFAULT_DIS)
    scores = found.scores()
    row = int(np.argmax(scores)) if len(scores) and scores.max() > 0 else None
    example = None if row is None else derive(levels, row, cells.records, max_size=max_size)
    labels = [key.labels for key in cells.keys]
    return SpecialFigures(
        found=found,
        keys=_shares(found, cells.names),
        dis=dis,
        dis_estimate=estimate,
        example=example,
        example_text=None if example is None else _explained(example, cells.names, labels),
    )


def _explained(example: Derivation, names: Sequence[str], labels: Sequence[Sequence[str]]) -> str:
    """The derivation without the position of the cell, which means nothing to a reader."""
    return example.text(names, labels).partition(": ")[2]


def _dis(found: SpecialUniques, sampling_fraction: float | None) -> Outcome:
    if sampling_fraction is None:
        return Unavailable("the sampling fraction is not known; give --population or --weight")
    return found.estimated_dis(min(sampling_fraction, 1.0))


def _shares(found: SpecialUniques, names: Sequence[str]) -> tuple[KeyShare, ...]:
    total = found.total_score()
    if total == 0:
        return ()
    shared = found.key_contributions(attribution=Attribution.SHARED) / total
    involved = found.key_contributions(attribution=Attribution.INVOLVED) / total
    shares = [
        KeyShare(key=name, shared=float(s), involved=float(i))
        for name, s, i in zip(names, shared, involved, strict=True)
    ]
    return tuple(sorted(shares, key=lambda share: -share.shared))
