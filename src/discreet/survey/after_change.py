"""What is true of a file once its keys are coarser: the figures that a new assessment would give.

Everything that leads is made anew: the recommended estimate, the model that was chosen in its
place, or the count of the population in its file; and the verdict on the limits that were given.
What was said of the cells as they were, a number of possible cells or a list of impossible
combinations, no longer fits and is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import comb

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.data.summary import SizeIndices, Summary
from discreet.engines.contract import Cells, CellStore, PopulationCells
from discreet.engines.key_space import View
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.exact_sums import as_float
from discreet.policy.findings import Finding, Findings
from discreet.policy.record_rules import PopulationOfKeys
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import silent
from discreet.survey.attributes.sensitive import SensitiveFigures, measuring
from discreet.survey.coarsening import Coarser, Step
from discreet.survey.contributions import KeysLeftOut
from discreet.survey.headline.recommendation import (
    COUNTED,
    Estimated,
    Recommended,
    chosen_by_user,
    counted_in_file,
)
from discreet.survey.judging import judged
from discreet.survey.known_population import ABOVE, COUNT, TruthOfCells
from discreet.survey.leading import Known, estimated, overview
from discreet.survey.models.contract import Model
from discreet.survey.nested_keys import Nesting, nesting_of
from discreet.survey.options import AssessOptions
from discreet.survey.population_counts import KeyPopulations
from discreet.survey.record_findings import Measured, risks_counted
from discreet.survey.scoring import ModelResult, fit_model, scored_by
from discreet.survey.summarising import summarise

MOST_WORK = 3_000_000  # cells times sets of keys whose values are counted again
MOST_AGAIN = 20_000_000  # cells of which a new estimate is made
NOT_AGAIN = Finding(value=Unavailable("it is not measured again after a change of keys"))
TOO_MANY = Unavailable("the population has too many combinations of keys to be counted anew")
TOO_MANY_CELLS = Unavailable(
    f"what a change does to the estimate is worked out for at most {MOST_AGAIN:,} cells"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A file that was assessed: its cells, what is known of its population, and what leads.

    `trees` are those of sensitive variables. `population` gives the combinations of keys in the
    file of the population, None where there are too many; it is asked only where there is such a
    file, and once. `findings` are what rules looked at. `left_out` counts the cells without each
    key, None where missing values match anything.
    """

    store: CellStore
    known: Known
    summary: Summary
    led: Recommended
    options: AssessOptions
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: Callable[[], PopulationCells | None] | None = None
    findings: Findings = field(default_factory=lambda: Findings({}))
    left_out: KeysLeftOut | None = None

    @property
    def cells(self) -> Cells:
        """The occupied cells."""
        return self.store.cells


@dataclass(frozen=True, slots=True)
class Changed:
    """The cells after `steps`, each a key to be coarsened or left out (None), as a view of those
    before."""

    steps: tuple[Step, ...]
    view: View
    cells: Cells
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


def view_after(cells: Cells, steps: tuple[Step, ...]) -> View:
    """The keys after these changes; the only key, left out, has a single level."""
    view = cells.space.itself()
    for name, coarser in steps:
        key = view.space.names.index(name)
        if coarser is not None:
            view = view.recoded(key, coarser.to, coarser.levels)
        elif len(view.space.keys) == 1:
            view = view.flattened(key)
        else:
            view = view.of_keys([j for j in range(len(view.space.keys)) if j != key])
    return view


def changed(cells: Cells, steps: tuple[Step, ...]) -> Changed:
    """The cells after these changes."""
    view = view_after(cells, steps)
    found = cells.seen_through(view)
    return Changed(steps, view, found, found.size_indices())


