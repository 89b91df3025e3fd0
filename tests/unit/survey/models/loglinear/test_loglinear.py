"""The log-linear model: choice of structure, scores, figures, cautions, and what it refuses."""

import math
from dataclasses import replace
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from scipy.special import gammainc
from tests.oracles.cells_beside import cells_of_batch

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.engines.local.grouping import in_order
from discreet.engines.local.parts import Shelf
from discreet.errors import InputError
from discreet.figures import How
from discreet.numerics.graphs import Graph
from discreet.survey.models.contract import Model, ModelUnavailable, Tally, TunableModel
from discreet.survey.models.loglinear.cell_sums import Subtrees, _add_from_behind, sum_over_cells
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitting import IterativeFit
from discreet.survey.models.loglinear.judgement import expected_uniques, unseen_mean
from discreet.survey.models.loglinear.minimum_error import (
    BothCriteria,
    MinimumError,
    _gamma_ratios,
    criterion_for_matches,
    criterion_for_uniques,
)
from discreet.survey.models.loglinear.model import STUCK, LogLinear
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells, gathered_cells
from discreet.survey.models.loglinear.search import _Seeker, forward_search

SIZES = (7, 5, 9, 3)


def some_records(n=600, seed=5, sizes=SIZES):
    rng = np.random.default_rng(seed)
    columns = [rng.choice(s, n, p=rng.dirichlet(np.full(s, 0.8))) for s in sizes]
    columns[1] = np.where(rng.random(n) < 0.7, columns[0] % sizes[1], columns[1])
    return np.stack(columns, axis=1)


def counted(records, sizes=SIZES, population=6000.0, weights=None, **changes):
    """The summary and the one batch of cells of some records, in the order of their codes."""
    levels, place, counts = np.unique(records, axis=0, return_inverse=True, return_counts=True)
    coding = Coding.of_sizes(sizes)
    totals = None if weights is None else np.bincount(place.ravel(), weights)
    batch = CellBatch(
        coding=coding,
        words=coding.encode(levels),
        sample_count=counts.astype(np.int64),
        weight_total=totals,
    )
    summary = Summary(
        sample_size=len(records),
        n_table_cells=math.prod(sizes),
        level_counts=tuple(sizes),
        size_indices=SizeIndices.of_counts(counts),
        weight_total=None if weights is None else float(weights.sum()),
        population_size=population,
        population_size_known=True,
    )
    return replace(summary, **changes), batch.part(in_order(batch.words))


def fitted(model, summary, batch, impossible=()):
    return model.tuned(summary, cells_of_batch(batch), impossible).fit(summary)


def tallied(fit, batch):
    return Tally().add(batch, fit.score(batch))


def test_it_keeps_the_contract():
    model: Model = LogLinear()
    assert isinstance(model, TunableModel)
    assert model.name == "loglinear"


def test_scores_have_the_population_mean_in_its_right_place():
    """Under independence μ = ∏ n_a / n³, and 9 unseen people for each in the sample on average."""
    records = some_records()
    summary, batch = counted(records)
    fit = fitted(LogLinear(structure="independence"), summary, batch)
    scores = fit.score(batch)
    for row, count in enumerate(batch.sample_count):
        cell = batch.levels()[row]
        mean = math.prod(np.count_nonzero(records[:, a] == cell[a]) for a in range(4)) / 600**3
        unseen = mean * (6000 - 600) / 600
        expected = math.exp(-unseen) if count == 1 else 0.0
        assert scores.unique_probability[row] == pytest.approx(expected)
        if count == 1:
            assert scores.match_probability[row] == pytest.approx(-math.expm1(-unseen) / unseen)
    tally = tallied(fit, batch)
    assert tally.uniques == pytest.approx(expected_uniques(fit.fit, 0.1))


def test_unseen_people_are_counted_on_the_scale_of_the_population():
    assert unseen_mean(np.array([0.2]), 0.01) == pytest.approx([0.2 * 99])
    assert unseen_mean(np.array([0.2]), np.array([0.5])) == pytest.approx([0.2])


