"""Cells through the models: fit each, score every cell once, keep sums and write records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.summary import Summary
from discreet.data.writing import written_whole
from discreet.engines.contract import Cells, CellStore, ClassLimits, HouseholdTotals
from discreet.errors import InputError
from discreet.figures import Outcome, Unavailable
from discreet.numerics.arrays import FloatArray
from discreet.progress import Progress, heed
from discreet.survey.bayes_test import CalledUnique
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.models.contract import (
    MATCH,
    UNIQUE,
    ExactTally,
    FittedModel,
    Model,
    ModelUnavailable,
    TunableModel,
)
from discreet.survey.risk_histogram import RiskDistribution


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
    cells: Cells,
    impossible: Sequence[Mapping[int, int]],
    progress: Progress,
) -> FittedModel | Unavailable:
    """The fitted model, its setting chosen on the cells first where it has one.

    What a model cannot do with its input is its own affair: the others still run.
    """
    heed()
    try:
        if isinstance(model, TunableModel):
            model = model.tuned(summary, cells, impossible, progress)
        return model.fit(summary)
    except (ModelUnavailable, InputError) as reason:
        return Unavailable(str(reason))


@dataclass(frozen=True, slots=True)
class Scored:
    """What is kept of the scores of one model."""

    sums: ExactTally
    distribution: RiskDistribution | None = None
    called: CalledUnique | None = None

    def joined(self, other: "Scored") -> "Scored":
        """Of the cells of both."""
        distribution, called = self.distribution, self.called
        if distribution is not None and other.distribution is not None:
            distribution = distribution.joined(other.distribution)
        if called is not None and other.called is not None:
            called = called.joined(other.called)
        return Scored(self.sums.joined(other.sums), distribution, called)


@dataclass(frozen=True, slots=True)
class ScoringModels:
    """Scores the cells by fitted models, named by model and score; `leads` is the model whose risk
    is that of the records, and `keeps` says that the scores of the others are wanted too."""

    fitted: Mapping[str, FittedModel]
    loss_ratios: tuple[float, ...] = ()
    leads: str | None = None
    keeps: bool = True
    reads: tuple[str, ...] = ()

    @property
    def gives(self) -> tuple[str, ...]:
        """The risk that leads, if it is one of these, and the scores of each model."""
        led = () if self.leads is None else (RISK, POPULATION_UNIQUE)
        every = (f"{name}_{score}" for name, model in self.fitted.items() for score in model.gives)
        return (*led, *(every if self.keeps else ()))

    def of(self, batch: CellBatch) -> tuple[dict[str, FloatArray], dict[str, Scored]]:
        """Of some cells."""
        columns: dict[str, FloatArray] = {}
        found: dict[str, Scored] = {}
        for name, model in self.fitted.items():
            heed()
            scores = model.score(batch)
            distribution = called = None
            unique, match = scores.unique_probability, scores.match_probability
            if UNIQUE in model.gives and unique is not None:
                columns[f"{name}_{UNIQUE}"] = unique
                called = CalledUnique.none_yet(self.loss_ratios).add(unique, batch.n_records)
            if MATCH in model.gives and match is not None:
                columns[f"{name}_{MATCH}"] = match
                distribution = RiskDistribution.empty().add(match, batch.n_records)
            found[name] = Scored(ExactTally.of(batch, scores), distribution, called)
        if self.leads is not None:
            none = np.full(len(batch), np.nan)
            columns[RISK] = columns.get(f"{self.leads}_{MATCH}", none)
            columns[POPULATION_UNIQUE] = columns.get(f"{self.leads}_{UNIQUE}", none)
        return {name: columns[name] for name in self.gives}, found

    def joined(self, one: dict[str, Scored], other: dict[str, Scored]) -> dict[str, Scored]:
        """Of the cells of both."""
        return {name: scored.joined(other[name]) for name, scored in one.items()}


def scored_by(
    cells: Cells,
    models: Sequence[Model],
    fitted: Mapping[str, FittedModel | Unavailable],
    *,
    loss_ratios: tuple[float, ...] = (),
    leads: str | None = None,
    keeps: bool = True,
) -> tuple[dict[str, ModelResult | Unavailable], tuple[str, ...]]:
    """What each model says of the whole file, and the columns of scores beside the cells."""
    answered = {n: m for n, m in fitted.items() if not isinstance(m, Unavailable)}
    step = ScoringModels(answered, loss_ratios, leads if leads in answered else None, keeps)
    found = cells.add(step) if answered else {}
    results: dict[str, ModelResult | Unavailable] = {}
    for model in models:
        fit = fitted[model.name]
        results[model.name] = (
            fit
            if isinstance(fit, Unavailable)
            else _result(model, fit, found[model.name], cells.space.matched_by)
        )
    return results, step.gives


def _result(model: Model, fit: FittedModel, found: Scored, matched_by: str) -> ModelResult:
    tally = found.sums.tally()
    return ModelResult(
        name=model.name,
        assumption=model.assumption + matched_by,
        parameters=fit.parameters,
        expected_population_uniques=fit.expected_population_uniques(tally),
        expected_correct_matches=fit.expected_correct_matches(tally),
        caution=fit.caution(tally),
        distribution=found.distribution,
        called_unique=found.called,
    )


def given_to_records(
    store: CellStore,
    columns: Sequence[str],
    risks: Path | None,
    household: str | None,
    limits: ClassLimits,
) -> HouseholdTotals | None:
    """Write the columns of the cells to the records if asked, and gather households if there are
    any."""
    totals = None
    if household is not None:
        totals = store.household_totals([c for c in columns if c == RISK or c.endswith(_ENDINGS)])
    if risks is not None:
        first = [c for c in (RISK, POPULATION_UNIQUE) if c in columns]
        with written_whole(risks) as temporary:
            store.write_records(temporary, columns, first, limits if first else None)
    return totals


_ENDINGS = (f"_{MATCH}", f"_{RISK}")
