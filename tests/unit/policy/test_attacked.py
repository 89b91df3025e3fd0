"""What an attack once got past the rules: each wrong answer, and the right one."""

import json

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.policy import record_rules, table_rules
from discreet.policy.policy import Policy
from discreet.policy.verdict import Ruling

KEPT, BROKEN, UNDECIDED = Ruling.KEPT, Ruling.BROKEN, Ruling.UNDECIDED


def policy(*rules, name="own"):
    return Policy(name=name, version="1", rules=rules)


def ruling_of(found):
    return found.verdict.ruling


def test_a_table_that_is_printed_whole_is_known():
    table = discreet.Table.of_dense(np.array([[4, 1], [1, 3]]), names="ab")
    rule = table_rules.TrueTable(limit=0.5)
    assert ruling_of(discreet.audit(table, [["a", "b"]], policy=policy(rule))) is BROKEN
    allowed = table_rules.TrueTable(limit=0.5, printed="allowed")
    assert ruling_of(discreet.audit(table, [["a", "b"]], policy=policy(allowed))) is KEPT
    chosen = discreet.choose(table, policy=policy(rule), masks="margins", seconds=20, seed=1)
    whole = [one for one in chosen.candidates if one.title == "[a b]"]
    assert whole[0].breaks


def test_rules_on_other_things_are_not_passed_over_in_silence():
    frame = pd.DataFrame({"k": list("aabb")})
    both = policy(record_rules.MinK(limit=2), table_rules.PrintedCounts(limit=10))
    notes = discreet.assess(frame, ["k"], policy=both).verdict.notes
    assert any("also has rules on tables" in note for note in notes)


def test_a_name_that_tells_is_not_talked_away():
    frame = pd.DataFrame({"k": list("aabb"), "ssn": range(4)})
    own = policy(record_rules.NoIdentifiers())
    found = discreet.assess(frame, ["k"], policy=own, roles={"identifier": ""})
    assert ruling_of(found) is BROKEN


@pytest.mark.parametrize("given", ["", "age3"])
def test_a_column_that_bears_the_name_of_a_role_is_that(given):
    frame = pd.DataFrame({"k": list("aabb"), "age": "95", "age3": "30"})
    own = policy(record_rules.TopClass(limit=90))
    with pytest.raises(InputError, match="roles must be the column 'age' for age"):
        discreet.assess(frame, ["k"], policy=own, roles={"age": given})


def test_of_fewer_keys_all_together_are_judged():
    frame = pd.DataFrame({"a": range(50), "b": range(50)})
    own = policy(record_rules.PopulationOfKeys(limit=100, keys=3))
    found = discreet.assess(frame, ["a", "b"], policy=own, whole_population=True)
    assert ruling_of(found) is BROKEN


@pytest.mark.parametrize("name", ["nhs-hes", "statsnz-rr3"])
def test_another_rounding_is_not_the_one_that_is_prescribed(name):
    counts = np.array([[1, 2, 40], [33, 7, 52]])
    table = discreet.Table.of_dense(counts, names="ab")
    base = {"nhs-hes": 5, "statsnz-rr3": 3}[name]
    masks = f"rounding:base={base},{discreet.read_policy(name).mask}"
    found = discreet.choose(table, masks, policy=name, seconds=30, seed=3)
    plain = next(one for one in found.candidates if one.title == f"rounded to {base}")
    assert plain.breaks
    assert found.verdict.allows
    assert found.chosen.title != plain.title


def test_two_limits_on_one_count_contradict():
    with pytest.raises(InputError, match="'printed_counts' twice"):
        policy(
            table_rules.PrintedCounts(limit=5), table_rules.PrintedCounts(limit=9, zeros="refused")
        )