def test_the_default_is_a_search_over_decomposable_models():
    summary, batch = counted(some_records(2000), population=20_000.0)
    fit = fitted(LogLinear(), summary, batch)
    told = fit.parameters
    assert isinstance(fit.fit, DecomposableFit)
    assert "[1 2" in told["structure"], "the two keys that are associated, by position"
    assert told["structure_rule"] == "decomposable model of minimum error"
    assert told["models_tried"] >= 2
    assert told["fitted_by"] == "closed form"
    assert abs(told["criterion_standardised"]) < 2
    assert told["observed_cells_of_1"] == summary.size_indices.sample_uniques
    assert told["predicted_cells_of_1"] == pytest.approx(told["observed_cells_of_1"], rel=0.3)
    assert fit.structure(["a", "b", "c", "d"]).startswith("[a b")


@pytest.mark.parametrize(
    ("structure", "generators", "kind"),
    [
        ("independence", ((0,), (1,), (2,), (3,)), DecomposableFit),
        ("two-way", ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)), IterativeFit),
        ("three-way", ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)), IterativeFit),
        (((1, 0), (2, 1)), ((0, 1), (1, 2), (3,)), DecomposableFit),
        (((0, 1), (1, 2), (0, 2)), ((0, 1), (1, 2), (0, 2), (3,)), IterativeFit),
    ],
)
def test_a_structure_can_be_given(structure, generators, kind):
    summary, batch = counted(some_records())
    fit = fitted(LogLinear(structure=structure), summary, batch)
    assert isinstance(fit.fit, kind)
    assert fit.fit.generators == generators
    assert fit.parameters["structure_rule"] == "given"


def test_smoothing_needs_iteration_and_moves_towards_independence():
    summary, batch = counted(some_records())
    plain, half, full = (
        fitted(LogLinear(structure=((0, 1),), smoothing=w), summary, batch).fit.sample_mean
        for w in (0.0, 0.5, 1.0)
    )
    apart = fitted(LogLinear(structure="independence"), summary, batch).fit.sample_mean
    assert full == pytest.approx(apart, rel=1e-4)
    assert half == pytest.approx((plain + apart) / 2, rel=1e-4), "one margin: a plain mixture"


def test_an_interval_holds_all_parts_of_the_error():
    summary, batch = counted(some_records())
    fit = fitted(LogLinear(), summary, batch)
    tally = tallied(fit, batch)
    figure = fit.expected_population_uniques(tally)
    criterion = fit.judgement.uniques
    variance = (
        tally.uniques_variance
        + fit.uniques_error.estimation
        + fit.uniques_error.choice
        + criterion.bias**2
        + criterion.standard_error**2
    )
    assert figure.how is How.ESTIMATE
    assert figure.standard_error == pytest.approx(math.sqrt(variance))
    assert 0 <= figure.low <= figure.value <= figure.high <= summary.size_indices.sample_uniques
    assert fit.uniques_error.estimation > 0
    matches = fit.expected_correct_matches(tally)
    assert figure.value < matches.value <= len(batch)
    assert matches.low < matches.value < matches.high


