"""Nested variables against every table of possible cells, one by one."""

from itertools import product
from math import comb, factorial, prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet.choice.candidates import margin_proposal
from discreet.choice.options import ChooseOptions
from discreet.choice.risk_utility import risk_utility
from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.tables.audit import main_view

few = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
HOME = (0, 0, 1)  # the region of each district
SETS = (
    [("region", "ill"), ("district",)],
    [("district",), ("ill",)],
    [("district",), ("region", "ill"), ("ill",)],
    [("district", "ill")],
)


def nested(rows):
    """A table by region, district and illness; a district's persons are all in its region."""
    counts = np.zeros((2, 3, 2), dtype=np.int64)
    for district, (well, ill) in enumerate(rows):
        counts[HOME[district], district] = well, ill
    return Table.of_dense(counts, ["region", "district", "ill"])


# many persons in few districts, so that nesting is no accident, and few of them ill
persons = st.tuples(st.integers(14, 16), st.integers(0, 2))


def listed(table, sets):
    """Every table of the possible cells with the margins of the true one, districts among them."""
    truth = table.dense()
    names = table.names

    def margin(counts, own):
        gone = tuple(i for i, name in enumerate(names) if name not in own)
        return counts.sum(axis=gone)

    most = int(truth.sum(axis=(0, 1))[1])
    found = []
    totals = truth.sum(axis=(0, 2))
    for ills in product(range(most + 1), repeat=3):
        counts = np.zeros_like(truth)
        for d in range(3):
            counts[HOME[d], d] = totals[d] - ills[d], ills[d]
        if all(np.array_equal(margin(counts, own), margin(truth, own)) for own in sets):
            found.append(counts)
    return found


@few
@given(st.tuples(persons, persons, persons), st.sampled_from(SETS))
def test_number_bounds_and_distributions_are_those_of_possible_tables(rows, sets):
    table = nested(rows)
    assume(sum(ill for _, ill in rows) > 0)
    audited = audit(table, sets)
    involved = audited.release.table.names
    every = listed(table, sets)
    if set(involved) != set(table.names):
        gone = tuple(i for i, name in enumerate(table.names) if name not in involved)
        every = list({t.sum(axis=gone).tobytes(): t.sum(axis=gone) for t in every}.values())
    assert audited.n_tables.value == len(every)
    tables = np.stack([t.ravel() for t in every])
    assert [cell.lower for cell in audited.cells] == tables.min(axis=0).tolist()
    assert [cell.upper for cell in audited.cells] == tables.max(axis=0).tolist()
    weights = np.array([1 / prod(factorial(int(n)) for n in row) for row in tables])
    shares = weights / weights.sum()
    view = audited.views[main_view(audited)]
    flat = audited.release.table.dense().ravel()
    small = np.flatnonzero((flat > 0) & (flat <= 2))
    for cell, distribution in zip(small, view.distributions, strict=True):
        for value, probability in distribution.items():
            expected = shares[tables[:, cell] == value].sum()
            assert probability == pytest.approx(expected, abs=1e-9)
    truth = np.all(tables == flat, axis=1)
    measured = audited.measures[main_view(audited)].true_table
    assert measured.value == pytest.approx(float(shares[truth][0]))


@few
@given(st.tuples(persons, persons, persons))
def test_what_no_margin_says_of_nesting_is_said_beside_them(rows):
    """Districts are in no margin, but one is known of: then the zeros are statements."""
    table = nested(rows)
    known = f"district=1,ill=2:{rows[0][1]}"
    found = audit(table, [("region", "ill")], knows=[known])
    assert [zero.high for zero in found.release.zeros] == [0] * 3
    by_hand = [f"region={r},district={d}:0" for r, d in ((2, 1), (2, 2), (1, 3))]
    other = audit(table, [("region", "ill")], knows=[known, *by_hand], nesting=False)
    assert found.n_tables == other.n_tables
    assert [(c.lower, c.upper) for c in found.cells] == [(c.lower, c.upper) for c in other.cells]


@few
@given(st.tuples(persons, persons, persons))
def test_ruling_out_by_hand_is_the_same(rows):
    table = nested(rows)
    by_hand = [f"region={r},district={d}:0" for r, d in ((2, 1), (2, 2), (1, 3))]
    for sets in (SETS[0], SETS[2]):
        found, other = audit(table, sets), audit(table, sets, knows=by_hand, nesting=False)
        assert found.n_tables == other.n_tables
        assert [c.upper for c in found.cells] == [c.upper for c in other.cells]
        views = [one.views[main_view(one)] for one in (found, other)]
        for one, two in zip(*(view.distributions for view in views), strict=True):
            assert dict(one) == pytest.approx(dict(two))


@few
@given(st.tuples(persons, persons, persons), st.sampled_from(["cells", "table", "bounds"]))
def test_a_choice_knows_the_same_of_nesting_as_an_audit(rows, measure):
    table = nested(rows)
    limit = -1.0 if measure == "bounds" else 0.3
    sets = [(0, 2), (1,)]
    found = risk_utility(
        table,
        [margin_proposal(table, sets)],
        ChooseOptions(max_risk=limit, measure=measure, seed=1),
    )
    [_, one] = found.candidates
    hidden = one.risks.get("multinomial", one.risks.get("any"))
    audited = audit(table, SETS[0], measure=measure, max_risk=limit)
    own = audited.measures[main_view(audited)]
    risk = {
        "bounds": audited.tightness,
        "table": own.true_table,
        "cells": own.small_cells_identified,
    }[measure]
    if hasattr(risk, "reason"):
        assert "no cell is small" in hidden.note
    else:
        assert hidden.value == pytest.approx(risk.value)


def test_a_district_of_nobody_lies_where_its_row_of_0_says():
    """Tables by hand: of 32 well persons in N any may live in N1, N2 or N3, of 9 ill ones 4 live in
    N1 and the rest in N2 or N3; all others are where they must be."""
    rows = [("N", "N1", "no", 20), ("N", "N1", "yes", 4), ("N", "N2", "no", 12),
            ("N", "N2", "yes", 5), ("N", "N3", "no", 0), ("S", "S1", "no", 30),
            ("S", "S1", "yes", 6)]  # fmt: skip
    names = ("region", "district", "ill", "n")
    source = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
    found = audit(source, [("region", "ill")], count="n", knows=["district=N1,ill=yes:4"])
    assert found.n_tables.value == comb(34, 2) * 6
