"""Writing what was chosen: each published table as CSV, Excel, JSON-stat or PX, and how it was made
as JSON.

The record holds the mask, its parameters and its seed, so that the release can be made again from
the same table. It holds no hidden count, yet it is for the agency alone: whoever knows the seed of
a random mask can undo it.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.choice.choice import Candidate
from discreet.data.abandoned import named_after_process
from discreet.data.published import published_table
from discreet.data.published.about import About
from discreet.data.published.headings import heading
from discreet.data.published.writing import Format, table_bytes
from discreet.data.table import Table
from discreet.data.writing import PREFIX
from discreet.errors import InputError, OutputError, must_be
from discreet.masks.contract import PublishedTable
from discreet.masks.layout_notation import part_labels

RECORD = "record.internal.json"
WARNING = "internal: whoever knows the seed of a random mask can undo it; publish the tables only"
LONGEST_NAME = 60


def check_folder(folder: Path) -> None:
    """The folder is new, in one that exists, or empty: nothing in it can be mistaken or lost."""
    shown = repr(str(folder))
    rule = "a new or empty folder, in one that exists"
    try:
        if folder.is_dir() and not any(folder.iterdir()):
            _check_writable(folder)
            return
        if folder.exists():
            problem = "which holds files" if folder.is_dir() else "which is no folder"
            raise OutputError(must_be("write", rule, f"{shown}, {problem}"))
        if not folder.parent.is_dir():
            raise OutputError(must_be("write", rule, f"{shown}, whose parent does not exist"))
        _check_writable(folder.parent)
    except OSError as error:
        raise OutputError(must_be("write", rule, f"{shown[:100]}, {error.strerror}")) from error


def _check_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(must_be("write", "in a folder you may write to", repr(str(folder))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What goes out of a table, and the record of how it was made."""

    table: Table
    published: tuple[PublishedTable, ...]
    record: Mapping[str, Any]
    figures: tuple[str, ...] = ()


def publication_of(candidate: Candidate, table: Table) -> Publication:
    """What a candidate publishes: tables of its mask, or margins of a table too large for one.

    Checked: it publishes something.
    """
    masked = candidate.masked
    if masked is not None:
        record = {**masked.record(), "title": masked.title, "effect": masked.effect}
        record["beyond"] = masked.beyond or None
        return Publication(
            table=masked.source, published=masked.published, record=record, figures=masked.figures
        )
    if not candidate.margins:
        raise InputError(must_be("candidate", "one that publishes something", "nothing"))
    sets = [table.axes(names) for names in candidate.margins]
    tables = tuple(PublishedTable(axes=axes, counts=table.margin(axes)) for axes in sets)
    named = [list(names) for names in candidate.margins]
    record = {"mask": "margins", "parameters": {"sets": named}, "seed": None}
    return Publication(table=table, published=tables, record=record)


def write_release(
    publication: Publication, folder: Path, formats: Sequence[Format] = (Format.CSV,)
) -> tuple[Path, ...]:
    """The files written: each published table in each format, then the record.

    All of them or none: they are written out of sight and only then put in their places.
    """
    check_folder(folder)
    files = {
        stem + format.ending: table_bytes(as_read, format, about=about)
        for stem, (as_read, about) in zip(_stems(publication), _tables(publication), strict=True)
        for format in formats
    }
    record = json.dumps(release_record(publication, formats), ensure_ascii=False, indent=2) + "\n"
    files[RECORD] = record.encode("utf-8", "backslashreplace")
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        _write_all(folder, files)
    except BaseException as error:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        problem = error.strerror or "an error"
        raise OutputError(must_be(str(folder), "writable", problem)) from error
    return tuple(folder / name for name in files)


def _write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Files in a hidden folder, moved up once all are there; none is left if that fails."""
    hidden = Path(tempfile.mkdtemp(prefix=named_after_process(PREFIX), dir=folder))
    moved: list[Path] = []
    try:
        for name, data in files.items():
            (hidden / name).write_bytes(data)
        for name in files:
            moved.append(folder / name)
            (hidden / name).rename(moved[-1])
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def release_record(
    publication: Publication, formats: Sequence[Format] = (Format.CSV,)
) -> dict[str, Any]:
    """Mask, parameters, seed, effect and files; no count that is not published."""
    names = publication.table.names
    stems = zip(_stems(publication), publication.published, strict=True)
    endings = [format.ending for format in formats]
    return {
        "warning": WARNING,
        **publication.record,
        "variables": {
            name: list(levels) for name, levels in zip(names, publication.table.levels, strict=True)
        },
        "tables": [
            {
                "file": stem + endings[0],
                **({"also": [stem + one for one in endings[1:]]} if endings[1:] else {}),
                "variables": [names[axis] for axis in one.axes],
                **({} if one.layout is None else {"table": one.layout.title}),
                "figures": int(one.counts.size),
                "hidden": 0 if one.shown is None else int((~one.shown).sum()),
            }
            for stem, one in stems
        ],
        "figures": list(publication.figures),
    }


def _stems(publication: Publication) -> list[str]:
    """A name for each published table: its number and its variables."""
    names = publication.table.names
    return [
        f"table_{i}_{_plain([names[axis] for axis in one.axes])}"
        for i, one in enumerate(publication.published, start=1)
    ]


def _tables(publication: Publication) -> list[tuple[published_table.PublishedTable, About]]:
    """Each table as its readers will have it, a hidden figure withheld, and what it is called."""
    return [
        (found, About(column=heading(found, publication.table.names)))
        for found in (as_published(publication.table, one) for one in publication.published)
    ]


def as_published(table: Table, one: PublishedTable) -> published_table.PublishedTable:
    """A table that goes out as one that is read from a file: no figure that is hidden is in it."""
    counts = one.counts.ravel().tolist()
    shown = [True] * len(counts) if one.shown is None else one.shown.ravel().tolist()
    part, labels = _part(one), tuple(table.levels[axis] for axis in one.axes)
    if one.layout is not None:
        labels = tuple(variable.categories for variable in one.layout.variables)
    places = np.array(list(np.ndindex(one.counts.shape))).reshape(len(counts), len(one.axes))
    zeros = np.zeros((len(counts), len(part)), dtype=np.int64)
    return published_table.PublishedTable(
        name=" ".join(table.names_of(one.axes)),
        variables=(*part, *table.names_of(one.axes)),
        labels=(*((level,) for level in part.values()), *labels),
        places=np.concatenate([zeros, places], axis=1),
        printed=tuple(
            str(figure) if is_shown else "" for figure, is_shown in zip(counts, shown, strict=True)
        ),
    )


def _part(published: PublishedTable) -> dict[str, str]:
    """The part of the data that a whole table is of: a column each for variables it has not."""
    if published.layout is None:
        return {}
    own = published.layout.names()
    return {name: level for name, level in part_labels(published.layout) if name not in own}


def _plain(names: Sequence[str]) -> str:
    """Names as part of a file's name on any system."""
    return re.sub(r"[^A-Za-z0-9]+", "_", "_".join(names) or "total").strip("_")[:LONGEST_NAME]
