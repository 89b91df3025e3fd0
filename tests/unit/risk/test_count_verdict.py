"""Verdicts on the statistics of a count table: release, fewer decimals, do not, undecided."""

from dataclasses import replace

import pytest

from discreet.compoisson.release import attack, release_of
from discreet.compoisson.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.risk.count_verdict import Decision, Measure, verdict

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


def test_verdicts():
    assert verdict(DISASTERS, 0.5).decision is Decision.RELEASE
    fewer = verdict(DISASTERS, 0.2)
    assert fewer.decision is Decision.FEWER_DECIMALS
    assert fewer.decimals == 0
    assert "Release S2 with 0 decimals only" in fewer.sentence
    assert fewer.trials[0].risk.value == pytest.approx(0.470, abs=5e-4)
    assert any("the count of value 3" in warning for warning in fewer.warnings)
    refused = verdict(DISASTERS, 0.01)
    assert refused.decision is Decision.DO_NOT
    assert refused.sentence.startswith("Do not release")


def test_other_measures():
    truth = verdict(DISASTERS, 0.4, measure="truth", decimals=())
    assert truth.decision is Decision.RELEASE
    entropy = verdict(DISASTERS, 0.4, measure="reciprocal_entropy", decimals=())
    assert entropy.decision is Decision.DO_NOT
    assert entropy.trials[0].risk.value == pytest.approx(0.606, abs=5e-4)


def test_one_table_left_is_a_risk_of_one_by_every_measure():
    for measure in ("best_guess", "truth", "reciprocal_entropy"):
        got = verdict({0: 3, 1: 4}, 0.9, measure=measure, decimals=(2,))
        assert got.decision is Decision.DO_NOT
        assert got.trials[0].risk.value == pytest.approx(1)


def test_a_search_that_does_not_fit_decides_nothing(monkeypatch):
    monkeypatch.setattr("discreet.compoisson.truncation.MOST_FACTORISATIONS", 0)
    got = verdict(DISASTERS, 0.2)
    assert got.decision is Decision.UNDECIDED
    assert "0.47 with the exact factorisation" in got.sentence


@pytest.mark.parametrize("max_risk", [0, 1, -0.2, 7])
def test_greatest_risk_allowed(max_risk):
    with pytest.raises(InputError, match="max_risk must be between 0 and 1"):
        verdict(DISASTERS, max_risk)


def test_a_verdict_starts_from_the_release_in_mind():
    one = release_of(STATISTICS, decimals=1)
    got = verdict(DISASTERS, 0.2, first=one)
    assert [trial.release.words for trial in got.trials] == [
        "n, S1 and S2 rounded to 1 decimal",
        "n, S1 and S2 rounded to 0 decimals",
    ]
    assert "but 0.467 with 1 decimal." in got.sentence
    hidden = verdict(DISASTERS, 0.01, first=release_of(STATISTICS, withhold_n=True))
    assert hidden.decision is Decision.UNDECIDED
    assert not hidden.allows


def test_it_says_that_the_true_table_stands_in_for_the_best_guess():
    """Draws do not tell the most probable table, and its probability is no lower than the truth's."""
    found = attack(release_of(STATISTICS), truth=DISASTERS)
    drawn = replace(
        found.laws["multinomial"],
        how=How.ESTIMATE,
        best_guess=None,
        best_guess_probability=Unavailable("draws cannot tell"),
        truth_probability=Figure(value=0.36, how=How.ESTIMATE, standard_error=0.01),
    )
    found = replace(found, laws={"multinomial": drawn})
    got = verdict(DISASTERS, 0.4, found=found)
    assert got.decision is Decision.RELEASE
    assert got.trials[0].measure is Measure.TRUTH
    assert "the probability that a snooper gives to the true table is 0.36" in got.sentence
    assert "stands in for that of the best guess" in got.warnings[0]
    assert not any("stands in" in w for w in verdict(DISASTERS, 0.5).warnings)
