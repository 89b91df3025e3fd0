"""The verdict on a row is worked out from its numbers, and can be any of the six."""

import json

import pytest

from discreet.fiber.sums.counting import Count
from discreet.figures import Figure, How, Unavailable
from discreet.papers.outcomes import available, number_of, value_of
from discreet.papers.rows import Kind, NotComputedError, RowVerdict, agree, claim, half_unit, row

CALL = {"paper": "polettini", "figure": "(1)"}


@pytest.mark.parametrize(
    ("printed", "value", "same"),
    [
        ("0.39", 0.3869, True),
        ("0.39", 0.395, True),  # a tie may be rounded either way
        ("0.39", 0.385, True),
        ("0.39", 0.3951, False),
        ("0.39", 0.3849, False),
        ("-0.013", -0.0134, True),
        ("-0.013", 0.013, False),
        ("7", 7, True),
        ("7", 8, False),
        ("7", 7.0, True),
        ("7", 7.2, False),
        ("1", 1.0000001, False),
        ("1", 1 - 2**-52, True),  # a sum of floats
        ("0", -1e-17, True),
        ("0", 1e-6, False),
        ("82,938,779", 82_938_779, True),
        ("82,938,779", 82_938_778, False),
        ("1.4647e-15", 1.46468e-15, True),
        ("1.4647e-15", 1.4649e-15, False),
        ("1/7", 1 / 7, True),
        ("1/7", 0.1429, False),
        ("—", None, True),
        ("0.04", None, False),
        ("—", 0.5, False),
        ("q", "p", False),
        ("q", "q", True),
        ("over-dispersed", 1.02, False),
    ],
)
def test_agreement_to_the_last_digit_printed(printed, value, same):
    assert agree(printed, value) is same


@pytest.mark.parametrize(("printed", "half"), [("0.39", 0.005), ("12", 0.0), ("1.5e-3", 5e-5)])
def test_half_a_unit(printed, half):
    assert half_unit(printed) == pytest.approx(half)


def test_agrees():
    found = row(**CALL, printed="0.50 0.50 —", computed=[0.4994, 0.5006, None])
    assert found.verdict is RowVerdict.AGREES
    assert found.n_numbers == 3
    assert found.shown == ("0.4994", "0.5006", "—")


def test_a_difference_without_a_reason_disagrees():
    found = row(**CALL, printed="0.50 0.50", computed=[0.4994, 0.6])
    assert found.verdict is RowVerdict.DISAGREES
    assert found.matches == (True, False)
    assert found.link is None


def test_a_slip_has_its_page_only_where_it_differs():
    wrong = row(**CALL, printed="9", computed=8, slip="some-page")
    assert (wrong.verdict, wrong.link) == (RowVerdict.SLIP, "docs/slips/some-page.md")
    right = row(**CALL, printed="8", computed=8, slip="some-page")
    assert (right.verdict, right.link) == (RowVerdict.AGREES, None)


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [("0.43", RowVerdict.SIMULATED), ("0.47", RowVerdict.DISAGREES), ("0.37", RowVerdict.AGREES)],
)
def test_a_simulation_may_be_off_by_four_standard_errors(printed, verdict):
    found = row(**CALL, printed=[printed], computed=0.374, simulated="draws", errors=[0.0216])
    assert found.verdict is verdict


def test_a_simulation_with_an_infeasible_value():
    found = row(
        **CALL, printed="0.64 —", computed=[0.61, None], simulated="draws", errors=[0.02, 0.0]
    )
    assert found.verdict is RowVerdict.SIMULATED


def test_without_errors_a_simulation_has_no_slack():
    found = row(**CALL, printed="0.43", computed=0.374, simulated="draws")
    assert found.verdict is RowVerdict.DISAGREES


def test_data_not_public_means_that_nothing_was_computed():
    none = row(**CALL, printed="885.02 480.27", computed=[None, None], not_public="data")
    assert none.verdict is RowVerdict.NOT_PUBLIC
    assert none.shown == ("?", "?")
    some = row(**CALL, printed="885.02 480.27", computed=[None, 480.0], not_public="data")
    assert some.verdict is RowVerdict.DISAGREES


