"""Verdicts on the statistics of a count table: release, fewer decimals, do not, undecided."""

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.belief.count_belief import exact
from discreet.count_tables import advice as module
from discreet.count_tables.advice import CountDecision, advise
from discreet.count_tables.findings import findings_of
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.measures import CellRisk, CountRisk, interval_risk
from discreet.count_tables.rebuilding import hidden_counts
from discreet.count_tables.release import attack, release_of
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.figures import Figure, How, Unavailable
from discreet.policy.count_rules import BestGuess, Entropy, Truth
from discreet.policy.count_rules import CountRisk as CountRule
from discreet.policy.policy import Policy
from discreet.policy.verdict import Ruling

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
STATISTICS = CountStatistics.of_counts(DISASTERS)


def distribution_by_hand(tables):
    logs = np.array([-sum(math.lgamma(c + 1) for c in f) for f in tables])
    w = np.exp(logs - logs.max())
    return w / w.sum()


def test_release_and_do_not():
    assert advise(DISASTERS, 0.5).decision is CountDecision.RELEASE
    refused = advise(DISASTERS, 0.01)
    assert refused.decision is CountDecision.DO_NOT
    assert refused.sentence.startswith("Do not release")
    assert not refused.finds_one


def test_a_single_count_is_judged_and_not_the_table_alone():
    """With no decimals the table is hidden (0.077), but the count of value 4 is not (0.309)."""
    got = advise(DISASTERS, 0.2)
    assert got.decision is CountDecision.DO_NOT
    last = got.trials[-1]
    assert last.table_risk.value == pytest.approx(0.077, abs=5e-4)
    assert last.worst_value == 4
    assert last.cell_risk.value == last.risk.value == pytest.approx(0.309, abs=5e-4)
    assert "the true count of value 4" in got.sentence
    assert {one.value for one in got.exposed} == {0, 1, 2, 3, 4}
    assert "any value that occurs" in got.rule


def test_counts_are_judged_though_they_are_not_the_best_guess():
    """The true count of value 1 is not its likeliest one, and is found with 0.363 all the same."""
    tables = [f.tolist() for f in hidden_counts(STATISTICS).tables()]
    w = distribution_by_hand(tables)
    p = sum(q for f, q in zip(tables, w, strict=True) if f[1] == 20)
    modes = {c: sum(q for f, q in zip(tables, w, strict=True) if f[1] == c) for c in range(52)}
    assert max(modes, key=modes.get) != 20
    got = advise(DISASTERS, 0.3, decimals=())
    exposed = {one.value: one for one in got.exposed}
    assert exposed[1].probability == pytest.approx(p, rel=1e-9)
    assert any("the count of value 1 is found" in one for one in got.warnings)


def test_warnings_say_of_which_release_they_are():
    got = advise(DISASTERS, 0.3, decimals=(1, 0))
    assert len(got.trials) == 3
    last = "with 0 decimals, the count of value"
    assert got.warnings == (
        f"{last} 0 is found with probability 0.307",
        f"{last} 4 is found with probability 0.309",
    )


def test_withholding_n_does_not_hide_the_counts():
    """A table is split over the zeros, but the counts of values 1 to 4 stay where they were."""
    release = release_of(STATISTICS, withhold_n=True)
    got = advise(DISASTERS, 0.2, first=release, knowledge=Knowledge(n=(50, 52)), decimals=())
    assert got.trials[0].table_risk.value == pytest.approx(0.161, abs=5e-4)
    assert got.trials[0].cell_risk.value == pytest.approx(0.362, abs=5e-4)
    assert got.decision is CountDecision.DO_NOT
    assert {one.value for one in got.exposed} == {0, 1, 2, 3, 4}


def test_what_rests_on_a_hidden_number_is_told():
    release = release_of(STATISTICS, withhold_n=True)
    got = advise(DISASTERS, 0.2, first=release, decimals=())
    assert got.decision is CountDecision.RELEASE
    assert "whoever learns it gives the true table the probability 1.000" in got.warnings[-1]


