"""Rules on tables against plain references: all tables that fit, written out one by one."""

import json
import math
from collections import defaultdict
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import audit, choose
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.fiber.bounds.contract import outer_bounds
from discreet.figures import Figure, How, Unavailable
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import Policy, judge
from discreet.policy.reading import preset
from discreet.policy.rule import Subject
from discreet.policy.table_rules import (
    Bounds,
    DerivedCounts,
    Groups,
    PrintedCounts,
    Rounded,
    SmallCellsIdentified,
    TrueCount,
    TrueTable,
)
from discreet.policy.verdict import Ruling
from discreet.report.audit.json import audit_json
from discreet.tables import worked_out

TABLES = ("acro", "abs-datalab", "cms", "nhs-hes", "ons-10-5", "opensafely", "statsnz-rr3", "ukllc")
RELEASES = {
    (2, 2): [["a"], ["b"]],
    (2, 3): [["a"], ["b"]],
    (2, 2, 2): [["a", "b"], ["b", "c"]],
}


def tables_like(counts, sets):
    """Every table with the same margins over the sets of axes, by trying all of the same total."""
    shape, total = counts.shape, int(counts.sum())
    wanted = {axes: summed(counts, axes).tolist() for axes in sets}
    for bars in combinations(range(total + counts.size - 1), counts.size - 1):
        ends = (-1, *bars, total + counts.size - 1)
        one = np.array([b - a - 1 for a, b in pairwise(ends)]).reshape(shape)
        if all(summed(one, axes).tolist() == wanted[axes] for axes in sets):
            yield one


def summed(counts, axes):
    return counts.sum(axis=tuple(i for i in range(counts.ndim) if i not in axes))


def hidden_crosses(n_axes, sets):
    """Every table of some variables that no released one holds."""
    every = [axes for k in range(1, n_axes + 1) for axes in combinations(range(n_axes), k)]
    return [axes for axes in every if not any(set(axes) <= set(one) for one in sets)]


class Reference:
    """What an intruder knows who can list all tables and weighs each by 1 / ∏ count!."""

    def __init__(self, counts, sets):
        self.counts, self.sets = counts, sets
        self.tables = list(tables_like(counts, sets))
        weights = [1 / math.prod(math.factorial(n) for n in one.flat) for one in self.tables]
        self.weights = [w / sum(weights) for w in weights]
        self.crosses = hidden_crosses(counts.ndim, sets)

    def entries(self, axes):
        truth = summed(self.counts, axes)
        for place in product(*map(range, truth.shape)):
            chances = defaultdict(float)
            for one, weight in zip(self.tables, self.weights):
                chances[int(summed(one, axes)[place])] += weight
            yield int(truth[place]), chances

    def small(self, small):
        for axes in self.crosses:
            for truth, chances in self.entries(axes):
                if 1 <= truth <= small:
                    yield axes, truth, chances

    def derived(self, small):
        if small:
            return sum(len(chances) == 1 for _, _, chances in self.small(small))
        every = (one for axes in self.crosses for one in self.entries(axes))
        return sum(truth == 0 and len(chances) == 1 for truth, chances in every)

    def width(self, small):
        return min((max(c) - min(c) for _, _, c in self.small(small)), default=None)

    def true_count(self, small):
        return max((chances[truth] for _, truth, chances in self.small(small)), default=None)

    def found(self, small, confidence):
        """The greatest share of the small cells of a cross that is found."""
        hits = defaultdict(list)
        for axes, truth, chances in self.small(small):
            best = max(chances.values())
            likeliest = min(q for q, p in chances.items() if p > best - 1e-9)
            hits[axes].append(likeliest == truth and chances[truth] > confidence + 1e-9)
        return max((sum(own) / len(own) for own in hits.values()), default=None)

    def true_table(self):
        shares = []
        for axes in self.crosses:
            truth = summed(self.counts, axes).tolist()
            pairs = zip(self.tables, self.weights)
            shares.append(sum(w for one, w in pairs if summed(one, axes).tolist() == truth))
        return max(shares)


