"""What could be released: sets of margins, nothing, and masks by name."""

import numpy as np
import pytest

from discreet.choice.candidates import margin_proposals, margin_sets, release_nothing
from discreet.choice.measures import Measure
from discreet.choice.proposals import default_masks, mask_proposal, parse_masks
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.tables.refused_margin import RiskMeasure

TABLE = Table.of_dense(np.arange(8).reshape(2, 2, 2), ["a", "b", "c"])


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 4), (3, 18), (4, 166)])
def test_as_many_sets_of_margins_as_dedekind_says(n, number):
    """Dedekind's 3, 6, 20, 168 less the two sets without a variable."""
    found = list(margin_sets(n))
    assert len(found) == len(set(found)) == number


def test_sets_of_two_way_margins():
    assert len(list(margin_sets(3, 2))) == 7


def test_no_set_lies_in_another():
    for sets in margin_sets(4):
        assert not any(set(x) < set(y) for x in sets for y in sets)


def test_margins_that_are_out_are_not_published_again():
    out = [(0, 1)]
    found = {one.title: one.make() for one in margin_proposals(TABLE, out)}
    assert "[c]" in found
    assert "[a b]" not in found
    assert set(found["[c]"].margins.tables) == {(0, 1), (2,)}
    assert [one.axes for one in found["[c]"].published] == [(2,)]


def test_releasing_nothing_leaves_the_total():
    masked = release_nothing(TABLE)
    assert masked.published == ()
    assert masked.estimate == pytest.approx(np.full((2, 2, 2), 28 / 8))
    assert set(release_nothing(TABLE, [(0,)]).margins.tables) == {(0,)}


@pytest.mark.parametrize(("order", "says"), [(0, "order must be from 1 to 3"), (4, "order must")])
def test_bad_orders(order, says):
    with pytest.raises(InputError, match=says):
        margin_proposals(TABLE, order=order)


def test_too_many_variables_for_all_sets():
    wide = Table.of_dense(np.ones((2,) * 5, dtype=np.int64))
    with pytest.raises(InputError, match="sets of margins must be of a table of at most 4"):
        margin_proposals(wide)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("margins,rounding:base=3", ["margins", "rounding:base=3"]),
        ("rounding:base=3,random,suppression", ["rounding:base=3,random", "suppression"]),
        ("rounding:random,base=3", ["rounding:random,base=3"]),
        ("margins[a b][b c], margins[a]", ["margins[a b][b c]", "margins[a]"]),
        ("margins[a,b]", ["margins[a,b]"]),
        (
            "perturbation[a b]:show=[a c],copies=2,suppression:small=3",
            ["perturbation[a b]:show=[a c],copies=2", "suppression:small=3"],
        ),
        ("suppression,exact", ["suppression:exact"]),
    ],
)
def test_masks_between_commas(text, expected):
    assert [written for written, _ in parse_masks(text)] == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "masks must be at least one"),
        (" , ", "masks must be at least one"),
        ("margins,supression", "did you mean 'suppression'"),
        ("roundng:base=3", "did you mean 'rounding'"),
        ("rounding", "mask rounding must be given base="),
        ("rounding:base=x", "base must be a whole number"),
        ("margins,margins", "masks must be different, got 'margins' twice"),
    ],
)
def test_bad_masks(text, says):
    with pytest.raises(InputError, match=says):
        parse_masks(text)


def test_long_searches_wait_where_there_are_many_figures():
    wide = Table.of_dense(np.ones((2,) * 6, dtype=np.int64))
    ((written, spec),) = [one for one in default_masks() if one[1].name == "suppression"]
    asked = {"max_risk": 0.1, "seconds": 20.0, "seed": 7}

    def reserve(table, is_asked):
        return mask_proposal(
            written, spec, table, (), Measure(), is_asked=is_asked, **asked
        ).reserve

    assert reserve(TABLE, is_asked=False) == ""
    assert "729 figures" in reserve(wide, is_asked=False)
    assert reserve(wide, is_asked=True) == ""


def made(written, **more):
    ((_, spec),) = parse_masks(written)
    asked = {"max_risk": -4.0, "seconds": 20.0, "seed": 7, "is_asked": True} | more
    out = asked.pop("out", ())
    measure = Measure(kind=RiskMeasure.BOUNDS, small=3)
    return mask_proposal(written, spec, TABLE, out, measure, **asked).make()


def test_suppression_protects_what_the_cap_asks_for():
    found = made("suppression").parameters
    assert (found["small"], found["protect"]) == (3, 4)
    assert found["work"] == pytest.approx(
        6, rel=0.01
    )  # three tenths of the seconds, one of two searches
    assert made("suppression:protect=2").parameters["protect"] == 2


def test_perturbation_keeps_what_is_out_or_every_pair():
    assert set(made("perturbation").margins.tables) == {(0, 1), (0, 2), (1, 2)}
    assert set(made("perturbation", out=[("a",)]).margins.tables) == {(0,)}
    assert made("perturbation").seed == 7
