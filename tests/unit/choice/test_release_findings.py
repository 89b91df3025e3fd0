"""What stands on the page of a release: every figure is looked at, below zero too."""

from dataclasses import replace

import numpy as np

from discreet.choice.options import ChooseOptions
from discreet.choice.release_findings import page_findings
from discreet.data.table import Table
from discreet.masks.contract import PublishedTable
from discreet.masks.discrete_laplace import add_laplace
from discreet.tables.policy_needs import Needs


def test_a_figure_of_minus_one_is_no_hidden_one():
    """Noise may publish a count of 2 as −1: a figure that stands for a small count all the same."""
    table = Table.of_dense(np.array([2, 40, 50]))
    noisy = add_laplace(table, epsilon=1, seed=1)
    counts = np.array([-1, 41, 49])
    noisy = replace(noisy, published=(PublishedTable(axes=(0,), counts=counts),))
    found = page_findings(noisy, (), ChooseOptions(max_risk=0.5), Needs(shown=(2,)))
    assert found["shown:2"].value.value == 1
