"""Measures of sensitive variables against slow references that follow the definitions."""

from collections import Counter, defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from discreet.data.hierarchy import Hierarchy
from discreet.survey.attributes.closeness import (
    equal_closeness,
    hierarchical_closeness,
    ordered_closeness,
)
from discreet.survey.attributes.diversity import (
    SensitiveCounts,
    concentration,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
)
from discreet.survey.presence import delta_presence, journalist_risk, marketer_risk, prosecutor_risk

N_VALUES = 7
Records = list[tuple[int, int]]
Shares = dict[int, Fraction]


@st.composite
def files(draw: st.DrawFn) -> Records:
    """Cell and value of each record of a small file, −1 where it is missing; not all are."""
    cells = st.integers(0, draw(st.integers(0, 5)))
    value = st.integers(-1 if draw(st.booleans()) else 0, draw(st.integers(0, N_VALUES - 1)))
    records = draw(st.lists(st.tuples(cells, value), min_size=1, max_size=40))
    records.append((records[0][0], draw(st.integers(0, N_VALUES - 1))))
    names = {cell: code for code, cell in enumerate(sorted({cell for cell, _ in records}))}
    return [(names[cell], value) for cell, value in records]


def counted(records: Records, order: np.ndarray | None = None) -> SensitiveCounts:
    """The records as the measures take them."""
    cell, value = np.array(records).T
    n_cells = int(cell.max()) + 1
    return SensitiveCounts.of_records(cell, value, n_cells=n_cells, n_values=N_VALUES, order=order)


def by_cell(records: Records) -> dict[int, Counter[int]]:
    """How often each value occurs in each cell that has one."""
    cells: dict[int, Counter[int]] = defaultdict(Counter)
    for cell, value in records:
        if value >= 0:
            cells[cell][value] += 1
    return cells


def shares(counter: Counter[int]) -> Shares:
    return {value: Fraction(n, counter.total()) for value, n in counter.items()}


def assert_like(found, records: Records, reference, **tolerance) -> None:
    """Masked where the cell has no value, else what the reference gives for its counts."""
    cells = by_cell(records)
    assert found.counts.n_cells == len({cell for cell, _ in records})
    for cell in range(found.counts.n_cells):
        if cell not in cells:
            assert found.value[cell] is np.ma.masked
        else:
            assert found.value[cell] == pytest.approx(float(reference(cells[cell])), **tolerance)
    assert_totals(found, records)


def assert_totals(found, records: Records) -> None:
    """The worst cell, and the figure of each record, by going through them."""
    known = [float(v) for v in found.value.compressed()]
    assert found.worst == (max(known) if found.worst_is_high else min(known))
    assert float(found.value[found.worst_cell]) == pytest.approx(found.worst, rel=0, abs=1e-11)
    per_record = found.per_record([cell for cell, _ in records])
    assert per_record.tolist() == [found.value.tolist()[cell] for cell, _ in records]


def assert_failing(failing, records: Records, fails) -> None:
    """Cells and records that fail, one by one; `fails` takes the counts of a cell."""
    cells = by_cell(records)
    bad = {cell for cell, counter in cells.items() if fails(counter)}
    assert set(np.flatnonzero(failing.cell)) == bad
    assert failing.cells == len(bad)
    assert failing.records == sum(cell in bad for cell, _ in records)
    assert failing.judged_cells == len(cells)
    assert failing.judged_records == sum(cell in cells for cell, _ in records)
    assert failing.absent_cells == len({cell for cell, _ in records} - set(cells))
    assert failing.absent_records == sum(cell not in cells for cell, _ in records)
    assert failing.cell_share == len(bad) / len(cells)


@settings(max_examples=100)
@given(files(), st.integers(1, N_VALUES + 1))
def test_distinct(records: Records, ell: int) -> None:
    found = distinct_diversity(counted(records))
    assert_like(found, records, len, rel=0, abs=0)
    assert_failing(found.failing(ell), records, lambda counter: len(counter) < ell)


def effective(counter: Counter[int]) -> mpmath.mpf:
    """exp of the entropy, to 50 digits."""
    with mpmath.workdps(50):
        parts = [mpmath.mpf(p.numerator) / p.denominator for p in shares(counter).values()]
        return mpmath.exp(-sum(p * mpmath.log(p) for p in parts))


@settings(max_examples=100)
@given(files(), st.sampled_from([1, 1.5, 2, 2.5, 3, 4, 7]))
def test_entropy(records: Records, ell: float) -> None:
    found = entropy_diversity(counted(records))
    assert_like(found, records, effective, rel=1e-14, abs=0)

    def fails(counter: Counter[int]) -> bool:
        """l^n · ∏ r^r > n^n, in whole numbers."""
        n = counter.total()
        least = Fraction(ell) ** n
        for r in counter.values():
            least *= r**r
        return bool(least > n**n)

    assert_failing(found.failing(ell), records, fails)


