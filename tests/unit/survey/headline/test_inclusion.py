"""How likely the others of a cell were to be drawn, from how alike the weights in cells are."""

import numpy as np
import pytest

from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.survey.headline.inclusion import (
    USUAL_ALIKE,
    USUAL_RECORDS,
    Alike,
    Inclusion,
    alike_in_cells,
)


def batch_of(groups):
    """Cells of records with these weights."""
    n = len(groups)
    return CellBatch(
        coding=Coding.of_sizes([n]),
        words=np.arange(n)[:, None],
        sample_count=np.array([len(own) for own in groups]),
        weight_total=np.array([float(sum(own)) for own in groups]),
        extra={"squares": np.array([_squares(own) for own in groups])},
    )


def _squares(own):
    with np.errstate(over="ignore"):
        return float(np.square(own).sum())


def by_pairs(groups, largest=15):
    """The correlation by listing every pair of records, drawn to a half."""
    few = [own for own in groups if 2 <= len(own) <= largest]
    everybody = np.concatenate(few)
    centre = everybody.mean()
    pairs = 0.0
    for own in few:
        products = [
            (a - centre) * (b - centre)
            for i, a in enumerate(own)
            for j, b in enumerate(own)
            if i != j
        ]
        pairs += sum(products) / (len(own) - 1)
    found = pairs / ((everybody - centre) ** 2).sum()
    n = len(everybody)
    return np.clip((found * n + USUAL_ALIKE * USUAL_RECORDS) / (n + USUAL_RECORDS), 0, 1)


def groups_of(rng, n_cells, own_share):
    """Cells whose records have weights that are partly those of the cell, and partly their own."""
    size = rng.integers(1, 20, n_cells)
    return [
        np.exp(own_share * rng.standard_normal() + (1 - own_share) * rng.standard_normal(n))
        for n in size
    ]


@pytest.mark.parametrize("own_share", [0.0, 0.5, 1.0])
def test_how_alike_weights_are_is_what_all_pairs_of_records_say(own_share):
    groups = groups_of(np.random.default_rng(7), 300, own_share)
    step = Alike(mean=3.0, largest=15)
    one, other = batch_of(groups[:100]), batch_of(groups[100:])
    found = alike_in_cells(step.joined(step.of(one), step.of(other)))
    assert found == pytest.approx(by_pairs(groups), abs=1e-9)


def test_weights_that_say_nothing_are_held_for_half_alike():
    for groups in ([[2.0], [3.0]], [[2.0, 2.0], [2.0]]):
        assert alike_in_cells(Alike(2.0, 15).of(batch_of(groups))) == USUAL_ALIKE


def test_weights_beyond_all_reason_are_taken_as_alike():
    """The squares of such numbers overflow."""
    found = Alike(1e300, 15).of(batch_of([[2e300, 2e300], [1e299, 1e299]]))
    assert 0 <= alike_in_cells(found) <= 1


def test_the_chance_of_others_lies_between_that_of_the_record_and_that_of_everybody():
    batch = batch_of([[10.0], [40.0], [10.0, 10.0]])
    total, n, fraction = 70.0, 4, 4 / 70

    def chances(alike):
        return Inclusion(fraction, n, total, alike).of(batch)

    assert chances(1.0) == pytest.approx([1 / 10, 1 / 40, 1 / 10])
    assert chances(0.0) == pytest.approx([fraction] * 3)
    half = 1 / (17.5 + 0.5 * (10 - 17.5))
    assert chances(0.5)[0] == pytest.approx(half)
    both = 1 / (17.5 + (2 * 0.5 / 1.5) * (10 - 17.5))
    assert chances(0.5)[2] == pytest.approx(both)
