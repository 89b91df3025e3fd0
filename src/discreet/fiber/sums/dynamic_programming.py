"""Exact sums over all tables of a block, by dynamic programming over its columns.

Columns are passed in the order of a `Plan`. The states before a column are the right-hand sides
left to the columns behind; equal states are joined, so the work grows with the number of states
rather than of tables. Once a layer is no longer worth storing, each of its states is completed by
itself: value by value up to the tail, whose points are counted in closed form.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field
from math import log, log2
from typing import Any

import numpy as np

from discreet.clock import threads, watch_left, work, working_seconds
from discreet.fiber.sums import dynamic_programming_kernels as kernels
from discreet.fiber.sums.dynamic_programming_plan import (
    NO_FLOATS,
    NONE,
    ONES,
    PLAIN_STEPS,
    BudgetExceeded,
    ColumnPlan,
)
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.kernels import Kernel
from discreet.progress import Progress, heed, silent

ALWAYS_STORED = 2048  # states below which a layer is stored without asking
PROBED = 24  # states of a layer that are completed to see what completing all would take
WORTH_JOINING = 1.5  # ways per state from which on storing pays
FEW_STEPS, MANY_STEPS = 60, 4000  # per state
MAX_PROBED = 50_000_000  # steps
LITTLE = 500_000  # steps that are made at once
MANY_STATES = 64  # from which on they are shared between threads
PULLED = 2**17  # states gone back over between looks at the clock
PLAINLY = 5000  # values tried by plain loops, before what is compiled is loaded
MAX_WEIGHTS = 20_000_000  # entries of a table of weights
SAFE_BITS = 63.0  # a float that is not below n by 1e-6 and stays below this proves n < 2⁶⁴
STEP_SECONDS = 6e-8  # a value tried in a column
POINT_SECONDS = 5e-8  # one tried where states are completed singly, each with its weight
STATE_SECONDS = 3e-7  # a state stored or gone back over, with its place in the table of states
UNIT = 512 * log(2.0)  # natural logarithm of one step of an exponent
SUGGESTION = "allow more seconds, state more about the table, or take an estimate"


Form = Callable[[Kernel[..., Any]], Callable[..., Any]]  # which form of a kernel is to run


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much work an exact answer may take.

    `states` are kept at one time (about 70 bytes each), `steps` are values tried in a column (some
    50 to 100 million a second), `seconds` of work from the moment the budget was made, looked at
    between layers: passing one of millions of states may take seconds more.
    """

    states: int = 4_000_000
    steps: int = 2_000_000_000
    seconds: float | None = None
    began: float = field(default_factory=working_seconds)

    @property
    def seconds_left(self) -> float | None:
        """What is left on the clock, or None where there is no limit."""
        return None if self.seconds is None else self.seconds - (working_seconds() - self.began)

    @property
    def steps_left(self) -> int:
        """Steps that the seconds left allow."""
        left = self.seconds_left
        return self.steps if left is None else min(self.steps, int(max(left, 0.0) / POINT_SECONDS))

    @property
    def states_left(self) -> int:
        """States that can be stored in the seconds left."""
        left = self.seconds_left
        return self.states if left is None else int(max(left, 0.0) / STATE_SECONDS) + 1

    def check_time(self, doing: str) -> None:
        """Raises BudgetExceeded where the time is over; a moment at which work can be stopped."""
        heed()
        left = self.seconds_left
        if left is not None and left <= 0:
            raise BudgetExceeded(self.late(doing))

    def late(self, doing: str) -> str:
        """That the time is over, in words."""
        return f"time limit of {self.seconds:.3g} s reached while {doing}"


@dataclass(slots=True, kw_only=True)
class Sweep:
    """Layers reached so far, the last of which is to be completed state by state.

    `layers` holds all of them from position 0 on, or only the last one, which stands before
    position `first`. `steps` counts what was done, completing included.
    """

    plan: ColumnPlan
    weights: kernels.Weights
    layers: list[kernels.Layer]
    first: int
    steps: int
    expected: float = float("inf")  # steps that completing the last layer takes

    @property
    def last(self) -> kernels.Layer:
        """The layer before position `first`."""
        return self.layers[-1]


