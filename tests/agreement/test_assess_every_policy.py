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
from discreet.figures import Figure
from discreet.risk.assessment import assess
from discreet.risk.scoring import ModelResult
from discreet.risk.sensitive import Thresholds

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
    if policy == "conservative" and not complete(rows[i]):
        found = [j for j in range(len(rows)) if complete(rows[j]) and matches(rows[i], rows[j])]
        return found or [j for j in range(len(rows)) if rows[j] == rows[i]]
    return group(rows, i, policy)


files = st.integers(1, 3).flatmap(
    lambda n: st.lists(
        st.tuples(
            st.tuples(*[st.sampled_from([None, "x", "y", "z"])] * n),
            st.sampled_from(["p", "q", "r"]),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=14,
    )
)
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def run(rows, policy, **options):
    keys = list(NAMES[: len(rows[0][0])])
    columns = {k: pa.array([row[0][j] for row in rows], pa.string()) for j, k in enumerate(keys)}
    columns |= {"s": [row[1] for row in rows], "h": [row[2] for row in rows]}
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


@pytest.mark.parametrize("policy", POLICIES)
@given(rows=files)
@quick
def test_sensitive_variables(policy, rows):
    if refused(rows, policy):
        return
    found, _ = run(rows, policy, sensitive=["s"], thresholds=Thresholds(diversity=2, closeness=0.3))
    kept = kept_rows(rows, policy)
    keys, values = [rows[i][0] for i in kept], [rows[i][1] for i in kept]
    figures = {figure.name: figure for figure in found.sensitive[0].figures}
    groups = [
        Counter(values[j] for j in sensitive_group(keys, i, policy)) for i in range(len(keys))
    ]
    whole = Counter(values)
    distinct = [len(g) for g in groups]
    assert figures["distinct l-diversity"].worst == min(distinct)
    assert figures["distinct l-diversity"].records == sum(d < 2 for d in distinct)
    entropy = [
        math.exp(-sum(n / g.total() * math.log(n / g.total()) for n in g.values())) for g in groups
    ]
    assert figures["entropy l-diversity"].worst == pytest.approx(min(entropy))
    distance = [
        sum(abs(g[v] / g.total() - whole[v] / whole.total()) for v in whole) / 2 for g in groups
    ]
    assert figures["t-closeness, equal distance"].worst == pytest.approx(max(distance), abs=1e-12)
    close = [d > 0.3 + 1e-9 for d in distance]
    assert figures["t-closeness, equal distance"].records == sum(close)
    top = [max(g.values()) / g.total() for g in groups]
    assert figures["(α, k)-anonymity"].worst == pytest.approx(max(top))


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

    found = assess(table(sample), keys, population=table(kept), models=["sample_frequency"])
    f, F = Counter(row[0] for row in sample), Counter(row[0] for row in kept)
    truth = found.population
    assert truth is not None
    assert truth.population_size == len(kept)
    assert truth.correct_matches == pytest.approx(sum(f[cell] / F[cell] for cell in f))
    assert truth.population_uniques == sum(F[cell] == 1 for cell in f)
    assert truth.journalist.highest == pytest.approx(max(1 / F[cell] for cell in f))
    assert truth.prosecutor.average == pytest.approx(len(f) / len(sample))
    assert truth.presence.delta_min == min(f[cell] / F[cell] for cell in F)
    assert truth.presence.delta_max == max(f[cell] / F[cell] for cell in F)
