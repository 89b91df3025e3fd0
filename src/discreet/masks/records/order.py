"""What stands beside the values: the order of the records, and columns that are not needed."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.errors import InputError, must_be
from discreet.masks.records.contract import CodedRecords
from discreet.masks.records.parameters import check_names, check_yes_or_no, need_households, said
from discreet.numerics.arrays import IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffle:
    """Put the records in random order, each order with the same probability.

    With `households` whole households are put in random order, each with its members beside each
    other, in random order too. Households are numbered anew in the order in which they come, as
    their old numbers would tell the old order.
    """

    name: ClassVar[str] = "shuffle"
    households: bool = False

    def __post_init__(self) -> None:
        check_yes_or_no("households", self.households)

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        together = ", households together" if self.households else ""
        return f"put the records in random order{together}"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        return (
            "The place of a record no longer tells anything; its values tell what they told before."
        )

    def applied(self, records: CodedRecords, rng: np.random.Generator) -> CodedRecords:
        """The records in another order; the records given stay as they are."""
        order = rng.permutation(len(records))
        if self.households:
            found, number = np.unique(need_households(records), return_inverse=True)
            place = rng.permutation(len(found))
            order = order[np.argsort(place[number[order]], kind="stable")]
        shuffled = records.part(order)
        if shuffled.household is None:
            return shuffled
        return replace(shuffled, household=_numbered_anew(shuffled.household))


def _numbered_anew(household: IntArray) -> IntArray:
    """The households numbered from 0 in the order in which they come."""
    found, first, number = np.unique(household, return_index=True, return_inverse=True)
    anew = np.empty(len(found), dtype=np.int64)
    anew[np.argsort(first)] = np.arange(len(found))
    renumbered: IntArray = anew[number]
    return renumbered


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveColumns:
    """Leave these columns out of the file that goes out; the writer does it.

    Checked: at least one is named, each once. Trusted: they are columns of the file.
    """

    name: ClassVar[str] = "remove_columns"
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        check_names("columns", self.columns)
        if not self.columns:
            raise InputError(must_be("columns", "at least one name", "none"))

    @property
    def in_words(self) -> str:
        """What it does, as an instruction."""
        return f"leave out {said(self.columns)}"

    @property
    def still_possible(self) -> str:
        """What an intruder can still do, in a sentence."""
        return (
            "What these columns held is not in the file; it can still be guessed from columns that "
            "depend on them."
        )
