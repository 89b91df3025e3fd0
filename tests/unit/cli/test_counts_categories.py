"""discreet counts by category: one set each, all jointly, margins, regression and Bayes."""

import json
import math

import pytest

TABLES = {
    ("north", "2020"): [15, 20, 9, 5, 2],
    ("north", "2021"): [10, 12, 7, 2, 1],
    ("south", "2020"): [3, 9, 9, 6, 2, 1],
    ("south", "2021"): [8, 8, 5, 3, 0, 1],
}
SETS = "ward,n,s1,s2\nnorth,83,97,2^32*3^10\nsouth,55,90,2^35*3^13*5^2\n"
TOTALS = "0:36,1:49,2:30,3:16,4:5,5:2"


@pytest.fixture
def wards(tmp_path):
    rows = [
        f"{ward},{year},{value},{count}"
        for (ward, year), table in TABLES.items()
        for value, count in enumerate(table)
    ]
    file = tmp_path / "wards.csv"
    file.write_text("\n".join(["ward,year,x,freq", *rows]) + "\n")
    return file


@pytest.fixture
def sets(tmp_path):
    file = tmp_path / "sets.csv"
    file.write_text(SETS)
    return file


def told(run):
    assert run.code == 0, run
    return json.loads(run.out)


def holder(discreet, wards, *options):
    return discreet("counts", wards, "--column", "x", "--count", "freq", *options)


def test_one_set_a_category(discreet, wards):
    got = told(holder(discreet, wards, "--by", "ward,year", "--json"))
    assert got["side"] == "holder"
    assert [one["category"] for one in got["categories"]] == [
        "north, 2020",
        "north, 2021",
        "south, 2020",
        "south, 2021",
    ]
    first = got["categories"][0]
    assert first["statistics"]["factorisation"] == "2^20*3^7"
    assert first["alone"]["n_solutions"]["value"] == 7
    assert first["alone"]["true_table_probability"]["value"] == pytest.approx(0.3628, abs=1e-4)


def test_tables_of_categories_are_independent_given_their_sets(discreet, wards):
    got = told(holder(discreet, wards, "--by", "ward,year", "--json"))
    alone = [one["alone"] for one in got["categories"]]
    joint = got["joint"]
    assert joint["n_solutions"]["value"] == math.prod(a["n_solutions"]["value"] for a in alone)
    assert joint["entropy"]["value"] == pytest.approx(sum(a["entropy"]["value"] for a in alone))
    assert joint["true_table_probability"]["value"] == pytest.approx(
        math.prod(a["true_table_probability"]["value"] for a in alone)
    )
    assert got["sets_alone"]["entropy"]["value"] == pytest.approx(joint["entropy"]["value"])


def test_margins_beside_the_sets_add_to_what_is_known(discreet, wards):
    plain = told(holder(discreet, wards, "--by", "ward", "--json"))["joint"]
    totals = told(holder(discreet, wards, "--by", "ward", "--totals", "--json"))["joint"]
    assert totals["n_solutions"]["value"] < plain["n_solutions"]["value"]
    assert totals["entropy"]["value"] < plain["entropy"]["value"]
    by_ward = told(holder(discreet, wards, "--by", "ward,year", "--margin", "ward", "--json"))
    assert by_ward["beside"] == ["the table by ward"]
    assert by_ward["joint"]["entropy"]["value"] < by_ward["sets_alone"]["entropy"]["value"]
    text = holder(discreet, wards, "--by", "ward", "--totals", "--full").out
    assert "from the sets alone" in text
    assert "with all that is out" in text


def test_a_withheld_set_follows_by_subtraction(discreet, wards):
    got = told(holder(discreet, wards, "--by", "ward", "--withhold", "south", "--json"))
    south = got["categories"][-1]
    assert south["category"] == "south"
    assert "statistics" not in south
    assert south["derived"] is True
    assert south["alone"]["n_solutions"]["value"] == 30
    assert "The set of south follows from the others by subtraction." in got["warnings"]


