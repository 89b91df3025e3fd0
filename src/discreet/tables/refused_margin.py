"""What an intruder learns from the refusal of a margin, under a rule that he knows (dobra, Meek).

Of every consistent table he can ask whether the margin would have been refused, were it true, and
strike out those where it would not. Exact where the tables are listed; else by weighted draws, each
judged by what its own margin would reveal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.draws.weighted_draws import WeightedDistribution, weighted_distribution
from discreet.belief.exact.exact_distribution import ExactDistribution, exact_distribution
from discreet.belief.exact.listed_belief import listed_distribution
from discreet.belief.models.generators import Axes, HierarchicalModel
from discreet.belief.posterior import completed
from discreet.belief.request import LEAST_WORTH, too_few
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.sums import marginals
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.margins import margins_of
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.rounding import ALIKE, above
from discreet.progress import Progress, silent
from discreet.tables.measures import ROUNDING, best_value, surely_above
from discreet.tables.release import Release

MOST_JUDGED = 400  # weighted draws whose own margin is judged
JUDGING_SECONDS = 2.0  # for one of them
Distribution = Mapping[int, float]


class Policy(StrEnum):
    """Which measure the agency limits."""

    BOUNDS = "bounds"
    TABLE = "table"
    CELLS = "cells"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRule:
    """A margin is refused where the measure, after its release, would exceed `max_risk`."""

    policy: Policy
    max_risk: float
    small: int
    confidence: float


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
    known = release.beside()
    distribution = exact_distribution(release.margins, model, alpha, known=known)
    if distribution is None:
        return Unavailable(
            "a refusal needs a model whose distribution of the table is known; see --posterior"
        )
    belief = listed_distribution(distribution, release.system(), seconds=clock.share(0.5), rng=rng)
    if belief is not None:
        return _listed(release, belief, requests, rule, cells)
    return _drawn(release, distribution, model, alpha, requests, rule, cells, clock, rng, progress)


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
    if rule.policy is Policy.TABLE:
        return probabilities
    if rule.policy is Policy.BOUNDS:
        width = tables.max(axis=0) - tables.min(axis=0)
        least = np.where(small, width, np.iinfo(np.int64).max).min(axis=1)
        return np.where(small.any(axis=1), -least.astype(np.float64), -np.inf)
    best, sure = np.zeros(tables.shape[1], dtype=np.int64), np.zeros(tables.shape[1])
    for cell in range(tables.shape[1]):
        values, place = np.unique(tables[:, cell], return_inverse=True)
        p = np.bincount(place, weights=probabilities)
        best[cell], sure[cell] = values[np.argmax(p >= p.max() - ROUNDING)], p.max()
    found = small & (tables == best) & (sure > surely_above(rule.confidence))
    share: FloatArray = found.sum(axis=1) / np.maximum(small.sum(axis=1), 1)
    return share


def margin_rows(tables: IntArray, sizes: Sequence[int], axes: Axes) -> IntArray:
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
        rule_text = f"a margin that the policy refuses ({rule.policy} above {rule.max_risk:g})"
        raise InputError(must_be("refused", rule_text, f"[{names}], which it would release"))


def _drawn(
    release: Release,
    distribution: ExactDistribution,
    model: HierarchicalModel,
    alpha: FloatArray,
    requests: Sequence[Axes],
    rule: RefusalRule,
    cells: IntArray,
    clock: Clock,
    rng: np.random.Generator,
    progress: Progress,
) -> RefusalView | Unavailable:
    if release.informative:
        return Unavailable("the tables cannot be listed, and draws allow no knowledge beside")
    plain = distribution.system.n_named == distribution.n_cells
    drawn = weighted_distribution(
        distribution,
        margins=release.margins if plain else None,
        clock=Clock(clock.share(0.3, 10.0)),
        rng=rng,
        progress=progress,
    )
    if isinstance(drawn, Unavailable):
        return drawn
    judge = _Judge(release, model, alpha, rule)
    try:
        for request in requests:
            truth = judge.refuses(release.table.dense(), request)
            _check_refused(release, request, truth, rule)
        judged = _judged(judge, drawn, requests, clock, progress)
    except BudgetExceeded as beyond:
        return Unavailable(f"what the refused margin would reveal cannot be computed: {beyond}")
    return _conditioned(drawn, np.array(judged, dtype=np.bool_), requests, rule, cells)


def _judged(
    judge: "_Judge",
    drawn: WeightedDistribution,
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
    drawn: WeightedDistribution,
    refused: BoolArray,
    requests: Sequence[Axes],
    rule: RefusalRule,
    cells: IntArray,
) -> RefusalView | Unavailable:
    logs = drawn.log_ratios[: len(refused)]
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    p = float(shares[refused].sum())
    if p == 0:
        return Unavailable(f"none of {len(refused)} weighted draws would have been refused")
    error = float(np.sqrt((shares**2 * (refused - p) ** 2).sum()))
    if refused.all():  # draws that agree are no proof: the rule of succession
        error = 1.0 / (1.0 / float((shares**2).sum()) + 2.0)
    kept = np.flatnonzero(refused)
    own = np.zeros(len(drawn.tables))
    own[kept] = shares[kept] / p
    worth = 1.0 / float((own**2).sum())
    if above(LEAST_WORTH, worth):
        return too_few(worth, f"{len(kept)} weighted draws that would have been refused")
    pairs = [_cell(drawn, cell, own) for cell in cells.tolist()]
    return RefusalView(
        requests=tuple(requests),
        rule=rule,
        method=f"{len(refused)} weighted draws judged, worth {worth:.0f} of those refused",
        probability=Figure(value=min(p, 1.0), how=How.ESTIMATE, standard_error=error),
        n_tables=None,
        before=[drawn.cell(cell)[0] for cell in cells.tolist()],
        distributions=[distribution for distribution, _ in pairs],
        errors=[one for _, one in pairs],
    )


def _cell(
    drawn: WeightedDistribution, cell: int, shares: FloatArray
) -> tuple[Distribution, Distribution]:
    distribution, errors = drawn.cell(cell, shares)
    return {q: p for q, p in distribution.items() if p > 0}, {
        q: errors[q] for q, p in distribution.items() if p > 0
    }


class _Judge:
    """Tells whether the rule would refuse a request, were a table the true one; remembers."""

    def __init__(
        self, release: Release, model: HierarchicalModel, alpha: FloatArray, rule: RefusalRule
    ) -> None:
        self.release, self._model, self._alpha, self._rule = release, model, alpha, rule
        self._known: dict[tuple[Axes, bytes], marginals.Posterior | tuple[IntArray, IntArray]] = {}

    def refuses(self, table: IntArray, request: Axes) -> bool:
        """Whether the measure would exceed its limit after the release of the request."""
        rule, flat = self._rule, table.ravel()
        small = np.flatnonzero((flat > 0) & (flat <= rule.small))
        found = self._after(table, request)
        if not isinstance(found, marginals.Posterior):
            widths = (found[1] - found[0])[small]
            risk = -float(widths.min()) if len(small) else -np.inf
        elif rule.policy is Policy.TABLE:
            distribution = self._distribution(table, request)
            risk = found.table_probability(completed(distribution, table))
        else:
            risk = sum(_found(found, int(c), int(flat[c]), rule) for c in small) / max(
                len(small), 1
            )
        return above(risk, rule.max_risk)

    def _after(
        self, table: IntArray, request: Axes
    ) -> marginals.Posterior | tuple[IntArray, IntArray]:
        key = (request, margin_rows(table.reshape(1, -1), table.shape, request).tobytes())
        if key not in self._known:
            if self._rule.policy is Policy.BOUNDS:
                margins = margins_of(table, [*self.release.sets, request])
                limits = bounds(margins, tables=[table], time_limit=JUDGING_SECONDS)
                if not limits.complete:
                    raise BudgetExceeded("bounds after the release are not tight in the time given")
                self._known[key] = (limits.lower, limits.upper)
            else:
                distribution = self._distribution(table, request)
                budget = Budget(states=300_000, steps=100_000_000, seconds=JUDGING_SECONDS)
                self._known[key] = marginals.posterior(
                    distribution.system, distribution.prior, budget=budget
                )
        return self._known[key]

    def _distribution(self, table: IntArray, request: Axes) -> ExactDistribution:
        margins = margins_of(table, [*self.release.sets, request])
        distribution = exact_distribution(margins, self._model, self._alpha)
        assert distribution is not None
        return distribution


def _found(posterior: marginals.Posterior, cell: int, truth: int, rule: RefusalRule) -> bool:
    low = int(posterior.lower[cell])
    distribution = {low + q: float(p) for q, p in enumerate(posterior.probabilities[cell])}
    best = best_value(distribution)
    return best == truth and distribution[best] > surely_above(rule.confidence)
