"""Records to risk, the whole way: count, summarise, fit, score, and gather the figures."""

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.arrays import FloatArray
from discreet.data.csv_dialect import CsvOptions
from discreet.data.missing import MissingCodes, MissingPolicy, missing_policy
from discreet.data.records import Records, open_records
from discreet.data.summary import SizeIndices, Summary
from discreet.data.writing import check_outputs, written_whole
from discreet.engines.contract import CellStore, Engine, HouseholdTotals, KeyLevels, Request
from discreet.errors import ColumnError, InputError, must_be
from discreet.figures import Outcome, Unavailable
from discreet.models.contract import (
    FittedModel,
    Model,
    ModelUnavailable,
    Need,
    Tally,
    TunableModel,
)
from discreet.models.lancaster import Lancaster, ShrinkageRow, table_over_shrinkage
from discreet.models.registry import choose_models
from discreet.progress import Progress, silent
from discreet.risk.anonymity import Anonymity, anonymity_curve
from discreet.risk.bayes_test import CalledUnique
from discreet.risk.contributions import Contributions, contributions
from discreet.risk.distribution import RiskDistribution
from discreet.risk.hierarchy import Hierarchy
from discreet.risk.impossible import ImpossibleList, read_impossible
from discreet.risk.known_population import KnownPopulation, known_population
from discreet.risk.projection import AllCells
from discreet.risk.riskiest import RiskyCell, riskiest_cells
from discreet.risk.scenarios import Scenarios, assess_scenarios
from discreet.risk.sensitive import SensitiveFigures, Thresholds, sensitive_figures
from discreet.risk.special import SpecialFigures, special_figures
from discreet.risk.subsets import SubsetSize, subset_uniques
from discreet.risk.warnings import data_warnings

MATCH = "_match_probability"
K_CURVE = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked, for the record."""

    source: str
    keys: tuple[str, ...]
    weight: str | None
    missing: MissingPolicy
    models: tuple[str, ...]
    anonymity_levels: tuple[int, ...]
    structural_zeros: str | None
    missing_weight: float
    household: str | None
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The disclosure risk of a file, with how each figure was got."""

    settings: Settings
    keys: tuple[KeyLevels, ...]
    n_incomplete: int
    n_dropped: int
    summary: Summary
    anonymity: tuple[Anonymity, ...]
    anonymity_curve: tuple[Anonymity, ...]
    contributions: Contributions
    riskiest: tuple[RiskyCell, ...]
    models: Mapping[str, ModelResult | Unavailable]
    warnings: tuple[str, ...]
    sensitive: tuple[SensitiveFigures, ...] = ()
    households: HouseholdTotals | None = None
    special: SpecialFigures | None = None
    scenarios: Scenarios | None = None
    subsets: tuple[SubsetSize, ...] = ()
    shrinkages: tuple[ShrinkageRow, ...] | Unavailable = ()
    population: KnownPopulation | None = None

    @property
    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        return self.summary.size_indices

    @property
    def sample_uniques(self) -> int:
        """Records that are alone in their cell."""
        return self.size_indices.sample_uniques