def test_statements_hold_or_not():
    text = "Q rises"
    held = row(**CALL, printed=[text], computed=claim(text, True), kind=Kind.STATEMENT)
    assert (held.verdict, held.shown, held.n_numbers) == (RowVerdict.AGREES, ("holds",), 0)
    failed = row(**CALL, printed=[text], computed=claim(text, False), kind=Kind.STATEMENT)
    assert (failed.verdict, failed.shown) == (RowVerdict.DISAGREES, ("not so",))


@pytest.mark.parametrize(
    ("printed", "kind", "count"),
    [
        (["2000 = f2 + f3 + 3 f4 + 10 f12"], Kind.NUMBERS, 3),
        (["1/7", "1/7"], Kind.NUMBERS, 2),
        (["5,510", "0.04", "-1.065", "—"], Kind.NUMBERS, 4),
        (["0.1253856143"], Kind.FORMULA, 0),
        (["O(f^−2) for (9)"], Kind.STATEMENT, 0),
        (["1108 < 24 × 14"], Kind.STATEMENT, 3),
    ],
)
def test_numbers_are_counted(printed, kind, count):
    found = row(**CALL, printed=printed, computed=[None] * len(printed), kind=kind)
    assert found.n_numbers == count


@pytest.mark.parametrize(("computed", "errors"), [([1], []), ([1, 2, 3], []), ([1, 2], [0.1])])
def test_numbers_must_match_in_number(computed, errors):
    with pytest.raises(ValueError, match="must be"):
        row(**CALL, printed="1 2", computed=computed, errors=errors)


def test_json_of_large_numbers_has_no_marks_of_thousands():
    found = row(**CALL, printed="82,938,779", computed=82_938_779)
    assert found.to_json()["computed"] == "82938779"
    assert found.shown == ("82,938,779",)


def test_json():
    found = row(**CALL, printed="9 17", computed=[8, 17], note="six primes", slip="some-page")
    got = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert got == {
        "paper": "polettini",
        "figure": "(1)",
        "printed": "9 17",
        "computed": "8 17",
        "verdict": "paper slip",
        "note": "six primes",
        "kind": "numbers",
        "numbers": 2,
        "values": [
            {"printed": "9", "computed": 8, "agrees": False},
            {"printed": "17", "computed": 17, "agrees": True},
        ],
        "page": "docs/slips/some-page.md",
    }


def missing():
    raise NotComputedError("12 effective draws are too few")


@pytest.mark.parametrize(
    "parts",
    [
        {"computed": missing},
        {"computed": [0.5, 0.5], "note": missing},
        {"computed": [0.5, 0.5], "errors": missing, "simulated": "draws"},
        {"computed": missing, "slip": "some-page"},
    ],
)
def test_a_figure_that_cannot_be_had_keeps_its_row_and_says_why(parts):
    found = row(**CALL, printed="0.50 0.50", **parts)
    assert found.verdict is RowVerdict.NOT_COMPUTED
    assert found.shown == ("–",)
    assert found.note == "not computed: 12 effective draws are too few"
    assert found.link is None
    assert found.n_numbers == 0
    got = found.to_json()
    assert got["unavailable"] == "12 effective draws are too few"
    assert [one["computed"] for one in got["values"]] == [None, None]


def test_what_may_fail_is_computed_where_it_does_not():
    found = row(**CALL, printed="0.50", computed=lambda: 0.5, note=lambda: "by hand")
    assert (found.verdict, found.note) == (RowVerdict.AGREES, "by hand")


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda: available(Unavailable("no time")), "no time"),
        (lambda: value_of(Unavailable("no time")), "no time"),
        (lambda: value_of(None), "no single value"),
        (lambda: value_of(Figure(value=None, how=How.BOUND, low=0, high=1)), "no single value"),
        (lambda: number_of(Count(value=None, how=None, note="too large")), "too large"),
        (lambda: number_of(Count(value=None, how=None)), "could not be counted"),
    ],
)
def test_missing_figures_give_their_reason(ask, reason):
    with pytest.raises(NotComputedError, match=reason):
        ask()
