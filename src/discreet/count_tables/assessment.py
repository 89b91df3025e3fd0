"""All that is to be said of the statistics of a count table: to its holder, or to an intruder."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.clock import work, working_seconds
from discreet.count_tables.advice import CountAdvice, advise
from discreet.count_tables.com_poisson.comparison_estimates import (
    ComparisonEstimate,
    moment_estimate,
    weighted_least_squares,
)
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.estimation import (
    Fit,
    NoMaximum,
    PoissonTest,
    maximum_likelihood,
    maximum_likelihood_from,
    poisson_test,
)
from discreet.count_tables.com_poisson.goodness import Goodness, goodness_of_fit
from discreet.count_tables.decimals import TruncatedReconstruction
from discreet.count_tables.findings import findings_of
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.likely_tables import LikelyTables, likely_tables
from discreet.count_tables.measures import (
    CountRisk,
    IntervalPolicy,
    count_risk,
    holder_risk,
    interval_policy,
)
from discreet.count_tables.options import CountOptions
from discreet.count_tables.rebuilding import Effort, Reconstruction
from discreet.count_tables.release import Attack, CountRelease, attack
from discreet.count_tables.statistics import CountStatistics, DecimalLog
from discreet.count_tables.user_models import bayes_of_release
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.notebooks import Result
from discreet.policy.findings import Findings
from discreet.policy.reading import policies_of
from discreet.policy.verdict import Verdict
from discreet.progress import Progress, silent

# Our name of each distribution: its name for an exact release, and for a rounded S2.
DISTRIBUTIONS = {
    "multinomial": ("multinomial", "proper"),
    "uniform": ("uniform", "all_equal"),
    "uniform_by_factorisation": (None, "sets_equal"),
}
STEPS = 4  # that may each run into the time limit
STATES_A_SECOND = 30_000  # so that passing a layer takes no more than a part of the time
FIT_SECONDS = 3e-3  # a table drawn from the fit and fitted again
Risks = Mapping[str, CountRisk | Unavailable]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CountAssessment(Result):
    """The release, what an intruder finds from it, and how bad that is.

    `table`, `goodness`, `comparison`, `intervals`, `verdict` and `advice` are the holder's only;
    `before` and `risks_before` are without the intruder's knowledge, None and empty where there is
    none. `verdict` is on the release as asked, `advice` what was tried instead; `findings` are what
    any policy can be held against, the holder's only.

    `fit` and `poisson` are what a user of the release has: from the figures that go out and from
    nothing else. `fit_words` says what it rests on, `fits_by_n` are fits at the ends of a known
    range of n where n is withheld. `holder_fit` is the holder's own, from the exact statistics, and
    `user_sentence` what the test of fit means for a user of this release. `assumptions` are what
    the probabilities rest on beside the figures.
    """

    options: CountOptions
    table: Mapping[int, int] | None
    statistics: CountStatistics | None
    release: CountRelease
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
    findings: Findings | None = None
    advice: CountAdvice | None = None
    holder_fit: Fit | NoMaximum | None = None
    fit_words: str = ""
    fits_by_n: tuple[tuple[int, Fit | NoMaximum | Unavailable], ...] = ()
    user_sentence: str | None = None
    assumptions: tuple[str, ...] = ()
    bayes: BayesianAnalysis | Unavailable | None = None


def assessed_release(
    release: CountRelease,
    options: CountOptions,
    table: Mapping[int, int] | None = None,
    statistics: CountStatistics | None = None,
    progress: Progress = silent,
) -> CountAssessment:
    """What an intruder finds from the release, and how bad that is; the holder has the table."""
    time = _Time.of(options)
    knowledge = options.knowledge or None
    is_judged = table is not None and bool(options.policies)
    shares = _shares(is_judged, knowledge is not None)
    found = attack(release, knowledge, truth=table, effort=time.until(shares[0]), progress=progress)
    before = None
    if knowledge is not None:
        progress("without the knowledge", None)
        effort = time.until(shares[1])
        before = attack(release, truth=table, effort=effort, progress=progress)
    judged = None
    if table is not None and is_judged:
        judged = _judged(table, options, release, found, time.until(shares[2]), progress)
    fit = _fit(release)
    progress("listing tables", None)
    effort = time.until(0.93)
    likely = likely_tables(release, found, knowledge, draw=options.draw, effort=effort)
    progress("testing the fit", None)
    goodness = None if table is None else _goodness(table, options.fit_draws, time)
    risks = _risks(found, table)
    return CountAssessment(
        options=options,
        table=table,
        statistics=statistics,
        release=release,
        found=found,
        risks=risks,
        before=before,
        risks_before={} if before is None else _risks(before, table),
        likely=likely,
        fit=fit,
        poisson=None if isinstance(fit, Unavailable) else poisson_test(fit),
        goodness=goodness,
        comparison={} if table is None else _comparison(table),
        intervals=None if table is None else _intervals(release, found),
        verdict=None if judged is None else judged.verdict,
        findings=None if table is None else findings_of(risks["multinomial"], table),
        advice=judged,
        holder_fit=None if table is None or statistics is None else maximum_likelihood(statistics),
        fit_words=_fit_words(release),
        fits_by_n=_fits_by_n(release, knowledge),
        user_sentence=_user_sentence(release, goodness),
        assumptions=() if isinstance(found, Unavailable) else found.assumptions,
        bayes=bayes_of_release(release, options.prior) if options.bayes else None,
    )


@dataclass(frozen=True, slots=True)
class _Time:
    """The clock of one assessment, and the draws of all its steps."""

    begun: float
    seconds: float
    rng: np.random.Generator
    number_prior: str

    @classmethod
    def of(cls, options: CountOptions) -> "_Time":
        rng = np.random.default_rng(options.seed)
        return cls(working_seconds(), options.seconds, rng, options.number_prior)

    def until(self, share: float) -> Effort:
        """Work that ends when this share of the time has passed; no step takes more than half."""
        return Effort(
            seconds=self.seconds / STEPS,
            until=self.begun + share * self.seconds,
            states=int(min(4_000_000, max(300_000, STATES_A_SECOND * self.seconds))),
            rng=self.rng,
            number_prior=self.number_prior,
        )

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.begun + self.seconds - working_seconds()


def _shares(judged: bool, knows: bool) -> tuple[float, float, float]:
    """When the attack, that without the knowledge and the verdict must have ended."""
    if judged:
        return (0.4, 0.55, 0.85) if knows else (0.7, 0.7, 0.85)
    return (0.5, 0.85, 0.85) if knows else (0.85, 0.85, 0.85)


def _goodness(table: Mapping[int, int], draws: int, time: _Time) -> Goodness | Unavailable:
    """The test of fit: by a formula, or with the draws asked for where the time left allows them"""
    if draws and time.left < FIT_SECONDS * draws:
        return Unavailable(
            f"no time was left for {draws:,} draws of the test of fit; give more seconds"
        )
    work(FIT_SECONDS * draws)
    return goodness_of_fit(table, rng=time.rng, draws=draws)


def _user_sentence(release: CountRelease, goodness: Goodness | Unavailable | None) -> str | None:
    if not isinstance(goodness, Goodness):
        return None
    return goodness.sentence_for(has_n=release.n is not None, exact=release.is_exact)


def _judged(
    table: Mapping[int, int],
    options: CountOptions,
    release: CountRelease,
    found: Attack,
    effort: Effort,
    progress: Progress,
) -> CountAdvice:
    return advise(
        table,
        options.max_risk,
        policies=policies_of(options.policy),
        measure=options.measure,
        knowledge=options.knowledge,
        first=release,
        found=found,
        truncate=options.truncate,
        small=options.small,
        effort=effort,
        progress=progress,
    )


def _risks(found: Attack, table: Mapping[int, int] | None) -> dict[str, CountRisk | Unavailable]:
    """The risk under each distribution, by our names."""
    place = 1 if isinstance(found, TruncatedReconstruction) else 0
    risks: dict[str, CountRisk | Unavailable] = {}
    for name, names in DISTRIBUTIONS.items():
        distribution = names[place]
        if distribution is not None:
            risk = count_risk(found, distribution=distribution)
            risks[name] = (
                risk if table is None else holder_risk(found, table, distribution=distribution)
            )
    return risks


def _fit(release: CountRelease) -> Fit | NoMaximum | Unavailable:
    """What a user of the release can fit: from the figures that go out, and from no others."""
    if release.n is None:
        return Unavailable(
            "n is withheld, and S1 and S2 without it do not determine rate and dispersion"
        )
    return _fit_with(release, release.n)


def _fit_with(release: CountRelease, n: int) -> Fit | NoMaximum | Unavailable:
    given = release.log_factorial_total
    if isinstance(given, DecimalLog):
        return _fit_to_decimal(n, release.total, float(given.value))
    try:
        return maximum_likelihood(CountStatistics(n, release.total, given))
    except InputError as problem:
        return Unavailable(str(problem))


def _fit_to_decimal(n: int, total: int, value: float) -> Fit | Unavailable:
    """The fit to a rounded S2, which may be one that no observations have."""
    try:
        fit = maximum_likelihood_from(n, total, value)
    except InputError:
        return Unavailable("S2 as rounded is beyond what n and S1 allow, so nothing fits it")
    if isinstance(fit, Fit):
        return fit
    return Unavailable("S2 as rounded is the least that n and S1 allow: no dispersion fits it best")


def _fit_words(release: CountRelease) -> str:
    if release.n is None:
        return "n is withheld: nothing can be fitted"
    if release.is_exact:
        return "from n, S1 and the exact S2 that go out"
    return "from n, S1 and S2 as rounded: the digits of S2 that are cut off are not used"


def _fits_by_n(
    release: CountRelease, knowledge: Knowledge | None
) -> tuple[tuple[int, Fit | NoMaximum | Unavailable], ...]:
    """Fits at the ends of the known range of n, where n is withheld."""
    if release.n is not None or knowledge is None or knowledge.n is None:
        return ()
    return tuple((n, _fit_with(release, n)) for n in dict.fromkeys(knowledge.n) if n > 0)


def _comparison(table: Mapping[int, int]) -> dict[str, ComparisonEstimate | Unavailable]:
    return {
        "weighted least squares": weighted_least_squares(table),
        "moments": moment_estimate(table),
    }


def _intervals(release: CountRelease, found: Attack) -> IntervalPolicy | None:
    """What the policy of bounds would leave, where bounds of all cells and n are at hand."""
    if release.n is None or not isinstance(found, Reconstruction):
        return None
    return interval_policy(release.n, found.bounds.lower, found.bounds.upper)
