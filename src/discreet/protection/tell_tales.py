"""Columns beside the keys that still tell what was done away with: a code beside its label, a year
of birth beside an age that was put into bands.

A column tells a key where all records with one of its values have the same value of the key, and
each value has FEWEST records on average, so that this is no accident. The first records of the file
are looked at, a quarter of a million at most.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST = 5  # records that a value of a telling column has, on average


def tell_tales(
    table: "pa.Table", keys: Sequence[str], others: Sequence[str]
) -> list[tuple[str, str]]:
    """Each column that tells a key, with that key."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table({name: _plain(table.column(name)) for name in (*keys, *others)})
    found = []
    for other in others:
        kind = table.column(other).type
        if pa.types.is_nested(kind) or pa.types.is_null(kind):
            continue
        known = table.filter(pc.is_valid(table.column(other)))
        values = known.select([other]).group_by([other]).aggregate([]).num_rows
        if not values or values * FEWEST > known.num_rows:
            continue
        found += [(other, key) for key in keys if _tells(known, other, key, values)]
    return found


def _plain(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """The column in a type that values can be grouped by: views of texts as texts."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return column.cast(pa.string()) if "string" in str(kind) else column


def _tells(table: "pa.Table", other: str, key: str, values: int) -> bool:
    """Whether a column has one value of the key for each of its own, and the key has several."""
    both = table.select([other, key]).group_by([other, key]).aggregate([]).num_rows
    return both == values and len(table.column(key).unique()) > 1
