"""The policies on tables that come with Discreet: broken in one way, kept, and mended."""

import csv
import json
import shlex
from itertools import combinations

import numpy as np
import pytest

from discreet import audit, choose
from discreet.choice.mask_names import mask_table
from discreet.data.table import Table
from discreet.policy.policy import Policy
from discreet.policy.reading import preset
from discreet.policy.table_rules import (
    Bounds,
    DerivedCounts,
    Groups,
    PrintedCounts,
    SmallCellsIdentified,
    TrueCount,
    TrueTable,
)
from discreet.policy.verdict import Ruling

PLAIN = [[20, 30, 45], [25, 15, 60]]  # multiples of 5, none small
THREES = [[30, 45, 60], [15, 75, 90]]  # of 3 too
# name: a table that breaks one rule, the rule, and what would be done to it
ONE_WAY = {
    "acro": ([[20, 30, 45], [25, 9, 60]], "printed_counts"),
    "abs-datalab": ([[20, 30, 45], [25, 9, 60]], "printed_counts"),
    "cms": ([[20, 30, 45], [25, 10, 60]], "printed_counts"),
    "nhs-hes": ([[20, 30, 45], [25, 6, 60]], "rounded"),
    "ons-10-5": ([[20, 30, 45], [25, 12, 60]], "rounded"),
    "opensafely": ([[20, 30, 45], [25, 5, 60]], "printed_counts"),
    "statsnz-rr3": ([[30, 45, 60], [15, 74, 90]], "rounded"),
    "ukllc": ([[20, 30, 45], [25, 0, 60]], "printed_counts"),
}


def write(path, counts):
    rows = [f"{a},{b},{n}" for a, row in zip("xy", counts) for b, n in zip("pqr", row)]
    path.write_text("\n".join(["a,b,n", *rows]) + "\n")
    return path


def asked(path, *more):
    return ("audit", path, "--count", "n", "--release", "a,b", "--no-nesting", *more)


@pytest.mark.parametrize("name", ONE_WAY)
def test_a_table_breaks_it_in_exactly_one_way(discreet, tmp_path, name):
    counts, rule = ONE_WAY[name]
    found = discreet(*asked(write(tmp_path / "t.csv", counts), "--policy", name, "--json"))
    assert found.code == 3
    verdict = json.loads(found.out)["verdict"]
    broken = [one for one in verdict["rules"] if one["verdict"] == "broken"]
    assert [one["rule"] for one in broken] == [rule]
    assert {one["policy"] for one in verdict["rules"]} == {name}
    assert verdict["policies"][0]["name"] == name
    mask = preset(name).mask
    if mask:
        assert broken[0]["remedy"] == f"treat the table (choose with the mask {mask})"
        said = discreet(*asked(tmp_path / "t.csv", "--policy", name))
        assert f"--masks {shlex.quote(mask)}` treats them as {name}" in " ".join(said.out.split())


@pytest.mark.parametrize("name", ONE_WAY)
def test_a_table_of_allowed_figures_keeps_it(discreet, tmp_path, name):
    counts = THREES if name == "statsnz-rr3" else PLAIN
    found = discreet(*asked(write(tmp_path / "t.csv", counts), "--policy", name))
    assert (found.code, found.out.count("Broken")) == (0, 0)
    assert "Verdict: may go out" in found.out


def test_hidden_counts_that_follow_break_cms_alone_by_what_can_be_worked_out(discreet, tmp_path):
    """The margins print nothing small; that nobody is beside the first cell gives all others."""
    counts = [[20, 0, 0], [30, 25, 4]]
    path = write(tmp_path / "t.csv", counts)
    more = ("--release", "a", "--release", "b", "--no-nesting", "--policy", "cms", "--json")
    found = discreet("audit", path, "--count", "n", "--knows", "a=x,b=p:20", *more)
    rules = {one["rule"]: one["verdict"] for one in json.loads(found.out)["verdict"]["rules"]}
    assert rules == {"printed_counts": "broken", "derived_counts": "broken"}
    whole = [[20, 0, 0], [30, 25, 14]]
    path = write(tmp_path / "w.csv", whole)
    again = discreet("audit", path, "--count", "n", "--knows", "a=x,b=p:20", *more)
    assert again.code == 0


