"""Policies side by side: every table has a row for each policy, with or without figures."""

import io
import json
from dataclasses import replace

import pandas as pd
from rich.console import Console

from discreet.flows.assess import compare_policies
from discreet.report.comparison import comparison_json, comparison_sections, print_comparison
from discreet.survey.attributes.sensitive import NO_VALUE

FRAME = pd.DataFrame(
    {
        "a": ["x", "x", "y", None, "z"],
        "b": [1, 1, 2, 2, None],
        "s": ["p", "q", "p", "q", "q"],
        "h": [1, 1, 2, 2, 3],
    }
)


def test_alone_and_every_k():
    (main,) = comparison_sections(compare_policies(FRAME, ["a", "b"], missing_weight=0.5))
    assert main.header == ("policy", "records", "cells", "alone", "break 2", "break 3", "break 5")
    rows = {row[0]: row[1:] for row in main.rows}
    assert rows == {
        "wildcard": ("5", "4", "0", "2", "5", "5"),
        "conservative": ("5", "4", "2", "2", "5", "5"),
        "category": ("5", "4", "3", "3", "5", "5"),
        "drop": ("3", "2", "1", "1", "3", "3"),
        "error": ("–", "–", "–", "–", "–", "–"),
    }
    assert any(note.startswith("error: keys must be known") for note in main.notes)


def test_everything_asked_for_is_on_the_terminal_and_in_json():
    found = compare_policies(
        FRAME,
        ["a", "b"],
        scenarios={"one": ["a"]},
        sensitive=["s"],
        household="h",
        suda=2,
        models=["sample_frequency"],
    )
    titles = [section.title for section in comparison_sections(found)]
    assert titles == [
        "The same file under each policy for missing values",
        "Model sample_frequency under each policy",
        "Scenario one under each policy",
        "Sensitive variable s under each policy",
        "Households under each policy",
        "Special uniques (SUDA) under each policy",
    ]
    stream = io.StringIO()
    print_comparison(Console(file=stream, width=80, highlight=False, markup=False), found)
    text = stream.getvalue()
    assert all(title in text for title in titles)
    assert max(map(len, text.splitlines())) <= 80
    told = json.loads(json.dumps(comparison_json(found), allow_nan=False))
    assert told["incomplete_records"] == 2
    for name in ("wildcard", "conservative", "category", "drop"):
        figures = told["missing"][name]
        assert {"models", "scenarios", "sensitive", "households", "suda"} <= set(figures)
        assert figures["anonymity"]["2"] >= figures["sample_uniques"] or name == "wildcard"
    assert "unavailable" in told["missing"]["error"]


def test_a_reason_is_told_once_for_all_policies_it_holds_for():
    found = compare_policies(FRAME, ["a", "b"], models=["sample_frequency"])
    model = list(comparison_sections(found))[1]
    assert len(model.notes) == 1
    assert model.notes[0].startswith("wildcard and conservative: ")


def test_a_sensitive_variable_without_values_says_why_under_each_policy():
    found = compare_policies(FRAME, ["a", "b"], sensitive=["s"])
    own = found.policies["drop"]
    (figures,) = own.sensitive
    none = tuple(replace(f, worst=NO_VALUE, records=0) for f in figures.figures)
    lost = replace(own, sensitive=(replace(figures, figures=none),))
    changed = replace(found, policies={**found.policies, "drop": lost})
    section = list(comparison_sections(changed))[1]
    assert {row[0]: set(row[1:]) for row in section.rows}["drop"] == {"–"}
    assert f"drop: not available, {NO_VALUE.reason}" in section.notes
