"""What an intruder who believes in one log-linear model knows of the cells asked about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.belief.belief import Belief
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import Evidence
from discreet.belief.request import Question
from discreet.belief.simulated_belief import SimulatedBelief
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.figures import How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray

NO_TRUTH = Unavailable("the true table was not given")


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePosterior:
    """What an intruder who believes in one model knows of the cells asked for.

    `distributions[i]` is Pr(F(cells[i]) = q) for every possible q, `errors[i]` its standard errors,
    zero where exact. `evidence` weighs the model. `true_table` is the probability of the table that
    was given as the truth, `entropy` that of the distribution over tables in bits. `method` says
    how it was found, `warning` what to mistrust. `effective_draws[i]` is how many independent draws
    the i-th distribution rests on, nothing where they are exact."""

    model: HierarchicalModel
    cells: IntArray
    distributions: Sequence[dict[int, float]]
    errors: Sequence[dict[int, float]]
    how: How
    method: str
    evidence: Evidence | Unavailable
    true_table: Outcome
    entropy: Outcome
    warning: str = ""
    complete: bool = True
    effective_draws: Sequence[float] = ()


def told(
    question: Question,
    belief: Belief,
    evidence: Evidence | Unavailable,
    *,
    is_over: Callable[[], bool] = lambda: False,
    too_few: Unavailable | None = None,
) -> TablePosterior:
    """The belief about the cells asked for. Where there are `too_few` draws to trust their sum, the
    true table has no probability and the distribution no entropy.

    Raises BudgetExceeded where the time is over before the last cell."""
    distributions = []
    for i, cell in enumerate(question.cells.tolist()):
        if is_over():
            raise BudgetExceeded(f"time ran out after {i:,} of {len(question.cells):,} small cells")
        distributions.append(belief.cell(cell))
    n, effective = len(distributions), belief.effective_draws
    several = belief.effective if isinstance(belief, SimulatedBelief) else [effective or 0.0] * n
    true_table: Outcome = NO_TRUTH
    if question.truth is not None:
        true_table = too_few or belief.probability(question.truth)
    return TablePosterior(
        model=question.model,
        cells=question.cells,
        distributions=distributions,
        errors=[belief.cell_error(cell) for cell in question.cells.tolist()],
        how=belief.how,
        method=belief.method,
        evidence=evidence,
        true_table=true_table,
        entropy=too_few or belief.entropy(),
        warning=getattr(belief, "warning", ""),
        complete=getattr(belief, "complete", True),
        effective_draws=() if effective is None else several,
    )
