"""How records were drawn: what is said, what shows in the file, and what is made of it."""

import numpy as np
import pandas as pd
import pytest

from discreet import assess
from discreet.engines.contract import ColumnOrder
from discreet.errors import InputError
from discreet.figures import How, Unavailable
from discreet.survey import design
from discreet.survey.design import _doubt_of_order

KEYS = ["sex", "age", "tenure", "size"]
N_HOUSEHOLDS = 8_000


@pytest.fixture(scope="module")
def people():
    """Persons in households; members share the tenure and the size."""
    rng = np.random.default_rng(21)
    size = rng.choice([1, 2, 3, 4, 5], N_HOUSEHOLDS, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    home = np.repeat(np.arange(N_HOUSEHOLDS), size)
    n = len(home)
    area = home * 100 // N_HOUSEHOLDS
    return pd.DataFrame({
        "sex": rng.choice(["m", "f"], n),
        "age": np.clip(rng.normal(40, 20, n), 0, 90).astype(int),
        "tenure": rng.choice(12, N_HOUSEHOLDS, p=rng.dirichlet(np.ones(12)))[home],
        "size": size[home],
        "home": home,
        "area": area,
    })  # fmt: skip


@pytest.fixture(scope="module")
def whole_households(people):
    some = np.random.default_rng(5).choice(N_HOUSEHOLDS, 800, replace=False)
    return people[people["home"].isin(some)].reset_index(drop=True)


def uniques(found):
    return found.recommended.expected_population_uniques


def truth(people, sample, keys=KEYS):
    F = people.groupby(keys).size()
    f = sample.groupby(keys).size()
    return int(((F.loc[f.index] == 1) & (f == 1)).sum())


def test_households_are_seen_to_be_complete_by_the_key_of_their_size(people, whole_households):
    found = assess(whole_households, KEYS, population=len(people), household="home")
    assert "each with as many members in the file as size says" in uniques(found).note
    assert "within the households and between them" in found.recommended.why
    assert uniques(found).low <= truth(people, whole_households) <= uniques(found).high


def test_households_are_seen_to_be_complete_by_how_many_come_together(people, whole_households):
    keys = ["sex", "age", "tenure"]
    found = assess(whole_households, keys, population=len(people), household="home")
    assert "others of the household of a record are in the file too" in uniques(found).note
    assert uniques(found).low <= truth(people, whole_households, keys) <= uniques(found).high


def test_persons_drawn_one_by_one_are_in_no_households(people):
    sample = people.sample(1500, random_state=1)
    found = assess(sample, KEYS, population=len(people), household="home")
    assert "households" not in found.recommended.why
    plain = assess(sample, KEYS, population=len(people))
    assert uniques(found).value == uniques(plain).value


def test_clusters_are_said(people):
    rng = np.random.default_rng(3)
    areas = rng.choice(100, 40, replace=False)
    sample = people[people["area"].isin(areas) & (rng.random(len(people)) < 0.4)]
    found = assess(sample, KEYS, population=len(people), cluster="area", clusters=100)
    assert "within the clusters and between them" in found.recommended.why
    assert uniques(found).low <= truth(people, sample) <= uniques(found).high
    columns = found.records()
    assert columns["population_unique"].sum() == pytest.approx(uniques(found).value)


def test_a_cluster_that_is_a_key_and_was_taken_whole_is_counted(people):
    sample = people[people["area"] < 7]
    keys = [*KEYS, "area"]
    found = assess(sample, keys, population=len(people), cluster="area")
    assert uniques(found).how is How.EXACT
    assert uniques(found).value == truth(people, sample, keys)


def test_what_a_change_does_is_worked_out_for_the_same_design(people, whole_households):
    limits = {"population": len(people), "household": "home", "max_risk": 0.5}
    found = assess(whole_households, KEYS, **limits)
    told = {s.change: s.expected_population_uniques_after for s in found.suggestions}
    left = next(change for change in told if change.startswith("leave out"))
    again = assess(whole_households, [k for k in KEYS if k != left.split()[-1]], **limits)
    assert told[left].value == pytest.approx(uniques(again).value)
    views = assess(whole_households, KEYS, scenarios={"few": KEYS[:3]}, **limits)
    alone = assess(whole_households, KEYS[:3], **limits)
    (few,) = views.scenarios.each
    assert few.recommended.expected_population_uniques.value == pytest.approx(uniques(alone).value)


def test_weights_within_a_stratum_count_by_their_mean(people):
    rng = np.random.default_rng(6)
    sample = people.sample(1500, random_state=4).reset_index(drop=True)
    stratum = sample["area"] // 25
    rate = np.array([5.0, 10.0, 20.0, 15.0])[stratum]
    level = sample.assign(stratum=stratum, weight=rate)
    apart = level.assign(weight=rate * rng.uniform(0.5, 1.5, len(sample)))
    mean = apart.assign(weight=apart.groupby("stratum")["weight"].transform("mean"))
    asked = {"population": len(people), "weight": "weight"}
    one = assess(apart, KEYS, stratum="stratum", **asked)
    other = assess(mean, KEYS, **asked)
    assert uniques(one).value == pytest.approx(uniques(other).value, rel=1e-9)
    assert uniques(one).value != pytest.approx(uniques(assess(apart, KEYS, **asked)).value)
    known = assess(level.assign(weight=np.where(level["sex"] == "m", 5, 20)), KEYS, **asked)
    assert "the weights are the same for all with the same sex" in uniques(known).note
    assert "same sex" not in uniques(other).note
    some = level[level["area"] % 2 == 0]
    both = assess(some, KEYS, stratum="stratum", cluster="area", clusters=100, **asked)
    assert "within the clusters" in both.recommended.why
    assert "mean weight of their stratum" in uniques(both).note


def test_households_within_clusters(people):
    rng = np.random.default_rng(8)
    areas, homes = rng.choice(100, 40, replace=False), rng.choice(N_HOUSEHOLDS, 3000, replace=False)
    sample = people[people["area"].isin(areas) & people["home"].isin(homes)]
    asked = {"population": len(people), "cluster": "area", "clusters": 100}
    both = assess(sample, KEYS, household="home", **asked)
    assert "as many members in the file as size says" in uniques(both).note
    assert "of 100 clusters 40 are in the file" in uniques(both).note
    assert uniques(both).low <= truth(people, sample) <= uniques(both).high
    assert uniques(both).value > uniques(assess(sample, KEYS, **asked)).value
    assert both.records()["population_unique"].sum() == pytest.approx(uniques(both).value)


def test_clusters_that_were_all_drawn_are_strata(people):
    sample = people.sample(1500, random_state=7)
    asked = {"population": len(people)}
    found = assess(sample, KEYS, cluster="area", clusters=100, **asked)
    plain = assess(sample.sample(frac=1, random_state=1), KEYS, **asked)
    assert uniques(found).value == uniques(plain).value


def test_households_in_clusters_that_were_all_drawn(people, whole_households):
    asked = {"population": len(people), "household": "home"}
    found = assess(whole_households, KEYS, cluster="area", clusters=100, **asked)
    other = assess(whole_households, KEYS, **asked)
    assert uniques(found).value == uniques(other).value
    assert found.records()["risk"].tolist() == other.records()["risk"].tolist()


@pytest.mark.parametrize("options", [{"cluster": "area"}, {"household": "home"}])
def test_a_key_that_repeats_another_changes_nothing(people, whole_households, options):
    asked = {"population": len(people), **options}
    copied = whole_households.assign(label="t" + whole_households["tenure"].astype(str), one=1)
    one = assess(copied, KEYS, **asked)
    other = assess(copied, ["one", *KEYS[:1], "label", *KEYS[1:]], **asked)
    assert uniques(one) == uniques(other)
    assert one.records()["risk"].tolist() == other.records()["risk"].tolist()


def test_too_few_of_what_was_drawn_leave_wider_limits(people):
    homes = np.random.default_rng(3).choice(N_HOUSEHOLDS, 60, replace=False)
    sample = people[people["home"].isin(homes)]
    found = assess(sample, ["tenure", "size"], population=len(people), household="home")
    assert "too few to tell" in uniques(found).note
    assert uniques(found).value < 60  # and not the reason of cells that nobody gave


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"clusters": 5}, "clusters must be given with the column"),
        ({"cluster": "area", "clusters": 0}, "clusters must be at least 1"),
        ({"cluster": "size", "clusters": 2000}, "clusters must be at most about"),
        ({"cluster": "area", "whole_population": True, "population": None}, "estimate leads"),
        ({"stratum": "area", "weight": "w", "headline": "pitman"}, "estimate leads"),
        ({"cluster": "area", "population": None}, "estimate leads"),
        ({"cluster": "area", "clusters": 50}, "clusters must be at least the 100 of the file"),
        ({"stratum": "area"}, "stratum must be given with weights"),
        ({"cluster": "hom"}, "cluster must be a column .*'hom'; did you mean 'home'"),
        ({"cluster": "w", "weight": "w"}, "cluster must be another column than weight"),
        ({"cluster": "area", "stratum": "area", "weight": "w"}, "another column than stratum"),
    ],
)
def test_what_makes_no_sense_is_refused(people, options, says):
    sample = people.sample(3000, random_state=1).assign(w=5.0)
    with pytest.raises(InputError, match=says):
        assess(sample, KEYS, **({"population": len(people)} | options))


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_the_cluster_of_every_record_is_known(people, missing):
    sample = people.sample(500, random_state=1).reset_index(drop=True)
    sample["area"] = sample["area"].astype("Int64")
    sample.loc[3, "area"] = pd.NA
    with pytest.raises(InputError, match="cluster 'area' must be known of every record, got 1"):
        assess(sample, KEYS, population=len(people), cluster="area", missing=missing)


