"""The command `audit`: text, JSON, page, sequences, bad input, large tables."""

import html
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

ROWS = """a,b,c,n
x,u,p,3
x,u,q,1
x,v,p,0
x,v,q,2
y,u,p,2
y,u,q,4
y,v,p,1
y,v,q,0
"""
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    return path


def arguments(table, *more):
    return ("audit", table, "--count", "n", "--release", "a,b", "--release", "b,c", *more)


def test_text_fits_80_columns_and_speaks_plainly(discreet, table):
    asked = arguments(table, "--target", "a", "--population", 100, "--sequence", "--full")
    found = discreet(*asked)
    assert found.code == 0
    assert max(map(len, found.out.splitlines())) <= 80
    assert "all tables consistent with what was released" in found.out
    assert "What each release added" in found.out


def test_the_answer_stands_first_and_is_short(discreet, table):
    """The title, two lines of scope, then the verdict or what stands out; some 15 lines in all."""
    plain = discreet(*arguments(table)).out.splitlines()
    assert plain[4] == "In short"
    judged = discreet(*arguments(table, "--max-risk", 0.2)).out.splitlines()
    assert judged[4] == "Verdict: may not go out"
    assert max(len(plain), len(judged)) <= 20
    assert "Small cells (confidential)" not in "\n".join(plain)
    full = discreet(*arguments(table, "--max-risk", 0.2, "--full")).out
    assert "Small cells (confidential)" in full


def test_json_names(discreet, table):
    found = json.loads(discreet(*arguments(table, "--json")).out)
    assert {"cells", "n_tables", "risk", "models"} <= set(found)
    assert len(found["cells"]) == 8
    assert {"cell", "lower", "upper", "how"} <= set(found["cells"][0])
    for name in ("bounds", "true_table", "small_cells_identified"):
        assert isinstance(found["risk"][name]["value"], (int, float))
    assert found["models"]["[a b][b c]"]["value"] == pytest.approx(1.0)


def test_a_measure_that_cannot_be_had_says_why(discreet, table):
    found = json.loads(discreet(*arguments(table, "--json", "--posterior", "average")).out)
    assert set(found["risk"]["entropy"]) == {"unavailable", "unit"}
    assert sum(weight["value"] for weight in found["models"].values()) == pytest.approx(1.0)


def test_page(discreet, table, tmp_path):
    page = tmp_path / "audit.html"
    asked = arguments(table, "--report", page, "--posterior", "average")
    assert discreet(*asked).code == 0
    text = page.read_text()
    assert "What changed since the last release" not in text  # there was none before
    assert "<script" not in text
    assert text.count("<svg") >= 2
    assert discreet(*asked, "--sequence").code == 0
    assert "What changed since the last release" in page.read_text()


def test_the_seed_fixes_everything(discreet, table):
    runs = [
        discreet(*arguments(table, "--json", "--posterior", "no-highest-interaction", "--draws",
                            100, "--seconds", 1000, "--seed", seed)).out
        for seed in (4, 4, 5)
    ]  # fmt: skip
    assert runs[0] == runs[1] != runs[2]


def test_knowledge_narrows_the_bounds(discreet, table):
    wide, narrow = (
        json.loads(discreet(*arguments(table, "--json", *more)).out)
        for more in ((), ("--knows", "a=x,b=u,c=q:0..1"))
    )
    widths = [
        [cell["upper"] - cell["lower"] for cell in found["cells"]] for found in (wide, narrow)
    ]
    assert all(n <= w for w, n in zip(*widths, strict=True))
    assert sum(widths[1]) < sum(widths[0])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--release", "a,d"), "variables named must be those of the table, got 'd'"),
        (("--knows", "a=x:99"), "--knows must be true of the table"),
        (("--knows", "a=z:1"), "a must be one of its levels"),
        (("--posterior", "[a z]"), "--models must be made of the table's variables"),
        (("--small", "0"), "--small must be at least 1"),
        (("--confidence", "1"), "--confidence must be from 0 to below 1"),
        (("--seconds", "0"), "--seconds must be a finite number above 0"),
        (("--seconds", "inf"), "--seconds must be a finite number above 0"),
        (("--population", "5"), "--population must be at least the sample's 13"),
        (("--refused", "a,c"), "--max-risk must be given with --refused"),
        (("--refused", "a,b", "--max-risk", "0"), "--refused must be a margin that is not out"),
        (("--max-risk", "1.5"), "--max-risk must be from 0 to 1 for the measure cells"),
        (("--max-risk", "3", "--measure", "bounds"), "--max-risk must be 0 or below"),
        (("--measure", "table"), "--measure must be given with --max-risk"),
        (("--target", "zz"), "variables named must be those of the table"),
    ],
)
def test_bad_input(discreet, table, more, message):
    assert message in discreet(*arguments(table, *more)).complaint()