def ratio(counter: Counter[int], ell: int) -> Fraction | None:
    """r₁ / (r_l + … + r_m); None where m < l."""
    counts = sorted(counter.values(), reverse=True)
    return Fraction(counts[0], sum(counts[ell - 1 :])) if len(counts) >= ell else None


@settings(max_examples=100)
@given(files(), st.integers(1, N_VALUES + 1), st.sampled_from([0.25, 0.5, 1, 1.5, 2, 3, 10]))
def test_recursive(records: Records, ell: int, c: float) -> None:
    found = recursive_diversity(counted(records), ell)
    truth = {cell: ratio(counter, ell) for cell, counter in by_cell(records).items()}
    for cell in range(found.counts.n_cells):
        expected = truth.get(cell)
        assert found.too_few[cell] == (cell in truth and expected is None)
        shown = None if found.value[cell] is np.ma.masked else found.value[cell]
        assert shown == (None if expected is None else float(expected))
    known = [r for r in truth.values() if r is not None]
    if len(known) == len(truth):
        assert found.worst == float(max(known))

    def fails(counter: Counter[int]) -> bool:
        r = ratio(counter, ell)
        return r is None or not r < c

    assert_failing(found.failing(c), records, fails)


@settings(max_examples=100)
@given(files(), st.sampled_from([0.2, 0.25, 0.5, 0.75, 1.0]), st.integers(1, 10))
def test_alpha_k(records: Records, alpha: float, k: int) -> None:
    found = concentration(counted(records))
    top = {cell: max(shares(counter).values()) for cell, counter in by_cell(records).items()}
    assert_like(found, records, lambda counter: max(shares(counter).values()), rel=0, abs=0)
    failing = found.failing(alpha, k)
    sizes = Counter(cell for cell, _ in records)
    for cell, size in sizes.items():
        assert failing.cell[cell] == (size < k or float(top.get(cell, Fraction(0))) > alpha)


def transport(p: Shares, q: Shares, distance) -> float:
    """Earth Mover's distance by linear programming over all ways to carry p to q."""
    supply, demand = list(p), list(q)
    cost = [float(distance(a, b)) for a in supply for b in demand]
    out = np.kron(np.eye(len(supply)), np.ones(len(demand)))
    into = np.kron(np.ones(len(supply)), np.eye(len(demand)))
    amounts = [float(p[a]) for a in supply] + [float(q[b]) for b in demand]
    solved = linprog(cost, A_eq=np.vstack([out, into]), b_eq=amounts, method="highs")
    assert solved.success
    assert solved.fun is not None
    return float(solved.fun)


def whole_file(records: Records) -> Counter[int]:
    return Counter(value for _, value in records if value >= 0)


@settings(max_examples=60)
@given(files(), st.sampled_from([0, 0.1, 0.25, 0.5, 1]))
def test_equal_distance(records: Records, t: float) -> None:
    q = shares(whole_file(records))

    def variation(counter: Counter[int]) -> Fraction:
        p = shares(counter)
        return sum((abs(p.get(v, Fraction(0)) - q[v]) for v in q), Fraction(0)) / 2

    found = equal_closeness(counted(records))
    assert_like(found, records, variation, rel=0, abs=1e-15)
    assert_failing(found.failing(t), records, lambda counter: variation(counter) > t)
    if len(q) > 1:
        cell, counter = next(iter(by_cell(records).items()))
        emd = transport(shares(counter), q, lambda a, b: a != b)
        assert found.value[cell] == pytest.approx(emd, abs=1e-9)


@settings(max_examples=100)
@given(
    files(),
    st.lists(st.integers(-4, 4), min_size=N_VALUES, max_size=N_VALUES),
    st.sampled_from([0, 0.1, 0.25, 0.5, 1]),
)
def test_ordered_distance(records: Records, numbers: list[int], t: float) -> None:
    ordered = sorted({numbers[value] for value in whole_file(records)})
    rank = {value: ordered.index(numbers[value]) for value in whole_file(records)}

    def in_order(counter: Counter[int]) -> list[Fraction]:
        held = shares(counter)
        return [
            sum((held[v] for v in held if rank[v] <= i), Fraction(0)) for i in range(len(ordered))
        ]

    def distance(counter: Counter[int]) -> Fraction:
        steps = zip(in_order(counter), in_order(whole_file(records)), strict=True)
        return sum((abs(P - Q) for P, Q in steps), Fraction(0)) / max(len(ordered) - 1, 1)

    found = ordered_closeness(counted(records, np.array(numbers)))
    assert_like(found, records, distance, rel=0, abs=1e-14)
    assert_failing(found.failing(t), records, lambda counter: distance(counter) > t)
    for cell, counter in by_cell(records).items():
        ranks = [rank[v] for v in counter.elements()]
        everyone = [rank[v] for v in whole_file(records).elements()]
        emd = wasserstein_distance(ranks, everyone) / max(len(ordered) - 1, 1)
        assert found.value[cell] == pytest.approx(emd, abs=1e-12)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """The parent of every node of a tree over the values, as uneven as can be."""
    tops = [str(value) for value in range(N_VALUES)]
    parents: dict[str, str] = {}
    while len(tops) > 1 or not parents:
        size = draw(st.integers(1, len(tops)))
        together = draw(st.permutations(tops))[:size]
        node = f"group {len(parents)}"
        parents |= dict.fromkeys(together, node)
        tops = [top for top in tops if top not in together] + [node]
        if len(parents) > 20:
            parents |= dict.fromkeys(tops, "root")
            tops = ["root"]
    return parents


