"""The synthetic population: its keys, the survey drawn from it, and the truth about it."""

from collections import Counter

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.synthetic import levels as of
from discreet.synthetic.population import Population, census_population
from discreet.synthetic.survey import (
    Survey,
    Truth,
    calibrated,
    draw_survey,
    inclusion_probabilities,
    sampling_rates,
    true_risks,
)

SIZES = {
    "relationship": 14,
    "sex": 2,
    "age": 91,
    "marital_status": 5,
    "birthplace": 14,
    "spouse_status": 7,
    "own_child": 2,
    "own_child_age": 5,
    "related_child": 2,
    "household_type": 10,
}


@pytest.fixture(scope="module")
def full() -> Population:
    return census_population(rng=np.random.default_rng(20_240_601))


@pytest.fixture(scope="module")
def town() -> Population:
    return census_population(20_000, rng=np.random.default_rng(7))


def simple_random_survey(population: Population, size: int, seed: int) -> Survey:
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.choice(len(population), size, replace=False))
    share = size / len(population)
    return Survey(
        positions=positions,
        inclusion_probability=np.full(size, share),
        weight=np.full(size, 1 / share),
    )


class TestKeys:
    def test_each_key_has_its_number_of_labels_and_all_are_different(
        self, town: Population
    ) -> None:
        assert {key: len(labels) for key, labels in town.labels.items()} == SIZES
        assert all(len(set(labels)) == len(labels) for labels in town.labels.values())
        assert town.keys == tuple(SIZES)

    def test_the_table_has_as_many_cells_as_the_published_example(self, town: Population) -> None:
        assert town.coding.n_combinations == 249_704_000
        assert town.coding.n_words == 1

    def test_every_level_occurs_in_the_full_population(self, full: Population) -> None:
        assert len(full) == 2_000_000
        for key, n_levels in SIZES.items():
            counts = np.bincount(full.codes[key], minlength=n_levels)
            assert len(counts) == n_levels, key
            assert counts.min() > 0, key

    def test_codes_are_small_and_read_only(self, town: Population) -> None:
        for codes in town.codes.values():
            assert codes.dtype == np.int8
            assert len(codes) == len(town)
            with pytest.raises(ValueError, match="read-only"):
                codes[0] = 0

    def test_labels_stand_at_the_codes_of_their_levels(self, town: Population) -> None:
        assert town.labels["relationship"][of.HEAD] == "Householder"
        assert town.labels["spouse_status"][of.SPOUSE_PRESENT] == ("Married, spouse present")
        assert town.labels["birthplace"][12] == "Africa"
        assert town.labels["age"][0] == "0"
        assert town.labels["age"][90] == "90 and over"


class TestSize:
    @pytest.mark.parametrize("size", [1, 2, 3, 10, 57, 1000])
    @pytest.mark.parametrize("seed", range(5))
    def test_a_small_population_has_exactly_the_size_asked_for(self, size: int, seed: int) -> None:
        population = census_population(size, rng=np.random.default_rng(seed))
        assert len(population) == size
        assert population.to_arrow().num_rows == size
        for key, n_levels in SIZES.items():
            assert population.codes[key].min() >= 0
            assert population.codes[key].max() < n_levels

    @pytest.mark.parametrize("size", [0, -5, 2**31])
    def test_an_impossible_size_is_refused(self, size: int) -> None:
        with pytest.raises(InputError, match=f"size must be from 1 to 2147483647, got {size}"):
            census_population(size, rng=np.random.default_rng(0))

    def test_the_same_seed_gives_the_same_people_and_another_seed_others(self) -> None:
        one, same, other = (
            census_population(5000, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)
        )
        for key in SIZES:
            assert np.array_equal(one.codes[key], same.codes[key])
            assert not np.array_equal(one.codes[key], other.codes[key])
        assert np.array_equal(one.household, same.household)


