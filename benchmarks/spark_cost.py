"""What `discreet assess` costs on Spark: CPU, shuffles, bytes moved, and how they grow.

Spark writes down what each task did; what all tasks wrote for others to read is what moves between
machines. CPU is that of Java and of the Python workers together. The last lines say what follows
for a billion records and more on 100 processors, if cost goes on growing as it did and four fifths
of the processors' time is used.
"""

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.assess import make_file
from benchmarks.contestants import VERDICTS
from benchmarks.data import KEYS, census_path
from benchmarks.measuring import DISCREET, Cost, measured
from benchmarks.spark import MASTER

SIZES = (3_000_000, 10_000_000)  # both beyond the cells that the driver takes
TARGETS = (1e9, 1e10)
PROCESSORS, IN_USE = 100, 0.8
CONF = "spark.eventLog.enabled true\nspark.eventLog.rolling.enabled false\n"
CONF += "spark.eventLog.compress false\nspark.eventLog.dir file://{folder}\n"


@dataclass(frozen=True, slots=True)
class Moved:
    """Of one run: what it took, stages that wrote a shuffle, and the bytes of all shuffles."""

    records: int
    cost: Cost
    shuffles: int
    bytes_moved: int


def run(scale: float) -> None:
    """Each size with the recommended estimate, its risks written, then what follows."""
    seen = [_one(int(rows * scale)) for rows in SIZES]
    print(f"\nassess on Spark ({MASTER}), recommended estimate, risks written, ten keys")
    print("     records    CPU s   wall s  peak MiB  shuffles  moved MB  bytes a record")
    for one in seen:
        each = one.bytes_moved / one.records
        print(
            f"{one.records:>12,}{one.cost.cpu:>9.1f}{one.cost.wall:>9.1f}{one.cost.peak_mib:>10.0f}"
            f"{one.shuffles:>10}{one.bytes_moved / 1e6:>10.1f}{each:>16.1f}"
        )
    for target in TARGETS:
        print(_foretold(seen, target))


def _one(rows: int) -> Moved:
    make_file(rows, "parquet")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spark-defaults.conf").write_text(CONF.format(folder=folder))
        os.environ["SPARK_CONF_DIR"] = folder
        asked = (DISCREET, "assess", str(census_path(rows, "parquet")), "--keys", ",".join(KEYS))
        cost = measured(
            (
                *(*asked, "--population", str(20 * rows), "--engine", "spark"),
                *("--master", MASTER, "--json", "--risks", f"{folder}/risks.parquet"),
            ),
            codes=VERDICTS,
            limit=7200.0,
        )
        del os.environ["SPARK_CONF_DIR"]
        written = [_written(event) for path in Path(folder).glob("*local-*") for event in _of(path)]
    stages: dict[int, int] = {}
    for stage, n_bytes in written:
        stages[stage] = stages.get(stage, 0) + n_bytes
    return Moved(rows, cost, sum(n > 0 for n in stages.values()), sum(stages.values()))


def _of(path: Path) -> list[Mapping[str, Any]]:
    """The tasks that ended well."""
    with path.open(encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines if "SparkListenerTaskEnd" in line]
    return [e for e in events if e["Task End Reason"]["Reason"] == "Success"]


def _written(event: Mapping[str, Any]) -> tuple[int, int]:
    """The stage of a task, and the bytes that it wrote for other tasks to read."""
    metrics = event["Task Metrics"]["Shuffle Write Metrics"]
    return int(event["Stage ID"]), int(metrics["Shuffle Bytes Written"])


def _foretold(seen: Sequence[Moved], target: float) -> str:
    """CPU and bytes at so many records, by the growth between the two sizes, or in proportion to
    the records where that was less: what a small run takes to start is no growth."""
    less, more = seen
    ahead, steps = target / more.records, math.log(more.records / less.records)
    growth = math.log(more.cost.cpu / less.cost.cpu) / steps
    moving = math.log(more.bytes_moved / less.bytes_moved) / steps
    cpu = more.cost.cpu * ahead ** max(growth, 1.0)
    moved = more.bytes_moved * ahead ** max(moving, 1.0)
    return (
        f"{target:.0e} records on {PROCESSORS} processors: "
        f"{cpu / (PROCESSORS * IN_USE) / 60:.0f} minutes, {moved / 1e9:,.0f} GB moved "
        f"(growth of CPU {growth:.2f}, of bytes {moving:.2f})"
    )