def test_missing_values_that_match_anything_leave_the_cluster_aside(people):
    sample = people.sample(900, random_state=1).reset_index(drop=True)
    sample["age"] = sample["age"].astype("Int64")
    sample.loc[:20, "age"] = pd.NA
    asked = {"population": len(people), "missing": "wildcard"}
    found = assess(sample, KEYS, cluster="area", **asked)
    assert "nothing is made of the cluster" in uniques(found).note
    plain = assess(sample, KEYS, **asked)
    assert uniques(found).value == pytest.approx(uniques(plain).value)
    assert uniques(found).high > uniques(plain).high


def test_more_units_than_are_looked_at_leave_wider_limits(people, whole_households, monkeypatch):
    monkeypatch.setattr(design, "MOST_UNITS", 100)
    asked = {"population": len(people), "cluster": "area"}
    found = assess(whole_households, KEYS, **asked)
    assert "more than the 100 that are looked at" in uniques(found).note
    plain = assess(whole_households.sample(frac=1, random_state=1), KEYS, population=len(people))
    assert uniques(found).value == pytest.approx(uniques(plain).value)
    assert uniques(found).low < uniques(plain).low
    assert uniques(found).high > uniques(plain).high


def test_neighbours_who_are_alike_widen_the_limits(people, whole_households):
    asked = {"population": len(people)}
    together = assess(whole_households, KEYS, **asked)
    mixed = assess(whole_households.sample(frac=1, random_state=1), KEYS, **asked)
    assert "neighbours in the file are alike in tenure, size" in uniques(together).note
    assert uniques(mixed).note == ""
    assert uniques(together).value == uniques(mixed).value
    assert uniques(together).low < uniques(mixed).low
    assert uniques(together).high > uniques(mixed).high
    inorder = assess(whole_households.sort_values("age"), KEYS, **asked)
    assert uniques(inorder).note == ""


