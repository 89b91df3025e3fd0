"""Every figure under every missing policy against references that are slow and obviously right."""

import math
from collections import Counter
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.data.missing import POLICIES
from discreet.errors import MissingError
from discreet.figures import Figure, Unavailable
from discreet.flows.assess import assess
from discreet.survey.attributes.sensitive import Thresholds
from discreet.survey.scoring import ModelResult

NAMES = ("a", "b", "c")


def matches(one, other):
    return all(x == y or x is None or y is None for x, y in zip(one, other, strict=True))


def complete(row):
    return None not in row


def group(rows, i, policy):
    """Records that count for record i, itself among them, without their weights."""
    me = rows[i]
    if policy == "wildcard":
        return [j for j in range(len(rows)) if matches(me, rows[j])]
    if policy == "conservative" and not complete(me):
        return [i] + [j for j in range(len(rows)) if complete(rows[j]) and matches(me, rows[j])]
    return [j for j in range(len(rows)) if rows[j] == me]


def expected_count(rows, i, policy, weight):
    total = 0.0
    for j in group(rows, i, policy):
        partial = policy == "wildcard" and j != i and not (complete(rows[i]) and complete(rows[j]))
        total += weight if partial else 1.0
    return total


def sensitive_group(rows, i, policy):
    """Records whose values tell of record i: an incomplete one is judged by the complete ones."""
    if policy == "conservative" and not complete(rows[i]):
        found = [j for j in range(len(rows)) if complete(rows[j]) and matches(rows[i], rows[j])]
        return found or [j for j in range(len(rows)) if rows[j] == rows[i]]
    return group(rows, i, policy)


files = st.integers(1, 3).flatmap(
    lambda n: st.lists(
        st.tuples(
            st.tuples(*[st.sampled_from([None, "x", "y", "z"])] * n),
            st.sampled_from(["p", "q", "r", None]),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=14,
    )
)
quick = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])


def run(rows, policy, **options):
    keys = list(NAMES[: len(rows[0][0])])
    columns = {k: pa.array([row[0][j] for row in rows], pa.string()) for j, k in enumerate(keys)}
    columns["s"] = pa.array([row[1] for row in rows], pa.string())
    columns["h"] = pa.array([row[2] for row in rows])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "risks.parquet"
        found = assess(
            pa.table(columns),
            keys,
            missing=policy,
            models=["sample_frequency"],
            risks=path,
            **options,
        )
        return found, pq.read_table(path).to_pydict()


def kept_rows(rows, policy):
    if policy in ("drop", "error"):
        return [i for i, row in enumerate(rows) if complete(row[0])]
    return list(range(len(rows)))


def refused(rows, policy):
    incomplete = [row for row in rows if not complete(row[0])]
    return (policy == "error" and incomplete) or (policy == "drop" and len(incomplete) == len(rows))


@pytest.mark.parametrize("policy", POLICIES)
@given(rows=files, weight=st.sampled_from([0.0, 0.25, 1.0]))
@quick
def test_counts_and_anonymity(policy, rows, weight):
    if refused(rows, policy):
        with pytest.raises(MissingError):
            run(rows, policy)
        return
    weight = weight if policy == "wildcard" else 1.0
    found, risks = run(rows, policy, missing_weight=weight)
    kept = kept_rows(rows, policy)
    keys = [rows[i][0] for i in kept]
    counts = [expected_count(keys, i, policy, weight) for i in range(len(keys))]
    told = [risks["sample_count"][i] for i in kept]
    assert told == pytest.approx(counts, rel=1e-12)
    assert [risks["sample_count"][i] for i in range(len(rows)) if i not in kept] == [None] * (
        len(rows) - len(kept)
    )
    for row in found.anonymity:
        assert row.records == sum(count < row.k for count in counts)
    assert found.sample_uniques == sum(count == 1 for count in counts)
    assert found.n_incomplete == sum(not complete(row[0]) for row in rows)
    result = found.models["sample_frequency"]
    assert isinstance(result, ModelResult)
    assert isinstance(result.expected_correct_matches, Figure)
    assert result.expected_correct_matches.value == pytest.approx(sum(1 / c for c in counts))


