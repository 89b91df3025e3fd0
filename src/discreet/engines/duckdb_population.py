"""A population file held against the cells of a sample."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from discreet.data.records import Records
from discreet.engines import sql
from discreet.engines.contract import PopulationCells, PopulationTotals, Request
from discreet.engines.duckdb_keys import Column, enum_of
from discreet.engines.duckdb_scan import from_clause
from discreet.engines.duckdb_session import Session
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.cells import LocalCells
from discreet.engines.record_checks import check_population
from discreet.numerics.arrays import IntArray

BATCH_CODES = 1 << 20


def count_population(
    session: Session, records: Records, request: Request, cells: LocalCells, folder: Path
) -> PopulationTotals:
    """How many records of a population file lie in each cell of the sample, as `population_count`
    beside the cells, and in all.

    The file has the keys under the same names; values are compared by their labels. Records that
    lack a key are left out where the policy leaves them out of the sample, and refused where it
    refuses them.
    """
    source, columns = _keys_of(session, records, request, folder)
    keys, coding = cells.space.keys, cells.coding
    codes = [_code(session, column, key) for column, key in zip(columns, keys, strict=True)]
    lacks = [f"{_label(column)} IS NULL" for column in columns]
    words = [f"{e} AS w{i}" for i, e in enumerate(sql.word_expressions(coding, codes))]
    names = sql.word_columns(coding)
    listed = ", ".join(names)
    session.run(
        "counting the population",
        f"CREATE OR REPLACE TABLE population AS SELECT {listed}, incomplete, count(*) AS n "
        f"FROM (SELECT {', '.join(words)}, {' OR '.join(lacks)} AS incomplete FROM {source}) "
        f"GROUP BY {listed}, incomplete",
    )
    total, n_incomplete = session.row(
        "SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (incomplete), 0) FROM population"
    )
    check_population(request, records.name, total, n_incomplete)
    cells.put_counts("population_count", _counts(session, names))
    left_out = 0 if request.missing.is_a_level else int(n_incomplete)
    return PopulationTotals(
        total=int(total) - left_out, n_incomplete=int(n_incomplete), n_left_out=left_out
    )


def _counts(session: Session, names: Sequence[str]) -> Iterator[dict[str, IntArray]]:
    """The population by codes that may be of cells, some at a time."""
    (last,) = session.row("SELECT count(*) FROM population")
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    for first in range(0, max(last, 1), BATCH_CODES):
        found = session.con.execute(
            f"SELECT {', '.join(names)}, n FROM population "
            f"WHERE rowid >= {first} AND rowid < {first + BATCH_CODES} AND {known}"
        ).fetchnumpy()
        words = np.stack([np.asarray(found[name], dtype=np.int64) for name in names], axis=1)
        yield {"words": words, "n": np.asarray(found["n"], dtype=np.int64)}


def population_cells(
    session: Session, records: Records, request: Request, folder: Path, most: int
) -> PopulationCells | None:
    """The combinations of keys in a population file, by the labels of their values; None where
    there are more than `most` of them."""
    source, columns = _keys_of(session, records, request, folder)
    names = [f"v{j}" for j in range(len(columns))]
    labels = ", ".join(f"{_label(c)} AS {name}" for c, name in zip(columns, names, strict=True))
    found = session.con.sql(
        f"SELECT {', '.join(names)}, count(*) AS n FROM (SELECT {labels} FROM {source}) "
        f"GROUP BY {', '.join(names)} LIMIT {most + 1}"
    ).to_arrow_table()
    if found.num_rows > most:
        return None
    values, levels = [], []
    for name in names:
        coded = found[name].combine_chunks().dictionary_encode()
        values.append(tuple(coded.dictionary.to_pylist()))
        levels.append(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    return PopulationCells(
        values=tuple(values),
        levels=np.stack(levels, axis=1).astype(np.int64),
        counts=found["n"].to_numpy().astype(np.int64),
    )


def _keys_of(
    session: Session, records: Records, request: Request, folder: Path
) -> tuple[str, list[Column]]:
    """The population file as a query, and its keys."""
    named = request.codes.values(request.keys, records.value_labels)
    scan = records.scan(records.find("keys", request.keys), named)
    source = from_clause(session.con, scan, folder)
    types = [sql.base_type(row[1]) for row in session.rows(f"DESCRIBE SELECT * FROM {source}")]
    columns = []
    for j, key in enumerate(request.keys):
        known = request.records.value_labels.get(key, {})
        labels = {**known, **records.value_labels.get(key, {})}
        columns.append(
            Column.of_key(f"c{j}", types[j], key, request.codes, request.missing, labels)
        )
    return source, columns


def _label(column: Column) -> str:
    return column.key_type.label(f"({column.value()})")


def _code(session: Session, column: Column, key: KeyLevels) -> str:
    """Level of the key, NULL for a value that no record of the sample has."""
    known = [value for value in key.values if value is not None]
    label = _label(column)
    code = "NULL"
    if known:
        code = f"enum_code(TRY_CAST({label} AS {enum_of(session, known)}))"
    if len(known) == len(key.values):
        return f"CAST({code} AS BIGINT)"
    return f"CASE WHEN {label} IS NULL THEN {len(known)} ELSE CAST({code} AS BIGINT) END"