@pytest.mark.parametrize(
    ("policy", "limit", "code", "ruling"),
    [
        ("bounds", -4, 0, "kept"),  # 0 to 4 in every cell
        ("bounds", -5, 3, "broken"),
        ("table", 0.37, 0, "kept"),  # (36/70)^2 = 0.2645 of all three, but 1810/4900 = 0.3694 of
        ("table", 0.36, 3, "broken"),  # a and c, which b links
        ("cells", 1, 0, "kept"),  # 2 has probability 36/70 in every cell
        ("cells", 0.9, 3, "broken"),
    ],
)
def test_a_policy_judges_the_release_in_json_text_and_on_the_page(
    discreet, tmp_path, policy, limit, code, ruling
):
    twos, page = tmp_path / "twos.csv", tmp_path / "audit.html"
    rows = [f"{a},{b},{c},2" for a in "xy" for b in "uv" for c in "pq"]
    twos.write_text("\n".join(["a,b,c,n", *rows]) + "\n")
    options = ("--measure", policy, "--max-risk", limit)
    found = discreet(*arguments(twos, *options, "--json"))
    assert found.code == code
    verdict = json.loads(found.out)["verdict"]
    assert verdict["verdict"] == ruling
    assert verdict["rules"][0]["limit"] == abs(limit)  # of bounds: the least width
    text = discreet(*arguments(twos, *options, "--report", page))
    assert text.code == code
    said = verdict["rules"][0]["words"]
    assert said in " ".join(text.out.split())
    assert said in html.unescape(page.read_text())


def test_the_exit_code_follows_the_decision_where_draws_decide(discreet, table):
    options = ("--posterior", "[a b][b c][a c]", "--draws", 100, "--max-risk", 0.5, "--json")
    found = discreet(*arguments(table, *options))
    verdict = json.loads(found.out)["verdict"]
    assert found.code == {"kept": 0, "broken": 3, "undecided": 4}[verdict["verdict"]]


def test_bounds_are_signed_in_json_and_widths_for_people(discreet, table):
    risk = json.loads(discreet(*arguments(table, "--json")).out)["risk"]["bounds"]
    assert (risk["value"], risk["width"]) == (-1, 1)
    assert "width" in risk["unit"]
    text = discreet(*arguments(table, "--full")).out
    assert "1 count wide" in text
    assert "-1" not in text


def test_every_risk_in_json_has_its_unit(discreet, table):
    risk = json.loads(discreet(*arguments(table, "--json")).out)["risk"]
    assert all(figure["unit"] for figure in risk.values())
    assert risk["small_cells_identified"]["unit"] == "share of small cells"
    assert risk["expected_identified"]["unit"] == "cells"


