"""Writing what was chosen: each published table as a CSV file, and how it was made as JSON.

The record holds the mask, its parameters and its seed, so that the release can be made again from
the same table. It holds no hidden count, yet it is for the agency alone: whoever knows the seed of
a random mask can undo it.
"""

import csv
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from discreet.choice.choice import Candidate
from discreet.data.abandoned import named_after_process
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


def write_release(publication: Publication, folder: Path) -> tuple[Path, ...]:
    """The files written: a CSV file for each published table, then the record.

    All of them or none: they are written out of sight and only then put in their places.
    """
    check_folder(folder)
    texts = {
        name: table_csv(publication.table, published)
        for name, published in zip(file_names(publication), publication.published, strict=True)
    }
    texts[RECORD] = json.dumps(release_record(publication), ensure_ascii=False, indent=2) + "\n"
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        _write_all(folder, texts)
    except BaseException as error:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        problem = error.strerror or "an error"
        raise OutputError(must_be(str(folder), "writable", problem)) from error
    return tuple(folder / name for name in texts)


def _write_all(folder: Path, texts: Mapping[str, str]) -> None:
    """Files in a hidden folder, moved up once all are there; none is left if that fails."""
    hidden = Path(tempfile.mkdtemp(prefix=named_after_process(PREFIX), dir=folder))
    moved: list[Path] = []
    try:
        for name, text in texts.items():
            (hidden / name).write_bytes(text.encode("utf-8", "backslashreplace"))
        for name in texts:
            moved.append(folder / name)
            (hidden / name).rename(moved[-1])
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def release_record(publication: Publication) -> dict[str, Any]:
    """Mask, parameters, seed, effect and files; no count that is not published."""
    names = publication.table.names
    files = zip(file_names(publication), publication.published, strict=True)
    return {
        "warning": WARNING,
        **publication.record,
        "variables": {
            name: list(levels) for name, levels in zip(names, publication.table.levels, strict=True)
        },
        "tables": [
            {
                "file": file,
                "variables": [names[axis] for axis in one.axes],
                **({} if one.layout is None else {"table": one.layout.title}),
                "figures": int(one.counts.size),
                "hidden": 0 if one.shown is None else int((~one.shown).sum()),
            }
            for file, one in files
        ],
        "figures": list(publication.figures),
    }


def file_names(publication: Publication) -> list[str]:
    """A name for each published table: its number and its variables."""
    names = publication.table.names
    return [
        f"table_{i}_{_plain([names[axis] for axis in one.axes])}.csv"
        for i, one in enumerate(publication.published, start=1)
    ]


def table_csv(table: Table, published: PublishedTable) -> str:
    """A published table in long form; a hidden figure is left empty."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    count = _count_name(table.names)
    part = _part(published)
    writer.writerow([*part, *(table.names[axis] for axis in published.axes), count])
    writer.writerows((*part.values(), *row) for row in _rows(table, published))
    return buffer.getvalue()


def _rows(table: Table, published: PublishedTable) -> Iterator[Sequence[str]]:
    levels = [table.levels[axis] for axis in published.axes]
    if published.layout is not None:
        levels = [one.categories for one in published.layout.variables]
    counts = published.counts.ravel().tolist()
    shown = [True] * len(counts) if published.shown is None else published.shown.ravel().tolist()
    for labels, figure, is_shown in zip(product(*levels), counts, shown, strict=True):
        yield (*labels, str(figure) if is_shown else "")


def _part(published: PublishedTable) -> dict[str, str]:
    """The part of the data that a whole table is of: a column each for variables it has not."""
    if published.layout is None:
        return {}
    own = published.layout.names()
    return {name: level for name, level in part_labels(published.layout) if name not in own}


def _count_name(names: Sequence[str]) -> str:
    """A name for the column of counts that no variable has."""
    found = "count"
    while found in names:
        found += "_"
    return found


def _plain(names: Sequence[str]) -> str:
    """Names as part of a file's name on any system."""
    return re.sub(r"[^A-Za-z0-9]+", "_", "_".join(names) or "total").strip("_")[:LONGEST_NAME]
