"""Tables drawn anew within the margins that are already out go out instead of the true one.

Following Fienberg, Makov and Steele (1998), a table F* with the same released margins R is drawn
and published; several independent ones are multiple imputations (Rubin 1993). What an intruder
learns depends on what the draw was fitted to (dobra 6 leaves this open):

* fitted to the margins, F* ~ Pr(F | R). The draw looks at the true table F through R alone, so that
  Pr(F* | F) = Pr(F* | R) is the same for every F of the fiber, and by Bayes' rule

      Pr(F | R, F*) = Pr(F | R):    nothing is told beyond R, however many draws go out.

* fitted to the table: cell probabilities are Dirichlet(α + F) given the true table, and F* is a new
  table of as many persons that happens to have the margins R,

      Pr(F* | F) = D(F*; α + F) / Σ_{x in fiber} D(x; α + F),    D(x; a) = ∏ Γ(x + a)/(Γ(a) x!).

  F* is then the more probable the nearer it is to F, and the intruder has to multiply his prior by
  this likelihood, normalised anew for every F. It tells more, and serves users better.

Only margins of F* may be published too; their probability is summed over the tables that have them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from types import MappingProxyType

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet.belief.exact.listed_fiber import all_tables
from discreet.belief.exact.listing import listed_within
from discreet.belief.intruder_priors import ALPHA, prior_named
from discreet.belief.models.proportional_fitting import fit_margins
from discreet.clock import working_seconds
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.draws.drawing import Draws, Method, draw_tables
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.linear_system import system_of
from discreet.fiber.system.margins import Margins, maximal
from discreet.fiber.system.priors import DirichletMultinomial, Prior
from discreet.figures import Unavailable
from discreet.masks.contract import (
    Axes,
    Masked,
    Parameter,
    PublishedTable,
    checked_counts,
    chosen_sets,
    entry_groups,
    margin_sum,
    named_sets,
    sets_text,
)
from discreet.masks.margins import margins_out
from discreet.masks.rounding import checked_seed
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.gamma_ratio import log_gamma_ratio
from discreet.progress import Progress, silent

NAME, SEVERAL = "perturbation", "imputation"
DISTRIBUTION = "multinomial"
MOST_COPIES = 1000
LARGEST_ALPHA = 1e9
MOST_FITTED = 2000  # tables of a fiber over which a draw fitted to the table is normalised
LISTING_SECONDS = 30.0
WAYS = (Method.EXACT, Method.WALK, Method.SEQUENTIAL)
EXACT_SECONDS = 10.0  # for exact draws before a walk is tried instead
WALK_DRAWS = 400  # tables kept of a walk, of which the published ones are taken far apart


class FittedTo(StrEnum):
    """What the distribution that tables are drawn from has seen of the true table."""

    MARGINS = "margins"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How tables are drawn and what of them is published.

    `distribution` is the prior of the fiber (`multinomial`, `dirichlet` or `uniform`) for draws
    fitted to the margins; those fitted to the table are Dirichlet–multinomial with `alpha` a cell.
    `copies` tables are drawn. `show` names the margins of the drawn tables that are published, None
    for the drawn tables themselves. `method` is a way of drawing of the fiber, `auto` the first
    that works."""

    distribution: str = DISTRIBUTION
    fitted: str = FittedTo.MARGINS
    alpha: float = ALPHA
    copies: int = 1
    show: tuple[tuple[str, ...], ...] | None = None
    method: str = Method.AUTO

    def __post_init__(self) -> None:
        if self.fitted not in list(FittedTo):
            raise InputError(must_be("fitted", f"one of {', '.join(FittedTo)}", repr(self.fitted)))
        if not _is_number(self.alpha, float) or not 0 < self.alpha <= LARGEST_ALPHA:
            raise InputError(
                must_be("alpha", f"a number above 0, at most {LARGEST_ALPHA:g}", self.alpha)
            )
        if not _is_number(self.copies, int) or not 1 <= self.copies <= MOST_COPIES:
            raise InputError(must_be("copies", f"from 1 to {MOST_COPIES:,}", self.copies))
        if self.method not in list(Method):
            raise InputError(must_be("method", f"one of {', '.join(Method)}", repr(self.method)))
        prior_named(self.distribution, 1)
        if self.fitted == FittedTo.TABLE and self.distribution != DISTRIBUTION:
            rule = "left out where draws are fitted to the table"
            raise InputError(must_be("distribution", rule, repr(self.distribution)))


def _is_number(value: object, kind: type[int] | type[float]) -> bool:
    wanted = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
    return isinstance(value, wanted) and not isinstance(value, bool)


