"""What all superpopulation models do alike: refuse, count a census, score, and give limits."""

import math

import numpy as np
import pytest

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError
from discreet.figures import Figure, How
from discreet.survey.models.contract import ModelUnavailable, Tally
from discreet.survey.models.dis import DataIntrusionSimulation
from discreet.survey.models.superpopulation.dankar import Dankar
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.fitted import (
    FittedSuperpopulation,
    Totals,
    WholePopulation,
)
from discreet.survey.models.superpopulation.negative_binomial import NegativeBinomial
from discreet.survey.models.superpopulation.pitman import Pitman
from discreet.survey.models.superpopulation.poisson_gamma import PoissonGamma
from discreet.survey.models.superpopulation.poisson_inverse_gaussian import PoissonInverseGaussian
from discreet.survey.models.superpopulation.zayatz import Zayatz

ALIKE = [
    Ewens(),
    Ewens(estimator="moments"),
    Pitman(),
    PoissonGamma(),
    PoissonInverseGaussian(),
    NegativeBinomial(),
    Zayatz(),
    Dankar(),
]
EVERY = [*ALIKE, DataIntrusionSimulation()]
COUNTS = [1] * 300 + [2] * 60 + [3] * 25 + [4] * 12 + [6] * 7 + [11] * 3 + [150]


def named(model):
    return f"{model.name}-{getattr(model, 'estimator', '')}"


def summary_of(counts, population=None, *, known=True, indices=None, cells=10**6):
    indices = SizeIndices.of_counts(np.array(counts)) if indices is None else indices
    return Summary(
        sample_size=indices.sample_size,
        n_table_cells=cells,
        level_counts=(cells,),
        size_indices=indices,
        weight_total=None,
        population_size=population,
        population_size_known=known,
    )


def batch_of(counts):
    return CellBatch(
        coding=Coding.of_sizes([max(len(counts), 1)]),
        words=np.arange(len(counts))[:, None],
        sample_count=np.array(counts, dtype=np.int64),
        weight_total=None,
    )


def scored(fit, counts):
    batch = batch_of(counts)
    scores = fit.score(batch)
    return scores, Tally().add(batch, scores)


@pytest.mark.parametrize("model", EVERY, ids=named)
def test_it_says_what_it_assumes(model):
    assert model.name.isidentifier()
    assert model.assumption.endswith(".")
    assert model.needs == frozenset()


@pytest.mark.parametrize("model", ALIKE, ids=named)
@pytest.mark.parametrize("population", [900.0, 8000.0, 3e8])
def test_scores_and_figures(model, population):
    fit = model.fit(summary_of(COUNTS, population))
    scores, tally = scored(fit, COUNTS)
    q, r, variance = scores.unique_probability, scores.match_probability, scores.match_variance
    f = np.array(COUNTS)
    assert ((q > 0) == (f == 1)).all()
    assert (q <= r).all()
    assert (r <= 1 / f + 1e-12).all()
    assert (variance >= 0).all()
    assert (variance <= r * (1 / f - r) + 1e-9).all()  # 1/F lies between 0 and 1/f
    uniques, matches = fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)
    assert uniques.how is How.ESTIMATE
    assert uniques.value == pytest.approx(tally.uniques)
    assert 0 <= uniques.low <= uniques.value <= uniques.high <= 300
    assert matches.value == pytest.approx(tally.matches)
    assert 0 <= matches.low <= matches.value <= matches.high <= len(COUNTS)
    assert fit.parameters["population_size"] == population
    assert fit.population_uniques == pytest.approx(uniques.value)
    assert all(math.isfinite(v) for v in fit.parameters.values() if not isinstance(v, str))


@pytest.mark.parametrize("model", ALIKE, ids=named)
def test_the_tally_of_a_part_of_the_cells(model):
    fit = model.fit(summary_of(COUNTS, 8000.0))
    _, tally = scored(fit, COUNTS[200:])
    figure = fit.expected_population_uniques(tally)
    assert figure.value == pytest.approx(100 * fit.distribution.unique_probability)
    assert figure.high <= 100


@pytest.mark.parametrize("model", ALIKE, ids=named)
def test_a_sample_that_is_the_population(model):
    for counts in (COUNTS, [1] * 20, [20]):
        fit = model.fit(summary_of(counts, float(sum(counts))))
        scores, tally = scored(fit, counts)
        assert scores.match_probability == pytest.approx(1 / np.array(counts))
        uniques, matches = (
            fit.expected_population_uniques(tally),
            fit.expected_correct_matches(tally),
        )
        assert (uniques.how, matches.how) == (How.EXACT, How.EXACT)
        assert (uniques.value, matches.value) == (counts.count(1), len(counts))
        assert fit.caution(tally) is None