def small_tables(most=5):
    def of(shape):
        size = math.prod(shape)
        cells = st.lists(st.integers(0, most if size < 8 else 2), min_size=size, max_size=size)
        return cells.filter(lambda own: 0 < sum(own) <= 14).map(
            lambda own: np.array(own, dtype=np.int64).reshape(shape)
        )

    return st.sampled_from(list(RELEASES)).flatmap(of)


def table_of(counts):
    return Table.of_dense(counts, names=list("abc")[: counts.ndim])


def policy(*rules):
    return Policy(name="own", version="1", rules=rules)


def audited(counts, *rules, **more):
    release = RELEASES[counts.shape]
    return audit(table_of(counts), release, policy=policy(*rules), nesting=False, **more)


def sets_of(shape):
    return [tuple("abc".index(name) for name in names) for names in RELEASES[shape]]


@settings(max_examples=40, deadline=None)
@given(small_tables(), st.integers(1, 4), st.sampled_from(["allowed", "refused"]))
def test_counts_that_can_be_worked_out(counts, small, zeros):
    reference = Reference(counts, sets_of(counts.shape))
    number, empty = reference.derived(small), reference.derived(0)
    found = audited(counts, DerivedCounts(limit=small + 1, zeros=zeros))
    assert found.findings[f"derived:{small}"].value == Figure(value=number, how=How.EXACT)
    if zeros == "refused":
        assert found.findings["derived:0"].value == Figure(value=empty, how=How.EXACT)
    broken = number > 0 or (zeros == "refused" and empty > 0)
    assert found.verdict.ruling is (Ruling.BROKEN if broken else Ruling.KEPT)


@settings(max_examples=30, deadline=None)
@given(small_tables(), st.integers(1, 3), st.integers(0, 4))
def test_the_width_of_bounds(counts, small, width):
    expected = Reference(counts, sets_of(counts.shape)).width(small)
    found = audited(counts, Bounds(limit=width, small=small))
    one = found.findings[f"bounds:{small}"]
    assert one.nothing if expected is None else one.value.value == expected
    kept = expected is None or expected >= width
    assert found.verdict.ruling is (Ruling.KEPT if kept else Ruling.BROKEN)


@settings(max_examples=30, deadline=None)
@given(small_tables(), st.integers(1, 3), st.sampled_from([0.2, 0.45, 0.7]))
def test_probabilities(counts, small, limit):
    reference = Reference(counts, sets_of(counts.shape))
    found = audited(
        counts,
        TrueTable(limit=limit),
        TrueCount(limit=limit, small=small),
        SmallCellsIdentified(limit=limit, small=small, confidence=0.6),
        SmallCellsIdentified(limit=limit, small=small, confidence=0.3),
    )
    expected = [
        reference.true_table(),
        reference.true_count(small),
        reference.found(small, 0.6),
        reference.found(small, 0.3),
    ]
    for judged, own in zip(found.verdict.rules, expected, strict=True):
        if own is None:
            assert judged.ruling is Ruling.KEPT
            continue
        assert judged.value.value == pytest.approx(own, abs=1e-9)
        if abs(own - limit) > 1e-6:
            assert judged.ruling is (Ruling.KEPT if own < limit else Ruling.BROKEN)


