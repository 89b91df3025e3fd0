"""What an intruder knows, from text to statements about cells."""

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.tables.knowledge import parse_knowledge

TABLE = Table.of_dense(
    np.ones((2, 3), dtype=np.int64), ["sex", "a,b"], [["m", "f"], ["1", "x:y", "3"]]
)


@pytest.mark.parametrize(
    ("text", "cells", "low", "high"),
    [
        ("sex=m:4", [0, 1, 2], 4, 4),
        ('sex=f,"a,b"=1:0..3', [3], 0, 3),
        ('"a,b"="x:y":..3', [1, 4], 0, 3),
        ("sex = m : 2..", [0, 1, 2], 2, None),
        (":10..20", [0, 1, 2, 3, 4, 5], 10, 20),
        ('sex=m,"a,b"=3:0', [2], 0, 0),
    ],
)
def test_parsed(text, cells, low, high):
    statement = parse_knowledge(text, TABLE).statement(TABLE.sizes)
    assert statement.cells.tolist() == cells
    assert (statement.low, statement.high) == (low, high)
    assert text in statement.name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex=m", "knows must be levels, a colon and a number or range"),
        ("sex=m:", "knows must be levels"),
        ("sex=m:..", "knows must be levels"),
        ("sex=m:-1", "knows must be levels"),
        ("sex=m:1.5", "knows must be levels"),
        ("sex:3", "knows must be levels"),
        ("sex=m;sex=f:3", "one of its levels|knows must be"),
        ("sex=m:3..1", "knows must be a range from low to high"),
        ("sex=m,sex=f:3", "knows must be about different variables, got 'sex' twice"),
        ("six=m:3", "variables named must be those of the table, got 'six'; did you mean 'sex'?"),
        ("sex=x:3", "sex must be one of its levels in the table, got 'x'"),
    ],
)
def test_not_understood(text, message):
    with pytest.raises(InputError, match=message):
        parse_knowledge(text, TABLE)