def test_cells_can_be_kept_in_parts(tmp_path):
    summary, batch = counted(some_records())
    cells = cells_of_batch(batch, Shelf(tmp_path, most_held=1, at_once=len(batch) // 3))
    assert len(cells.parts) >= 3
    whole = fitted(LogLinear(), summary, batch)
    split = LogLinear().tuned(summary, cells).fit(summary)
    assert split.parameters == whole.parameters


def test_more_cells_than_can_be_held_are_refused(monkeypatch):
    summary, batch = counted(some_records())
    monkeypatch.setattr("discreet.survey.models.loglinear.model.MOST_FITTED", len(batch))
    fitted(LogLinear(), summary, batch)
    monkeypatch.setattr("discreet.survey.models.loglinear.model.MOST_FITTED", len(batch) - 1)
    with pytest.raises(ModelUnavailable, match=f"and there are {len(batch)}; make keys coarser"):
        fitted(LogLinear(), summary, batch)


def test_a_cell_that_no_record_has_can_be_scored():
    summary, batch = counted(some_records())
    every = np.array(np.meshgrid(*map(range, SIZES), indexing="ij")).reshape(4, -1).T
    other = replace(
        batch, words=batch.coding.encode(every), sample_count=np.ones(len(every), dtype=np.int64)
    )
    for structure in ("independence", "two-way"):
        scores = fitted(LogLinear(structure=structure), summary, batch).score(other)
        assert ((scores.unique_probability >= 0) & (scores.unique_probability <= 1)).all()


def test_weights_give_each_cell_its_chance():
    """Weights 2 and 20 by a key: unseen people are w − 1 for each in the sample."""
    records = some_records()
    weights = np.where(records[:, 3] == 0, 2.0, 20.0)
    summary, batch = counted(records, weights=weights, population=float(weights.sum()))
    fit = fitted(LogLinear(structure="independence"), summary, batch)
    odds = np.where(batch.levels()[:, 3] == 0, 1.0, 19.0)
    expected = np.exp(-odds * fit.fit.sample_mean)
    single = batch.sample_count == 1
    assert fit.score(batch).unique_probability[single] == pytest.approx(expected[single])
    assert fit.parameters["inclusion_probability"] == "by cell"
    equal = fitted(LogLinear(structure="independence", use_weights=False), summary, batch)
    assert equal.parameters["inclusion_probability"] == "one for all"


def test_weights_are_scaled_to_the_population_and_never_below_one():
    records = some_records()
    weights = np.where(records[:, 3] == 0, 0.01, 2.0)
    summary, batch = counted(records, weights=weights, population=3 * float(weights.sum()))
    fit = fitted(LogLinear(structure="independence"), summary, batch)
    scores = fit.score(batch)
    first = (batch.levels()[:, 3] == 0) & (batch.sample_count == 1)
    assert first.any()
    assert scores.unique_probability[first] == pytest.approx(1.0), "0.03 < 1: nobody is unseen"
    rest = (batch.levels()[:, 3] > 0) & (batch.sample_count == 1)
    assert scores.unique_probability[rest] == pytest.approx(np.exp(-5 * fit.fit.sample_mean[rest]))


def test_equal_weights_are_none():
    records = some_records()
    summary, batch = counted(records, weights=np.full(600, 10.0))
    assert fitted(LogLinear(), summary, batch).parameters["inclusion_probability"] == "one for all"


def test_a_population_size_from_weights_is_said_to_be_one():
    records = some_records()
    summary, batch = counted(
        records, weights=np.full(600, 10.0), population_size_known=False, population=6000.0
    )
    fit = fitted(LogLinear(), summary, batch)
    note = fit.expected_population_uniques(tallied(fit, batch)).note
    assert "estimated from the survey weights" in note


def test_the_whole_population_gives_exact_counts():
    summary, batch = counted(some_records(), population=600.0)
    fit = fitted(LogLinear(), summary, batch)
    tally = tallied(fit, batch)
    uniques, matches = fit.expected_population_uniques(tally), fit.expected_correct_matches(tally)
    assert uniques.how is matches.how is How.EXACT
    assert uniques.value == summary.size_indices.sample_uniques
    assert matches.value == pytest.approx(len(batch), rel=1e-12)
    assert fit.caution(tally) is None


def test_without_sample_uniques_there_are_no_population_uniques():
    summary, batch = counted(np.repeat(some_records(), 2, axis=0))
    fit = fitted(LogLinear(), summary, batch)
    figure = fit.expected_population_uniques(tallied(fit, batch))
    assert (figure.value, figure.how) == (0.0, How.EXACT)


def test_cautions_say_which_way_the_model_errs():
    summary, batch = counted(some_records(3000), population=30_000.0)
    simple = fitted(LogLinear(structure="independence"), summary, batch)
    rich = fitted(LogLinear(structure="three-way"), summary, batch)
    tally = Tally()
    assert "too simple" in simple.caution(tally)
    assert "too high" in simple.caution(tally)
    assert "too rich" in rich.caution(tally)
    assert "too low" in rich.caution(tally)


def test_a_search_cut_short_says_so():
    rng = np.random.default_rng(1)
    records = np.stack([rng.integers(s, size=500) for s in SIZES], axis=1)
    summary, batch = counted(records, population=5000.0)
    fit = fitted(LogLinear(budget=1), summary, batch)
    assert fit.parameters["search_complete"].startswith("no")
    assert "budget" in fit.caution(Tally())


def impossible_pair(records):
    joint = np.zeros((7, 9), dtype=np.int64)
    np.add.at(joint, (records[:, 0], records[:, 2]), 1)
    empty = (joint == 0) & (joint.sum(1, keepdims=True) > 0) & (joint.sum(0, keepdims=True) > 0)
    first, third = np.argwhere(empty)[0]
    return {0: int(first), 2: int(third)}


def test_impossible_cells_are_left_out_of_the_fit():
    records = some_records()
    summary, batch = counted(records)
    box = impossible_pair(records)
    fit = fitted(LogLinear(), summary, batch, [box])
    assert isinstance(fit.fit, IterativeFit)
    assert "impossible cells left out" in fit.parameters["structure_rule"]
    levels = np.array([[box[0]], [0], [box[2]], [0]])
    assert fit.fit.mean_at(levels)[0] == 0
    assert fit.fit.deviation < 0.05


def test_impossible_cells_of_a_table_too_large_are_ignored_with_a_caution(monkeypatch):
    monkeypatch.setattr("discreet.survey.models.loglinear.model.AUTO_WORK", 10)
    rng = np.random.default_rng(1)
    records = np.stack([rng.integers(s, size=500) for s in SIZES], axis=1)
    records = records[(records[:, 0] != 1) | (records[:, 2] != 2)]
    summary, batch = counted(records)
    fit = fitted(LogLinear(), summary, batch, [{0: 1, 2: 2}])
    assert "impossible" in fit.caution(Tally())


def test_a_record_in_an_impossible_cell_is_an_error():
    records = some_records()
    summary, batch = counted(records)
    box = {0: int(records[0, 0])}
    with pytest.raises(InputError, match="structural_zeros must be combinations that no record"):
        LogLinear(structural_zeros=(box,)).tuned(summary, cells_of_batch(batch))


@pytest.mark.parametrize("box", [{}, {9: 0}, {0: 7}, {0: -1}])
def test_a_box_outside_the_table_is_an_error(box):
    summary, batch = counted(some_records())
    with pytest.raises(InputError, match="structural zero must be levels in range"):
        LogLinear().tuned(summary, cells_of_batch(batch), [box])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogLinear(structure="four-way"), "structure must be generators or among auto"),
        (LogLinear(structure=((0, 4),)), "structure must be groups of key positions from 0 to 3"),
        (LogLinear(structure="two-way", smoothing=1.5), "smoothing must be from 0 to 1, got 1.5"),
    ],
)
def test_a_wrong_setting_is_an_error(model, message):
    summary, batch = counted(some_records())
    with pytest.raises(InputError, match=message):
        model.tuned(summary, cells_of_batch(batch))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"population_size": None}, "population size is not known"),
        ({"population_size": 599.0}, "population_size must be at least the sample size 600"),
        ({"population_size": math.inf}, "population_size must be"),
        ({"sample_size": 0}, "no record"),
        ({"level_counts": (7, 1, 1, 1)}, "two keys or more with two levels"),
        (
            {"size_indices": SizeIndices(np.array([1.5]), np.array([400]), np.array([400]))},
            "cells overlap",
        ),
    ],
)
def test_it_says_why_it_cannot_be_fitted(changes, reason):
    summary, batch = counted(some_records())
    with pytest.raises(ModelUnavailable, match=reason):
        LogLinear().tuned(replace(summary, **changes), cells_of_batch(batch))


