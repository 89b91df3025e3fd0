"""Margins as a mask: what goes out, what is known, and the fit that users get."""

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import ColumnError, InputError
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.margins import release_margins

CENSUS = np.array([[[96, 72, 161], [10, 7, 6], [1, 1, 2]], [[186, 127, 51], [11, 7, 3], [0, 1, 0]]])
TABLE = Table.of_dense(CENSUS, names=["gender", "race", "income"])


def test_decomposable_margins_have_the_closed_form_fit():
    masked = release_margins(TABLE, [["race", "income"], ["gender", "income"]])
    race_income, gender_income = CENSUS.sum(axis=0), CENSUS.sum(axis=1)
    fit = race_income[None] * gender_income[:, None] / CENSUS.sum(axis=(0, 1))
    np.testing.assert_allclose(masked.estimate, fit, rtol=1e-9)


def test_bounds_are_those_of_dobra_table_1():
    masked = release_margins(TABLE, [["race", "income"], ["gender", "income"]])
    bounds = intruders_bounds(masked)
    assert bounds.complete
    assert bounds.lower.reshape(CENSUS.shape)[0].tolist() == [[85, 64, 158], [0, 0, 0], [0, 0, 0]]
    assert bounds.upper.reshape(CENSUS.shape)[1].tolist() == [
        [197, 135, 54],
        [21, 14, 9],
        [1, 2, 2],
    ]


def test_a_margin_within_another_goes_out_and_adds_no_knowledge():
    one = release_margins(TABLE, [["race", "income"]])
    two = release_margins(TABLE, [["race", "income"], ["income"]])
    assert len(two.published) == 2
    assert two.published[1].counts.tolist() == CENSUS.sum(axis=(0, 1)).tolist()
    assert [s.name for s in one.known] == [s.name for s in two.known]


def test_the_total_alone_and_the_full_table():
    total = release_margins(TABLE, [[]])
    np.testing.assert_allclose(total.estimate, CENSUS.sum() / 18)
    full = release_margins(TABLE, [["gender", "race", "income"]])
    assert np.array_equal(full.estimate, CENSUS)
    assert "full table" in full.effect


def test_results_cannot_be_changed_by_accident():
    masked = release_margins(TABLE, [["race"]])
    with pytest.raises(ValueError, match="read-only"):
        masked.estimate[0, 0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        masked.published[0].counts[0] = 5


@pytest.mark.parametrize("sets", [[["rase"]], [["race", "sex"]]])
def test_unknown_names_are_refused(sets):
    with pytest.raises(ColumnError, match="variables named must be those of the table"):
        release_margins(TABLE, sets)


def test_no_set_and_a_text_in_place_of_a_list_are_refused():
    with pytest.raises(InputError, match="sets must be at least one set of variables, got none"):
        release_margins(TABLE, [])
    with pytest.raises(InputError, match="sets must be lists of names"):
        release_margins(TABLE, ["race"])


@pytest.mark.parametrize("counts", [np.zeros((2, 3), np.int64), np.zeros((2, 0), np.int64)])
def test_an_empty_table_is_refused(counts):
    with pytest.raises(InputError, match="table must be of at least one person"):
        release_margins(Table.of_dense(counts), [["v1"]])


def test_too_many_cells_or_persons_are_refused():
    wide = Table(
        names=("a", "b"),
        levels=(tuple(map(str, range(2000))), tuple(map(str, range(2000)))),
        cells=np.array([[0, 0]]),
        counts=np.array([3]),
    )
    with pytest.raises(InputError, match="table must be of at most 1,048,576 cells, got 4,000,000"):
        release_margins(wide, [["a"]])
    many = Table.of_dense(np.array([2**53, 1]))
    with pytest.raises(InputError, match=r"table must be of fewer than 2\*\*53 persons"):
        release_margins(many, [["v1"]])
