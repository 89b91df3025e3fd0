"""The risk of smaller crosses of a release, under the model of what is released."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.draws import weights
from discreet.belief.draws.augmentation import ChainEffort
from discreet.belief.exact.matched_distribution import MatchedDistribution, matched_distribution
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.ladder import believe, sums_exactly
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import WeightKind
from discreet.belief.request import Limits, Question
from discreet.clock import Clock, work
from discreet.data.table import Table
from discreet.fiber.system.linear_system import Statement
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import silent
from discreet.tables.audit_cells import looked_at
from discreet.tables.crosses import (
    MOST_CROSSES,
    Axes,
    crosses,
    entry_bounds,
    stands_alone,
    within,
)
from discreet.tables.measured import main_view_of, measured
from discreet.tables.measures import greatest_chance, share_found, tightness
from discreet.tables.posteriors import RELEASED, ViewOptions
from discreet.tables.refused_margin import RiskFigure, RiskMeasure
from discreet.tables.release import Release

LIMITS = Limits(most_tables=20_000, least_effective=100.0, draw_seconds=5.0)
CROSS_SECONDS, CELL_SECONDS = 1e-5, 5e-6  # to see what is released of a cross, and its cells
MOST_SUMS = 400  # entries whose distributions are summed one by one
BELIEF_SHARE, BELIEF_SECONDS = 0.3, 10.0  # of the time, for tables that fit all that is out
TOO_MANY = Unavailable(f"more than {MOST_CROSSES} smaller tables follow from what is released")
NO_TIME = Unavailable("time ran out before this cross was looked at")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossRisk:
    """The measure for the table of some variables, by their positions.

    `n_looked_at` of its `n_small` small cells are known.
    """

    axes: Axes
    risk: Outcome
    n_small: int
    n_looked_at: int


Remembered = dict[Hashable, CrossRisk]  # what was found of a cross by its own variables


def cross_risks(
    out: Release,
    rule: RiskFigure,
    *,
    alpha: float,
    effort: ChainEffort,
    seed: int,
    clock: Clock,
    whole: bool = False,
    remembered: Remembered | None = None,
) -> tuple[CrossRisk, ...]:
    """The risk of every smaller cross that has something to protect; with the `whole`, also that of
    all variables released.

    Where the other variables tell nothing more of a cross, by what is released of its own; else by
    all tables that fit what is out, listed or drawn. Where these are too many to list and too few
    of the draws count, what is released of its own variables stands in. What is `remembered` of
    other releases of the same table under the same rule is not looked at again.
    """
    asked = _Asked(out, rule, alpha, effort, seed, clock, {} if remembered is None else remembered)
    n_variables = len(out.table.names) + whole
    known_of = {axis for one in out.known for axis in one.levels}
    smaller = crosses(out.sets, n_variables, len(out.table.cells), also=known_of)
    found = list(asked.with_small(smaller[:MOST_CROSSES]))
    linked = [axes for axes in found if not stands_alone(out, axes)] if out.is_shown else []
    known = {one.axes: one for one in asked.by_all(linked)} if linked else {}
    left = [axes for axes in found if axes not in known]
    for i, axes in enumerate(left):
        work(CROSS_SECONDS * (1 + len(out.sets)))
        own = Clock(clock.share(1 / (len(left) + 1 - i)))
        known[axes] = asked.alone(axes, own)
    beyond = [
        CrossRisk(axes=axes, risk=TOO_MANY, n_small=1, n_looked_at=0)
        for axes in smaller[MOST_CROSSES:]
    ]
    return (*(known[axes] for axes in found), *beyond)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One release, one rule."""

    out: Release
    rule: RiskFigure
    alpha: float
    effort: ChainEffort
    seed: int
    clock: Clock
    remembered: Remembered

    def with_small(self, every: Sequence[Axes]) -> Iterator[Axes]:
        """Those with a small cell; all where a table as a whole is to be protected."""
        for axes in every:
            work(CELL_SECONDS * len(self.out.table.cells))
            if self.rule.measure is RiskMeasure.TABLE or self.small(axes):
                yield axes

    def small(self, axes: Axes) -> int:
        """The number of small cells of a cross."""
        return len(self.out.table.over(axes).small_cells(self.rule.small))

    def alone(self, axes: Axes, clock: Clock) -> CrossRisk:
        """By what is released of its own variables."""
        own = within(self.out, axes)
        key = own.table.names, own.sets, own.nested.pairs, tuple(one.text for one in own.known)
        if key not in self.remembered:
            if self.clock.is_over:
                n_small = self.small(axes)
                return CrossRisk(axes=axes, risk=NO_TIME, n_small=n_small, n_looked_at=0)
            quick = self._matched(own, axes)
            self.remembered[key] = quick or self._measured(own, axes, clock)
        return replace(self.remembered[key], axes=axes)

    def _matched(self, own: Release, axes: Axes) -> CrossRisk | None:
        """By the formula for decomposable margins, of those small cells alone that may be found."""
        rule, table = self.rule, own.table
        if rule.measure is RiskMeasure.BOUNDS or own.informative:
            return None
        model = HierarchicalModel.of(len(table.names), own.sets)
        matched = matched_distribution(own.margins, model)
        if matched is None:
            return None
        n_small = len(table.small_cells(rule.small))
        if rule.measure is RiskMeasure.TABLE:
            risk: Outcome = _true_table(matched, table.counts)
        else:
            risk = self._of_small(matched, table)
        n_looked_at = 0 if risk is NO_TIME else n_small
        return CrossRisk(axes=axes, risk=risk, n_small=n_small, n_looked_at=n_looked_at)

    def _of_small(self, matched: MatchedDistribution, table: Table) -> Outcome:
        """What is found of the small cells: of those alone that may be, where that is asked."""
        rule = self.rule
        levels, counts = table.small_cells(rule.small), table.counts[table.counts <= rule.small]
        may = np.ones(len(levels), dtype=np.bool_)
        if rule.measure is RiskMeasure.CELLS:
            may = matched.may_hold(levels, counts, rule.confidence)
        found = matched.cells(levels[may], lambda: self.clock.is_over)
        if len(found) < np.count_nonzero(may):
            return NO_TIME
        none = [dict.fromkeys(one, 0.0) for one in found]
        truths, rest = counts[may].tolist(), len(levels) - len(found)
        if rule.measure is RiskMeasure.COUNT:
            return greatest_chance(found, none, truths)
        return share_found(found, none, truths, rule.confidence, not_found=rest)

    def _measured(self, own: Release, axes: Axes, clock: Clock) -> CrossRisk:
        rule = self.rule
        options = ViewOptions(
            models=(RELEASED,),
            model_priors=None,
            weight_kind=WeightKind.MARGINAL_LIKELIHOOD,
            alpha=self.alpha,
            effort=self.effort,
            seconds=clock.left(),
            seed=self.seed,
        )
        cells = looked_at(own, rule.small, clock, silent)
        found = measured(own, cells, rule.confidence, options, silent)
        return CrossRisk(
            axes=axes,
            risk=found.risk(rule.measure, main_view_of(found.seen.views)),
            n_small=found.cells.n_small,
            n_looked_at=found.cells.n_measured(rule.confidence),
        )

    def by_all(self, linked: Sequence[Axes]) -> Iterator[CrossRisk]:
        """By all tables that fit what is out; nothing where they are not to be had."""
        out = self.out
        model = HierarchicalModel.of(len(out.table.names), out.sets)
        question = out.question(LogLinearPrior(model, self.alpha), LIMITS)
        return risks_by_all(
            out.table,
            question,
            out.statements(),
            self.rule,
            linked,
            seed=self.seed,
            clock=self.clock,
        )


