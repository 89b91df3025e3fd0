"""The estimate with values deleted at random, against populations known in full.

A record is alone in the population if nobody else agrees on the keys that it still has.
"""

import numpy as np
import pytest
from tests.oracles.cells_beside import cells_of_levels, risks_of, space_of
from tests.statistical.test_recommended_estimate import KINDS

from discreet.data.coding import Coding
from discreet.survey.headline.by_pattern import recommend_by_pattern
from discreet.survey.projection import AllCells

FRACTIONS = (0.05, 0.2)
DELETED = 0.04  # of all values; with five keys a fifth of the records lacks one


def sampled(levels, sizes, fraction, rng):
    """Cells of a sample with values deleted at random, and the population count of each."""
    drawn = levels[rng.random(len(levels)) < fraction]
    coded = np.where(rng.random(drawn.shape) < DELETED, np.array(sizes), drawn)
    cells, records = np.unique(coded, axis=0, return_counts=True)
    lacks = cells == np.array(sizes)
    count = np.empty(len(cells))
    for pattern in np.unique(lacks, axis=0):
        here, known = (lacks == pattern).all(axis=1), ~pattern
        coding = Coding.of_sizes([s for s, k in zip(sizes, known, strict=True) if k])
        words, persons = np.unique(coding.encode(levels[:, known])[:, 0], return_counts=True)
        own = coding.encode(cells[here][:, known])[:, 0]
        count[here] = persons[np.searchsorted(words, own)]
    return cells, records, count


def cells_of(cells, records, sizes):
    space = space_of([s + 1 for s in sizes], missing=range(len(sizes)), policy="wildcard")
    return cells_of_levels(cells, records, space)


@pytest.fixture(scope="module")
def trials():
    """Of every sample: estimates and truths, and the matches of incomplete records alone."""
    found = []
    for kind in KINDS:
        rng = np.random.default_rng([3, KINDS.index(kind)])
        levels, sizes = kind(rng)
        for fraction in FRACTIONS:
            cells, records, count = sampled(levels, sizes, fraction, rng)
            counted = cells_of(cells, records, sizes)
            told = recommend_by_pattern(AllCells.of(counted), population_size=len(levels))
            risks = risks_of(told, counted, counted.coding.encode(cells))
            gaps = (cells == np.array(sizes)).any(axis=1)
            uniques = told.recommended.expected_population_uniques
            matches = told.recommended.expected_correct_matches
            found.append(
                (
                    (uniques, float(records @ (count == 1))),
                    (matches, float(records @ (1 / count))),
                    (
                        float((records * risks.risk)[gaps].sum()),
                        float((records / count)[gaps].sum()),
                    ),
                )
            )
    return found


def held(pairs):
    return np.mean([figure.low <= truth <= figure.high for figure, truth in pairs])


def error(pairs):
    return np.mean([abs(figure.value - truth) / truth for figure, truth in pairs])


def distance(pairs):
    """Root mean square of the truth's distance, a 90 % limit being at 1.645."""
    off = [(f.value - truth) / ((f.high - f.low) / 2 / 1.645) for f, truth in pairs]
    return float(np.sqrt(np.mean(np.square(off))))


def test_the_truth_lies_in_the_limits_and_near_the_estimate(trials):
    """Errors .14 and .04, all intervals hold, distances 0.77 and 0.48 on these 12 samples."""
    uniques, matches, _ = zip(*trials, strict=True)
    assert error(uniques) < 0.25
    assert error(matches) < 0.12
    assert held(uniques) >= 0.75
    assert held(matches) >= 0.8
    assert 0.4 < distance(uniques) < 1.5  # limits half or twice as wide leave this
    assert 0.25 < distance(matches) < 1.2


def test_incomplete_records_have_the_risk_of_the_keys_that_they_have(trials):
    """633 matches for a truth of 624; 4 % off on average in a sample."""
    of_gaps = np.array([pair for *_, pair in trials])
    assert of_gaps[:, 0].sum() == pytest.approx(of_gaps[:, 1].sum(), rel=0.05)
    assert np.abs(of_gaps[:, 0] / of_gaps[:, 1] - 1).mean() < 0.15
