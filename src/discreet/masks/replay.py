"""A mask run again on another table, as anybody can who owns this program.

What is published of a table tells more than its figures say: of the tables that fit them, only
those could have led to it for which the mask would have come to the same. A mask whose choice tells
something beyond its statements and its likelihood holds its `Replay`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.clock import work
from discreet.numerics.arrays import IntArray

RUN_SECONDS = 2e-3  # nominal, of one run beside what is counted there


class Replay(Protocol):
    """What the choice of a publication tells of the table behind it."""

    @property
    def is_certain(self) -> bool:
        """Whether the same table always leads to the same publication."""

    def informed(self, tables: IntArray) -> "Replay":
        """The same, with some tables that fit (tables × cells), which may spare runs."""

    def log_chance(self, cells: IntArray, rng: np.random.Generator) -> float:
        """log Pr(this very publication | a table that fits), `cells` in C order.

        What is not certain is estimated, and Pr without bias.
        """


@dataclass(frozen=True, slots=True)
class SameAgain:
    """The replay of a mask without chance: `is_same` says whether a table leads to the same."""

    is_same: Callable[[IntArray], bool]

    @property
    def is_certain(self) -> bool:
        """Yes."""
        return True

    def informed(self, tables: IntArray) -> "SameAgain":
        """Other tables tell nothing of it."""
        return self

    def log_chance(self, cells: IntArray, rng: np.random.Generator) -> float:
        """0 where the table leads to the publication, −inf where it leads to another."""
        work(RUN_SECONDS)
        return 0.0 if self.is_same(cells) else -np.inf
