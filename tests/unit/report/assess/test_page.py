"""The internal report holds everything, escaped, in one file."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

from discreet.data.table import Table
from discreet.errors import InputError, OutputError
from discreet.flows import assess as module
from discreet.flows.audit import audit
from discreet.flows.choose import choose
from discreet.flows.counts import assess_counts
from discreet.flows.plan import plan
from discreet.report.assess.document import assess_document
from discreet.report.render_html import page_of
from discreet.report.writing import write_report

assess = partial(module.assess, models="sample_frequency")
HOSTILE = ["<script>alert('x')</script>", "a & b", '"><img src=x>', "{{ 7 * 7 }}", "年龄", "a\x00b"]


def internal_html(assessment):
    return page_of(assess_document(assessment))


def text(page):
    """The page without its style, its pictures and its tags."""
    page = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_it_holds_the_figures_and_the_riskiest_combinations():
    frame = pd.DataFrame({"town": ["x"] * 40 + ["Unterwald"], "w": [2.0] * 41})
    page = text(internal_html(assess(frame, ["town"], weight="w")))
    assert "Disclosure risk of the data frame" in page
    assert "41 records, population of 82 (the sum of the weights), 1 key" in page
    assert "2 cells occupied of 2 possible" in page
    assert "Unterwald" in page
    assert "as confidential as the data" in page
    assert "sample_frequency" in page


def test_levels_names_and_labels_are_escaped(tmp_path):
    frame = pd.DataFrame({name: [*HOSTILE, "x", "x"] for name in HOSTILE})
    write_report(assess(frame, HOSTILE), tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") >= 2
    assert "{{ 7 * 7 }}" in page


def test_it_needs_nothing_from_elsewhere():
    page = internal_html(assess(pd.DataFrame({"a": [1, 2, 2]}), ["a"]))
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", page)
    assert not re.findall(r"url\((?!#|['\"]?#)", page)


@pytest.mark.parametrize(
    "column",
    [[1], [1] * 30, [None] * 3, [*range(5), *[9] * 1000]],
    ids=["one", "constant", "missing", "mixed"],
)
def test_extreme_files_have_a_report(tmp_path, column):
    found = assess(pd.DataFrame({"a": column, "w": [0.01] * len(column)}), ["a"], weight="w")
    write_report(found, tmp_path / "e.html", external=True)
    write_report(found, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "population of 0 " not in page
    assert "nan" not in text(page).casefold().split()


def test_a_table_beyond_all_floats():
    page = text(internal_html(assess(pd.DataFrame({"a": [1, 2]}), ["a"], cells=2**1100)))
    assert "cells occupied of about 10^331 possible" in page


def test_the_old_report_stays_when_the_new_cannot_be_written(tmp_path):
    found = assess(pd.DataFrame({"a": [1, 2, 2]}), ["a"])
    with pytest.raises(OutputError):
        write_report(found, tmp_path / "nowhere" / "r.html")
    with pytest.raises(InputError, match="path must be a file that ends in .html"):
        write_report(found, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_same_data_give_the_same_page():
    draw = lambda: internal_html(assess(pd.DataFrame({"a": [1, 2, 2]}), ["a"]))  # noqa: E731
    assert draw() == draw()


def test_without_a_population_the_chart_shows_the_most_that_the_risk_can_be():
    page = text(internal_html(assess(pd.DataFrame({"a": [1, 2, 2]}), ["a"])))
    assert "The most that the risk can be. The intruder knows that the person is in" in page


def test_models_that_nobody_named_are_closed_on_the_page():
    frame = pd.DataFrame({"a": [*range(60), *[9] * 60]})
    every = internal_html(module.assess(frame, ["a"], population=900, all_models=True))
    assert re.search(r"<details.*?What each model says", every, flags=re.DOTALL)
    named = internal_html(assess(frame, ["a"], population=900))
    assert "What each model says" in named
    assert "<details" not in named
    assert "What each model says" not in internal_html(module.assess(frame, ["a"], population=900))


def test_the_report_of_every_result_can_be_written(tmp_path):
    table = Table.of_dense(np.array([[3, 1], [2, 4]]), ["a", "b"])
    results = [
        audit(table, [["a"]]),
        choose(table, "margins", max_risk=0.5, seed=1),
        assess_counts({0: 3, 1: 2, 2: 1}),
        plan(100, 1000, "0.1")[0],
    ]
    for i, result in enumerate(results):
        write_report(result, tmp_path / f"{i}.html")
        assert "<html" in (tmp_path / f"{i}.html").read_text(encoding="utf-8")
        write_report(result, tmp_path / f"{i}-external.html", external=True)
        outside = (tmp_path / f"{i}-external.html").read_text(encoding="utf-8")
        assert "no combination, level or small count is shown" in outside
    with pytest.raises(InputError, match="result must be one of Assessment, .* is external"):
        write_report({}, tmp_path / "e.html", external=True)
    with pytest.raises(InputError, match="result must be one of Assessment, Attack, Audit"):
        write_report({}, tmp_path / "x.html")
