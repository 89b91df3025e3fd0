"""What leaves the agency holds no count, no level and no secret parameter, whatever the table."""

import re
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.report.showing import page_words

from discreet.count_tables.options import CountOptions
from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.flows.choose import choose
from discreet.flows.counts import assess_categories, assess_counts
from discreet.report.external import BUILDERS, external_document_of
from discreet.report.results import TOLD as INTERNAL

NAMES = ["alpha", "beta", "gamma"]
LEVELS = [[f"Lv{name}{i}" for i in range(3)] for name in "ABC"]
# No figure of a table can be told from a number of the text by chance: all have these many digits.
COUNTS = st.integers(211, 989)
SLOW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def tables(draw):
    """Large counts, and small ones to be protected."""
    shape = draw(st.sampled_from([(2, 2), (3, 2), (2, 2, 2)]))
    size = int(np.prod(shape))
    counts = draw(st.lists(COUNTS, min_size=size, max_size=size))
    counts[draw(st.integers(0, size - 1))] = draw(st.integers(1, 2))
    levels = [LEVELS[axis][:n] for axis, n in enumerate(shape)]
    dense = np.array(counts, dtype=np.int64).reshape(shape)
    return Table.of_dense(dense, NAMES[: len(shape)], levels=levels)


def sums(dense):
    """Every cell and every sum over some of the variables."""
    axes = range(dense.ndim)
    over = chain.from_iterable(combinations(axes, n) for n in range(dense.ndim + 1))
    return {int(value) for some in over for value in np.ravel(dense.sum(axis=some))}


def assert_tells_nothing(document, numbers, labels, secrets=()):
    assert document.mark == "public"
    said = page_words(document)
    found = {int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", said)}
    assert not found & {number for number in numbers if number > 99}
    assert not [label for label in labels if label in said]
    assert not [secret for secret in secrets if str(secret) in said]
    return said


@SLOW
@given(table=tables())
def test_of_an_audit(table):
    sets = [table.names[:2]] if len(table.names) > 2 else [table.names[:1], table.names[1:]]
    found = audit(table, sets, max_risk=0.1234, seed=77654, seconds=5)
    labels = list(chain.from_iterable(table.levels))
    said = assert_tells_nothing(
        external_document_of(found, "data.csv"), sums(table.dense()), labels, ("0.1234", "77654")
    )
    assert "Data set: data.csv." in said
    assert "The rules for this release" in said


@SLOW
@given(table=tables())
def test_of_a_choice(table):
    found = choose(
        table, "margins,rounding:base=3,suppression", max_risk=0.1234, seed=77654, seconds=10
    )
    labels = list(chain.from_iterable(table.levels))
    numbers = sums(table.dense())
    assert_tells_nothing(external_document_of(found), numbers, labels, ("0.1234", "77654"))


@SLOW
@given(counts=st.lists(COUNTS, min_size=3, max_size=4), limit=st.sampled_from([0.0123, 0.9877]))
def test_of_counts(counts, limit):
    table = dict(enumerate(counts))
    found = assess_counts(table, CountOptions(max_risk=limit, seconds=4, seed=77654))
    statistics = {found.statistics.n, found.statistics.total, *counts}
    said = assert_tells_nothing(
        external_document_of(found), statistics, (), (limit, "77654", "2^", "e^S2")
    )
    assert "The rules for this release" in said or "It could not be shown" in said


def test_of_categories():
    tables = {"LvA0": {0: 215, 1: 320, 2: 109}, "LvA1": {0: 310, 1: 212, 2: 101}}
    found = assess_categories(tables, max_risk=0.0123, seconds=10)
    numbers = {n for one in tables.values() for n in (*one.values(), sum(one.values()))}
    said = assert_tells_nothing(external_document_of(found), numbers, list(tables), ("0.0123",))
    assert "The rules for this release" in said


def test_who_was_refused_reads_what_to_ask_instead():
    table = Table.of_dense(np.array([[1, 500], [300, 400]]), ["alpha", "beta"])
    found = audit(table, [["alpha", "beta"]], max_risk=0.1)
    said = page_words(external_document_of(found, "data.csv"))
    assert "To publish these tables together: [alpha beta]." in said
    assert "The rules for this release do not allow it." in said
    assert "Tables with a variable less: [beta], [alpha]." in said


def test_what_could_be_asked_follows_from_the_request_alone():
    """The same request on other data has the same answer, so that it tells nothing of them."""
    said = set()
    for counts in ([[1, 500], [300, 400]], [[700, 2], [1, 1]]):
        found = audit(
            Table.of_dense(np.array(counts), ["alpha", "beta"]), [["alpha", "beta"]], max_risk=0.1
        )
        said.add(page_words(external_document_of(found, "data.csv")))
    assert len(said) == 1


# Sequences are those of their parts; the others answer the steward's own questions, or are about
# what is public.
INSIDE = {
    "Attack",
    "AuditSequence",
    "BestMargins",
    "Comparison",
    "Plans",
    "PolicyComparison",
    "ReadResult",
}


@pytest.mark.parametrize("name", sorted(set(INTERNAL) - INSIDE))
def test_every_result_with_a_report_has_one_for_outside(name):
    assert name in BUILDERS
