"""Alone and breaking 2-anonymity are two things where counts are fractions, and said so."""

from functools import partial

import pandas as pd
import pytest
from tests.unit.report.showing import page_words, terminal_lines

from discreet.flows import assess as module
from discreet.report.assess.document import assess_document
from discreet.report.assess.external import external_document
from discreet.report.assess.json import assessment_json
from discreet.report.assess.words import (
    anonymity_meaning,
    anonymity_rows,
    cells_line,
    unavailable_models,
)

assess = partial(module.assess, models="sample_frequency")
FRAME = pd.DataFrame({"a": ["x", "x", "y", None], "b": ["p", "q", "p", "p"]})


def shown(found):
    return terminal_lines(assess_document(found), full=True)


def page(found):
    return page_words(assess_document(found))


def test_fractional_counts_tell_the_two_apart():
    found = assess(FRAME, ["a", "b"], missing="wildcard", missing_weight=0.5)
    assert anonymity_rows(found)[:2] == [
        ("matched by no other record", 1, 1),
        ("break 2-anonymity", 3, 3),
    ]
    assert "matched by no other record        1" in shown(found)
    assert "break 2-anonymity                 3" in shown(found)
    assert "so the count may lie between 1 and 2" in " ".join(shown(found).split())
    assert "1 record matched by no other record, 25.0 % of the file" in page(found)
    assert "3 records break 2-anonymity" in page(found)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"missing": "category"}, "alone in their cell"),
        ({"missing": "drop"}, "alone in their cell"),
        ({"missing": "wildcard"}, "matched by no other record"),
        ({"missing": "wildcard", "missing_weight": 0.0}, "matched by no other record in full"),
        ({"missing": "conservative"}, "matched by no other complete record"),
    ],
)
def test_words_for_being_alone(options, word):
    found = assess(FRAME, ["a", "b"], **options)
    assert word in anonymity_rows(found)[0][0]
    assert word in page(found)


def test_whole_counts_need_one_row():
    rows = anonymity_rows(assess(FRAME.dropna(), ["a", "b"], missing="wildcard"))
    assert [name for name, _, _ in rows] == [
        "break 2-anonymity (alone in their cell)",
        "break 3-anonymity",
        "break 5-anonymity",
    ]


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        (
            "wildcard",
            "3 complete cells occupied of 4 possible, and 1 combination that lacks a value",
        ),
        ("category", "4 cells occupied of 6 possible (missing counts as a level)"),
        ("drop", "3 cells occupied of 4 possible"),
    ],
)
def test_cells_that_are_possible(policy, line):
    found = assess(FRAME, ["a", "b"], missing=policy)
    assert cells_line(found) == line
    assert line in " ".join(shown(found).split())
    number, rest = line.split(" ", 1)
    assert f"{number} {rest}" in page(found)


@pytest.mark.parametrize("policy", ["wildcard", "conservative"])
def test_never_more_complete_cells_than_possible(policy):
    frame = pd.DataFrame({"a": [0, 1, None] * 27, "b": [0, 0, 0, 1, 1, 1, None, None, None] * 9})
    frame["c"] = [i // 9 % 3 if i // 9 % 3 < 2 else None for i in range(81)]
    found = assess(frame, ["a", "b", "c"], missing=policy)
    told = assessment_json(found)
    assert told["n_cells"] - told["n_incomplete_cells"] <= told["n_table_cells"] == 8


def test_records_of_one_incomplete_cell_are_counted_as_records():
    frame = pd.DataFrame({"a": [None] * 100 + ["x"] * 5, "b": ["p"] * 100 + ["q"] * 5})
    found = assess(frame, ["a", "b"], missing="conservative")
    assert anonymity_rows(found)[0] == ("matched by no other complete record", 100, 1)
    assert "100 records with a count of 1  a=(missing), b=p" in shown(found)
    assert "1, 2, 3, 4, 5, …" in shown(found)
    assert assessment_json(found)["riskiest"][0]["records"] == 100


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "conservative"},
        {"missing": "wildcard"},
        {"missing": "wildcard", "missing_weight": 0.0},
    ],
)
def test_whole_counts_are_not_said_to_be_parts(options):
    found = assess(FRAME, ["a", "b"], **options)
    assert "a missing value matches other values" in anonymity_meaning(found)
    assert "in part" not in anonymity_meaning(found)


def test_models_of_one_reason_share_a_line():
    models = ["sample_frequency", "ewens", "pitman"]
    found = module.assess(FRAME, ["a", "b"], missing="wildcard", population=50, models=models)
    ((_, names),) = unavailable_models(found).items()
    assert names == ["ewens", "pitman"]
    told = " ".join(shown(found).split())
    assert told.count("not available: where missing values match anything") == 1
    assert "ewens and pitman are not available: where missing values match anything" in told
    assert page(found).count("not available: where missing values match anything") == 1
    assert "ewens and pitman are not available: where" in page(found)


EVERYBODY = pd.DataFrame(
    {
        "id": [f"P{i:03}" for i in range(300)],
        "age": [20 + i % 40 for i in range(299)] + [95],
        "sex": [i % 3 == 0 for i in range(300)],
    }
)
SPEAKS_OF_A_SAMPLE = ("sample", "estimate", "population unique", "Bayes", "in the population")


def test_of_everybody_nothing_is_said_of_samples_or_estimates():
    options = {"whole_population": True, "max_risk": 0.1, "scenarios": {"near": ["age"]}}
    found = module.assess(EVERYBODY, ["age", "sex"], **options)
    for told in (shown(found), page(found), page_words(external_document(found))):
        told = told.replace("nothing is estimated", "")
        assert [word for word in SPEAKS_OF_A_SAMPLE if word in told] == []
    assert "The file is everybody, so all of this was counted" in page(found)
    assert "records alone from" in page(found)


def test_with_a_file_of_the_population_nothing_is_said_of_estimates():
    found = module.assess(EVERYBODY[::2], ["age", "sex"], population_file=EVERYBODY)
    for told in (shown(found), page(found)):
        told = told.replace("nothing is estimated", "").replace("nothing to estimate", "")
        assert "estimate" not in told
        assert "population uniques among" not in told
        assert "records alone in the population" in told


@pytest.mark.parametrize("carry", [["id"], ["id", "sex"]])
def test_the_riskiest_are_shown_with_what_is_carried_inside_and_never_outside(carry):
    found = module.assess(EVERYBODY, ["age"], whole_population=True, carry=carry)
    first = found.riskiest[0]
    assert first.rows == (300,)
    assert first.carried[0][0] == "P299"
    assert "Riskiest: record" in shown(found)
    assert "300 [id P299" in shown(found)
    assert "P299" in page(found)
    assert assessment_json(found)["riskiest"][0]["carried"]["id"] == ["P299"]
    assert "P299" not in page_words(external_document(found))
    for cell in found.riskiest:
        assert [held[0] for held in cell.carried] == [f"P{row - 1:03}" for row in cell.rows]
