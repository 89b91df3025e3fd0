"""A survey of a population that is known in full, with the truth beside it."""

import pyarrow.parquet as pq
import pytest

from discreet.errors import OutputError
from discreet.synthetic import demonstration as module
from discreet.synthetic.demonstration import demonstrate


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Only the model that needs no fitting, so that a demonstration takes no time."""
    assess = vars(module)["assess"]
    monkeypatch.setattr(
        module, "assess", lambda *a, **o: assess(*a, **(o | {"models": "sample_frequency"}))
    )


@pytest.fixture
def shown(tmp_path):
    return demonstrate(tmp_path / "new" / "demo", size=3000, sample=150, seed=4)


def test_the_truth_lies_within_what_is_certain(shown):
    truth = shown.truth
    assert truth.sample_uniques == shown.assessment.sample_uniques
    assert 0 <= truth.population_uniques <= truth.sample_uniques
    n = shown.assessment.summary.sample_size
    assert truth.population_uniques <= truth.expected_correct_matches <= n
    assert shown.population_size == 3000


def test_the_survey_and_the_risks_are_written(shown):
    survey, risks = pq.read_table(shown.survey), pq.read_table(shown.risks)
    assert survey.num_rows == risks.num_rows == shown.assessment.summary.sample_size
    names = {path.name for path in shown.survey.parent.iterdir()}
    assert names == {"survey.parquet", "risks.parquet"}


def test_the_same_seed_gives_the_same_survey(shown, tmp_path):
    again = demonstrate(tmp_path / "again", size=3000, sample=150, seed=4)
    other = demonstrate(tmp_path / "other", size=3000, sample=150, seed=5)
    assert pq.read_table(again.survey).equals(pq.read_table(shown.survey))
    assert not pq.read_table(other.survey).equals(pq.read_table(shown.survey))
    assert again.truth.population_uniques == shown.truth.population_uniques
    assert again.truth.expected_correct_matches == shown.truth.expected_correct_matches


@pytest.mark.parametrize("name", ["file", "file/demo"])
def test_a_folder_that_cannot_be_made(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="must be writable"):
        demonstrate(tmp_path / name, size=1000, sample=10, seed=1)
