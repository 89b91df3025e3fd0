"""What killed processes left behind: files and folders named after a process that is no more."""

import os
import re
import shutil
from pathlib import Path


def named_after_process(prefix: str) -> str:
    """A prefix for temporary names by which the next process can tell whose they were."""
    return f"{prefix}{os.getpid()}-"


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove what lies under such names in `folder`, this user's and of no live process."""
    for path in folder.glob(f"{prefix}*-*"):
        match = re.match(rf"{re.escape(prefix)}(\d+)-", path.name)
        if match and _owned(path) and not _alive(int(match[1])):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _owned(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.getuid() and not path.is_symlink()
    except OSError:
        return False


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
