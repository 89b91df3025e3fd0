"""What leaves the agency tells nothing of fewer than ten records, by construction."""

import dataclasses
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

from discreet.engines.contract import ClassLimits
from discreet.flows import assess as module
from discreet.report.assess.external import (
    PublicFigures,
    PublicShares,
    external_document,
    public_figures,
)
from discreet.report.render_html import page_of
from discreet.survey.anonymity import Anonymity
from discreet.survey.leading import RiskOverview
from discreet.survey.risk_histogram import EDGES, RiskDistribution

assess = partial(module.assess, models="sample_frequency")
SECRETS = ["Zyx-Diagnosis", "Qwv-Village", "Jkl-Profession"]


def external_html(assessment):
    return page_of(external_document(assessment))


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 60, 2000), "b": rng.integers(0, 60, 2000)})
    return assess(frame, ["a", "b"])


def with_breaks(assessment, records):
    """The assessment as if so many records broke k-anonymity."""
    rows = tuple(
        Anonymity(k=a.k, records=records, cells=records, record_share=0.0)
        for a in assessment.anonymity_curve
    )
    return dataclasses.replace(assessment, anonymity=rows[:1], anonymity_curve=rows)


def with_size(assessment, n):
    summary = dataclasses.replace(assessment.summary, sample_size=n)
    return dataclasses.replace(assessment, summary=summary)


def with_risks(assessment, records):
    """The assessment as if so many records were in each class of the recommended risk."""
    spread = RiskOverview(
        limits=ClassLimits(some=0.05, high=0.2),
        distribution=RiskDistribution(np.array(records, dtype=np.int64), 1.0),
        largest=1.0,
        high=0,
        some=0,
        low=0,
        unknown=0,
    )
    return dataclasses.replace(assessment, risk=spread)


def with_removed(assessment, removed):
    single = tuple(
        dataclasses.replace(c, uniques_removed=removed) for c in assessment.contributions.single
    )
    changed = dataclasses.replace(assessment.contributions, single=single)
    return dataclasses.replace(assessment, contributions=changed)


def test_there_is_no_field_for_a_level_or_a_count():
    fields = {field.name: field.type for field in dataclasses.fields(PublicFigures)}
    assert "levels" not in fields
    assert "riskiest" not in fields
    shares = {field.name for field in dataclasses.fields(PublicShares)}
    assert shares == {"labels", "shares"}


@pytest.mark.parametrize("n", [100, 101, 149, 150, 163, 299, 500, 999, 1000, 1500])
def test_shares_are_too_coarse_to_tell_counts_that_differ_by_less_than_ten(large, n):
    tiles, curves = set(), set()
    for records in range(n + 1):
        figures = public_figures(with_breaks(with_size(large, n), records))
        tiles.add(figures.tiles[0].value)
        assert figures.anonymity is not None
        curves.add(figures.anonymity.shares[0])
    assert len(tiles) <= n // 10 + 1
    assert len(curves) <= n // 10 + 1


@pytest.mark.parametrize("n", [1, 9, 10, 50, 99])
def test_a_small_file_has_no_share_at_all(large, n):
    shown = {public_figures(with_breaks(with_size(large, n), r)) for r in range(n + 1)}
    assert len(shown) == 1
    (figures,) = shown
    assert figures.tiles == ()
    assert (figures.anonymity, figures.risk) == (None, None)


def test_the_size_of_the_file_is_not_exact(large):
    scopes = [public_figures(with_size(large, n)).scope for n in range(1, 1200)]
    told = dict.fromkeys(scopes, 0)
    for scope in scopes:
        told[scope] += 1
    assert min(list(told.values())[:-1]) >= 10


def test_contributions_are_as_coarse_in_the_uniques(large):
    uniques = large.sample_uniques
    shown = set()
    for removed in range(uniques + 1):
        figures = public_figures(with_removed(large, removed))
        assert figures.contributions is not None
        shown.add(figures.contributions.shares[0])
    assert len(shown) <= uniques // 10 + 1


