"""How many persons outside a sample are in a cell, under a decomposable model.

With cliques C₁, …, C_K, separators S₂, …, S_K and cell probabilities hyper-Dirichlet(α), a cell's
probability is a product of independent betas given the sample (Dawid and Lauritzen 1993),

    θ_i = ∏_k B_k,   B_k ~ Beta(f_C + α_C, f_S + α_S − f_C − α_C),

where an empty separator has the sample's size for f_S. It depends on the sample by the counts of
cliques alone: where those are released, what is still unknown of the sample tells no more of θ_i.
Of r persons outside, X in the cell are binomial given θ_i, so X is a chain of beta–binomials.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import pi, prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log1p, loggamma

from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.gamma_ratio import STIRLING, log_gamma_ratio
from discreet.numerics.graphs import junction_tree

Link = tuple[float, float]  # the parameters of a beta distribution
Complex = NDArray[np.complex128]

SPARE = 64  # persons outside beyond the counts asked for, from which on the integral is taken
MOST_STEPPED = 1024  # persons outside who are followed one by one
STIRLING_FROM = 50.0
NEGLIGIBLE = 45.0  # of the logarithm of an integrand
SMALLEST = -60.0  # logarithm of a probability that is taken for nothing
FIRST_POINTS, MOST_POINTS = 64, 2**14
TOLERANCE = 1e-11


def released_links(
    margins: Margins, model: HierarchicalModel, cells: IntArray, alpha: float
) -> list[tuple[Link, ...]] | None:
    """The betas whose product is each cell's probability (rows of levels), `alpha` in every cell.

    None where the model is not decomposable or the counts of a clique are not released.
    """
    tree = junction_tree(model.generators)
    if tree is None or not all(_home(axes, margins) for axes in tree.components):
        return None
    pairs = list(zip(tree.components, tree.separators, strict=True))
    counts = [(_entries(margins, c, cells), _entries(margins, s, cells)) for c, s in pairs]
    priors = [(alpha * _n_cells(margins, c), alpha * _n_cells(margins, s)) for c, s in pairs]
    found = []
    for row in range(len(cells)):
        links = (
            (float(own[row] + a), float(whole[row] - own[row] + (b - a)))
            for (own, whole), (a, b) in zip(counts, priors, strict=True)
        )
        found.append(tuple(sorted(link for link in links if link[1] > 0)))
    return found


def _home(axes: Axes, margins: Margins) -> Axes | None:
    return next((own for own in margins.tables if set(axes) <= set(own)), None)


def _entries(margins: Margins, axes: Axes, cells: IntArray) -> IntArray:
    """The sample's counts over some variables at the levels of each cell."""
    home = _home(axes, margins)
    if home is None:  # an empty separator with no margin at all
        return np.full(len(cells), margins.total)
    others = tuple(i for i, axis in enumerate(home) if axis not in axes)
    table = np.asarray(margins.tables[home].sum(axis=others))
    return np.broadcast_to(table[tuple(cells[:, axis] for axis in axes)], len(cells))


def _n_cells(margins: Margins, axes: Axes) -> int:
    """How many cells of the table one entry of a margin adds up."""
    return prod(size for axis, size in enumerate(margins.sizes) if axis not in axes)


def mean_share(links: Sequence[Link]) -> float:
    """E θ_i, the expected share of the persons outside who are in the cell."""
    return prod(own / (own + others) for own, others in links)


@lru_cache(maxsize=4096)
def chain_distribution(links: tuple[Link, ...], rest: int, most: int) -> tuple[float, ...] | None:
    """Pr(X = x) for x = 0, …, `most`, where X of `rest` persons are in the cell. To 1e-9.

    Followed link by link where few persons are outside, else each probability is an integral (see
    `_integral`) whose cost does not depend on `rest`. None where neither can be done: the counts
    asked for are more than 1,000 and nearly all persons, or the integral did not settle.
    """
    asked = min(most, rest)
    if not links or rest - asked < SPARE:
        distribution = _stepped(links, rest, asked) if rest <= MOST_STEPPED or not links else None
    else:
        distribution = _integrals(links, rest, asked)
    return None if distribution is None else (*distribution, *[0.0] * (most - asked))


def _stepped(links: Sequence[Link], rest: int, most: int) -> list[float]:
    if not links:  # the only cell there is
        return [float(x == rest) for x in range(most + 1)]
    distribution: FloatArray = np.zeros(rest + 1)
    distribution[rest] = 1.0
    for own, others in links:
        distribution = distribution @ _steps(own, others, rest)
    return [float(p) for p in distribution[: most + 1]]


def _steps(own: float, others: float, rest: int) -> FloatArray:
    """The beta-binomial probabilities of j out of m, a row for each m up to `rest`."""
    count = np.arange(rest + 1)
    factorial = gammaln(count + 1.0)
    into = log_gamma_ratio(own, count) - factorial
    away = log_gamma_ratio(others, count) - factorial
    whole = log_gamma_ratio(own + others, count) - factorial
    left = count[:, None] - count
    logs = into + away[np.maximum(left, 0)] - whole[:, None]
    steps: FloatArray = np.where(left >= 0, np.exp(np.minimum(logs, 0.0)), 0.0)
    return steps


