"""What COM-Poisson sums and fits cost, beside mpmath and beside adding terms one by one."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
from scipy.special import gammaln, logsumexp

from benchmarks.medians import median_cpu
from discreet.count_tables.com_poisson.conjugate import Conjugate
from discreet.count_tables.com_poisson.distribution import ComPoisson
from discreet.count_tables.com_poisson.estimation import maximum_likelihood
from discreet.count_tables.com_poisson.goodness import goodness_of_fit
from discreet.count_tables.com_poisson.normaliser import log_normaliser
from discreet.count_tables.statistics import CountStatistics

TABLES = {
    "disasters, n = 51": [15, 20, 9, 5, 2],
    "poem, n = 117": [0, 7, 33, 49, 22, 6],
    "injuries, n = 10,000": [5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1],
}
SERIES = {
    "λ = 1.2, ν = 1.02": (1.2, 1.02),
    "λ = 70.5, ν = 3.6": (70.5, 3.6),
    "λ = 0.999, ν = 0.0001": (0.999, 1e-4),
    "λ = 1.01, ν = 0.001, mean 21,000": (1.01, 1e-3),
    "λ = 100,000, ν = 1": (1e5, 1.0),
    "λ = 1e100, ν = 8, mean 3e12": (1e100, 8.0),
}
LARGEST_NAIVE = 1e6  # a longer sum, or one in mpmath over more terms, is not waited for


def run(scale: float) -> None:
    """Prints milliseconds for log Z, fits, a posterior, a test of fit and draws."""
    repeats = max(1, round(200 * scale))
    print(
        "log Z, milliseconds; naive: SciPy's logsumexp; mpmath: terms one by one "
        "with 25 digits, which is to check ours by and no race"
    )
    for name, (rate, dispersion) in SERIES.items():
        normaliser_row(name, rate, dispersion, repeats)
    print("maximum likelihood from (n, S1, S2), milliseconds")
    tables = TABLES | {"Poisson(1000), n = 10,000": drawn(1000.0), "Poisson(20000)": drawn(20000.0)}
    for name, counts in tables.items():
        statistics = CountStatistics.of_counts(dict(enumerate(counts)))
        seconds = typical_seconds(lambda one=statistics: maximum_likelihood(one), repeats)  # type: ignore[misc]
        print(f"  {name}: {seconds * 1e3:.2f}")
    injuries = dict(enumerate(TABLES["injuries, n = 10,000"]))
    posterior = Conjugate(1.0, 1.0, 1.0).updated(CountStatistics.of_counts(injuries))
    print(f"posterior on a grid: {typical_seconds(posterior.integrated, 1) * 1e3:.0f} ms")
    rng = np.random.default_rng(1)
    tested = typical_seconds(lambda: goodness_of_fit(injuries, rng=rng, draws=499), 1)
    print(f"test of fit with 499 tables: {tested * 1e3:.0f} ms")
    for name, (rate, dispersion) in list(SERIES.items())[1:4:2]:
        distribution = ComPoisson(rate, dispersion)
        million = typical_seconds(lambda one=distribution: one.draw(1_000_000, rng=rng), 1)  # type: ignore[misc]
        print(f"a million draws, {name}: {million * 1e3:.0f} ms")


def normaliser_row(name: str, rate: float, dispersion: float, repeats: int) -> None:
    """Our time, and the time and agreement of the others where they finish."""
    theta = math.log(rate)
    ours = typical_seconds(lambda: log_normaliser(theta, dispersion), repeats)
    exact = log_normaliser(theta, dispersion)
    cells = [f"{ours * 1e3:.3f}"]
    mode = rate ** (1 / dispersion)
    terms = round(mode + 60 * math.sqrt((mode + 1) / dispersion) + 1000)
    if terms <= LARGEST_NAIVE:
        x = np.arange(terms)
        seconds = typical_seconds(
            lambda: logsumexp(x * theta - dispersion * gammaln(x + 1.0)), min(repeats, 20)
        )
        off = abs(float(logsumexp(x * theta - dispersion * gammaln(x + 1.0))) / exact - 1)
        cells.append(f"naive {seconds * 1e3:.3f} (off by {off:.0e})")
    if terms <= LARGEST_NAIVE / 100:
        seconds = typical_seconds(lambda: by_mpmath(rate, dispersion), 1)
        theirs = float(mpmath.log(by_mpmath(rate, dispersion)))
        off = abs(theirs / exact - 1)
        cells.append(f"mpmath {seconds * 1e3:.0f} (off by {off:.0e})")
    print(f"  {name}: {', '.join(cells)}")


def by_mpmath(rate: float, dispersion: float) -> mpmath.mpf:
    """Term by term until nothing changes."""
    with mpmath.workdps(25):
        total = term = mpmath.mpf(1)
        x, last = 0, mpmath.mpf(0)
        while total != last or term > total * mpmath.mpf(10) ** -25:
            x += 1
            term *= rate / mpmath.mpf(x) ** dispersion
            last, total = total, total + term
        return total


def drawn(mean: float) -> list[int]:
    """A table of 10,000 Poisson counts, seeded."""
    counts: list[int] = np.bincount(np.random.default_rng(1).poisson(mean, 10_000)).tolist()
    return counts


def typical_seconds(work: Callable[[], object], repeats: int) -> float:
    """The median over three runs of the CPU seconds of one of `repeats` calls."""

    def repeated() -> None:
        for _ in range(repeats):
            work()

    return median_cpu(repeated)[0] / repeats


if __name__ == "__main__":
    run(1.0)
