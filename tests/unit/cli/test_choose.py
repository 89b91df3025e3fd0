"""The command `choose`: text, JSON, page, files, exit codes, bad input."""

import json
from itertools import product

import numpy as np
import pytest

from discreet.data.published.reading import read_published

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
FEW = ("--masks", "margins[a b],margins[a b][b c],rounding:base=3,random", "--seed", "1")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    return path


def arguments(table, *more):
    cap = () if {"--max-risk", "--min-width"} & set(more) else ("--max-risk", "0.5")
    return ("choose", table, "--count", "n", *cap, *more)


def test_text_fits_80_columns_and_decides(discreet, table):
    found = discreet(*arguments(table, "--full"))
    assert found.code == 0, found.err
    assert max(map(len, found.out.splitlines())) <= 80
    assert "Verdict: release" in found.out
    assert "Risk and worth of what could be released" in found.out
    assert "nothing" in found.out


def test_the_answer_stands_first_and_is_short(discreet, table):
    lines = discreet(*arguments(table)).out.splitlines()
    assert lines[4].startswith("Verdict: release")
    assert "What now" in lines
    assert len(lines) <= 27  # five candidates with their header among them
    assert not any("Whom it serves" in line for line in lines)


def test_json_names(discreet, table):
    found = json.loads(discreet(*arguments(table, "--json", *FEW)).out)
    assert found["verdict"]["verdict"] == "kept"
    assert found["decision"] == "release nothing"  # what is within is worth no more
    assert {"candidates", "chosen", "frontier", "max_risk", "measure", "users"} <= set(found)
    titles = [one["title"] for one in found["candidates"]]
    assert titles == ["nothing", "[a b]", "[a b][b c]", "rounded at random to 3"]
    random = found["candidates"][3]
    assert random["mask"] == "rounding"
    assert random["parameters"]["base"] == 3
    assert random["seed"] == 1
    assert set(random["risks"]) == {"multinomial", "in [a b]"}  # and the worst of its sums
    assert random["users"]["counts"]["utility"] == -random["users"]["counts"]["loss"]
    assert sum(one["is_chosen"] for one in found["candidates"]) == 1


def test_min_width_is_a_cap_on_bounds(discreet, table):
    wide, cap = (
        json.loads(discreet(*arguments(table, "--json", *FEW, *more)).out)
        for more in (("--min-width", 2), ("--measure", "bounds", "--max-risk", "-2"))
    )
    assert wide == cap
    assert wide["min_width"] == 2
    assert wide["chosen"]["risk"]["value"] <= -2


def test_exit_3_where_only_nothing_is_within_the_cap(discreet, table):
    found = discreet(*arguments(table, "--min-width", 8, *FEW))
    assert found.code == 3
    assert "Verdict: release nothing" in found.out
    assert "No release is within the limit of −8. The closest is " in " ".join(found.out.split())


def test_exit_3_where_even_nothing_exceeds_the_cap(discreet, table):
    found = discreet(*arguments(table, "--min-width", 1000, *FEW, "--json"))
    assert found.code == 3
    answer = json.loads(found.out)
    assert "chosen" not in answer
    assert answer["verdict"]["verdict"] == "broken"
    assert answer["decision"] == "release nothing; the limit is exceeded even so"


def test_page(discreet, table, tmp_path):
    page = tmp_path / "ru.html"
    found = discreet(*arguments(table, *FEW, "--report", page))
    assert found.code == 0
    assert f"written: {page}" in found.err
    text = page.read_text()
    assert "<svg" in text
    assert "<script" not in text
    assert "Risk against worth" in text


def test_write(discreet, table, tmp_path):
    folder = tmp_path / "out"
    printed = discreet(*arguments(table, "--masks", "margins[a b][c]", "--write", folder))
    assert printed.code == 3  # [a b] has counts of 1 and 2
    assert not folder.exists()
    found = discreet(*arguments(table, "--masks", "margins[a][c]", "--write", folder))
    assert found.code == 0, found.err
    assert sorted(path.name for path in folder.iterdir()) == [
        "record.internal.json", "table_1_a.csv", "table_2_c.csv"
    ]  # fmt: skip
    assert (folder / "table_2_c.csv").read_text() == "c,count\np,6\nq,7\n"
    again = discreet(*arguments(table, "--write", folder))
    assert "--write must be a new or empty folder" in again.complaint()