def upward(node: str, parents: dict[str, str]) -> list[str]:
    """The node and all above it."""
    return [node, *upward(parents[node], parents)] if node in parents else [node]


def node_heights(parents: dict[str, str]) -> dict[str, int]:
    """The longest way from each node down to a leaf."""
    heights: dict[str, int] = defaultdict(int)
    for value in range(N_VALUES):
        for steps, node in enumerate(upward(str(value), parents)):
            heights[node] = max(heights[node], steps)
    return heights


def paper_formula(p: Shares, q: Shares, parents: dict[str, str]) -> Fraction:
    """Li et al. (2007), section 4.3: the cost at each inner node, from what its children have."""
    heights = node_heights(parents)
    extra: dict[str, Fraction] = defaultdict(Fraction)
    for value in q:
        for node in upward(str(value), parents):
            extra[node] += p.get(value, Fraction(0)) - q[value]
    cost = Fraction(0)
    for inner in set(parents.values()):
        children = [extra[node] for node in parents if parents[node] == inner]
        surplus = sum((e for e in children if e > 0), Fraction(0))
        deficit = -sum((e for e in children if e < 0), Fraction(0))
        cost += Fraction(heights[inner], max(heights.values())) * min(surplus, deficit)
    return cost


@settings(max_examples=60)
@given(files(), trees(), st.sampled_from([0, 0.1, 0.25, 0.5, 1]))
def test_hierarchical_distance(records: Records, parents: dict[str, str], t: float) -> None:
    q, heights = shares(whole_file(records)), node_heights(parents)

    def apart(a: int, b: int) -> float:
        above = upward(str(b), parents)
        common = next(node for node in upward(str(a), parents) if node in above)
        return heights[common] / max(heights.values())

    levels = [str(value) for value in range(N_VALUES)]
    found = hierarchical_closeness(counted(records), Hierarchy.of_parents(parents), levels)
    assert_like(
        found, records, lambda counter: paper_formula(shares(counter), q, parents), rel=0, abs=1e-14
    )
    assert_failing(
        found.failing(t), records, lambda counter: paper_formula(shares(counter), q, parents) > t
    )
    for cell, counter in by_cell(records).items():
        emd = transport(shares(counter), q, apart)
        assert found.value[cell] == pytest.approx(emd, abs=1e-9)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=12),
    st.sampled_from([0, 0.1, 0.2, 0.25, 0.5, 1]),
)
def test_known_population(cells: list[tuple[int, int]], limit: float) -> None:
    f = [min(count, 1) + count for count, _ in cells] + [3]
    F = [max(count + more, 1) for count, (_, more) in zip(f, [*cells, (0, 4)], strict=True)]
    people = [(a, b) for a, b in zip(f, F, strict=True) for _ in range(a)]
    prosecutor, journalist = (
        prosecutor_risk(f, threshold=limit),
        journalist_risk(f, F, threshold=limit),
    )
    assert prosecutor.average == pytest.approx(
        float(sum(Fraction(1, a) for a, _ in people) / len(people)), rel=1e-14
    )
    match = float(sum(Fraction(1, b) for _, b in people) / len(people))
    assert journalist.average == pytest.approx(match, rel=1e-14)
    assert marketer_risk(f, F) == pytest.approx(match, rel=1e-14)
    assert prosecutor.highest == max(1 / a for a, _ in people)
    assert journalist.highest == max(1 / b for _, b in people)
    assert prosecutor.records_at_risk == sum(1 / a > limit for a, _ in people)
    assert journalist.records_at_risk == sum(1 / b > limit for _, b in people)
    here = [b for a, b in zip(f, F, strict=True) if a]
    assert journalist.success_rate == pytest.approx(max(match, len(here) / sum(here)), rel=1e-14)
    presence = delta_presence(f, F)
    everyone = [(a, b) for a, b in zip(f, F, strict=True) for _ in range(b)]
    assert presence.delta_min == min(a / b for a, b in everyone)
    assert presence.delta_max == max(a / b for a, b in everyone)
    outside = presence.outside(limit / 2, limit)
    assert outside.population_records == sum(not limit / 2 <= a / b <= limit for a, b in everyone)