def test_the_intruder_finds_what_the_holder_fears(discreet, wards, sets):
    own = told(holder(discreet, wards, "--by", "ward", "--json"))
    seen = told(discreet("counts", "--sets", sets, "--json"))
    assert seen["side"] == "intruder"
    assert seen["joint"]["entropy"]["value"] == pytest.approx(own["joint"]["entropy"]["value"])
    assert "true_table_probability" not in seen["joint"]
    assert "count" not in seen["categories"][0]["joint_cells"][0]
    beside = told(discreet("counts", "--sets", sets, "--total-table", TOTALS, "--json"))
    same = told(holder(discreet, wards, "--by", "ward", "--totals", "--json"))
    assert beside["joint"]["n_solutions"] == same["joint"]["n_solutions"]


def test_regression_is_the_same_for_both(discreet, wards, sets):
    own = told(holder(discreet, wards, "--by", "ward", "--regress", "ward", "--json"))["regression"]
    seen = told(discreet("counts", "--sets", sets, "--regress", "ward", "--json"))["regression"]
    assert own == seen
    names = [one["name"] for one in own["common_dispersion"]["coefficients"]]
    assert names == ["intercept", "ward=south"]
    assert all(one["standard_error"] > 0 for one in own["common_dispersion"]["coefficients"])
    assert own["fitted_means"] == pytest.approx(own["observed_means"], rel=1e-6)  # saturated
    text = holder(discreet, wards, "--by", "ward,year", "--regress", "ward*year").out
    assert "ward=south × year=2021" in text
    assert "± standard error" in text


def test_bayes_for_each_category(discreet, sets):
    got = told(discreet("counts", "--sets", sets, "--bayes", "--json"))["bayes"]
    assert set(got) == {"north", "south"}
    assert got["south"]["posterior"]["a"] == 90
    out = discreet("counts", "--sets", sets, "--bayes").out
    assert "north: dispersion" in out


def test_a_category_of_zeros_is_known(discreet, tmp_path):
    file = tmp_path / "zeros.csv"
    file.write_text("k,x\n" + "a,0\n" * 4 + "b,0\nb,1\nb,2\nb,3\nb,1\n")
    got = told(discreet("counts", file, "--column", "x", "--by", "k", "--regress", "k", "--json"))
    assert got["categories"][0]["all_zero"] is True
    assert "unavailable" in got["regression"]["common_dispersion"]
    refused = discreet("counts", file, "--column", "x", "--by", "k", "--max-risk", 0.99)
    assert refused.code == 3
    assert "S1 = 0" in refused.out
    released = tmp_path / "released.csv"
    released.write_text("k,n,s1,s2\na,4,0,1\nb,5,7,2^2*3\n")
    seen = told(discreet("counts", "--sets", released, "--json"))
    assert seen["categories"][0]["all_zero"] is True
    assert seen["joint"]["n_solutions"] == got["joint"]["n_solutions"]


def test_a_verdict_over_categories(discreet, wards):
    refused = holder(discreet, wards, "--by", "ward", "--max-risk", 0.3, "--json")
    assert refused.code == 3
    verdict = json.loads(refused.out)["verdict"]
    assert verdict["verdict"] == "broken"
    counted = next(one for one in verdict["rules"] if one["rule"] == "count_risk")
    assert (counted["verdict"], counted["limit"]) == ("broken", 0.3)
    assert "value 5 of south" in counted["concerns"]
    assert holder(discreet, wards, "--by", "ward", "--max-risk", 0.9).code == 0


def test_text_fits_80_columns_without_blanks_at_the_end(discreet, wards):
    options = ("--by", "ward,year", "--totals", "--regress", "ward,year", "--max-risk", 0.2)
    lines = holder(discreet, wards, *options, "--full").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines == [line.rstrip() for line in lines]


