"""Count statistics on the terminal, as JSON and as a page: the truth for the holder only."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from discreet.compoisson.goodness import Goodness
from discreet.compoisson.knowledge import Knowledge
from discreet.figures import Unavailable
from discreet.report.counts import print_counts
from discreet.report.counts_json import counts_json
from discreet.report.counts_page import counts_html
from discreet.report.plots import solutions_plot
from discreet.risk.count_assessment import CountOptions, assess_counts, assess_statistics

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
HOLDER = assess_counts(DISASTERS, CountOptions(max_risk=0.2, knowledge=Knowledge(largest=4)))
SNOOPER = assess_statistics(51, 61, {2: 20, 3: 7})


def shown(assessment):
    stream = io.StringIO()
    print_counts(Console(file=stream, width=80, highlight=False, markup=False), assessment, "x")
    return stream.getvalue()


@pytest.mark.parametrize("assessment", [HOLDER, SNOOPER], ids=["holder", "snooper"])
def test_it_fits_80_columns(assessment):
    assert max(map(len, shown(assessment).splitlines())) <= 80


def test_both_priors_and_which_is_right():
    text = " ".join(shown(SNOOPER).split())
    assert "multinomial (right) 0.606 3.14 0.470" in text
    assert "uniform (as printed) 0.356 7 0.143" in text
    assert "uniform figure, 1/entropy = 0.356, understates the leak: it is 0.606." in text
    assert "0 11–17 0.387 0.263 16 0.470" in text


def test_the_truth_is_for_the_holder_only():
    for text in (shown(SNOOPER), json.dumps(counts_json(SNOOPER)), counts_html(SNOOPER, "x")):
        assert "true table" not in text.replace("true_table", "")
        assert "confidential" not in text
    assert "the true table" in shown(HOLDER)
    page = counts_html(HOLDER, "x")
    assert "as confidential as the data" in page
    assert "The true table is dashed, in red." in page


def test_the_verdict_is_told_everywhere():
    said = HOLDER.verdict.sentence
    assert " ".join(said.split()) in " ".join(shown(HOLDER).split())
    assert counts_json(HOLDER)["verdict"]["sentence"] == said
    assert "Release S2 with 0 decimals only" in counts_html(HOLDER, "x")


def test_knowledge_before_and_after():
    text = " ".join(shown(HOLDER).split())
    assert "tables 7 6" in text
    assert "true table 0.363 0.405" in text


def test_a_bad_fit_is_a_warning():
    bad = Goodness(
        groups=(),
        statistic=100.0,
        degrees_of_freedom=4,
        p_value=0.002,
        p_value_standard_error=0.001,
        chi_square_p_value=None,
        draws=499,
    )
    found = replace(SNOOPER, table=DISASTERS, goodness=bad)
    for text in (shown(found), counts_html(found, "x")):
        assert "COM-Poisson fits these counts badly (p = 0.002)" in " ".join(text.split())
    assert counts_json(found)["warnings"]


def test_one_table_left():
    found = assess_counts({0: 3, 1: 4})
    text = " ".join(shown(found).split())
    assert "Tables consistent with it: 1 (exact)" in text
    assert "Nothing to fit: all observations are 0 or 1" in text
    told = counts_json(found)
    assert told["bounds"][0]["dr_printed"] is None
    assert told["bounds"][0]["dr"] == 1
    assert told["priors"]["multinomial"]["global_dr"] is None
    assert "one table" in told["priors"]["multinomial"]["reasons"]["global_dr"]
    assert "<svg" in counts_html(found, "x")


def test_nothing_found_says_why():
    none = Unavailable("the search does not fit")
    risks = {"multinomial": none, "uniform": none}
    found = replace(SNOOPER, found=none, risks=risks, likely=none)
    assert "not known: the search does not fit" in shown(found)
    assert counts_json(found)["n_solutions"]["reason"] == "the search does not fit"
    assert counts_json(found)["priors"]["uniform"]["global_dr"] is None
    assert "the search does not fit" in counts_html(found, "x")


def test_zeros_come_in_with_a_range_of_n():
    options = CountOptions(withhold_n=True, knowledge=Knowledge(n=(50, 52)))
    text = " ".join(shown(assess_counts(DISASTERS, options)).split())
    assert "the two are not about the same tables" in text


def test_lines_of_the_plot():
    tables = np.array([[16, 17, 11], [15, 20, 9]])
    plain = solutions_plot(tables, [0.6, 0.4])
    marked = solutions_plot(tables, [0.6, 0.4], [15, 20, 9])
    assert "true table" not in plain
    assert "true table" in marked
    assert "<image" not in marked  # the page's policy shows none
    assert solutions_plot(tables, [0.6, 0.4]) == plain
    assert "<svg" in solutions_plot(tables * 1000, [1e-12, 1e-300])
