"""A demonstration with the truth beside the estimates."""

import json

import pytest
from tests.unit.report.showing import page_words, terminal_words

from discreet.synthetic import demonstration as module
from discreet.synthetic.demo_report import demo_document, demo_json


@pytest.fixture
def shown(tmp_path, monkeypatch):
    assess = vars(module)["assess"]
    monkeypatch.setattr(
        module, "assess", lambda *a, **o: assess(*a, **(o | {"models": "sample_frequency"}))
    )
    return module.demonstrate(tmp_path, size=2000, sample=100, seed=3)


def test_the_truth_stands_beside_the_figures(shown):
    text = terminal_words(demo_document(shown), has_page=True)
    assert "made-up population of 2,000 (seed 3)" in text
    assert "And the truth, since this population is known in full" in text
    assert f"{shown.truth.sample_uniques} records that are alone in the survey" in " ".join(
        text.split()
    )


def test_the_truth_stands_in_the_report_too(shown):
    page = page_words(demo_document(shown))
    assert "And the truth, since this population is known in full" in page
    assert page.count(" truth ") >= 1


def test_its_json(shown):
    found = json.loads(json.dumps(demo_json(shown), allow_nan=False))
    assert found["seed"] == 3
    assert found["truth"]["population_size"] == 2000
    assert found["truth"]["sample_uniques"] == found["sample_uniques"]
    assert found["truth"]["population_uniques"] <= found["sample_uniques"]