def test_write_in_other_formats(discreet, table, tmp_path):
    folder = tmp_path / "out"
    typed = arguments(table, "--masks", "margins[a][c]", "--write", folder)
    found = discreet(*typed, "--format", "px,json-stat2,xlsx,csv")
    assert found.code == 0, found.err
    assert sorted(path.name for path in folder.iterdir()) == [
        "record.internal.json",
        *(f"table_1_a.{one}" for one in ("csv", "json", "px", "xlsx")),
        *(f"table_2_c.{one}" for one in ("csv", "json", "px", "xlsx")),
    ]
    assert (folder / "table_2_c.csv").read_text() == "c,count\np,6\nq,7\n"
    for ending in ("json", "px", "xlsx"):
        (read,) = read_published(folder / f"table_2_c.{ending}")
        assert (read.variables, read.labels, read.printed) == (("c",), (("p", "q"),), ("6", "7"))
    record = json.loads((folder / "record.internal.json").read_text())
    assert record["tables"][1]["file"] == "table_2_c.px"
    assert record["tables"][1]["also"] == ["table_2_c.json", "table_2_c.xlsx", "table_2_c.csv"]


def test_formats_that_are_none(discreet, table, tmp_path):
    typed = arguments(table, "--masks", "margins[a][c]", "--write", tmp_path / "out")
    message = "--format must be one of csv, xlsx, json-stat2, px, got 'ods'"
    assert message in discreet(*typed, "--format", "csv,ods").complaint()
    again = discreet(*typed, "--format", "csv,csv")
    assert "--format must be different formats, got csv, csv" in again.complaint()
    alone = discreet(*arguments(table, "--format", "csv"))
    assert "--format must be given with --write, got none" in alone.err
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_where_nothing_is_released(discreet, table, tmp_path):
    folder = tmp_path / "out"
    found = discreet(*arguments(table, *FEW, "--min-width", 8, "--write", folder))
    assert found.code == 3
    assert "nothing was written" in found.err
    assert not folder.exists()


def test_requests_and_what_is_out(discreet, table):
    found = json.loads(
        discreet(
            *arguments(table, "--json", "--masks", "margins[b],margins[c]", "--out", "a",
                       "--request", "b=2", "--request", "c", "--max-risk", "1")
        ).out
    )  # fmt: skip
    assert found["out"] == [["a"]]
    assert found["requests"] == [{"margin": ["b"], "weight": 2.0}, {"margin": ["c"], "weight": 1.0}]
    worths = [one["worth"]["value"] for one in found["candidates"]]
    assert worths == pytest.approx([0, 2 / 3, 1 / 3])
    assert found["chosen"]["title"] == "[b]"


def test_users_and_intruders(discreet, table):
    found = json.loads(
        discreet(
            *arguments(table, "--json", *FEW, "--user", "fit=2", "--user", "counts", "--intruder",
                       "uniform")
        ).out
    )  # fmt: skip
    assert {name: one["weight"] for name, one in found["users"].items()} == {"fit": 2, "counts": 1}
    assert found["intruders"] == ["uniform"]


def test_the_seed_fixes_everything(discreet, table):
    runs = [
        discreet(*arguments(table, "--json", *FEW[:2], "--seed", seed, "--seconds", 1000)).out
        for seed in (4, 4, 5)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_one_variable_and_no_small_cell(discreet, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,n\nx,10\ny,20\n")
    found = discreet(*arguments(path, "--max-risk", "0", "--masks", "margins,rounding:base=5"))
    assert found.code == 0
    assert "No cell has a count from 1 to 2" in found.out
    assert "Verdict: release [a]" in found.out


def test_many_variables(discreet, tmp_path):
    rng = np.random.default_rng(2)
    names = list("abcde")
    cells = np.indices((2,) * 5).reshape(5, -1).T
    lines = [
        ",".join(map(str, [*cell, n])) for cell, n in zip(cells, rng.poisson(4, 32), strict=True)
    ]
    path = tmp_path / "five.csv"
    path.write_text("\n".join([",".join([*names, "n"]), *lines]) + "\n")
    asked = ("--min-width", 2, "--masks", "margins", "--seconds", 20, "--full")
    found = discreet(*arguments(path, *asked))
    assert found.code == 0, found.err
    assert "the margins that were" in found.out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--max-risk", "0.5", "--min-width", "2"), "--max-risk or --min-width must be given, one"),
        (("--max-risk", "2"), "--max-risk must be from 0 to 1 for cells, got 2"),
        (
            ("--max-risk", "3", "--measure", "bounds"),
            "a least width of 3 (--min-width) asks for bounds so wide",
        ),
        (("--min-width", "-1"), "--min-width must be at least 0, got -1"),
        (("--min-width", "2", "--measure", "cells"), "--min-width must be given with --measure"),
        (("--min-width", "2", "--intruder", "uniform"), "--intruders must be given with --measure"),
        (("--intruder", "dirichle"), "--intruders must be one of multinomial, dirichlet, uniform"),
        (("--masks", "supression"), "--masks must be one of"),
        (("--masks", "statistics"), "table must be of one variable whose levels are counts"),
        (("--masks", "rounding:base=1"), "base must be a whole number from 2"),
        (("--masks", "margins[a d]"), "variables named must be those of the table, got 'd'"),
        (("--user", "count"), "--user must be one of counts"),
        (("--user", "counts=-1"), "must be a name and, after '=', a weight above 0"),
        (("--user", "counts", "--user", "counts"), "--user must be given once for each user"),
        (("--request", "a=x"), "must be variables and, after '=', a weight above 0"),
        (("--request", "d"), "variables named must be those of the table, got 'd'"),
        (("--request", "a", "--out", "a,b"), "--request must be margins that are not out already"),
        (("--out", "e"), "variables named must be those of the table, got 'e'"),
        (("--seconds", "0"), "--seconds must be above 0"),
        (("--small", "0"), "--small must be at least 1"),
        (("--confidence", "1"), "--confidence must be from 0 to below 1"),
        (("--report", "x.txt"), "--report must be a file that ends in .html or .pdf"),
    ],
)
def test_bad_input(discreet, table, more, says):
    assert says in discreet(*arguments(table, *more)).complaint()


