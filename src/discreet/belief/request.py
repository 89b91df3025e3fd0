"""The one question about a hidden table: what is known of it, and how tables are weighed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from discreet.belief.draws.augmentation import ChainEffort
from discreet.belief.exact.exact_distribution import ExactDistribution, exact_distribution
from discreet.belief.factors import Factor, LogLikelihood
from discreet.belief.intruder_priors import LogLinearPrior, with_factors
from discreet.belief.models.generators import HierarchicalModel
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.fiber.system.margins import Margins
from discreet.fiber.system.priors import Prior
from discreet.figures import Unavailable
from discreet.numerics.arrays import FloatArray, IntArray

MOST_TABLES = 100_000
NO_FORM = Unavailable(
    "the model is not decomposable and has margins that are not published, so its distribution "
    "over tables has no closed form"
)
NO_TOTAL = Unavailable("the number of persons is not known, so tables cannot be weighed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much work each way to a belief may be.

    At most `most_tables` are listed. Exact sums take `exact_share` of the time left, keep `states`
    at a time and take `steps` at most; where `paced`, both go by the seconds they have, so that a
    slow machine gives the same kind of answer. Draws take `draw_share` of the time left and no more
    than `draw_seconds`; fewer than `least_effective` of them give no belief.
    """

    most_tables: int = MOST_TABLES
    exact_share: float = 0.5
    states: int = 4_000_000
    steps: int = 2_000_000_000
    paced: bool = False
    draw_share: float = 0.9
    draw_seconds: float | None = None
    least_effective: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Question:
    """What an intruder knows of a table, and how he weighs the tables that fit it.

    `margins` are released margins and `known` all other statements; a question without margins
    gives the `shape` of the table, or says all that is known as `constraints`. `prior` is a product
    over cells or a log-linear model. `likelihood` is log Pr(publication | table), and `factors` are
    the same figure by figure, where it is such a product; where it is none, those of `guide` come
    near it, and draws by them are weighed by the likelihood itself. `cells` are those asked about,
    where only some can be followed; `truth` is the holder's own table, which spares search and is
    scored, and never changes a belief.
    """

    prior: Prior | LogLinearPrior
    margins: Margins | None = None
    shape: tuple[int, ...] = ()
    constraints: System | None = None
    known: Sequence[Statement] = ()
    likelihood: LogLikelihood | None = None
    factors: Sequence[Factor] = ()
    guide: Sequence[Factor] = ()
    cells: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    truth: IntArray | None = None
    effort: ChainEffort = field(default_factory=ChainEffort)
    limits: Limits = field(default_factory=Limits)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Levels of each variable."""
        if self.constraints is not None:
            return (self.constraints.n_named,)
        return self.shape if self.margins is None else self.margins.sizes

    @property
    def n_cells(self) -> int:
        """Cells of the table."""
        return prod(self.sizes)

    @cached_property
    def statements(self) -> list[Statement]:
        """Everything that is known of the cells for certain."""
        out = [] if self.margins is None else self.margins.statements()
        return [*out, *self.known]

    @cached_property
    def system(self) -> System:
        """The same as equations and limits of the cells."""
        return self.constraints or system_of(self.n_cells, self.statements)

    @property
    def only_margins(self) -> Margins | None:
        """The margins where they are all that is known for certain, so that closed forms apply."""
        return None if self.known else self.margins

    @property
    def total(self) -> int | None:
        """The number of persons, where all tables that fit have the same."""
        if self.margins is not None:
            return self.margins.total
        whole = (s for s in self.known if s.is_equation and len(s.cells) == self.n_cells)
        return next((s.low for s in whole if _plain(s)), None)

    @property
    def model(self) -> HierarchicalModel:
        """The log-linear model of a question that has one."""
        return self._log_linear.model

    @property
    def alpha(self) -> FloatArray:
        """Its parameters before any table, in the shape of the table."""
        return self._log_linear.parameters(self.sizes)

    @property
    def _log_linear(self) -> LogLinearPrior:
        if not isinstance(self.prior, LogLinearPrior):
            raise InputError(must_be("prior", "a log-linear model", "another"))
        return self.prior

    @cached_property
    def model_distribution(self) -> ExactDistribution | Unavailable:
        """The distribution of the table under a log-linear model, without the likelihood."""
        margins = self.margins
        if margins is None:
            if self.total is None:
                return Unavailable("a log-linear model needs the number of persons to be known")
            names = tuple(f"v{axis}" for axis in range(len(self.sizes)))
            alone: dict[tuple[int, ...], IntArray] = {(): np.array(self.total, dtype=np.int64)}
            margins = Margins(sizes=self.sizes, names=names, tables=alone)
        return exact_distribution(margins, self.model, self.alpha, known=self.known) or NO_FORM

    @cached_property
    def prior_distribution(self) -> ExactDistribution | Unavailable:
        """The distribution of the table before the likelihood, as a product over columns."""
        if isinstance(self.prior, LogLinearPrior):
            return self.model_distribution
        return ExactDistribution(
            system=self.system, prior=self.prior, n_cells=self.n_cells, log_constant=None
        )

    @cached_property
    def distribution(self) -> ExactDistribution | Unavailable:
        """The distribution with its likelihood, as a product over columns; or why it is none."""
        if self.likelihood is not None and not self.factors:
            return Unavailable("the publication's probability is no product over figures")
        if isinstance(self.prior, LogLinearPrior):
            if self.factors:
                return Unavailable("a log-linear distribution with rounded figures is not summed")
            return self.model_distribution
        if self.constraints is not None and not self.factors:
            return self.prior_distribution
        if self.total is None:
            return NO_TOTAL
        prior, statements = with_factors(self.prior, self.n_cells, self.statements, self.factors)
        system = system_of(len(prior.low), statements)
        return ExactDistribution(
            system=system, prior=prior, n_cells=self.n_cells, log_constant=None
        )


def _plain(statement: Statement) -> bool:
    return statement.coefficients is None or bool(np.all(statement.coefficients == 1))
