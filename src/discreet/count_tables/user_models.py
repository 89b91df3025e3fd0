"""What a user of released statistics can fit: Bayesian analyses and regressions, as asked for."""

from collections.abc import Mapping, Sequence

from discreet.clock import Clock, work
from discreet.count_tables.com_poisson.conjugate import (
    BayesianAnalysis,
    Conjugate,
    bayes_from_statistics,
)
from discreet.count_tables.com_poisson.estimation import SampleSums
from discreet.count_tables.com_poisson.regression import SetsRegression, regress_sets
from discreet.count_tables.options import Prior
from discreet.count_tables.release import CountRelease
from discreet.count_tables.statistics import CountStatistics, DecimalLog
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable

N_WITHHELD = "n is withheld, and without it neither rate nor dispersion can be told"
BAYES_SECONDS = 0.5  # an analysis: some hundred thousand terms of the normaliser
PREDICTED = range(6)  # values whose probability in a new observation is told


def bayes_of_release(release: CountRelease, prior: Prior | None) -> BayesianAnalysis | Unavailable:
    """The analysis from what goes out, or why there is none."""
    sums = sums_of(release)
    if isinstance(sums, Unavailable):
        return sums
    own = None if prior is None else Conjugate(*prior)
    try:
        return bayes_from_statistics(sums, own, values=PREDICTED)
    except InputError:
        raise
    except (ValueError, ArithmeticError):
        return Unavailable("the integrals are beyond floating-point numbers for these statistics")


def bayes_by_category(
    releases: Mapping[str, CountRelease], prior: Prior | None, seconds: float
) -> dict[str, BayesianAnalysis | Unavailable]:
    """An analysis for each category while the time allowed lasts."""
    clock = Clock(seconds)
    found: dict[str, BayesianAnalysis | Unavailable] = {}
    for name, release in releases.items():
        if not clock.is_over:
            work(BAYES_SECONDS)
            found[name] = bayes_of_release(release, prior)
        else:
            found[name] = Unavailable(f"{seconds:g} seconds are over; allow more")
    return found


def sums_of(release: CountRelease) -> CountStatistics | SampleSums | Unavailable:
    """n, S1 and S2 as a user of the release has them: S2 exact, or the published decimal."""
    if release.n is None:
        return Unavailable(N_WITHHELD)
    given = release.log_factorial_total
    if isinstance(given, DecimalLog):
        return SampleSums(release.n, release.total, float(given.value))
    if release.total == 0:
        return SampleSums(release.n, 0, 0.0)
    return CountStatistics(release.n, release.total, given)


def regression_of(
    releases: Mapping[str, CountRelease],
    levels: Mapping[str, Sequence[str]],
    variables: Sequence[str],
    terms: Sequence[str],
) -> SetsRegression | Unavailable:
    """The regression on the terms, from one set for each category with its levels."""
    effects = effects_of(terms, variables)
    named = []
    for name, release in releases.items():
        sums = sums_of(release)
        if isinstance(sums, Unavailable):
            return Unavailable(f"{', '.join(levels[name])}: {sums.reason}")
        named.append((dict(zip(variables, levels[name], strict=True)), sums))
    return regress_sets(named, effects)


def effects_of(terms: Sequence[str], variables: Sequence[str]) -> list[list[str]]:
    """The effects of 'ward,year' or of 'ward*year', which is both and their interaction."""
    effects: list[list[str]] = []
    for term in terms:
        parts = [term] if term in variables else [part.strip() for part in term.split("*")]
        for part in parts:
            if part not in variables:
                rule = f"of the category columns {', '.join(map(repr, variables))}"
                raise InputError(must_be("regress", rule, repr(part)))
        wanted = [[part] for part in parts] + ([parts] if len(parts) > 1 else [])
        effects += [effect for effect in wanted if effect not in effects]
    return effects
