"""What to change: counted on the file recoded by hand."""

import re

import numpy as np
import pandas as pd
import pytest

from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows.assess import assess
from discreet.policy.verdict import Ruling
from discreet.report.assess.json import assessment_json
from discreet.survey.leading import RiskOverview

RNG = np.random.default_rng(4)
N = 900
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "sex": RNG.integers(0, 2, N),
        "town": RNG.choice(list("abcdefgh"), N, p=[0.4, 0.3, 0.2, 0.04, 0.03, 0.01, 0.01, 0.01]),
        "same": 1,
        "ill": RNG.choice(["flu", "cold", "other"], N),
        "weight": RNG.uniform(5, 40, N).round(2),
    }
)
KEYS = ["age", "sex", "town", "same"]


def uniques(frame, keys=KEYS):
    sizes = frame.groupby(list(keys)).size()
    return int((sizes == 1).sum())


def followed(frame, one):
    """The file after the change, made by hand from its words alone."""
    for step in re.split(r"(?:, | and )(?=leave out|put |keep only|give |merge )", one.change):
        frame = _step(frame, step)
    return frame


def _step(frame, step):
    if found := re.fullmatch(r"leave out (\w+)", step):
        return frame.drop(columns=found[1])
    if found := re.fullmatch(r"put (\w+) into bands of (\d+) \((-?\d+) to .*, …\)", step):
        name, width, first = found[1], int(found[2]), int(found[3])
        bands = (pd.to_numeric(frame[name]) - first) // width
        return frame.assign(**{name: bands.astype("Int64").astype(object)})
    if found := re.fullmatch(r"keep only the first (?:(\d) )?(?:digit|character)s? of (\w+)", step):
        return frame.assign(**{found[2]: frame[found[2]].str[: int(found[1] or 1)]})
    if found := re.fullmatch(r"give (\w+) by (month|year)", step):
        return frame.assign(**{found[1]: frame[found[1]].str[: {"month": 7, "year": 4}[found[2]]]})
    found = re.fullmatch(r"merge the (\d+) rarest levels of (\w+) \(.*\) into one level", step)
    assert found, step
    counts = FRAME[found[2]].value_counts()
    rare = counts.index[-int(found[1]) :]
    return frame.assign(**{found[2]: frame[found[2]].where(~frame[found[2]].isin(rare), "other")})


def coarser(found):
    """The suggestions that change keys."""
    return [one for one in found.suggestions if one.suppressed is None]


def keys_left(frame, keys):
    """The keys that are still there."""
    return [key for key in keys if key in frame]


def alike(one, other):
    return one is other is None or one == pytest.approx(other, rel=1e-9)


def assert_kept_word(one, after, keys, **options):
    """A new assessment of the changed file gives exactly the figures that were promised."""
    again = assess(after, keys_left(after, keys), **options)
    led = again.recommended
    assert one.sample_uniques_after == again.sample_uniques
    for told, found in (
        (one.expected_population_uniques_after, led.expected_population_uniques),
        (one.expected_correct_matches_after, led.expected_correct_matches),
    ):
        assert type(told) is type(found)
        if isinstance(told, Figure):
            assert told.how is found.how
            for name in ("value", "low", "high"):
                assert alike(getattr(told, name), getattr(found, name))
    largest = again.risk.largest if isinstance(again.risk, RiskOverview) else None
    assert alike(one.largest_risk_after, largest)
    ruling = None if again.verdict is None else again.verdict.ruling
    assert one.keeps_limits is {Ruling.KEPT: True, Ruling.BROKEN: False}.get(ruling)
    return again


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"population": 20_000},
        {"population": 20_000, "max_risk": 0.1},
        {"population": 500_000, "max_risk": 0.02},
        {"population": 20_000, "min_k": 4, "max_risk": 0.5},
        {"whole_population": True},
        {"whole_population": True, "max_risk": 0.25},
        {"population": 20_000, "headline": "poisson_inverse_gaussian"},
        {"population": 20_000, "headline": "lancaster", "max_risk": 0.2},
        {"population": 20_000, "headline": "loglinear", "nesting": False},
        {"weight": "weight", "max_risk": 0.2},
        {"weight": "weight", "headline": "benedetti_franconi", "max_risk": 0.2},
        {"population": 20_000, "sensitive": ["ill"], "l": 2, "max_risk": 0.3},
        {"min_k": 3, "missing": "wildcard"},
    ],
)  # fmt: skip
def test_they_do_what_they_say(options):
    found = assess(FRAME, KEYS, **options)
    assert 1 <= len(coarser(found)) <= 3
    assert "same" not in [one.key for one in coarser(found)]
    for one in coarser(found):
        assert one.sample_uniques_before == uniques(FRAME) == found.sample_uniques
        assert_kept_word(one, followed(FRAME, one), KEYS, **options)