@pytest.mark.parametrize("max_risk", [0.31, 0.35, 0.45])
def test_fewer_decimals_are_as_many_as_pass(max_risk):
    """Recomputed: so many decimals pass, and with each number above them something does not."""
    got = advise(DISASTERS, max_risk)
    assert got.decision is CountDecision.FEWER_DECIMALS
    for decimals in range(got.decimals, 9):
        found = attack(release_of(STATISTICS, decimals=decimals), truth=DISASTERS)
        distribution = found.distributions["proper"]
        single = max(distribution.cells[j].probability(c) for j, c in DISASTERS.items())
        risk = max(distribution.best_guess_probability.value, single)
        assert (risk <= max_risk) == (decimals == got.decimals)
    assert f"Release S2 with {got.decimals} decimal" in got.sentence


def test_small_counts_only():
    got = advise(DISASTERS, 0.3, small=2, decimals=(0,))
    assert {one.value for one in got.exposed} == {4}
    assert got.decision is CountDecision.DO_NOT
    other = advise(DISASTERS, 0.3, small=1, decimals=(0,))
    assert other.decision is CountDecision.FEWER_DECIMALS
    assert "any value that 1 to 1 observations have" in other.rule


def test_an_estimate_decides_only_where_its_limits_do():
    found = attack(release_of(STATISTICS), truth=DISASTERS)

    def drawn(p, effective):
        cells = tuple(
            replace(
                cell,
                probabilities=np.where(cell.support == DISASTERS[cell.cell], p, 0.0),
                errors=np.full(len(cell.support), math.sqrt(p * (1 - p) / effective)),
                effective_draws=effective,
            )
            for cell in found.distributions["multinomial"].cells
        )
        distribution = replace(
            found.distributions["multinomial"],
            how=How.ESTIMATE,
            cells=cells,
            best_guess=None,
            best_guess_probability=Unavailable("draws cannot tell"),
            best_guess_limit=Figure(value=0.01, how=How.ESTIMATE, standard_error=0.001),
        )
        return advise(
            DISASTERS,
            0.2,
            found=replace(found, distributions={"multinomial": distribution}),
            decimals=(),
        )

    low = drawn(0.1, 1000.0)
    assert low.decision is CountDecision.RELEASE
    assert "draws cannot tell the best guess" in low.warnings[0]
    assert low.trials[0].by_bound
    near = drawn(0.19, 1000.0)
    assert near.decision is CountDecision.UNDECIDED
    assert near.trials[0].limit > 0.2
    assert drawn(0.3, 1000.0).decision is CountDecision.DO_NOT
    assert drawn(0.0, 10.0).decision is CountDecision.UNDECIDED  # no draw hit it, but draws are few
    assert drawn(0.0, 1000.0).decision is CountDecision.RELEASE


def test_other_measures():
    truth = advise(DISASTERS, 0.4, measure="truth", decimals=())
    assert truth.trials[0].table_risk.value == pytest.approx(0.363, abs=5e-4)
    assert truth.decision is CountDecision.RELEASE
    entropy = advise(DISASTERS, 0.4, measure="reciprocal_entropy", decimals=())
    assert entropy.decision is CountDecision.DO_NOT
    assert entropy.trials[0].risk.value == pytest.approx(0.606, abs=5e-4)


def test_one_table_left_is_a_risk_of_one_by_every_measure():
    for measure in ("best_guess", "truth", "reciprocal_entropy"):
        got = advise({0: 3, 1: 4}, 0.9, measure=measure, decimals=(2,))
        assert got.decision is CountDecision.DO_NOT
        assert got.trials[0].risk.value == pytest.approx(1)


def test_a_search_that_does_not_fit_decides_nothing(monkeypatch):
    monkeypatch.setattr("discreet.count_tables.decimals.MOST_FACTORISATIONS", 0)
    got = advise(DISASTERS, 0.2)
    assert got.decision is CountDecision.UNDECIDED
    assert "with the exact factorisation the probability that an intruder's best" in got.sentence
    assert "is 0.47" in got.sentence


@pytest.mark.parametrize("max_risk", [0, 1, -0.2, 7])
def test_greatest_risk_allowed(max_risk):
    with pytest.raises(InputError, match="max_risk must be between 0 and 1"):
        advise(DISASTERS, max_risk)


