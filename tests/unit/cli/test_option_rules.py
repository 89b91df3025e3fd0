"""Options that would be ignored are refused, in the words of the user."""

import json

import pandas as pd
import pytest

QUICK = ("--models", "sample_frequency")


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "s.parquet"
    pd.DataFrame({"a": ["x", "y", ""], "w": ["1,5", "2", "3"]}).to_parquet(path)
    return path


@pytest.mark.parametrize(
    ("option", "value"), [("--delimiter", ";"), ("--quote", "'"), ("--encoding", "latin-1")]
)
def test_csv_options_need_a_csv_file(discreet, parquet, tmp_path, option, value):
    run = discreet("assess", parquet, "--keys", "a", *QUICK, option, value)
    assert run.complaint() == f"{option} must be given with a CSV file, got the file 's.parquet'"
    (tmp_path / "z.csv").write_text("a\nnever\n")
    with_list = ("--impossible", tmp_path / "z.csv")
    assert discreet("assess", parquet, "--keys", "a", *QUICK, option, value, *with_list).code == 0


def test_the_decimal_mark_of_weights_in_text_is_for_every_file(discreet, parquet):
    given = ("--keys", "a", "--weight", "w", "--decimal", ",", "--json", *QUICK)
    assert json.loads(discreet("assess", parquet, *given).out)["weight_total"] == 6.5


def test_a_flag_may_be_repeated_and_so_may_a_scenario(discreet, parquet):
    run = discreet("assess", parquet, "--keys", "a", *QUICK, "--json", "--json")
    assert run.code == 0
    scenarios = ("--scenario", "n=a", "--scenario", "m=a")
    assert discreet("assess", parquet, "--json", *QUICK, *scenarios).code == 0


def test_an_option_given_twice_under_two_names(discreet, parquet):
    run = discreet("assess", parquet, "--keys", "a", "--qi", "w")
    assert run.complaint() == "--keys must be given once, got it 2 times"


def test_the_k_of_alpha_k(discreet, tmp_path):
    (tmp_path / "s.csv").write_text("a,s\n1,p\n1,q\n2,p\n2,q\n2,r\n")
    failing = {}
    for k in (2, 3, 4):
        given = ("--keys", "a", "--sensitive", "s", "--alpha-k", k, "--json", *QUICK)
        found = json.loads(discreet("assess", tmp_path / "s.csv", *given).out)
        (alpha,) = [
            m for m in found["sensitive"]["s"]["measures"] if m["name"] == "(α, k)-anonymity"
        ]
        failing[k] = alpha["records"]
        assert f"a sample count of at least {k}" in alpha["rule"]
    assert failing == {2: 0, 3: 2, 4: 5}


def test_all_policies_by_the_scenarios_alone(discreet, tmp_path):
    (tmp_path / "s.csv").write_text("a,b\n1,\n1,2\n2,2\n")
    run = discreet(
        "assess", tmp_path / "s.csv", "--scenario", "n=a,b", "--missing", "all", "--json"
    )
    assert json.loads(run.out)["missing"]["drop"]["scenarios"]["n"]["sample_uniques"] == 2


@pytest.mark.parametrize("policy", ["category", "wildcard", "drop"])
def test_an_empty_text_is_missing_in_every_format(discreet, tmp_path, policy):
    frame = pd.DataFrame(
        {"a": ["x", "", "", "y"], "b": ["1", "1", None, "2"], "s": ["p", "", "q", "q"]}
    )
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.to_parquet(tmp_path / "s.parquet")
    frame.astype("category").to_parquet(tmp_path / "c.parquet")
    told = []
    for name in ("s.csv", "s.parquet", "c.parquet"):
        given = ("--keys", "a,b", "--sensitive", "s", "--missing", policy, "--json", *QUICK)
        found = json.loads(discreet("assess", tmp_path / name, *given).out)
        del found["settings"]
        told.append(found)
    assert told[0] == told[1] == told[2]
    assert told[0]["missing"]["by_key"] == {"a": 2, "b": 1}