@pytest.mark.parametrize("limit", [{}, {"max_risk": 0.2}, {"max_risk": 0.02, "min_k": 2}])
def test_with_a_file_of_the_population_it_is_counted_anew(limit):
    """Of values that only the population has, those count that fall into a group of the file."""
    rng = np.random.default_rng(8)
    more = 4000
    others = pd.DataFrame(
        {
            "age": rng.integers(10, 100, more),
            "sex": rng.integers(0, 2, more),
            "town": rng.choice([*"abcdefgh", "only outside"], more),
            "same": rng.integers(1, 3, more),
        }
    )
    register = pd.concat([FRAME[KEYS], others], ignore_index=True)
    found = assess(FRAME, KEYS, population_file=register, **limit)
    assert coarser(found)
    for one in coarser(found):
        assert one.expected_population_uniques_after.how is How.EXACT
        after = followed(FRAME, one)
        again = assert_kept_word(one, after, KEYS, population_file=followed(register, one), **limit)
        left = keys_left(after, KEYS)
        persons = followed(register, one).groupby(left).size().rename("F")
        true = after.merge(persons.reset_index(), on=left)["F"]
        assert again.recommended.expected_population_uniques.value == (true == 1).sum()
        assert one.expected_correct_matches_after.value == pytest.approx((1 / true).sum())


def test_too_large_a_population_is_said_to_be_so(monkeypatch):
    monkeypatch.setattr("discreet.survey.assessment.MOST_IN_POPULATION", 10)
    one = assess(FRAME, KEYS, population_file=FRAME).suggestions[0]
    assert isinstance(one.expected_population_uniques_after, Unavailable)
    assert one.sample_uniques_after < one.sample_uniques_before


CODES = pd.DataFrame(
    {
        "zip": [f"0{z:04}" for z in RNG.integers(1000, 3000, N)],
        "icd": [f"{c}{n}.{m}" for c, n, m in zip(RNG.choice(list("EIJ"), N),
                RNG.integers(10, 30, N), RNG.integers(0, 9, N), strict=True)],
        "born": pd.to_datetime(RNG.integers(0, 15_000, N), unit="D").strftime("%Y-%m-%d"),
    }
)  # fmt: skip


@pytest.mark.parametrize("keys", [["zip"], ["icd"], ["born"], ["zip", "icd"], ["zip", "born"]])
@pytest.mark.parametrize("limits", [{}, {"min_k": 5}, {"max_risk": 0.003}])
def test_codes_and_dates_and_a_single_key(keys, limits):
    found = assess(CODES, keys, population=40_000, **limits)
    assert coarser(found)
    for one in coarser(found):
        assert "bands of" not in one.change or "year of" in one.change
        if one.change != f"leave out {keys[0]}" and "year of" not in one.change:
            assert_kept_word(one, followed(CODES, one), keys, population=40_000, **limits)


