"""Columns of cells in parts of bounded size: in memory, or in files of a private folder.

A part is a set of columns of one length. Its columns are read when they are asked for, and more can
be put beside them.
"""

import math
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import OutputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

MOST_OPEN = 200  # where few may be, a process may have 256 files open

Array = NDArray[Any]
Columns = Mapping[str, Array]
Kind = tuple[Any, tuple[int, ...]]  # of the numbers of a column, and the shape of one row


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Part:
    """Some columns of one length, in memory, or where there is a `folder` in a file each, which
    goes when nobody holds the part any more."""

    length: int
    folder: Path | None = None
    held: dict[str, Array] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.folder is not None:
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def __len__(self) -> int:
        return self.length

    def __contains__(self, name: str) -> bool:
        return name in self.held or name in self.kinds

    def read(self, name: str, first: int = 0, end: int | None = None) -> Array:
        """One column, or its rows from `first` up to `end`."""
        end = self.length if end is None else end
        if self.folder is None:
            return self.held[name][first:end]
        dtype, shape = self.kinds[name]
        width = dtype.itemsize * math.prod(shape)
        found: Array = np.fromfile(
            self._path(name), dtype, (end - first) * math.prod(shape), offset=first * width
        )
        if len(found) < (end - first) * math.prod(shape):
            raise OutputError(must_be("temporary folder", "left alone", "a file that was cut"))
        return found.reshape(-1, *shape)

    def put(self, columns: Columns) -> None:
        """More columns, or others in the place of those of the same name."""
        if self.folder is None:
            self.held.update(columns)
            return
        for name, values in columns.items():
            self.kinds[name] = values.dtype, values.shape[1:]
            with written(), self._path(name).open("wb") as file:
                write(file, values)

    def _path(self, name: str) -> Path:
        """The file of a column: its name may be anything, so it is the number."""
        assert self.folder is not None
        return self.folder / str(list(self.kinds).index(name))

    def remove(self) -> None:
        """Give back the room."""
        self.held.clear()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(slots=True)
class Shelf:
    """Where parts are kept, and how many cells there may be in one.

    While there are no more than `most_held` cells they are one part in memory; beyond that they go
    to files of `folder` in parts of about `at_once`. `progress` is told how far work on them is.
    """

    folder: Path | None = None
    most_held: int = 1 << 62
    at_once: int = 1 << 22
    progress: Progress = silent
    numbers: Any = field(default_factory=count, repr=False)

    def n_parts(self, n_cells: int) -> int:
        """In how many parts so many cells are kept."""
        if n_cells <= self.most_held:
            return 1
        return -(-n_cells // self.at_once)

    def part(self, columns: Columns, *, on_disk: bool) -> Part:
        """These columns as a part."""
        part = Part(len(next(iter(columns.values()))), self._new_folder() if on_disk else None)
        part.put(columns)
        return part

    def scattered(self, rows: Iterable[tuple[Array, Columns]], n_parts: int) -> list[Part]:
        """Parts of rows that come some at a time, each with the number of its part."""
        if n_parts == 1:
            return [self.part(_joined([columns for _, columns in rows]), on_disk=False)]
        return self._filled(rows, n_parts)

    def gathered(self, rows: Iterable[Columns]) -> Part:
        """One part of rows that come some at a time, on disk where there is a folder."""
        if self.folder is None:
            return self.part(_joined(list(rows)), on_disk=False)
        placed = ((np.zeros(len(next(iter(c.values()))), np.uint8), c) for c in rows)
        return self._filled(placed, 1)[0]

    def _filled(self, rows: Iterable[tuple[Array, Columns]], n_parts: int) -> list[Part]:
        """Parts on disk."""
        folders = [self._new_folder() for _ in range(n_parts)]
        lengths = np.zeros(n_parts, dtype=np.int64)
        kinds: dict[str, Kind] = {}
        with written(), ExitStack() as opened:
            files = Files(folders, opened)
            for numbers, columns in rows:
                order = np.argsort(numbers, kind="stable")
                ends = np.searchsorted(numbers[order], np.arange(n_parts + 1))
                lengths += np.diff(ends)
                for name, values in columns.items():
                    kinds.setdefault(name, (values.dtype, values.shape[1:]))
                    files.append(list(kinds).index(name), values[order], ends)
        pairs = zip(lengths.tolist(), folders, strict=True)
        return [Part(length, folder, kinds=dict(kinds)) for length, folder in pairs]

    def _new_folder(self) -> Path:
        assert self.folder is not None
        folder = self.folder / f"part-{next(self.numbers)}"
        with written():
            folder.mkdir()
        return folder


class Files:
    """One file for each part and column, to which rows are added.

    A process may have only so many files open: `MOST_OPEN` stay open, others one at a time.
    """

    def __init__(self, folders: Sequence[Path], opened: ExitStack) -> None:
        self.folders = folders
        self.opened = opened
        self.held: dict[int, list[Any]] = {}
        self.made: set[int] = set()

    def append(self, column: int, values: Array, ends: IntArray) -> None:
        """Rows of one column, those of part i from `ends[i]` up to `ends[i + 1]`."""
        if column not in self.made:
            self._make(column)
        held = self.held.get(column)
        for number in np.flatnonzero(np.diff(ends)).tolist():
            rows = values[ends[number] : ends[number + 1]]
            if held is not None:
                write(held[number], rows)
                continue
            with self._path(number, column).open("ab") as file:
                write(file, rows)

    def _make(self, column: int) -> None:
        """Files of all parts, which an empty part has too."""
        paths = [self._path(number, column) for number in range(len(self.folders))]
        if (len(self.held) + 1) * len(paths) <= MOST_OPEN:
            self.held[column] = [self.opened.enter_context(path.open("wb")) for path in paths]
        else:
            for path in paths:
                path.touch()
        self.made.add(column)

    def _path(self, number: int, column: int) -> Path:
        return self.folders[number] / str(column)


def write(file: Any, values: Array) -> None:
    """The numbers of an array, as they lie. (`tofile` does not tell when the last of them find no
    room on the disk.)"""
    if values.size:
        file.write(np.ascontiguousarray(values).data)


def _joined(parts: Sequence[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@contextmanager
def written() -> Iterator[None]:
    """What goes wrong in writing, as an error that says what to do."""
    try:
        yield
    except OSError as error:
        remedy = "free some space, or name another folder (temporary)"
        got = error.strerror or "a disk that is full or failing"
        raise OutputError(must_be("temporary folder", "writable", got, remedy=remedy)) from error
