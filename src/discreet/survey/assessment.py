"""Counted cells to risk: summarise, fit, score, and gather the figures."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.hierarchy import Hierarchy
from discreet.data.missing import MissingCodes, MissingPolicy
from discreet.data.records import Records
from discreet.data.summary import SizeIndices, Summary
from discreet.engines.contract import (
    Cells,
    CellStore,
    ColumnOrder,
    HouseholdTotals,
    PopulationCells,
)
from discreet.engines.key_space import KeyLevels
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.masks.records.fitting import Fits
from discreet.notebooks import Result
from discreet.numerics.arrays import IntArray
from discreet.policy.findings import Findings
from discreet.policy.record_rules import PopulationOfKeys
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import Progress, silent
from discreet.survey.after_change import Before
from discreet.survey.anonymity import Anonymity, anonymity_curve
from discreet.survey.attributes.sensitive import SensitiveFigures, sensitive_figures
from discreet.survey.contributions import Contributions, KeysLeftOut, contributions
from discreet.survey.design import FEW_TOGETHER, HOUSEHOLDS, Design, design_of
from discreet.survey.headline.recommendation import (
    COUNTED,
    Estimated,
    Recommended,
    chosen_by_user,
    counted_in_file,
)
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.impossible import ImpossibleList, read_impossible
from discreet.survey.judging import judged, with_remedy
from discreet.survey.known_margins import KnownMargins, read_known_margins
from discreet.survey.known_population import KnownPopulation, known_population
from discreet.survey.leading import Known, RiskOverview, beside, estimated, overview
from discreet.survey.models.contract import Model, ModelUnavailable, Need
from discreet.survey.models.lancaster import ShrinkageRow, table_over_shrinkage
from discreet.survey.models.registry import MODELS
from discreet.survey.nested_keys import Nesting, nesting_of
from discreet.survey.options import AssessOptions
from discreet.survey.population_counts import KeyPopulations, in_levels_of
from discreet.survey.record_findings import Measured, risks_counted, scores_asked
from discreet.survey.riskiest import RiskyCell, riskiest_cells
from discreet.survey.role_columns import Columns
from discreet.survey.scenarios import Scenarios, assess_scenarios
from discreet.survey.scoring import ModelResult, fit_model, given_to_records, scored_by
from discreet.survey.suda.special import SpecialFigures, special_figures
from discreet.survey.suda.subsets import SubsetSize, subset_uniques
from discreet.survey.suggestions import Suggestion, suggestions, tried
from discreet.survey.summarising import summarise
from discreet.survey.validation import no_test_of_uniqueness
from discreet.survey.warnings import check_weights, data_warnings

OF_KEYS = {  # rules that coarser keys may mend
    "min_k", "share_below_k", "population_uniques", "correct_matches", "max_risk", "mean_risk",
    "l", "c", "t", "alpha", "sensitive", "dis_suda", "population_of_keys", "most_keys",
    "household_pattern",
}  # fmt: skip
MOST_IN_POPULATION = 3_000_000  # combinations of keys in a population that is counted anew
K_CURVE = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The files of an assessment, opened, and what rules ask of single columns; what tells how the
    records were drawn: the same by the columns that say so too, and how alike neighbours are.
    `fits` says how many original records each record fits, where the original is given."""

    records: Records
    impossible: Records | None = None
    population: Records | None = None
    margins: tuple[Records, ...] = ()
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)
    columns: Columns = field(default_factory=Columns)
    finer: CellStore | None = None
    orders: Sequence[ColumnOrder] | Unavailable = ()
    fits: Fits | None = None


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
        return self.options.missing_policy

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

    `recommended` leads; `risk` says how the recommended risk is spread over the records, `verdict`
    whether the limits that were given are kept, `suggestions` what would help most, `tried` what
    the changes do that were asked for. `n_incomplete`
    records lack a key value and make up `n_incomplete_cells` of the cells; `n_dropped` records were
    left out. `nested` are pairs of keys, the first of which determines the second. `findings` are
    what rules look at, so that other policies can be applied later. `held` is the source, for
    `records()`.
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
    risk: RiskOverview | Unavailable
    warnings: tuple[str, ...]
    verdict: Verdict | None = None
    suggestions: tuple[Suggestion, ...] = ()
    tried: tuple[Suggestion, ...] = ()
    nested: tuple[tuple[str, str], ...] = ()
    sensitive: tuple[SensitiveFigures, ...] = ()
    households: HouseholdTotals | None = None
    special: SpecialFigures | None = None
    scenarios: Scenarios | None = None
    subsets: tuple[SubsetSize, ...] = ()
    shrinkages: tuple[ShrinkageRow, ...] | Unavailable = ()
    population: KnownPopulation | None = None
    findings: Findings = field(default_factory=lambda: Findings({}))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """What all figures of an assessment are made from, before any model."""

    cells: Cells
    nested: Nesting
    impossible: ImpossibleList | None
    truth: KnownPopulation | None
    summary: Summary
    known: Known
    left_out: KeysLeftOut | None

    @property
    def boxes(self) -> list[dict[int, int]]:
        """Impossible combinations, as models want them."""
        return [dict(box) for box in self.impossible.zeros.boxes] if self.impossible else []


