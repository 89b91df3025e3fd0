"""One set of statistics for each category of a multiway table (kadane 5), and all sets together.

Given its own set, a category's table tells nothing of the others, so that entropies add up and
probabilities multiply. That ends when margins are out as well. A table F of several categories
together gives the equations Σ_c f_cj = F_j. A set of several categories together gives Σ of their
n, S1 and exponents; where such sets and those of other categories leave one solution, the set of a
category that was withheld follows by subtraction. All of it is one system of equations in the
cells f_cj, and the distribution of independent counts weighs a solution by ∏ 1/f_cj!.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import gcd

import numpy as np

from discreet.belief.count_belief import Part, TableDistribution, mixed_distribution, mixture
from discreet.belief.draws.count_draws import estimated_distribution
from discreet.count_tables.equations import ReleasedSums, equations, number_statement
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort
from discreet.count_tables.statistics import CountStatistics, check_counts
from discreet.errors import InputError, must_be
from discreet.fiber.sums.counting import Count, count_tables
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.consistency import contradiction
from discreet.fiber.system.linear_system import Statement, System, system_of
from discreet.figures import How, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

PRIORS = ("multinomial", "uniform")


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """What is out of several categories together: a set (n, S1, S2), a whole table, or both."""

    categories: tuple[str, ...]
    statistics: CountStatistics | None = None
    table: Mapping[int, int] | None = None

    def __post_init__(self) -> None:
        if not self.categories or len(set(self.categories)) < len(self.categories):
            raise InputError(must_be("a margin", "of one or more categories, once each", "others"))
        if self.statistics is None and self.table is None:
            raise InputError(must_be("a margin", "a set of statistics or a table", "neither"))
        if self.table is not None:
            own = CountStatistics.of_counts(self.table)
            if self.statistics not in (None, own):
                rule = "one with the set given beside it"
                raise InputError(must_be("the table of a margin", rule, "one with another"))
            object.__setattr__(self, "table", check_counts(self.table))
            object.__setattr__(self, "statistics", own)

    @property
    def sums(self) -> CountStatistics:
        """The set, given or that of the table."""
        assert self.statistics is not None
        return self.statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Everything that is out as one system; cell c · `width` + j is f_j of category c.

    `known` are the sets of categories, those `derived` by subtraction among them. Categories that
    are `open` have no set of their own, even so.
    """

    categories: tuple[str, ...]
    width: int
    known: Mapping[str, CountStatistics]
    derived: tuple[str, ...]
    system: System = field(repr=False)

    @property
    def open(self) -> tuple[str, ...]:
        """Categories whose own set is not determined."""
        return tuple(name for name in self.categories if name not in self.known)

    def cells_of(self, truth: Mapping[str, Mapping[int, int]]) -> IntArray:
        """The true tables as cells; raises InputError where they are not those released."""
        _check_names(truth, self.categories, "true tables")
        cells = np.zeros((len(self.categories), self.width), dtype=np.int64)
        for number, name in enumerate(self.categories):
            if name not in truth:
                raise InputError(must_be(f"the true table of {name}", "given", "none"))
            for value, count in check_counts(truth[name]).items():
                if value < self.width:
                    cells[number, value] = count
        point = self.system.completed(cells.ravel())
        if not self.system.holds(point):
            _complain_of_truth(truth, self.known)
        return cells.ravel()


@dataclass(frozen=True, slots=True, kw_only=True)
class JointDistributions:
    """All categories' tables together: how many there are, and their distribution under each prior.

    Cell c · `width` + j is f_j of category c.
    """

    count: Count
    distributions: Mapping[str, TableDistribution | Unavailable]


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


def derived_sets(
    names: tuple[str, ...], sets: Mapping[str, CountStatistics], margins: Iterable[Margin]
) -> dict[str, CountStatistics]:
    """The sets of withheld categories that those given and the margins determine.

    n, S1 and every exponent add up in the same way, so a set follows where its category is a
    combination of what is out: w with wᵀ M = e_c for the matrix M of what holds which category.
    """
    given: list[tuple[tuple[str, ...], CountStatistics]] = []
    given += [((name,), one) for name, one in sets.items()]
    given += [(margin.categories, margin.sums) for margin in margins]
    follow = combinations_to_one(names, [held for held, _ in given])
    return {
        name: _combined(name, follow[name], [one for _, one in given])
        for name in names
        if name in follow and name not in sets
    }


