"""What averaging of noisy figures comes to: closed forms, and least squares written out."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.masks.averaging import averaged_variance, averaging_words, belief_of_sum
from discreet.masks.cell_key import perturb_by_keys
from discreet.masks.contract import entry_groups
from discreet.masks.perturbation_table import NoiseRule


def by_least_squares(sizes, sets, target):
    """c' (M'M)⁺ c of the figures' matrix, None where c is no sum of figures."""
    table = Table.of_dense(np.ones(sizes, dtype=np.int64))
    rows = []
    for axes in sets:
        for cells in entry_groups(table, axes):
            rows.append(np.bincount(cells, minlength=table.n_cells))
    m = np.array(rows, dtype=float)
    c = np.bincount(entry_groups(table, target)[0], minlength=table.n_cells).astype(float)
    weights = np.linalg.lstsq(m.T, c, rcond=None)[0]
    if not np.allclose(m.T @ weights, c):
        return None
    return float(c @ np.linalg.pinv(m.T @ m) @ c)


def test_every_set_of_tables_of_two_and_three_variables_agrees_with_least_squares():
    tried = 0
    for sizes in ((2, 3), (2, 3, 2), (3, 1, 2)):
        axes = range(len(sizes))
        margins = [m for k in range(len(sizes) + 1) for m in combinations(axes, k)]
        for n in (1, 2, 3):
            for sets in list(combinations(margins, n))[::2]:
                for target in margins:
                    own, theirs = averaged_variance(sizes, sets, target), None
                    theirs = by_least_squares(sizes, sets, target)
                    if theirs is None:
                        assert isinstance(own, Unavailable)
                        assert "no sum of published figures" in own.reason
                    else:
                        assert float(own) == pytest.approx(theirs, rel=1e-9)
                        tried += 1
    assert tried > 200


def test_a_sum_of_c_figures_has_c_times_the_variance():
    assert averaged_variance((4, 7), [(0, 1)], (0,)) == 7
    assert averaged_variance((4, 7), [(0, 1)], ()) == 28


def test_estimates_that_share_no_figure_add_their_precisions():
    """A alone, A × B summed over 3 levels, A × C over 5: 1 / (1 + 1/3 + 1/5)."""
    sizes, sets = (4, 3, 5), [(0,), (0, 1), (0, 2)]
    assert averaged_variance(sizes, sets, (0,)) == 1 / (1 + Fraction(1, 3) + Fraction(1, 5))


def test_the_same_table_with_new_noise_each_time_is_averaged():
    assert averaged_variance((3, 2), [(0, 1)] * 5, (0, 1)) == Fraction(1, 5)


def test_what_no_published_figures_add_up_to_has_no_estimate():
    found = averaged_variance((3, 2), [(0,), (1,)], (0, 1))
    assert isinstance(found, Unavailable)
    wide = averaged_variance((2,) * 11, [tuple(range(11))], tuple(range(11)))
    assert "at most 10 variables" in wide.reason


def test_words_name_the_variance_where_something_is_gained():
    assert averaging_words((3, 2), [(0, 1)], 2.0) == ""
    assert averaging_words((3, 2), [(0,), (1,)], 2.0) != ""
    said = averaging_words((2, 2), [(0, 1), (0,), (1,), ()], 2.0)
    # λ: 4 + 2 + 2 + 1, 1 + 2 twice, 1; each effect has ¼ of a cell
    expected = 2 * (Fraction(1, 9) + Fraction(2, 3) + 1) / 4
    assert f"variance {float(expected):.3g} in place of 2." in said


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([], "a list of numbers of cells"),
        ([[0, 1]], "a list of numbers of cells"),
        ([0.5], "a list of numbers of cells"),
        ([1, 1], "different from each other"),
        ([4], "from 0 to 3"),
        ([-1], "from 0 to 3"),
    ],
)
def test_cells_that_the_table_does_not_have_are_refused(cells, words):
    table = Table.of_dense(np.array([[3, 2], [2, 4]]))
    masked = perturb_by_keys(table, rule=NoiseRule(variance=1.0), seed=1)
    with pytest.raises(InputError, match=f"cells must be {words}"):
        belief_of_sum(masked, np.array(cells))
