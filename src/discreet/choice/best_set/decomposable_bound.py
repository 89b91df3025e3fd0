"""How much weight a decomposable release can hold at most.

The cliques of a chordal graph can be built up a variable at a time, each new variable joined to
later ones that are all joined to each other. Every request inside is counted at its first variable
v and lies in a clique that holds v, and that clique is a margin that has to be safe by itself. So

    utility ≤ Σ_v max { weight of the requests in Q that hold v : v ∈ Q, Q safe by itself },

and, where no safe margin has more than k + 1 variables, the set holds at most
C(k + 1, j) + (m − k − 1)·C(k, j − 1) margins of j of the m variables, the heaviest of which bound
the utility.
"""

import math
from math import comb

from discreet.choice.best_set.margin_requests import Requests
from discreet.choice.best_set.small_cells import SmallCells
from discreet.clock import work
from discreet.fiber.system.programs import Deadline

BRANCH_SECONDS = 1e-6  # of a branching, for each request and variable that it looks at


class DecomposableBound:
    """The bound, from margins whose least entry at a small cell is at least `min_width`.

    A margin with a smaller entry is unsafe whatever else is out.
    """

    def __init__(
        self, cells: SmallCells, requests: Requests, min_width: int, deadline: Deadline
    ) -> None:
        self._cells, self._width, self._deadline = cells, min_width, deadline
        self._n = len(cells.table.names)
        self._wanted = {one: w for one, w in requests.items() if self._is_wide(one)}
        self._most = 0  # variables of the largest safe margin met
        self.complete = True

    def value(self) -> float:
        """The certified bound."""
        stars = math.fsum(self._star(v) for v in range(self._n))
        if not self.complete:
            return stars
        return min(stars, self._by_number())

    def _is_wide(self, variables: int) -> bool:
        return len(self._cells) == 0 or self._cells.least(variables) >= self._width

    def _star(self, v: int) -> float:
        """The most weight of requests that hold v in one safe margin, by branching."""
        held = [(one, w) for one, w in self._wanted.items() if one >> v & 1]
        if not self._is_wide(1 << v):
            return 0.0
        near = [u for u in range(self._n) if u != v and self._is_wide(1 << u | 1 << v)]
        everything = _within(held, (1 << v) | sum(1 << u for u in near))
        try:
            return self._branch(1 << v, near, held, 0.0)
        except TimeoutError:
            self.complete = False
            return everything

    def _branch(
        self, clique: int, near: list[int], held: list[tuple[int, float]], best: float
    ) -> float:
        """The best over all safe margins that hold the clique and some of `near`."""
        if self._deadline.passed:
            raise TimeoutError
        work(BRANCH_SECONDS * (1 + len(held) + len(near)))
        self._most = max(self._most, clique.bit_count())
        best = max(best, _within(held, clique))
        for i, u in enumerate(near):
            rest = near[i:]
            whole = clique | sum(1 << x for x in rest)
            if _within(held, whole) <= best and whole.bit_count() <= self._most:
                break
            larger = clique | 1 << u
            left = [x for x in near[i + 1 :] if self._is_wide(larger | 1 << x)]
            best = self._branch(larger, left, held, best)
        return best

    def _by_number(self) -> float:
        """The heaviest requests of each order, as many as a chordal graph has room for."""
        k = max(self._most, 1) - 1
        total = 0.0
        for order in {one.bit_count() for one in self._wanted}:
            weights = sorted(
                (w for one, w in self._wanted.items() if one.bit_count() == order), reverse=True
            )
            room = comb(k + 1, order) + max(self._n - k - 1, 0) * comb(k, order - 1)
            total += math.fsum(weights[:room])
        return total


def _within(held: list[tuple[int, float]], variables: int) -> float:
    return math.fsum(w for one, w in held if one & ~variables == 0)