def measures(held, whole, ell):
    """Distinct and entropy diversity, the ratio of (c, l), distance and largest share of a group."""
    total, sizes = held.total(), sorted(held.values(), reverse=True)
    entropy = -sum(n / total * math.log(n / total) for n in sizes)
    rest = sum(sizes[ell - 1 :])
    return {
        "distinct_l": len(held),
        "entropy_l": math.exp(entropy),
        "recursive_c": sizes[0] / rest if rest else None,
        "t_equal": sum(abs(held[v] / total - whole[v] / whole.total()) for v in whole) / 2,
        "alpha": sizes[0] / total,
    }


def breaks(told, rule):
    """Whether a group with these measures breaks each rule; without a value it has no measure."""
    if told is None:
        return dict.fromkeys(NAMED, False)
    ratio = told["recursive_c"]
    return {
        "distinct l-diversity": told["distinct_l"] < rule.diversity,
        "entropy l-diversity": told["entropy_l"] < rule.diversity - 1e-9,
        "recursive (c, l)-diversity": ratio is None or ratio >= rule.recursive_c,
        "t-closeness, equal distance": told["t_equal"] > rule.closeness + 1e-9,
        "(α, k)-anonymity": told["alpha"] > rule.concentration,
    }


NAMED = {
    "distinct l-diversity": ("distinct_l", min),
    "entropy l-diversity": ("entropy_l", min),
    "recursive (c, l)-diversity": ("recursive_c", max),
    "t-closeness, equal distance": ("t_equal", max),
    "(α, k)-anonymity": ("alpha", max),
}
rules = st.builds(
    Thresholds,
    diversity=st.integers(1, 3),
    recursive_c=st.sampled_from([0.7, 1.5, 3.0]),
    closeness=st.sampled_from([0.1, 0.3]),
    concentration=st.sampled_from([0.4, 0.8, 1.0]),
    anonymity=st.integers(1, 4),
)


@pytest.mark.parametrize("policy", POLICIES)
@given(rows=files, rule=rules, weight=st.sampled_from([0.0, 0.5, 1.0]))
@quick
def test_sensitive_variables(policy, rows, rule, weight):
    kept = kept_rows(rows, policy)
    if refused(rows, policy) or all(rows[i][1] is None for i in kept):
        return
    weight = weight if policy == "wildcard" else 1.0
    limits = {
        "l": rule.diversity,
        "c": rule.recursive_c,
        "t": rule.closeness,
        "alpha": rule.concentration,
        "alpha_k": rule.anonymity,
    }
    options = {"sensitive": ["s"], "missing_weight": weight} | limits
    found, risks = run(rows, policy, **options)
    keys, values = [rows[i][0] for i in kept], [rows[i][1] for i in kept]
    whole = Counter(v for v in values if v is not None)
    told = []
    for i in range(len(keys)):
        members = sensitive_group(keys, i, policy)
        held = Counter(values[j] for j in members if values[j] is not None)
        told.append(measures(held, whole, rule.diversity) if held else None)
    broken = [breaks(measured, rule) for measured in told]
    for i in range(len(keys)):
        small = expected_count(keys, i, policy, weight) < rule.anonymity
        broken[i]["(α, k)-anonymity"] |= small
    figures = {figure.name: figure for figure in found.sensitive[0].figures}
    assert found.sensitive[0].n_without_value == sum(v is None for v in values)
    for name, (column, worst) in NAMED.items():
        assert figures[name].records == sum(b[name] for b in broken), name
        expected = [None if m is None else m[column] for m in told]
        for i, value in zip(kept, expected, strict=True):
            shown = risks[f"s_{column}"][i]
            assert shown == (None if value is None else pytest.approx(value, abs=1e-12))
        unlimited = column == "recursive_c" and any(m and m[column] is None for m in told)
        if unlimited or not any(told):  # or no group has a value at all
            assert isinstance(figures[name].worst, Unavailable)
        else:
            present = [value for value in expected if value is not None]
            assert figures[name].worst == pytest.approx(worst(present), abs=1e-12)


