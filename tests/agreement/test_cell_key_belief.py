"""Noise by cell keys and discrete Laplace noise: beliefs against Bayes' rule written out.

All tables of the same total are tried. Under each of them every assignment of noise to the sets of
persons that figures count is gone through, and those that make the publication are summed: so the
likelihood comes from what the mask does, not from its formula.
"""

from collections import Counter
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import chisquare

from discreet.belief import ladder
from discreet.belief.belief import ListedBelief
from discreet.belief.drawn_belief import DrawnBelief
from discreet.belief.summed_belief import SummedBelief
from discreet.choice.published_variables import judged_by
from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.after_publication import intruders_belief, intruders_bounds
from discreet.masks.averaging import belief_of_sum
from discreet.masks.cell_key import noisy_tables, perturb_by_keys
from discreet.masks.contract import entry_groups
from discreet.masks.discrete_laplace import add_laplace
from discreet.masks.perturbation_table import NoiseRule, perturbation_table
from discreet.masks.rounding import Rounded

RULE = NoiseRule(variance=1.0, largest=2)
JUMPING = NoiseRule(variance=1.5, largest=2, small=1)
SHAPES = {
    "full": ((2, 2), [["v1", "v2"]]),
    "margins too": ((2, 2), [["v1", "v2"], ["v1"], ["v2"], []]),
    "rows and columns": ((2, 2), [["v1"], ["v2"]]),
    "one row": ((2, 3), [["v1", "v2"], ["v1"]]),
    "three-way": ((2, 2, 2), [["v1", "v2"], ["v2", "v3"]]),
}
PRIORS = {
    "multinomial": lambda x: -gammaln(x + 1.0).sum(axis=1),
    "dirichlet": lambda x: (gammaln(x + 0.5) - gammaln(x + 1.0)).sum(axis=1),
}


