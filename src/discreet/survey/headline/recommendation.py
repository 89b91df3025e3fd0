"""The estimate to lead with: population uniques and correct matches, each with a 90 % interval.

No single model is right for every file. This estimate averages over some two hundred ways in which
the rates of cells may be spread, weighted by how well each explains how often cells of the sample
hold one, two, three … records, given how many near neighbours they have. The method, its argument
and its trial are in docs/methods/recommended.md.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.rounding import above, first_largest
from discreet.survey.headline.extrapolation import (
    CellHistogram,
    cell_histogram,
    extrapolate,
    sizes_histogram,
)
from discreet.survey.headline.neighbours import neighbour_counts
from discreet.survey.headline.possible_cells import (
    UNLIMITED,
    PossibleCells,
    cells_of_all_levels,
    known_cells,
)

WITH_NEIGHBOURS = "neighbour_average"
FROM_SIZES = "size_average"
COUNTED = "counted"
CONFIDENCE = 0.9
NORMAL_QUANTILE = 1.6448536269514722  # of 0.95
MISFIT_OF_UNIQUES, MISFIT_OF_MATCHES = 0.05, 0.03  # log error for each log unit of extrapolation
FEWEST_RECORDS = 100
MOST_CELLS = 5_000_000  # beyond this, neighbours are not counted
LOWEST_TRIED_FRACTION = 0.01
FARTHEST_TOTAL = 1.25  # ratio of the weights' total to the population that needs no word
SMALLEST_MEAN = 1e-12  # records; an estimate that underflows
AVERAGE = (
    "averages over models of how full cells are, each weighted by how well it explains the cells "
    "of one, two, three … records"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """The estimate to lead with, why it was chosen, and what other models say of the uniques."""

    model: str
    why: str
    expected_population_uniques: Outcome
    expected_correct_matches: Outcome
    others: Mapping[str, float] = field(default_factory=dict)
    is_chosen: bool = False  # by the user, in place of what is recommended

    @property
    def disagreement(self) -> str | None:
        """How far the other models are apart, in one sentence; None where there are none."""
        if not self.others:
            return None
        names, values = list(self.others), np.array(list(self.others.values()))
        low, high = (names[first_largest(sign * values, scale=1.0)] for sign in (-1, 1))
        if len(self.others) == 1:
            return f"{low} says {_rounded(self.others[low])}"
        return (
            f"{len(self.others)} other models say from {_rounded(self.others[low])} ({low}) "
            f"to {_rounded(self.others[high])} ({high})"
        )


def _rounded(number: float) -> str:
    if 0 < number < 0.1:
        return "less than 0.1"
    return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"


def recommend(
    words: IntArray,
    records: IntArray,
    coding: Coding,
    *,
    population_size: float | None,
    n_table_cells: int,
    sample_count: CountArray | None = None,
    weight_total: FloatArray | None = None,
    others: Mapping[str, Outcome] | None = None,
    n_table_cells_known: bool = False,
) -> Recommended:
    """The recommended estimate from all occupied cells, one row each.

    `records` lie in each cell. `sample_count` is how many a record of it matches, where missing
    values match anything: there is no estimate where that differs. `weight_total` is the sum of
    the survey weights in each cell, where there are weights; they are scaled to add up to the
    population, with a note where that is a long way. `n_table_cells` are those of the levels in the
    sample, unless they are known from elsewhere. `others` are the uniques that other
    models estimate. Cost: one sort of the cells for each key, and some
    tenths of a second; above `MOST_CELLS` cells neighbours are not counted.
    Checked: sample and population have sizes that make sense.
    Trusted: the rows of `words` are distinct and lie in `coding`.
    """
    sizes = SizeIndices.of_counts(records if sample_count is None else sample_count, records)
    possible = (
        known_cells(n_table_cells)
        if n_table_cells_known
        else cells_of_all_levels(words, records, coding, n_table_cells)
    )
    note = _note_on_weights(weight_total, population_size)
    asked = _Asked(sizes, population_size, possible, _values(others), note)
    known = asked.known_without_model()
    if known is not None:
        return known
    probability = _inclusion_probability(records, weight_total, asked.fraction)
    counted = len(records) <= MOST_CELLS
    neighbours = neighbour_counts(words, records, coding) if counted else np.zeros_like(records)
    histogram = cell_histogram(records, neighbours, probability)
    given = ", given how many records differ from them in one key" if counted else ""
    return asked.estimated(WITH_NEIGHBOURS if counted else FROM_SIZES, AVERAGE + given, histogram)


def chosen_by_user(
    model: str, uniques: Outcome, matches: Outcome, others: Mapping[str, Outcome]
) -> Recommended:
    """The figures of a model that the user trusts more, after a league on data like these."""
    return Recommended(
        model=model,
        why=f"is that of {model}, which was chosen to lead",
        expected_population_uniques=uniques,
        expected_correct_matches=matches,
        others=_values({name: given for name, given in others.items() if name != model}),
        is_chosen=True,
    )


def recommend_from_sizes(
    sizes: SizeIndices,
    *,
    population_size: float | None,
    n_table_cells: int | None = None,
    others: Mapping[str, Outcome] | None = None,
) -> Recommended:
    """The recommended estimate where only the size indices are known; less precise.

    Takes the inclusion probability of every record to be n/N. `n_table_cells` are the possible
    cells where they are known. The cost does not grow with the file.
    """
    possible = UNLIMITED if n_table_cells is None else known_cells(n_table_cells)
    asked = _Asked(sizes, population_size, possible, _values(others))
    known = asked.known_without_model()
    if known is not None:
        return known
    histogram = sizes_histogram(sizes.sizes.astype(np.int64), sizes.cells, asked.fraction)
    return asked.estimated(FROM_SIZES, AVERAGE, histogram)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is known of the sample and its population before any model."""

    sizes: SizeIndices
    population_size: float | None
    possible: PossibleCells
    others: Mapping[str, float]
    note: str = ""

    @property
    def fraction(self) -> float:
        """n/N; trusted: the population size is known."""
        assert self.population_size is not None
        return self.sizes.sample_size / self.population_size

    def known_without_model(self) -> Recommended | None:
        """The whole population counted, or the reason why there is no estimate; else None."""
        n, size = self.sizes.sample_size, self.population_size
        if not self.sizes.is_partition:
            return self._nothing("missing values that match anything leave no cells to model")
        if size is None:
            return self._nothing("the size of the population is not known: give it, or weights")
        if n > size * (1 + 1e-9):
            return self._nothing(
                f"the population must be at least as large as the sample of {n:,} records, "
                f"got {size:,.0f}"
            )
        if n >= size * (1 - 1e-9):
            return self._counted()
        if n < FEWEST_RECORDS:
            return self._nothing(
                f"at least {FEWEST_RECORDS} records are needed to tell, and there are {n}"
            )
        if self.sizes.n_cells == n:
            return self._nothing(
                "no two records of the sample agree on all keys, so nothing tells how often two "
                "persons of the population do: all may be unique, or few"
            )
        return None

    def estimated(self, model: str, why: str, histogram: CellHistogram) -> Recommended:
        """The posterior means with their intervals."""
        result = extrapolate(histogram, fraction=self.fraction, possible=self.possible)
        n_unique = self.sizes.sample_uniques
        uniques = _whole_limits(
            _interval(
                result.weight,
                result.uniques,
                misfit=MISFIT_OF_UNIQUES * math.log(1 / self.fraction),
                chance=lambda mean: (1 - mean / max(n_unique, 1)) / mean,
                most=float(n_unique),
                note=self._note(),
            )
        )
        matches = _interval(
            result.weight,
            result.matches,
            misfit=MISFIT_OF_MATCHES * math.log(1 / self.fraction),
            chance=lambda mean: (1 - self.fraction) / mean,
            most=float(self.sizes.n_cells),
            note=self._note(),
        )
        return Recommended(
            model=model,
            why=why,
            expected_population_uniques=uniques if n_unique else _exactly(0.0),
            expected_correct_matches=matches,
            others=self.others,
        )

    def _note(self) -> str:
        return "; ".join(note for note in (self._note_on_fraction(), self.note) if note)

    def _note_on_fraction(self) -> str:
        if not above(LOWEST_TRIED_FRACTION, self.fraction):
            return ""
        return (
            f"sampling fraction {self.fraction:.2g} is below {LOWEST_TRIED_FRACTION}, the lowest "
            "tried: the estimate may be far too low"
        )

    def _counted(self) -> Recommended:
        """The sample is the population: every sample unique is one of the population."""
        return Recommended(
            model=COUNTED,
            why="the sample is the whole population, so nothing has to be estimated",
            expected_population_uniques=_exactly(float(self.sizes.sample_uniques)),
            expected_correct_matches=_exactly(float(self.sizes.n_cells)),
            others=self.others,
        )

    def _nothing(self, reason: str) -> Recommended:
        """No estimate, but certain limits; without sample uniques there is none in the population.

        Where missing values match anything, not even limits are certain.
        """
        uniques: Outcome = Unavailable(reason)
        if self.sizes.is_partition:
            most = self.sizes.sample_uniques
            limits = Figure(value=None, low=0, high=most, how=How.BOUND, note=reason)
            uniques = limits if most else _exactly(0.0)
        return Recommended(
            model=COUNTED,
            why=reason,
            expected_population_uniques=uniques,
            expected_correct_matches=Unavailable(reason),
            others=self.others,
        )