def test_a_single_key_is_coarsened_until_the_limit_is_kept():
    one = assess(CODES, ["zip"], population=40_000, min_k=60).suggestions[0]
    assert one.change == "keep only the first 2 digits of zip"
    assert one.keeps_limits is True
    assert CODES["zip"].str[:3].value_counts().min() < 60


def test_a_single_key_that_cannot_be_coarser_is_left_out():
    frame = pd.DataFrame({"sex": [0] * 500 + [1]})
    (one,) = coarser(assess(frame, ["sex"], whole_population=True, min_k=2))
    assert one.change == "leave out sex"
    assert one.sample_uniques_after == 0
    assert one.keeps_limits is True


def test_what_leaves_the_keys_comes_first_and_then_what_helps_most():
    found = coarser(assess(FRAME, KEYS, population=20_000))
    assert found[0].key == "age"
    assert found[0].change.startswith("put age into bands")
    assert found[0].sample_uniques_after <= found[0].sample_uniques_before / 2
    left = [one.sample_uniques_after for one in found[1:]]
    assert left == sorted(left)


def test_with_a_limit_on_k_it_is_about_that():
    found = assess(FRAME, KEYS, min_k=5).suggestions[1]
    sizes = FRAME.groupby(KEYS)["age"].transform("size")
    assert found.k == 5
    assert found.breaking_before == (sizes < 5).sum()
    after = followed(FRAME, found).assign(one=1)
    after = after.groupby(keys_left(after, KEYS))["one"].transform("size")
    assert found.breaking_after == (after < 5).sum()


ODD = pd.DataFrame({"age": [i % 60 for i in range(600)], "sex": [0, 1] * 300})
ODD.loc[0, "age"] = 61


def test_whether_the_limits_would_be_kept():
    assert assess(ODD, ["age", "sex"]).suggestions[0].keeps_limits is None
    one = assess(ODD, ["age", "sex"], min_k=2).suggestions[0]
    assert (one.breaking_after > 0) == (one.keeps_limits is False)
    for limit in (0.02, 0.001):
        found = assess(ODD, ["age", "sex"], whole_population=True, max_risk=limit).suggestions
        kept = 1 / ODD["sex"].value_counts().min() <= limit  # with sex alone, the best there is
        assert any(one.keeps_limits for one in found) == kept


def test_several_changes_together_where_none_alone_is_enough():
    found = coarser(assess(FRAME, KEYS, min_k=3))
    first = found[0]
    assert len(found) <= 3
    assert first.key.count(",") >= 1
    assert " and " in first.change
    assert first.breaking_after <= min(one.breaking_after for one in found[1:])
    assert [one.keeps_limits for one in found[1:]] == [False] * (len(found) - 1)


def test_nothing_is_suggested_where_nobody_stands_out():
    assert assess(pd.DataFrame({"a": [1, 1], "b": [2, 2]}), ["a", "b"]).suggestions == ()


@pytest.mark.parametrize("policy", ["wildcard", "category"])
def test_missing_values_match_as_the_policy_says(policy):
    frame = FRAME.astype(object)
    frame.loc[::40, "town"] = None
    found = coarser(assess(frame, ["age", "sex", "town"], missing=policy))
    assert_kept_word(found[0], followed(frame, found[0]), ["age", "sex", "town"], missing=policy)


def test_much_work_is_only_leaving_out(monkeypatch):
    monkeypatch.setattr("discreet.survey.suggestions.MOST_WORK", 10)
    found = coarser(assess(FRAME, KEYS))
    assert all(one.change == f"leave out {one.key}" for one in found)


def test_json_has_before_and_after():
    (_, first, *_) = assessment_json(assess(FRAME, KEYS, population=20_000, min_k=3))["suggestions"]
    assert first["key"] == "age"
    assert first["sample_uniques_after"] < first["sample_uniques_before"]
    assert first["keeps_limits"] is False
    assert first["expected_correct_matches_after"]["how"] == "estimate"