def test_a_verdict_starts_from_the_release_in_mind():
    one = release_of(STATISTICS, decimals=1)
    got = advise(DISASTERS, 0.2, first=one)
    assert [trial.release.words for trial in got.trials] == [
        "n, S1 and S2 rounded to 1 decimal",
        "n, S1 and S2 rounded to 0 decimals",
    ]
    fewer = advise(DISASTERS, 0.35, first=one)
    assert "with 1 decimal the probability that an intruder's best guess" in fewer.sentence
    assert fewer.decimals == 0
    assert not advise(DISASTERS, 0.01, first=release_of(STATISTICS, withhold_n=True)).finds_one


def cell(value, probability):
    return CellRisk(
        value=value,
        interval=interval_risk(0, 3),
        best_guess=0,
        best_guess_probability=probability,
        entropy=1.0,
        truth_probability=probability,
        truth_upper=probability,
    )


def risk_of(table, *cells):
    none = Unavailable("not asked")
    return CountRisk(
        distribution="multinomial",
        count=none,
        printed=none,
        reciprocal_entropy=none,
        bounded=none,
        effective_tables=none,
        best_guess_probability=exact(table),
        truth_probability=None,
        cells=cells,
    )


@pytest.mark.parametrize("noise", [-1e-11, -(2**-53), 0.0, 2**-53, 1e-11])
def test_rounding_decides_no_verdict_and_names_no_other_value(monkeypatch, noise):
    """Two tables, alike: every probability is a half, by logarithms that are less exact."""
    tied = risk_of(0.5, cell(0, 0.5), cell(1, 0.5 + noise), cell(2, 0.5 - noise))
    monkeypatch.setattr(module, "holder_risk", lambda *_: tied)
    got = advise(DISASTERS, 0.5, found=Unavailable("known"))
    assert got.decision is CountDecision.RELEASE
    assert got.exposed == ()
    assert got.trials[0].worst_value == 0
    assert "the true count of value 0 is 0.5" in got.sentence
    low = risk_of(0.5 + noise, cell(0, 0.5))
    monkeypatch.setattr(module, "holder_risk", lambda *_: low)
    got = advise(DISASTERS, 0.5, found=Unavailable("known"))
    assert got.decision is CountDecision.RELEASE
    assert "the true count of value 0 is 0.5" in got.sentence


def test_what_rests_on_n_is_told_only_where_it_is_above(monkeypatch):
    for noise, told in ((1e-12, False), (1e-6, True)):
        known = replace(risk_of(0.3, cell(0, 0.3)), truth_given_number=exact(0.5 + noise))
        monkeypatch.setattr(module, "holder_risk", lambda *_, known=known: known)
        got = advise(DISASTERS, 0.5, found=Unavailable("known"))
        assert any("staying hidden" in line for line in got.warnings) == told


@pytest.mark.parametrize(
    ("max_risk", "decision", "ruling"),
    [
        (0.5, CountDecision.RELEASE, Ruling.KEPT),
        (0.42, CountDecision.FEWER_DECIMALS, Ruling.BROKEN),
        (0.2, CountDecision.DO_NOT, Ruling.BROKEN),
    ],
)
def test_the_verdict_is_on_the_release_as_asked(max_risk, decision, ruling):
    """That fewer decimals would keep the limit does not make what was asked go out."""
    got = advise(DISASTERS, max_risk)
    assert (got.decision, got.verdict.ruling) == (decision, ruling)
    rules = {judged.rule: judged for judged in got.verdict.rules}
    assert set(rules) == {"best_guess", "count_risk"}
    assert rules["best_guess"].value == got.trials[0].table_risk
    assert rules["count_risk"].value == got.trials[0].cell_risk
    remedy = "S2 with 0 decimals keeps the limit"
    told = [judged.remedy for judged in got.verdict.those(Ruling.BROKEN)]
    assert told == [remedy if decision is CountDecision.FEWER_DECIMALS else ""] * len(told)
    if decision is CountDecision.FEWER_DECIMALS:
        fewer = release_of(STATISTICS, decimals=got.decimals)
        assert advise(DISASTERS, max_risk, first=fewer).verdict.ruling is Ruling.KEPT


