"""Records to risk, the whole way."""

import json
import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import ColumnError, InputError, MissingError, OutputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows import assess as module
from discreet.report.assess.json import assessment_json
from discreet.survey.headline.recommendation import COUNTED
from discreet.survey.models import registry
from discreet.survey.models.contract import ModelUnavailable, Need
from discreet.survey.scoring import ModelResult

assess = partial(module.assess, models="sample_frequency")
TABLE = pa.table({"a": [1, 1, 2, 3], "b": ["x", "x", "y", None], "w": [1.5, 2.5, 3.0, 4.0]})


class TestFigures:
    def test_a_small_file_by_hand(self):
        found = assess(TABLE, ["a", "b"], weight="w")
        assert found.summary.sample_size == 4
        assert found.summary.n_table_cells == 9
        assert found.summary.level_counts == (3, 3)
        assert found.summary.weight_total == 11
        assert found.summary.population_size == 11
        assert not found.summary.population_size_known
        assert found.size_indices.to_json() == {"1": 2, "2": 1}
        assert found.sample_uniques == 2
        assert [(a.k, a.records) for a in found.anonymity] == [(2, 2), (3, 4), (5, 4)]
        assert {c.keys: c.uniques_left for c in found.contributions.single} == {
            ("a",): 2,
            ("b",): 2,
        }
        assert (found.n_incomplete, found.n_dropped) == (1, 0)
        assert [cell.sample_count for cell in found.riskiest] == [1, 1, 2]

    def test_the_mean_risk_of_a_record_is_cells_over_records(self):
        found = assess(TABLE, ["a", "b"])
        result = found.models["sample_frequency"]
        assert isinstance(result, ModelResult)
        matches = result.expected_correct_matches
        assert isinstance(matches, Figure)
        assert (matches.value, matches.how) == (3, How.EXACT)
        assert result.distribution is not None
        assert result.distribution.records.sum() == 4

    def test_what_was_asked_is_on_record(self):
        zeros = pd.DataFrame({"a": [1], "b": ["y"]})
        found = assess(TABLE, ["a", "b"], k=[7, 2, 7], impossible=zeros)
        assert found.settings.keys == ("a", "b")
        assert found.settings.weight is None
        assert found.settings.missing.name == "category"
        assert list(found.models) == ["sample_frequency"]
        assert found.settings.options.k == (2, 7)
        assert [a.k for a in found.anonymity] == [2, 7]
        assert {"discreet", "duckdb", "numpy", "python"} <= set(found.settings.versions)
        assert found.summary.n_table_cells == 8

    def test_a_population_that_is_given_goes_before_the_weights(self):
        found = assess(TABLE, ["a"], weight="w", population=40)
        assert found.summary.population_size == 40
        assert found.summary.population_size_known
        assert found.summary.weight_total == 11

    def test_possible_cells_that_are_given_go_before_the_levels(self):
        assert assess(TABLE, ["a", "b"], cells=3).summary.n_table_cells == 3
        assert assess(TABLE, ["a"], cells=10**40).summary.n_table_cells == 10**40

    def test_more_cells_than_any_float_holds(self):
        n = 400
        table = pa.table({f"k{j}": [*range(7), 6] for j in range(n)})
        found = assess(table, table.column_names)
        assert found.summary.n_table_cells == 7**n
        assert found.size_indices.to_json() == {"1": 6, "2": 1}
        assert json.loads(json.dumps(assessment_json(found)))["n_table_cells"] == 7**n

    @pytest.mark.parametrize("n", [0, 1, 3, 1000])
    def test_as_many_of_the_riskiest_as_are_asked_for(self, n):
        assert len(assess(TABLE, ["a", "b"], n_riskiest=n).riskiest) == min(n, 3)

    def test_a_single_record(self):
        found = assess(pa.table({"a": [1]}), ["a"])
        assert found.size_indices.to_json() == {"1": 1}
        assert found.contributions.single[0].uniques_left == 1

    def test_progress_is_told(self):
        steps = []
        assess(TABLE, ["a", "b"], progress=lambda step, fraction: steps.append((step, fraction)))
        assert ("scoring the cells", 1.0) in steps
        assert all(fraction is None or 0 <= fraction <= 1 for _, fraction in steps)