def test_contributions_of_few_uniques_are_not_shown():
    frame = pd.DataFrame({"a": [*range(99), *[200] * 500], "b": [0] * 599})
    found = assess(frame, ["a", "b"])
    assert found.sample_uniques == 99
    assert public_figures(found).contributions is None


@pytest.mark.parametrize("place", range(len(EDGES) - 1))
@pytest.mark.parametrize("few", [1, 4])
def test_a_class_of_few_records_cannot_be_seen(large, place, few):
    records = [0] * (len(EDGES) - 1)
    records[-1] = 2000
    without = public_figures(with_risks(large, records))
    records[place] += few
    records[-1] -= few
    assert public_figures(with_risks(large, records)) == without
    records[place] += 200
    records[-1] -= 200
    changed = place < len(records) - 1
    assert (public_figures(with_risks(large, records)) != without) == changed


class TestTheWholePage:
    """The text of the page, attacked with small and telling files."""

    def page(self, frame, keys, **options):
        return external_html(assess(frame, keys, **options))

    @pytest.mark.parametrize("copies", [1, 40])
    def test_no_level_is_named(self, copies):
        levels = [*SECRETS, *["plain"] * 30] * copies
        frame = pd.DataFrame({"a": levels, "b": levels[::-1]})
        page = self.page(frame, ["a", "b"])
        assert not [secret for secret in (*SECRETS, "plain") if secret in page]

    def test_files_that_differ_by_one_record_look_the_same(self):
        rows = [0] * 300 + [1] * 250
        one = self.page(pd.DataFrame({"a": rows}), ["a"])
        other = self.page(pd.DataFrame({"a": [*rows[:-1], 2]}), ["a"])
        assert one == other

    @pytest.mark.parametrize("rows", [[0], [0, 1], list(range(9)), list(range(60))])
    def test_tiny_files_show_no_count(self, rows):
        page = self.page(pd.DataFrame({"key": rows}), ["key"])
        text = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
        numbers = set(re.findall(r"(?<![\w.-])\d+(?![\w.-])", re.sub(r"<[^>]*>", " ", text)))
        assert numbers <= {"1", "10", "100"}
        assert "<svg" not in page

    def test_the_data_set_is_named_but_weights_and_the_folder_stay_inside(self, tmp_path):
        folder = tmp_path / "Qwv-Village"
        folder.mkdir()
        path = folder / "survey.csv"
        path.write_text("a,Jkl-Profession\n" + "1,98765.4321\n" * 150)
        page = self.page(path, ["a"], weight="Jkl-Profession")
        assert "Data set: survey.csv." in page
        assert not [s for s in (*SECRETS, "98765", "4321", "14814814") if s in page]

    def test_missing_values_are_told_by_the_policy_alone(self):
        frame = pd.DataFrame({"a": [None, None, None, *[1] * 200]})
        page = self.page(frame, ["a"], missing="drop")
        assert page == self.page(frame.iloc[3:], ["a"], missing="drop")

    def test_hostile_key_names_are_escaped(self):
        names = ["<script>alert(1)</script>", "a&b", '"><img src=x>', "{{ 7 * 7 }}"]
        frame = pd.DataFrame({name: range(200) for name in names})
        page = self.page(frame, names)
        assert "<script" not in page
        assert "<img" not in page
        assert "&lt;script&gt;" in page
        assert "49" not in re.sub(r"<svg.*?</svg>|<style.*?</style>", "", page, flags=re.DOTALL)


def test_matches_through_missing_values_are_said_to_be_such():
    frame = pd.DataFrame({"a": [1, 2, None] * 60, "b": [1, 1, 2, 2] * 45})
    page = external_html(assess(frame, ["a", "b"], missing="wildcard", missing_weight=0.4))
    assert page.count("a match that needs a missing value counts 0.4") == 2
    assert "What is compared with k is the count of all matches" in page
    whole = external_html(assess(frame.dropna(), ["a", "b"], missing="wildcard"))
    assert "count of all matches" not in whole


def test_without_a_population_the_risk_is_that_of_someone_known_to_be_in_the_file(large):
    page = external_html(large)
    assert "The intruder knows that the person is in the file" in page
    assert "Not shown" not in page
