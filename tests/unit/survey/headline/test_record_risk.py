"""The recommended risk of each record: by plain loops, in its limits, and adding up."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import poisson
from tests.oracles.cells_beside import risks_of

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.engines.contract import PopulationTotals
from discreet.engines.local.cells import cells_at_hand
from discreet.survey.headline.extrapolation import CountingCells, bins_of, extrapolate
from discreet.survey.headline.inclusion import Classes, Inclusion
from discreet.survey.headline.possible_cells import known_cells
from discreet.survey.headline.rate_index import RATE_INDEX
from discreet.survey.headline.rate_shapes import grid_for
from discreet.survey.headline.recommendation import counted_in_file, recommend_cells
from discreet.survey.headline.record_risk import (
    _drawn_together,
    _expected_share,
    _of_several,
    _of_uniques,
    _posterior_by_bin,
)
from discreet.survey.known_population import known_population

FRACTION = 0.1


def drawn(seed=1, n=4000, spread=0.7):
    rng = np.random.default_rng(seed)
    index = rng.normal(0.0, 1.2, n)
    count = rng.poisson(0.8 * np.exp(index) * rng.gamma(spread, 1.0, n))
    return count[count > 0], index[count > 0]


def sample(seed, fraction, *, unequal=False, sizes=(5, 8, 6, 7), n=8000):
    rng = np.random.default_rng(seed)
    columns = [rng.choice(s, n, p=rng.dirichlet(np.full(s, 0.7))) for s in sizes]
    levels, persons = np.unique(np.array(columns).T, axis=0, return_counts=True)
    chance = np.full(len(persons), fraction)
    if unequal:
        chance = np.minimum(fraction * np.exp(0.5 * rng.standard_normal(sizes[0]))[levels[:, 0]], 1)
    f = rng.binomial(persons, chance)
    here = f > 0
    coding = Coding.of_sizes(sizes)
    weights = f[here] / chance[here] if unequal else None
    words = coding.encode(levels[here])
    cells = cells_at_hand(words, f[here], coding, weights)
    found = recommend_cells(cells, population_size=n, n_table_cells=coding.n_combinations)
    risks = None if found.risks is None else risks_of(found, cells, words)
    return found, f[here], persons[here], risks


@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.4, 0.9]), st.booleans())
def test_risks_add_up_to_the_headline_and_keep_their_limits(seed, fraction, unequal):
    found, f, _, risks = sample(seed, fraction, unequal=unequal)
    assume(f.sum() >= 100)
    led = found.recommended
    assert risks is not None
    uniques, matches = led.expected_population_uniques.value, led.expected_correct_matches.value
    assert f @ risks.population_unique == pytest.approx(uniques, rel=1e-9, abs=1e-9)
    assert f @ risks.risk == pytest.approx(matches, rel=1e-9)
    assert (risks.population_unique[f > 1] == 0).all()
    assert (risks.population_unique >= 0).all()
    assert (risks.risk > 0).all()
    assert (risks.risk * f <= 1 + 1e-12).all()
    assert (risks.risk >= risks.population_unique).all()


@pytest.mark.parametrize("fraction", [0.005, 0.1, 0.7])
@pytest.mark.parametrize("size", [1, 2, 7, 15])
def test_the_expected_share_is_that_of_a_poisson_number_of_others(size, fraction):
    grid = grid_for(FRACTION)
    found = _expected_share(size, fraction, grid)
    for place in range(0, len(grid.log_rates), 37):
        mean = np.exp(grid.log_rates[place]) * (1 - fraction) / fraction
        others = np.arange(poisson.ppf(1e-14, mean), poisson.ppf(1 - 1e-14, mean) + 40)
        expected = (size / (size + others)) @ poisson.pmf(others, mean)
        assert found[place] == pytest.approx(expected, rel=1e-9)


def test_tables_of_risk_are_posterior_means_by_plain_loops():
    count, index = drawn()
    one = Classes.one(FRACTION)
    batch = CellBatch(
        coding=Coding.of_sizes([len(count)]),
        words=np.arange(len(count))[:, None],
        sample_count=count,
        weight_total=None,
        extra={RATE_INDEX: index},
    )
    counts = CountingCells(Inclusion(FRACTION, int(count.sum())), one, one).of(batch)
    histogram = counts.histogram(one)
    places = (np.cumsum(counts.used) - 1)[bins_of(index)]
    result = extrapolate(histogram, fraction=FRACTION, possible=known_cells(10**6))
    grid, posterior = grid_for(FRACTION), _posterior_by_bin(result, FRACTION)
    assert posterior.sum(axis=(1, 2)) == pytest.approx(np.ones(len(posterior)))
    alone, shared = _of_uniques(histogram, grid, posterior)
    rate = np.exp(grid.log_rates)
    unseen = rate * (1 - FRACTION) / FRACTION
    heavy = np.argsort(-result.weight)[:400]
    weight = result.weight[heavy] / result.weight[heavy].sum()
    for bins in (0, len(posterior) // 2, len(posterior) - 1):
        stays = pairs = rest = 0.0
        for w, model in zip(weight, heavy, strict=True):
            shape, place = result.shape[model], result.places[model, bins]
            last = len(grid.locations) - 1
            density = grid._densities[shape, last - place : last - place + len(rate)]
            lone = rate * np.exp(-rate) * density
            stays += w * (lone @ np.exp(-unseen)) / lone.sum()
            rest += w * (lone @ (-np.expm1(-unseen) / unseen)) / lone.sum()
            two = rate**2 * np.exp(-rate) * density
            pairs += w * (two @ _expected_share(2, FRACTION, grid)) / two.sum()
        covered = result.weight[heavy].sum()
        near = 2 * (1 - covered) + 1e-9
        assert alone[bins, 0] == pytest.approx(stays, abs=near)
        of_one = alone[bins, 0] + (1 - alone[bins, 0]) * shared[bins, 0] / 2
        assert of_one == pytest.approx(rest, abs=near)
        held = counts.several[:, counts.used]
        assert held[0, bins] == ((count == 2) & (places == bins)).sum()
        if held[0].any():
            share = _of_several(held, one.fraction, grid, posterior)
            assert share[0, bins] == pytest.approx(pairs, abs=near)


def test_chances_are_drawn_together_with_the_same_sum():
    alone = np.array([[0.02, 0.0], [0.6, 1.0], [0.97, 0.4]])
    uniques = np.array([[50.0, 3.0], [20.0, 0.0], [9.0, 7.0]])
    found = _drawn_together(alone, uniques)
    assert (found * uniques).sum() == pytest.approx((alone * uniques).sum(), rel=1e-12)
    assert found[[0, 1], [1, 1]].tolist() == [0.0, 1.0]
    odds, before = (np.log(x[[0, 1, 2], 0] / (1 - x[[0, 1, 2], 0])) for x in (found, alone))
    assert np.diff(odds) == pytest.approx(0.93 * np.diff(before))


def test_a_record_with_more_neighbours_or_more_like_it_is_at_less_risk():
    _, f, persons, risks = sample(3, 0.05, n=40_000)
    assert risks is not None
    by_size = [risks.risk[f == size].mean() for size in (1, 2, 4) if (f == size).any()]
    assert by_size == sorted(by_size, reverse=True)
    alone = f == 1
    few, many = np.quantile(risks.risk[alone], [0.25, 0.75])
    low, high = risks.risk[alone] <= few, risks.risk[alone] >= many
    assert (1 / persons[alone][low]).mean() < (1 / persons[alone][high]).mean()


def test_a_sample_that_is_the_population_is_counted():
    coding = Coding.of_sizes((50,))
    counts = np.arange(1, 51)
    words = np.arange(50)[:, None]
    cells = cells_at_hand(words, counts, coding)
    whole = recommend_cells(cells, population_size=counts.sum(), n_table_cells=50)
    risks = risks_of(whole, cells, words)
    assert risks.risk.tolist() == (1 / counts).tolist()
    assert risks.population_unique.tolist() == [1.0] + [0.0] * 49


def test_a_file_of_the_population_tells_the_risk():
    words = np.arange(3)[:, None]
    cells = cells_at_hand(words, np.array([1, 1, 5]), Coding.of_sizes([3]))
    cells.put_counts("population_count", [{"words": words, "n": np.array([1, 4, 10])}])
    truth = known_population(cells, PopulationTotals(total=15))
    found = counted_in_file(truth.population_uniques, truth.correct_matches)
    assert risks_of(found, cells, words).risk.tolist() == [1.0, 0.25, 0.1]
    assert found.recommended.expected_population_uniques.value == 1
    assert found.recommended.expected_correct_matches.value == pytest.approx(1.75)


def test_without_an_estimate_there_is_no_risk():
    coding = Coding.of_sizes((200,))
    words, counts = np.arange(150)[:, None], np.full(150, 2)
    for size in (None, 100):
        cells = cells_at_hand(words, counts, coding)
        found = recommend_cells(cells, population_size=size, n_table_cells=200)
        assert found.risks is None
