"""A private folder for what does not fit in memory, gone when the work is done.

The folder is readable by its owner alone. A killed process cannot tidy up after itself, so the next
one removes the folders of processes that no longer exist.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import OutputError, must_be

PREFIX = "discreet-"


@contextmanager
def workspace(parent: Path | None = None) -> Iterator[Path]:
    """A new private folder below `parent` (by default the system's place for temporary files)."""
    root = parent or Path(tempfile.gettempdir())
    remove_abandoned(root)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=root))
    except OSError as error:
        rule = "a folder that can be written to"
        raise OutputError(
            must_be(f"temporary folder {str(root)!r}", rule, error.strerror)
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(root: Path) -> None:
    """Remove workspaces below `root` that belong to this user and to no living process."""
    for folder in root.glob(f"{PREFIX}*-*"):
        match = re.fullmatch(rf"{PREFIX}(\d+)-\w+", folder.name)
        if match and _owned(folder) and not _alive(int(match[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _owned(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    except OSError:
        return False


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
