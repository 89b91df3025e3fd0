"""What goes into a file beside the table: its title, its source, when it was made."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a reader of a published table is told of it; nothing of it has to be given.

    `updated` is a date or a time in the form of ISO 8601. `column` names the column of figures,
    where it is to have another name than the usual one.
    """

    title: str = ""
    source: str = ""
    updated: str = ""
    column: str = ""
