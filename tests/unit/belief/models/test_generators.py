"""Hierarchical models: parsed, named, and listed."""

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.belief.models.generators import HierarchicalModel, models_containing, parse_model
from discreet.errors import InputError

NAMES = ("race", "income", "gender")


@pytest.mark.parametrize(
    ("text", "generators"),
    [
        ("[race income][income gender]", ((0, 1), (1, 2))),
        ("[income,race] [gender income]", ((0, 1), (1, 2))),
        ("[race][income]", ((0,), (1,), (2,))),
        ("[race income][income]", ((0, 1), (2,))),
        ("saturated", ((0, 1, 2),)),
        ("no-highest-interaction", ((0, 1), (0, 2), (1, 2))),
        ("[race income gender]", ((0, 1, 2),)),
    ],
)
def test_parsed(text, generators):
    assert parse_model(text, NAMES).generators == generators


def test_names_with_blanks_go_in_quotes():
    names = ("age group", "sex[1]")
    assert parse_model('["age group" "sex[1]"]', names).is_saturated


@pytest.mark.parametrize(
    "text", ["", "race income", "[race", "[race]]", "x[race]", "[race]x[income]"]
)
def test_text_that_is_no_model(text):
    with pytest.raises(InputError, match="model must be 'saturated', 'no-highest-interaction' or"):
        parse_model(text, NAMES)


def test_an_unknown_variable_is_named():
    with pytest.raises(
        InputError, match="model must be made of the table's variables .* got 'sex'"
    ):
        parse_model("[race sex]", NAMES)


@pytest.mark.parametrize("names", [NAMES, ("a b", "c,d", "e[f]")])
def test_the_name_reads_back(names):
    for model in models_containing(3, []):
        assert parse_model(model.name(names), names) == model


def test_the_three_models_of_the_census_example():
    found = models_containing(3, [(0, 1), (1, 2)])
    assert [m.name(NAMES) for m in found] == [
        "[race income][income gender]",
        "[race income][race gender][income gender]",
        "saturated",
    ]


def all_down_sets(n):
    """Every family of interactions that is closed downward and has all main effects, slowly."""
    groups = [g for size in range(2, n + 1) for g in combinations(range(n), size)]
    for chosen in chain.from_iterable(combinations(groups, k) for k in range(len(groups) + 1)):
        family = set(chosen)
        if all(sub in family for g in family if len(g) > 2 for sub in combinations(g, len(g) - 1)):
            yield HierarchicalModel.of(n, family)


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 2), (3, 9), (4, 114)])
def test_all_models_against_brute_force(n, number):
    found = models_containing(n, [])
    assert len(found) == number  # Dedekind numbers, main effects in
    assert set(found) == set(all_down_sets(n))


@given(st.lists(st.sets(st.integers(0, 3), min_size=1), max_size=3))
def test_models_contain_what_was_released(sets):
    released = [tuple(sorted(s)) for s in sets]
    found = models_containing(4, released)
    assert set(found) == {m for m in all_down_sets(4) if m.contains(released)}


def test_too_many_models_are_refused():
    with pytest.raises(InputError, match="models must be at most 100 in number, got more"):
        models_containing(5, [], most=100)
