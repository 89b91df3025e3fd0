"""The measures of a sensitive variable: `discreet assess --sensitive` beside pycanon.

By name also what each measure costs on a million pairs of cell and value.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.comparing import Comparison
from benchmarks.contestants import as_process, our_command
from benchmarks.medians import median_cpu
from discreet.data.hierarchy import Hierarchy
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
from discreet.survey.presence import delta_presence, journalist_risk

SIZES = (2, 4, 5, 6)
KEYS = tuple(f"key{number}" for number in range(len(SIZES)))
N_VALUES = 12
ROWS = (2_000, 20_000)
FOLDER = Path("bench-data")


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """The whole command against a script that asks pycanon for the same figures of the file."""
    return [_comparison(rows) for rows in ROWS]


def _comparison(rows: int) -> Comparison:
    path = str(FOLDER / f"sensitive-{rows}.csv")
    asked: tuple[str, ...] = (
        "assess",
        path,
        "--keys",
        ",".join(KEYS),
        "--sensitive",
        "value",
        "--json",
    )
    asked += ("--population", str(50 * rows))
    return Comparison(
        title=f"l, entropy l, (c, l), (α, k), t of {rows:,} records × {len(KEYS)} keys in csv",
        contestants=[
            our_command(
                "discreet assess --sensitive, no estimate",
                *(*asked, "--headline", "sample_frequency"),
                answer=_told,
                note="also how many records and cells break each rule",
            ),
            as_process(
                "pycanon, the same figures",
                *("pycanon_sensitive", path, "value"),
                rivals=True,
                rival=True,
                answer=_told_by_pycanon,
                note="the worst cell only",
            ),
            our_command(
                "discreet assess --sensitive, with the recommended estimate", *asked, answer=_told
            ),
        ],
        prepare=partial(_write, rows, path),
    )


def _told(printed: str) -> str:
    """Distinct l, entropy l and t of the worst cell; entropy l rounded down, as by pycanon."""
    measures = json.loads(printed)["sensitive"]["value"]["measures"]
    worst = {each["name"]: each["worst"] for each in measures}
    distinct, entropy = (worst[f"{kind} l-diversity"] for kind in ("distinct", "entropy"))
    t = worst["t-closeness, equal distance"]
    return f"l {distinct:.0f}, entropy l {math.floor(entropy)}, t {t:.4f}"


def _told_by_pycanon(printed: str) -> str:
    found = json.loads(printed.strip().splitlines()[-1])
    return f"l {found['l']}, entropy l {found['entropy l']:.0f}, t {found['t']:.4f}"


def _write(rows: int, path: str) -> None:
    """The records as text, so that both take the equal distance for t."""
    FOLDER.mkdir(exist_ok=True)
    lines = [",".join([*KEYS, "value"])]
    lines += [",".join([*map(str, row[:-1]), f"v{row[-1]:02d}"]) for row in survey(rows).tolist()]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(scale: float) -> None:
    """Prints milliseconds of each measure for a million pairs of cell and value, ours alone."""
    many_cells(max(1_000, round(1_000_000 * scale)))


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
        print(f"  {name:<30}{median_cpu(job)[0] * 1e3:>8.1f} ms", flush=True)


def survey(rows: int) -> IntArray:
    """Records of some keys and a sensitive value that leans on one of them."""
    rng = np.random.default_rng(5)
    keys = [rng.integers(0, size, rows) for size in SIZES]
    value = np.minimum(rng.geometric(0.2, rows) - 1 + keys[1] // 2, N_VALUES - 1)
    return np.stack([*keys, value], axis=1)


if __name__ == "__main__":
    run(1.0)
