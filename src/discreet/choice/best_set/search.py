"""The search for the best margins, phase by phase within one budget of time.

Decomposable sets first, then their bound, then all sets, then the frontiers and the risk of what
was chosen. Each phase leaves a result that stands, so the end of the time or an interruption costs
only what was still to come.
"""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from discreet.choice.best_set.component_range import compile_kernels
from discreet.choice.best_set.conflict_search import ConflictSearch
from discreet.choice.best_set.decomposable_annealing import annealed
from discreet.choice.best_set.decomposable_bound import DecomposableBound
from discreet.choice.best_set.decomposable_search import MOST_LISTED, DecomposableSearch, Found
from discreet.choice.best_set.frontier import Frontier, frontier
from discreet.choice.best_set.identified_cells import IdentifiedCells
from discreet.choice.best_set.margin_requests import Requests, is_more, weight_within
from discreet.choice.best_set.margin_safety import Judge, Safety
from discreet.choice.best_set.result import BestMargins, DecomposableBest, Family
from discreet.choice.best_set.small_cells import SmallCells
from discreet.data.table import Table
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.programs import Deadline
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.bit_sets import axes_of, lies_within, maximal_sets
from discreet.numerics.graphs import components_tree
from discreet.numerics.rounding import above, order_of
from discreet.progress import Progress, interruption_ends_all
from discreet.tables.refused_margin import RiskMeasure

T = TypeVar("T")

SHARES = {"decomposable": 0.2, "bound": 0.25, "triangles": 0.05, "all": 0.35, "frontier": 0.1}
LONG = 3600.0  # seconds of a phase where no limit is set
MOST_OTHERS = 10
MOST_CONFLICTS = 50
MOST_MEASURED = 2**17  # cells of a table whose least width is found by integer programming
NONE_SMALL = "no cell is small, so there is none to protect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is asked, with variables by their positions."""

    table: Table
    measure: RiskMeasure
    min_width: int
    max_share: float
    confidence: float
    small: int
    requests: Requests
    already: tuple[int, ...]
    seconds: float | None
    seed: int
    least_printed: int = 1

    @property
    def is_bounds(self) -> bool:
        """Whether the widths of bounds are what is capped."""
        return self.measure is RiskMeasure.BOUNDS


