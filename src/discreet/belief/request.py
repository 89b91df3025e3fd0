"""What is asked of every model of a hidden table, and what a model answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.belief.draws.augmentation import Effort
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.models.model_averaging import Evidence, WeightKind
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import Margins
from discreet.figures import How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray

NO_TRUTH = Unavailable("the true table was not given")
LEAST_WORTH = 20.0  # independent draws that probabilities must be worth to be shown


def too_few(worth: float, drawn: str) -> Unavailable:
    """Why draws that are worth so few independent ones give no probabilities."""
    return Unavailable(
        f"{drawn} are worth only {worth:.1f} independent ones, fewer than the {LEAST_WORTH:.0f} "
        "from which probabilities are shown; allow more seconds"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePosterior:
    """What an intruder who believes in one model knows of the cells asked for.

    `distributions[i]` is Pr(F(cells[i]) = q) for every possible q, `errors[i]` its standard errors,
    zero where exact. `true_table` is the probability of the table that was given as the truth,
    `entropy` that of the distribution over tables in bits. `method` says how it was got, `warning`
    what to mistrust.
    `worth[i]` is how many independent draws the i-th distribution rests on, nothing where they are
    exact."""

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
    worth: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of every model: the release, what else is known, and about which cells."""

    margins: Margins
    cells: IntArray
    alpha: FloatArray
    known: Sequence[Statement] = ()
    truth: IntArray | None = None
    weight_kind: WeightKind = WeightKind.MARGINAL_LIKELIHOOD
    effort: Effort = field(default_factory=Effort)
    budget_states: int = 2_000_000

    def system(self) -> System:
        """Everything that is known of the cells."""
        statements = [*self.margins.statements(), *self.known]
        return system_of(self.margins.n_cells, statements)
