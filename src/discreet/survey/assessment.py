"""Records to risk, the whole way: count, summarise, fit, score, and gather the figures."""

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.csv_dialect import CsvOptions
from discreet.data.missing import MissingCodes, MissingPolicy, missing_policy
from discreet.data.records import Records, open_records
from discreet.data.summary import SizeIndices, Summary
from discreet.data.writing import check_outputs
from discreet.engines.contract import CellStore, Engine, HouseholdTotals, KeyLevels, Request
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.notebooks import ShownInNotebooks
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent
from discreet.survey.anonymity import Anonymity, anonymity_curve
from discreet.survey.attributes.hierarchy import Hierarchy
from discreet.survey.attributes.sensitive import SensitiveFigures, Thresholds, sensitive_figures
from discreet.survey.contributions import Contributions, contributions
from discreet.survey.headline.recommendation import (
    Recommended,
    chosen_by_user,
    recommend,
    recommend_from_sizes,
)
from discreet.survey.impossible import ImpossibleList, read_impossible
from discreet.survey.known_population import KnownPopulation, known_population
from discreet.survey.models.contract import Model, ModelUnavailable, Need
from discreet.survey.models.lancaster import Lancaster, ShrinkageRow, table_over_shrinkage
from discreet.survey.models.registry import choose_models
from discreet.survey.projection import AllCells
from discreet.survey.riskiest import RiskyCell, riskiest_cells
from discreet.survey.scenarios import Scenarios, assess_scenarios
from discreet.survey.scoring import ModelResult, Scorer, fit_model
from discreet.survey.suda.scores import check_size
from discreet.survey.suda.special import SpecialFigures, special_figures
from discreet.survey.suda.subsets import SubsetSize, subset_uniques
from discreet.survey.summarising import summarise
from discreet.survey.validation import (
    check_codes,
    check_headline,
    check_roles,
    check_settings,
    check_totals,
    checked_keys,
    checked_match_weight,
    checked_sensitive,
    no_test_of_uniqueness,
)
from discreet.survey.warnings import data_warnings

K_CURVE = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)


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
    codes: MissingCodes
    loss_ratios: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment(ShownInNotebooks):
    """The disclosure risk of a file, with how each figure was got.

    `n_incomplete` records lack a key value and make up `n_incomplete_cells` of the cells;
    `n_dropped` records were left out.
    """

    settings: Settings
    keys: tuple[KeyLevels, ...]
    n_incomplete: int
    n_incomplete_cells: int
    n_dropped: int
    summary: Summary
    anonymity: tuple[Anonymity, ...]
    anonymity_curve: tuple[Anonymity, ...]
    contributions: Contributions
    riskiest: tuple[RiskyCell, ...]
    models: Mapping[str, ModelResult | Unavailable]
    recommended: Recommended
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
        """Records that no other record counts as a match of: sample count at most 1."""
        return self.size_indices.sample_uniques