def after(one: Changed, before: Before) -> After:
    """The figures and the verdict of a new assessment of the changed file."""
    options, cells = before.options, one.cells
    found = TOO_MANY_CELLS if cells.n_cells > MOST_AGAIN else _led(one, before)
    if isinstance(found, Unavailable):
        led = replace(before.led, expected_population_uniques=found, expected_correct_matches=found)
        return After(led=led, largest=None, verdict=None)
    spread = None
    if found.risks is not None:
        cells.add(found.risks)
    if found.risks is not None or found.recommended.is_chosen:
        spread = overview(cells, options.class_limits, (), risks_counted(options))
    measured = Measured(
        options=options,
        summary=replace(before.summary, size_indices=one.sizes),
        led=found.recommended,
        risk=Unavailable(found.recommended.why) if spread is None else spread,
        exact=found.recommended.model == COUNTED,
        sensitive=_sensitive(one, before),
        populations=_populations(cells, before),
        n_keys=len(before.cells.space.keys) - sum(coarser is None for _, coarser in one.steps),
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


def _populations(cells: Cells, before: Before) -> KeyPopulations | None:
    """What says how many stand behind values of the changed keys, where a rule asks and it does not
    take long."""
    sizes = [rule.keys for rule in before.options.rules if isinstance(rule, PopulationOfKeys)]
    work = cells.n_cells * sum(comb(len(cells.space.keys), keys) for keys in sizes)
    if not sizes or before.population is not None or work > MOST_WORK:
        return None
    return KeyPopulations(cells=cells, size=before.known.size)


def _nesting(cells: Cells, options: AssessOptions) -> Nesting:
    """The keys that determine others now: a coarser key may be determined by more, and determine
    less."""
    return nesting_of(cells) if options.uses_nesting else Nesting()


def _led(one: Changed, before: Before) -> Estimated | Unavailable:
    """What leads: the model that was chosen, the population counted, or the estimate."""
    options, cells = before.options, one.cells
    if options.headline is not None:
        models = {model.name: model for model in options.chosen_models}
        return _refitted(models[options.headline], cells, before.summary, options)
    if before.population is None:
        known = before.known.seen_through(one.view)
        return estimated(cells, known, nesting=options.uses_nesting)
    population = before.population()
    if population is None:
        return TOO_MANY
    cells.put_counts(COUNT, _population_counts(one, before.cells, population))
    truth = cells.fold(TruthOfCells(ABOVE))
    return counted_in_file(truth.uniques, as_float(truth.matches))


def _sensitive(one: Changed, before: Before) -> tuple[SensitiveFigures, ...]:
    """The rules on sensitive variables in the changed cells."""
    found = []
    for name in before.options.sensitive:
        labels, counts = before.store.sensitive_totals(name)
        space, tree = one.cells.space, before.trees.get(name)
        step = measuring(name, labels, counts, space, before.options.thresholds, tree)
        judged = before.store.measure_values(name, step, (one.cells, one.view))
        found.append(step.figures(judged, before.store.n_records))
    return tuple(found)


def _population_counts(
    one: Changed, cells: Cells, population: PopulationCells
) -> Iterator[dict[str, IntArray]]:
    """How many of the population have each code of the changed keys, those among them whose values
    no record of the file has."""
    steps = dict(one.steps)
    columns = []
    for name in one.cells.space.names:
        at = cells.space.names.index(name)
        to = _levels_of(population.values[at], cells, at, steps.get(name), left=name in steps)
        columns.append(to[population.levels[:, at]])  # −1, for missing, is the last of them
    levels = np.stack(columns, axis=1)
    inside = (levels >= 0).all(axis=1)
    words = one.cells.space.coding.encode(levels[inside])
    yield {"words": words, "n": population.counts[inside]}


def _levels_of(
    values: tuple[str, ...], cells: Cells, key: int, coarser: Coarser | None, *, left: bool
) -> IntArray:
    """The level after the change of each value of the population, and last that of a missing one;
    −1 for one that no record of the file has."""
    own = cells.space.keys[key].values
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
    model: Model, cells: Cells, summary: Summary, options: AssessOptions
) -> Estimated | Unavailable:
    """The model that leads, fitted to the changed cells; its risks lie beside them."""
    anew = summarise(
        cells,
        n_table_cells=_nesting(cells, options).n_possible(cells.space.known_sizes),
        population_size=summary.population_size if summary.population_size_known else None,
        weight_total=summary.weight_total,
        needs=model.needs,
    )
    fitted = fit_model(model, anew, cells, [], silent)
    results, _ = scored_by(cells, [model], {model.name: fitted}, leads=model.name, keeps=False)
    found = results[model.name]
    if not isinstance(found, ModelResult):
        return found
    uniques, matches = found.expected_population_uniques, found.expected_correct_matches
    return Estimated(recommended=chosen_by_user(model.name, uniques, matches))
