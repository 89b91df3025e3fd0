"""discreet demo: a survey with the truth beside the estimates."""

import json

import pytest


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    from discreet.synthetic import demonstration as module

    assess = vars(module)["assess"]
    monkeypatch.setattr(
        module, "assess", lambda *a, **o: assess(*a, **(o | {"models": "sample_frequency"}))
    )


def test_json(discreet, tmp_path):
    folder = tmp_path / "demo"
    small = ("--population", 1500, "--sample", 80, "--seed", 9, "--folder", folder)
    run = discreet("demo", *small, "--json")
    assert run.code == 0
    found = json.loads(run.out)
    assert found["seed"] == 9
    assert found["truth"]["population_size"] == 1500
    names = {"survey.parquet", "risks.parquet", "report.html", "report-external.html"}
    assert {path.name for path in folder.iterdir()} == names
    assert all(line.startswith("written: ") for line in run.err.splitlines())
    again = discreet("demo", *small, "--json")
    assert again.out == run.out


def test_text(discreet, tmp_path):
    run = discreet("demo", "--population", 1500, "--sample", 80, "--folder", tmp_path)
    assert run.code == 0
    assert "And the truth" in run.out
    assert "And the truth" in (tmp_path / "report.html").read_text()
    assert "And the truth" not in (tmp_path / "report-external.html").read_text()
    assert "--report" not in run.out.partition("Riskiest")[2]


def test_a_sample_larger_than_the_population_is_told_by_the_option(discreet, tmp_path):
    run = discreet("demo", "--population", 1000, "--sample", 5000, "--folder", tmp_path)
    assert run.complaint().startswith("--sample must be from 1 to the population size 1000")


@pytest.mark.parametrize(
    "options",
    [
        ("--population", 5),
        ("--sample", 0),
        ("--seed", -1),
        ("--population", 1000, "--sample", 5000),
        ("--folder", "file"),
    ],
)
def test_what_makes_no_sense_is_refused(discreet, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    discreet("demo", *options, "--json").complaint()