@pytest.mark.parametrize("name", [name for name in ONE_WAY if preset(name).mask])
def test_what_it_prescribes_makes_it_kept(name):
    counts, _ = ONE_WAY[name]
    table = Table.of_dense(np.array(counts), names=["a", "b"])
    found = choose(table, preset(name).mask, policy=name, seed=1, nesting=False)
    assert found.verdict.ruling is Ruling.KEPT
    assert found.chosen.masked.mask == preset(name).mask.partition(":")[0]
    rules = [judged.rule for judged in found.verdict.rules]
    assert rules == [rule.name for rule in preset(name).rules]
    assert choose(table, "margins[a b]", policy=name, seed=1).verdict.ruling is Ruling.BROKEN


@pytest.mark.parametrize("name", ONE_WAY)
def test_what_is_written_keeps_it_figure_by_figure(discreet, tmp_path, name):
    """The files, read with the csv module and held against the rule in plain words."""
    counts = [[3, 30, 45], [25, 0, 61]]
    path, folder = write(tmp_path / "t.csv", counts), tmp_path / "out"
    found = discreet(
        "choose", path, "--count", "n", "--policy", name, "--masks", _masks(name), "--seed", 1,
        "--no-nesting", "--write", folder,
    )  # fmt: skip
    assert found.code == 0, found.out
    figures = []
    for file in folder.glob("*.csv"):
        rows = list(csv.reader(file.read_text().splitlines()))[1:]
        figures += [row[-1] for row in rows]
    shown = [int(one) for one in figures if one]
    assert shown
    if name in ("opensafely", "ons-10-5", "nhs-hes"):
        assert all(one % 5 == 0 for one in shown)
    if name == "opensafely":
        assert min(shown) > 7
        assert figures.count("") == 2
    if name == "ons-10-5":
        assert min(shown) >= 10
    if name == "statsnz-rr3":
        assert all(one % 3 == 0 for one in shown)
    if name == "cms":
        assert not any(1 <= one <= 10 for one in shown)


def _masks(name):
    return preset(name).mask or "margins,suppression:small=9,zeros=sensitive"


def all_like(masked, truth, ranges):
    """Every table of the same total whose figures lie in what the publication tells of each."""
    total, size = int(truth.sum()), truth.size
    for bars in combinations(range(total + size - 1), size - 1):
        ends = (-1, *bars, total + size - 1)
        one = np.diff(np.array(ends)) - 1
        one = one.reshape(truth.shape)
        if all(low <= one.sum(axis=others)[place] <= high for others, place, low, high in ranges):
            yield one


