"""What the best set of margins costs for 6, 16 and 53 variables, and how far off it may be."""

from time import process_time

import numpy as np

from discreet.choice.best_set.best_margins import BestMargins, best_margins
from discreet.data.table import Table


def run(scale: float) -> None:
    """Prints a line for each table and width; `scale` multiplies the time given, 105 s in all."""
    print("table · small cells · width asked · utility of wanted · bound · decomposable (bound) · "
          "seconds (CPU)")  # fmt: skip
    best_margins(drawn((2, 2, 2), 100, 1), seconds=1.0)  # compiles
    for width in (3, 10, 50):
        show("2⁶, n = 1,841", drawn((2,) * 6, 1_841, 1), width, 5 * scale)
    for width in (3, 20):
        show("2¹⁶, n = 21,574", drawn((2,) * 16, 21_574, 2), width, 15 * scale)
    sizes = np.random.default_rng(3).choice([2, 2, 2, 3, 4, 5], 53)
    for width in (3, 300, 1_000):
        table = drawn(tuple(sizes.tolist()), 20_000, 3)
        show("53 variables, n = 20,000", table, width, 20 * scale)


def show(name: str, table: Table, width: int, seconds: float) -> None:
    """One search and what came out."""
    began = process_time()
    found = best_margins(table, min_width=width, seconds=seconds)
    print(f"{name} · {found.n_small_cells:,} · {width} · {found.utility:,.0f} of "
          f"{found.total_weight:,.0f} · {found.upper_bound:,.0f}"
          f"{' (proved best)' if found.optimal else ''} · {_split(found)} · "
          f"{found.seconds:.1f} ({process_time() - began:.1f})")  # fmt: skip


def _split(found: BestMargins) -> str:
    best = found.decomposable
    return "none" if best is None else f"{best.utility:,.0f} ({best.upper_bound:,.0f})"


def drawn(sizes: tuple[int, ...], n_records: int, seed: int, classes: int = 4) -> Table:
    """Records of a few hidden classes, each with its own skewed shares of levels, counted."""
    rng = np.random.default_rng(seed)
    mixture = rng.choice(classes, n_records, p=rng.dirichlet(np.full(classes, 3.0)))
    columns = []
    for size in sizes:
        edges = np.cumsum(rng.dirichlet(np.ones(size), classes), axis=1)
        above = rng.random(n_records)[:, None] > edges[mixture]
        columns.append(np.minimum(above.sum(axis=1), size - 1))
    cells, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return Table(
        names=tuple(f"x{i + 1}" for i in range(len(sizes))),
        levels=tuple(tuple(str(k + 1) for k in range(size)) for size in sizes),
        cells=cells.astype(np.int64),
        counts=counts.astype(np.int64),
    )


if __name__ == "__main__":
    run(1.0)
