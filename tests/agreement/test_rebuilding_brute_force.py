"""The intruder's answers against a plain search through all tables."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.count_tables.decimals import reconstruct_truncated
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.factorials import factorisation_of
from discreet.count_tables.knowledge import Knowledge, Shape
from discreet.count_tables.rebuilding import hidden_counts, reconstruct
from discreet.count_tables.statistics import CountStatistics, decimal_log
from discreet.errors import InputError

counts = st.lists(st.integers(0, 6), min_size=2, max_size=7).filter(lambda f: sum(f[1:]) > 0)


def partitions(total, parts, largest):
    """Every way to write a total as so many numbers from 0 to largest, in falling order."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(total, largest), -1, -1):
        if first * parts < total:
            return
        for rest in partitions(total - first, parts - 1, first):
            yield (first, *rest)


def all_tables(n, total):
    """Every table of n counts with a total, as {value: count}."""
    for values in partitions(total, n, total):
        yield {v: values.count(v) for v in set(values)}


def brute(statistics, known=lambda f: True):
    found = set()
    for table in all_tables(statistics.n, statistics.total):
        if factorisation_of(table) == dict(statistics.factorisation):
            width = statistics.next_prime
            cells = tuple(table.get(j, 0) for j in range(width))
            if known(cells):
                found.add(cells)
    return found


def weights(tables):
    logs = np.array([-sum(math.lgamma(c + 1) for c in f) for f in tables])
    w = np.exp(logs - logs.max())
    return w / w.sum()


def padded(table, width):
    return tuple(int(c) for c in table) + (0,) * (width - len(table))


def falling(f):
    return all(a >= b for a, b in itertools.pairwise(f))


def rising(f):
    top = max((j for j, c in enumerate(f) if c), default=0)
    return all(a <= b for a, b in itertools.pairwise(f[: top + 1]))


def unimodal(f):
    peak = f.index(max(f))
    return all(a <= b for a, b in itertools.pairwise(f[: peak + 1])) and falling(f[peak:])


SMALL = [[3, 4, 2, 1, 1], [2, 2, 3, 2, 2, 1], [6, 3, 2, 1, 1, 0, 1], [0, 1, 2, 3, 3], [4, 4, 4]]
CASES = {
    "nothing": (Knowledge(), lambda f: True),
    "decreasing": (Knowledge(shape=Shape.DECREASING), falling),
    "increasing": (Knowledge(shape=Shape.INCREASING), rising),
    "unimodal": (Knowledge(shape=Shape.UNIMODAL), unimodal),
    "peak": (
        Knowledge(shape=Shape.UNIMODAL, peak=1),
        lambda f: f[1] == max(f) and unimodal((*f[:1], f[1] + 1, *f[2:])),
    ),
    "no zeros": (Knowledge(no_zeros=True), lambda f: f[0] == 0),
    "largest": (Knowledge(largest=4), lambda f: len(f) > 4 and f[4] > 0 and not any(f[5:])),
    "range": (Knowledge(largest=(3, 4)), lambda f: any(f[3:5]) and not any(f[5:])),
    "cell": (Knowledge(cells={2: (1, 3)}), lambda f: 1 <= f[2] <= 3),
}


@pytest.mark.parametrize("table", SMALL)
@pytest.mark.parametrize("case", CASES)
def test_tables_bounds_and_distribution(table, case):
    knowledge, holds = CASES[case]
    statistics = CountStatistics.of_counts(dict(enumerate(table)))
    expected = brute(statistics, holds)
    if not expected:
        with pytest.raises(InputError, match="must be"):
            reconstruct(statistics, knowledge)
        return
    width = statistics.next_prime
    problem = hidden_counts(statistics, knowledge)
    assert {padded(f, width) for f in problem.tables()} == expected
    found = reconstruct(statistics, knowledge)
    assert found.count.value == len(expected)
    order = sorted(expected)
    cells = np.array(order)[:, : problem.n_cells]
    assert found.bounds.lower.tolist() == cells.min(axis=0).tolist()
    assert found.bounds.upper.tolist() == cells.max(axis=0).tolist()
    for prior, w in (
        ("multinomial", weights(order)),
        ("uniform", np.full(len(order), 1 / len(order))),
    ):
        distribution = found.distributions[prior]
        assert distribution.entropy.value == pytest.approx(-float(np.sum(w * np.log2(w))), abs=1e-9)
        assert distribution.best_guess_probability.value == pytest.approx(w.max(), rel=1e-9)
        for cell in distribution.cells:
            for count, p in zip(cell.support, cell.probabilities, strict=True):
                assert p == pytest.approx(w[cells[:, cell.cell] == count].sum(), abs=1e-9)