def test_it_cannot_be_fitted_to_margins_alone():
    summary, _ = counted(some_records())
    with pytest.raises(ModelUnavailable, match="fitted to the cells"):
        LogLinear().fit(summary)


def test_a_table_beyond_memory_is_refused_where_it_was_asked_for(monkeypatch):
    monkeypatch.setattr("discreet.survey.models.loglinear.model.MOST_CELLS", 10)
    summary, batch = counted(some_records())
    with pytest.raises(ModelUnavailable, match="does not fit in memory"):
        LogLinear(structure="two-way").tuned(summary, cells_of_batch(batch))


def test_keys_of_one_level_and_levels_without_records_do_not_matter():
    records = some_records()
    summary, batch = counted(records)
    wide = np.insert(records, 2, 0, axis=1)
    more, other = counted(wide, sizes=(7, 5, 1, 9, 30))
    plain = fitted(LogLinear(), summary, batch)
    extra = fitted(LogLinear(), more, other)
    assert tallied(extra, other).uniques == pytest.approx(tallied(plain, batch).uniques)
    assert extra.judgement.uniques.bias == pytest.approx(plain.judgement.uniques.bias, abs=1e-6)


def test_all_two_way_terms_are_tried_where_the_search_gets_stuck(monkeypatch):
    """A cycle of four keys has no decomposable model short of far too rich ones."""
    monkeypatch.setattr("discreet.survey.models.loglinear.search.LARGEST_CLIQUE", 2)
    monkeypatch.setattr("discreet.survey.models.loglinear.model.STUCK", -1.0)
    summary, batch = counted(some_records(3000), population=30_000.0)
    fit = fitted(LogLinear(), summary, batch)
    alone = fitted(LogLinear(structure="decomposable"), summary, batch)
    two_way = fitted(LogLinear(structure="two-way"), summary, batch)
    nearer = two_way.judgement.distance < alone.judgement.distance
    assert isinstance(fit.fit, IterativeFit) == nearer


