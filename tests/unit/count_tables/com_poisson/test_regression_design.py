"""Design matrices of categories."""

import numpy as np
import pytest

from discreet.count_tables.com_poisson.estimation import SampleSums
from discreet.count_tables.com_poisson.regression_design import (
    Category,
    check_categories,
    effects_design,
)
from discreet.errors import InputError

SUMS = SampleSums(10, 20, 9.0)
CROSS = [Category({"state": s, "sex": x}, SUMS) for s in "abc" for x in "fm"]


def test_main_effects():
    design = effects_design(CROSS, [["state"], ["sex"]])
    assert design.names == ("intercept", "state=b", "state=c", "sex=m")
    expected = [[1, 0, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1]]
    assert design.matrix.tolist() == expected
    assert not design.matrix.flags.writeable


def test_interaction():
    design = effects_design(CROSS, [["state"], ["sex"], ["state", "sex"]])
    assert design.names[-2:] == ("state=b × sex=m", "state=c × sex=m")
    assert np.linalg.matrix_rank(design.matrix) == 6


@pytest.mark.parametrize(
    ("categories", "effects", "message"),
    [
        ([], [], "categories must be at least one, got none"),
        (CROSS, [["age"]], "effects must be of state, sex, got 'age'"),
        (CROSS[:1] * 2, [], "categories must be all different, got one twice"),
        ([CROSS[0], Category({"age": "1"}, SUMS)], [], "levels must be of sex, state, got age"),
        (CROSS[:5], [["state"], ["sex"], ["state", "sex"]], "the effects must be at most 5"),
    ],
)
def test_refuses(categories, effects, message):
    with pytest.raises(InputError, match=message):
        effects_design(categories, effects)


def test_one_category_is_enough():
    check_categories([Category({}, SUMS)])
    assert effects_design([Category({}, SUMS)], []).matrix.tolist() == [[1.0]]
