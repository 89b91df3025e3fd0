"""Data augmentation: tables given cell probabilities, cell probabilities given tables, in turn.

For a log-linear model whose distribution over tables has no closed form (dobra section 5.1). Given
θ the table is drawn exactly from the fiber, block by block; given the table, θ takes a cycle of
Bayesian proportional fitting. Cell probabilities Pr(F(i) = q) are averages of the exact ones given
θ (Rao–Blackwell), so that each draw of θ counts in full."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.belief.draws.table_steps import TableStep, Taken
from discreet.belief.models.bayesian_fitting import fitting_cycle
from discreet.belief.models.generators import HierarchicalModel
from discreet.clock import working_seconds
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.chain_diagnostics import Diagnostics, diagnose
from discreet.numerics.rounding import EPSILON, order_of
from discreet.progress import Progress, interruption_ends_all, silent

LEAST_KEPT = 8
MOST_DIAGNOSED = 500  # probabilities whose chains are looked at
PLAIN = 0.05  # a probability above it tells how many effective draws there are


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEffort:
    """How long the chains run: draws kept of each, after as many again as share `burn_in`."""

    n_chains: int = 8
    n_draws: int = 2000
    burn_in: float = 0.25
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.n_chains < 2 or self.n_draws < LEAST_KEPT:
            rule = f"at least 2 chains of {LEAST_KEPT} draws"
            raise InputError(must_be("effort", rule, f"{self.n_chains} of {self.n_draws}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmented:
    """What the chains gave.

    `distributions[i]` is Pr(F(cell) = q) for the i-th cell asked for, with `errors[i]` its standard
    errors.
    `log_theta` keeps every draw (chains × draws × cells), `log_released` log Pr(R | θ) of each up
    to a constant, where the step knows it, `tables` the drawn tables. `effective_draws` are those
    of the least settled probability. `rounding` bounds what
    rounding made of a probability given θ; one that varies by no more has this for its error.
    `complete` is False where time or the user ended it early.
    """

    cells: IntArray
    distributions: Sequence[dict[int, float]]
    errors: Sequence[dict[int, float]]
    log_theta: FloatArray
    log_released: FloatArray | None
    tables: IntArray
    diagnostics: Diagnostics
    effective_draws: float
    rounding: float
    complete: bool


def augmented(
    step: TableStep,
    model: HierarchicalModel,
    alpha: FloatArray,
    cells: IntArray,
    *,
    effort: ChainEffort | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Augmented:
    """The posterior of the given cells under the model, by data augmentation.

    `alpha` has the shape of the table. Cost of a draw: the listed tables plus cells × generators.
    Time that runs out, or an interruption, leaves what was drawn if there is enough of it.
    """
    effort = effort or ChainEffort()
    shape, n = alpha.shape, effort.n_chains
    state = _start(alpha, model, n, rng)
    began = working_seconds()
    n_burn = max(1, round(effort.burn_in * effort.n_draws))
    kept: list[tuple[FloatArray, Taken]] = []
    complete = True
    try:
        for turn in range(n_burn + effort.n_draws):
            taken = step.take(state.reshape(n, -1), rng=rng)
            if turn >= n_burn:
                kept.append((state.reshape(n, -1), taken))
            parameters = taken.tables.reshape(n, *shape) + alpha
            state = fitting_cycle(state, parameters, model.generators, rng=rng)
            progress("drawing tables", (turn + 1) / (n_burn + effort.n_draws))
            if effort.seconds is not None and working_seconds() - began > effort.seconds:
                complete = turn + 1 == n_burn + effort.n_draws
                break
    except KeyboardInterrupt:
        if len(kept) < LEAST_KEPT or interruption_ends_all():
            raise
        complete = False
    return _gathered(kept, step, cells, len(model.generators) + 1, complete)


def _start(
    alpha: FloatArray, model: HierarchicalModel, n_chains: int, rng: np.random.Generator
) -> FloatArray:
    """Starting points spread as the prior is."""
    state = np.full((n_chains, *alpha.shape), -np.log(alpha.size))
    wide = np.broadcast_to(alpha, state.shape)
    for _ in range(10):
        state = fitting_cycle(state, wide, model.generators, rng=rng)
    return state


def _gathered(
    kept: list[tuple[FloatArray, Taken]],
    step: TableStep,
    cells: IntArray,
    n_scalings: int,
    complete: bool,
) -> Augmented:
    if len(kept) < LEAST_KEPT:
        raise InputError(must_be("time", "enough for some draws", "less", remedy="allow more"))
    seen = np.stack([taken.seen for _, taken in kept], axis=1)
    tables = np.stack([taken.tables for _, taken in kept], axis=1)
    means = seen.mean(axis=(0, 1))
    log_theta = np.stack([theta for theta, _ in kept], axis=1)
    rounding = _rounding(log_theta, tables, n_scalings)
    told, errors, effective = _errors(seen, means, rounding)
    distributions, ses = [], []
    for cell in cells.tolist():
        here = np.flatnonzero(step.pair_cell == cell)
        values = [int(q) for q in step.pair_value[here]] or [int(tables[0, 0, cell])]
        distributions.append(dict(zip(values, means[here].tolist() or [1.0], strict=True)))
        ses.append(dict(zip(values, errors[here].tolist() or [0.0], strict=True)))
    released = [taken.log_released for _, taken in kept if taken.log_released is not None]
    return Augmented(
        cells=cells,
        distributions=distributions,
        errors=ses,
        log_theta=log_theta,
        log_released=np.stack(released, axis=1) if released else None,
        tables=tables,
        diagnostics=told,
        effective_draws=effective,
        rounding=rounding,
        complete=complete,
    )


def _rounding(log_theta: FloatArray, tables: IntArray, n_scalings: int) -> float:
    """What rounding can make of a probability given θ.

    The log probability of a table is a sum of terms x log θ over the cells, off by rounding of the
    sum and by that of log θ itself: every scaling of every cycle rounds it once, to either side, so
    that over the cycles errors grow with the root of their number (Higham and Mary 2019, with λ = 4
    for a chance below one in a thousand). An error of a logarithm is a relative one of Pr(F | θ),
    and no probability is above one.
    """
    size = max(
        float((np.abs(theta) * counts).sum(axis=1).max(initial=0.0))
        for theta, counts in zip(log_theta, tables, strict=True)
    )
    n_cycles, n_cells = log_theta.shape[1:]
    return float((4 * n_scalings * math.sqrt(n_cycles) + n_cells) * EPSILON * (1.0 + size))


def _errors(
    seen: FloatArray, means: FloatArray, rounding: float
) -> tuple[Diagnostics, FloatArray, float]:
    """What the chains say of the largest probabilities, standard errors of all, and effective
    draws. The errors of small ones, which are too many, are as if they mixed like the worst."""
    largest = order_of(means, scale=1.0)[:MOST_DIAGNOSED]
    largest.sort()
    told = diagnose(seen[:, :, largest], rounding=rounding)
    errors = np.full(seen.shape[2], rounding)
    n_all = seen.shape[0] * seen.shape[1]
    fewest = float(min(told.bulk_draws.min(initial=n_all), n_all))
    others = np.setdiff1d(np.arange(seen.shape[2]), largest)
    errors[others] += seen[:, :, others].std(axis=(0, 1)) / np.sqrt(max(fewest, 1.0))
    errors[largest[told.varied]] = told.standard_error
    plain = means[largest[told.varied]] > PLAIN
    return told, errors, float(told.bulk_draws[plain].min(initial=n_all))
