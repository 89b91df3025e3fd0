"""Cell keys: what is published, what of it is certain, and what is said of it."""

import hashlib

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.data.table import Table
from discreet.errors import InputError
from discreet.masks import same_persons
from discreet.masks.cell_key import NOT_USED, noisy_tables, perturb_by_keys, scrambled
from discreet.masks.perturbation_table import NoiseRule, perturbation_table
from discreet.masks.same_persons import SamePersons

TABLE = Table.of_dense(np.array([[1, 4, 0], [7, 2, 30]]), names=["a", "b"])
RULE = NoiseRule(variance=2.0, largest=4, small=2)
EVERY = [["a", "b"], ["a"], ["b"], []]


def test_figures_are_what_the_rule_allows():
    for seed in range(100):
        masked = perturb_by_keys(TABLE, rule=RULE, seed=seed, sets=EVERY)
        for one in masked.published:
            counts = TABLE.margin(one.axes)
            assert np.all(np.abs(one.counts - counts) <= 4)
            assert np.all(one.counts[counts == 0] == 0)
            assert not np.any((one.counts > 0) & (one.counts <= 2))


def test_what_is_known_holds_of_the_true_table():
    truth = TABLE.dense().ravel()
    for seed in range(100):
        masked = perturb_by_keys(TABLE, rule=RULE, seed=seed, sets=EVERY)
        for one in masked.known:
            total = int(truth[one.cells].sum())
            assert one.low <= total
            assert one.high is None or total <= one.high
        assert np.isfinite(masked.likelihood(truth[None])).all()


def test_deviations_of_one_count_follow_its_row():
    table, counts = perturbation_table(RULE), np.full(400, 2)
    drawn = [noisy_tables(counts, [(0,)], table, seed=seed)[0].counts - 2 for seed in range(20)]
    observed = np.bincount(np.concatenate(drawn) + 4, minlength=9)
    expected = table.probabilities[2] * observed.sum()
    possible = expected > 0
    assert observed[~possible].sum() == 0
    assert chisquare(observed[possible], expected[possible]).pvalue > 1e-3


def test_the_same_seed_gives_the_same_figures_and_another_one_others():
    one, same, other = (perturb_by_keys(TABLE, rule=RULE, seed=s, sets=EVERY) for s in (3, 3, 4))
    for a, b in zip(one.published, same.published):
        assert np.array_equal(a.counts, b.counts)
    assert any(
        not np.array_equal(a.counts, b.counts) for a, b in zip(one.published, other.published)
    )
    assert one.record() == {
        "mask": "cell-key",
        "parameters": {
            "variance": 2.0,
            "max": 4,
            "small": 2,
            "keep": None,
            "sets": [["a", "b"], ["a"], ["b"], []],
            "total_known": True,
        },
        "seed": 3,
    }


def test_scrambled_keys_are_those_of_blake2b():
    """Of the key 5 under a secret of 32 zeros, by hashlib itself."""
    own = hashlib.blake2b(b"\x05" + b"\0" * 7, digest_size=8, key=b"\0" * 32).digest()
    found = scrambled(np.array([[5, 6]], dtype=np.uint64), b"\0" * 32)
    assert int(found[0, 0]) == int.from_bytes(own, "little")
    assert found.shape == (1, 2)
    assert found[0, 0] != found[0, 1]


def test_a_full_table_alone_has_a_factor_for_each_figure():
    masked = perturb_by_keys(TABLE, rule=RULE, seed=1)
    assert [one.axes for one in masked.published] == [(0, 1)]
    assert len(masked.factors) == 6
    assert masked.guide == ()
    assert masked.title == "cell-key noise, variance 2, max 4, small 2"
    assert np.array_equal(masked.estimate, masked.published[0].counts)
    ranges = {s.name: (s.low, s.high) for s in masked.known}
    assert ranges["total"] == (44, 44)
    assert len(ranges) == 7


def test_the_number_of_persons_need_not_be_known():
    masked = perturb_by_keys(TABLE, rule=RULE, seed=1, total_known=False)
    assert "total" not in {one.name for one in masked.known}
    assert masked.system().n_named == 6


def test_words_say_what_was_done_and_what_averaging_comes_to():
    kept = perturb_by_keys(TABLE, rule=NoiseRule(variance=2.0, keep=0.3), seed=1)
    assert kept.title == "cell-key noise, variance 2, max 5, keep 0.3"
    plain = kept.effect
    assert "changed by at most 5, right on average and with variance 2" in plain
    assert "a count stays as it is with probability 0.3." in plain
    full = perturb_by_keys(TABLE, rule=RULE, seed=1, sets=EVERY)
    assert full.title == "cell-key noise, variance 2, max 4, small 2 [a b][a][b][total]"
    assert "no figure from 1 to 2 appears; figures need not add up across tables." in full.effect
    # (1/12 + 1/4 + 2/3 + 2) / 6 = 1/2, by the effects of no, each and both variables
    assert "can be estimated with variance 1 in place of 2." in full.effect
    few = perturb_by_keys(TABLE, rule=NoiseRule(variance=6.0), seed=1).effect
    assert "A count of 1 (variance 1.72) cannot have this variance." in few
    wide = perturb_by_keys(TABLE, rule=NoiseRule(variance=90.0, largest=10), seed=1).effect
    assert "Counts of 1 (variance" in wide
    assert "and 4 more cannot have this variance." in wide


def test_a_total_that_solvers_cannot_hold_with_noise_is_refused():
    table = Table.of_dense(np.array([2**53 - 5, 1]))
    with pytest.raises(InputError, match="table must be of fewer than 2\\*\\*53 persons less"):
        perturb_by_keys(table, rule=RULE, seed=1)
    with pytest.raises(InputError, match="seed must be a whole number, at least 0, got -1"):
        perturb_by_keys(TABLE, rule=RULE, seed=-1)


def test_too_many_pairs_to_compare_are_said_to_be_left_out(monkeypatch):
    masked = perturb_by_keys(TABLE, rule=RULE, seed=1, sets=[["a"], ["b"]])
    assert masked.beyond == ""
    monkeypatch.setattr(same_persons, "MOST_PAIRS", 1)
    fewer = perturb_by_keys(TABLE, rule=RULE, seed=1, sets=[["a"], ["b"]])
    assert fewer.beyond == NOT_USED
    assert isinstance(fewer.likelihood, SamePersons)
    assert fewer.factors is None
    assert len(fewer.known) < len(masked.known)