def test_the_page_of_an_intruder_holds_no_truth(discreet, wards, sets, tmp_path):
    page = tmp_path / "page.html"
    assert discreet("counts", "--sets", sets, "--regress", "ward", "--report", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 1
    assert "true table" not in text
    assert "confidential" not in text
    assert holder(discreet, wards, "--by", "ward", "--report", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "true table" in text
    assert "as confidential as the data" in text


def test_hostile_levels(discreet, tmp_path):
    file = tmp_path / "hostile.csv"
    levels = ["<script>alert(1)</script>", "b\x1b[31m", "a, b", "="]
    rows = [f'"{level}",{x}' for level in levels for x in (0, 1, 2, 2, 3, 1)]
    file.write_text("\n".join(["k,x", *rows]) + "\n")
    page = tmp_path / "page.html"
    run = discreet("counts", file, "--column", "x", "--by", "k", "--report", page, "--regress", "k")
    assert run.code == 0, run
    assert "\x1b" not in run.out
    assert "<script" not in page.read_text(encoding="utf-8")
    both = tmp_path / "both.csv"
    rows = [f'"{a}","{b}",{x}' for a, b in (("p, q", "r"), ("p", "q, r")) for x in (0, 1, 2, 2)]
    both.write_text("\n".join(["k,l,x", *rows]) + "\n")
    got = told(discreet("counts", both, "--column", "x", "--by", "k,l", "--json"))
    assert len({one["category"] for one in got["categories"]}) == 2


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--by", "nope"), "--by must be a column of wards.csv, got 'nope'"),
        (("--by", "x"), "--column must be another than those of categories and counts, got 'x'"),
        (("--by", "ward", "--margin", "year"), "--margin must be of category columns ('ward')"),
        (
            ("--by", "ward", "--margin", "ward"),
            "--margin must be of fewer columns than the categories",
        ),
        (("--by", "ward", "--withhold", "west"), "--withhold must be one of 'north', 'south'"),
        (("--by", "ward", "--regress", "year"), "--regress must be of the category columns 'ward'"),
        (("--by", "ward", "--decimals", 2), "--decimals must be given without --by and --sets"),
        (("--by", "ward", "--withhold-n"), "--withhold-n must be given without --by and --sets"),
        (("--by", "ward", "--knows", "decreasing"), "--knows must be"),
        (("--by", "ward", "--knows", "max=4"), "true of the table of south"),
        (("--by", "ward", "--max-risk", 2), "--max-risk must be between 0 and 1"),
        (("--by", "ward", "--seconds", 0), "--seconds must be a finite number above zero"),
        (("--by", "ward", "--seconds", "nan"), "--seconds must be a finite number above zero"),
        (("--by", "ward,ward"), "--column and --by must be different columns"),
        (("--by", "ward", "--total-table", "0:3"), "--total-table must be given with --sets"),
    ],
)
def test_bad_input_by_category(discreet, wards, options, part):
    assert part in holder(discreet, wards, *options).complaint()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ward,n,s1\na,1,2\n", "--sets must be a file with columns n, s1 and s2, got one without"),
        ("n,s1,s2\n51,61,2^20*3^7\n", "--sets must be a file with columns for the categories"),
        (SETS + "north,83,97,2^32*3^10\n", "--sets must be a file with each category once"),
        (
            "k,n,s1,s2\na,,97,2^32*3^10\n",
            "got no n for a; such a set can be looked at by itself (--n, --s1, --s2)",
        ),
        ("k,n,s1,s2\na,83,97,33.1\n", "got a rounded S2 for a;"),
        ("k,n,s1,s2\na,83,97,2^32*7^10\n", "a product of factorials"),
        ("k,n,s1,s2\na,5,97,2^32*3^10\n", "(category a)"),
        ("k,n,s1,s2\na,x,97,2^32*3^10\n", "n of --sets must be whole numbers, got 'x'"),
        ("k,n,s1,s2\na,8,0,1\n", "categories must be"),
    ],
)
def test_bad_sets(discreet, tmp_path, text, part):
    file = tmp_path / "sets.csv"
    file.write_text(text)
    assert part in discreet("counts", "--sets", file).complaint()


def test_a_table_of_all_that_contradicts_the_sets(discreet, sets):
    said = discreet("counts", "--sets", sets, "--total-table", "0:35,1:49,2:31,3:16,4:5,5:2")
    assert "--total-table must be a table with the S1 of all sets together, 187" in said.complaint()
    said = discreet("counts", "--sets", sets, "--total-table", "x").complaint()
    assert said.startswith("--total-table must be value:count")
    for options in (("0:5,1:2", "--sets", sets), ("--sets", sets, "--n", 4)):
        assert discreet("counts", *options).code == 2
