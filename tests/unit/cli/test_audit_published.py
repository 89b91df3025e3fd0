"""`audit --published` and `--release` in words: text, JSON, exit codes, bad input."""

import json
import re

import pytest

ROWS = """age,sex,n
15,F,1
16,F,12
17,F,13
15,M,17
16,M,18
17,M,14
"""
T1 = "sex,age,n\nF,15-17,26\nM,15-17,49\n"
T2 = "sex,age,n\nF,16-17,25\nM,16-17,32\n"
TRUE = {12, 13, 17, 18, 14, 26, 49, 25, 32, 75}


@pytest.fixture
def files(tmp_path):
    named = {"data.csv": ROWS, "t1.csv": T1, "t2.csv": T2}
    for name, text in named.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in named}


@pytest.fixture
def audit(discreet, files):
    def run(*more):
        given = [files.get(one, one) for one in more]
        return discreet("audit", files["data.csv"], "--count", "n", *given)

    return run


BOTH = ("--published", "t1.csv", "--published", "t2.csv")


def test_text(audit):
    run = audit(*BOTH, "--full")
    assert run.code == 3
    assert max(map(len, run.out.splitlines())) <= 80
    said = " ".join(run.out.split())
    assert "Confidential" in said or "confidential" in said
    assert "− 25 (age 16-17 in t2.csv)" in said
    assert "An intruder would find 1 of 1 small cell." in said
    assert "Small cells (confidential)" in said


def test_json_names(audit):
    told = json.loads(audit(*BOTH, "--json").out)
    assert told["kind"] == "audit"
    assert {
        "variables", "total", "n_table_cells", "small", "n_tables", "n_small_cells", "verdict",
        "findings", "published", "derived", "n_derived", "cells", "risk", "believed", "notes",
        "seed",
    } <= set(told)  # fmt: skip
    first, second = told["derived"]
    assert {"cell", "lower", "upper", "how", "derivation", "steps", "small"} == set(first)
    assert (first["cell"], first["lower"], first["small"]) == ({"sex": "F", "age": "15"}, 1, True)
    assert (second["lower"], second["small"]) == (17, False)
    assert {"bounds", "one_over_tables", "true_table", "small_cells_identified",
            "expected_identified"} == set(told["risk"])  # fmt: skip
    small = [one for one in told["cells"] if "count" in one]
    assert [(one["cell"], one["count"]) for one in small] == [({"sex": "F", "age": "15"}, 1)]
    assert list(small[0]["probabilities"].values()) == [1.0]


def test_tables_in_words_are_the_same_as_their_files(audit):
    by_file = json.loads(audit(*BOTH, "--json").out)
    words = ("--release", "sex,age:merge(15,16,17,into=15-17)", "--release", "sex | age=16;17")
    by_words = json.loads(audit(*words, "--json").out)
    for name in ("n_tables", "risk", "n_derived", "n_small_cells"):
        assert by_file[name] == by_words[name]
    assert [one["lower"] for one in by_file["derived"]] == [
        one["lower"] for one in by_words["derived"]
    ]


def test_a_file_beside_a_margin(audit):
    told = json.loads(audit("--published", "t1.csv", "--release", "age,sex", "--json").out)
    assert told["n_derived"] == 0
    assert told["n_tables"]["value"] == 1


def test_exit_codes(audit):
    assert audit("--published", "t1.csv").code == 0
    assert audit(*BOTH).code == 3
    assert audit("--published", "t1.csv", "--max-risk", "0.5").code == 0
    assert audit(*BOTH, "--max-risk", "1").code == 3  # a small figure follows all the same


def test_a_report(audit, tmp_path):
    page = tmp_path / "audit.html"
    assert audit(*BOTH, "--report", page).code == 3
    assert "What is found of the small cells" in page.read_text()


def test_figures_that_are_not_true_are_named_without_a_count(audit, files):
    files["t1.csv"].write_text(T1.replace("26", "27"))
    for form in ((), ("--json",)):
        said = audit(*BOTH, *form).complaint()
        assert (
            "published figures must be true of the data, got 1 that are not: t1.csv: sex F" in said
        )
        told = said.replace("15-17", "").replace("16-17", "").replace("rounded(5)", "")
        told = re.sub(r"t\d\.csv|(line|row) \d+", "", told)
        assert not set(map(int, re.findall(r"\d+", told))) & TRUE


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--others", "sex"), "--others must be left out where the data are given"),
        (("--refused", "age"), "--refused must be left out with --published"),
        (("--population", "100"), "--population must be left out with --published"),
        (("--no-nesting",), "--nesting must be left out with --published"),
        (("--nested", "age:sex"), "--nested must be left out with --published"),
        (("--models", "saturated"), "--models must be left out with --published"),
        (("--model-prior", "saturated=.2"), "--model-prior must be left out with --published"),
        (("--target", "age"), "--targets must be left out with --published"),
        (("--sequence",), "--sequence must be left out with --published"),
        (("--draws", "50"), "--draws must be left out with --published"),
        (("--measure", "table"), "--measure must be given with --max-risk, got none"),
        (("--max-risk", "2"), "--max-risk must be from 0 to 1 for the measure cells"),
        (("--confidence", "1"), "--confidence must be from 0 to below 1"),
        (("--knows", "sex=F:3"), "knowledge: sex F"),
        (("--release", "age:bands(5) | perturbed(3)"), "must be exact, rounded or withheld"),
        (("--release", "age:nonsense(5)"), "nonsense"),
        (("--release", "height"), "height"),
    ],
)
def test_bad_input_is_one_clear_line(audit, more, message):
    for form in ((), ("--json",)):
        assert message in audit("--published", "t1.csv", *more, *form).complaint()


def test_a_table_of_other_data(audit, files):
    files["t2.csv"].write_text("height,n\n1,3\n")
    assert "variables of published tables must be those of the data, got 'height' at t2.csv" in (
        audit(*BOTH).complaint()
    )


def test_options_of_tables_in_words_need_them(discreet, files):
    run = discreet("audit", files["data.csv"], "--count", "n", "--release", "age", "--label", "a=b")
    assert "--label must be given with --published or a --release in words" in run.complaint()


def test_a_report_for_readers_outside_has_no_count_and_no_level(audit, tmp_path):
    page = tmp_path / "outside.html"
    assert audit(*BOTH, "--external-report", page, "--max-risk", "0.5").code == 3
    said = page.read_text()
    assert "whether these tables may be out together" in said.lower()
    assert "do not allow it" in said
    for secret in ("15-17", "16-17", ">26<", ">25<"):
        assert secret not in said
