"""Counted cells to risk: summarise, fit, score, and gather the figures."""

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.missing import MissingCodes, MissingPolicy
from discreet.data.records import Records
from discreet.data.summary import SizeIndices, Summary
from discreet.engines.contract import CellStore, HouseholdTotals, KeyLevels
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.notebooks import Result
from discreet.progress import Progress, silent
from discreet.survey.anonymity import Anonymity, anonymity_curve
from discreet.survey.attributes.hierarchy import Hierarchy
from discreet.survey.attributes.sensitive import SensitiveFigures, sensitive_figures
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
from discreet.survey.options import AssessOptions
from discreet.survey.projection import AllCells
from discreet.survey.riskiest import RiskyCell, riskiest_cells
from discreet.survey.scenarios import Scenarios, assess_scenarios
from discreet.survey.scoring import ModelResult, Scorer, fit_model
from discreet.survey.suda.special import SpecialFigures, special_figures
from discreet.survey.suda.subsets import SubsetSize, subset_uniques
from discreet.survey.summarising import summarise
from discreet.survey.validation import no_test_of_uniqueness
from discreet.survey.warnings import data_warnings

K_CURVE = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The files of an assessment, opened."""

    records: Records
    impossible: Records | None = None
    population: Records | None = None
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked, and what was read to answer it, for the record."""

    options: AssessOptions
    source: str
    versions: Mapping[str, str]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, given or named by the scenarios."""
        return self.options.key_names

    @property
    def weight(self) -> str | None:
        """The column of survey weights."""
        return self.options.weight

    @property
    def structural_zeros(self) -> str | None:
        """The list of impossible combinations."""
        name: str | None = self.options.impossible
        return name

    @property
    def missing(self) -> MissingPolicy:
        """What a missing key means."""
        return self.options.policy

    @property
    def missing_weight(self) -> float:
        """How much a match counts that rests on a missing value."""
        return self.options.missing_weight

    @property
    def codes(self) -> MissingCodes:
        """Values that stand for something else."""
        return self.options.codes

    @property
    def loss_ratios(self) -> tuple[float, ...]:
        """Ratios of losses beyond the usual ones."""
        return tuple(self.options.loss_ratios)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Assessment(Result):
    """The disclosure risk of a file, with how each figure was got.

    `n_incomplete` records lack a key value and make up `n_incomplete_cells` of the cells;
    `n_dropped` records were left out. `held` is the source, for `records()`.
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
    held: Any = field(default=None, compare=False)

    def records(self, kind: str | None = None) -> Any:
        """One row a record, in the order of the source, with the columns that `risks` writes: the
        row number (from 1), the risk and so on; a record that was left out has empty values.

        It is the kind of frame that was assessed, with its index if it has one; of a file an Arrow
        table. `kind` asks for another: 'pandas', 'polars' or 'arrow'. The records are assessed once
        more for it, so that a result holds nothing that grows with them. Raises InputError where
        the source has changed, and for a result that was pickled, which has no source.
        """
        if self.held is None:
            remedy = "assess the records with discreet.assess"
            got = "one without them"
            raise InputError(must_be("result", "one that has its records", got, remedy=remedy))
        return self.held.frame(self, kind)

    @property
    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        return self.summary.size_indices

    @property
    def sample_uniques(self) -> int:
        """Records that no other record counts as a match of: sample count at most 1."""
        return self.size_indices.sample_uniques


