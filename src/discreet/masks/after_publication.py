"""A publication as the intruder sees it: his belief about the hidden table, bounds of its cells.

By Bayes' rule

    Pr(table | publication)  ∝  prior(table) · Pr(publication | table)    over the fiber,

the fiber being all tables that agree with what is known for certain. `belief.ladder` finds it.
"""

from collections.abc import Sequence

from discreet.belief.belief import Belief
from discreet.belief.intruder_priors import LogLinearPrior, prior_named
from discreet.belief.ladder import BOUNDS_SECONDS, believe, believed_bounds
from discreet.belief.request import MOST_TABLES, Limits, Question
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.cell_bounds import Bounds
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.priors import Multinomial, Prior, check_length
from discreet.figures import Unavailable
from discreet.masks.contract import Masked
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

SECONDS = 60.0
RUNGS = ("listed", "summed", "weighed")

AnyPrior = Prior | LogLinearPrior | str


def intruders_question(
    masked: Masked,
    prior: Prior | LogLinearPrior,
    *,
    also: Sequence[Statement] = (),
    limits: Limits | None = None,
) -> Question:
    """What someone is asked who has seen the publication; `also` is what he knows besides."""
    return Question(
        prior=prior,
        margins=masked.margins,
        shape=masked.source.sizes,
        known=[*(() if masked.margins is not None else masked.known), *also],
        likelihood=masked.likelihood,
        factors=masked.factors or (),
        truth=masked.source.dense(),
        limits=limits or Limits(),
    )


def intruders_belief(
    masked: Masked,
    prior: AnyPrior = "multinomial",
    *,
    also: Sequence[Statement] = (),
    most_tables: int = MOST_TABLES,
    seconds: float = SECONDS,
    progress: Progress = silent,
) -> Belief | Unavailable:
    """The intruder's belief once he has seen the publication, or why there is none.

    `prior` is a name (`multinomial`, `dirichlet`, `uniform`), a prior of the fiber, or a log-linear
    model; `also` is what he knows besides. Tables are listed where there are at most `most_tables`,
    else summed over where the distribution is a product, else drawn; `seconds` limit all of it,
    roughly.

    Checked: the prior fits the table. Trusted: `also` is true of the table.
    """
    named = checked_prior(prior, masked)
    if not seconds >= 0:
        raise InputError(must_be("seconds", "at least 0", seconds))
    limits = Limits(most_tables=most_tables)
    question = intruders_question(masked, named, also=also, limits=limits)
    return believe(question, RUNGS, clock=Clock(seconds), progress=progress)


def checked_prior(prior: AnyPrior, masked: Masked) -> Prior | LogLinearPrior:
    """The prior, if it is about tables of this size."""
    if isinstance(prior, LogLinearPrior):
        n = len(masked.source.names)
        if prior.model.n_variables != n:
            rule = f"a model of {n} variables"
            raise InputError(must_be("prior", rule, f"one of {prior.model.n_variables}"))
        return prior
    named = prior_named(prior, masked.source.n_cells) if isinstance(prior, str) else prior
    if not hasattr(named, "log_weight"):
        raise InputError(must_be("prior", "a name or a prior", type(prior).__name__))
    check_length(named, masked.source.n_cells)
    return named


def intruders_bounds(
    masked: Masked,
    *,
    cells: IntArray | None = None,
    also: Sequence[Statement] = (),
    time_limit: float | None = BOUNDS_SECONDS,
    progress: Progress = silent,
) -> Bounds:
    """The least and the greatest count of each cell that agree with what the intruder knows.

    `cells` are numbers in C order, all if left out. The true table only spares search.
    """
    question = intruders_question(masked, Multinomial(), also=also)
    return believed_bounds(question, cells=cells, time_limit=time_limit, progress=progress)
