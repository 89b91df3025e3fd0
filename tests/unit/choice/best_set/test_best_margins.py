"""The best set of margins: what is asked, what comes back, and what must never happen."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.named_cells import cell_distribution

from discreet.choice.best_set import identified_cells
from discreet.choice.best_set import search as module
from discreet.choice.best_set.best_margins import Family, best_margins, information_weights
from discreet.choice.best_set.component_range import ComponentRange, smallest_outside
from discreet.choice.best_set.conflict_search import ConflictSearch
from discreet.choice.best_set.decomposable_bound import DecomposableBound
from discreet.choice.best_set.decomposable_search import DecomposableSearch, Found
from discreet.choice.best_set.identified_cells import IdentifiedCells, distribution_of_chain
from discreet.choice.best_set.margin_requests import (
    checked_requests,
    default_order,
    is_more,
    weight_within,
)
from discreet.choice.best_set.margin_safety import Judge, Safety
from discreet.choice.best_set.search import Search, Task
from discreet.choice.best_set.small_cells import SmallCells
from discreet.data.table import Table
from discreet.errors import ColumnError, InputError
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.programs import Deadline
from discreet.figures import Figure
from discreet.numerics.bit_sets import all_within, axes_of, maximal_sets, set_of
from discreet.progress import silent
from discreet.tables.measures import best_value
from discreet.tables.refused_margin import RiskMeasure


def a_table(sizes=(2, 2, 3, 2), total=120, seed=1):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(int(np.prod(sizes)), 0.7))
    return Table.of_dense(rng.multinomial(total, shares).reshape(sizes))


def least_width(table, sets, small):
    counts = table.dense()
    cells = np.argwhere((counts > 0) & (counts <= small))
    found = bounds(margins_of(counts, sets), cells=cells, tables=(counts,))
    assert found.exact.all()
    return int((found.upper - found.lower).min())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [2, 5])
def test_the_bounds_of_the_chosen_set_are_as_wide_as_asked(seed, width):
    table = a_table(seed=seed)
    found = best_margins(table, min_width=width, small=2, seconds=None)
    sets = [table.axes(names) for names in found.chosen]
    assert found.optimal
    assert least_width(table, sets, 2) >= width
    assert found.risk.value == -least_width(table, sets, 2)


@pytest.mark.parametrize("seed", range(3))
def test_no_blocked_margin_could_have_joined(seed):
    table = a_table(seed=seed)
    found = best_margins(table, min_width=4, seconds=None)
    sets = [table.axes(names) for names in found.chosen]
    assert found.frontier is not None
    assert found.frontier.complete
    for axes in found.frontier.blocked:
        assert least_width(table, [*sets, axes], 2) < 4
    for axes in found.frontier.unreleasable:
        assert least_width(table, [axes], 2) < 4


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_a_coarser_release_is_never_riskier(seed, width):
    rng = np.random.default_rng(seed)
    table = a_table((2, 3, 2), 40, seed)
    every = [set_of(a) for size in (1, 2, 3) for a in combinations(range(3), size)]
    finer = maximal_sets(rng.choice(every, 3, replace=False).tolist())
    coarser = maximal_sets(one & ~(1 << int(rng.integers(3))) for one in finer)
    assert all_within(coarser, finer)
    verdicts = [
        Judge(SmallCells(table, 3), width, (), Deadline(None))(sets) for sets in (finer, coarser)
    ]
    if verdicts[0] is Safety.SAFE:
        assert verdicts[1] is Safety.SAFE


def test_weights_decide():
    table = Table.of_dense(np.array([[[3, 1], [4, 6]], [[5, 7], [2, 9]]]))
    heavy = {("v1", "v2"): 10.0, ("v1", "v3"): 1.0, ("v2", "v3"): 1.0}
    for favourite in combinations(table.names, 2):
        asked = dict.fromkeys(heavy, 1.0) | {favourite: 10.0}
        found = best_margins(table, min_width=3, requests=asked, seconds=None)
        assert found.optimal
        assert any(set(favourite) <= set(one) for one in found.chosen)


def test_fractional_weights_are_resolved():
    table = a_table((2, 2, 2), 60)
    asked = dict.fromkeys(combinations(table.names, 2), 1 / 3)
    found = best_margins(table, min_width=2, requests=asked, seconds=None)
    assert found.optimal
    assert found.utility <= found.upper_bound <= found.utility + 1e-5
    assert found.utility == pytest.approx(len({p for p in asked if _held(p, found.chosen)}) / 3)


def _held(names, chosen):
    return any(set(names) <= set(one) for one in chosen)


def test_no_small_cell_means_everything_can_go_out():
    table = Table.of_dense(np.full((2, 2, 2), 50))
    found = best_margins(table, min_width=3)
    assert found.utility == found.total_weight == found.upper_bound
    assert found.risk.value == -400
    assert "none to protect" in found.notes[0]
    cells = best_margins(table, measure="cells", max_share=0.0)
    assert cells.risk.value == 0


def test_a_width_of_nothing_lets_everything_out():
    table = Table.of_dense(np.array([[[2, 1], [0, 1]], [[1, 0], [3, 1]]]))
    found = best_margins(table, min_width=0)
    assert found.optimal
    assert found.utility == found.total_weight


def test_nothing_safe_is_said_plainly():
    table = Table.of_dense(np.array([[1, 1], [1, 0]]))
    found = best_margins(table, min_width=10)
    assert found.chosen == ()
    assert found.utility == found.upper_bound == 0
    assert found.optimal
    assert "release nothing" in found.notes[0]


def test_only_the_total_is_safe():
    table = Table.of_dense(np.array([[1, 2], [2, 1]]))
    found = best_margins(table, min_width=6)
    assert found.chosen == ()
    assert "nothing but the total" in found.notes[0]


def test_what_is_out_and_unsafe_blocks_everything():
    table = a_table((2, 2, 2), 30)
    found = best_margins(table, min_width=5, already=[table.names])
    assert found.to_publish == ()
    assert found.chosen == (table.names,)
    assert found.risk.value == 0
    assert "already out breaks the rule" in found.notes[0]


def test_a_short_time_still_gives_a_safe_set_and_an_honest_bound():
    table = a_table((2, 3, 2, 2, 3), 900, seed=5)
    quick = best_margins(table, min_width=4, seconds=0.05)
    slow = best_margins(table, min_width=4, seconds=None)
    assert slow.optimal
    assert quick.utility <= slow.utility <= quick.upper_bound
    if quick.chosen:
        assert least_width(table, [table.axes(n) for n in quick.chosen], 2) >= 4
    assert quick.optimal or not quick.complete


@pytest.mark.parametrize(
    "phase",
    ["a bound for decomposable sets", "decomposable sets", "closing the gap", "frontiers"],
)
def test_an_interruption_gives_what_was_found(phase):
    table = a_table((2, 3, 2, 2, 3), 900, seed=5)

    def stop(step, fraction):
        if step == f"margins: {phase}":
            raise KeyboardInterrupt

    found = best_margins(table, min_width=4, seconds=None, progress=stop)
    assert not found.complete
    assert "stopped by the user" in found.notes[0]
    if found.chosen:
        assert least_width(table, [table.axes(n) for n in found.chosen], 2) >= 4
    assert found.utility <= found.upper_bound


def test_the_same_seed_gives_the_same_answer():
    table = a_table((2, 3, 2, 2, 3), 900, seed=6)
    one, two = (best_margins(table, min_width=3, seconds=None, seed=4) for _ in range(2))
    assert (one.chosen, one.decomposable, one.upper_bound) == (
        two.chosen, two.decomposable, two.upper_bound,
    )  # fmt: skip


def test_identified_cells_are_capped_and_the_best_of_all_decomposable_sets():
    table = a_table((2, 2, 3), 40, seed=3)
    found = best_margins(table, measure="cells", max_share=0.25, small=2, seconds=None)
    assert found.family is Family.DECOMPOSABLE
    assert found.optimal
    assert isinstance(found.risk, Figure)
    assert found.risk.value == _share(table, found.chosen)
    assert found.risk.value <= 0.25
    trees = [
        sets for size in (0, 1, 2) for sets in combinations(combinations(table.names, 2), size)
    ]
    for sets in trees:
        whole = [*sets, *((name,) for name in table.names if not _held([name], sets))]
        if _share(table, whole) <= 0.25:
            assert found.utility >= sum(_held(wanted, whole) for wanted in found.requested)


def _share(table, chosen):
    sets = [table.axes(names) for names in chosen]
    margins = margins_of(table.dense(), sets)
    hits = []
    for levels, count in zip(table.cells, table.counts.tolist()):
        if count <= 2:
            distribution = cell_distribution(margins, levels)
            hits.append(best_value(distribution) == count and distribution[count] > 0.5)
    return sum(hits) / len(hits)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_width": -1}, "min_width must be a whole number of at least 0, got -1"),
        ({"small": 0}, "small must be a whole number of at least 1, got 0"),
        ({"seconds": 0}, "seconds must be above 0, got 0"),
        ({"measure": "luck"}, "measure must be 'bounds' or 'cells', got 'luck'"),
        ({"max_share": 1.5}, "max_share must be from 0 to 1, got 1.5"),
        ({"confidence": 1}, "confidence must be from 0 to below 1, got 1"),
        ({"requests": []}, "requests must be at least one margin, got none"),
        ({"requests": ["v1"]}, "a request must be a list of names, got a text"),
        ({"requests": [()]}, "a request must be of at least one variable, got none"),
        ({"requests": {("v1",): -1}}, "weight of a request must be above 0"),
        ({"requests": {("v1",): float("nan")}}, "weight of a request must be above 0"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        best_margins(a_table((2, 2), 9), **given)


def test_unknown_names_are_refused():
    with pytest.raises(ColumnError, match="did you mean 'v1'"):
        best_margins(a_table((2, 2), 9), requests=[["v11"]])
    with pytest.raises(ColumnError, match="must be those of the table"):
        best_margins(a_table((2, 2), 9), already=[["zzz"]])


def test_default_requests():
    assert [default_order(n) for n in (1, 2, 6, 7, 12, 13)] == [1, 1, 5, 3, 3, 2]
    requests = checked_requests(a_table((2, 2, 2), 9), None)
    assert {axes_of(one) for one in requests} == {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)}
    assert weight_within(requests, [0b011]) == 3


def test_information_of_a_pair_is_its_mutual_information():
    counts = np.array([[30, 10], [5, 15]])
    p = counts / 60
    outer = np.outer(p.sum(axis=1), p.sum(axis=0))
    expected = float((p * np.log2(p / outer)).sum())
    found = information_weights(Table.of_dense(counts))
    assert found == {("v1", "v2"): pytest.approx(expected)}
    with pytest.raises(InputError, match="order must be from 2"):
        information_weights(Table.of_dense(counts), 3)


def test_json_holds_what_a_reader_needs():
    found = best_margins(a_table(), min_width=3, seconds=None)
    told = json.loads(json.dumps(found.to_json()))
    assert told["chosen"] == [list(names) for names in found.chosen]
    assert told["gap"] == 0
    assert told["measure"] == RiskMeasure.BOUNDS
    assert told["risk"]["how"] == "exact"


def test_entries_are_those_of_the_margin():
    table = a_table((3, 2, 4), 50)
    cells = SmallCells(table, 2)
    for size in (0, 1, 2, 3):
        for axes in combinations(range(3), size):
            margin = table.margin(axes)
            expected = margin[tuple(cells.levels[:, a] for a in axes)] if axes else table.total
            assert np.array_equal(
                cells.entries(set_of(axes)), np.broadcast_to(expected, len(cells))
            )


def test_entries_of_a_margin_too_large_to_build():
    rng = np.random.default_rng(1)
    cells = np.unique(rng.integers(0, 2, (300, 60)), axis=0)
    levels = tuple(("a", "b") for _ in range(60))
    names = tuple(f"x{i}" for i in range(60))
    table = Table(names=names, levels=levels, cells=cells, counts=np.ones(len(cells), np.int64))
    small = SmallCells(table, 1)
    some = tuple(range(0, 60, 2))
    alike = (cells[:, None, some] == cells[None, :, some]).all(axis=2).sum(axis=1)
    assert np.array_equal(small.entries(set_of(some)), alike)
    assert small.least(set_of(some)) == 1


@pytest.mark.parametrize(
    ("sets", "by_exchange"),
    [
        ((0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100), True),
        ((0b0111, 0b1001, 0b1010, 0b1100), True),
        ((0b0111, 0b1011, 0b1101, 0b1110), False),
    ],
)
def test_exchanges_of_records_stay_within_the_true_range(sets, by_exchange):
    table = a_table((2, 2, 3, 2), 3000, seed=7)
    counts = table.dense()
    every = np.argwhere(np.ones(counts.shape, bool))
    walked = ComponentRange(table, every, 0b1111, sets)
    walked.push_by_blocks(np.arange(len(every)), 20, 50, Deadline(None))
    assert ((walked.most > walked.least).any()) == by_exchange
    walked.push(np.arange(len(every)), 200, Deadline(None))
    exact = bounds(margins_of(counts, map(axes_of, sets)), tables=(counts,))
    assert exact.exact.all()
    assert (walked.least >= exact.lower).all()
    assert (walked.most <= exact.upper).all()
    assert (walked.most - walked.least).max() > 0
    lower, upper = walked.limits(Deadline(None))
    assert (lower <= exact.lower).all()
    assert (upper >= exact.upper).all()


def test_smallest_sets_outside():
    assert smallest_outside((0b011, 0b110), (2, 2, 2)) == [0b101]
    assert smallest_outside((0b011, 0b101, 0b110), (2, 2, 2)) == [0b111]
    assert smallest_outside((0b001,), (2, 2, 1)) == [0b010]


@pytest.mark.parametrize("seed", range(5))
def test_the_distribution_along_a_chain_is_that_of_the_named_cell(seed):
    table = a_table((2, 3, 2, 2), 300, seed)
    sets = [(0, 1), (1, 2), (2, 3)]
    margins = margins_of(table.dense(), sets)
    for levels in table.cells[:10]:
        entries = [int(margins.tables[s][tuple(levels[list(s)])]) for s in sets]
        totals = [0, *(int(table.margin((v,))[levels[v]]) for v in (1, 2))]
        low, distribution = distribution_of_chain(np.array(entries), np.array(totals))
        expected = cell_distribution(margins, levels)
        assert {low + q: p for q, p in enumerate(distribution) if p > 1e-12} == pytest.approx(
            {q: p for q, p in expected.items() if p > 1e-12}
        )


def test_margins_out_that_meet_no_request():
    """Then no edge of the first set is worth anything."""
    table = Table.of_dense(np.array([[[0, 0], [3, 1]], [[0, 0], [0, 2]]]))
    for seed in range(5):
        found = best_margins(
            table, min_width=1, requests=[table.names], already=[table.names[:2]], seed=seed
        )
        assert found.utility == 0
        assert found.optimal


EPSILON = 2.0**-52
A, B, C = 0b001, 0b010, 0b100
TENTHS = {A | B: 0.1, A | C: 0.2, B | C: 0.3}  # 0.1 + 0.2 is 0.3 and a bit, in floats


def a_search(table, requests=TENTHS):
    task = Task(
        table=table,
        measure=RiskMeasure.BOUNDS,
        min_width=2,
        max_share=0.0,
        confidence=0.5,
        small=2,
        requests=requests,
        already=(),
        seconds=None,
        seed=1,
    )
    return Search(task, silent)


def found_as(sets, utility):
    return Found(sets=sets, utility=utility, complete=True, n_seen=1)


def test_weights_are_more_by_a_request_and_not_by_rounding():
    assert not is_more(0.1 + 0.2, 0.3)
    assert is_more(1e12 + 1, 1e12)
    assert is_more(0.3, 0.0)
    assert not is_more(0.0, 0.0)


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_an_even_chance_identifies_no_cell_whatever_rounding_does(off, monkeypatch):
    """Of two persons alike in nothing, margins leave each of four cells 0 or 1."""
    cells = SmallCells(Table.of_dense(np.eye(2, dtype=np.int64)), 2)
    even = np.array([0.5 - off * EPSILON, 0.5 + off * EPSILON])
    monkeypatch.setattr(identified_cells, "distribution_of_chain", lambda *_: (0, even))
    assert IdentifiedCells(cells, 0.3).share((A, B)) == 0
    one_in_two = np.array([0.25, 0.5 + off * EPSILON, 0.25])
    monkeypatch.setattr(identified_cells, "distribution_of_chain", lambda *_: (0, one_in_two))
    assert IdentifiedCells(cells, 0.5).share((A, B)) == 0


def test_a_share_whose_time_is_over_is_not_known_and_not_remembered():
    table = a_table((2, 2, 3), 40, seed=3)
    cells = IdentifiedCells(SmallCells(table, 2), 0.5)
    sets = tuple(1 << v for v in range(3))
    assert cells.share(sets, Deadline(0.0)) is None
    assert cells.share(sets, Deadline(None)) == _share(table, [(name,) for name in table.names])


def test_a_set_that_was_not_looked_at_in_time_is_not_allowed():
    found = best_margins(
        a_table((2, 2, 3), 40, seed=3), measure="cells", max_share=1.0, seconds=1e-9
    )
    assert not found.optimal
    assert found.to_publish == ()


def test_a_share_at_the_limit_is_within_it_however_the_limit_was_reckoned(monkeypatch):
    monkeypatch.setattr(IdentifiedCells, "share", lambda *_: 0.1)
    found = best_margins(a_table((2, 2)), measure="cells", max_share=1 - 0.9, seconds=None)
    assert found.to_publish


def test_of_sets_worth_the_same_the_wider_one_is_found_whatever_rounding_does():
    table = Table.of_dense(np.array([[[1, 5], [4, 0]], [[3, 2], [9, 8]]]))
    cells = SmallCells(table, 2)
    wide, narrow = (B | C, A), (A | B, A | C)
    least = {one: min(cells.least(part) for part in one) for one in (wide, narrow)}
    if least[wide] < least[narrow]:
        wide, narrow = narrow, wide
    assert least[wide] > least[narrow]
    for weights in ((0.1, 0.2, 0.3), (0.1, 0.2, 0.1 + 0.2), (0.1, 0.2, 0.3 * (1 + 3 * EPSILON))):
        search = DecomposableSearch(
            cells,
            dict(zip(TENTHS, weights, strict=True)),
            (),
            min_width=None,
            allowed=lambda sets: sets in (wide, narrow),
        )
        assert search.everything(Deadline(None), silent).sets == wide


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_a_set_worth_as_much_does_not_replace_the_first_one(off):
    judge = Judge(SmallCells(Table.of_dense(np.full((2, 2, 2), 9)), 2), 2, (), Deadline(None))
    requests = {A: 0.7, B: 0.7 * (1 + off * EPSILON)}
    search = ConflictSearch(judge, requests, [A])
    search.offer([B])
    assert search.best == (A,)


@pytest.mark.parametrize("off", [-2, 0, 2])
def test_rounding_does_not_order_the_other_sets(off):
    search = a_search(
        Table.of_dense(np.full((2, 2, 2), 9)), {A: 0.7, B: 0.7 * (1 + off * EPSILON), C: 0.9}
    )
    conflicts = ConflictSearch(search.judge, search.task.requests, [C])
    conflicts.offer([A])
    conflicts.offer([B])
    others = search._gathered(conflicts, None, None).others
    assert [sets for sets, _ in others] == [(("v1",),), (("v2",),)]


@pytest.mark.parametrize("bound", [0.3, 0.1 + 0.2])
def test_a_bound_that_is_reached_but_for_rounding_is_reached(bound, monkeypatch):
    search = a_search(Table.of_dense(np.full((2,) * 7, 9)))
    monkeypatch.setattr(module, "annealed", lambda *_, **__: found_as((B | C,), 0.3))
    monkeypatch.setattr(DecomposableBound, "value", lambda _: bound)
    assert search._best_decomposable()[3]
    conflicts = ConflictSearch(search.judge, search.task.requests, [])
    assert search._as_decomposable(((B | C,), 0.3, bound, False), conflicts).optimal


@pytest.mark.parametrize("worth", [0.3, 0.1 + 0.2])
def test_going_through_all_sets_replaces_the_first_only_by_more_weight(worth, monkeypatch):
    search = a_search(Table.of_dense(np.full((2, 2, 2), 9)))
    monkeypatch.setattr(module, "annealed", lambda *_, **__: found_as((B | C,), 0.3))
    monkeypatch.setattr(DecomposableBound, "value", lambda _: 1.0)
    listed = found_as((A | B, A | C), worth)
    monkeypatch.setattr(DecomposableSearch, "everything", lambda *_: listed)
    assert search._best_decomposable()[0] == (B | C,)


def test_margins_alike_but_for_the_order_of_levels_weigh_the_same_to_a_bit():
    rng = np.random.default_rng(4)
    for _ in range(5):
        half = rng.poisson(8.0, (7, 7, 7))
        whole = sum(half.transpose(p) for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
        table = Table.of_dense(whole[:, rng.permutation(7)][:, :, rng.permutation(7)])
        assert len(set(information_weights(table).values())) == 1
