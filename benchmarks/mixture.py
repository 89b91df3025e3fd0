"""A Dirichlet-process mixture of products of multinomials, as a contestant in the league.

Persons are of latent kinds, and within a kind the keys are independent (dunson_xing 2009). How
many kinds there are is left open: the shares of the kinds have a stick-breaking prior, cut off at
40 kinds. Gibbs sweeps draw in turn the kind of each record, the shares of levels in each kind, the
sticks, and the concentration of the process. A sample unique with the probability p(x) of its cell
in a sweep is a population unique with probability exp(−(N − n)·p(x)) (manrique-vallier_reiter
2012), which is averaged over the sweeps that are kept.

Survey weights, areas and households are not heeded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray

KINDS = 40
BURN_IN, KEPT, EVERY = 300, 100, 2
SHAPE, RATE = 0.25, 0.25  # of the gamma prior of the concentration
LEAST_REST = 1e-12  # of a stick, so that its logarithm exists
LIMITS = (0.05, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureEstimate:
    """The expected number of population uniques with 90 % limits, and of each sample unique the
    probability that it is one and the expectation of 1/F."""

    uniques: float
    low: float
    high: float
    unique_probability: FloatArray
    risk: FloatArray


def fit_mixture(
    levels: IntArray, asked: IntArray, population_size: int, rng: np.random.Generator
) -> MixtureEstimate:
    """The estimate of the records (levels from 0, records by keys); `asked` are the rows of the
    sample uniques."""
    rest = population_size - len(levels)
    total, risk = np.zeros(len(asked)), np.zeros(len(asked))
    sums: list[float] = []
    for probability in kept_probabilities(levels, asked, rng):
        mean = rest * probability
        unique = np.exp(-mean)
        total += unique
        risk += -np.expm1(-mean) / np.maximum(mean, LEAST_REST)
        noise = np.sqrt((unique * (1 - unique)).sum())
        sums.append(float(unique.sum() + noise * rng.standard_normal()))
    low, high = np.clip(np.quantile(sums, LIMITS), 0, len(asked))
    mean_unique = total / len(sums)
    return MixtureEstimate(
        uniques=float(mean_unique.sum()),
        low=float(low),
        high=float(high),
        unique_probability=mean_unique,
        risk=risk / len(sums),
    )


def kept_probabilities(
    levels: IntArray, asked: IntArray, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """The probabilities of the cells of the rows asked for, of each sweep that is kept."""
    sizes = [int(column.max()) + 1 for column in levels.T]
    kind = rng.integers(KINDS, size=len(levels))
    concentration = 1.0
    for sweep in range(BURN_IN + KEPT * EVERY):
        logs = [
            _level_logs(kind, column, size, rng)
            for column, size in zip(levels.T, sizes, strict=True)
        ]
        shares, concentration = _sticks(np.bincount(kind, minlength=KINDS), concentration, rng)
        weight = _weights(levels, logs, shares)
        if sweep >= BURN_IN and (sweep - BURN_IN) % EVERY == 0:
            yield weight[asked].sum(axis=1)
        ends = np.cumsum(weight, axis=1)
        kind = (ends < rng.random((len(ends), 1)) * ends[:, -1:]).sum(axis=1)


def _level_logs(
    kind: IntArray, column: IntArray, size: int, rng: np.random.Generator
) -> FloatArray:
    """Log shares of the levels in each kind (levels by kinds), drawn given who is of which kind;
    their prior is uniform."""
    counts = np.bincount(column * KINDS + kind, minlength=size * KINDS).reshape(size, KINDS)
    drawn = np.maximum(rng.standard_gamma(counts + 1.0), np.finfo(float).tiny)
    logs: FloatArray = np.log(drawn) - np.log(drawn.sum(axis=0))
    return logs


def _sticks(
    members: IntArray, concentration: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Log shares of the kinds, and the concentration, drawn given how many are of each kind."""
    after = members[::-1].cumsum()[::-1][1:]
    broken = np.clip(rng.beta(1 + members[:-1], concentration + after), 0, 1 - LEAST_REST)
    left = np.log1p(-broken)
    logs = np.concatenate([np.log(np.maximum(broken, LEAST_REST)), [0.0]])
    logs[1:] += np.cumsum(left)
    return logs, float(rng.gamma(SHAPE + KINDS - 1, 1 / (RATE - left.sum())))


def _weights(levels: IntArray, logs: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
    """Records by kinds: the probability of the kind and of the record's cell."""
    total = np.broadcast_to(shares, (len(levels), KINDS)).copy()
    for column, of_key in zip(levels.T, logs, strict=True):
        total += of_key[column]
    np.exp(total, out=total)
    return total
