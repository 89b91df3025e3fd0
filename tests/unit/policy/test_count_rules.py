"""Rules on the statistics of counts, against tables that are listed one by one.

The reference knows no fiber: it lists every way to write S1 as a sum of at most n values, keeps
those with the product of factorials e^S2, and weighs each by the orders of its observations.
"""

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.count_tables.findings import findings_of
from discreet.count_tables.measures import holder_risk
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.flows.counts import assess_categories, assess_counts, assess_statistics
from discreet.flows.judge import judge as judge_result
from discreet.policy.count_rules import (
    BestGuess,
    CountRisk,
    Entropy,
    ReciprocalEntropy,
    Truth,
)
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import Policy, judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Ruling
from discreet.report.counts.categories import categories_view
from discreet.report.counts.categories_json import categories_json
from discreet.report.counts.json import counts_json
from discreet.report.reading import read_result, verdict_of

DISASTERS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}
ON_TABLES = (BestGuess, Truth, ReciprocalEntropy, Entropy)
values = st.lists(st.integers(0, 5), min_size=2, max_size=9).filter(lambda x: 1 <= sum(x) <= 16)
tables = values.map(lambda x: dict(sorted(Counter(x).items())))


def sums(total, parts, most):
    """All ways to write `total` as at most `parts` values, none above `most`, largest first."""
    if total == 0:
        yield ()
        return
    if parts == 0:
        return
    for first in range(min(total, most), 0, -1):
        for rest in sums(total - first, parts - 1, first):
            yield (first, *rest)


def product(table):
    return math.prod(math.factorial(value) ** count for value, count in table.items())


def belief(table):
    """Every table with the same n, S1 and S2, and its probability."""
    n, total = sum(table.values()), sum(v * c for v, c in table.items())
    found = []
    for parts in sums(total, n, total):
        one = Counter(parts) + Counter({0: n - len(parts)})
        if product(one) == product(table):
            found.append(dict(one))
    weights = [Fraction(1, math.prod(map(math.factorial, one.values()))) for one in found]
    whole = sum(weights)
    return [(one, weight / whole) for one, weight in zip(found, weights, strict=True)]


def without_zeros(table):
    return {value: count for value, count in table.items() if count}


def reference(table):
    """The four measures of the table, and the probability of each true count, by brute force."""
    tables = belief(table)
    entropy = -sum(float(p) * math.log2(p) for _, p in tables)
    measures = {
        "best_guess": float(max(p for _, p in tables)),
        "truth": float(next(p for one, p in tables if one == without_zeros(table))),
        "entropy": entropy,
        "reciprocal_entropy": math.inf if len(tables) == 1 else 1 / entropy,
    }
    counts = {
        value: float(sum(p for one, p in tables if one.get(value, 0) == count))
        for value, count in table.items()
        if count
    }
    return measures, counts


def found_of(table):
    found = attack(release_of(CountStatistics.of_counts(table)), truth=table)
    return findings_of(holder_risk(found, table), table)


def plain_ruling(value, limit, rule):
    """What a rule says of a number, in the plainest way."""
    if rule.side == "most":
        beyond = value >= limit if rule.strict else value > limit
    else:
        beyond = value <= limit if rule.strict else value < limit
    return Ruling.BROKEN if beyond else Ruling.KEPT


@given(tables)
def test_what_is_found_is_what_listing_all_tables_gives(table):
    findings = found_of(table)
    measures, counts = reference(table)
    for name, value in measures.items():
        got = findings[name].value
        if value == math.inf:
            assert (got.value, got.how) == (None, How.BOUND)
        else:
            assert got.value == pytest.approx(value, rel=1e-9, abs=1e-9), name
    single = {name: one.value.value for name, one in findings.items() if name.startswith("count:")}
    wanted = {f"count:{table[value]}:value {value}": p for value, p in counts.items()}
    assert single == pytest.approx(wanted)
    assert findings["count_risk"].value.value == pytest.approx(max(counts.values()))


