"""discreet counts: the holder's and the intruder's side, files, verdicts, and one line for errors."""

import json

import pytest

from discreet.figures import Unavailable

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
    assert got["priors"]["multinomial"]["true_table_probability"]["value"] == pytest.approx(
        0.3628, abs=1e-4
    )
    assert got["fit"]["rate"]["value"] == pytest.approx(1.2156, abs=1e-4)
    assert got["fit"]["comparison"]["weighted_least_squares"]["rate"] == pytest.approx(1.1469, 1e-4)
    assert got["fit"]["goodness"]["fits_badly"] is False
    assert got["interval_policy"]["n_tables"]["value"] == 4207


def test_the_intruder_has_no_truth(discreet):
    got = told(discreet("counts", *RELEASED, "--json"))
    assert got["side"] == "intruder"
    assert got["n_solutions"]["value"] == 7
    assert "true_table_probability" not in got["priors"]["uniform"]
    assert "count" not in got["bounds"][0]
    assert "is_true" not in got["solutions"]["tables"][0]
    assert "goodness" not in got["fit"]


def test_a_decimal_s2(discreet):
    got = told(discreet("counts", "--n", 51, "--s1", 61, "--s2", "21.5", "--truncate", "--json"))
    assert "factorisation" not in got["statistics"]
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
    assert "n" not in got["released"]
    assert [row["value"] for row in got["bounds"]] == [1, 2, 3, 4]
    assert "rate" not in got["fit"]
    assert "n is withheld" in got["fit"]["unavailable"]
    assert got["fit"]["from_table"]["rate"]["value"] == pytest.approx(1.2156, abs=1e-4)
    for table in got["solutions"]["tables"]:
        assert table["counts"][0] == "?"
        assert "is_true" not in table
    assert [t["counts"][1:] for t in got["solutions"]["tables"] if t["matches_truth"]] == [
        [20, 9, 5, 2]
    ]
    assert "0" not in got["priors"]["multinomial"]["best_guess"]
    assert "n is withheld" in got["unknown_counts"]["0"]
    assert any("equally probable" in line for line in got["assumptions"])
    alone = told(discreet("counts", "--s1", 61, "--s2", "2^20*3^7", "--json"))
    assert "n is withheld" in alone["fit"]["unavailable"]
    assert alone["statistics"]["s2"] == pytest.approx(21.5532296)


def test_the_text_without_n_shows_no_zeros(discreet):
    text = discreet("counts", DISASTERS, "--withhold-n", "--full").out
    assert "  ? 20 9 5 2 " in text
    assert "true from value 1 on" in text
    assert "0 20 9 5 2" not in text
    assert "what a user gets" not in text  # nothing can be fitted without n
    assert "each taken as equally probable" in " ".join(text.split())


def test_the_fit_is_from_the_published_s2(discreet):
    rounded = told(discreet("counts", DISASTERS, "--decimals", 0, "--json"))["fit"]
    seen = told(discreet("counts", "--n", 51, "--s1", 61, "--s2", "22.", "--json"))["fit"]
    assert rounded["rate"]["value"] == pytest.approx(seen["rate"]["value"], rel=1e-12)
    assert rounded["rate"]["value"] != pytest.approx(
        rounded["from_table"]["rate"]["value"], rel=1e-3
    )


def test_what_was_drawn_is_not_called_exact(discreet):
    got = told(discreet("counts", "1:7,2:33,3:49,4:22,5:6", "--decimals", 0, "--json",
                        "--seconds", 5))  # fmt: skip
    assert got["n_solutions"]["how"] == "estimate"
    assert got["n_solutions"]["standard_error"] > 0
    assert {bound["how"] for bound in got["bounds"]} == {"valid, perhaps not tight"}


def test_what_is_assumed_of_n(discreet):
    equal = told(discreet("counts", DISASTERS, "--withhold-n", "--json"))
    other = ("--withhold-n", "--number-prior", "reciprocal", "--json")
    reciprocal = told(discreet("counts", DISASTERS, *other))
    assert equal["assumptions"] != reciprocal["assumptions"]
    said = discreet("counts", DISASTERS, "--number-prior", "equal").complaint()
    assert said.startswith("--number-prior must be given where n is withheld")


