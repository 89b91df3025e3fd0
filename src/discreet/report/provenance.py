"""Where a report comes from: when it was made, how, from which files, with which versions.

What may leave the agency says less: the date, the name of the data set and the versions. No hash of
the data: an intruder who lists the tables that fit what is out would hash each of them, and know
the true one. No path, no limit, no seed.
"""

import hashlib
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.data.records import files_of
from discreet.report import words
from discreet.report.document import Document

MOST_FILES = 5  # named one by one; of more than that one hash of all


@dataclass(frozen=True, slots=True)
class Source:
    """An input: its name, and what tells it from others (a hash, or a kind and a shape)."""

    name: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """When a report was made, with which command, from what; empty where that is not known."""

    made: str
    versions: str
    command: str = ""
    public_command: str = ""
    sources: tuple[Source, ...] = ()

    def facts(self) -> tuple[tuple[str, str], ...]:
        """For a reader inside."""
        given = (("made", self.made), ("command", self.command))
        named = tuple((one.name, one.told) for one in self.sources)
        return tuple(
            (name, told) for name, told in (*given, *named, ("versions", self.versions)) if told
        )

    def public_facts(self) -> tuple[tuple[str, str], ...]:
        """For a reader outside."""
        data = words.listed([one.name for one in self.sources]) if self.sources else ""
        told = (
            ("made", self.made),
            ("data set", data),
            ("command", self.public_command),
            ("versions", self.versions),
        )
        return tuple((name, text) for name, text in told if text)


def provenance(
    *, command: str = "", public_command: str = "", sources: Iterable[Source] = ()
) -> Provenance:
    """Made now, by these versions; reads no clock where SOURCE_DATE_EPOCH says when."""
    return Provenance(
        made=_now().isoformat(" ", "seconds"),
        versions=f"Discreet {version('discreet')}, Python {platform.python_version()}",
        command=command,
        public_command=public_command,
        sources=tuple(sources),
    )


def with_provenance(document: Document, found: Provenance) -> Document:
    """The document with where it comes from; a public one says only what may leave the agency."""
    facts = found.public_facts() if document.mark == "public" else found.facts()
    return replace(document, made=facts)


def _now() -> datetime:
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    if fixed.isdecimal():
        return datetime.fromtimestamp(int(fixed), UTC)
    return datetime.now().astimezone()


def sources_of_files(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Each file with its SHA-256, one pass over it; many files that make up one table have one
    hash, of their names and hashes in order."""
    if len(paths) <= MOST_FILES:
        return tuple(Source(path.name, f"SHA-256 {_hash(path)}") for path in paths)
    all_of_them = hashlib.sha256()
    for path in sorted(paths):
        all_of_them.update(f"{path.name} {_hash(path)}\n".encode())
    told = f"{words.count(len(paths))} files, SHA-256 of their hashes {all_of_them.hexdigest()}"
    return (Source(paths[0].parent.name or ".", told),)


def sources_of(source: Any) -> tuple[Source, ...]:
    """What a path (file, folder or pattern) or a frame is; nothing where there is none."""
    if source is None:
        return ()
    if isinstance(source, str | Path):
        return sources_of_files(files_of(str(source)))
    return (source_of_frame(source),)


def source_of_frame(frame: Any) -> Source:
    """A frame in memory: its kind and its shape."""
    kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
    rows, columns = _shape(frame)
    told = f"{words.plural(rows, 'row')}, {words.plural(columns, 'column')}" if columns else ""
    return Source("data frame", f"{kind}{': ' if told else ''}{told}")


def _shape(frame: Any) -> tuple[int, int]:
    shape = getattr(frame, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2:
        return int(shape[0]), int(shape[1])
    return (0, 0)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
