"""A choice in words, and the map as a picture."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.choice.candidates import Proposal, margin_proposals
from discreet.choice.choice import Standing
from discreet.choice.measures import Measure
from discreet.choice.options import ChooseOptions
from discreet.choice.risk_utility import risk_utility
from discreet.data.table import Table
from discreet.figures import Figure, How, Unavailable
from discreet.report.choose.document import choose_document
from discreet.report.choose.json import choose_json
from discreet.report.choose.words import (
    cap_words,
    headline,
    number,
    ordered,
    reasons,
    risk_words,
    short,
    standing_words,
    unknown_words,
    worth_number,
)
from discreet.report.render_html import page_of
from discreet.report.risk_utility_plot import Dot, risk_utility_plot
from discreet.tables.refused_margin import RiskMeasure

TABLE = Table.of_dense(np.array([[2, 1], [0, 5]]), ["<b>a</b>", "b"], [["x", "y"], ["p & q", "r"]])


def choose_html(source, found):
    return page_of(choose_document(source, found))


def found_of(max_risk=0.5, policy=RiskMeasure.CELLS, **more):
    options = ChooseOptions(max_risk=max_risk, measure=Measure(kind=policy), **more)
    return risk_utility(TABLE, margin_proposals(TABLE), options)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (1, "1"), (-742, "-742"), (0.25, "0.25"), (1 / 3, "0.3333"), (0.1 + 0.2, "0.3"),
     (1 / 87_481, "1 in 87,481"), (4e-27, "< 1 in 10^12"), (0.9999999999999, "1"), (0.99999, "> 0.9999"),
     (-0.00001, "-0")],
)  # fmt: skip
def test_numbers(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    ("risk", "expected"),
    [
        (Unavailable("x"), "not known"),
        (Figure(value=-3, how=How.EXACT), "−3"),
        (Figure(value=None, low=0.25, high=1.0, how=How.BOUND), "at least 0.25"),
        (Figure(value=0.2, how=How.ESTIMATE, standard_error=0.05), "0.2 ± 0.05"),
        (Figure(value=0.2, low=0.1, high=0.3, how=How.ESTIMATE), "0.2 (0.1 to 0.3)"),
        (Figure(value=0.0, low=0.0, high=0.0, how=How.ESTIMATE), "about 0"),
    ],
)
def test_risks(risk, expected):
    assert risk_words(risk) == expected


def test_no_minus_zero():
    assert worth_number(-0.0001) == "0.000"
    assert worth_number(-0.25) == "−0.250"


def test_the_decision_in_words():
    assert headline(found_of(1.0, targets=())) == "Release: [<b>a</b> b]."
    assert headline(found_of(-8.0, RiskMeasure.BOUNDS)) == "Release nothing."
    exceeded = found_of(-9.0, RiskMeasure.BOUNDS)
    assert headline(exceeded) == "Release nothing. The limit is exceeded even so."
    assert any("does not meet the limit either" in line for line in reasons(exceeded))
    assert cap_words(exceeded).startswith("limit: bounds of every small cell at least 9 wide")


def test_the_closest_release_is_named_where_none_is_within_the_cap():
    table = Table.of_dense(np.array([[2, 1], [1, 2]]), ["a", "b"])
    asked = ChooseOptions(max_risk=-6.0, measure=Measure(kind=RiskMeasure.BOUNDS, small=3))
    said = next(reasons(risk_utility(table, margin_proposals(table), asked)))
    assert re.match(r"No release is within the limit of −6\. The closest is \[.*\] at 0\.", said)


def test_long_titles_are_cut_and_told_in_full_once():
    assert short("[a b][c]", 40) == "[a b][c]"
    long = "".join(f"[variable_{i} variable_{i + 1}]" for i in range(9))
    assert len(short(long, 60)) == 60
    assert short(long, 60).endswith("… (9 tables)")


def test_the_choice_comes_first():
    found = found_of()
    assert ordered(found)[0] == found.choice.chosen


def test_the_page_escapes_what_it_shows():
    text = choose_html("<script>.csv", found_of(1.0))
    assert "<b>a</b>" not in text
    assert "<script>" not in text
    assert "&lt;b&gt;a&lt;/b&gt;" in text


@pytest.mark.parametrize(
    ("policy", "cap"),
    [(RiskMeasure.CELLS, 0.5), (RiskMeasure.TABLE, 0.1), (RiskMeasure.BOUNDS, -2.0)],
)
def test_pages_of_every_measure(policy, cap):
    text = choose_html("t", found_of(cap, policy))
    assert "the frontier" in text
    assert "the choice" in text


def test_json_of_one_without_a_mask():
    found = choose_json(found_of(-9.0, RiskMeasure.BOUNDS))
    assert "chosen" not in found
    assert found["min_width"] == 9


def boxes(svg):
    """Each label's place in the picture, by the size that its letters take."""
    for match in re.finditer(r'<text style="([^"]*)"([^>]*)>(\[[^<]*\])</text>', svg):
        x, y = map(float, re.search(r'x="([-\d.]+)" y="([-\d.]+)"', match[2]).groups())
        width = 0.5 * 8 * len(match[3])
        left = x - width if "text-anchor: end" in match[1] else x
        yield left, y - 4, left + width, y + 4