def assess(
    source: Any,
    keys: Sequence[str] | None = None,
    *,
    weight: str | None = None,
    population_size: float | None = None,
    n_table_cells: int | None = None,
    models: str | Sequence[str] = "auto",
    missing: str = "category",
    missing_weight: float = 1.0,
    codes: MissingCodes | None = None,
    structural_zeros: Any = None,
    anonymity_levels: Sequence[int] = (2, 3, 5),
    sensitive: Sequence[str] = (),
    thresholds: Thresholds | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    household: str | None = None,
    suda: int | None = None,
    shrinkage: float | None = None,
    shrinkage_table: bool = False,
    loss_ratios: Sequence[float] = (),
    scenarios: Mapping[str, Sequence[str]] | None = None,
    subsets: int | None = None,
    population: Any = None,
    risks: str | Path | None = None,
    all_pairs: bool = False,
    n_riskiest: int = 20,
    csv: CsvOptions | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Assessment:
    """The disclosure risk of a file of records.

    `source` is a path (CSV, Parquet file, folder or glob, Arrow, Stata, SPSS, SAS), a pandas or
    polars frame, an Arrow table or a DuckDB relation; `keys` are the columns an intruder may know,
    by default all that the scenarios name.

    More is computed where it is asked for: `sensitive` variables (diversity, closeness), the risk
    of each `household`, SUDA scores with at most `suda` keys in a minimal sample unique,
    `scenarios` (name to keys), all `subsets` of up to so many keys, true risks from a `population`
    file, and the Lancaster model with a given `shrinkage` or over a table of them. `loss_ratios`
    are further ratios of losses b/c for the Bayes test of uniqueness.
    With `risks`, one row a record is written there as Parquet. `structural_zeros` is a source whose
    columns are keys and whose rows are impossible combinations, an empty value meaning any level.

    Raises InputError, with one clear line, for anything that cannot be assessed.
    """
    records = open_records(source, csv)
    chosen = tuple(
        replace(model, shrinkage=shrinkage) if isinstance(model, Lancaster) else model
        for model in choose_models(models)
    )
    request = Request(
        records=records,
        keys=_checked_keys(keys, scenarios, weight, sensitive, household),
        weight=weight,
        missing=missing_policy(missing),
        missing_weight=_match_weight(missing_weight, missing),
        codes=codes or MissingCodes(),
        sensitive=tuple(sensitive),
        household=household,
        decimal=(csv or CsvOptions()).decimal,
    )
    _check_numbers(population_size, n_table_cells)
    forbidden = None if structural_zeros is None else open_records(structural_zeros, csv)
    register = None if population is None else open_records(population, csv)
    if risks is not None:
        inputs = [path for r in (records, forbidden, register) if r is not None for path in r.files]
        check_outputs([Path(risks)], inputs)
    with (engine or _default_engine(progress)).count(request) as cells:
        impossible = None if forbidden is None else read_impossible(forbidden, cells)
        table_cells = _table_cells(cells, request.missing, impossible, n_table_cells)
        needs = _needs([*chosen, *([Lancaster()] if shrinkage_table else [])])
        summary = _summary(cells, table_cells, population_size, needs)
        words, counts = cells.words()
        everything = AllCells(
            words=words,
            records=counts,
            coding=cells.coding,
            keys=cells.keys,
            policy=request.missing,
            missing_weight=request.missing_weight,
        )
        truth = None if register is None else _truth(cells, register, everything)
        special = _special(everything, suda, summary, progress)
        views = assess_scenarios(everything, scenarios, anonymity_levels) if scenarios else None
        attributes = tuple(
            sensitive_figures(
                everything,
                cells.sensitive_values(name),
                thresholds or Thresholds(),
                (hierarchies or {}).get(name),
            )
            for name in request.sensitive
        )
        parts = (truth, special, views, *attributes)
        extra = [part.columns() for part in parts if part is not None]
        boxes = [dict(box) for box in impossible.zeros.boxes] if impossible else []
        fitted = {model.name: _fit(model, summary, cells, boxes, progress) for model in chosen}
        columns = {name: values for part in extra for name, values in part.items()}
        scorer = _Scorer(cells, fitted, columns, tuple(loss_ratios))
        households = scorer.run(Path(risks) if risks else None, household, progress)
        return Assessment(
            settings=_settings(request, chosen, anonymity_levels, forbidden),
            keys=cells.keys,
            n_incomplete=cells.n_incomplete,
            n_dropped=cells.n_dropped,
            summary=summary,
            anonymity=anonymity_curve(summary.size_indices, anonymity_levels),
            anonymity_curve=anonymity_curve(summary.size_indices, K_CURVE),
            contributions=contributions(
                words,
                counts,
                cells.coding,
                everything.names,
                all_pairs=all_pairs,
                uniques_left=everything.uniques_without if everything.overlap else None,
                progress=progress,
            ),
            riskiest=riskiest_cells(cells.batches(), cells.keys, _one_way(summary), n_riskiest),
            models={model.name: scorer.result(model) for model in chosen},
            warnings=data_warnings(cells, summary, impossible),
            sensitive=attributes,
            households=households,
            special=special,
            scenarios=views,
            subsets=()
            if subsets is None
            else subset_uniques(everything, subsets, progress=progress),
            shrinkages=_shrinkages(summary, cells, boxes) if shrinkage_table else (),
            population=truth,
        )


def _shrinkages(
    summary: Summary, cells: CellStore, impossible: Sequence[Mapping[int, int]]
) -> tuple[ShrinkageRow, ...] | Unavailable:
    try:
        return table_over_shrinkage(summary, cells.batches(), structural_zeros=impossible)
    except ModelUnavailable as reason:
        return Unavailable(str(reason))


def _truth(cells: CellStore, register: Records, everything: AllCells) -> KnownPopulation:
    if everything.policy.matching is not None and cells.n_incomplete:
        rule = "category, drop or error where the population is given as a file"
        raise InputError(must_be("missing", rule, repr(everything.policy.name)))
    return known_population(everything.records, cells.count_population(register))


def _special(
    everything: AllCells, suda: int | None, summary: Summary, progress: Progress
) -> SpecialFigures | None:
    if suda is None:
        return None
    size = summary.population_size
    fraction = None if size is None else summary.sample_size / size
    return special_figures(everything, suda, sampling_fraction=fraction, progress=progress)


def _default_engine(progress: Progress) -> Engine:
    from discreet.engines.duckdb import DuckDBEngine

    return DuckDBEngine(progress=progress)


def _checked_keys(
    given: Sequence[str] | None,
    scenarios: Mapping[str, Sequence[str]] | None,
    weight: str | None,
    sensitive: Sequence[str],
    household: str | None,
) -> tuple[str, ...]:
    if given is None:
        given = list(dict.fromkeys(key for keys in (scenarios or {}).values() for key in keys))
    if isinstance(given, str):
        raise InputError(must_be("keys", "a list of column names", repr(given)))
    keys = tuple(given)
    if not keys:
        raise InputError(must_be("keys", "at least one column", "none"))
    for key in keys:
        if not isinstance(key, str):
            raise InputError(must_be("keys", "names as text", repr(key)))
        if keys.count(key) > 1:
            raise ColumnError(must_be("keys", "different columns", f"{key!r} twice"))
    others = [("weight", weight), ("household", household)]
    for role, name in [*others, *(("sensitive", name) for name in sensitive)]:
        if name in keys:
            remedy = "take it out of one of them"
            raise ColumnError(must_be(role, "no key", repr(name), remedy=remedy))
    return keys


def _match_weight(weight: float, policy: str) -> float:
    if not 0 <= weight <= 1:
        raise InputError(must_be("missing_weight", "from 0 to 1", weight))
    if weight != 1 and policy != "wildcard":
        rule = "1 unless missing is 'wildcard', which alone has a use for it"
        raise InputError(must_be("missing_weight", rule, weight))
    return weight


def _check_numbers(population_size: float | None, n_table_cells: int | None) -> None:
    if population_size is not None and not 1 <= population_size < 1e15:
        raise InputError(must_be("population", "from 1 to 1e15", population_size))
    if n_table_cells is not None and n_table_cells < 1:
        raise InputError(must_be("cells", "at least 1", n_table_cells))


def _table_cells(
    cells: CellStore, policy: MissingPolicy, impossible: ImpossibleList | None, given: int | None
) -> int:
    """Cells that could be occupied; a missing value that matches anything makes no cell."""
    if given is not None:
        return given
    if impossible is not None:
        return impossible.zeros.n_possible()
    if policy.matching is not None:
        return math.prod(key.n_known for key in cells.keys)
    return cells.coding.n_combinations


def _needs(models: Sequence[Model]) -> set[Need]:
    """The riskiest cells are ranked by one-way margins, so those are always had."""
    return {Need.MARGINS_1}.union(*(model.needs for model in models))


def _summary(
    cells: CellStore, n_table_cells: int, population_size: float | None, needs: set[Need]
) -> Summary:
    orders = {Need.MARGINS_1: 1, Need.MARGINS_2: 2, Need.MARGINS_3: 3}
    margins = {
        axes: table for need in sorted(needs) for axes, table in cells.margins(orders[need]).items()
    }
    weight_total = cells.weights.total if cells.weights else None
    return Summary(
        sample_size=cells.n_records,
        n_table_cells=n_table_cells,
        level_counts=cells.coding.sizes,
        size_indices=cells.size_indices(),
        weight_total=weight_total,
        population_size=population_size if population_size is not None else weight_total,
        population_size_known=population_size is not None,
        margins=margins,
    )


def _one_way(summary: Summary) -> list[Any]:
    return [summary.margins[(j,)] for j in range(len(summary.level_counts))]


def _fit(
    model: Model,
    summary: Summary,
    cells: CellStore,
    impossible: Sequence[Mapping[int, int]],
    progress: Progress,
) -> FittedModel | Unavailable:
    """The fitted model, its setting chosen on the cells first where it has one.

    What a model cannot do with its input is its own affair: the others still run.
    """
    try:
        if isinstance(model, TunableModel):
            model = model.tuned(summary, cells.batches, impossible, progress)
        return model.fit(summary)
    except (ModelUnavailable, InputError) as reason:
        return Unavailable(str(reason))


class _Scorer:
    """Runs cells through the fitted models once, keeping the tally and distribution of each.

    `extra` are further columns for the file of records, one value a cell.
    """

    def __init__(
        self,
        cells: CellStore,
        fitted: Mapping[str, FittedModel | Unavailable],
        extra: Mapping[str, FloatArray],
        loss_ratios: tuple[float, ...],
    ) -> None:
        self.cells = cells
        self.outcomes = fitted
        self.fitted = {n: m for n, m in fitted.items() if not isinstance(m, Unavailable)}
        self.extra = extra
        self.tallies = {name: Tally() for name in self.fitted}
        self.distributions: dict[str, RiskDistribution] = {}
        self.called: dict[str, CalledUnique] = {}
        self.columns: list[str] = []
        for name, model in self.fitted.items():
            first = model.score(next(cells.batches()))
            if first.unique_probability is not None:
                self.columns.append(f"{name}_unique_probability")
                self.called[name] = CalledUnique.none_yet(loss_ratios)
            if first.match_probability is not None:
                self.columns.append(f"{name}{MATCH}")
                self.distributions[name] = RiskDistribution.empty()
        self.columns += extra

    def run(
        self, risks: Path | None, household: str | None, progress: Progress
    ) -> HouseholdTotals | None:
        """Score every batch, write the records if asked, and gather households if there are any."""
        if risks is None and household is None:
            for _ in self.scores(progress):
                pass
            return None
        self.cells.attach_scores(self.scores(progress), self.columns)
        totals = None
        if household is not None:
            matches = [column for column in self.columns if column.endswith(MATCH)]
            totals = self.cells.household_totals(matches)
        if risks is not None:
            with written_whole(risks) as temporary:
                self.cells.write_records(temporary)
        return totals

    def scores(self, progress: Progress) -> Iterator[dict[str, FloatArray]]:
        """For each batch, the columns of scores of all models."""
        done = 0
        for batch in self.cells.batches():
            columns: dict[str, FloatArray] = {}
            for name, model in self.fitted.items():
                scores = model.score(batch)
                self.tallies[name] = self.tallies[name].add(batch, scores)
                if scores.unique_probability is not None:
                    columns[f"{name}_unique_probability"] = scores.unique_probability
                    self.called[name] = self.called[name].add(
                        scores.unique_probability, batch.n_records
                    )
                if scores.match_probability is not None:
                    columns[f"{name}{MATCH}"] = scores.match_probability
                    self.distributions[name] = self.distributions[name].add(
                        scores.match_probability, batch.n_records
                    )
            here = slice(done, done + len(batch))
            columns |= {name: np.asarray(values[here]) for name, values in self.extra.items()}
            done += len(batch)
            progress("scoring the cells", done / self.cells.n_cells)
            yield columns

    def result(self, model: Model) -> ModelResult | Unavailable:
        """What the model says of the whole file, from its tally."""
        fit = self.outcomes[model.name]
        if isinstance(fit, Unavailable):
            return fit
        tally = self.tallies[model.name]
        return ModelResult(
            name=model.name,
            assumption=model.assumption,
            parameters=fit.parameters,
            expected_population_uniques=fit.expected_population_uniques(tally),
            expected_correct_matches=fit.expected_correct_matches(tally),
            caution=fit.caution(tally),
            distribution=self.distributions.get(model.name),
            called_unique=self.called.get(model.name),
        )


def _settings(
    request: Request, models: Sequence[Model], levels: Sequence[int], impossible: Records | None
) -> Settings:
    packages = ("discreet", "duckdb", "numpy", "pyarrow", "scipy")
    return Settings(
        source=request.records.name,
        keys=request.keys,
        weight=request.weight,
        missing=request.missing,
        models=tuple(model.name for model in models),
        anonymity_levels=tuple(sorted(set(levels))),
        structural_zeros=None if impossible is None else impossible.name,
        missing_weight=request.missing_weight,
        household=request.household,
        versions={"python": platform.python_version()} | {p: version(p) for p in packages},
    )
