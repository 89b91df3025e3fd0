"""What is true of a file once its keys are coarser: the figures that a new assessment would give.

Everything that leads is made anew: the recommended estimate, the model that was chosen in its
place, or the count of the population in its file; and the verdict on the limits that were given.
What was said of the cells as they were, a number of possible cells or a list of impossible
combinations, no longer fits and is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from discreet.data.cell_table import margins_of_cells
from discreet.data.cells import CellBatch
from discreet.data.coding import Coding
from discreet.data.summary import SizeIndices, Summary
from discreet.engines.contract import PopulationCells, SensitiveValues
from discreet.engines.matching import matched_cells
from discreet.figures import Unavailable
from discreet.numerics.arrays import CountArray, FloatArray, IntArray
from discreet.policy.findings import Finding, Findings
from discreet.policy.record_rules import PopulationOfKeys
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import silent
from discreet.survey.attributes.hierarchy import Hierarchy
from discreet.survey.attributes.sensitive import SensitiveFigures, sensitive_figures
from discreet.survey.coarsening import Coarser, Step
from discreet.survey.headline.recommendation import (
    COUNTED,
    Estimated,
    Recommended,
    chosen_by_user,
    counted_in_file,
)
from discreet.survey.headline.record_risk import CellRisks
from discreet.survey.judging import judged
from discreet.survey.leading import Known, estimated, overview
from discreet.survey.models.contract import Model, Tally
from discreet.survey.nested_keys import nested_keys
from discreet.survey.options import AssessOptions
from discreet.survey.population_counts import KeyPopulations
from discreet.survey.projection import AllCells, distinct_rows
from discreet.survey.record_findings import Measured, risks_counted
from discreet.survey.regrouping import KeysLeftOut
from discreet.survey.scoring import fit_model
from discreet.survey.summarising import summarise

MOST_WORK = 3_000_000  # cells times sets of keys whose values are counted again
NOT_AGAIN = Finding(value=Unavailable("it is not measured again after a change of keys"))
TOO_MANY = Unavailable("the population has too many combinations of keys to be counted anew")


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A file that was assessed: its cells, what is known of its population, and what leads.

    `sensitive` are the values of sensitive variables, with their trees. `population` gives the
    combinations of keys in the file of the population, None where there are too many; it is asked
    only where there is such a file, and once. `findings` are what rules looked at. `left_out`
    counts the cells without each key, None where missing values match anything.
    """

    cells: AllCells
    known: Known
    summary: Summary
    led: Recommended
    options: AssessOptions
    sensitive: tuple[tuple[SensitiveValues, Hierarchy | None], ...] = ()
    population: Callable[[], PopulationCells | None] | None = None
    findings: Findings = field(default_factory=lambda: Findings({}))
    left_out: KeysLeftOut | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """The cells after `steps`, each a key to be coarsened or left out (None), and in which of these
    each cell lies."""

    steps: tuple[Step, ...]
    cells: AllCells
    place: IntArray
    sizes: SizeIndices

    @property
    def leaves_keys(self) -> bool:
        """Whether every key stays, if coarser."""
        return all(coarser is not None for _, coarser in self.steps)

    @property
    def change(self) -> str:
        """What to do, in words."""
        told = [f"leave out {name}" if how is None else how.change for name, how in self.steps]
        return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """What leads after a change, the largest risk of a record if there is one, and the verdict if
    limits were given."""

    led: Recommended
    largest: float | None
    verdict: Verdict | None


def changed(cells: AllCells, steps: tuple[Step, ...]) -> Changed:
    """The cells after these changes; the only key, left out, has a single level."""
    place: IntArray = np.arange(len(cells.records))
    for name, coarser in steps:
        key = cells.names.index(name)
        if coarser is not None:
            cells, here = cells.recoded(key, coarser.to, coarser.levels)
        elif len(cells.keys) == 1:
            cells, here = cells.flattened(key)
        else:
            cells, here = cells.within([j for j in range(len(cells.keys)) if j != key])
        place = here[place]
    return Changed(steps, cells, place, sizes_of(cells))


def sizes_of(cells: AllCells) -> SizeIndices:
    """How many cells hold exactly j records."""
    count, disjoint = cells.matched()
    return SizeIndices.of_counts(count, cells.records, disjoint=disjoint)


