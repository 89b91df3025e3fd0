"""Census-like files of any size, made once and kept in bench-data/.

The recipe (seed 20). Persons in households from `discreet.synthetic.population`: relationship, sex,
single years of age, marital status, birthplace, household type. Beside them four keys of a real
file: one of 100 districts for each household, shares falling as rank^−0.8; education for those of
16 and over; for those who work, one of 120 occupations, which leans on education and sex, and one
of 20 industries, which follows from the occupation for three in five. A million records have some
657,000 sample uniques in 717,000 cells, as ten keys of a real census file do.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from discreet.numerics.arrays import IntArray
from discreet.synthetic.population import Population, census_population

FOLDER = Path("bench-data")
CHUNK = 1_000_000
DISTRICTS, OCCUPATIONS, INDUSTRIES = 100, 120, 20
EDUCATIONS = (0.28, 0.3, 0.14, 0.1, 0.08, 0.05, 0.03, 0.02)
FROM_HOUSEHOLDS = (
    "relationship",
    "sex",
    "age",
    "marital_status",
    "birthplace",
    "household_type",
)
KEYS = (*FROM_HOUSEHOLDS, "district", "education", "occupation", "industry")


def census_path(rows: int, kind: str) -> Path:
    """Where the file of so many records lies, or will."""
    return FOLDER / f"census-{rows}.{kind}"


def census_file(rows: int, kind: str) -> Path:
    """A Parquet or CSV file of `rows` records: ten keys and a weight with decimals."""
    path = census_path(rows, kind)
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    part = path.with_suffix(".part")  # renamed when whole: a run may be interrupted
    if kind == "csv":
        source = pq.ParquetFile(census_file(rows, "parquet"))
        with pyarrow.csv.CSVWriter(part, source.schema_arrow) as csv:
            for group in range(source.num_row_groups):
                csv.write_table(source.read_row_group(group))
        return part.rename(path)
    rng = np.random.default_rng(20)
    writer = None
    for first in range(0, rows, CHUNK):
        table = _chunk(min(CHUNK, rows - first), rng)
        writer = writer or pq.ParquetWriter(part, table.schema)
        writer.write_table(table, row_group_size=131_072)
    if writer is not None:
        writer.close()
    return part.rename(path)


def _chunk(rows: int, rng: np.random.Generator) -> pa.Table:
    people = census_population(rows, rng=rng)
    table = people.to_arrow()
    columns = {
        name: table[name].cast(pa.int64() if name == "age" else pa.string())
        for name in FROM_HOUSEHOLDS
    }
    columns |= {name: _named(name, codes) for name, codes in _work_and_home(people, rng).items()}
    return pa.table(columns | {"weight": np.round(1 + rng.gamma(4, 50, rows), 4)})


def _work_and_home(people: Population, rng: np.random.Generator) -> dict[str, IntArray]:
    """District, education, occupation and industry of each person; 0 where there is none."""
    rows, age = len(people), people.codes["age"].astype(np.int64)
    n_homes = int(people.household[-1]) + 1
    district = rng.choice(DISTRICTS, n_homes, p=_falling(DISTRICTS, 0.8))[people.household]
    education = np.where(age >= 16, 1 + rng.choice(len(EDUCATIONS), rows, p=EDUCATIONS), 0)
    works = (age >= 16) & (rng.random(rows) < np.where(age < 68, 0.75, 0.06))
    drawn = rng.choice(OCCUPATIONS, rows, p=_falling(OCCUPATIONS, 0.9))
    leaning = drawn + 17 * education + 40 * people.codes["sex"].astype(np.int64)
    occupation = np.where(works, 1 + leaning % OCCUPATIONS, 0)
    other = rng.integers(0, INDUSTRIES, rows)
    usual = rng.random(rows) < 0.6
    industry = np.where(works, 1 + np.where(usual, 7 * occupation % INDUSTRIES, other), 0)
    return {
        "district": district,
        "education": education,
        "occupation": occupation,
        "industry": industry,
    }


def _falling(n: int, power: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Shares that fall with their rank."""
    shares = np.arange(1, n + 1) ** -power
    return np.asarray(shares / shares.sum())


def _named(name: str, codes: IntArray) -> pa.Array:
    """Codes as text, such as D07: what such columns hold."""
    labels = pa.array([f"{name[0].upper()}{code:03d}" for code in range(int(codes.max()) + 1)])
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), labels).cast(
        pa.string()
    )