def assessed(
    store: CellStore,
    inputs: Inputs,
    options: AssessOptions,
    progress: Progress = silent,
    *,
    suggest: bool = True,
) -> Assessment:
    """All figures from the counted cells; what to change is sought where something has to."""
    begun = _begun(store, inputs, options)
    cells, summary, known = begun.cells, begun.summary, begun.known
    found = None if options.headline else _estimate(begun, options, progress)
    told = found is not None and found.risks is not None
    if found is not None and found.risks is not None:
        cells.add(found.risks)
    specials = _specials(cells, summary, options, progress)
    special = specials.get(options.suda) if options.suda is not None else None
    levels, asked, nesting = options.levels_of_k, options.scenarios, options.uses_nesting
    views = assess_scenarios(cells, asked, levels, known, nesting=nesting) if asked else None
    attributes = tuple(
        sensitive_figures(store, name, options.thresholds, inputs.trees.get(name))
        for name in options.sensitive
    )
    results, scores = _models(begun, options, progress)
    told = told or RISK in scores
    parts = [part for part in (begun.truth, special, views, *attributes) if part is not None]
    own = (RISK, POPULATION_UNIQUE) if told else ()
    columns = dict.fromkeys((*own, *(name for part in parts for name in part.columns), *scores))
    risks = None if options.risks is None else Path(options.risks)
    households = given_to_records(
        store, tuple(columns), risks, options.household, options.class_limits
    )
    led = beside(_led(found, results, options), results)
    spread = _overview(cells, results, led, options, told=told)
    measured = Measured(
        options=options, summary=summary, led=led, risk=spread, exact=led.model == COUNTED,
        sensitive=attributes, specials=specials, households=households,
        populations=_populations(store, inputs, begun, options), columns=inputs.columns,
        n_dropped=store.n_dropped, fits=inputs.fits,
    )  # fmt: skip
    findings = measured.findings()
    verdict = judged(options, findings)
    steps: tuple[Suggestion, ...] = ()
    if suggest and (verdict is None or _is_about_keys(verdict)):
        steps = suggestions(_before(store, inputs, begun, led, options, findings), progress)
    looked_at: tuple[Suggestion, ...] = ()
    if options.tries:
        before = _before(store, inputs, begun, led, options, findings)
        looked_at = tried(before, options.tries, progress)
    one_way = [summary.margins[(j,)] for j in range(len(summary.level_counts))]
    return Assessment(
        settings=_settings(inputs, options),
        keys=store.keys,
        n_incomplete=store.n_incomplete,
        n_dropped=store.n_dropped,
        summary=summary,
        anonymity=anonymity_curve(summary.size_indices, levels),
        anonymity_curve=anonymity_curve(summary.size_indices, K_CURVE),
        contributions=contributions(
            cells, all_pairs=options.all_pairs, left_out=begun.left_out, progress=progress
        ),
        riskiest=riskiest_cells(store, one_way, told=told, limit=options.n_riskiest),
        models=results,
        recommended=_of_households(led, households, store.n_records, known.design),
        risk=spread,
        verdict=with_remedy(verdict, steps[0].change) if verdict is not None and steps else verdict,
        suggestions=steps,
        tried=looked_at,
        nested=_named_pairs(begun),
        n_incomplete_cells=cells.fold(Incomplete(cells.space.missing_levels)),
        warnings=(
            *data_warnings(store, summary, begun.impossible, attributes, options.weight),
            *begun.known.margins.warnings,
        ),
        sensitive=attributes,
        households=households,
        special=special,
        scenarios=views,
        subsets=_subsets(cells, options, progress),
        shrinkages=_shrinkages(summary, cells, begun.boxes) if options.shrinkage_table else (),
        population=begun.truth,
        findings=findings,
    )