def test_no_blanks_at_the_ends_of_lines(discreet):
    for options in (("--max-risk", 0.2, "--bayes"), ("--withhold-n",), ("--decimals", 1)):
        lines = discreet("counts", DISASTERS, *options).out.splitlines()
        assert lines == [line.rstrip() for line in lines]
        assert max(map(len, lines)) <= 80


def test_bayes_for_the_holder_and_the_intruder(discreet):
    holder = told(discreet("counts", DISASTERS, "--bayes", "--json"))["bayes"]
    intruder = told(discreet("counts", *RELEASED, "--bayes", "--json"))["bayes"]
    assert holder == intruder
    assert holder["posterior"]["a"] == 61
    assert holder["posterior"]["c"] == 51
    low, middle, high = holder["dispersion"]["quantiles"]
    assert low < 1.02 < high
    assert low < middle < high
    prior = told(discreet("counts", *RELEASED, "--bayes", "--prior", "1,0.305,1", "--json"))[
        "bayes"
    ]
    assert prior["posterior"] == {"a": 62, "b": pytest.approx(21.8582296), "c": 52}
    least = discreet("counts", "0:3,1:4", "--bayes")
    assert least.code == 0
    assert "no integral without a prior" in " ".join(least.out.split())
    mended = discreet("counts", "0:3,1:4", "--bayes", "--prior", "1,.5,1")
    assert mended.code == 0, mended
    hidden = told(discreet("counts", DISASTERS, "--withhold-n", "--bayes", "--json"))["bayes"]
    assert "n is withheld" in hidden["unavailable"]


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
    assert said.endswith("got rows without a value; the choice drop leaves them out (--missing)")
    got = told(discreet("counts", bad, "--column", "y", "--missing", "drop", "--json"))
    assert got["statistics"]["n"] == 2


def test_verdicts_and_their_exit_codes(discreet):
    passed = discreet("counts", DISASTERS, "--max-risk", 0.5)
    assert passed.code == 0
    assert "\nVerdict: may go out\n" in passed.out
    refused = discreet("counts", DISASTERS, "--max-risk", 0.01, "--json")
    assert refused.code == 3
    told_so = json.loads(refused.out)
    assert told_so["verdict"]["verdict"] == "broken"
    assert told_so["advice"]["decision"] == "do not release"
    assert [one["value"] for one in told_so["advice"]["exposed"]] == [0, 1, 2, 3, 4]
    text = discreet("counts", DISASTERS, "--max-risk", 0.01, "--full").out
    assert "\nVerdict: may not go out\n" in text
    assert "exposed value" in text
    ranged = ("--withhold-n", "--knows", "n=50..52", "--max-risk", 0.2)
    assert discreet("counts", DISASTERS, *ranged).code == 3  # single counts are found at .362
    options = ("--max-risk", 0.4, "--measure", "truth", "--json")
    assert told(discreet("counts", DISASTERS, *options))["advice"]["measure"] == "truth"


def test_what_was_asked_may_not_go_out_though_less_of_it_may(discreet):
    """The exact S2 breaks the limit: exit 3, and the decimals to drop; with those it is kept."""
    fewer = discreet("counts", DISASTERS, "--max-risk", 0.34)
    assert fewer.code == 3
    assert "release s2 with 0 decimals instead (--decimals 0)" in " ".join(
        fewer.out.lower().split()
    )
    assert discreet("counts", DISASTERS, "--max-risk", 0.34, "--decimals", 0).code == 0
    told_so = json.loads(discreet("counts", DISASTERS, "--max-risk", 0.34, "--json").out)
    broken = [one for one in told_so["verdict"]["rules"] if one["verdict"] == "broken"]
    assert [one["remedy"] for one in broken] == ["S2 with 0 decimals keeps the limit"] * len(broken)


