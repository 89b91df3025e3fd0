"""Does a superpopulation model fit the size indices?

Predicted numbers of cells of each size stand against the observed ones. Small sizes stand alone,
larger ones in groups that double, and neighbours are joined until each group expects at least five
cells. The predictions are scaled to the number of cells observed, because the number itself varies
far more under these models than the shares of the sizes do; Pearson's statistic on the shares is
then about chi-square with as many degrees of freedom as there are groups, less the parameters.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from discreet.data.summary import SizeIndices
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import first_largest
from discreet.survey.models.superpopulation.fitted import Distribution, FittedSuperpopulation

SINGLE_SIZES = 10  # sizes up to this stand alone
LEAST_EXPECTED = 5.0
UNLIKELY = 0.001
LONGEST_SUM = 4096  # predictions of a group beyond this many sizes are added up by quadrature


@dataclass(frozen=True, slots=True, kw_only=True)
class FitTable:
    """Observed and predicted numbers of cells in groups of sizes, from `first` to `last` each.

    `statistic` is Pearson's on the shares, `p_value` the chance of a larger one if the model holds.
    """

    first: IntArray
    last: IntArray
    observed: FloatArray
    predicted: FloatArray
    statistic: float
    degrees_of_freedom: int
    p_value: float | None

    def __post_init__(self) -> None:
        for array in (self.first, self.last, self.observed, self.predicted):
            read_only(array)

    def rows(self) -> list[dict[str, float | int]]:
        """The table as a list of rows: sizes from, to, observed and predicted cells."""
        columns = zip(self.first, self.last, self.observed, self.predicted, strict=True)
        return [
            {"from": int(a), "to": int(b), "observed": float(o), "predicted": float(p)}
            for a, b, o, p in columns
        ]


def fit_table(distribution: Distribution, sizes: SizeIndices, n_parameters: int) -> FitTable:
    """How the distribution's expected size indices compare with the observed ones."""
    first, last = _groups(int(sizes.sizes[-1]), sizes.sample_size)
    observed = _observed(sizes, first, last)
    predicted = np.array([_predicted(distribution, a, b) for a, b in zip(first, last, strict=True)])
    first, last, observed, predicted = _merged(first, last, observed, predicted)
    scale = observed.sum() / predicted.sum() if predicted.sum() > 0 else 0.0
    expected = np.maximum(predicted * scale, 1e-300)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    freedom = len(first) - max(n_parameters, 1)
    p_value = float(gammaincc(freedom / 2, statistic / 2)) if freedom > 0 else None
    return FitTable(
        first=first,
        last=last,
        observed=observed,
        predicted=predicted,
        statistic=statistic,
        degrees_of_freedom=max(freedom, 0),
        p_value=p_value,
    )


def _groups(largest: int, sample_size: int) -> tuple[IntArray, IntArray]:
    """Sizes 1, 2, …, SINGLE_SIZES, then groups that double, up to the sample size."""
    limits = list(range(1, min(SINGLE_SIZES, sample_size) + 2))
    while limits[-1] <= min(largest, sample_size):
        limits.append(min(2 * limits[-1], sample_size + 1))
    if limits[-1] <= sample_size:
        limits.append(sample_size + 1)
    edges = np.array(limits, dtype=np.int64)
    return edges[:-1], edges[1:] - 1


def _observed(sizes: SizeIndices, first: IntArray, last: IntArray) -> FloatArray:
    """Observed cells of each group."""
    inside = (sizes.sizes[:, None] >= first) & (sizes.sizes[:, None] <= last)
    observed: FloatArray = (sizes.cells[:, None] * inside).sum(axis=0).astype(np.float64)
    return observed


def _predicted(distribution: Distribution, first: int, last: int) -> float:
    """Expected cells of a group; sizes of a long one are taken at the nodes of a quadrature."""
    from discreet.numerics.integer_sums import integer_nodes

    if last - first < LONGEST_SUM:
        return float(
            distribution.expected_cells(np.arange(first, last + 1, dtype=np.float64)).sum()
        )
    sizes, weights = integer_nodes(int(first), int(last) + 1)
    return float(weights @ distribution.expected_cells(sizes))


def _merged(
    first: IntArray, last: IntArray, observed: FloatArray, predicted: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Neighbours joined from the largest sizes down, until each group expects enough cells."""
    starts, total = [], 0.0
    for i in range(len(first) - 1, -1, -1):
        total += predicted[i]
        if total >= LEAST_EXPECTED or i == 0:
            starts.append(i)
            total = 0.0
    starts = starts[::-1]
    if len(starts) > 1 and predicted[: starts[1]].sum() < LEAST_EXPECTED:
        del starts[1]
    ends = np.array([*starts[1:], len(first)]) - 1
    join = np.array(starts)
    return (
        first[join],
        last[ends],
        np.add.reduceat(observed, join),
        np.add.reduceat(predicted, join),
    )


def goodness_of_fit(fitted: FittedSuperpopulation) -> FitTable:
    """The table of a fitted model against the sample it was fitted on."""
    return fit_table(fitted.distribution, fitted.totals.size_indices, fitted.n_parameters)


def misfit(fitted: FittedSuperpopulation) -> str | None:
    """A sentence where the size indices contradict the model, with the first group that does."""
    if fitted.log_likelihood is None:
        return None
    table = goodness_of_fit(fitted)
    if table.p_value is None or table.p_value >= UNLIKELY:
        return None
    worst = first_largest(np.abs(table.observed - table.predicted) / np.sqrt(table.predicted))
    a, b = int(table.first[worst]), int(table.last[worst])
    size = f"of {a} records" if a == b else f"of {a} to {b} records"
    return (
        f"the model does not fit the size indices (chi-square {table.statistic:,.1f} on "
        f"{table.degrees_of_freedom} degrees of freedom): it expects "
        f"{table.predicted[worst]:,.1f} cells {size} where there are {table.observed[worst]:,.0f}"
    )
