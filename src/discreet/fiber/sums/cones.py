"""The number of points of a block of few dimensions, whatever the size of its counts.

A y = b has the whole solutions y = y₀ + B z with z in ℤᵈ, so that a block is a polytope in d
dimensions. By Brion's theorem the generating function of its points is the sum, over its corners,
of those of the cones that the corners' edges span; each cone's is a short fraction,

    Σ_p t^p / ∏ᵢ (1 − t^rᵢ),    p the points of its parallelepiped, rᵢ its edges,

and at t = e^(τ c), τ → 0, the poles of all cones cancel: the constant terms of their Laurent series
add up to the number of points (Barvinok 1994; De Loera et al. 2004, LattE). Corners are found in
whole numbers, and the terms are added up modulo a prime beyond what the number can be. Corners, not
points, are gone through: counts a thousand times as large take the same work.

Every limit y ≥ 0 is first moved to y ≥ −ε with its own ε between 0 and 1, which changes no whole
point, and makes all cones simple: no corner lies on more limits than there are dimensions.
"""

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, gcd, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.clock import work
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.blocks import Block

MOST_DIMENSIONS = 10
MOST_CELLS = 100
PRIME_BITS = (127, 521, 1279, 2203, 4253)  # 2^bits − 1 is a prime (Mersenne)
MOST_CORNERS = 20_000
MOST_POINTS = 400_000  # of all parallelepipeds together
CORNER_SECONDS = 1e-3  # a corner: a change of the tableau, and the series of its cone
POINT_SECONDS = 2e-5  # a point of a parallelepiped
STEPS_TO_START = 2_000  # changes of the tableau on the way to a first corner
TRIES = 20  # choices of ε and of c, of which nearly all serve
EPSILONS = 2**24  # ε is a whole number over this

Whole = NDArray[Any]  # Python's whole numbers


def count_by_cones(block: Block, budget: Budget, *, most_corners: int = MOST_CORNERS) -> int:
    """The number of points of a block. Raises BudgetExceeded where dimensions, corners or points of
    cones are too many, which is known after `most_corners` corners at the latest."""
    cells = block.matrix.shape[1]
    if cells > MOST_CELLS:
        raise BudgetExceeded(f"{cells} cells are too many to go through corners")
    matrix = block.matrix.toarray().astype(object)
    solved = _whole_solutions(matrix, block.right.astype(object))
    if solved is None:
        return 0
    origin, basis = solved
    if basis.shape[1] == 0:
        return int(bool(np.all(origin >= 0) and np.all(origin <= block.upper)))
    if basis.shape[1] > MOST_DIMENSIONS:
        raise BudgetExceeded(f"{basis.shape[1]} dimensions are too many to go through corners")
    bits = sum(log2(int(top) + 1) for top in block.upper)  # of what the number of points can be
    own = [one for one in PRIME_BITS if one > bits + 1]
    if not own:
        raise BudgetExceeded("the number of tables has too many digits")
    limits, constants = _limits(block, origin, basis)
    for seed in range(TRIES):
        try:
            return _Count(limits, constants, budget, random.Random(seed), 2 ** own[0] - 1).total(
                most_corners
            )
        except _TieError:
            continue
    raise BudgetExceeded("no choice of ε keeps corners apart")


class _TieError(Exception):
    """Two limits are met at once, or an edge stands upright on c: others are to be chosen."""


def _whole_solutions(matrix: Whole, right: Whole) -> tuple[Whole, Whole] | None:
    """One whole solution of A y = b and a basis of those of A y = 0; None where there is none.

    Columns of A are combined, with the same done to the identity, until A is in steps.
    """
    n_rows, n = matrix.shape
    a, u = matrix.copy(), np.array([[int(i == j) for j in range(n)] for i in range(n)], object)
    left, solution, done = right.copy(), np.zeros(n, object), 0
    for row in range(n_rows):
        while True:
            others = [j for j in range(done, n) if a[row, j] != 0]
            if len(others) <= 1:
                break
            least = min(others, key=lambda j: abs(a[row, j]))
            for j in others:
                if j != least:
                    times = a[row, j] // a[row, least]
                    a[:, j] -= times * a[:, least]
                    u[:, j] -= times * u[:, least]
        if not others:
            if left[row] != 0:
                return None
            continue
        pivot = others[0]
        times, rest = divmod(left[row], a[row, pivot])
        if rest:
            return None
        left = left - times * a[:, pivot]
        solution = solution + times * u[:, pivot]
        for grid in (a, u):
            grid[:, [done, pivot]] = grid[:, [pivot, done]]
        done += 1
    return solution, u[:, done:]


def _limits(block: Block, origin: Whole, basis: Whole) -> tuple[Whole, Whole]:
    """Rows and constants of constant + row z ≥ 0: no cell below zero, and none above its upper
    limit where no row of A says so already."""
    matrix = block.matrix.toarray()
    rows, constants = [*basis], [*origin]
    one_sign = (matrix >= 0).all(axis=1)
    for j, top in enumerate(block.upper.tolist()):
        above = matrix[:, j] > 0
        implied = [
            int(b) // int(times)
            for b, times in zip(
                block.right[one_sign & above], matrix[one_sign & above, j], strict=True
            )
        ]
        if not implied or min(implied) > top:
            rows.append(-basis[j])
            constants.append(top - origin[j])
    return np.array(rows, dtype=object), np.array(constants, dtype=object)