def test_what_cannot_be_settled_has_its_own_code_and_says_what_to_give(discreet, monkeypatch):
    """Of counts that no draw reaches in time nothing is known: 4, and the option for more time."""
    monkeypatch.setattr(
        "discreet.count_tables.advice.holder_risk", lambda *_, **__: Unavailable("no time")
    )
    left = discreet("counts", DISASTERS, "--max-risk", 0.34, "--seconds", 5)
    assert left.code == 4
    assert "\nVerdict: undecided, so it may not go out yet\n" in left.out
    assert "--seconds 25" in left.out


def test_the_short_answer_leads_with_the_verdict(discreet):
    lines = discreet("counts", DISASTERS, "--max-risk", 0.2).out.splitlines()
    assert lines[4] == "Verdict: may not go out"
    assert len(lines) <= 24  # at 80 columns; some fifteen where sentences do not wrap
    text = "\n".join(lines)
    assert "discreet audit" in text
    assert "paper" not in text
    assert "paper" not in discreet("counts", DISASTERS, "--max-risk", 0.2, "--full").out


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
        (("--n", 51, "--s1", 0, "--s2", "2^0"), "--s1 must be above zero, got 0"),
        (("--n", 51, "--s1", 61, "--s2", "1"), "which may be either; write 2^0 for e^S2 = 1"),
        (("--n", 51, "--s1", 61, "--s2", "1e400"), "--s2 must be at most 192.74, which is log 61!"),
        (("--n", 51, "--s1", 61, "--s2", "300.5"), "a product such as 2^20*3^7 is e^S2, a decimal"),
        (("--n", 51, "--s1", 61, "--s2", "21,55"), "--s2 must be a factorisation of e^S2 such as"),
        (("--n", 10**30, "--s1", 61, "--s2", "2^20*3^7"), "--n must be below 2**53"),
        (("--n", 51, "--s1", 10**30, "--s2", "2^20*3^7"), "--n must be at least"),
        (("--n", 51, "--s1", 61, "--s2", f"2^{10**20}"), "S2 is too large for this total"),
        ((f"0:{10**25},1:4",), "n must be below 2**53"),
        ((f"{10**25}:2,1:4",), "values must be at most 1,000,000"),
        (("0:5",), "S1 must be above zero, got 0; all observations are zero"),
        (("",), "the table must be of at least one observation, got none"),
        (("0:0",), "the table must be of at least one observation, got none"),
        (("0:5,1:-2",), "counts must be zero or more, got -2 at value 1"),
        (("a:5",), "values must be whole numbers, got 'a'"),
        (("15,20,9",), "counts must be value:count, separated by commas, got '15'"),
        (("nofile.csv",), "file must be one that exists, got 'nofile.csv'"),
        ((*RELEASED, "--knows", "max=4,nozeros"), "--knows must be true of a table with these"),
        (
            (DISASTERS, "--knows", "max=4,zero=0"),
            "as what someone knows is, got 'zero=0' against the table's own count of value 0; leave",
        ),
        ((DISASTERS, "--knows", "4=3"), "got '4=3' against the table's own count of value 4;"),
        ((DISASTERS, "--knows", "max=3"), "got 'max=3' against the table's largest value;"),
        ((DISASTERS, "--knows", "n=1..9"), "'n=1..9' against the table's number of observations"),
        ((DISASTERS, "--knows", "increasing"), "'increasing' against the order of the table's"),
        ((DISASTERS, "--knows", "max=4,4=0"), "the known count of 4 must be above 0, since 4 is"),
        ((*RELEASED, "--knows", "0=15,1=20,2=9,3=5,4=1"), "--knows must be true of a table with"),
        ((DISASTERS, "--prior", "1,1,1"), "--prior must be given with --bayes"),
        ((DISASTERS, "--bayes", "--prior", "1,1"), "must be three numbers separated by commas"),
        ((DISASTERS, "--bayes", "--prior", "5,0,1"), "b of --prior must be above"),
        ((DISASTERS, "--bayes", "--prior", "0,0,1"), "a of --prior must be a finite number above"),
        ((DISASTERS, "--small", 0), "--small must be given with --max-risk"),
        ((DISASTERS, "--by", "x"), "--by must be given with a file"),
        ((DISASTERS, "--regress", "x"), "--regress must be given with --by or --sets"),
        ((DISASTERS, "--totals"), "--totals must be given with --by or --sets"),
        ((DISASTERS, "--knows", "foo"), "--knows must be max=J"),
        (("--n", 51, "--s1", 61, "--s2", "21.5533"), "--s2 must be an S2 that some 51 counts"),
        (("--n", 51, "--s1", 61, "--s2", "x"), "--s2 must be a factorisation of e^S2"),
        (("--n", 51, "--s1", 61), "--s2 must be given with --s1, got none"),
        (("--n", 51, "--s2", "2^3"), "--s1 must be given with --s2, got none"),
        (("--n", 51), "a table of counts must be given (or a FILE, --sets, or --s1 and --s2"),
        ((), "a table of counts must be given (or a FILE, --sets, or --s1 and --s2"),
        ((DISASTERS, "--n", 4), "--n must be given without a table"),
        ((*RELEASED, "--max-risk", 0.1), "--max-risk must be given with the table of counts"),
        ((*RELEASED, "--truncate"), "--truncate must be given with a decimal"),
        ((DISASTERS, "--max-risk", 3), "--max-risk must be between 0 and 1"),
        ((DISASTERS, "--measure", "truth"), "--measure must be given with --max-risk"),
        ((DISASTERS, "--truncate"), "--truncate must be given with --decimals"),
        ((DISASTERS, "--decimals", -1), "--decimals must be from 0 to 1000"),
        ((DISASTERS, "--seconds", 0), "--seconds must be a finite number above zero"),
        ((DISASTERS, "--column", "x"), "--column must be given with a file"),
        ((DISASTERS, "--report", "x.txt"), "--report must be a file that ends in .html or .pdf"),
        ((DISASTERS, "--n", 1, "--n", 2), "--n must be given once"),
    ],
)
def test_bad_input(discreet, arguments, part):
    assert part in discreet("counts", *arguments).complaint()


