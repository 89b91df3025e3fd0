"""The map: every candidate with risk and worth, users in conflict, time that runs out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.choice.best_set.best_margins import best_margins
from discreet.choice.candidates import Proposal, margin_proposal, margin_proposals, margin_sets
from discreet.choice.choice import Decision, Standing
from discreet.choice.exposure import bounds_exposure
from discreet.choice.large_tables import large_choice
from discreet.choice.measures import Measure
from discreet.choice.options import ChooseOptions
from discreet.choice.risk_utility import TIME_OVER, risk_utility
from discreet.clock import Clock, work
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.fiber.system.margins import maximal
from discreet.figures import Figure, How, Unavailable
from discreet.flows.choose import recommend
from discreet.masks.rounding import round_conventionally
from discreet.tables.refused_margin import RiskMeasure

TABLE = Table.of_dense(np.array([[[2, 1], [0, 1]], [[1, 0], [3, 1]]]), ["a", "b", "c"])


def options(max_risk=0.5, policy=RiskMeasure.CELLS, **more):
    measure = Measure(kind=policy, **more.pop("measure", {}))
    return ChooseOptions(max_risk=max_risk, measure=measure, **more)


def found_of(table=TABLE, proposals=None, **asked):
    given_ones = margin_proposals(table) if proposals is None else proposals
    return risk_utility(table, given_ones, options(**asked))


def named(found):
    return {one.title: one for one in found.candidates}


def test_the_ends_of_the_scale():
    every = named(found_of())
    assert every["nothing"].worth == pytest.approx(0)
    assert every["[a b c]"].worth == pytest.approx(1)
    assert every["[a b c]"].risk.value == pytest.approx(1)
    assert set(every["[a]"].losses) == {"counts", "association", "shape"}


def test_by_bounds_a_cap_in_widths():
    found = found_of(max_risk=-2.0, policy=RiskMeasure.BOUNDS)
    for one, own in zip(found.candidates, found.choice.standings, strict=True):
        assert (own is Standing.WITHIN) == (one.risk.value <= -2)
    assert found.chosen is not None
    safe = [one for one in found.candidates if one.risk.value <= -2]
    assert found.chosen.worth == max(one.worth for one in safe)


def test_requests_decide_what_a_release_is_worth():
    found = found_of(requests=((("a",), 3.0), (("b", "c"), 1.0)), max_risk=1.0)
    every = named(found)
    assert [user.name for user in found.scientists] == ["requests"]
    assert every["[a]"].worth == pytest.approx(0.75)
    assert every["[b c]"].worth == pytest.approx(0.25)
    assert every["[a][b c]"].worth == pytest.approx(1)
    risks = [one.risk.value for one in found.candidates if one.worth == pytest.approx(1)]
    assert found.chosen.risk.value == pytest.approx(min(risks))


def test_users_in_conflict_and_in_accord():
    wide = margin_proposal(TABLE, [(0, 1)]), margin_proposal(TABLE, [(2,)])
    asked = {"max_risk": 1.0, "users": {"counts": 1.0, "requests": 1.0}}
    requests = ((("c",), 1.0),)
    found = found_of(proposals=wide, requests=requests, **asked)
    assert found.best_for == {"counts": 1, "requests": 2}
    assert found.compromises == (1, 2)
    assert found.in_conflict
    alone = found_of(proposals=wide[:1], max_risk=1.0)
    assert not alone.in_conflict


def test_what_is_out_counts_as_known():
    found = found_of(
        proposals=[Proposal("rounded", lambda: round_conventionally(TABLE, base=3))],
        out=(("a", "b", "c"),),
        max_risk=0.5,
    )
    assert [one.risk.value for one in found.candidates] == pytest.approx([1, 1])
    assert found.choice.decision is Decision.EXCEEDED
    assert not found.something_is_safe


def test_a_mask_that_does_not_fit_is_named():
    proposals = [Proposal("rounded", lambda: round_conventionally(TABLE, base=1))]
    found = found_of(proposals=proposals)
    assert "does not fit: base must be" in found.candidates[1].risk.reason
    asked = [Proposal("rounded", proposals[0].make, is_asked=True)]
    with pytest.raises(InputError, match="base must be"):
        found_of(proposals=asked)


def test_a_mask_that_makes_nothing_says_why():
    found = found_of(proposals=[Proposal("x", lambda: Unavailable("no pattern is safe"))])
    assert found.candidates[1].risk == Unavailable("no pattern is safe")
    assert not found.candidates[1].is_possible
    assert found.choice.missed == (), "more time would not make it"


def test_when_the_time_is_over_the_rest_is_named_and_not_chosen():
    found = risk_utility(TABLE, margin_proposals(TABLE), options(seconds=5.0), clock=Clock(1e-9))
    late = [one for one in found.candidates if isinstance(one.risk, Unavailable)]
    assert len(late) == 18
    assert found.choice.decision is Decision.NOTHING
    assert found.chosen.is_nothing
    assert len(found.choice.missed) == 18
    assert found.notes == ("18 of 19 candidates were not looked at in 5 seconds",)


def test_quick_ones_first_then_the_most_useful():
    seen = []
    rounded = Proposal("rounded", lambda: round_conventionally(TABLE, base=3))
    cycle = margin_proposal(TABLE, [(0, 1), (0, 2), (1, 2)])
    whole = margin_proposal(TABLE, [(0, 1, 2)])
    risk_utility(
        TABLE, [rounded, cycle, whole], options(), progress=lambda step, _: seen.append(step)
    )
    looked = [step.removeprefix("looking at ") for step in seen if step.startswith("looking at")]
    printing = ["[a b c]", "[a b][a c][b c]"]  # small counts: they only complete the map
    assert looked == ["nothing", "rounded to 3", *printing]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"max_risk": 1.5}, "max_risk must be from 0 to 1 for cells, got 1.5"),
        (
            {"max_risk": 3, "policy": RiskMeasure.BOUNDS},
            "a least width of 3 .min_width. asks for bounds so wide",
        ),
        ({"max_risk": float("nan")}, "max_risk must be from 0 to 1"),
        ({"seconds": 0.0}, "seconds must be above 0"),
        ({"intruders": ()}, "intruders must be at least one"),
        ({"intruders": ("dirichlet", "dirichlet")}, "each once"),
        ({"intruders": ("dirichle",)}, "did you mean 'dirichlet'"),
        ({"out": (("x",),)}, "variables named must be those of the table, got 'x'"),
        ({"requests": ((("d",), 1.0),)}, "variables named must be those of the table, got 'd'"),
        (
            {"requests": ((("a",), 1.0),), "out": (("a", "b"),)},
            "request must be margins that are not out already, got a",
        ),
        ({"measure": {"small": 0}}, "small must be at least 1"),
        ({"measure": {"confidence": 1.0}}, "confidence must be from 0 to below 1"),
    ],
)
def test_bad_options(asked, says):
    with pytest.raises(InputError, match=says):
        found_of(**asked)


TABLES = st.lists(st.integers(0, 4), min_size=8, max_size=8).filter(lambda x: sum(x) > 0)
SETS = list(margin_sets(3))


@settings(max_examples=30)
@given(TABLES, st.sampled_from(SETS), st.sampled_from(SETS))
def test_a_coarser_release_never_has_higher_risk_by_bounds(counts, one, other):
    table = Table.of_dense(np.array(counts).reshape(2, 2, 2))
    coarse, fine = one, maximal([*one, *other])
    risks = [
        bounds_exposure(margin_proposal(table, sets).make(), 2, clock=Clock(None)).risk.value
        for sets in (coarse, fine)
    ]
    assert risks[0] <= risks[1]


def test_more_variables_are_searched():
    rng = np.random.default_rng(5)
    table = Table.of_dense(rng.poisson(4, (2,) * 5), list("abcde"))
    found = recommend(table, "margins", options(-2.0, RiskMeasure.BOUNDS, seconds=20.0))
    assert found.chosen is not None
    assert not found.chosen.is_nothing
    assert found.chosen.risk.value <= -2
    assert all(not ((t.counts > 0) & (t.counts <= 2)).any() for t in found.chosen.masked.published)
    proved = bounds_exposure(found.chosen.masked, 2, clock=Clock(None)).risk.value
    assert found.chosen.risk.value == proved  # its variables are all there are
    assert found.search.chosen
    assert [user.name for user in found.scientists] == ["requests"]
    with pytest.raises(InputError, match="measure must be bounds or cells"):
        recommend(table, "margins", options(0.1, RiskMeasure.TABLE))


def test_a_table_beyond_all_cells_is_served_with_margins():
    rng = np.random.default_rng(6)
    cells = np.unique(rng.integers(0, 2, (300, 14)), axis=0)
    table = Table(
        names=tuple("abcdefghijklmn"),
        levels=(("0", "1"),) * 14,
        cells=cells,
        counts=rng.integers(1, 4, len(cells)),
    )
    asked = options(
        -2.0, RiskMeasure.BOUNDS, seconds=10.0, requests=((("a", "b"), 1.0), (("c",), 2.0))
    )
    found = recommend(table, None, asked)
    assert found.chosen.worth == pytest.approx(1)
    assert found.candidates[0].risk.value == -table.total
    with pytest.raises(InputError, match="masks must be margins alone"):
        recommend(table, "margins,rounding:base=3", asked)
    with pytest.raises(InputError, match="user must be 'requests' alone"):
        recommend(
            table, None, options(-2.0, RiskMeasure.BOUNDS, seconds=5.0, users={"counts": 1.0})
        )


def test_a_user_who_loses_nothing_without_a_release():
    """One row has no association, so that errors of rounding must not be divided by each other."""
    table = Table.of_dense(np.array([[2, 4, 0, 1]]), ["a", "b"])
    found = recommend(table, "margins,rounding:base=3", options(users={"association": 1.0}))
    assert {one.worths["association"] for one in found.candidates} == {1.0}
    assert any("association: this user loses nothing" in note for note in found.notes)


def test_of_one_variable_nobody_wants_association():
    found = recommend(Table.of_dense(np.array([2, 4, 1]), ["a"]), "margins", options())
    assert [user.name for user in found.scientists] == ["counts", "shape"]
    assert found.candidates[0].worth == pytest.approx(0)


def test_what_is_out_may_leave_one_table_that_a_fit_nears_slowly():
    table = Table.of_dense(np.array([[[1, 0], [0, 0]], [[0, 1], [1, 0]]]), ["a", "b", "c"])
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    found = recommend(table, "margins[a b c],rounding:base=3", options(out=pairs, max_risk=1.0))
    assert named(found)["[a b c]"].worth == pytest.approx(1)
    assert all(-1 <= one.worth <= 1 for one in found.candidates)


def test_a_seed_is_drawn_afresh():
    assert options().seed != options().seed
    assert options(seed=7).seed == 7


@pytest.mark.parametrize("sizes", [(2,) * 5, (2,) * 13])
@pytest.mark.parametrize(("cap", "policy"), [(-3.0, RiskMeasure.BOUNDS), (0.1, RiskMeasure.CELLS)])
def test_without_small_cells_everything_can_go_out(sizes, cap, policy):
    table = Table.of_dense(np.full(sizes, 9))
    found = recommend(table, "margins", options(cap, policy, seconds=5.0))
    assert found.choice.decision is Decision.RELEASE
    assert found.chosen.worth == pytest.approx(1)


def test_no_cap_by_bounds_lets_out_all_that_is_wanted():
    counts = np.random.default_rng(2).poisson(1.0, (2,) * 5)
    asked = options(0.0, RiskMeasure.BOUNDS, seconds=20.0, targets=())  # no variable is secret
    assert recommend(Table.of_dense(counts), "margins", asked).chosen.worth == pytest.approx(1)


def test_of_a_large_table_only_what_was_proved_is_claimed():
    table = Table.of_dense(np.full((2,) * 13, 9))
    for asked, says in (
        ({"intruders": ("dirichlet",)}, "intruders must be 'multinomial' alone"),
        ({"users": {"counts": 1.0}}, "user must be 'requests' alone"),
        (
            {"requests": ((("v1",), 1.0),), "out": (("v1", "v2"),)},
            "request must be margins that are not out already",
        ),
    ):
        with pytest.raises(InputError, match=says):
            recommend(table, "margins", options(0.1, **asked))


def test_a_request_made_twice_counts_twice_in_the_search():
    counts = np.random.default_rng(3).poisson(3.0, (2,) * 5)
    table = Table.of_dense(counts, list("abcde"))
    twice = ((("a",), 1.0), (("a",), 2.0), (("b", "c"), 4.0))
    found = recommend(
        table, "margins", options(0.0, RiskMeasure.BOUNDS, requests=twice, seconds=20.0)
    )
    assert found.search.total_weight == 7


def test_a_mask_gets_a_part_of_the_time_left(monkeypatch):
    given_seconds = []

    def mask_table(spec, table, *, seed, seconds):
        given_seconds.append(seconds)
        return round_conventionally(table, base=3)

    monkeypatch.setattr("discreet.choice.proposals.mask_table", mask_table)
    recommend(TABLE, "rounding:base=3", options(seconds=8.0))
    assert 0 < given_seconds[0] <= 2.0


@pytest.mark.parametrize("off", [-2, 0, 2])
def test_rounding_of_a_utility_does_not_say_which_release_is_best_for_a_user(off, monkeypatch):
    """Both margins of a table that is its own mirror image are worth the same."""
    table = Table.of_dense(np.array([[3, 1], [1, 3]]), ["a", "b"])

    def utility(user, reading, truth):
        names = {one.axes for one in reading.published}
        return -0.3 * (1 + off * 2.0**-52) if (1,) in names else -0.3 if names else -1.0

    monkeypatch.setattr("discreet.choice.risk_utility.data_utility", utility)
    proposals = [margin_proposal(table, [axes]) for axes in ((0,), (1,))]
    found = found_of(table, proposals, max_risk=1.0, users={"counts": 1.0})
    assert found.best_for == {"counts": 1}


def test_of_a_large_table_what_is_printed_or_out_counts():
    table = Table.of_dense(np.array([[1, 9], [9, 9]]), ["a", "b"])
    searched = best_margins(table, measure="cells", seconds=None)
    for sets, out, within in (((("a",),), (), True), ((("a", "b"),), (), False),
                              ((("a",),), (("a", "b"),), False)):  # fmt: skip
        own = replace(searched, to_publish=sets, chosen=sets, others=())
        asked = options(0.5, requests=((("b",), 1.0),) if not out else (), out=out)
        found = large_choice(table, own, asked)
        assert (found.choice.standings[1] is Standing.WITHIN) is within
        assert (found.choice.standings[0] is Standing.WITHIN) is not bool(out)


def test_of_a_large_table_the_first_of_sets_worth_the_same_is_best_for_its_users():
    table = Table.of_dense(np.full((2, 2), 9), ["a", "b"])
    searched = best_margins(table, seconds=None)
    for off in (-2, 0, 2):
        own = replace(
            searched,
            requested={("a",): 0.5, ("b",): 0.5},
            chosen=(("a",),),
            to_publish=(("a",),),
            utility=0.5,
            others=(((("b",),), 0.5 * (1 + off * 2.0**-52)),),
            risk=Figure(value=-9.0, how=How.EXACT),
        )
        asked = options(-2.0, RiskMeasure.BOUNDS, requests=((("a",), 0.5), (("b",), 0.5)))
        assert large_choice(table, own, asked).best_for == {"requests": 1}


def test_options_that_are_not_named_stay_where_some_are_replaced():
    asked = ChooseOptions(max_risk=0.25, small=5, confidence=0.1, seed=1)
    measure = asked.replaced(measure="cells").measure
    assert (measure.small, measure.confidence) == (5, 0.1)
    assert asked.replaced(small=3).measure.confidence == 0.1
    wide = ChooseOptions(min_width=3, small=4).replaced(min_width=4)
    assert (wide.max_risk, wide.measure.small) == (-4.0, 4)


@pytest.mark.parametrize("cap", [0.3, 1.0])
def test_what_was_held_in_reserve_is_tried_only_where_all_else_fails(cap):
    """The full table gives all small cells away; the margin in reserve none."""
    table = Table.of_dense(np.array([[1, 2, 40], [30, 1, 50]]))
    found = risk_utility(
        table,
        [
            margin_proposal(table, [(0, 1)]),
            replace(margin_proposal(table, [(0,)]), reserve="it takes long"),
        ],
        ChooseOptions(max_risk=cap),
    )
    kept = found.candidates[-1]
    if cap == 1.0:
        assert kept.risk == Unavailable("not tried: it takes long")
        assert any("not tried: it takes long" in note for note in found.notes)
    else:
        assert found.chosen is kept
        assert not any("not tried" in note for note in found.notes)


def test_what_was_held_in_reserve_when_time_ran_out_says_that():
    table = Table.of_dense(np.array([[1, 2, 40], [30, 1, 50]]))
    reserve = replace(margin_proposal(table, [(0,)]), reserve="something else is within the limit")
    options = ChooseOptions(max_risk=0.3, seconds=1e-6)
    found = risk_utility(table, [margin_proposal(table, [(0, 1)]), reserve], options)
    assert not any("not tried" in note for note in found.notes)
    assert found.candidates[-1].risk == found.candidates[1].risk == Unavailable(TIME_OVER)


def test_a_search_that_did_not_end_keeps_its_reason_when_time_runs_out():
    table = Table.of_dense(np.array([[1, 2, 40], [30, 1, 50]]))

    def make():
        work(10.0)
        return Unavailable("no pattern was found")

    options = ChooseOptions(max_risk=0.3, seconds=1.0)
    found = risk_utility(table, [Proposal("slow", make)], options)
    assert found.candidates[-1].risk == Unavailable("no pattern was found")


def test_groups_count_even_where_small_counts_may_be_printed():
    """As in an audit: everyone with a = 2 or 3 has b = 1."""
    table = Table.of_dense(np.array([[15, 1], [4, 0], [3, 0]]), ["a", "b"])
    whole = margin_proposal(table, [(0, 1)])
    for asked in (options(1.0), options(0.0, RiskMeasure.BOUNDS)):
        (_, found) = risk_utility(table, [whole], asked).choice.standings
        assert found is Standing.ABOVE


SHARED = Table.of_dense(
    np.array([[[15, 12], [11, 9]], [[14, 8], [0, 0]]]), ["a", "b", "c"], [["x", "y"], "mn", "fg"]
)  # everyone with a = y has b = m


@pytest.mark.parametrize(
    ("mask", "out"),
    [
        ("rounding[a c]:base=5", (("a", "b"),)),
        ("rounding[c]:base=3,random", (("a", "b"),)),
        ("perturbation[b c]", (("a", "b"), ("b", "c"))),
        ("perturbation[a b]", ()),
    ],
)
def test_groups_that_are_out_or_kept_count_for_every_mask(mask, out):
    found = recommend(SHARED, mask, options(0.9, out=out, seed=1)).candidates[-1]
    assert "b = n (20 persons) has a = x" in found.breaks[0]


def test_a_rounded_table_that_shows_no_group_breaks_nothing():
    found = recommend(SHARED, "rounding[a c]:base=5", options(0.9, seed=1)).candidates[-1]
    assert found.breaks == ()


def test_groups_that_rounding_intervals_prove_count():
    """A 6 to base 3 is at least 5, which is all of a = 1: so nobody of a = 1 has b = 2."""
    table = Table.of_dense(np.array([[5, 0], [16, 19]]), ["a", "b"])
    alone, both = (
        recommend(table, "rounding[a b]:base=3", options(0.9, out=out, seed=1)).candidates[-1]
        for out in ((), (("a",),))
    )
    assert alone.breaks == ()
    assert "b = 2 (19 persons) has a = 2" in both.breaks[0]


def test_groups_that_are_only_probable_count_where_targets_are_named():
    """The 3 persons of a = 1 are all of b = 1 with probability C(60, 3) / C(63, 3) = 0.86."""
    table = Table.of_dense(np.array([[3, 0], [57, 3]]), ["a", "b"])
    proposal = [margin_proposal(table, [(0,), (1,)])]
    for sure, standing in ((0.86, Standing.ABOVE), (0.87, Standing.WITHIN)):
        asked = options(0.99, targets=("b",), sure=sure)
        found = risk_utility(table, proposal, asked)
        assert found.choice.standings[1] is standing
    free = risk_utility(table, proposal, options(0.99))
    assert free.choice.standings[1] is Standing.WITHIN


def test_a_hidden_count_that_follows_from_what_is_out_is_not_hidden():
    """District c is all of region 2, whose persons are known, so that its counts follow from each
    other: both are hidden, or hiding one is in vain."""
    counts = np.zeros((2, 3, 2, 2), dtype=np.int64)  # region, district, sex, ill
    counts[0, 0], counts[0, 1] = [[30, 6], [25, 7]], [[22, 5], [31, 8]]
    counts[1, 2] = [[9, 1], [11, 1]]
    table = Table.of_dense(counts, ["region", "district", "sex", "ill"])
    together = recommend(
        table, "suppression[region sex][district ill]:decoys=no", options(0.3, seconds=4.0)
    ).candidates[-1]
    assert together.risk == Figure(value=0.0, how=How.EXACT)
    assert {one.axes for one in together.masked.published} == {(0, 2), (1, 3)}
    (by_district,) = [one for one in together.masked.published if one.axes == (1, 3)]
    assert not by_district.shown[2].any()
    out = options(0.3, seconds=4.0, out=(("region", "sex"),))
    after = recommend(table, "suppression[district ill]:decoys=no", out)
    assert after.candidates[-1].risk.value == 1
    assert "can be worked out in [district ill]" in after.candidates[-1].method
    assert after.choice.standings[-1] is Standing.ABOVE