def _is_about_keys(verdict: Verdict) -> bool:
    """Whether a change of the keys may mend, or settle, a rule that is not kept."""
    return any(one.rule in OF_KEYS for one in verdict.rules if one.ruling is not Ruling.KEPT)


def _begun(store: CellStore, inputs: Inputs, options: AssessOptions) -> _Begun:
    """The cells, what is known of the population, and the summaries that models need."""
    cells = store.cells
    impossible = None if inputs.impossible is None else read_impossible(inputs.impossible, store)
    check_weights(options.weight, store.weights)
    nested = nesting_of(cells) if options.uses_nesting else Nesting()
    truth = None if inputs.population is None else _truth(store, inputs.population)
    margins = read_known_margins(inputs.margins, store, options.population)
    summary = summarise(
        cells,
        n_table_cells=_table_cells(cells, nested, impossible, options.cells),
        population_size=_population_size(store, options, truth, margins),
        weight_total=store.weights.total if store.weights else None,
        needs=_needs(options.chosen_models, options),
    )
    known = Known(
        size=summary.population_size,
        n_table_cells=summary.n_table_cells,
        given=options.cells is not None,
        nested=nested,
        margins=margins,
        design=design_of(
            store,
            inputs.finer,
            options,
            population_size=summary.population_size,
            orders=inputs.orders,
        ),
    )
    return _Begun(
        cells=cells,
        nested=nested,
        impossible=impossible,
        truth=truth,
        summary=summary,
        known=known,
        left_out=None if cells.space.overlap else KeysLeftOut(cells),
    )


def _models(
    begun: _Begun, options: AssessOptions, progress: Progress
) -> tuple[dict[str, ModelResult | Unavailable], tuple[str, ...]]:
    """What the models that were asked for say, and the columns of their scores."""
    models, boxes = options.chosen_models, begun.boxes
    fitted = {m.name: fit_model(m, begun.summary, begun.cells, boxes, progress) for m in models}
    progress("scoring the cells", 0.0)
    found = scored_by(
        begun.cells,
        models,
        fitted,
        loss_ratios=tuple(options.loss_ratios),
        leads=options.headline,
        keeps=options.risks is not None or options.household is not None,
    )
    progress("scoring the cells", 1.0)
    return found


def _populations(
    store: CellStore, inputs: Inputs, begun: _Begun, options: AssessOptions
) -> KeyPopulations | None:
    """What says how many of the population stand behind values of the keys, where a rule asks."""
    if not any(isinstance(rule, PopulationOfKeys) for rule in options.rules):
        return None
    register = None
    if inputs.population is not None:
        found = store.population_cells(inputs.population, MOST_IN_POPULATION)
        if found is not None:
            register = in_levels_of(begun.cells.space, found)
    return KeyPopulations(cells=begun.cells, size=begun.known.size, register=register)