def after(one: Changed, before: Before) -> After:
    """The figures and the verdict of a new assessment of the changed file."""
    options = before.options
    cells = _nested_anew(one.cells, options)
    known = before.known.seen_through(one.place, len(cells.records))
    found = _led(replace(one, cells=cells), known, before)
    if isinstance(found, Unavailable):
        led = replace(before.led, expected_population_uniques=found, expected_correct_matches=found)
        return After(led=led, largest=None, verdict=None)
    spread = None
    if found.risks is not None:
        counted = risks_counted(options)
        spread = overview(found.risks, cells.records, options.class_limits, (), counted)
    sensitive = _sensitive(one, before)
    measured = Measured(
        options=options,
        summary=replace(before.summary, size_indices=one.sizes),
        led=found.recommended,
        risk=Unavailable(found.recommended.why) if spread is None else spread,
        exact=found.recommended.model == COUNTED,
        sensitive=sensitive,
        populations=_populations(cells, known, before),
        n_keys=len(before.cells.keys) - sum(coarser is None for _, coarser in one.steps),
        anew=True,
    )
    findings = Findings({**_carried_over(before), **measured.findings()})
    verdict = judged(options, findings)
    largest = None if spread is None else spread.largest
    return After(led=found.recommended, largest=largest, verdict=verdict)


def _carried_over(before: Before) -> dict[str, Finding]:
    """What was found before the change, for what is not measured anew after it.

    Values of a coarser key have no fewer persons behind them, so that a rule that is kept stays
    kept; of one that is not, it is open whether the change mends it."""
    broken = {
        one.rule
        for rule in before.options.rules
        for one in rule.judge(before.findings)
        if one.ruling is not Ruling.KEPT
    }
    return {
        name: NOT_AGAIN if name.partition(":")[0] in broken else found
        for name, found in before.findings.items()
    }


def _populations(cells: AllCells, known: Known, before: Before) -> KeyPopulations | None:
    """What says how many stand behind values of the changed keys, where a rule asks and it does not
    take long."""
    sizes = [rule.keys for rule in before.options.rules if isinstance(rule, PopulationOfKeys)]
    work = len(cells.records) * sum(comb(len(cells.keys), keys) for keys in sizes)
    if not sizes or before.population is not None or work > MOST_WORK:
        return None
    return KeyPopulations(cells=cells, known=known)


def _nested_anew(cells: AllCells, options: AssessOptions) -> AllCells:
    """The cells with the keys that determine others now: a coarser key may be determined by more,
    and determine less."""
    if not options.nesting or options.cells is not None:
        return replace(cells, nested=())
    found = nested_keys(cells.words, cells.coding, cells.records, cells.known_sizes)
    return replace(cells, nested=found)


def _led(one: Changed, known: Known, before: Before) -> Estimated | Unavailable:
    """What leads: the model that was chosen, the population counted, or the estimate."""
    if before.options.headline is not None:
        models = {model.name: model for model in before.options.chosen_models}
        return _refitted(models[before.options.headline], one.cells, known, before.summary)
    if before.population is None:
        return estimated(one.cells, known)
    population = before.population()
    if population is None:
        return TOO_MANY
    return counted_in_file(_population_count(one, before.cells, population), one.cells.records)


def _sensitive(one: Changed, before: Before) -> tuple[SensitiveFigures, ...]:
    """The rules on sensitive variables in the changed cells."""
    count, _ = one.cells.matched()
    cells = replace(one.cells, sample_count=count)
    return tuple(
        sensitive_figures(cells, _seen_through(values, one.place), before.options.thresholds, tree)
        for values, tree in before.sensitive
    )


def _seen_through(values: SensitiveValues, place: IntArray) -> SensitiveValues:
    """The same values by the coarser cells."""
    pairs = np.stack([place[values.cell], values.value], axis=1)
    distinct, at = distinct_rows(pairs)
    records = np.bincount(at, values.records, len(distinct)).astype(np.int64)
    return replace(values, cell=distinct[:, 0], value=distinct[:, 1], records=records)