def risks_by_all(
    table: Table,
    question: Question,
    known: Sequence[Statement],
    rule: RiskFigure,
    every: Sequence[Axes],
    *,
    seed: int,
    clock: Clock,
) -> Iterator[CrossRisk]:
    """The risk of crosses over all tables that fit, summed, listed or drawn, or by bounds over what
    is `known`; nothing where there is no way to go over the tables."""
    seconds = clock.share(BELIEF_SHARE, BELIEF_SECONDS) or BELIEF_SECONDS
    if rule.measure is RiskMeasure.BOUNDS:
        wanted = {axes: _small_entries(table.margin(axes), rule.small) for axes in every}
        for axes, own in entry_bounds(table, known, wanted, seconds).items():
            n_small = len(wanted[axes])
            risk = tightness((own.upper - own.lower).tolist(), own.complete)
            yield CrossRisk(axes=axes, risk=risk, n_small=n_small, n_looked_at=n_small)
        return
    if rule.measure is not RiskMeasure.TABLE:
        exact = _summed_exactly(table, question, rule, every, Clock(seconds / 2))
        if exact is not None:
            yield from exact
            return
    rng = np.random.default_rng([seed, 4])
    belief = believe(question, ("listed", "weighed", "filled"), clock=Clock(seconds), rng=rng)
    if not isinstance(belief, ListedBelief | DrawnBelief):
        return
    for axes in every:
        n_small = len(_small_entries(table.margin(axes), rule.small))
        risk = _under(belief, table, rule, axes)
        yield CrossRisk(axes=axes, risk=risk, n_small=n_small, n_looked_at=n_small)


