"""What the measures of a sensitive variable cost, beside pycanon on the same records."""

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from discreet.numerics.arrays import IntArray
from discreet.survey.attributes.closeness import (
    equal_closeness,
    hierarchical_closeness,
    ordered_closeness,
)
from discreet.survey.attributes.diversity import (
    SensitiveCounts,
    concentration,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
)
from discreet.survey.attributes.hierarchy import Hierarchy
from discreet.survey.presence import delta_presence, journalist_risk

RIVALS = Path(".venv-rivals/bin/python")  # pycanon wants a NumPy that is too old for us
SIZES = (2, 4, 5, 6, 8, 10)
N_VALUES = 12
PYCANON = """
import json, sys, time
import numpy as np, pandas as pd
from pycanon import anonymity
levels = np.load(sys.argv[1])
keys = [f"key{j}" for j in range(levels.shape[1] - 1)]
numbers = pd.DataFrame(levels, columns=keys + ["value"])
text = numbers.assign(value="v" + numbers["value"].astype(str))
jobs = {
    "distinct l": lambda: anonymity.l_diversity(numbers, keys, ["value"]),
    "t, equal distance": lambda: anonymity.t_closeness(text, keys, ["value"]),
    "t, ordered distance": lambda: anonymity.t_closeness(numbers, keys, ["value"]),
}
told = {}
for name, job in jobs.items():
    start = time.process_time()
    answer = float(job())
    told[name] = {"cpu": time.process_time() - start, "answer": answer}
print(json.dumps(told))
"""


def run(scale: float) -> None:
    """Prints seconds for a million pairs of cell and value, then pycanon's time over ours."""
    many_cells(max(1_000, round(1_000_000 * scale)))
    compare(max(100, round(100_000 * scale)))


def many_cells(rows: int) -> None:
    """Every measure on a table of this many pairs of cell and value, in a tenth as many cells."""
    rng = np.random.default_rng(3)
    pairs = rng.choice(rows // 10 * 100, size=rows, replace=False)
    pairs.sort()
    counts = SensitiveCounts(
        cell=pairs // 100,
        value=pairs % 100,
        records=rng.geometric(0.3, rows),
        n_cells=rows // 10,
        n_values=100,
        order=rng.permutation(100),
    )
    population = counts.cell_records + rng.integers(1, 50, counts.n_cells)
    levels = [str(value) for value in range(100)]
    tree = Hierarchy.of_table([(v, int(v) // 5, int(v) // 10, int(v) // 50, "*") for v in levels])
    jobs: dict[str, Callable[[], object]] = {
        "distinct l": lambda: distinct_diversity(counts).failing(3),
        "entropy l": lambda: entropy_diversity(counts).failing(3),
        "recursive (c, l), ratio": lambda: recursive_diversity(counts, 3).failing(2),
        "(alpha, k)": lambda: concentration(counts).failing(0.5, 5),
        "t, equal distance": lambda: equal_closeness(counts).failing(0.3),
        "t, ordered distance": lambda: ordered_closeness(counts).failing(0.3),
        "t, hierarchical distance": lambda: hierarchical_closeness(counts, tree, levels),
        "delta-presence": lambda: delta_presence(counts.cell_records, population).outside(0, 0.5),
        "journalist risk": lambda: journalist_risk(counts.cell_records, population, threshold=0.1),
    }
    print(f"{rows:,} pairs of cell and value in {counts.n_cells:,} cells, one core")
    for name, job in jobs.items():
        print(f"  {name:<30}{best_seconds(job) * 1e3:>8.1f} ms", flush=True)


def compare(rows: int) -> None:
    """The worst cell of a file of records by pycanon and by us, counting included, in CPU time."""
    levels = survey(rows)
    print(f"{rows:,} records × {levels.shape[1]} columns, from the records on")
    theirs = pycanon(levels)
    for name, measure in (
        ("distinct l", distinct_diversity),
        ("t, equal distance", equal_closeness),
        ("t, ordered distance", ordered_closeness),
    ):
        start = process_time()
        worst = measure(counted(levels)).worst
        ours = process_time() - start
        line = f"  {name:<30}{ours * 1e3:>8.1f} ms, answer {worst:.6g}"
        if theirs is not None:
            told = theirs[name]
            line += f"; pycanon {told['cpu']:.2f} s, {told['cpu'] / ours:,.0f} × ours"
            line += f", answer {told['answer']:.6g}"
        print(line, flush=True)


def counted(levels: IntArray) -> SensitiveCounts:
    """The pairs of cell and value of a file whose last column is the sensitive variable."""
    code = np.ravel_multi_index(tuple(levels[:, :-1].T), SIZES)
    place = np.cumsum(np.bincount(code) > 0) - 1
    return SensitiveCounts.of_records(
        place[code],
        levels[:, -1],
        n_cells=int(place[-1]) + 1,
        n_values=N_VALUES,
        order=np.arange(N_VALUES),
    )


def pycanon(levels: IntArray) -> dict[str, dict[str, float]] | None:
    """What pycanon answers in a process of its own; None where it is not installed."""
    if not RIVALS.exists():
        print("  pycanon: not installed")
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "levels.npy"
        np.save(path, levels)
        done = subprocess.run(
            [str(RIVALS), "-c", PYCANON, str(path)], stdout=subprocess.PIPE, check=True
        )
    told: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return told


def survey(rows: int) -> IntArray:
    """Records of some keys and a sensitive value that leans on one of them."""
    rng = np.random.default_rng(5)
    keys = [rng.integers(0, size, rows) for size in SIZES]
    value = np.minimum(rng.geometric(0.2, rows) - 1 + keys[1] // 2, N_VALUES - 1)
    return np.stack([*keys, value], axis=1)


def best_seconds(job: Callable[[], object]) -> float:
    """The shortest of three runs."""
    took = []
    for _ in range(3):
        start = perf_counter()
        job()
        took.append(perf_counter() - start)
    return min(took)


if __name__ == "__main__":
    run(1.0)
