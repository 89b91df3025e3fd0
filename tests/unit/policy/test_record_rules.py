"""Every rule on records: kept, broken and undecided, against slow and plain references."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import discreet
from discreet.figures import Figure, How, Unavailable
from discreet.policy import record_rules as rules
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import Policy
from discreet.policy.verdict import Ruling

KEPT, BROKEN, UNDECIDED = Ruling.KEPT, Ruling.BROKEN, Ruling.UNDECIDED
# Each rule on a number, with the name of its finding.
ON_NUMBERS = [
    (rules.MinK(limit=5), "min_k:sample"),
    (rules.MinK(limit=5, of="population"), "min_k:population"),
    (rules.ShareBelowK(limit=0.5, k=3, of="population"), "share_below_k:population:3"),
    (rules.PopulationUniques(limit=5), "population_uniques"),
    (rules.PopulationUniques(limit=5, strict=True), "population_uniques"),
    (rules.CorrectMatches(limit=5), "correct_matches"),
    (rules.CorrectMatches(limit=0.05, share=True, strict=True), "correct_matches"),
    (rules.MeanRisk(limit=0.05), "correct_matches"),
    (rules.MaxRisk(limit=0.5), "max_risk"),
    (rules.MaxRisk(limit=0.5, strict=True), "max_risk"),
    (rules.DisSuda(limit=0.5, up_to=3), "dis_suda:3"),
    (rules.PopulationOfKeys(limit=5, keys=1), "population_of_keys:1"),
    (rules.PopulationOfKeys(limit=5, keys=3, strict=True), "population_of_keys:3"),
    (rules.PopulationOfColumn(limit=5, role="region"), "population_of_column:region"),
    (rules.MostKeys(limit=5), "most_keys"),
    (rules.HouseholdPattern(limit=5), "household_pattern"),
    (rules.SharedWeights(limit=5), "shared_weights"),
    (rules.Shuffled(), "shuffled"),
]


def expected(rule, low, high):
    """What an interval says of a limit, by cases."""
    if rule.side == "most":
        too_much = low >= rule.limit if rule.strict else low > rule.limit
        enough = high < rule.limit if rule.strict else high <= rule.limit
    else:
        too_much = high <= rule.limit if rule.strict else high < rule.limit
        enough = low > rule.limit if rule.strict else low >= rule.limit
    return BROKEN if too_much else KEPT if enough else UNDECIDED


def judged(rule, name, value):
    found = Findings(
        {
            name: Finding(value=value, concerns=("column",)),
            "n_records": Finding(value=Figure(value=100, how=How.EXACT)),
        }
    )
    (one,) = rule.judge(found)
    return one


@pytest.mark.parametrize(("rule", "name"), ON_NUMBERS, ids=lambda one: getattr(one, "name", one))
@given(ends=st.tuples(st.integers(1, 10), st.integers(1, 10)))
@settings(max_examples=40)
def test_a_number_and_its_limits_against_the_limit(rule, name, ends):
    scale = 1.0 if rule.highest > 1 and not getattr(rule, "is_share", False) else 0.1
    if getattr(rule, "is_share", False):
        scale = 1.0  # in records, of a hundred
    low, high = min(ends) * scale, max(ends) * scale
    value = Figure(value=(low + high) / 2, low=low, high=high, how=How.ESTIMATE)
    by = 100 if getattr(rule, "is_share", False) else 1
    one = judged(rule, name, value)
    assert one.ruling is expected(rule, low / by, high / by)
    assert one.limit == rule.limit
    assert one.words.endswith(".")


@pytest.mark.parametrize(("rule", "name"), ON_NUMBERS, ids=lambda one: getattr(one, "name", one))
def test_what_is_not_known_is_undecided(rule, name):
    assert judged(rule, name, Unavailable("nobody knows")).ruling is UNDECIDED
    (one,) = rule.judge(Findings({}))
    assert one.ruling is UNDECIDED
    assert "not measured" in str(one.value)


@pytest.mark.parametrize("kind", [rules.PopulationUniques, rules.CorrectMatches, rules.MaxRisk])
def test_by_the_estimate_itself_where_the_policy_says_so(kind):
    value = Figure(value=0.4, low=0.1, high=0.9, how=How.ESTIMATE)
    name = {"max_risk": "max_risk"}.get(kind.name, kind.name)
    assert judged(kind(limit=0.5), name, value).ruling is UNDECIDED
    assert judged(kind(limit=0.5, judged_by="value"), name, value).ruling is KEPT
    assert judged(kind(limit=0.3, judged_by="value"), name, value).ruling is BROKEN


@pytest.mark.parametrize("kind", [rules.L, rules.C, rules.T, rules.Alpha])
def test_a_rule_on_sensitive_values_without_a_variable_is_undecided(kind):
    (one,) = kind(limit=1 if kind is rules.L else 0.5).judge(Findings({}))
    assert one.ruling is UNDECIDED
    assert "(sensitive)" in one.remedy


@st.composite
def files(draw):
    n = draw(st.integers(4, 40))
    levels = draw(arrays(np.int64, (n, 3), elements=st.integers(0, 2)))
    frame = pd.DataFrame(levels, columns=["a", "b", "c"]).map(lambda v: "xyz"[v])
    frame["s"] = ["uvw"[v] for v in draw(arrays(np.int64, n, elements=st.integers(0, 2)))]
    frame["h"] = draw(arrays(np.int64, n, elements=st.integers(0, 9)))
    return frame


KEYS = ["a", "b", "c"]


def sizes(frame):
    return frame.groupby(KEYS)["a"].transform("size")


def closeness(frame):
    """The largest total variation distance of a group from the file."""
    of_all = frame["s"].value_counts(normalize=True)
    worst = 0.0
    for _, group in frame.groupby(KEYS):
        share = group["s"].value_counts(normalize=True).reindex(of_all.index, fill_value=0)
        worst = max(worst, 0.5 * float((share - of_all).abs().sum()))
    return worst


def least_of_sets(frame, number):
    return min(
        frame.groupby(list(keys)).size().min() for keys in itertools.combinations(KEYS, number)
    )


def rarest_household(frame):
    cells = frame[KEYS].agg("".join, axis=1)
    patterns = [tuple(sorted(own)) for _, own in cells.groupby(frame["h"]) if len(own) > 1]
    return min((patterns.count(one) for one in patterns), default=None)


REFERENCES = [
    (lambda x: rules.MinK(limit=x), lambda f, x: sizes(f).min() >= x),
    (
        lambda x: rules.ShareBelowK(limit=0.3, k=x),
        lambda f, x: (sizes(f) < x).mean() <= 0.3 + 1e-12,
    ),
    (
        lambda x: rules.ShareBelowK(limit=0.3, k=x, of="population"),
        lambda f, x: (sizes(f) < x).mean() <= 0.3 + 1e-12,
    ),
    (lambda x: rules.MinK(limit=x, of="population"), lambda f, x: sizes(f).min() >= x),
    (lambda x: rules.PopulationUniques(limit=x), lambda f, x: (sizes(f) == 1).sum() <= x),
    (
        lambda x: rules.PopulationUniques(limit=x / 10, share=True),
        lambda f, x: (sizes(f) == 1).mean() <= x / 10 + 1e-12,
    ),
    (
        lambda x: rules.CorrectMatches(limit=x, strict=True),
        lambda f, x: round((1 / sizes(f)).sum()) < x,
    ),
    (lambda x: rules.MaxRisk(limit=1 / x), lambda f, x: 1 / sizes(f).min() <= 1 / x),
    (
        lambda x: rules.MeanRisk(limit=x / 10),
        lambda f, x: f.groupby(KEYS).ngroups / len(f) <= x / 10 + 1e-12,
    ),
    (
        lambda x: rules.L(limit=x),
        lambda f, x: f.groupby(KEYS)["s"].nunique().min() >= x,
    ),
    (lambda x: rules.T(limit=x / 10), lambda f, x: closeness(f) <= x / 10 + 1e-9),
    (
        lambda x: rules.PopulationOfKeys(limit=x, keys=1),
        lambda f, x: least_of_sets(f, 1) >= x,
    ),
    (
        lambda x: rules.PopulationOfKeys(limit=x, keys=2, strict=True),
        lambda f, x: least_of_sets(f, 2) > x,
    ),
    (
        lambda x: rules.PopulationOfKeys(limit=x, keys=3),
        lambda f, x: least_of_sets(f, 3) >= x,
    ),
    (
        lambda x: rules.PopulationOfColumn(limit=x, role="a"),
        lambda f, x: f["a"].value_counts().min() >= x,
    ),
    (lambda x: rules.MostKeys(limit=x), lambda f, x: x >= 3),
    (
        lambda x: rules.HouseholdPattern(limit=x),
        lambda f, x: rarest_household(f) is None or rarest_household(f) >= x,
    ),
]


@pytest.mark.parametrize(
    ("made", "holds"), REFERENCES, ids=[made(2).name for made, _ in REFERENCES]
)
@given(frame=files(), x=st.integers(2, 6))
@settings(max_examples=12)
def test_whole_files_are_judged_as_by_hand(made, holds, frame, x):
    policy = Policy(name="own", version="1", rules=(made(x),))
    found = discreet.assess(
        frame, KEYS, whole_population=True, household="h", sensitive=["s"], policy=policy
    )
    (rule,) = [one for one in found.verdict.rules if one.policy == "own"]
    assert rule.ruling is (KEPT if holds(frame, x) else BROKEN), rule


def test_a_share_above_the_limit_by_rounding_alone_is_kept():
    frame = pd.DataFrame({"k": ["a"] * 7 + ["b"] * 3})
    rule = rules.ShareBelowK(limit=0.3, k=5)
    found = discreet.assess(frame, ["k"], policy=Policy(name="own", version="1", rules=(rule,)))
    assert found.verdict.allows


@pytest.mark.parametrize(
    ("ages", "ruling"),
    [
        (["34", "89"], KEPT),
        (["34", "90"], KEPT),
        (["34", "90+"], KEPT),
        (["34", "85 or over"], KEPT),
        (["34", "91"], BROKEN),
        (["34", "90", "91"], BROKEN),
        (["80-89", "90-94", "95+"], BROKEN),
        (["85-94"], BROKEN),
        (["90", "90+"], BROKEN),
        (["34", "old"], UNDECIDED),
        (["34", None], KEPT),
    ],
)
def test_the_highest_ages_are_one_class(ages, ruling):
    frame = pd.DataFrame({"age": ages * 3, "sex": "f"})
    rule = rules.TopClass(limit=90)
    found = discreet.assess(frame, ["sex"], policy=Policy(name="own", version="1", rules=(rule,)))
    assert found.verdict.ruling is ruling, found.verdict.rules


def test_identifiers_by_name_by_role_and_when_nobody_says():
    policy = Policy(name="own", version="1", rules=(rules.NoIdentifiers(),))
    frame = pd.DataFrame({"sex": list("ffmm"), "score": [1, 2, 3, 4]})
    by_role = {"identifier": "score"}
    asked = {"keys": ["sex"], "policy": policy}
    assert discreet.assess(frame, **asked).verdict.ruling is UNDECIDED
    assert discreet.assess(frame, **asked, roles={"identifier": ""}).verdict.allows
    assert discreet.assess(frame, **asked, roles=by_role).verdict.ruling is BROKEN
    named = frame.rename(columns={"score": "mrn"})
    found = discreet.assess(named, **asked).verdict
    assert found.ruling is BROKEN
    assert "mrn" in found.rules[0].words


def test_weights_that_few_share():
    policy = Policy(name="own", version="1", rules=(rules.SharedWeights(limit=3),))
    frame = pd.DataFrame({"sex": ["f", "m"] * 60, "w": [2.0, 2.0, 5.0, 5.0] * 30})
    assert discreet.assess(frame, ["sex"], weight="w", policy=policy).verdict.allows
    frame.loc[0, "w"] = 7.25
    found = discreet.assess(frame, ["sex"], weight="w", policy=policy).verdict
    assert found.ruling is BROKEN
    assert found.rules[0].value.value == 1
    without = frame.drop(columns="w")
    assert discreet.assess(without, ["sex"], policy=policy).verdict.ruling is UNDECIDED
    assert discreet.assess(without, ["sex"], policy=policy, roles={"weight": ""}).verdict.allows


@pytest.mark.parametrize("column", ["sex", "number"])
def test_a_sorted_file_is_not_shuffled(column):
    policy = Policy(name="own", version="1", rules=(rules.Shuffled(),))
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m", "x"], 300), "number": rng.random(300)})
    assert discreet.assess(frame, ["sex"], policy=policy).verdict.allows
    found = discreet.assess(frame.sort_values(column), ["sex"], policy=policy).verdict
    assert found.ruling is BROKEN
    assert column in found.rules[0].words
    few = discreet.assess(frame.head(20), ["sex"], policy=policy).verdict
    assert few.ruling is UNDECIDED


def test_special_uniques_by_their_highest_score(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.integers(0, 4, 300) for name in "abcd"})
    path = tmp_path / "risks.csv"
    discreet.assess(frame, list("abcd"), population=3000, suda=3, risks=path)
    highest = pd.read_csv(path)["dis_suda_odds"].max()
    for limit, ruling in ((highest * 1.01, KEPT), (highest * 0.99, BROKEN)):
        rule = rules.DisSuda(limit=limit, up_to=3)
        policy = Policy(name="own", version="1", rules=(rule,))
        found = discreet.assess(frame, list("abcd"), population=3000, policy=policy)
        assert found.verdict.ruling is ruling
        assert found.special is None  # it was not asked for by itself


def test_of_two_policies_the_stricter_decides():
    frame = pd.DataFrame({"k": list("aaabbbb")})
    loose = Policy(name="loose", version="1", rules=(rules.MinK(limit=3),))
    strict = Policy(name="strict", version="1", rules=(rules.MinK(limit=4),))
    assert discreet.assess(frame, ["k"], policy=loose).verdict.allows
    both = discreet.assess(frame, ["k"], policy=[loose, strict]).verdict
    assert both.ruling is BROKEN
    assert [(one.policy, one.ruling) for one in both.rules] == [("loose", KEPT), ("strict", BROKEN)]
    assert [one.name for one in both.policies] == ["loose", "strict"]


def test_only_households_of_several_members_have_a_pattern():
    policy = Policy(name="own", version="1", rules=(rules.HouseholdPattern(limit=3),))
    pairs = pd.DataFrame({"k": ["f", "m"] * 3, "h": [1, 1, 2, 2, 3, 3]})
    alone = pd.DataFrame({"k": ["x"], "h": [4]})
    asked = {"keys": ["k"], "household": "h", "policy": policy}
    assert discreet.assess(pd.concat([pairs, alone]), **asked).verdict.allows
    odd = pd.DataFrame({"k": ["x", "x"], "h": [5, 5]})
    found = discreet.assess(pd.concat([pairs, odd]), **asked).verdict
    assert found.ruling is BROKEN
    assert found.rules[0].words.startswith("1 household shares its pattern")
    assert discreet.assess(alone, **asked).verdict.rules[0].words.startswith("no household has")


@pytest.mark.parametrize("kind", [rules.L, rules.T, rules.MostKeys, rules.HouseholdPattern])
def test_a_rule_without_a_word_for_it_has_no_strict_limit(kind):
    with pytest.raises(discreet.InputError, match="got a strict limit"):
        kind(limit=1 if kind is rules.T else 3, strict=True)
