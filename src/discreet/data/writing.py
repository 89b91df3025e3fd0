"""Writing a file whole or not at all."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.data.abandoned import named_after_process, remove_abandoned
from discreet.errors import OutputError, must_be

PREFIX = ".discreet-"


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place when the block ends well.

    Nothing is left behind when it does not, and a file that was there before stays as it was.
    Until then the file is readable by its owner alone.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OutputError(must_be("output", "a file", f"{str(path)!r}, which is something else"))
    remove_abandoned(target.parent, PREFIX)
    prefix = named_after_process(PREFIX)
    try:
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=_ending(target), dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise _cannot_write(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_outputs(
    outputs: Sequence[Path], inputs: Sequence[Path], parts: Sequence[Path] = ()
) -> None:
    """No output may overwrite an input or another output, be anything but a file in a folder that
    exists, or fall among `parts`, files that are read together, as one of which it would count."""
    taken = {path.resolve() for path in (*inputs, *parts)}
    folders = {path.resolve().parent for path in parts}
    for path in outputs:
        problem = _problem(path, taken, folders)
        if problem:
            raise OutputError(must_be("output", "a new file in a folder that exists", problem))
        taken.add(path.resolve())


def _problem(path: Path, taken: set[Path], folders: set[Path]) -> str | None:
    shown = repr(str(path))
    try:
        if path.resolve() in taken:
            return f"{shown}, which is in use already"
        if path.exists() and not path.is_file():
            return f"{shown}, which is no file"
        if not path.parent.is_dir():
            return f"{shown}, whose folder does not exist"
    except OSError as error:
        return f"{shown[:100]}, {error.strerror}"
    same = path.suffix.lower() in (".parquet", ".pq") and path.resolve().parent in folders
    return f"{shown} among the input files" if same else None


def _ending(path: Path) -> str:
    """The ending that tells the kind of a file; of a packed one that of what is packed too."""
    packed = path.suffix.lower() == ".gz" and len(path.suffixes) > 1
    return "".join(path.suffixes[-2:]) if packed else path.suffix


def _cannot_write(path: Path, error: OSError) -> OutputError:
    return OutputError(must_be(str(path), "writable", error.strerror or "an error"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