def test_a_warning_stands_beside_the_probabilities(discreet, table):
    options = ("--posterior", "no-highest-interaction", "--draws", 40, "--seed", 1)
    found = json.loads(discreet(*arguments(table, *options, "--json")).out)
    warning = found["views"][found["view"]]["warning"]
    assert warning
    small = [cell for cell in found["cells"] if "probabilities" in cell]
    assert all(warning in cell["warning"] and cell["standard_errors"] for cell in small)
    assert all(warning in found["risk"][key]["warning"] for key in list(found["risk"])[2:])
    text = discreet(*arguments(table, *options, "--full")).out
    below = text[text.index("Small cells (") : text.index("How bad that is")]
    assert "These probabilities are uncertain" in below
    assert " ± " in below


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--sure", ".5"], "--targets must be given with --sure"),
        (
            ["--weights", "posterior_predictive"],
            "--model-weights must be given with several models",
        ),
        (["--model-prior", "saturated=1"], "--model-prior must be given with several models"),
        (["--posterior", "saturated", "--model-prior", "saturated=1"], "several models"),
        (["--vars", "gendr"], "--variables must be a column of"),
    ],
)
def test_no_option_without_effect_is_taken(discreet, table, options, complaint):
    assert complaint in discreet(*arguments(table, *options)).complaint()


def test_an_unknown_column_of_counts_is_named_by_its_option(discreet, table):
    found = discreet("audit", table, "--count", "cont", "--release", "race").complaint()
    assert "--count must be a column of" in found


def test_an_empty_table_and_one_of_one_cell(discreet, tmp_path):
    empty, one = tmp_path / "empty.csv", tmp_path / "one.csv"
    empty.write_text("a,b,n\nx,y,0\n")
    one.write_text("a,b,n\nx,y,2\n")
    assert (
        "at least one count"
        in discreet("audit", empty, "--count", "n", "--release", "a").complaint()
    )
    found = json.loads(discreet("audit", one, "--count", "n", "--release", "a", "--json").out)
    assert found["cells"][0]["lower"] == found["cells"][0]["upper"] == 2
    assert found["risk"]["bounds"]["value"] == 0


@pytest.mark.parametrize(("n_variables", "n_records"), [(16, 60), (53, 40)])
def test_large_sparse_tables_by_their_small_cells(discreet, tmp_path, n_variables, n_records):
    rng = np.random.default_rng(2)
    names = [f"v{i}" for i in range(n_variables)]
    rows = [",".join(map(str, row)) for row in rng.integers(0, 2, (n_records, n_variables))]
    path = tmp_path / "large.csv"
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    releases = [("--release", ",".join(names[i : i + 3])) for i in range(n_variables - 2)]
    found = json.loads(
        discreet("audit", path, "--json", *(part for pair in releases for part in pair)).out
    )
    assert len(found["cells"]) == n_records
    assert all("closed form" in cell["how"] for cell in found["cells"])
    for cell in found["cells"]:
        assert sum(cell["probabilities"].values()) == pytest.approx(1)
    assert found["views"][found["view"]]["how"] == "exact"


@pytest.mark.skipif(not DATA.exists(), reason="the shared tables are not here")
@pytest.mark.parametrize("name", [pytest.param("Titanic", marks=pytest.mark.soak), "UCBAdmissions"])
def test_shared_tables_are_stable_over_seeds(discreet, name):
    header = (DATA / f"{name}.csv").read_text().splitlines()[0].replace('"', "").split(",")
    margins = [("--release", ",".join(pair)) for pair in combinations(header[:-1], 2)]
    flat = [part for pair in margins for part in pair]
    runs = [
        json.loads(
            discreet("audit", DATA / f"{name}.csv", "--count", "Freq", *flat, "--json", "--seconds",
                     5, "--draws", 300, "--small", 8, "--seed", seed).out
        )
        for seed in (1, 2)
    ]  # fmt: skip
    for one, two in zip(runs[0]["cells"], runs[1]["cells"], strict=True):
        assert (one["lower"], one["upper"]) == (two["lower"], two["upper"])
        for q in set(one.get("probabilities", {})) & set(two.get("probabilities", {})):
            errors = [run.get("standard_errors", {}).get(q, 0.0) for run in (one, two)]
            gap = abs(one["probabilities"][q] - two["probabilities"][q])
            assert gap < 5 * np.hypot(*errors) + 1e-9