class TestArrow:
    def test_labels_come_back_from_the_table(self, town: Population) -> None:
        table = town.to_arrow()
        assert table.column_names == [*SIZES, "household"]
        for key in SIZES:
            codes = town.codes[key].tolist()
            labels = codes if key == "age" else [town.labels[key][code] for code in codes]
            assert table.column(key).to_pylist() == labels
        assert table.column("household").to_pylist() == town.household.tolist()

    def test_labels_are_dictionary_encoded_and_age_is_a_number(self, town: Population) -> None:
        import pyarrow as pa

        schema = town.to_arrow().schema
        assert pa.types.is_integer(schema.field("age").type)
        others = [key for key in SIZES if key != "age"]
        assert all(pa.types.is_dictionary(schema.field(key).type) for key in others)

    def test_the_survey_file_is_the_sampled_persons_with_their_weights(
        self, town: Population
    ) -> None:
        survey = draw_survey(town, 200, rng=np.random.default_rng(1))
        table = survey.to_arrow(town)
        assert table.column_names == [*SIZES, "household", "weight"]
        assert table.drop_columns(["weight"]).equals(town.to_arrow().take(survey.positions))
        assert table.column("weight").to_pylist() == survey.weight.tolist()


class TestSurvey:
    def test_weights_are_possible_and_add_up_to_the_population(self, full: Population) -> None:
        survey = draw_survey(full, rng=np.random.default_rng(1))
        assert abs(len(survey) - 10_000) < 5 * 100  # Poisson: five standard deviations
        assert np.isfinite(survey.weight).all()
        assert survey.weight.min() >= 1
        assert survey.weight.sum() == pytest.approx(len(full), rel=1e-5)
        assert np.array_equal(survey.weight, np.round(survey.weight, 4))
        assert len(np.unique(survey.weight)) > 4

    def test_positions_ascend_without_repeats(self, town: Population) -> None:
        survey = draw_survey(town, 3000, rng=np.random.default_rng(2))
        assert (np.diff(survey.positions) > 0).all()
        assert survey.positions[0] >= 0
        assert survey.positions[-1] < len(town)

    def test_old_people_and_lone_fathers_are_over_sampled(self, full: Population) -> None:
        survey = draw_survey(full, rng=np.random.default_rng(3))
        for key, level in (("age", 80), ("household_type", of.LONE_FATHER)):
            rows = full.codes[key] == level
            assert rows[survey.positions].mean() > 1.3 * rows.mean()

    def test_weighted_share_is_right_where_the_plain_share_is_not(self, full: Population) -> None:
        survey = draw_survey(full, 40_000, rng=np.random.default_rng(4))
        old = full.codes["age"] >= 75
        asked = old[survey.positions]
        assert np.average(asked, weights=survey.weight) == pytest.approx(old.mean(), rel=0.06)
        assert asked.mean() > 1.5 * old.mean()

    def test_the_same_seed_asks_the_same_people(self, town: Population) -> None:
        one, same, other = (
            draw_survey(town, 500, rng=np.random.default_rng(seed)) for seed in (5, 5, 6)
        )
        assert np.array_equal(one.positions, same.positions)
        assert np.array_equal(one.weight, same.weight)
        assert not np.array_equal(one.positions, other.positions)

    @pytest.mark.parametrize("size", [1, 10, 1000])
    def test_asking_everyone_gives_everyone_with_weight_1(self, size: int) -> None:
        population = census_population(size, rng=np.random.default_rng(size))
        survey = draw_survey(population, size, rng=np.random.default_rng(0))
        assert survey.positions.tolist() == list(range(size))
        assert survey.weight.tolist() == [1.0] * size

    @pytest.mark.parametrize("expected_size", [300, 700, 950, 999])
    def test_large_sampling_fractions_keep_weights_at_1_or_more(self, expected_size: int) -> None:
        population = census_population(1000, rng=np.random.default_rng(1))
        survey = draw_survey(population, expected_size, rng=np.random.default_rng(2))
        assert survey.weight.min() >= 1
        assert survey.weight.sum() == pytest.approx(1000, rel=0.03)

    @pytest.mark.parametrize("expected_size", [0, -1, 20_001])
    def test_an_impossible_expected_size_is_refused(
        self, town: Population, expected_size: int
    ) -> None:
        with pytest.raises(InputError, match=f"population size 20000, got {expected_size}"):
            draw_survey(town, expected_size, rng=np.random.default_rng(0))

    def test_a_survey_may_turn_out_empty(self) -> None:
        assert calibrated(np.array([]), 1000).tolist() == []
        empty = Truth(sample_count=np.array([], int), population_count=np.array([], int))
        assert (empty.sample_uniques, empty.population_uniques) == (0, 0)
        assert empty.expected_correct_matches == 0.0


