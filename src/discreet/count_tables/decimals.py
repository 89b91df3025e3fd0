"""S2 released with d decimals: every factorisation of e^S2 within the interval (kadane 3.4).

What the tables of all these factorisations weigh can be said in three ways:
- `all_equal`: every table is as probable as any other (the paper's first choice);
- `sets_equal`: every factorisation is, and within it every table (its second choice, as we read
  it);
- `proper`: P(f) ∝ e^(−ν S2(f)) / ∏ f_j!, which follows from independent counts. The first factor
  varies by no more than e^(ν · width), so that a rough dispersion ν is good enough.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from discreet.belief.belief import ListedBelief
from discreet.belief.count_belief import (
    Part,
    TableDistribution,
    mixed_distribution,
    mixture,
    table_distribution,
)
from discreet.clock import work
from discreet.count_tables.com_poisson.estimation import (
    Fit,
    maximum_likelihood,
    maximum_likelihood_from,
)
from discreet.count_tables.decimal_draws import RoundedQuestion, drawn_distributions
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.factorials import log_of_factorisation
from discreet.count_tables.factorisation_search import (
    cell_limits,
    factorisations,
    largest_value,
    number_range,
)
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import (
    Effort,
    HiddenCounts,
    hidden_counts,
    number_of_tables,
    tables_of,
)
from discreet.count_tables.statistics import CountStatistics, DecimalLog, check_counts
from discreet.count_tables.withheld_number import Numbers, by_number, number_weights, numbers_of
from discreet.errors import DiscreetError, InputError, must_be
from discreet.fiber.sums.counting import Count
from discreet.fiber.sums.dynamic_programming import Budget
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.figures import How, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.special import log_factorials

MOST_FACTORISATIONS = 100_000
MOST_LISTED = 100_000  # tables up to which all are listed
PROBLEM_SECONDS = 3e-3  # the equations of one factorisation, and its tables where they are few
WEIGHTINGS = ("proper", "all_equal", "sets_equal")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorisationSet:
    """A factorisation within the interval, its S2, and how many tables have it."""

    factorisation: Mapping[int, int]
    log_factorial_total: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedReconstruction:
    """What an intruder finds from n (None where withheld), S1 and a rounded S2.

    `sets` are the factorisations that some table has, in order of S2, and empty where they are too
    many and draws were made; `number` is how many tables there are and how that was found, `count`
    the same as a whole number; `bounds` are the least and greatest cells. Distributions go by the
    weighting;
    `dispersion` is the ν of `proper`. Where `zeros_unknown`, counts begin at `first_value` 1.
    """

    n: int | None
    total: int
    released: DecimalLog
    knowledge: tuple[str, ...]
    sets: tuple[FactorisationSet, ...]
    count: int
    bounds: tuple[IntArray, IntArray] | Unavailable
    dispersion: float
    distributions: Mapping[str, TableDistribution | Unavailable]
    number: Count
    zeros_unknown: bool = False
    numbers: Numbers | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def how(self) -> How:
        """Are the figures exact, or estimates from draws?"""
        return How.EXACT if self.sets else How.ESTIMATE

    @property
    def first_value(self) -> int:
        """The least value whose count is looked for."""
        return int(self.zeros_unknown)


def reconstruct_truncated(
    n: int | None,
    total: int,
    released: DecimalLog,
    knowledge: Knowledge | None = None,
    *,
    truth: Mapping[int, int] | None = None,
    dispersion: float | None = None,
    effort: Effort | None = None,
) -> TruncatedReconstruction | Unavailable:
    """All that an intruder finds, or why the search does not fit.

    Where n is out and the factorisations are too many, tables are drawn if `effort` has an rng.
    `dispersion` is that of `proper`; where left out, the maximum-likelihood estimate from a
    factorisation in the middle, or 1 where there is none. Raises InputError where no table has
    such statistics, naming what contradicts what.
    """
    effort, knowledge = effort or Effort(), knowledge or Knowledge()
    _check_numbers(n, total, released, knowledge)
    case = _Case(n, total, released, knowledge, effort, truth)
    try:
        found = _inhabited(case, effort.budget())
    except BudgetExceeded as ended:
        return _drawn(case, dispersion, str(ended))
    if not found:
        raise _no_table(case)
    return _exact(case, found, dispersion)


@dataclass(frozen=True, slots=True)
class _Case:
    """What was asked."""

    n: int | None
    total: int
    released: DecimalLog
    knowledge: Knowledge
    effort: Effort
    truth: Mapping[int, int] | None = None

    @property
    def zeros_unknown(self) -> bool:
        return self.n is None and self.knowledge.n is None


def _exact(case: _Case, found: list["_Found"], dispersion: float | None) -> TruncatedReconstruction:
    sets = tuple(one.one for one in found)
    nu = _dispersion(case.n, case.total, sets) if dispersion is None else dispersion
    n_cells = max(part.system.n_named for one in found for part in one.parts)
    cells = None if case.truth is None else _cells(case, n_cells)
    count = sum(one.count for one in sets)
    if count <= MOST_LISTED:
        distributions = _listed_distributions(case, found, nu, n_cells, cells)
    else:
        distributions = _mixed_distributions(case, found, nu, cells)
    distributions = {
        name: distribution
        if isinstance(distribution, Unavailable)
        else replace(distribution, first_value=case.zeros_unknown)
        for name, distribution in distributions.items()
    }
    numbers = _numbers(case, distributions["proper"])
    return TruncatedReconstruction(
        n=case.n,
        total=case.total,
        released=case.released,
        knowledge=case.knowledge.described(),
        sets=sets,
        count=count,
        bounds=_limits(distributions),
        dispersion=nu,
        distributions=distributions,
        number=Count(value=count, how=How.EXACT, at_least=count),
        zeros_unknown=case.zeros_unknown,
        numbers=numbers,
        assumptions=_assumptions(case, nu, dispersion is None, numbers),
    )


def _numbers(case: _Case, distribution: TableDistribution | Unavailable) -> Numbers | None:
    if case.n is not None:
        return None
    shares = distribution.groups if isinstance(distribution, TableDistribution) else None
    limits = number_range(case.n, case.total, case.knowledge)
    return numbers_of(
        shares,
        limits,
        n_has_range=case.knowledge.n is not None,
        prior=case.effort.number_prior,
    )


def _assumptions(
    case: _Case, dispersion: float, estimated: bool, numbers: Numbers | None
) -> tuple[str, ...]:
    how = "given" if not estimated else "that of Poisson, since n is withheld"
    if estimated and case.n is not None:
        how = "the maximum-likelihood estimate"
    words = f"tables within the interval of S2 weigh e^(-{dispersion:.3g} S2), dispersion {how}"
    return (words,) if numbers is None else (words, numbers.words)


def _drawn(
    case: _Case, dispersion: float | None, ended: str
) -> TruncatedReconstruction | Unavailable:
    """The answer from draws, where the search through factorisations does not fit."""
    if case.n is None:
        remedy = "state more decimals, the largest value (max=4) or a narrow range of n (n=40..60)"
        return Unavailable(f"{ended.partition(';')[0]}; {remedy}")
    if case.effort.rng is None:
        return Unavailable(f"{ended}; no draws asked for")
    nu = dispersion
    if nu is None:
        nu = _decimal_dispersion(case.n, case.total, case.released)
    try:
        largest = largest_value(case.n, case.total, case.released, case.knowledge)
        question = RoundedQuestion(
            n=case.n,
            total=case.total,
            released=case.released,
            knowledge=case.knowledge,
            largest=largest,
        )
        proper, equal, number = drawn_distributions(
            question,
            nu,
            rng=case.effort.rng,
            seconds=case.effort.seconds_for_a_step,
            truth=None if case.truth is None else _cells(case, largest + 1),
        )
    except BudgetExceeded as too_much:
        more = "" if str(too_much) == ended else f"; draws: {too_much}"
        return Unavailable(f"{ended}{more}")
    if isinstance(proper, Unavailable) and isinstance(equal, Unavailable):
        return Unavailable(f"{ended}; draws: {proper.reason}")
    untold = Unavailable("draws do not tell the factorisations apart")
    return TruncatedReconstruction(
        n=case.n,
        total=case.total,
        released=case.released,
        knowledge=case.knowledge.described(),
        sets=(),
        count=number.at_least if number.value is None else int(number.value),
        bounds=_outer_limits(case, largest),
        dispersion=nu,
        distributions={"proper": proper, "all_equal": equal, "sets_equal": untold},
        number=number,
        assumptions=_assumptions(case, nu, dispersion is None, None),
    )


def _outer_limits(case: _Case, largest: int) -> tuple[IntArray, IntArray] | Unavailable:
    """Bounds that no table lies outside of, where tables were drawn."""
    assert case.n is not None  # tables are drawn for one n
    found = cell_limits(case.n, case.total, case.released, largest)
    if found is None:
        return Unavailable("draws do not tell bounds")
    low, high = found
    for value, (least, most) in case.knowledge.cells.items():
        if value <= largest:
            low[value] = max(low[value], least)
            high[value] = high[value] if most is None else min(high[value], most)
    return low, high


def _decimal_dispersion(n: int, total: int, released: DecimalLog) -> float:
    try:
        fit = maximum_likelihood_from(n, total, float(released.value))
    except DiscreetError:
        return 1.0
    return fit.dispersion if isinstance(fit, Fit) else 1.0


def _check_numbers(n: int | None, total: int, released: DecimalLog, knowledge: Knowledge) -> None:
    """Raises InputError where n, S1 and a rounded S2 contradict one another at sight."""
    if total == 0 and released.low > 0:
        why = "counts that add up to 0 are all 0, and then S2 is 0"
        raise InputError(must_be("total", "above zero where S2 is", 0, remedy=why))
    if n is not None and knowledge.n is not None and not knowledge.n[0] <= n <= knowledge.n[1]:
        rule = f"one that holds the released n of {n}"
        got = f"{knowledge.n[0]} to {knowledge.n[1]}"
        raise InputError(must_be("the known range of n", rule, got))


@dataclass(frozen=True, slots=True)
class _Found:
    """A factorisation with its tables: as parts, and as a list while all of them are few."""

    one: FactorisationSet
    parts: tuple[Part, ...]
    listed: tuple[IntArray, ...]
    problem: HiddenCounts


def _inhabited(case: _Case, budget: Budget) -> list[_Found]:
    """The factorisations that some table has, each with its tables, in order of S2."""
    found: list[_Found] = []
    so_far = 0

    def tick() -> None:
        budget.check_time("searching for factorisations")

    search = factorisations(case.n, case.total, case.released, case.knowledge, tick=tick)
    for number, exponents in enumerate(search):
        if number >= MOST_FACTORISATIONS:
            message = f"more than {MOST_FACTORISATIONS:,} factorisations fit this S2"
            raise BudgetExceeded(f"{message}; state the largest value or more decimals")
        budget.check_time(f"looking through factorisations, {number:,} so far")
        work(PROBLEM_SECONDS)
        problem = _problem(case, exponents)
        if problem is None:
            continue
        parts = problem.parts
        few = [t for part in parts for t in tables_of(part, MOST_LISTED + 1 - so_far)]
        so_far = min(MOST_LISTED + 1, so_far + len(few))
        if so_far > MOST_LISTED:
            count = sum(number_of_tables(part, budget) for part in parts)
        else:
            count = len(few)
        if count:
            log = float(log_of_factorisation(exponents, 20))
            one = FactorisationSet(factorisation=exponents, log_factorial_total=log, count=count)
            found.append(_Found(one, parts, tuple(few), problem))
    return sorted(found, key=lambda found: found.one.log_factorial_total)


def _problem(case: _Case, exponents: dict[int, int]) -> HiddenCounts | None:
    """The tables of one factorisation, None where the knowledge contradicts it at sight."""
    try:
        return hidden_counts(ReleasedSums(case.n, case.total, exponents), case.knowledge)
    except InputError:
        return None


def _widened(all_parts: list[tuple[Part, ...]]) -> list[tuple[Part, ...]]:
    """The parts with as many cells as the widest; cells added are zero."""
    most = max(part.system.n_named for parts in all_parts for part in parts)
    return [tuple(_with_cells(part, most) for part in parts) for parts in all_parts]


def _with_cells(part: Part, n_cells: int) -> Part:
    system, extra = part.system, n_cells - part.system.n_named
    if extra == 0:
        return part
    old = csr_array(system.matrix).tocoo()
    columns = np.where(old.col < system.n_named, old.col, old.col + extra)
    none, at = np.zeros(extra, np.int64), [system.n_named] * extra
    wider = replace(
        system,
        matrix=csr_array(
            (old.data, (old.row, columns)), shape=(system.n_rows, system.n_columns + extra)
        ),
        right=system.right.copy(),
        lower=np.insert(system.lower, at, none),
        upper=np.insert(system.upper, at, none),
        n_named=n_cells,
    )
    return replace(part, system=wider)


def _mixed_distributions(
    case: _Case, found: list[_Found], dispersion: float, truth: IntArray | None
) -> dict[str, TableDistribution | Unavailable]:
    """The distributions by dynamic programming over each factorisation; by each n where it is
    withheld.
    """
    plain = _labelled(found, [one.parts for one in found], 0.0)
    distributions: dict[str, TableDistribution | Unavailable] = {}
    own = [one.parts if case.n is not None else one.problem.parts_by_number for one in found]
    split = [parts for parts in own if not isinstance(parts, Unavailable)]
    if case.n is not None:
        weighed = _labelled(found, [one.parts for one in found], dispersion)
        distributions["proper"] = _distribution(weighed, "multinomial", False, truth, case.effort)
    elif len(split) < len(own):
        distributions["proper"] = next(parts for parts in own if isinstance(parts, Unavailable))
    else:
        weighed = _labelled(found, split, dispersion, by_number=True)
        weights = number_weights({p.group: int(p.group) for p in weighed}, case.effort.number_prior)
        distributions["proper"] = _distribution(
            weighed, "multinomial", True, truth, case.effort, weights
        )
    distributions["all_equal"] = _distribution(plain, "uniform", False, truth, case.effort)
    distributions["sets_equal"] = _distribution(plain, "uniform", True, truth, case.effort)
    return distributions


def _labelled(
    found: list[_Found],
    parts: Sequence[tuple[Part, ...]],
    dispersion: float,
    *,
    by_number: bool = False,
) -> list[Part]:
    """All parts with as many cells as the widest, their groups and the weights of their S2."""
    middle = found[0].one.log_factorial_total
    return [
        replace(
            part,
            group=part.group if by_number else str(number),
            name=str(dict(one.one.factorisation)),
            log_offset=-dispersion * (one.one.log_factorial_total - middle),
        )
        for number, (one, own) in enumerate(zip(found, _widened(list(parts)), strict=True))
        for part in own
    ]


def _listed_distributions(
    case: _Case, found: list[_Found], dispersion: float, n_cells: int, truth: IntArray | None
) -> dict[str, TableDistribution | Unavailable]:
    """The same distributions from the list of all tables."""
    stacked = [np.stack(one.listed) for one in found]
    wide = np.concatenate([np.pad(t, ((0, 0), (0, n_cells - t.shape[1]))) for t in stacked])
    counts = np.array([one.one.count for one in found])
    logs = np.array([one.one.log_factorial_total for one in found])
    orders = -log_factorials(wide).sum(axis=1)
    proper = orders - dispersion * np.repeat(logs - logs[0], counts)
    shares: dict[str, float] = {}
    if case.n is None:
        proper, shares = by_number(wide, proper, case.effort.number_prior)
    weights = {
        "proper": (proper, "multinomial"),
        "all_equal": (np.zeros(len(wide)), "uniform"),
        "sets_equal": (-np.log(np.repeat(counts, counts)), "uniform"),
    }
    distributions: dict[str, TableDistribution | Unavailable] = {}
    for name in WEIGHTINGS:
        logs, prior = weights[name]
        own = table_distribution(ListedBelief.of_weights(wide, logs), prior, truth=truth)
        distributions[name] = replace(own, groups=shares if name == "proper" else {})
    return distributions


def _distribution(
    parts: list[Part],
    prior: str,
    equal_groups: bool,
    truth: IntArray | None,
    effort: Effort,
    weights: Mapping[str, float] | None = None,
) -> TableDistribution | Unavailable:
    try:
        mixed = mixture(
            parts,
            prior,
            equal_groups=equal_groups,
            group_weights=weights,
            budget=effort.budget(),
        )
        return mixed_distribution(mixed, truth=truth, budget=effort.budget())
    except BudgetExceeded as ended:
        return Unavailable(str(ended))


def _dispersion(n: int | None, total: int, sets: tuple[FactorisationSet, ...]) -> float:
    """The maximum-likelihood dispersion in the middle of the interval, 1 where there is none."""
    if n is None:
        return 1.0
    middle = sets[len(sets) // 2]
    try:
        fit = maximum_likelihood(CountStatistics(n, total, middle.factorisation))
    except DiscreetError:
        return 1.0
    return fit.dispersion if isinstance(fit, Fit) else 1.0


def _cells(case: _Case, n_cells: int) -> IntArray:
    counts = check_counts(case.truth or {})
    same = case.n in (None, sum(counts.values()))
    same = same and sum(x * c for x, c in counts.items()) == case.total
    if not same or max(counts) >= n_cells:
        raise InputError(must_be("the true table", "one with the released statistics", "another"))
    cells = np.array([counts.get(j, 0) for j in range(n_cells)], dtype=np.int64)
    if case.zeros_unknown:
        cells[0] = 0
    return cells


def _limits(
    distributions: Mapping[str, TableDistribution | Unavailable],
) -> tuple[IntArray, IntArray] | Unavailable:
    """The least and the greatest count of each cell over all tables."""
    distribution = distributions["all_equal"]
    if isinstance(distribution, Unavailable):
        return distribution
    lower = np.array([cell.support.min() for cell in distribution.cells], dtype=np.int64)
    upper = np.array([cell.support.max() for cell in distribution.cells], dtype=np.int64)
    return lower, upper


def _no_table(case: _Case) -> InputError:
    """The complaint: about the knowledge where tables have the statistics without it."""
    released = case.released
    got = f"{released.value} ({'truncated' if released.truncated else 'rounded'})"
    counts = "counts" if case.n is None else f"{case.n} counts"
    rule = f"an S2 that some {counts} with a total of {case.total} have"
    none = InputError(must_be("S2", rule, got, remedy="no product of factorials lies near it"))
    if not case.knowledge:
        return none
    try:
        alone = _without_knowledge(case)
    except InputError:
        return none
    known = "; ".join(case.knowledge.described())
    remedy = f"{_sums_disagree(case)}the statistics alone allow {alone}"
    return InputError(
        must_be("knowledge", "true of a table with these statistics", known, remedy=remedy)
    )


def _without_knowledge(case: _Case) -> str:
    """How many tables there are without the knowledge; raises InputError where there are none."""
    found = reconstruct_truncated(case.n, case.total, case.released, effort=case.effort)
    if isinstance(found, Unavailable) or found.number.value is None:
        return "some tables"
    value = found.number.value
    number = "1 table" if value == 1 else f"{value:,} tables"
    return f"{number}{_impossible_cells(case, found)}"


def _impossible_cells(case: _Case, found: TruncatedReconstruction) -> str:
    """Which known counts none of the tables has, or that it is all of them together."""
    distribution = found.distributions["all_equal"]
    if (
        isinstance(distribution, Unavailable)
        or found.how is not How.EXACT
        or not case.knowledge.cells
    ):
        return ""
    wrong = []
    for j, (low, high) in case.knowledge.cells.items():
        possible = (
            distribution.cells[j].support if j < len(distribution.cells) else np.zeros(1, np.int64)
        )
        most = possible.max() if high is None else high
        if not np.any((possible >= low) & (possible <= most)):
            wrong.append(f"f{j}")
    if not wrong:
        return ", each known count in some of them, but not all that is known in one"
    return f", none of them with what is known of {' and '.join(wrong)}"


def _sums_disagree(case: _Case) -> str:
    """Where known counts are too many for n or S1, the two that disagree."""
    least = {j: low for j, (low, _) in case.knowledge.cells.items()}
    most = {j: high for j, (_, high) in case.knowledge.cells.items()}
    n, total = sum(least.values()), sum(j * low for j, low in least.items())
    if case.n is not None and n > case.n:
        return f"the known counts add up to {n} or more, and n is {case.n}; "
    if total > case.total:
        return f"the known counts have a total of {total} or more, and S1 is {case.total}; "
    top = case.knowledge.largest_range
    largest = max(most, default=-1) if top is None else top[1]
    all_known = all(most.get(j) is not None for j in range(largest + 1))
    if case.n is not None and top is not None and all_known:
        reach = sum(high or 0 for high in most.values())
        if reach < case.n:
            return f"the known counts add up to at most {reach}, and n is {case.n}; "
    return ""