def _integrals(links: Sequence[Link], rest: int, most: int) -> list[float] | None:
    found = []
    for x in range(most + 1):
        value = _integral(links, rest, x)
        if value is None:
            return None
        found.append(value)
    return found


def _integral(links: Sequence[Link], rest: int, x: int) -> float | None:
    """Pr(X = x) by Mellin inversion, with r for `rest` and −x < c < the least a_k:

        1/2πi ∫ r!/x! · Γ(s+x)/Γ(s+r+1) · ∏_k Γ(a_k−s)Γ(a_k+b_k)/(Γ(a_k)Γ(a_k+b_k−s)) ds

    from c−i∞ to c+i∞. It follows from θ^x (1−θ)^{r−x} = 1/2πi ∫ B(s+x, r−x+1) θ^{−s} ds and the
    moments of betas. c is where the integrand is least on the real line, so that there is no
    cancellation; s = c + i·d·sinh u, with d the distance to the nearest pole, keeps the poles of u
    at a distance of π/2. The number of points is doubled until the value settles; None where it
    does not.
    """
    low, high = float(-x), min(own for own, _ in links)
    centre, distance = _saddle(links, rest, x, low, high)
    peak = float(_log_integrand(np.array([centre + 0j]), links, rest, x)[0].real)
    if peak + np.log(max(distance, 1.0)) < SMALLEST:
        return 0.0
    end = np.arcsinh(_reach(links, rest, x, centre, peak) / distance)

    def heights(u: FloatArray) -> float:
        s = np.asarray(centre + 1j * distance * np.sinh(u), dtype=np.complex128)
        return float(np.sum(np.exp(_log_integrand(s, links, rest, x)).real * np.cosh(u)))

    return _settled(heights, float(end), distance / pi)


def _settled(heights: Callable[[FloatArray], float], end: float, scale: float) -> float | None:
    """`scale` × the integral from 0 to `end` of an even function, of which `heights` gives sums, by
    the trapezoid rule with twice as many points each time; None where it does not settle."""
    points = FIRST_POINTS
    total = heights(np.linspace(0.0, end, points + 1)) - heights(np.zeros(1)) / 2
    value = total * end / points * scale
    while points < MOST_POINTS:
        total += heights((np.arange(points, dtype=np.float64) + 0.5) * (end / points))
        before, points = value, 2 * points
        value = total * end / points * scale
        if abs(value - before) <= TOLERANCE:
            return min(max(value, 0.0), 1.0)
    return None


def _saddle(
    links: Sequence[Link], rest: int, x: int, low: float, high: float
) -> tuple[float, float]:
    """Where the integrand is least between its poles, and how far the nearest pole is from there.

    Its logarithm is convex. Sought on a grid of log-odds, then on a finer one.
    """
    grid = np.linspace(-60.0, 30.0, 91)
    for _ in range(2):
        s = _between(low, high, grid).astype(np.complex128)
        best = int(np.argmin(_log_integrand(s, links, rest, x).real))
        around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        chosen, grid = grid[best], np.linspace(*around, 61)
    centre = float(_between(low, high, np.array([chosen]))[0])
    return centre, min(centre - low, high - centre)


def _between(low: float, high: float, odds: FloatArray) -> FloatArray:
    """Points between two poles, reckoned from the nearer one and never on it."""
    width = high - low
    found = np.where(odds < 0, low + width * expit(odds), high - width * expit(-odds))
    return np.maximum(found, low + 1e-12 * abs(low))


def _reach(links: Sequence[Link], rest: int, x: int, centre: float, peak: float) -> float:
    """How far up the line the integrand is worth anything."""
    heights = 2.0 ** np.arange(-30.0, 60.0)
    line: Complex = np.asarray(centre + 1j * heights, dtype=np.complex128)
    logs = _log_integrand(line, links, rest, x).real + np.log1p(heights)
    return float(heights[min(int(np.sum(logs > peak - NEGLIGIBLE)), len(heights) - 1)])


def _log_integrand(s: Complex, links: Sequence[Link], rest: int, x: int) -> Complex:
    logs: Complex = loggamma(s + x) - gammaln(x + 1.0) - _log_ratio(rest + 1.0, s)
    for own, others in links:
        logs = logs + _log_ratio(own, -s) - _log_ratio(own + others, -s)
    return logs


def _log_ratio(z: float, s: Complex) -> Complex:
    """log Γ(z + s) / Γ(z) for a real z > 0 and Re(z + s) > 0, as `log_gamma_ratio` does it."""
    large = (z >= STIRLING_FROM) & ((z + s).real >= STIRLING_FROM)
    result = np.empty(s.shape, dtype=np.complex128)
    result[~large] = loggamma(z + s[~large]) - gammaln(z)
    more = s[large]
    growth = (z + more - 0.5) * log1p(more / z) + more * (np.log(z) - 1)
    result[large] = growth + _remainder(z + more) - _remainder(np.full(1, z + 0j))
    return result


def _remainder(z: Complex) -> Complex:
    """What Stirling's formula for log Γ(z) leaves out."""
    inverse: Complex = 1 / z
    square = inverse * inverse
    total: Complex = np.zeros(z.shape, dtype=np.complex128)
    for coefficient in reversed(STIRLING):
        total = total * square + coefficient
    return total * inverse
