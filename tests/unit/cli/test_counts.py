"""discreet counts: the holder's and the snooper's side, files, verdicts, and one line for errors."""

import json

import pytest

DISASTERS = "0:15,1:20,2:9,3:5,4:2"
RELEASED = ("--n", 51, "--s1", 61, "--s2", "2^20*3^7")


def told(run):
    assert run.code == 0, run
    return json.loads(run.out)


def test_the_holder(discreet):
    got = told(discreet("counts", DISASTERS, "--json"))
    assert got["statistics"]["n"] == 51
    assert got["statistics"]["s1"] == 61
    assert got["statistics"]["s2"] == pytest.approx(21.5532296)
    assert got["statistics"]["factorisation"] == "2^20*3^7"
    assert got["n_solutions"] == {"value": 7, "how": "exact"}
    assert got["bounds"][4]["count"] == 2
    assert got["priors"]["multinomial"]["true_table_probability"] == pytest.approx(0.3628, abs=1e-4)
    assert got["fit"]["rate"] == pytest.approx(1.2156, abs=1e-4)
    assert got["fit"]["comparison"]["weighted_least_squares"]["rate"] == pytest.approx(1.1469, 1e-4)
    assert got["fit"]["goodness"]["fits_badly"] is False
    assert got["interval_policy"]["n_tables"]["value"] == 4207


def test_the_snooper_has_no_truth(discreet):
    got = told(discreet("counts", *RELEASED, "--json"))
    assert got["side"] == "snooper"
    assert got["n_solutions"]["value"] == 7
    assert got["priors"]["uniform"]["true_table_probability"] is None
    assert "count" not in got["bounds"][0]
    assert "is_true" not in got["solutions"]["tables"][0]
    assert "goodness" not in got["fit"]


def test_a_decimal_s2(discreet):
    got = told(discreet("counts", "--n", 51, "--s1", 61, "--s2", "21.5", "--truncate", "--json"))
    assert got["statistics"]["factorisation"] is None
    assert got["released"]["truncated"] is True
    assert got["n_solutions"]["factorisations"] >= 1
    assert set(got["priors"]) == {"multinomial", "uniform", "uniform_by_factorisation"}


def test_knowledge_before_and_after(discreet):
    got = told(discreet("counts", DISASTERS, "--knows", "max=4", "--json"))
    assert got["n_solutions"]["value"] == 6
    assert got["knowledge"]["without"]["n_solutions"]["value"] == 7
    assert got["knowledge"]["known"] == ["the largest value is 4"]


def test_n_withheld(discreet):
    got = told(discreet("counts", DISASTERS, "--withhold-n", "--json"))
    assert got["released"]["n"] is None
    assert [row["value"] for row in got["bounds"]] == [1, 2, 3, 4]
    alone = told(discreet("counts", "--s1", 61, "--s2", "2^20*3^7", "--json"))
    assert "n is withheld" in alone["fit"]["unavailable"]
    assert alone["statistics"]["s2"] == pytest.approx(21.5532296)


def test_a_file_of_records_or_of_counts(discreet, tmp_path):
    rows = [0] * 15 + [1] * 20 + [2] * 9 + [3] * 5 + [4] * 2
    records = tmp_path / "records.csv"
    records.write_text("x\n" + "\n".join(map(str, rows)) + "\n")
    counted = tmp_path / "counted.csv"
    lines = [f"a,{value},{count}" for value, count in enumerate([15, 20, 9, 5, 2])]
    counted.write_text("\n".join(["k,x,freq", *lines]) + "\n")
    first = told(discreet("counts", records, "--json"))
    second = told(discreet("counts", counted, "--column", "x", "--count", "freq", "--json"))
    assert first["statistics"] == second["statistics"]
    assert first["statistics"]["factorisation"] == "2^20*3^7"
    assert "--column must be one of 'k', 'x'" in discreet("counts", counted, "--count", "freq").err


