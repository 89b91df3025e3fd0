"""The additive model: probabilities, scores, the choice of λ, figures, and what it refuses."""

import itertools
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from tests.oracles.cells_beside import cells_of_batch

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.engines.local.parts import Shelf
from discreet.errors import InputError
from discreet.figures import How
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import first_largest
from discreet.progress import silent
from discreet.survey.models import lancaster
from discreet.survey.models.contract import ModelUnavailable, Need, Tally
from discreet.survey.models.lancaster import (
    Interactions,
    Lancaster,
    Mass,
    Normaliser,
    choose_shrinkage,
    mean_reciprocal,
    normaliser,
    shrinkage_from_margins,
    table_over_shrinkage,
    unique_probability,
)

SIZES = (3, 2, 4)


def counted(records, sizes, population=1000.0, **changes) -> tuple[Summary, CellBatch]:
    """The summary and the one batch of cells of some records."""
    cells, counts = np.unique(records, axis=0, return_counts=True)
    margins = {}
    for keys in [*[(a,) for a in range(len(sizes))], *itertools.combinations(range(len(sizes)), 2)]:
        margins[keys] = np.zeros([sizes[key] for key in keys], dtype=np.int64)
        np.add.at(margins[keys], tuple(records[:, key] for key in keys), 1)
    summary = Summary(
        sample_size=len(records),
        n_table_cells=math.prod(sizes),
        level_counts=tuple(sizes),
        size_indices=SizeIndices.of_counts(counts),
        weight_total=None,
        population_size=population,
        population_size_known=True,
        margins=margins,
    )
    coding = Coding.of_sizes(sizes)
    batch = CellBatch(
        coding=coding,
        words=coding.encode(cells),
        sample_count=counts.astype(np.int64),
        weight_total=None,
    )
    return replace(summary, **changes), batch


def some_records(n=30, seed=3) -> IntArray:
    rng = np.random.default_rng(seed)
    first = rng.integers(3, size=n)
    second = np.where(rng.random(n) < 0.7, first % 2, rng.integers(2, size=n))
    return np.stack([first, second, rng.integers(4, size=n)], axis=1)


def in_parts(batch, n_parts) -> Iterator[CellBatch]:
    for rows in np.array_split(np.arange(len(batch)), n_parts):
        yield CellBatch(
            coding=batch.coding,
            words=batch.words[rows],
            sample_count=batch.sample_count[rows],
            weight_total=None,
        )


def reciprocal_by_mpmath(f, p, m) -> float:
    with mp.workdps(25):
        f, p, m = mp.mpf(f), mp.mpf(p), mp.mpf(m)
        scale = f + m * p
        marks = [0, 0.1 / scale, 1 / scale, 3 / scale, 10 / scale, 30 / scale]
        marks += [x / f for x in (1, 3, 10, 30, 100)]
        return float(
            mp.quad(lambda v: mp.exp(-f * v + m * mp.log1p(p * mp.expm1(-v))), sorted(set(marks)))
        )


@pytest.mark.parametrize(
    ("f", "m"),
    [(1, 0.5), (1, 1e12), (2, 7), (3, 4_857_191), (30, 1), (64, 1e4), (65, 1e4), (500, 7)],
)
def test_mean_reciprocal_by_quadrature_of_many_digits(f, m):
    p = np.array([1e-15, 0.3, 0.5, 1.0, 0.1 / m, 2 / m, f / m, 20 * f / m]).clip(max=1)
    found = mean_reciprocal(np.full(len(p), f), p, m)
    expected = [reciprocal_by_mpmath(f, value, m) for value in p]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("f", [1, 2, 5, 20, 80])
def test_mean_reciprocal_is_a_sum_over_the_binomial(f):
    m, p = 30, 0.13
    chances = [math.comb(m, b) * p**b * (1 - p) ** (m - b) for b in range(m + 1)]
    expected = sum(chance / (f + b) for b, chance in enumerate(chances))
    assert mean_reciprocal(np.array([f]), np.array([p]), m)[0] == pytest.approx(expected, rel=1e-13)


def test_mean_reciprocal_without_chance():
    counts = np.array([1, 2, 70])
    assert mean_reciprocal(counts, np.zeros(3), 1e6) == pytest.approx(1 / counts, rel=1e-15)
    assert mean_reciprocal(counts, np.ones(3), 10.0) == pytest.approx(1 / (counts + 10))
    assert len(mean_reciprocal(np.array([], dtype=np.int64), np.array([]), 10.0)) == 0


