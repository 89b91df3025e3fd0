"""What an intruder can rebuild of a count table from the statistics (kadane 3), and from knowledge.

Theorem 1 of the paper says that all tables with the same statistics are equally probable. That is
true of ordered observations; a table f stands for n!/∏ f_j! orders of them, so that

    P(f | n, S1, S2)  ∝  1 / ∏ f_j!        (prior `multinomial`, the default)

`uniform` is the paper's distribution. Where n is withheld, `multinomial` needs an assumption on how
probable each n is (`withheld_number`), which is part of the result. Without a range for n the
number of zeros is not identified at all; then f_0 is left out and the same is assumed of the number
of observations above zero."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.belief.count_belief import (
    Mixture,
    Part,
    TableDistribution,
    mixed_distribution,
    mixture,
    prior_named,
)
from discreet.belief.draws.count_draws import descending, estimated_distribution, listed
from discreet.clock import working_seconds
from discreet.count_tables.equations import ReleasedSums, equations, number_statement, written
from discreet.count_tables.knowledge import Knowledge, ShapeCase, shape_cases, with_order
from discreet.count_tables.statistics import CountStatistics, check_counts
from discreet.count_tables.withheld_number import (
    Numbers,
    check_number_prior,
    number_weights,
    numbers_of,
)
from discreet.errors import InputError, must_be
from discreet.fiber.bounds.contract import Bounds
from discreet.fiber.sums.counting import Count, count_exactly
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.figures import How, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

MOST_NUMBERS = 2000  # values of n in a range that are looked at one by one
N_DRAWS = 4000
NAMING_SECONDS = 5.0
MOST_AT_ONCE = 200_000  # tables listed together rather than one by one
LEAST_SECONDS = 0.01  # that a step is given when time is up


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a question may cost: exact work within `budget`, then draws if `rng` is given.

    `seconds` are for each step of the work; all steps end before `until`, a time of
    `working_seconds`.
    `number_prior` is what is assumed of n where it is withheld.
    """

    states: int = 4_000_000
    steps: int = 2_000_000_000
    seconds: float | None = None
    n_draws: int = N_DRAWS
    rng: np.random.Generator | None = None
    until: float | None = None
    number_prior: str = "equal"

    def __post_init__(self) -> None:
        check_number_prior(self.number_prior)

    @property
    def seconds_for_a_step(self) -> float | None:
        """What the next step may take: at most half of what is left, so that others follow."""
        if self.until is None:
            return self.seconds
        half = max((self.until - working_seconds()) / 2, LEAST_SECONDS)
        return float(f"{half if self.seconds is None else min(self.seconds, half):.2g}")

    def budget(self) -> Budget:
        """A budget whose clock starts now, and stands still while code is compiled.

        Not all of the time of a step: the clock is looked at between layers, which take their own.
        """
        left = self.seconds_for_a_step
        seconds = None if left is None else 0.6 * left
        return Budget(states=self.states, steps=self.steps, seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenCounts:
    """Someone with the statistics and some knowledge, who looks for the table.

    Cell j is f_j, for j = 0 … `largest`. Where `zeros_unknown`, cell 0 says nothing and stays 0.
    `parts` exclude one another and together hold all tables.
    """

    sums: ReleasedSums
    knowledge: Knowledge
    largest: int
    statements: tuple[Statement, ...]
    parts: tuple[Part, ...] = field(repr=False)
    setting: "_Setting" = field(repr=False)

    @property
    def parts_by_number(self) -> tuple[Part, ...] | Unavailable:
        """The same tables with a part for each n; made when asked for, since they may be many."""
        low, high = _numbers(self.sums, self.knowledge)
        return self.parts if low == high else self.setting.parts_by_number(low, high)

    @property
    def zeros_unknown(self) -> bool:
        """Is the number of zeros beyond all telling?"""
        return self.sums.n is None and self.knowledge.n is None

    @property
    def first_value(self) -> int:
        """The least value whose count is looked for."""
        return int(self.zeros_unknown)

    def numbers(
        self, distribution: TableDistribution | Unavailable | None, prior: str = "equal"
    ) -> Numbers | None:
        """The range of n or of the observations above zero; None where n is out."""
        if self.sums.n is not None:
            return None
        exact = isinstance(distribution, TableDistribution) and distribution.how is How.EXACT
        shares = (
            distribution.groups if exact and isinstance(distribution, TableDistribution) else None
        )
        limits = _numbers(self.sums, self.knowledge)
        known = self.knowledge.n is not None
        return numbers_of(shares, limits, n_has_range=known, prior=prior)

    @property
    def n_cells(self) -> int:
        """Cells of the tables looked for."""
        return self.largest + 1

    def equations(self) -> tuple[str, ...]:
        """The equations and limits, as people write them."""
        return tuple(written(statement) for statement in self.statements)

    def count(
        self, effort: Effort | None = None, *, draw: bool = True, progress: Progress = silent
    ) -> Count:
        """How many tables there are: exact, else estimated from draws, else why neither."""
        effort = effort or Effort()
        total, budget = 0, effort.budget()
        try:
            for part in self.parts:
                total += number_of_tables(part, budget, progress)
            return Count(value=total, how=How.EXACT, at_least=total)
        except BudgetExceeded as ended:
            tried, least = f"exact: {ended}", total + ended.at_least
            if not draw:
                return Count(value=None, how=None, note=tried, at_least=least)
            return self._estimated_count(effort, tried, least)

    def _estimated_count(self, effort: Effort, tried: str, at_least: int) -> Count:
        drawn = self._drawn_count(effort)
        if isinstance(drawn, Count):
            return replace(drawn, note=f"{tried}; {drawn.note}", at_least=at_least)
        note = f"{tried}; estimate: {drawn.reason}"
        return Count(value=None, how=None, note=note, at_least=at_least)

    def _drawn_count(self, effort: Effort) -> Count | Unavailable:
        if effort.rng is None or len(self.parts) > 1:
            return Unavailable("no draws asked for" if effort.rng is None else "several cases")
        from discreet.fiber.draws.sequential import estimate_count

        turned = descending(self.parts[0].system)
        seconds = effort.seconds_for_a_step
        found = estimate_count(turned, n_draws=effort.n_draws, rng=effort.rng, time_limit=seconds)
        if isinstance(found, Unavailable):
            return found
        error = float(found.standard_error)
        return Count(
            value=round(found.value), how=How.ESTIMATE, standard_error=error, note=found.note
        )

    def tables(self, *, limit: int | None = None) -> Iterator[IntArray]:
        """All tables one by one, found as they are asked for."""
        left = limit
        for part in self.parts:
            for table in tables_of(part, left):
                left = None if left is None else left - 1
                yield table
            if left == 0:
                return

    def bounds(self, *, time_limit: float | None = None, progress: Progress = silent) -> Bounds:
        """The least and the greatest count of each cell over all tables."""
        from discreet.fiber.bounds.cell_bounds import bounds

        found = []
        for part in self._inhabited():
            lines = part.lines()
            if lines is None:
                found.append(bounds(part.system, time_limit=time_limit, progress=progress))
            else:
                found.append(lines.bounds)
        return _hull(found)

    def _inhabited(self) -> Iterator[Part]:
        """Parts that hold a table, or may; a single part is taken to."""
        for part in self.parts:
            lines = part.lines()
            if lines is not None:
                inhabited = lines.n_tables > 0
            else:
                inhabited = len(self.parts) == 1 or any(True for _ in tables_of(part, 1))
            if inhabited:
                yield part

    def mixture(
        self, prior: str = "multinomial", effort: Effort | None = None, progress: Progress = silent
    ) -> Mixture:
        """The exact distribution of the table. Raises BudgetExceeded where that does not fit."""
        parts = self.parts if prior == "uniform" else self.parts_by_number
        if isinstance(parts, Unavailable):
            raise BudgetExceeded(parts.reason)
        effort = effort or Effort()
        several = prior != "uniform" and self.sums.n is None
        return mixture(
            parts,
            prior,
            equal_groups=several,
            group_weights=self._number_weights(parts, effort) if several else None,
            budget=effort.budget(),
            progress=progress,
        )

    def _number_weights(self, parts: tuple[Part, ...], effort: Effort) -> dict[str, float]:
        return number_weights({part.group: int(part.group) for part in parts}, effort.number_prior)

    def distribution(
        self,
        prior: str = "multinomial",
        *,
        truth: Mapping[int, int] | None = None,
        effort: Effort | None = None,
        failed: str = "",
        progress: Progress = silent,
    ) -> TableDistribution | Unavailable:
        """The distribution of the table and its cells: exact, else estimated from draws, else why
        neither.

        `truth` is the holder's table, to be scored; it must have the statistics. `failed` says why
        an exact answer is known not to fit, so that none is tried.
        """
        effort, prior = effort or Effort(), prior_named(prior).name
        cells = None if truth is None else self.cells_of(truth)
        found = self._distribution(prior, cells, effort, failed, progress)
        if isinstance(found, Unavailable):
            return found
        return replace(found, first_value=self.first_value)

    def _distribution(
        self, prior: str, cells: IntArray | None, effort: Effort, failed: str, progress: Progress
    ) -> TableDistribution | Unavailable:
        if failed:
            return self._estimated_distribution(prior, cells, effort, failed, progress)
        try:
            mixed = self.mixture(prior, effort, progress)
            return mixed_distribution(mixed, truth=cells, budget=effort.budget(), progress=progress)
        except BudgetExceeded as ended:
            return self._estimated_distribution(prior, cells, effort, f"exact: {ended}", progress)

    def _estimated_distribution(
        self,
        prior: str,
        truth: IntArray | None,
        effort: Effort,
        tried: str,
        progress: Progress,
    ) -> TableDistribution | Unavailable:
        parts = self.parts if prior == "uniform" else self.parts_by_number
        if effort.rng is None:
            return Unavailable(f"{tried}; no draws asked for")
        if isinstance(parts, Unavailable) or len(parts) > 1:
            return Unavailable(f"{tried}; draws are made for one case only")
        found = estimated_distribution(
            parts[0].system,
            prior,
            n_draws=effort.n_draws,
            rng=effort.rng,
            truth=truth,
            time_limit=effort.seconds_for_a_step,
            progress=progress,
        )
        if isinstance(found, Unavailable):
            return Unavailable(f"{tried}; estimate: {found.reason}")
        return replace(found, note=f"{tried}; {found.note}")

    def draws(
        self,
        n_draws: int,
        *,
        rng: np.random.Generator,
        prior: str = "multinomial",
        effort: Effort | None = None,
    ) -> IntArray:
        """Independent tables (draws × cells) from the exact distribution."""
        if n_draws < 1:
            raise InputError(must_be("n_draws", "at least 1", n_draws))
        effort = effort or Effort()
        return self.mixture(prior, effort).draw(n_draws, rng=rng, budget=effort.budget())

    def cells_of(self, table: Mapping[int, int]) -> IntArray:
        """The holder's table as cells; raises InputError where it has other statistics."""
        counts = check_counts(table)
        own = CountStatistics.of_counts(counts)
        same = (own.total, own.factorisation) == (self.sums.total, self.sums.factorisation)
        if not same or self.sums.n not in (None, own.n):
            rule = "one with the released statistics"
            raise InputError(must_be("the true table", rule, "one with others"))
        cells = np.zeros(self.n_cells, dtype=np.int64)
        for value, count in counts.items():
            if value > self.largest:
                rule = f"of values up to {self.largest}, as is known"
                raise InputError(must_be("the true table", rule, "one that contradicts this"))
            cells[value] = 0 if self.zeros_unknown and value == 0 else count
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """All that an intruder finds: number of tables, bounds, and the distribution under each prior.

    Where `zeros_unknown`, counts begin at `first_value` 1 and what cell 0 holds means nothing.
    `numbers` is the range of n where it is withheld; `assumptions` are what `multinomial` rests on
    beside the statistics.
    """

    equations: tuple[str, ...]
    next_prime: int
    largest: int
    zeros_unknown: bool
    knowledge: tuple[str, ...]
    count: Count
    bounds: Bounds
    distributions: Mapping[str, TableDistribution | Unavailable]
    numbers: Numbers | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def first_value(self) -> int:
        """The least value whose count is looked for."""
        return int(self.zeros_unknown)


def hidden_counts(
    released: ReleasedSums | CountStatistics, knowledge: Knowledge | None = None
) -> HiddenCounts:
    """The intruder's problem: equations, limits and orders of the cells.

    Raises InputError where the statistics, or what is known, contradict one another as far as that
    is seen without a search; `reconstruct` says it of the rest.
    """
    sums = released if isinstance(released, ReleasedSums) else ReleasedSums.of(released)
    knowledge = knowledge or Knowledge()
    if sums.n is not None and knowledge.n is not None:
        _check_number(sums.n, knowledge.n)
        knowledge = replace(knowledge, n=None)
    largest = sums.largest_value
    if knowledge.largest_range is not None:
        largest = min(largest, knowledge.largest_range[1])
    statements = _statements(sums, knowledge, largest)
    first = knowledge.first_ordered(sums.n is not None or knowledge.n is not None)
    cases = tuple(shape_cases(knowledge, first, largest))
    setting = _Setting(tuple(statements), largest, cases)
    numbers = _numbers(sums, knowledge)
    parts = tuple(setting.parts(*numbers))
    return HiddenCounts(
        sums=sums,
        knowledge=knowledge,
        largest=largest,
        statements=(*statements, *_number(largest, numbers, sums, knowledge)),
        parts=parts,
        setting=setting,
    )


def reconstruct(
    released: ReleasedSums | CountStatistics,
    knowledge: Knowledge | None = None,
    *,
    truth: Mapping[int, int] | None = None,
    priors: tuple[str, ...] = ("multinomial", "uniform"),
    effort: Effort | None = None,
    progress: Progress = silent,
) -> Reconstruction:
    """All that an intruder finds. Raises InputError where no table agrees, and says why."""
    problem, effort = hidden_counts(released, knowledge), effort or Effort()
    count = problem.count(effort, draw="uniform" not in priors, progress=progress)
    if count.value == 0 and count.how is How.EXACT:
        raise disagreement(problem)
    distributions = _distributions(problem, priors, truth, effort, count, progress)
    if count.value is None:
        count = _count_from(distributions.get("uniform"), count)
    numbers = problem.numbers(distributions.get("multinomial"), effort.number_prior)
    return Reconstruction(
        equations=problem.equations(),
        next_prime=problem.sums.next_prime,
        largest=problem.largest,
        zeros_unknown=problem.zeros_unknown,
        knowledge=problem.knowledge.described(),
        count=count,
        bounds=problem.bounds(time_limit=effort.seconds_for_a_step, progress=progress),
        distributions=distributions,
        numbers=numbers,
        assumptions=() if numbers is None else (numbers.words,),
    )


def _distributions(
    problem: HiddenCounts,
    priors: tuple[str, ...],
    truth: Mapping[int, int] | None,
    effort: Effort,
    count: Count,
    progress: Progress,
) -> dict[str, TableDistribution | Unavailable]:
    """The distribution under each prior; an exact one is tried until one did not fit, and not
    again.

    A distribution takes more work than the number of tables, and all distributions take about the
    same."""
    failed = "" if count.how is How.EXACT else count.note.partition(";")[0]
    distributions: dict[str, TableDistribution | Unavailable] = {}
    for prior in priors:
        distribution = problem.distribution(
            prior, truth=truth, effort=effort, failed=failed, progress=progress
        )
        distributions[prior] = distribution
        if not failed and (
            isinstance(distribution, Unavailable) or distribution.how is not How.EXACT
        ):
            failed = (
                distribution.reason if isinstance(distribution, Unavailable) else distribution.note
            ).partition(";")[0]
    return distributions


def _count_from(distribution: TableDistribution | Unavailable | None, count: Count) -> Count:
    """The number of tables by draws from the distribution that is equal over them: it is 2^H."""
    if distribution is None or isinstance(distribution, Unavailable):
        why = "" if distribution is None else distribution.reason.partition("; ")[2]
        return replace(count, note="; ".join(filter(None, [count.note, why])))
    tables = distribution.effective_tables
    if isinstance(tables, Unavailable) or tables.value is None:
        return count
    return replace(
        count,
        value=round(tables.value),
        how=How.ESTIMATE,
        standard_error=tables.standard_error,
        note=distribution.note,
    )


def disagreement(problem: HiddenCounts) -> InputError:
    """The complaint about statistics and knowledge that no table agrees with."""
    from discreet.fiber.system.consistency import contradiction

    if not problem.knowledge:
        named = contradiction(problem.parts[0].system, time_limit=NAMING_SECONDS)
        rule, got = "those of some table of counts", "statistics that no table has"
        return InputError(must_be("n, S1 and S2", rule, got, remedy=_remedy(named)))
    alone = hidden_counts(problem.sums).count()
    number = {None: "many tables", 0: "no table", 1: "1 table"}.get(
        alone.value, f"{alone.value or 0:,} tables"
    )
    if len(problem.parts) == 1:
        named = contradiction(problem.parts[0].system, time_limit=NAMING_SECONDS)
        remedy = f"{_remedy(named)}; the statistics alone allow {number}"
    else:
        remedy = f"the statistics alone allow {number}"
    known = "; ".join(problem.knowledge.described())
    rule = "true of a table with these statistics"
    return InputError(must_be("knowledge", rule, known, remedy=remedy))


def _remedy(named: InputError) -> str:
    words = str(named).rpartition("; ")[2]
    return words.replace("limits of cell ", "what is known of f")


def _check_number(n: int, known: tuple[int, int]) -> None:
    if not known[0] <= n <= known[1]:
        rule = f"one that holds the released n of {n}"
        raise InputError(must_be("the known range of n", rule, f"{known[0]} to {known[1]}"))


def _numbers(sums: ReleasedSums, knowledge: Knowledge) -> tuple[int, int]:
    """The range of n, or where zeros tell nothing that of the observations above zero."""
    if sums.n is not None:
        return sums.n, sums.n
    if knowledge.n is not None:
        return knowledge.n
    return 1, sums.total


def _statements(sums: ReleasedSums, knowledge: Knowledge, largest: int) -> list[Statement]:
    found = equations(sums, largest) + knowledge.statements(largest)
    if sums.n is None and knowledge.n is None:
        if knowledge.cells.get(0, (0, None))[0] > 0:
            rule = "given with a range for n, since without n zeros are not identified"
            raise InputError(must_be("a known count of 0", rule, "given without"))
        found.append(Statement(cells=np.array([0]), low=0, high=0, name="zeros left out"))
    return found


def _number(
    largest: int, numbers: tuple[int, int], sums: ReleasedSums, knowledge: Knowledge
) -> tuple[Statement, ...]:
    """The equation of n for people to read: none where nothing is known of n."""
    if sums.n is None and knowledge.n is None:
        return ()
    return (number_statement(largest, *numbers),)


@dataclass(frozen=True, slots=True)
class _Setting:
    """All but n, from which the parts are made."""

    statements: tuple[Statement, ...]
    largest: int
    cases: tuple[ShapeCase, ...]

    def parts(self, low: int, high: int) -> Iterator[Part]:
        """One part for each case of the shape, for n from low to high."""
        name = f"n = {low}" if low == high else f"n = {low} to {high}"
        number = number_statement(self.largest, low, high)
        for case in self.cases:
            given = [*self.statements, number, *self._top(case)]
            system = with_order(system_of(self.largest + 1, given), case.order)
            yield Part(system=system, name=name, group=str(low))

    def parts_by_number(self, low: int, high: int) -> tuple[Part, ...] | Unavailable:
        """The parts for each n by itself."""
        if high - low + 1 > MOST_NUMBERS:
            reason = f"n can be any of {high - low + 1:,} numbers, and {MOST_NUMBERS:,} are tried"
            return Unavailable(f"{reason}; give a narrower range")
        return tuple(part for n in range(low, high + 1) for part in self.parts(n, n))

    def _top(self, case: ShapeCase) -> list[Statement]:
        """What makes a case's largest value the largest."""
        if case.largest is None:
            return []
        j = case.largest
        occurs = Statement(cells=np.array([j]), low=1, high=None, name=f"f{j}")
        return [occurs, *(_nothing(above) for above in range(j + 1, self.largest + 1))]


def _nothing(j: int) -> Statement:
    return Statement(cells=np.array([j]), low=0, high=0, name=f"f{j}")


def number_of_tables(part: Part, budget: Budget, progress: Progress = silent) -> int:
    """How many tables a part holds, exact; raises BudgetExceeded."""
    lines = part.lines(budget)
    if lines is not None:
        return lines.n_tables
    return count_exactly(part.system, budget=budget, progress=progress)


def tables_of(part: Part, limit: int | None = None) -> Iterable[IntArray]:
    """The tables of a part in order of the last cell, then of the one before, and so on."""
    lines = part.lines()
    if lines is not None and lines.n_tables <= MOST_AT_ONCE:
        return lines.tables(limit)
    return listed(part.system, limit=limit)


def _hull(found: list[Bounds]) -> Bounds:
    if not found:
        raise InputError(must_be("statistics and knowledge", "true of some table", "none is"))
    if len(found) == 1:
        return found[0]
    lower, upper = np.stack([b.lower for b in found]), np.stack([b.upper for b in found])
    least, most = lower.argmin(axis=0), upper.argmax(axis=0)
    cells = np.arange(lower.shape[1])
    return Bounds(
        lower=lower[least, cells],
        upper=upper[most, cells],
        lower_proof=np.stack([b.lower_proof for b in found])[least, cells],
        upper_proof=np.stack([b.upper_proof for b in found])[most, cells],
        note="; ".join(sorted({b.note for b in found if b.note})),
    )
