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


@pytest.fixture
def people(tmp_path):
    """400 persons: age and sex, each combination four times, and one odd one."""
    rows = [f"p{i},{i // 4 % 50 + 20},{'FM'[i // 200]},{i % 7}" for i in range(400)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["id,age,sex,dose", *rows, "odd,99,X,3"]) + "\n")
    return path


KEYS = ("--keys", "age,sex")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_risks_begin_with_the_row_and_carry_what_was_asked(discreet, people, tmp_path, ending):
    risks = tmp_path / f"r.{ending}"
    run = discreet(
        "assess", people, *KEYS, "--population", "4000", "--risks", risks, "--carry", "id,age",
        "--json",
    )  # fmt: skip
    assert run.code == 0, run.err
    found = json.loads(run.out)["recommended"]
    frame = pd.read_csv(risks) if ending == "csv" else pd.read_parquet(risks)
    assert list(frame)[:6] == ["row", "risk", "population_unique", "class", "id", "age"]
    assert not [name for name in frame if str(name).endswith("_probability")]
    assert frame["row"].tolist() == list(range(1, 402))
    assert frame["id"].tolist() == [*(f"p{i}" for i in range(400)), "odd"]
    for column, figure in (
        ("risk", "expected_correct_matches"),
        ("population_unique", "expected_population_uniques"),
    ):
        assert frame[column].sum() == pytest.approx(found[figure]["value"], rel=1e-9)
    counts = frame["class"].value_counts().to_dict()
    assert {name: n for name, n in found["risk"]["classes"].items() if n} == counts
    assert frame["risk"].idxmax() == 400


def test_all_models_put_their_columns_last(discreet, people, tmp_path):
    risks = tmp_path / "r.csv"
    run = discreet("assess", people, *KEYS, "--population", "4000", "--risks", risks,
                   "--all-models", "--json")  # fmt: skip
    assert run.code == 0
    columns = list(pd.read_csv(risks))
    assert columns[:4] == ["row", "risk", "population_unique", "class"]
    assert "benedetti_franconi_match_probability" in columns
    assert len(json.loads(run.out)["models"]) == 14


def test_no_model_is_run_unless_asked_for(discreet, people):
    run = discreet("assess", people, *KEYS, "--population", "4000", "--json")
    assert json.loads(run.out)["models"] == {}


def test_without_a_population_there_is_no_column_of_risk(discreet, people, tmp_path):
    risks = tmp_path / "r.csv"
    run = discreet("assess", people, *KEYS, "--risks", risks, "--carry", "id")
    assert run.code == 0
    assert list(pd.read_csv(risks)) == ["row", "id", "sample_count"]
    assert run.out.count("--whole-population") == 1


@pytest.mark.parametrize(
    ("given", "code", "verdict"),
    [
        (("--whole-population", "--max-risk", "0.25"), 3, "broken"),
        (("--whole-population", "--max-risk", "1"), 0, "kept"),
        (("--min-k", "2"), 3, "broken"),
        (("--max-risk", "0.5"), 4, "undecided"),
        (("--max-risk", "0.5", "--min-k", "2"), 3, "broken"),
        (("--population", "4000"), 0, None),
    ],
)
def test_the_verdict_sets_the_exit_code(discreet, people, given, code, verdict):
    run = discreet("assess", people, *KEYS, *given, "--json")
    assert run.code == code
    told = json.loads(run.out).get("verdict")
    assert (told and told["verdict"]) == verdict


def test_the_verdict_leads_on_the_terminal(discreet, people):
    run = discreet("assess", people, *KEYS, "--whole-population", "--min-k", "2")
    assert run.code == 3
    assert "Verdict: may not go out" in run.out.splitlines()[:5]
    assert "Broken: 1 record is alone with the keys." in run.out


def test_a_population_smaller_than_the_file_is_bad_input(discreet, people):
    run = discreet("assess", people, *KEYS, "--population", "100")
    assert run.complaint() == (
        "--population must be at least the 401 records of the file, got 100; a population holds "
        "every person of its sample"
    )


def test_an_amount_is_no_weight(discreet, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("a,income\n" + "1,900000000\n" * 20)
    assert (
        "weight 'income' must be survey weights, the persons that each record stands for, got a sum of more people than there are on earth; is it an amount? take the column of weights, or give the size of the population (--population)"
        in discreet("assess", path, "--keys", "a", "--weight", "income").complaint()
    )
    path.write_text("a,income\n" + "1,30000\n2,41000\n" * 20)
    run = discreet("assess", path, "--keys", "a", "--weight", "income", "--json")
    assert run.code == 0
    assert "has the name of something else" in json.loads(run.out)["warnings"][0]


def test_a_folder_without_parquet_is_named_as_input(discreet, people):
    told = discreet("assess", people.parent, *KEYS).complaint()
    assert told.startswith("file must be a file, or a folder that holds Parquet files")
    assert told.endswith("name one of its files, such as 'people.csv'")


def test_scenarios_have_an_estimate_of_their_own(discreet, people):
    run = discreet("assess", people, *KEYS, "--population", "4000", "--scenario", "one=sex",
                   "--json")  # fmt: skip
    told = json.loads(run.out)
    one = told["scenarios"]["one"]["recommended"]
    assert (
        one["expected_correct_matches"]["value"]
        < (told["recommended"]["expected_correct_matches"]["value"])
    )


def test_policies_side_by_side_have_the_recommended_estimate(discreet, tmp_path):
    rows = [f"{i % 9},{'' if i % 11 == 0 else i % 13}" for i in range(400)]
    (tmp_path / "s.csv").write_text("\n".join(["a,b", *rows]))
    run = discreet("assess", tmp_path / "s.csv", "--keys", "a,b", "--population", "4000",
                   "--missing", "all", "--json")  # fmt: skip
    assert run.code == 0, run.err
    policies = json.loads(run.out)["missing"]
    for name in ("wildcard", "conservative", "category", "drop"):
        assert policies[name]["recommended"]["expected_correct_matches"]["value"] > 0
    shown = discreet("assess", tmp_path / "s.csv", "--keys", "a,b", "--population", "4000",
                     "--missing", "all")  # fmt: skip
    assert "How many could be found under each policy" in shown.out
