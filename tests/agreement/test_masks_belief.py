"""The intruder's distribution against Bayes' rule over every table, written out.

Each mask is put on small tables; all tables of the same total are tried, and each one's posterior
is its prior times the probability that it would have led to the same publication.
"""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.belief import ladder
from discreet.belief.belief import ListedBelief
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.summed_belief import SummedBelief
from discreet.data.table import Table
from discreet.figures import How, Unavailable
from discreet.masks.after_publication import intruders_belief, intruders_bounds
from discreet.masks.margins import release_margins
from discreet.masks.redaction import REMOVED, Rule, redact
from discreet.masks.rounding import nearest, round_at_random, round_conventionally
from discreet.masks.suppression import suppress

SHAPES = [(2, 2), (2, 3), (2, 2, 2)]
PRIORS = {
    "multinomial": lambda x: -gammaln(x + 1.0).sum(axis=1),
    "dirichlet": lambda x: (gammaln(x + 0.5) - gammaln(x + 1.0)).sum(axis=1),
    "uniform": lambda x: np.zeros(len(x)),
}


@cache
def all_tables(n_cells, total):
    bars = np.array(list(combinations(range(total + n_cells - 1), n_cells - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), total + n_cells - 1)
    return np.diff(np.hstack([np.full((len(bars), 1), -1), bars, ends])) - 1


def sums(tables, shape, axes):
    wide = tables.reshape(-1, *shape)
    return wide.sum(axis=tuple(i + 1 for i in range(len(shape)) if i not in axes)).reshape(
        len(wide), -1
    )


def conventionally(table, base, sets):
    masked = round_conventionally(table, base=base, sets=sets)

    def chance(tables):
        same = np.ones(len(tables))
        for part in masked.published:
            rounded = nearest(sums(tables, table.sizes, part.axes), base)
            same *= np.all(rounded == part.counts.ravel(), axis=1)
        return same

    return masked, chance


def at_random(table, base, sets):
    masked = round_at_random(table, base=base, sets=sets, seed=3)

    def chance(tables):
        found = np.ones(len(tables))
        for part in masked.published:
            gap = np.abs(sums(tables, table.sizes, part.axes) - part.counts.ravel())
            found *= np.prod(np.maximum(1 - gap / base, 0), axis=1)
        return found

    return masked, chance


def hidden(table, base, sets):
    masked = suppress(table)
    if isinstance(masked, Unavailable):
        return None, None

    def chance(tables):
        same = np.ones(len(tables))
        for part in masked.published:
            figures, shown = sums(tables, table.sizes, part.axes), part.shown.ravel()
            same *= np.all(figures[:, shown] == part.counts.ravel()[shown], axis=1)
            same *= np.all(figures[:, ~shown] >= 1, axis=1)
        return same

    return masked, chance


def redacted(table, base, sets):
    rule = Rule(most=base - 1, base=base, zeros="redacted" if base % 2 else "kept")
    masked = redact(table, rule=rule, sets=sets)

    def figure(count):
        if count == 0 and rule.zeros == "kept":
            return 0
        return REMOVED if count < base else int(nearest(np.array(count), base))

    def chance(tables):
        same = np.ones(len(tables))
        for part in masked.published:
            shown = np.ones(part.counts.shape, bool) if part.shown is None else part.shown
            read = np.where(shown, part.counts, REMOVED).ravel()
            own = np.vectorize(figure)(sums(tables, table.sizes, part.axes))
            same *= np.all(own == read, axis=1)
        return same

    return masked, chance


def margins(table, base, sets):
    masked = release_margins(table, sets)

    def chance(tables):
        same = np.ones(len(tables))
        for part in masked.published:
            same *= np.all(sums(tables, table.sizes, part.axes) == part.counts.ravel(), axis=1)
        return same

    return masked, chance


def cases(seed, number):
    rng = np.random.default_rng(seed)
    for i in range(number):
        shape = SHAPES[i % len(SHAPES)]
        total = int(rng.integers(3, 12 if len(shape) == 2 else 8))
        counts = rng.multinomial(total, rng.dirichlet(np.ones(int(np.prod(shape)))))
        yield Table.of_dense(counts.reshape(shape)), int(rng.integers(2, 6))


def chosen(table, full):
    names = list(table.names)
    return [names, names[:1]] if full else [names[:-1], names[1:]]


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("mask", [conventionally, at_random, hidden, redacted, margins])
@pytest.mark.parametrize("way", ["listed", "summed"])
def test_beliefs_are_bayes_rule_over_all_tables(mask, full, way, monkeypatch):
    if way == "summed":
        monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    tried = 0
    for i, (table, base) in enumerate(cases(1, 12)):
        masked, chance = mask(table, base, chosen(table, full))
        if masked is None:
            continue
        name = list(PRIORS)[i // 2 % 3]
        belief = intruders_belief(masked, name)
        assert isinstance(belief, ListedBelief if way == "listed" else SummedBelief)
        tables = all_tables(table.n_cells, table.total)
        weights = np.exp(PRIORS[name](tables)) * chance(tables)
        distribution = weights / weights.sum()
        for cell in range(table.n_cells):
            by_value = np.bincount(tables[:, cell], weights=distribution)
            found = belief.cell(cell)
            assert set(found) == set(np.flatnonzero(by_value > 0).tolist())
            for value, probability in found.items():
                assert probability == pytest.approx(by_value[value], rel=1e-9)
        possible = tables[distribution > 0]
        assert belief.lower.tolist() == possible.min(axis=0).tolist()
        assert belief.upper.tolist() == possible.max(axis=0).tolist()
        truth = int(np.flatnonzero((tables == table.dense().ravel()).all(axis=1))[0])
        assert belief.probability(table.dense()).value == pytest.approx(
            distribution[truth], rel=1e-9
        )
        positive = distribution[distribution > 0]
        bits = float(-(positive * np.log2(positive)).sum())
        assert belief.entropy().value == pytest.approx(bits, abs=1e-9)
        assert belief.entropy().how is How.EXACT
        bounds = intruders_bounds(masked)
        assert bounds.complete
        assert bounds.lower.tolist() == possible.min(axis=0).tolist()
        assert bounds.upper.tolist() == possible.max(axis=0).tolist()
        tried += 1
    assert tried >= 3


def test_an_inconsistent_table_has_probability_zero_either_way(monkeypatch):
    table = Table.of_dense(np.array([[3, 1], [2, 4]]))
    other = np.array([[4, 1], [2, 4]])
    masked = round_at_random(table, base=3, seed=1, sets=[["v1", "v2"], ["v1"]])
    assert intruders_belief(masked).probability(other).value == 0
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    assert intruders_belief(masked).probability(other).value == 0


def test_an_unknown_total_has_every_number_of_persons_equally_probable():
    table = Table.of_dense(np.array([[2, 1], [0, 3]]))
    masked = round_at_random(table, base=3, seed=1, total_known=False)
    belief = intruders_belief(masked)
    published = masked.published[0].counts.ravel()
    weights = {}
    for total in range(int(published.sum()) - 8, int(published.sum()) + 9):
        if total < 0:
            continue
        tables = all_tables(4, total)
        prior = np.exp(-gammaln(tables + 1.0).sum(axis=1))
        chance = np.prod(np.maximum(1 - np.abs(tables - published) / 3, 0), axis=1)
        for one, weight in zip(tables, prior / prior.sum() * chance):
            if weight > 0:
                weights[tuple(one.tolist())] = weight
    whole = sum(weights.values())
    assert len(belief.tables) == len(weights)
    for one, weight in weights.items():
        assert belief.probability(np.array(one)).value == pytest.approx(weight / whole, rel=1e-9)


def test_a_log_linear_prior_agrees_with_its_margins_product():
    """Independence of two variables, Dirichlet(½) cells: the distribution is a product of two
    margins'.
    """
    table = Table.of_dense(np.array([[2, 1, 0], [1, 2, 2]]))
    masked = round_at_random(table, base=3, seed=1)
    model = HierarchicalModel.of(2, [(0,), (1,)])
    belief = intruders_belief(masked, LogLinearPrior(model, 0.5))
    tables = all_tables(6, 8)
    rows, columns = sums(tables, (2, 3), (0,)), sums(tables, (2, 3), (1,))
    logs = (
        -gammaln(tables + 1.0).sum(axis=1)
        + gammaln(rows + 1.5).sum(axis=1)
        + gammaln(columns + 1.0).sum(axis=1)
    )
    gap = np.abs(tables - masked.published[0].counts.ravel())
    weights = np.exp(logs) * np.prod(np.maximum(1 - gap / 3, 0), axis=1)
    distribution = weights / weights.sum()
    for one, chance in zip(tables[distribution > 0], distribution[distribution > 0]):
        assert belief.probability(one).value == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize("mask", [conventionally, at_random])
def test_weighted_draws_agree_with_the_exact_distribution_within_their_errors(mask, monkeypatch):
    table = Table.of_dense(np.array([[2, 1, 0], [1, 3, 4]]))
    masked, _ = mask(table, 3, [["v1", "v2"], ["v1"], ["v2"]])
    exact = intruders_belief(masked, "dirichlet")
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    monkeypatch.setattr(ladder, "by_summing", lambda *_: Unavailable("not tried"))
    drawn = intruders_belief(masked, "dirichlet")
    assert drawn.effective_draws > 1000
    assert drawn.lower.tolist() == exact.lower.tolist()
    assert drawn.upper.tolist() == exact.upper.tolist()
    for cell in range(6):
        distribution, error = exact.cell(cell), drawn.cell_error(cell)
        for value, share in drawn.cell(cell).items():
            assert abs(share - distribution[value]) < 5 * error[value] + 1e-12
    own, theirs = drawn.probability(table.dense()), exact.probability(table.dense())
    assert own.how is How.ESTIMATE
    assert abs(own.value - theirs.value) < 5 * own.standard_error
    bits = drawn.entropy()
    assert abs(bits.value - exact.entropy().value) < 5 * bits.standard_error
    assert drawn.probability(table.dense() + 9).value == 0


def test_a_distribution_that_no_way_reaches_says_why(monkeypatch):
    table = Table.of_dense(np.array([[2, 1, 0], [1, 3, 4]]))
    masked = round_at_random(table, base=3, seed=1, total_known=False)
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    found = intruders_belief(masked)
    assert isinstance(found, Unavailable)
    assert "number of persons is not known" in found.reason
