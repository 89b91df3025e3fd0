"""The league: drawn samples, every model, and scores that can be checked by hand."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import ColumnError, InputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows.backtest import backtest
from discreet.survey.backtest import league as module
from discreet.survey.backtest.league import Estimates, Trial


def population(n=600, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {"a": rng.integers(0, 6, n), "b": rng.geometric(0.3, n), "c": rng.integers(0, 3, n)}
    )


def league(**options):
    return backtest(population(), ["a", "b", "c"], fractions=(0.1, 0.3), repeats=3, **options)


def test_every_model_is_asked_about_every_sample():
    found = league(models=["cohen_sackrowitz_uniform", "lancaster"])
    assert found.complete
    assert len(found.trials) == 6
    assert {t.sample_size for t in found.trials} == {60, 180}
    assert found.models == ("recommended", "cohen_sackrowitz_uniform", "lancaster")
    for trial in found.trials:
        assert 0 <= trial.population_uniques <= trial.sample_uniques <= trial.sample_size


def test_the_same_seed_gives_the_same_league_and_another_one_does_not():
    first, again, other = (league(models=["sample_frequency"], seed=seed) for seed in (1, 1, 2))
    assert first.trials == again.trials
    assert first.trials != other.trials


def test_a_sample_of_everyone_is_exact_for_the_sample_frequency():
    found = backtest(
        population(), ["a", "b"], fractions=(1.0,), repeats=1, models=["sample_frequency"]
    )
    for score in found.scores():
        assert score.truth == score.estimate == found.population_uniques
        assert score.error == 0
        assert score.coverage == 1


def test_strata_bring_weights():
    found = league(models=["benedetti_franconi"], stratum="c")
    assert all(isinstance(t.estimates["benedetti_franconi"].matches, Figure) for t in found.trials)
    unweighted = league(models=["benedetti_franconi"])
    assert unweighted.trials[0].estimates != found.trials[0].estimates


def trial(truth, estimate, fraction=0.1):
    return Trial(
        fraction=fraction,
        sample_size=10,
        sample_uniques=5,
        population_uniques=truth,
        correct_matches=2.0 * truth,
        estimates={"m": Estimates(uniques=estimate, matches=Unavailable("none"))},
    )


def figure(value, low, high):
    return Figure(value=value, low=low, high=high, how=How.ESTIMATE)


def test_scores_by_hand():
    trials = (
        trial(4, figure(2.0, 1.0, 3.0)),
        trial(0, figure(1.0, 0.0, 2.0)),
        trial(2, Unavailable("no maximum")),
    )
    found = replace(league(models=["sample_frequency"]), trials=trials, fractions=(0.1,))
    [score] = found.scores()
    assert (score.n_trials, score.n_answers) == (3, 2)
    assert score.truth == 2.0
    assert score.estimate == 1.5
    assert score.bias == pytest.approx((-0.5 + 1.0) / 2)
    assert score.error == pytest.approx(0.75)
    assert score.coverage == 0.5
    assert score.reason == "no maximum"
    assert found.ranking() == ()  # it left a sample unanswered
    assert found.scores("matches")[0].error is None


def test_the_ranking_goes_by_the_mean_error():
    trials = tuple(
        replace(
            trial(10, figure(8.0, 0.0, 9.0), fraction),
            estimates={
                "worse": Estimates(uniques=figure(20.0, 0, 1), matches=Unavailable("none")),
                "better": Estimates(uniques=figure(11.0, 0, 1), matches=Unavailable("none")),
            },
        )
        for fraction in (0.1, 0.3)
    )
    found = replace(league(models=["sample_frequency"]), trials=trials)
    assert found.ranking() == (("better", pytest.approx(0.1)), ("worse", pytest.approx(1.0)))


def test_an_interruption_keeps_what_is_done(monkeypatch):
    real, calls = module._trial, []

    def stops(*args):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(1)
        return real(*args)

    monkeypatch.setattr(module, "_trial", stops)
    found = league(models=["sample_frequency"])
    assert len(found.trials) == 2
    assert not found.complete
    assert {s.n_trials for s in found.scores()} == {1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fractions": (0.0,)}, r"fractions must be numbers above 0, up to 1"),
        ({"fractions": ()}, r"fractions must be"),
        ({"fractions": (0.1, 0.1)}, r"fractions must be different"),
        ({"fractions": (float("nan"),)}, r"fractions must be"),
        ({"fractions": (1e-9,)}, r"fractions must be large enough for a sample of the 600 persons"),
        ({"repeats": 0}, r"repeats must be from 1 to 10,000, got 0"),
        ({"stratum": "z"}, r"stratum must be one of the keys, got 'z'"),
        ({"missing": "wildcard"}, r"missing must be category, drop or error"),
        ({"models": ["nope"]}, r"models must be"),
    ],
)
def test_bad_input_has_a_clear_word(change, message):
    with pytest.raises(InputError, match=message):
        backtest(population(), ["a", "b"], **change)


def test_repeated_keys_are_refused():
    with pytest.raises(ColumnError, match="keys must be different columns, got 'a' twice"):
        backtest(population(), ["a", "a"])


def compared(better, truth=10, repeats=12, low=0.0, high=50.0):
    """A league in which the recommended estimate is off by 5 to 6 and another by less."""
    trials = tuple(
        replace(
            trial(truth, figure(1.0, 0, 1)),
            estimates={
                name: Estimates(
                    uniques=figure(value + 0.1 * (i % 3), low, high), matches=Unavailable("none")
                )
                for name, value in (("recommended", 15.0), ("other", better))
            },
        )
        for i in range(repeats)
    )
    return replace(league(models=["sample_frequency"]), trials=trials, fractions=(0.1,))


def test_another_model_is_preferred_only_by_more_than_chance_and_with_intervals_that_hold():
    assert compared(11.0).better_than_recommended() == "other"
    assert compared(14.99999).better_than_recommended() == "other"  # the same chance in both
    assert compared(16.0).better_than_recommended() is None
    assert compared(11.0, repeats=5).better_than_recommended() is None
    assert compared(11.0, low=20.0).better_than_recommended() is None


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_last_bits_decide_neither_who_leads_nor_what_an_interval_holds(bits):
    noise = 1 + bits * 2.0**-52
    exact, near = figure(4.0, 3.0, 5.0), figure(4.0 * noise, 3.0 * noise, 3.0 * noise)
    one = replace(
        trial(3, exact),
        estimates={
            name: Estimates(uniques=given, matches=Unavailable("none"))
            for name, given in (("m", exact), ("n", near))
        },
    )
    found = replace(league(models=["sample_frequency"]), fractions=(0.1,), trials=(one,))
    assert [name for name, _ in found.ranking()] == ["m", "n"]
    assert [score.coverage for score in found.scores()] == [1, 1]


def test_a_sample_of_everyone_is_held_by_every_interval():
    rows = pa.table({"a": [0] * 49 + [1] * 49 + [2] * 3, "b": [0] * 49 + [1] * 52})
    names = ["lancaster", "loglinear", "benedetti_franconi"]
    found = backtest(rows, ["a", "b"], fractions=(1.0,), repeats=1, models=names)
    assert {score.coverage for score in found.scores("matches")} == {1}


def test_a_code_for_a_column_that_is_no_key_is_refused():
    frame = pa.table({"a": [1, 2, 3], "b": [1, 1, 2]})
    with pytest.raises(InputError, match="column of a code for missing must be a key"):
        backtest(frame, ["a"], missing_codes={"zz": ["x"]}, repeats=1)
