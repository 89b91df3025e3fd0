"""Never pass what is printed on the page: the tables that a new user tried, as they tried them."""

import csv
import json

import numpy as np
import pytest

LEVELS = {
    "education": ["primary", "secondary", "tertiary", "none"],
    "marital": ["single", "married", "divorced", "widowed"],
    "sex": ["f", "m"],
}


@pytest.fixture(scope="module")
def labour(tmp_path_factory):
    """A file of 4,000 records in which few have no education and one of them is widowed."""
    rng = np.random.default_rng(7)
    education = rng.choice(4, 4000, p=[0.3, 0.5, 0.19, 0.01])
    marital = rng.choice(4, 4000, p=[0.4, 0.5, 0.08, 0.02])
    marital[(education == 3) & (marital == 3)] = 1
    marital[np.flatnonzero(education == 3)[0]] = 3
    sex = rng.integers(0, 2, 4000)
    path = tmp_path_factory.mktemp("labour") / "labour.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(LEVELS)
        for row in zip(education, marital, sex, strict=True):
            writer.writerow(own[i] for own, i in zip(LEVELS.values(), row, strict=True))
    return path


def test_choose_writes_no_table_with_a_count_of_one(discreet, labour, tmp_path):
    folder = tmp_path / "out"
    found = discreet("choose", labour, "--vars", "education,marital,sex", "--max-risk", 0.1,
                     "--masks", "margins", "--write", folder)  # fmt: skip
    assert found.code == 0, found.err
    assert "which prints" in " ".join(found.out.split())
    assert not any("education_marital" in path.name for path in folder.glob("*.csv"))
    for path in folder.glob("*.csv"):
        with path.open() as file:
            counts = [int(row["count"]) for row in csv.DictReader(file)]
        assert not any(0 < n <= 2 for n in counts)


def test_the_verdict_is_the_same_whichever_variables_are_named(discreet, labour):
    verdicts = []
    for names in ("education,marital,sex", "education,marital"):
        found = discreet("audit", labour, "--vars", names, "--release", "education,marital",
                         "--max-risk", 0.1, "--json")  # fmt: skip
        assert found.code == 3
        verdicts.append(json.loads(found.out)["verdict"])
    assert verdicts[0] == verdicts[1]
    [printed] = [one for one in verdicts[0]["rules"] if one["rule"] == "printed_counts"]
    assert printed["verdict"] == "broken"
    assert printed["concerns"] == ["[education marital]"]


def test_the_variables_left_out_are_named(discreet, labour):
    said = discreet("audit", labour, "--vars", "education,marital,sex", "--release", "sex").out
    left = "Left out, since nothing released tells of it: education and marital."
    assert left in " ".join(said.split())


def test_amounts_are_undecided_until_they_are_confirmed(discreet, tmp_path):
    path = tmp_path / "firms.csv"
    path.write_text("branch,size,revenue\na,s,90000000\na,l,3000000\nb,s,12000\nb,l,700000\n")
    asked = ("audit", path, "--count", "revenue", "--release", "branch", "--max-risk", 0.1)
    found = discreet(*asked)
    assert found.code == 4
    first = " ".join(" ".join(found.out.splitlines()[:8]).split())
    assert "These may be no counts of persons: the name of column 'revenue' speaks" in first
    assert "confirm that these are (--persons)" in found.out
    assert discreet(*asked, "--persons").code == 0
    folder = tmp_path / "out"
    chosen = discreet("choose", path, "--count", "revenue", "--max-risk", 0.1, "--masks", "margins",
                      "--write", folder)  # fmt: skip
    assert chosen.code == 4
    assert not folder.exists()
    rules = json.loads(discreet(*asked, "--json").out)["verdict"]["rules"]
    assert [one["rule"] for one in rules if one["verdict"] == "undecided"] == ["counts_of_persons"]


@pytest.mark.parametrize("option", [("--persons",), ("--totals", "keep")])
def test_options_about_counts_need_a_column_of_counts(discreet, labour, option):
    said = discreet("audit", labour, "--release", "sex", *option).complaint()
    assert f"{option[0]} must be given with a column of counts (--count)" in said


def test_what_may_be_a_total_is_said_on_the_command_line(discreet, tmp_path):
    path = tmp_path / "arms.csv"
    path.write_text("arm,n\nC,50\nT,50\n")
    asked = ("audit", path, "--count", "n", "--release", "arm", "--max-risk", 0.1)
    assert "'arm=T:keep' if not (--totals)" in discreet(*asked).complaint()
    assert "100 persons" in discreet(*asked, "--totals", "arm=T:keep").out
    assert "50 persons" in discreet(*asked, "--totals", "arm=T:leave-out").out


def test_totals_are_named_and_left_out(discreet, tmp_path):
    path = tmp_path / "totals.csv"
    path.write_text("sex,ill,n\nf,yes,6\nf,no,5\nm,yes,4\nm,no,5\nTotal,yes,10\nTotal,no,10\n"
                    "f,Total,11\nm,Total,9\nTotal,Total,20\n")  # fmt: skip
    found = discreet("audit", path, "--count", "n", "--release", "sex,ill", "--max-risk", 0.1)
    assert found.code == 0
    assert "20 persons, 2 variables, 4 cells" in found.out
    assert "sex = Total, ill = Total" in " ".join(found.out.split())
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("sex,n\nf,6\nm,5\nTotal,12\n")
    said = discreet("audit", wrong, "--count", "n", "--release", "sex").complaint()
    assert "rows of totals 'sex = Total' must be" in said
    assert "(--totals)" in said
    kept = discreet("audit", wrong, "--count", "n", "--release", "sex", "--totals", "keep")
    assert "23 persons" in kept.out


def test_a_group_breaks_the_verdict_until_it_is_no_secret(discreet, tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("hair,income,n\nblack,high,40\nblack,low,40\nblond,high,40\nblond,low,0\n")
    asked = ("audit", path, "--count", "n", "--release", "hair,income", "--max-risk", 0.5)
    found = discreet(*asked)
    assert found.code == 3
    said = " ".join(found.out.split())
    assert "2 groups of persons are shown to share a level" in said
    assert "everyone with income = low (40 persons) has hair = black" in said
    assert "--knows 'income=low,hair=blond:0'" in said
    assert discreet(*asked, "--knows", "income=low,hair=blond:0").code == 0
    blonds = discreet(*asked, "--targets", "income", "--json")
    assert blonds.code == 3
    [groups] = [r for r in json.loads(blonds.out)["verdict"]["rules"] if r["rule"] == "groups"]
    assert groups["concerns"] == ["everyone with hair = blond (40 persons) has income = high"]
    choice = ("choose", path, "--count", "n", "--max-risk", 0.5, "--masks", "margins[hair income]")
    assert discreet(*choice).code == 3


def test_what_was_not_looked_at_is_undecided(discreet, labour):
    found = discreet("choose", labour, "--max-risk", 0.1, "--masks", "suppression",
                     "--seconds", 1e-6)  # fmt: skip
    assert found.code == 4
    assert "No release was shown to be within the limit" in " ".join(found.out.split())
