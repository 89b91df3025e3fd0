"""Special uniques of a file: SUDA scores, what contributes to them, and one record explained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.engines.contract import Cells
from discreet.engines.steps import ByCode
from discreet.figures import Outcome, Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.numerics.exact_sums import as_float
from discreet.numerics.rounding import ALIKE
from discreet.progress import Progress
from discreet.survey.projection import MOST_HELD, AllCells
from discreet.survey.suda.alone import (
    SCORE,
    SCORE_GUIDE,
    MsuTotals,
    ScoreMsus,
    SpreadDis,
    mark_alone,
)
from discreet.survey.suda.derivation import Derivation, Msu, derive
from discreet.survey.suda.key_sets import check_sets
from discreet.survey.suda.matching import derive_by_matching, special_uniques_by_matching
from discreet.survey.suda.scores import (
    Attribution,
    Convention,
    Scaling,
    SpecialUniques,
    check_size,
    msu_contributions,
    power_of_scores,
    special_uniques,
    weighted,
)

MOST_STEPS = 50_000_000_000  # sets of keys times cells that are not held: an hour or less
MOST_SETS = 1_040  # of keys, for cells that are not held: twenty columns of bits
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
    cells are held at once for it where values match, and while they are few.
    """
    check_size(max_size, len(whole.space.keys), "suda")
    estimate = _dis(whole, sampling_fraction)
    dis = DEFAULT_DIS if isinstance(estimate, Unavailable) else float(estimate.value or DEFAULT_DIS)
    if whole.n_cells > MOST_HELD and not whole.space.overlap:
        return _where_they_lie(whole, max_size, estimate, dis, progress, limits)
    cells = AllCells.of(whole)
    found = _search(cells, max_size, progress)
    scores = found.scores()
    row = int(np.argmax(scores)) if len(scores) and scores.max() > 0 else None
    example = None if row is None else _derived(cells, row, max_size)
    labels = [key.labels for key in cells.keys]
    scaling = _scaling(found.n_keys)
    of_dis = found.dis_suda(dis, scaling=scaling)
    columns = {
        SCORE: found.scores(Convention.ELLIOT),
        SCORE_GUIDE: found.scores(Convention.GUIDE),
        f"dis_suda_{scaling.value}": of_dis,
    }
    whole.add(ByCode(cells.words, columns))
    return SpecialFigures(
        max_size=found.max_size,
        n_scored=found.n_scored,
        n_unscored=found.n_uniques - found.n_scored,
        keys=_shares(
            found.total_score(),
            found.key_contributions(attribution=Attribution.SHARED),
            found.key_contributions(attribution=Attribution.INVOLVED),
            cells.names,
        ),
        dis=dis,
        dis_estimate=estimate,
        example=example,
        example_text=None if example is None else _explained(example, cells.names, labels),
        largest_dis=float(of_dis.max(initial=0.0)),
        above={x: int(cells.records[of_dis > x * (1 + ALIKE)].sum()) for x in limits},
        columns=tuple(columns),
    )


def _where_they_lie(
    whole: Cells,
    max_size: int,
    estimate: Outcome,
    dis: float,
    progress: Progress,
    limits: Sequence[float],
) -> SpecialFigures:
    """The same figures of cells that are too many to be held at once."""
    names, n_keys = whole.space.names, len(whole.space.keys)
    most = min(MOST_STEPS // whole.n_cells, MOST_SETS)
    check_sets("suda", n_keys, max_size, whole.n_cells, most)
    # Of a copy, so that its bits go with it.
    itself, n_uniques = whole.space.itself(), whole.size_indices().sample_uniques
    cells = whole.seen_through(itself)
    marks = mark_alone(cells, max_size, progress)
    power, scaling = power_of_scores(n_keys), _scaling(n_keys)
    found = cells.add(ScoreMsus(marks, n_keys, max_size, power))
    odds = scaling is Scaling.ODDS
    spread = SpreadDis(
        name=f"dis_suda_{scaling.value}",
        dis=dis,
        n_uniques=n_uniques if odds else None,
        power=power,
        total=as_float(found.inverse if odds else found.total),
        limits=tuple(limits),
    )
    largest = cells.add(spread)
    columns = (SCORE, SCORE_GUIDE, spread.name)
    whole.take(cells, itself, {name: name for name in columns})
    weights = msu_contributions(n_keys, max_size)
    example = _of_marks(found, whole, max_size) if found.n_scored else None
    labels = [key.labels for key in whole.space.keys]
    return SpecialFigures(
        max_size=max_size,
        n_scored=found.n_scored,
        n_unscored=n_uniques - found.n_scored,
        keys=_shares(
            float(weighted(found.by_size, weights)),
            weighted(found.by_key, weights / np.arange(1, max_size + 1)),
            weighted(found.by_key, weights),
            names,
        ),
        dis=dis,
        dis_estimate=estimate,
        example=example,
        example_text=None if example is None else _explained(example, names, labels),
        largest_dis=largest.score,
        above=dict(zip(limits, largest.above, strict=True)),
        columns=columns,
    )


def _of_marks(found: MsuTotals, whole: Cells, max_size: int) -> Derivation:
    """The highest score, from the minimal sample uniques that were found of its cell."""
    (levels,) = whole.space.coding.decode(np.array([found.word])).tolist()
    weights = msu_contributions(len(levels), max_size)
    return Derivation(
        row=0,
        n_keys=len(levels),
        max_size=max_size,
        convention=Convention.ELLIOT,
        msus=tuple(
            Msu(keys, tuple(levels[key] for key in keys), float(weights[len(keys) - 1]))
            for keys in sorted(found.msus, key=lambda keys: (len(keys), keys))
        ),
    )


def _scaling(n_keys: int) -> Scaling:
    return Scaling.ODDS if n_keys < 28 else Scaling.SHARE


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


def _dis(cells: Cells, sampling_fraction: float | None) -> Outcome:
    """How probable it is that a unique match is a correct one, by data intrusion simulation."""
    if cells.space.overlap:
        return Unavailable("DIS is defined for cells that do not overlap, and missing values match")
    if sampling_fraction is None:
        return Unavailable("the sampling fraction is not known; give population size or weights")
    sizes = cells.size_indices()
    one, two, three = (int(sizes.cells[sizes.sizes == size].sum()) for size in (1, 2, 3))
    if one == 0:
        return Unavailable("DIS needs a sample unique, and there is none")
    from discreet.survey.models.dis import correct_match_probability  # here: it loads SciPy

    return correct_match_probability(one, two, three, min(sampling_fraction, 1.0)).figure()


def _shares(
    total: float, shared: FloatArray, involved: FloatArray, names: Sequence[str]
) -> tuple[KeyShare, ...]:
    """What each key contributes, as shares of the total score."""
    if total == 0:
        return ()
    shares = [
        KeyShare(key=name, shared=float(s / total), involved=float(i / total))
        for name, s, i in zip(names, shared, involved, strict=True)
    ]
    return tuple(sorted(shares, key=lambda share: -share.shared))