def perturb(
    table: Table,
    out: Sequence[Sequence[str]],
    *,
    seed: int,
    recipe: Recipe | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Masked | Unavailable:
    """Tables drawn within the fiber of the margins `out`, published in place of the true one.

    Draws are exact and independent where the fiber allows, else the last of a walk, whose
    diagnostics `effect` quotes; the way is recorded. A walk that `time_limit` cuts short is not
    used, since it could not be made again. Unavailable says why none could be drawn.

    Checked: margins are named; a perturbed table without any margin out tells nothing.
    """
    counts, recipe = checked_counts(table), recipe or Recipe()
    if not out:
        remedy = "name the margins that are out; [] stands for the total"
        raise InputError(must_be("margins out", "at least one", "none", remedy=remedy))
    sets = maximal(chosen_sets(table, out))
    margins = margins_out(table, counts, sets)
    checked_seed(seed)
    drawn = _drawn(margins, _distribution(recipe, counts), recipe, seed, time_limit, progress)
    if isinstance(drawn, Unavailable):
        return drawn
    return _masked(table, margins, recipe, seed, drawn)


def _distribution(recipe: Recipe, counts: IntArray) -> Prior:
    if recipe.fitted == FittedTo.TABLE:
        return DirichletMultinomial(recipe.alpha + counts.ravel().astype(np.float64))
    if recipe.distribution == "dirichlet":
        return DirichletMultinomial(np.full(counts.size, recipe.alpha))
    return prior_named(recipe.distribution, counts.size)


@dataclass(frozen=True, slots=True)
class _Drawn:
    tables: IntArray  # copies × cells
    method: Method
    words: str


def _drawn(
    margins: Margins,
    distribution: Prior,
    recipe: Recipe,
    seed: int,
    time_limit: float | None,
    progress: Progress,
) -> _Drawn | Unavailable:
    """Each way of drawing starts from the seed itself, so that the record of the way is enough."""
    auto, reasons = recipe.method == Method.AUTO, []
    end = inf if time_limit is None else working_seconds() + time_limit
    for way in WAYS if auto else [Method(recipe.method)]:
        n = recipe.copies if way is Method.EXACT else max(recipe.copies, WALK_DRAWS)
        rng = np.random.default_rng(seed)
        most = EXACT_SECONDS if auto and way is Method.EXACT else inf
        left = max(0.0, min(most, end - working_seconds()))
        limit = None if left == inf else left
        found = draw_tables(
            margins, distribution, n, rng=rng, method=way, time_limit=limit, progress=progress
        )
        if not isinstance(found, Unavailable) and _can_be_repeated(found, recipe.copies):
            return _Drawn(_chosen(found, recipe.copies, rng), way, _how(found))
        reasons.append(found.reason if isinstance(found, Unavailable) else found.stopped)
    return Unavailable(f"no table could be drawn: {'; '.join(reasons)}")


def _can_be_repeated(found: Draws, copies: int) -> bool:
    """Whether the published tables do not depend on when the clock ended the drawing."""
    whole = found.method is Method.EXACT or not found.is_partial
    return whole and len(found.tables) >= copies


def _chosen(found: Draws, copies: int, rng: np.random.Generator) -> IntArray:
    """As many of the draws as are asked for: all, far apart in a walk, or by their weights."""
    n = len(found.tables)
    if found.method is Method.EXACT:
        return np.array(found.tables[:copies])
    if found.method is Method.SEQUENTIAL:
        return np.array(found.tables[rng.choice(n, size=copies, p=found.shares)])
    return np.array(found.tables[(np.arange(1, copies + 1) * n) // copies - 1])


def _how(found: Draws) -> str:
    if found.method is Method.EXACT:
        return "drawn exactly and independently"
    effective = f"{found.effective_draws:,.0f} effective draws"
    warning = f"; {found.warning}" if found.warning else ""
    return f"drawn by {found.how}, {effective}{warning}"


def _masked(table: Table, margins: Margins, recipe: Recipe, seed: int, drawn: _Drawn) -> Masked:
    copies = drawn.tables.reshape(-1, *table.sizes)
    every: Axes = tuple(range(len(table.names)))
    show = (every,) if recipe.show is None else chosen_sets(table, recipe.show)
    out = [PublishedTable(axes=axes, counts=t.copy()) for axes, t in margins.tables.items()]
    new = [
        PublishedTable(axes=axes, counts=margin_sum(copy, axes)) for copy in copies for axes in show
    ]
    several = recipe.copies > 1
    likelihood = None
    if recipe.fitted == FittedTo.TABLE:
        likelihood = _Likelihood(table, margins, recipe.alpha, show, drawn.tables)
    return Masked(
        mask=SEVERAL if several else NAME,
        title=_title(table, margins, recipe, show),
        source=table,
        published=(*out, *new),
        known=tuple(margins.statements()),
        estimate=_estimate(table, margins, show, copies),
        effect=_effect(table, margins, recipe, show, drawn),
        parameters=_parameters(table, margins, recipe, show, drawn),
        seed=seed,
        likelihood=likelihood,
        margins=margins,
        variance=copies.var(axis=0, ddof=1) if several and every in show else None,
        beyond=_beyond(recipe, drawn),
    )


def _beyond(recipe: Recipe, drawn: _Drawn) -> str:
    """A draw that has seen the margins alone tells nothing else, however it was made."""
    if recipe.fitted == FittedTo.MARGINS or drawn.method is Method.EXACT:
        return ""
    return "The draws come from a simulation, and their probability is taken to be the exact one."


def _title(table: Table, margins: Margins, recipe: Recipe, show: Sequence[Axes]) -> str:
    kind = f"{recipe.copies} imputations" if recipe.copies > 1 else "perturbed"
    part = "" if recipe.show is None else f", only {sets_text(table, show)} shown"
    fitted = ", fitted to the table" if recipe.fitted == FittedTo.TABLE else ""
    return f"{kind} within {sets_text(table, list(margins.tables))}{fitted}{part}"


def _effect(
    table: Table, margins: Margins, recipe: Recipe, show: Sequence[Axes], drawn: _Drawn
) -> str:
    n = recipe.copies
    many = "A table" if n == 1 else f"{n} tables"
    who = "It tells" if n == 1 else "They tell"
    part = "" if recipe.show is None else f", of which only {sets_text(table, show)} is published"
    told = (
        f"{who} nothing of the true table beyond these margins."
        if recipe.fitted == FittedTo.MARGINS
        else "The distribution was fitted to the true table, so draws near it are more probable."
    )
    return (
        f"{many} with the exact margins {sets_text(table, list(margins.tables))}, published in "
        f"place of the true one, {drawn.words}{part}. {told}"
    )


def _parameters(
    table: Table, margins: Margins, recipe: Recipe, show: Sequence[Axes], drawn: _Drawn
) -> MappingProxyType[str, Parameter]:
    return MappingProxyType(
        {
            "sets": named_sets(table, list(margins.tables)),
            "distribution": recipe.distribution,
            "fitted": str(recipe.fitted),
            "alpha": recipe.alpha,
            "copies": recipe.copies,
            "show": None if recipe.show is None else named_sets(table, show),
            "method": drawn.method.value,
        }
    )


def _estimate(table: Table, margins: Margins, show: Sequence[Axes], copies: IntArray) -> FloatArray:
    """The mean of the drawn tables, or the fit of the margins out and the mean of those shown."""
    mean = copies.mean(axis=0)
    if any(len(axes) == len(table.names) for axes in show):
        return np.asarray(mean, dtype=np.float64)
    wanted = {
        axes: np.asarray(mean.sum(axis=tuple(i for i in range(mean.ndim) if i not in axes)))
        for axes in maximal([*margins.tables, *show])
    }
    return np.array(fit_margins(wanted, table.sizes).fitted)


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """log Pr(what is shown of the copies | table), each copy on its own."""

    table: Table
    margins: Margins
    alpha: float
    show: tuple[Axes, ...]
    copies: IntArray

    def __call__(self, tables: IntArray) -> FloatArray:
        fiber = _fiber(self.margins)
        agrees = _agreement(self.table, self.show, self.copies, fiber)
        found = np.empty(len(tables))
        factorials = gammaln(fiber + 1.0).sum(axis=1)
        for i, truth in enumerate(tables):
            a = np.broadcast_to(self.alpha + truth.astype(np.float64), fiber.shape)
            logs = log_gamma_ratio(a, fiber).sum(axis=1) - factorials
            logs = logs - logsumexp(logs)
            found[i] = sum(float(logsumexp(logs[same])) for same in agrees)
        return found


def _fiber(margins: Margins) -> IntArray:
    """All tables with the margins; raises BudgetExceeded where there are too many."""
    system = system_of(margins.n_cells, margins.statements())
    found = listed_within(
        system, most=MOST_FITTED, seconds=LISTING_SECONDS, rng=np.random.default_rng(0)
    )
    if found is None or found.n_tables > MOST_FITTED:
        raise BudgetExceeded(
            f"what a draw fitted to the table reveals is computed for at most {MOST_FITTED:,} "
            "consistent tables"
        )
    return all_tables(found)


def _agreement(
    table: Table, show: Sequence[Axes], copies: IntArray, fiber: IntArray
) -> list["np.typing.NDArray[np.bool_]"]:
    """For each copy, which tables of the fiber would have been published the same."""
    found = []
    for copy in copies:
        same = np.ones(len(fiber), dtype=np.bool_)
        for axes in show:
            groups = entry_groups(table, axes)
            sums = fiber[:, groups].sum(axis=2)
            same &= np.all(sums == copy[groups].sum(axis=1), axis=1)
        found.append(same)
    return found
