"""The rule of choice: the most useful within the limit, ties by risk, nothing where nothing is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.choice.choice import (
    Candidate,
    Decision,
    Standing,
    choose,
    compromises,
    pareto_front,
    standing,
)
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable


def exact(value):
    return Figure(value=value, how=How.EXACT)


def candidate(title, risk, worth, **more):
    risk = exact(risk) if isinstance(risk, int | float) else risk
    return Candidate(title=title, risk=risk, utility=exact(worth), **more)


NOTHING = candidate("nothing", 0.0, 0.0, is_nothing=True)


def title(candidates, choice):
    return None if choice.chosen is None else candidates[choice.chosen].title


def test_the_most_useful_within_the_cap():
    every = [NOTHING, candidate("a", 0.1, 0.5), candidate("b", 0.2, 0.7), candidate("c", 0.4, 0.9)]
    choice = choose(every, 0.2)
    assert title(every, choice) == "b"
    assert choice.decision is Decision.RELEASE
    assert choice.standings[3] is Standing.ABOVE


def test_of_equal_use_the_one_of_least_risk():
    """Meek: if two have the same utility, why not take the one of lower risk?"""
    every = [NOTHING, candidate("a", 0.2, 0.7), candidate("b", 0.1, 0.7), candidate("c", 0.2, 0.6)]
    choice = choose(every, 0.3)
    assert title(every, choice) == "b"
    assert choice.ties == (1,)
    assert "of 2 that are as useful, the one of least risk" in choice.why


def test_nothing_safe_means_release_nothing():
    every = [NOTHING, candidate("a", 0.5, 0.7)]
    choice = choose(every, 0.3)
    assert title(every, choice) == "nothing"
    assert choice.decision is Decision.NOTHING
    assert choice.why == "no release is within the limit; nothing goes out"


def test_nothing_itself_may_exceed_the_cap():
    every = [candidate("nothing", 0.5, 0.0, is_nothing=True), candidate("a", 0.6, 0.7)]
    choice = choose(every, 0.3)
    assert choice.chosen is None
    assert choice.decision is Decision.EXCEEDED
    assert "what is already known exceeds it" in choice.why


def test_a_release_may_be_within_the_cap_where_nothing_is_not():
    """A guess made from the prior can be right, and one made from the release wrong."""
    every = [candidate("nothing", 0.5, 0.0, is_nothing=True), candidate("a", 0.1, 0.7)]
    choice = choose(every, 0.3)
    assert title(every, choice) == "a"


def test_a_release_that_misleads_is_worse_than_nothing():
    every = [NOTHING, candidate("a", 0.0, -0.2)]
    choice = choose(every, 0.3)
    assert title(every, choice) == "nothing"
    assert choice.why == "what is within the limit is worth no more than releasing nothing"


def test_no_candidates_at_all():
    choice = choose([], 0.5)
    assert choice.chosen is None
    assert choice.decision is Decision.NOTHING
    assert choice.why == "no release is within the limit"


@pytest.mark.parametrize(
    ("risk", "expected"),
    [
        (exact(0.3), Standing.WITHIN),
        (exact(0.1 + 0.2), Standing.WITHIN),
        (exact(0.31), Standing.ABOVE),
        (Figure(value=0.2, how=How.ESTIMATE, standard_error=0.04), Standing.WITHIN),
        (Figure(value=0.2, how=How.ESTIMATE, standard_error=0.06), Standing.DOUBTFUL),
        (Figure(value=0.4, how=How.ESTIMATE, standard_error=0.06), Standing.DOUBTFUL),
        (Figure(value=0.5, how=How.ESTIMATE, standard_error=0.06), Standing.ABOVE),
        (Figure(value=None, low=0.0, high=0.3, how=How.BOUND), Standing.WITHIN),
        (Figure(value=None, low=0.0, high=1.0, how=How.BOUND), Standing.DOUBTFUL),
        (Figure(value=None, low=0.4, high=1.0, how=How.BOUND), Standing.ABOVE),
        (Unavailable("time"), Standing.UNKNOWN),
    ],
)
def test_how_a_risk_stands_to_the_cap(risk, expected):
    assert standing(risk, 0.3) is expected


def test_what_is_not_known_is_never_chosen_and_is_named():
    late = Candidate(title="late", risk=Unavailable("time"), utility=Unavailable("time"))
    near = candidate("near", Figure(value=0.3, how=How.ESTIMATE, standard_error=0.1), 0.9)
    poor = candidate("poor", Unavailable("time"), 0.0)
    every = [NOTHING, candidate("a", 0.2, 0.5), late, near, poor]
    choice = choose(every, 0.3)
    assert title(every, choice) == "a"
    assert choice.missed == (2, 3)


def test_one_way_to_release_nothing():
    with pytest.raises(InputError, match="candidates must be with one way to release nothing"):
        choose([NOTHING, NOTHING], 0.1)


POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(POINTS)
def test_the_frontier_is_what_no_other_beats(points):
    every = [candidate(str(i), risk, worth) for i, (risk, worth) in enumerate(points)]
    front = set(pareto_front(every))
    for i, (risk, worth) in enumerate(points):
        beaten = any(r <= risk and w >= worth and (r, w) != (risk, worth) for r, w in points)
        assert (i in front) == (not beaten)


@given(POINTS, st.integers(0, 6))
def test_the_choice_is_the_best_by_brute_force_and_on_the_frontier(points, cap):
    every = [candidate(str(i), risk, worth) for i, (risk, worth) in enumerate(points)]
    choice = choose(every, cap)
    safe = [(worth, -risk) for risk, worth in points if risk <= cap]
    if not safe:
        assert choice.chosen is None
        return
    assert choice.chosen is not None
    risk, worth = points[choice.chosen]
    assert (worth, -risk) == max(safe)
    assert choice.chosen in choice.front


def test_compromises_between_users():
    worths = [{"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.5}]
    assert compromises(worths) == (0, 1)
    assert compromises([]) == ()


def test_a_tiny_cap_is_kept_to_its_own_size():
    assert standing(exact(5e-10), 1e-12) is Standing.ABOVE
    assert standing(exact(1e-300), 0.0) is Standing.ABOVE
    assert standing(exact(0.1 + 0.2), 0.3) is Standing.WITHIN


def test_rounding_decides_neither_the_frontier_nor_a_tie():
    third = 1 / 3
    noisy = third + 1e-16
    every = [
        candidate("nothing", noisy, 0.5, is_nothing=True),
        candidate("a", third, 0.5),
        candidate("b", noisy, 0.4),
    ]
    assert set(pareto_front(every)) == {0, 1}
    assert title(every, choose(every, 0.5)) == "nothing"


def test_what_cannot_be_made_is_not_perhaps_better():
    late = Unavailable("not looked at: time ran out")
    never = Candidate(title="x", risk=late, utility=late, is_possible=False)
    choice = choose([NOTHING, never], 0.3)
    assert choice.missed == ()
    assert choice.why == "no release is within the limit; nothing goes out"
    choice = choose([NOTHING, Candidate(title="x", risk=late, utility=late)], 0.3)
    assert choice.missed == (1,)
    assert choice.why == "no release was shown to be within the limit; nothing goes out"


def test_candidates_not_looked_at_are_not_said_to_be_above_the_limit():
    late = Unavailable("not looked at: time ran out")
    better, worse = (Candidate(title=t, risk=late, utility=exact(u)) for t, u in (("b", 0.9), ("w", 0.1)))  # fmt: skip
    one, two = candidate("one", 0.1, 0.5), candidate("two", 0.2, 0.4)
    assert choose([NOTHING, one], 0.3).why == "the only candidate within the limit"
    assert (
        choose([NOTHING, one, worse], 0.3).why == "the only candidate shown to be within the limit"
    )
    told = choose([NOTHING, one, two, better, worse], 0.3).why
    assert told.startswith(
        "the most useful of the 2 candidates shown to be within the limit; it is"
    )
    assert told.endswith("open for 1 more, which may be more useful")


EPSILON = 2.0**-52
# written to nine digits, this risk lies exactly between two numbers
NINE_AND_A_HALF_DIGITS = 2.0**-13


@pytest.mark.parametrize("off", [-3, -1, 0, 1, 3])
def test_rounding_breaks_no_tie_of_risks(off):
    risk = NINE_AND_A_HALF_DIGITS
    every = [candidate("a", risk * (1 + off * EPSILON), 0.7), candidate("b", risk, 0.7)]
    choice = choose(every, 0.3)
    assert title(every, choice) == "a"
    assert choice.ties == (1,)
    assert choice.front == (0, 1)


@pytest.mark.parametrize("off", [-3, 0, 3])
def test_rounding_makes_nothing_more_useful_than_what_was_chosen(off):
    open_one = candidate("b", Unavailable("not known"), 0.7 * (1 + off * EPSILON))
    assert choose([NOTHING, candidate("a", 0.1, 0.7), open_one], 0.3).missed == ()