def determined(names: tuple[str, ...], held: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The categories whose sets follow where the sets of these groups of categories are out."""
    return frozenset(combinations_to_one(names, list(held)))


def combinations_to_one(
    names: tuple[str, ...], groups: Sequence[tuple[str, ...]]
) -> dict[str, list[Fraction]]:
    """For each category that follows from sums over these groups, the weights of the groups.

    In the reduced echelon form of the groups' rows, a category that follows is a row with nothing
    else in it. Exact: a solver that rounds would call a category safe that follows with weights
    such as 1/7. Cost: groups² × (categories + groups).
    """
    n, done = len(names), 0
    work = [
        [int(name in group) for name in names] + [int(i == j) for j in range(len(groups))]
        for i, group in enumerate(groups)
    ]
    pivots: dict[int, int] = {}  # category to row
    for place in range(n):
        found = next((i for i in range(done, len(work)) if work[i][place]), None)
        if found is None:
            continue
        work[done], work[found] = work[found], work[done]
        for i in range(len(work)):
            if i != done and work[i][place]:
                work[i] = _cleared(work[i], work[done], place)
        pivots[place], done = done, done + 1
    return {
        names[place]: [Fraction(w, work[i][place]) for w in work[i][n:]]
        for place, i in pivots.items()
        if sum(map(bool, work[i][:n])) == 1
    }


def _cleared(row: list[int], pivot: list[int], place: int) -> list[int]:
    """The row with nothing at a place, by the pivot's row; in whole numbers without a divisor."""
    up, down = pivot[place], row[place]
    left = [up * x - down * y for x, y in zip(row, pivot, strict=True)]
    divisor = gcd(*left) or 1
    return [x // divisor for x in left]


def _combined(name: str, weights: list[Fraction], sets: list[CountStatistics]) -> CountStatistics:
    pairs = list(zip(weights, sets, strict=True))
    n, total = (sum(w * getattr(one, what) for w, one in pairs) for what in ("n", "total"))
    primes = {p for one in sets for p in one.factorisation}
    exponents = {p: sum(w * one.factorisation.get(p, 0) for w, one in pairs) for p in primes}
    whole = [Fraction(x) for x in (n, total, *exponents.values())]
    if any(x.denominator != 1 or x < 0 for x in whole) or n < 1:
        rule = "sets that leave whole numbers for the category withheld"
        raise InputError(must_be(f"what is out around {name}", rule, "sets that contradict it"))
    return CountStatistics(int(n), int(total), {p: int(e) for p, e in exponents.items()})


def joint_system(
    names: tuple[str, ...],
    sets: Mapping[str, CountStatistics],
    margins: Iterable[Margin] = (),
    knowledge: Mapping[str, Knowledge] | None = None,
) -> Joint:
    """All sets, margins and knowledge as one system of equations.

    Raises InputError where a category is in nothing that is out, or margins contradict sets.
    """
    margins, told = tuple(margins), knowledge or {}
    _check_names(told, names, "knowledge")
    _check_names(sets, names, "sets")
    for margin in margins:
        _check_names(dict.fromkeys(margin.categories), names, "margins")
    derived = derived_sets(names, sets, margins)
    known = {**sets, **derived}
    largest = {name: _largest(name, known, margins) for name in names}
    width = 1 + max(largest.values())
    statements: list[Statement] = []
    for number, name in enumerate(names):
        known_of = told.get(name) or Knowledge()
        statements += _statements(number * width, width, known.get(name), known_of, largest[name])
    for margin in margins:
        statements += _margin_statements(margin, names, known, width)
    system = system_of(width * len(names), statements)
    return Joint(categories=names, width=width, known=known, derived=tuple(derived), system=system)


def _largest(name: str, known: Mapping[str, CountStatistics], margins: tuple[Margin, ...]) -> int:
    """The largest value that a category can have, from its set and every margin that holds it."""
    limits = [ReleasedSums.of(known[name]).largest_value] if name in known else []
    for margin in margins:
        if name in margin.categories:
            own = ReleasedSums.of(margin.sums).largest_value
            limits.append(own if margin.table is None else min(own, max(margin.table)))
    if not limits:
        rule = "each in a set or in a margin that is out"
        raise InputError(must_be("categories", rule, f"{name!r} in none"))
    return min(limits)


def _statements(
    first: int,
    width: int,
    statistics: CountStatistics | None,
    knowledge: Knowledge,
    largest: int,
) -> list[Statement]:
    if knowledge.shape is not None:
        raise InputError(must_be("knowledge of categories", "without shapes", knowledge.shape))
    if knowledge.largest_range is not None:
        largest = min(largest, knowledge.largest_range[1])
    own = knowledge.statements(largest)
    found = [replace(statement, cells=statement.cells + first) for statement in own]
    if statistics is not None:
        found += equations(ReleasedSums.of(statistics), largest, first_cell=first)
        found.append(number_statement(largest, statistics.n, statistics.n, first_cell=first))
    beyond = range(largest + 1, width)
    return [*found, *(_sum(np.array([first + j]), 0, f"f{j}") for j in beyond)]


def _margin_statements(
    margin: Margin, names: tuple[str, ...], known: Mapping[str, CountStatistics], width: int
) -> list[Statement]:
    """The equations of a margin: its set less the known ones, and each count of its table."""
    held = tuple(name for name in names if name in margin.categories)
    settled = {name: known[name] for name in held if name in known}
    left = tuple(name for name in held if name not in known)
    words = "+".join(held)
    if not left and together(settled) != margin.sums:
        rule = "one with the n, S1 and S2 of its categories together"
        raise InputError(must_be(f"the margin {words}", rule, "one with others"))
    offsets = width * np.array([names.index(name) for name in held])
    found: list[Statement] = []
    if left:
        rest = withheld_category(settled, margin.sums) if settled else margin.sums
        found += _shared(rest, tuple(width * names.index(name) for name in left), width)
    if margin.table is not None:
        counts = margin.table
        if max(counts) >= width:
            rule = f"of values up to {width - 1}, the largest that a category's set allows"
            raise InputError(must_be(f"the table of {words}", rule, max(counts)))
        found += [
            _sum(offsets + j, counts.get(j, 0), f"all of {words} with value {j}")
            for j in range(width)
        ]
    return found


def _shared(rest: CountStatistics, offsets: tuple[int, ...], width: int) -> list[Statement]:
    """A set's equations over the cells of several categories at once, and no values beyond it."""
    largest = min(width - 1, ReleasedSums.of(rest).largest_value)
    own = [
        *equations(ReleasedSums.of(rest), largest),
        number_statement(largest, rest.n, rest.n),
    ]
    shared = [
        replace(
            one,
            cells=np.concatenate([one.cells + offset for offset in offsets]),
            coefficients=np.tile(_coefficients(one), len(offsets)),
        )
        for one in own
    ]
    beyond = range(largest + 1, width)
    return shared + [_sum(np.array([o + j]), 0, f"f{j}") for o in offsets for j in beyond]


def _coefficients(statement: Statement) -> IntArray:
    if statement.coefficients is None:
        return np.ones(len(statement.cells), dtype=np.int64)
    return statement.coefficients


def _sum(cells: IntArray, total: int, name: str) -> Statement:
    return Statement(cells=cells, low=total, high=total, name=name)


def joint_distributions(
    system: System, truth: IntArray | None, effort: Effort, *, progress: Progress = silent
) -> JointDistributions:
    """Number and distribution of all tables of a system: exact, else from draws, else why neither.

    Raises InputError where there is none, naming what disagrees.
    """
    count = count_tables(
        system,
        budget=effort.budget(),
        algebra=False,
        rng=effort.rng,
        n_draws=effort.n_draws,
        progress=progress,
    )
    if count.value == 0 and count.how is How.EXACT:
        raise contradiction(system, time_limit=5.0)
    failed = "" if count.how is How.EXACT else count.note.partition(";")[0]
    distributions: dict[str, TableDistribution | Unavailable] = {}
    for prior in PRIORS:
        distributions[prior] = _distribution(system, prior, truth, effort, failed)
    return JointDistributions(count=count, distributions=distributions)


def _distribution(
    system: System, prior: str, truth: IntArray | None, effort: Effort, failed: str
) -> TableDistribution | Unavailable:
    drawn = partial(_drawn_distribution, system, prior, truth, effort)
    if failed:
        return drawn(failed)
    try:
        mixed = mixture([Part(system=system)], prior, budget=effort.budget())
        return mixed_distribution(mixed, truth=truth, budget=effort.budget())
    except BudgetExceeded as ended:
        return drawn(f"exact: {ended}")


def _drawn_distribution(
    system: System, prior: str, truth: IntArray | None, effort: Effort, tried: str
) -> TableDistribution | Unavailable:
    if effort.rng is None:
        return Unavailable(f"{tried}; no draws asked for")
    found = estimated_distribution(
        system,
        prior,
        n_draws=effort.n_draws,
        rng=effort.rng,
        truth=truth,
        time_limit=effort.seconds_for_a_step,
    )
    if isinstance(found, Unavailable):
        return Unavailable(f"{tried}; estimate: {found.reason}")
    return replace(found, note=f"{tried}; {found.note}")


def _complain_of_truth(
    truth: Mapping[str, Mapping[int, int]], known: Mapping[str, CountStatistics]
) -> None:
    rule = "one with the released statistics"
    for name, one in known.items():
        if CountStatistics.of_counts(truth[name]) != one:
            raise InputError(must_be(f"the true table of {name}", rule, "another"))
    raise InputError(must_be("true tables", "those of the margins and the knowledge", "others"))


def _check_names(given: Mapping[str, object], names: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in names:
            raise InputError(must_be(what, f"of categories {', '.join(names)}", repr(name)))
