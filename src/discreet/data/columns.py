"""Finding a column by name, and saying so helpfully when it is not there."""

import difflib
from collections.abc import Sequence

from discreet.errors import ColumnError, must_be

FRAME = "the data frame"  # how a frame is spoken of, which has no name
MOST_LISTED = 8  # columns of a frame that a complaint lists


def find_columns(
    role: str, wanted: Sequence[str], names: Sequence[str], source: str, *, is_file: bool = True
) -> tuple[int, ...]:
    """Position of each wanted column among `names`; `role`, `source` and whether it is a file are
    for the message."""
    return tuple(_find(role, name, names, source, is_file) for name in wanted)


def _find(role: str, wanted: str, names: Sequence[str], source: str, is_file: bool) -> int:
    positions = [i for i, name in enumerate(names) if name == wanted]
    if len(positions) == 1:
        return positions[0]
    if positions:
        rule = f"a column that occurs once in {source}"
        got = f"{wanted!r} {len(positions)} times"
        raise ColumnError(must_be(role, rule, got, remedy="rename the columns"))
    rule = "columns" if role in ("keys", "variables") else "a column"
    remedy = _remedy(wanted, names, is_file)
    raise ColumnError(must_be(role, f"{rule} of {source}", repr(wanted), remedy=remedy))


def near_match(wanted: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant, if there is one like it."""
    folded = {name.casefold(): name for name in reversed(names)}
    near = difflib.get_close_matches(wanted.casefold(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def _remedy(wanted: str, names: Sequence[str], is_file: bool) -> str:
    near = near_match(wanted, names)
    if near is not None:
        return f"did you mean {near!r}?"
    if not is_file:
        more = ", …" if len(names) > MOST_LISTED else ""
        return f"it has {', '.join(map(repr, names[:MOST_LISTED]))}{more}"
    return f"it has {len(names):,} columns, none of a name like it; is its first line a header?"