def _before(
    store: CellStore,
    inputs: Inputs,
    begun: _Begun,
    led: Recommended,
    options: AssessOptions,
    findings: Findings,
) -> Before:
    """What a change of the keys starts from; the population is counted by all keys if it is asked
    for."""
    register = inputs.population

    @cache
    def population() -> PopulationCells | None:
        assert register is not None
        return store.population_cells(register, MOST_IN_POPULATION)

    return Before(
        store=store,
        known=begun.known,
        summary=begun.summary,
        led=led,
        options=options,
        trees=inputs.trees,
        population=None if register is None else population,
        findings=findings,
        left_out=begun.left_out,
    )


def _population_size(
    store: CellStore,
    options: AssessOptions,
    truth: KnownPopulation | None,
    margins: KnownMargins,
) -> float | None:
    """The size that is given, counted, or published; raises InputError for fewer persons than
    records."""
    if options.whole_population:
        return float(store.n_records)
    size = options.population
    if size is not None and size < store.n_records:
        rule = f"at least the {store.n_records:,} records of the file"
        remedy = "a population holds every person of its sample"
        raise InputError(must_be("population", rule, f"{size:,.0f}", remedy=remedy))
    if size is None and truth is not None:
        return truth.population_size
    return float(margins.total) if size is None and margins.total else size


def _estimate(begun: _Begun, options: AssessOptions, progress: Progress) -> Estimated:
    """The estimate to lead with; the truth itself where the population was counted."""
    truth = begun.truth
    if truth is not None:
        return counted_in_file(truth.population_uniques, truth.correct_matches)
    nesting = options.uses_nesting
    return estimated(begun.cells, begun.known, progress, left_out=begun.left_out, nesting=nesting)


def _led(
    found: Estimated | None,
    results: Mapping[str, ModelResult | Unavailable],
    options: AssessOptions,
) -> Recommended:
    """What leads: the recommended estimate, or that of the model that was chosen."""
    if found is not None:
        return found.recommended
    assert options.headline is not None
    own = results[options.headline]
    if isinstance(own, Unavailable):
        raise InputError(must_be("headline", "a model that can be fitted", own.reason))
    uniques, matches = own.expected_population_uniques, own.expected_correct_matches
    return chosen_by_user(options.headline, uniques, matches)


def _overview(
    cells: Cells,
    results: Mapping[str, ModelResult | Unavailable],
    led: Recommended,
    options: AssessOptions,
    *,
    told: bool,
) -> RiskOverview | Unavailable:
    """How risk is spread over the records, or why that is not known.

    Raises InputError for ratios of losses that neither this estimate nor a model has a use for.
    """
    ratios, found = tuple(options.loss_ratios), None
    if told:
        found = overview(cells, options.class_limits, ratios, risks_counted(options))
    used = any(isinstance(r, ModelResult) and r.called_unique is not None for r in results.values())
    if ratios and not used and (found is None or found.called_unique is None):
        remedy = "give the size of the population, or weights"
        raise no_test_of_uniqueness("none that could be fitted", remedy)
    if found is not None:
        return found
    if led.is_chosen:
        return Unavailable(f"the model {led.model} gives no risk of single records")
    return Unavailable(led.why)


def _named_pairs(begun: _Begun) -> tuple[tuple[str, str], ...]:
    """Names of the keys that determine others, each with what it determines."""
    names = begun.cells.space.names
    return tuple((names[p.determining], names[p.determined]) for p in begun.nested.pairs)


@dataclass(frozen=True, slots=True)
class Incomplete:
    """Cells that lack the value of a key: those with one of the levels that stand for missing."""

    missing: IntArray
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> int:
        """Of some cells."""
        lacks = np.zeros(len(batch), dtype=np.bool_)
        for key, level in enumerate(self.missing.tolist()):
            if level >= 0:
                lacks |= batch.coding.level(batch.words, key) == level
        return int(np.count_nonzero(lacks))

    def joined(self, one: int, other: int) -> int:
        """Of the cells of both."""
        return one + other


