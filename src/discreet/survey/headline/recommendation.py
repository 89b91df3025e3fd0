"""The estimate to lead with: population uniques and correct matches, each with a 90 % interval.

No single model is right for every file. This estimate averages over some two hundred ways in which
the rates of cells may be spread, weighted by how well each explains how often cells of the sample
hold one, two, three … records, given how many near neighbours they have. The method, its argument
and its trial are in docs/methods/recommended.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.survey.headline.disagreement import disagreement
from discreet.survey.headline.extrapolation import (
    CellHistogram,
    Extrapolation,
    extrapolate,
    placed_cells,
    sizes_histogram,
)
from discreet.survey.headline.limits import (
    SMALLEST_MEAN,
    Doubt,
    doubt_of,
    exactly,
    figure_of,
    whole_limits,
)
from discreet.survey.headline.possible_cells import (
    UNLIMITED,
    PossibleCells,
    cells_of_all_levels,
    known_cells,
)
from discreet.survey.headline.record_risk import CellRisks, counted_risks, record_risks
from discreet.survey.regrouping import KeysLeftOut

WITH_NEIGHBOURS = "neighbour_average"
FROM_SIZES = "size_average"
COUNTED = "counted"
MISFIT_OF_UNIQUES, MISFIT_OF_MATCHES = 0.05, 0.03  # log error for each log unit of extrapolation
FEWEST_RECORDS = 100
MOST_CELLS = 5_000_000  # beyond this, neighbours are not counted
LOWEST_TRIED_FRACTION = 0.01
FARTHEST_TOTAL = 1.25  # ratio of the weights' total to the population that needs no word
AVERAGE = (
    "averages over models of how full cells are, each weighted by how well it explains the cells "
    "of one, two, three … records"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """The estimate to lead with, why it was chosen, and what other models say of the uniques.

    `contradicted` names those of the other models that do not fit the data by their own account.
    """

    model: str
    why: str
    expected_population_uniques: Outcome
    expected_correct_matches: Outcome
    others: Mapping[str, float] = field(default_factory=dict)
    contradicted: tuple[str, ...] = ()
    is_chosen: bool = False  # by the user, in place of what is recommended

    @property
    def disagreement(self) -> str | None:
        """What to make of the other models, in one line; None where there is nothing to say."""
        return disagreement(self.expected_population_uniques, self.others, self.contradicted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The estimate of a whole file, that of each cell where there is one, and the doubt of models
    about the uniques and the matches where these were estimated."""

    recommended: Recommended
    risks: CellRisks | None = None
    doubts: tuple[Doubt, Doubt] | None = None


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
    """The recommended estimate from all occupied cells, one row each; see `recommend_cells`.

    `sample_count` is how many a record of a cell matches, where missing values match anything:
    there is no estimate where that differs. `others` are the uniques that other models estimate.
    """
    if sample_count is not None and not np.array_equal(sample_count, records):
        sizes = SizeIndices.of_counts(sample_count, records, disjoint=False)
        asked = _Asked(sizes, population_size, UNLIMITED)
        return asked.nothing("missing values that match anything leave no cells to model")
    found = recommend_cells(
        words,
        records,
        coding,
        population_size=population_size,
        n_table_cells=n_table_cells,
        weight_total=weight_total,
        n_table_cells_known=n_table_cells_known,
        with_risks=False,
    )
    return replace(found.recommended, others=values_of(others))


