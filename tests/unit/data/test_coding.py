"""The mixed-radix code: one number or a few for a combination of keys, and back."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.coding import WORD_LIMIT, Coding

sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)


@given(sizes, st.integers(9, 10_000), st.integers(0, 2**32 - 1))
def test_decoding_gives_back_what_was_encoded(sizes, limit, seed):
    coding = Coding.of_sizes(sizes, limit)
    levels = np.random.default_rng(seed).integers(0, sizes, (20, len(sizes)))
    words = coding.encode(levels)
    assert words.shape == (20, coding.n_words)
    assert (words >= 0).all()
    assert (words < limit).all()
    assert (coding.decode(words) == levels).all()
    for key in range(len(sizes)):
        assert (coding.level(words, key) == levels[:, key]).all()


@pytest.mark.parametrize("limit", [4, 12, 1000])
def test_different_combinations_have_different_codes(limit):
    coding = Coding.of_sizes([3, 2, 4, 2], limit)
    every = np.array(list(itertools.product(range(3), range(2), range(4), range(2))))
    assert len({tuple(word) for word in coding.encode(every).tolist()}) == 48


@given(sizes, st.integers(9, 500))
def test_no_word_holds_more_combinations_than_the_limit(sizes, limit):
    coding = Coding.of_sizes(sizes, limit)
    for word in range(coding.n_words):
        here = [digit.size for digit in coding.digits if digit.word == word]
        assert here
        assert math.prod(here) <= limit


def test_one_word_reaches_to_the_limit_and_no_further():
    assert Coding.of_sizes([2] * 62).n_words == 1
    assert Coding.of_sizes([2] * 63).n_words == 2
    assert Coding.of_sizes([WORD_LIMIT]).n_words == 1
    assert Coding.of_sizes([WORD_LIMIT, 2]).n_words == 2
    assert Coding.of_sizes([1] * 500).n_words == 1


def test_the_largest_code_does_not_overflow():
    coding = Coding.of_sizes([2**31, 2**31])
    last = np.array([[2**31 - 1, 2**31 - 1]])
    assert coding.encode(last).tolist() == [[2**62 - 1]]
    assert (coding.decode(coding.encode(last)) == last).all()


def test_the_number_of_combinations_is_exact_however_large():
    assert Coding.of_sizes([10] * 100).n_combinations == 10**100
    assert Coding.of_sizes([10] * 100).sizes == (10,) * 100


@pytest.mark.parametrize("size", [0, -1, WORD_LIMIT + 1])
def test_a_key_needs_a_level_and_must_fit_in_a_word(size):
    with pytest.raises(ValueError, match="size of a key must be from 1 to"):
        Coding.of_sizes([2, size])


def test_levels_of_32_bits_make_codes_of_64():
    coding = Coding.of_sizes([50_000, 50_000, 50_000])
    levels = np.array([[49_999, 49_999, 49_999], [0, 0, 49_998], [1, 0, 0]])
    words = coding.encode(levels.astype(np.int32))
    assert words.tolist() == coding.encode(levels).tolist()
    assert coding.decode(words).tolist() == levels.tolist()
