"""SUDA where missing values match other values, against the definition set by set."""

import math
from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.figures import Unavailable
from discreet.flows.assess import assess

NAMES = ("a", "b", "c", "d")
files = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.tuples(*[st.sampled_from([None, "x", "y", "z"])] * n), min_size=1, max_size=12
    )
)
POLICIES = [("wildcard", 1.0), ("wildcard", 0.5), ("wildcard", 0.0), ("conservative", 1.0)]


def counts(me, other, policy, weight):
    """Whether another record counts as a match of mine on the keys that both tuples hold."""
    if policy == "conservative":
        return None not in other and all(
            x is None or x == y for x, y in zip(me, other, strict=True)
        )
    if weight == 0 and (None in me or None in other):
        return False
    return all(x == y or None in (x, y) for x, y in zip(me, other, strict=True))


def alone(rows, i, keys, policy, weight):
    part = [tuple(row[k] for k in keys) for row in rows]
    return not any(counts(part[i], part[j], policy, weight) for j in range(len(rows)) if j != i)


def msus(rows, i, policy, weight):
    n = len(rows[0])
    sets = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    unique = {s for s in sets if alone(rows, i, s, policy, weight)}
    return [
        s
        for s in sets
        if s in unique and not any(p in unique for p in combinations(s, len(s) - 1) if p)
    ]


def score(n_keys, sizes):
    """(K − k)! for a minimal sample unique of k of K keys, all sizes being searched."""
    return sum(math.factorial(n_keys - k) for k in sizes)


@pytest.mark.parametrize(("policy", "weight"), POLICIES)
def test_scores_contributions_and_the_derivation(policy, weight, tmp_path):
    @given(files)
    @settings(max_examples=20, suppress_health_check=list(HealthCheck))
    def check(rows):
        n = len(rows[0])
        table = pa.table({NAMES[j]: pa.array([r[j] for r in rows], pa.string()) for j in range(n)})
        path = tmp_path / "r.parquet"
        found = assess(
            table, NAMES[:n], missing=policy, missing_weight=weight, suda=n,
            models=["sample_frequency"], risks=path, population=1000,
        )  # fmt: skip
        expected = [msus(rows, i, policy, weight) for i in range(len(rows))]
        scores = [score(n, [len(s) for s in sets]) for sets in expected]
        told = pq.read_table(path).column("suda_score").to_pylist()
        special = found.special
        assert special is not None
        if all(None not in row for row in rows):
            return  # missing values decide nothing; the kernels have tests of their own
        assert told == pytest.approx(scores)
        assert special.n_scored == sum(map(bool, expected))
        assert special.n_scored + special.n_unscored == found.sample_uniques
        shares = {share.key: share.shared for share in special.keys}
        for j in range(n) if sum(scores) else ():
            held = sum(score(n, [len(s)]) / len(s) for sets in expected for s in sets if j in s)
            assert shares[NAMES[j]] == pytest.approx(held / sum(scores))
        assert isinstance(special.dis_estimate, Unavailable)
        if special.example is not None:
            assert special.example.score == pytest.approx(max(scores))
            sets = {msu.keys for msu in special.example.msus}
            assert any(set(e) == sets for e, s in zip(expected, scores, strict=True) if s)

    check()


def test_too_many_sets_over_too_many_cells(monkeypatch):
    monkeypatch.setattr("discreet.survey.suda.matching.MOST_WORK", 10)
    table = pa.table({"a": [1, 2, None, 4], "b": [1, 2, 3, 4]})
    with pytest.raises(
        ValueError, match="suda must be left out here, got .* sets of keys to match"
    ):
        assess(table, ["a", "b"], missing="wildcard", suda=2, models=["sample_frequency"])


@pytest.mark.parametrize("policy", ["category", "drop"])
def test_policies_without_matching_go_by_equality(policy, tmp_path):
    rows = [("x", "y"), ("x", None), ("z", "y"), ("z", "y"), (None, None), ("x", "w")]
    table = pa.table({n: pa.array([r[j] for r in rows]) for j, n in enumerate("ab")})
    path = tmp_path / "r.parquet"
    assess(table, ["a", "b"], missing=policy, suda=2, models=["sample_frequency"], risks=path)
    kept = [row for row in rows if policy == "category" or None not in row]
    expected = 0
    for i, me in enumerate(kept):
        for keys in ((0,), (1,), (0, 1)):
            mine = [me[k] for k in keys]
            same = [r for j, r in enumerate(kept) if j != i and [r[k] for k in keys] == mine]
            parts = (
                [[r for j, r in enumerate(kept) if j != i and r[k] == me[k]] for k in keys]
                if len(keys) > 1
                else []
            )
            expected += not same and all(parts)
    scores = pq.read_table(path).column("suda_score").drop_null().to_pylist()
    assert sum(scores) == expected  # with two keys a set of either size scores 1
