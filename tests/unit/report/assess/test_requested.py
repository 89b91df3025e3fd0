"""Figures on request: every one with its words, on the terminal, on the page and as JSON."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.unit.report.showing import terminal_words

from discreet.errors import InputError
from discreet.flows.assess import assess
from discreet.report.assess.document import assess_document
from discreet.report.assess.json import assessment_json
from discreet.report.assess.requested import requested_sections
from discreet.report.document import Table
from discreet.report.render_html import page_of

RNG = np.random.default_rng(5)
N = 300
FRAME = pd.DataFrame(
    {
        "a": RNG.integers(0, 6, N),
        "b": RNG.integers(0, 5, N),
        "c": np.where(RNG.random(N) < 0.05, np.nan, RNG.integers(0, 4, N)),
        "s": RNG.integers(0, 3, N).astype(str),
        "h": np.arange(N) // 3,
        "w": 20.0,
    }
)
QUICK = "sample_frequency"


def shown(found, **options):
    return terminal_words(assess_document(found), **options)


def internal_html(found):
    return page_of(assess_document(found))


def table_of(section):
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    return table


def section(found, title):
    (one,) = [s for s in requested_sections(found) if s.title == title and s.only != "page"]
    return table_of(one)


class TestSuda:
    @pytest.mark.parametrize(
        ("policy", "note"),
        [
            ("category", "A missing value counts as a level here, by the policy category."),
            ("wildcard", "Missing values are treated by the policy wildcard on every set of keys"),
            ("conservative", "Missing values are treated by the policy conservative on every set"),
            ("drop", "with a missing key value are left out."),
        ],
    )
    def test_what_a_missing_value_is_stands_everywhere(self, policy, note):
        found = assess(FRAME, ["a", "b", "c"], suda=2, missing=policy, models=QUICK)
        assert note in shown(found)
        assert note in internal_html(found)
        told = assessment_json(found)["suda"]
        assert told["missing"] == policy
        assert note in told["missing_note"]

    def test_nothing_is_said_where_nothing_is_missing(self):
        found = assess(FRAME, ["a", "b"], suda=2, models=QUICK)
        assert "missing_note" not in assessment_json(found)["suda"]

    def test_the_estimate_of_dis_has_its_error(self):
        found = assess(FRAME, ["a", "b", "c"], suda=2, models=QUICK, weight="w")
        estimate = assessment_json(found)["suda"]["dis_estimate"]
        assert estimate["low"] <= estimate["value"] <= estimate["high"]
        assert estimate["standard_error"] >= 0
        assert "estimated under simple random sampling" in shown(found)

    def test_the_default_dis_says_why(self):
        found = assess(FRAME, ["a", "b", "c"], suda=2, models=QUICK)
        assert "DIS-SUDA rests on a DIS of 0.100, by convention: the sampling fraction" in shown(
            found
        )


def test_households_by_every_risk_with_both_totals():
    found = assess(
        FRAME, ["a", "b"], household="h", scenarios={"one": ["a"]}, models=QUICK,
        population_file=pd.concat([FRAME] * 3),
    )  # fmt: skip
    table = section(found, "Households")
    assert table.header[0] == "risk of the members by"
    assert [row[0] for row in table.rows] == [
        "recommended", "population file", "scenario one, recommended",
        "scenario one, known to be in the file", "worst scenario", "sample_frequency",
    ]  # fmt: skip
    persons = assessment_json(found)["households"]["expected_persons"]
    cells = FRAME.groupby(["a", "b"]).ngroups
    assert 0 < persons.pop("scenario_one_risk") < FRAME["a"].nunique()
    assert persons == {
        "recommended": pytest.approx(cells / 3),
        "sample_frequency": cells,
        "true": pytest.approx(cells / 3),
        "scenario_one": pytest.approx(FRAME["a"].nunique()),
        "worst_scenario": pytest.approx(FRAME["a"].nunique()),
    }
    assert all(row[3] != "–" for row in table.rows)


def test_ratios_that_were_asked_for_stand_on_the_terminal():
    options = {"models": [QUICK, "benedetti_franconi"], "population": 9000}
    title = "Who would be called a population unique"
    without = assess(FRAME, ["a", "b", "c"], **options)
    assert title not in shown(without, full=True)
    assert title in internal_html(without)
    found = assess(FRAME, ["a", "b", "c"], loss_ratios=[3, 4000], **options)
    table = section(found, title)
    assert table.header == ("model", "3 times", "4000 times")
    (led, *_), (name, few, many) = table.rows
    assert (led, name) == ("recommended", "benedetti_franconi")
    told = assessment_json(found)["models"]["benedetti_franconi"]["called_unique"]
    by_ratio = {row["loss_ratio"]: row["records"] for row in told}
    assert (few, many) == (f"{by_ratio[3]:,}", f"{by_ratio[4000]:,}")
    assert "4000 times" in shown(found)


def test_more_ratios_than_fit_side_by_side_take_two_tables():
    ratios = [3.5, 4, 6, 7, 8, 9]
    options = {"models": ["benedetti_franconi"], "population": 9000}
    found = assess(FRAME, ["a"], loss_ratios=ratios, **options)
    tables = [table_of(s) for s in requested_sections(found) if s.only == "terminal"]
    assert [len(table.header) - 1 for table in tables] == [5, 1]


def test_the_shrinkage_that_was_chosen_stands_under_its_table():
    found = assess(FRAME, ["a", "b"], shrinkage_table=True, models="lancaster", population=9000)
    result = found.models["lancaster"]
    chosen = result.parameters["shrinkage"]
    assert f"The model lancaster above takes λ = {chosen:.3g}" in shown(found)
    given = assess(
        FRAME, ["a", "b"], shrinkage_table=True, shrinkage=0.25, models="lancaster",
        population=9000,
    )  # fmt: skip
    assert "takes λ = 0.25 (given)" in shown(given)


def test_the_hint_at_the_report_only_where_there_is_none():
    found = assess(FRAME, ["a", "b"], models=QUICK)
    assert "--report or --json shows the rest" in shown(found, full=True)
    assert "--report or" not in shown(found, full=True, has_page=True)


def test_codes_that_were_given_stand_in_how_it_was_made():
    codes = {"missing_codes": ["NA"], "not_applicable_codes": {"s": ["2"]}}
    found = assess(FRAME.assign(a=FRAME["a"].astype(str)), ["a", "s"], models=QUICK, **codes)
    page = " ".join(internal_html(found).split())
    assert "&#39;NA&#39; for missing in every column; &#39;2&#39; for not applicable in s" in page
    assert assessment_json(found)["settings"]["codes"] == [
        {"kind": "missing", "column": "*", "code": "NA"},
        {"kind": "not applicable", "column": "s", "code": "2"},
    ]
    assert "none given" in internal_html(assess(FRAME, ["a"], models=QUICK))


def test_classes_of_risk_say_which_side_they_hold():
    found = assess(FRAME, ["a"], models=QUICK)
    assert "its upper limit and not its lower one" in internal_html(found)
    spread = assessment_json(found)["models"][QUICK]["risk_distribution"]
    assert spread["closed"] == "upper"


def test_no_power_of_ten_and_no_name_cut_on_the_terminal():
    found = assess(FRAME, ["a", "b", "c"], population=10**12, cells=10**9, all_models=True)
    text = shown(found, full=True)
    assert not re.findall(r"\d(?:\.\d+)?e[+-]\d+", text)
    for name in found.models:
        assert name in text


def test_a_sensitive_variable_that_no_group_has():
    frame = pd.DataFrame({"a": ["x", "x"], "b": [None, "y"], "s": ["p", None]})
    found = assess(frame, ["a", "b"], sensitive=["s"], missing="conservative", models=QUICK)
    reason = "no group has a record with a value of it"
    for measure in assessment_json(found)["sensitive"]["s"]["measures"]:
        assert reason in measure["worst"]["unavailable"]
    assert f"Not available: {reason}" in shown(found)
    assert f"Not available: {reason}" in internal_html(found)
    assert [row[1] for row in section(found, "Sensitive variable s").rows] == ["–"] * 5


def test_records_of_the_population_that_are_left_out():
    sample = pd.DataFrame({"a": ["x", "x", "y", "z"], "b": [1, 1, 2, None]})
    everyone = pd.DataFrame({"a": ["x", "x", "y", *"zzzq"], "b": [1, 1, 2, *[None] * 4]})
    found = assess(
        sample, ["a", "b"], population_file=everyone, missing="drop", suda=2, models=QUICK
    )
    told = assessment_json(found)
    assert (told["sample_size"], told["population_size"]) == (3, 3)
    assert told["population"]["left_out"] == 4
    assert told["suda"]["dis"] == 1
    assert "4 records of the population file that lack a key are left out." in shown(found)
    as_level = assess(sample, ["a", "b"], population_file=everyone, models=QUICK)
    assert assessment_json(as_level)["population"]["population_size"] == 7
    assert assessment_json(as_level)["population"]["left_out"] == 0


@pytest.mark.parametrize("policy", ["error", "wildcard", "conservative"])
def test_a_population_without_keys_is_refused_where_it_cannot_be_held_against(policy):
    sample = pd.DataFrame({"a": ["x", "y"]})
    everyone = pd.DataFrame({"a": ["x", "y", None]})
    with pytest.raises(InputError, match=r"known in every record|category, drop or error"):
        assess(sample, ["a"], population_file=everyone, missing=policy, models=QUICK)
