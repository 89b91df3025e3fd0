"""discreet backtest, from the command line to the page."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.cli import cli


@pytest.fixture
def population(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "people.csv"
    rows = "\n".join(
        f"{a},{b}" for a, b in zip(rng.integers(0, 9, 300), rng.geometric(0.2, 300), strict=True)
    )
    path.write_text("age,öde\n" + rows)
    return path


def run(*arguments):
    return CliRunner().invoke(cli, ["backtest", *map(str, arguments)], catch_exceptions=False)


def test_the_table_and_the_page(population, tmp_path):
    page = tmp_path / "league.html"
    models = "sample_frequency,lancaster"
    shown = run(
        population, "--keys", "age,öde", "--repeats", 2, "--fractions", ".1,.5",
        "--models", models, "--report", page, "--full",
    )  # fmt: skip
    assert shown.exit_code == 0
    assert "lancaster" in shown.stdout
    assert "samples of 0.5 of the population" in shown.stdout
    short = run(population, "--keys", "age,öde", "--repeats", 2, "--models", models).stdout
    assert "samples of 0.1 of the population" not in short
    assert len(short.splitlines()) <= 20
    assert short.splitlines()[4].startswith("  Least error on average")
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "people.csv" in text


def test_json_has_every_trial(population):
    shown = run(population, "--keys", "age,öde", "--repeats", 2, "--models", "lancaster", "--json")
    found = json.loads(shown.stdout)
    assert len(found["trials"]) == 6
    assert found["complete"] is True
    models = {"recommended", "lancaster"}
    assert {score["model"] for score in found["scores"]["uniques"]} == models
    assert "lancaster" in {row["model"] for row in found["ranking"]["uniques"]}


def test_the_page_may_not_replace_the_population(population):
    from discreet.errors import OutputError

    with pytest.raises(OutputError):
        run(population, "--keys", "age", "--report", population)


def test_fractions_must_be_numbers(population):
    shown = run(population, "--keys", "age", "--fractions", "a")
    assert shown.exit_code == 2
    assert "must be numbers separated by commas, got 'a'" in shown.output