@settings(max_examples=40, deadline=None)
@given(small_tables(9), st.integers(1, 6), st.integers(2, 6))
def test_what_is_printed(counts, small, base):
    """Of the released tables, and of every sum of their cells."""
    release = sets_of(counts.shape)
    told = {axes for one in release for k in range(len(one) + 1) for axes in combinations(one, k)}
    figures = [n for axes in told for n in np.ravel(summed(counts, axes)).tolist()]
    found = audited(counts, PrintedCounts(limit=small + 1, zeros="refused"), Rounded(limit=base))
    every = audited(counts, PrintedCounts(limit=small + 1, zeros="refused", figures="all"))
    number = sum(1 <= n <= small for n in figures)
    empty = sum(n == 0 for n in figures)
    odd = sum(n % base > 0 for one in release for n in np.ravel(summed(counts, one)).tolist())
    values = [found.findings[f"{stem}:{small}"].value.value for stem in ("printed", "shown")]
    assert values == [number, number]
    assert found.findings["printed:0"].value.value == empty
    assert found.findings[f"rounded:{base}"].value.value == odd
    for judged, broken in zip(
        (*found.verdict.rules, *every.verdict.rules),
        [number + empty > 0, odd > 0, number + empty > 0],
        strict=True,
    ):
        assert judged.ruling is (Ruling.BROKEN if broken else Ruling.KEPT)


@pytest.mark.parametrize(
    ("counts", "ruling"),
    [([[3, 4], [5, 6]], Ruling.KEPT), ([[3, 0], [5, 6]], Ruling.BROKEN)],
)
def test_a_whole_row_in_one_cell(counts, ruling):
    found = audit(table_of(np.array(counts)), [["a", "b"]], policy=policy(Groups()), nesting=False)
    assert found.verdict.ruling is ruling


