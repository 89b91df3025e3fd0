"""What chances leave to an intruder, against every outcome written out, and against draws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.made_up_records import drawn_records, records_of

from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.masks.records import after_pram as module
from discreet.masks.records.after_pram import after_pram, expected_links
from discreet.masks.records.pram import Pram

value = st.one_of(st.none(), st.integers(0, 2))
rows = st.lists(st.tuples(value, value, st.integers(0, 1)), min_size=1, max_size=4)
MATRIX = {"a0": {"a0": 0.5, "a1": 0.5}, "a1": {"a2": 1.0}}


def file_of(rows):
    names = "abs"
    return records_of(
        {name: [row[i] for row in rows] for i, name in enumerate(names)},
        sizes={"a": 3, "b": 3, "s": 2},
    )


def drawn(records, fitted, seed):
    rng = np.random.default_rng(seed)
    for one in fitted:
        records = one.drawn(records, rng)
    return records


def outcomes(records, fitted):
    """All that could be released, with its probability: for each record its values and chance."""
    open_to = []
    for row in records.levels:
        possible = {tuple(row): 1.0}
        for one in fitted:
            place = records.place(one.key.name)
            stratum = one.stratum_of(row[None, [records.place(k.name) for k in one.strata]])
            further = {}
            for shown, chance in possible.items():
                for to in range(len(one.key.values)):
                    p = one.between(stratum, row[[place]], np.array([to]))[0]
                    new = (*shown[:place], to, *shown[place + 1 :])
                    further[new] = further.get(new, 0) + chance * p
            possible = {shown: p for shown, p in further.items() if p > 0}
        open_to.append(list(possible.items()))
    for combined in product(*open_to):
        yield [shown for shown, _ in combined], np.prod([p for _, p in combined])


def by_enumeration(records, fitted):
    """For each x: how many show it on average, how often a given person who has it does, how often
    one shows it alone, and how often that is the given person; and the links expected."""
    truth = [tuple(row) for row in records.levels]
    found = {}
    for shown, p in outcomes(records, fitted):
        for x in set(shown):
            sums = found.setdefault(x, np.zeros(4))
            n = shown.count(x)
            own = x in truth and shown[truth.index(x)] == x
            sums += p * np.array([n, own, n == 1, n == 1 and own])
    return found, sum(sums[3] for sums in found.values())


def check(records, fitted, seed=0):
    released = drawn(records, fitted, seed)
    found = after_pram(records, released, fitted)
    expected, links = by_enumeration(records, fitted)
    alone = iter(found.chance_alone)
    for x, n, chance in zip(found.levels, found.released, found.chance):
        shown, own, single, single_own = expected[tuple(x)]
        assert chance == pytest.approx(own / shown, abs=1e-12)
        if n == 1:
            assert next(alone) == pytest.approx(single_own / single, rel=1e-9, abs=1e-12)
    assert next(alone, None) is None
    assert expected_links(records, fitted).value == pytest.approx(links, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("most_lookups", [module.MOST_LOOKUPS, 0], ids=["agreement", "pairs"])
@given(rows=rows, retention=st.sampled_from([0.0, 0.4, 0.9, 1.0]))
@settings(max_examples=40)
def test_against_every_outcome(most_lookups, rows, retention):
    records = file_of(rows)
    fitted = [
        Pram(key="a", retention=retention).fitted(records),
        Pram(key="b", retention=0.6, strata=("s",)).fitted(records),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_LOOKUPS", most_lookups)
        check(records, fitted)


@given(rows=rows)
@settings(max_examples=40)
def test_a_given_matrix_against_every_outcome(rows):
    records = file_of(rows)
    check(
        records,
        [
            Pram(key="a", matrix=MATRIX).fitted(records),
            Pram(key="b", retention=0.5).fitted(records),
        ],
    )


def test_both_ways_agree_on_a_large_file(monkeypatch):
    rng = np.random.default_rng(3)
    records = drawn_records(3000, {"a": 9, "b": 4, "c": 5, "s": 3}, rng)
    fitted = [
        Pram(key="a", retention=0.7, strata=("s",)).fitted(records),
        Pram(key="c", retention=0.6).fitted(records),
        Pram(key="b", retention=0.9).fitted(records),
    ]
    released = drawn(records, fitted, 4)
    ways = [after_pram(records, released, fitted)]
    monkeypatch.setattr(module, "MOST_LOOKUPS", 0)
    monkeypatch.setattr(module, "PAIRS_AT_HAND", 1000)
    ways.append(after_pram(records, released, fitted))
    one, other = ways
    assert one.chance == pytest.approx(other.chance, rel=1e-9)
    assert one.chance_alone == pytest.approx(other.chance_alone, rel=1e-9)
    assert np.array_equal(one.truly, other.truly)


def test_codes_of_several_words():
    """Keys with so many levels that a combination takes more than one word."""
    sizes = dict.fromkeys("abcde", 100000)
    records = drawn_records(50, sizes, np.random.default_rng(1))
    fitted = [Pram(key=key, retention=0.5).fitted(records) for key in "ae"]
    found = after_pram(records, drawn(records, fitted, 2), fitted)
    # Nobody shares the other keys: who shows x with his true values is certainly found.
    assert set(found.chance_alone[found.truly[found.looks_alone] > 0]) == {1.0}


def test_links_on_average_over_draws():
    """Over 600 files the links that are right have the mean that was expected, and so has what is
    said of each file; both within 4 standard errors, which are 1.5 % of the mean at most."""
    records = drawn_records(200, {"a": 6, "b": 5, "c": 4}, np.random.default_rng(7))
    fitted = [
        Pram(key="a", retention=0.7).fitted(records),
        Pram(key="b", retention=0.8, strata=("c",)).fitted(records),
    ]
    told, right = [], []
    for seed in range(600):
        released = drawn(records, fitted, seed)
        found = after_pram(records, released, fitted)
        told.append(found.correct_links.value)
        own = (released.levels == records.levels).all(axis=1) & found.looks_alone[found.cell]
        # He takes one of those who have the keys, each with the same chance.
        right.append((own / np.maximum(found.truly[found.cell], 1)).sum())
    expected = expected_links(records, fitted).value
    for seen in (told, right):
        error = np.std(seen, ddof=1) / np.sqrt(len(seen))
        assert error < 0.015 * expected
        assert abs(np.mean(seen) - expected) < 4 * error
    # Of one file, what is told is the mean of what is right: their difference has mean 0.
    apart = np.array(right) - told
    assert abs(apart.mean()) < 4 * apart.std(ddof=1) / np.sqrt(len(apart))


def test_a_file_that_did_not_change_is_read_as_it_is():
    records = records_of({"a": [0, 1, 1, 2, None]})
    fitted = [Pram(key="a", retention=1).fitted(records)]
    found = after_pram(records, records, fitted)
    assert found.as_if_true == 3
    assert found.correct_links.value == 3
    assert found.chance == pytest.approx([1, 0.5, 1, 1])
    assert expected_links(records, fitted).value == pytest.approx(3)


def test_without_any_key_changed_records_are_what_they_show():
    records = records_of({"a": [0, 1, 1]})
    assert after_pram(records, records, []).chance == pytest.approx([1, 0.5])


def test_by_hand():
    """Two persons, values 0 and 1, each kept with 3/4: θ = 1/2 as c = 1/2. A record that shows 0 is
    that of the first with 3/4; if it is alone the odds are 3 to 1/3, which makes 9/10."""
    records = records_of({"a": [0, 1]})
    fitted = [Pram(key="a", retention=0.75).fitted(records)]
    found = after_pram(records, records, fitted)
    assert found.chance == pytest.approx([0.75, 0.75])
    assert found.chance_alone == pytest.approx([0.9, 0.9])
    assert found.as_if_true == 2
    # Alone and his own: 3/4 · 3/4, for either.
    assert expected_links(records, fitted).value == pytest.approx(9 / 8)


def test_nobody_who_has_what_a_record_shows():
    records = records_of({"a": [0, 1], "b": [0, 1]})
    fitted = [Pram(key="a", retention=0.5).fitted(records)]
    shown = records.with_levels("a", np.array([1, 1]))
    found = after_pram(records, shown, fitted)
    assert found.chance[found.levels[:, 1] == 0] == 0
    assert found.chance[found.levels[:, 1] == 1] == 1


def test_too_many_pairs(monkeypatch):
    records = drawn_records(50, {"a": 10}, np.random.default_rng(1))
    fitted = [Pram(key="a").fitted(records)]
    monkeypatch.setattr(module, "MOST_LOOKUPS", 0)
    monkeypatch.setattr(module, "MOST_PAIRS", 1)
    for found in (after_pram(records, records, fitted), expected_links(records, fitted)):
        assert isinstance(found, Unavailable)
        assert "too many combinations could have become each other" in found.reason


@pytest.mark.parametrize(
    ("prams", "message"),
    [
        (
            [Pram(key="a"), Pram(key="a")],
            "keys that are randomised must be named once each, got a",
        ),
        (
            [Pram(key="a", strata=("b",)), Pram(key="b")],
            "strata of a must be keys that are not randomised themselves, got b",
        ),
    ],
)
def test_what_has_no_single_matrix(prams, message):
    records = records_of({"a": [0, 1], "b": [0, 1]})
    fitted = [one.fitted(records) for one in prams]
    for ask in (
        lambda: after_pram(records, records, fitted),
        lambda: expected_links(records, fitted),
    ):
        with pytest.raises(InputError) as complaint:
            ask()
        assert message in str(complaint.value)
