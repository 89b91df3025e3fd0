"""Simple steps over cells, from which others are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from discreet.data.cells import CellBatch
from discreet.engines.local.grouping import places_among
from discreet.numerics.arrays import FloatArray, IntArray


class NothingKept:
    """A step that makes columns and no summary."""

    reads: tuple[str, ...] = ()

    def joined(self, one: None, other: None) -> None:
        """Nothing."""


@dataclass(frozen=True)
class ByCode(NothingKept):
    """Columns of cells that are known by their codes, the rows of `words` in order.

    Trusted: every cell is among them.
    """

    words: IntArray
    columns: Mapping[str, NDArray[Any]]

    @property
    def gives(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns)

    def of(self, batch: CellBatch) -> tuple[Mapping[str, FloatArray], None]:
        """What is known of each cell."""
        at = places_among(self.words, batch.words, ordered=True)
        return {name: values[at] for name, values in self.columns.items()}, None