@cache
def all_tables(n_cells, total):
    bars = np.array(list(combinations(range(total + n_cells - 1), n_cells - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), total + n_cells - 1)
    return np.diff(np.hstack([np.full((len(bars), 1), -1), bars, ends])) - 1


def chance_by_assignments(x, groups, published, rule):
    """The sum over all assignments of deviations to sets of persons that make the publication."""
    rows, deviations = perturbation_table(rule).shares, perturbation_table(rule).deviations
    persons = [frozenset(int(c) for c in cells if x[c]) for cells in groups]
    counts = {one: sum(int(x[c]) for c in one) for one in persons}
    sets = list(counts)
    total = 0.0
    wanted = {}  # what each set's deviation must be, to spare assignments that fail anyway
    for one, figure in zip(persons, published):
        wanted.setdefault(one, set()).add(figure - counts[one])
    choices = [[v for v in deviations.tolist() if v in wanted[one]] for one in sets]
    for assignment in product(*choices):
        noise = dict(zip(sets, assignment))
        if any(counts[one] + noise[one] != figure for one, figure in zip(persons, published)):
            continue
        chance = 1.0
        for one in sets:
            row = rows[min(counts[one], rule.last)]
            chance *= row[noise[one] + rule.largest] / 2**64
        total += chance
    return total


def case(name, seed, rule):
    shape, sets = SHAPES[name]
    rng = np.random.default_rng([seed, len(name)])
    total = int(rng.integers(3, 8 if len(shape) == 2 else 5))
    counts = rng.multinomial(total, rng.dirichlet(np.full(int(np.prod(shape)), 0.6)))
    table = Table.of_dense(counts.reshape(shape))
    masked = perturb_by_keys(table, rule=rule, seed=seed, sets=sets)
    groups = [cells for one in masked.published for cells in entry_groups(table, one.axes)]
    published = [int(p) for one in masked.published for p in one.counts.ravel()]
    tables = all_tables(table.n_cells, table.total)
    chances = np.array([chance_by_assignments(x, groups, published, rule) for x in tables])
    return table, masked, tables, chances


CASES = [(name, seed, rule) for name in SHAPES for seed in range(5) for rule in (RULE, JUMPING)]


@pytest.mark.parametrize(("name", "seed", "rule"), CASES)
def test_the_likelihood_is_the_sum_over_all_assignments_of_noise(name, seed, rule):
    _, masked, tables, chances = case(name, seed, rule)
    fits = np.ones(len(tables), dtype=bool)
    for statement in masked.known:
        sums = tables[:, statement.cells].sum(axis=1)
        fits &= sums >= statement.low
        fits &= sums <= (sums if statement.high is None else statement.high)
    own = np.where(fits, np.exp(masked.likelihood(tables)), 0)
    np.testing.assert_allclose(own, chances, rtol=1e-12, atol=0)
    assert np.array_equal(fits, chances > 0)


@pytest.mark.parametrize(("name", "seed", "rule"), CASES)
def test_beliefs_and_bounds_are_bayes_rule_over_all_tables(name, seed, rule):
    table, masked, tables, chances = case(name, seed, rule)
    prior = list(PRIORS)[seed % 2]
    weights = np.exp(PRIORS[prior](tables)) * chances
    distribution = weights / weights.sum()
    belief = intruders_belief(masked, prior)
    assert isinstance(belief, ListedBelief)
    for cell in range(table.n_cells):
        by_value = np.bincount(tables[:, cell], weights=distribution)
        assert belief.cell(cell) == pytest.approx(
            {q: p for q, p in enumerate(by_value.tolist()) if p > 0}, rel=1e-9
        )
    possible = tables[distribution > 0]
    bounds = intruders_bounds(masked)
    assert bounds.complete
    assert bounds.lower.tolist() == possible.min(axis=0).tolist()
    assert bounds.upper.tolist() == possible.max(axis=0).tolist()


def test_sums_agree_where_no_two_figures_can_count_the_same_persons(monkeypatch):
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    summed = 0
    for name, seed, rule in CASES:
        table, masked, tables, chances = case(name, seed, rule)
        if masked.factors is None:
            assert masked.guide
            continue
        assert not masked.guide
        weights = np.exp(PRIORS["dirichlet"](tables)) * chances
        belief = intruders_belief(masked, "dirichlet")
        assert isinstance(belief, SummedBelief)
        summed += len(masked.published) > 1
        for cell in range(table.n_cells):
            by_value = np.bincount(tables[:, cell], weights=weights / weights.sum())
            for value, p in belief.cell(cell).items():
                assert p == pytest.approx(by_value[value], rel=1e-9, abs=1e-15)
    assert summed >= 3


def test_draws_come_near_where_figures_may_count_the_same_persons(monkeypatch):
    table = Table.of_dense(np.array([[3, 0], [2, 4]]))
    rule = NoiseRule(variance=1.0, largest=2)
    for seed in range(20):
        masked = perturb_by_keys(table, rule=rule, seed=seed, sets=[["v1", "v2"], ["v1"]])
        if masked.factors is None:
            break
    exact = intruders_belief(masked, "dirichlet")
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    drawn = intruders_belief(masked, "dirichlet")
    assert isinstance(drawn, DrawnBelief)
    assert drawn.effective_draws > 1000
    for cell in range(4):
        error = drawn.cell_error(cell)
        for value, p in drawn.cell(cell).items():
            assert abs(p - exact.cell(cell)[value]) < 5 * error[value] + 1e-12
    own, theirs = drawn.probability(table.dense()), exact.probability(table.dense())
    assert abs(own.value - theirs.value) < 5 * own.standard_error


def test_publications_come_as_often_as_their_likelihood_says():
    """Two cells and their total, over many seeds: keys of the parts tell nothing of the total's."""
    counts, rule = np.array([1, 2]), NoiseRule(variance=2 / 3, largest=1)
    table, n = perturbation_table(rule), 6000
    seen = Counter()
    for seed in range(n):
        cells, total = noisy_tables(counts, [(0,), ()], table, seed=seed)
        seen[(*cells.counts.tolist(), int(total.counts))] += 1
    groups = [[0], [1], [0, 1]]
    outcomes = list(product([0, 1, 2], [1, 2, 3], [2, 3, 4]))
    chances = [chance_by_assignments(counts, groups, one, rule) for one in outcomes]
    assert sum(chances) == pytest.approx(1, abs=1e-12)
    assert set(seen) <= set(outcomes)
    observed = [seen[one] for one in outcomes]
    assert chisquare(observed, np.array(chances) * n).pvalue > 1e-4


def test_keys_that_are_read_off_unscrambled_would_tie_a_total_to_its_parts():
    """Thirds of all keys lead to −1, 0 and 1: both parts in the top third, the sum is never in the
    lowest. With the scrambled key each deviation of the total has a third, whatever the parts."""
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 2**64, size=(20_000, 2), dtype=np.uint64)
    third = 2**64 // 3
    both_up = np.all(keys > np.uint64(2 * third + 2), axis=1)
    assert both_up.sum() > 2000
    assert not np.any(keys[both_up].sum(axis=1) < np.uint64(third))


