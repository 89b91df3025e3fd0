"""Beliefs that count the choice of a publication, against running the mask on every table."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.choice.decision_belief import belief_with_decision
from discreet.data.table import Table
from discreet.figures import How, Unavailable
from discreet.flows.choose import choose
from discreet.masks import choice_belief
from discreet.masks.after_publication import intruders_belief
from discreet.masks.choice_belief import belief_with_choice
from discreet.masks.controlled_rounding import round_controlled
from discreet.masks.margins import release_margins
from discreet.masks.solving import Budget
from discreet.masks.suppression import Least, Rule, pattern_by_secret, suppress
from discreet.masks.suppression_choice import pattern_around
from discreet.masks.suppression_decoys import Drawing, secret_of
from discreet.masks.suppression_figures import figures_of
from discreet.masks.suppression_pattern import Problem

N_DRAWS = 5  # of costs
TABLE = np.array([[2, 3, 2], [3, 4, 3], [2, 2, 4]])  # three tables fit its least pattern


def flags(masked):
    return np.concatenate([~part.shown.ravel() for part in masked.published])


def two_way(shape, total):
    """Every table of a shape and a total."""
    n = shape[0] * shape[1]
    for cells in product(range(total + 1), repeat=n - 1):
        if sum(cells) <= total:
            yield np.array([*cells, total - sum(cells)])


def figures(shape, cells):
    wide = cells.reshape(shape)
    return np.concatenate([cells, wide.sum(axis=1), wide.sum(axis=0), [wide.sum()]])


def fitting(shape, counts, hidden, least=1):
    """All tables that agree with the shown figures and have `least` in every hidden one."""
    truth, found = figures(shape, counts.ravel()), []
    for cells in two_way(shape, int(counts.sum())):
        own = figures(shape, cells)
        if np.array_equal(own[~hidden], truth[~hidden]) and np.all(own[hidden] >= least):
            found.append(cells)
    return np.array(found)


def posterior(tables):
    weights = np.exp(-gammaln(tables + 1.0).sum(axis=1))
    return weights / weights.sum()


def agree(belief, tables):
    shares = posterior(tables)
    for cell in range(tables.shape[1]):
        wanted = {
            int(q): float(shares[tables[:, cell] == q].sum()) for q in np.unique(tables[:, cell])
        }
        assert belief.cell(cell) == pytest.approx(wanted)


def test_a_least_pattern_gives_the_whole_table_away():
    masked = suppress(Table.of_dense(TABLE))
    assert len(intruders_belief(masked).tables) == 3
    counted = belief_with_choice(masked)
    assert counted.how is How.EXACT
    assert counted.tables.tolist() == [TABLE.ravel().tolist()]


def test_with_decoys_nothing_is_fixed_beyond_the_bounds(monkeypatch):
    monkeypatch.setattr(choice_belief, "ENOUGH", 110.0)
    masked = suppress(Table.of_dense(TABLE), seed=7)
    plain = intruders_belief(masked)
    counted = belief_with_choice(masked, seconds=20)
    assert counted.how is How.ESTIMATE
    assert counted.effective_draws >= 100
    for cell in range(9):
        assert set(counted.cell(cell)) == set(plain.cell(cell))


@pytest.mark.parametrize(
    "counts", [[[2, 3], [3, 4]], [[1, 4], [5, 2]], [[1, 4, 2], [2, 1, 3]], [[2, 2, 1], [0, 3, 2]]]
)
def test_counted_beliefs_are_those_of_trying_every_table(counts):
    counts = np.array(counts)
    masked = suppress(Table.of_dense(counts))
    hidden = flags(masked)
    tables = fitting(counts.shape, counts, hidden)
    same = []
    for cells in tables:
        other = suppress(Table.of_dense(cells.reshape(counts.shape)), time_limit=0)
        same.append(not isinstance(other, Unavailable) and np.array_equal(flags(other), hidden))
    agree(intruders_belief(masked), tables)
    agree(belief_with_choice(masked), tables[np.array(same)])


@pytest.mark.parametrize("counts", [[[2, 3], [3, 4]], [[0, 4], [5, 1]]])
def test_controlled_rounding_counted_is_that_of_trying_every_table(counts):
    counts = np.array(counts)
    masked = round_controlled(Table.of_dense(counts), base=3)
    rounded = masked.published[0].counts
    tables, same = [], []
    shown = figures(counts.shape, rounded.ravel())
    for cells in two_way(counts.shape, int(counts.sum())):
        if np.all(np.abs(figures(counts.shape, cells) - shown) <= 2):
            other = round_controlled(Table.of_dense(cells.reshape(counts.shape)), base=3)
            tables.append(cells)
            same.append(np.array_equal(other.published[0].counts, rounded))
    agree(intruders_belief(masked), np.array(tables))
    agree(belief_with_choice(masked), np.array(tables)[np.array(same)])
    assert not all(same)


def problem_of(cells, shape):
    table = Table.of_dense(cells.reshape(shape))
    own, rule = figures_of(table, table.dense(), None), Rule()
    return Problem(
        figures=own,
        rule=rule,
        counts=cells,
        sensitive=np.flatnonzero(rule.is_sensitive(own.counts)),
        costs=np.ones(own.n, dtype=np.int64),
        budget=Budget(10.0),
    )


def chances(cells, shape, hidden, draws):
    """Pr(a pattern | a table) by every set of decoys, for the costs of some draws."""
    problem = problem_of(cells, shape)
    own = problem.figures
    drawing = Drawing.of(own, problem.rule, own.counts)
    free = np.flatnonzero(hidden & ~problem.is_sensitive)
    shown = np.prod(1 - drawing.chance[~hidden])
    total = 0.0
    for draw in draws:
        costs = drawing.costs(secret_of(draw, own.n), alike=False)
        for taken in product([False, True], repeat=len(free)):
            decoys = np.zeros(own.n, dtype=bool)
            decoys[free] = taken
            asked = Problem(
                figures=own,
                rule=problem.rule,
                counts=cells,
                sensitive=problem.sensitive,
                costs=costs,
                budget=Budget(10.0),
            )
            found = pattern_around(asked, decoys, exact=False)
            if not isinstance(found, Unavailable) and np.array_equal(found[0].hidden, hidden):
                total += np.prod(np.where(taken, drawing.chance[free], 1 - drawing.chance[free]))
    return shown * total / len(draws)


def test_every_table_that_fits_could_have_led_to_the_pattern():
    """By every set of decoys; and draws come to the same probabilities within their error."""
    counts = np.array([[2, 3], [3, 4]])
    masked = suppress(Table.of_dense(counts), seed=8)
    hidden = flags(masked)
    tables = fitting(counts.shape, counts, hidden)
    assert len(tables) > 1
    exact = np.array([chances(cells, counts.shape, hidden, range(N_DRAWS)) for cells in tables])
    assert np.all(exact > 0)
    rng = np.random.default_rng(1)
    replay = masked.replay.informed(tables)
    for cells, wanted in zip(tables, exact, strict=True):
        drawn = np.exp([replay.log_chance(cells, rng) for _ in range(25)])
        error = np.std(drawn) / np.sqrt(len(drawn)) + wanted * 0.35 / np.sqrt(N_DRAWS)
        assert abs(drawn.mean() - wanted) < 4 * error


def by_seeds(cells, shape, hidden, n):
    """How often a table leads to a pattern, by running the mask itself."""
    found = 0
    for seed in range(n):
        problem = problem_of(cells, shape)
        secret = secret_of(seed, problem.figures.n)
        other = pattern_by_secret(problem, Least.COUNTS, exact=False, secret=secret)
        found += not isinstance(other, Unavailable) and np.array_equal(other[0].hidden, hidden)
    return found


def test_the_counted_belief_is_that_of_running_the_mask_with_many_seeds(monkeypatch):
    monkeypatch.setattr(choice_belief, "ENOUGH", 110.0)
    counts = np.array([[2, 3], [3, 4]])
    masked = suppress(Table.of_dense(counts), seed=8)
    tables, n = fitting(counts.shape, counts, flags(masked)), 60
    found = np.array([by_seeds(cells, counts.shape, flags(masked), n) for cells in tables])
    assert np.all(found > 0)
    weights = posterior(tables) * found
    belief = belief_with_choice(masked, seconds=20)
    for cells, share in zip(tables, weights / weights.sum(), strict=True):
        own, error = belief.cell(0)[int(cells[0])], belief.cell_error(0)[int(cells[0])]
        counting = share * (1 - share) / np.sqrt(found.min())
        assert abs(own - share) < 4 * np.hypot(error, counting)


def test_a_mask_whose_choice_tells_nothing_has_no_such_belief():
    masked = release_margins(Table.of_dense(TABLE), [["v1"], ["v2"]])
    assert "cannot be repeated" in belief_with_choice(masked).reason


def test_too_little_work_is_said():
    masked = suppress(Table.of_dense(TABLE), seed=3)
    assert "are needed" in belief_with_choice(masked, seconds=0.01).reason
    plain = suppress(Table.of_dense(TABLE))
    assert "on 0 of 3 tables in the time" in belief_with_choice(plain, seconds=0.01).reason
    wide = suppress(Table.of_dense(TABLE + 20), rule=Rule(small=22))
    assert "longer than the time allowed" in belief_with_choice(wide, seconds=0.3).reason


def test_the_decision_among_releases_tells_something_too():
    """Of the tables that fit the margins, those for which they would have been the choice."""
    table = Table.of_dense(np.array([[2, 3], [3, 4]]))
    found = choose(table, "margins,rounding:base=3", max_risk=0.25, seed=1)
    before = intruders_belief(found.chosen.masked)
    counted = belief_with_decision(found)
    assert len(counted.tables) < len(before.tables)
    assert [2, 3, 3, 4] in counted.tables.tolist()
    same = []
    for cells in before.tables:
        other = choose(
            Table.of_dense(cells.reshape(2, 2)), "margins,rounding:base=3", max_risk=0.25, seed=1
        )
        same.append(other.chosen.title == found.chosen.title)
    assert counted.tables.tolist() == before.tables[np.array(same)].tolist()


def test_a_decision_with_draws_or_too_many_tables_is_not_repeated():
    table = Table.of_dense(np.array([[2, 3], [3, 4]]))
    drawn = choose(table, "margins,rounding:base=3,random", max_risk=0.25, seed=1)
    assert "name masks without chance" in belief_with_decision(drawn).reason
    plain = choose(table, "margins", max_risk=0.25, seed=1)
    assert "more than 2 tables" in belief_with_decision(plain, most_tables=2).reason
    assert "longer than allowed" in belief_with_decision(plain, seconds=1e-6).reason
