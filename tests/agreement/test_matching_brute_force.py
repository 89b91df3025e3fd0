"""Matching by patterns against the definition, record by record and pair by pair."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines import matching
from discreet.engines.matching import matched_cells

MISSING = None
Record = tuple[int | None, ...]
Answer = tuple[dict[Record, Fraction], dict[Record, Fraction]]


def pairs(one: Record, other: Record) -> list[tuple[int | None, int | None]]:
    """The values of two records, key by key."""
    return list(zip(one, other, strict=True))


def match(one: Record, other: Record) -> bool:
    """Whether two records agree on every key that both know."""
    return all(a == b or a is MISSING or b is MISSING for a, b in pairs(one, other))


def complete(record: Record) -> bool:
    """Whether no key is missing."""
    return MISSING not in record


def match_weight(one: Record, other: Record, policy: str, w: Fraction) -> Fraction:
    """What `one` counts for another record `other`, from the definition of the policies."""
    if not match(one, other):
        return Fraction(0)
    if policy == "conservative":
        return Fraction(int(complete(other)))
    return Fraction(1) if complete(one) and complete(other) else w


def by_definition(
    records: list[Record], weights: list[Fraction], policy: str, w: Fraction
) -> Answer:
    """Count of each cell, the same for all its records, and the mean of their weight totals."""
    counts: dict[Record, set[Fraction]] = defaultdict(set)
    totals: dict[Record, list[Fraction]] = defaultdict(list)
    for i, one in enumerate(records):
        shares = [
            Fraction(1) if i == j else match_weight(one, other, policy, w)
            for j, other in enumerate(records)
        ]
        counts[one].add(sum(shares, Fraction(0)))
        totals[one].append(sum((s * v for s, v in zip(shares, weights, strict=True)), Fraction(0)))
    assert all(len(values) == 1 for values in counts.values())
    means = {cell: sum(values, Fraction(0)) / len(values) for cell, values in totals.items()}
    return {cell: values.pop() for cell, values in counts.items()}, means


def assert_agrees(records: list[Record], weights: list[Fraction], policy: str, w: Fraction) -> None:
    """Counts equal, weight totals up to rounding; the missing code differs from key to key."""
    count, mean = by_definition(records, weights, policy, w)
    cells = list(count)
    missing = [3 * key % 5 if any(c[key] is None for c in cells) else -1 for key in range_of(cells)]
    levels = [
        [code(value, absent) for value, absent in zip(cell, missing, strict=True)] for cell in cells
    ]
    found = matched_cells(
        np.array(levels),
        np.array(missing),
        np.array([records.count(cell) for cell in cells]),
        [float(sum(v for r, v in zip(records, weights, strict=True) if r == c)) for c in cells],
        policy=policy,  # type: ignore[arg-type]
        missing_weight=float(w),
    )
    assert found.weight_total is not None
    assert found.sample_count.tolist() == [float(count[cell]) for cell in cells]
    assert found.weight_total.tolist() == pytest.approx([float(mean[c]) for c in cells], rel=1e-13)


def range_of(cells: list[Record]) -> range:
    """The keys."""
    return range(len(cells[0]))


def code(value: int | None, absent: int) -> int:
    """The level code of a value, leaving out the code of the missing level."""
    if value is None:
        return absent
    return value if absent < 0 or value < absent else value + 1


@st.composite
def files(draw: st.DrawFn) -> tuple[list[Record], list[Fraction]]:
    """A small file, from hardly any missing values to nothing else, with dyadic weights."""
    n_keys = draw(st.integers(1, 5))
    tops = draw(st.lists(st.sampled_from([0, 1, 1, 2, 6]), min_size=n_keys, max_size=n_keys))
    often = draw(st.integers(0, 4))
    values = [
        st.one_of(st.integers(0, top), *([st.none()] * often)) if often else st.integers(0, top)
        for top in tops
    ]
    records = draw(st.lists(st.tuples(*values), min_size=1, max_size=24))
    weight = st.integers(1, 4000).map(lambda eighths: Fraction(eighths, 8))
    return records, draw(st.lists(weight, min_size=len(records), max_size=len(records)))


@pytest.mark.parametrize(
    ("policy", "w"),
    [
        ("wildcard", Fraction(1)),
        ("wildcard", Fraction(1, 2)),
        ("wildcard", Fraction(0)),
        ("conservative", Fraction(1)),
    ],
)
@settings(max_examples=150)
@given(file=files(), batch=st.sampled_from([1, 3, 2**16]), block=st.sampled_from([1, 4, 2**14]))
def test_patterns_give_what_the_definition_says(
    policy: str, w: Fraction, file: tuple[list[Record], list[Fraction]], batch: int, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "BATCH_CODES", batch)
        patch.setattr(matching, "BLOCK_CELLS", block)
        assert_agrees(*file, policy, w)


@pytest.mark.parametrize("policy", ["wildcard", "conservative"])
@pytest.mark.parametrize(("n_keys", "n_levels"), [(22, 8), (40, 30), (70, 2), (130, 3)], ids=str)
def test_tables_beyond_one_word(policy: str, n_keys: int, n_levels: int) -> None:
    rng = np.random.default_rng(n_keys)
    centres = rng.integers(0, n_levels, (6, n_keys))
    rows = centres[rng.integers(0, 6, 80)]
    rows = np.where(rng.random(rows.shape) < 0.5 / n_keys, rng.integers(0, n_levels), rows)
    lacks = rng.random(rows.shape) < rng.choice([0, 1.5 / n_keys, 0.3], 80)[:, None]
    records: list[Record] = [
        tuple(None if gone else int(value) for value, gone in zip(row, absent, strict=True))
        for row, absent in zip(rows.tolist(), lacks.tolist(), strict=True)
    ]
    counts, _ = by_definition(records, [Fraction(1)] * 80, policy, Fraction(1))
    assert len(set(counts.values())) > 4
    assert_agrees(records, [Fraction(n, 4) for n in range(1, 81)], policy, Fraction(1))


def test_larger_file_with_many_patterns() -> None:
    rng = np.random.default_rng(5)
    drawn = np.where(rng.random((400, 7)) < 0.25, -1, rng.integers(0, 3, (400, 7)))
    records: list[Record] = [
        tuple(None if value < 0 else value for value in row) for row in drawn.tolist()
    ]
    assert_agrees(records, [Fraction(n, 8) for n in range(1, 401)], "wildcard", Fraction(1, 2))
