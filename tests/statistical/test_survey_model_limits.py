"""Limits of the survey models lie as far out as their standard errors say, which other tests try on
populations drawn from each model."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, gamma, poisson

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.figures import How
from discreet.survey.models.benedetti_franconi import (
    BenedettiFranconi,
    gamma_limits,
    poisson_limits,
)
from discreet.survey.models.cohen_sackrowitz import (
    CohenSackrowitzMultinomial,
    CohenSackrowitzUniform,
)
from discreet.survey.models.contract import Tally
from discreet.survey.models.dis import correct_match_probability
from discreet.survey.models.exchangeable_prior import ExchangeablePosterior, PopulationPrior
from discreet.survey.models.lancaster import Lancaster, Mass
from discreet.survey.models.superpopulation.size_index_fit import combined_limits

SIZES = (12, 10, 9)


@pytest.fixture(scope="module")
def survey():
    """A population of 6,000 in 1,080 cells and a tenth of it, with what a model is fitted on."""
    rng = np.random.default_rng(1)
    chances = np.einsum(
        "a,b,c->abc", *(rng.dirichlet(np.full(size, 0.8)) for size in SIZES)
    ).ravel()
    population = rng.multinomial(6000, chances)
    return population, rng.binomial(population, 0.1)


def counted(survey):
    """The summary of the sample and its cells."""
    population, sample = survey
    f = sample[sample > 0]
    coding = Coding.of_sizes(SIZES)
    levels = np.argwhere(sample.reshape(SIZES) > 0)
    summary = Summary(
        sample_size=int(f.sum()),
        n_table_cells=math.prod(SIZES),
        level_counts=SIZES,
        size_indices=SizeIndices.of_counts(f),
        weight_total=None,
        population_size=float(population.sum()),
        population_size_known=True,
    )
    words = coding.encode(levels)
    return summary, CellBatch(coding=coding, words=words, sample_count=f, weight_total=None)


def told(survey, model):
    """Both figures of a model."""
    summary, batch = counted(survey)
    fit = model.fit(summary)
    tally = Tally().add(batch, fit.score(batch))
    return fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)


def width(figure):
    """Of the limits, over that of 95 % normal ones with the same standard error."""
    return (figure.high - figure.low) / (2 * 1.96 * figure.standard_error)


@pytest.mark.parametrize(
    "model",
    [BenedettiFranconi(), CohenSackrowitzUniform(), CohenSackrowitzMultinomial()],
    ids=lambda model: model.name,
)
def test_limits_are_as_far_out_as_the_standard_error_says(survey, model):
    """Those of uniques are whole numbers, rounded outward."""
    uniques, matches = told(survey, model)
    if uniques.value > 5:  # the multinomial prior leaves none
        assert 0.9 < width(uniques) < 1.25
    assert 0.97 < width(matches) < 1.03
    assert uniques.confidence == matches.confidence == 0.95


def test_limits_of_uniques_where_most_people_are_in_the_sample(survey):
    """The number is a sum of yes and no: its variance is a fifth of what a Poisson number has."""
    population, _ = survey
    sample = np.random.default_rng(3).binomial(population, 0.8)
    uniques, _ = told((population, sample), BenedettiFranconi())
    assert uniques.standard_error < 0.5 * math.sqrt(uniques.value)
    assert 0.9 < width(uniques) < 1.25


@pytest.mark.parametrize("prior", PopulationPrior)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_limits_of_an_exchangeable_prior_leave_out_all_they_may(prior, confidence):
    """No tail is more than its share, and one value less on either side would be too much."""
    posterior = ExchangeablePosterior(
        prior=prior, sample_size=1200, population_size=3000, n_table_cells=900
    )
    uniques, tail = posterior.uniques(300), (1 - confidence) / 2
    low, high = uniques.interval(confidence)
    assert 1 - uniques.at_least(low) <= tail < 1 - uniques.at_least(low + 1)
    assert uniques.at_least(high + 1) <= tail < uniques.at_least(high)


@pytest.mark.parametrize(("mean", "confidence"), [(3.2, 0.95), (40.0, 0.9), (900.0, 0.5)])
def test_poisson_limits_hold_what_they_say(mean, confidence):
    """No tail is more than its share, and one value less on either side would be too little."""
    low, high = poisson_limits(mean, confidence)
    number, tail = poisson(mean), (1 - confidence) / 2
    assert number.cdf(low - 1) <= tail < number.cdf(low)
    assert number.sf(high) <= tail < number.sf(high - 1)


@pytest.mark.parametrize(("mean", "variance"), [(3.0, 2.0), (100.0, 30.0)])
def test_gamma_limits_hold_what_they_say(mean, variance):
    low, high = gamma_limits(mean, variance, 0.9)
    number = gamma(mean**2 / variance, scale=variance / mean)
    assert (number.cdf(low), number.sf(high)) == (pytest.approx(0.05), pytest.approx(0.05))


def test_limits_of_a_number_about_an_uncertain_mean():
    """Both distances add as squares; here they are as 3 to 4."""
    sure = combined_limits(400.0, (400.0, 400.0), 100.0, 0.95)
    assert sure.standard_error == pytest.approx(10.0)
    assert sure.high - sure.low == pytest.approx(2 * 1.96 * 10, rel=0.06)
    both = combined_limits(400.0, (400 - 1.96 * 7.5, 400 + 1.96 * 7.5), 100.0, 0.95)
    assert both.standard_error == pytest.approx(12.5, rel=1e-3)
    assert both.high - both.low == pytest.approx(2 * 1.96 * 12.5, rel=0.06)


def test_what_lancaster_states_are_upper_limits_that_are_not_far_off(survey):
    """Unseen persons drawn from the fitted probabilities, 1,000 times: the error of the uniques is
    theirs (negatively associated, so a little more); that of the matches takes each f/F for a
    yes or no, which is up to four times what it is."""
    population, sample = survey
    pairs = list(itertools.combinations(range(3), 2))
    table = sample.reshape(SIZES)
    margins = {
        keys: table.sum(axis=tuple(axis for axis in range(3) if axis not in keys))
        for keys in [(0,), (1,), (2,), *pairs]
    }
    summary, batch = counted(survey)
    fit = Lancaster(shrinkage=0.5).fit(replace(summary, margins=margins))
    tally = Tally().add(batch, fit.score(batch))
    uniques, matches = fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)
    p = fit.renormalised(fit.clipped_probability(np.argwhere(np.ones(SIZES, dtype=bool))))
    others = np.random.default_rng(2).multinomial(population.sum() - sample.sum(), p, size=1000)
    true_uniques = ((others == 0) & (sample == 1)).sum(axis=1)
    true_matches = (sample / np.maximum(sample + others, 1)).sum(axis=1)
    assert 0.8 < true_uniques.std() / uniques.standard_error < 1.1
    assert 0.2 < true_matches.std() / matches.standard_error < 0.45
    assert width(uniques) == pytest.approx(1, abs=0.01)
    assert width(matches) == pytest.approx(1, abs=0.01)


def test_limits_of_a_simulated_sum_of_lancaster():
    figure = Mass(value=1.1, low=0.0, high=9.0, standard_error=0.01, how=How.ESTIMATE).figure()
    assert width(figure) == pytest.approx(1, abs=1e-3)


def test_limits_of_dis_cover_as_often_as_they_say():
    """At one half, where limits half or twice as wide would cover 26 % or 82 %; binomial limits
    that right ones fail once in a thousand times."""
    rng = np.random.default_rng(12)
    F = np.concatenate([np.ones(1500), np.full(600, 2), np.full(300, 5)]).astype(np.int64)
    inside = []
    for _ in range(200):
        f = rng.binomial(F, 0.2)
        truth = np.count_nonzero(f == 1) / F[f == 1].sum()
        sizes = (int((f == j).sum()) for j in (1, 2, 3))
        match = correct_match_probability(*sizes, 0.2, confidence=0.5)
        inside.append(match.low <= truth <= match.high)
    low, high = binom(200, 0.5).ppf([0.0005, 0.9995])
    assert low <= sum(inside) <= high