@dataclass(slots=True)
class _Tableau:
    """Slacks of the limits and coordinates z as functions of the d slacks that are zero at a corner

        row i:   (entries[i, 0] + Σ_k entries[i, k] · slack of free[k − 1]) / divisor

    Constants (column 0) are EPSILONS times as large. Variables 0 … m − 1 are slacks, those behind
    them coordinates. Entries stay whole, since each is a minor of the first tableau (Edmonds).
    """

    entries: Whole
    divisor: int
    free: list[int]  # which variable each column is
    basic: list[int]  # which variable each row is

    def pivoted(self, row: int, column: int) -> "_Tableau":
        """With the variables of a row and a column exchanged."""
        own, pivot = self.entries, self.entries[row, column]
        found = (own * pivot - np.outer(own[:, column], own[row])) // self.divisor
        found[:, column] = own[:, column]
        found[row] = -own[row]
        found[row, column] = self.divisor
        divisor = pivot
        if divisor < 0:
            found, divisor = -found, -divisor
        free, basic = self.free.copy(), self.basic.copy()
        free[column - 1], basic[row] = basic[row], free[column - 1]
        return _Tableau(found, divisor, free, basic)


class _Count:
    """The sum over corners, for one choice of ε and c."""

    def __init__(
        self, limits: Whole, constants: Whole, budget: Budget, rng: random.Random, prime: int
    ) -> None:
        self.m, self.d = limits.shape
        self.series = _Series(self.d, prime)
        self.budget = budget
        epsilon = [rng.randrange(1, EPSILONS) for _ in range(self.m)]
        moved = np.array(
            [EPSILONS * int(c) + e for c, e in zip(constants, epsilon, strict=True)], dtype=object
        )
        self.direction = [rng.randrange(-1000, 1001) for _ in range(self.d)]
        self.first = _Tableau(
            np.concatenate([moved[:, None], limits], axis=1),
            1,
            [self.m + k for k in range(self.d)],
            list(range(self.m)),
        )
        self.points = 0

    def total(self, most_corners: int) -> int:
        """The number of points."""
        start = self._corner()
        if start is None:
            return 0
        total, seen, waiting = 0, {frozenset(start.free)}, [start]
        while waiting:
            corner = waiting.pop()
            work(CORNER_SECONDS)
            self.budget.check_time("going through corners")
            total += self._cone(corner)
            for column in range(1, self.d + 1):
                row = self._blocking(corner, column)
                free = frozenset(corner.free) - {corner.free[column - 1]} | {corner.basic[row]}
                if free not in seen:
                    seen.add(free)
                    if len(seen) > most_corners:
                        raise BudgetExceeded(f"there are more than {most_corners:,} corners")
                    waiting.append(corner.pivoted(row, column))
        return total % self.series.prime

    def _corner(self) -> _Tableau | None:
        """A first corner, None where no point meets all limits.

        Coordinates are exchanged for slacks; then a negative slack of the least number for the
        free one of the least number that raises it (Bland), which ends.
        """
        found = self.first
        for column in range(1, self.d + 1):
            rows = np.flatnonzero(found.entries[:, column] != 0)
            first = next(r for r in rows.tolist() if found.basic[r] < self.m)
            found = found.pivoted(first, column)
        for _ in range(STEPS_TO_START):
            low = [
                (variable, row)
                for row, variable in enumerate(found.basic)
                if variable < self.m and found.entries[row, 0] < 0
            ]
            if not low:
                return found
            row = min(low)[1]
            up = [
                (variable, k + 1)
                for k, variable in enumerate(found.free)
                if found.entries[row, k + 1] > 0
            ]
            if not up:
                return None
            found = found.pivoted(row, min(up)[1])
        raise BudgetExceeded("no first corner was found")

    def _blocking(self, corner: _Tableau, column: int) -> int:
        """The row whose slack is the first to become zero along an edge."""
        best = -1
        for row, variable in enumerate(corner.basic):
            falls = -corner.entries[row, column]
            if variable >= self.m or falls <= 0:
                continue
            if best < 0:
                best = row
                continue
            other = -corner.entries[best, column]
            gap = corner.entries[row, 0] * other - corner.entries[best, 0] * falls
            if gap == 0:
                raise _TieError
            if gap < 0:
                best = row
        if best < 0:
            raise BudgetExceeded("the counts are not limited")
        return best

    def _cone(self, corner: _Tableau) -> int:
        """The constant term of one corner's fraction, modulo the prime."""
        place = {variable: row for row, variable in enumerate(corner.basic)}
        rows = [place[self.m + k] for k in range(self.d)]
        edges = []
        for column in range(1, self.d + 1):
            ray = [int(corner.entries[row, column]) for row in rows]
            common = gcd(*ray)
            edges.append([x // common for x in ray])
        along = [sum(c * x for c, x in zip(self.direction, ray, strict=True)) for ray in edges]
        if 0 in along:
            raise _TieError
        apex = [int(corner.entries[row, 0]) for row in rows]
        heights = self._heights(edges, apex, EPSILONS * int(corner.divisor))
        return self.series.constant_term(along, heights)

    def _heights(self, edges: list[list[int]], apex: list[int], scale: int) -> list[int]:
        """c · p of each whole point p = apex / scale + Σ λᵢ rᵢ with 0 ≤ λᵢ < 1.

        A whole point w of each class modulo the edges is moved by whole edges into the
        parallelepiped; the classes are the points below the steps of the edges in triangular form.
        """
        steps = _steps(edges)
        number = 1
        for step in steps:
            number *= step
        self.points += number
        if self.points > MOST_POINTS:
            raise BudgetExceeded(f"cones hold more than {MOST_POINTS:,} points")
        work(POINT_SECONDS * number)
        inverse, divisor = _inverse(edges)
        along = [sum(c * x for c, x in zip(self.direction, ray, strict=True)) for ray in edges]
        heights = []
        for index in range(number):
            point = []
            for step in steps:
                index, own = divmod(index, step)
                point.append(own)
            height = sum(c * x for c, x in zip(self.direction, point, strict=True))
            gaps = [scale * x - y for x, y in zip(point, apex, strict=True)]
            for i in range(self.d):
                share = sum(gap * entry for gap, entry in zip(gaps, inverse[i], strict=True))
                height -= along[i] * (share // (scale * divisor))
            heights.append(height)
        return heights


def _steps(edges: list[list[int]]) -> list[int]:
    """The diagonal of the triangular (Hermite) form of the lattice that the edges span."""
    rows, d, found = [row.copy() for row in edges], len(edges), []
    for column in range(d):
        own = list(range(column, d))
        while True:
            others = [i for i in own if rows[i][column]]
            if len(others) == 1:
                break
            least = min(others, key=lambda i: abs(rows[i][column]))
            for i in others:
                if i != least:
                    times = rows[i][column] // rows[least][column]
                    rows[i] = [x - times * y for x, y in zip(rows[i], rows[least], strict=True)]
        rows[column], rows[others[0]] = rows[others[0]], rows[column]
        found.append(abs(rows[column][column]))
    return found


def _inverse(edges: list[list[int]]) -> tuple[list[list[int]], int]:
    """Whole numbers and a divisor such that λᵢ = Σ_k inverse[i][k] w_k / divisor for w = Σ λᵢ rᵢ;
    by elimination without fractions (Bareiss)."""
    d = len(edges)
    grid = [[edges[i][k] for i in range(d)] + [int(k == j) for j in range(d)] for k in range(d)]
    last = 1
    for column in range(d):
        at = next(i for i in range(column, d) if grid[i][column])
        if at != column:
            grid[column], grid[at] = [-x for x in grid[at]], grid[column]
        pivot = grid[column][column]
        for i in range(d):
            if i != column:
                times = grid[i][column]
                grid[i] = [
                    (x * pivot - times * y) // last
                    for x, y in zip(grid[i], grid[column], strict=True)
                ]
        last = pivot
    return [row[d:] for row in grid], last


@lru_cache
def _bernoulli(n: int) -> Fraction:
    """B_n with B_1 = −½."""
    if n == 0:
        return Fraction(1)
    return -sum((comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


class _Series:
    """Laurent series in τ of fractions with d factors below, up to τ⁰, modulo a prime.

    1 / (1 − e^(τ a)) = −1/(τ a) · b(τ a) with b(x) = x / (e^x − 1) = Σ B_k x^k / k!, and
    log b(x) = −x/2 − Σ B_k x^k / (k k!) over k ≥ 2: the logarithm of a product of such factors has
    the sums of the powers of their a as coefficients.
    """

    def __init__(self, d: int, prime: int) -> None:
        self.d, self.prime = d, prime
        logs = [Fraction(0), Fraction(-1, 2)]
        logs += [-_bernoulli(k) / (k * factorial(k)) for k in range(2, d + 1)]
        self.logs = [one.numerator * pow(one.denominator, -1, prime) for one in logs]
        self.inverse = [0, *(pow(k, -1, prime) for k in range(1, d + 1))]

    def constant_term(self, along: list[int], heights: list[int]) -> int:
        """The coefficient of τ⁰ in Σ e^(τ q) / ∏ (1 − e^(τ aᵢ)), for edges' heights a and points'
        q."""
        d, prime = self.d, self.prime
        logs = [self.logs[k] * sum(a**k for a in along) % prime for k in range(d + 1)]
        series = [1]
        for n in range(1, d + 1):  # f = e^g has n f_n = Σ k g_k f_(n − k)
            summed = sum(k * logs[k] * series[n - k] for k in range(1, n + 1))
            series.append(summed * self.inverse[n] % prime)
        total, factor = 0, 1
        for k in range(d + 1):
            factor = factor * (self.inverse[k] if k else 1) % prime
            total += sum(q**k for q in heights) * factor % prime * series[d - k]
        product = (-1) ** d
        for a in along:
            product *= a
        return int(total * pow(product, -1, prime) % prime)
