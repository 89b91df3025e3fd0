"""Text columns of a table in memory as small whole numbers, before DuckDB sees them.

Arrow gives each text a number in one pass, quicker than text can be grouped. A file is better left
to DuckDB, which reads it in parts.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from discreet.data.records import ArrowScan
from discreet.engines import sql
from discreet.engines.duckdb_keys import RawDigit
from discreet.engines.duckdb_session import Session

if TYPE_CHECKING:
    import pyarrow as pa


def ranked_texts(
    session: Session, scan: ArrowScan, columns: Iterable[int]
) -> tuple[ArrowScan, dict[int, RawDigit]]:
    """The scan with the texts among the columns as places in the order of their values, and the
    digits of these columns. A column of which the values are not all told apart stays as it is, and
    so does one with bytes that are no text, of which DuckDB complains."""
    table, digits = scan.table, {}
    for j in columns:
        coded = _coded(table.column(j))
        if coded is None or not coded.num_chunks:
            continue
        try:
            texts = coded.chunk(0).dictionary.to_pylist()
        except UnicodeDecodeError:
            continue
        ranks, labels = _ranks(session, texts)
        places = _places(coded, ranks)
        table = table.set_column(j, table.column_names[j], places)
        digits[j] = RawDigit(f"k{j}", labels, never_missing=not places.null_count)
    return ArrowScan(table), digits


def _coded(column: "pa.ChunkedArray") -> "pa.ChunkedArray | None":
    """A column of texts, each as its place in one list of different texts; None for any other."""
    import pyarrow as pa

    kind, is_coded = column.type, pa.types.is_dictionary(column.type)
    values = kind.value_type if is_coded else kind
    if not (pa.types.is_string(values) or pa.types.is_large_string(values)):
        return None
    coded = column.unify_dictionaries() if is_coded else column.dictionary_encode()
    if not is_coded or not coded.num_chunks:
        return coded
    listed = coded.chunk(0).dictionary
    return coded if not listed.null_count and len(listed.unique()) == len(listed) else None


def _ranks(session: Session, texts: list[str]) -> tuple[list[int | None], tuple[str, ...]]:
    """The place of each text in the order of all, None for the empty one, and all in that order."""
    named = sql.KeyType("VARCHAR")
    rows = session.con.execute(
        "SELECT place FROM "
        "(SELECT unnest($1::VARCHAR[]) AS label, unnest(range(len($1))) AS place) "
        f"WHERE label <> '' ORDER BY {named.order('label')}",
        [texts],
    ).fetchall()
    ranks: list[int | None] = [None] * len(texts)
    for rank, (at,) in enumerate(rows):
        ranks[at] = rank
    return ranks, tuple(texts[at] for (at,) in rows)


def _places(coded: "pa.ChunkedArray", ranks: list[int | None]) -> "pa.ChunkedArray":
    import pyarrow as pa

    known = pa.array(ranks, pa.int32())
    return pa.chunked_array([known.take(chunk.indices) for chunk in coded.chunks], pa.int32())
