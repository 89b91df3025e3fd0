"""Independent draws from the exact distribution of the hidden table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.clock import work
from discreet.errors import InputError, must_be
from discreet.fiber.sums.dynamic_programming import Budget, Sweep, behind, descended
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.marginals import heaviest, sweep_of
from discreet.fiber.system.blocks import Block, split
from discreet.fiber.system.consistency import check_margins
from discreet.fiber.system.linear_system import System
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Prior, check_length
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import junction_tree
from discreet.progress import Progress, silent

MAX_RECORDS = 100_000_000
MATCHES_A_SECOND = 4e6  # records matched, in all cliques together
DRAWN_AT_ONCE = 4096
Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """What was found of a system once, from which any number of tables can be drawn."""

    system: System
    values: IntArray
    sweeps: Sequence[tuple[Block, Sweep]]

    def draw(self, n_draws: int, *, rng: np.random.Generator) -> IntArray:
        """Independent tables (draws × cells), each with its exact probability but for rounding."""
        points = np.tile(self.values, (n_draws, 1))
        for block, found in self.sweeps:
            uniform = rng.random((n_draws, len(block.columns)))
            drawn = descended(found, found.layers, uniform)
            points[:, block.columns] = found.plan.in_block_order(drawn)
        return points[:, : self.system.n_named]

    def batches(self, n_draws: int, *, rng: np.random.Generator) -> Iterator[IntArray]:
        """The same, some thousands at a time."""
        for done in range(0, n_draws, DRAWN_AT_ONCE):
            yield self.draw(min(DRAWN_AT_ONCE, n_draws - done), rng=rng)


def sampler(
    system: System, prior: Prior, *, budget: Budget | None = None, progress: Progress = silent
) -> Sampler:
    """A sampler of the fiber under the prior: one pass back over each block, then draws forward.

    At each column a value is drawn with probability w(x) B(state behind x) / B(state), B being the
    weight of all completions, so that a table comes out with probability w(table) / Z. Raises
    InputError where the fiber is empty, BudgetExceeded where dynamic programming does not fit.
    """
    budget = budget or Budget()
    check_length(prior, system.n_named)
    parts = split(system)
    sweeps = []
    start = heaviest(parts, prior, system.n_named)
    for block in parts.blocks if not parts.is_empty else ():
        found = sweep_of(block, prior, start, budget, progress)
        found.layers = behind(found, budget, progress=progress)
        sweeps.append((block, found))
    if parts.is_empty or any(found.layers[0].mantissa[0] == 0.0 for _, found in sweeps):
        remedy = "consistency.check names a smallest set of statements that disagree"
        raise InputError(must_be("system", "true of some table", "a contradiction", remedy=remedy))
    return Sampler(system=system, values=parts.values, sweeps=sweeps)


def draw_decomposable(
    margins: Margins, n_draws: int, *, rng: np.random.Generator, budget: Budget | None = None
) -> Iterator[IntArray]:
    """Independent full tables under the multinomial prior, for a decomposable set of margins.

    Clique by clique along the junction tree: given what is drawn so far, the records of the next
    clique are matched to the records there at random within each level of the separator, which is
    the hypergeometric distribution that 1/∏ x! gives. Variables in no margin get a level at random.
    Checked: margins agree and are decomposable. The work grows with records and cliques, not with
    tables. Raises BudgetExceeded where the first table would not be done in the seconds left, and
    later where time is over; only the clock of the budget counts.
    """
    budget = budget or Budget()
    tree = junction_tree(margins.tables)
    if tree is None:
        remedy = "use sampler, which takes any set of margins that dynamic programming fits"
        raise InputError(must_be("margins", "decomposable", "a set that is not", remedy=remedy))
    check_margins(margins)
    if margins.total > MAX_RECORDS:
        raise BudgetExceeded(f"tables of more than {MAX_RECORDS:,} records are not drawn by record")
    order = list(zip(tree.components, tree.separators, strict=True))
    left, needed = budget.seconds_left, margins.total * len(order) / MATCHES_A_SECOND
    if left is not None and needed > left:
        raise BudgetExceeded(f"matching the records of one table takes about {needed:.2g} s")
    steps = [_Step.of(margins, clique, separator) for clique, separator in order]
    return (_drawn(margins, steps, rng, budget) for _ in range(n_draws))


@dataclass(frozen=True, slots=True)
class _Step:
    """A clique's records in the order of their separator: its levels, and those of what is new."""

    separator: Axes
    new: Axes
    separator_code: IntArray
    new_code: IntArray

    @staticmethod
    def of(margins: Margins, clique: Axes, separator: Axes) -> "_Step":
        new = tuple(axis for axis in clique if axis not in separator)
        order = [clique.index(axis) for axis in (*separator, *new)]
        table = margins.tables[clique].transpose(order).ravel()
        records = np.repeat(np.arange(table.size), table)
        size = prod(margins.sizes[axis] for axis in new)
        return _Step(separator, new, records // size, records % size)


def _drawn(
    margins: Margins, steps: Sequence[_Step], rng: np.random.Generator, budget: Budget
) -> IntArray:
    """One table: its records' cells, clique by clique, then counted."""
    n, sizes = margins.total, margins.sizes
    strides = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    cell = np.zeros(n, dtype=np.int64)
    for step in steps:
        budget.check_time("matching records")
        work(n / MATCHES_A_SECOND)
        shape = [sizes[axis] for axis in step.new]
        where = _code(cell, step.separator, sizes, strides)
        matched = _matched(where, step, rng)
        levels = np.unravel_index(matched, shape) if shape else ()
        for axis, level in zip(step.new, levels, strict=True):
            cell += strides[axis] * level
    covered = {axis for step in steps for axis in step.new}
    for axis in set(range(len(sizes))) - covered:
        cell += strides[axis] * rng.integers(0, sizes[axis], n)
    return np.bincount(cell, minlength=margins.n_cells).astype(np.int64).reshape(sizes)


def _code(cell: IntArray, axes: Axes, sizes: Sequence[int], strides: Sequence[int]) -> IntArray:
    code = np.zeros(len(cell), dtype=np.int64)
    for axis in axes:
        code = code * sizes[axis] + cell // strides[axis] % sizes[axis]
    return code


def _matched(where: IntArray, step: _Step, rng: np.random.Generator) -> IntArray:
    """For each record, by its level of the separator, what it gets of the new variables."""
    shuffled = rng.permutation(len(where))
    by_level = shuffled[np.argsort(where[shuffled], kind="stable")]
    matched = np.empty(len(where), dtype=np.int64)
    matched[by_level] = step.new_code
    return matched