def root(plan: ColumnPlan) -> kernels.Layer:
    """The one state before the first column."""
    words = plan.packing(0).n_words
    table = np.full(2, -1, np.int64)
    table[:] = 0
    return kernels.Layer(
        np.zeros((1, words), np.int64),
        table,
        np.ones(1, np.uint64),
        np.ones(1),
        np.zeros(1, np.int64),
    )


def sweep(
    plan: ColumnPlan,
    budget: Budget,
    *,
    weights: kernels.Weights = ONES,
    modulus: int = 0,
    keep: bool = False,
    closed: bool = True,
    progress: Progress = silent,
) -> Sweep:
    """Layers up to the one from which completing states singly is cheaper, or all that is left.

    `keep` holds every layer, for what needs a way back. `closed` says that the tail will be counted
    in closed form rather than point by point. Raises BudgetExceeded.
    """
    problem = plan.problem(weights)
    layer, k, steps, ways = root(plan), 0, 0, 1.0
    layers, expected = [layer], float("inf")
    while k < plan.tail.start:
        progress("layers", k / plan.tail.start)
        budget.check_time(f"passing column {k} of {len(plan.order)}")
        if len(layer.keys) > ALWAYS_STORED and k >= plan.tail.affine_from:
            needed = _probe(plan, k, layer, weights, closed)
            alone = needed <= FEW_STEPS or (ways < WORTH_JOINING and needed <= MANY_STEPS)
            if alone and needed * len(layer.keys) <= budget.steps:
                expected = needed * len(layer.keys)
                break
        notes = np.zeros(kernels.N_NOTES, np.int64)
        room = budget.states - (sum(len(one.keys) for one in layers) if keep else 0)
        in_time = budget.states_left
        values = len(layer.keys) * (float(plan.columns.upper[k]) + 1)
        expand = kernels.expand.suited(PLAIN_STEPS * values)
        after = expand(problem, plan.step(k), np.uint64(modulus), layer, min(room, in_time), notes)
        work(STEP_SECONDS * int(notes[kernels.STEPS]) + STATE_SECONDS * len(after.keys))
        if notes[kernels.STOPPED]:
            if in_time < room:
                raise BudgetExceeded(budget.late(f"passing column {k} of {len(plan.order)}"))
            _check_completing(plan, k, layer, weights, closed, budget)
            break
        steps += int(notes[kernels.STEPS])
        if steps > budget.steps:
            raise BudgetExceeded(
                f"more than {budget.steps:,} steps over {k + 1} of {len(plan.order)} columns; "
                + SUGGESTION
            )
        ways = int(notes[kernels.STEPS]) / max(1, len(after.keys))
        layer, k = after, k + 1
        layers = [*layers, layer] if keep else [layer]
    if k == plan.tail.start and closed:
        expected = float(len(layer.keys))
    return Sweep(plan=plan, weights=weights, layers=layers, first=k, steps=steps, expected=expected)


def _probe(
    plan: ColumnPlan,
    k: int,
    layer: kernels.Layer,
    weights: kernels.Weights,
    closed: bool,
    most: int = 4 * MANY_STEPS * PROBED,
) -> float:
    """Steps that completing one state of the layer takes, on average over a few of them.

    Infinite where these few take more than `most`.
    """
    n = len(layer.keys)
    few = _part(layer, np.unique(np.linspace(0, n - 1, min(n, PROBED)).astype(np.int64)))
    notes, stop = np.zeros(kernels.N_NOTES, np.int64), np.array([0, most])
    _complete_part(plan, k, few, weights, closed, notes, stop)
    work(STEP_SECONDS * int(notes[kernels.STEPS]))
    return float("inf") if notes[kernels.STOPPED] else float(notes[kernels.STEPS]) / len(few.keys)