def test_unique_probability_keeps_its_digits():
    p = np.array([0.0, 1e-18, 1e-9, 1e-6, 0.5, 1.0])
    found = unique_probability(p, 1e9)
    with mp.workdps(40):
        expected = [float((1 - mp.mpf(float(value))) ** 10**9) for value in p]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (unique_probability(p, 0.0) == 1).all()


def test_probabilities_are_those_of_equation_2():
    records = some_records()
    summary, _ = counted(records, SIZES)
    fit = Lancaster(shrinkage=0.6).fit(summary)
    n = len(records)
    for cell in np.ndindex(*SIZES):
        same = records == np.array(cell)
        single = [int(column.sum()) for column in same.T]
        factor = 1.0
        for a, b in itertools.combinations(range(3), 2):
            both = int((same[:, a] & same[:, b]).sum())
            factor += 0.6 * (n * both / (single[a] * single[b]) - 1)
        expected = max(0.0, math.prod(single) / n**3 * factor)
        assert fit.clipped_probability(np.array([cell]))[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("zeros", [(), ({0: 2, 1: 1}, {2: 3, 0: 0})])
def test_renormalised_probabilities_add_up_to_one(zeros):
    records = some_records()
    for zero in zeros:
        inside = np.all([records[:, key] == level for key, level in zero.items()], axis=0)
        records = records[~inside]
    summary, _ = counted(records, SIZES)
    fit = Lancaster(shrinkage=1.0, structural_zeros=zeros).fit(summary)
    cells = np.array(list(np.ndindex(*SIZES)))
    cells = cells[~fit.structural_zeros.covers(cells)]
    p = fit.renormalised(fit.clipped_probability(cells))
    assert p.sum() == pytest.approx(1, rel=1e-13)
    assert len(cells) < 24 or not zeros


def test_scores_are_the_formulas():
    records = some_records()
    summary, batch = counted(records, SIZES, population=200.0)
    fit = Lancaster(shrinkage=0.5).fit(summary)
    scores: Any = fit.score(batch)
    p = fit.renormalised(fit.clipped_probability(batch.levels()))
    unique = batch.sample_count == 1
    assert 0 < unique.sum() < len(batch)
    assert (scores.unique_probability[~unique] == 0).all()
    assert scores.unique_probability[unique] == pytest.approx((1 - p[unique]) ** 170, rel=1e-12)
    assert scores.match_probability == pytest.approx(
        mean_reciprocal(batch.n_records, p, 170.0), rel=1e-15
    )
    assert ((scores.match_probability > 0) & (scores.match_probability <= 1)).all()
    assert (scores.match_probability >= scores.unique_probability).all()


def test_the_population_itself_has_no_chance_left():
    records = some_records()
    summary, batch = counted(records, SIZES, population=float(len(records)))
    fit = Lancaster().fit(summary)
    scores: Any = fit.score(batch)
    tally = Tally().add(batch, scores)
    assert scores.match_probability == pytest.approx(1 / batch.sample_count, rel=1e-12)
    uniques: Any = fit.expected_population_uniques(tally)
    assert (uniques.value, uniques.how) == (summary.size_indices.sample_uniques, How.EXACT)


def test_figures_come_with_limits():
    summary, batch = counted(some_records(), SIZES, population=200.0)
    fit = Lancaster(shrinkage=0.5).fit(summary)
    tally = Tally().add(batch, fit.score(batch))
    uniques: Any = fit.expected_population_uniques(tally)
    assert uniques.how is How.ESTIMATE
    assert 0 <= uniques.low < uniques.value < uniques.high <= summary.size_indices.sample_uniques
    assert uniques.standard_error == pytest.approx(math.sqrt(tally.uniques_variance))
    assert "fit's own error" in uniques.note
    matches: Any = fit.expected_correct_matches(tally)
    assert uniques.value <= matches.value
    assert 0 <= matches.low < matches.value < matches.high <= len(batch)


def test_limits_hold_the_number_of_uniques_in_populations_of_the_model():
    """Unseen persons drawn from the fitted probabilities: the count and its spread are as said."""
    summary, batch = counted(some_records(60), SIZES, population=100.0)
    fit = Lancaster(shrinkage=0.5).fit(summary)
    cells = np.array(list(np.ndindex(*SIZES)))
    p = fit.renormalised(fit.clipped_probability(cells))
    tally = Tally().add(batch, fit.score(batch))
    figure: Any = fit.expected_population_uniques(tally)
    ours = np.zeros(len(cells), dtype=int)
    for level, count in zip(batch.levels(), batch.sample_count, strict=True):
        ours[np.ravel_multi_index(tuple(level), SIZES)] = count
    unseen = np.random.default_rng(5).multinomial(40, p, size=4000)
    uniques = ((ours + unseen == 1) & (ours == 1)).sum(axis=1)
    correct = np.where(ours > 0, ours / np.maximum(ours + unseen, 1), 0).sum(axis=1)
    error = uniques.std() / math.sqrt(4000)
    assert uniques.mean() == pytest.approx(figure.value, abs=4 * error)
    assert uniques.std() <= figure.standard_error * 1.03
    matches: Any = fit.expected_correct_matches(tally)
    assert correct.mean() == pytest.approx(matches.value, abs=4 * correct.std() / math.sqrt(4000))
    assert correct.std() <= matches.standard_error


def test_a_poor_fit_is_said():
    rng = np.random.default_rng(1)
    hidden = rng.integers(3, size=300)
    records = np.stack([(hidden + (rng.random(300) < 0.1)) % 3 for _ in range(5)], axis=1)
    summary, batch = counted(records, (3,) * 5)
    fit = Lancaster(shrinkage=1.0).fit(summary)
    tally = Tally().add(batch, fit.score(batch))
    assert fit.normaliser.clipped.value > 0.1
    assert "below zero" in str(fit.caution(tally))
    assert Lancaster(shrinkage=0.0).fit(summary).caution(tally) is None


def test_interactions_that_are_mostly_noise_are_said():
    rng = np.random.default_rng(11)
    records = np.stack([rng.integers(size, size=400) for size in (6, 8, 5)], axis=1)
    summary, batch = counted(records, (6, 8, 5))
    fit = Lancaster(shrinkage=0.3).fit(summary)
    tally = Tally().add(batch, fit.score(batch))
    assert "chance alone" in str(fit.caution(tally))
    assert Lancaster().fit(summary).caution(tally) is None
    many, _ = counted(np.repeat(some_records(), 100, axis=0), SIZES, population=1e5)
    assert Lancaster(shrinkage=0.3).fit(many).caution(tally) is None


def test_parameters_for_the_record():
    summary, _ = counted(some_records(), SIZES)
    given = Lancaster(shrinkage=0.25).fit(summary).parameters
    assert (given["shrinkage"], given["shrinkage_rule"]) == (0.25, "given")
    chosen = Lancaster().fit(summary).parameters
    parts = Interactions.of_summary(summary)
    assert chosen["shrinkage"] == shrinkage_from_margins(parts)
    assert chosen["shrinkage_rule"] == "from the two-way margins"
    mass = normaliser(parts, chosen["shrinkage"])
    assert chosen["normaliser"] == mass.positive.value
    assert chosen["negative_sum"] == pytest.approx(1 - mass.positive.value, abs=1e-14)
    assert chosen["normaliser_how"] == "exact"


def test_a_small_table_loads_no_compiler():
    """Importing and fitting take no part of Numba until a table is large."""
    script = (
        "import sys, numpy as np\n"
        "from discreet.survey.models.lancaster import Interactions, normaliser\n"
        "p = np.full(2, 0.5)\n"
        "parts = Interactions(4, (p, p), {(0, 1): np.array([[1.0, -1.0], [-1.0, 1.0]])})\n"
        "assert normaliser(parts, 1.0).positive.value == 1\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_the_model_asks_for():
    model = Lancaster()
    assert model.name == "lancaster"
    assert model.needs == {Need.MARGINS_1, Need.MARGINS_2}


class TestShrinkageFromMargins:
    def test_it_is_one_minus_expected_over_observed_chi_square(self):
        records = some_records(50)
        summary, _ = counted(records, SIZES)
        observed = expected = 0.0
        for a, b in itertools.combinations(range(3), 2):
            table = summary.margins[a, b]
            independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / 50
            observed += ((table - independent) ** 2 / independent).sum()
            expected += (table.shape[0] - 1) * (table.shape[1] - 1) * 50 / 49
        found = shrinkage_from_margins(Interactions.of_summary(summary))
        assert found == pytest.approx(1 - expected / observed, rel=1e-12)
        assert 0 < found < 1

    def test_noise_is_what_shuffled_keys_show(self):
        """The mean of Σ X² over shuffles is the noise that is taken off."""
        records, rng = some_records(40), np.random.default_rng(2)
        squares = []
        for _ in range(400):
            shuffled = np.stack([rng.permutation(column) for column in records.T], axis=1)
            parts = Interactions.of_summary(counted(shuffled, SIZES)[0])
            squares.append(
                sum(
                    float(parts.probability[a] @ g**2 @ parts.probability[b])
                    for (a, b), g in parts.pairs.items()
                )
            )
        noise = (2 * 1 + 2 * 3 + 1 * 3) / 39
        assert np.mean(squares) == pytest.approx(noise, abs=4 * float(np.std(squares)) / 20)

    def test_it_tends_to_one(self):
        summary, _ = counted(np.repeat(some_records(), 1000, axis=0), SIZES)
        assert 0.998 < shrinkage_from_margins(Interactions.of_summary(summary)) < 1

    def test_nothing_to_shrink(self):
        constant, _ = counted(np.zeros((5, 2), dtype=np.int64), (1, 1))
        assert shrinkage_from_margins(Interactions.of_summary(constant)) == 0
        one, _ = counted(np.array([[0, 1, 3]]), SIZES)
        assert shrinkage_from_margins(Interactions.of_summary(one)) == 0


class TestChooseShrinkage:
    def test_score_is_that_of_fits_without_each_record(self):
        """Except for c(λ), which is left as it is with all records."""
        records = some_records(40)
        summary, batch = counted(records, SIZES)
        choice = choose_shrinkage(summary, in_parts(batch, 3), grid=(0.0, 0.4, 1.0))
        parts = Interactions.of_summary(summary)
        for value, score in zip(choice.grid, choice.score, strict=True):
            mass = normaliser(parts, value).positive.value
            logs = []
            for left in range(40):
                rest, cell = np.delete(records, left, axis=0), records[left : left + 1]
                others = Interactions.of_summary(counted(rest, SIZES)[0])
                if others.weight(cell)[0] > 0:
                    factor = max(1 + value * others.total(cell)[0], 0) / mass
                    logs.append(math.log(39 / 40 * factor + 1 / 40))
            assert choice.records == len(logs)
            if choice.worked_out[choice.grid.index(value)]:
                assert score == pytest.approx(np.mean(logs), rel=1e-10, abs=1e-12)
            else:
                assert np.mean(logs) - 1e-10 <= score < choice.score.max()
        assert choice.left_out == 40 - choice.records
        assert choice.shrinkage == choice.grid[int(np.argmax(choice.score))]

    def test_leaving_the_normaliser_alone_hardly_matters(self):
        """With c(λ) refitted without each record the scores move by less than a record's worth."""
        records = some_records(40)
        summary, batch = counted(records, SIZES)
        choice = choose_shrinkage(summary, [batch], grid=(0.0, 0.5, 1.0))
        for value, score in zip(choice.grid, choice.score, strict=True):
            logs = []
            for left in range(40):
                rest, cell = np.delete(records, left, axis=0), records[left : left + 1]
                others = Interactions.of_summary(counted(rest, SIZES)[0])
                mass = normaliser(others, value).positive.value
                factor = max(1 + value * others.total(cell)[0], 0) / mass
                logs.append(math.log(39 / 40 * factor + 1 / 40))
            assert abs(np.sum(logs) - 40 * score) < 1

    def test_independent_keys_are_shrunk_to_independence(self):
        rng = np.random.default_rng(11)
        sizes = (6, 8, 5, 7)
        records = np.stack([rng.integers(size, size=800) for size in sizes], axis=1)
        summary, batch = counted(records, sizes)
        assert choose_shrinkage(summary, [batch]).shrinkage <= 0.1
        assert shrinkage_from_margins(Interactions.of_summary(summary)) <= 0.1

    @pytest.mark.parametrize(("n", "seed"), [(300, 1), (1500, 2), (30000, 3)])
    def test_additive_keys_are_shrunk_as_if_the_truth_were_known(self, n, seed):
        """Records drawn from an additive model; the best λ is the one that the truth favours.

        Interactions enter the margins in full, so that with many records the best λ is 1.
        """
        truth = additive_truth()
        rng = np.random.default_rng(seed)
        cells = rng.choice(truth.size, size=n, p=truth.ravel())
        records = np.stack(np.unravel_index(cells, truth.shape), axis=1)
        summary, batch = counted(records, truth.shape)
        choice = choose_shrinkage(summary, [batch])
        parts = Interactions.of_summary(summary)
        everywhere = np.array(list(np.ndindex(*truth.shape)))
        gain = []
        for value in choice.grid:
            factor = np.maximum(1 + value * parts.total(everywhere), 0)
            factor = factor / normaliser(parts, value).positive.value
            gain.append(np.dot(truth.ravel(), np.log((1 - 1 / n) * factor + 1 / n)))
        best = choice.grid[int(np.argmax(gain))]
        assert choice.shrinkage == pytest.approx(best, abs=0.21)
        assert shrinkage_from_margins(parts) == pytest.approx(best, abs=0.21)
        assert best > 0.89 or n < 30000

    def test_structural_zeros_are_left_out_of_the_sum(self):
        records = some_records(40)
        zero = {0: 2, 1: 1}
        records = records[(records[:, 0] != 2) | (records[:, 1] != 1)]
        summary, batch = counted(records, SIZES)
        free = choose_shrinkage(summary, [batch], grid=(0.5,))
        bound = choose_shrinkage(summary, [batch], grid=(0.5,), structural_zeros=[zero])
        assert bound.score[0] != pytest.approx(free.score[0], abs=1e-6)

    def test_progress_is_told(self):
        summary, batch = counted(some_records(), SIZES)
        told: list[float] = []
        choose_shrinkage(summary, [batch], grid=(0.0, 1.0), progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1

    @pytest.mark.parametrize("seed", range(20))
    def test_the_choice_is_that_of_all_sums(self, seed):
        """λ ruled out by the convexity of c(λ) would not have been chosen."""
        rng = np.random.default_rng(seed)
        sizes = tuple(int(size) for size in rng.integers(2, 6, 4))
        hidden = rng.integers(5, size=int(rng.integers(20, 400)))
        noise = rng.uniform(0, 1)
        records = np.stack(
            [
                np.where(rng.random(len(hidden)) < noise, rng.integers(size, size=len(hidden)), 0)
                + hidden
                for size in sizes
            ],
            axis=1,
        ) % np.array(sizes)
        zero = {0: 1, 1: 0} if seed % 2 else None
        if zero:
            records = records[(records[:, 0] != 1) | (records[:, 1] != 0)]
        zeros = [zero] if zero else []
        summary, batch = counted(records, sizes)
        choice = choose_shrinkage(summary, [batch], structural_zeros=zeros)
        every = [choose_shrinkage(summary, [batch], (v,), zeros) for v in choice.grid]
        score = np.array([float(one.score[0]) for one in every])
        assert choice.shrinkage == choice.grid[first_largest(score * choice.records)]
        known = choice.worked_out
        assert choice.score[known] == pytest.approx(score[known], rel=1e-12, abs=1e-15)
        assert (choice.score >= score - 1e-12).all()
        mass = every[choice.grid.index(choice.shrinkage)].normaliser
        assert choice.normaliser.positive.value == mass.positive.value

    def test_few_sums_are_worked_out(self):
        summary, batch = counted(some_records(200), SIZES)
        assert choose_shrinkage(summary, [batch]).worked_out.sum() <= 5

    def test_records_that_share_no_level_decide_nothing(self):
        summary, batch = counted(np.array([[0, 0], [1, 1]]), (2, 2))
        with pytest.raises(ModelUnavailable, match="level of its own"):
            choose_shrinkage(summary, [batch])


def additive_truth() -> Any:
    """Probabilities of a 5 × 6 × 4 × 5 table with moderate interactions of pairs and none more."""
    rng = np.random.default_rng(8)
    shape = (5, 6, 4, 5)
    single = [rng.dirichlet(np.full(size, 5.0)) for size in shape]
    factor = np.ones(shape)
    for a, b in itertools.combinations(range(4), 2):
        g = rng.normal(size=(shape[a], shape[b]))
        g -= single[a] @ g
        g -= (g @ single[b])[:, None]
        sides = [1, 1, 1, 1]
        sides[a], sides[b] = shape[a], shape[b]
        factor = factor + 0.13 * g.reshape(sides)
    weight = np.einsum("i,j,k,l->ijkl", *single)
    truth = weight * np.maximum(factor, 0.02)
    return truth / truth.sum()


def test_table_over_shrinkage(tmp_path):
    rng = np.random.default_rng(1)
    hidden = rng.integers(4, size=200)
    records = np.stack(
        [(hidden + (rng.random(200) < 0.2) * rng.integers(4, size=200)) % 4 for _ in range(4)],
        axis=1,
    )
    summary, batch = counted(records, (4,) * 4, population=2000.0)
    cells = cells_of_batch(batch, Shelf(tmp_path, most_held=1, at_once=len(batch) // 4))
    assert len(cells.parts) >= 4
    rows = table_over_shrinkage(summary, cells)
    assert [row.shrinkage for row in rows] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    uniques = batch.levels()[batch.sample_count == 1]
    for row in rows:
        fit = Lancaster(shrinkage=row.shrinkage).fit(summary)
        p = fit.clipped_probability(uniques)
        assert row.plain_uniques == pytest.approx(((1 - p) ** 1800).sum(), rel=1e-10)
        c = row.normaliser.value
        assert row.renormalised_uniques == pytest.approx(((1 - p / c) ** 1800).sum(), rel=1e-10)
        assert row.negative_sum == pytest.approx(1 - c, abs=1e-14)
        assert row.clipped_uniques == np.count_nonzero(p == 0)
    assert rows[-1].clipped_uniques > 0
    assert rows[0].plain_uniques == pytest.approx(rows[0].renormalised_uniques)
    assert str(rows[0].negative_sum) == "0.0"


def test_the_shrinkage_is_chosen_on_all_cells_or_on_those_of_a_hash(tmp_path, monkeypatch):
    summary, batch = counted(some_records(), SIZES)
    chosen = choose_shrinkage(summary, [batch]).shrinkage
    tuned = Lancaster().tuned(summary, cells_of_batch(batch), [], silent)
    assert tuned.shrinkage == chosen
    assert tuned.shrinkage_rule == "by leave-one-out likelihood of the records"
    monkeypatch.setattr(lancaster, "MOST_JUDGED", len(batch) // 2)
    cells = cells_of_batch(batch, Shelf(tmp_path, most_held=1, at_once=5))
    some = cells.sampled(len(batch) // 2)
    part = Lancaster().tuned(summary, cells, [], silent)
    assert part.shrinkage == choose_shrinkage(summary, [some]).shrinkage
    assert f" in {len(some)} of {len(batch)} cells, chosen by a hash" in part.shrinkage_rule
    assert Lancaster(shrinkage=0.3).tuned(summary, cells, [], silent).shrinkage == 0.3


def test_table_over_shrinkage_with_zeros():
    records = some_records()
    records = records[(records[:, 0] != 2) | (records[:, 1] != 1)]
    summary, batch = counted(records, SIZES)
    rows = table_over_shrinkage(summary, cells_of_batch(batch), (0.0, 1.0), iter([{0: 2, 1: 1}]))
    impossible = np.mean(records[:, 0] == 2) * np.mean(records[:, 1] == 1)
    assert rows[0].normaliser.value == pytest.approx(1 - impossible, rel=1e-12)
    fit = Lancaster(shrinkage=1.0, structural_zeros=({0: 2, 1: 1},)).fit(summary)
    assert rows[1].normaliser == fit.normaliser.positive


def test_mass_as_a_figure():
    exact = Mass.exact(1.5).figure()
    assert (exact.value, exact.how, exact.low) == (1.5, How.EXACT, None)
    bound = Mass(value=1.1, low=1.0, high=1.2, standard_error=0.5, how=How.BOUND).figure()
    assert (bound.low, bound.high, bound.standard_error) == (1.0, 1.2, None)
    estimate = Mass(value=1.1, low=1.0, high=1.11, standard_error=0.01, how=How.ESTIMATE).figure()
    assert estimate.low == pytest.approx(1.1 - 0.0196, abs=1e-5)
    assert estimate.high == 1.11
    assert estimate.note == "certainly from 1 to 1.11"


class TestLongSums:
    """The loop over a table, forced on one too small to need it."""

    @pytest.fixture
    def parts(self, monkeypatch):
        monkeypatch.setattr(lancaster, "DENSE_CELLS", 0)
        rng = np.random.default_rng(1)
        sizes = (4, 5, 6, 7, 8, 9, 5, 3)
        hidden = rng.integers(3, size=500)
        records = np.stack([(hidden * 7 + rng.integers(2, size=500)) % s for s in sizes], axis=1)
        return Interactions.of_summary(counted(records, sizes)[0])

    @pytest.mark.parametrize("budget", [1e9, 1e4])
    def test_progress_rises_to_the_end(self, parts, budget):
        told: list[float] = []
        normaliser(parts, 1.0, progress=told.append, budget=budget)
        assert told == sorted(told)
        assert 0 == told[0] < told[1] < told[-1] == 1

    def test_whoever_waits_can_stop_it(self, parts):
        def stop(done):
            if done > 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            normaliser(parts, 1.0, progress=stop)

    def test_a_seed_fixes_an_estimate(self, parts):
        first, again, other = (
            normaliser(parts, 1.0, budget=1e4, seed=seed).positive for seed in (1, 1, 2)
        )
        assert first == again
        assert first.value != other.value or first.how is not How.ESTIMATE

    def test_an_estimated_sum_widens_the_limits_and_is_said(self, monkeypatch):
        summary, batch = counted(some_records(), SIZES, population=200.0)
        fit = Lancaster(shrinkage=0.5).fit(summary)
        rough = Mass(value=1.2, low=1.0, high=1.5, standard_error=0.1, how=How.ESTIMATE)
        vague = replace(fit, normaliser=replace(fit.normaliser, positive=rough))
        tally = Tally().add(batch, vague.score(batch))
        figure: Any = vague.expected_population_uniques(tally)
        uniques = summary.size_indices.sample_uniques
        assert figure.standard_error == pytest.approx(
            math.hypot(math.sqrt(tally.uniques_variance), uniques * 0.1 / 1.2)
        )
        assert "estimate, certainly from 1 to 1.5" in figure.note


class TestRefusals:
    def test_no_population_size(self):
        summary, _ = counted(some_records(), SIZES, population=None)
        with pytest.raises(ModelUnavailable, match="population size is not known"):
            Lancaster().fit(summary)

    @pytest.mark.parametrize("population", [29.0, math.inf, math.nan])
    def test_no_population_of_that_size(self, population):
        summary, _ = counted(some_records(), SIZES, population=population)
        with pytest.raises(ModelUnavailable, match="at least the sample size 30"):
            Lancaster().fit(summary)

    def test_a_single_key(self):
        summary, _ = counted(some_records()[:, :1], SIZES[:1])
        with pytest.raises(ModelUnavailable, match="two keys or more"):
            Lancaster().fit(summary)

    def test_no_records(self):
        summary, _ = counted(np.zeros((0, 3), dtype=np.int64), SIZES)
        with pytest.raises(ModelUnavailable, match="no record"):
            Lancaster().fit(summary)

    def test_overlapping_cells(self):
        overlapping = SizeIndices.of_counts(np.array([1.5, 2.0]), np.array([10, 20]))
        summary, _ = counted(some_records(), SIZES, size_indices=overlapping)
        with pytest.raises(ModelUnavailable, match="cells overlap"):
            Lancaster().fit(summary)

    @pytest.mark.parametrize("shrinkage", [-0.1, 1.01, math.nan])
    def test_shrinkage_out_of_range(self, shrinkage):
        summary, batch = counted(some_records(), SIZES)
        with pytest.raises(InputError, match="shrinkage must be from 0 to 1, got"):
            Lancaster(shrinkage=shrinkage).fit(summary)
        with pytest.raises(InputError, match="shrinkage must be from 0 to 1, got"):
            choose_shrinkage(summary, [batch], grid=(0.5, shrinkage))
        with pytest.raises(InputError, match="shrinkage must be from 0 to 1, got"):
            table_over_shrinkage(summary, cells_of_batch(batch), [shrinkage])

    def test_no_shrinkage_to_try(self):
        summary, batch = counted(some_records(), SIZES)
        with pytest.raises(InputError, match="one or more numbers from 0 to 1, got none"):
            choose_shrinkage(summary, [batch], grid=())

    @pytest.mark.parametrize("zero", [{}, {3: 0}, {-1: 0}, {0: 3}, {0: 0, 1: -1}])
    def test_zeros_out_of_range(self, zero):
        summary, _ = counted(some_records(), SIZES)
        with pytest.raises(InputError, match="structural zero must be levels in range"):
            Lancaster(structural_zeros=(zero,)).fit(summary)

    def test_zeros_that_leave_nothing(self):
        summary, _ = counted(some_records(), SIZES)
        zeros = tuple({0: level} for level in range(3))
        with pytest.raises(InputError, match="some cell keeps a positive probability"):
            Lancaster(structural_zeros=zeros).fit(summary)

    def test_zeros_that_the_sample_has(self):
        records = some_records()
        summary, batch = counted(records, SIZES)
        zero = {key: int(records[0, key]) for key in range(3)}
        fit = Lancaster(structural_zeros=(zero,)).fit(summary)
        with pytest.raises(InputError, match="combinations that no record has, got some that 1 "):
            fit.score(batch)

    def test_margins_that_are_not_there_or_do_not_agree(self):
        summary, _ = counted(some_records(), SIZES)
        without = {keys: table for keys, table in summary.margins.items() if keys != (0, 2)}
        with pytest.raises(InputError, match=r"margin \(0, 2\) must be .* got none"):
            Lancaster().fit(replace(summary, margins=without))
        turned = {**summary.margins, (0, 2): summary.margins[0, 2].T}
        with pytest.raises(InputError, match=r"margin \(0, 2\) must be .* got one of shape"):
            Lancaster().fit(replace(summary, margins=turned))
        moved = {**summary.margins, (0, 2): summary.margins[0, 2][::-1]}
        with pytest.raises(InputError, match=r"margin \(0, 2\) .* got other sums"):
            Lancaster().fit(replace(summary, margins=moved))


@pytest.mark.parametrize("seed", range(3))
def test_without_association_the_least_shrinkage_is_chosen_whatever_the_last_bits(
    monkeypatch, seed
):
    """A key of one level: all λ foretell the records alike."""
    rng = np.random.default_rng(seed)
    records = np.stack([rng.integers(4, size=60), np.zeros(60, dtype=np.int64)], axis=1)
    summary, batch = counted(records, (4, 1))
    known, total = lancaster._without_oneself(summary, batch.levels())
    last_bits = rng.integers(-4, 5, len(total)) * 2.0**-52
    monkeypatch.setattr(lancaster, "_without_oneself", lambda *_: (known, total + last_bits))
    assert choose_shrinkage(summary, [batch]).shrinkage == 0


@pytest.mark.parametrize("seed", [3417, 3739, 3768, 5384, 5856])
def test_a_probability_that_cancels_but_for_rounding_is_clipped(seed):
    """Σ g = −1 of one sample unique, so that its factor is 0 but for up to 1e-16."""
    rng = np.random.default_rng(seed)
    n_keys, n_levels, n = rng.integers(3, 5), rng.integers(2, 4), rng.integers(6, 16)
    sizes = (int(n_levels),) * int(n_keys)
    summary, batch = counted(rng.integers(0, n_levels, (n, n_keys)), sizes)
    factor = 1 + Interactions.of_summary(summary).total(batch.levels())
    assert np.abs(factor).min() < 1e-12
    clipped = Lancaster(shrinkage=1.0).fit(summary).clipped_probability(batch.levels())
    assert ((clipped == 0) == (factor < 1e-9)).all()
    (row,) = table_over_shrinkage(summary, cells_of_batch(batch), [1.0])
    assert row.clipped_uniques == ((factor < 1e-9) & (batch.sample_count == 1)).sum()


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_last_bits_decide_no_caution(monkeypatch, bits):
    summary, _ = counted(some_records(), SIZES)
    fit = Lancaster(shrinkage=0.2 * (1 + bits * 2.0**-52)).fit(summary)
    noise = 1 + bits * 2.0**-52
    poor = Normaliser(fit.normaliser.positive, Mass.exact(0.1 * noise))
    assert "a rough guide" in (replace(fit, normaliser=poor).caution(Tally()) or "")
    well = replace(fit, normaliser=Normaliser(fit.normaliser.positive, Mass.exact(0.0)))
    monkeypatch.setattr(lancaster, "shrinkage_from_margins", lambda _: 0.5 * noise)
    assert well.caution(Tally()) is None
    monkeypatch.setattr(lancaster, "shrinkage_from_margins", lambda _: 0.25)
    assert "75%" in (well.caution(Tally()) or "")