def order(name, like, n=10_000, *, in_order=False):
    return ColumnOrder(
        name=name, n_records=n, like_neighbours=like, like_ranks=0.0, in_order=in_order
    )


@pytest.mark.parametrize(
    ("orders", "doubts"),
    [
        ([], False),
        ([order("a", 50)], False),  # one key alone
        ([order("a", 50), order("b", 50)], True),
        ([order("a", 50), order("b", 5)], False),  # too small a difference
        ([order("a", 50), order("b", 50), order("c", 99, in_order=True)], False),
        ([order("a", 5.9, n=100), order("b", 5.9, n=100)], False),  # may be chance
        (Unavailable("Spark keeps no order"), False),
    ],
)
def test_what_order_says(orders, doubts):
    assert bool(_doubt_of_order(orders)) == doubts


def test_a_key_that_repeats_another_changes_nothing_in_strata(people):
    sample = people.sample(1500, random_state=4).reset_index(drop=True)
    rate = np.array([5.0, 10.0, 20.0, 15.0])[sample["area"] // 25]
    sample = sample.assign(weight=rate, stratum=sample["area"] // 25)
    sample["label"] = "t" + sample["tenure"].astype(str)
    asked = {"population": len(people), "weight": "weight", "stratum": "stratum"}
    one, other = (assess(sample, keys, **asked) for keys in (KEYS, [*KEYS, "label"]))
    assert uniques(one).value == pytest.approx(uniques(other).value)
    assert (uniques(one).low, uniques(one).high) == (uniques(other).low, uniques(other).high)


def test_three_stages_are_not_said_to_be_drawn_singly(people):
    rng = np.random.default_rng(8)
    areas, homes = rng.choice(100, 40, replace=False), rng.choice(N_HOUSEHOLDS, 3000, replace=False)
    sample = people[people["area"].isin(areas) & people["home"].isin(homes)]
    found = assess(sample, KEYS, population=len(people), cluster="area", clusters=100,
                   household="home")  # fmt: skip
    assert "drawn whole" in uniques(found).note
    assert "drawn singly" not in uniques(found).note


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.3])
def test_a_few_homes_with_many_persons_are_no_households_drawn_whole(people, fraction):
    """One in twenty lives in a home of 200, of which some come into any sample."""
    rng = np.random.default_rng(9)
    homes = people.assign(home=np.where(rng.random(len(people)) < 0.05,
                                        N_HOUSEHOLDS + rng.integers(0, 5, len(people)),
                                        people["home"]))  # fmt: skip
    sample = homes.sample(frac=fraction, random_state=2)
    found = assess(sample, KEYS[:3], population=len(people), household="home")
    assert "drawn whole" not in uniques(found).note
    some = rng.choice(N_HOUSEHOLDS, int(fraction * N_HOUSEHOLDS), replace=False)
    whole = homes[homes["home"].isin([*some, N_HOUSEHOLDS])]
    found = assess(whole, KEYS[:3], population=len(people), household="home")
    assert "drawn whole" in uniques(found).note


def test_the_words_of_clusters(people):
    one = people[people["area"] == 3].assign(town="a")
    found = assess(one, KEYS, population=len(people), cluster="town")
    assert (
        "the one cluster of the file is taken to be there with all members" in uniques(found).note
    )
    few = people[people["area"] < 7]
    found = assess(few.sample(frac=0.3, random_state=1), [*KEYS, "area"], population=len(people),
                   cluster="area")  # fmt: skip
    assert uniques(found).how is How.EXACT
    assert "if only some members of each were drawn, the estimate is far too high" in (
        uniques(found).note
    )


def test_weights_beyond_all_numbers_are_refused_in_one_line(people):
    sample = people.sample(200, random_state=1).assign(weight=1e308, stratum=1)
    with pytest.raises(InputError, match="'weight' must be below 1e15 in all"):
        assess(sample, KEYS, weight="weight", stratum="stratum", population=len(people))
