"""Categories in words: joint figures from the sets alone, and what is said where some are missing."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.showing import page_words, terminal_lines, terminal_words

from discreet.belief.count_belief import CellDistribution
from discreet.count_tables.com_poisson.regression import regress_sets
from discreet.count_tables.release import release_of
from discreet.count_tables.statistics import CountStatistics
from discreet.fiber.sums.counting import Count
from discreet.figures import How, Unavailable
from discreet.flows.counts import assess_categories
from discreet.report.counts.categories import (
    CategoriesView,
    _surest_alone,
    _surest_jointly,
    alone_jointly,
    beside_lines,
    categories_document,
    categories_view,
    joint_notes,
    joint_rows,
    own_rows,
    scope,
    verdict_rows,
)
from discreet.report.counts.categories_json import categories_json, regression_json
from discreet.report.counts.fit import regression_notes, regression_rows

TABLES = {"a": {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}, "b": {0: 10, 1: 12, 2: 7, 3: 2, 4: 1}}
STATISTICS = {name: CountStatistics.of_counts(table) for name, table in TABLES.items()}
HOLDER = CategoriesView(
    source="x.csv",
    variables=("k",),
    found=assess_categories(TABLES, max_risk=0.9),
    releases={name: release_of(one) for name, one in STATISTICS.items()},
    tables=TABLES,
    beside=(),
    known=(),
    likely={},
    regression=None,
    bayes={},
    max_risk=0.9,
)
INTRUDER = replace(HOLDER, found=assess_categories(sets=STATISTICS), tables=None, max_risk=None)


def test_figures_of_independent_tables_multiply():
    figures = alone_jointly(HOLDER)
    risks = [HOLDER.found.alone[name] for name in "ab"]
    assert figures.tables == "28"
    assert figures.truth.value == pytest.approx(
        risks[0].truth_probability.value * risks[1].truth_probability.value
    )
    assert figures.entropy.value == pytest.approx(HOLDER.found.joint.entropy.value)


def test_a_category_without_figures_is_told_with_the_reason():
    lost = Unavailable("time is up")
    found = replace(HOLDER.found, alone={**HOLDER.found.alone, "b": lost})
    view = replace(HOLDER, found=found)
    assert alone_jointly(view) is None
    assert own_rows(view)[1] == ("b", "–", "–", "–", "–", "–")
    assert "No figures for b: time is up." in list(joint_notes(view))
    told = categories_json(view)
    assert told["categories"][1]["alone"] == {"unavailable": "time is up"}
    assert "unavailable" in told["sets_alone"]


def test_nothing_known_jointly():
    view = replace(HOLDER, found=replace(HOLDER.found, joint=Unavailable("too many")))
    assert categories_json(view)["joint"] == {"unavailable": "too many"}
    assert "too many" in page_words(categories_document(view))


def test_limits_are_told_where_every_table_was_seen():
    cell = categories_json(HOLDER)["categories"][0]["joint_cells"][4]
    assert (cell["lower"], cell["upper"]) == (0, 6)
    joint = HOLDER.found.joint
    drawn = {
        name: replace(distribution, how=How.ESTIMATE)
        for name, distribution in joint.distributions.items()
    }
    found = replace(HOLDER.found, joint=replace(joint, distributions=drawn))
    cell = categories_json(replace(HOLDER, found=found))["categories"][0]["joint_cells"][4]
    assert not {"lower", "upper"} & set(cell)


def test_the_verdict_is_the_assessment_s():
    told = categories_json(HOLDER)["verdict"]
    assert told == HOLDER.found.verdict.to_json()
    assert told["verdict"] == "kept"
    assert "Verdict: may go out" in page_words(categories_document(HOLDER))
    assert "verdict" not in categories_json(INTRUDER)


def test_each_category_has_its_verdict_and_what_would_help():
    tables = TABLES | {"c": {0: 3, 1: 4, 2: 1}}
    view = categories_view("x.csv", assess_categories(tables, max_risk=0.6))
    rows = list(verdict_rows(view))
    assert [row[:2] for row in rows] == [
        ("c", "may not go out"),
        ("a", "may go out"),
        ("b", "may go out"),
    ]
    shown = " ".join(terminal_words(categories_document(view)).split())
    assert "What goes out of a and b may go out as it stands." in shown
    told = {one["category"]: one for one in categories_json(view)["categories"]}
    assert told["a"]["verdict"]["verdict"] == "kept"
    assert told["c"]["verdict"]["verdict"] == "broken"
    advice = view.found.advice["c"]
    assert told["c"]["decision"] == advice.decision.value
    assert told["c"].get("decimals") == advice.decimals
    wanted = f"Of c release S2 with {advice.decimals} decimal"
    assert (wanted in shown) == (advice.decimals is not None)


def test_words_around_the_sets():
    assert scope(HOLDER) == "x.csv: 2 categories by k"
    view = replace(HOLDER, beside=("the table by ward",), known=("f2 is 5",))
    assert list(beside_lines(view)) == [
        "Also out: the table by ward.",
        "Known of every category: f2 is 5.",
    ]


def test_no_truth_for_an_intruder():
    page = page_words(categories_document(INTRUDER))
    assert "true" not in page.replace("true_", "")
    told = categories_json(INTRUDER)
    assert all("count" not in cell for one in told["categories"] for cell in one["joint_cells"])
    assert "surest_count" not in told["joint"]


def test_a_regression_in_words():
    sets = [({"k": name}, one) for name, one in STATISTICS.items()]
    found = regress_sets(sets)
    rows = regression_rows(found.common)
    assert [row[0] for row in rows] == ["intercept", "k=b", "dispersion"]
    assert rows[0][3] == ""
    assert float(rows[1][3]) == pytest.approx(2.718281828 ** float(rows[1][1]), rel=5e-3)
    assert any(
        note.startswith("The rate is not shown to differ") for note in regression_notes(found)
    )
    lost = replace(found, common=Unavailable("no maximum"), effect_test=Unavailable("no test"))
    notes = list(regression_notes(lost))
    assert "With one dispersion for all categories there is no fit: no maximum." in notes
    assert "The rate: no test, no test." in notes
    assert regression_json(lost)["common_dispersion"] == {"unavailable": "no maximum"}
    assert regression_json(Unavailable("n is withheld")) == {"unavailable": "n is withheld"}


@pytest.mark.parametrize("noise", [-1e-13, 0.0, 1e-13])
def test_of_counts_found_as_surely_the_first_is_named(noise):
    cells = [
        replace(cell, best_guess_probability=p, truth_probability=p)
        for cell, p in zip(HOLDER.found.joint_cells["a"], (0.5, 0.5 + noise, 0.5 - noise, 0, 0))
    ]
    assert _surest_jointly(HOLDER, "a", tuple(cells)) == "value 0: 0.500"
    assert _surest_jointly(INTRUDER, "a", tuple(cells)) == "value 0: 0.500"
    risk = INTRUDER.found.alone["a"]
    distributions = [
        CellDistribution(cell=j, support=np.arange(2), probabilities=np.array([p, 1 - p]), mean=0.5)
        for j, p in enumerate((0.6, 0.6 + noise, 0.4 - noise))
    ]
    distribution = replace(risk.distributions["multinomial"], cells=tuple(distributions))
    assert (
        _surest_alone(replace(risk, distributions={"multinomial": distribution}))
        == "value 0: 0.600"
    )


def test_single_figures_that_are_missing_say_why():
    none = Count(value=None, how=None, note="too many states")
    lost = replace(
        HOLDER.found.alone["b"],
        count=none,
        effective_tables=Unavailable("too large for a number"),
        best_guess_probability=Unavailable("draws cannot tell"),
    )
    found = replace(HOLDER.found, alone={**HOLDER.found.alone, "b": lost})
    view = replace(HOLDER, found=found, beside=("the table of all categories together",))
    lines = list(joint_notes(view))
    assert "No number of tables for b: too many states." in lines
    assert "No number of effective tables for b: too large for a number." in lines
    assert "No probability of the best guess for b: draws cannot tell." in lines
    alone = "No figures for all jointly from the sets alone: not known exactly for every category."
    assert alone in lines
    assert joint_rows(view)[0] == ("from the sets alone", "–", "–", "–", "–", "–")
    assert len(joint_rows(view)) == 2
    told = categories_json(view)["categories"][1]["alone"]
    assert told["best_guess_probability"] == {"unavailable": "draws cannot tell"}
    assert told["effective_tables"] == {"unavailable": "too large for a number"}
    assert told["n_solutions"] == {"unavailable": "too many states"}


def test_independent_figures_that_are_missing_say_why_in_json():
    lost = replace(HOLDER.found.alone["b"], best_guess_probability=Unavailable("draws cannot tell"))
    found = replace(HOLDER.found, alone={**HOLDER.found.alone, "b": lost})
    told = categories_json(replace(HOLDER, found=found))["sets_alone"]
    assert "exactly" in told["best_guess_probability"]["unavailable"]


def test_categories_that_are_not_drawn_say_why():
    view = replace(HOLDER, likely={"a": Unavailable("too many"), "b": Unavailable("too many")})
    assert "Not drawn: a and b, since too many." in page_words(categories_document(view))


def test_it_fits_80_columns_and_warnings_that_are_cut_are_in_the_full_view():
    many = replace(HOLDER.found, warnings=tuple(f"value {i} is found" for i in range(20)))
    view = replace(HOLDER, found=many)
    assert max(map(len, terminal_lines(categories_document(view)).splitlines())) <= 80
    short = terminal_words(categories_document(view))
    assert "Value 2 is found." in short
    assert "Value 3 is found." not in short
    assert "All figures and how they were got: --full" in short
    assert "Value 19 is found." in terminal_words(categories_document(view), full=True)
    assert "Value 19 is found." in page_words(categories_document(view))