def test_a_table_with_more_cells_than_a_code_can_name():
    """Eight keys of 500 levels: 4·10²¹ cells."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(500, size=400)
    columns = [np.where(rng.random(400) < 0.9, hidden, rng.integers(500, size=400))] * 2
    columns += [rng.integers(500, size=400) for _ in range(6)]
    sizes = (500,) * 8
    summary, batch = counted(np.stack(columns, axis=1), sizes=sizes, population=2000.0)
    fit = fitted(LogLinear(), summary, batch)
    assert summary.n_table_cells > 2**62
    assert 0 <= tallied(fit, batch).uniques <= 400
    with pytest.raises(ModelUnavailable, match="no 64-bit code"):
        fitted(LogLinear(structure="two-way"), summary, batch)


def noisy(number, rng):
    """The number with other last bits."""
    return number * (1 + int(rng.integers(-8, 9)) * 2.0**-52)


def like_keys(n_keys=4, n_levels=5, seed=3):
    """A table of associated keys that is the same whatever their order."""
    rng, place = np.random.default_rng(seed), np.indices([n_levels] * n_keys)
    alike = sum(a == b for a, b in combinations(place, 2))
    table = rng.poisson(0.05 * np.exp(0.7 * alike))
    table = sum(np.transpose(table, order) for order in permutations(range(n_keys)))
    levels = np.argwhere(table > 0).T
    return OccupiedCells((n_levels,) * n_keys, levels, table[table > 0].astype(np.int64))


def with_noise(monkeypatch, rng):
    """Every criterion and every support with other last bits."""
    of_sums, weight = BothCriteria.of_sums, _Seeker._weight

    def noise(*given):
        return [
            MinimumError(noisy(one.bias, rng), noisy(one.standard_error, rng))
            for one in of_sums(*given)
        ]

    monkeypatch.setattr(BothCriteria, "of_sums", noise)
    monkeypatch.setattr(_Seeker, "_weight", lambda s, keys: noisy(weight(s, keys), rng))


@pytest.mark.parametrize("seed", range(3))
def test_last_bits_do_not_choose_among_keys_that_are_alike(monkeypatch, seed):
    cells = like_keys()
    with_noise(monkeypatch, np.random.default_rng(seed))
    path = [judged.graph.edges for judged in forward_search(cells, 0.01).path]
    assert path[1] == {(0, 1)}
    assert path[2] == {(0, 1), (2, 3)}
    assert path[3] == {(0, 1), (0, 2), (2, 3)}


def test_last_bits_do_not_decide_whether_a_nested_key_is_tried(monkeypatch):
    """Given a, its group b says nothing of c: no gain, and no parameter more."""
    rng = np.random.default_rng(2)
    a = rng.integers(0, 6, 400)
    records = np.stack([a, a // 2, np.where(rng.random(400) < 0.8, a, 0)], axis=1)
    levels, counts = np.unique(records, axis=0, return_counts=True)
    cells = OccupiedCells((6, 3, 6), levels.T, counts)
    weight = _Seeker._weight
    tried = set()
    for seed in range(4):
        bits = np.random.default_rng(seed)
        monkeypatch.setattr(_Seeker, "_weight", lambda s, keys, b=bits: noisy(weight(s, keys), b))
        seeker = _Seeker(cells, 0.1, 1e9)
        graph = Graph.of_generators(3, [(0, 1), (0, 2)])
        tried.add(len(list(seeker.extensions(graph, 12, 5))))
    assert tried == {0}


@pytest.mark.parametrize("seed", range(4))
def test_of_two_keys_the_closed_form_is_kept(seed):
    """All two-way terms of two keys are the same model, whatever the rounding of its fit."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 15, 100)
    b = np.where(rng.random(100) < 0.85, a, rng.integers(0, 15, 100))
    summary, batch = counted(np.stack([a, b], axis=1), (15, 15), population=2000.0)
    fit = fitted(LogLinear(), summary, batch)
    assert fit.judgement.distance > STUCK
    assert fit.rule == "decomposable model of minimum error"