@pytest.mark.parametrize("confidence", ["0.5", "0.99999999", "0.9999999999", "0.999999999999999"])
def test_a_count_that_is_out_is_identified_at_every_confidence(discreet, tmp_path, confidence):
    file = tmp_path / "two.csv"
    file.write_text("a,b,count\na0,b0,1\na0,b1,5\na1,b0,7\na1,b1,9\n")
    found = discreet("audit", file, "--count", "count", "--release", "a,b", "--confidence",
                     confidence, "--max-risk", 0.1)  # fmt: skip
    assert found.code == 3


@pytest.mark.parametrize("half", [10**3, 10**6, 2 * 10**6, 10**9, 10**11])
def test_a_risk_at_its_limit_is_allowed_whatever_the_number_of_persons(discreet, tmp_path, half):
    file = tmp_path / "even.csv"
    file.write_text(f"a,b,n\nx,p,1\nx,q,0\ny,p,{half - 1}\ny,q,{half}\n")
    asked = ("audit", file, "--count", "n", "--persons", "--release", "a", "--release", "b")
    assert ruling_of_risk(discreet, *asked, "--measure", "table", "--max-risk", 0.5) == "kept"
    assert ruling_of_risk(discreet, *asked, "--measure", "table", "--max-risk", 0.4999) == "broken"
    assert ruling_of_risk(discreet, *asked, "--confidence", 0.5, "--max-risk", 0) == "kept"


def ruling_of_risk(discreet, *asked):
    """The ruling on the measure alone: the margins of these tables print a count of 1."""
    found = discreet(*asked, "--json")
    assert found.code == 3
    return json.loads(found.out)["verdict"]["rules"][0]["verdict"]


@pytest.mark.parametrize("quarter", [50, 500_000, 5_000_000, 10**9])
def test_a_probability_at_the_confidence_identifies_nobody(discreet, tmp_path, quarter):
    file = tmp_path / "quarter.csv"
    rows = f"x,p,0\nx,q,1\ny,p,{quarter}\ny,q,{3 * quarter - 1}\n"
    file.write_text("a,b,n\n" + rows)
    asked = ("audit", file, "--count", "n", "--persons", "--release", "a", "--release", "b",
             "--max-risk", 0)  # fmt: skip
    assert ruling_of_risk(discreet, *asked, "--confidence", 0.75) == "kept"
    assert ruling_of_risk(discreet, *asked, "--confidence", 0.7499) == "broken"


def test_the_choice_that_is_advised_is_about_the_same_variables(discreet, tmp_path):
    """A column that nothing tells of, such as a number of the person, is no variable of it."""
    file = tmp_path / "visits.csv"
    file.write_text(
        "person,ward,visits\n" + "".join(f"{i},{'ab'[i % 2]},{i % 5}\n" for i in range(22))
    )
    found = discreet("audit", file, "--release", "ward,visits", "--max-risk", "0.2")
    assert "--variables ward,visits` finds" in " ".join(found.out.split())
    named = ("--variables", "ward,visits")
    found = discreet("audit", file, "--release", "ward,visits", "--max-risk", "0.2", *named)
    assert " ".join(found.out.split()).count("--variables") == 1


def test_what_was_once_a_policy_is_an_error_that_names_the_measure(discreet, table):
    for command in (arguments(table, "--policy", "bounds"), ("choose", table, "--policy", "cells")):
        found = discreet(*command)
        assert found.code == 2
        assert "--policy must be the name of a policy or a file" in found.complaint()
        assert "an option of its own now (--measure)" in found.complaint()


def test_an_open_rule_of_a_policy_ends_with_4(discreet, tmp_path):
    """Only the data show that each ward has one level: zeros may be none of persons."""
    path = tmp_path / "wards.csv"
    rows = ["p,x,40", "q,x,30", "r,y,50", "s,y,20", "t,y,60"]
    path.write_text("\n".join(["ward,kind,n", *rows]) + "\n")
    asked = ("audit", path, "--count", "n", "--release", "ward,kind", "--policy", "ukllc")
    found = discreet(*asked)
    assert found.code == 4
    assert "--nested ward:kind" in " ".join(found.out.split())
    assert discreet(*asked, "--nested", "ward:kind").code == 0
    assert discreet(*asked, "--no-nesting").code == 3
