"""How risk is spread over the records: a histogram that is filled batch by batch."""

from dataclasses import dataclass

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import ALIKE

EDGES: FloatArray = np.array(
    [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
)


@dataclass(frozen=True, slots=True)
class RiskDistribution:
    """Records by risk: `records[i]` have EDGES[i] < risk ≤ EDGES[i + 1] (0 falls in the first).

    The largest risk and its number of records are kept apart.
    """

    records: IntArray
    largest: float = 0.0

    @classmethod
    def empty(cls) -> "RiskDistribution":
        """No record yet."""
        return cls(np.zeros(len(EDGES) - 1, dtype=np.int64))

    def add(self, risk: FloatArray, records: IntArray) -> "RiskDistribution":
        """With the records of more cells in it."""
        beyond = np.searchsorted(EDGES * (1 + ALIKE), risk, side="left")  # 1/10 may be 0.1 + 1e-17
        place = np.clip(beyond - 1, 0, len(EDGES) - 2)
        more = np.bincount(place, weights=records, minlength=len(EDGES) - 1)
        largest = max(self.largest, float(risk.max(initial=0.0)))
        return RiskDistribution(self.records + more.astype(np.int64), largest)

    def joined(self, other: "RiskDistribution") -> "RiskDistribution":
        """With the records of both."""
        return RiskDistribution(self.records + other.records, max(self.largest, other.largest))

    def records_above(self, edge: float) -> int:
        """Records whose risk is above an edge of the histogram."""
        place = int(np.searchsorted(EDGES, edge))
        if place == len(EDGES) or EDGES[place] != edge:
            raise ValueError(f"edge must be one of EDGES, got {edge}")
        return int(self.records[place:].sum())
