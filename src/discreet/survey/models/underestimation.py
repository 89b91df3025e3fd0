"""Is the individual risk too low for these data? What pairs tell about the cells of sample uniques.

Of the F people of a cell each is in the sample with probability p; q = 1 − p, x = q/p. Counting the
ways in which one and two of them come in gives, for any population whatever, with s_j the cells of
j records,

    E Σ F over sample uniques = E(s_1) + 2x E(s_2),    so F̄ = 1 + a x with a = 2 s_2 / s_1

estimates the mean cell of a sample unique. Benedetti and Franconi's prior has s_j ∝ 1/j, a = 1 and
F̄ = 1/p. In a sparse table pairs are rare, a is small, and so is F̄. As a mean of 1/F is never
below 1/F̄ (Jensen), an intruder is right for at least s_1/F̄ of the sample uniques. Where that
exceeds the model's figure, the model is too low for certain, up to sampling error in s_1 and s_2.

That bound is far from the truth where cells are very unequal. So the size indices are extrapolated
as well, with the family of priors λ^(α−1) e^(−βλ) on a cell's expected count, of which the model's
is the case α = β = 0. It has s_(j+1)/s_j = φ (j+α)/(j+1) with φ = p/(p+β), hence a = φ(1+α),
φ = 3 s_3/s_2 − a, and F − 1 of a sample unique is negative binomial with

    E(1/F) = (1 − (1 + φx)^(1 − a/φ)) / ((a − φ) x).

and P(F = 1) = (1 + φx)^(−a/φ), where the model has p.

Nor can there be more matches than possible cells allow: E Σ 1/F over sample uniques is 1/x times
the number of occupied cells of the population that the sample missed, at most K − C.

With unequal weights, E Σ (F − 1) over sample uniques is E Σ (w + w′ − 2) over pairs, because a
person with the chance 1/w of being in the sample is the unseen half of a pair w − 1 times as often
as the seen one. So x is then the mean of w − 1 over the records in pairs.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, exprel

from discreet.data.summary import Summary
from discreet.numerics.rounding import ALIKE, above
from discreet.survey.models.benedetti_franconi import individual_risk, mean_inclusion_probability

CONFIDENCE = 0.975  # one-sided, in the share of pairs
NOTABLE_RATIO = 1.5  # an extrapolated ratio below this is within what extrapolation may be off by


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskWarning:
    """That the individual risk is too low for these data, by how much, and why in one sentence.

    `at_least` and `ratio` compare the correct matches among sample uniques with the model's figure:
    `at_least` whatever the population, `ratio` by extrapolating the size indices (or `at_least`,
    if that is more). `uniques_ratio` extrapolates the number of population uniques likewise.
    `cell_size` is the mean number of people in the cell of a sample unique that the sample allows,
    `assumed_cell_size` what the model takes. All are at the confidence limit of the pair rate, so
    that sampling error does not raise an alarm.
    """

    at_least: float
    ratio: float
    uniques_ratio: float
    cell_size: float
    assumed_cell_size: float
    sentence: str


@dataclass(frozen=True, slots=True)
class SmallCellSums:
    """Sums over all batches that let weights of every cell enter, not their mean alone.

    `matches` is Σ r and `uniques` Σ p̂ over sample uniques, `pair_weight_total` Σ w over pairs.
    """

    matches: float = 0.0
    uniques: float = 0.0
    pair_weight_total: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallCells:
    """What bears on the cells of sample uniques: the smallest size indices, and how much is unseen.

    `missed_cells` is K − C, the cells of the table without a record, `unseen_per_seen` is x, the
    people outside the sample for each one in it. `mean_risk` and `unique_probability` are the
    model's, on average over sample uniques.
    """

    uniques: int
    pairs: int
    triples: int
    missed_cells: int
    unseen_per_seen: float
    mean_risk: float
    unique_probability: float

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

    def extrapolated_ratios(self, pair_rate: float) -> tuple[float, float]:
        """E(1/F) and P(F = 1) of a sample unique in the wider family of priors, over the model's.

        E(1/F) is exprel(−z) log(1+y)/y with y = φx and z = (a/φ − 1) log(1+y), which has no
        cancellation at a = φ, at a = 0 or at φ = 0. Both are cut by what the missed cells allow.
        """
        stretch = self.spread * self.unseen_per_seen
        logarithm = float(np.log1p(stretch))
        shape = pair_rate / self.spread
        mean = float(exprel((1 - shape) * logarithm)) * logarithm / stretch
        alone = float(np.exp(-shape * logarithm))
        cut = min(1.0, self.missed_cells / (self.unseen_per_seen * self.uniques * mean))
        return cut * mean / self.mean_risk, cut * alone / self.unique_probability


def underestimation_check(
    summary: Summary, sums: SmallCellSums | None = None
) -> RiskWarning | None:
    """A warning if the individual risk is too low for these data, None if nothing shows that it is.

    It warns where the certain ratio exceeds 1, or the extrapolated one exceeds `NOTABLE_RATIO`,
    both at the upper confidence limit of the pair rate. None is no proof that the risk is right.
    Without `sums`, or in a file without weights, all are taken as equal. Raises ModelUnavailable
    where neither weights nor the population size are known.
    """
    cells = small_cells(summary, sums)
    if cells.uniques == 0 or cells.unseen_per_seen <= ALIKE:
        return None
    at_least = cells.least_ratio(cells.highest_pair_rate)
    ratio, uniques_ratio = cells.extrapolated_ratios(cells.highest_pair_rate)
    if not above(at_least, 1) and not above(ratio, NOTABLE_RATIO):
        return None
    return RiskWarning(
        at_least=at_least,
        ratio=max(ratio, at_least),
        uniques_ratio=uniques_ratio,
        cell_size=cells.cell_size(cells.highest_pair_rate),
        assumed_cell_size=1 + cells.unseen_per_seen,
        sentence=_sentence(cells, at_least, max(ratio, at_least), uniques_ratio),
    )


def small_cells(summary: Summary, sums: SmallCellSums | None = None) -> SmallCells:
    """The evidence in a summary, with the weights of every cell where their sums are given."""
    sizes = summary.size_indices
    uniques, pairs, triples = (sizes.cells_below(j + 1) - sizes.cells_below(j) for j in (1, 2, 3))
    p = mean_inclusion_probability(summary)
    if sums is None or summary.weight_total is None:
        risk = float(individual_risk(np.ones(1), np.array([p]))[0])
        sums = SmallCellSums(uniques * risk, uniques * p, 2 * pairs / p)
    return SmallCells(
        uniques=uniques,
        pairs=pairs,
        triples=triples,
        missed_cells=min(max(summary.n_table_cells - sizes.n_cells, 0), 10**18),
        unseen_per_seen=max(sums.pair_weight_total / (2 * pairs) if pairs else 1 / p, 1.0) - 1,
        mean_risk=sums.matches / uniques if uniques else 1.0,
        unique_probability=sums.uniques / uniques if uniques else 1.0,
    )


def _sentence(cells: SmallCells, at_least: float, ratio: float, uniques_ratio: float) -> str:
    """The warning in words."""
    verdict, least, uniques = "probably too low", "", ""
    if above(at_least, 1):
        verdict, least = "too low", f"at least {at_least:.2g} and "
    if above(uniques_ratio, NOTABLE_RATIO):
        uniques = f", and population uniques {uniques_ratio:.2g} times"
    size, assumed = cells.cell_size(cells.highest_pair_rate), 1 + cells.unseen_per_seen
    return (
        f"The individual risk is {verdict} for these data: {cells.pairs} cells of two records "
        f"and {cells.uniques} sample uniques show that the cell of a sample unique holds no "
        f"more than {size:.3g} people on average, where the model takes {assumed:.3g}; correct "
        f"matches among sample uniques are {least}probably {ratio:.2g} times its figure{uniques}."
    )
