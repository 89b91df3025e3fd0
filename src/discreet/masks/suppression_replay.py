"""The choice of a pattern made again on another table that fits what is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from discreet.clock import work
from discreet.figures import Unavailable
from discreet.masks.replay import RUN_SECONDS, SameAgain
from discreet.masks.solving import Budget
from discreet.masks.suppression_decoys import Drawing, Secret
from discreet.masks.suppression_figures import Rule
from discreet.masks.suppression_pattern import Pattern, Problem
from discreet.masks.suppression_search import Limit
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

Chosen = tuple[Pattern, Limit] | Unavailable
Spared = Mapping[int, frozenset[int]]  # values of a hidden figure with which it need not be hidden


def problem_of(problem: Problem, cells: IntArray, work: float) -> Problem:
    """The same question about another table of as many persons; `work` is that of the search."""
    figures = replace(problem.figures, counts=problem.figures.summed(cells))
    return replace(
        problem,
        figures=figures,
        counts=np.ascontiguousarray(cells),
        sensitive=np.flatnonzero(problem.rule.is_sensitive(figures.counts)),
        budget=Budget(work),
    )


def pattern_again(
    problem: Problem, hidden: BoolArray, work: float, choose: Callable[[Problem], Chosen]
) -> SameAgain:
    """The replay of a pattern that is a function of the table, which `choose` finds."""
    return SameAgain(partial(_hides_the_same, problem, hidden, work, choose))


def _hides_the_same(
    problem: Problem,
    hidden: BoolArray,
    work: float,
    choose: Callable[[Problem], Chosen],
    cells: IntArray,
) -> bool:
    """Whether the pattern of a table with these cells is the same."""
    found = choose(problem_of(problem, cells, work))
    return not isinstance(found, Unavailable) and np.array_equal(found[0].hidden, hidden)


@dataclass(frozen=True, slots=True)
class PatternByChance:
    """The replay of a pattern around decoys; `choose` finds it for a table and a secret.

    Let H be what is hidden. A draw leads to H only if no shown figure is a decoy, and every hidden
    one that is not small and would not be needed is one (`spared`, by what tables that fit say of
    it). Both have known probabilities. Of the other hidden figures either all are decoys, and H it
    is, which has a known probability too; or a draw of them is tried out.
    """

    problem: Problem
    hidden: BoolArray
    work: float
    choose: Callable[[Problem, Secret], Chosen]
    spared: Spared = field(default_factory=dict)

    @property
    def is_certain(self) -> bool:
        """No: it is drawn."""
        return False

    def informed(self, tables: IntArray) -> "PatternByChance":
        """With what these tables say of figures that need not be hidden."""
        figures = self.problem.figures
        values = np.stack([figures.summed(one)[self.hidden] for one in tables])
        rule, places = self.problem.rule, np.flatnonzero(self.hidden).tolist()
        found = {f: _spared(values, i, rule) for i, f in enumerate(places)}
        return replace(self, spared=found)

    def log_chance(self, cells: IntArray, rng: np.random.Generator) -> float:
        """An unbiased estimate from one draw, on a log scale."""
        problem = problem_of(self.problem, cells, self.work)
        counts = problem.figures.counts
        chance = Drawing.of(problem.figures, problem.rule, counts).chance
        log_certain = float(np.log1p(-chance[~self.hidden]).sum())
        free = self.hidden & ~problem.is_sensitive
        spared = free & self._is_spared(counts)
        log_certain += float(np.log(chance[spared]).sum())
        rest = np.flatnonzero(free & ~spared)
        if not len(rest):
            return log_certain
        every = float(chance[rest].prod())
        uniform = np.where(spared, 0.0, 1.0)
        uniform[rest[_not_all(chance[rest], rng)]] = 0.0
        leads = self._leads(problem, Secret(uniform, Secret.of(len(chance), rng).normal))
        return log_certain + float(np.log(every + (1 - every) * leads))

    def _is_spared(self, counts: IntArray) -> BoolArray:
        found = np.zeros(len(counts), dtype=np.bool_)
        found[[f for f, values in self.spared.items() if int(counts[f]) in values]] = True
        return found

    def _leads(self, problem: Problem, secret: Secret) -> bool:
        work(RUN_SECONDS)
        found = self.choose(problem, secret)
        return not isinstance(found, Unavailable) and np.array_equal(found[0].hidden, self.hidden)


def _not_all(chance: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Decoys among hidden figures, drawn on condition that not all of them are."""
    while True:
        picked = rng.random(len(chance)) < chance
        if not picked.all():
            return np.asarray(picked)


def _spared(values: IntArray, place: int, rule: Rule) -> frozenset[int]:
    """The values of a hidden figure that, shown, would leave all other hidden ones wide enough.

    Tables that fit and agree on it are witnesses of the others' intervals. Only for rules that ask
    the same of every count.
    """
    if rule.lower or rule.upper:
        return frozenset()
    others = np.delete(values, place, axis=1)
    found = []
    for value in np.unique(values[:, place]).tolist():
        own = others[values[:, place] == value]
        low, high = own.min(axis=0), own.max(axis=0)
        needs = [rule.needs(int(count)) for count in own[0]]
        if all(n.met(int(a), int(b)) for n, a, b in zip(needs, low, high, strict=True)):
            found.append(value)
    return frozenset(found)
