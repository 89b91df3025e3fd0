"""What a value costs when it is recoded or taken out: a number for each level of each key.

The search over recodings sums these numbers over the records of each key, and puts keys together.
Nothing but counts of levels is needed, so a candidate costs as much as its keys have levels.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray, read_only

FINEST = 1 << 16  # leaves beyond which a domain is not guessed from its shares


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedKey:
    """A key before anything is done: `records[v]` of value v, and the `leaves` of its domain.

    `missing` says that the last level stands for no value. Such a record has nothing to lose, but
    where it is recoded into a level of others, and is counted as one of them.
    """

    records: IntArray
    leaves: int
    missing: bool = False

    def __post_init__(self) -> None:
        read_only(self.records)

    @property
    def known(self) -> BoolArray:
        """Which levels before are values."""
        known: BoolArray = np.ones(len(self.records), dtype=np.bool_)
        known[len(known) - 1 :] = not self.missing
        return known

    @property
    def shares(self) -> FloatArray:
        """P(v): each value's share of the records that have one, 0 for the missing level."""
        held = np.where(self.known, self.records, 0)
        return held / (held.sum() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelLosses:
    """Loss of a record of each level after: `kept`, and `suppressed` if its value is taken out."""

    kept: FloatArray
    suppressed: FloatArray

    def __post_init__(self) -> None:
        read_only(self.kept)
        read_only(self.suppressed)


class SearchLoss(Protocol):
    """A loss that is a mean over the records of each key, put together over keys.

    The mean over all records is in [0, 1] for each key, however many of the values are taken out,
    and suppression of a level never costs less than keeping it.
    """

    @property
    def name(self) -> str:
        """What it is called in commands."""

    def of_key(self, key: SearchedKey, to: IntArray, leaf_shares: FloatArray) -> LevelLosses:
        """The losses of a key whose value v becomes level to[v], which stands for the share
        leaf_shares[to[v]] of its domain. Trusted: `to` has a level for each value."""

    def together(self, by_key: FloatArray, importance: FloatArray | None = None) -> FloatArray:
        """The loss of keys with these losses (… × keys), which rises with that of each key."""


@dataclass(frozen=True, slots=True)
class ArxLoss:
    """The metric "Loss" of ARX: how much of the domain a value after could be any of.

    x = (s − 1/D) / (1 − 1/D) for a level that stands for the share s of D leaves, 1 for a value
    taken out; over keys the geometric mean Π (1 + x_j)^w_j − 1 (Iyengar 2002; ARX, MetricMDNMLoss).
    """

    name: str = "arx"

    def of_key(self, key: SearchedKey, to: IntArray, leaf_shares: FloatArray) -> LevelLosses:
        """The share of the domain beyond one leaf; nothing for a key with one leaf."""
        values = ~_without_value(key, to, len(leaf_shares))
        lost = lost_share(leaf_shares, key.leaves)
        gone = lost_share(np.ones(len(leaf_shares)), key.leaves)
        return LevelLosses(kept=lost * values, suppressed=gone * values)

    def together(self, by_key: FloatArray, importance: FloatArray | None = None) -> FloatArray:
        """The geometric mean of 1 + x, less 1."""
        weights = normalised(importance, by_key.shape[-1])
        return np.asarray(np.expm1(np.log1p(by_key) @ weights))


@dataclass(frozen=True, slots=True)
class EntropyLoss:
    """The bits of a value that cannot be read any more, over those of the key.

    Kept: the mean of −log₂ P(v | g) over the records of group g; taken out: that of −log₂ P(v);
    both over H(v) (non-uniform entropy: Gionis and Tassa 2009). Of a rare group of many values
    one record may lose more than 1; the mean over the records of the key does not.
    """

    name: str = "entropy"

    def of_key(self, key: SearchedKey, to: IntArray, leaf_shares: FloatArray) -> LevelLosses:
        """The mean of each group; nothing for a key without entropy."""
        shares, n = key.shares, len(leaf_shares)
        group = _sums(to, shares, n)
        bits = shares * -np.log2(_or_1(shares))
        in_group = shares * -np.log2(_or_1(shares) / _or_1(group)[to])
        scale = _or_1(group) * (bits.sum() or 1.0)
        return LevelLosses(
            kept=_sums(to, in_group, n) / scale,
            suppressed=_sums(to, bits, n) / scale,
        )

    def together(self, by_key: FloatArray, importance: FloatArray | None = None) -> FloatArray:
        """The weighted mean."""
        return weighted_mean(by_key, importance)


@dataclass(frozen=True, slots=True)
class ValuesLoss:
    """The share of values that are not as they were: 1 for a level that holds several old ones,
    and for a value taken out."""

    name: str = "values"

    def of_key(self, key: SearchedKey, to: IntArray, leaf_shares: FloatArray) -> LevelLosses:
        """Which levels hold several old ones."""
        several = np.bincount(to, minlength=len(leaf_shares)) > 1
        values = ~_without_value(key, to, len(leaf_shares))
        return LevelLosses(kept=several.astype(np.float64), suppressed=values.astype(np.float64))

    def together(self, by_key: FloatArray, importance: FloatArray | None = None) -> FloatArray:
        """The weighted mean."""
        return weighted_mean(by_key, importance)


SEARCH_LOSSES: dict[str, SearchLoss] = {
    loss.name: loss for loss in (ArxLoss(), EntropyLoss(), ValuesLoss())
}


def search_loss(name: str) -> SearchLoss:
    """The loss of that name; raises InputError where there is none."""
    if name not in SEARCH_LOSSES:
        raise InputError(must_be("loss", f"one of {', '.join(SEARCH_LOSSES)}", repr(name)))
    return SEARCH_LOSSES[name]


def lost_share(shares: FloatArray, leaves: int) -> FloatArray:
    """(s − 1/D) / (1 − 1/D) of shares s of a domain with D leaves; 0 of one with a single leaf."""
    if leaves < 2:
        return np.zeros(len(shares))
    return np.clip((shares - 1.0 / leaves) / (1.0 - 1.0 / leaves), 0.0, 1.0)


def leaves_of(n_known: int, shares: FloatArray) -> int:
    """The least number of leaves, at least the known levels, of which all shares are whole parts.

    A tree may have leaves that no record has; only its shares then tell of them. It is the known
    levels where no number up to 2¹⁶ fits. Coarse shares fit several numbers: who knows the tree
    should say how many leaves it has.
    """
    least = max(n_known, round(1.0 / float(shares.min(initial=1.0))), 1)
    fitting = np.arange(least, max(min(8 * least, FINEST), least) + 1)
    for share in np.unique(np.round(shares, 12)):
        parts = fitting * share
        fitting = fitting[np.abs(parts - np.round(parts)) < 1e-6]
    return int(fitting[0]) if len(fitting) else least


def normalised(importance: FloatArray | None, n_keys: int) -> FloatArray:
    """The importance of each key as shares of the sum; by default all are equal.

    Raises InputError unless there is one finite number of 0 or more for each key, and one above 0.
    """
    given = np.ones(n_keys) if importance is None else np.asarray(importance, dtype=np.float64)
    sound = given.shape == (n_keys,) and bool(np.all(np.isfinite(given) & (given >= 0)))
    if not sound or (n_keys and not given.any()):
        rule = "a number of 0 or more for each key, not all of them 0"
        raise InputError(must_be("importance", rule, given.tolist()))
    scaled = given / (given.max(initial=0.0) or 1.0)  # so that no sum overflows
    return np.asarray(scaled / (scaled.sum() or 1.0))


def weighted_mean(by_key: FloatArray, importance: FloatArray | None) -> FloatArray:
    """The mean over the last axis by importance; 0 of no keys."""
    return np.asarray(by_key @ normalised(importance, by_key.shape[-1]))


def _without_value(key: SearchedKey, to: IntArray, n: int) -> BoolArray:
    """Which level after holds records without a value alone."""
    found: BoolArray = np.zeros(n, dtype=np.bool_)
    found[to[~key.known]] = True
    found[to[key.known]] = False
    return found


def _sums(to: IntArray, of: FloatArray, n: int) -> FloatArray:
    """The sums over the values of each level."""
    return np.bincount(to, weights=of, minlength=n).astype(np.float64)


def _or_1(numbers: FloatArray) -> FloatArray:
    """The numbers with 1 in place of 0: to divide by, or for a logarithm of 0."""
    return np.where(numbers > 0, numbers, 1.0)
