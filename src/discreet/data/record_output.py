"""Which kind of file a protected copy becomes, by the ending of its name."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.data import stat_files
from discreet.data.output_columns import OutputColumn, RecordOutput, check_columns, output_rows
from discreet.data.records import (
    ARROW_SUFFIXES,
    CSV_SUFFIXES,
    PARQUET_SUFFIXES,
    Records,
    arrow_table,
    is_arrow,
    suffix_of,
)
from discreet.errors import OutputError, must_be

WRITABLE = "CSV, Parquet, Arrow/Feather, Excel (.xlsx), Stata (.dta), SPSS (.sav) or SAS (.xpt)"
INSTEAD = {
    ".sas7bdat": "write .xpt, which SAS reads",
    ".por": "write .sav, which SPSS reads",
    ".xls": "write .xlsx",
    ".xlsb": "write .xlsx",
    ".xlsm": "write .xlsx, which holds no macros",
    ".ods": "write .xlsx",
}


def check_can_write(path: Path) -> None:
    """Records can be written in the kind that the ending of `path` names; OutputError says what
    can be written instead."""
    suffix = suffix_of(path)
    packed = path.suffix.lower() == ".gz" and suffix not in CSV_SUFFIXES
    stat = [kind for kind in stat_files.READERS if kind not in INSTEAD]
    known = (*CSV_SUFFIXES, *PARQUET_SUFFIXES, *ARROW_SUFFIXES, *stat, ".xlsx")
    if packed or suffix not in known:
        remedy = INSTEAD.get(suffix)
        rule = f"{WRITABLE}, by its ending"
        raise OutputError(must_be("output", rule, repr(suffix or "no ending"), remedy=remedy))


@contextmanager
def record_output(
    path: Path,
    records: Records,
    columns: Sequence[OutputColumn],
    changed: Collection[str],
) -> Iterator[RecordOutput]:
    """Writes a protected copy of `records` to `path`; whole once the block has ended.

    `columns` go out, in this order; the values of the `changed` are handed over. Of the same kind
    as the source the file is as the source is in all that did not change; of another kind its
    values are the same. `path` is one of `written_whole`, which says what goes wrong in writing.
    """
    check_can_write(path)
    check_columns(records, columns)
    with _opener(suffix_of(path))(path, records, columns, changed) as output:
        yield output


def _opener(suffix: str) -> Any:
    """What opens an output of that kind."""
    if suffix == ".xlsx":
        return _excel
    if suffix in stat_files.READERS:
        return _stat
    return _streamed


@contextmanager
def _streamed(
    path: Path, records: Records, columns: Sequence[OutputColumn], changed: Collection[str]
) -> Iterator[RecordOutput]:
    """A file that is written as the rows come."""
    from discreet.data.csv_output import csv_output
    from discreet.data.parquet_output import arrow_output, parquet_output

    suffix = suffix_of(path)
    held = arrow_table(records.files[0]) if is_arrow(records) else None
    rows = output_rows(records, columns, changed, held)
    if suffix in CSV_SUFFIXES:
        kind: Any = csv_output
    else:
        kind = parquet_output if suffix in PARQUET_SUFFIXES else arrow_output
    with kind(path, records, rows) as output:
        yield output


@contextmanager
def _excel(
    path: Path, records: Records, columns: Sequence[OutputColumn], changed: Collection[str]
) -> Iterator[RecordOutput]:
    from discreet.data.excel_output import excel_output

    with excel_output(path, records, columns, changed) as output:
        yield output


@contextmanager
def _stat(
    path: Path, records: Records, columns: Sequence[OutputColumn], changed: Collection[str]
) -> Iterator[RecordOutput]:
    from discreet.data.stat_output import stat_output

    with stat_output(path, records, columns, changed) as output:
        yield output
