"""What all masks share: names of entries, likelihood factors, and records."""

import json

import numpy as np
import pytest

from discreet.belief.factors import Factor, product_of
from discreet.data.table import Table
from discreet.masks.contract import entry_groups, entry_name, entry_names, sets_text, tables_text
from discreet.masks.rounding import round_at_random

TABLE = Table.of_dense(np.arange(24).reshape(2, 3, 4), names=["a", "b", "c"])


@pytest.mark.parametrize("axes", [(), (0,), (2,), (0, 2), (0, 1, 2)])
def test_entries_have_their_cells_and_names_in_the_order_of_the_margin(axes):
    groups = entry_groups(TABLE, axes)
    sums = TABLE.dense().ravel()[groups].sum(axis=1)
    assert sums.tolist() == TABLE.margin(axes).ravel().tolist()
    assert entry_names(TABLE, axes) == [entry_name(TABLE, axes, i) for i in range(len(groups))]


def test_a_factor_is_zero_outside_of_what_it_lists():
    factor = Factor(cells=np.array([0, 2]), low=3, log_probability=np.log([0.2, 0.5]), name="x")
    assert factor.high == 4
    np.testing.assert_allclose(np.exp(factor.of_sums(np.array([2, 3, 4, 5]))), [0, 0.2, 0.5, 0])
    tables = np.array([[1, 9, 2], [2, 9, 2], [9, 9, 9]])
    np.testing.assert_allclose(np.exp(product_of([factor, factor])(tables)), [0.04, 0.25, 0])


def test_many_tables_are_named_in_few_words():
    assert sets_text(TABLE, [(0, 1), ()]) == "[a b][total]"
    assert tables_text(TABLE, [(0, 1), ()]) == "[a b][total]"
    every = [(0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,), ()]
    assert tables_text(TABLE, every) == "the full table with all its margins"


def test_records_of_array_numbers_are_plain_json():
    masked = round_at_random(TABLE, base=np.int64(3), seed=np.int64(4))
    assert json.loads(json.dumps(masked.record()))["seed"] == 4
