"""The distinct values of columns and how many records have each, all from one pass.

The values are those of the source, before they are named: what is missing and what a value is
called is for `naming` to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.engines.spark.folding import fold
from discreet.engines.spark.work import Work
from discreet.errors import InputError, must_be

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LEVELS = 1 << 22  # of a column, as its levels are known to the driver and to every worker


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one column other than NULL, in any order, with their numbers of records."""

    table: "pa.Table"  # columns v and n
    n_null: int

    @property
    def n_records(self) -> int:
        """Records in all."""
        import pyarrow.compute as pc

        return self.n_null + int(pc.sum(self.table["n"]).as_py() or 0)


def distinct_values(work: Work, frame: Any, names: Sequence[str]) -> list[Values] | None:
    """Of each column of the frame, whose `names` are for messages; None where it has no record."""
    found: list[Values] | None = fold(work, "reading the values", frame, _Distinct(tuple(names)))
    return found


@dataclass(frozen=True, slots=True)
class _Distinct:
    names: tuple[str, ...]

    def of(self, batch: "pa.Table") -> list[Values]:
        """The values of these records."""
        return [_counted(column) for column in batch.columns]

    def joined(self, one: list[Values], other: list[Values]) -> list[Values]:
        """The values of both."""
        both = [_added(mine, theirs) for mine, theirs in zip(one, other, strict=True)]
        for name, values in zip(self.names, both, strict=True):
            if len(values.table) > MOST_LEVELS:
                rule = f"a column of at most {MOST_LEVELS:,} different values"
                remedy = "group its values"
                raise InputError(must_be(f"column {name!r}", rule, "more", remedy=remedy))
        return both


def _counted(column: "pa.ChunkedArray") -> Values:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        none = {"v": pa.array([], pa.string()), "n": pa.array([], pa.int64())}
        return Values(pa.table(none), len(column))
    counts = pc.value_counts(column)  # of NULL too
    found = pa.table({"v": counts.field("values"), "n": counts.field("counts")})
    return Values(found.filter(pc.is_valid(found["v"])), column.null_count)


def _added(one: Values, other: Values) -> Values:
    import pyarrow as pa

    both = pa.concat_tables([one.table, other.table])
    table = both.group_by("v").aggregate([("n", "sum")]).rename_columns(["v", "n"])
    return Values(table.combine_chunks(), one.n_null + other.n_null)