def test_an_untrue_thing_known_prints_no_count(discreet):
    said = discreet("counts", DISASTERS, "--knows", "max=4,zero=0").complaint()
    assert "15" not in said
    assert "max=4" not in said  # it is true


def test_shapes_begin_at_one_where_n_is_withheld(discreet):
    options = ("--withhold-n", "--knows", "decreasing", "--json")
    got = told(discreet("counts", "0:1,1:5,2:3,3:1", *options))
    assert got["knowledge"]["known"] == ["the counts are decreasing"]
    assert "order" in discreet("counts", "0:1,1:5,2:3,3:1", "--knows", "decreasing").complaint()


def test_files_of_no_use(discreet, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert "got an empty file" in discreet("counts", empty).complaint()
    header = tmp_path / "header.csv"
    header.write_text("x\n")
    assert "at least one record, got none" in discreet("counts", header).complaint()
    none = tmp_path / "none.csv"
    none.write_text("x,f\n1,0\n2,0\n")
    said = discreet("counts", none, "--column", "x", "--count", "f").complaint()
    assert "at least one count above 0" in said
    huge = tmp_path / "huge.csv"
    huge.write_text("x\n1\n123456789012345678901234567890\n")
    said = discreet("counts", huge).complaint()
    assert said == "column 'x' must be of values up to 1,000,000, got a larger one"
    zeros = tmp_path / "zeros.csv"
    zeros.write_text("x\n0\n0\n")
    assert "S1 must be above zero, got 0" in discreet("counts", zeros).complaint()
    for text in ("1.5", "-1", "one", "nan", "inf"):
        huge.write_text(f"x\n1\n{text}\n")
        said = discreet("counts", huge).complaint()
        assert said == "column 'x' must be of whole numbers from 0, got something else"


def test_hostile_column_names(discreet, tmp_path):
    name = 'a"b<script>alert(1)</script>\x1b[31m'
    file = tmp_path / "hostile.csv"
    file.write_text('"a""b<script>alert(1)</script>\x1b[31m"\n1\n2\n2\n0\n')
    page = tmp_path / "page.html"
    run = discreet("counts", file, "--column", name, "--report", page)
    assert run.code == 0
    assert "\x1b" not in run.out
    assert "<script" not in page.read_text(encoding="utf-8")
    assert "\n" not in discreet("counts", file, "--column", "x\ny").complaint()


def test_the_help_explains_s2(discreet):
    said = " ".join(discreet("counts", "--help").out.split())
    assert "2 to the power 20 times 3 to the power 7" in said
    assert "weights" not in said
    assert "Rows without a value: refuse them (default) or leave them out." in said


OFFICE = """format = 1
name = "office"
version = "2026"

[[rules]]
rule = "truth"
most = 0.36173
secret = true

[[rules]]
rule = "count_risk"
small = 2
most = 0.45
"""


@pytest.fixture
def office(tmp_path):
    path = tmp_path / "office.toml"
    path.write_text(OFFICE, encoding="utf-8")
    return path


def test_a_policy_judges_and_what_would_keep_it_is_tried(discreet, office):
    refused = discreet("counts", DISASTERS, "--policy", office)
    assert refused.code == 3
    said = " ".join(refused.out.split())
    assert (
        "Broken (office): an intruder gives the true table the probability 0.363, above the limit"
        in said
    )
    assert "Release S2 with 1 decimal instead (--decimals 1): every rule is then kept." in said
    kept = discreet("counts", DISASTERS, "--policy", office, "--decimals", 1)
    assert kept.code == 0
    assert "Verdict: may go out" in kept.out


def test_all_policies_must_hold_and_the_options_too(discreet, office, tmp_path):
    other = tmp_path / "other.toml"
    text = OFFICE.replace('"office"', '"other"').replace("0.36173", "0.9").replace("0.45", "0.3")
    other.write_text(text, encoding="utf-8")
    run = discreet(
        "counts", DISASTERS, "--policy", office, "--policy", other, "--max-risk", 0.5, "--json"
    )
    assert run.code == 3
    verdict = json.loads(run.out)["verdict"]
    assert [one["name"] for one in verdict["policies"]] == ["office", "other"]
    told = [(one.get("policy", ""), one["rule"], one["verdict"]) for one in verdict["rules"]]
    assert told == [
        ("", "best_guess", "kept"),
        ("", "count_risk", "kept"),
        ("office", "truth", "broken"),
        ("office", "count_risk", "kept"),
        ("other", "truth", "kept"),
        ("other", "count_risk", "broken"),
    ]
    assert discreet("counts", DISASTERS, "--policy", other, "--decimals", 1).code == 3


def test_policies_that_cannot_judge_counts(discreet, office):
    said = discreet("counts", DISASTERS, "--policy", "cms").complaint()
    assert said.startswith("--policy must be about counts, got 'cms', which is about tables")
    said = discreet("counts", DISASTERS, "--policy", "nothing").complaint()
    assert said.startswith("--policy must be the name of a policy or a file, got 'nothing'")
    said = discreet("counts", DISASTERS, "--policy", office, "--policy", office).complaint()
    assert said == "--policy must be each named once, got 'office' twice"
    said = discreet("counts", *RELEASED, "--policy", office).complaint()
    assert said.startswith("--policy must be given with the table of counts")
    office.write_text(OFFICE.replace("most = 0.45", "mots = 0.45"), encoding="utf-8")
    said = discreet("counts", DISASTERS, "--policy", office).complaint()
    assert "at office.toml, line 13" in said


def test_a_secret_number_is_in_no_page_for_readers_outside(discreet, office, tmp_path):
    inside, outside = tmp_path / "in.html", tmp_path / "out.html"
    options = ("--policy", office, "--report", inside, "--external-report", outside)
    assert discreet("counts", DISASTERS, *options).code == 3
    assert "0.36173" in inside.read_text(encoding="utf-8")
    text = outside.read_text(encoding="utf-8")
    assert "0.36173" not in text
    assert "do not allow it" in text
    said = " ".join(text.split())
    assert "There is a limit on how sure an intruder may be of the true table; its number" in said
    assert "has a probability of at most 0.45." in said  # which is public