def test_files_that_hold_no_counts(discreet, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("x,y\n1,3\n-2,\n0,1\n")
    said = discreet("counts", bad, "--column", "x").complaint()
    assert said == "column 'x' must be of whole numbers from 0, got something else"
    said = discreet("counts", bad, "--column", "y").complaint()
    assert said.endswith("got rows without; --missing drop leaves them out")
    got = told(discreet("counts", bad, "--column", "y", "--missing", "drop", "--json"))
    assert got["statistics"]["n"] == 2


def test_verdicts_and_their_exit_codes(discreet):
    assert discreet("counts", DISASTERS, "--max-risk", 0.5).code == 0
    refused = discreet("counts", DISASTERS, "--max-risk", 0.01, "--json")
    assert refused.code == 3
    assert json.loads(refused.out)["verdict"]["decision"] == "do not release"
    undecided = discreet("counts", DISASTERS, "--withhold-n", "--max-risk", 0.01, "--json")
    assert undecided.code == 3
    assert json.loads(undecided.out)["verdict"]["decision"] == "undecided"
    options = ("--max-risk", 0.4, "--measure", "truth", "--json")
    assert told(discreet("counts", DISASTERS, *options))["verdict"]["measure"] == "truth"


def test_the_same_seed_gives_the_same_answer(discreet):
    runs = [discreet("counts", DISASTERS, "--json", "--seed", 7).out for _ in range(2)]
    assert runs[0] == runs[1]


def test_the_page(discreet, tmp_path):
    page = tmp_path / "counts.html"
    run = discreet("counts", *RELEASED, "--report", page)
    assert run.code == 0
    assert run.err == f"written: {page}\n"
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "true table" not in text


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--n", 51, "--s1", 61, "--s2", "2^20*3^7*7"), "that of a product of factorials, got 5^0"),
        (("--n", 10, "--s1", 61, "--s2", "2^20*3^7"), "--n must be at least 31 for a total of 61"),
        (("--n", 51, "--s1", 0, "--s2", "1"), "--s1 must be above zero, got 0"),
        (("0:5",), "S1 must be above zero, got 0; all observations are zero"),
        (("",), "the table must be of at least one observation, got none"),
        (("0:0",), "the table must be of at least one observation, got none"),
        (("0:5,1:-2",), "counts must be zero or more, got -2 at value 1"),
        (("a:5",), "values must be whole numbers, got 'a'"),
        (("15,20,9",), "counts must be value:count, separated by commas, got '15'"),
        (("nofile.csv",), "file must be one that exists, got 'nofile.csv'"),
        ((*RELEASED, "--knows", "max=4,nozeros"), "--knows must be true of a table with these"),
        ((DISASTERS, "--knows", "max=4,zero=0"), "--knows must be true of the table"),
        ((DISASTERS, "--knows", "foo"), "--knows must be max=J"),
        (("--n", 51, "--s1", 61, "--s2", "21.5533"), "--s2 must be an S2 that some 51 counts"),
        (("--n", 51, "--s1", 61, "--s2", "x"), "--s2 must be a factorisation of e^S2"),
        (("--n", 51, "--s1", 61), "counts must be given, or --s1 and --s2"),
        ((), "counts must be given, or --s1 and --s2"),
        ((DISASTERS, "--n", 4), "--n must be given without a table"),
        ((*RELEASED, "--max-risk", 0.1), "--max-risk must be given with the table of counts"),
        ((*RELEASED, "--truncate"), "--truncate must be given with a decimal"),
        ((DISASTERS, "--max-risk", 3), "--max-risk must be between 0 and 1"),
        ((DISASTERS, "--measure", "truth"), "--measure must be given with --max-risk"),
        ((DISASTERS, "--truncate"), "--truncate must be given with --decimals"),
        ((DISASTERS, "--decimals", -1), "--decimals must be from 0 to 1000"),
        ((DISASTERS, "--seconds", 0), "--seconds must be a finite number above zero"),
        ((DISASTERS, "--column", "x"), "--column must be given with a file"),
        ((DISASTERS, "--report", "x.txt"), "--report must end in .html"),
        ((DISASTERS, "--n", 1, "--n", 2), "--n must be given once"),
    ],
)
def test_bad_input(discreet, arguments, part):
    assert part in discreet("counts", *arguments).complaint()
