"""What every microdata model is: fitted on a few summaries, then a pure function on cells.

A model never sees records. It says which summaries it needs, `fit` turns them into a frozen fitted
model (or raises `ModelUnavailable` with the reason), and the fitted model scores cells batch by
batch. Totals come from a `Tally` of the scores, so nothing that grows with the data is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Protocol, runtime_checkable

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.engines.contract import Cells
from discreet.errors import DiscreetError
from discreet.figures import Outcome
from discreet.numerics.arrays import FloatArray
from discreet.numerics.exact_sums import as_float, exact_sum
from discreet.progress import Progress

UNIQUE, MATCH = "unique_probability", "match_probability"


class ModelUnavailable(DiscreetError):  # noqa: N818 - read as an answer, not as an accident
    """A model cannot be fitted to these data; the message says why and what would help."""


class Need(StrEnum):
    """A summary that a model may ask for; size indices and totals are always there."""

    MARGINS_1 = "margins(1)"
    MARGINS_2 = "margins(2)"
    MARGINS_3 = "margins(3)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellScores:
    """Scores of a batch, one row a cell, each in [0, 1], or None where the theory gives none.

    `unique_probability` is P(F_k = 1 given f_k = 1), zero in cells that hold more records.
    `match_probability` is the probability that an intruder who picks the record of a given person
    of this cell picks right, E(1 / F_k) in most models; it holds for each record of the cell.
    `match_variance` is Var(1 / F_k), where the model gives it.
    """

    unique_probability: FloatArray | None
    match_probability: FloatArray | None
    match_variance: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums of scores over all cells, with q the unique and r the match probability.

    `uniques` is Σ q and `uniques_variance` Σ q(1 − q) over sample uniques (the variance of the
    number of population uniques when cells are independent), `matches` is Σ r over all records and
    `matches_variance` its variance. `unique_matches` is Σ r over sample uniques and
    `pair_weight_total` Σ w over cells of two records: what a check of the model on data needs.
    """

    uniques: float = 0.0
    uniques_variance: float = 0.0
    matches: float = 0.0
    matches_variance: float = 0.0
    unique_matches: float = 0.0
    pair_weight_total: float = 0.0

    def add(self, batch: CellBatch, scores: CellScores) -> "Tally":
        """The tally with one more batch in it."""
        more = ExactTally.of(batch, scores).tally()
        return Tally(*(getattr(self, f.name) + getattr(more, f.name) for f in fields(Tally)))


@dataclass(frozen=True, slots=True)
class ExactTally:
    """The same sums as exact ones, so that no order of the cells changes them."""

    sums: tuple[int, ...]

    @classmethod
    def of(cls, batch: CellBatch, scores: CellScores) -> "ExactTally":
        """Of some cells."""
        records = batch.n_records
        alone, pairs = batch.sample_count == 1, batch.sample_count == 2
        q, r = scores.unique_probability, scores.match_probability
        variance, weights = scores.match_variance, batch.weight_total
        terms = (
            None if q is None else records * q,
            None if q is None else records * (q * (1 - q)),
            None if r is None else records * r,
            None if variance is None else records.astype(np.float64) ** 2 * variance,
            None if r is None else r[alone],
            None if weights is None else weights[pairs],
        )
        return cls(tuple(0 if term is None else exact_sum(term) for term in terms))

    def joined(self, other: "ExactTally") -> "ExactTally":
        """Of the cells of both."""
        return ExactTally(tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)))

    def tally(self) -> Tally:
        """The sums as floats."""
        return Tally(*map(as_float, self.sums))


class FittedModel(Protocol):
    """A model with its parameters known."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Which scores it gives: `UNIQUE`, `MATCH`, both or none."""

    @property
    def parameters(self) -> Mapping[str, float | int | str]:
        """Fitted and given parameters by name, for the record."""

    def score(self, batch: CellBatch) -> CellScores:
        """Scores of each cell; pure: the same batch gives the same scores."""

    def expected_population_uniques(self, tally: Tally) -> Outcome:
        """How many sample uniques are population uniques (τ₁), with its uncertainty."""

    def expected_correct_matches(self, tally: Tally) -> Outcome:
        """How many records an intruder is expected to match correctly (τ₂)."""

    def caution(self, tally: Tally) -> str | None:
        """A sentence where the data themselves show that the model misleads, else None."""


class Model(Protocol):
    """A recipe: what it is called, what it assumes, what it needs, and how it is fitted."""

    @property
    def name(self) -> str:
        """Its name on the command line and in JSON."""

    @property
    def assumption(self) -> str:
        """What must hold for its figures to be right, in one plain sentence."""

    @property
    def needs(self) -> frozenset[Need]:
        """The summaries that `fit` reads beyond totals and size indices."""

    def fit(self, summary: Summary) -> FittedModel:
        """The fitted model; raises ModelUnavailable with the reason where it cannot be fitted."""


@runtime_checkable
class TunableModel(Protocol):
    """A model with a setting that is chosen on the cells, and that knows of impossible ones."""

    def tuned(
        self,
        summary: Summary,
        cells: Cells,
        impossible: Sequence[Mapping[int, int]],
        progress: Progress,
    ) -> Model:
        """The model with its setting chosen; raises ModelUnavailable where it cannot be."""
