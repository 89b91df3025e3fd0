"""Odd tables: empty, withheld, enormous, contradictory or strangely named."""

import pytest
from tests.oracles.published_tables import published

from discreet.errors import InputError
from discreet.flows.attack import attack
from discreet.report.attack.document import attack_document
from discreet.report.attack.json import attack_json
from discreet.tables.linked.rules import Rule
from discreet.tables.linked.sources import Source

HUGE = 2**52


def found(*tables, **options):
    """What follows; it can be shown and written too."""
    sources = [
        one if isinstance(one, Source) else Source(table=one, rule=Rule(stated=True))
        for one in tables
    ]
    own = attack(sources, seconds=None, **options)
    attack_document(own)
    attack_json(own)
    return own


def told(own):
    return [(one.words, one.lower) for one in own.derived]


@pytest.mark.parametrize(
    ("table", "n_tables"),
    [
        (published("t", [], [(5,)]), 1),
        (published("t", ["sex"], [("F", 5)]), 1),
        (published("t", ["sex", "age"], [("Total", "Total", 5)]), 1),
        (published("t", ["sex"], [("F", None), ("M", None)]), None),
        (published("t", ["sex"], [("F", None), ("M", None), ("Total", 7)]), 8),
        (published("t", ["sex", "age"], [(s, a, 0) for s in "FM" for a in "12"]), 1),
        (published("t", ["sex"], [("F", HUGE), ("M", 1)]), 1),
        (published("t", ["sex"], [("F", HUGE), ("M", HUGE)]), 1),
    ],
)
def test_nothing_follows_from_a_table_that_says_all_it_says(table, n_tables):
    own = found(table)
    assert told(own) == []
    assert own.n_tables.value == n_tables
    assert own.verdict


def test_a_table_without_figures():
    with pytest.raises(InputError, match="table t must be one with figures, got none"):
        found(published("t", ["sex"], []))


def test_enormous_figures_are_exact():
    rows = [("F", "a", HUGE - 1), ("M", "a", None), ("Total", "a", HUGE), ("F", "Total", HUGE)]
    own = found(published("t", ["sex", "r"], rows))
    assert told(own) == [("sex F, r others", 1), ("sex M, r a", 1)]
    rows = [("F", "a", 10**6), ("F", "b", None), ("F", "Total", 10**6 + 1)]
    own = found(published("t", ["sex", "r"], [*rows, ("M", "a", 3), ("M", "b", 4)]))
    assert told(own) == [("sex F, r b", 1)]
    with pytest.raises(InputError, match=r"figures must be whole numbers from 0, below 2\*\*53"):
        found(published("t", ["sex"], [("F", 2**53)]))


def test_duplicate_tables_tell_nothing_new():
    table = published("t", ["sex"], [("F", None), ("M", 3), ("Total", 4)])
    assert told(found(table, table)) == told(found(table)) == [("sex F", 1)]


def test_labels_of_other_scripts_and_of_other_case():
    own = found(
        published("t\u202e", ["sëx"], [("♀", 5), ("♂\u200b", None), ("Total", 8)]),
        published("u", ["SËX"], [("♀ ", 5)]),
    )
    assert told(own) == [("sëx ♂\u200b", 3)]
    own = found(published("t", ["x"], [("f", 5), ("F", None), ("Total", 8)]))
    assert told(own) == [("x F", 3)]


def test_bands_that_overlap_and_bands_that_meet():
    own = found(published("t", ["age"], [("0-10", 5), ("5-15", 3), ("0-15", 7)]))
    assert {("age 5-10", 1), ("age 0-4", 4), ("age 11-15", 2)} == set(told(own))
    with pytest.raises(InputError, match="bands of age must be apart, got '15-20' and '20-25'"):
        found(published("t", ["age"], [("15-20", 5), ("20-25", 3)]))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([[("F", 6), ("M", 3), ("Total", 8)]], "t0: total must be the sum of its parts"),
        ([[("F", 6), ("M", 3)], [("F", 5), ("M", 3)]], "t1: sex F must be the same as in t0"),
        ([[("F", 6), ("M", None)], [("Total", 5)]],
         "smallest set that disagrees: t0: sex F, t1: total; is a table"),
    ],
)  # fmt: skip
def test_figures_that_disagree_are_named(tables, message):
    with pytest.raises(InputError, match=message):
        found(*(published(f"t{i}", ["sex"], rows) for i, rows in enumerate(tables)))


def test_combinations_that_are_not_listed_may_be_empty():
    table = published("t", ["a", "b"], [("1", "x", 5), ("2", "y", 4), ("1", "y", 3)])
    sums = published("u", ["a"], [("1", 8), ("2", 6)])
    assert told(found(table, sums)) == [("a 2, b x", 2)]
    with pytest.raises(InputError, match="u: a 2 must be the sum of its parts in t"):
        found(table, sums, absent="zero")


def test_rounding_that_nobody_stated_is_guessed_unless_somebody_says_exact():
    rows = [(f"a{i}", f"b{j}", 5 * (i + j + 1)) for i in range(4) for j in range(4)]
    table = published("t", ["a", "b"], rows)
    guessed = found(Source(table=table, rule=Rule()))
    assert guessed.notes[0].startswith("All 16 figures of t are multiples of 5: taken as rounded")
    assert guessed.cells[0].lower < guessed.cells[0].upper
    assert all(one.lower == one.upper for one in found(table).cells)
