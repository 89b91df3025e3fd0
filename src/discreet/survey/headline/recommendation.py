"""The estimate to lead with: population uniques and correct matches, each with a 90 % interval.

No single model is right for every file. This estimate averages over some two hundred ways in which
the rates of cells may be spread, weighted by how well each explains how often cells of the sample
hold one, two, three … records, given an index of how many each is expected to hold. The method, its
argument and its trial are in docs/methods/recommended.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.engines.contract import Cells, Scoring
from discreet.engines.local.cells import cells_at_hand
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.numerics.rounding import above
from discreet.survey.contributions import KeysLeftOut
from discreet.survey.headline.disagreement import disagreement
from discreet.survey.headline.expected_uniques import ExpectedUniques
from discreet.survey.headline.extrapolation import (
    CellHistogram,
    CountingCells,
    Extrapolation,
    extrapolate,
    sizes_histogram,
)
from discreet.survey.headline.inclusion import (
    Alike,
    Classes,
    Inclusion,
    SpreadOfCells,
    alike_in_cells,
)
from discreet.survey.headline.likeness import n_references
from discreet.survey.headline.limits import (
    NEAREST_END,
    NORMAL_QUANTILE,
    Doubt,
    Scale,
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
from discreet.survey.headline.rate_index import (
    Covariates,
    KnownBeside,
    Untried,
    rate_index,
    untried,
)
from discreet.survey.headline.rate_shapes import LARGEST_SIZE
from discreet.survey.headline.record_risk import CountedRisks, record_risks
from discreet.survey.known_margins import KnownMargins

FROM_KEYS = "index_average"
FROM_SIZES = "size_average"
COUNTED = "counted"
# Misfit that is common to all models, on a log scale; `FAR` for each log unit of extrapolation.
NOT_UNIQUE_FAR, NOT_UNIQUE_ALWAYS = 0.02, 0.02  # of the sample uniques that do not stay unique
BELOW_TRIED = 0.15  # for each log unit by which the fraction is below the lowest tried
FEW_UNIQUE = 0.05  # of the share that stays unique, for each log unit by which it is below 1
MATCHES_FAR = 0.015
DOUBTED, DOUBTED_MATCHES = 0.3, 0.1  # further, where records may have been drawn together
# Models are farther apart than the truth is from their mean: of their spread and their misfit so
# much held the truth in nine of ten samples.
TOO_WIDE, TOO_WIDE_MATCHES = 0.8, 0.7
FEWEST_RECORDS = 100
LOWEST_TRIED_FRACTION = 0.01
FARTHEST_TOTAL = 1.25  # ratio of the weights' total to the population that needs no word
NO_TWO_AGREE = (
    "no two records of the sample agree on all keys, so the estimate rests on what was seen in "
    "other populations"
)
AVERAGE = (
    "averages over models of how full cells are, each weighted by how well it explains the cells "
    "of one, two, three … records"
)
MOST_BY_CHANCE = (
    0.25  # by which fewer uniques may stay unique than if all cells were equally likely
)
NOT_AT_ALL = Untried()
GIVEN = ", given what the sample tells of their keys"


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
    """The estimate of a whole file, what scores each cell where there is a risk of it, and the
    doubt of models about the uniques and the matches where these were estimated."""

    recommended: Recommended
    risks: Scoring[None] | None = None
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
    """The recommended estimate from occupied cells at hand, one row each; see `recommend_cells`.

    `sample_count` is how many a record of a cell matches, where missing values match anything:
    there is no estimate where that differs. `others` are the uniques that other models estimate.
    """
    if sample_count is not None and not np.array_equal(sample_count, records):
        sizes = SizeIndices.of_counts(sample_count, records, disjoint=False)
        asked = _Asked(sizes, population_size, UNLIMITED)
        return asked.nothing("missing values that match anything leave no cells to model")
    found = recommend_cells(
        cells_at_hand(words, records, coding, weight_total),
        population_size=population_size,
        n_table_cells=n_table_cells,
        n_table_cells_known=n_table_cells_known,
    )
    return replace(found.recommended, others=values_of(others))


def recommend_cells(
    cells: Cells,
    *,
    population_size: float | None,
    n_table_cells: int,
    n_table_cells_known: bool = False,
    left_out: KeysLeftOut | None = None,
    beside: KnownBeside | None = None,
    repeated: Sequence[int] = (),
    margins: KnownMargins | None = None,
    doubt: str = "",
) -> Estimated:
    """The recommended estimate of all occupied cells, and that of each of them.

    Survey weights, where there are some, are scaled to add up to the population, with a note where
    that is a long way. `n_table_cells` are those of the levels in the sample, unless they are known
    from elsewhere. Near neighbours are counted by `left_out`, where that is at hand, unless what is
    known of each cell lies `beside` it; `repeated` keys say the same as others. `margins` of
    the population take the place of those of the sample, unless there are weights. A `doubt` about
    how the sample was drawn widens the limits and is noted. Cost: one sort of the cells for each
    key, two passes over them, and some tenths of a second.
    Checked: sample and population have sizes that make sense.
    """
    weight_sum = as_float(cells.fold(WeightSum())) if cells.weighted else None
    note = note_on_weights(weight_sum, population_size)
    asked = _Asked(cells.size_indices(), population_size, UNLIMITED, note, doubt)
    known = asked.known_without_model()
    if known is not None:
        whole = isinstance(known.expected_correct_matches, Figure)
        return Estimated(recommended=known, risks=CountedRisks() if whole else None)
    inclusion = _inclusion(cells, asked, weight_sum)
    covariates: Covariates | KnownBeside
    if beside is None:
        (left_out or KeysLeftOut(cells)).count()
        known_tables = {} if cells.weighted or margins is None else margins.tables
        covariates = Covariates.of_cells(cells, repeated, known_tables, asked.fraction)
    else:
        covariates = beside
    possible = known_cells(n_table_cells)
    if not n_table_cells_known:
        possible = cells_of_all_levels(covariates.seen, n_table_cells)
    asked = replace(asked, possible=possible)
    surplus = cells.add(rate_index(cells, covariates))
    expected = None
    if covariates.has_kernel:
        expected = as_float(cells.fold(ExpectedUniques(inclusion, surplus.log_ratio)))
    classes = _classes(cells, inclusion)
    counts = cells.fold(CountingCells(inclusion, *classes))
    histogram = counts.histogram(classes[0])
    found, result = asked.estimated(
        FROM_KEYS, AVERAGE + GIVEN, histogram, expected, untried(covariates.seen)
    )
    matches = found.recommended.expected_correct_matches
    assert isinstance(matches, Figure)
    assert matches.value is not None
    risks = record_risks(counts, histogram, result, inclusion, classes, matches.value)
    return replace(found, risks=risks)


def _inclusion(cells: Cells, asked: "_Asked", weight_sum: float | None) -> Inclusion:
    """How likely others of each cell were to be drawn; by the weights, where there are some."""
    n = asked.sizes.sample_size
    if weight_sum is None:
        return Inclusion(asked.fraction, n)
    sums = cells.fold(Alike(weight_sum / n, LARGEST_SIZE))
    return Inclusion(asked.fraction, n, weight_sum, alike_in_cells(sums))


def _classes(cells: Cells, inclusion: Inclusion) -> tuple[Classes, Classes]:
    """Classes of inclusion probability, of sample uniques and of cells of several records."""
    if inclusion.weight_sum is None:
        return Classes.one(inclusion.fraction), Classes.one(inclusion.fraction)
    uniques, several = cells.fold(SpreadOfCells(inclusion, LARGEST_SIZE))
    return uniques.classes(), several.classes()


@dataclass(frozen=True, slots=True)
class WeightSum:
    """The exact sum of the weights."""

    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> int:
        """Of some cells."""
        assert batch.weight_total is not None
        return exact_sum(batch.weight_total)

    def joined(self, one: int, other: int) -> int:
        """Of the cells of both."""
        return one + other


def chosen_by_user(model: str, uniques: Outcome, matches: Outcome) -> Recommended:
    """The figures of a model that the user trusts more, after a league on data like these."""
    return Recommended(
        model=model,
        why=f"is that of {model}, which was chosen to lead",
        expected_population_uniques=uniques,
        expected_correct_matches=matches,
        is_chosen=True,
    )


def counted_in_file(uniques: int, matches: float) -> Estimated:
    """The truth, where a file of the population tells how many share the keys of each cell: so many
    are unique in the population, and so many would be matched."""
    led = Recommended(
        model=COUNTED,
        why="the population was counted in its file, so nothing has to be estimated",
        expected_population_uniques=exactly(float(uniques)),
        expected_correct_matches=exactly(matches),
    )
    return Estimated(recommended=led, risks=CountedRisks("population_count"))


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
    doubt: str = ""

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
        if self.sizes.n_cells == n and not n_references(n):
            return self.nothing(
                "no two records of the sample agree on all keys, so nothing tells how often two "
                "persons of the population do: all may be unique, or few"
            )
        return None

    def estimated(
        self,
        model: str,
        why: str,
        histogram: CellHistogram,
        expected: float | None = None,
        unlike: Untried = NOT_AT_ALL,
    ) -> tuple[Estimated, Extrapolation]:
        """The posterior means with their intervals, and what they were made from; `expected` are
        the population uniques that models are loosely held against, and `unlike` says how many
        records have levels unlike those that were looked at."""
        result = extrapolate(
            histogram,
            fraction=self.fraction,
            possible=self.possible,
            expected=expected,
            untried=unlike.error,
        )
        n_unique, weight = float(self.sizes.sample_uniques), result.weight
        alone = doubt_of(
            weight,
            result.uniques,
            misfit=misfit_of_uniques(
                float(weight @ result.uniques),
                n_unique,
                self.fraction,
                DOUBTED if self.doubt else 0.0,
            ),
            counts=TOO_WIDE,
            scale=Scale(max(n_unique, 1.0)),
            most=n_unique,
        )
        alone = self._reaching_equal(alone, unlike.share)
        # 1/F is 1 for a population unique and at most a half for any other sample unique, so the
        # matches cannot leave this range; near a census the identity behind them would.
        staying, most = alone.mean if n_unique else 0.0, float(self.sizes.n_cells)
        matched = doubt_of(
            weight,
            result.matches,
            misfit=misfit_of_matches(self.fraction, DOUBTED_MATCHES if self.doubt else 0.0),
            counts=TOO_WIDE_MATCHES,
            scale=Scale(),
            least=staying,
            most=most - (n_unique - staying) / 2,
        )
        uniques, matches = figures_of(
            (alone, matched),
            varying=result.varying,
            most=(n_unique, most),
            fraction=self.fraction,
            note=self._note(),
        )
        led = Recommended(
            model=model,
            why=why,
            expected_population_uniques=uniques,
            expected_correct_matches=matches,
        )
        return Estimated(recommended=led, doubts=(alone, matched)), result

    def _reaching_equal(self, alone: Doubt, untried: float) -> Doubt:
        """The limits, as far as where all cells are equally likely, for such a share of records
        whose levels are much rarer than was tried.

        Sample uniques have the mean rate μ = 2·n2/n1 (Good 1953), but for the chance of n2. The
        fewest of them stay unique if all have that rate, as dates of birth about do. Where the
        possible cells are known, so is the rate of each if all are equally likely.
        """
        n_unique = self.sizes.sample_uniques
        pairs = int(self.sizes.cells[self.sizes.sizes == 2].sum())
        if not untried or not n_unique:
            return alone
        by_chance = min(NORMAL_QUANTILE / math.sqrt(pairs + 0.5), MOST_BY_CHANCE)
        rest = 1 / self.fraction - 1  # persons who were not drawn, for each who was
        fewest = math.exp(-2 * (pairs + 0.5) * (1 + by_chance) / n_unique * rest)
        most = 0.0
        if self.possible.known:
            alike = math.exp(-self.sizes.sample_size * rest / math.exp(self.possible.log_number))
            most = n_unique * alike + NORMAL_QUANTILE * math.sqrt(n_unique * alike * (1 - alike))
        scale = Scale(max(float(n_unique), 1.0))
        low, high = float(scale.of(alone.low)), float(scale.of(alone.high))
        down = float(scale.of(n_unique * fewest)) - low
        up = float(scale.of(most)) - high
        return replace(
            alone,
            low=scale.back(low + untried * min(down, 0.0)),
            high=scale.back(high + untried * max(up, 0.0)),
        )

    def _note(self) -> str:
        nobody = self.sizes.n_cells == self.sizes.sample_size
        notes = (
            note_on_fraction(self.fraction), NO_TWO_AGREE if nobody else "", self.note, self.doubt
        )  # fmt: skip
        return "; ".join(note for note in notes if note)

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


def misfit_of_uniques(
    uniques: float, n_unique: float, fraction: float, further: float = 0.0
) -> float:
    """The misfit that is common to all models, as a standard deviation on the logit scale; with a
    `further` one."""
    share = min(max(uniques / max(n_unique, 1.0), NEAREST_END), 1 - NEAREST_END)
    of_others = math.hypot(NOT_UNIQUE_FAR * math.log(1 / fraction), NOT_UNIQUE_ALWAYS)
    untried = BELOW_TRIED * max(math.log(LOWEST_TRIED_FRACTION / fraction), 0.0)
    return math.hypot(of_others / (1 - share), FEW_UNIQUE * math.log(1 / share), untried, further)


def misfit_of_matches(fraction: float, further: float = 0.0) -> float:
    """The same of the matches, on the log scale."""
    return math.hypot(MATCHES_FAR * math.log(1 / fraction), further)


def figures_of(
    doubts: tuple[Doubt, Doubt],
    *,
    varying: float,
    most: tuple[float, float],
    fraction: float,
    note: str,
) -> tuple[Figure, Figure]:
    """Population uniques and correct matches with their limits, none above `most`.

    Of `most[0]` sample uniques each stays unique or not, which makes a variance of `varying`; the
    number of right matches varies at most as a count does.
    """
    n_unique = max(most[0], 1.0)
    share = min(max(doubts[0].mean / n_unique, 0.0), 1.0)
    uniques = figure_of(
        doubts[0],
        chance=math.sqrt(varying + 0.25) / (n_unique * share * (1 - share) + 0.5),
        scale=Scale(n_unique),
        most=most[0],
        note=note,
    )
    matches = figure_of(
        doubts[1],
        chance=TOO_WIDE_MATCHES * math.sqrt((1 - fraction) / max(doubts[1].mean, 1.0)),
        scale=Scale(),
        most=most[1],
        note=note,
    )
    return (whole_limits(uniques) if most[0] else exactly(0.0)), matches


def note_on_fraction(fraction: float) -> str:
    """That the estimate was not tried on so small a share of the population."""
    if not above(LOWEST_TRIED_FRACTION, fraction):
        return ""
    return (
        f"sampling fraction {fraction:.2g} is below {LOWEST_TRIED_FRACTION}, where estimates are "
        "farther off, either way, and their limits wider"
    )


def note_on_weights(total: float | None, population_size: float | None) -> str:
    """That the weights had to be scaled by much; nothing where they about add up."""
    if total is None or population_size is None:
        return ""
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