class TestRefusals:
    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ([], "keys must be at least one column, got none"),
            ("a", "keys must be a list of column names, got 'a'"),
            (["a", "a"], "keys must be different columns, got 'a' twice"),
            (["a", "w"], "weight must be no key, got 'w'"),
            (["A"], "keys must be columns of the data frame, got 'A'; did you mean 'a'?"),
            ([0], "keys must be"),
            ([None], "keys must be"),
        ],
    )
    def test_keys(self, keys, message):
        with pytest.raises(InputError) as caught:
            assess(TABLE, keys, weight="w")
        assert message in str(caught.value)

    def test_keys_may_come_as_any_sequence(self):
        frame = TABLE.to_pandas()[["a", "b"]]
        forms: list[Any] = [("a", "b"), frame.columns, iter("ab"), np.array(["a", "b"])]
        for keys in forms:
            assert assess(frame, keys).settings.keys == ("a", "b")

    @pytest.mark.parametrize("size", [0, -1, 0.5, math.nan, math.inf, 1e15])
    def test_an_absurd_population(self, size):
        with pytest.raises(InputError, match="population must be"):
            assess(TABLE, ["a"], population=size)

    SOME = ("sample_frequency", "cohen_sackrowitz_uniform", "benedetti_franconi")

    def test_a_population_smaller_than_the_sample_is_refused(self):
        message = "population must be at least the 4 records of the file, got 3; a population holds"
        with pytest.raises(InputError, match=message):
            module.assess(TABLE, ["a", "b"], population=3)
        assert module.assess(TABLE, ["a", "b"], population=4).recommended.model == COUNTED

    @pytest.mark.parametrize("cells", [0, -5])
    def test_an_absurd_number_of_possible_cells(self, cells):
        with pytest.raises(InputError, match="cells must be at least"):
            assess(TABLE, ["a", "b"], cells=cells)

    def test_fewer_possible_cells_than_are_occupied_stop_only_the_models_that_need_them(self):
        options: dict[str, Any] = {"population": 100, "cells": 2, "models": self.SOME}
        found = module.assess(TABLE, ["a", "b"], **options)
        assert any("fewer than the 3 that hold records" in warning for warning in found.warnings)
        assert isinstance(found.models["benedetti_franconi"], ModelResult)
        assert isinstance(found.models["cohen_sackrowitz_uniform"], Unavailable)

    def test_a_population_of_the_sample_and_all_cells_occupied_are_fine(self):
        found = assess(TABLE, ["a", "b"], population=4, cells=3)
        result = found.models["sample_frequency"]
        assert isinstance(result, ModelResult)
        uniques = result.expected_population_uniques
        assert isinstance(uniques, Figure)
        assert (uniques.value, uniques.how) == (2, How.EXACT)

    def test_unknown_choices(self):
        with pytest.raises(InputError, match="missing must be one of"):
            assess(TABLE, ["a"], missing="forget")
        with pytest.raises(InputError, match="models must be"):
            module.assess(TABLE, ["a"], models=["nobody"])
        with pytest.raises(InputError, match="k must be at least 2"):
            assess(TABLE, ["a"], k=[1])
        with pytest.raises(MissingError, match="1 of 4 records without 'b'"):
            assess(TABLE, ["a", "b"], missing="error")


class TestRisks:
    def test_one_row_a_record(self, tmp_path):
        path = tmp_path / "risks.parquet"
        assess(TABLE, ["a", "b"], weight="w", risks=path)
        assert pq.read_table(path).to_pydict() == {
            "row": [1, 2, 3, 4],
            "sample_count": [2, 2, 1, 1],
            "weight_total": [4.0, 4.0, 3.0, 4.0],
            "sample_frequency_match_probability": [0.5, 0.5, 1.0, 1.0],
        }
        assert [p.name for p in tmp_path.iterdir()] == ["risks.parquet"]

    def test_inputs_are_never_overwritten(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "s.parquet")
        pq.write_table(pa.table({"a": [9]}), tmp_path / "z.parquet")
        for name in ("s.parquet", "z.parquet"):
            before = (tmp_path / name).read_bytes()
            with pytest.raises(OutputError, match=f"{name}', which is in use already"):
                assess(
                    tmp_path / "s.parquet",
                    ["a"],
                    impossible=tmp_path / "z.parquet",
                    risks=tmp_path / name,
                )
            assert (tmp_path / name).read_bytes() == before

    def test_nothing_is_written_when_the_work_fails(self, tmp_path):
        with pytest.raises(ColumnError):
            assess(TABLE, ["nothing"], risks=tmp_path / "r.parquet")
        with pytest.raises(OutputError):
            assess(TABLE, ["a"], risks=tmp_path / "nowhere" / "r.parquet")
        assert list(tmp_path.iterdir()) == []

    def test_beside_a_survey_and_a_list_in_one_folder(self, tmp_path):
        pq.write_table(TABLE, tmp_path / "s.parquet")
        pq.write_table(pa.table({"a": [9]}), tmp_path / "z.parquet")
        assess(
            tmp_path / "s.parquet",
            ["a"],
            impossible=tmp_path / "z.parquet",
            risks=tmp_path / "r.parquet",
        )
        assert pq.read_table(tmp_path / "r.parquet").num_rows == 4

    def test_not_among_the_files_of_the_input(self, tmp_path):
        for name in ("a.parquet", "b.parquet"):
            pq.write_table(TABLE, tmp_path / name)
        with pytest.raises(OutputError):
            assess(tmp_path, ["a"], risks=tmp_path / "risks.parquet")

    @pytest.mark.parametrize("kind", ["csv", "folder"])
    def test_more_than_a_million_records_keep_their_order(self, tmp_path, kind):
        n = 1_100_000
        rng = np.random.default_rng(2)
        a, b = rng.integers(0, 700, n), rng.integers(0, 700, n)
        table = pa.table({"a": a, "b": b})
        source = tmp_path / f"s.{kind}"
        if kind == "csv":
            pd.DataFrame({"a": a, "b": b}).to_csv(source, index=False)
        else:
            source.mkdir()
            for i in range(3):
                part = table.slice(i * 400_000, 400_000)
                pq.write_table(part, source / f"{i}.parquet", row_group_size=90_000)
        assess(source, ["a", "b"], risks=tmp_path / "r.parquet")
        found = pq.read_table(tmp_path / "r.parquet")
        code = a * 700 + b
        counts = np.bincount(code, minlength=490_000)[code]
        assert (found.column("row").to_numpy() == np.arange(1, n + 1)).all()
        assert (found.column("sample_count").to_numpy() == counts).all()
        risk = found.column("sample_frequency_match_probability").to_numpy()
        assert (risk == 1 / counts).all()


