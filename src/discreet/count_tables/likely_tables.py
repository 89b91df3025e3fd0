"""The most probable tables that a release leaves: of all where they are few, else of some drawn."""

from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.count_belief import TableDistribution
from discreet.belief.draws.count_draws import probable_tables
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort, HiddenCounts, Reconstruction, hidden_counts
from discreet.count_tables.release import Attack, CountRelease
from discreet.count_tables.statistics import DecimalLog
from discreet.count_tables.withheld_number import by_number
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray, read_only
from discreet.numerics.rounding import order_of
from discreet.numerics.special import log_factorials, log_sum

MOST_LISTED = 5000
MOST_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyTables:
    """Tables (rows × cells) with their `probability` under the right distribution, most probable
    first.

    `complete` says that no table is missing; else there may be others as probable. Counts of
    values below `first_value` are not identified, and what stands there means nothing.
    """

    tables: IntArray
    probability: FloatArray
    complete: bool
    first_value: int = 0

    def __post_init__(self) -> None:
        read_only(self.tables)
        read_only(self.probability)

    def counts(self, row: int) -> tuple[int | None, ...]:
        """The counts of 0, 1, 2, … of one table; None for counts that are not identified."""
        own = self.tables[row].tolist()
        return tuple(None if j < self.first_value else int(c) for j, c in enumerate(own))


def likely_tables(
    release: CountRelease,
    found: Attack,
    knowledge: Knowledge | None = None,
    *,
    most: int = MOST_SHOWN,
    draw: bool = True,
    effort: Effort | None = None,
) -> LikelyTables | Unavailable:
    """At most so many tables: the most probable of all, or of those drawn by their probability.

    Drawn only where they are too many to list, `draw` allows it and `effort` has an rng.
    """
    effort = effort or Effort()
    if isinstance(found, Unavailable):
        return found
    if isinstance(found, TruncatedReconstruction):
        listed = _of_decimal(found, knowledge, most, effort)
    else:
        listed = _of_exact(release, found, knowledge, most, draw, effort)
    if isinstance(listed, Unavailable):
        return listed
    return replace(listed, first_value=found.first_value)


def _of_exact(
    release: CountRelease,
    found: Reconstruction,
    knowledge: Knowledge | None,
    most: int,
    draw: bool,
    effort: Effort,
) -> LikelyTables | Unavailable:
    given = release.log_factorial_total
    if isinstance(given, DecimalLog):
        return Unavailable("what was found belongs to another release")
    problem = hidden_counts(ReleasedSums(release.n, release.total, given), knowledge)
    count = found.count
    if count.how is How.EXACT and count.value is not None and count.value <= MOST_LISTED:
        tables = np.stack(list(problem.tables()))
        return _first(tables, _shares(tables, release.n, effort), most)
    if not draw or effort.rng is None:
        known = count.value is not None or count.at_least > MOST_LISTED
        many = (
            f"there are more than {MOST_LISTED:,} tables" if known else "their number is not known"
        )
        return Unavailable(f"{many}, and none were drawn")
    return _drawn(problem, found, most, effort, effort.rng)


def _shares(tables: IntArray, n: int | None, effort: Effort) -> FloatArray:
    """log Pr ∝ −Σ log f_j! for tables of one n; of several n as is assumed of them."""
    logs: FloatArray = -log_factorials(tables).sum(axis=1)
    return logs if n is not None else by_number(tables, logs, effort.number_prior)[0]


def _of_decimal(
    found: TruncatedReconstruction, knowledge: Knowledge | None, most: int, effort: Effort
) -> LikelyTables | Unavailable:
    """The tables of every factorisation, weighed as `proper` does."""
    if not found.sets:
        return Unavailable("there are too many tables to list")
    if found.count > MOST_LISTED:
        return Unavailable(f"there are more than {MOST_LISTED:,} tables")
    tables: list[IntArray] = []
    shift: list[float] = []
    for one in found.sets:
        problem = hidden_counts(ReleasedSums(found.n, found.total, one.factorisation), knowledge)
        own = list(problem.tables())
        tables += own
        shift += [found.dispersion * one.log_factorial_total] * len(own)
    width = max(len(table) for table in tables)
    wide = np.stack([np.pad(table, (0, width - len(table))) for table in tables])
    logs: FloatArray = -log_factorials(wide).sum(axis=1) - np.array(shift)
    if found.n is None:
        logs = by_number(wide, logs, effort.number_prior)[0]
    return _first(wide, logs, most)


def _first(tables: IntArray, logs: FloatArray, most: int) -> LikelyTables:
    order = order_of(logs, scale=1.0)[:most]
    probability = np.exp(logs - log_sum(logs))[order]
    complete = len(order) == len(tables)
    return LikelyTables(tables=tables[order], probability=probability, complete=complete)


def _drawn(
    problem: HiddenCounts,
    found: Reconstruction,
    most: int,
    effort: Effort,
    rng: np.random.Generator,
) -> LikelyTables | Unavailable:
    """Tables by weighted draws; their probabilities hang on that of the best guess where known."""
    parts = problem.parts_by_number
    if isinstance(parts, Unavailable) or len(parts) > 1:
        return Unavailable("tables are drawn for one case and one n only")
    drawn = probable_tables(
        parts[0].system,
        most,
        n_draws=effort.n_draws,
        rng=rng,
        time_limit=effort.seconds_for_a_step,
    )
    if isinstance(drawn, Unavailable):
        return drawn
    tables, log_total = drawn
    distribution = found.distributions.get("multinomial")
    if isinstance(distribution, TableDistribution) and distribution.best_guess is not None:
        best = np.array(distribution.best_guess, dtype=np.int64)
        tables = np.unique(np.vstack([tables, best]), axis=0)
        if (
            isinstance(distribution.best_guess_probability, Figure)
            and distribution.best_guess_probability.value
        ):
            own = -float(log_factorials(best).sum())
            log_total = own - float(np.log(distribution.best_guess_probability.value))
    logs = -log_factorials(tables).sum(axis=1) - log_total
    order = order_of(logs, scale=1.0)[:most]
    return LikelyTables(tables=tables[order], probability=np.exp(logs[order]), complete=False)
