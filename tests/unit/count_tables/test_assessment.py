"""The whole assessment of count statistics: what users have, what is withheld, what it rests on."""

import pytest

from discreet.count_tables.advice import CountDecision
from discreet.count_tables.com_poisson.estimation import (
    Fit,
    maximum_likelihood,
    maximum_likelihood_from,
)
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.options import CountOptions
from discreet.count_tables.statistics import CountStatistics, DecimalLog, decimal_log
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.flows.counts import assess_counts, assess_statistics

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


def assessed(**options):
    return assess_counts(DISASTERS, CountOptions(seconds=60, **options))


def test_a_full_release_leaves_users_the_exact_fit():
    found = assessed()
    assert found.fit == found.holder_fit == maximum_likelihood(STATISTICS)
    assert "loses nothing by having n, S1 and S2 alone" in found.user_sentence
    assert found.assumptions == ()
    assert found.fits_by_n == ()


def test_without_n_users_fit_nothing():
    found = assessed(withhold_n=True)
    assert isinstance(found.fit, Unavailable)
    assert "n is withheld" in found.fit.reason
    assert found.poisson is None
    assert found.holder_fit == maximum_likelihood(STATISTICS)
    assert "loses nothing" not in found.user_sentence
    assert "a user can fit nothing" in found.user_sentence
    assert "each taken as equally probable" in found.assumptions[0]
    assert found.found.first_value == found.likely.first_value == 1
    assert [cell.value for cell in found.risks["multinomial"].cells] == [1, 2, 3, 4]


def test_with_decimals_users_fit_the_rounded_figure():
    found = assessed(decimals=1)
    rounded = float(decimal_log(STATISTICS, 1, truncate=False).value)
    assert found.fit == maximum_likelihood_from(51, 61, rounded)
    assert found.fit != found.holder_fit
    assert "loses only the digits of S2" in found.user_sentence


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({0: 5, 1: 3, 2: 1}, "the least that n and S1 allow"),  # S2 = log 2, truncated to 0
        ({1: 5, 2: 3, 3: 1}, "beyond what n and S1 allow"),  # 3.87, truncated to 3; 3.47 is least
    ],
)
def test_a_rounded_s2_that_nothing_fits_says_nothing_of_the_observations(table, words):
    found = assess_counts(table, CountOptions(decimals=0, truncate=True))
    assert isinstance(found.fit, Unavailable)
    assert words in found.fit.reason
    assert "all observations" not in found.fit.reason
    assert found.poisson is None
    assert isinstance(found.holder_fit, Fit)


def test_a_known_range_of_n_gives_fits_at_its_ends():
    found = assessed(withhold_n=True, knows=Knowledge(n=(45, 60)))
    assert [n for n, _ in found.fits_by_n] == [45, 60]
    for n, fit in found.fits_by_n:
        assert isinstance(fit, Fit)
        assert fit == maximum_likelihood(CountStatistics(n, 61, STATISTICS.factorisation))
    assert found.found.numbers.finite


def test_holder_and_intruder_see_the_same_release():
    for decimals in (None, 1):
        own = assessed(withhold_n=True, decimals=decimals)
        given = own.release.log_factorial_total
        other = assess_statistics(None, 61, given, CountOptions(seconds=60))
        mine, theirs = (a.risks["multinomial"] for a in (own, other))
        assert mine.best_guess_probability == theirs.best_guess_probability
        assert own.fit == other.fit
        assert other.holder_fit is None
        assert theirs.truth_probability is None


def test_knowledge_of_a_shape_that_begins_at_one():
    options = CountOptions(seconds=60, withhold_n=True, knows=Knowledge(shape="decreasing"))
    found = assess_counts({0: 1, 1: 5, 2: 3, 3: 1}, options)
    assert found.risks["multinomial"].truth_probability.value > 0


def test_the_verdict_uses_what_was_asked_for():
    found = assessed(max_risk=0.35, small=2)
    assert found.advice.decision is CountDecision.FEWER_DECIMALS
    assert "1 to 2 observations" in found.advice.rule
    flat, steep = (
        assessed(withhold_n=True, number_prior=prior).risks["multinomial"].truth_probability.value
        for prior in ("equal", "reciprocal")
    )
    assert flat == pytest.approx(1 / 7)
    assert steep != pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"number_prior": "x"}, "the prior on n must be equal or reciprocal"),
        ({"small": 0}, "small must be at least 1"),
        ({"seconds": 0}, "seconds must be a finite number above zero"),
    ],
)
def test_options_that_cannot_be_meant(options, words):
    with pytest.raises(InputError, match=words):
        CountOptions(**options)


def test_a_decimal_that_no_counts_have():
    with pytest.raises(InputError, match="S2 must be an S2 that some 51 counts"):
        assess_statistics(
            51, 61, DecimalLog(decimal_log(STATISTICS, 2, truncate=False).value + 500, 2)
        )
