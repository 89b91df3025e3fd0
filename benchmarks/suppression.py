"""Suppression of sparse tables beside Gauss elimination: what it takes and how much it hides."""

from collections.abc import Sequence

import numpy as np

from benchmarks.comparing import Comparison, NotRun
from benchmarks.contestants import in_process
from discreet.numerics.arrays import IntArray

SHAPES = {"9x10x11": 1_320, "20x20": 441, "30x30": 961, "40x40": 1_681}  # figures with all margins
GAUSS_SUPPRESSION = NotRun(
    name="GaussSuppression (R)",
    why="needs R; on another table of 1,320 figures, of which it hides 419",
    seconds=3.2,
)
LIMIT = 240.0


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """Each table at the linear guarantee, which both give, and at ours."""
    return [
        Comparison(
            title=f"suppression of {shape.replace('x', '×')}, {figures:,} figures",
            contestants=[
                in_process(
                    "discreet, no sensitive figure follows by linear algebra",
                    *("suppress_table", shape, "not-derivable"),
                    limit=LIMIT,
                ),
                in_process(
                    "discreet, the same given one second for the search",
                    *("suppress_table", shape, "not-derivable", "1"),
                    limit=LIMIT,
                ),
                in_process(
                    "Gauss elimination in fractions (tests/oracles)",
                    *("gauss_table", shape),
                    rival=True,
                    limit=LIMIT,
                    note="plain Python, written to be right and not to be quick",
                ),
                in_process(
                    "discreet, safe for whole numbers (the default)",
                    *("suppress_table", shape, "whole"),
                    limit=LIMIT,
                    note="a stronger promise, which Gauss elimination does not make",
                ),
            ],
            not_run=[GAUSS_SUPPRESSION] if figures == 1_320 else [],
        )
        for shape, figures in SHAPES.items()
    ]


def sparse_counts(shape: tuple[int, ...]) -> IntArray:
    """Poisson counts with gamma rates: mean 2 in three ways, 4 in two; most cells are small."""
    mean = 2.0 if len(shape) == 3 else 4.0
    rng = np.random.default_rng(0 if len(shape) == 3 else shape[0])
    return rng.poisson(rng.gamma(0.4, mean / 0.4, size=shape)).astype(np.int64)
