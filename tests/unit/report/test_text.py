"""The terminal: readable at 80 columns, and nothing in the data can act on it."""

import io
from functools import partial

import pandas as pd
import pytest
from rich.console import Console

from discreet.flows import assess as module
from discreet.report.text import WIDTH, missing_line, population_line, print_assessment, scope

assess = partial(module.assess, models="sample_frequency")


def shown(frame, keys, **options):
    stream = io.StringIO()
    console = Console(file=stream, width=WIDTH, highlight=False, emoji=False, markup=False)
    print_assessment(console, assess(frame, keys, **options))
    return stream.getvalue()


def test_the_main_figures_are_there():
    text = shown(pd.DataFrame({"town": ["x"] * 40 + ["Unterwald"]}), ["town"])
    assert "41 records, 1 key, 2 cells occupied of 2 possible" in text
    assert "break 2-anonymity (alone in their cell)" in text
    assert "2.4 %" in text
    assert "1 record: town=Unterwald" in text
    assert "population size unknown" in text


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
        (None, None, "population size unknown (give --population, or --weight to estimate it)"),
        (None, 1234567, "population of 1,234,567 (given)"),
        ([600.5, 600], None, "population of 1,200 (estimated by the sum of the weights)"),
        ([0.1, 0.2], None, "population of 0.3 (estimated by the sum of the weights)"),
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
