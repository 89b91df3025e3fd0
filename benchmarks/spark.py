"""`discreet assess` on Spark against Spark's own SQL, on two cores of this machine."""

from collections.abc import Sequence
from functools import partial

from benchmarks.assess import UNIQUES, make_file
from benchmarks.comparing import Comparison
from benchmarks.contestants import as_process, our_command
from benchmarks.data import KEYS, census_path

MASTER = "local[2]"
SMALLEST = 1_000_000  # below it Spark does little but start


def comparisons(sizes: Sequence[int]) -> list[Comparison]:
    """Parquet at each size that is large enough."""
    return [_comparison(rows) for rows in sizes if rows >= SMALLEST]


def _comparison(rows: int) -> Comparison:
    path = census_path(rows, "parquet")
    risks = str(path.with_suffix(".risks.parquet"))
    asked = ("assess", str(path), "--keys", ",".join(KEYS), "--weight", "weight", "--json")
    on_spark = ("--engine", "spark", "--master", MASTER)
    how = {"answer": UNIQUES, "limit": 3600.0}
    return Comparison(
        title=f"assess on Spark ({MASTER}), {rows:,} records × 10 keys in Parquet",
        contestants=[
            our_command(
                "discreet assess --engine spark, 1/f written",
                *(*asked, *on_spark, "--headline", "sample_frequency", "--risks", risks),
                *("--max-risk", "1"),
                note="also k and what each key and pair of keys adds, in the order of the file",
                **how,
            ),
            as_process(
                "Spark SQL, ten-column group-by and join written",
                *("spark_raw", str(path), MASTER),
                rival=True,
                limit=3600.0,
            ),
            our_command(
                "discreet assess --engine spark, with the recommended estimate",
                *(*asked, *on_spark),
                **how,
            ),
        ],
        runs=1,
        prepare=partial(make_file, rows, "parquet"),
    )
