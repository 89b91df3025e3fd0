"""n withheld: what is assumed of it, its range, and that nothing is said of zeros."""

import math

import numpy as np
import pytest

from discreet.count_tables.decimals import reconstruct_truncated
from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.factorials import factorisation_of
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.likely_tables import likely_tables
from discreet.count_tables.rebuilding import Effort, reconstruct
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics, decimal_log
from discreet.count_tables.withheld_number import Numbers
from discreet.errors import InputError

TRUTH = dict(enumerate([3, 4, 2, 1, 1]))
STATISTICS = CountStatistics.of_counts(TRUTH)
HELD = ReleasedSums.of(STATISTICS, withhold_n=True)


def partitions(total, largest):
    """Every way to write a total as numbers above zero, in falling order."""
    if total == 0:
        yield ()
    for first in range(min(total, largest), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def positive_tables(total, fits):
    for values in partitions(total, total):
        table = {v: values.count(v) for v in set(values)}
        if fits(table):
            yield tuple(table.get(j, 0) for j in range(1, total + 1))


def by_number(tables, logs, weight):
    """P(f) = P(number) P(f | number)."""
    numbers = sorted({sum(f) for f in tables})
    whole = sum(weight(m) for m in numbers)
    found = {}
    for m in numbers:
        own = [i for i, f in enumerate(tables) if sum(f) == m]
        shares = np.exp([logs[i] for i in own])
        for i, share in zip(own, shares / shares.sum(), strict=True):
            found[tables[i]] = weight(m) / whole * share
    return found, numbers


@pytest.mark.parametrize(
    ("prior", "weight"), [("equal", lambda m: 1.0), ("reciprocal", lambda m: 1 / m)]
)
def test_distribution_of_tables_above_zero(prior, weight):
    tables = list(
        positive_tables(
            STATISTICS.total, lambda t: factorisation_of(t) == dict(STATISTICS.factorisation)
        )
    )
    logs = [-sum(math.lgamma(c + 1) for c in f) for f in tables]
    expected, numbers = by_number(tables, logs, weight)
    found = reconstruct(HELD, truth=TRUTH, effort=Effort(number_prior=prior))
    distribution = found.distributions["multinomial"]
    truth = tuple(TRUTH.get(j, 0) for j in range(1, STATISTICS.total + 1))
    assert distribution.truth_probability.value == pytest.approx(expected[truth], rel=1e-9)
    assert distribution.best_guess_probability.value == pytest.approx(
        max(expected.values()), rel=1e-9
    )
    got = found.numbers
    assert (got.low, got.high, got.possible) == (numbers[0], numbers[-1], len(numbers))
    assert not got.finite
    assert "no upper limit" in found.assumptions[0]
    assert sum(distribution.groups.values()) == pytest.approx(1)
    for cell in distribution.cells[1:]:
        for count, p in zip(cell.support, cell.probabilities, strict=True):
            own = sum(q for f, q in expected.items() if f[cell.cell - 1] == count)
            assert p == pytest.approx(own, abs=1e-9)


def test_zeros_are_never_said_to_be_none():
    found = reconstruct(HELD, truth=TRUTH)
    assert found.first_value == 1
    distribution = found.distributions["multinomial"]
    assert distribution.best_counts[0] is None
    assert all(count is not None for value, count in distribution.best_counts.items() if value)
    release = release_of(STATISTICS, withhold_n=True)
    listed = likely_tables(release, attack(release))
    assert listed.first_value == 1
    assert listed.counts(0)[0] is None
    known = reconstruct(STATISTICS)
    assert known.first_value == 0
    assert known.numbers is None
    assert known.assumptions == ()
    assert None not in known.distributions["multinomial"].best_counts.values()


@pytest.mark.parametrize("decimals", [0, 1, 3])
@pytest.mark.parametrize("knowledge", [Knowledge(), Knowledge(n=(10, 12))])
def test_rounded_log_factorial_total_without_n(decimals, knowledge):
    released = decimal_log(STATISTICS, decimals, truncate=False)

    def fits(table):
        s2 = sum(c * math.lgamma(v + 1) for v, c in table.items())
        return float(released.low) <= s2 < float(released.high)

    tables = list(positive_tables(STATISTICS.total, fits))
    if knowledge.n:
        low, high = knowledge.n
        tables = [(n - sum(f), *f) for f in tables for n in range(low, high + 1) if n >= sum(f)]
    else:
        tables = [(0, *f) for f in tables]
    logs = [
        -sum(math.lgamma(c + 1) + c * math.lgamma(j + 1) for j, c in enumerate(f)) for f in tables
    ]
    expected, numbers = by_number(tables, logs, lambda m: 1.0)
    found = reconstruct_truncated(None, STATISTICS.total, released, knowledge, truth=TRUTH)
    assert found.count == found.number.value == len(tables)
    assert found.zeros_unknown == (knowledge.n is None)
    assert (found.numbers.low, found.numbers.high) == (numbers[0], numbers[-1])
    truth = (3 if knowledge.n else 0, *(TRUTH.get(j, 0) for j in range(1, STATISTICS.total + 1)))
    distribution = found.distributions["proper"]
    assert distribution.truth_probability.value == pytest.approx(expected[truth], rel=1e-9)
    assert distribution.first_value == found.first_value == int(knowledge.n is None)
    release = release_of(STATISTICS, decimals=decimals, withhold_n=True)
    listed = likely_tables(release, found, knowledge)
    assert listed.probability[0] == pytest.approx(max(expected.values()), rel=1e-9)


def test_words_of_the_range():
    one = Numbers(of="n", low=9, high=9, possible=1, finite=True, prior="equal")
    assert one.words == "n is withheld: n can only be 9"
    open_ = Numbers(of="n", low=9, high=12, possible=None, finite=True, prior="reciprocal")
    assert open_.words.endswith("n lies between 9 and 12, each with weight one over itself")
    with pytest.raises(InputError, match="the prior on n must be equal or reciprocal"):
        Effort(number_prior="flat")
