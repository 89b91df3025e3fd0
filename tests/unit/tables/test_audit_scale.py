"""Named small cells of tables that are never built: bounds and distributions against counting by
hand.
"""

from collections import Counter
from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
import pytest

from discreet.belief.draws.augmentation import ChainEffort
from discreet.belief.exact.matched_distribution import matched_distribution
from discreet.belief.models.generators import HierarchicalModel
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Figure, Unavailable
from discreet.flows.audit import audit
from discreet.policy.findings import Findings
from discreet.policy.table_rules import SmallCellsIdentified
from discreet.policy.verdict import Ruling
from discreet.tables import posteriors
from discreet.tables.audit import main_view
from discreet.tables.audit_options import AuditOptions
from discreet.tables.cross_risks import CrossRisk, cross_risks
from discreet.tables.crosses import within
from discreet.tables.measures import is_found
from discreet.tables.policy_needs import finding_name
from discreet.tables.posteriors import View
from discreet.tables.refused_margin import RefusalRule, RiskFigure, RiskMeasure
from discreet.tables.release import released
from discreet.tables.table_findings import measured_finding

TEN = (14, 2, 91, 5, 14, 7, 2, 5, 2, 10)  # a labour survey's ten keys


def sparse_table(sizes, n_persons, seed=1):
    """Persons whose answers hang on a hidden class, the first levels the most frequent."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, n_persons)
    columns = []
    for size in sizes:
        shares = np.array([rng.permutation(1 / np.arange(1, size + 1)) for _ in range(4)])
        ends = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        columns.append((rng.random(n_persons)[:, None] > ends[hidden][:, :-1]).sum(axis=1))
    cells, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return Table(
        names=tuple(f"v{i}" for i in range(len(sizes))),
        levels=tuple(tuple(map(str, range(size))) for size in sizes),
        cells=cells.astype(np.int64),
        counts=counts.astype(np.int64),
    )


def chain(n_variables, width):
    return [range(i, i + width) for i in range(n_variables - width + 1)]


class Counted:
    """How many persons share a cell's levels on each set of variables, counted one by one."""

    def __init__(self, table, axes_sets):
        self.axes_sets, self.counters = axes_sets, [Counter() for _ in axes_sets]
        for cell, count in zip(table.cells.tolist(), table.counts.tolist(), strict=True):
            for counter, axes in zip(self.counters, axes_sets, strict=True):
                counter[tuple(cell[a] for a in axes)] += count

    def __call__(self, levels):
        pairs = zip(self.counters, self.axes_sets, strict=True)
        return [counter[tuple(levels[a] for a in axes)] for counter, axes in pairs]


def matched_by_hand(cliques, separators):
    """The distribution of a cell: records matched at random along the chain, in whole numbers."""
    distribution = {cliques[0]: Fraction(1)}
    for entry, total in zip(cliques[1:], separators, strict=True):
        after = Counter()
        for held, p in distribution.items():
            for x in range(max(0, held + entry - total), min(held, entry) + 1):
                ways = Fraction(comb(held, x) * comb(total - held, entry - x), comb(total, entry))
                after[x] += p * ways
        distribution = after
    return distribution


def audited(table, sets, **options):
    named = [[table.names[a] for a in axes] for axes in sets]
    return audit(table, named, AuditOptions(**{"seconds": 60.0, **options}))


CASES = [
    pytest.param((2,) * 16, 3, 400, id="2^16 cells, three-way"),
    pytest.param(TEN, 2, 1500, id="249,704,000 cells, two-way"),
    pytest.param(TEN, 3, 1500, id="249,704,000 cells, three-way"),
    pytest.param((2, 3) * 26 + (2,), 2, 150, id="53 variables, two-way"),
    pytest.param((2, 3) * 26 + (2,), 3, 150, id="53 variables, three-way"),
]


