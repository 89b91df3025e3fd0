"""Made-up populations are what their recipes say, samples what their designs say, and the league
tells of both what is true."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.league_by_design import MODELS, area_under_curve, lines_of, run, tenths
from benchmarks.league_tables import aim, grouped, read, report, scores
from benchmarks.mixture import fit_mixture
from benchmarks.populations.dependence import DEPENDENCES
from benchmarks.populations.designs import DESIGNS, draw, is_possible, understood
from benchmarks.populations.groups import LARGEST_AREA
from benchmarks.populations.population import made_by
from benchmarks.populations.recipes import RECIPES, Areas, Features, Recipe, Strata

LEVELS = (4, 3, 8, 6)
FULL = Recipe(
    name="small",
    dependence="tree",
    levels=LEVELS,
    persons=12_000,
    seed=1,
    features=Features(
        areas=Areas(drift=0.5, regions=4),
        shared=2,
        strata=Strata(number=5, drift=0.5, is_key=False),
    ),
)


@pytest.fixture(scope="module")
def people():
    return made_by(FULL)


def spread_over_areas(drift):
    """The variance of the share of a level between areas, in units of what chance makes."""
    asked = Features(areas=Areas(drift=drift))
    made = made_by(replace(FULL, features=asked))
    held = np.bincount(made.area)
    is_first = made.table["key_1"].to_numpy() == 1
    share = is_first.mean()
    found = np.bincount(made.area, weights=is_first) / held
    return float(np.mean((found - share) ** 2 * held) / (share * (1 - share)))


def test_every_third_recipe_is_held_out_and_all_kinds_are_among_them():
    assert [recipe.seen for recipe in RECIPES] == [True, True, False] * (len(RECIPES) // 3)
    kinds = {recipe.dependence for recipe in RECIPES if not recipe.seen}
    assert kinds == set(DEPENDENCES)
    assert len({recipe.name for recipe in RECIPES}) == len(RECIPES)
    assert len({recipe.seed for recipe in RECIPES}) == len(RECIPES)


def test_recipes_are_of_the_sizes_that_surveys_have():
    assert all(4 <= recipe.n_keys <= 10 for recipe in RECIPES)
    assert all(20_000 <= recipe.persons <= 150_000 for recipe in RECIPES)


@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_a_dependence_gives_levels_of_all_sizes(dependence):
    drawn = DEPENDENCES[dependence]((4, 3, 20, 6), 4_000, np.random.default_rng(2))
    assert drawn.shape == (4_000, 4)
    assert drawn.min() == 0
    assert (drawn.max(axis=0) < (4, 3, 20, 6)).all()
    assert (drawn.max(axis=0) > (2, 1, 12, 3)).all()


def test_independent_keys_are_independent_and_others_are_not():
    def strength(dependence):
        drawn = DEPENDENCES[dependence](LEVELS, 20_000, np.random.default_rng(3))
        table = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=(4, 3))[0] / 20_000
        return float(np.abs(table - np.outer(table.sum(1), table.sum(0))).sum())

    assert strength("independent") < 0.02
    assert all(strength(name) > 0.05 for name in DEPENDENCES if name != "independent")


def test_structural_zeros_leave_out_what_chance_would_bring():
    drawn = DEPENDENCES["structural zeros"]((30, 8, 6), 30_000, np.random.default_rng(4))
    table = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=(30, 8))[0]
    expected = np.outer(table.sum(1), table.sum(0)) / 30_000
    assert ((table == 0) & (expected > 30)).sum() > 5


def test_the_keys_are_those_of_the_recipe(people):
    assert people.keys == ("key_1", "key_2", "key_3", "key_4", "household_size", "region")
    assert len(people.keys) == FULL.n_keys
    assert len(people) == FULL.persons


def test_a_place_and_a_group_can_be_keys():
    asked = Features(
        areas=Areas(drift=0.2, sizes="zipf", is_key=True),
        strata=Strata(number=3, drift=0.3, is_key=True),
    )
    made = made_by(replace(FULL, features=asked))
    assert made.keys[-2:] == ("place", "group")
    assert (made.table["place"].to_numpy() == made.area).all()
    assert (made.table["group"].to_numpy() == made.stratum).all()


def test_members_of_a_household_share_what_they_should(people):
    size = np.bincount(people.household)
    assert size.min() == 1
    assert 5 <= size.max() <= 7
    first = np.unique(people.household, return_index=True)[1][people.household]
    for name in ("key_1", "key_2", "household_size", "region"):
        column = people.table[name].to_numpy()
        assert (column == column[first]).all()
    assert (people.area == people.area[first]).all()
    assert (people.table["household_size"].to_numpy() == size[people.household]).all()
    own = people.table["key_3"].to_numpy()
    assert 0.2 < (own == own[first])[first != np.arange(len(own))].mean() < 0.95


def test_areas_are_of_the_sizes_aimed_at_and_lie_in_one_region(people):
    size = np.bincount(people.area)
    assert len(size) == 40
    assert size.min() >= 40
    assert size.max() <= 1.2 * LARGEST_AREA
    pairs = np.unique(np.stack([people.area, people.table["region"].to_numpy()]), axis=1)
    assert pairs.shape[1] == len(size)
    assert len(np.unique(pairs[1])) == 4


def test_composition_drifts_between_areas_as_far_as_asked():
    assert spread_over_areas(0.0) < 1.7
    assert 2 * spread_over_areas(0.2) < spread_over_areas(0.6)


def test_the_truth_is_counted_over_all_keys(people):
    rows = list(zip(*(people.table[key].to_pylist() for key in people.keys), strict=True))
    counted = {row: rows.count(row) for row in rows[:20]}
    assert [counted[row] for row in rows[:20]] == people.counts[people.cells[:20]].tolist()


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_draws_its_fraction_and_its_weights_stand_for_all(people, design, fraction):
    drawn = [draw(people, design, fraction, repeat) for repeat in range(12)]
    size = np.mean([len(sample) for sample in drawn])
    slack = 0.25 if design == "whole-clusters" else 0.08
    assert size == pytest.approx(fraction * len(people), rel=slack)
    for sample in drawn:
        if "weight" in sample.options:
            total = sum(sample.records["weight"].to_pylist())
            assert total == pytest.approx(len(people), rel=0.25 if design == "poisson" else 1e-9)


def test_unequal_rates_differ_by_level_and_keep_their_fraction(people):
    weight = draw(people, "poisson", 0.1, 0).records["weight"].to_numpy()
    assert len(np.unique(weight)) > 2
    assert weight.max() > 1.5 * weight.min()


def test_strata_are_equal(people):
    sample = draw(people, "stratified", 0.1, 0)
    if "stratum" in sample.records.column_names:
        assert np.ptp(np.bincount(sample.records["stratum"].to_numpy())) <= 1


def test_whole_clusters_are_whole(people):
    sample = DESIGNS["whole-clusters"](people, 0.1, np.random.default_rng(5))
    drawn = np.unique(people.area[sample.rows])
    assert len(drawn) == 4
    assert (np.flatnonzero(np.isin(people.area, drawn)) == sample.rows).all()
    assert sample.options == {"cluster": "area"}  # without a number: taken whole


def test_clusters_give_the_same_share(people):
    sample = DESIGNS["clusters"](people, 0.09, np.random.default_rng(6))
    drawn, got = np.unique(people.area[sample.rows], return_counts=True)
    assert len(drawn) == 12
    assert got / np.bincount(people.area)[drawn] == pytest.approx(0.3, abs=0.02)


def test_whole_households_are_whole(people):
    rows = DESIGNS["households"](people, 0.1, np.random.default_rng(7)).rows
    drawn = np.unique(people.household[rows])
    assert (np.flatnonzero(np.isin(people.household, drawn)) == rows).all()


def test_samples_that_are_too_small_or_lack_what_is_drawn_are_left_out(people):
    assert not is_possible(people, "simple", 0.01)
    assert is_possible(people, "simple", 0.03)
    assert not is_possible(people, "whole-clusters", 0.03)  # one area of 40
    assert is_possible(people, "whole-clusters", 0.05)
    bare = replace(people, area=None, household=None)
    assert [design for design in DESIGNS if is_possible(bare, design, 0.1)] == [
        "simple",
        "poisson",
        "stratified",
    ]


def test_a_sample_is_the_same_each_time_and_no_other(people):
    one, again, other = (draw(people, "simple", 0.1, repeat) for repeat in (0, 0, 1))
    assert one.records.equals(again.records)
    assert not one.records.equals(other.records)


def test_the_truth_of_a_sample_is_that_of_its_records(people):
    sample = draw(people, "households", 0.1, 0)
    rows = list(zip(*(sample.records[k].to_pylist() for k in people.keys), strict=True))
    assert [rows.count(row) for row in rows[:20]] == sample.in_sample[:20].tolist()
    assert (sample.in_population >= sample.in_sample).all()
    assert sample.population_uniques == (sample.in_population == 1).sum()
    assert sample.correct_matches <= len(sample)


def test_options_that_an_assessment_lacks_are_dropped():
    assert understood({"keys": ("a",), "no_such_option": 1}) == {"keys": ("a",)}


def test_area_and_tenths_are_counted_as_they_say():
    score = np.array([0.1, 0.4, 0.4, 1.0])
    true = np.array([False, False, True, True])
    assert area_under_curve(score, true) == pytest.approx(3.5 / 4)
    assert area_under_curve(score, np.ones(4, dtype=bool)) is None
    records, predicted, unique = tenths(score, true)
    assert records == "0 1 0 0 2 0 0 0 0 1"
    assert predicted == "0 0.1 0 0 0.8 0 0 0 0 1"
    assert unique == "0 0 0 0 1 0 0 0 0 1"


def test_the_mixture_comes_near_where_keys_are_independent():
    rng = np.random.default_rng(8)
    levels = DEPENDENCES["independent"]((6, 8, 10, 5), 6_000, rng)
    _, cell, counts = np.unique(levels, axis=0, return_inverse=True, return_counts=True)
    rows = rng.choice(6_000, 600, replace=False)
    asked = np.flatnonzero(np.bincount(cell[rows])[cell[rows]] == 1)
    found = fit_mixture(levels[rows], asked, 6_000, rng)
    true = int((counts[cell[rows][asked]] == 1).sum())
    assert found.low <= found.uniques <= found.high
    assert found.uniques == pytest.approx(true, rel=0.4)
    assert (found.unique_probability <= found.risk).all()


def test_all_methods_answer_for_a_sample(people):
    sample = draw(people, "stratified", 0.05, 0)
    names = [line.method for method in ("recommended", "single", "mixture")
             for line in lines_of(sample, method)]  # fmt: skip
    assert names == ["recommended", *MODELS, "mixture"]


def test_a_tiny_run_is_saved_goes_on_and_makes_tables(people, tmp_path):
    path = tmp_path / "league.csv"
    asked = {"save": path, "methods": ["recommended"], "designs": ["simple", "clusters"]}
    run([people], repeats=1, fractions=(0.05,), **asked)
    before = path.read_text()
    run([people], repeats=1, fractions=(0.05,), **asked)
    assert path.read_text() == before
    run([people], repeats=2, fractions=(0.05,), **asked)
    assert path.read_text().startswith(before)
    lines = read(path)
    assert len(lines) == 4
    own = [line for line in lines if line.design == "simple"]
    assert list(grouped(lines, ("design", "fraction")))[-1] == ("all", "all")
    found = scores(own)
    by_hand = [abs(line.uniques - line.uniques_true) / max(line.uniques_true, 5) for line in own]
    assert found.error == pytest.approx(np.mean(by_hand))
    text = list(report({"before": lines, "now": lines}, "recommended", ("design", "fraction")))
    assert f"| simple | 0.05 | 2 | {found.error:.2f} |" in "\n".join(text)
    assert "→" in text[0]
    assert text[-1].startswith("now: error ")
    assert aim(lines) == text[-1].removeprefix("now: ")
