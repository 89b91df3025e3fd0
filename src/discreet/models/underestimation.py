"""Is the individual risk too low for these data? What pairs tell about the cells of sample uniques.

Of the F people of a cell each is in the sample with probability p; q = 1 − p, x = q/p. Counting the
ways in which one and two of them come in gives, for any population whatever, with s_j the cells of
j records,

    E Σ F over sample uniques = E(s_1) + 2x E(s_2),    so F̄ = 1 + a x with a = 2 s_2 / s_1

estimates the mean cell of a sample unique. Benedetti and Franconi's prior has s_j ∝ 1/j, a = 1 and
F̄ = 1/p. In a sparse table pairs are rare, a is small, and so is F̄. As a mean of 1/F is never below
1/F̄ (Jensen), an intruder is right for at least s_1/F̄ of the sample uniques. Where that exceeds the
model's figure, the model is too low for certain, up to sampling error in s_1 and s_2.

That bound is far from the truth where cells are very unequal. So the size indices are extrapolated
as well, with the family of priors λ^(α−1) e^(−βλ) on a cell's expected count, of which the model's
is the case α = β = 0. It has s_(j+1)/s_j = φ (j+α)/(j+1) with φ = p/(p+β), hence a = φ(1+α),
φ = 3 s_3/s_2 − a, and F − 1 of a sample unique is negative binomial with

    E(1/F) = (1 − (1 + φx)^(1 − a/φ)) / ((a − φ) x).

Nor can there be more matches than possible cells allow: E Σ 1/F over sample uniques is 1/x times
the number of occupied cells of the population that the sample missed, at most K − C.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, exprel

from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.models.benedetti_franconi import individual_risk, mean_inclusion_probability
from discreet.models.contract import CellScores

CONFIDENCE = 0.975  # one-sided, in the share of pairs
NOTABLE_RATIO = 2.0  # an extrapolated ratio below this is within what extrapolation may be off by


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskWarning:
    """That the individual risk is too low for these data, by how much, and why in one sentence.

    `ratio` and `at_least` compare the correct matches among sample uniques with the model's figure:
    `at_least` whatever the population, `ratio` by extrapolating the size indices (or `at_least`,
    if that is more). `cell_size` is the mean number of people in the cell of a sample unique that
    the sample allows, `assumed_cell_size` what the model takes. All are at the confidence limit of
    the pair rate, so that sampling error does not raise an alarm.
    """

    ratio: float
    at_least: float
    cell_size: float
    assumed_cell_size: float
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCells:
    """What bears on the cells of sample uniques: the smallest size indices, and how much is unseen.

    `missed_cells` is K − C, the cells of the table without a record, `unseen_per_seen` is x, the
    people outside the sample for each one in it, and `mean_risk` the model's of a sample unique.
    """

    uniques: int
    pairs: int
    triples: int
    missed_cells: int
    unseen_per_seen: float
    mean_risk: float

    @property
    def pair_rate(self) -> float:
        """a = 2 s_2 / s_1: 1 under the model, less in a sparse table."""
        return 2 * self.pairs / self.uniques

    @property
    def highest_pair_rate(self) -> float:
        """The upper confidence limit on a, from the binomial share of pairs (Clopper–Pearson)."""
        share = float(betaincinv(self.pairs + 1, self.uniques, CONFIDENCE))
        return 2 * share / (1 - share)

    @property
    def spread(self) -> float:
        """φ in (0, 1]: near 0 where all cells are of about one size, 1 under the model."""
        rise = 3 * self.triples / self.pairs - self.pair_rate if self.pairs else 0.0
        return min(max(rise, 1e-9), 1.0)

    def cell_size(self, pair_rate: float) -> float:
        """F̄ = 1 + a x, the mean number of people in the cell of a sample unique."""
        return 1 + pair_rate * self.unseen_per_seen

    def least_ratio(self, pair_rate: float) -> float:
        """The least mean of 1/F that this mean of F allows, over the model's."""
        return 1 / self.cell_size(pair_rate) / self.mean_risk

    def extrapolated_ratio(self, pair_rate: float) -> float:
        """E(1/F) of a sample unique in the wider family of priors, over the model's.

        Written as exprel(−z) log(1+y)/y with y = φx and z = (a/φ − 1) log(1+y), which has no
        cancellation at a = φ, at a = 0 or at φ = 0, and cut at what the missed cells allow.
        """
        stretch = self.spread * self.unseen_per_seen
        logarithm = np.log1p(stretch)
        exponent = (pair_rate / self.spread - 1) * logarithm
        mean = float(exprel(-exponent) * logarithm / stretch)
        most = self.missed_cells / (self.unseen_per_seen * self.uniques)
        return min(mean, most) / self.mean_risk


