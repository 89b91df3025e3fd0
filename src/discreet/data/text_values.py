"""Numbers that came as text: a column of a CSV file that goes into a file that has types."""

import pyarrow as pa
import pyarrow.compute as pc

# Fifteen digits are what a double holds for certain; a zero in front is part of a code.
WHOLE = r"^-?(?:0|[1-9][0-9]{0,14})$"
DECIMAL = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
MOST_DIGITS = 15


def typed_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as whole numbers or as numbers, where every value is one written plainly; else as
    it is."""
    if not pa.types.is_string(column.type):
        return column
    known = column.drop_null()
    known = known.filter(pc.not_equal(known, ""))
    if not len(known):
        return column
    kind = _kind(known)
    if kind is None:
        return column
    empty = pc.fill_null(pc.equal(column, ""), True)
    return pc.if_else(empty, pa.scalar(None, pa.string()), column).cast(kind)


def _kind(known: pa.ChunkedArray) -> pa.DataType | None:
    if pc.all(pc.match_substring_regex(known, WHOLE)).as_py():
        return pa.int64()
    digits = pc.utf8_length(pc.replace_substring_regex(known, "[-.]", ""))
    short = pc.max(digits).as_py() <= MOST_DIGITS
    if short and pc.all(pc.match_substring_regex(known, DECIMAL)).as_py():
        return pa.float64()
    return None
