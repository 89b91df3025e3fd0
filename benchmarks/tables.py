"""What the posterior of a hidden table costs: exact against simulated, and by size of the table."""

from itertools import combinations
from time import perf_counter

import numpy as np

from discreet.fiber.margins import margins_of
from discreet.tables.augmentation import Effort
from discreet.tables.exact_law import exact_law
from discreet.tables.generators import HierarchicalModel, models_containing
from discreet.tables.posterior import Question, TablePosterior, table_posterior
from discreet.tables.time_shares import Clock
from discreet.tables.weighted_law import weighted_law

CENSUS = np.array(
    [[96, 72, 161], [10, 7, 6], [1, 1, 2], [186, 127, 51], [11, 7, 3], [0, 1, 0]]
).reshape(2, 3, 3)
RELEASED = [(1, 2), (0, 2)]


def run(scale: float) -> None:
    """Prints seconds for each model of the census example, and draws a second by size."""
    print("census example; the paper burned in 1,000,000 steps for 500 draws, 1,000 steps apart")
    n_draws = max(100, round(1000 * scale))
    for model in models_containing(3, RELEASED):
        margins = margins_of(CENSUS, RELEASED)
        question = Question(
            margins=margins,
            cells=np.arange(18),
            alpha=np.full(CENSUS.shape, 0.5),
            truth=CENSUS,
            effort=Effort(n_draws=n_draws),
        )
        start = perf_counter()
        found = table_posterior(question, model, rng=np.random.default_rng(1))
        took = perf_counter() - start
        assert isinstance(found, TablePosterior)
        print(f"  {model.name(('gender', 'race', 'income'))}: {took:.2f} s, {found.method}")
    print("weighted draws under all two-way margins, multinomial law")
    for n_variables in (3, 4, 5, 6):
        size_row(n_variables)


def size_row(n_variables: int) -> None:
    """Effective draws a second of a table of 2^n cells."""
    rng = np.random.default_rng(n_variables)
    table = rng.poisson(20, size=(2,) * n_variables)
    pairs = list(combinations(range(n_variables), 2))
    margins, model = margins_of(table, pairs), HierarchicalModel.of(n_variables, pairs)
    law = exact_law(margins, model, np.full(table.shape, 0.5))
    assert law is not None
    start = perf_counter()
    drawn = weighted_law(law, margins=margins, clock=Clock(5.0), rng=rng)
    took = perf_counter() - start
    worth = getattr(drawn, "effective_draws", 0.0)
    print(f"  {table.size} cells: {worth / took:,.0f} effective draws a second")


if __name__ == "__main__":
    run(1.0)