def _check_completing(
    plan: ColumnPlan,
    k: int,
    layer: kernels.Layer,
    weights: kernels.Weights,
    closed: bool,
    budget: Budget,
) -> None:
    most = min(MAX_PROBED, 1 + PROBED * budget.steps // len(layer.keys))
    needed = _probe(plan, k, layer, weights, closed, most) * len(layer.keys)
    if needed > budget.steps - len(layer.keys):
        raise BudgetExceeded(
            f"more than {budget.states:,} states after {k + 1} of {len(plan.order)} columns, and "
            f"completing them singly would take more than {budget.steps:,} steps; {SUGGESTION}"
        )


def _complete_part(
    plan: ColumnPlan,
    first: int,
    layer: kernels.Layer,
    weights: kernels.Weights,
    closed: bool,
    notes: IntArray,
    stop: IntArray,
) -> None:
    problem, step, n = plan.problem(weights), plan.step(first), len(layer.keys)
    if closed:
        kernels.finish_count(problem, step, np.uint64(0), layer, notes, stop)
        return
    behind, behind_e = np.zeros(n), np.zeros(n, np.int64)
    kernels.finish_layer(
        problem, step, layer, kernels.ADD, NO_FLOATS, NONE, behind, behind_e, notes, stop
    )


def _part(layer: kernels.Layer, states: IntArray | slice) -> kernels.Layer:
    return kernels.Layer(
        np.ascontiguousarray(layer.keys[states]),
        layer.table,
        layer.residue[states].copy(),
        layer.mantissa[states].copy(),
        layer.exponent[states].copy(),
    )


@dataclass(frozen=True, slots=True)
class Total:
    """A number of tables modulo 2⁶⁴ or a prime, and a float that is not below it: f · 2^(512 e)."""

    residue: int
    mantissa: float
    exponent: int

    @property
    def bits(self) -> float:
        """Logarithm of the float, base 2."""
        return log2(self.mantissa) + 512 * self.exponent if self.mantissa > 0 else 0.0


def counted(
    found: Sweep, budget: Budget, *, modulus: int = 0, progress: Progress = silent
) -> Total:
    """Tables through the last layer of a sweep, completed on all cores."""
    problem, step = found.plan.problem(), found.plan.step(found.first)

    def do(form: Form, part: kernels.Layer, notes: IntArray, stop: IntArray) -> Any:
        finish = form(kernels.finish_count)
        return finish(problem, step, np.uint64(modulus), part, notes, stop)

    parts, ended = in_parts(found, do, budget, progress)
    residue, (mantissa, exponent) = 0, (0.0, 0)
    for value, f, e in parts:
        residue += int(value)
        mantissa, exponent = added((mantissa, exponent), (float(f), int(e)))
    total = Total(residue % (modulus or 2**64), mantissa, exponent)
    if ended:
        certain = modulus == 0 and total.bits < SAFE_BITS
        raise BudgetExceeded(ended, at_least=total.residue if certain else 0)
    return total


def added(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
    """The sum of two floats with exponents of their own."""
    if a[0] == 0.0 or b[0] == 0.0:
        return b if a[0] == 0.0 else a
    (g, d), (f, e) = sorted((a, b), key=lambda v: v[1])
    f += g * (1.0 if d == e else kernels.SHRINK if d == e - 1 else 0.0)
    return (f * kernels.SHRINK, e + 1) if f >= kernels.BIG else (f, e)


def in_parts(
    found: Sweep,
    do: Callable[[Form, kernels.Layer, IntArray, IntArray], Any],
    budget: Budget,
    progress: Progress,
    max_parts: int = 64,
) -> tuple[list[Any], str]:
    """What is done with each of some parts of the last layer, in threads when there is much of it.

    Ends early where more steps are made than the budget allows, and then says so. The parts are the
    same on every machine, since sums of floats depend on how they are cut; and what comes back of a
    work that was ended are the first parts that fit the budget, whichever thread was faster. An
    interruption ends the threads too.
    """
    layer, n = found.last, len(found.last.keys)
    little = found.expected < LITTLE and budget.seconds is None
    n_parts = 1 if little or n <= MANY_STATES else max_parts
    cuts = np.linspace(0, n, n_parts + 1).astype(np.int64)
    stop = np.array([0, max(budget.steps_left - found.steps, 1)], dtype=np.int64)
    parts = [_part(layer, slice(*cuts[i : i + 2].tolist())) for i in range(n_parts)]
    notes = [np.zeros(kernels.N_NOTES, np.int64) for _ in range(n_parts)]

    def run(i: int) -> Any:
        return do(_compiled, parts[i], notes[i], stop)

    light = found.plan.is_small and not kernels.finish_count.is_loaded
    light = light and kernels.finish_layer.suited(PLAINLY) is kernels.finish_layer.plain
    results = _plainly(do, parts, notes, int(stop[1])) if light else None
    if results is None:
        results = [run(0)] if little else _threaded(run, notes, stop, progress)
    made = np.cumsum([int(one[kernels.STEPS]) for one in notes])
    n_done = _within(notes, int(stop[1]))
    steps = int(made[n_done - 1]) if n_done == n_parts else int(stop[1])
    found.steps += steps
    work(POINT_SECONDS * steps + STATE_SECONDS * n)
    if n_done == n_parts:
        return results, ""
    kept = results[: max(n_done, 1)]  # the first stops by itself, wherever it uses up all steps
    if stop[1] < budget.steps - found.steps + steps:
        return kept, f"time limit of {budget.seconds:.3g} s reached while completing {n:,} states"
    return kept, f"more than {budget.steps:,} steps; {SUGGESTION}"


def _plainly(
    do: Callable[[Form, kernels.Layer, IntArray, IntArray], Any],
    parts: Sequence[kernels.Layer],
    notes: Sequence[IntArray],
    most: int,
) -> list[Any] | None:
    """The parts one by one in plain loops; None where that takes too many steps."""
    results, left = [], min(PLAINLY, most)
    for part, own in zip(parts, notes, strict=True):
        results.append(do(_plain, part, own, np.array([0, left])))
        left -= int(own[kernels.STEPS])
        if own[kernels.STOPPED] or left < 0:
            for one in notes:
                one[:] = 0
            return None
    return results


def _plain(one: Kernel[..., Any]) -> Callable[..., Any]:
    return one.plain


def _compiled(one: Kernel[..., Any]) -> Callable[..., Any]:
    return one.compiled  # type: ignore[no-any-return]


def _within(notes: Sequence[IntArray], most: int) -> int:
    """How many parts, from the first on, took at most so many steps together."""
    made, n_done = 0, 0
    for one in notes:
        made += int(one[kernels.STEPS])
        if made > most or one[kernels.STOPPED]:
            break
        n_done += 1
    return n_done


def _threaded(
    run: Callable[[int], Any], notes: Sequence[IntArray], stop: IntArray, progress: Progress
) -> list[Any]:
    """All parts; once those from the first on that are done use up the steps, no more are made."""
    n_parts = len(notes)
    with threads(n_parts) as pool:
        futures = [pool.submit(run, i) for i in range(n_parts)]
        try:
            while True:
                done, pending = wait(futures, timeout=0.05)
                if not pending:
                    break
                progress("completing states", len(done) / n_parts)
                n_within = _within(notes, int(stop[1]))
                over = n_within < n_parts and all(one.done() for one in futures[:n_within])
                if over or watch_left() <= 0:
                    stop[0] = 1
        except BaseException:
            stop[0] = 1
            raise
    return [future.result() for future in futures]


def weights_of(
    plan: ColumnPlan, log_weight: Callable[[int, IntArray], FloatArray]
) -> kernels.Weights:
    """Weights by position from the log weight of values (lower limits added) of a block's column.

    Raises BudgetExceeded where values are too many to be listed.
    """
    sizes = plan.columns.upper + 1
    if float(sizes.astype(np.float64).sum()) > MAX_WEIGHTS:
        raise BudgetExceeded(f"cells can take more than {MAX_WEIGHTS:,} values; {SUGGESTION}")
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lower = plan.block.lower[plan.order]
    logs = [
        log_weight(int(column), low + np.arange(size))
        for column, low, size in zip(plan.order, lower, sizes, strict=True)
    ]
    return kernels.Weights(start, *split_logs(np.concatenate(logs)))


def split_logs(logs: FloatArray) -> tuple[FloatArray, IntArray]:
    """exp(logs) as floats with exponents of their own."""
    exponent = np.rint(logs / UNIT)
    return np.exp(logs - exponent * UNIT), exponent.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Marginals:
    """Weight of each value of each position: floats with exponents, laid out as the weights."""

    mantissa: FloatArray
    exponent: IntArray

    @staticmethod
    def zeros(size: int) -> "Marginals":
        """No weight anywhere."""
        return Marginals(np.zeros(size), np.zeros(size, np.int64))


def behind(
    found: Sweep,
    budget: Budget,
    *,
    mode: int = kernels.ADD,
    marginals: Marginals | None = None,
    progress: Progress = silent,
) -> list[kernels.Layer]:
    """The layers of a sweep that kept them, each state with the weight of all its completions.

    Mode BEST gives the weight of the best completion instead. `marginals` is filled where given:
    Σ over tables with that value in that column of the weight of the table.
    """
    plan, first = found.plan, found.first
    problem = plan.problem(found.weights)
    work(STEP_SECONDS * found.steps)  # every value that was tried is gone back over
    layers = [*found.layers[:-1], _completed(found, budget, mode, marginals, progress)]
    values = sum(len(layers[k].keys) * (float(plan.columns.upper[k]) + 1) for k in range(first))
    pull = kernels.pull.suited(PLAIN_STEPS * values)
    for k in range(first - 1, -1, -1):
        at = slice(found.weights.start[k], found.weights.start[k + 1])
        own = None
        if marginals is not None:
            own = Marginals(marginals.mantissa[at], marginals.exponent[at])
        both = layers[k], layers[k + 1]
        f, e = _pulled(pull, problem, plan.step(k), both, budget, mode, own)
        layers[k] = layers[k]._replace(mantissa=f, exponent=e)
        progress("going back", 1 - k / first)
    return layers


def _pulled(
    pull: Callable[..., Any],
    problem: kernels.Problem,
    step: kernels.Step,
    layers: tuple[kernels.Layer, kernels.Layer],
    budget: Budget,
    mode: int,
    marginals: Marginals | None,
) -> tuple[FloatArray, IntArray]:
    """What lies behind the states of the first layer, given the second, with looks at the clock."""
    marginals = marginals or Marginals.zeros(0)
    layer, after = layers
    found = []
    for begin in range(0, max(1, len(layer.keys)), PULLED):
        budget.check_time("going back over columns")
        part = _part(layer, slice(begin, begin + PULLED))
        totals = (marginals.mantissa, marginals.exponent)
        found.append(pull(problem, step, part, after, mode, *totals))
        work(STATE_SECONDS * len(part.keys))
    return np.concatenate([f for f, _ in found]), np.concatenate([e for _, e in found])


def _completed(
    found: Sweep, budget: Budget, mode: int, marginals: Marginals | None, progress: Progress
) -> kernels.Layer:
    """The last layer, each state with the weight of its completions."""
    plan, size = found.plan, 0 if marginals is None else len(marginals.mantissa)
    problem, step = plan.problem(found.weights), plan.step(found.first)

    def do(form: Form, part: kernels.Layer, notes: IntArray, stop: IntArray) -> Any:
        own, n = Marginals.zeros(size), len(part.keys)
        f, e = np.zeros(n), np.zeros(n, np.int64)
        form(kernels.finish_layer)(
            problem, step, part, mode, own.mantissa, own.exponent, f, e, notes, stop
        )
        return f, e, own

    max_parts = max(2, min(64, MAX_WEIGHTS // max(1, size)))
    parts, ended = in_parts(found, do, budget, progress, max_parts)
    if ended:
        raise BudgetExceeded(ended)
    for *_, own in parts:
        if marginals is not None:
            kernels.add_up.suited(size)(
                marginals.mantissa, marginals.exponent, own.mantissa, own.exponent
            )
    f, e = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return found.last._replace(mantissa=f, exponent=e)


def descended(
    found: Sweep, layers: Sequence[kernels.Layer], uniform: FloatArray, mode: int = kernels.ADD
) -> IntArray:
    """Points (draws × positions) drawn by their weights, from uniform numbers (draws × positions).

    `layers` come from `behind`. Mode BEST gives the point of the largest weight for
    each row of `uniform`.
    """
    plan = found.plan
    problem = plan.problem(found.weights)
    n, width = len(uniform), len(plan.order)
    points, at_state = np.empty((n, width), np.int64), np.zeros(n, np.int64)
    descend = kernels.descend.suited(n * (found.steps + float(plan.columns.upper.sum()) + width))
    for k in range(found.first):
        values = np.empty(n, np.int64)
        descend(
            problem,
            plan.step(k),
            layers[k],
            layers[k + 1],
            at_state,
            uniform[:, k].copy(),
            values,
            mode,
        )
        points[:, k] = values
    never, last = np.array([0, 2**62]), uniform[:, -1].copy()
    step = plan.step(found.first)
    work(n * (STATE_SECONDS * width + STEP_SECONDS * float(plan.columns.upper.sum())))
    finish = kernels.finish_draws.suited(n * (found.steps + 1.0))
    finish(problem, step, layers[-1], at_state, last, mode, points, never)
    return points


def log_of(mantissa: FloatArray, exponent: IntArray) -> FloatArray:
    """Natural logarithms of floats with exponents of their own; −inf for zero."""
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(mantissa) + exponent * UNIT
    return logs
