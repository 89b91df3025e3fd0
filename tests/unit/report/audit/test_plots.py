"""The plots of an audit draw what the data say: bars, their lengths, labels and colours."""

import re
from itertools import pairwise

import pytest

from discreet.report import plots

DISTRIBUTIONS = [{0: 0.25, 1: 0.75}, {0: 0.5, 1: 0.3, 2: 0.2}, {3: 1.0}]
TRUTHS = [1, 2, 0]
NAMES = ["male, Black", "female, Black", "male, White"]
BAR = re.compile(
    r'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [^"]*"[^>]*style="fill: (#\w+)[;"]', re.DOTALL
)


def bars(svg):
    """(left, right, colour) of each bar, in the order of drawing; the white ground left out."""
    found = [(float(a), float(b), colour) for a, b, colour in BAR.findall(svg)]
    return [bar for bar in found if bar[2] != "#ffffff"]


def texts(svg):
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg)


def test_a_bar_of_belief_has_a_part_for_each_count_as_long_as_it_is_probable():
    drawn = bars(plots.belief_plot(NAMES, DISTRIBUTIONS, TRUTHS))
    shares = [p for distribution in DISTRIBUTIONS for p in distribution.values()]
    assert len(drawn) == len(shares)
    whole = drawn[-1][1] - drawn[-1][0]  # the only part of the last bar, which is certain
    assert [(b - a) / whole for a, b, _ in drawn] == pytest.approx(shares, abs=1e-3)


def test_the_true_count_alone_is_red():
    drawn = bars(plots.belief_plot(NAMES, DISTRIBUTIONS, TRUTHS))
    is_true = [
        q == t for distribution, t in zip(DISTRIBUTIONS, TRUTHS, strict=True) for q in distribution
    ]
    assert [colour == plots.RED for *_, colour in drawn] == is_true


def test_cells_are_named_and_parts_carry_their_count():
    drawn = texts(plots.belief_plot(NAMES, DISTRIBUTIONS, TRUTHS))
    assert set(NAMES) <= set(drawn)
    assert [t for t in drawn if t in "0123"][-6:] == ["0", "1", "0", "1", "2", "3"]


def test_neighbouring_counts_differ_in_colour():
    distribution = dict.fromkeys(range(10), 0.1)
    colours = [colour for *_, colour in bars(plots.belief_plot(["cell"], [distribution], [99]))]
    assert all(a != b for a, b in pairwise(colours))
    assert plots.RED not in colours


def test_weights_are_bars_in_their_order_and_length():
    names, weights = ["saturated", "[a b][b c]", "[a b c][c d]"], [0.6, 0.3, 0.1]
    svg = plots.weights_plot(names, weights)
    drawn = bars(svg)
    longest = drawn[0][1] - drawn[0][0]
    assert [(b - a) / longest for a, b, _ in drawn] == pytest.approx([1, 0.5, 1 / 6], abs=1e-3)
    assert set(names) <= set(texts(svg))
    assert "probability of the model" in texts(svg)


def test_a_sequence_has_a_line_for_each_cell_with_a_point_where_it_is_known():
    cells = {"one": [0.1, 0.5, 0.9], "two": [None, 0.2, 0.3]}
    svg = plots.sequence_plot(["1", "2", "3"], cells)
    one, two = (line_of(svg, colour) for colour in ("1f77b4", "ff7f0e"))
    assert (len(one), len(two)) == (3, 2)
    assert [x for x, _ in two] == [x for x, _ in one[1:]]
    steps = [one[i][1] - one[i + 1][1] for i in (0, 1)]  # downward coordinates
    assert steps[0] == pytest.approx(steps[1])
    assert two[0][1] - two[1][1] == pytest.approx(steps[0] / 4)
    assert {"one", "two", "1", "2", "3"} <= set(texts(svg))


def line_of(svg, colour):
    """The points of the first line of a colour."""
    path = re.search(rf'<path d="([^"]*)" style="fill: none; stroke: #{colour}', svg)
    assert path is not None
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", path[1])]
