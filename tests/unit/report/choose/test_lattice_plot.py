"""The picture of the lattice of margins."""

import numpy as np
import pytest

from discreet.choice.best_set.best_margins import best_margins
from discreet.choice.best_set.frontier import Status
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.report.lattice_plot import lattice_plot


def test_every_margin_stands_in_the_picture_once():
    table = Table.of_dense(np.array([[[3, 1], [4, 6]], [[5, 7], [2, 9]]]), ["age", "sex", "<job>"])
    found = best_margins(table, min_width=3, seconds=None)
    drawn = lattice_plot(table.names, found.frontier.statuses)
    for text in ("total", "A", "B", "C", "AB", "AC", "BC", "ABC"):
        assert drawn.count(f">{text}</text>") == 1
    assert "A = age" in drawn
    assert "&lt;job&gt;" in drawn
    assert "<job>" not in drawn
    assert "<script" not in drawn
    assert drawn == lattice_plot(table.names, found.frontier.statuses)


def test_only_what_occurs_is_explained():
    drawn = lattice_plot(["a"], {(0,): Status.UNRELEASABLE})
    assert Status.UNRELEASABLE.value in drawn
    assert Status.RELEASED.value not in drawn


def test_too_many_variables_are_refused():
    with pytest.raises(InputError, match="a lattice must be of 1 to 6 variables, got 7"):
        lattice_plot([str(i) for i in range(7)], {})