@pytest.mark.parametrize("model", ALIKE, ids=named)
def test_a_population_that_only_the_weights_make_a_census_is_no_certainty(model):
    fit = model.fit(summary_of(COUNTS, float(sum(COUNTS)), known=False))
    _, tally = scored(fit, COUNTS)
    figure = fit.expected_population_uniques(tally)
    assert (figure.value, figure.how) == (300, How.ESTIMATE)
    assert "estimated from the survey weights" in figure.note


@pytest.mark.parametrize(
    "model", [Ewens(), Pitman(), PoissonGamma(), Zayatz(), Dankar()], ids=named
)
def test_no_sample_uniques_is_certain(model):
    counts = [2] * 30 + [3] * 12 + [9] * 5
    fit = model.fit(summary_of(counts, 2000.0))
    _, tally = scored(fit, counts)
    figure = fit.expected_population_uniques(tally)
    assert (figure.value, figure.low, figure.high, figure.how) == (0, 0, 0, How.EXACT)
    assert isinstance(fit.expected_correct_matches(tally), Figure)


@pytest.mark.parametrize("model", EVERY, ids=named)
def test_what_no_model_can_do_without(model):
    with pytest.raises(ModelUnavailable, match=r"--population, or with --weight"):
        model.fit(summary_of(COUNTS))
    with pytest.raises(ModelUnavailable, match="population_size must be at least the sample size"):
        model.fit(summary_of(COUNTS, 100.0))
    with pytest.raises(ModelUnavailable, match="population_size must be at least the sample size"):
        model.fit(summary_of(COUNTS, math.inf))
    with pytest.raises(ModelUnavailable, match="holds no record"):
        model.fit(summary_of([], 100.0, indices=SizeIndices(np.array([1]), np.array([0]))))
    overlapping = SizeIndices(np.array([1.0, 2.5]), np.array([3, 2]), np.array([3, 4]))
    with pytest.raises(ModelUnavailable, match="category or drop for missing values"):
        model.fit(summary_of([], 100.0, indices=overlapping))


@pytest.mark.parametrize(
    "model",
    [Ewens, Pitman, PoissonGamma, PoissonInverseGaussian, NegativeBinomial, Zayatz, Dankar],
)
@pytest.mark.parametrize("confidence", [0.0, 1.0, math.nan])
def test_a_confidence_that_is_none(model, confidence):
    with pytest.raises(InputError, match="confidence must be between 0 and 1"):
        model(confidence=confidence).fit(summary_of(COUNTS, 8000.0))


@pytest.mark.parametrize("model", [Ewens, Pitman, NegativeBinomial, Zayatz])
def test_more_confidence_gives_wider_limits(model):
    narrow, wide = (
        model(confidence=c).fit(summary_of(COUNTS, 8000.0)).uniques_figure() for c in (0.5, 0.99)
    )
    assert wide.low < narrow.low <= narrow.high < wide.high
    assert (narrow.confidence, wide.confidence) == (0.5, 0.99)


def test_a_population_size_that_is_not_whole_is_rounded():
    fit = Pitman().fit(summary_of(COUNTS, 8000.4, known=False))
    assert fit.parameters["population_size"] == 8000


@pytest.mark.parametrize("model", ALIKE, ids=named)
def test_two_records_of_one_cell_and_one_of_another(model):
    """The smallest sample with two kinds of cells: a figure or a reason, never a crash."""
    try:
        fit = model.fit(summary_of([2, 1], 10.0, cells=5))
    except ModelUnavailable as reason:
        assert str(reason)
        return
    scores, tally = scored(fit, [2, 1])
    assert 0 < scores.unique_probability[1] <= 1
    figure = fit.expected_population_uniques(tally)
    assert 0 <= figure.low <= figure.value <= figure.high <= 1
    fit.expected_correct_matches(tally)
    fit.caution(tally)


@pytest.mark.parametrize("bits", range(-4, 5))
def test_limits_that_are_whole_but_for_rounding_are_not_rounded_further(bits):
    """A distribution without any doubt: ten uniques, no more and no fewer."""
    sizes = SizeIndices.of_counts(np.array([1] * 100 + [2] * 20))
    fit = FittedSuperpopulation(
        name="sure",
        totals=Totals(size_indices=sizes, population_size=1400, n_table_cells=1000),
        distribution=WholePopulation(sizes, unique_probability=0.1 * (1 + bits * 2.0**-52)),
    )
    figure = fit.uniques_figure()
    assert figure.high == 10
    assert figure.low == pytest.approx(10, rel=1e-14)
