"""What pairs tell about the cells of sample uniques, against enumeration and closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.survey.models.benedetti_franconi import BenedettiFranconi, individual_risk
from discreet.survey.models.contract import ModelUnavailable, Tally
from discreet.survey.models.underestimation import (
    SmallCells,
    SmallCellSums,
    small_cells,
    underestimation_check,
)


def summary_of(
    uniques: int,
    pairs: int,
    triples: int,
    *,
    population_size: float | None,
    weighted: bool = False,
    n_table_cells: int = 10**9,
    large: int = 0,
) -> Summary:
    sizes = [(1, uniques), (2, pairs), (3, triples), (50, large)]
    kept = np.array([pair for pair in sizes if pair[1]], dtype=np.int64).reshape(-1, 2)
    indices = SizeIndices(kept[:, 0].copy(), kept[:, 1].copy())
    return Summary(
        sample_size=indices.sample_size,
        n_table_cells=n_table_cells,
        level_counts=(n_table_cells,),
        size_indices=indices,
        weight_total=population_size if weighted else None,
        population_size=population_size,
        population_size_known=population_size is not None,
    )


def evidence(
    *,
    uniques: int = 100,
    pairs: int = 50,
    triples: int = 33,
    missed_cells: int = 10**9,
    mean_risk: float = 1.0,
    unique_probability: float = 1.0,
) -> SmallCells:
    """A sample of one in a hundred."""
    return SmallCells(
        uniques=uniques,
        pairs=pairs,
        triples=triples,
        missed_cells=missed_cells,
        unseen_per_seen=99.0,
        mean_risk=mean_risk,
        unique_probability=unique_probability,
    )


@pytest.mark.parametrize("population", [[1, 1, 1], [5], [1, 2, 3, 30, 400]])
def test_pairs_give_the_mean_cell_of_a_sample_unique(population):
    """E Σ F over sample uniques = E(s₁) + 2x E(s₂), and E Σ 1/F is E(missed cells)/x."""
    F, p = np.array(population), 0.07
    x = (1 - p) / p
    one, two, none = (np.asarray(stats.binom(F, p).pmf(j)) for j in (1, 2, 0))
    assert one @ F == pytest.approx(one.sum() + 2 * x * two.sum())
    assert one @ (1 / F) == pytest.approx(none.sum() / x)


def test_pairs_of_unequal_weights_give_the_mean_cell_too():
    """E Σ (F − 1) over sample uniques = E Σ (w + w′ − 2) over pairs, by all samples of one cell."""
    chances = [0.1, 0.5, 0.9, 0.25]
    unseen = pairs = 0.0
    for sample in itertools.product([False, True], repeat=4):
        mass = math.prod(c if s else 1 - c for c, s in zip(chances, sample, strict=True))
        taken = [1 / c for c, s in zip(chances, sample, strict=True) if s]
        unseen += mass * 3 * (len(taken) == 1)
        pairs += mass * (sum(taken) - 2) * (len(taken) == 2)
    assert unseen == pytest.approx(pairs)


def test_the_model_itself_is_the_case_of_harmonic_size_indices():
    p = 0.01
    risk = individual_risk(np.ones(1), np.array([p]))[0]
    cells = evidence(uniques=6000, pairs=3000, triples=2000, mean_risk=risk, unique_probability=p)
    assert cells.pair_rate == cells.spread == 1
    assert cells.cell_size(1) == pytest.approx(1 / p)
    assert cells.extrapolated_ratios(1) == pytest.approx((1, 1), rel=1e-12)


@pytest.mark.parametrize(("pair_rate", "triples"), [(0.3, 12), (0.5, 33), (1.7, 90), (0.9, 60)])
def test_extrapolation_is_the_mean_of_a_negative_binomial(pair_rate, triples):
    """F − 1 ~ NB(a/φ, p/(p + φq)): E(1/F) = ∫ E(t^(F−1)) dt."""
    pairs = round(50 * pair_rate)
    cells = evidence(pairs=pairs, triples=triples)
    a, phi, x = cells.pair_rate, cells.spread, cells.unseen_per_seen
    success = 1 / (1 + phi * x)
    expected, _ = quad(lambda t: (success / (1 - (1 - success) * t)) ** (a / phi), 0, 1)
    alone = success ** (a / phi)
    assert cells.extrapolated_ratios(a) == pytest.approx((expected, alone), rel=1e-7)


def test_extrapolation_of_cells_of_one_size_is_poisson():
    """φ = 0: F − 1 is Poisson(ax), E(1/F) = (1 − e^(−ax)) / (ax)."""
    cells = evidence(pairs=1, triples=0)
    mean = cells.pair_rate * cells.unseen_per_seen
    expected = -math.expm1(-mean) / mean, math.exp(-mean)
    assert cells.extrapolated_ratios(cells.pair_rate) == pytest.approx(expected)


def test_extrapolation_without_pairs_has_all_uniques_alone():
    assert evidence(pairs=0, triples=0).extrapolated_ratios(0) == pytest.approx((1, 1))


def test_extrapolation_is_cut_by_the_cells_left():
    free, cut = evidence(pairs=5, triples=2), evidence(pairs=5, triples=2, missed_cells=200)
    matches, alone = cut.extrapolated_ratios(cut.pair_rate)
    assert matches == pytest.approx(200 / 99 / 100)
    assert alone / matches == pytest.approx(
        np.divide(*free.extrapolated_ratios(free.pair_rate)[::-1])
    )


def test_highest_pair_rate_is_the_binomial_limit():
    cells = evidence(uniques=40, pairs=7)
    share = cells.highest_pair_rate / (2 + cells.highest_pair_rate)
    assert stats.binom(47, share).cdf(7) == pytest.approx(0.025)


def test_sparse_file_warns_with_a_certain_ratio():
    summary = summary_of(19_361, 241, 30, population_size=1_990_000.0)
    warning = underestimation_check(summary)
    assert warning is not None
    p = summary.sample_size / 1_990_000
    risk = individual_risk(np.ones(1), np.array([p]))[0]
    assert 1 < warning.at_least < warning.ratio < 1 / risk
    assert warning.at_least == pytest.approx(1 / (warning.cell_size * risk))
    assert warning.assumed_cell_size == pytest.approx(1 / p)
    assert "too low for these data: 241 cells of two records and 19361" in warning.sentence
    ratios = f"at least {warning.at_least:.2g} and probably {warning.ratio:.2g} times"
    also = f", and population uniques {warning.uniques_ratio:.2g} times."
    assert warning.sentence.endswith(f"among sample uniques are {ratios} its figure{also}")


def test_skewed_file_warns_with_a_probable_ratio():
    warning = underestimation_check(summary_of(2508, 536, 200, population_size=1e6, large=150))
    assert warning is not None
    assert warning.at_least < 1 < 2 < warning.ratio
    assert "probably too low" in warning.sentence
    assert "at least" not in warning.sentence


@pytest.mark.parametrize(
    ("uniques", "pairs", "triples"),
    [(2000, 1000, 667), (10, 43, 151), (30, 4, 1), (1, 0, 0), (0, 0, 0), (0, 5, 9)],
)
def test_no_warning_where_nothing_shows_it(uniques, pairs, triples):
    """As the model has it, dense, few, a single one, none at all."""
    assert underestimation_check(summary_of(uniques, pairs, triples, population_size=1e6)) is None


def test_no_warning_for_a_full_table_or_a_census():
    full = summary_of(500, 40, 10, population_size=1e5, n_table_cells=560)
    assert underestimation_check(full) is None
    census = summary_of(500, 0, 0, population_size=500.0)
    assert underestimation_check(census) is None


def test_a_table_larger_than_any_float_is_no_obstacle():
    summary = summary_of(900, 5, 0, population_size=1e5, n_table_cells=10**400)
    assert underestimation_check(summary) is not None


def test_sums_over_batches_replace_the_mean_weight():
    """Uniques of weight 1 are at risk 1 already, whatever the mean weight: nothing is too low."""
    summary = summary_of(900, 5, 0, population_size=1e5, weighted=True)
    assert underestimation_check(summary, SmallCellSums(900.0, 900.0, 10.0)) is None
    p = 910 / 1e5
    risk = individual_risk(np.ones(1), np.array([p]))[0]
    equal = SmallCellSums(900 * risk, 900 * p, 10 / p)
    assert underestimation_check(summary) is not None
    assert underestimation_check(summary, equal) == underestimation_check(summary)


def test_sums_of_a_file_without_weights_change_nothing():
    summary = summary_of(900, 5, 0, population_size=1e5)
    assert underestimation_check(summary) is not None
    assert underestimation_check(summary, SmallCellSums()) == underestimation_check(summary)


def test_sums_of_batches():
    summary = summary_of(2, 1, 1, population_size=20.0, weighted=True)
    fitted, tally = BenedettiFranconi().fit(summary), Tally()
    for counts, weights in [([1, 2], [4.0, 9.0]), ([1, 3], [2.0, 5.0])]:
        batch = CellBatch(
            coding=Coding.of_sizes([10]),
            words=np.arange(2)[:, None],
            sample_count=np.array(counts),
            weight_total=np.array(weights),
        )
        tally = tally.add(batch, fitted.score(batch))
    sums = SmallCellSums(tally.unique_matches, tally.uniques, tally.pair_weight_total)
    risk = individual_risk(np.ones(2), np.array([1 / 4, 1 / 2])).sum()
    found = sums.matches, sums.uniques, sums.pair_weight_total
    assert found == pytest.approx((risk, 1 / 4 + 1 / 2, 9))
    assert small_cells(summary, sums).unseen_per_seen == pytest.approx(9 / 2 - 1)


def test_check_needs_to_know_how_much_is_unseen():
    with pytest.raises(ModelUnavailable, match="needs the share of people in the sample"):
        underestimation_check(summary_of(5, 1, 0, population_size=None))


@pytest.mark.parametrize("bits", range(-4, 5))
def test_weights_of_one_but_for_rounding_leave_nothing_to_warn_of(bits):
    noise = 1 + bits * 2.0**-52
    summary = summary_of(100, 0, 10, population_size=130.0 * noise, weighted=True)
    assert underestimation_check(summary) is None
    summary = summary_of(100, 5, 10, population_size=140.0, weighted=True)
    assert underestimation_check(summary, SmallCellSums(100.0, 100.0, 10 * noise)) is None


@pytest.mark.parametrize("bits", range(-4, 5))
def test_a_ratio_of_one_but_for_rounding_is_no_proof(bits):
    """No cell was missed, so that only the certain ratio counts, and the model is just there."""
    summary = summary_of(100, 40, 30, population_size=2700.0, weighted=True, n_table_cells=170)
    weights = 2 * 40 * 10.0
    cells = small_cells(summary, SmallCellSums(1.0, 1.0, weights))
    least = 100 / cells.cell_size(cells.highest_pair_rate) * (1 + bits * 2.0**-52)
    assert underestimation_check(summary, SmallCellSums(least, 10.0, weights)) is None
    assert underestimation_check(summary, SmallCellSums(least * 0.99, 10.0, weights)) is not None