def _needs(models: Sequence[Model], options: AssessOptions) -> set[Need]:
    """Summaries to compute; the riskiest cells are ranked by one-way margins in any case."""
    asked = [*models, *([MODELS["lancaster"]] if options.shrinkage_table else [])]
    return {Need.MARGINS_1}.union(*(model.needs for model in asked))


def _of_households(
    led: Recommended, households: HouseholdTotals | None, n_records: int, design: Design
) -> Recommended:
    """The estimate with a word of warning where households have several members in the file."""
    uniques = led.expected_population_uniques
    if design.groups == HOUSEHOLDS or design.households or households is None:
        return led
    if n_records < FEW_TOGETHER * households.n_households:
        return led
    if not isinstance(uniques, Figure) or uniques.how is not How.ESTIMATE:
        return led
    told = (
        f"the {n_records:,} records are of {households.n_households:,} households, and members who "
        "are in the file together may share keys, so that the estimate, which takes persons to be "
        "drawn singly, may be too low: assess a file with one member of each household as well, "
        "and compare the shares of population uniques"
    )
    note = f"{uniques.note}; {told}" if uniques.note else told
    return replace(led, expected_population_uniques=replace(uniques, note=note))


def _subsets(cells: Cells, options: AssessOptions, progress: Progress) -> tuple[SubsetSize, ...]:
    if options.subsets is None:
        return ()
    return subset_uniques(cells, options.subsets, progress=progress)


def _shrinkages(
    summary: Summary, cells: Cells, impossible: Sequence[Mapping[int, int]]
) -> tuple[ShrinkageRow, ...] | Unavailable:
    try:
        return table_over_shrinkage(summary, cells, structural_zeros=impossible)
    except ModelUnavailable as reason:
        return Unavailable(str(reason))


def _truth(store: CellStore, register: Records) -> KnownPopulation:
    space = store.cells.space
    population = None if space.overlap else store.count_population(register)
    matching = space.policy.matching is not None
    if population is None or (matching and population.n_incomplete):
        rule = "category, drop or error where the population is given as a file"
        remedy = "some records lack a key, and matching them with the population is not defined"
        raise InputError(must_be("missing", rule, repr(space.policy.name), remedy=remedy))
    return known_population(store.cells, population)


def _specials(
    cells: Cells, summary: Summary, options: AssessOptions, progress: Progress
) -> dict[int, SpecialFigures]:
    """SUDA scores by sets of up to each of the sizes that were asked for; those that the user asked
    for come last, so that they are what lies beside the cells."""
    size = summary.population_size
    fraction = None if size is None else summary.sample_size / size
    sizes = sorted(options.suda_sizes, key=lambda up_to: up_to == options.suda)
    return {
        up_to: special_figures(
            cells,
            up_to,
            sampling_fraction=fraction,
            progress=progress,
            limits=scores_asked(options),
        )
        for up_to in sizes
    }


def _table_cells(
    cells: Cells, nested: Nesting, impossible: ImpossibleList | None, given: int | None
) -> int:
    """Cells that could be occupied; a missing value that matches anything makes no cell."""
    if given is not None:
        return given
    sizes = cells.space.known_sizes
    if impossible is None:
        return nested.n_possible(sizes)
    return impossible.n_possible(sizes, nested.ruled_out(sizes))


def _settings(inputs: Inputs, options: AssessOptions) -> Settings:
    """The options with the names of files and frames in the place of what is in them."""
    packages = ("discreet", "duckdb", "numpy", "pyarrow", "scipy")
    impossible, population = inputs.impossible, inputs.population
    named = replace(
        options,
        impossible=None if impossible is None else impossible.name,
        population_file=None if population is None else population.name,
        known_margins=tuple(records.name for records in inputs.margins),
        original=None if options.original is None else "the original file",
        recipe=None,
    )
    return Settings(
        options=named,
        source=inputs.records.name,
        versions={"python": platform.python_version()} | {p: version(p) for p in packages},
    )