def assessed(
    cells: CellStore, inputs: Inputs, options: AssessOptions, progress: Progress = silent
) -> Assessment:
    """All figures from the counted cells."""
    impossible = None if inputs.impossible is None else read_impossible(inputs.impossible, cells)
    boxes = [dict(box) for box in impossible.zeros.boxes] if impossible else []
    everything = _all_cells(cells, options)
    truth = None if inputs.population is None else _truth(cells, inputs.population, everything)
    size = options.population
    if size is None and truth is not None:
        size = truth.population_size
    models = options.chosen_models
    summary = summarise(
        cells,
        n_table_cells=_table_cells(cells, options.policy, impossible, options.cells),
        population_size=size,
        weight_total=cells.weights.total if cells.weights else None,
        needs=_needs(models, options),
    )
    special = _special(everything, summary, options, progress)
    levels = options.levels_of_k
    views = assess_scenarios(everything, options.scenarios, levels) if options.scenarios else None
    attributes = _attributes(cells, everything, inputs, options)
    parts = [part.columns() for part in (truth, special, views, *attributes) if part is not None]
    columns = {name: values for part in parts for name, values in part.items()}
    fitted = {m.name: fit_model(m, summary, cells, boxes, progress) for m in models}
    ratios = tuple(options.loss_ratios)
    scorer = Scorer(cells, fitted, columns, ratios, everything.matched_by)
    if ratios and not scorer.called:
        remedy = "give the population size or weights"
        raise no_test_of_uniqueness("none that could be fitted", remedy)
    risks = None if options.risks is None else Path(options.risks)
    households = scorer.run(risks, options.household, progress)
    one_way = [summary.margins[(j,)] for j in range(len(summary.level_counts))]
    results = {model.name: scorer.result(model) for model in models}
    return Assessment(
        settings=_settings(inputs, options),
        keys=cells.keys,
        n_incomplete=cells.n_incomplete,
        n_dropped=cells.n_dropped,
        summary=summary,
        anonymity=anonymity_curve(summary.size_indices, levels),
        anonymity_curve=anonymity_curve(summary.size_indices, K_CURVE),
        contributions=_contributions(everything, options, progress),
        riskiest=riskiest_cells(cells.batches(), cells.keys, one_way, options.n_riskiest),
        models=results,
        recommended=_of_households(
            _recommended(cells, everything, summary, results, options), options.household
        ),
        n_incomplete_cells=everything.n_incomplete,
        warnings=data_warnings(cells, summary, impossible, attributes),
        sensitive=attributes,
        households=households,
        special=special,
        scenarios=views,
        subsets=_subsets(everything, options, progress),
        shrinkages=_shrinkages(summary, cells, boxes) if options.shrinkage_table else (),
        population=truth,
    )


def _needs(models: Sequence[Model], options: AssessOptions) -> set[Need]:
    """Summaries to compute; the riskiest cells are ranked by one-way margins in any case."""
    asked = [*models, *([Lancaster()] if options.shrinkage_table else [])]
    return {Need.MARGINS_1}.union(*(model.needs for model in asked))


def _recommended(
    cells: CellStore,
    everything: AllCells,
    summary: Summary,
    results: Mapping[str, ModelResult | Unavailable],
    options: AssessOptions,
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
    headline = options.headline
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
        n_table_cells_known=options.cells is not None,
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


def _all_cells(cells: CellStore, options: AssessOptions) -> AllCells:
    words, records = cells.words()
    overlap = options.policy.matching is not None and cells.n_incomplete
    counts: list[Any] = [batch.sample_count for batch in cells.batches()] if overlap else [records]
    return AllCells(
        words=words,
        records=records,
        sample_count=np.concatenate(counts),
        coding=cells.coding,
        keys=cells.keys,
        policy=options.policy,
        missing_weight=options.missing_weight,
    )


def _attributes(
    cells: CellStore, everything: AllCells, inputs: Inputs, options: AssessOptions
) -> tuple[SensitiveFigures, ...]:
    return tuple(
        sensitive_figures(
            everything, cells.sensitive_values(name), options.thresholds, inputs.trees.get(name)
        )
        for name in options.sensitive
    )


def _contributions(
    everything: AllCells, options: AssessOptions, progress: Progress
) -> Contributions:
    return contributions(
        everything.words,
        everything.records,
        everything.coding,
        everything.names,
        all_pairs=options.all_pairs,
        uniques_left=everything.uniques_without if everything.overlap else None,
        progress=progress,
    )


def _subsets(
    everything: AllCells, options: AssessOptions, progress: Progress
) -> tuple[SubsetSize, ...]:
    if options.subsets is None:
        return ()
    return subset_uniques(everything, options.subsets, progress=progress)


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


def _special(
    everything: AllCells, summary: Summary, options: AssessOptions, progress: Progress
) -> SpecialFigures | None:
    if options.suda is None:
        return None
    size = summary.population_size
    fraction = None if size is None else summary.sample_size / size
    return special_figures(everything, options.suda, sampling_fraction=fraction, progress=progress)


def _table_cells(
    cells: CellStore, policy: MissingPolicy, impossible: ImpossibleList | None, given: int | None
) -> int:
    """Cells that could be occupied; a missing value that matches anything makes no cell."""
    if given is not None:
        return given
    matching = policy.matching is not None
    sizes = [key.n_known for key in cells.keys] if matching else cells.coding.sizes
    return math.prod(sizes) if impossible is None else impossible.n_possible(sizes)


def _settings(inputs: Inputs, options: AssessOptions) -> Settings:
    """The options with the names of files and frames in the place of what is in them."""
    packages = ("discreet", "duckdb", "numpy", "pyarrow", "scipy")
    impossible, population = inputs.impossible, inputs.population
    named = replace(
        options,
        impossible=None if impossible is None else impossible.name,
        population_file=None if population is None else population.name,
    )
    return Settings(
        options=named,
        source=inputs.records.name,
        versions={"python": platform.python_version()} | {p: version(p) for p in packages},
    )
