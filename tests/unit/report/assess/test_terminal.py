"""The terminal: readable at 80 columns, and nothing in the data can act on it."""

from functools import partial

import pandas as pd
import pytest
from tests.unit.report.showing import terminal_lines

from discreet.flows import assess as module
from discreet.report.assess.document import assess_document
from discreet.report.assess.words import missing_line, population_line, scope
from discreet.report.render_terminal import WIDTH

assess = partial(module.assess, models="sample_frequency")


def shown(frame, keys, **options):
    return terminal_lines(assess_document(assess(frame, keys, **options)), full=True)


def test_the_main_figures_are_there():
    text = shown(pd.DataFrame({"town": ["x"] * 40 + ["Unterwald"]}), ["town"])
    assert "41 records, population not known, 1 key" in text
    assert "2 cells occupied of 2 possible" in text
    assert "break 2-anonymity (alone in their cell)" in text
    assert "2.4 %" in text
    assert "town=Unterwald" in next(line for line in text.splitlines() if line.startswith("  41  "))
    assert "Is this file everybody" in text


@pytest.mark.parametrize("n", [1, 3, 25, 90])
def test_no_line_is_wider_than_the_page(n):
    names = [f"a rather long name of key number {j}" for j in range(n)]
    frame = pd.DataFrame([[f"level {i}" for _ in names] for i in range(5)], columns=names)
    assert max(len(line) for line in shown(frame, names).splitlines()) <= WIDTH


@pytest.mark.parametrize(
    "hostile",
    ["[bold]x[/bold]", "[/]", ":smile:", "\x1b[2Jx", "a\nb", "a\rb", "\x07", "[link=file:///]"],
)
def test_levels_and_names_are_shown_as_they_are_or_escaped(hostile):
    text = shown(pd.DataFrame({hostile: [hostile, "x", "y", "y"]}), [hostile])
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\r" not in text
    if hostile.isprintable():
        assert f"{hostile}={hostile}" in text.replace("\n", "")


@pytest.mark.parametrize(
    ("weights", "population", "line"),
    [
        (None, None, "population not known"),
        (None, 1234567, "population of 1,234,567 (given)"),
        ([600.5, 600], None, "population of 1,200 (the sum of the weights)"),
        ([0.1, 0.2], None, "population of 0.3 (the sum of the weights)"),
        ([0.1, 0.2], 5, "population of 5 (given)"),
    ],
)
def test_where_the_population_comes_from(weights, population, line):
    frame = pd.DataFrame({"a": [1, 2]} | ({"w": weights} if weights else {}))
    found = assess(frame, ["a"], weight="w" if weights else None, population=population)
    assert population_line(found) == line


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        ("category", "2 records lack a key value (policy category: a missing value counts as"),
        ("drop", "2 records lack a key value (policy drop: records with a missing key value"),
    ],
)
def test_what_was_missing(policy, line):
    frame = pd.DataFrame({"a": [1, None, None]})
    assert missing_line(assess(frame, ["a"], missing=policy)).startswith(line)
    whole = assess(frame.dropna(), ["a"], missing=policy)
    assert missing_line(whole) == f"no key value is missing (policy: {policy})"


def test_a_table_beyond_all_floats():
    found = assess(pd.DataFrame({"a": [1, 2]}), ["a"], cells=2**1100)
    assert "2 cells occupied of about 10^331 possible" in next(iter(scope(found)))


def test_pairs_that_take_long_are_said_so(monkeypatch):
    monkeypatch.setattr("discreet.survey.contributions.PAIR_WORK", 0)
    text = shown(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), ["a", "b"])
    assert "ask for all pairs" in text


SURVEY = pd.DataFrame({"age": [20 + i % 53 for i in range(400)], "sex": list("FM") * 200})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"population": 9000},
        {"whole_population": True},
        {"population": 9000, "max_risk": 0.01, "min_k": 5},
        {"population": 9000, "all_models": True},
    ],
)
def test_the_answer_stands_in_the_first_five_lines_and_all_in_about_fifteen(options):
    found = module.assess(SURVEY, ["age", "sex"], **options)
    lines = terminal_lines(assess_document(found)).splitlines()
    answer = "Verdict: " if "max_risk" in options else "population uniques"
    answer = "matches correctly" if "whole_population" in options else answer
    assert any(answer in line for line in lines[:5])
    assert len(lines) <= 22
    assert "--full" in lines[-1]


def test_the_question_about_the_population_is_put_once():
    found = module.assess(SURVEY, ["age", "sex"], all_models=True)
    text = " ".join(terminal_lines(assess_document(found)).split())
    assert text.count("Is this file everybody (all patients of a hospital, say)") == 1
    assert text.count("--whole-population") == 1
    assert "not available" not in text


def test_row_numbers_of_the_riskiest_records_stand_in_the_short_view():
    odd = pd.concat([SURVEY, pd.DataFrame({"age": [99], "sex": ["X"]})])
    found = module.assess(odd, ["age", "sex"], population=9000)
    assert found.riskiest[0].rows == (401,)
    assert "Riskiest: records 401 (" in terminal_lines(assess_document(found))