def test_a_limit_that_only_bounds_the_risk_breaks_no_rule():
    """Draws give an upper limit of the best guess: it can pass, but it cannot fail."""
    rule = BestGuess(limit=0.3)
    for value, ruling in ((0.4, Ruling.UNDECIDED), (0.2, Ruling.KEPT)):
        drawn = replace(
            risk_of(0.0),
            best_guess_probability=Unavailable("draws cannot tell"),
            best_guess_limit=exact(value),
        )
        (found,) = rule.judge(findings_of(drawn, DISASTERS))
        assert found.ruling is ruling
        assert f"probability at most {value}" in found.words
    (found,) = rule.judge(findings_of(risk_of(0.4), DISASTERS))
    assert found.ruling is Ruling.BROKEN
    assert "at most" not in found.words


def test_counts_that_are_not_known_are_undecided(monkeypatch):
    monkeypatch.setattr(module, "holder_risk", lambda *_: risk_of(0.1))
    got = advise(DISASTERS, 0.5, found=Unavailable("known"))
    assert got.verdict.ruling is Ruling.UNDECIDED
    assert got.verdict.rules[1].rule == "count_risk"
    assert "not known" in got.verdict.rules[1].words


STRICT = Policy(name="strict", rules=(Truth(limit=0.362), Entropy(limit=1.0)))
LOOSE = Policy(name="loose", rules=(CountRule(limit=0.31),))


def test_fewer_decimals_keep_every_rule_of_all_policies():
    """One policy alone is kept earlier than both together: recomputed from what each trial says."""
    alone, both = advise(DISASTERS, policies=[STRICT]), advise(DISASTERS, policies=[STRICT, LOOSE])
    assert (alone.decision, both.decision) == (CountDecision.FEWER_DECIMALS,) * 2
    assert alone.decimals > both.decimals
    with_limit = advise(DISASTERS, 0.4, policies=[STRICT, LOOSE])
    for got, wanted in ((alone, 2), (both, 3), (with_limit, 5)):
        assert len(got.verdict.rules) == wanted
        assert got.verdict.ruling is Ruling.BROKEN
        assert [trial.ruling for trial in got.trials].index(Ruling.KEPT) == len(got.trials) - 1
    assert with_limit.decimals == both.decimals
    assert "every rule is then kept" in both.sentence
    assert {one.policy for one in with_limit.verdict.rules} == {"", "strict", "loose"}
    assert {one.remedy for one in both.verdict.those(Ruling.BROKEN)} == {
        f"S2 with {both.decimals} decimal{'s' * (both.decimals != 1)} keeps every rule"
    }


def test_a_policy_says_the_same_as_the_options_that_it_is():
    for measure in ("best_guess", "truth"):
        kind = {"best_guess": BestGuess, "truth": Truth}[measure]
        for limit in (0.2, 0.365, 0.5):
            named = Policy(name="named", rules=(kind(limit=limit), CountRule(limit=limit, small=2)))
            policy = advise(DISASTERS, policies=[named], decimals=())
            plain = advise(DISASTERS, limit, measure=measure, small=2, decimals=())
            assert policy.exposed == plain.exposed
            assert [replace(one, policy="") for one in policy.verdict.rules] == list(
                plain.verdict.rules
            )
            assert policy.trials[0].table_risk == plain.trials[0].table_risk


def test_values_are_exposed_where_one_rule_is_not_kept():
    one = Policy(name="one", rules=(CountRule(limit=0.2, small=2),))
    other = Policy(name="other", rules=(CountRule(limit=0.36, small=5),))
    assert {x.value for x in advise(DISASTERS, policies=[one], decimals=()).exposed} == {4}
    both = advise(DISASTERS, policies=[one, other], decimals=())
    assert {x.value for x in both.exposed} == {3, 4}
    none = Policy(name="none", rules=(BestGuess(limit=0.2),))
    assert advise(DISASTERS, policies=[none], decimals=()).exposed == ()


def test_without_a_rule_nothing_is_advised():
    with pytest.raises(InputError, match="max_risk must be given"):
        advise(DISASTERS)


def test_a_limit_on_small_counts_alone_is_kept_where_there_are_none():
    got = advise({0: 5, 1: 9, 2: 4}, 0.9999, small=1, decimals=())
    kept = got.verdict.rules[1]
    assert (kept.rule, kept.ruling) == ("count_risk", Ruling.KEPT)
    assert kept.words == "no value that occurs is that of at most 1."
