"""Writing a file whole or not at all."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import OutputError, must_be


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place when the block ends well.

    Nothing is left behind when it does not, and a file that was there before stays as it was.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise _cannot_write(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_outputs(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """No output may overwrite an input, another output or a folder, and each folder must exist."""
    taken = {path.resolve() for path in inputs}
    for path in outputs:
        if path.resolve() in taken:
            rule = "a file of its own"
            raise OutputError(must_be("output", rule, f"{path.name!r}, which is in use already"))
        if path.is_dir() or not path.parent.is_dir():
            got = f"{str(path)!r}, " + ("a folder" if path.is_dir() else "in a folder that is not")
            raise OutputError(must_be("output", "a file in a folder that exists", got))
        taken.add(path.resolve())


def _cannot_write(path: Path, error: OSError) -> OutputError:
    return OutputError(must_be(str(path), "writable", error.strerror or "an error"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