def recommend_cells(
    words: IntArray,
    records: IntArray,
    coding: Coding,
    *,
    population_size: float | None,
    n_table_cells: int,
    weight_total: FloatArray | None = None,
    n_table_cells_known: bool = False,
    with_risks: bool = True,
    left_out: KeysLeftOut | None = None,
) -> Estimated:
    """The recommended estimate from all occupied cells, one row each, and that of each cell.

    `records` lie in each cell. `weight_total` is the sum of
    the survey weights in each cell, where there are weights; they are scaled to add up to the
    population, with a note where that is a long way. `n_table_cells` are those of the levels in the
    sample, unless they are known from elsewhere. Near neighbours are counted by `left_out`, where
    that is at hand. Cost: one sort of the cells for each key, and some tenths of a second; above
    `MOST_CELLS` cells neighbours are not counted.
    Checked: sample and population have sizes that make sense.
    Trusted: the rows of `words` are distinct and lie in `coding`.
    """
    note = _note_on_weights(weight_total, population_size)
    asked = _Asked(SizeIndices.of_counts(records), population_size, UNLIMITED, note)
    known = asked.known_without_model()
    if known is not None:
        whole = isinstance(known.expected_correct_matches, Figure)
        return Estimated(recommended=known, risks=counted_risks(records) if whole else None)
    possible = (
        known_cells(n_table_cells)
        if n_table_cells_known
        else cells_of_all_levels(words, records, coding, n_table_cells)
    )
    asked = replace(asked, possible=possible)
    probability = _inclusion_probability(records, weight_total, asked.fraction)
    counted = len(records) <= MOST_CELLS
    left_out = left_out or KeysLeftOut(words, records, coding)
    neighbours = left_out.neighbours() if counted else np.zeros_like(records)
    histogram, places = placed_cells(records, neighbours, probability)
    given = ", given how many records differ from them in one key" if counted else ""
    model = WITH_NEIGHBOURS if counted else FROM_SIZES
    found, result = asked.estimated(model, AVERAGE + given, histogram)
    if not with_risks:
        return found
    matches = found.recommended.expected_correct_matches
    assert isinstance(matches, Figure)
    assert matches.value is not None
    risks = record_risks(
        records,
        probability,
        places,
        histogram,
        result,
        fraction=asked.fraction,
        correct_matches=matches.value,
    )
    return replace(found, risks=risks)


def chosen_by_user(model: str, uniques: Outcome, matches: Outcome) -> Recommended:
    """The figures of a model that the user trusts more, after a league on data like these."""
    return Recommended(
        model=model,
        why=f"is that of {model}, which was chosen to lead",
        expected_population_uniques=uniques,
        expected_correct_matches=matches,
        is_chosen=True,
    )