def _summed_exactly(
    table: Table, question: Question, rule: RiskFigure, every: Sequence[Axes], clock: Clock
) -> list[CrossRisk] | None:
    """By the exact distribution of each small entry, a sum of cells; None where it is too much."""
    wanted = {axes: _small_entries(table.margin(axes), rule.small) for axes in every}
    if sum(map(len, wanted.values())) > MOST_SUMS:
        return None
    numbers = np.arange(math.prod(table.sizes)).reshape(table.sizes)
    sums = []
    for axes, entries in wanted.items():
        cells = np.moveaxis(numbers, axes, range(len(axes)))
        sums += list(cells.reshape(math.prod(table.sizes[a] for a in axes), -1)[entries])
    found = sums_exactly(question, sums, clock)
    if isinstance(found, Unavailable):
        return None
    left, risks = iter(found), []
    for axes, entries in wanted.items():
        risks.append(_exact_risk(table, rule, axes, [next(left) for _ in entries]))
    return risks


def _exact_risk(
    table: Table, rule: RiskFigure, axes: Axes, own: Sequence[dict[int, float]]
) -> CrossRisk:
    truth = np.ravel(table.margin(axes))
    truths = truth[_small_entries(truth, rule.small)].tolist()
    none = [dict.fromkeys(one, 0.0) for one in own]
    if rule.measure is RiskMeasure.COUNT:
        risk: Outcome = greatest_chance(own, none, truths)
    else:
        risk = share_found(own, none, truths, rule.confidence)
    if isinstance(risk, Figure):
        risk = Figure(value=risk.value, how=How.EXACT)
    return CrossRisk(axes=axes, risk=risk, n_small=len(own), n_looked_at=len(own))


def _under(
    belief: ListedBelief | DrawnBelief, table: Table, rule: RiskFigure, axes: Axes
) -> Outcome:
    """The measure over the entries of one margin."""
    sizes = table.sizes
    others = tuple(1 + axis for axis in range(len(sizes)) if axis not in axes)
    rows = belief.tables.reshape(-1, *sizes).sum(axis=others).reshape(len(belief.tables), -1)
    truth = table.margin(axes).ravel()
    if rule.measure is RiskMeasure.TABLE:
        return _share(belief, np.all(rows == truth, axis=1))
    cells = _small_entries(truth, rule.small)
    pairs = [_distribution(belief, rows[:, cell]) for cell in cells.tolist()]
    own, errors = [one for one, _ in pairs], [error for _, error in pairs]
    if rule.measure is RiskMeasure.COUNT:
        return greatest_chance(own, errors, truth[cells].tolist())
    found = share_found(own, errors, truth[cells].tolist(), rule.confidence)
    exact = isinstance(belief, ListedBelief)
    return replace(found, how=How.EXACT, low=None, high=None, note="") if exact else found


def _true_table(matched: MatchedDistribution, counts: IntArray) -> Figure:
    chance = math.exp(min(matched.log_probability(counts), 0.0))
    return Figure(value=chance, how=How.EXACT)


def _small_entries(counts: IntArray, small: int) -> IntArray:
    flat = np.ravel(counts)
    return np.flatnonzero((flat > 0) & (flat <= small))


def _share(belief: ListedBelief | DrawnBelief, holds: IntArray) -> Outcome:
    """The probability that something holds of the table."""
    if isinstance(belief, DrawnBelief):
        return belief.share_of(holds)
    value = 1.0 if holds.all() else min(float(belief.probabilities[holds].sum()), 1.0)
    return Figure(value=value, how=How.EXACT)


def _distribution(
    belief: ListedBelief | DrawnBelief, values: IntArray
) -> tuple[dict[int, float], dict[int, float]]:
    """The distribution of a sum of cells, with its standard errors."""
    if isinstance(belief, DrawnBelief):
        return weights.value_shares(values, belief.shares, room=True)
    listed, place = np.unique(values, return_inverse=True)
    sums = np.bincount(place, weights=belief.probabilities).tolist()
    found = dict(zip(listed.tolist(), sums, strict=True))
    return found, dict.fromkeys(found, 0.0)