class Search:
    """One search, from the task to its result."""

    def __init__(self, task: Task, progress: Progress) -> None:
        self.task, self._progress = task, progress
        if task.is_bounds:
            progress("margins: making ready", None)
            compile_kernels()
        self._began = time.monotonic()
        self._clock = Deadline(task.seconds)
        self.cells = SmallCells(task.table, task.small)
        self._rng = np.random.default_rng(task.seed)
        each = LONG if task.seconds is None else max(0.5, task.seconds / 4)
        self.judge = Judge(
            self.cells,
            task.min_width,
            task.already,
            self._clock,
            seconds_each=each,
            least_printed=task.least_printed,
        )
        self._already = maximal_sets(task.already)
        self._notes: list[str] = []
        self._complete = True

    def result(self) -> BestMargins:
        """The best margins, as far as they were found in time."""
        if self.task.measure is RiskMeasure.CELLS:
            return self._by_cells()
        start = self._guarded(lambda: self.judge(()), Safety.UNKNOWN)
        if start is not Safety.SAFE:
            return self._nothing(start)
        best = self._guarded(self._best_decomposable, None)
        first = () if best is None else best[0]
        search = self._guarded(lambda: self._from(first), None) or self._from(first)
        self._guarded(lambda: self._all_sets(search), None)
        if not search.optimal:
            self._complete = False
        edge = self._guarded(lambda: self._frontier(search.best), None)
        return self._gathered(search, best, edge)

    def _from(self, first: tuple[int, ...]) -> ConflictSearch:
        return ConflictSearch(self.judge, self.task.requests, first)

    def _guarded(self, work: Callable[[], T], otherwise: T) -> T:
        """The work's result; after an interruption all that follows is hurried to its end."""
        try:
            return work()
        except KeyboardInterrupt:
            if interruption_ends_all():
                raise
            self._clock.interrupt()
            self._complete = False
            self._notes.append("stopped by the user: this is the best found by then")
            return otherwise

    def _phase(self, name: str) -> Deadline:
        """The time a phase may take: its share, of what is left."""
        share = LONG if self.task.seconds is None else SHARES[name] * self.task.seconds
        return Deadline(self._clock.left(share))

    def _best_decomposable(self) -> tuple[tuple[int, ...], float, float, bool] | None:
        """The best decomposable set, its utility, a bound and whether it is reached."""
        self._progress("margins: a bound for decomposable sets", None)
        bound = DecomposableBound(
            self.cells, self.task.requests, self.task.min_width, self._phase("bound")
        ).value()
        search = self._decomposable_search(self.task.min_width)
        limit = self._phase("decomposable")
        found = annealed(search, limit, self._progress, rng=self._rng, enough=bound)
        if search.n <= MOST_LISTED and is_more(bound, found.utility):
            every = self._decomposable_search(self.task.min_width)
            listed = every.everything(self._phase("decomposable"), self._progress)
            found = listed if is_more(listed.utility, found.utility) else found
            bound = found.utility if listed.complete else bound
        if found.sets is None:
            return None
        optimal = not is_more(bound, found.utility)
        return found.sets, found.utility, max(bound, found.utility), optimal

    def _decomposable_search(self, min_width: int | None) -> DecomposableSearch:
        return DecomposableSearch(
            self.cells,
            self.task.requests,
            self._already,
            min_width=min_width,
            allowed=self._can_be_printed if self.task.least_printed > 1 else None,
        )

    def _can_be_printed(self, sets: tuple[int, ...]) -> bool:
        """Whether no margin shows a count that is too small.

        A margin's entry from 1 to `small` holds a cell of such a count, so that small cells tell.
        """
        return all(self.cells.least(one) >= self.task.least_printed for one in sets)

    def _all_sets(self, search: ConflictSearch) -> None:
        if len(self.task.table.names) > MOST_LISTED:
            search.look_at_triangles(self._phase("triangles"), self._progress)
        search.run(self._phase("all"), self._progress)

    def _frontier(self, chosen: Iterable[int]) -> Frontier:
        self._progress("margins: frontiers", None)
        order = max(one.bit_count() for one in self.task.requests)
        return frontier(self.judge, chosen, order, self._phase("frontier"))

    def _nothing(self, verdict: Safety) -> BestMargins:
        """Nothing more can go out, since what is out already is not safe, or not known to be."""
        out = "what is already out" if self._already else "the total alone"
        said = "breaks the rule" if verdict is Safety.UNSAFE else "could not be proved safe"
        self._notes.append(f"release nothing: {out} {said}")
        worth = weight_within(self.task.requests, self._already)
        settled = verdict is Safety.UNSAFE
        self._complete = settled
        bound = worth if settled else math.fsum(self.task.requests.values())
        return self._result(
            self._already, worth, bound, Family.ALL, settled, risk=self._width_risk(self._already)
        )

    def _gathered(
        self,
        search: ConflictSearch,
        best: tuple[tuple[int, ...], float, float, bool] | None,
        edge: Frontier | None,
    ) -> BestMargins:
        chosen = self.judge.family(search.best)
        if search.unsettled:
            self._notes.append(
                "a set of margins of more weight could not be shown to be safe or unsafe: it is "
                "not released, and counts in the bound as if it could be"
            )
        self._explain(chosen)
        safe = list(search.safe_sets.items())
        others = [safe[i] for i in order_of([worth for _, worth in safe])]
        return self._result(
            chosen,
            search.utility,
            search.upper_bound,
            Family.ALL,
            search.optimal,
            risk=self._risk_in_time(chosen),
            decomposable=None if best is None else self._as_decomposable(best, search),
            edge=edge,
            others=[one for one in others if one[0] != search.best],
            conflicts=search.program.conflicts,
        )

    def _explain(self, chosen: tuple[int, ...]) -> None:
        if len(self.cells) == 0:
            self._notes.append(f"{NONE_SMALL}: everything wanted can go out")
        elif chosen == (0,):
            self._notes.append("no wanted margin is safe: release nothing but the total")

    def _as_decomposable(
        self, best: tuple[tuple[int, ...], float, float, bool], search: ConflictSearch
    ) -> DecomposableBest:
        sets, utility, bound, optimal = best
        least = max(min(bound, search.upper_bound), utility)
        return DecomposableBest(
            chosen=self._names(sets),
            utility=utility,
            upper_bound=least,
            optimal=optimal or not is_more(least, utility),
        )

    def _risk_in_time(self, chosen: tuple[int, ...]) -> Outcome:
        stopped: Outcome = Unavailable("stopped by the user before it was measured")
        return self._guarded(lambda: self._width_risk(chosen), stopped)

    def _width_risk(self, chosen: tuple[int, ...]) -> Outcome:
        """Measure (3): minus the least width of the bounds of a small cell; −n where none is."""
        if len(self.cells) == 0:
            return Figure(value=-float(self.task.table.total), how=How.EXACT, note=NONE_SMALL)
        family = maximal_sets([0, *chosen])
        tree = components_tree(map(axes_of, family))
        limit = Deadline(self._clock.left(LONG))
        widths = self.judge.widths(family, tree, limit)
        seen, valid = int(widths.seen.min()), int(widths.valid.min())
        if seen < valid and self.task.table.n_cells <= MOST_MEASURED:
            return self._programmed_risk(family, seen)
        if seen == valid:
            return Figure(value=-valid, how=How.EXACT)
        return Figure(value=None, low=-valid, high=-seen, how=How.BOUND)

    def _programmed_risk(self, family: tuple[int, ...], seen: int) -> Outcome:
        found = bounds(
            self.judge.margins(family),
            cells=self.cells.levels,
            tables=(self.task.table.dense(),),
            time_limit=max(1.0, self._clock.left(LONG)),
        )
        valid = int((found.upper - found.lower).min())
        if found.exact.all() or seen >= valid:
            return Figure(value=-valid, how=How.EXACT)
        return Figure(value=None, low=-valid, high=-seen, how=How.BOUND)

    def _by_cells(self) -> BestMargins:
        """The search by the share of small cells identified, among decomposable sets."""
        cells = IdentifiedCells(self.cells, self.task.confidence)
        everything = math.fsum(self.task.requests.values())
        found = self._guarded(
            lambda: self._found_by_cells(cells),
            Found(sets=None, utility=0.0, complete=False, n_seen=0),
        )
        self._complete = self._complete and found.complete
        if found.sets is None:
            self._notes.append("release nothing: no decomposable set within the limit was found")
            worth = weight_within(self.task.requests, self._already)
            bound = worth if found.complete else everything
            why = Unavailable("nothing is released")
            return self._result(
                self._already, worth, bound, Family.DECOMPOSABLE, found.complete, risk=why
            )
        risk = cells.risk(found.sets)
        bound = found.utility if found.complete else everything
        optimal = bound <= found.utility
        return self._result(
            found.sets, found.utility, bound, Family.DECOMPOSABLE, optimal, risk=risk
        )

    def _found_by_cells(self, cells: IdentifiedCells) -> Found:
        whole = Deadline(self._clock.left(LONG))

        def allowed(sets: tuple[int, ...]) -> bool:
            """What was not looked at in time is not allowed."""
            share = cells.share(sets, whole) if self._can_be_printed(sets) else None
            return share is not None and not above(share, self.task.max_share)

        search = DecomposableSearch(
            self.cells, self.task.requests, self._already, min_width=None, allowed=allowed
        )
        if search.n <= MOST_LISTED:
            return search.everything(whole, self._progress)
        return annealed(search, whole, self._progress, rng=self._rng)

    def _say_if_late(self) -> None:
        if not self._complete and self._clock.passed and not self._notes:
            self._notes.append("the time given was over: this is the best found by then")

    def _names(self, sets: Iterable[int]) -> tuple[tuple[str, ...], ...]:
        names = self.task.table.names
        ordered = sorted(axes_of(one) for one in sets if one)
        return tuple(tuple(names[axis] for axis in axes) for axes in ordered)

    def _result(
        self,
        chosen: tuple[int, ...],
        utility: float,
        bound: float,
        family: Family,
        optimal: bool,
        *,
        risk: Outcome,
        decomposable: DecomposableBest | None = None,
        edge: Frontier | None = None,
        others: Iterable[tuple[tuple[int, ...], float]] = (),
        conflicts: Iterable[tuple[int, ...]] = (),
    ) -> BestMargins:
        task = self.task
        self._say_if_late()
        return BestMargins(
            names=task.table.names,
            measure=task.measure,
            min_width=task.min_width if task.is_bounds else None,
            max_share=None if task.is_bounds else task.max_share,
            small=task.small,
            n_small_cells=len(self.cells),
            requested={self._names([one])[0]: w for one, w in task.requests.items()},
            already=self._names(self._already),
            chosen=self._names(chosen),
            to_publish=self._names(o for o in chosen if not lies_within(o, self._already)),
            utility=utility,
            upper_bound=bound,
            family=family,
            optimal=optimal,
            risk=risk,
            decomposable=decomposable,
            frontier=edge,
            others=tuple((self._names(s), u) for s, u in others)[:MOST_OTHERS],
            conflicts=tuple(self._names(one) for one in conflicts)[:MOST_CONFLICTS],
            seed=task.seed,
            seconds=time.monotonic() - self._began,
            complete=self._complete,
            notes=tuple(self._notes),
        )
