"""One set of statistics for each category of a multiway table (kadane 5), and all sets together.

Given its own set, a category's table tells nothing of the others, so that entropies add up and
probabilities multiply. That ends when totals over categories are out as well: a table F of all
categories together gives the equations Σ_c f_cj = F_j, and a set for all categories but one gives
away the set of that one by subtraction.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.compoisson.equations import Sums, equations, number_statement
from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.laws import Part, TableLaw, exact_law, mixture
from discreet.compoisson.snooper import Effort, snooper
from discreet.compoisson.statistics import CountStatistics, check_counts
from discreet.data.arrays import IntArray
from discreet.errors import InputError, must_be
from discreet.fiber.consistency import contradiction
from discreet.fiber.counting import Count, count_tables
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system import Statement, System, system_of
from discreet.figures import How, Unavailable

PRIORS = ("multinomial", "uniform")


@dataclass(frozen=True, slots=True, kw_only=True)
class JointLaws:
    """All categories' tables together: how many there are, and their law under each prior.

    Cell c · `width` + j is f_j of category c.
    """

    count: Count
    laws: Mapping[str, TableLaw | Unavailable]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointReconstruction:
    """What a snooper finds from one set a category, and with the table of all together beside it.

    `with_totals` is None where no such table is out.
    """

    categories: tuple[str, ...]
    width: int
    sets_alone: JointLaws
    with_totals: JointLaws | None

    def cell(self, category: str, value: int) -> int:
        """The number of the cell f_value of a category."""
        return self.categories.index(category) * self.width + value


def together(categories: Mapping[str, CountStatistics]) -> CountStatistics:
    """The statistics of all categories' observations together: n, S1 and S2 add up."""
    if not categories:
        raise InputError(must_be("categories", "at least one", "none"))
    exponents: Counter[int] = Counter()
    for one in categories.values():
        exponents.update(one.factorisation)
    n = sum(one.n for one in categories.values())
    return CountStatistics(n, sum(one.total for one in categories.values()), exponents)


def withheld_category(
    categories: Mapping[str, CountStatistics], overall: CountStatistics
) -> CountStatistics:
    """The set of the one category that was withheld, by subtraction from the set of all.

    Raises InputError where there is nothing left for it, or what is left are no statistics.
    """
    known = together(categories)
    if overall.n <= known.n:
        rule = f"above {known.n}, the n of the categories that are out"
        raise InputError(must_be("n of all together", rule, overall.n))
    left = {
        p: overall.factorisation.get(p, 0) - known.factorisation.get(p, 0)
        for p in {*overall.factorisation, *known.factorisation}
    }
    return CountStatistics(overall.n - known.n, overall.total - known.total, left)


def reconstruct_categories(
    categories: Mapping[str, CountStatistics],
    *,
    totals: Mapping[int, int] | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
    truth: Mapping[str, Mapping[int, int]] | None = None,
    effort: Effort | None = None,
) -> JointReconstruction:
    """What a snooper finds of all categories' tables from one set each, and with `totals`.

    `totals` is the table {value: count} of all categories together. `knowledge` is that of each
    category, shapes excepted. Raises InputError where totals and sets contradict one another.
    """
    effort, names = effort or Effort(), tuple(categories)
    known = knowledge or {}
    _check_names(known, names, "knowledge")
    width = 1 + max(snooper(one, known.get(name)).largest for name, one in categories.items())
    statements = [
        statement
        for number, (name, one) in enumerate(categories.items())
        for statement in _statements(number * width, width, one, known.get(name) or Knowledge())
    ]
    cells = None if truth is None else _cells(truth, categories, width)
    n_cells = width * len(names)
    alone = _laws(system_of(n_cells, statements), cells, effort)
    with_totals = None
    if totals is not None:
        statements += _total_statements(check_counts(totals), categories, width)
        with_totals = _laws(system_of(n_cells, statements), cells, effort)
    return JointReconstruction(
        categories=names, width=width, sets_alone=alone, with_totals=with_totals
    )


def _statements(
    first: int, width: int, statistics: CountStatistics, knowledge: Knowledge
) -> list[Statement]:
    if knowledge.shape is not None:
        raise InputError(must_be("knowledge of categories", "without shapes", knowledge.shape))
    problem = snooper(statistics, knowledge)
    own = knowledge.statements(problem.largest)
    moved = [replace(statement, cells=statement.cells + first) for statement in own]
    found = equations(Sums.of(statistics), problem.largest, first_cell=first) + moved
    number = number_statement(problem.largest, statistics.n, statistics.n, first_cell=first)
    beyond = range(problem.largest + 1, width)
    return [*found, number, *(_sum(np.array([first + j]), 0, f"f{j}") for j in beyond)]


def _total_statements(
    totals: Mapping[int, int], categories: Mapping[str, CountStatistics], width: int
) -> list[Statement]:
    if CountStatistics.of_counts(totals) != together(categories):
        rule = "a table with the n, S1 and S2 of all categories together"
        raise InputError(must_be("totals", rule, "one with others"))
    if max(totals) >= width:
        rule = f"of values up to {width - 1}, the largest that a category's set allows"
        raise InputError(must_be("totals", rule, max(totals)))
    offsets = width * np.arange(len(categories))
    return [_sum(offsets + j, totals.get(j, 0), f"all with value {j}") for j in range(width)]


def _sum(cells: IntArray, total: int, name: str) -> Statement:
    return Statement(cells=cells, low=total, high=total, name=name)


def _laws(system: System, truth: IntArray | None, effort: Effort) -> JointLaws:
    count = count_tables(system, budget=effort.budget(), algebra=False)
    if count.value == 0 and count.how is How.EXACT:
        raise contradiction(system, time_limit=5.0)
    return JointLaws(
        count=count, laws={prior: _law(system, prior, truth, effort) for prior in PRIORS}
    )


def _law(
    system: System, prior: str, truth: IntArray | None, effort: Effort
) -> TableLaw | Unavailable:
    try:
        mixed = mixture([Part(system=system)], prior, budget=effort.budget())
        return exact_law(mixed, truth=truth, budget=effort.budget())
    except BudgetExceeded as ended:
        return Unavailable(str(ended))


def _cells(
    truth: Mapping[str, Mapping[int, int]], categories: Mapping[str, CountStatistics], width: int
) -> IntArray:
    _check_names(truth, tuple(categories), "true tables")
    cells = np.zeros((len(categories), width), dtype=np.int64)
    for number, (name, statistics) in enumerate(categories.items()):
        if name not in truth or CountStatistics.of_counts(truth[name]) != statistics:
            rule = "one with the released statistics"
            raise InputError(must_be(f"the true table of {name}", rule, "another or none"))
        for value, count in check_counts(truth[name]).items():
            cells[number, value] = count
    return cells.ravel()


def _check_names(given: Mapping[str, object], names: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in names:
            raise InputError(must_be(what, f"of categories {', '.join(names)}", repr(name)))