def test_labels_do_not_overlap():
    rng = np.random.default_rng(1)
    dots = [
        Dot(title=f"[name {i} of some length]", risk=r, worth=w, standing=Standing.WITHIN,
            is_named=True, is_chosen=i == 0)
        for i, (r, w) in enumerate(rng.random((30, 2)).round(1))
    ]  # fmt: skip
    svg = risk_utility_plot(dots, [(0.1, 0.5), (0.5, 0.9)], 0.4, "cells")
    placed = list(boxes(svg))
    assert len(placed) > 3
    for i, one in enumerate(placed):
        for other in placed[i + 1 :]:
            apart_x = one[2] <= other[0] or other[2] <= one[0]
            assert apart_x or one[3] <= other[1] or other[3] <= one[1]


def test_the_picture_is_the_same_for_the_same_map():
    dot = Dot(title="a", risk=0.0, worth=1.0, standing=Standing.ABOVE, high=0.5)
    drawn = [risk_utility_plot([dot], [], 0.1, scale) for scale in ("cells", "cells", "table")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert "above the limit" in drawn[0]


def test_a_range_is_shown_whole_unless_it_is_open():
    def between(low, high):
        return risk_words(Figure(value=None, low=low, high=high, how=How.BOUND))

    assert between(-6, -3) == "−6 to −3"
    assert between(-6, 0) == "at least −6"
    assert between(0.25, 1.0) == "at least 0.25"


def test_figures_have_names_for_notebooks():
    page = choose_html("t", found_of())
    assert '<figure role="img" id="risk-utility" aria-label=' in page


def test_what_cannot_be_made_is_told_from_what_is_not_known():
    fits = Proposal("late", lambda: Unavailable("no pattern within 3 s; allow more"))
    never = Proposal("never", lambda: Unavailable("no pattern is safe"))
    found = risk_utility(TABLE, [fits, never], ChooseOptions(max_risk=0.5))
    said = list(unknown_words(found))
    assert said == [
        "Risk not known of late: no pattern within 3 s; allow more.",
        "Cannot be made: never: no pattern is safe.",
    ]
    assert [standing_words(found, i) for i in (1, 2)] == ["not known", "not made"]


@pytest.mark.parametrize("noise", [-1e-15, 0.0, 1e-15])
def test_candidates_worth_as_much_keep_their_order(noise):
    def one(worth):
        return SimpleNamespace(worth=worth)

    worths = [0.25, None, 0.5, 0.25 + noise, 0.5 - noise, 0.0, abs(noise)]
    found = SimpleNamespace(candidates=[one(w) for w in worths], choice=SimpleNamespace(chosen=3))
    assert ordered(found) == [3, 2, 4, 0, 5, 6, 1]