@pytest.mark.parametrize("policy", POLICIES)
@given(rows=files)
@quick
def test_households(policy, rows):
    if refused(rows, policy):
        return
    found, risks = run(rows, policy, household="h")
    kept = kept_rows(rows, policy)
    keys, homes = [rows[i][0] for i in kept], [rows[i][2] for i in kept]
    risk = [1 / expected_count(keys, i, policy, 1.0) for i in range(len(keys))]
    spared = {
        h: math.prod(1 - r for r, g in zip(risk, homes, strict=True) if g == h) for h in homes
    }
    column = "household_sample_frequency_match_probability"
    told = [risks[column][i] for i in kept]
    assert told == pytest.approx([1 - spared[h] for h in homes], abs=1e-12)
    totals = found.households
    assert totals is not None
    assert totals.n_households == len(spared)
    assert totals.expected_found["sample_frequency_match_probability"] == pytest.approx(
        sum(1 - s for s in spared.values()), abs=1e-9
    )
    patterns = Counter(
        tuple(sorted(str(k) for k, g in zip(keys, homes, strict=True) if g == h)) for h in spared
    )
    assert totals.pattern_sizes.sample_uniques == sum(n == 1 for n in patterns.values())


@pytest.mark.parametrize("policy", POLICIES)
@given(rows=files)
@quick
def test_scenarios_subsets_and_contributions(policy, rows):
    if refused(rows, policy):
        return
    n_keys = len(rows[0][0])
    names = NAMES[:n_keys]
    scenarios = {"first": names[:1], "all": names}
    found, risks = run(rows, policy, scenarios=scenarios, subsets=n_keys, all_pairs=True)
    kept = kept_rows(rows, policy)

    def uniques(places):
        keys = [tuple(rows[i][0][j] for j in places) for i in kept]
        return sum(expected_count(keys, i, policy, 1.0) == 1 for i in range(len(keys)))

    assert found.scenarios is not None
    assert found.scenarios.each[0].size_indices.sample_uniques == uniques([0])
    worst = [risks["worst_scenario_match_probability"][i] for i in kept]
    each = [risks[f"scenario_{name}_match_probability"] for name in scenarios]
    assert worst == [max(column[i] for column in each) for i in kept]
    for size in found.subsets:
        sets = [uniques(places) for places in combinations(range(n_keys), size.size)]
        assert size.n_with_uniques == sum(u > 0 for u in sets)
        assert max((s.sample_uniques for s in size.worst), default=0) == max(sets)
    everything = uniques(range(n_keys))
    for contribution in found.contributions.single:
        left = [j for j in range(n_keys) if names[j] not in contribution.keys]
        expected = uniques(left) if left else int(len(kept) == 1)
        assert contribution.uniques_left == expected
        assert contribution.uniques_removed == everything - expected


@given(rows=files)
@quick
def test_known_population(rows):
    kept = [row for row in rows if complete(row[0])]
    if not kept:
        return
    keys = list(NAMES[: len(rows[0][0])])
    sample = kept[: max(1, len(kept) // 2)]

    def table(part):
        return pa.table({k: [row[0][j] for row in part] for j, k in enumerate(keys)})

    found = assess(table(sample), keys, population_file=table(kept), models=["sample_frequency"])
    f, F = Counter(row[0] for row in sample), Counter(row[0] for row in kept)
    truth = found.population
    assert truth is not None
    assert truth.population_size == len(kept)
    assert truth.correct_matches == pytest.approx(sum(f[cell] / F[cell] for cell in f))
    assert truth.population_uniques == sum(F[cell] == 1 for cell in f)
    assert truth.journalist.highest == pytest.approx(max(1 / F[cell] for cell in f))
    assert truth.prosecutor.average == pytest.approx(len(f) / len(sample))
    assert truth.delta_min == min(f[cell] / F[cell] for cell in F)
    assert truth.delta_max == max(f[cell] / F[cell] for cell in F)
