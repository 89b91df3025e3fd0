"""Views of an audit: partial averages say so, priors are checked first, idle knowledge is idle."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.belief.draws.augmentation import ChainEffort
from discreet.belief.table_posterior import TablePosterior
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows.audit import audit
from discreet.tables import posteriors
from discreet.tables.audit_options import AuditOptions
from discreet.tables.posteriors import View
from discreet.tables.release import released

COUNTS = [96, 72, 161, 10, 7, 6, 1, 1, 2, 186, 127, 51, 11, 7, 3, 0, 1, 0]
CENSUS = Table.of_dense(np.array(COUNTS).reshape(2, 3, 3), ["gender", "race", "income"])
OUT = [["race", "income"], ["income", "gender"]]
MODELS = ("[gender income][race income]", "no-highest-interaction", "saturated")
LITTLE = ChainEffort(n_draws=200)


@pytest.fixture
def one_unweighed(monkeypatch):
    """The saturated model has a distribution but no weight."""
    asked = posteriors.table_posterior  # type: ignore[attr-defined]

    def without(question, **more):
        found = asked(question, **more)
        whole = len(question.model.generators) == 1
        return replace(found, evidence=Unavailable("no time to weigh it")) if whole else found

    monkeypatch.setattr(posteriors, "table_posterior", without)


def test_the_notes_say_how_many_models_an_average_is_over(one_unweighed):
    found = audit(CENSUS, OUT, AuditOptions(models=("average",), draws=LITTLE.n_draws))
    average = found.views["average"]
    assert isinstance(average, View)
    own = [note for note in found.notes if note.startswith("average: ")]
    assert own[0] == "average: average over 2 of 3 models by their weights"
    assert "only 2 of 3 models could be weighed" in own[1]
    assert "saturated among them: no time to weigh it" in own[1]
    weights = [view.weight for name, view in found.views.items() if name != "average"]
    assert sum(weight.value for weight in weights if not isinstance(weight, Unavailable)) == (
        pytest.approx(1.0)
    )


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ({"saturated": 0.5}, "got none for"),
        (dict.fromkeys(MODELS, 0.3) | {"[gender][race][income]": 0.1}, "got one for"),
        (dict.fromkeys(MODELS, 0.3) | {"saturated": -1.0}, "positive .* got -1 for saturated"),
        (dict.fromkeys(MODELS, 0.3) | {"saturated": float("nan")}, "positive .* got nan for"),
    ],
)
def test_priors_are_checked_before_any_work(monkeypatch, priors, said):
    def work(*_, **__):
        raise AssertionError("work began")

    monkeypatch.setattr(posteriors, "table_posterior", work)
    options = AuditOptions(models=("average",), model_priors=priors)
    with pytest.raises(InputError, match=f"model priors must be .*{said}"):
        audit(CENSUS, OUT, options)


def test_priors_cannot_be_given_for_models_that_are_searched_for():
    table = Table.of_dense(np.arange(1, 33).reshape((2,) * 5), list("abcde"))
    options = AuditOptions(models=("average",), model_priors={"saturated": 1.0})
    with pytest.raises(InputError, match="model priors must be left out where more than 20"):
        audit(table, [[name] for name in "abcde"], options)


@pytest.mark.parametrize("known", ["b=2:5", "b=2:0..9", "b=2,a=1:..5"])
def test_knowledge_that_the_release_holds_changes_nothing(known):
    table = Table.of_dense(np.array([[[4, 1], [0, 2]], [[3, 2], [1, 2]]]), ["a", "b", "c"])
    model = ("[a][b][c]",)  # names every variable, so that both are about the same table
    plain = audit(table, [["b"]], AuditOptions(models=model))
    told = audit(table, [["b"]], AuditOptions(models=model, knows=(known,)))
    [one], [other] = plain.views.values(), told.views.values()
    assert isinstance(other, View)
    assert other.how is How.EXACT
    assert other.distributions == one.distributions
    assert other.true_table == one.true_table
    assert [item.text for item in told.release.known] == [known]


@pytest.mark.parametrize(
    ("known", "tells"),
    [
        ("race=3:5", False),  # a figure of the margin [race income], summed
        ("race=3,income=1:..2", False),
        ("race=3,gender=1:..5", False),  # no more than the five of race 3
        ("race=3,gender=1:..4", True),
        ("race=3,gender=1:1..", True),
        ("race=3,gender=1:4", True),
    ],
)
def test_what_follows_from_the_margins_is_told_apart(known, tells):
    table = Table.of_dense(np.array(COUNTS).reshape(2, 3, 3), ["gender", "race", "income"])
    out = released(table, OUT, [known])
    assert bool(out.informative) is tells
    assert len(out.statements()) == len(released(table, OUT).statements()) + tells


def test_what_two_margins_prove_together_is_learned():
    """Everyone with a = 0 has b = 0, and everyone with b = 0 has c = 0."""
    truth = np.zeros((3, 2, 2), dtype=np.int64)
    truth[0, 0, 0], truth[1, 1, 1], truth[1, 1, 0], truth[2, 1, 1] = 3, 4, 5, 2
    found = audit(Table.of_dense(truth, ["a", "b", "c"]), [["a", "b"], ["b", "c"]])
    groups = {(one.group, one.group_levels, one.target, one.level) for one in found.learned}
    assert ((0,), (0,), 2, 0) in groups
    assert ((0,), (1,), 2, 0) not in groups


def test_a_population_that_floats_cannot_count_is_refused():
    for wrong in (0, -3, 2**53):
        with pytest.raises(InputError, match="population must be from 1 to below"):
            AuditOptions(population=wrong)


def posterior(distribution, **more):
    none = Unavailable("not asked")
    settings = {
        "model": None,
        "cells": np.arange(1),
        "distributions": [distribution],
        "errors": [dict.fromkeys(distribution, 0.0)],
        "how": How.EXACT,
        "method": "by hand",
        "evidence": none,
        "true_table": none,
        "entropy": none,
    }
    return TablePosterior(**settings | more)


@pytest.mark.parametrize("weights", [(0.1, 0.2, 0.7), (0.7, 0.2, 0.1), (1 / 3, 1 / 3, 1 / 3)])
def test_an_average_of_distributions_that_agree_is_exact(weights):
    """Weights add up to 1 less a last bit; errors of weights do not matter where all agree."""
    for distribution in ({1: 1.0}, {1: 0.3, 2: 0.7}):
        found = posteriors._average(
            dict.fromkeys("abc", posterior(distribution)),
            {name: (w * (1 + 2**-52), 0.05) for name, w in zip("abc", weights, strict=True)},
        )
        assert found.how is How.EXACT
        assert set(found.errors[0].values()) == {0.0}


def test_of_models_that_weigh_as_much_the_first_one_warns():
    pairs = [posterior({1: 1.0}, warning=name) for name in ("first", "second")]
    for noise in (-(2**-53), 0.0, 2**-53):
        weighed = [(one, w, 0.0) for one, w in zip(pairs, (0.5 + noise, 0.5), strict=True)]
        assert posteriors._worst_warning(weighed) == "first"
    assert posteriors._worst_warning([(pairs[0], 0.01 - 2**-59, 0.0)]) == "first"


def test_an_estimate_of_a_tiny_probability_is_no_exact_one():
    """Each of two models is 10⁻²⁰⁰ from their average, and weighs half with an error of a tenth."""
    tiny = [Figure(value=value, how=How.EXACT) for value in (1e-200, 3e-200)]
    pairs = [(posterior({1: 1.0}, true_table=one), 0.5, 0.1) for one in tiny]
    found = posteriors._averaged_truth(pairs)
    assert found.how is How.ESTIMATE
    assert found.standard_error == pytest.approx(2**0.5 * 0.5e-201)
