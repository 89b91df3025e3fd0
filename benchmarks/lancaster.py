"""The sum of the additive model over all cells, beside a C loop of the same arithmetic.

The table has the shape of takemura's, 249,704,000 cells with 45 interactions each. The C loop nests
partial sums in the same order and passes over nothing; ours passes over boxes of certain sign, few
at λ = 1 and nearly all at λ = 0.1.
"""

import ctypes
import itertools
import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.medians import median_cpu
from discreet.data.summary import SizeIndices, Summary
from discreet.survey.models.lancaster import Interactions, mean_reciprocal, normaliser
from discreet.survey.models.lancaster_kernels import Tree, plant, positive_mass

SIZES = (14, 2, 91, 5, 14, 7, 2, 5, 2, 10)
C_LOOP = """
double walk(long depth, long last, long width, const long *offsets, const double *p,
            const long *row, const double *pairs, double *effect, double score)
{
    const double *own = effect + depth * width;
    double total = 0;
    if (depth == last - 1) {
        const long start = offsets[last], n = offsets[last + 1] - start;
        const double *h = own + start, *q = p + start;
        for (long i = offsets[depth]; i < start; i++) {
            const double *g = pairs + row[i], s = score + own[i];
            double sum = 0;
            for (long x = 0; x < n; x++) {
                double t = s + h[x] + g[x];
                sum += q[x] * (t > 0 ? t : 0);
            }
            total += p[i] * sum;
        }
        return total;
    }
    for (long i = offsets[depth]; i < offsets[depth + 1]; i++) {
        const double *g = pairs + row[i] - offsets[depth + 1];
        double *next = effect + (depth + 1) * width;
        for (long j = offsets[depth + 1]; j < width; j++) next[j] = own[j] + g[j];
        total += p[i] * walk(depth + 1, last, width, offsets, p, row, pairs, effect,
                             score + own[i]);
    }
    return total;
}
"""


def run(scale: float) -> None:
    """Prints ratios to the C loop over λ, and what a table beyond exact summation costs."""
    sizes = tuple(max(2, round(91 * scale)) if size == 91 else size for size in SIZES)
    parts = Interactions.of_summary(survey(sizes, 9809))
    cells = math.prod(sizes)
    print(f"sum of the additive model over {cells:,} cells")
    loop = compiled_loop()
    for shrinkage in (0.1, 0.2, 0.4, 0.7, 1.0):
        compare(parts, shrinkage, loop)
    beyond_exact()
    scoring(max(1000, round(1e6 * scale)))


def survey(sizes: tuple[int, ...], n: int) -> Summary:
    """Margins of a sample whose keys are associated through a hidden class."""
    rng = np.random.default_rng(2003)
    hidden = rng.choice(30, size=n, p=rng.dirichlet(np.ones(30)))
    columns = []
    for size in sizes:
        limits = rng.dirichlet(np.full(size, 0.25), 30).cumsum(axis=1)
        level = (rng.random(n)[:, None] > limits[hidden]).sum(axis=1)
        columns.append(np.unique(np.minimum(level, size - 1), return_inverse=True)[1])
    margins: dict[tuple[int, ...], Any] = {}
    found = tuple(int(column.max()) + 1 for column in columns)
    for order in (1, 2):
        for keys in itertools.combinations(range(len(sizes)), order):
            margins[keys] = np.zeros([found[key] for key in keys], dtype=np.int64)
            np.add.at(margins[keys], tuple(columns[key] for key in keys), 1)
    return Summary(
        sample_size=n,
        n_table_cells=math.prod(found),
        level_counts=found,
        size_indices=SizeIndices.of_counts(np.ones(n, dtype=np.int64)),
        weight_total=None,
        population_size=500.0 * n,
        population_size_known=True,
        margins=margins,
    )


def compare(parts: Interactions, shrinkage: float, loop: ctypes.CDLL | None) -> None:
    """One λ: the C loop and ours on one core, then ours on all."""
    pairs = {keys: -shrinkage * pair for keys, pair in parts.pairs.items()}
    tree = plant(-1.0, parts.probability, pairs)
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_cores)})
    ours, value = median_cpu(lambda: kernel_sum(tree))
    theirs, other = median_cpu(lambda: loop_sum(loop, tree)) if loop else (math.nan, value)
    os.sched_setaffinity(0, all_cores)
    start = perf_counter()
    kernel_sum(tree)
    together = perf_counter() - start
    ratio = f"{theirs / ours:.2f} × as fast as C" if loop else "C not compared"
    print(
        f"  λ = {shrinkage}: {ours:.3f} CPU s on one core, {ratio}; {together:.3f} wall s on "
        f"{len(all_cores)}; differs by {abs(value - other):.0e}"
    )


def kernel_sum(tree: Tree) -> float:
    """Our sum of max(s, 0)."""
    return positive_mass(tree, budget=math.inf, tolerance=0.0, seed=0, report=lambda _: None).value


def compiled_loop() -> ctypes.CDLL | None:
    """The C loop, or None with a word where there is no compiler."""
    compiler = shutil.which("gcc")
    if compiler is None:
        print("  no gcc here: nothing to compare with")
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "loop.c").write_text(C_LOOP)
    options = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    command = [compiler, *options, "-o", str(folder / "loop.so"), str(folder / "loop.c")]
    subprocess.run(command, check=True)
    loop = ctypes.CDLL(str(folder / "loop.so"))
    loop.walk.restype = ctypes.c_double
    shutil.rmtree(folder)
    return loop


def loop_sum(loop: ctypes.CDLL | None, tree: Tree) -> float:
    """The same sum by the C loop."""
    assert loop is not None
    depth, width = len(tree.offsets) - 1, len(tree.main)
    effect = np.zeros((depth, width))
    effect[0] = tree.main
    arrays = (tree.offsets, tree.probability, tree.row, tree.pairs, effect)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    numbers = [ctypes.c_long(number) for number in (0, depth - 1, width)]
    return float(loop.walk(*numbers, *pointers, ctypes.c_double(tree.base)))


def beyond_exact() -> None:
    """Tables too large to sum: seconds, standard error and certain limits at two budgets."""
    for name, sizes in {"2⁴⁰": (2,) * 40, "6²⁰": (6,) * 20}.items():
        parts = Interactions.of_summary(survey(sizes, 20_000))
        for budget in (1e8, 1e9):
            start = perf_counter()
            mass = normaliser(parts, 0.5, budget=budget).positive
            seconds = perf_counter() - start
            print(
                f"  {name} cells, budget {budget:.0e}: c = {mass.value:.5f} ± "
                f"{mass.standard_error:.1e}, certainly {mass.low:.4f} to {mass.high:.4f}, "
                f"{seconds:.1f} s"
            )


def scoring(n: int) -> None:
    """Nanoseconds a cell for E(1/F)."""
    rng = np.random.default_rng(1)
    probability = 10 ** rng.uniform(-9, -3, n)
    for name, counts in {
        "sample uniques": np.ones(n, dtype=np.int64),
        "mostly sample uniques": np.minimum(rng.geometric(0.7, n), 50),
        "counts of 1 to 200": rng.integers(1, 201, n),
    }.items():
        seconds, _ = median_cpu(lambda c=counts: mean_reciprocal(c, probability, 4.8e6))  # type: ignore[misc]
        print(f"  E(1/F), {name}: {seconds / n * 1e9:.0f} ns a cell")


if __name__ == "__main__":
    run(1.0)