def ranges_of(masked, truth):
    """What each figure tells, by the words of the mask and not by its own statements."""
    kind, given = masked.mask, masked.parameters
    for table in masked.published:
        others = tuple(i for i in range(truth.ndim) if i not in table.axes)
        shown = np.ones(table.counts.shape, bool) if table.shown is None else table.shown
        for place in np.ndindex(table.counts.shape):
            figure = int(table.counts[place])
            low, high = figure, figure
            if kind == "suppression" and not shown[place]:
                low, high = (1 if given["zeros"] == "shown" else 0), 10**6
            elif kind == "redaction":
                if not shown[place]:
                    low, high = (1 if given["zeros"] == "kept" else 0), given["most"]
                elif given["base"] and figure:
                    low, high = figure - given["base"] // 2, figure + (given["base"] - 1) // 2
                    low = max(low, given["most"] + 1)
            elif kind == "rounding":
                reach = given["base"] - 1
                down, up = (reach, reach) if given["random"] else (given["base"] // 2, reach // 2)
                low, high = figure - down, figure + up
            yield others, place, low, high


MASKS = (
    "margins[a b]", "margins[a][b]", "margins[a]", "rounding:base=3", "rounding:base=4,random",
    "rounding[a][b]:base=3", "suppression:small=2", "redaction:most=2", "redaction:most=3,base=4",
    "redaction:most=2,zeros=redacted", "redaction[a][b]:most=2",
)  # fmt: skip


def exactly_printed(masked, truth):
    """The figures on the page that tell their count, one by one."""
    for others, place, low, high in ranges_of(masked, truth):
        if low == high:
            yield others, place


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("zeros", ["allowed", "refused"])
def test_no_candidate_within_prints_or_gives_away_a_small_count(seed, zeros):
    """Against all tables that fit each publication, made by hand from what its figures mean."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 7, (2, 3)) if seed % 2 else rng.integers(1, 6, (2, 2))
    table = Table.of_dense(truth, names=["a", "b"])
    rules = (PrintedCounts(limit=3, zeros=zeros), DerivedCounts(limit=3, zeros=zeros))
    policy = Policy(name="own", version="1", rules=rules)
    found = choose(table, ",".join(MASKS), policy=policy, seed=seed, nesting=False)
    refused = {0, 1, 2} if zeros == "refused" else {1, 2}
    judged = 0
    for one, standing in zip(found.candidates, found.choice.standings, strict=True):
        if one.masked is None or one.is_nothing:
            continue
        ranges = list(ranges_of(one.masked, truth))
        tables = list(all_like(one.masked, truth, ranges))
        assert any((own == truth).all() for own in tables)
        sums = {(0, 1): (), (0,): (1,), (1,): (0,)}
        told = {axis for part in one.masked.published for axis in part.axes}
        broken = any(
            int(truth.sum(axis=others)[place]) in refused
            for others, place in exactly_printed(one.masked, truth)
        )
        for axes, others in sums.items():
            if not set(axes) <= told:
                continue
            for place in np.ndindex(truth.sum(axis=others).shape):
                values = {int(own.sum(axis=others)[place]) for own in tables}
                broken |= len(values) == 1 and values <= refused
        assert standing.value == ("above the limit" if broken else "within the limit"), one.title
        judged += 1
    assert judged >= 8


@pytest.mark.parametrize("seed", range(4))
def test_measures_of_belief_are_those_of_all_tables_that_fit(seed):
    """Bounds, and what someone believes who weighs each table by 1 / ∏ count!."""
    rng = np.random.default_rng(20 + seed)
    truth = rng.integers(0, 5, (2, 3))
    truth[0, 0] = 1
    table = Table.of_dense(truth, names=["a", "b"])
    rules = (
        Bounds(limit=2),
        TrueTable(limit=0.05),
        TrueCount(limit=0.5),
        SmallCellsIdentified(limit=0.4),
    )
    policy = Policy(name="own", version="1", rules=rules)
    masks = "margins[a][b],rounding:base=3,suppression:small=2,redaction:most=2"
    found = choose(table, masks, policy=policy, seed=seed, nesting=False)
    factorial = np.array([1, 1, 2, 6, 24, 120, 720, 5040, 40320] + [1e9] * 40, dtype=float)
    for one in found.candidates:
        if one.masked is None or one.is_nothing or not one.judged:
            continue
        if one.masked.replay is not None:
            continue  # what its choice tells counts too: tests/agreement/test_choice_belief.py
        tables = list(all_like(one.masked, truth, list(ranges_of(one.masked, truth))))
        weights = np.array([1 / np.prod(factorial[own]) for own in tables])
        weights /= weights.sum()
        widths, chances, tabled = [], [], []
        for others in ((), (1,), (0,)):
            true = truth.sum(axis=others)
            if one.masked.mask == "margins" and others:
                continue  # printed
            rows = [own.sum(axis=others) for own in tables]
            same = [w for own, w in zip(rows, weights) if (own == true).all()]
            tabled.append(sum(same))
            for place in np.ndindex(true.shape):
                if 1 <= true[place] <= 2:
                    values = [int(own[place]) for own in rows]
                    widths.append(max(values) - min(values))
                    chances.append(sum(w for v, w in zip(values, weights) if v == true[place]))
        expected = {"bounds": min(widths), "true_table": max(tabled), "true_count": max(chances)}
        for judged in one.judged:
            if judged.rule in expected:
                assert judged.value.value == pytest.approx(expected[judged.rule]), one.title


def test_a_rule_on_groups_is_one_of_the_policy_alone():
    """A whole row in one cell is no breach of a policy that does not speak of it."""
    table = Table.of_dense(np.array([[30, 0], [25, 45]]), names=["a", "b"])
    within = choose(table, "margins[a b]", policy="cms", seed=1, nesting=False)
    assert within.verdict.ruling is Ruling.KEPT
    own = Policy(name="own", version="1", rules=(PrintedCounts(limit=11), Groups()))
    broken = choose(table, "margins[a b]", policy=own, seed=1, nesting=False)
    assert broken.verdict.ruling is Ruling.BROKEN
    assert "breaks own: shows that" in broken.candidates[-1].breaks[0]


def test_a_limit_beside_a_policy_must_hold_too():
    table = Table.of_dense(np.array([[30, 1], [25, 45]]), names=["a", "b"])
    rounded = Policy(name="own", version="1", rules=(PrintedCounts(limit=2),))
    masks = "margins[a b],rounding:base=3"
    loose = choose(table, masks, policy=rounded, seed=1, nesting=False)
    assert loose.chosen.title == "rounded to 3"
    strict = choose(table, masks, policy=rounded, max_risk=0.0, confidence=0.1, nesting=False)
    standings = [str(one) for one in strict.choice.standings]
    assert standings[1:] == ["above the limit", "above the limit"]


def test_what_cannot_be_judged_of_a_mask_is_open():
    """Figures beside tables: whether they print a small count is not known to the rule."""
    table = Table.of_dense(np.array([30, 12, 25, 45]), names=["a"])
    found = choose(table, "statistics", policy="cms", seed=1)
    assert str(found.choice.standings[1]) == "not known"
    assert "in no table" in found.candidates[1].doubts[0].words
    assert found.chosen.is_nothing


def test_a_large_table_is_served_with_margins_that_keep_the_policy():
    rng = np.random.default_rng(2)
    cells = np.unique(rng.integers(0, 8, (4000, 5)), axis=0)
    table = Table(
        names=tuple("abcde"),
        levels=(tuple("12345678"),) * 5,
        cells=cells,
        counts=rng.integers(1, 30, len(cells)),
    )
    assert table.n_cells > 4096
    requests = ((("a", "b"), 1.0), (("c", "d"), 1.0))
    found = choose(table, policy="cms", seconds=20, seed=1, requests=requests)
    assert found.verdict.ruling is Ruling.KEPT
    assert set(found.chosen.margins) == {("a", "b"), ("c", "d")}
    own = audit(table, found.chosen.margins, policy="cms", seconds=20)
    assert own.verdict.to_json()["rules"] == found.verdict.to_json()["rules"]
    for names in found.chosen.margins:
        assert int(table.margin(table.axes(names)).min()) > 10
    linked = audit(table, [["a", "c", "e"], ["b", "d", "e"]], policy="cms", seconds=20)
    rules = {one.rule: one.ruling for one in linked.verdict.rules}
    assert rules == {"printed_counts": Ruling.KEPT, "derived_counts": Ruling.UNDECIDED}


def test_the_mask_of_a_preset_can_be_made():
    table = Table.of_dense(np.array(PLAIN), names=["a", "b"])
    for name in ONE_WAY:
        if preset(name).mask:
            assert mask_table(preset(name).mask, table, seed=1).published