def test_hidden_zeros_by_a_nesting_that_only_the_data_show_are_open():
    frame = pd.DataFrame(
        {
            "reg": ["north", "north", "north", "north", "south", "south"],
            "dist": ["k", "k", "q", "q", "w", "w"],
            "sex": ["f", "m"] * 3,
            "n": [9, 8, 7, 9, 6, 8],
        }
    )
    own = policy(table_rules.DerivedCounts(limit=3, zeros="refused"))
    found = discreet.audit(frame, [["reg", "dist"], ["dist", "sex"]], count="n", policy=own)
    assert ruling_of(found) is UNDECIDED


SENSITIVE = pd.DataFrame({"a": list("xxxxyyyy"), "s": list("ppqqppqq")})


@pytest.mark.parametrize(
    ("rule", "ruling"),
    [
        (record_rules.C(limit=1), BROKEN),  # as common, and not less
        (record_rules.C(limit=1.5), KEPT),
        (record_rules.L(limit=2), KEPT),
        (record_rules.L(limit=3), BROKEN),
        (record_rules.Alpha(limit=0.5, k=5), BROKEN),  # groups of four
        (record_rules.Alpha(limit=0.5, k=4), KEPT),
    ],
)
def test_a_plain_result_never_allows_more_than_the_command(rule, ruling):
    own = policy(rule)
    asked = {"keys": ["a"], "sensitive": ["s"]}
    assert ruling_of(discreet.assess(SENSITIVE, policy=own, **asked)) is ruling
    plain = json.loads(json.dumps(discreet.assess(SENSITIVE, **asked).to_json()))
    assert discreet.judge(plain, own).ruling in (ruling, UNDECIDED)


def test_a_second_policy_turns_nothing_broken_into_kept():
    frame = pd.DataFrame({"a": list("xxyyyy"), "s": list("pqpqpq")})
    one = policy(record_rules.Alpha(limit=0.8, k=3), name="eight")
    other = policy(record_rules.Alpha(limit=0.9, k=3), name="nine")
    asked = {"keys": ["a"], "sensitive": ["s"]}
    assert ruling_of(discreet.assess(frame, policy=other, **asked)) is BROKEN
    both = discreet.assess(frame, policy=[one, other], **asked).verdict
    assert [rule.ruling for rule in both.rules] == [BROKEN, UNDECIDED]


def test_thresholds_that_were_not_measured_say_so():
    asked = {"keys": ["a"], "sensitive": ["s"]}
    both = policy(record_rules.L(limit=3), record_rules.C(limit=3))
    found = discreet.assess(SENSITIVE, policy=both, **asked).verdict
    (open_one,) = found.those(UNDECIDED)
    assert "measured with another number" in open_one.words


def test_a_long_code_is_seen_without_a_population():
    frame = pd.DataFrame({"k": list("aabb"), "zip": "12345"})
    rule = record_rules.PopulationOfColumn(limit=20_000, role="zip", digits=3)
    assert ruling_of(discreet.assess(frame, ["k"], policy=policy(rule))) is BROKEN


def test_under_ninety_does_not_reach_ninety():
    frame = pd.DataFrame({"k": list("aabb"), "age": ["<90", "90+", "under 90", "≥90"]})
    rule = record_rules.TopClass(limit=90)
    found = discreet.assess(frame.head(2), ["k"], policy=policy(rule))
    assert ruling_of(found) is KEPT


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (record_rules.MaxRisk, {"limit": 0}),
        (record_rules.CorrectMatches, {"limit": 3, "share": True}),
        (table_rules.PrintedCounts, {"limit": 1}),
        (table_rules.Rounded, {"limit": 5, "small": 7}),
    ],
)
def test_numbers_that_ask_nothing_are_refused(kind, given):
    with pytest.raises(InputError):
        kind(**given)


def test_rules_that_no_key_can_mend_suggest_no_change_of_keys():
    frame = pd.DataFrame({"k": list("aabb") * 60, "age": ["95", "34"] * 120})
    found = discreet.assess(frame, ["k"], policy=policy(record_rules.TopClass(limit=90)))
    assert ruling_of(found) is BROKEN
    assert found.suggestions == ()