@pytest.mark.parametrize("fraction", [0.001, 0.02, 0.3, 0.999])
def test_both_criteria_at_once_are_those_of_each(fraction):
    mean = np.concatenate([[0.0], np.geomspace(1e-14, 50, 400)])
    count = np.arange(len(mean)) % 5 + 1
    both = BothCriteria(fraction)
    each = criterion_for_uniques(fraction), criterion_for_matches(fraction)
    direct = [float((mean * psi(mean)).sum()) for psi in both.functions()]
    assert both.totals(mean) == pytest.approx(direct, rel=1e-12)
    sums = np.array([3.0, 2.0, 5.0, 7.0])
    held = both.of_occupied(count, mean)
    for found, one, i in zip(both.of_sums(held, sums), each, (0, 2), strict=True):
        told = one.of_sums(count, mean, *sums[i : i + 2])
        assert found.bias == pytest.approx(told.bias, rel=1e-12)
        assert found.standard_error == pytest.approx(told.standard_error, rel=1e-12)


@pytest.mark.parametrize("x", [0.0, 1e-12, 1e-3, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 7.0, 60.0, 700.0])
def test_ratios_of_incomplete_gamma_functions(x):
    found = _gamma_ratios(np.array([x]), np.exp(-np.array([x])))
    for order, (ratio,) in zip((2, 3), found, strict=True):
        limit = 1 / math.factorial(order)
        expected = gammainc(order, x) / x**order if x > 1e-8 else limit
        assert ratio == pytest.approx(expected, rel=1e-11)


def test_occupied_cells_are_added_up_in_blocks(monkeypatch):
    mean, count = np.geomspace(1e-6, 5, 100), np.arange(100) % 4 + 1
    whole = BothCriteria(0.05).of_occupied(count, mean)
    monkeypatch.setattr("discreet.survey.models.loglinear.minimum_error.BLOCK", 7)
    assert BothCriteria(0.05).of_occupied(count, mean) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("longest", [1, 3, 100])
def test_rows_are_added_from_behind_in_long_and_short_groups(monkeypatch, longest):
    monkeypatch.setattr("discreet.survey.models.loglinear.cell_sums.LONG_GROUP", longest)
    rows, start = np.random.default_rng(1).random((12, 2)), np.array([0, 1, 6, 9, 12])
    expected = np.concatenate([rows[a:b][::-1].cumsum(axis=0)[::-1] for a, b in pairwise(start)])
    _add_from_behind(rows, start)
    assert rows == pytest.approx(expected, rel=1e-14)


def test_subtrees_kept_from_other_models_change_no_sum():
    rng = np.random.default_rng(4)
    levels = np.unique(rng.integers(0, (4, 3, 5, 2), (120, 4)), axis=0)
    cells = gathered_cells((4, 3, 5, 2), [(levels, rng.integers(1, 9, len(levels)), None)])
    kept = Subtrees(cells)
    functions = BothCriteria(0.1).functions()
    for generators in (((0, 1),), ((0, 1), (1, 2)), ((0, 1, 2), (2, 3)), ((0, 1),), ((3,),)):
        steps = Graph.of_generators(4, generators).steps
        for limit in (1e-3, 0.4, 1e3):
            fresh = sum_over_cells(cells, steps, functions, limit)
            again = sum_over_cells(cells, steps, functions, limit, subtrees=kept)
            assert again.value.tolist() == fresh.value.tolist()
            assert again.n_rows == fresh.n_rows
