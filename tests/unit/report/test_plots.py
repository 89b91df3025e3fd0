"""Pictures are plain SVG: no script, labels as they are, the same for the same data."""

import xml.etree.ElementTree as ElementTree

import pytest

from discreet.report import plots

HOSTILE = [
    "<script>alert(1)</script>",
    "a & b",
    "cost_$_low_$_x",
    "$\\frac$",
    "-->",
    "]]>",
    "年龄",
    "😀",
    "العربية",
    "tab\there",
    "line\nbreak",
    "nul\x00",
    "esc\x1b[2J",
    "surrogate \udcff",
    "x" * 3000,
    "",
]


def text_of(svg):
    return "".join(ElementTree.fromstring(svg).itertext())


def test_any_name_can_be_drawn():
    svg = plots.contribution_plot(HOSTILE, [0.5] * len(HOSTILE))
    assert "<script" not in svg
    shown = text_of(svg.encode("utf-8", errors="backslashreplace").decode())
    for label in HOSTILE:
        assert not label.isprintable() or label[:27] in shown


def test_the_same_data_give_the_same_bytes():
    draw = lambda: plots.anonymity_plot([2, 3, 5], [0.1, 0.2, 0.4])  # noqa: E731
    assert draw() == draw()


@pytest.mark.parametrize(
    ("sizes", "cells"),
    [([1], [1]), ([5], [1]), ([1, 2, 1000], [7, 1, 1]), ([10**9], [1]), ([], [])],
)
def test_sizes(sizes, cells):
    assert ElementTree.fromstring(plots.size_index_plot(sizes, cells)).tag.endswith("svg")


@pytest.mark.parametrize("records", [[0, 0, 0, 0], [1, 0, 0, 10**9]])
def test_risks(records):
    svg = plots.risk_plot(["a", "b", "c", "d"], records)
    assert "risk of a record" in text_of(svg)


@pytest.mark.parametrize("n", [0, 1, 30])
def test_contributions_of_any_number_of_keys(n):
    svg = plots.contribution_plot([f"key {i}" for i in range(n)], [1 / (i + 1) for i in range(n)])
    assert all(f"key {i}" in text_of(svg) for i in range(n))
