"""What a file was and what it became: the combinations before, and those after."""

from dataclasses import dataclass

from discreet.engines.key_space import KeyLevels
from discreet.numerics.arrays import FloatArray, IntArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """How many records of each combination of keys became which.

    Row i: `records[i]` records (weights of `weight[i]` in all, None for a file without) had the
    levels `before[i]` (rows × keys) of `keys_before`, and have the levels `after[i]` of
    `keys_after` now. The keys are the same, in the same order; a key that was left out has one
    level afterwards, whose value is "". A missing value is the last level of a key, whose value is
    None; so is one that was taken out. `recoded[j][v]` is the level that value v of key j has
    wherever it was not taken out, changed by chance or swapped. `leaf_shares[j][u]` is the share
    of the key's domain that its level u afterwards stands for: 1/leaves for a level as it was, 1
    for all of them.
    """

    keys_before: tuple[KeyLevels, ...]
    keys_after: tuple[KeyLevels, ...]
    before: IntArray
    after: IntArray
    records: IntArray
    recoded: tuple[IntArray, ...]
    leaf_shares: tuple[FloatArray, ...]
    weight: FloatArray | None = None

    def __post_init__(self) -> None:
        for array in (self.before, self.after, self.records, *self.recoded, *self.leaf_shares):
            read_only(array)

    @property
    def n_records(self) -> int:
        """Records in all."""
        return int(self.records.sum())
