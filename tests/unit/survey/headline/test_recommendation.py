import re

import numpy as np
import pyarrow as pa
import pytest

from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows.assess import assess
from discreet.survey.headline import likeness
from discreet.survey.headline.recommendation import (
    COUNTED,
    FROM_KEYS,
    FROM_SIZES,
    note_on_weights,
    recommend,
    recommend_from_sizes,
)

SIZES = (5, 8, 6, 7)


def population(seed=1, n=20_000):
    """Cells of a made-up population: distinct levels and how many persons each holds."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(s, n, p=rng.dirichlet(np.full(s, 0.8))) for s in SIZES]
    return np.unique(np.array(columns).T, axis=0, return_counts=True)


def sample(fraction=0.1, seed=2):
    levels, persons = population()
    f = np.random.default_rng(seed).binomial(persons, fraction)
    return levels[f > 0], f[f > 0], persons[f > 0]


def recommended(levels, counts, **options):
    coding = Coding.of_sizes(SIZES)
    given = {"population_size": 20_000, "n_table_cells": coding.n_combinations} | options
    return recommend(coding.encode(levels), counts, coding, **given)


def test_value_lies_in_its_interval_and_the_interval_in_what_is_possible():
    levels, counts, _ = sample()
    found = recommended(levels, counts)
    uniques, matches = found.expected_population_uniques, found.expected_correct_matches
    assert found.model == FROM_KEYS
    assert 0 <= uniques.low <= uniques.value <= uniques.high <= (counts == 1).sum()
    assert 0 < matches.low <= matches.value <= matches.high <= len(counts)
    assert uniques.low == int(uniques.low)
    assert uniques.high == int(uniques.high)
    assert uniques.how is How.ESTIMATE
    assert uniques.confidence == 0.9
    assert uniques.note == ""


def test_the_estimate_does_not_depend_on_the_order_of_cells_or_of_keys_or_on_labels():
    levels, counts, _ = sample()
    here = recommended(levels, counts).expected_population_uniques.value
    order = np.random.default_rng(3).permutation(len(counts))
    assert recommended(levels[order], counts[order]).expected_population_uniques.value == (
        pytest.approx(here)
    )
    coding = Coding.of_sizes(SIZES[::-1])
    turned = (np.array(SIZES) - 1 - levels)[:, ::-1]
    other = recommend(
        coding.encode(turned), counts, coding, population_size=20_000, n_table_cells=1680
    )
    assert other.expected_population_uniques.value == pytest.approx(here)


def test_equal_weights_say_the_same_as_none():
    levels, counts, _ = sample()
    weights = counts * (20_000 / counts.sum())
    with_weights, without = (
        recommended(levels, counts, weight_total=given).expected_population_uniques
        for given in (weights, None)
    )
    assert with_weights.value == pytest.approx(without.value)
    assert (with_weights.low, with_weights.high) == (without.low, without.high)


def test_a_sample_that_is_the_population_is_counted():
    levels, persons = population()
    found = recommended(levels, persons)
    assert found.model == COUNTED
    assert found.expected_population_uniques == Figure(
        value=float((persons == 1).sum()),
        how=How.EXACT,
        low=float((persons == 1).sum()),
        high=float((persons == 1).sum()),
    )
    assert found.expected_correct_matches.value == len(persons)


def test_without_sample_uniques_there_is_exactly_no_population_unique():
    levels, counts, _ = sample()
    found = recommended(levels[counts > 1], counts[counts > 1])
    assert found.expected_population_uniques == Figure(value=0.0, how=How.EXACT, low=0.0, high=0.0)
    assert found.expected_correct_matches.value > 0
    unknown = recommended(levels[counts > 1], counts[counts > 1], population_size=None)
    assert unknown.expected_population_uniques.value == 0.0
    assert isinstance(unknown.expected_correct_matches, Unavailable)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"population_size": None}, "size of the population is not known"),
        ({"population_size": 500}, "must be at least as large as the sample of .* got 500"),
    ],
)
def test_no_estimate_comes_with_its_reason(options, reason):
    levels, counts, _ = sample()
    found = recommended(levels, counts, **options)
    limits = found.expected_population_uniques
    assert (limits.value, limits.low, limits.high) == (None, 0, int((counts == 1).sum()))
    assert limits.how is How.BOUND
    assert re.search(reason, limits.note)
    assert isinstance(found.expected_correct_matches, Unavailable)


def test_few_records_tell_too_little():
    levels, counts, _ = sample()
    few = np.cumsum(counts) < 100
    found = recommended(levels[few], counts[few])
    assert "records are needed" in found.why
    assert found.why == found.expected_population_uniques.note


def test_matches_in_part_leave_no_cells_to_model():
    levels, counts, _ = sample()
    found = recommended(levels, counts, sample_count=counts + 0.5)
    assert "match anything" in found.expected_population_uniques.reason


def test_sizes_that_are_no_partition_leave_no_cells_to_model():
    sizes = SizeIndices(np.array([1, 2]), np.array([500, 80]), np.array([500, 90]))
    found = recommend_from_sizes(sizes, population_size=10_000, n_table_cells=1000)
    assert "match anything" in found.expected_population_uniques.reason


def test_from_sizes_alone():
    _, counts, _ = sample()
    found = recommend_from_sizes(
        SizeIndices.of_counts(counts), population_size=20_000, n_table_cells=1680
    )
    assert found.model == FROM_SIZES
    uniques = found.expected_population_uniques
    assert 0 <= uniques.low <= uniques.value <= uniques.high <= (counts == 1).sum()


@pytest.mark.parametrize("size", [1e9, 1e15])
def test_a_tiny_fraction_is_estimated_with_a_warning(size):
    levels, counts, _ = sample()
    uniques = recommended(levels, counts, population_size=size).expected_population_uniques
    assert "farther off, either way" in uniques.note
    assert 0 <= uniques.low <= uniques.value <= uniques.high


def test_only_large_cells_are_matched_at_the_sampling_fraction():
    coding = Coding.of_sizes([50])
    counts = np.full(50, 40)
    found = recommend(
        np.arange(50)[:, None], counts, coding, population_size=20_000, n_table_cells=50
    )
    assert found.expected_population_uniques.value == 0.0
    assert found.expected_correct_matches.value == pytest.approx(5.0, rel=0.01)


def test_where_no_two_records_agree_other_populations_tell_what_there_is_to_tell():
    coding = Coding.of_sizes([2000, 2000])
    levels = np.array([np.arange(2000), np.random.default_rng(1).permutation(2000)]).T
    asked = {"population_size": 20_000, "n_table_cells": coding.n_combinations}
    found = recommend(coding.encode(levels), np.ones(2000, dtype=np.int64), coding, **asked)
    uniques = found.expected_population_uniques
    assert uniques.low < 0.5 * 2000 < 0.9 * 2000 < uniques.value < uniques.high == 2000
    assert "no two records" in uniques.note


def test_where_no_two_records_agree_and_none_can_be_held_against_all_there_are_limits_only():
    coding = Coding.of_sizes([likeness.MOST_CELLS + 1])
    words = np.arange(likeness.MOST_CELLS + 1)[:, None]
    asked = {"population_size": 1e7, "n_table_cells": coding.n_combinations}
    found = recommend(words, np.ones(len(words), dtype=np.int64), coding, **asked)
    limits = found.expected_population_uniques
    assert (limits.value, limits.low, limits.high) == (None, 0, len(words))
    assert limits.how is How.BOUND
    assert "no two records" in limits.note
    assert isinstance(found.expected_correct_matches, Unavailable)


def test_correct_matches_are_no_more_than_the_occupied_cells():
    levels, counts, _ = sample()
    found = recommended(levels, counts, population_size=counts.sum() + 1)
    assert found.expected_correct_matches.high <= len(counts)


@pytest.mark.parametrize("factor", [0.1, 1000.0])
def test_weights_are_scaled_to_the_population_with_a_note_where_that_is_far(factor):
    levels, counts, _ = sample()
    right = counts * (20_000 / counts.sum()) * np.where(levels[:, 0] == 1, 0.5, 1.0)
    scaled = right * (20_000 / right.sum())
    wanted = recommended(levels, counts, weight_total=scaled).expected_population_uniques
    found = recommended(levels, counts, weight_total=scaled * factor).expected_population_uniques
    assert wanted.note == ""
    assert re.search("weights sum to [0-9,]+, far from the population of 20,000", found.note)
    assert (found.value, found.low, found.high) == (
        pytest.approx(wanted.value),
        wanted.low,
        wanted.high,
    )


def of_many_dates(fraction):
    """Persons by one of 3,000 dates and by sex; a sample coded by the dates that are in it."""
    rng = np.random.default_rng(5)
    dates, sexes = rng.integers(0, 3_000, 10_000), rng.integers(0, 2, 10_000)
    cells, persons = np.unique(2 * dates + sexes, return_counts=True)
    f = rng.binomial(persons, fraction)
    here = f > 0
    date, level = np.unique(cells[here] // 2, return_inverse=True)
    truth = int(((f == 1) & (persons == 1)).sum())
    return np.stack([level, cells[here] % 2], axis=1), f[here], (len(date), 2), truth


@pytest.mark.parametrize("fraction", [0.05, 0.1])
def test_levels_that_the_sample_missed_do_not_hide_population_uniques(fraction):
    levels, counts, sizes, truth = of_many_dates(fraction)
    coding = Coding.of_sizes(sizes)
    options = {"population_size": 10_000, "n_table_cells": coding.n_combinations}
    found, capped = (
        recommend(
            coding.encode(levels), counts, coding, n_table_cells_known=known, **options
        ).expected_population_uniques
        for known in (False, True)
    )
    assert truth <= found.high
    assert found.value < 2 * truth
    assert capped.high < truth


def test_keys_pasted_into_one_say_about_the_same():
    levels, counts, _ = sample(fraction=0.05)
    keys = Coding.of_sizes(SIZES)
    places = np.unique(keys.encode(levels)[:, 0], return_inverse=True)[1]
    pasted = Coding.of_sizes([len(counts)])
    apart, joint = (
        recommend(
            words, counts, coding, population_size=20_000, n_table_cells=keys.n_combinations
        ).expected_population_uniques
        for words, coding in ((keys.encode(levels), keys), (places[:, None], pasted))
    )
    assert joint.low <= apart.value <= joint.high


def test_the_user_may_lead_with_another_model():
    frame = pa.table({"a": np.arange(300) ** 2 % 37, "b": np.arange(300) % 7})
    led = assess(frame, ["a", "b"], population=3000, headline="pitman")
    own = led.models["pitman"]
    assert led.recommended.model == "pitman"
    assert led.recommended.expected_population_uniques == own.expected_population_uniques
    assert "pitman" not in led.recommended.others
    assert "chosen to lead" in led.recommended.why


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"headline": "pitmann"}, "headline must be one of the models .*; did you mean 'pitman'"),
        ({"headline": "ewens", "population": None}, "headline must be a model that can be"),
    ],
)
def test_a_headline_that_cannot_lead(options, message):
    frame = pa.table({"a": np.arange(300) ** 2 % 37, "b": np.arange(300) % 7})
    with pytest.raises(InputError, match=message):
        assess(frame, ["a", "b"], **({"population": 3000} | options))


@pytest.mark.parametrize(("members", "warned"), [(2, True), (1, False)])
def test_households_are_warned_about_where_members_are_in_the_file_together(members, warned):
    n = np.arange(300)
    frame = pa.table({"a": n**2 % 37, "b": n % 7, "h": n // members})
    found = assess(frame, ["a", "b"], population=1000, household="h")
    note = found.recommended.expected_population_uniques.note
    assert ("300 records are of 150 households" in note) == warned
    assert ("assess a file with one member of each household as well" in note) == warned
    alone = assess(frame, ["a", "b"], population=1000)
    assert alone.recommended.expected_population_uniques.note == ""


@pytest.mark.parametrize("bits", [-3, 0, 3])
def test_last_bits_decide_no_note(bits):
    noise = 1 + bits * 2.0**-52
    sizes = SizeIndices.of_counts(np.array([1] * 80 + [2] * 10))
    found = recommend_from_sizes(sizes, population_size=10_000 * noise)
    assert found.expected_population_uniques.note == ""
    for ratio in (0.8, 1.25):
        assert note_on_weights(np.array([ratio * 1000 * noise]), 1000.0) == ""


def births(fraction, seed, keys=("born", "sex"), days=30_000, size=60_000, known=False):
    """Persons by date of birth and sex, and by what else: estimate, truth."""
    rng = np.random.default_rng([81, seed])
    columns = {
        "born": rng.integers(0, days, size),
        "sex": rng.integers(0, 2, size),
        "status": rng.integers(0, 4, size),
    }
    rows = np.stack([columns[key] for key in keys], axis=1)
    at = rng.choice(size, round(fraction * size), replace=False)
    coding = Coding.of_sizes([len(np.unique(column)) for column in rows[at].T])
    places = [np.unique(column, return_inverse=True)[1] for column in rows[at].T]
    words, counts = np.unique(coding.encode(np.stack(places, axis=1)), axis=0, return_counts=True)
    found = recommend(
        words, counts, coding, population_size=size, n_table_cells_known=known,
        n_table_cells=2 * days if known else coding.n_combinations,
    )  # fmt: skip
    _, cell, there = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    _, own, here = np.unique(rows[at], axis=0, return_inverse=True, return_counts=True)
    alone = here[own.ravel()] == 1
    truth = int((alone & (there[cell.ravel()][at] == 1)).sum())
    return found.expected_population_uniques, truth


@pytest.mark.parametrize("fraction", [0.005, 0.01, 0.02, 0.1])
@pytest.mark.parametrize("keys", [("born", "sex"), ("born", "sex", "status")])
def test_dates_of_birth(keys, fraction):
    """Hardly any level is seen twice: half a record for those that nobody else has would make each
    much more frequent than it is."""
    trials = [births(fraction, seed, keys) for seed in range(4)]
    held = [found.low <= truth <= found.high for found, truth in trials]
    assert sum(held) >= 3
    ratio = np.mean([found.value for found, _ in trials]) / np.mean([truth for _, truth in trials])
    assert 0.6 < ratio < 1.6


@pytest.mark.parametrize("fraction", [0.005, 0.02, 0.05, 0.1])
def test_a_date_of_birth_alone(fraction):
    """All levels are about equally likely, which one key cannot tell from rates that differ: the
    limits reach so far."""
    held = [found.low <= truth <= found.high for found, truth in map(one_birth(fraction), range(4))]
    assert sum(held) >= 3


def one_birth(fraction):
    return lambda seed: births(fraction, seed, ("born",))


@pytest.mark.parametrize("fraction", [0.005, 0.02])
def test_the_number_of_possible_dates_of_birth_helps(fraction):
    trials = [births(fraction, seed, known=True) for seed in range(4)]
    assert sum(found.low <= truth <= found.high for found, truth in trials) >= 3
    assert max(found.high for found, _ in trials) < 600  # of 300 and 1,200 records
