"""What must not change a figure, and what may change it in one direction only."""

import math
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.data.coding import Coding
from discreet.figures import Unavailable
from discreet.flows import assess as module
from discreet.survey.scoring import ModelResult

assess = partial(module.assess, models="sample_frequency")
each = settings(
    max_examples=6,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
POLICIES = ("category", "drop")


@st.composite
def surveys(draw, missing=True):
    """A few records with two to four keys of a few levels each, some values missing."""
    n_keys = draw(st.integers(2, 4))
    levels = [draw(st.integers(1, 4)) for _ in range(n_keys)]
    value: list[st.SearchStrategy[int | None]] = [st.integers(0, n - 1) for n in levels]
    if missing:
        value = [v | st.none() if draw(st.booleans()) else v for v in value]
    rows = draw(st.lists(st.tuples(*value), min_size=1, max_size=25))
    return pd.DataFrame(rows, columns=[f"k{j}" for j in range(n_keys)], dtype="Int64")


def rows_of(frame):
    return [
        tuple(None if value is pd.NA else int(value) for value in row)
        for row in frame.itertuples(index=False)
    ]


def figures(frame, **options):
    """All figures that carry no name of a level, and nothing about how the data came."""
    names = frame.column_names if isinstance(frame, pa.Table) else frame.columns
    keys = [name for name in names if name != "w"]
    found = assess(frame, keys, **options)
    assert not isinstance(found.contributions.pairs, Unavailable)
    return {
        "n": found.summary.sample_size,
        "K": found.summary.n_table_cells,
        "sizes": found.size_indices.to_json(),
        "weight": found.summary.weight_total,
        "anonymity": found.anonymity_curve,
        "single": {c.keys: c.uniques_left for c in found.contributions.single},
        "pairs": {c.keys: c.uniques_left for c in found.contributions.pairs},
        "missing": (found.n_incomplete, found.n_dropped, [k.n_missing for k in found.keys]),
        "levels": [len(key.values) for key in found.keys],
        "riskiest": [(c.sample_count, round(c.expected_count, 9)) for c in found.riskiest],
        "margins": [sorted(m.tolist()) for m in found.summary.margins.values()],
    }


def counted(frame, policy):
    rows = rows_of(frame)
    return rows if policy == "category" else [row for row in rows if None not in row]


@each
@given(surveys(), st.sampled_from(POLICIES))
def test_figures_are_those_of_a_counter(frame, policy):
    kept = counted(frame, policy)
    if not kept:
        return
    found = figures(frame, missing=policy)
    cells = Counter(kept)
    columns = list(zip(*kept, strict=True))
    assert found["n"] == len(kept)
    assert found["sizes"] == {str(s): n for s, n in sorted(Counter(cells.values()).items())}
    assert found["K"] == math.prod(len(set(column)) for column in columns)
    assert sum(int(size) * n for size, n in found["sizes"].items()) == len(kept)
    assert found["margins"] == [sorted(Counter(column).values()) for column in columns]
    for curve in found["anonymity"]:
        assert curve.records == sum(count for count in cells.values() if count < curve.k)
    for j, name in enumerate(frame.columns):
        without = Counter(row[:j] + row[j + 1 :] for row in kept)
        assert found["single"][(name,)] == sum(count == 1 for count in without.values())
    rows = rows_of(frame)
    n_incomplete = sum(None in row for row in rows)
    by_key = [sum(value is None for value in column) for column in zip(*rows, strict=True)]
    assert found["missing"] == (n_incomplete, len(rows) - len(kept), by_key)


@each
@given(surveys(), st.sampled_from(POLICIES), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_index_change_nothing(frame, policy, random):
    if not counted(frame, policy):
        return
    frame = frame.assign(w=[random.uniform(0.1, 50) for _ in range(len(frame))])
    order = list(range(len(frame)))
    random.shuffle(order)
    shuffled = frame.iloc[order].set_index(pd.Index([random.random() for _ in order]))
    options = {"missing": policy, "weight": "w"}
    assert figures(frame, **options) == figures(shuffled, **options)


def retyped(frame):
    """The same values in other types, each with its own order and form of missing."""
    text = frame.map(lambda v: None if v is pd.NA else f"level {v}").astype(object)
    unused = [f"level {i}" for i in (9, 2, 0, 3, 1, 7)]
    base = pd.Timestamp("2020-01-01")
    return {
        "text": text,
        "categories": text.astype(pd.CategoricalDtype(unused)),
        "floats": frame.astype("float64"),
        "float32": frame.astype("float32"),
        "small": frame.astype("Int8"),
        "far apart": frame.map(lambda v: v if v is pd.NA else int(v) * 2**40 - 7).astype("Int64"),
        "timestamps": frame.map(lambda v: pd.NaT if v is pd.NA else base + pd.Timedelta(v, "h")),
        "arrow": pa.table({name: pa.array(text[name], from_pandas=True) for name in text}),
        "dictionaries": pa.table(
            {name: pa.array(text[name], from_pandas=True).dictionary_encode() for name in text}
        ),
    }


@each
@given(surveys(), st.sampled_from(POLICIES), st.data())
def test_types_labels_and_unused_levels_change_nothing(frame, policy, data):
    if not counted(frame, policy):
        return
    others = retyped(frame)
    expected = figures(frame, missing=policy)
    for kind in data.draw(st.permutations(list(others)))[:3]:
        assert figures(others[kind], missing=policy) == expected, kind


@contextmanager
def small_words():
    """Codes that need a word for nearly every key."""
    whole: Any = vars(Coding)["of_sizes"].__func__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Coding, "of_sizes", classmethod(lambda cls, sizes: whole(cls, sizes, max(*sizes, 2)))
        )
        yield


@each
@given(surveys(), st.sampled_from(POLICIES))
def test_the_number_of_words_of_a_code_changes_nothing(frame, policy):
    if not counted(frame, policy):
        return
    expected = figures(frame, missing=policy)
    with small_words():
        assert figures(frame, missing=policy) == expected


@each
@given(surveys(missing=False), st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing(frame, random):
    names = list(frame)
    random.shuffle(names)
    one, other = figures(frame), figures(frame[names])
    for figure in ("n", "K", "sizes", "anonymity", "single", "riskiest"):
        assert one[figure] == other[figure]


@each
@given(surveys(), st.integers(0, 3), st.integers(0, 3))
def test_merging_two_levels_never_makes_more_uniques(frame, one, other):
    merged = frame.assign(k0=frame["k0"].replace(one, other))
    before, after = figures(frame), figures(merged)
    assert after["sizes"].get("1", 0) <= before["sizes"].get("1", 0)
    assert after["K"] <= before["K"]
    for curve, coarser in zip(before["anonymity"], after["anonymity"], strict=True):
        assert coarser.records <= curve.records


@each
@given(surveys())
def test_dropping_a_key_never_makes_more_uniques(frame):
    before = figures(frame)
    after = figures(frame.drop(columns="k0"))
    assert after["sizes"].get("1", 0) <= before["sizes"].get("1", 0)
    assert after["sizes"].get("1", 0) == before["single"][("k0",)]
    for curve, coarser in zip(before["anonymity"], after["anonymity"], strict=True):
        assert coarser.records <= curve.records


@each
@given(surveys(missing=False), st.integers(2, 4))
def test_repeating_the_file_repeats_each_count(frame, times):
    before, after = figures(frame), figures(pd.concat([frame] * times))
    assert after["sizes"] == {str(int(size) * times): n for size, n in before["sizes"].items()}
    assert after["K"] == before["K"]


@each
@given(surveys(missing=False), st.lists(st.floats(1e-3, 1e6), min_size=25, max_size=25))
def test_weights_add_up(frame, weights):
    weights = weights[: len(frame)]
    found = assess(frame.assign(w=weights), list(frame), weight="w", n_riskiest=100)
    assert found.summary.weight_total == pytest.approx(math.fsum(weights), rel=1e-9)
    totals: dict[tuple[str, ...], list[float]] = {}
    for row, weight in zip(rows_of(frame), weights, strict=True):
        totals.setdefault(tuple(map(str, row)), []).append(weight)
    assert len(found.riskiest) == len(totals)
    for cell in found.riskiest:
        assert cell.weight_total == pytest.approx(math.fsum(totals[cell.levels]), rel=1e-9)
        assert cell.sample_count == len(totals[cell.levels])


@each
@given(surveys())
def test_risks_lie_between_zero_and_one_and_matches_count_cells(frame):
    found = assess(frame, list(frame))
    result = found.models["sample_frequency"]
    assert isinstance(result, ModelResult)
    assert result.distribution is not None
    assert result.distribution.records.sum() == len(frame)
    assert 0 < result.distribution.largest <= 1
    assert result.distribution.largest == 1 / min(found.size_indices.sizes)
    assert np.isclose(found.size_indices.n_cells, len(set(rows_of(frame))))
