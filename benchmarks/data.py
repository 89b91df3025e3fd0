"""Census-like files of any size, made once and kept in bench-data/."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from discreet.synthetic.population import census_population

FOLDER = Path("bench-data")
CHUNK = 1_000_000


def census_file(rows: int, kind: str) -> Path:
    """A Parquet or CSV file of `rows` records: ten keys and a weight with decimals."""
    path = FOLDER / f"census-{rows}.{kind}"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    if kind == "csv":
        source = pq.ParquetFile(census_file(rows, "parquet"))
        with pyarrow.csv.CSVWriter(path, source.schema_arrow) as writer:
            for group in range(source.num_row_groups):
                writer.write_table(source.read_row_group(group))
        return path
    rng = np.random.default_rng(20)
    writer = None
    for first in range(0, rows, CHUNK):
        table = _chunk(min(CHUNK, rows - first), rng)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=131_072)
    if writer is not None:
        writer.close()
    return path


def _chunk(rows: int, rng: np.random.Generator) -> pa.Table:
    table = census_population(rows, rng=rng).to_arrow().drop_columns(["household"])
    columns = {
        name: table[name].cast(pa.string()) if name != "age" else table[name].cast(pa.int64())
        for name in table.column_names
    }
    return pa.table(columns | {"weight": np.round(1 + rng.gamma(4, 50, rows), 4)})
