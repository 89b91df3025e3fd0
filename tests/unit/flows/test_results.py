"""What every result can do: print, be pickled, become JSON and frames, be read back and compared."""

import dataclasses
import functools
import inspect
import json
import pickle
import typing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.data.published.published_table import PublishedTable
from discreet.errors import InputError
from discreet.policy.verdict import PolicyId
from discreet.report.results import TOLD

COUNTS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}
OPTIONS = (
    "AssessOptions", "AuditOptions", "ChooseOptions", "CountOptions", "CategoryOptions",
    "BacktestOptions", "ProtectOptions", "AttackOptions", "PublishedAuditOptions",
)  # fmt: skip


def _table():
    counts = np.array([[[9, 1], [4, 8]], [[7, 5], [2, 6]]])
    return discreet.Table.of_dense(counts, names=["a", "b", "c"])


def _published():
    """Two margins of the table as they were published."""
    for names, figures in (("ab", (10, 12, 12, 8)), ("ac", (13, 9, 9, 11))):
        places = np.argwhere(np.ones((2, 2)))
        yield PublishedTable(
            name=f"{names}.csv",
            variables=tuple(names),
            labels=(("1", "2"), ("1", "2")),
            places=places,
            printed=tuple(map(str, figures)),
        )


def _records(n=300):
    rng = np.random.default_rng(1)
    return pa.table({"age": rng.integers(0, 30, n), "sex": rng.integers(0, 2, n)})


MAKERS = {
    "assess": lambda: discreet.assess(_records(), ["age", "sex"], population=3000),
    "protect": lambda: discreet.protect(_records(), ["age", "sex"], population=3000, min_k=3),
    "compare_policies": lambda: discreet.compare_policies(_records(), ["age", "sex"]),
    "audit": lambda: discreet.audit(_table(), [["a", "b"], ["c"]], max_risk=0.2),
    "attack": lambda: discreet.attack(list(_published())),
    "audit_published": lambda: discreet.audit_published(_table(), list(_published())),
    "audit_sequence": lambda: discreet.audit_sequence(_table(), [["a", "b"], ["c"]]),
    "choose": lambda: discreet.choose(_table(), max_risk=0.5, seed=1),
    "best_margins": lambda: discreet.best_margins(_table(), seconds=10),
    "counts": lambda: discreet.counts(COUNTS, max_risk=0.2, bayes=True),
    "statistics": lambda: discreet.counts(n=51, s1=61, s2="2^20*3^7"),
    "decimals": lambda: discreet.counts(n=51, s1=61, s2="21.55"),
    "categories": lambda: discreet.counts({"x": COUNTS, "y": {0: 6, 1: 1, 3: 1}}, max_risk=0.3),
    "plan": lambda: discreet.plan(1000, 10_000, 0.05),
    "one plan": lambda: discreet.plan(1000, 10_000, 0.05)[0],
    "backtest": lambda: discreet.backtest(
        _records(3000), ["age", "sex"], repeats=2, fractions=[0.1]
    ),
}


@functools.cache
def made(name):
    return MAKERS[name]()


@pytest.fixture(params=MAKERS)
def result(request):
    return made(request.param)


def test_every_kind_of_result_is_tried():
    kinds = {type(made(name)).__name__ for name in MAKERS}
    assert kinds == set(TOLD) - {"Comparison", "ReadResult"}


def test_it_prints_in_a_few_lines(result):
    lines = repr(result).splitlines()
    assert 3 <= len(lines) <= 14
    assert max(map(len, lines)) <= 90
    assert lines[0].strip() == lines[0] != ""
    assert ".write_report(" in lines[-1]
    assert (".records()" in lines[-1]) == isinstance(result, discreet.Assessment)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"population": 300_000},
            "Mind: Sampling fraction 0.001 is below 0.01, where estimates are",
        ),
        ({"population": 300_000, "max_risk": 0.5}, "Mind: Sampling fraction 0.001 is below 0.01"),
        ({}, "Mind: Only bounds are known without the size of the population: give population"),
        ({"max_risk": 0.5}, "Undecided: the risk of the records cannot be estimated: the size of"),
        ({"population": 3000, "all_models": True}, "Mind: The data contradict"),
    ],
)
def test_it_prints_what_speaks_against_its_estimate(options, says):
    found = repr(discreet.assess(_records(), ["age", "sex"], **options))
    assert says in " ".join(found.split())
    assert len(found.splitlines()) <= 14
    assert "--" not in found  # options go by their names in Python


