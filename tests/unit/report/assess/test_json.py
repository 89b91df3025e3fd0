"""The JSON of an assessment: stable names, exact integers, nothing that is no number."""

import json
from functools import partial

import pandas as pd
import pytest

from discreet.figures import Unavailable
from discreet.flows import assess as module
from discreet.report.assess.json import assessment_json, model_json

assess = partial(module.assess, models="sample_frequency")
FRAME = pd.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "y", None], "w": [1.5, 2.5, 3.0, 4.0]})


def as_json(*given, **options):
    found = assessment_json(assess(*given, **options))
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_names_of_the_design():
    found = as_json(FRAME, ["a", "b"], weight="w", k=[2, 3, 5])
    assert found["sample_size"] == 4
    assert found["population_size"] == 11
    assert found["weight_total"] == 11.0
    assert found["n_cells"] == 3
    assert found["n_table_cells"] == 9
    assert found["sample_uniques"] == 2
    assert found["size_indices"] == {"1": 2, "2": 1}
    assert found["anonymity"] == {"2": 2, "3": 4, "5": 4}
    model = found["models"]["sample_frequency"]
    assert set(model["expected_population_uniques"]) >= {"lower", "upper", "how"}
    assert model["expected_population_uniques"]["how"] == "certified bound"
    assert model["expected_correct_matches"]["value"] == 3
    assert "fit" in model
    recommended = found["recommended"]
    assert set(recommended) >= {"model", "why", "expected_population_uniques"}
    assert set(recommended["expected_population_uniques"]) >= {"lower", "upper", "how"}


def test_what_was_missing():
    found = as_json(FRAME, ["a", "b"], missing="drop")["missing"]
    assert found["policy"] == "drop"
    assert found["incomplete_records"] == 1
    assert found["dropped_records"] == 1
    assert found["by_key"] == {"a": 0, "b": 1}


def test_the_riskiest_cells_by_key_and_label():
    first = as_json(FRAME, ["a", "b"])["riskiest"][0]
    assert first["cell"] in ({"a": "2", "b": "y"}, {"a": "3", "b": "(missing)"})
    assert first["sample_count"] == 1
    assert "weight_total" not in first


def test_contributions_and_their_absence(monkeypatch):
    found = as_json(FRAME, ["a", "b"])["contributions"]
    assert {tuple(c["keys"]): c["uniques_left"] for c in found["keys"]} == {("a",): 2, ("b",): 2}
    assert [c["keys"] for c in found["pairs"]] == [["a", "b"]]
    monkeypatch.setattr("discreet.survey.contributions.PAIR_WORK", 0)
    assert "unavailable" in as_json(FRAME, ["a", "b"])["contributions"]["pairs"]


@pytest.mark.parametrize(("size", "shown"), [(50, 50), (50.5, 50.5)])
def test_the_size_of_the_population(size, shown):
    found = as_json(FRAME, ["a"], population=size)["population_size"]
    assert found == shown
    assert isinstance(found, type(shown))


def test_a_population_of_unknown_size_says_so():
    found = as_json(FRAME, ["a"])["population_size"]
    assert "--whole-population if the file is everybody" in found["unavailable"]


def test_huge_numbers_are_exact():
    assert as_json(FRAME, ["a"], cells=10**60 + 1)["n_table_cells"] == 10**60 + 1


def test_a_model_without_figures():
    assert model_json(Unavailable("no weights")) == {"unavailable": "no weights"}


@pytest.mark.parametrize("column", [[1], [1, 1], [None, None], ["\x00", "\u2028"]])
def test_extreme_files(column):
    assert as_json(pd.DataFrame({"a": column}), ["a"])["sample_size"] == len(column)
