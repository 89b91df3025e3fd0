"""The command `attack`: text, JSON, page, exit codes, bad input, all formats of files."""

import json

import numpy as np
import pytest
from tests.oracles.published_tables import published

from discreet.data.published.writing import Format, write_published

T1 = "sex,age,n\nF,15-19,23\nM,15-19,30\n"
T2 = "sex,age,n\nF,16-19,20\nM,16-19,29\n"


@pytest.fixture
def tables(tmp_path):
    """Two tables of which a man of 15 follows."""
    files = {"t1.csv": T1, "t2.csv": T2}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in files]


def arguments(tables, *more):
    return ("attack", *(x for table in tables for x in ("--published", table)), *more)


def found(run):
    return json.loads(run.out)


def test_text_fits_80_columns_and_says_what_follows_and_why(discreet, tables):
    run = discreet(*arguments(tables, "--full"))
    assert run.code == 3
    assert max(map(len, run.out.splitlines())) <= 80
    said = " ".join(run.out.split())
    assert "Verdict: the tables give small figures away" in said
    assert "sex M, age 15 1 30 (age 15-19 in t1.csv) − 29 (age 16-19 in t2.csv)" in said


def test_exit_codes(discreet, tables):
    assert discreet(*arguments(tables)).code == 3
    assert discreet(*arguments(tables[:1])).code == 0
    assert discreet(*arguments(tables, "--small", 0)).code == 2


def test_json_names(discreet, tables):
    told = found(discreet(*arguments(tables, "--json")))
    assert told["kind"] == "attack"
    assert {
        "published", "variables", "small", "n_figures", "n_cells", "verdict", "findings", "derived",
        "n_derived", "narrow", "cells", "n_tables", "reconstruction", "notes",
    } <= set(told)  # fmt: skip
    first = told["derived"][0]
    assert {"cell", "lower", "upper", "how", "derivation", "steps"} == set(first)
    assert first["cell"] == {"sex": "M", "age": "15"}
    assert (first["lower"], first["upper"], first["how"]) == (1, 1, "exact")
    assert first["steps"][0] == {
        "table": "t1.csv", "cell": {"sex": "M", "age": "15-19"}, "printed": "30", "figure": 30,
        "times": 1,
    }  # fmt: skip
    assert told["n_tables"]["value"] == 1
    assert told["verdict"]["verdict"] == "broken"
    assert told["variables"] == {"sex": ["F", "M"], "age": ["15", "16-19", "others"]}
    assert told["published"][0] == {
        "table": "t1.csv", "variables": ["sex", "age"], "n_figures": 2, "n_withheld": 0,
        "figures_are": "exact",
    }  # fmt: skip
    assert set(told["cells"][0]) == {"cell", "lower", "upper", "how"}


def test_page(discreet, tables, tmp_path):
    page = tmp_path / "attack.html"
    assert discreet(*arguments(tables, "--report", page)).code == 3
    text = page.read_text()
    assert "What follows although no table shows it" in text
    assert "<script" not in text


def test_what_is_said_of_a_file_behind_a_bar(discreet, tables, tmp_path):
    path = tmp_path / "women.csv"
    path.write_text("age,n\n15,4\n16-19,20\n")
    run = discreet(*arguments([f"{path} | sex=F", tables[1]], "--json"))
    assert found(run)["published"][0]["variables"] == ["age", "sex"]
    run = discreet(*arguments([f"{path} | sex=F | rounded(5)"], "--json"))
    assert found(run)["published"][0]["figures_are"] == "rounded to 5"


def test_options_about_tables(discreet, tmp_path):
    (tmp_path / "r.csv").write_text("region,n\nP,7\nc,2\n")
    (tmp_path / "s.csv").write_text("Region,n\na,4\nC,2\n")
    (tmp_path / "tree.csv").write_text("level,group,root\na,P,all\nb,P,all\nc,Q,all\n")
    pair = [tmp_path / "r.csv", tmp_path / "s.csv"]
    told = found(discreet(*arguments(pair, "--json", "--tree", f"region={tmp_path / 'tree.csv'}")))
    assert [(one["cell"], one["lower"]) for one in told["derived"]] == [({"region": "b"}, 3)]
    told = found(discreet(*arguments(pair, "--json", "--label", "region:P=a", "--others", "region",
                                     "--absent", "zero")))  # fmt: skip
    assert "problem" in told  # P is not a: 7 and 4
    told = found(discreet(*arguments(pair, "--json", "--label", "Region=other")))
    assert set(told["variables"]) == {"other"}