def test_it_can_be_pickled_and_is_the_same(result):
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert again.to_json() == result.to_json()
    assert repr(again) == repr(result)


def test_its_json_is_read_back(result, tmp_path):
    text = json.dumps(result.to_json(), allow_nan=False)
    file = tmp_path / "result.json"
    file.write_text(text)
    for source in (text, file, str(file), json.loads(text)):
        again = discreet.read_result(source)
        assert again.to_json() == json.loads(text)
    assert again.kind == result.to_json()["kind"]
    assert again.discreet_version == result.to_json()["discreet_version"]
    assert again.tables() == result.tables()
    assert pickle.loads(pickle.dumps(again)).to_json() == again.to_json()
    assert result.compare(again).changed == ()
    assert "read from JSON" in repr(again)


def test_each_of_its_tables_is_a_frame(result):
    names = result.tables()
    assert names[0] == "figures"
    for name in names:
        table = result.to_frame(name, "arrow")
        assert isinstance(table, pa.Table)
        assert table.num_rows > 0
        assert len(set(table.column_names)) == len(table.column_names)
    assert isinstance(result.to_frame(), pd.DataFrame)
    assert isinstance(result.to_frame("figures", "polars"), pl.DataFrame)
    for call in (lambda: result.to_frame("nothing"), lambda: result.to_frame("figures", "excel")):
        with pytest.raises(InputError, match="must be one of"):
            call()


def test_it_has_a_report(result, tmp_path):
    result.write_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert result._repr_html_().startswith('<div class="discreet">')


def test_a_number_in_a_frame_is_that_of_the_json():
    found = MAKERS["assess"]()
    frame = found.to_frame().set_index("figure")
    told = found.to_json()
    assert frame.loc["sample_uniques", "value"] == told["sample_uniques"]
    matches = told["recommended"]["expected_correct_matches"]
    own = frame.loc["recommended.expected_correct_matches"]
    assert (own["value"], own["low"], own["high"]) == (
        matches["value"], matches["low"], matches["high"],
    )  # fmt: skip
    assert list(found.to_frame("anonymity")["name"]) == [2, 3, 5]
    riskiest = found.to_frame("riskiest")
    assert list(riskiest.columns[:2]) == ["age", "sex"]
    assert riskiest["age"].dtype == np.int64


def test_read_figures_and_verdicts_are_what_they_were():
    judged = discreet.Judged(
        rule="max_risk",
        ruling=discreet.Ruling.BROKEN,
        value=discreet.Figure(value=0.5, how=discreet.How.ESTIMATE, low=0.4, high=0.6),
        limit=0.2,
        words="It is 0.5.",
        concerns=("age",),
    )
    verdict = discreet.Verdict(
        rules=(judged,), policies=(PolicyId(name="own", version="1", hash="ab"),)
    )
    bound = discreet.Figure(value=None, how=discreet.How.BOUND, low=1, high=3)
    data = {
        "kind": "assess",
        "discreet_version": "1",
        "verdict": verdict.to_json(),
        "uniques": bound.to_json(),
        "matches": {"unavailable": "too few records"},
        "many": {"value": 10**400, "how": "exact"},
        "parts": [{"value": 1, "how": "exact"}, {"name": "x"}],
    }
    found = discreet.read_result(json.dumps(data))
    assert found.verdict == verdict
    assert found.uniques == bound
    assert found.matches == discreet.Unavailable("too few records")
    assert isinstance(found.many, discreet.Unavailable)
    assert found["many"]["value"] == 10**400
    assert found.parts[0] == discreet.Figure(value=1, how=discreet.How.EXACT)
    assert found.parts[1].name == "x"
    assert found.parts[1]["name"] == "x"
    assert "Verdict: may not go out" in repr(found)
    with pytest.raises(AttributeError, match="has no 'nothing'; it has kind"):
        _ = found.nothing


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ({}, "source must be the JSON of a result, from --json or to_json\\(\\), got one without"),
        ("{", "source must be JSON, got something else"),
        ("no/such/file.json", "must be a readable file, got No such file"),
        (5, "source must be a path, JSON text or a mapping, got int"),
    ],
)
def test_what_is_no_result_is_refused(source, says):
    with pytest.raises(InputError, match=says):
        discreet.read_result(source)


