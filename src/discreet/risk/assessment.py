"""Records to risk, the whole way: count, summarise, fit, score, and gather the figures."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.data.arrays import FloatArray
from discreet.data.csv_dialect import CsvOptions
from discreet.data.missing import MissingPolicy, missing_policy
from discreet.data.records import Records, open_records
from discreet.data.summary import SizeIndices, Summary
from discreet.data.writing import check_outputs, written_whole
from discreet.engines.contract import CellStore, Engine, KeyLevels, Request
from discreet.errors import ColumnError, InputError, must_be
from discreet.figures import Outcome, Unavailable
from discreet.models.contract import FittedModel, Model, ModelUnavailable, Need, Tally
from discreet.models.registry import choose_models
from discreet.progress import Progress, silent
from discreet.risk.anonymity import Anonymity, anonymity_curve
from discreet.risk.contributions import Contributions, contributions
from discreet.risk.distribution import RiskDistribution
from discreet.risk.impossible import ImpossibleList, read_impossible
from discreet.risk.riskiest import RiskyCell, riskiest_cells
from discreet.risk.warnings import data_warnings

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
    keys: Sequence[str],
    *,
    weight: str | None = None,
    population_size: float | None = None,
    n_table_cells: int | None = None,
    models: str | Sequence[str] = "auto",
    missing: str = "category",
    structural_zeros: Any = None,
    anonymity_levels: Sequence[int] = (2, 3, 5),
    risks: str | Path | None = None,
    all_pairs: bool = False,
    n_riskiest: int = 20,
    csv: CsvOptions | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Assessment:
    """The disclosure risk of a file of records.

    `source` is a path (CSV, Parquet file, folder or glob, Arrow, Stata, SPSS, SAS), a pandas or
    polars frame, an Arrow table or a DuckDB relation; `keys` are the columns an intruder may know.
    With `risks`, one row a record is written there as Parquet. `structural_zeros` is a source whose
    columns are keys and whose rows are impossible combinations, an empty value meaning any level.

    Raises InputError, with one clear line, for anything that cannot be assessed.
    """
    records = open_records(source, csv)
    chosen = choose_models(models)
    request = Request(
        records=records,
        keys=_checked_keys(keys, weight),
        weight=weight,
        missing=missing_policy(missing),
        decimal=(csv or CsvOptions()).decimal,
    )
    _check_numbers(population_size, n_table_cells)
    forbidden = None if structural_zeros is None else open_records(structural_zeros, csv)
    if risks is not None:
        inputs = records.files + (forbidden.files if forbidden else ())
        check_outputs([Path(risks)], inputs)
    with (engine or _default_engine(progress)).count(request) as cells:
        impossible = None if forbidden is None else read_impossible(forbidden, cells)
        table_cells = _table_cells(cells, impossible, n_table_cells)
        summary = _summary(cells, table_cells, population_size, _needs(chosen))
        fitted = {model.name: _fit(model, summary) for model in chosen}
        results = _score(cells, chosen, fitted, Path(risks) if risks else None, progress)
        words, counts = cells.words()
        names = [key.name for key in cells.keys]
        return Assessment(
            settings=_settings(request, chosen, anonymity_levels, forbidden),
            keys=cells.keys,
            n_incomplete=cells.n_incomplete,
            n_dropped=cells.n_dropped,
            summary=summary,
            anonymity=anonymity_curve(summary.size_indices, anonymity_levels),
            anonymity_curve=anonymity_curve(summary.size_indices, K_CURVE),
            contributions=contributions(
                words, counts, cells.coding, names, all_pairs=all_pairs, progress=progress
            ),
            riskiest=riskiest_cells(cells.batches(), cells.keys, _one_way(summary), n_riskiest),
            models=results,
            warnings=data_warnings(cells, summary, impossible),
        )


def _default_engine(progress: Progress) -> Engine:
    from discreet.engines.duckdb import DuckDBEngine

    return DuckDBEngine(progress=progress)


def _checked_keys(given: Sequence[str], weight: str | None) -> tuple[str, ...]:
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
    if weight in keys:
        remedy = "take it out of the keys"
        raise ColumnError(must_be("weight", "no key", repr(weight), remedy=remedy))
    return keys


def _check_numbers(population_size: float | None, n_table_cells: int | None) -> None:
    if population_size is not None and not 1 <= population_size < 1e15:
        raise InputError(must_be("population", "from 1 to 1e15", population_size))
    if n_table_cells is not None and n_table_cells < 1:
        raise InputError(must_be("cells", "at least 1", n_table_cells))


def _table_cells(cells: CellStore, impossible: ImpossibleList | None, given: int | None) -> int:
    if given is not None and given < cells.n_cells:
        rule = f"at least the {cells.n_cells:,} cells that hold records"
        raise InputError(must_be("cells", rule, f"{given:,}"))
    if given is not None:
        return given
    return cells.coding.n_combinations if impossible is None else impossible.zeros.n_possible()


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
    if population_size is not None and population_size < cells.n_records:
        rule = f"at least the {cells.n_records:,} records of the sample"
        raise InputError(must_be("population", rule, f"{population_size:,}"))
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


def _fit(model: Model, summary: Summary) -> FittedModel | Unavailable:
    try:
        return model.fit(summary)
    except ModelUnavailable as reason:
        return Unavailable(str(reason))


def _score(
    cells: CellStore,
    models: Sequence[Model],
    fitted: Mapping[str, FittedModel | Unavailable],
    risks: Path | None,
    progress: Progress,
) -> dict[str, ModelResult | Unavailable]:
    """Score every batch once with every model, keeping sums, and writing risks if asked."""
    scorer = _Scorer(cells, {n: m for n, m in fitted.items() if not isinstance(m, Unavailable)})
    if risks is None:
        for _ in scorer.scores(progress):
            pass
    else:
        cells.attach_scores(scorer.scores(progress), scorer.columns)
        with written_whole(risks) as temporary:
            cells.write_records(temporary)
    results: dict[str, ModelResult | Unavailable] = {}
    for model in models:
        fit = fitted[model.name]
        results[model.name] = fit if isinstance(fit, Unavailable) else scorer.result(model, fit)
    return results


class _Scorer:
    """Runs cells through the fitted models, keeping the tally and the distribution of each."""

    def __init__(self, cells: CellStore, fitted: Mapping[str, FittedModel]) -> None:
        self.cells = cells
        self.fitted = fitted
        self.tallies = {name: Tally() for name in fitted}
        self.distributions: dict[str, RiskDistribution] = {}
        self.columns: list[str] = []
        for name, model in fitted.items():
            first = model.score(next(cells.batches()))
            if first.unique_probability is not None:
                self.columns.append(f"{name}_unique_probability")
            if first.match_probability is not None:
                self.columns.append(f"{name}_match_probability")
                self.distributions[name] = RiskDistribution.empty()

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
                if scores.match_probability is not None:
                    columns[f"{name}_match_probability"] = scores.match_probability
                    self.distributions[name] = self.distributions[name].add(
                        scores.match_probability, batch.n_records
                    )
            done += len(batch)
            progress("scoring the cells", done / self.cells.n_cells)
            yield columns

    def result(self, model: Model, fit: FittedModel) -> ModelResult:
        """What the model says of the whole file, from its tally."""
        tally = self.tallies[model.name]
        return ModelResult(
            name=model.name,
            assumption=model.assumption,
            parameters=fit.parameters,
            expected_population_uniques=fit.expected_population_uniques(tally),
            expected_correct_matches=fit.expected_correct_matches(tally),
            caution=fit.caution(tally),
            distribution=self.distributions.get(model.name),
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
        versions={"python": platform.python_version()} | {p: version(p) for p in packages},
    )