def test_a_publication_of_some_variables_is_judged_on_their_table_alone():
    table = Table.of_dense(np.array([[[2, 1], [0, 1]], [[1, 0], [3, 1]]]), ["a", "b", "c"])
    masked = perturb_by_keys(table, rule=RULE, seed=3, sets=[["a", "b"], ["b"]])
    own = judged_by(masked, [], nesting=True).masked
    assert own.source.names == ("a", "b")
    tables = all_tables(4, table.total)
    groups = [cells for one in own.published for cells in entry_groups(own.source, one.axes)]
    published = [int(p) for one in own.published for p in one.counts.ravel()]
    chances = np.array([chance_by_assignments(x, groups, published, RULE) for x in tables])
    weights = np.exp(PRIORS["dirichlet"](tables)) * chances
    belief = intruders_belief(own, "dirichlet")
    for cell in range(4):
        by_value = np.bincount(tables[:, cell], weights=weights / weights.sum())
        assert belief.cell(cell) == pytest.approx(
            {q: p for q, p in enumerate(by_value.tolist()) if p > 0}, rel=1e-9
        )


@pytest.mark.parametrize("clamp", [False, True])
@pytest.mark.parametrize("way", ["listed", "summed"])
@pytest.mark.parametrize("sets", [[["v1", "v2"]], [["v1", "v2"], ["v1"]], [["v1"], ["v2"]]])
def test_beliefs_after_laplace_noise_are_bayes_rule(clamp, way, sets, monkeypatch):
    if way == "summed":
        monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    table = Table.of_dense(np.array([[2, 0, 1], [1, 0, 2]]))
    masked = add_laplace(table, epsilon=1.5, seed=2, sets=sets, clamp=clamp)
    alpha = np.exp(-1.5 / len(sets))
    tables, chances = all_tables(6, 6), 1.0
    for one in masked.published:
        for cells, figure in zip(entry_groups(table, one.axes), one.counts.ravel().tolist()):
            gap = figure - tables[:, cells].sum(axis=1)
            chance = (1 - alpha) / (1 + alpha) * alpha ** np.abs(gap)
            if clamp and figure == 0:  # all noise that leads to 0 or below, summed as it stands
                far = np.arange(200)[:, None]
                chance = ((1 - alpha) / (1 + alpha) * alpha ** np.abs(gap - far)).sum(axis=0)
            chances = chances * chance
    weights = np.exp(PRIORS["dirichlet"](tables)) * chances
    belief = intruders_belief(masked, "dirichlet")
    assert isinstance(belief, ListedBelief if way == "listed" else SummedBelief)
    np.testing.assert_allclose(np.exp(masked.likelihood(tables)), chances, rtol=1e-10)
    for cell in range(6):
        by_value = np.bincount(tables[:, cell], weights=weights / weights.sum())
        assert belief.cell(cell) == pytest.approx(dict(enumerate(by_value.tolist())), rel=1e-9)


def test_a_sum_that_is_published_more_than_once_is_known_better():
    """Row 1 is a figure, and the sum of two: the belief of all together against Bayes' rule."""
    table = Table.of_dense(np.array([[3, 2], [2, 4]]))
    rule = NoiseRule(variance=1.0, largest=2)
    spread = {}
    for sets in ([["v1"]], [["v1", "v2"]], [["v1", "v2"], ["v1"]]):
        variances = []
        for seed in range(40):
            masked = perturb_by_keys(table, rule=rule, seed=seed, sets=sets)
            found = belief_of_sum(masked, np.array([0, 1]), "uniform")
            assert not isinstance(found, Unavailable)
            assert sum(found.distribution.values()) == pytest.approx(1)
            variances.append(found.variance)
        spread[len(sets), len(sets[0])] = np.mean(variances)
    assert spread[2, 2] < spread[1, 1] < spread[1, 2]


def test_belief_of_a_sum_is_that_of_the_tables():
    _, masked, tables, chances = case("margins too", 1, RULE)
    weights = np.exp(PRIORS["dirichlet"](tables)) * chances
    by_value = np.bincount(tables[:, [0, 3]].sum(axis=1), weights=weights / weights.sum())
    found = belief_of_sum(masked, np.array([0, 3]), "dirichlet")
    wanted = {q: p for q, p in enumerate(by_value.tolist()) if p > 0}
    assert dict(found.distribution) == pytest.approx(wanted, rel=1e-9)
    assert found.mean == pytest.approx(sum(q * p for q, p in wanted.items()))


def test_the_same_persons_have_the_same_figure_in_every_table():
    counts = np.array([[4, 0, 0], [0, 2, 5]])
    table = perturbation_table(NoiseRule(variance=2.0))
    for seed in range(200):
        full, rows, columns, total = noisy_tables(
            counts, [(0, 1), (0,), (1,), ()], table, seed=seed
        )
        assert full.counts[0, 0] == rows.counts[0] == columns.counts[0]
        assert full.counts[1, 1] == columns.counts[1]
        alone = noisy_tables(counts, [(1,)], table, seed=seed)[0]
        assert np.array_equal(alone.counts, columns.counts)
        assert isinstance(total, Rounded)