def test_a_combination_that_keeps_the_limit_is_found_and_takes_no_more_than_needed():
    """Every key that it changes is needed: with any of them a rung milder, the limit is broken."""
    frame = FRAME.assign(month=RNG.integers(1, 13, N))
    keys = ["age", "sex", "town", "month"]
    first = assess(frame, keys, min_k=5).suggestions[0]
    assert first.keeps_limits is True
    assert first.breaking_after == 0
    left = {name for name in keys if f"leave out {name}" in first.change}
    assert len(left) < len(keys) - 1  # two keys at least are still there
    for name in left:
        kept = [one for one in keys if one not in left - {name}]
        assert frame.groupby(kept).size().min() < 5


def test_the_same_rule_in_two_forms_has_one_answer():
    """In a whole population a risk of 1/5 at most is a cell of 5 at least."""
    by_k = assess(FRAME, KEYS, whole_population=True, min_k=5).suggestions[0]
    by_risk = assess(FRAME, KEYS, whole_population=True, max_risk=0.2).suggestions[0]
    assert by_k.change == by_risk.change
    assert by_k.keeps_limits is by_risk.keeps_limits is True


def test_suppression_is_counted_on_the_file():
    found = assess(FRAME, KEYS, min_k=3, population=20_000)
    (one,) = [one for one in found.suggestions if one.suppressed is not None]
    assert one == found.suggestions[-1]
    assert one.breaking_after == 0
    assert one.keeps_limits
    assert one.suppressed >= one.breaking_before  # each loses a value at least
    assert one.expected_population_uniques_after.value == 0
    listed = {n.split()[0]: int(n.split()[1].replace(",", "")) for n in
              re.search(r"\((.*)\)", one.change)[1].split(", ")}  # fmt: skip
    assert sum(listed.values()) == one.suppressed


def test_what_is_tried_is_what_comes_of_it():
    found = assess(
        FRAME, KEYS, population=20_000, tries=["age=bands(10)", "town=rare(30)", "same=drop"]
    )
    assert len(found.tried) == 4
    assert found.tried[-1].key == "age, town, same"
    by_hand = FRAME.assign(age=FRAME.age // 10)
    again = assess(by_hand, KEYS, population=20_000)
    one = found.tried[0]
    assert one.sample_uniques_after == again.sample_uniques
    then, own = one.expected_population_uniques_after, again.recommended
    assert then.value == pytest.approx(own.expected_population_uniques.value)
    assert 0 < one.information_kept < 1
    counts = FRAME.town.value_counts()
    rare = FRAME.assign(town=FRAME.town.where(FRAME.town.map(counts) >= 30, "other"))
    assert found.tried[1].sample_uniques_after == assess(rare, KEYS).sample_uniques


def test_information_is_that_of_tables_of_two_keys():
    frame = pd.DataFrame({"a": [1, 1, 2, 2] * 40, "b": [1, 1, 2, 2] * 40, "c": [1, 2, 3, 4] * 40})
    one, two = assess(frame, ["a", "b", "c"], tries=["a=drop", "c=merge(3,4)"]).tried[:2]
    # Of a × b, a × c and b × c only the last is left; merging 3 and 4 loses nothing of any.
    assert one.information_kept == pytest.approx(1 / 3)
    assert two.information_kept == pytest.approx(1)


@pytest.mark.parametrize(
    ("tries", "says"),
    [
        (["sex=bands(2)", "sex=drop"], "try must be given once for each key, got 'sex'"),
        (["house=drop"], "try must be about one of the keys age, sex, town, same, got 'house'"),
        (["age=bands(x)"], "must be written with a number, got 'x'"),
        (["age=tree(1)"], "must be a key with a tree, got a key without"),
    ],
)
def test_what_cannot_be_tried(tries, says):
    with pytest.raises(InputError, match=re.escape(says)):
        assess(FRAME, KEYS, tries=tries)
