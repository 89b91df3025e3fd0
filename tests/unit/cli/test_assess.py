"""discreet assess: options reach the library, results reach their places."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

ROWS = "a,b,w\n1,x,1.5\n1,x,2.5\n2,y,3\n3,,4\n"
QUICK = ("--models", "sample_frequency")


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(ROWS)
    return path


def test_text(discreet, survey):
    run = discreet("assess", survey, "--keys", "a,b", *QUICK)
    assert (run.code, run.err) == (0, "")
    assert "Disclosure risk of s.csv" in run.out
    assert "4 records, population not known, 2 keys, 1 with a missing key (category)" in run.out
    assert "records alone in their cell" in run.out


def test_json_and_nothing_else(discreet, survey):
    run = discreet("assess", survey, "--keys", "a,b", "--weight", "w", "--json", *QUICK)
    found = json.loads(run.out)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("{")
    assert found["sample_size"] == 4
    assert found["size_indices"] == {"1": 2, "2": 1}
    assert found["settings"]["source"] == "s.csv"


@pytest.mark.parametrize("name", ["--keys", "--key-vars", "--keyVars", "--qi"])
def test_the_fields_other_names_for_keys(discreet, survey, name):
    assert discreet("assess", survey, name, "a", "--json", *QUICK).code == 0


def test_every_output_is_written_and_named_on_stderr(discreet, survey, tmp_path):
    outputs = [tmp_path / name for name in ("r.html", "e.html", "r.parquet")]
    options = zip(("--report", "--external-report", "--risks"), outputs, strict=True)
    given = [part for option in options for part in option]
    run = discreet("assess", survey, "--keys", "a,b", "--json", *QUICK, *given)
    assert run.code == 0
    json.loads(run.out)
    assert run.err.splitlines() == [f"written: {path}" for path in outputs]
    assert "internal: as confidential" in outputs[0].read_text()
    assert "readers outside" in outputs[1].read_text()
    assert pq.read_table(outputs[2]).column("sample_count").to_pylist() == [2, 2, 1, 1]
    assert len(list(tmp_path.iterdir())) == 4


def test_options_reach_the_library(discreet, tmp_path):
    (tmp_path / "s.csv").write_bytes("a^b^w\n'é^1'^x^1,5\n'é^1'^^2,5\nz^y^1\n".encode("latin-1"))
    (tmp_path / "z.csv").write_text("a^b\nz^x\n")
    run = discreet(
        "assess", tmp_path / "s.csv", "--keys", "a,b", "--weight", "w", "--delimiter", "^",
        "--quote", "'", "--encoding", "latin-1", "--decimal", ",", "--missing", "drop",
        "--k", "4,2", "--population", "99", "--impossible", tmp_path / "z.csv", "--all-pairs",
        "--memory", "200MB", "--threads", "1", "--json", *QUICK,
    )  # fmt: skip
    assert run.code == 0, run.err
    found = json.loads(run.out)
    assert found["sample_size"] == 2
    assert found["weight_total"] == 2.5
    assert found["population_size"] == 99
    assert found["n_table_cells"] == 3
    assert list(found["anonymity"]) == ["2", "4"]
    assert found["missing"]["dropped_records"] == 1


def test_risks_beside_the_survey_and_the_list(discreet, survey, tmp_path):
    (tmp_path / "z.csv").write_text("a\n9\n")
    given = ("--impossible", tmp_path / "z.csv", "--risks", tmp_path / "r.parquet")
    assert discreet("assess", survey, "--keys", "a,b", *QUICK, *given).code == 0


def test_cells_and_a_tab(discreet, tmp_path):
    pd.DataFrame({"a": [1, 2]}).to_csv(tmp_path / "s.tsv", sep="\t", index=True)
    run = discreet(
        "assess", tmp_path / "s.tsv", "--keys", "a", "--delimiter", "\\t", "--cells", 10**30,
        "--json", *QUICK,
    )  # fmt: skip
    assert json.loads(run.out)["n_table_cells"] == 10**30


def test_help_explains_every_option(discreet):
    run = discreet("assess", "--help")
    assert run.code == 0
    assert run.err == ""
    for option in ("--keys", "--weight", "--missing", "--report", "--risks", "--json"):
        assert option in run.out
