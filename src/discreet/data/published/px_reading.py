"""Published tables in PX files (PC-Axis).

`"-"` is a zero, one to six dots are figures that are missing or withheld; what the file shows for
them (DATASYMBOL1 to 6) is their mark. Where CONTVARIABLE names a variable of measures, each of them
is a table of its own. Keywords in other languages than that of the file are passed over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from discreet.data.csv_dialect import open_bytes, readable
from discreet.data.excel_files import MOST_BYTES
from discreet.data.published.cube import Cube, Dimension, cube_tables
from discreet.data.published.figures_in_cells import Cell, NoFigure, plain_text, read_cell, shown
from discreet.data.published.gathering import MOST_FIGURES
from discreet.data.published.published_table import PublishedTable
from discreet.data.published.px_text import Entry, cells, decoded, entries
from discreet.errors import FileError, must_be

NIL = "-"
ZERO = Cell("0")


def read_px(path: Path, encoding: str | None) -> list[PublishedTable]:
    """The tables of a PX file."""
    with readable(path, "bytes"), open_bytes(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise FileError(must_be(path.name, f"of at most {MOST_BYTES >> 20:,} MB", "more"))
    text = decoded(path.name, data, encoding)
    del data
    found, start = entries(path.name, text)
    symbols = {"." * n: f"DATASYMBOL{n}" for n in range(1, 7)}
    told = {e.keyword: plain_text(" ".join(e.values)) for e in reversed(found) if not e.language}
    marks = {dots: told.get(symbol) or dots for dots, symbol in symbols.items()}
    matrix = _Matrix(path.name, tuple(found), marks)
    return cube_tables(matrix.cube(text, start))


@dataclass(frozen=True, slots=True)
class _Matrix:
    """What the keywords of a file say; `marks` are what it shows for one to six dots."""

    file: str
    entries: tuple[Entry, ...]
    marks: Mapping[str, str]

    def cube(self, text: str, start: int) -> Cube:
        """The figures with their dimensions. Checked: there are as many as these ask for."""
        stub, heading = self.values("STUB"), self.values("HEADING")
        if not stub and not heading:
            raise FileError(must_be(self.file, "PX with STUB or HEADING", "neither"))
        dimensions = [self._dimension(name) for name in (*stub, *heading)]
        size = prod(len(one.labels) for one in dimensions)
        if size > MOST_FIGURES:
            rule = f"a table of at most {MOST_FIGURES:,} figures"
            raise FileError(must_be(self.file, rule, "more", remedy="give smaller tables"))
        if any(entry.keyword == "KEYS" for entry in self.entries):
            found = self._keyed(text, start, dimensions, len(stub))
        else:
            found = self._dense(text, start, size)
        return Cube(
            file=self.file,
            dimensions=tuple(dimensions),
            cells=found,
            kind=None,
            unit=self._unit(),
            where=lambda place: f"DATA, figure {place + 1}",
        )

    def values(self, keyword: str, key: str | None = None) -> tuple[str, ...]:
        """The values of a keyword, of its first sub-key where one is given: those in the language
        of the file, else in the first that it has."""
        own = [
            entry
            for entry in self.entries
            if entry.keyword == keyword
            and (key is None or (entry.keys and plain_text(entry.keys[0]) == plain_text(key)))
        ]
        own.sort(key=lambda entry: entry.language != "")
        return own[0].values if own else ()

    def _dimension(self, name: str) -> Dimension:
        labels, codes = self.values("VALUES", name), self.values("CODES", name)
        labels = labels or codes or self._times(name)
        if not labels:
            raise FileError(must_be(self.file, f"PX with VALUES of {shown(name)}", "none"))
        if codes and len(codes) != len(labels):
            rule = f"PX with as many CODES of {shown(name)} as VALUES"
            raise FileError(must_be(self.file, rule, f"{len(codes)} of {len(labels)}"))
        is_metric = plain_text(name) in map(plain_text, self.values("CONTVARIABLE"))
        units = tuple(" ".join(self.values("UNITS", label)) for label in labels)
        return Dimension(
            name=plain_text(name),
            code=plain_text(" ".join(self.values("VARIABLECODE", name)) or name),
            labels=tuple(map(plain_text, labels)),
            codes=tuple(map(plain_text, codes or labels)),
            units=units if is_metric else (),
            is_metric=is_metric,
        )

    def _times(self, name: str) -> tuple[str, ...]:
        """The times of a variable that lists them with its scale: TLIST(A1),"2019","2020", or
        the years from one to another."""
        told = self.values("TIMEVAL", name)
        if not told or told[0].upper() != "TLIST":
            return ()
        found = told[2:]
        years = re.fullmatch(r"(\d{4})-(\d{4})", "".join(found))
        if years and told[1].upper() == "A1":
            return tuple(map(str, range(int(years[1]), int(years[2]) + 1)))
        return tuple(found)

    def _unit(self) -> str:
        """What all figures are measured in, where the file has one unit."""
        plain = [e for e in self.entries if e.keyword == "UNITS" and not e.keys and not e.language]
        return plain_text(" ".join(plain[0].values)) if plain else ""

    def _dense(self, text: str, start: int, size: int) -> dict[int, Cell]:
        found: dict[int, Cell] = {}
        for place, (word, _) in enumerate(cells(text, start)):
            if place >= size:
                raise FileError(must_be(self.file, f"PX with {size:,} figures", "more"))
            found[place] = self._cell(word, place)
        if len(found) < size:
            raise FileError(must_be(self.file, f"PX with {size:,} figures", f"{len(found):,}"))
        return found

    def _keyed(
        self, text: str, start: int, dimensions: Sequence[Dimension], n_stub: int
    ) -> dict[int, Cell]:
        """Rows that begin with the labels or codes of their place; rows that are left out are of
        zeros."""
        sizes = [len(one.labels) for one in dimensions]
        width = prod(sizes[n_stub:])
        places = [self._key_places(one) for one in dimensions[:n_stub]]
        found: dict[int, Cell] = dict.fromkeys(range(prod(sizes)), ZERO)
        words = cells(text, start)
        done = set()
        while (row := self._row(words, places, sizes[:n_stub])) is not None:
            if row in done:
                raise FileError(must_be(self.file, "PX with each row of DATA once", "one twice"))
            done.add(row)
            for place in range(row * width, (row + 1) * width):
                word = next(words, None)
                if word is None:
                    rule = f"PX with {width} figures in each row of DATA"
                    raise FileError(must_be(self.file, rule, "fewer in the last"))
                found[place] = self._cell(word[0], place)
        return found

    def _key_places(self, dimension: Dimension) -> dict[str, int]:
        by_code = self.values("KEYS", dimension.name)[:1] == ("CODES",)
        names = dimension.codes if by_code else dimension.labels
        return {name: place for place, name in enumerate(names)}

    def _row(
        self,
        words: Iterator[tuple[str, bool]],
        places: Sequence[dict[str, int]],
        sizes: Sequence[int],
    ) -> int | None:
        """The number of the next row; None at the end."""
        row = 0
        for i, (known, size) in enumerate(zip(places, sizes, strict=True)):
            word = next(words, None)
            if word is None and i == 0:
                return None
            place = known.get(plain_text(word[0])) if word is not None else None
            if place is None:
                got = shown(word[0]) if word is not None else "its end"
                raise FileError(must_be(self.file, "PX with the keys of each row of DATA", got))
            row = row * size + place
        return row if sizes else None

    def _cell(self, word: str, place: int) -> Cell:
        """A figure of the data: a number, a zero written as a dash, or dots."""
        if word == NIL:
            return ZERO
        if word in self.marks:
            return Cell("", mark=self.marks[word])
        found = read_cell(word, ".", negative=True)
        if isinstance(found, NoFigure):
            where = f"DATA, figure {place + 1}"
            raise FileError(must_be(f"figure in {self.file}", found.rule, found.got, where=where))
        return replace(found, sign="")