def test_a_list_is_no_result(tmp_path):
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(InputError, match="must be one JSON object, got a list"):
        discreet.read_result(tmp_path / "list.json")


def test_a_figure_that_is_none_is_refused():
    found = discreet.read_result(
        {"kind": "x", "discreet_version": "1", "f": {"value": "a", "how": "b"}}
    )
    with pytest.raises(InputError, match="got a figure that is none"):
        _ = found.f


def test_two_results_of_a_kind_are_compared():
    before = discreet.audit(_table(), [["a", "b"], ["c"]], max_risk=0.9)
    after = discreet.audit(_table(), ["a", "b", "c"], max_risk=0.0)
    found = before.compare(after)
    changed = {one.name: one for one in found.changed}
    assert changed["n_tables"].before.value == before.n_tables.value
    assert changed["n_tables"].after.value == after.n_tables.value
    assert changed["n_tables"].change == after.n_tables.value - before.n_tables.value
    assert "total" not in changed
    assert found.verdicts[0] != found.verdicts[1]
    assert f"Verdict: {found.verdicts[1]}; before: {found.verdicts[0]}." in repr(found)
    assert found.to_json()["of"] == "audit"
    assert pickle.loads(pickle.dumps(found)) == found
    assert not after.compare(after).changed


def test_only_results_of_one_kind_are_compared():
    with pytest.raises(InputError, match="a result of the kind 'plan', got 'counts'"):
        MAKERS["plan"]().compare(MAKERS["statistics"]())
    with pytest.raises(InputError, match="another result of the same kind, got int"):
        MAKERS["plan"]().compare(5)


def test_a_figure_reads_as_a_person_would_write_it():
    figure = discreet.Figure(value=4.5, how=discreet.How.ESTIMATE, low=1.0, high=9.0)
    assert str(figure) == "4.5 (1 to 9) [estimate]"
    assert f"{discreet.Unavailable('too few records')}" == "not available: too few records"


def _named_in(kind):
    """The dataclasses of Discreet in the annotations of the fields of a dataclass."""
    waiting = [
        hint
        for name, hint in typing.get_type_hints(kind).items()
        if name in kind.__dataclass_fields__
    ]
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        own = getattr(hint, "__module__", "").startswith("discreet")
        if inspect.isclass(hint) and own and dataclasses.is_dataclass(hint):
            yield hint.__name__


@pytest.mark.parametrize("name", sorted({*OPTIONS, *TOLD} - {"Plans", "AuditSequence"}))
def test_every_type_in_a_result_can_be_imported_and_is_documented(name):
    kind = getattr(discreet, name)
    page = (_root() / "docs" / "reference" / "python.md").read_text()
    for one in {name, *_named_in(kind)}:
        assert one in discreet.__all__
        assert f"discreet.{one}\n" in page
        assert getattr(discreet, one).__doc__


def test_every_public_name_is_in_the_reference():
    page = (_root() / "docs" / "reference" / "python.md").read_text()
    for name in discreet.__all__:
        assert f":: discreet.{name}\n" in page, name


def _root():
    from pathlib import Path

    return Path(__file__).resolve().parents[3]
