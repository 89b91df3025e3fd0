"""Every rung of the ladder gives the same belief, and says what it is."""

import numpy as np
import pytest

from discreet.belief import ladder
from discreet.belief.draws.weights import effective_draws, value_shares
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.ladder import believe
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.request import Limits, Question
from discreet.clock import Clock
from discreet.errors import InputError
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.margins import margins_of
from discreet.fiber.system.priors import DirichletMultinomial, Multinomial, Uniform
from discreet.figures import How, Unavailable

TABLE = np.array([[[2, 1], [0, 1]], [[1, 0], [2, 1]]])
TWO = [(0, 1), (1, 2)]
PRIORS = {
    "multinomial": Multinomial(),
    "uniform": Uniform(),
    "dirichlet": DirichletMultinomial(np.full(8, 0.7)),
    "saturated": LogLinearPrior(HierarchicalModel.saturated(3), 0.5),
    "released": LogLinearPrior(HierarchicalModel.of(3, TWO), 0.5),
}
SOME = Statement(cells=np.array([0, 3, 5]), low=1, high=4, name="a few")


def question(prior, sets=TWO, **more):
    return Question(prior=PRIORS[prior], margins=margins_of(TABLE, sets), truth=TABLE, **more)


def assert_same(found, right):
    """Within five standard errors, which are nothing where a belief is exact."""
    assert found.lower.tolist() == right.lower.tolist()
    assert found.upper.tolist() == right.upper.tolist()
    for cell in range(8):
        errors, own = found.cell_error(cell), found.cell(cell)
        assert sum(own.values()) == pytest.approx(1)
        for q, p in right.cell(cell).items():
            assert abs(own.get(q, 0.0) - p) < 5 * errors.get(q, 0.01) + 1e-9
    for name in ("entropy", "probability"):
        given = () if name == "entropy" else (TABLE,)
        value, exact = getattr(found, name)(*given), getattr(right, name)(*given)
        assert value.how is found.how
        assert abs(value.value - exact.value) < 5 * (value.standard_error or 0.0) + 1e-9


@pytest.mark.parametrize("known", [(), (SOME,)], ids=["margins", "more"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("rung", ["summed", "weighed", "filled"])
def test_rungs_agree_with_the_list(rung, prior, known):
    asked = question(prior, known=known)
    right = believe(asked, ["listed"])
    found = believe(asked, [rung], rng=np.random.default_rng(4))
    easy = not known or isinstance(PRIORS[prior], LogLinearPrior)
    if rung == "weighed" and easy:
        assert isinstance(found, Unavailable)
        return
    assert_same(found, right)
    assert (found.how is How.EXACT) == (rung == "summed")
    assert (found.effective_draws is None) == (rung == "summed")


@pytest.mark.parametrize(
    ("prior", "sets"),
    [
        ("multinomial", [(0, 1)]),
        ("uniform", [(1,)]),
        ("dirichlet", [()]),
        ("multinomial", TWO),
        ("released", TWO),
    ],
)
def test_closed_forms_agree_with_the_list(prior, sets):
    asked = question(prior, sets)
    assert_same(believe(asked, ["closed"]), believe(asked, ["listed"]))
    other = TABLE + np.eye(2, dtype=np.int64)[:, :, None]
    assert believe(asked, ["closed"]).probability(other).value == 0


def test_a_rung_that_is_not_for_a_question_is_passed_over():
    assert believe(question("uniform"), ["closed", "listed"]).method.endswith("listed tables")
    few = question("uniform", limits=Limits(most_tables=2))
    assert "summing" in believe(few, ["closed", "listed", "summed"]).method
    reason = believe(few, ["listed", "weighed"]).reason
    assert reason == "there are more than 2 tables to list"


def test_a_system_is_a_question_too():
    statements = margins_of(TABLE, TWO).statements()
    asked = Question(prior=Multinomial(), constraints=system_of(8, statements))
    found, right = believe(asked, ["summed"]), believe(question("multinomial"), ["summed"])
    assert found.cell(3) == right.cell(3)
    assert found.entropy() == right.entropy()


@pytest.mark.parametrize("way", ["listed", "summed"])
def test_the_most_probable_table(way):
    listed = believe(question("saturated"), ["listed"])
    best = believe(question("saturated"), [way]).most_probable()
    assert listed.probability(best).value == pytest.approx(listed.probabilities.max())
    assert believe(question("saturated"), ["filled"]).most_probable() is None


def test_a_condition_on_draws_is_that_on_the_list():
    listed = believe(question("dirichlet"), ["listed"])
    drawn = believe(question("dirichlet"), ["filled"], rng=np.random.default_rng(2))
    p = drawn.share_of(drawn.tables[:, 0] > 1)
    right = listed.given(listed.tables[:, 0] > 1)
    chance = listed.probabilities[listed.tables[:, 0] > 1].sum()
    assert abs(p.value - chance) < 5 * p.standard_error
    after = drawn.given(drawn.tables[:, 0] > 1)
    for cell in range(8):
        errors = after.cell_error(cell)
        for q, own in after.cell(cell).items():
            assert abs(own - right.cell(cell)[q]) < 5 * errors[q] + 1e-9
    with pytest.raises(InputError, match="true of some consistent table"):
        drawn.given(np.zeros(len(drawn.tables), dtype=np.bool_))
    assert isinstance(after.probability(TABLE), Unavailable)


def test_too_few_effective_draws_are_no_belief():
    limits = Limits(least_effective=1e9)
    found = believe(question("uniform", limits=limits), ["filled"], clock=Clock(5.0))
    assert "effective draws, and 1000000000 are needed" in found.reason


def test_errors_where_all_draws_agree_are_those_of_the_rule_of_succession():
    shares, values = np.full(50, 0.02), np.ones(50, dtype=np.int64)
    assert value_shares(values, shares, room=True)[1][1] == pytest.approx(1 / 52)
    assert value_shares(values, shares, room=False)[1] == {1: 0.0}
    assert effective_draws(np.full(3, -np.inf)) == 0


def test_seconds_that_are_left_go_down_to_nothing():
    climb = ladder.Climb(Clock(0.0), np.random.default_rng(0), ladder.silent)  # type: ignore[attr-defined]
    assert climb.part(0.5) == 0
    assert ladder.Climb(Clock(None), climb.rng, ladder.silent).part(0.5) is None  # type: ignore[attr-defined]
