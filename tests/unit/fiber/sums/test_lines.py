"""Number, bounds and probabilities from lines agree with other methods and with listing."""

import numpy as np
import pytest

from discreet.count_tables.knowledge_notation import parse_knowledge
from discreet.count_tables.rebuilding import hidden_counts
from discreet.count_tables.statistics import CountStatistics
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.sums import marginals
from discreet.fiber.sums.counting import count_exactly
from discreet.fiber.sums.dynamic_programming_plan import BudgetExceeded
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.sums.lines import lines_of
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.priors import Multinomial, Uniform

KNOWN = ("", "max=5", "1=3..9", "decreasing", "nozeros")


def system_of_counts(seed, known=""):
    rng = np.random.default_rng(seed)
    counts = np.sort(rng.integers(1, 9, size=int(rng.integers(3, 8))))[::-1]
    table = dict(enumerate(counts.tolist(), start=int(known == "nozeros")))
    knowledge = parse_knowledge(known) if known else None
    return hidden_counts(CountStatistics.of_counts(table), knowledge).parts[0].system


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("seed", range(12))
def test_all_figures_agree_with_a_list_of_all_tables(seed, known):
    try:
        system = system_of_counts(seed, known)
    except Exception as problem:  # the knowledge is not true of this table
        pytest.skip(str(problem))
    lines, listed = lines_of(system), list(tables(system))
    assert lines is not None
    assert lines.n_tables == len(listed)
    if not listed:
        return
    cells = np.array(listed)
    assert sorted(map(tuple, lines.tables().tolist())) == sorted(map(tuple, cells.tolist()))
    assert lines.bounds.lower.tolist() == cells.min(axis=0).tolist()
    assert lines.bounds.upper.tolist() == cells.max(axis=0).tolist()
    for prior in (Multinomial(), Uniform()):
        logs = prior.log_weight(np.zeros_like(cells), cells).sum(axis=1)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        found, best = lines.posterior(prior)
        for j in range(system.n_named):
            for value in np.unique(cells[:, j]):
                own = weights[cells[:, j] == value].sum()
                assert found.probability(j, int(value)) == pytest.approx(own, rel=1e-9)
        entropy = -(weights * np.log2(weights, where=weights > 0, out=np.zeros(len(weights)))).sum()
        assert found.entropy == pytest.approx(entropy, abs=1e-9)
        assert found.table_probability(best) == pytest.approx(weights.max(), rel=1e-9)


def test_larger_tables_agree_with_dynamic_programming():
    table = dict(enumerate((120, 75, 33, 14, 6, 3, 2, 1)))
    system = hidden_counts(CountStatistics.of_counts(table)).parts[0].system
    lines = lines_of(system)
    assert lines.n_tables == count_exactly(system)
    wanted = bounds(system)
    assert lines.bounds.lower.tolist() == wanted.lower.tolist()
    assert lines.bounds.upper.tolist() == wanted.upper.tolist()
    for prior in (Multinomial(), Uniform()):
        found, best = lines.posterior(prior)
        other = marginals.posterior(system, prior)
        assert found.log_normaliser == pytest.approx(other.log_normaliser, rel=1e-12)
        assert found.entropy == pytest.approx(other.entropy, abs=1e-9)
        top = marginals.most_probable_table(system, prior)
        assert found.log_table_probability(best) == pytest.approx(found.log_table_probability(top))


def test_numbers_beyond_64_bits():
    cells = np.arange(12)
    rows = [Statement(cells=cells, low=10**8, high=10**8, name="n"),
            Statement(cells=np.arange(2), low=0, high=10**7, name="two")]  # fmt: skip
    with pytest.raises(BudgetExceeded, match="states"):
        lines_of(system_of(12, rows))
    few = system_of(3, [Statement(cells=np.arange(3), low=400_000, high=400_000, name="n")])
    assert lines_of(few).n_tables == 400_001 * 400_002 // 2


def test_no_table_and_no_cell_that_moves_by_one():
    odd = Statement(cells=np.arange(2), low=3, high=3, name="s", coefficients=np.array([2, 2]))
    assert lines_of(system_of(2, [odd])).n_tables == 0
    steep = Statement(cells=np.arange(2), low=60, high=60, name="s", coefficients=np.array([2, 3]))
    assert lines_of(system_of(2, [steep])) is None
