"""Special uniques of a file: SUDA scores, what contributes to them, and one record explained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.engines.contract import Cells
from discreet.engines.steps import ByCode
from discreet.figures import Outcome, Unavailable
from discreet.numerics.rounding import ALIKE
from discreet.progress import Progress
from discreet.survey.projection import AllCells
from discreet.survey.suda.derivation import Derivation, derive
from discreet.survey.suda.matching import derive_by_matching, special_uniques_by_matching
from discreet.survey.suda.scores import (
    Attribution,
    Convention,
    Scaling,
    SpecialUniques,
    check_size,
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
    """SUDA of a file: minimal sample uniques up to `max_size` keys. Exact.

    `n_scored` records have one among those searched for; `n_unscored` sample uniques have none of
    that size, so that their score of 0 says no more than that. `largest_dis` is the greatest
    DIS-SUDA score, and `above` counts the records above some scores. `columns` lie beside the
    cells.
    """

    max_size: int
    n_scored: int
    n_unscored: int
    keys: tuple[KeyShare, ...]
    dis: float
    dis_estimate: Outcome
    example: Derivation | None
    example_text: str | None
    largest_dis: float
    above: Mapping[float, int]
    columns: tuple[str, ...]


def special_figures(
    whole: Cells,
    max_size: int,
    *,
    sampling_fraction: float | None,
    progress: Progress,
    limits: Sequence[float] = (),
) -> SpecialFigures:
    """SUDA scores of all cells, with the record of the highest score explained, and how many have a
    DIS-SUDA score above each of the `limits`.

    What a missing value matches is what the policy of the cells says, on every set of keys. All
    cells are held at once for it.
    """
    check_size(max_size, len(whole.space.keys), "suda")
    cells = AllCells.of(whole)
    found = _search(cells, max_size, progress)
    estimate = _dis(cells, sampling_fraction)
    dis = DEFAULT_DIS if isinstance(estimate, Unavailable) else float(estimate.value or DEFAULT_DIS)
    scores = found.scores()
    row = int(np.argmax(scores)) if len(scores) and scores.max() > 0 else None
    example = None if row is None else _derived(cells, row, max_size)
    labels = [key.labels for key in cells.keys]
    scaling = Scaling.ODDS if found.n_keys < 28 else Scaling.SHARE
    of_dis = found.dis_suda(dis, scaling=scaling)
    columns = {
        "suda_score": found.scores(Convention.ELLIOT),
        "suda_score_guide": found.scores(Convention.GUIDE),
        f"dis_suda_{scaling.value}": of_dis,
    }
    whole.add(ByCode(cells.words, columns))
    return SpecialFigures(
        max_size=found.max_size,
        n_scored=found.n_scored,
        n_unscored=found.n_uniques - found.n_scored,
        keys=_shares(found, cells.names),
        dis=dis,
        dis_estimate=estimate,
        example=example,
        example_text=None if example is None else _explained(example, cells.names, labels),
        largest_dis=float(of_dis.max(initial=0.0)),
        above={x: int(cells.records[of_dis > x * (1 + ALIKE)].sum()) for x in limits},
        columns=tuple(columns),
    )


def _explained(example: Derivation, names: Sequence[str], labels: Sequence[Sequence[str]]) -> str:
    """The derivation without the position of the cell, which means nothing to a reader."""
    return example.text(names, labels).partition(": ")[2]


def _search(cells: AllCells, max_size: int, progress: Progress) -> SpecialUniques:
    if cells.overlap:
        return special_uniques_by_matching(cells, max_size, progress)

    def report(share: float) -> None:
        progress("searching for minimal sample uniques (compiled on first use)", share)

    levels = cells.coding.decode(cells.words)
    return special_uniques(levels, cells.records, max_size=max_size, progress=report)


def _derived(cells: AllCells, row: int, max_size: int) -> Derivation:
    if cells.overlap:
        return derive_by_matching(cells, row, max_size)
    levels = cells.coding.decode(cells.words)
    return derive(levels, row, cells.records, max_size=max_size)


def _dis(cells: AllCells, sampling_fraction: float | None) -> Outcome:
    """How probable it is that a unique match is a correct one, by data intrusion simulation."""
    if cells.overlap:
        return Unavailable("DIS is defined for cells that do not overlap, and missing values match")
    if sampling_fraction is None:
        return Unavailable("the sampling fraction is not known; give population size or weights")
    one, two, three = (int((cells.records == size).sum()) for size in (1, 2, 3))
    if one == 0:
        return Unavailable("DIS needs a sample unique, and there is none")
    from discreet.survey.models.dis import correct_match_probability  # here: it loads SciPy

    return correct_match_probability(one, two, three, min(sampling_fraction, 1.0)).figure()


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
