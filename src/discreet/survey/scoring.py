"""Cells through the models: fit each, score every batch once, keep sums and write records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.data.summary import Summary
from discreet.data.writing import written_whole
from discreet.engines.contract import CellStore, ClassLimits, CountedCells, HouseholdTotals
from discreet.errors import InputError
from discreet.figures import Outcome, Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.progress import Progress, heed
from discreet.survey.bayes_test import CalledUnique
from discreet.survey.headline.record_risk import CellRisks
from discreet.survey.models.contract import (
    FittedModel,
    Model,
    ModelUnavailable,
    Tally,
    TunableModel,
)
from discreet.survey.risk_histogram import RiskDistribution

RISK, POPULATION_UNIQUE = "risk", "population_unique"
EXTRA_CELLS = 1 << 20  # handed over at once where there is nothing to score
MATCH = "_match_probability"
UNIQUE = "_unique_probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """What one model says of the whole file."""

    name: str
    assumption: str
    parameters: Mapping[str, float | int | str]
    expected_population_uniques: Outcome
    expected_correct_matches: Outcome
    caution: str | None
    distribution: RiskDistribution | None
    called_unique: CalledUnique | None


def fit_model(
    model: Model,
    summary: Summary,
    cells: CountedCells,
    impossible: Sequence[Mapping[int, int]],
    progress: Progress,
) -> FittedModel | Unavailable:
    """The fitted model, its setting chosen on the cells first where it has one.

    What a model cannot do with its input is its own affair: the others still run.
    """
    heed()
    try:
        if isinstance(model, TunableModel):
            model = model.tuned(summary, cells.batches, impossible, progress)
        return model.fit(summary)
    except (ModelUnavailable, InputError) as reason:
        return Unavailable(str(reason))


class Scorer:
    """Runs cells through the fitted models once, keeping the tally and distribution of each.

    `leading` are the risks that lead, or the name of the model whose risks do. `extra` are further
    columns for the file of records, one value a cell; `matched_by` is a sentence to add to what
    models assume.
    """

    def __init__(
        self,
        cells: CellStore,
        fitted: Mapping[str, FittedModel | Unavailable],
        leading: CellRisks | str | None,
        extra: Mapping[str, FloatArray],
        loss_ratios: tuple[float, ...],
        matched_by: str = "",
    ) -> None:
        self.cells = cells
        self.matched_by = matched_by
        self.outcomes = fitted
        self.fitted = {n: m for n, m in fitted.items() if not isinstance(m, Unavailable)}
        self.extra = dict(extra)
        self.leads = leading if isinstance(leading, str) else None
        self.risks = None if isinstance(leading, str) else leading
        self.parts: list[tuple[FloatArray, FloatArray]] = []
        if self.risks is not None:
            told = {RISK: self.risks.risk, POPULATION_UNIQUE: self.risks.population_unique}
            self.extra = told | self.extra
        self.tallies = {name: Tally() for name in self.fitted}
        self.distributions: dict[str, RiskDistribution] = {}
        self.called: dict[str, CalledUnique] = {}
        self.columns: list[str] = []
        for name, model in self.fitted.items():
            first = model.score(next(cells.batches()).part(slice(1)))  # which scores it gives
            if first.unique_probability is not None:
                self.columns.append(f"{name}{UNIQUE}")
                self.called[name] = CalledUnique.none_yet(loss_ratios)
            if first.match_probability is not None:
                self.columns.append(f"{name}{MATCH}")
                self.distributions[name] = RiskDistribution.empty()
        self.columns = [*self.extra, *self.columns]
        if self.leads is not None:
            self.columns = [RISK, POPULATION_UNIQUE, *self.columns]

    def run(
        self, risks: Path | None, household: str | None, limits: ClassLimits, progress: Progress
    ) -> HouseholdTotals | None:
        """Score every batch, write the records if asked, and gather households if there are any."""
        if risks is None and household is None:
            for _ in self.scores(progress) if self.fitted else ():
                pass
            return None
        self.cells.attach_scores(self.scores(progress), self.columns)
        totals = None
        if household is not None:
            of_records = [c for c in self.columns if c.endswith((MATCH, RISK))]
            totals = self.cells.household_totals(of_records)
        if risks is not None:
            first = [c for c in (RISK, POPULATION_UNIQUE) if c in self.columns]
            with written_whole(risks) as temporary:
                self.cells.write_records(temporary, first, limits if first else None)
        return totals

    def all_risks(self) -> CellRisks | None:
        """The risks that lead, of all cells, after the run."""
        if self.leads is None or not self.parts:
            return self.risks
        risk, unique = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return CellRisks(risk=risk, population_unique=unique)

    def scores(self, progress: Progress) -> Iterator[dict[str, FloatArray]]:
        """For each batch, the columns of scores of all models."""
        done = 0
        if not self.fitted and self.extra and self.leads is None:  # no model wants to see the cells
            for first in range(0, self.cells.n_cells, EXTRA_CELLS):
                here = slice(first, first + EXTRA_CELLS)
                yield {name: np.asarray(values[here]) for name, values in self.extra.items()}
            return
        for batch in self.cells.batches():
            columns: dict[str, FloatArray] = {}
            for name, model in self.fitted.items():
                scores = model.score(batch)
                self.tallies[name] = self.tallies[name].add(batch, scores)
                if scores.unique_probability is not None:
                    columns[f"{name}{UNIQUE}"] = scores.unique_probability
                    self.called[name] = self.called[name].add(
                        scores.unique_probability, batch.n_records
                    )
                if scores.match_probability is not None:
                    columns[f"{name}{MATCH}"] = scores.match_probability
                    self.distributions[name] = self.distributions[name].add(
                        scores.match_probability, batch.n_records
                    )
            if self.leads is not None:
                columns |= self._leading(columns, len(batch))
            here = slice(done, done + len(batch))
            columns |= {name: np.asarray(values[here]) for name, values in self.extra.items()}
            done += len(batch)
            progress("scoring the cells", done / self.cells.n_cells)
            yield columns

    def _leading(self, columns: Mapping[str, FloatArray], n: int) -> dict[str, FloatArray]:
        """The scores of the model that leads, NaN where it gives none."""
        none = np.full(n, np.nan)
        risk = columns.get(f"{self.leads}{MATCH}", none)
        unique = columns.get(f"{self.leads}{UNIQUE}", none)
        self.parts.append((risk, unique))
        return {RISK: risk, POPULATION_UNIQUE: unique}

    def result(self, model: Model) -> ModelResult | Unavailable:
        """What the model says of the whole file, from its tally."""
        fit = self.outcomes[model.name]
        if isinstance(fit, Unavailable):
            return fit
        tally = self.tallies[model.name]
        return ModelResult(
            name=model.name,
            assumption=model.assumption + self.matched_by,
            parameters=fit.parameters,
            expected_population_uniques=fit.expected_population_uniques(tally),
            expected_correct_matches=fit.expected_correct_matches(tally),
            caution=fit.caution(tally),
            distribution=self.distributions.get(model.name),
            called_unique=self.called.get(model.name),
        )