OUTCOMES = st.one_of(
    st.builds(lambda n: Figure(value=n, how=How.EXACT), st.integers(0, 5)),
    st.builds(
        lambda low, more: Figure(value=None, low=low, high=low + more, how=How.BOUND),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    st.just(Unavailable("time ran out")),
)


def possible(outcome):
    """The numbers that a figure may be."""
    if isinstance(outcome, Unavailable):
        return range(100)
    if outcome.value is not None:
        return [outcome.value]
    return range(outcome.low, outcome.high + 1)


@given(OUTCOMES, OUTCOMES)
@pytest.mark.parametrize(("rule", "stem"), [(PrintedCounts, "printed"), (DerivedCounts, "derived")])
def test_counts_are_refused_only_where_there_surely_is_one(rule, stem, some, none):
    found = Findings({f"{stem}:2": Finding(value=some), f"{stem}:0": Finding(value=none)})
    whole = [a + b for a in possible(some) for b in possible(none)]
    expected = Ruling.UNDECIDED
    if all(whole):
        expected = Ruling.BROKEN
    elif not any(whole):
        expected = Ruling.KEPT
    [judged] = rule(limit=3, zeros="refused").judge(found)
    assert judged.ruling is expected
    [judged] = rule(limit=3).judge(found)
    own = list(possible(some))
    kept = Ruling.KEPT if not any(own) else Ruling.BROKEN if all(own) else Ruling.UNDECIDED
    assert judged.ruling is kept


@given(OUTCOMES, st.integers(2, 9))
def test_rounding_and_groups_are_kept_only_where_nothing_is_beyond(value, base):
    own = list(possible(value))
    expected = Ruling.KEPT if not any(own) else Ruling.BROKEN if all(own) else Ruling.UNDECIDED
    found = Findings({f"rounded:{base}": Finding(value=value), "groups": Finding(value=value)})
    for rule in (Rounded(limit=base), Groups()):
        assert rule.judge(found)[0].ruling is expected


@given(OUTCOMES, st.integers(0, 6))
def test_a_width_is_kept_only_where_all_that_it_may_be_is_wide_enough(value, limit):
    wide = [width >= limit for width in possible(value)]
    expected = Ruling.KEPT if all(wide) else Ruling.UNDECIDED if any(wide) else Ruling.BROKEN
    if isinstance(value, Unavailable):
        expected = Ruling.UNDECIDED
    [judged] = Bounds(limit=limit).judge(Findings({"bounds:2": Finding(value=value)}))
    assert judged.ruling is expected


@given(st.floats(0, 1), st.floats(0, 0.3), st.sampled_from([TrueTable, TrueCount]), st.floats(0, 1))
def test_an_estimate_keeps_two_errors_away(value, error, rule, limit):
    figure = Figure(value=value, standard_error=error, how=How.ESTIMATE)
    low, high = value - 2 * error, value + 2 * error
    if min(abs(low - limit), abs(high - limit)) < 1e-6:
        return
    expected = Ruling.KEPT if high < limit else Ruling.BROKEN if low > limit else Ruling.UNDECIDED
    one = rule(limit=limit)
    assert one.judge(Findings({one.figure: Finding(value=figure)}))[0].ruling is expected


def test_a_rule_on_what_was_not_measured_is_undecided():
    rules = (
        PrintedCounts(limit=3), DerivedCounts(limit=3), Rounded(limit=5), Groups(), Bounds(limit=1),
        TrueTable(limit=0.5), TrueCount(limit=0.5), SmallCellsIdentified(limit=0.5),
    )  # fmt: skip
    verdict = judge([policy(*rules)], Subject.TABLES, Findings({}))
    assert {judged.ruling for judged in verdict.rules} == {Ruling.UNDECIDED}
    assert all("not measured" in judged.words for judged in verdict.rules)


def test_bounds_that_are_not_proved_leave_it_open(monkeypatch):
    """Valid bounds that do not meet: the count may be known all the same."""
    counts = np.array([[[2, 1], [1, 1]], [[1, 1], [2, 1]]])

    def loose(release, levels, clock, progress=None):
        truth = release.table.dense()[tuple(levels.T)]
        return outer_bounds(np.zeros_like(truth), truth + 9)

    monkeypatch.setattr(worked_out, "bounds_of", loose)
    found = audited(counts, DerivedCounts(limit=3))
    one = found.findings["derived:2"]
    assert (one.value.low, one.value.how) == (0, How.BOUND)
    assert one.value.high > 0
    assert found.verdict.ruling is Ruling.UNDECIDED
    assert "not all bounds are proved" in found.verdict.rules[0].words


def test_an_audit_without_a_limit_says_no_more_than_it_looked_at():
    """Smaller crosses were not looked at, so that its JSON can break a rule and never keep it."""
    counts = np.array([[[3, 1], [0, 2]], [[2, 4], [1, 0]]])
    found = audit(table_of(counts), RELEASES[2, 2, 2], nesting=False)
    kept = policy(TrueTable(limit=0.9), SmallCellsIdentified(limit=1.0), Bounds(limit=0))
    broken = policy(TrueTable(limit=0.01))
    again = Findings.of_json(json.loads(json.dumps(found.findings.to_json())))
    own = judge([kept], Subject.TABLES, again)
    assert [judged.ruling for judged in own.rules] == [
        Ruling.UNDECIDED, Ruling.KEPT, Ruling.KEPT
    ]  # the last two allow whatever may be  # fmt: skip
    assert judge([broken], Subject.TABLES, again).ruling is Ruling.BROKEN


def nested_table():
    counts = np.array([[[20, 30], [0, 0]], [[0, 0], [25, 15]], [[0, 0], [12, 40]]])
    levels = [["N1", "S1", "S2"], ["N", "S"], ["x", "y"]]
    return Table.of_dense(counts, names=["district", "region", "sex"], levels=levels)


def test_what_nesting_rules_out_is_no_zero_of_persons():
    rule = policy(PrintedCounts(limit=1, zeros="refused"), DerivedCounts(limit=1, zeros="refused"))
    release = [["district", "region"], ["sex"]]
    found = audit(nested_table(), release, policy=rule)
    assert found.verdict.ruling is Ruling.KEPT
    assert "what cannot be by nesting is left out" in found.verdict.rules[0].words
    bare = audit(nested_table(), release, policy=rule, nesting=False)
    assert bare.verdict.ruling is Ruling.BROKEN
    assert bare.findings["printed:0"].value.value == 3


def test_a_nesting_that_the_data_alone_show_leaves_zeros_open():
    table = nested_table()
    plain = Table.of_dense(
        table.dense(), names=table.names, levels=[["p", "q", "r"], ["N", "S"], ["x", "y"]]
    )
    rule = policy(PrintedCounts(limit=1, zeros="refused"))
    found = audit(plain, [["district", "region"], ["sex"]], policy=rule)
    assert found.verdict.ruling is Ruling.UNDECIDED
    assert "nested district:region" in found.verdict.rules[0].remedy
    told = audit(plain, [["district", "region"], ["sex"]], policy=rule, nested=["district:region"])
    assert told.verdict.ruling is Ruling.KEPT


def test_rules_may_differ_in_what_is_small_and_how_sure():
    counts = np.array([[4, 1, 3], [2, 0, 5]])
    reference = Reference(counts, [(0,), (1,)])
    rules = [
        SmallCellsIdentified(limit=0.5, small=small, confidence=sure)
        for small in (1, 2, 4)
        for sure in (0.2, 0.45)
    ]
    found = audit(table_of(counts), [["a"], ["b"]], policy=policy(*rules), nesting=False)
    for rule, judged in zip(rules, found.verdict.rules, strict=True):
        assert judged.value.value == pytest.approx(reference.found(rule.small, rule.confidence))
    assert found.options.most_small == 4
    assert {cell.truth for cell in found.small_cells} == {1, 2, 3, 4}


def test_a_limit_and_policies_all_must_hold():
    table = table_of(np.array([[20, 30], [25, 14]]))
    both = audit(table, [["a", "b"]], policy=["cms", "statsnz-rr3"], max_risk=0.25, small=2)
    names = [(judged.policy, judged.rule, judged.ruling.value) for judged in both.verdict.rules]
    assert names == [
        ("", "small_cells_identified", "kept"),
        ("", "printed_counts", "kept"),
        ("", "groups", "kept"),
        ("cms", "printed_counts", "kept"),
        ("cms", "derived_counts", "kept"),
        ("statsnz-rr3", "rounded", "broken"),
    ]
    assert [one.name for one in both.verdict.policies] == ["cms", "statsnz-rr3"]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("counts", [[[20, 31], [25, 4]], [[20, 30], [0, 15]], [[30, 45], [60, 15]]])
def test_the_json_of_an_audit_is_judged_alike(name, counts):
    table = table_of(np.array(counts))
    found = audit(table, [["a", "b"]], policy=name)
    data = json.loads(json.dumps(audit_json([found])))
    again = judge([preset(name)], Subject.TABLES, Findings.of_json(data["findings"]))
    assert again.to_json() == found.verdict.to_json() == data["verdict"]


def test_a_doubt_about_the_counts_is_in_the_json_too(tmp_path):
    path = tmp_path / "firms.csv"
    path.write_text("branch,size,revenue\na,s,90000000\na,l,3000000\nb,s,12000\nb,l,700000\n")
    found = audit(path, ["branch"], count="revenue", policy="cms")
    again = judge([preset("cms")], Subject.TABLES, Findings.of_json(found.findings.to_json()))
    assert again.ruling is Ruling.UNDECIDED
    assert again.to_json() == found.verdict.to_json()


@pytest.mark.parametrize("function", [audit, choose])
def test_what_was_once_called_a_policy_is_named(function):
    more = {"release": [["a"]]} if function is audit else {}
    with pytest.raises(InputError, match=r"option of its own now \(measure\)"):
        function(table_of(np.array([[20, 30], [25, 14]])), policy="bounds", **more)


def test_a_policy_about_records_judges_no_table():
    with pytest.raises(InputError, match="policy must be about tables, got 'hdx'"):
        audit(table_of(np.array([[20, 30], [25, 14]])), [["a"]], policy="hdx")


def test_a_policy_and_refused_margins_do_not_go_together():
    table = table_of(np.array([[20, 30], [25, 14]]))
    with pytest.raises(InputError, match="policy must be left out where a margin was refused"):
        audit(table, [["a"]], refused=[["a", "b"]], max_risk=0.2, policy="cms")
