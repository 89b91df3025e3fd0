"""An audit in words: units beside figures, no sign that needs explaining, limits said as limits."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.figures import Figure, How, Unavailable
from discreet.flows.audit import audit
from discreet.report.audit.words import (
    SMALLEST,
    brief_words,
    measure_words,
    most_exposed,
    outcome_cell,
    probability_words,
    rule_words,
    small_cells_words,
    tiny,
)
from discreet.tables.audit import main_view
from discreet.tables.audit_options import AuditOptions
from discreet.tables.measures import TOO_SMALL
from discreet.tables.refused_margin import RefusalRule, RiskMeasure

TABLE = Table.of_dense(np.array([[[3, 1], [0, 2]], [[2, 4], [1, 0]]]), ["a", "b", "c"])
SETS = [["a", "b"], ["b", "c"]]


def exact(value, **more):
    return Figure(value=value, how=How.EXACT, **more)


@pytest.mark.parametrize(
    ("figure", "words", "brief"),
    [
        (exact(-57), "57 counts wide", "57 counts"),
        (exact(-1), "1 count wide", "1 count"),
        (exact(0), "known for certain", "0"),
        (Figure(value=None, low=-74, high=0, how=How.BOUND), "at most 74 counts wide",
         "at most 74 counts"),
        (Unavailable("why"), "–", "–"),
    ],
)  # fmt: skip
def test_bounds_are_told_by_their_width_without_a_sign(figure, words, brief):
    assert measure_words("bounds", figure, 4) == words
    assert brief_words("bounds", figure) == brief


def test_a_share_is_told_with_its_cells_and_a_number_of_cells_as_one():
    assert measure_words("small_cells_identified", exact(0.25), 4) == "25.0 % (1 of 4)"
    guess = Figure(value=0.25, low=0.0, high=0.75, how=How.ESTIMATE)
    assert measure_words("small_cells_identified", guess, 4) == "25.0 % (1 of 4; 0 to 3 by draws)"
    assert brief_words("small_cells_identified", guess) == "25.0 %, up to 75.0 %"
    assert measure_words("expected_identified", exact(1.86), 4) == "1.86 of 4 cells"
    assert measure_words("entropy", exact(11.93), 4) == "11.93 bits"


def test_probabilities_too_small_to_write_are_one_in_so_many():
    assert outcome_cell(exact(1 / 59_400)) == "1 in 59,400"
    spread = Figure(value=1e-4, how=How.ESTIMATE, standard_error=2e-6)
    assert outcome_cell(spread) == "1 in 10,000 ± 2 %"
    assert tiny(2.5e-40) == "1 in 10^39"
    assert outcome_cell(exact(0.0, note=TOO_SMALL)) == "less than 1 in 10^300"
    limit = Figure(value=None, low=0.0, high=1 / 5000, how=How.BOUND)
    assert outcome_cell(limit) == "at most 1 in 5,000"


def test_an_estimated_probability_carries_its_error():
    assert probability_words({0: 0.585, 1: 0.415}, 1) == "0.415"
    assert probability_words({0: 0.585, 1: 0.415}, 1, 0.0213) == "0.415 ± 0.02"
    assert probability_words({0: 1.0}, 1) == "0"


@pytest.mark.parametrize(
    ("policy", "limit", "words"),
    [
        (
            RiskMeasure.BOUNDS,
            -3,
            "the narrowest bounds of a small cell would be less than 3 counts wide",
        ),
        (RiskMeasure.TABLE, 0.1, "the probability of the true table would be above 0.1"),
        (RiskMeasure.CELLS, 0.2, "the share of small cells identified would be above 20 %"),
    ],
)
def test_a_rule_in_words(policy, limit, words):
    rule = RefusalRule(measure=policy, max_risk=limit, small=2, confidence=0.5)
    assert words in rule_words(rule)


def test_a_verdict_says_the_policy_and_the_figure():
    found = audit(TABLE, SETS, AuditOptions(measure=RiskMeasure.BOUNDS, max_risk=-9))
    assert found.verdict is not None
    said = found.verdict.rules[0].words
    wanted = "the narrowest bounds of a small cell are 1 wide; they must be at least 9 wide."
    assert said == wanted


def test_the_most_exposed_cells_come_first_where_not_all_are_shown():
    found = audit(TABLE, SETS)
    name = main_view(found)
    assert most_exposed(found, name, 10) == list(range(len(found.small_cells)))
    distributions = found.views[name].distributions
    known = [
        distribution.get(c.truth, 0.0)
        for distribution, c in zip(distributions, found.small_cells, strict=True)
    ]
    first = most_exposed(found, name, 2)
    assert sorted(known, reverse=True)[:2] == [known[i] for i in first]


def test_measures_of_some_of_the_small_cells_say_so():
    found = audit(TABLE, SETS)
    assert small_cells_words(found, "expected_identified") == "the small cells"
    some = replace(found, n_small=9, n_measured=4)
    for measure in ("small_cells_identified", "expected_identified"):
        assert small_cells_words(some, measure) == "the 4 small cells looked at, of 9,"
    known = replace(found, n_small=9, n_measured=9)
    assert small_cells_words(known, "small_cells_identified") == "the small cells"


@pytest.mark.parametrize("bits", [-4, -1, 0, 1])
def test_a_certain_count_is_told_as_such_whatever_rounding_does(bits):
    assert probability_words({3: 1.0 * (1 + bits * 2**-53)}, 3) == "1"
    assert probability_words({3: 1.0}, 3, abs(bits) * 1e-9) == "1"
    assert measure_words("entropy", exact(abs(bits) * 1e-14), 4) == "0 bits"
    for sure in (0.99999, 1 - 1e-11, 1.0 * (1 + bits * 2**-53)):
        assert probability_words({3: sure, 4: 1e-11}, 3) == "> 0.999"
    assert measure_words("entropy", exact(3.7e-10), 4) == f"less than {SMALLEST:g} bits"
    assert measure_words("true_table", exact(1 - 1e-11), 4) == "> 0.9999"
    assert measure_words("true_table", exact(1.0), 4) == "1"


@pytest.mark.parametrize("seed", range(3))
def test_cells_as_exposed_keep_their_order(seed):
    found = audit(TABLE, SETS)
    name = main_view(found)
    cells = (found.small_cells * 2)[:6]
    noise = np.random.default_rng(seed).integers(-3, 4, 6) * 2.0**-52
    distributions = [{cell.truth: p * (1 + e)} for cell, p, e in zip(cells, [0.1, 0.5] * 3, noise)]
    widths = [replace(c, lower=0, upper=w) for c, w in zip(cells, [1, 2, 1, 2, 1, 0])]
    view = replace(found.views[name], distributions=distributions)
    tied = replace(found, small_cells=tuple(widths), views={name: view})
    assert most_exposed(tied, name, 4) == [5, 1, 3, 0]


def test_many_small_cells_come_by_exposure_and_few_in_the_order_of_the_table():
    found = audit(TABLE, SETS)
    name, n = main_view(found), len(found.small_cells)
    assert most_exposed(found, name, 100, at_once=n) == list(range(n))
    known = [view.get(c.truth, 0.0) for view, c in zip(found.views[name].distributions,
                                                      found.small_cells, strict=True)]  # fmt: skip
    first = most_exposed(found, name, 100, at_once=1)
    assert [known[i] for i in first] == sorted(known, reverse=True)