@given(tables, st.sampled_from(ON_TABLES), st.floats(0, 1), st.booleans())
def test_a_rule_on_the_table_is_kept_or_broken_as_the_reference_says(table, kind, share, strict):
    value = reference(table)[0][kind.name]
    limit = share * (1 if kind in (BestGuess, Truth) else 4)
    assume(abs(value - limit) > 1e-6)
    rule = kind(limit=limit, strict=strict)
    (judged,) = rule.judge(found_of(table))
    assert judged.ruling is plain_ruling(value, limit, rule)
    assert judged.limit == limit


@given(tables, st.none() | st.integers(1, 5), st.floats(0.01, 0.99), st.booleans())
def test_a_rule_on_single_counts_is_kept_or_broken_as_the_reference_says(
    table, small, limit, strict
):
    _, counts = reference(table)
    asked = {v: p for v, p in counts.items() if small is None or table[v] <= small}
    assume(all(abs(p - limit) > 1e-6 for p in asked.values()))
    (judged,) = CountRisk(limit=limit, small=small, strict=strict).judge(found_of(table))
    exposed = tuple(f"value {v}" for v, p in asked.items() if p > limit)
    assert judged.concerns == exposed
    assert judged.ruling is (Ruling.BROKEN if exposed else Ruling.KEPT)
    if not asked:
        assert judged.words == f"no value that occurs is that of at most {small}."
    elif len(exposed) > 1:
        assert judged.words.endswith(f"; {len(exposed)} values are exposed in all.")


@pytest.mark.parametrize("kind", [BestGuess, Truth, CountRisk])
def test_the_limit_itself_is_too_much_where_the_rule_says_below(kind):
    half = Figure(value=0.5, how=How.EXACT)
    found = Findings({kind.name: Finding(value=half), "count:2:value 2": Finding(value=half)})
    assert kind(limit=0.5).judge(found)[0].ruling is Ruling.KEPT
    (broken,) = kind(limit=0.5, strict=True).judge(found)
    assert broken.ruling is Ruling.BROKEN
    assert "not below the limit of 0.5" in broken.words


def test_a_least_is_kept_at_the_limit_unless_it_says_above():
    bit = Findings({"entropy": Finding(value=Figure(value=1.0, how=How.EXACT))})
    assert Entropy(limit=1).judge(bit)[0].ruling is Ruling.KEPT
    (broken,) = Entropy(limit=1, strict=True).judge(bit)
    assert (broken.ruling, broken.words) == (
        Ruling.BROKEN,
        "what an intruder does not know of the table is 1 bits, not above the limit of 1.",
    )


SPREAD = st.tuples(st.floats(0, 1), st.floats(0, 0.3))
KINDS = st.sampled_from([*ON_TABLES, CountRisk])


@given(KINDS, SPREAD, st.floats(0.01, 0.99))
def test_an_estimate_is_undecided_where_its_limits_lie_on_both_sides(kind, spread, limit):
    value, error = spread
    low, high = value - 2 * error, value + 2 * error
    assume(min(abs(low - limit), abs(high - limit)) > 1e-6)
    figure = Figure(value=value, how=How.ESTIMATE, standard_error=error)
    rule = kind(limit=limit)
    rulings = {plain_ruling(low, limit, rule), plain_ruling(high, limit, rule)}
    wanted = rulings.pop() if len(rulings) == 1 else Ruling.UNDECIDED
    names = ("count_risk", "count:3:value 1") if kind is CountRisk else (kind.name,)
    (judged,) = rule.judge(Findings({name: Finding(value=figure) for name in names}))
    assert judged.ruling is wanted
    assert ("does not settle" in judged.words) == (wanted is Ruling.UNDECIDED)


@pytest.mark.parametrize("kind", [*ON_TABLES, CountRisk])
@pytest.mark.parametrize("limit", [0.0, 0.5, 1.0])
def test_what_is_not_known_or_not_measured_is_undecided(kind, limit):
    for found in ({}, {kind.name: Finding(value=Unavailable("no time"))}):
        (judged,) = kind(limit=limit).judge(Findings(found))
        assert judged.ruling is Ruling.UNDECIDED
        assert "not known" in judged.words


