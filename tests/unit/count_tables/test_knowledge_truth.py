"""What is true of the holder's table, and that an intruder who knows it never loses the truth."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.count_tables.equations import ReleasedSums
from discreet.count_tables.knowledge import Knowledge, Shape
from discreet.count_tables.knowledge_truth import check_true
from discreet.count_tables.rebuilding import hidden_counts
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError


def test_a_shape_begins_at_one_where_n_is_withheld():
    table = {0: 1, 1: 5, 2: 3, 3: 1}
    known = Knowledge(shape=Shape.DECREASING)
    check_true(known, table, n_is_known=False)
    with pytest.raises(InputError, match="what is not: the counts are decreasing"):
        check_true(known, table)
    with pytest.raises(InputError, match="what is not: the counts are decreasing"):
        check_true(Knowledge(shape=Shape.DECREASING, n=(9, 12)), table, n_is_known=False)


def test_everything_that_is_untrue_is_named_without_a_count():
    known = Knowledge(largest=3, cells={1: (4, 4)}, no_zeros=True, shape="increasing", n=(1, 3))
    with pytest.raises(InputError) as caught:
        check_true(known, {0: 2, 1: 5, 2: 1})
    for words in ("largest value is 3", "f1 is 4", "nobody has value 0", "increasing", "n is 1"):
        assert words in str(caught.value)


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=5).filter(lambda f: sum(f[1:]) > 0),
    st.sampled_from(list(Shape)),
    st.booleans(),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 4)),
)
def test_what_is_true_of_the_table_is_kept_by_the_intruder(counts, shape, withheld, no_zeros, peak):
    """One definition of shapes: true for the holder if and only if the truth is a solution."""
    table = {j: c for j, c in enumerate(counts) if c}
    if no_zeros:
        table.pop(0, None)
    known = Knowledge(
        shape=shape, no_zeros=no_zeros, peak=peak if shape is Shape.UNIMODAL else None
    )
    sums = ReleasedSums.of(CountStatistics.of_counts(table), withhold_n=withheld)
    try:
        check_true(known, table, n_is_known=not withheld)
        true = True
    except InputError:
        true = False
    try:
        problem = hidden_counts(sums, known)
        cells = problem.cells_of(table).tolist()
        held = any(f.tolist() == cells for f in problem.tables())
    except InputError:
        held = False
    assert held == true