def _population_count(one: Changed, cells: AllCells, population: PopulationCells) -> IntArray:
    """How many of the population lie in each changed cell, those among them whose values no record
    of the file has."""
    steps = dict(one.steps)
    columns = []
    for name in one.cells.names:
        at = cells.names.index(name)
        to = _levels_of(population.values[at], cells, at, steps.get(name), left=name in steps)
        columns.append(to[population.levels[:, at]])  # −1, for missing, is the last of them
    levels = np.stack(columns, axis=1)
    inside = (levels >= 0).all(axis=1)
    coding: Coding = one.cells.coding
    words = coding.encode(levels[inside])
    n = len(one.cells.words)
    _, place = distinct_rows(np.concatenate([one.cells.words, words]))
    held = np.bincount(place[n:], population.counts[inside], int(place.max()) + 1)
    found: IntArray = held[place[:n]].astype(np.int64)
    return found


def _levels_of(
    values: tuple[str, ...], cells: AllCells, key: int, coarser: Coarser | None, *, left: bool
) -> IntArray:
    """The level after the change of each value of the population, and last that of a missing one;
    −1 for one that no record of the file has."""
    own = cells.keys[key].values
    lacks = own[-1] is None
    if left and coarser is None:
        return np.zeros(len(values) + 1, dtype=np.int64)
    if coarser is None:
        places: Mapping[object, int] = {v: i for i, v in enumerate(own) if v is not None}
        to = [places.get(value, -1) for value in values]
    else:
        places = {group: i for i, group in enumerate(coarser.groups)}
        to = [places.get(_group(coarser, value), -1) for value in values]
    return np.array([*to, len(places) if lacks else -1], dtype=np.int64)


def _group(coarser: Coarser, value: str) -> object:
    """The group of a value; none for one that the rule does not understand."""
    try:
        return coarser.rule(value)
    except ValueError:
        return None


def _refitted(
    model: Model, cells: AllCells, known: Known, summary: Summary
) -> Estimated | Unavailable:
    """The model that leads, fitted to the changed cells."""
    held = _Held.of(cells, known.weights)
    anew = summarise(
        held,
        n_table_cells=cells.n_possible(),
        population_size=summary.population_size if summary.population_size_known else None,
        weight_total=summary.weight_total,
        needs=model.needs,
    )
    fitted = fit_model(model, anew, held, [], silent)
    if isinstance(fitted, Unavailable):
        return fitted
    (batch,) = held.batches()
    scores = fitted.score(batch)
    tally = Tally().add(batch, scores)
    led = chosen_by_user(
        model.name,
        fitted.expected_population_uniques(tally),
        fitted.expected_correct_matches(tally),
    )
    if scores.match_probability is None:
        return Estimated(recommended=led)
    none = np.full(len(batch), np.nan)
    unique = none if scores.unique_probability is None else scores.unique_probability
    risks = CellRisks(risk=scores.match_probability, population_unique=unique)
    return Estimated(recommended=led, risks=risks)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """Cells in memory, as models want them."""

    cells: AllCells
    sample_count: CountArray
    weight_total: FloatArray | None
    disjoint: bool

    @classmethod
    def of(cls, cells: AllCells, weights: FloatArray | None) -> "_Held":
        """With the weights of the records of each cell, which those that they match add to."""
        count, disjoint = cells.matched()
        if weights is not None and not disjoint:
            assert cells.policy.matching is not None
            weights = matched_cells(
                cells.coding.decode(cells.words),
                cells.missing_levels,
                cells.records,
                weights,
                policy=cells.policy.matching,
                missing_weight=cells.missing_weight,
            ).weight_total
        return cls(cells=cells, sample_count=count, weight_total=weights, disjoint=disjoint)

    @property
    def n_records(self) -> int:
        """Records in all cells."""
        return int(self.cells.records.sum())

    @property
    def coding(self) -> Coding:
        """How levels make up the code of a cell."""
        return self.cells.coding

    def size_indices(self) -> SizeIndices:
        """How many cells hold exactly j records."""
        records = self.cells.records
        return SizeIndices.of_counts(self.sample_count, records, disjoint=self.disjoint)

    def margins(self, order: int) -> Mapping[tuple[int, ...], IntArray]:
        """Every margin of that many keys as a dense table."""
        sets = list(combinations(range(len(self.cells.keys)), order))
        return margins_of_cells(self.batches(), self.coding, sets)

    def batches(self) -> Iterator[CellBatch]:
        """All cells, as one batch."""
        yield CellBatch(
            coding=self.coding,
            words=self.cells.words,
            sample_count=self.sample_count,
            weight_total=self.weight_total,
            records=self.cells.records,
        )