def test_a_cap_must_be_given(discreet, table):
    found = discreet("choose", table, "--count", "n")
    assert "--policy, --max-risk or --min-width must be given, got none" in found.complaint()


def test_an_empty_table(discreet, tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("a,n\nx,0\n")
    assert discreet(*arguments(path)).complaint()


def test_the_seed_is_new_each_time_unless_given(discreet, table):
    masks = ("--masks", "rounding:base=3,random", "--json")
    seeds = {json.loads(discreet(*arguments(table, *masks)).out)["seed"] for _ in range(2)}
    assert len(seeds) == 2


def test_the_command_to_write_carries_the_seed_wherever_one_had_a_part(discreet, table):
    exact = ("--masks", "margins[a],rounding:base=3", "--max-risk", "1")
    assert "--seed" not in discreet(*arguments(table, *exact)).out
    drawn = (*exact[:1], exact[1] + ",rounding:base=3,random", *exact[2:])
    assert "--seed" in discreet(*arguments(table, *drawn)).out
    assert discreet(*arguments(table, *drawn, "--seed", 7)).out.count("--seed") == 1


def test_the_internal_report_stays_out_of_the_folder_to_publish(discreet, table, tmp_path):
    (tmp_path / "w").mkdir()
    more = ("--write", tmp_path / "w", "--report", tmp_path / "w" / "r.html")
    found = discreet(*arguments(table, *FEW, *more))
    assert found.code == 2
    assert "--report must be outside the folder of --write" in found.err
    assert list((tmp_path / "w").iterdir()) == []


def test_the_weakness_of_the_usual_intruder_is_said(discreet, table):
    said = " ".join(discreet(*arguments(table, *FEW, "--full")).out.split())
    assert "Try --intruders dirichlet,multinomial" in said
    both = discreet(*arguments(table, *FEW, "--full", "--intruder", "dirichlet,multinomial")).out
    assert "Try --intruder" not in " ".join(both.split())
    bounds = json.loads(discreet(*arguments(table, *FEW, "--min-width", 1, "--json")).out)
    assert "hint" not in bounds


def test_named_tables_are_one_set_with_what_is_out(discreet, tmp_path):
    file, tree, folder = (tmp_path / name for name in ("persons.csv", "tree.csv", "out"))
    towns, ages = ("x1", "x2", "y1", "y2"), ("0", "5", "12")
    rows = [f"{r},{a},{n}" for n, (r, a) in enumerate(product(towns, ages), start=3)]
    file.write_text("\n".join(["region,age,n", *rows]) + "\n")
    leaves = "".join(f"{r},{r[0].upper()},all\n" for r in towns)
    tree.write_text(f"town,county,country\n{leaves}")
    given = ("--count", "n", "--tree", f"region={tree}", "--tables", "region:tree(county)+total")
    more = ("--tables", "region:tree(all) | age=0-9", "--out", "age:bands(10)", "--out", "region")
    asked = ("--masks", "margins", "--max-risk", 1, "--seed", 1)
    found = discreet("choose", file, *given, *more, *asked, "--write", folder, "--json")
    assert found.code == 0
    told = json.loads(found.out)
    assert told["tables"] == ["region:tree(county)+total", "region:tree(all) | age=0-9"]
    assert told["out"] == ["age:bands(10)", ["region"]]
    assert (folder / "table_2_region.csv").read_text().splitlines()[:2] == [
        "age,region,count",
        "0-9,x1,7",
    ]


def test_a_table_that_cannot_be_is_one_clear_line(discreet, table):
    found = discreet(*arguments(table), "--tables", "aa:bands(5)")
    assert found.code == 2
    assert "did you mean" in found.err or "variables named must be" in found.err
