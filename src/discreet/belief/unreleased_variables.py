"""Variables that no released margin holds, taken out of the question and put back into the answer.

Let v lie in one generator of the model only, with the variables S beside it. Then the table without
v obeys the model without v, with the margin of α, and given that table every record gets its level
of v by itself, with probabilities Dirichlet(α_Sv) in each level of S: the constrained Dirichlet
distribution is hyper-Markov (dawid and lauritzen 1993). So a cell of m records without v has q of
them at a level with a beta–binomial probability, and the marginal likelihood of the release is the
same."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import gammaln

from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.request import Question
from discreet.belief.table_posterior import NO_TRUTH, TablePosterior
from discreet.fiber.system.margins import Margins
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.gamma_ratio import log_gamma_ratio

NEGLIGIBLE = 1e-15  # probability of a count below which it is not split


def left_out(question: Question) -> int | None:
    """A variable that may be taken out, or None; none where more than margins is known."""
    margins, model = question.only_margins, question.model
    released = {axis for axes in (margins.tables if margins else ()) for axis in axes}
    if not released:
        return None
    homes = [sum(axis in group for group in model.generators) for axis in range(model.n_variables)]
    return next((a for a, n in enumerate(homes) if n == 1 and a not in released), None)


def without(question: Question, axis: int) -> tuple[Question, IntArray]:
    """The same question of the table without the variable, and which of its cells is each one's."""
    margins = question.margins
    assert margins is not None
    others = [i for i in range(len(margins.sizes)) if i != axis]
    sizes = tuple(margins.sizes[i] for i in others)
    levels = np.unravel_index(question.cells, margins.sizes)
    flat = np.ravel_multi_index(tuple(levels[i] for i in others), sizes)
    cells, place = np.unique(flat, return_inverse=True)
    own = Margins(
        sizes=sizes,
        names=tuple(margins.names[i] for i in others),
        tables={tuple(map(others.index, axes)): table for axes, table in margins.tables.items()},
    )
    asked = replace(
        question,
        margins=own,
        prior=LogLinearPrior(
            model_without(question.model, axis), np.asarray(question.alpha.sum(axis=axis))
        ),
        cells=np.asarray(cells, dtype=np.int64),
        truth=None if question.truth is None else np.asarray(question.truth.sum(axis=axis)),
    )
    return asked, np.ravel(place)


def model_without(model: HierarchicalModel, axis: int) -> HierarchicalModel:
    """The model of the other variables."""
    groups = [[i - (i > axis) for i in group if i != axis] for group in model.generators]
    return HierarchicalModel.of(model.n_variables - 1, groups)


def put_back(
    question: Question, axis: int, found: TablePosterior, place: IntArray
) -> TablePosterior:
    """The answer for the table with the variable, from the one without it."""
    model, margins = question.model, question.margins
    assert margins is not None
    group = next(g for g in model.generators if axis in g)
    rest = tuple(i for i in range(model.n_variables) if i not in group)
    alpha = question.alpha.sum(axis=rest, keepdims=True)
    total = alpha.sum(axis=axis, keepdims=True)
    wide = np.broadcast_to(alpha, question.alpha.shape).ravel()
    around = np.broadcast_to(total, question.alpha.shape).ravel()
    splits, pairs = (
        _Splits(max((max(distribution) for distribution in found.distributions), default=0)),
        [],
    )
    for cell, own in zip(question.cells.tolist(), place.tolist(), strict=True):
        a = float(wide[cell])
        effective = found.effective_draws[own] if found.effective_draws else None
        pairs.append(
            splits.distribution(found.distributions[own], effective, a, float(around[cell]) - a)
        )
    name = margins.names[axis]
    why = Unavailable(f"not computed where {name} is spread over the records")
    return replace(
        found,
        model=model,
        cells=question.cells,
        distributions=[distribution for distribution, _ in pairs],
        errors=[errors for _, errors in pairs],
        method=f"{found.method}; {name} spread exactly",
        true_table=_truth(question, group, axis, found.true_table),
        entropy=why,
        effective_draws=[found.effective_draws[own] for own in place.tolist()]
        if found.effective_draws
        else (),
    )


@dataclass(slots=True)
class _Splits:
    """Beta–binomial distributions by sums of logarithms that are looked up, for counts up to
    `most`.
    """

    most: int
    logs: dict[float, FloatArray] = field(default_factory=dict)

    def distribution(
        self, distribution: Mapping[int, float], effective: float | None, a: float, b: float
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Σ_m Pr(m) BetaBinomial(q; m, a, b), with the standard error of that mean over `effective`
        independent counts m; none where Pr(m) is exact."""
        p, square = np.zeros((2, max(distribution) + 1))
        for m, own in distribution.items():
            if own > NEGLIGIBLE:
                row = self.row(m, a, b)
                p[: m + 1] += own * row
                square[: m + 1] += own * row**2
        kept = np.flatnonzero(p > 0)
        errors = np.zeros(len(kept))
        if effective is not None:
            spread = np.maximum(square[kept] - p[kept] ** 2, NEGLIGIBLE * p[kept] ** 2)
            errors = np.sqrt(spread / effective)
        listed = kept.tolist()
        return (
            dict(zip(listed, p[kept].tolist(), strict=True)),
            dict(zip(listed, errors.tolist(), strict=True)),
        )

    def row(self, m: int, a: float, b: float) -> FloatArray:
        """BetaBinomial(q; m, a, b) for q from 0 to m; all of m where b is 0."""
        row: FloatArray = np.zeros(m + 1)
        if b <= 0:
            row[m] = 1.0
            return row
        first, second = self._rising(a)[: m + 1], self._rising(b)[m::-1]
        row[:] = np.exp(first + second - self._rising(a + b)[m])
        row /= row.sum()
        return row

    def _rising(self, a: float) -> FloatArray:
        """log Γ(a + q) / (Γ(a) q!) for q up to `most`."""
        if a not in self.logs:
            q = np.arange(self.most + 1)
            self.logs[a] = log_gamma_ratio(a, q) - gammaln(q + 1.0)
        return self.logs[a]


def _truth(question: Question, group: tuple[int, ...], axis: int, own: Outcome) -> Outcome:
    """The true table's probability: that of the table without v times that of its split."""
    if question.truth is None:
        return NO_TRUTH
    if isinstance(own, Unavailable) or own.value is None:
        return own
    split = float(np.exp(min(log_split(question.truth, question.alpha, group, axis), 0.0)))
    error = own.standard_error
    return Figure(
        value=own.value * split,
        how=How.EXACT if own.how is How.EXACT else How.ESTIMATE,
        standard_error=None if error is None else error * split,
    )


def log_split(table: IntArray, alpha: FloatArray, group: tuple[int, ...], axis: int) -> float:
    """log Pr(F | F without v): Dirichlet–multinomial counts of v in each level of S, and within
    each a random choice of records."""
    rest = tuple(i for i in range(table.ndim) if i not in group)
    counts, prior = table.sum(axis=rest, keepdims=True), alpha.sum(axis=rest, keepdims=True)
    found = float(log_gamma_ratio(prior, counts).sum())
    found -= float(log_gamma_ratio(prior.sum(axis=axis), counts.sum(axis=axis)).sum())
    found += float(gammaln(table.sum(axis=axis) + 1.0).sum())
    return found - float(gammaln(table + 1.0).sum())
