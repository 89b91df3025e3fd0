"""What an intruder learns from the refusal of a margin, under a rule that he knows (dobra, Meek).

Of every consistent table he can ask whether the margin would have been refused, were it true, and
strike out those where it would not. Exact where the tables are listed; else by weighted draws, each
judged by what its own margin would reveal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from discreet.belief.belief import Belief, ListedBelief
from discreet.belief.drawn_belief import LEAST_EFFECTIVE, DrawnBelief, too_few
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.ladder import believe
from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.belief.request import Limits, Question
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.margins import Margins, margins_of
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE, above, first_largest
from discreet.progress import Progress, silent
from discreet.tables.measures import is_found, surely_above
from discreet.tables.release import Release

MOST_JUDGED = 400  # weighted draws whose own margin is judged
JUDGING_SECONDS, JUDGING_SHARE = 2.0, 0.05  # at least, and of the time, for one of them
LIMITS = Limits(draw_share=0.3, draw_seconds=10.0)
STATES_A_SECOND, STEPS_A_SECOND = 150_000, 50_000_000  # of an exact sum for one of them
Distribution = Mapping[int, float]


class RiskMeasure(StrEnum):
    """Which measure the agency limits: one of the first three by an option, each by a policy."""

    BOUNDS = "bounds"
    TABLE = "table"
    CELLS = "cells"
    COUNT = "count"


BY_OPTION = (RiskMeasure.BOUNDS, RiskMeasure.TABLE, RiskMeasure.CELLS)


def measure_named(given: str) -> RiskMeasure:
    """The measure that an option names; raises InputError where it names none."""
    if given not in BY_OPTION:
        raise InputError(must_be("measure", f"one of {', '.join(BY_OPTION)}", repr(given)))
    return RiskMeasure(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskFigure:
    """A measure with what is small, and when a count is taken as known."""

    measure: RiskMeasure
    small: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRule(RiskFigure):
    """A margin is refused where the measure, after its release, would exceed `max_risk`."""

    max_risk: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalView:
    """The small cells once some margins have been refused.

    `probability` is what the intruder gave to the refusal before he heard of it; `n_tables` of the
    consistent ones are left, where they are listed. `before` are the distributions without the
    refusal, under the same model."""

    requests: tuple[Axes, ...]
    rule: RefusalRule
    method: str
    probability: Outcome
    n_tables: int | None
    before: Sequence[Distribution]
    distributions: Sequence[Distribution]
    errors: Sequence[Distribution]


def refusal_view(
    release: Release,
    model: HierarchicalModel,
    alpha: FloatArray,
    requests: Sequence[Axes],
    rule: RefusalRule,
    cells: IntArray,
    *,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> RefusalView | Unavailable:
    """The distribution of the cells given that each request was refused, the model being believed
    in.

    Checked: the rule refuses each request on the true table, since else the refusal is false of it.
    """
    prior = LogLinearPrior(model, alpha)
    question = release.question(prior, LIMITS)
    if isinstance(question.model_distribution, Unavailable):
        return Unavailable(
            "a refusal needs a model whose distribution of the table is known, such as saturated"
        )
    belief = believe(question, ("listed",), clock=clock, rng=rng)
    if isinstance(belief, ListedBelief):
        return _listed(release, belief, requests, rule, cells)
    if release.informative:
        return Unavailable(
            "the tables cannot be listed, and draws cannot use what the intruder also knows"
        )
    drawn = believe(question, ("filled",), clock=clock, rng=rng, progress=progress)
    if not isinstance(drawn, DrawnBelief):
        return drawn if isinstance(drawn, Unavailable) else Unavailable("no draws were made")
    judge = _Judge(release, prior, rule, max(JUDGING_SECONDS, clock.share(JUDGING_SHARE) or 0.0))
    try:
        for request in requests:
            truth = judge.refuses(release.table.dense(), request)
            _check_refused(release, request, truth, rule)
        judged = _judged(judge, drawn, requests, clock, progress)
    except BudgetExceeded as beyond:
        return Unavailable(f"what the refused margin would reveal cannot be computed: {beyond}")
    return _conditioned(drawn, np.array(judged, dtype=np.bool_), requests, rule, cells)


def refused_tables(
    belief: ListedBelief, sizes: Sequence[int], request: Axes, rule: RefusalRule
) -> BoolArray:
    """For each table of the belief: would the margin be refused, were it the true one? Exact."""
    margins = margin_rows(belief.tables, sizes, request)
    _, group = np.unique(margins, axis=0, return_inverse=True)
    order = np.argsort(np.ravel(group), kind="stable")
    ends = np.cumsum(np.bincount(np.ravel(group)))
    refused = np.zeros(len(belief.tables), dtype=np.bool_)
    for here in np.split(order, ends[:-1]):
        own = belief.probabilities[here]
        risks = risks_of(belief.tables[here], own / own.sum(), rule)
        refused[here] = _exceed(risks, rule.max_risk)
    return refused


def _exceed(risks: FloatArray, limit: float) -> BoolArray:
    """`above` for each risk: of its own size, since limits on a probability may be tiny."""
    beyond: BoolArray = risks - limit > ALIKE * np.maximum(np.abs(risks), abs(limit))
    return beyond


def risks_of(tables: IntArray, probabilities: FloatArray, rule: RefusalRule) -> FloatArray:
    """The measure of each table, were it the true one, under a belief that lists them all.

    By bounds, a table without small cells has nothing to protect: its risk is −∞.
    """
    small = (tables > 0) & (tables <= rule.small)
    if rule.measure is RiskMeasure.TABLE:
        return probabilities
    if rule.measure is RiskMeasure.BOUNDS:
        width = tables.max(axis=0) - tables.min(axis=0)
        least = np.where(small, width, np.iinfo(np.int64).max).min(axis=1)
        return np.where(small.any(axis=1), -least.astype(np.float64), -np.inf)
    best, sure = np.zeros(tables.shape[1], dtype=np.int64), np.zeros(tables.shape[1])
    for cell in range(tables.shape[1]):
        values, place = np.unique(tables[:, cell], return_inverse=True)
        p: FloatArray = np.bincount(place, weights=probabilities).astype(np.float64)
        best[cell], sure[cell] = values[first_largest(p)], p.max()
    found = small & (tables == best) & (sure > surely_above(rule.confidence))
    share: FloatArray = found.sum(axis=1) / np.maximum(small.sum(axis=1), 1)
    return share


def margin_rows(tables: IntArray, sizes: Sequence[int], axes: Sequence[int]) -> IntArray:
    """The margin of each table (rows) over some axes, flat."""
    full = tables.reshape(-1, *sizes)
    others = tuple(1 + axis for axis in range(len(sizes)) if axis not in set(axes))
    flat: IntArray = full.sum(axis=others).reshape(len(tables), -1)
    return flat


def _listed(
    release: Release,
    belief: ListedBelief,
    requests: Sequence[Axes],
    rule: RefusalRule,
    cells: IntArray,
) -> RefusalView:
    sizes = release.table.sizes
    truth = np.flatnonzero(np.all(belief.tables == release.table.dense().ravel(), axis=1))
    refused = np.ones(len(belief.tables), dtype=np.bool_)
    for request in requests:
        own = refused_tables(belief, sizes, request, rule)
        _check_refused(release, request, bool(own[truth].all()), rule)
        refused &= own
    after = belief.given(refused)
    distributions = [after.cell(cell) for cell in cells.tolist()]
    return RefusalView(
        requests=tuple(requests),
        rule=rule,
        method=f"exact, over {len(belief.tables):,} listed tables",
        probability=Figure(value=float(belief.probabilities[refused].sum()), how=How.EXACT),
        n_tables=len(after.tables),
        before=[belief.cell(cell) for cell in cells.tolist()],
        distributions=distributions,
        errors=[dict.fromkeys(distribution, 0.0) for distribution in distributions],
    )


def _check_refused(release: Release, request: Axes, refused: bool, rule: RefusalRule) -> None:
    if not refused:
        names = " ".join(release.table.names[axis] for axis in request)
        rule_text = f"a margin that the rule refuses ({rule.measure} above {rule.max_risk:g})"
        raise InputError(must_be("refused", rule_text, f"[{names}], which it would release"))


def _judged(
    judge: "_Judge",
    drawn: DrawnBelief,
    requests: Sequence[Axes],
    clock: Clock,
    progress: Progress,
) -> list[bool]:
    judged: list[bool] = []
    shape = judge.release.table.sizes
    for table in drawn.tables[:MOST_JUDGED]:
        judged.append(all(judge.refuses(table.reshape(shape), r) for r in requests))
        progress("judging what was refused", len(judged) / MOST_JUDGED)
        if clock.is_over:
            break
    return judged


def _conditioned(
    drawn: DrawnBelief,
    refused: BoolArray,
    requests: Sequence[Axes],
    rule: RefusalRule,
    cells: IntArray,
) -> RefusalView | Unavailable:
    """The view by draws, of which the first have been judged."""
    if not refused.any():
        return Unavailable(f"none of {len(refused)} weighted draws would have been refused")
    after = drawn.given(refused)
    if above(LEAST_EFFECTIVE, after.effective_draws):
        few = f"{len(after.tables)} weighted draws that would have been refused"
        return too_few(few, after.effective_draws)
    return RefusalView(
        requests=tuple(requests),
        rule=rule,
        method=f"{len(refused)} weighted draws judged ({after.effective_draws:.0f} effective ones "
        "refused)",
        probability=drawn.share_of(refused),
        n_tables=None,
        before=[drawn.cell(cell) for cell in cells.tolist()],
        distributions=[after.cell(cell) for cell in cells.tolist()],
        errors=[after.cell_error(cell) for cell in cells.tolist()],
    )


class _Judge:
    """Tells whether the rule would refuse a request, were a table the true one; remembers.

    Each margin is judged within `seconds`, or by the work that these stand for.
    """

    def __init__(
        self, release: Release, prior: LogLinearPrior, rule: RefusalRule, seconds: float
    ) -> None:
        self.release, self._prior, self._rule = release, prior, rule
        self._seconds = seconds
        self._limits = Limits(
            exact_share=1.0,
            states=int(STATES_A_SECOND * seconds),
            steps=int(STEPS_A_SECOND * seconds),
        )
        self._known: dict[tuple[Axes, bytes], Belief | Bounds] = {}

    def refuses(self, table: IntArray, request: Axes) -> bool:
        """Whether the measure would exceed its limit after the release of the request."""
        rule, flat = self._rule, table.ravel()
        small = np.flatnonzero((flat > 0) & (flat <= rule.small))
        found = self._after(table, request)
        if isinstance(found, Bounds):
            widths = (found.upper - found.lower)[small]
            risk = -float(widths.min()) if len(small) else -np.inf
        elif rule.measure is RiskMeasure.TABLE:
            own = found.probability(flat)
            risk = own.value or 0.0 if isinstance(own, Figure) else 0.0
        else:
            hits = [is_found(found.cell(int(c)), int(flat[c]), rule.confidence) for c in small]
            risk = sum(hits) / max(len(hits), 1)
        return above(risk, rule.max_risk)

    def _after(self, table: IntArray, request: Axes) -> Belief | Bounds:
        """What would be known after the release, the same for all tables with these margins."""
        key = (request, margin_rows(table.reshape(1, -1), table.shape, request).tobytes())
        if key not in self._known:
            margins = margins_of(table, [*self.release.sets, self.release.nested.closed(request)])
            self._known[key] = self._found(margins, table)
        return self._known[key]

    def _found(self, margins: Margins, table: IntArray) -> Belief | Bounds:
        if self._rule.measure is RiskMeasure.BOUNDS:
            limits = bounds(margins, tables=[table], time_limit=self._seconds)
            if not limits.complete:
                raise BudgetExceeded("bounds after the release are not tight in the time given")
            return limits
        question = Question(prior=self._prior, margins=margins, limits=self._limits)
        belief = believe(question, ("summed",), clock=Clock(self._seconds))
        if isinstance(belief, Unavailable):
            raise BudgetExceeded(belief.reason)
        return belief