@given(st.floats(0, 1), st.floats(0, 0.2), st.floats(0.01, 0.99))
def test_what_only_bounds_a_best_guess_keeps_a_limit_and_breaks_none(upper, error, limit):
    found = attack(release_of(CountStatistics.of_counts(DISASTERS)), truth=DISASTERS)
    bound = Figure(value=upper, how=How.ESTIMATE, standard_error=error)
    drawn = replace(
        holder_risk(found, DISASTERS),
        best_guess_probability=Unavailable("draws cannot tell"),
        best_guess_limit=bound,
    )
    most = min(1.0, upper + 2 * error)
    assume(abs(most - limit) > 1e-6)
    (judged,) = BestGuess(limit=limit).judge(findings_of(drawn, DISASTERS))
    assert judged.ruling is (Ruling.KEPT if most < limit else Ruling.UNDECIDED)
    assert "with probability at most" in judged.words


def test_a_table_that_is_known_breaks_every_limit_on_its_entropy():
    sure = found_of({0: 3, 1: 4})
    for limit in (0.5, 1.0, 1e6):
        (judged,) = ReciprocalEntropy(limit=limit).judge(sure)
        assert judged.ruling is Ruling.BROKEN
        assert "beyond every number" in judged.words
    assert Entropy(limit=0.01).judge(sure)[0].ruling is Ruling.BROKEN
    assert Entropy(limit=0).judge(sure)[0].ruling is Ruling.KEPT


def test_one_count_that_breaks_it_counts_though_another_may_be_higher():
    """The one with the highest upper limit is open, another is shown to be above the limit."""
    open_one = Figure(value=0.3, how=How.ESTIMATE, standard_error=0.3, high=0.9)
    broken = Figure(value=0.6, how=How.EXACT)
    found = {"count:1:value 1": Finding(value=open_one), "count:2:value 2": Finding(value=broken)}
    (judged,) = CountRisk(limit=0.5).judge(Findings(found))
    assert judged.ruling is Ruling.BROKEN
    assert judged.words.startswith("the true count of value 2 ")
    assert judged.concerns == ("value 1", "value 2")


def test_the_words_of_a_category_may_hold_braces_and_colons():
    found = assess_categories({"a{}:b": DISASTERS, "c": {0: 3, 1: 4, 2: 2}}, max_risk=0.1)
    told = [judged.words for judged in found.verdict.rules]
    assert any("the table of a{}:b" in one or "the table of c" in one for one in told)
    assert any("of a{}:b" in one for judged in found.verdict.rules for one in judged.concerns)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            BestGuess(limit=0.2),
            "best guess of the table is right with a probability of at most 0.2.",
        ),
        (Truth(limit=0.2, strict=True), "gives the true table a probability below 0.2."),
        (ReciprocalEntropy(limit=0.5), "entropy of the table in bits is at most 0.5."),
        (Entropy(limit=2), "does not know of the table is at least 2 bits."),
        (Entropy(limit=2, strict=True), "does not know of the table is above 2 bits."),
        (CountRisk(limit=0.2), "each value that occurs has a probability of at most 0.2."),
        (CountRisk(limit=0.2, small=3), "each value that at most 3 have has a probability of"),
    ],
)
def test_a_rule_says_what_it_asks(rule, said):
    assert said in rule.said()
    assert "0.2" not in replace(rule, secret=True).public()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CountRisk(limit=0.2, small=0), "small must be at least 1, got 0"),
        (lambda: BestGuess(limit=1.2), "most must be from 0 to 1, got 1.2"),
        (lambda: Truth(limit=math.nan), "most must be a finite number, got nan"),
        (lambda: Entropy(limit=math.inf), "least must be a finite number, got inf"),
        (lambda: Entropy(limit=-1), "least must be from 0 to"),
    ],
)
def test_limits_that_no_figure_can_have(make, words):
    with pytest.raises(InputError, match=words):
        make()


limits = st.floats(0.02, 0.98).map(lambda x: round(x, 3))
counted = st.builds(CountRisk, limit=limits, small=st.none() | st.integers(1, 20))
on_table = st.builds(lambda kind, limit: kind(limit=limit), st.sampled_from(ON_TABLES), limits)
some_rules = st.lists(counted | on_table, min_size=1, max_size=3, unique_by=lambda r: r.identity)
JUDGED_TABLE = assess_counts(DISASTERS)
JUDGED_CATEGORIES = assess_categories(
    {"north": DISASTERS, "south": {0: 3, 1: 4, 2: 1}, "zero": {0: 4}}, totals=True
)