def test_knowledge_and_areas(discreet, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("region,sex,n\nN,F,x\nN,M,x\nN,Total,3\nS,F,2\nS,M,4\n")
    told = found(discreet(*arguments([path], "--json", "--areas", "region")))
    assert [(one["area"], one["whole"]) for one in told["areas"]] == [("N", False), ("S", True)]
    told = found(discreet(*arguments([path], "--json", "--knows", "region=N,sex=F:1")))
    assert [one["lower"] for one in told["derived"]] == [2]


def test_the_seed_and_the_order_of_files_change_nothing(discreet, tables):
    plain, again, turned = (
        found(discreet(*arguments(own, "--json", "--seed", seed)))
        for own, seed in ((tables, 1), (tables, 7), (tables[::-1], 1))
    )
    assert plain == again
    assert [one["lower"] for one in turned["derived"]] == [1, 3]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--small", "0"), "--small must be at least 1, got 0"),
        (("--seconds", "0"), "--seconds must be above 0 and finite"),
        (("--area-seconds", "0"), "--area-seconds must be above 0 and finite"),
        (("--areas", "land"), "--areas must be a variable of the tables (sex, age), got 'land'"),
        (("--others", "land"), "--others must be variables of the tables (sex, age), got 'land'"),
        (("--knows", "sex=F"), "--knows must be levels, a colon and a number or range"),
        (
            ("--knows", "sex=F,age=15-19:99"),
            "knowledge: sex F, age 15-19 must be the same as in t1",
        ),
        (("--label", "sex"), "must be written VARIABLE:LABEL=LEVEL"),
        (("--absent", "maybe"), "--absent"),
        (("--published", "nowhere.csv"), "nowhere.csv"),
        (("--tree", "sex"), "--tree"),
        (("--policy", "nonsense"), "policy"),
        (("--policy", "ihsn"), "policy"),
    ],
)
def test_bad_input_is_one_clear_line(discreet, tables, more, message):
    for form in ((), ("--json",)):
        assert message in discreet(*arguments(tables, *more, *form)).complaint()


def test_something_is_published(discreet):
    assert "--published" in discreet("attack").complaint()


def test_a_total_that_does_not_add_up_is_named_with_its_place(discreet, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sex,n\nF,3\nM,4\nTotal,8\n")
    said = discreet(*arguments([path])).complaint()
    assert said.startswith("t.csv: total must be the sum of its parts, got another number at ")
    assert "line 4" in said or "row 4" in said


def test_files_of_one_name_are_told_apart(discreet, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "t.csv").write_text(T1)
    (tmp_path / "b" / "t.csv").write_text(T2)
    told = found(
        discreet(*arguments([tmp_path / "a" / "t.csv", tmp_path / "b" / "t.csv"], "--json"))
    )
    assert [one["table"] for one in told["published"]] == ["t.csv", "t.csv (2)"]


def test_names_that_are_hard_to_print(discreet, tmp_path):
    path = tmp_path / "tä\u202e.csv"
    path.write_text('"sëx",n\n"♀ \u202d",x\n"♂\u200b",3\nTotal,4\n', encoding="utf-8")
    run = discreet(*arguments([path]))
    assert run.code == 3
    assert "\u202d" not in run.out
    assert "\u202e" not in run.out
    told = found(discreet(*arguments([path], "--json")))
    assert told["derived"][0]["lower"] == 1


@pytest.mark.parametrize("format", list(Format))
def test_every_format_tells_the_same(discreet, tmp_path, format):
    rows = [("F", "0-17", None), ("F", "18+", 4), ("M", "0-17", 2), ("M", "18+", 3),
            ("F", "Total", 5), ("M", "Total", 5)]  # fmt: skip
    tables = [published("one", ["sex", "age"], rows), published("two", ["age"], [("0-17", 3)])]
    files = []
    for table in tables:
        files.append(tmp_path / f"{table.name}{format.ending}")
        write_published(table, files[-1], format)
    told = found(discreet(*arguments(files, "--json")))
    assert [(one["cell"], one["lower"]) for one in told["derived"]] == [
        ({"sex": "F", "age": "0-17"}, 1),
    ]  # fmt: skip
    assert np.all([one["lower"] == one["upper"] for one in told["cells"]])
