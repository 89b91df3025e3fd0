"""A private folder for what does not fit in memory, gone when the work is done.

The folder is readable by its owner alone. A killed process cannot tidy up after itself, so the next
one removes the folders of processes that no longer exist.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.data.abandoned import named_after_process, remove_abandoned
from discreet.errors import OutputError, must_be

PREFIX = "discreet-"


@contextmanager
def workspace(parent: Path | None = None) -> Iterator[Path]:
    """A new private folder below `parent` (by default the system's place for temporary files)."""
    root = parent or Path(tempfile.gettempdir())
    remove_abandoned(root, PREFIX)
    try:
        folder = Path(tempfile.mkdtemp(prefix=named_after_process(PREFIX), dir=root))
    except OSError as error:
        name = f"temporary folder {str(root)!r}"
        raise OutputError(must_be(name, "a folder to write to", error.strerror)) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
