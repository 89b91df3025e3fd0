"""Writing published tables to files that statistics offices and their users exchange."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

import numpy as np

from discreet.data.published.about import About
from discreet.data.published.csv_writing import csv_bytes
from discreet.data.published.excel_writing import excel_bytes
from discreet.data.published.json_stat_writing import json_stat_bytes
from discreet.data.published.published_table import PublishedTable
from discreet.data.published.px_writing import px_bytes
from discreet.data.writing import written_whole
from discreet.errors import InputError, must_be, one_of

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


class Format(StrEnum):
    """A format of files for tables."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON_STAT = "json-stat2"
    PX = "px"

    @property
    def ending(self) -> str:
        """The ending of the name of such a file."""
        return ".json" if self is Format.JSON_STAT else f".{self.value}"


WRITERS: Mapping[Format, Callable[[PublishedTable, About], bytes]] = {
    Format.CSV: csv_bytes,
    Format.XLSX: excel_bytes,
    Format.JSON_STAT: json_stat_bytes,
    Format.PX: px_bytes,
}
NOTHING = About()


def write_published(
    table: PublishedTable, path: str | Path, format: Format | str, *, about: About = NOTHING
) -> None:
    """The table in a file of that format; whole, or not at all.

    A withheld figure is its mark; without one it is empty (CSV), `x` (Excel), null with a status
    (JSON-stat), or dots (PX). The part of the population that the table is of becomes variables
    with one label each.
    Raises InputError for what is no published table, OutputError for what the format cannot hold.
    """
    data = table_bytes(table, format, about=about)
    with written_whole(Path(path)) as temporary:
        temporary.write_bytes(data)


def table_bytes(table: PublishedTable, format: Format | str, *, about: About = NOTHING) -> bytes:
    """The bytes of the file that `write_published` writes."""
    _check(table)
    return WRITERS[one_of("format", Format, format)](_with_part(table), about)


def formats_of(names: Sequence[str]) -> tuple[Format, ...]:
    """Formats by their names. Checked: there is one, and none is named twice."""
    found = tuple(one_of("format", Format, name) for name in names)
    if not found or len(set(found)) < len(found):
        raise InputError(must_be("format", "different formats", ", ".join(names) or "none"))
    return found


def _check(table: PublishedTable) -> None:
    bad = next((one for one in table.printed if one and not NUMBER.fullmatch(one)), None)
    if bad is not None:
        raise InputError(must_be("printed", "figures as text, such as 12 or 12.5", repr(bad[:40])))
    for name, labels in zip(table.variables, table.labels, strict=True):
        if len(set(labels)) < len(labels):
            raise InputError(must_be(f"labels of {name!r}", "different", "one twice"))


def _with_part(table: PublishedTable) -> PublishedTable:
    """The table with what it is a part of as variables of one label."""
    if not table.part:
        return table
    twice = next((name for name in table.part if name in table.variables), None)
    if twice is not None:
        raise InputError(must_be("part", "of other variables than the table's", repr(twice)))
    codes = np.zeros((table.n_figures, len(table.part)), dtype=np.int64)
    return replace(
        table,
        variables=(*table.variables, *table.part),
        labels=(*table.labels, *((label,) for label in table.part.values())),
        places=np.concatenate([table.places, codes], axis=1),
        part=MappingProxyType({}),
    )