def read_again(result):
    """The findings of a result as its JSON text has them."""
    told = (
        counts_json(result)
        if result is JUDGED_TABLE
        else categories_json(categories_view("x", result))
    )
    return Findings.of_json(json.loads(json.dumps(told))["findings"])


@pytest.mark.parametrize("result", [JUDGED_TABLE, JUDGED_CATEGORIES], ids=["one", "categories"])
@given(data=st.data())
def test_the_json_of_a_finished_result_is_judged_as_the_result_was(result, data):
    """Any policy, though none was named when the figures were found."""
    names = data.draw(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2, unique=True))
    policies = [
        Policy(name=name, version="1", rules=tuple(data.draw(some_rules))) for name in names
    ]
    assert judge(policies, Subject.COUNTS, read_again(result)) == judge(
        policies, Subject.COUNTS, result.findings
    )


STRICT = Policy(
    name="strict",
    version="1",
    rules=(Truth(limit=0.35), Entropy(limit=1.5), CountRisk(limit=0.36, small=5)),
)


def without_remedies(verdict):
    """Which decimals would help is found by trying them, and stands in no finding."""
    return replace(verdict, rules=tuple(replace(one, remedy="") for one in verdict.rules))


def test_the_command_python_and_json_give_the_same_verdict(discreet, tmp_path):
    from discreet.policy.reading import policy_text

    path = tmp_path / "strict.toml"
    path.write_text(policy_text(STRICT), encoding="utf-8")
    typed = ",".join(f"{value}:{count}" for value, count in DISASTERS.items())
    run = discreet("counts", typed, "--policy", path, "--max-risk", 0.4, "--json")
    assert run.code == 3
    told = json.loads(run.out)
    by_python = assess_counts(DISASTERS, policy=STRICT, max_risk=0.4)
    assert told["verdict"] == by_python.verdict.to_json()
    assert [one.policy for one in by_python.verdict.rules] == ["", "", "strict", "strict", "strict"]
    again = judge(by_python.options.policies, Subject.COUNTS, Findings.of_json(told["findings"]))
    assert again == without_remedies(verdict_of(told["verdict"]))
    assert read_result(told).verdict == by_python.verdict
    of_strict = [one for one in again.rules if one.policy == "strict"]
    for result in (by_python, told, read_result(told)):
        assert list(judge_result(result, STRICT).rules) == of_strict


def test_a_result_of_an_intruder_has_nothing_to_judge():
    with pytest.raises(
        InputError, match="one of the holder, who knows what is true, got one of an"
    ):
        judge_result(assess_statistics(51, 61, "2^20*3^7"), STRICT)


def test_categories_are_judged_by_policies_too(discreet, tmp_path):
    kinds = [Truth(limit=0.5), ReciprocalEntropy(limit=0.9), CountRisk(limit=0.5, small=3)]
    policy = Policy(name="own", version="1", rules=tuple(kinds))
    tables = {"north": DISASTERS, "south": {0: 3, 1: 4, 2: 1}, "zero": {0: 4}}
    found = assess_categories(tables, policy=policy)
    assert {name: one.ruling for name, one in found.verdicts.items()} == {
        "north": Ruling.KEPT,
        "south": Ruling.BROKEN,
        "zero": Ruling.BROKEN,
    }
    assert found.verdict.ruling is Ruling.BROKEN
    assert [one.name for one in found.verdict.policies] == ["own"]
    zero = found.verdicts["zero"].rules  # four zeros are no small count, but their table is known
    assert [(one.rule, one.ruling) for one in zero] == [
        ("truth", Ruling.BROKEN),
        ("reciprocal_entropy", Ruling.BROKEN),
        ("count_risk", Ruling.KEPT),
    ]
    assert set(found.advice) == {"south"}
    assert judge_result(found.to_json(), policy) == judge_result(found, policy) == found.verdict
