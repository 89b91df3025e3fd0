"""Files of others taken as populations: Adult and EU-SILC, each under three sets of keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from benchmarks.populations.population import Population, codes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file, its sets of keys, the keys to stratify and to rate by, and its column of households.

    `stratum` and `rated` are columns of the file, keys or not.
    """

    name: str
    path: str
    delimiter: str
    keys: tuple[tuple[str, ...], ...]
    stratum: str
    rated: str
    household: str | None = None


FILES = (
    File(
        name="Adult",
        path="arx_adult.csv",
        delimiter=";",
        keys=(
            ("sex", "age", "race", "marital-status", "education", "occupation"),
            ("sex", "age", "marital-status", "native-country"),
            ("sex", "race", "marital-status", "education", "native-country", "workclass",
             "occupation", "salary-class"),
        ),
        stratum="marital-status",
        rated="sex",
    ),
    File(
        name="EU-SILC",
        path="eusilc_sample_keys.csv",
        delimiter=",",
        keys=(
            ("db040", "hsize", "rb090", "age", "pb220a", "pl030"),
            ("db040", "hsize", "rb090", "age", "pb220a"),
            ("hsize", "rb090", "age", "pl030"),
        ),
        stratum="db040",
        rated="pl030",
        household="db030",
    ),
)  # fmt: skip


def names() -> Iterator[str]:
    """The names of all that may be read."""
    for file in FILES:
        yield from (_name(file, place) for place in range(len(file.keys)))


def is_there(name: str, folder: Path) -> bool:
    """Whether the folder has the file of this population."""
    return (folder / _found(name)[0].path).exists()


def read(name: str, folder: Path) -> Population:
    """The population of this name."""
    file, place = _found(name)
    parsing = pv.ParseOptions(delimiter=file.delimiter)
    table = _as_text(pv.read_csv(folder / file.path, parse_options=parsing))
    household = None if file.household is None else codes_of(table[file.household])
    keys = file.keys[place]
    return Population(
        name=name,
        table=table.select(keys),
        keys=keys,
        stratum=codes_of(table[file.stratum]),
        rated=file.rated if file.rated in keys else keys[0],
        household=household,
    )


def _name(file: File, place: int) -> str:
    return f"{file.name} {place + 1}"


def _found(name: str) -> tuple[File, int]:
    """The file of this name, and which of its sets of keys."""
    return next((f, p) for f in FILES for p in range(len(f.keys)) if _name(f, p) == name)


def _as_text(table: pa.Table) -> pa.Table:
    """All columns as text; a missing value is a level of its own."""
    columns = [pc.fill_null(pc.cast(column, pa.string()), "none") for column in table.columns]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))
