"""Distance of a cell from the file: the figures of Li et al. (2007), absent cells, refusals."""

import math

import numpy as np
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError
from discreet.survey.attributes.closeness import (
    Closeness,
    equal_closeness,
    hierarchical_closeness,
    ordered_closeness,
)
from discreet.survey.attributes.diversity import SensitiveCounts

THOUSANDS = np.arange(3, 12)
DISEASES = Hierarchy.of_table(
    [
        ("flu", "infection", "respiratory", "all"),
        ("bronchitis", "infection", "respiratory", "all"),
        ("embolism", "vascular", "respiratory", "all"),
        ("stomach cancer", "stomach", "digestive", "all"),
    ]
)


def salaries(*cells: list[int], order: np.ndarray | None = THOUSANDS) -> SensitiveCounts:
    """Cells of salaries in thousands, from 3 to 11."""
    records = [(k, s - 3) for k, cell in enumerate(cells) for s in cell]
    cell, value = np.array(records).T
    return SensitiveCounts.of_records(cell, value, n_cells=len(cells), n_values=9, order=order)


def test_ordered_distances_of_the_paper():
    narrow = ordered_closeness(salaries([3, 4, 5], [6, 7, 8, 9, 10, 11]))
    assert narrow.value[0] == pytest.approx(0.375, abs=1e-15)  # section 4.1, P1
    wide = ordered_closeness(salaries([6, 8, 11], [3, 4, 5, 7, 9, 10]))
    assert wide.value[0] == pytest.approx(1 / 6, abs=1e-15)  # section 4.1, P2: 0.167


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("flu", "bronchitis", 1 / 3),
        ("flu", "embolism", 2 / 3),
        ("flu", "stomach cancer", 1),
    ],
)
def test_hierarchical_distances_of_the_paper(one, other, distance):
    counts = SensitiveCounts.of_records([0, 1], [0, 1], n_cells=2, n_values=2)
    found = hierarchical_closeness(counts, DISEASES, [one, other])
    assert found.value.tolist() == pytest.approx([distance / 2] * 2, abs=1e-15)


def test_equal_distance_is_total_variation():
    counts = SensitiveCounts.of_records(
        [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], n_cells=2, n_values=3
    )
    assert equal_closeness(counts).value.tolist() == pytest.approx([1 / 3, 1 / 3], abs=1e-15)