class TestInclusionProbabilities:
    def test_they_follow_the_rates_and_add_up(self) -> None:
        chances = inclusion_probabilities(np.array([1.0, 2.0, 5.0]), 1)
        assert chances == pytest.approx([1 / 8, 2 / 8, 5 / 8])

    def test_what_would_exceed_1_is_certain_and_the_rest_is_shared_out_again(self) -> None:
        chances = inclusion_probabilities(np.array([1.0, 1.0, 2.0, 96.0]), 3)
        assert chances == pytest.approx([0.5, 0.5, 1.0, 1.0])

    @pytest.mark.parametrize("expected_size", [1, 100, 12_000, 19_999, 20_000])
    def test_they_add_up_in_a_population(self, town: Population, expected_size: int) -> None:
        chances = inclusion_probabilities(sampling_rates(town), expected_size)
        assert chances.sum() == pytest.approx(expected_size, rel=1e-12)
        assert chances.min() > 0
        assert chances.max() <= 1


class TestTruth:
    def test_counts_are_those_of_a_plain_dictionary(self, town: Population) -> None:
        survey = draw_survey(town, 1500, rng=np.random.default_rng(8))
        people = list(zip(*(codes.tolist() for codes in town.codes.values()), strict=True))
        population = Counter(people)
        sampled = [people[position] for position in survey.positions]
        sample = Counter(sampled)
        truth = true_risks(town, survey)
        assert truth.population_count.tolist() == [population[cell] for cell in sampled]
        assert truth.sample_count.tolist() == [sample[cell] for cell in sampled]
        uniques = [cell for cell, count in sample.items() if count == 1]
        assert truth.sample_uniques == len(uniques)
        assert truth.population_uniques == sum(population[cell] == 1 for cell in uniques)
        matches = sum(count / population[cell] for cell, count in sample.items())
        assert truth.expected_correct_matches == pytest.approx(matches, rel=1e-12)

    def test_everyone_sampled_makes_sample_and_population_counts_equal(self) -> None:
        population = census_population(300, rng=np.random.default_rng(9))
        truth = true_risks(population, draw_survey(population, 300, rng=np.random.default_rng(0)))
        assert np.array_equal(truth.sample_count, truth.population_count)
        assert truth.population_uniques == truth.sample_uniques
        n_cells = len(np.unique(population.cell_codes()))
        assert truth.expected_correct_matches == pytest.approx(n_cells)

    def test_cell_codes_decode_to_the_levels(self, town: Population) -> None:
        levels = town.coding.decode(town.cell_codes()[:, None])
        for position, key in enumerate(town.keys):
            assert np.array_equal(levels[:, position], town.codes[key])

    def test_a_simple_random_sample_looks_like_a_census_extract(self, full: Population) -> None:
        truth = true_risks(full, simple_random_survey(full, 10_000, 1))
        n_cells = round(float((1.0 / truth.sample_count).sum()))
        print(
            f"cells {n_cells}, sample uniques {truth.sample_uniques}, "
            f"population uniques {truth.population_uniques}, "
            f"expected correct matches {truth.expected_correct_matches:.1f}"
        )
        assert 3000 <= n_cells <= 4500
        assert 1800 <= truth.sample_uniques <= 3000
        assert 0.03 <= truth.population_uniques / truth.sample_uniques <= 0.15