@pytest.mark.parametrize(("sizes", "width", "n_persons"), CASES)
def test_bounds_and_distributions_of_named_cells_are_exact(sizes, width, n_persons):
    table, n = sparse_table(sizes, n_persons), len(sizes)
    sets = chain(n, width)
    found = audited(table, sets)
    view = found.views[main_view(found)]
    assert found.decomposable
    assert isinstance(view, View)
    assert view.how == "exact"
    assert len(found.small_cells) == min(found.n_small, 1000)
    separators = [range(i, i + width - 1) for i in range(1, n - width + 1)]
    entries, shared_entries = Counted(table, sets), Counted(table, separators)
    for place in range(0, len(found.small_cells), len(found.small_cells) // 4):
        cell, distribution = found.small_cells[place], view.distributions[place]
        cliques, shared = entries(cell.levels), shared_entries(cell.levels)
        assert cell.upper == min(cliques)
        assert cell.lower == max(0, sum(cliques) - sum(shared))
        right = matched_by_hand(cliques, shared)
        for q, p in right.items():
            assert distribution.get(q, 0.0) == pytest.approx(float(p), rel=1e-9, abs=1e-12)


def test_249_704_000_cells_are_those_of_the_survey():
    assert prod(TEN) == 249_704_000


def test_the_most_exposed_cells_of_a_large_table_are_looked_at():
    table = sparse_table(TEN, 3000, seed=3)
    sets = chain(len(TEN), 2)
    found = audited(table, sets)
    assert found.n_small > 1000 == len(found.small_cells)
    widths = [cell.width for cell in found.small_cells[:500]]
    assert widths == sorted(widths)
    kept = {cell.levels for cell in found.small_cells}
    left = [row for row in table.small_cells(2).tolist() if tuple(row) not in kept]
    entries = Counted(table, sets)
    shared = Counted(table, [range(i, i + 1) for i in range(1, len(TEN) - 1)])
    means = [prod(entries(c.levels)) / prod(shared(c.levels)) for c in found.small_cells[500:]]
    for row in left:
        assert min(entries(row)) >= widths[-1]  # lower bounds here are 0
        assert prod(entries(row)) / prod(shared(row)) <= min(means)  # far below 1 here
    assert isinstance(found.tightness, Figure)
    assert found.tightness.value == -widths[0]
    assert any("most exposed are looked at" in note for note in found.notes)


def test_cells_too_improbable_to_be_found_count_as_not_found():
    table, sets = sparse_table(TEN, 3000, seed=3), chain(len(TEN), 2)
    found = audited(table, sets, max_risk=0.25)
    assert found.n_measured == found.n_small > len(found.small_cells)
    assert found.verdict is not None
    assert found.verdict.rules[0].ruling is Ruling.KEPT
    assert found.verdict.ruling is Ruling.BROKEN  # margins of two variables print small counts
    view = found.views[main_view(found)]
    assert isinstance(view, View)
    entries = Counted(table, sets)
    shared = Counted(table, [range(i, i + 1) for i in range(1, len(TEN) - 1)])
    for cell, distribution in list(zip(found.small_cells, view.distributions, strict=True))[::50]:
        mean = prod(entries(cell.levels)) / prod(shared(cell.levels))
        assert sum(q * p for q, p in distribution.items()) == pytest.approx(mean)
        assert distribution.get(cell.truth, 0.0) <= mean * (
            1 + 1e-9
        )  # what lets others count as not found


def test_a_share_of_some_cells_cannot_show_that_a_policy_is_kept():
    table, sets = sparse_table(TEN, 3000, seed=3), chain(len(TEN), 2)
    found = audited(table, sets, max_risk=0.2, confidence=0.0, seconds=10.0)
    assert found.n_measured == 1000 < found.n_small
    risk = found.measures[main_view(found)].small_cells_identified
    every = tuple(range(len(table.names)))
    whole = CrossRisk(axes=every, risk=risk, n_small=found.n_small, n_looked_at=found.n_measured)
    figure = RiskFigure(measure=RiskMeasure.CELLS, small=2, confidence=0.0)
    one = measured_finding(table, figure, whole)
    rule = SmallCellsIdentified(limit=0.2, confidence=0.0)
    first = rule.judge(Findings({finding_name(figure): one}))[0]
    assert first.ruling is Ruling.UNDECIDED
    assert "1,000 of" in first.words


def test_all_small_cells_of_a_large_smaller_cross_are_measured():
    """Cells that cannot be found are not looked at, and count; against all of them one by one."""
    table, sets = sparse_table(TEN, 3000, seed=3), chain(len(TEN), 2)
    out = released(table, [table.names_of(axes) for axes in sets])
    rule = RefusalRule(measure=RiskMeasure.CELLS, max_risk=0.2, small=2, confidence=0.5)
    found = cross_risks(out, rule, alpha=0.5, effort=ChainEffort(), seed=1, clock=Clock(None))
    wide = [one for one in found if prod(TEN[axis] for axis in one.axes) > 4096]
    assert len(wide) > 5
    for one in wide[:3]:
        own = within(out, one.axes)
        model = HierarchicalModel.of(len(one.axes), own.sets)
        matched = matched_distribution(own.margins, model)
        cells, counts = own.table.small_cells(2), own.table.counts[own.table.counts <= 2]
        hits = sum(
            is_found(matched.cell(cell), int(count), 0.5)
            for cell, count in zip(cells.tolist(), counts, strict=True)
        )
        assert one.n_looked_at == one.n_small == len(cells)
        assert one.risk.value == pytest.approx(hits / len(cells))


def test_three_way_margins_in_a_ring_of_2_to_the_16_give_valid_bounds_and_say_what_is_missing():
    table = sparse_table((2,) * 16, 150)
    sets = [(i, (i + 1) % 16, (i + 2) % 16) for i in range(16)]
    found = audited(table, sets)
    assert not found.decomposable
    for cell in found.small_cells:
        assert cell.lower <= cell.truth <= cell.upper
    assert isinstance(found.tightness, Figure)
    assert found.tightness.value is None  # limits alone, since the bounds need not be tight
    assert isinstance(found.views[main_view(found)], Unavailable)


def test_2_to_the_12_cells_in_full():
    """Every cell bounded in closed form, distributions of the small ones exact, within the time."""
    table = sparse_table((2,) * 12, 200)
    found = audited(table, chain(12, 3))
    view = found.views[main_view(found)]
    assert len(found.cells) == 4096
    assert all(cell.how == "exact: closed form" for cell in found.cells)
    assert isinstance(view, View)
    assert view.how == "exact"
    assert isinstance(view.true_table, Figure)


def test_a_margin_too_large_to_hold_is_refused_in_words():
    table = sparse_table((60, 60, 60, 60, 60), 50)
    with pytest.raises(InputError, match="must be of at most"):
        audited(table, [range(5)])


def test_the_probability_of_a_true_table_that_is_never_built():
    """Matchings that give the table out of all of them, in whole numbers."""
    table, sets = sparse_table((2,) * 13, 12), chain(13, 2)
    found = audited(table, sets)
    view = found.views[main_view(found)]
    assert isinstance(view, View)
    counters = Counted(table, sets).counters, Counted(table, [(i,) for i in range(1, 12)]).counters
    cliques, shared = (
        prod(factorial(n) for counter in some for n in counter.values()) for some in counters
    )
    right = Fraction(cliques, shared * prod(map(factorial, table.counts.tolist())))
    assert isinstance(view.true_table, Figure)
    assert view.true_table.how == "exact"
    assert view.true_table.value == pytest.approx(float(right), rel=1e-9)
    assert 0 < right < 1


class ShortClock(Clock):
    """A clock by which the time is over after the distributions of seven cells."""

    @property
    def is_over(self):
        SHORT.append(self)
        return len(SHORT) > 7


SHORT: list[Clock] = []


def test_when_time_is_over_the_distributions_so_far_are_given(monkeypatch):
    table, sets = sparse_table(TEN, 300), chain(len(TEN), 2)
    full = audited(table, sets)
    SHORT.clear()
    monkeypatch.setattr(posteriors, "Clock", ShortClock)
    found = audited(table, sets, max_risk=0.2)
    name = main_view(found)
    view, whole = found.views[name], full.views[name]
    assert isinstance(view, View)
    assert isinstance(whole, View)
    assert view.distributions == whole.distributions[:7]
    assert found.small_cells == full.small_cells[:7]
    assert found.n_small == full.n_small > 7
    assert found.n_measured == 7
    assert found.tightness == full.tightness
    assert view.true_table == whole.true_table
    assert any("7 of" in note and "time ran out" in note for note in found.notes)
    assert found.verdict is not None
    assert found.verdict.ruling is not Ruling.KEPT
