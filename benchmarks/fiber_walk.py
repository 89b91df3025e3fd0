"""The walk over consistent tables, in moves a second beside a C loop of the same algorithm.

The C loop makes the same moves with the same generator, the same line and the same look-ups, is
compiled with gcc -O3 for this machine, and starts from the same state, so that both must end at the
same table: the run says if they do not. Moves a second say nothing of how fast the walk forgets its
start; effective draws a second beside them do.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.medians import median_cpu
from discreet.fiber.draws.drawing import Method, WalkOptions, draw_tables
from discreet.fiber.draws.moves import (
    ListedMoves,
    LoopMoves,
    MoveSet,
    moves_by_4ti2,
    moves_of_margins,
)
from discreet.fiber.draws.starts import starting_points, starting_tables
from discreet.fiber.draws.walk import LineChain, line_chains
from discreet.fiber.system.linear_system import System, system_of
from discreet.fiber.system.margins import Margins, all_margins, margins_of
from discreet.fiber.system.priors import Multinomial, Prior, Uniform
from discreet.figures import Unavailable

C_LOOP = r"""
#include <stdint.h>
#include <math.h>
typedef int64_t i64; typedef uint64_t u64;
static inline u64 turn(u64 x, int k) { return (x << k) | (x >> (64 - k)); }
static inline u64 bits(u64 *s) {
    u64 r = turn(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = turn(s[3], 45);
    return r;
}
static inline double unit(u64 *s) { return (bits(s) >> 11) * 0x1p-53; }
static inline i64 below(u64 *s, i64 n) {
    i64 i = (i64)(unit(s) * n);
    return i < n ? i : n - 1;
}
static inline int line(i64 *x, const i64 *lower, const i64 *upper, const i64 *cells,
                       const i64 *steps, i64 n, int flat, const double *values, const i64 *start,
                       double *mass, u64 *s) {
    i64 low = -(1ll << 62), high = 1ll << 62, t;
    for (i64 k = 0; k < n; k++) {
        i64 c = cells[k], d = steps[k], up = upper[c] - x[c], down = x[c] - lower[c], h, l;
        if (d == 1) { h = up; l = -down; } else if (d == -1) { h = down; l = -up; }
        else if (d > 0) { h = up / d; l = -(down / d); } else { h = down / -d; l = -(up / -d); }
        if (h < high) high = h;
        if (l > low) low = l;
        if (high == low) return 0;
    }
    if (flat) t = low + below(s, high - low + 1);
    else {
        i64 spacing = 1;
        if (high - low >= 64) {
            i64 doublings = 1, points = 64;
            while (points <= high - low) { doublings++; points *= 2; }
            spacing = 1ll << below(s, doublings);
            i64 back = below(s, 64), ahead = 63 - back, b = -low / spacing, a = high / spacing;
            low = -(back < b ? back : b) * spacing; high = (ahead < a ? ahead : a) * spacing;
        }
        i64 m = (high - low) / spacing + 1;
        double most = -INFINITY, total = 0;
        for (i64 i = 0; i < m; i++) {
            double sum = 0;
            t = low + i * spacing;
            for (i64 k = 0; k < n; k++) sum += values[start[cells[k]] + x[cells[k]] + t * steps[k]];
            mass[i] = sum;
            if (sum > most) most = sum;
        }
        for (i64 i = 0; i < m; i++) mass[i] = total += exp(mass[i] - most);
        double mark = unit(s) * total;
        i64 i = 0;
        while (i < m - 1 && mass[i] <= mark) i++;
        t = low + i * spacing;
    }
    if (t == 0) return 0;
    for (i64 k = 0; k < n; k++) x[cells[k]] += t * steps[k];
    return 1;
}
i64 listed(i64 *x, const i64 *lower, const i64 *upper, const i64 *begin, const i64 *cells,
           const i64 *steps, i64 n_moves, int flat, const double *values, const i64 *start,
           u64 *s, i64 n) {
    i64 changed = 0;
    double mass[64];
    while (n--) {
        i64 i = below(s, n_moves), first = begin[i];
        changed += line(x, lower, upper, cells + first, steps + first, begin[i + 1] - first, flat,
                        values, start, mass, s);
    }
    return changed;
}
static inline void two(u64 *s, i64 size, i64 *drawn) {
    drawn[0] = below(s, size);
    drawn[1] = below(s, size - 1);
    drawn[1] += drawn[1] >= drawn[0];
}
i64 loops(i64 *x, const i64 *lower, const i64 *upper, const i64 *cuts, const i64 *offsets,
          i64 n_cuts, int flat, const double *values, const i64 *start, u64 *s, i64 n) {
    const i64 steps[4] = {1, -1, 1, -1};
    i64 changed = 0, r[2], c[2], cells[4];
    double mass[64];
    while (n--) {
        const i64 *cut = cuts + 9 * below(s, n_cuts);
        i64 base = offsets[cut[0] + below(s, cut[1])];
        two(s, cut[3], r); two(s, cut[5], c);
        for (int k = 0; k < 2; k++) {
            i64 row = base + offsets[cut[2] + r[k]];
            cells[2 * k] = row + offsets[cut[4] + c[k]];
            cells[2 * k + 1] = row + offsets[cut[4] + c[1 - k]];
        }
        changed += line(x, lower, upper, cells, steps, 4, flat, values, start, mass, s);
    }
    return changed;
}
"""


def run(scale: float) -> None:
    """Prints moves a second, ours and C, and effective draws a second of whole walks."""
    n_moves = max(100_000, round(2e7 * scale))
    loop = compiled_loop()
    print(f"walk: {n_moves:,} moves on one core")
    rng = np.random.default_rng(6)
    for name, margins in tables(rng).items():
        system = system_of(margins.n_cells, margins.statements())
        moves: MoveSet | Unavailable = moves_of_margins(margins, system)
        if isinstance(moves, Unavailable):
            moves = moves_by_4ti2(system)
        if isinstance(moves, Unavailable):
            print(f"  {name}: {moves.reason}")
            continue
        for prior in (Uniform(), Multinomial()):
            compare(f"{name}, {prior.name}", margins, system, moves, prior, n_moves, loop)
    for name, margins in tables(rng).items():
        mixing(name, margins, max(400, round(4000 * scale)))


def tables(rng: np.random.Generator) -> dict[str, Margins]:
    """Margins of tables dense and sparse, two-way, decomposable and not."""
    two_way = rng.poisson(8.0, size=(10, 10))
    chain = rng.poisson(0.05, size=(2,) * 16)
    three = rng.integers(1, 7, size=(3, 3, 4))
    return {
        "10 × 10 with row and column sums": margins_of(two_way, [(0,), (1,)]),
        "2^16, chain of two-way margins": margins_of(chain, [(i, i + 1) for i in range(15)]),
        "3 × 3 × 4 with all two-way margins": margins_of(three, all_margins(3, 2)),
    }


def compare(
    name: str,
    margins: Margins,
    system: System,
    moves: MoveSet,
    prior: Prior,
    n_moves: int,
    loop: ctypes.CDLL | None,
) -> None:
    """One table and prior: our moves a second, the C loop's, the ratio."""
    rng = np.random.default_rng(1)
    (start,) = (
        starting_tables(margins, 1, rng=rng, sparse=True)
        if isinstance(moves, LoopMoves)
        else starting_points(system, 1, rng=rng)
    )
    (chain,) = line_chains(system, moves, prior, [start], rng=rng)
    assert isinstance(chain, LineChain)
    first = chain.point.copy(), chain.state.copy()
    none, kept = np.empty(0, dtype=np.int64), np.empty((1, 0), dtype=np.int64)

    def ours() -> int:
        chain.point[:], chain.state[:] = first
        return chain.run(n_moves, none, kept)

    seconds, changed = median_cpu(ours)
    line = f"  {name}: {n_moves / seconds / 1e6:.1f} M moves/s, {changed / n_moves:.0%} change"
    if loop is not None:
        point, state = first[0].copy(), first[1].copy()

        def theirs() -> int:
            point[:], state[:] = first
            return c_moves(loop, system, chain, point, state, n_moves)

        c_seconds, _ = median_cpu(theirs)
        same = "same table" if np.array_equal(point, chain.point) else "ANOTHER TABLE"
        line += f"; C {n_moves / c_seconds / 1e6:.1f} M, {same}; ratio {c_seconds / seconds:.2f}"
    print(line, flush=True)


def c_moves(
    loop: ctypes.CDLL, system: System, chain: LineChain, point: Any, state: Any, n_moves: int
) -> int:
    """Moves by the C loop, in place; how many changed the table."""
    moves, weights = chain.moves, chain.weights
    flat, n = ctypes.c_int(weights.flat), ctypes.c_int64(n_moves)
    where = (address(point), address(system.lower), address(system.upper))
    look_up = (flat, address(weights.values), address(weights.start), address(state), n)
    if isinstance(moves, ListedMoves):
        by = (address(moves.begin), address(moves.cells), address(moves.steps))
        return int(loop.listed(*where, *by, ctypes.c_int64(moves.n_moves), *look_up))
    assert isinstance(moves, LoopMoves)
    cuts = (address(moves.cuts), address(moves.offsets), ctypes.c_int64(moves.n_moves))
    return int(loop.loops(*where, *cuts, *look_up))


def address(array: Any) -> ctypes.c_void_p:
    """Where an array's numbers are."""
    return ctypes.c_void_p(array.ctypes.data)


def mixing(name: str, margins: Margins, n_draws: int) -> None:
    """Effective draws a second of the walk as `draw_tables` makes it, all cores."""
    cells = np.arange(min(margins.n_cells, 200), dtype=np.int64)
    for prior in (Uniform(), Multinomial()):
        options = WalkOptions(n_chains=4)
        start = perf_counter()
        drawn = draw_tables(
            margins,
            prior,
            n_draws,
            rng=np.random.default_rng(2),
            method=Method.WALK,
            cells=cells,
            walk_options=options,
        )
        seconds = perf_counter() - start
        if isinstance(drawn, Unavailable):
            print(f"  {name}: {drawn.reason}")
            return
        assert drawn.diagnostics is not None
        worst = drawn.diagnostics.r_hat.max(initial=1.0)
        print(
            f"  {name}, {prior.name}: {drawn.effective_draws:.0f} effective of {n_draws} draws in "
            f"{seconds:.1f} s with start-up, R-hat {worst:.3f}"
        )


def compiled_loop() -> ctypes.CDLL | None:
    """The C loop, or None where there is no gcc."""
    if shutil.which("gcc") is None:
        print("  no gcc here: ours alone")
        return None
    folder = Path(tempfile.mkdtemp())
    source, library = folder / "walk.c", folder / "walk.so"
    source.write_text(C_LOOP)
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    loop = ctypes.CDLL(str(library))
    for function in (loop.listed, loop.loops):
        function.restype = ctypes.c_int64
    return loop


if __name__ == "__main__":
    run(1.0)
