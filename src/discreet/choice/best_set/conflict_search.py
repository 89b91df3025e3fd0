"""The best release among all sets of margins, closed in on from both sides.

Above: the best choice of requests that avoids every conflict known so far (`conflict_program`).
Below: the best safe set found. The choice from above is judged. Safe, it is the best there is. If
not, it is cut down to a smallest unsafe part, a conflict to be avoided from now on. Adding a margin
that nobody asked for gains nothing and never makes a release safer, so choosing among requests
leaves out no better release of any kind.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from discreet.choice.best_set.conflict_program import ConflictProgram
from discreet.choice.best_set.margin_requests import Requests, is_more, weight_within
from discreet.choice.best_set.margin_safety import Judge, Verdict
from discreet.fiber.system.programs import Deadline
from discreet.numerics.bit_sets import lies_within, maximal_sets, members
from discreet.progress import Progress

PROGRAM_SECONDS = 10.0  # for one solve of the program
STEP = "margins: closing the gap"
TRIANGLES = "margins: three pairs at a time"


class ConflictSearch:
    """The best safe set found so far, a bound on all, and the conflicts that prove it."""

    def __init__(self, judge: Judge, requests: Requests, best: Sequence[int]) -> None:
        self.judge, self.requests = judge, requests
        self.possible = {
            one: weight
            for one, weight in requests.items()
            if judge.alone(one) is not Verdict.UNSAFE
        }
        self.best = maximal_sets(best)
        self.utility = weight_within(requests, [*self.best, *judge.already])
        self.safe_sets: dict[tuple[int, ...], float] = {self.best: self.utility}
        self.program = ConflictProgram(self.possible)
        self.upper_bound = max(math.fsum(self.possible.values()), self.utility)
        self.unsettled = False

    def offer(self, sets: Iterable[int]) -> None:
        """Keeps a safe set if it is the best so far."""
        own = maximal_sets(sets)
        worth = weight_within(self.requests, [*own, *self.judge.already])
        self.safe_sets[own] = worth
        if is_more(worth, self.utility):
            self.best, self.utility = own, worth

    def run(self, deadline: Deadline, progress: Progress) -> None:
        """Closes in until nothing is left between, a choice cannot be settled, or time is over."""
        while not deadline.passed:
            hint = [one for one in self.possible if lies_within(one, self.best)]
            choice = self.program.solve(deadline, PROGRAM_SECONDS, hint)
            self.upper_bound = max(min(self.upper_bound, choice.bound), self.utility)
            if self.optimal or not choice.chosen:
                return
            progress(STEP, min(1.0, self.utility / self.upper_bound))
            verdict = self.judge(choice.chosen)
            if verdict is Verdict.SAFE:
                self.offer(choice.chosen)
            if verdict is not Verdict.UNSAFE:
                self.unsettled = verdict is Verdict.UNKNOWN
                break
            self._learn(choice.chosen, deadline)
        self._grow_from(self.best, deadline, progress)
        self._grow_from((), deadline, progress)

    def _grow_from(self, sets: tuple[int, ...], deadline: Deadline, progress: Progress) -> None:
        if not self.optimal and not deadline.passed:
            progress(STEP, min(1.0, self.utility / self.upper_bound))
            self.offer(self.grown(sets, deadline))

    @property
    def optimal(self) -> bool:
        """Whether no safe release is worth more, as far as weights are resolved."""
        return self.upper_bound <= self.utility + self.program.slack

    def _learn(self, chosen: tuple[int, ...], deadline: Deadline) -> None:
        """Takes conflicts out of a choice one by one, until what is left is safe and can grow."""
        left = list(maximal_sets(chosen))
        while self.judge(left) is Verdict.UNSAFE:
            conflict = self.shrunk(left, deadline)
            self.program.forbid(conflict)
            if deadline.passed:
                return
            left = self._without_one(left, conflict)
        if self.judge(left) is Verdict.SAFE:
            self.offer(self.grown(left, deadline))

    def look_at_triangles(self, deadline: Deadline, progress: Progress) -> None:
        """Forbids the three pairs of three variables where they are unsafe together.

        A triple that is safe as a whole settles its pairs, and so do conflicts known before.
        """
        pairs = sorted(one for one in self.possible if one.bit_count() == 2)
        near: dict[int, int] = {}
        for one in pairs:
            for v in members(one):
                near[v] = near.get(v, 0) | one ^ 1 << v
        for i, one in enumerate(pairs):
            u, v = members(one)
            progress(TRIANGLES, i / len(pairs))
            for w in members(near[u] & near[v] & (-1 << v + 1)):
                if deadline.passed:
                    return
                self._look_at_triangle(one, 1 << u | 1 << w, 1 << v | 1 << w)

    def _look_at_triangle(self, *pairs: int) -> None:
        whole = pairs[0] | pairs[1]
        cells, partial = self.judge.cells, self.judge.cells.varying & ~whole
        if partial and not self.judge.already and cells.least(whole) >= self.judge.min_width:
            return
        if self.judge(pairs) is Verdict.UNSAFE:
            self.program.forbid(pairs)

    def _without_one(self, sets: list[int], conflict: Sequence[int]) -> list[int]:
        """The sets less the cheapest margin of the conflict, whose parts stay."""
        weights = self.possible
        cheapest = min(conflict, key=lambda one: (weights[one], -one.bit_count(), one))
        holders = [one for one in sets if cheapest & ~one == 0]
        kept = [one for one in sets if cheapest & ~one]
        parts = [part for part in self.possible if lies_within(part, holders) and cheapest & ~part]
        return list(maximal_sets([*kept, *parts]))

    def shrunk(self, sets: Sequence[int], deadline: Deadline) -> tuple[int, ...]:
        """An unsafe part of which nothing more can be left out: margin by margin is left out, or
        given up for its own parts."""
        found, i = _halved(list(sets), self._is_unsafe), 0
        while i < len(found) and not deadline.passed:
            rest = found[:i] + found[i + 1 :]
            if self._is_unsafe(rest):
                found = rest
                continue
            parts = [p for p in self._parts(found[i]) if not lies_within(p, rest)]
            if parts and self._is_unsafe([*rest, *parts]):
                found = [*rest[:i], *parts, *rest[i:]]
                continue
            i += 1
        return tuple(found)

    def _parts(self, one: int) -> tuple[int, ...]:
        """The largest requests that are smaller than one."""
        return maximal_sets(p for p in self.possible if p != one and p & ~one == 0)

    def _is_unsafe(self, sets: Sequence[int]) -> bool:
        return self.judge(sets) is Verdict.UNSAFE

    def grown(self, sets: Iterable[int], deadline: Deadline) -> tuple[int, ...]:
        """A safe set with all requests that can still join it, the heaviest first, tried in large
        parts before small ones."""
        family = maximal_sets(sets)
        order = sorted(self.possible, key=lambda s: (-self.possible[s], s.bit_count(), s))
        return self._joined(family, order, deadline)

    def _joined(
        self, family: tuple[int, ...], order: list[int], deadline: Deadline
    ) -> tuple[int, ...]:
        new = [one for one in order if not lies_within(one, family)]
        if not new or deadline.passed:
            return family
        larger = maximal_sets([*family, *new])
        if self.judge(larger) is Verdict.SAFE:
            return larger
        if len(new) == 1:
            return family
        half = len(new) // 2
        family = self._joined(family, new[:half], deadline)
        return self._joined(family, new[half:], deadline)


def _halved(items: list[int], is_bad: Callable[[Sequence[int]], bool]) -> list[int]:
    """A bad part of the items, got by dropping larger and then smaller runs of them."""
    size = len(items) // 2
    while size >= 1:
        start = 0
        while start < len(items):
            rest = items[:start] + items[start + size :]
            if is_bad(rest):
                items = rest
            else:
                start += size
        size //= 2
    return items
