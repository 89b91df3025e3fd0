"""Recodings: each kind by hand, what it does not understand, and how it is fitted to a file."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.hierarchy import Hierarchy
from discreet.engines.key_space import KeyLevels
from discreet.errors import InputError
from discreet.masks.records.recoding import (
    Bands,
    Bottom,
    Breaks,
    Dates,
    Drop,
    Leading,
    Levels,
    Merge,
    Quantiles,
    Rare,
    Same,
    Top,
    Tree,
    applied,
    not_understood,
    recoded,
)
from discreet.protection.counted import Counted

TREE = Hierarchy.of_table(
    [("a", "vowel", "*"), ("e", "vowel", "*"), ("b", "consonant", "*"), ("c", "consonant", "*")]
)


def key_of(values, labels=None, name="x"):
    labels = [v if v is not None else "(missing)" for v in values] if labels is None else labels
    return KeyLevels(name=name, values=tuple(values), labels=tuple(labels), n_missing=0)


def levels_of(values, records=None, labels=None, population=None):
    held = np.ones(len(values), dtype=np.int64) if records is None else np.array(records)
    return Levels(key=key_of(values, labels), records=held, population=population)


def after(values, how, **more):
    """What each value becomes, None for missing."""
    found = applied(levels_of(values, **more), how)
    return [found.levels.values[to] for to in found.to]


@pytest.mark.parametrize(
    ("values", "how", "wanted"),
    [
        (["0", "4", "5", "17"], {"width": 5}, ["0-4", "0-4", "5-9", "15-19"]),
        (["-1", "-5", "-6"], {"width": 5}, ["-5 to -1", "-5 to -1", "-10 to -6"]),
        (["1", "2", "3"], {"width": 1}, ["1", "2", "3"]),
        (["16", "20", "21"], {"width": 5, "start": 16}, ["16-20", "16-20", "21-25"]),
        (["1.4", "1.5", "2"], {"width": 0.5},
         ["1 to below 1.5", "1.5 to below 2", "2 to below 2.5"]),
        (["0.3", "0.1"], {"width": 0.1}, ["0.3 to below 0.4", "0.1 to below 0.2"]),
        (["5", "?", "none", None], {"width": 10}, ["0-9", "?", "none", None]),
        (["5", "99"], {"width": 10, "stay": ("99",)}, ["0-9", "99"]),
        (["05", "5.0"], {"width": 10}, ["0-9", "0-9"]),
    ],
)  # fmt: skip
def test_bands(values, how, wanted):
    assert after(values, Bands(key="x", **how)) == wanted


@pytest.mark.parametrize(
    ("values", "at", "wanted"),
    [
        (["17", "18", "64", "65", "90"], (18, 65), ["below 18", "18-64", "18-64", "65+", "65+"]),
        (["-3", "0", "7"], (0,), ["below 0", "0+", "0+"]),
        (["1", "2", "3"], (2, 3), ["below 2", "2", "3+"]),
        (["0.5", "1.5"], (1, 2), ["below 1", "1 to below 2"]),
        (["5", "x"], (3, 9), ["3-8", "x"]),
    ],
)
def test_breaks(values, at, wanted):
    assert after(values, Breaks(key="x", at=at)) == wanted


@pytest.mark.parametrize(
    ("values", "how", "wanted"),
    [
        (["84", "85", "99", "x"], Top(key="x", at=85), ["84", "85+", "85+", "x"]),
        (["15", "16", "17"], Bottom(key="x", at=16), ["16 or less", "16 or less", "17"]),
        (["-2", "-1", "0"], Bottom(key="x", at=-1), ["-1 or less", "-1 or less", "0"]),
        (["1", "2", "99"], Top(key="x", at=2, stay=("99",)), ["1", "2+", "99"]),
        (["1", "2"], Merge(key="x", levels=("1", "2")), ["other", "other"]),
        (["1", "2", "3"], Merge(key="x", levels=("1", "3"), into="odd"), ["odd", "2", "odd"]),
        (["a", "b", None], Drop(key="x"), ["", "", ""]),
        (["a", None], Same(key="x"), ["a", None]),
        (["1985-03-07", "1985-11-02", "no"], Dates(key="x", to="month"),
         ["1985-03", "1985-11", "no"]),
        (["1985-03-07", "07.03.1985", "3/7/1985"], Dates(key="x"), ["1985"] * 3),
        (["1985-03-07", "1989-01-01", "1990-01-01"], Dates(key="x", years=5),
         ["1985-1989", "1985-1989", "1990-1994"]),
        (["2001-01-01 10:00", "2001-01-01T10:00"], Dates(key="x", to="month"), ["2001-01"] * 2),
        (["3/7/1985"], Dates(key="x", to="month"), ["3/7/1985"]),
        (["1234", "1299", "77"], Leading(key="x", characters=2), ["12", "12", "77"]),
        (["1234", "77"], Leading(key="x", characters=2, digits=5), ["01", "00"]),
        (["AB1 2CD", "AB1 9ZZ"], Leading(key="x", characters=0, before_space=True), ["AB1"] * 2),
        (["a", "e", "b", None], Tree(key="x", height=1, tree=TREE),
         ["vowel", "vowel", "consonant", None]),
    ],
)  # fmt: skip
def test_other_rules(values, how, wanted):
    assert after(values, how) == wanted


def test_value_labels_name_groups_and_find_levels():
    values, labels = ["1", "2", "3"], ["single", "married", "widowed"]
    found = applied(levels_of(values, labels=labels), Merge(key="x", levels=("widowed",), into="w"))
    assert found.how == Merge(key="x", levels=("3",), into="w")
    assert found.levels.labels == ("single", "married", "w")
    tree = Hierarchy.of_table(
        [("single", "no", "*"), ("married", "yes", "*"), ("widowed", "no", "*")]
    )
    by_label = applied(levels_of(values, labels=labels), Tree(key="x", height=1, tree=tree))
    assert by_label.levels.values == ("no", "yes")
    assert by_label.how.group("3") == "no"


def test_a_group_named_as_a_level_that_stays_is_one_with_it():
    assert after(["a", "b", "other"], Merge(key="x", levels=("a",))) == ["other", "b", "other"]


def test_what_a_rule_does_not_understand_is_told():
    assert not_understood(key_of(["5", "x", None]), Bands(key="x", width=5)) == ["x"]


@pytest.mark.parametrize(
    ("records", "number", "at"),
    [
        ([1, 1, 1, 1], 2, (3.0,)),
        ([1, 1, 1, 1], 4, (2.0, 3.0, 4.0)),
        ([9, 1, 1, 1], 2, (2.0,)),
        ([1, 1, 1, 9], 2, (4.0,)),
    ],
)
def test_quantiles_hold_about_equally_many(records, number, at):
    levels = levels_of(["1", "2", "3", "4"], records)
    assert Quantiles(key="x", number=number).fitted(levels).at == at  # type: ignore[attr-defined]


@given(
    st.dictionaries(st.integers(-30, 30), st.integers(1, 20), min_size=2, max_size=15),
    st.integers(2, 6),
)
def test_a_quantile_band_holds_its_share_but_for_one_level(held, number):
    numbers = sorted(held)
    levels = levels_of([str(v) for v in numbers], [held[v] for v in numbers])
    try:
        how = Quantiles(key="x", number=number).fitted(levels)
    except InputError:
        return
    n, bands = sum(held.values()), Counter()
    for value in numbers:
        bands[how.group(str(value))] += held[value]
    assert len(bands) == len(how.at) + 1  # type: ignore[attr-defined]
    assert max(bands.values()) <= n / number + max(held.values())


@pytest.mark.parametrize(
    ("how", "at"),
    [
        (Top(key="x", share=0.25), 4.0),
        (Top(key="x", share=0.26), 3.0),
        (Top(key="x", count=2), 3.0),
        (Bottom(key="x", count=1), 1.0),
        (Bottom(key="x", share=0.5), 2.0),
        (Top(key="x", population=30), 4.0),
        (Top(key="x", population=41), 3.0),
        (Top(key="x", count=99), 1.0),
    ],
)
def test_an_end_until_so_many_have_it(how, at):
    population = np.array([10.0, 20.0, 30.0, 40.0])
    levels = levels_of(["1", "2", "3", "4"], [1, 1, 1, 1], population=population)
    found = how.fitted(levels)
    assert (found.at, found.share, found.count, found.population) == (at, None, None, None)


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        (Rare(key="x", below=2), ["other", "b", "other", "d"]),
        (Rare(key="x", below=2, stay=("a",)), ["a", "b", "other", "d"]),
        (Rare(key="x", below=1), ["a", "b", "c", "d"]),
        (Rare(key="x", population=25, into="few"), ["few", "few", "c", "d"]),
    ],
)
def test_rare_levels(how, wanted):
    population = np.array([10.0, 20.0, 30.0, 40.0])
    values = ["a", "b", "c", "d"]
    assert after(values, how, records=[1, 5, 1, 9], population=population) == wanted


NUMBERS = levels_of(["1", "2"])
TEXTS = levels_of(["a", "b"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bands(key="x", width=0), "width of the bands of 'x' must be above 0, got 0"),
        (lambda: Bands(key="x", width=float("nan")), "must be above 0, got nan"),
        (lambda: Bands(key="x", width=5).fitted(TEXTS), "'x' must be a key with numbers"),
        (lambda: Breaks(key="x", at=()), "break points of 'x' must be ascending numbers, got none"),
        (lambda: Breaks(key="x", at=(3, 3)), "must be ascending numbers, got 3, 3"),
        (lambda: Breaks(key="x", at=(3,)).fitted(TEXTS), "'x' must be a key with numbers"),
        (lambda: Quantiles(key="x", number=1), "quantiles of 'x' must be at least 2, got 1"),
        (lambda: Quantiles(key="x", number=2).fitted(TEXTS), "'x' must be a key with numbers"),
        (lambda: Quantiles(key="x", number=2).fitted(levels_of(["7"])), "numbers can be parted"),
        (lambda: Top(key="x"), "top coding of 'x' must be one of a value, share"),
        (lambda: Top(key="x", at=3, share=0.1), "got 2 of them"),
        (lambda: Bottom(key="x", share=1.5), "share of the bottom of 'x' must be between 0 and 1"),
        (lambda: Top(key="x", count=3).fitted(TEXTS), "'x' must be a key with numbers"),
        (lambda: Top(key="x", population=3).fitted(NUMBERS), "with a population or weights"),
        (lambda: Merge(key="x", levels=()), "levels of 'x' to merge must be at least one"),
        (lambda: Merge(key="x", levels=("z",)).fitted(TEXTS), "levels of 'x', got 'z'"),
        (lambda: Rare(key="x"), "rare levels of 'x' must be told by a count or a population"),
        (lambda: Rare(key="x", below=1, population=2), "got neither or both"),
        (lambda: Rare(key="x", population=2).fitted(TEXTS), "population of rare levels"),
        (lambda: Tree(key="x", height=1), "'x' must be a key with a tree"),
        (lambda: Tree(key="x", height=3, tree=TREE), "height in the tree of 'x' must be from 1 to 2"),
        (lambda: Tree(key="x", height=1, tree=TREE).fitted(levels_of(["a", "q"])),
         "a leaf for every level, got none for 1 of them"),
        (lambda: Dates(key="x", to="week"), "dates of 'x' must be by month or year, got 'week'"),
        (lambda: Dates(key="x", years=0), "by month or year, got '0 years'"),
        (lambda: Leading(key="x", characters=0), "leading characters of 'x' must be at least 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line(make, message):
    with pytest.raises(InputError) as told:
        make()
    assert message in str(told.value)
    assert len(str(told.value).splitlines()) == 1


def test_rules_that_look_at_the_file_want_to_be_fitted():
    for how in (Quantiles(key="x", number=2), Rare(key="x", below=2)):
        with pytest.raises(TypeError, match="fitted first"):
            how.group("1")


HOWS = st.sampled_from(
    [
        Bands(key="x", width=3), Breaks(key="x", at=(2.0, 7.0)), Top(key="x", at=6.0),
        Bottom(key="x", count=4), Quantiles(key="x", number=3), Rare(key="x", below=3),
        Merge(key="x", levels=("1", "8")), Drop(key="x"), Same(key="x"),
        Leading(key="x", characters=1),
    ]
)  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from([*map(str, range(-2, 12)), "?", None]), st.booleans()),
             min_size=1, max_size=40),
    HOWS,
)  # fmt: skip
def test_recoding_commutes_with_counting(rows, how):
    """To recode the cells that were counted is to recode the records and count them."""
    values = sorted({v for v, _ in rows if v is not None})
    values += [None] if any(v is None for v, _ in rows) else []
    keys = (key_of(values), key_of(["False", "True"], name="y"))
    cells = sorted(Counter(rows).items(), key=str)
    counted = Counted(
        keys=keys,
        levels=np.array([[values.index(v), int(y)] for (v, y), _ in cells]),
        n=np.array([n for _, n in cells]),
        origin=np.arange(len(cells)),
    )
    try:
        own = how.fitted(counted.margin(0))
    except InputError:
        return
    changed, fitted, to = counted.recoded(counted.margin(0), how)
    assert fitted == own
    found = Counter()
    for (one, y), n in zip(changed.levels, changed.n, strict=True):
        found[changed.keys[0].values[one], bool(y)] += int(n)

    def slowly(value):
        if isinstance(own, Drop):
            return ""
        if value is None:
            return None
        try:
            return own.group(value)
        except ValueError:
            return value

    assert found == Counter((slowly(v), y) for v, y in rows)
    assert [changed.keys[0].values[u] for u in to] == [slowly(v) for v in values]
    again = recoded(changed.keys[0], own) if not isinstance(own, Drop) else None
    if isinstance(own, (Merge, Same)) and again is not None:  # merging twice changes nothing
        assert again.levels == changed.keys[0]
