"""Codes for missing, suppressed and inapplicable values, as they may be given."""

from collections.abc import Mapping, Sequence

from discreet.data.missing import EVERY_COLUMN, MissingCodes

Codes = Mapping[str, Sequence[str]] | Sequence[str]  # by column, or for every column


def codes_of(missing: Codes, suppressed: Codes, not_applicable: Codes) -> MissingCodes:
    """The codes of each kind by column."""
    return MissingCodes(
        missing=by_column(missing),
        suppressed=by_column(suppressed),
        not_applicable=by_column(not_applicable),
    )


def by_column(codes: Codes) -> dict[str, Sequence[str]]:
    """Codes by column, those of a list under '*' for every column."""
    if isinstance(codes, Mapping):
        return dict(codes)
    listed = (codes,) if isinstance(codes, str) else tuple(codes)
    return {EVERY_COLUMN: listed} if listed else {}