class TestModels:
    class Shy:
        name = "shy"
        assumption = "Nothing holds."
        needs: frozenset[Need] = frozenset()

        def fit(self, summary):
            raise ModelUnavailable("it never says anything")

    def test_a_model_that_cannot_be_fitted_gives_its_reason(self, tmp_path, monkeypatch):
        monkeypatch.setitem(registry.MODELS, "shy", self.Shy())
        found = module.assess(TABLE, ["a"], models=["shy"], risks=tmp_path / "r.parquet")
        assert found.models == {"shy": Unavailable("it never says anything")}
        assert pq.read_table(tmp_path / "r.parquet").to_pydict() == {
            "row": [1, 2, 3, 4],
            "sample_count": [2, 2, 1, 1],
        }
        assert assessment_json(found)["models"]["shy"] == {"unavailable": "it never says anything"}


def test_figures_do_not_depend_on_the_source(tmp_path):
    frame = TABLE.to_pandas()
    frame.to_csv(tmp_path / "s.csv", index=False)
    pq.write_table(TABLE, tmp_path / "s.parquet")
    found = [
        assess(source, ["a", "b"], weight="w")
        for source in (TABLE, frame, tmp_path / "s.csv", tmp_path / "s.parquet")
    ]
    figures = {
        json.dumps({k: v for k, v in assessment_json(f).items() if k != "settings"}, sort_keys=True)
        for f in found
    }
    assert len(figures) == 1


def test_missing_values_by_each_policy():
    rows = [(1, "x"), (1, None), (2, "x"), (None, None), (1, "x")]
    table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    for policy, kept in (("category", rows), ("drop", [r for r in rows if None not in r])):
        found = assess(table, ["a", "b"], missing=policy)
        sizes = Counter(Counter(kept).values())
        assert found.size_indices.to_json() == {str(s): n for s, n in sorted(sizes.items())}
        assert found.n_incomplete == 2
        assert found.n_dropped == len(rows) - len(kept)
        assert [key.n_missing for key in found.keys] == [1, 2]
        missing = assessment_json(found)["missing"]
        assert missing["policy"] == policy
        assert missing["incomplete_records"] == 2
        assert missing["dropped_records"] == len(rows) - len(kept)


@pytest.mark.parametrize("rows", [["F", "F", "M", "M"], [None, None, None, None]])
def test_matches_through_missing_values_alone_tell_what_they_can(rows):
    """Another record agrees on all that is known of each: none is alone in the population."""
    table = pa.table({"a": rows, "b": [None, None, *((1, 1) if rows[0] else (None, None))]})
    found = assess(table, ["a", "b"], missing="wildcard", population=50)
    result = found.models["sample_frequency"]
    assert isinstance(result, ModelResult)
    assert isinstance(result.expected_population_uniques, Unavailable)
    uniques = found.recommended.expected_population_uniques
    assert isinstance(uniques, Figure)
    assert (uniques.value, uniques.how) == (0, How.EXACT)
    matches = found.recommended.expected_correct_matches
    if rows[0] is None:  # whoever is looked for, each is one of fifty
        assert isinstance(matches, Figure)
        assert matches.value == pytest.approx(4 / 50)
    else:
        assert isinstance(matches, Unavailable)
    assert "if they match: a missing value matches any value" in result.assumption
