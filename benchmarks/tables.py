"""What the posterior of a hidden table costs: exact against simulated, and by size of the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from typing import TypeVar

import numpy as np

from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.draws.augmentation import Effort
from discreet.belief.draws.data_augmentation import simulated
from discreet.belief.draws.weighted_draws import weighted_belief
from discreet.belief.exact.exact_distribution import exact_distribution
from discreet.belief.exact.matched_distribution import matched_distribution
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel, models_containing
from discreet.belief.posterior import LIMITS, Question, TablePosterior, table_posterior
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.fiber.system.margins import margins_of
from discreet.figures import Unavailable
from discreet.progress import silent
from discreet.tables.release import released

NAMES = ("gender", "race", "income")
CENSUS = np.array(
    [[96, 72, 161], [10, 7, 6], [1, 1, 2], [186, 127, 51], [11, 7, 3], [0, 1, 0]]
).reshape(2, 3, 3)
RELEASED = [(1, 2), (0, 2)]
SMALL = np.flatnonzero((CENSUS.ravel() > 0) & (CENSUS.ravel() <= 2))
PAPER_DRAWS = 500
ROUNDING = (
    1e-9  # standard errors below it are none: the distribution given any draw is the exact one
)
SECONDS = 8.0  # for the posterior of one table
Distribution = Mapping[int, float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timed:
    """The distributions of the small cells, their standard errors, and what they took."""

    method: str
    seconds: float
    distributions: Sequence[Distribution]
    errors: Sequence[Distribution]

    @property
    def effective_draws(self) -> float:
        """Independent draws that would have the same standard errors: the median of p(1 − p)/s²."""
        worth = [
            p * (1 - p) / errors[q] ** 2
            for distribution, errors in zip(self.distributions, self.errors, strict=True)
            for q, p in distribution.items()
            if errors.get(q, 0.0) > 0
        ]
        return float(np.median(worth)) if worth else 0.0


def run(scale: float) -> None:
    """Prints exact against simulated on the census example, then cost by number of cells."""
    warm_up()
    n_draws = max(100, round(1000 * scale))
    print("\ncensus example, 59,400 consistent tables, distributions of its 4 small cells")
    print("  the paper burned in 1,000,000 steps for 500 draws, 1,000 steps apart")
    print(f"  {'':<52}{'seconds':>9}{'error':>8}{'stated':>8}{'draws/s':>9}{'as paper':>10}")
    for model in models_containing(3, RELEASED):
        print(f"  {model.name(NAMES)}")
        census_rows(model, n_draws)
    print(
        "  error: greatest distance from the exact distribution; stated: greatest standard error;"
    )
    print("  draws/s: effective; as paper: seconds for the worth of its 500 draws")
    print("\nall two-way margins of 2^k cells, mean count 20, eight cells asked for")
    print("             effective weighted")
    print("                draws a second   what an audit does in 8 s")
    for n_variables in range(3, 7):
        drawn_row(n_variables)
    print("\nnamed small cells of 2^k cells, 5,000 persons, three-way margins in a chain, exact")
    for n_variables in (8, 16, 28, 53):
        named_row(n_variables)


def warm_up() -> None:
    """Compiles what is compiled on first use."""
    for model in models_containing(3, RELEASED):
        table_posterior(census_question(100, model), rng=np.random.default_rng(0))


def census_question(n_draws: int, model: HierarchicalModel) -> Question:
    return Question(
        prior=LogLinearPrior(model),
        margins=margins_of(CENSUS, RELEASED),
        cells=SMALL,
        limits=LIMITS,
        truth=CENSUS,
        effort=Effort(n_draws=n_draws),
    )


def census_rows(model: HierarchicalModel, n_draws: int) -> None:
    """The model by each way that there is, against its exact distribution where that is known."""
    question, rng = census_question(n_draws, model), np.random.default_rng(1)
    found, took = timed(lambda: table_posterior(question, rng=rng))
    assert isinstance(found, TablePosterior)
    first = Timed(found.method, took, found.distributions, found.errors)
    exact = first.distributions if found.how.value == "exact" else None
    if exact is not None:
        print_row(first, exact)
    augmented, took = timed(lambda: simulated(question, Clock(None), rng, silent))
    assert isinstance(augmented, TablePosterior)
    print_row(Timed(augmented.method, took, augmented.distributions, augmented.errors), exact)
    if exact is not None:
        print_row(weighted(question, rng), exact)


def weighted(question: Question, rng: np.random.Generator) -> Timed:
    distribution = question.model_distribution
    assert not isinstance(distribution, Unavailable)
    margins = question.margins if distribution.system.n_named == distribution.n_cells else None
    drawn, took = timed(
        lambda: weighted_belief(distribution, margins=margins, clock=Clock(5.0), rng=rng)
    )
    assert isinstance(drawn, DrawnBelief)
    distributions = [drawn.cell(int(cell)) for cell in SMALL]
    errors = [drawn.cell_error(int(cell)) for cell in SMALL]
    return Timed(f"{len(drawn.tables):,} weighted draws", took, distributions, errors)


def print_row(row: Timed, exact: Sequence[Distribution] | None) -> None:
    stated = max(max(errors.values()) for errors in row.errors)
    apart = "" if exact is None else f"{distance(row.distributions, exact):.4f}"
    rate = row.effective_draws / row.seconds
    shown = f"{stated:>8.4f}{rate:>9,.0f}{PAPER_DRAWS / rate:>10.2f}" if stated > ROUNDING else ""
    print(f"    {short(row.method):<50}{row.seconds:>9.2f}{apart:>8}{shown}", flush=True)


def short(method: str) -> str:
    """The first part of how it was got."""
    return method.partition(", tables")[0][:49]


def distance(distributions: Sequence[Distribution], exact: Sequence[Distribution]) -> float:
    """The greatest difference of a probability."""
    pairs = zip(distributions, exact, strict=True)
    return max(abs(a.get(q, 0.0) - b.get(q, 0.0)) for a, b in pairs for q in {*a, *b})


def drawn_row(n_variables: int) -> None:
    """Effective draws a second of a table of 2^k cells: weighted draws, and what an audit does."""
    rng = np.random.default_rng(n_variables)
    table = rng.poisson(20, size=(2,) * n_variables)
    pairs = list(combinations(range(n_variables), 2))
    margins, model = margins_of(table, pairs), HierarchicalModel.of(n_variables, pairs)
    alpha = np.full(table.shape, 0.5)
    distribution = exact_distribution(margins, model, alpha)
    assert distribution is not None
    drawn, took = timed(
        lambda: weighted_belief(distribution, margins=margins, clock=Clock(5.0), rng=rng)
    )
    rate = getattr(drawn, "effective_draws", 0.0) / took
    effort = Effort(n_draws=1000, seconds=SECONDS)
    question = Question(
        prior=LogLinearPrior(model),
        margins=margins,
        cells=np.arange(8),
        effort=effort,
        limits=LIMITS,
    )
    found, took = timed(lambda: table_posterior(question, rng=rng))
    print(f"  {table.size:>4} cells{rate:>20,.0f}   {used(found, took)}", flush=True)


def used(found: TablePosterior | Unavailable, took: float) -> str:
    """What an audit got in which time."""
    if isinstance(found, Unavailable):
        return f"{took:.1f} s: {found.reason}"
    worth = Timed(found.method, took, found.distributions, found.errors).effective_draws
    rate = f"{worth / took:,.0f} effective draws/s, " if worth else ""
    return f"{took:.1f} s: {rate}{found.method.partition(';')[0]}"


def named_row(n_variables: int) -> None:
    """Milliseconds for the exact distribution of a named cell, the table never being built."""
    table = sparse_table(n_variables, 5000)
    chain = [table.names[i : i + 3] for i in range(n_variables - 2)]
    out = released(table, chain)
    distribution = matched_distribution(out.margins, HierarchicalModel.of(n_variables, out.sets))
    assert distribution is not None
    rows = table.small_cells(2)[:100]
    _, took = timed(lambda: distribution.cells(rows))
    cost = 1000 * took / len(rows)
    print(f"  2^{n_variables:<3} cells: {cost:>6.1f} ms a cell, {len(rows)} cells", flush=True)


def sparse_table(n_variables: int, n_persons: int) -> Table:
    """Persons whose answers hang on a hidden class of four."""
    rng = np.random.default_rng(n_variables)
    shares = rng.uniform(0.1, 0.9, size=(4, n_variables))
    answers = rng.random((n_persons, n_variables)) < shares[rng.integers(0, 4, n_persons)]
    cells, counts = np.unique(answers.astype(np.int64), axis=0, return_counts=True)
    return Table(
        names=tuple(f"v{i}" for i in range(n_variables)),
        levels=(("no", "yes"),) * n_variables,
        cells=cells,
        counts=np.asarray(counts, dtype=np.int64),
    )


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the seconds it took."""
    start = perf_counter()
    found = work()
    return found, perf_counter() - start


if __name__ == "__main__":
    run(1.0)