def underestimation_check(
    summary: Summary, *, unique_matches: float | None = None, pair_weight_total: float | None = None
) -> RiskWarning | None:
    """A warning if the individual risk is too low for these data, None if nothing shows that it is.

    It warns where the certain ratio exceeds 1, or the extrapolated one exceeds `NOTABLE_RATIO`,
    both at the upper confidence limit of the pair rate. None is no proof that the risk is right.

    Weights enter by their mean unless the sums over all batches of `unique_matches` and
    `pair_weight_total` are given; with both, the lower limit holds for unequal weights too.
    Raises ModelUnavailable where neither weights nor the population size are known.
    """
    cells = _small_cells(summary, unique_matches, pair_weight_total)
    if cells.uniques == 0 or cells.unseen_per_seen == 0:
        return None
    at_least = cells.least_ratio(cells.highest_pair_rate)
    extrapolated = cells.extrapolated_ratio(cells.highest_pair_rate)
    if at_least <= 1 and extrapolated <= NOTABLE_RATIO:
        return None
    return _warning(cells, at_least, extrapolated)


def unique_matches_of(batch: CellBatch, scores: CellScores) -> float:
    """Σ r over the sample uniques of a batch; 0 where the model gives no match probability."""
    if scores.match_probability is None:
        return 0.0
    return float(scores.match_probability[batch.sample_count == 1].sum())


def pair_weight_total_of(batch: CellBatch) -> float:
    """Σ of the weights in cells of two records of a batch.

    With unequal weights E Σ (F − 1) over sample uniques is E Σ (w + w′ − 2) over these pairs: a
    member whose chance of inclusion is 1/w is the unseen half of a unique w − 1 times as often.
    """
    if batch.weight_total is None:
        return 0.0
    return float(batch.weight_total[batch.sample_count == 2].sum())


def _small_cells(
    summary: Summary, unique_matches: float | None, pair_weight_total: float | None
) -> SmallCells:
    """The evidence in a summary, with the sums over batches where they are given."""
    sizes = summary.size_indices
    uniques, pairs, triples = (sizes.cells_below(j + 1) - sizes.cells_below(j) for j in (1, 2, 3))
    p = mean_inclusion_probability(summary)
    unseen = 1 / p - 1
    if pair_weight_total is not None and pairs:
        unseen = max(pair_weight_total / (2 * pairs) - 1, 0.0)
    risk = float(individual_risk(np.ones(1), np.array([p]))[0])
    if unique_matches is not None and uniques:
        risk = unique_matches / uniques
    return SmallCells(
        uniques=uniques,
        pairs=pairs,
        triples=triples,
        missed_cells=min(max(summary.n_table_cells - sizes.n_cells, 0), 10**18),
        unseen_per_seen=unseen,
        mean_risk=risk,
    )


def _warning(cells: SmallCells, at_least: float, extrapolated: float) -> RiskWarning:
    """The warning in numbers and in words."""
    ratio = max(extrapolated, at_least)
    size, assumed = cells.cell_size(cells.highest_pair_rate), 1 + cells.unseen_per_seen
    verdict, least = "probably too low", ""
    if at_least > 1:
        verdict, least = "too low", f"at least {at_least:.2g} and "
    return RiskWarning(
        ratio=ratio,
        at_least=at_least,
        cell_size=size,
        assumed_cell_size=assumed,
        sentence=(
            f"The individual risk is {verdict} for these data: {cells.pairs} cells of two records "
            f"beside {cells.uniques} sample uniques show that the cell of a sample unique holds no "
            f"more than {size:.3g} people on average, where the model takes {assumed:.3g}; correct "
            f"matches among sample uniques are {least}probably {ratio:.2g} times its figure."
        ),
    )
