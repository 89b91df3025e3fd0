"""All that is to be said of the statistics of a count table: to its holder, or to a snooper."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

import numpy as np

from discreet.compoisson.comparison_estimates import (
    ComparisonEstimate,
    moment_estimate,
    weighted_least_squares,
)
from discreet.compoisson.estimation import (
    Fit,
    NoMaximum,
    PoissonTest,
    maximum_likelihood,
    maximum_likelihood_from,
    poisson_test,
)
from discreet.compoisson.goodness import Goodness, goodness_of_fit
from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.knowledge_truth import check_true
from discreet.compoisson.likely_tables import LikelyTables, likely_tables
from discreet.compoisson.release import Attack, Release, attack, release_of
from discreet.compoisson.snooper import Effort, Reconstruction
from discreet.compoisson.statistics import CountStatistics, DecimalLog, check_counts
from discreet.compoisson.truncation import TruncatedReconstruction
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.progress import Progress, silent
from discreet.risk.count_risk import (
    CountRisk,
    IntervalPolicy,
    count_risk,
    holder_risk,
    interval_policy,
)
from discreet.risk.count_verdict import Measure, Verdict, check_max_risk, verdict

LAWS = {  # our name of each law: its name for an exact release, and for a rounded S2
    "multinomial": ("multinomial", "proper"),
    "uniform": ("uniform", "all_equal"),
    "uniform_by_factorisation": (None, "sets_equal"),
}
INTERVAL_SECONDS = 2.0
STEPS = 4  # that may each run into the time limit
Risks = Mapping[str, CountRisk | Unavailable]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOptions:
    """What the holder or the snooper asks for beside the figures themselves.

    `draw` allows tables to be drawn where they are too many to list.
    """

    knowledge: Knowledge | None = None
    decimals: int | None = None
    truncate: bool = False
    withhold_n: bool = False
    max_risk: float | None = None
    measure: Measure = Measure.BEST_GUESS
    seconds: float = 120.0
    seed: int = 1
    draw: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.seconds < float("inf"):
            raise InputError(must_be("seconds", "a finite number above zero", self.seconds))
        if self.max_risk is not None:
            check_max_risk(self.max_risk)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAssessment:
    """The release, what a snooper finds from it, and how bad that is.

    `table`, `goodness`, `comparison`, `intervals` and `verdict` are the holder's only; `before` and
    `risks_before` are without the snooper's knowledge, None and empty where there is none.
    """

    options: CountOptions
    table: Mapping[int, int] | None
    statistics: CountStatistics | None
    release: Release
    found: Attack
    risks: Risks
    before: Attack | None
    risks_before: Risks
    likely: LikelyTables | Unavailable
    fit: Fit | NoMaximum | Unavailable
    poisson: PoissonTest | None
    goodness: Goodness | Unavailable | None
    comparison: Mapping[str, ComparisonEstimate | Unavailable]
    intervals: IntervalPolicy | None
    verdict: Verdict | None


def assess_counts(
    table: Mapping[int, int],
    options: CountOptions | None = None,
    *,
    progress: Progress = silent,
) -> CountAssessment:
    """For the holder of a table {value: count}: what its statistics would give away.

    Raises InputError where the table is none, or where the snooper's knowledge is not true of it.
    """
    options, table = options or CountOptions(), check_counts(table)
    statistics = CountStatistics.of_counts(table)
    if options.knowledge is not None:
        check_true(options.knowledge, table)
    release = release_of(
        statistics,
        decimals=options.decimals,
        truncate=options.truncate,
        withhold_n=options.withhold_n,
    )
    return _assess(release, options, table, statistics, progress)


def assess_statistics(
    n: int | None,
    total: int,
    log_factorial_total: Mapping[int, int] | DecimalLog,
    options: CountOptions | None = None,
    *,
    progress: Progress = silent,
) -> CountAssessment:
    """For a snooper, who has n (None where withheld), S1, and S2 exact or as a decimal.

    Raises InputError where no table has these statistics, naming what contradicts what.
    """
    options = options or CountOptions()
    release = Release(n=n, total=total, log_factorial_total=log_factorial_total)
    statistics = None
    if n is not None and not isinstance(log_factorial_total, DecimalLog):
        statistics = CountStatistics(n, total, log_factorial_total)
    return _assess(release, options, None, statistics, progress)


def _assess(
    release: Release,
    options: CountOptions,
    table: Mapping[int, int] | None,
    statistics: CountStatistics | None,
    progress: Progress,
) -> CountAssessment:
    rng = np.random.default_rng(options.seed)
    begun, step = monotonic(), options.seconds / STEPS
    effort = Effort(seconds=step, until=begun + 0.8 * options.seconds, rng=rng)
    last = Effort(seconds=step, until=begun + options.seconds, rng=rng)
    knowledge = options.knowledge or None
    found = attack(release, knowledge, truth=table, effort=effort, progress=progress)
    before = None
    if knowledge is not None:
        progress("without the knowledge", None)
        before = attack(release, truth=table, effort=effort, progress=progress)
    fit = _fit(release, statistics)
    judged = None
    if table is not None and options.max_risk is not None:
        judged = _judged(table, options, release, found, effort, progress)
    progress("listing tables", None)
    likely = likely_tables(release, found, knowledge, draw=options.draw, effort=last)
    progress("testing the fit", None)
    return CountAssessment(
        options=options,
        table=table,
        statistics=statistics,
        release=release,
        found=found,
        risks=_risks(found, table),
        before=before,
        risks_before={} if before is None else _risks(before, table),
        likely=likely,
        fit=fit,
        poisson=None if isinstance(fit, Unavailable) else poisson_test(fit),
        goodness=None if table is None else goodness_of_fit(table, rng=rng),
        comparison={} if table is None else _comparison(table),
        intervals=None if table is None else _intervals(release, found, effort),
        verdict=judged,
    )


def _judged(
    table: Mapping[int, int],
    options: CountOptions,
    release: Release,
    found: Attack,
    effort: Effort,
    progress: Progress,
) -> Verdict:
    return verdict(
        table,
        options.max_risk or 0.0,
        measure=options.measure,
        knowledge=options.knowledge,
        first=release,
        found=found,
        truncate=options.truncate,
        effort=effort,
        progress=progress,
    )


def _risks(found: Attack, table: Mapping[int, int] | None) -> dict[str, CountRisk | Unavailable]:
    """The risk under each law, by our names."""
    place = 1 if isinstance(found, TruncatedReconstruction) else 0
    risks: dict[str, CountRisk | Unavailable] = {}
    for name, names in LAWS.items():
        law = names[place]
        if law is not None:
            risk = count_risk(found, law=law)
            risks[name] = risk if table is None else holder_risk(found, table, law=law)
    return risks


def _fit(release: Release, statistics: CountStatistics | None) -> Fit | NoMaximum | Unavailable:
    """From the exact statistics where they are known, else from the decimal."""
    if statistics is not None:
        return maximum_likelihood(statistics)
    if release.n is None or not isinstance(release.log_factorial_total, DecimalLog):
        return Unavailable("n is withheld, and without it nothing can be fitted")
    try:
        value = float(release.log_factorial_total.value)
        return maximum_likelihood_from(release.n, release.total, value)
    except InputError as problem:
        return Unavailable(str(problem))


def _comparison(table: Mapping[int, int]) -> dict[str, ComparisonEstimate | Unavailable]:
    return {
        "weighted least squares": weighted_least_squares(table),
        "moments": moment_estimate(table),
    }


def _intervals(release: Release, found: Attack, effort: Effort) -> IntervalPolicy | None:
    """What the policy of bounds would leave, where bounds of all cells and n are at hand."""
    if release.n is None or not isinstance(found, Reconstruction):
        return None
    left = effort.seconds_for_a_step or INTERVAL_SECONDS
    short = Effort(seconds=min(INTERVAL_SECONDS, left), until=effort.until)
    return interval_policy(release.n, found.bounds.lower, found.bounds.upper, effort=short)