@pytest.mark.parametrize("table", SMALL[:3])
@pytest.mark.parametrize(("decimals", "truncate"), [(0, False), (1, True), (2, False), (5, True)])
def test_rounded_log_factorial_total(table, decimals, truncate):
    truth = dict(enumerate(table))
    statistics = CountStatistics.of_counts(truth)
    released = decimal_log(statistics, decimals, truncate=truncate)
    found = reconstruct_truncated(statistics.n, statistics.total, released, truth=truth)
    sets: dict[tuple, list[tuple]] = {}
    for other in all_tables(statistics.n, statistics.total):
        exponents = factorisation_of(other)
        s2 = sum(e * math.log(p) for p, e in exponents.items())
        if float(released.low) <= s2 < float(released.high):
            cells = tuple(other.get(j, 0) for j in range(statistics.total + 1))
            sets.setdefault(tuple(exponents.items()), []).append(cells)
    got = {frozenset(one.factorisation.items()): one.count for one in found.sets}
    assert got == {frozenset(exponents): len(own) for exponents, own in sets.items()}
    assert found.count == sum(map(len, sets.values()))
    listed = [(dict(key), f) for key, own in sets.items() for f in own]
    logs = np.array(
        [
            -sum(math.lgamma(c + 1) for c in f)
            - found.dispersion * sum(e * math.log(p) for p, e in exponents.items())
            for exponents, f in listed
        ]
    )
    w = np.exp(logs - logs.max())
    w /= w.sum()
    assert found.distributions["proper"].entropy.value == pytest.approx(
        -np.sum(w * np.log2(w)), abs=1e-9
    )
    sizes = np.array([len(sets[tuple(exponents.items())]) for exponents, _ in listed])
    own = next(i for i, (_, f) in enumerate(listed) if f[: len(table)] == tuple(table))
    by_set = 1 / (len(sets) * sizes[own])
    assert found.distributions["sets_equal"].truth_probability.value == pytest.approx(
        by_set, rel=1e-9
    )
    assert found.distributions["all_equal"].truth_probability.value == pytest.approx(
        1 / len(listed)
    )


def test_n_within_a_range_and_unknown():
    truth = dict(enumerate([3, 4, 2, 1, 1]))
    statistics = CountStatistics.of_counts(truth)
    held = ReleasedSums.of(statistics, withhold_n=True)
    expected = {}
    for n in range(9, 14):
        try:
            expected[n] = brute(CountStatistics(n, statistics.total, statistics.factorisation))
        except InputError:
            expected[n] = set()
    found = reconstruct(held, Knowledge(n=(9, 13)), truth=truth)
    assert found.count.value == sum(map(len, expected.values()))
    inhabited = sum(1 for tables in expected.values() if tables)
    own = sorted(expected[11])
    p = weights(own)[own.index(padded([3, 4, 2, 1, 1], statistics.next_prime))]
    got = found.distributions["multinomial"].truth_probability.value
    assert got == pytest.approx(p / inhabited, rel=1e-9)
    every = set()
    for n in range(1, statistics.total + 1):
        try:
            tables = brute(CountStatistics(n, statistics.total, statistics.factorisation))
        except InputError:
            continue
        every |= {f[1:] for f in tables}
    unknown = reconstruct(held)
    assert unknown.zeros_unknown
    assert unknown.count.value == len(every)


@settings(max_examples=25)
@given(counts)
def test_the_truth_is_always_among_the_solutions(table):
    truth = dict(enumerate(table))
    problem = hidden_counts(CountStatistics.of_counts(truth))
    cells = problem.cells_of(truth)
    assert any(np.array_equal(cells, f) for f in problem.tables())


@settings(max_examples=20)
@given(counts, st.integers(0, 6), st.integers(0, 3), st.booleans())
def test_knowledge_never_adds_solutions(table, j, low, ordered):
    statistics = CountStatistics.of_counts(dict(enumerate(table)))
    before = {tuple(f) for f in hidden_counts(statistics).tables()}
    shape = Shape.UNIMODAL if ordered else None
    try:
        after = hidden_counts(statistics, Knowledge(cells={j: (low, low + 2)}, shape=shape))
    except InputError:
        return
    assert {tuple(f) for f in after.tables()} <= before


@settings(max_examples=25)
@given(counts)
def test_priors_agree_where_one_table_is_left(table):
    found = reconstruct(CountStatistics.of_counts(dict(enumerate(table))))
    first, second = found.distributions["multinomial"], found.distributions["uniform"]
    assert second.entropy.value >= first.entropy.value - 1e-9
    if found.count.value == 1:
        assert first.best_guess == second.best_guess
        assert first.entropy.value == second.entropy.value == 0.0
        assert "has no value" in first.reciprocal_entropy.reason
