"""Spark's complaints in our words.

Spark quotes values of records in its messages. They are confidential, so no word of the original
message is passed on: only its kind.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import DiscreetError, FileError, InputError, OutputError, must_be

MEMORY = ("outofmemory", "out of memory", "unable to acquire", "maxresultsize")
UNWRITABLE = ("mkdirs failed", "read-only file system")
DAMAGED = (
    "failed_read_file", "cannot_read_file", "parquet", "corrupt", "file_not_exist", "path_not_found"
)  # fmt: skip


@contextmanager
def translated(name: str, folder: Path) -> Iterator[None]:
    """Raise Spark's errors about the records called `name`, and what was written of them into the
    `folder`, as ours."""
    try:
        yield
    except complaints() as error:
        raise _translation(name, folder, error) from None


def complaints() -> tuple[type[Exception], ...]:
    """The errors of Spark; a client alone has no gateway to Java that could fail."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:
        return (PySparkException,)
    return PySparkException, Py4JError


def _translation(name: str, folder: Path, error: Exception) -> DiscreetError:
    said = str(error).casefold()
    if "no space left" in said:
        return OutputError("the disk must have space for the work, got none left; free some space")
    # A folder that went away looks to Spark like a damaged file, which the records are not.
    if not folder.is_dir() or any(sign in said for sign in UNWRITABLE):
        what = f"temporary folder {str(folder.parent)!r}"
        rule = "there and writable until the work is done"
        remedy = "give another (temporary)"
        return OutputError(must_be(what, rule, "one that is not any more", remedy=remedy))
    if any(sign in said for sign in MEMORY):
        remedy = "give the driver and executors more, or fewer keys"
        return InputError(must_be("memory", "enough for the work", "too little", remedy=remedy))
    if "modulenotfounderror" in said:
        remedy = "install it there, or set PYSPARK_PYTHON to a Python that has it"
        return InputError(must_be("discreet", "installed where Spark works", "none", remedy=remedy))
    if any(sign in said for sign in DAMAGED):
        return FileError(must_be(name, "a readable file", "one that is damaged"))
    kind = _kind(error)
    return InputError(must_be("Spark", "able to do the work", f"a job that failed ({kind})"))


def _kind(error: Exception) -> str:
    """Spark's name for what went wrong, which holds no values."""
    condition = getattr(error, "getCondition", lambda: None)()
    return str(condition or type(error).__name__)
