"""Samples drawn record by record from a partition distribution, for tests of its models."""

import numpy as np

from discreet.data.summary import SizeIndices


def draw_sizes(urn, rng):
    """Size indices of a new sample of the urn's sample size."""
    return SizeIndices.of_counts(draw_counts(urn.sample_size, urn.alpha, urn.theta, rng))


def draw_counts(records, alpha, theta, rng):
    """Sample counts of the cells of so many records under Pitman's partition.

    The first record of a cell weighs 1 − α, every other one 1: a record to come joins the cell of
    one that is drawn with these weights, or opens a new one with the weight θ + uα. A list of the
    cells of all records that are not first in theirs makes each step a matter of one look-up.
    """
    uniform = np.random.RandomState(int(rng.integers(2**63)) % 2**32).random_sample
    counts, later = [1], []
    for seen in range(1, records):
        place = uniform() * (theta + seen)
        new, firsts = theta + len(counts) * alpha, len(counts) * (1 - alpha)
        if place < new:
            counts.append(1)
            continue
        place -= new
        if place < firsts:
            cell = min(int(place / (1 - alpha)), len(counts) - 1)
        else:
            cell = later[min(int(place - firsts), len(later) - 1)]
        counts[cell] += 1
        later.append(cell)
    return np.array(counts)
