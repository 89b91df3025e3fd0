"""A rule is kept only where its figure is shown to keep the limit."""

import pytest

from discreet.figures import Figure, How, Unavailable
from discreet.policy.verdict import Judged, PolicyId, Ruling, Verdict, at_least, at_most, worst

EXACT = Figure(value=0.25, how=How.EXACT)
ROUGH = Figure(value=0.25, how=How.ESTIMATE, standard_error=0.05)
WIDE = Figure(value=0.25, how=How.ESTIMATE, low=0.1, high=0.4)
BOUND = Figure(value=None, how=How.BOUND, low=0.0, high=1.0)
NONE = Unavailable("not computed")


@pytest.mark.parametrize(
    ("figure", "limit", "ruling"),
    [
        (EXACT, 0.25, Ruling.KEPT),
        (EXACT, 0.25 - 1e-15, Ruling.KEPT),  # as equal as rounding leaves it
        (EXACT, 0.24, Ruling.BROKEN),
        (ROUGH, 0.36, Ruling.KEPT),
        (ROUGH, 0.34, Ruling.UNDECIDED),
        (ROUGH, 0.16, Ruling.UNDECIDED),
        (ROUGH, 0.14, Ruling.BROKEN),
        (WIDE, 0.4, Ruling.KEPT),
        (WIDE, 0.3, Ruling.UNDECIDED),
        (WIDE, 0.09, Ruling.BROKEN),
        (BOUND, 0.5, Ruling.UNDECIDED),
        (NONE, 1.0, Ruling.UNDECIDED),
    ],
)
def test_at_most(figure, limit, ruling):
    assert at_most(figure, limit) is ruling


@pytest.mark.parametrize(
    ("figure", "limit", "ruling"),
    [
        (Figure(value=3, how=How.EXACT), 3, Ruling.KEPT),
        (Figure(value=2, how=How.EXACT), 3, Ruling.BROKEN),
        (WIDE, 0.1, Ruling.KEPT),
        (WIDE, 0.2, Ruling.UNDECIDED),
        (WIDE, 0.5, Ruling.BROKEN),
        (NONE, 0.0, Ruling.UNDECIDED),
    ],
)
def test_at_least(figure, limit, ruling):
    assert at_least(figure, limit) is ruling


def test_a_bound_on_one_side_settles_that_side_alone():
    least, greatest = (
        Figure(value=None, how=How.BOUND, **one) for one in ({"low": 3}, {"high": 3})
    )
    assert at_most(least, 5) is Ruling.UNDECIDED
    assert at_most(least, 2) is Ruling.BROKEN
    assert at_least(least, 3) is Ruling.KEPT
    assert at_least(greatest, -1) is Ruling.UNDECIDED
    assert at_least(greatest, 4) is Ruling.BROKEN
    assert at_most(greatest, 3) is Ruling.KEPT


def judged(ruling):
    return Judged(rule="max_risk", ruling=ruling, value=EXACT, limit=0.2, words="Too much.")


def test_the_worst_rule_decides():
    kept, broken, undecided = (
        judged(one) for one in (Ruling.KEPT, Ruling.BROKEN, Ruling.UNDECIDED)
    )
    assert Verdict(rules=(kept, undecided, broken)).ruling is Ruling.BROKEN
    assert Verdict(rules=(kept, undecided)).ruling is Ruling.UNDECIDED
    assert Verdict(rules=(kept,)).allows
    assert not Verdict(rules=(undecided,)).allows
    assert worst([]) is Ruling.KEPT


def test_json_is_the_same_everywhere():
    found = Verdict(
        rules=(judged(Ruling.BROKEN),), policies=(PolicyId(name="ours", version="2", hash="ab"),)
    ).to_json()
    assert found == {
        "verdict": "broken",
        "policies": [{"name": "ours", "version": "2", "hash": "ab"}],
        "rules": [
            {
                "rule": "max_risk",
                "verdict": "broken",
                "value": {"value": 0.25, "how": "exact"},
                "limit": 0.2,
                "words": "Too much.",
            }
        ],
    }