def counted_in_file(population_count: IntArray, records: IntArray) -> Estimated:
    """The truth, where a file of the population tells how many share the keys of each cell."""
    risks = counted_risks(population_count)
    led = Recommended(
        model=COUNTED,
        why="the population was counted in its file, so nothing has to be estimated",
        expected_population_uniques=exactly(float(records @ risks.population_unique)),
        expected_correct_matches=exactly(float(records @ risks.risk)),
    )
    return Estimated(recommended=led, risks=risks)


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
    asked = _Asked(sizes, population_size, possible)
    found = asked.known_without_model()
    if found is None:
        histogram = sizes_histogram(sizes.sizes.astype(np.int64), sizes.cells, asked.fraction)
        found = asked.estimated(FROM_SIZES, AVERAGE, histogram)[0].recommended
    return replace(found, others=values_of(others))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is known of the sample and its population before any model."""

    sizes: SizeIndices
    population_size: float | None
    possible: PossibleCells
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
            return self.nothing("missing values that match anything leave no cells to model")
        if size is None:
            return self.nothing("the size of the population is not known: give it, or weights")
        if n > size * (1 + 1e-9):
            return self.nothing(
                f"the population must be at least as large as the sample of {n:,} records, "
                f"got {size:,.0f}"
            )
        if n >= size * (1 - 1e-9):
            return self._counted()
        if n < FEWEST_RECORDS:
            return self.nothing(
                f"at least {FEWEST_RECORDS} records are needed to tell, and there are {n}"
            )
        if self.sizes.n_cells == n:
            return self.nothing(
                "no two records of the sample agree on all keys, so nothing tells how often two "
                "persons of the population do: all may be unique, or few"
            )
        return None

    def estimated(
        self, model: str, why: str, histogram: CellHistogram
    ) -> tuple[Estimated, Extrapolation]:
        """The posterior means with their intervals, and what they were made from."""
        result = extrapolate(histogram, fraction=self.fraction, possible=self.possible)
        far, n_unique = math.log(1 / self.fraction), self.sizes.sample_uniques
        weight, most = result.weight, (float(n_unique), float(self.sizes.n_cells))
        alone = doubt_of(weight, result.uniques, misfit=MISFIT_OF_UNIQUES * far, most=most[0])
        # 1/F is 1 for a population unique and at most a half for any other sample unique, so the
        # matches cannot leave this range; near a census the identity behind them would.
        staying = alone.mean if n_unique else 0.0
        doubts = (
            alone,
            doubt_of(
                weight,
                result.matches,
                misfit=MISFIT_OF_MATCHES * far,
                least=staying,
                most=most[1] - (most[0] - staying) / 2,
            ),
        )
        uniques, matches = figures_of(doubts, most=most, fraction=self.fraction, note=self._note())
        led = Recommended(
            model=model,
            why=why,
            expected_population_uniques=uniques,
            expected_correct_matches=matches,
        )
        return Estimated(recommended=led, doubts=doubts), result

    def _note(self) -> str:
        return "; ".join(note for note in (note_on_fraction(self.fraction), self.note) if note)

    def _counted(self) -> Recommended:
        """The sample is the population: every sample unique is one of the population."""
        return Recommended(
            model=COUNTED,
            why="the file is the whole population, so nothing has to be estimated",
            expected_population_uniques=exactly(float(self.sizes.sample_uniques)),
            expected_correct_matches=exactly(float(self.sizes.n_cells)),
        )

    def nothing(self, reason: str) -> Recommended:
        """No estimate, but certain limits; without sample uniques there is none in the population.

        Where missing values match anything, not even limits are certain.
        """
        uniques: Outcome = Unavailable(reason)
        if self.sizes.is_partition:
            most = self.sizes.sample_uniques
            limits = Figure(value=None, low=0, high=most, how=How.BOUND, note=reason)
            uniques = limits if most else exactly(0.0)
        return Recommended(
            model=COUNTED,
            why=reason,
            expected_population_uniques=uniques,
            expected_correct_matches=Unavailable(reason),
        )


def figures_of(
    doubts: tuple[Doubt, Doubt], *, most: tuple[float, float], fraction: float, note: str
) -> tuple[Figure, Figure]:
    """Population uniques and correct matches with their limits, none above `most`.

    Of `most[0]` sample uniques each stays unique or not; the number of right matches varies at most
    as a count does.
    """
    n_unique = max(most[0], 1.0)
    uniques = figure_of(
        doubts[0], chance=lambda mean: (1 - mean / n_unique) / mean, most=most[0], note=note
    )
    matches = figure_of(
        doubts[1], chance=lambda mean: (1 - fraction) / mean, most=most[1], note=note
    )
    return (whole_limits(uniques) if most[0] else exactly(0.0)), matches


def _inclusion_probability(
    records: IntArray, weight_total: FloatArray | None, fraction: float
) -> FloatArray:
    """f/Σw of each cell, the weights scaled to add up to N; n/N without weights; at most 1."""
    if weight_total is None:
        return np.full(len(records), fraction)
    share = weight_total / weight_total.sum()
    own: FloatArray = records / records.sum() / np.maximum(share, SMALLEST_MEAN)
    return np.minimum(np.maximum(fraction * own, fraction * 1e-6), 1.0)


def note_on_fraction(fraction: float) -> str:
    """That the estimate was not tried on so small a share of the population."""
    if not above(LOWEST_TRIED_FRACTION, fraction):
        return ""
    return (
        f"sampling fraction {fraction:.2g} is below {LOWEST_TRIED_FRACTION}, the lowest "
        "tried: the estimate may be far too low"
    )


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


def values_of(others: Mapping[str, Outcome] | None) -> dict[str, float]:
    """The estimates of other models that gave one."""
    return {
        name: outcome.value
        for name, outcome in (others or {}).items()
        if isinstance(outcome, Figure) and outcome.value is not None
    }