def test_a_star_is_the_equal_distance_and_a_chain_of_pairs_is_not():
    counts = salaries([3, 4, 4, 8], [5, 6, 11], [3, 3])
    levels = [str(s) for s in THOUSANDS]
    star = Hierarchy.of_table([(level, "*") for level in levels])
    equal = equal_closeness(counts).value
    assert np.ma.allclose(hierarchical_closeness(counts, star, levels).value, equal, atol=1e-15)
    pairs = Hierarchy.of_table([(level, i // 2, "*") for i, level in enumerate(levels)])
    assert (hierarchical_closeness(counts, pairs, levels).value < equal).any()


def every_distance(counts: SensitiveCounts) -> tuple[Closeness, ...]:
    """The three distances, the hierarchical one on pairs of neighbours."""
    levels = [str(value) for value in range(counts.n_values)]
    pairs = Hierarchy.of_table([(level, i // 2, "*") for i, level in enumerate(levels)])
    return (
        equal_closeness(counts),
        ordered_closeness(counts),
        hierarchical_closeness(counts, pairs, levels),
    )


def test_cells_like_the_file_are_at_no_distance():
    for found in every_distance(salaries([3, 5, 5, 9], [3, 5, 5, 9] * 7)):
        assert np.ma.allclose(found.value, 0, atol=1e-15)
        assert found.failing(0).cells == 0


def test_two_ends_of_the_order_are_as_far_apart_as_can_be():
    for found in every_distance(salaries([3] * 10**5, [11])):
        assert found.value[1] == pytest.approx(1, abs=2e-5)
        assert found.worst_cell == 1
        assert found.worst == found.value[1]


def test_one_value_in_the_whole_file_is_no_distance():
    for found in every_distance(salaries([4, 4], [4])):
        assert found.value.tolist() == [0, 0]


def test_a_distance_equal_to_t_passes():
    counts = salaries([3, 4, 5], [6, 7, 8, 9, 10, 11])
    assert ordered_closeness(counts).failing(0.375).cell.tolist() == [False, False]
    assert ordered_closeness(counts).failing(0.3749).cell.tolist() == [True, False]
    tenths = SensitiveCounts(
        cell=np.array([0, 0, 0, 1, 1, 1]),
        value=np.array([0, 1, 2, 0, 1, 2]),
        records=np.array([1, 2, 7, 3, 4, 3]),
        n_cells=2,
        n_values=3,
    )
    for t in (0.1, 0.2, 0.3):
        assert equal_closeness(tenths).failing(t).cells == (2 if t < 0.2 else 0)


def test_ranks_matter_and_not_the_numbers():
    cells = [3, 4, 4, 8], [5, 6, 11]
    plain = ordered_closeness(salaries(*cells))
    stretched = ordered_closeness(salaries(*cells, order=np.exp(np.arange(9.0) ** 2)))
    turned = ordered_closeness(salaries(*cells, order=-THOUSANDS))
    assert stretched.value.tolist() == plain.value.tolist()
    assert turned.value.tolist() == pytest.approx(plain.value.tolist(), abs=1e-15)


def test_codes_in_another_order_than_the_numbers():
    shuffle = np.array([4, 2, 8, 0, 1, 7, 3, 6, 5])
    plain = salaries([3, 4, 4, 8], [5, 6, 11], [7])
    place = np.argsort(shuffle)  # salary s has code place[s - 3], whose number is THOUSANDS again
    cells = [[3 + place[s - 3] for s in cell] for cell in ([3, 4, 4, 8], [5, 6, 11], [7])]
    other = salaries(*cells, order=THOUSANDS[shuffle])
    expected = ordered_closeness(plain).value.tolist()
    assert ordered_closeness(other).value.tolist() == pytest.approx(expected, abs=1e-15)


def test_values_with_the_same_number_are_one():
    halves = salaries([3, 4], [4, 11], order=np.array([1, 1, 0, 0, 0, 0, 0, 0, 9]))
    whole = salaries([3, 3], [3, 11])
    assert ordered_closeness(halves).value.tolist() == ordered_closeness(whole).value.tolist()


def test_values_that_never_occur_do_not_count():
    found = ordered_closeness(salaries([3], [11]))
    assert found.value.tolist() == [0.5, 0.5]
    holes = THOUSANDS.astype(float)
    holes[4] = math.nan
    assert ordered_closeness(salaries([3], [11], order=holes)).value.tolist() == [0.5, 0.5]


def test_large_whole_numbers_keep_their_order():
    order = np.array([2**60, 2**60 + 1, 2**60 + 2, *range(6)])
    counts = salaries([3], [4], [5], order=order)
    assert ordered_closeness(counts).value.tolist() == pytest.approx([0.5, 1 / 3, 0.5], abs=1e-15)


def test_sums_beyond_64_bits_are_still_right():
    m, each = 4096, 2**40
    cell = np.array([0, 0, *np.ones(m - 2, dtype=int)])
    counts = SensitiveCounts(
        cell=cell,
        value=np.arange(m),
        records=np.full(m, each),
        n_cells=2,
        n_values=m,
        order=np.arange(m),
    )
    small = SensitiveCounts(
        cell=cell,
        value=np.arange(m),
        records=np.ones(m, dtype=int),
        n_cells=2,
        n_values=m,
        order=np.arange(m),
    )
    assert m * counts.n_records >= 2**63
    found, expected = ordered_closeness(counts).value, ordered_closeness(small).value
    assert np.ma.allclose(found, expected, rtol=1e-12, atol=0)


def test_absent_cells_have_no_distance_and_do_not_weigh():
    cell, value = np.array([0, 1, 1, 2, 3]), np.array([-1, 0, 8, 8, 0])
    gaps = SensitiveCounts.of_records(cell, value, n_cells=4, n_values=9, order=THOUSANDS)
    whole = salaries([3, 11], [11], [3])
    for with_gap, without in zip(every_distance(gaps), every_distance(whole), strict=True):
        assert with_gap.value.tolist() == [None, *without.value.tolist()]
        assert with_gap.per_record([0, 2]).mask.tolist() == [True, False]
        failing = with_gap.failing(0.3)
        assert (failing.absent_cells, failing.absent_records) == (1, 1)
        assert (failing.cells, failing.records) == (2, 2)


def test_results_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        equal_closeness(salaries([3])).value[0] = 1


@pytest.mark.parametrize("t", [-0.1, 1.1, math.nan])
def test_t_outside_its_range_is_refused(t):
    with pytest.raises(InputError, match=f"t must be from 0 to 1, got {t}"):
        equal_closeness(salaries([3])).failing(t)


def test_ordered_distance_without_numbers_is_refused():
    with pytest.raises(InputError, match="order must be given for the ordered distance, got none"):
        ordered_closeness(salaries([3], order=None))
    holes = THOUSANDS.astype(float)
    holes[2] = math.nan
    with pytest.raises(InputError, match=r"a number for every value that occurs, .* at value 2"):
        ordered_closeness(salaries([3, 5], order=holes))


def test_levels_must_be_named_and_in_the_tree():
    counts = SensitiveCounts.of_records([0, 1], [0, 1], n_cells=2, n_values=2)
    with pytest.raises(InputError, match="levels must be a name for each of 2 values, got 1"):
        hierarchical_closeness(counts, DISEASES, ["flu"])
    with pytest.raises(InputError, match="got none for 'gout'"):
        hierarchical_closeness(counts, DISEASES, ["flu", "gout"])