def _inclusion_probability(
    records: IntArray, weight_total: FloatArray | None, fraction: float
) -> FloatArray:
    """f/Σw of each cell, the weights scaled to add up to N; n/N without weights; at most 1."""
    if weight_total is None:
        return np.full(len(records), fraction)
    share = weight_total / weight_total.sum()
    own: FloatArray = records / records.sum() / np.maximum(share, SMALLEST_MEAN)
    return np.minimum(np.maximum(fraction * own, fraction * 1e-6), 1.0)


def _note_on_weights(weight_total: FloatArray | None, population_size: float | None) -> str:
    """That the weights had to be scaled by much; nothing where they about add up."""
    if weight_total is None or population_size is None:
        return ""
    total = float(weight_total.sum())
    ratio = total / population_size
    if not above(1 / FARTHEST_TOTAL, ratio) and not above(ratio, FARTHEST_TOTAL):
        return ""
    return (
        f"the weights sum to {total:,.0f}, far from the population of {population_size:,.0f}: "
        "they were scaled to add up to it, so only their proportions count"
    )


def _interval(
    weight: FloatArray,
    value: FloatArray,
    *,
    misfit: float,
    chance: Callable[[float], float],
    most: float,
    note: str,
) -> Figure:
    """Posterior mean and 90 % limits, none above `most`.

    On the log scale, the distance from the mean to each posterior quantile is joined, as root of a
    sum of squares, with the models' common misfit and with the chance that the realised number
    differs from its expectation; `chance` gives its relative variance.
    """
    mean = min(max(float(weight @ value), SMALLEST_MEAN), max(most, SMALLEST_MEAN))
    order = np.argsort(value)
    mass = np.cumsum(weight[order])
    tail = (1 - CONFIDENCE) / 2
    low, high = value[order][np.searchsorted(mass, [tail, (1 - tail) * mass[-1]])]
    spread = NORMAL_QUANTILE**2 * (misfit**2 + max(chance(max(mean, 1.0)), 0.0))
    below = math.hypot(math.log(mean / min(max(low, mean * 1e-3), mean)), math.sqrt(spread))
    above = math.hypot(math.log(max(high, mean) / mean), math.sqrt(spread))
    return Figure(
        value=mean,
        how=How.ESTIMATE,
        low=mean * math.exp(-below),
        high=min(most, mean * math.exp(above)),
        confidence=CONFIDENCE,
        note=note,
    )


def _whole_limits(figure: Figure) -> Figure:
    """The figure with its limits rounded outward: what is estimated is a whole number."""
    assert figure.low is not None
    assert figure.high is not None
    return replace(figure, low=math.floor(figure.low), high=math.ceil(figure.high))


def _exactly(number: float) -> Figure:
    return Figure(value=number, how=How.EXACT, low=number, high=number)


def _values(others: Mapping[str, Outcome] | None) -> dict[str, float]:
    """The estimates of other models that gave one."""
    return {
        name: outcome.value
        for name, outcome in (others or {}).items()
        if isinstance(outcome, Figure) and outcome.value is not None
    }
