"""Published tables: what is read, what is refused, and what they make certain."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet import assess
from discreet.data.coding import Coding
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.cells import cells_at_hand
from discreet.errors import InputError
from discreet.figures import How
from discreet.survey.known_margins import KnownMargins

KEYS = ["sex", "age", "town"]


@pytest.fixture(scope="module")
def register():
    rng = np.random.default_rng(11)
    n = 20_000
    town = np.minimum(rng.geometric(0.02, n), 400)
    return pd.DataFrame({
        "sex": rng.choice(["m", "f"], n),
        "age": rng.integers(0, 60, n),
        "town": [f"t{number}" for number in town],
    })  # fmt: skip


@pytest.fixture(scope="module")
def sample(register):
    return register.sample(1500, random_state=2).reset_index(drop=True)


def published(register, *keys):
    return register.groupby(list(keys)).size().rename("persons").reset_index()


def test_nobody_else_of_a_level_makes_a_record_unique(register, sample):
    tables = [published(register, *both) for both in itertools.combinations(KEYS, 2)]
    found = assess(sample, KEYS, known_margins=tables)
    assert found.summary.population_size == len(register)
    F = register.groupby(KEYS).size()
    f = sample.groupby(KEYS).size()
    records = found.records()
    truth = F.loc[list(sample[KEYS].itertuples(index=False))].to_numpy()
    alone = f.loc[list(sample[KEYS].itertuples(index=False))].to_numpy() == 1
    least = np.full(len(sample), np.inf)
    for table, both in zip(tables, itertools.combinations(KEYS, 2), strict=True):
        there = table.set_index(list(both))["persons"]
        seen = sample.groupby(list(both)).size()
        at = list(sample[list(both)].itertuples(index=False))
        least = np.minimum(least, there.loc[at].to_numpy() - seen.loc[at].to_numpy())
    certain = alone & (least == 0)
    assert certain.sum() > 5
    assert np.all(truth[certain] == 1)
    assert np.all(records["population_unique"][certain] == 1)
    assert np.all(records["risk"][certain] == 1)
    assert not np.any((records["population_unique"] == 1) & ~certain)
    sure = records["risk"].to_numpy() >= 1 / (records["sample_count"] + least) - 1e-12
    assert np.all(sure)
    assert np.all(1 / truth >= 1 / (records["sample_count"] + least) - 1e-12)
    uniques = found.recommended.expected_population_uniques
    assert uniques.low >= certain.sum()
    assert uniques.value == pytest.approx(records["population_unique"].sum())
    matches = found.recommended.expected_correct_matches
    assert matches.value == pytest.approx(records["risk"].sum())


def test_tables_of_two_keys_rank_records_better(register, sample):
    truth = (register.groupby(KEYS).size() == 1).loc[
        list(sample[KEYS].itertuples(index=False))
    ].to_numpy()  # fmt: skip
    tables = [published(register, *both) for both in itertools.combinations(KEYS, 2)]
    brier = [
        ((assess(sample, KEYS, population=len(register), known_margins=known)
          .records()["population_unique"] - truth) ** 2).mean()
        for known in ((), tables)
    ]  # fmt: skip
    assert brier[1] < 0.97 * brier[0]


def test_levels_that_no_record_has_count_among_the_persons(register, sample):
    found = assess(sample, KEYS, known_margins=published(register, "town"))
    assert set(register["town"]) - set(sample["town"])
    assert found.summary.population_size == len(register)


def test_a_table_by_its_file_is_the_same_as_by_its_frame(register, sample, tmp_path):
    table = published(register, "age", "sex")
    table.to_csv(tmp_path / "table.csv", index=False)
    one = assess(sample, KEYS, known_margins=table)
    other = assess(sample, KEYS, known_margins=[tmp_path / "table.csv"])
    assert one.recommended == other.recommended


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.rename(columns={"town": "twon"}), "did you mean 'town'"),
        (lambda t: t[["town"]], "one column of counts, got town"),
        (lambda t: t.assign(more=1), "one column of counts"),
        (lambda t: t.rename(columns={"town": "trade"}), "none of the keys is called 'trade' or"),
        (lambda t: t.iloc[:0], "at least one person, got 0"),
        (lambda t: t.assign(persons=t["persons"] - 0.5), "whole numbers of persons"),
        (lambda t: t.assign(persons=-1), "whole numbers of persons, got '-1' .*row 1"),
        (lambda t: t.assign(persons=0), "at least one person"),
        (lambda t: t[t["town"] != "t1"], "every level of 'town', .*none for 't1'; it has"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "each combination once, got 't1' twice"),
        (
            lambda t: pd.concat([t, pd.DataFrame({"town": ["Total"], "persons": [20_000]})]),
            "without totals, got 'Total'",
        ),
        (lambda t: t.assign(persons=10 * t["persons"]), "total is the population"),
        (lambda t: t.assign(persons=np.where(t.index == 0, 0, t["persons"])), "fewer with town"),
    ],
)
def test_what_is_no_table_of_the_population_is_refused(register, sample, change, says):
    table = change(published(register, "town"))
    with pytest.raises(InputError, match=says):
        assess(sample, KEYS, population=len(register), known_margins=[table])


def test_keys_that_some_records_lack_have_no_published_table(register, sample):
    gaps = sample.copy()
    gaps.loc[3, "town"] = None
    with pytest.raises(InputError, match="every record has, as 'town'"):
        assess(gaps, KEYS, known_margins=published(register, "town"))
    assert assess(gaps, KEYS, known_margins=published(register, "age")).recommended


def test_a_table_beside_the_whole_population_is_refused(register, sample):
    with pytest.raises(InputError, match="known_margins must be left out"):
        assess(sample, KEYS, population_file=register, known_margins=published(register, "age"))


def test_the_same_table_twice_is_refused(register, sample):
    table = published(register, "age")
    with pytest.raises(InputError, match="one table for each set of keys, got age"):
        assess(sample, KEYS, known_margins=[table, table])


def test_coarser_keys_have_the_sums():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 9, (4, 6))
    alone = {(0,): table.sum(axis=1), (2,): table.sum(axis=0)}
    margins = KnownMargins({**alone, (0, 2): table}, int(table.sum()))
    cells = cells_at_hand(np.arange(5)[:, None], np.ones(5, dtype=np.int64),
                          Coding.of_sizes([4, 3, 6]))  # fmt: skip
    to = np.array([0, 0, 1, 1, 1, 0])
    levels = KeyLevels(name="c", values=("0", "1"), labels=("0", "1"), n_missing=0)
    view = cells.space.itself().recoded(2, to, levels).of_keys([2, 0])
    seen = margins.seen_through(view)
    expected = np.stack([table[:, to == group].sum(axis=1) for group in (0, 1)])
    assert np.array_equal(seen.tables[0, 1], expected)
    assert np.array_equal(seen.tables[(1,)], alone[(0,)])
    assert set(margins.seen_through(cells.space.itself().of_keys([2])).tables) == {(0,)}
    lost = KnownMargins(margins.tables, margins.total + 1)  # one person of a level without records
    assert set(lost.seen_through(view).tables) == {(1,)}


def test_a_band_with_levels_that_no_record_has_is_not_held_to_those_it_has():
    rng = np.random.default_rng(1)
    register = pd.DataFrame({"g": rng.choice(["x", "y"], 20_000), "age": np.arange(20_000) // 2})
    few = register.sample(400, random_state=3)
    found = assess(few, ["age", "g"], known_margins=published(register, "age"), max_risk=0.3)
    bands = next(s for s in found.suggestions if "bands" in s.change)
    assert bands.expected_correct_matches_after.high < 3


def test_a_table_of_all_keys_is_the_truth(register, sample):
    keys = ["age", "town"]
    found = assess(sample, keys, known_margins=published(register, *keys))
    F = register.groupby(keys).size().loc[list(sample[keys].itertuples(index=False))].to_numpy()
    f = sample.groupby(keys)["age"].transform("size").to_numpy()
    uniques = found.recommended.expected_population_uniques
    assert uniques.how is How.EXACT
    assert uniques.value == ((f == 1) & (F == 1)).sum()
    assert found.recommended.expected_correct_matches.value == pytest.approx((1 / F).sum())
    assert found.records()["risk"].to_numpy() == pytest.approx(1 / F)
    views = assess(sample, KEYS, known_margins=published(register, *keys),
                   scenarios={"few": keys})  # fmt: skip
    (few,) = views.scenarios.each
    assert few.recommended.expected_population_uniques.value == uniques.value


def test_an_arrow_table_will_do(register, sample):
    table = pa.Table.from_pandas(published(register, "age"))
    assert assess(sample, KEYS, known_margins=table).summary.population_size == len(register)


def without(table, level, persons):
    """The table with fewer persons of a level."""
    found = table.copy()
    found.loc[found["town"] == level, "persons"] -= persons
    return found


def certain(assessment):
    return int((assessment.records()["population_unique"] == 1).sum())


def test_a_table_with_another_total_makes_nothing_certain(register, sample):
    """A level that is counted short would make records unique that are not."""
    pairs = published(register, "age", "town")
    right = assess(sample, KEYS, population=len(register), known_margins=pairs)
    assert certain(right) > 5
    assert right.warnings == ()
    wrong = pairs.copy()
    wrong.loc[0, "persons"] += 1
    found = assess(sample, KEYS, population=len(register), known_margins=wrong)
    assert certain(found) == 0
    (said,) = found.warnings
    assert "20,001 persons in all and the population 20,000" in said
    towns = published(register, "town")
    towns.loc[0, "persons"] += 1
    both = assess(sample, KEYS, population=len(register), known_margins=[pairs, towns])
    assert "20,001" in both.warnings[0]
    assert certain(both) == certain(right)


def test_tables_that_contradict_each_other_make_nothing_certain(register, sample):
    pairs, towns = published(register, "age", "town"), published(register, "town")
    moved = without(towns, "t1", 150)
    moved.loc[moved["town"] == "t2", "persons"] += 150
    found = assess(sample, KEYS, known_margins=[pairs, moved])
    assert certain(found) == 0
    (said,) = found.warnings
    assert "do not agree on how many have each level of town" in said
    short = assess(sample, KEYS, known_margins=[pairs, without(towns, "t1", 3)])
    assert certain(short) == 0
    assert "have 20,000 and 19,997 persons in all" in short.warnings[0]
    every = assess(sample, ["town", "age"], known_margins=[pairs, moved])
    assert every.recommended.expected_population_uniques.how is not How.EXACT


def test_no_limit_is_above_what_is_possible():
    """250 of 400 persons, most of whom nobody else can be."""
    rng = np.random.default_rng(4)
    few = pd.DataFrame({
        "a": rng.zipf(1.4, 400) % 60, "b": rng.integers(0, 3, 400), "c": rng.integers(0, 4, 400)
    }).astype(str)  # fmt: skip
    tables = [published(few, "a"), published(few, "a", "b")]
    found = assess(few.iloc[:250], ["a", "b", "c"], known_margins=tables)
    uniques = found.recommended.expected_population_uniques
    alone = few.iloc[:250].groupby(["a", "b", "c"]).size()
    assert uniques.low <= uniques.value <= uniques.high <= (alone == 1).sum()
    assert uniques.low == int(uniques.low)
    assert uniques.high == int(uniques.high)
    assert found.recommended.expected_correct_matches.high <= len(alone)
