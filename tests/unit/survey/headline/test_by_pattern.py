"""The estimate where missing values match anything: by patterns of known keys."""

import numpy as np
import pytest
from tests.oracles.cells_beside import cells_of_levels, risks_of, space_of

from discreet.data.coding import Coding
from discreet.engines.local.cells import cells_at_hand
from discreet.figures import Figure, How, Unavailable
from discreet.survey.headline import by_pattern as module
from discreet.survey.headline.by_pattern import recommend_by_pattern
from discreet.survey.headline.recommendation import COUNTED, recommend_cells
from discreet.survey.projection import AllCells

SIZES = (6, 9, 5)


def people(seed=1, n=6000):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(s, n, p=rng.dirichlet(np.full(s, 0.6))) for s in SIZES]).T


def with_gaps(levels, share, seed=2):
    gone = np.random.default_rng(seed).random(levels.shape) < share
    return np.where(gone, np.array(SIZES), levels)


def cells_of(coded, weight=None):
    """Cells in the order of their codes, `weight` for each record."""
    cells, records = np.unique(coded, axis=0, return_counts=True)
    space = space_of([s + 1 for s in SIZES], missing=range(len(SIZES)), policy="wildcard")
    weights = None if weight is None else records * weight
    return cells_of_levels(cells, records, space, weights)


def told_of(cells, **options):
    """The estimate, all cells in the order of their codes, and the risks of each."""
    every = AllCells.of(cells)
    found = recommend_by_pattern(every, **options)
    return found, every, risks_of(found, cells, every.words)


def test_complete_records_alone_are_the_ordinary_estimate():
    found, cells, risks = told_of(cells_of(people()[:600]), population_size=6000)
    coding = Coding.of_sizes(SIZES)
    words = coding.encode(cells.coding.decode(cells.words))
    alone = cells_at_hand(words, cells.records, coding)
    plain = recommend_cells(alone, population_size=6000, n_table_cells=coding.n_combinations)
    assert risks.risk == pytest.approx(risks_of(plain, alone, words).risk)
    mine, theirs = found.recommended, plain.recommended
    for name in ("expected_population_uniques", "expected_correct_matches"):
        for end in ("value", "low", "high"):
            one, other = getattr(getattr(mine, name), end), getattr(getattr(theirs, name), end)
            assert one == pytest.approx(other)


@pytest.mark.parametrize("weighted", [False, True])
def test_risks_add_up_and_take_their_risk_from_the_keys_that_they_have(weighted):
    counted = cells_of(with_gaps(people()[:900], 0.08), 6.0 if weighted else None)
    found, cells, risks = told_of(counted, population_size=6000)
    led = found.recommended
    assert cells.records @ risks.population_unique == pytest.approx(
        led.expected_population_uniques.value
    )
    assert cells.records @ risks.risk == pytest.approx(led.expected_correct_matches.value)
    levels = cells.coding.decode(cells.words)
    here = (levels[:, 2] == SIZES[2]) & (levels[:, 0] < SIZES[0]) & (levels[:, 1] < SIZES[1])
    fit = (levels[:, 0] < SIZES[0]) & (levels[:, 1] < SIZES[1])
    coding = Coding.of_sizes(SIZES[:2])
    words, place = np.unique(coding.encode(levels[fit][:, :2])[:, 0], return_inverse=True)
    records = np.bincount(place, cells.records[fit]).astype(np.int64)
    few = cells_at_hand(words[:, None], records, coding)
    alone = recommend_cells(few, population_size=6000, n_table_cells=coding.n_combinations)
    own = np.searchsorted(words, coding.encode(levels[here][:, :2])[:, 0])
    assert risks.risk[here] == pytest.approx(
        risks_of(alone, few, words[:, None]).risk[own], rel=1e-6
    )
    assert "missing at random" in led.expected_population_uniques.note


def test_a_record_without_any_key_is_one_of_everybody():
    coded = np.concatenate([people()[:500], np.tile(SIZES, (7, 1))])
    _, cells, risks = told_of(cells_of(coded), population_size=6000)
    empty = (cells.coding.decode(cells.words) == SIZES).all(axis=1)
    assert risks.risk[empty].tolist() == [1 / 6000]
    assert risks.population_unique[empty].tolist() == [0.0]


def test_without_a_population_there_are_certain_limits():
    cells = AllCells.of(cells_of(with_gaps(people()[:900], 0.05)))
    led = recommend_by_pattern(cells, population_size=None).recommended
    limits = led.expected_population_uniques
    assert isinstance(limits, Figure)
    assert limits.how is How.BOUND
    assert isinstance(led.expected_correct_matches, Unavailable)
    levels = cells.coding.decode(cells.words)
    alone = 0
    for row, n in zip(levels, cells.records, strict=True):
        known = row < SIZES
        fits = (levels[:, known] == row[known]).all(axis=1)
        alone += int(n) if cells.records[fits].sum() == 1 else 0
    assert (limits.low, limits.high) == (0, alone)


def test_patterns_beyond_the_most_frequent_are_left_out_and_said_to_be(monkeypatch):
    monkeypatch.setattr(module, "MOST_PATTERNS", 2)
    counted = cells_of(with_gaps(people()[:900], 0.08))
    found, cells, risks = told_of(counted, population_size=6000)
    led = found.recommended
    left_out = int(cells.records[np.isnan(risks.risk)].sum())
    assert 0 < left_out < 300
    assert led.why.startswith(f"{left_out} of 900 records have no estimate: there are more than 2")
    assert led.expected_population_uniques.how is How.BOUND
    assert isinstance(led.expected_correct_matches, Unavailable)


def test_in_a_whole_population_keys_that_all_have_are_counted():
    coded = people()[:300].copy()
    coded[:40, 2] = SIZES[2]
    _, cells, risks = told_of(cells_of(coded), population_size=300)
    levels = cells.coding.decode(cells.words)
    gaps = levels[:, 2] == SIZES[2]
    sharing = [(coded[:, :2] == row[:2]).all(axis=1).sum() for row in levels[gaps]]
    assert risks.risk[gaps].tolist() == (1 / np.array(sharing)).tolist()
    whole = recommend_by_pattern(AllCells.of(cells_of(people()[:300])), population_size=300)
    assert whole.recommended.model == COUNTED