@in_one_thread
def assess(
    source: Any,
    keys: Sequence[str] | None = None,
    *,
    weight: str | None = None,
    population_size: float | None = None,
    n_table_cells: int | None = None,
    models: str | Sequence[str] = "auto",
    headline: str | None = None,
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
    are further ratios of losses b/c for the Bayes test of uniqueness. `headline` is the
    model whose figures lead, in place of the recommended estimate.
    With `risks`, one row a record is written there as Parquet. `structural_zeros` is a source whose
    columns are keys and whose rows are impossible combinations, an empty value meaning any level.

    Raises InputError, with one clear line, for anything that cannot be assessed.
    """
    records = open_records(source, csv)
    request = Request(
        records=records,
        keys=checked_keys(keys, scenarios or {}, records),
        weight=weight,
        missing=missing_policy(missing),
        missing_weight=checked_match_weight(missing_weight, missing),
        codes=codes or MissingCodes(),
        sensitive=checked_sensitive(sensitive),
        household=household,
        decimal=(csv or CsvOptions()).decimal,
    )
    asked = _Asked(
        models=tuple(
            replace(model, shrinkage=shrinkage) if isinstance(model, Lancaster) else model
            for model in choose_models(models)
        ),
        headline=headline,
        population_size=population_size,
        n_table_cells=n_table_cells,
        impossible=None if structural_zeros is None else open_records(structural_zeros, csv),
        population=None if population is None else open_records(population, csv),
        anonymity_levels=tuple(anonymity_levels),
        thresholds=thresholds or Thresholds(),
        hierarchies=hierarchies or {},
        suda=suda,
        scenarios=scenarios or {},
        subsets=subsets,
        shrinkage_table=shrinkage_table,
        loss_ratios=tuple(loss_ratios),
        risks=None if risks is None else Path(risks),
        all_pairs=all_pairs,
        n_riskiest=n_riskiest,
        progress=progress,
    )
    asked.check(request)
    check_settings([model.name for model in asked.models], shrinkage, asked.loss_ratios)
    if thresholds is not None and not request.sensitive:
        raise InputError(must_be("thresholds", "given with a sensitive variable", "none"))
    with (engine or _default_engine(progress)).count(request) as cells:
        return _assessed(cells, request, asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What was asked beyond the counting of cells."""

    models: tuple[Model, ...]
    headline: str | None
    population_size: float | None
    n_table_cells: int | None
    impossible: Records | None
    population: Records | None
    anonymity_levels: tuple[int, ...]
    thresholds: Thresholds
    hierarchies: Mapping[str, Hierarchy]
    suda: int | None
    scenarios: Mapping[str, Sequence[str]]
    subsets: int | None
    shrinkage_table: bool
    loss_ratios: tuple[float, ...]
    risks: Path | None
    all_pairs: bool
    n_riskiest: int
    progress: Progress

    def check(self, request: Request) -> None:
        """Roles that do not clash, numbers that make sense, an output that overwrites no input."""
        check_roles(request.keys, request.weight, request.household, request.sensitive)
        check_codes(request.codes, (*request.keys, *request.sensitive))
        check_headline(self.headline, [model.name for model in self.models])
        check_totals(self.population_size, self.population, self.n_table_cells, self.impossible)
        if self.suda is not None:
            check_size(self.suda, len(request.keys), "suda")
        sources = [r for r in (request.records, self.impossible, self.population) if r is not None]
        if self.risks is not None:
            files = [path for source in sources for path in source.files]
            parts = [path for source in sources for path in source.parts]
            check_outputs([self.risks], files, parts)

    def needs(self) -> set[Need]:
        """Summaries to compute; the riskiest cells are ranked by one-way margins in any case."""
        models = [*self.models, *([Lancaster()] if self.shrinkage_table else [])]
        return {Need.MARGINS_1}.union(*(model.needs for model in models))


def _assessed(cells: CellStore, request: Request, asked: _Asked) -> Assessment:
    """All figures from the counted cells."""
    impossible = None if asked.impossible is None else read_impossible(asked.impossible, cells)
    boxes = [dict(box) for box in impossible.zeros.boxes] if impossible else []
    table_cells = _table_cells(cells, request.missing, impossible, asked.n_table_cells)
    everything = _all_cells(cells, request)
    truth = None if asked.population is None else _truth(cells, asked.population, everything)
    size = asked.population_size
    if size is None and truth is not None:
        size = truth.population_size
    summary = summarise(
        cells,
        n_table_cells=table_cells,
        population_size=size,
        weight_total=cells.weights.total if cells.weights else None,
        needs=asked.needs(),
    )
    special = _special(everything, summary, asked)
    levels = asked.anonymity_levels
    views = assess_scenarios(everything, asked.scenarios, levels) if asked.scenarios else None
    attributes = _attributes(cells, everything, request, asked)
    parts = [part.columns() for part in (truth, special, views, *attributes) if part is not None]
    columns = {name: values for part in parts for name, values in part.items()}
    fitted = {m.name: fit_model(m, summary, cells, boxes, asked.progress) for m in asked.models}
    scorer = Scorer(cells, fitted, columns, asked.loss_ratios, everything.matched_by)
    if asked.loss_ratios and not scorer.called:
        remedy = "give the population size or weights"
        raise no_test_of_uniqueness("none that could be fitted", remedy)
    households = scorer.run(asked.risks, request.household, asked.progress)
    one_way = [summary.margins[(j,)] for j in range(len(summary.level_counts))]
    results = {model.name: scorer.result(model) for model in asked.models}
    return Assessment(
        settings=_settings(request, asked),
        keys=cells.keys,
        n_incomplete=cells.n_incomplete,
        n_dropped=cells.n_dropped,
        summary=summary,
        anonymity=anonymity_curve(summary.size_indices, levels),
        anonymity_curve=anonymity_curve(summary.size_indices, K_CURVE),
        contributions=_contributions(everything, asked),
        riskiest=riskiest_cells(cells.batches(), cells.keys, one_way, asked.n_riskiest),
        models=results,
        recommended=_of_households(
            _recommended(cells, everything, summary, results, asked), request.household
        ),
        n_incomplete_cells=everything.n_incomplete,
        warnings=data_warnings(cells, summary, impossible, attributes),
        sensitive=attributes,
        households=households,
        special=special,
        scenarios=views,
        subsets=_subsets(everything, asked),
        shrinkages=_shrinkages(summary, cells, boxes) if asked.shrinkage_table else (),
        population=truth,
    )


def _recommended(
    cells: CellStore,
    everything: AllCells,
    summary: Summary,
    results: Mapping[str, ModelResult | Unavailable],
    asked: _Asked,
) -> Recommended:
    """The estimate to lead with, beside what the models say; that of a model if asked for."""
    weights = None
    if cells.weights:
        parts = [b.weight_total for b in cells.batches() if b.weight_total is not None]
        weights = np.concatenate(parts)
    others = {
        name: result.expected_population_uniques
        for name, result in results.items()
        if isinstance(result, ModelResult)
    }
    headline = asked.headline
    if headline is not None:
        own = results[headline]
        if isinstance(own, Unavailable):
            raise InputError(must_be("headline", "a model that can be fitted", own.reason))
        uniques, matches = own.expected_population_uniques, own.expected_correct_matches
        return chosen_by_user(headline, uniques, matches, others)
    if not summary.size_indices.is_partition:
        return recommend_from_sizes(
            summary.size_indices,
            population_size=summary.population_size,
            n_table_cells=summary.n_table_cells,
            others=others,
        )
    return recommend(
        everything.words,
        everything.records,
        everything.coding,
        population_size=summary.population_size,
        n_table_cells=summary.n_table_cells,
        n_table_cells_known=asked.n_table_cells is not None,
        weight_total=weights,
        others=others,
    )


def _of_households(recommended: Recommended, household: str | None) -> Recommended:
    """The estimate with a word of warning where persons come by households."""
    uniques = recommended.expected_population_uniques
    if household is None or not isinstance(uniques, Figure) or uniques.how is not How.ESTIMATE:
        return recommended
    told = (
        "if whole households were drawn, members share keys and are in the file together: the "
        "estimate, which takes persons to be drawn singly, may then be far too low"
    )
    note = f"{uniques.note}; {told}" if uniques.note else told
    return replace(recommended, expected_population_uniques=replace(uniques, note=note))


def _all_cells(cells: CellStore, request: Request) -> AllCells:
    words, records = cells.words()
    overlap = request.missing.matching is not None and cells.n_incomplete
    counts: list[Any] = [batch.sample_count for batch in cells.batches()] if overlap else [records]
    return AllCells(
        words=words,
        records=records,
        sample_count=np.concatenate(counts),
        coding=cells.coding,
        keys=cells.keys,
        policy=request.missing,
        missing_weight=request.missing_weight,
    )


def _attributes(
    cells: CellStore, everything: AllCells, request: Request, asked: _Asked
) -> tuple[SensitiveFigures, ...]:
    unused = set(asked.hierarchies) - set(request.sensitive)
    if unused:
        raise InputError(must_be("tree", "that of a sensitive variable", repr(min(unused))))
    return tuple(
        sensitive_figures(
            everything,
            cells.sensitive_values(name),
            asked.thresholds,
            asked.hierarchies.get(name),
        )
        for name in request.sensitive
    )


def _contributions(everything: AllCells, asked: _Asked) -> Contributions:
    return contributions(
        everything.words,
        everything.records,
        everything.coding,
        everything.names,
        all_pairs=asked.all_pairs,
        uniques_left=everything.uniques_without if everything.overlap else None,
        progress=asked.progress,
    )


def _subsets(everything: AllCells, asked: _Asked) -> tuple[SubsetSize, ...]:
    if asked.subsets is None:
        return ()
    return subset_uniques(everything, asked.subsets, progress=asked.progress)


def _shrinkages(
    summary: Summary, cells: CellStore, impossible: Sequence[Mapping[int, int]]
) -> tuple[ShrinkageRow, ...] | Unavailable:
    try:
        return table_over_shrinkage(summary, cells.batches(), structural_zeros=impossible)
    except ModelUnavailable as reason:
        return Unavailable(str(reason))


def _truth(cells: CellStore, register: Records, everything: AllCells) -> KnownPopulation:
    population = None if everything.overlap else cells.count_population(register)
    matching = everything.policy.matching is not None
    if population is None or (matching and population.n_incomplete):
        rule = "category, drop or error where the population is given as a file"
        remedy = "some records lack a key, and matching them with the population is not defined"
        raise InputError(must_be("missing", rule, repr(everything.policy.name), remedy=remedy))
    return known_population(everything.records, population)


def _special(everything: AllCells, summary: Summary, asked: _Asked) -> SpecialFigures | None:
    if asked.suda is None:
        return None
    size = summary.population_size
    fraction = None if size is None else summary.sample_size / size
    return special_figures(
        everything, asked.suda, sampling_fraction=fraction, progress=asked.progress
    )


def _default_engine(progress: Progress) -> Engine:
    from discreet.engines.duckdb import DuckDBEngine

    return DuckDBEngine(progress=progress)


def _table_cells(
    cells: CellStore, policy: MissingPolicy, impossible: ImpossibleList | None, given: int | None
) -> int:
    """Cells that could be occupied; a missing value that matches anything makes no cell."""
    if given is not None:
        return given
    matching = policy.matching is not None
    sizes = [key.n_known for key in cells.keys] if matching else cells.coding.sizes
    return math.prod(sizes) if impossible is None else impossible.n_possible(sizes)


def _settings(request: Request, asked: _Asked) -> Settings:
    packages = ("discreet", "duckdb", "numpy", "pyarrow", "scipy")
    return Settings(
        source=request.records.name,
        keys=request.keys,
        weight=request.weight,
        missing=request.missing,
        models=tuple(model.name for model in asked.models),
        anonymity_levels=tuple(sorted(set(asked.anonymity_levels))),
        structural_zeros=None if asked.impossible is None else asked.impossible.name,
        missing_weight=request.missing_weight,
        household=request.household,
        codes=request.codes,
        loss_ratios=asked.loss_ratios,
        versions={"python": platform.python_version()} | {p: version(p) for p in packages},
    )
