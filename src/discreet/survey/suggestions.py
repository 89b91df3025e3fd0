"""What to change: the keys whose coarsening helps most, and by how much.

For each key the ways to coarsen it are tried on the counted cells, and leaving it out as the last
of them. Of the ways of one key the mildest is taken that does most of what leaving it out would do;
of the keys, those that help most. Sample uniques are counted; the estimate is made anew.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.figures import Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.rounding import ALIKE
from discreet.progress import Progress, silent
from discreet.survey.coarsening import coarser_keys
from discreet.survey.combined_changes import Step, combined_steps
from discreet.survey.headline.recommendation import COUNTED, Recommended
from discreet.survey.leading import Known, estimated
from discreet.survey.options import AssessOptions
from discreet.survey.projection import AllCells

MOST = 3
MOST_COUNTS, MOST_ESTIMATES = 200, 12  # checks of the limits by counting, or by an estimate each
ENOUGH = 0.7  # of the uniques that vanish without a key: a coarsening that reaches it will do
MOST_WORK = 30_000_000  # cells times keys beyond which only leaving out is counted
MATCHING_COST = 100  # how much longer a cell takes where missing values match anything
NOT_FITTED = Unavailable("what leads is not computed anew for what could be changed")
LEAST_GAIN = 0.02  # share of the uniques that must vanish for a change to be worth naming


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A change of a key, or of several, and what it does.

    `change` says what to do to `key`, in words. `breaking_before` and `breaking_after` count the
    records that break `k`-anonymity. `keeps_limits` says whether the limits that were given would
    be kept after it; None where none was given or that cannot be told.
    """

    key: str
    change: str
    k: int
    sample_uniques_before: int
    sample_uniques_after: int
    breaking_before: int
    breaking_after: int
    expected_population_uniques_before: Outcome
    expected_population_uniques_after: Outcome
    expected_correct_matches_before: Outcome
    expected_correct_matches_after: Outcome
    keeps_limits: bool | None = None


@dataclass(frozen=True, slots=True)
class _Tried:
    """Changes of the keys named in `steps`, each to be coarsened or left out (None), the cells
    after them, and in which of these each cell lies."""

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


def suggestions(
    cells: AllCells,
    known: Known,
    led: Recommended,
    options: AssessOptions,
    progress: Progress = silent,
) -> tuple[Suggestion, ...]:
    """At most three changes, the one that helps most first; none where nobody stands out.

    What is to be brought down are the records that break k-anonymity: with `min_k` of it, else the
    sample uniques. Where limits are given that no single change keeps, several together come
    first. A change that leaves all keys goes before one that leaves a key out, if it does half of
    the work.
    """
    k = _size_needed(options, led)
    before = _sizes(cells)
    if len(cells.keys) < 2 or not before.records_below(k):
        return ()
    found = []
    for key in range(len(cells.keys)):
        tried = _best(cells, key, k, before)
        if tried is not None:
            found.append(tried)
        progress("looking for what helps", (key + 1) / len(cells.keys))
    half = before.records_below(k) / 2

    def rank(one: _Tried) -> tuple[bool, int, int]:
        left = one.sizes.records_below(k)
        return not (one.leaves_keys and left <= half), left, one.sizes.sample_uniques

    found.sort(key=rank)
    measured = [_measured(one, before, known, led, options, k) for one in found[:MOST]]
    if _has_limits(options) and all(one.keeps_limits is False for one in measured):
        several = _together(cells, before, known, led, options, k)
        measured = measured if several is None else [several, *measured]
    return tuple(measured[:MOST])


def _has_limits(options: AssessOptions) -> bool:
    return options.max_risk is not None or options.min_k is not None


def _size_needed(options: AssessOptions, led: Recommended) -> int:
    """The size from which on a cell is no longer small: that asked for, or 2.

    In a population that was counted a risk is one over the size.
    """
    k = options.min_k or 2
    if options.max_risk and led.model == COUNTED and options.population_file is None:
        k = max(k, math.ceil(1 / options.max_risk - ALIKE))
    return k


def _sizes(cells: AllCells) -> SizeIndices:
    count, disjoint = cells.matched()
    return SizeIndices.of_counts(count, cells.records, disjoint=disjoint)


def _together(
    cells: AllCells,
    before: SizeIndices,
    known: Known,
    led: Recommended,
    options: AssessOptions,
    k: int,
) -> Suggestion | None:
    """Several changes that keep the limits, no more than it takes; None where none were found."""

    def after(steps: tuple[Step, ...]) -> Suggestion:
        return _measured(_changed(cells, steps), before, known, led, options, k)

    def keeps(steps: tuple[Step, ...]) -> bool:
        tried = _changed(cells, steps)
        if options.min_k is not None and tried.sizes.records_below(options.min_k):
            return False
        return options.max_risk is None or after(steps).keeps_limits is True

    counted = options.max_risk is None or led.model == COUNTED
    most = MOST_COUNTS if counted else MOST_ESTIMATES
    found = combined_steps(cells, k, keeps, most_checks=most)
    return after(found) if found else None


def _changed(cells: AllCells, steps: tuple[Step, ...]) -> _Tried:
    """The cells after these changes."""
    place: IntArray = np.arange(len(cells.records))
    for name, coarser in steps:
        key = cells.names.index(name)
        if coarser is None:
            cells, here = cells.within([j for j in range(len(cells.keys)) if j != key])
        else:
            cells, here = cells.recoded(key, coarser.to, coarser.levels)
        place = here[place]
    return _Tried(steps, cells, place, _sizes(cells))


def _best(cells: AllCells, key: int, k: int, before: SizeIndices) -> _Tried | None:
    """The mildest change of one key that does most of what leaving it out does."""
    name = cells.keys[key].name
    without = _changed(cells, ((name, None),))
    start = before.records_below(k)
    gain = start - without.sizes.records_below(k)
    if gain < LEAST_GAIN * start:
        return None
    cost = MATCHING_COST if cells.overlap else 1
    if len(cells.records) * len(cells.keys) * cost > MOST_WORK:
        return without
    levels = cells.coding.level(cells.words, key)
    margin = np.bincount(levels, cells.records, cells.coding.sizes[key]).astype(np.int64)
    for coarser in coarser_keys(cells.keys[key], margin):
        tried = _changed(cells, ((name, coarser),))
        if start - tried.sizes.records_below(k) >= ENOUGH * gain:
            return tried
    return without


def _measured(
    one: _Tried,
    before: SizeIndices,
    known: Known,
    led: Recommended,
    options: AssessOptions,
    k: int,
) -> Suggestion:
    uniques, matches, largest = _after(one, known, options)
    return Suggestion(
        key=", ".join(name for name, _ in one.steps),
        change=one.change,
        k=k,
        sample_uniques_before=before.sample_uniques,
        sample_uniques_after=one.sizes.sample_uniques,
        breaking_before=before.records_below(k),
        breaking_after=one.sizes.records_below(k),
        expected_population_uniques_before=led.expected_population_uniques,
        expected_population_uniques_after=uniques,
        expected_correct_matches_before=led.expected_correct_matches,
        expected_correct_matches_after=matches,
        keeps_limits=_keeps(options, one.sizes, largest),
    )


def _after(
    one: _Tried, known: Known, options: AssessOptions
) -> tuple[Outcome, Outcome, float | None]:
    """The estimate after a change: uniques, matches and the largest risk of a record.

    A model that was chosen to lead is not fitted anew, nor is a population that was given as a file
    counted anew, and another estimate would not compare with either.
    """
    if options.headline is not None or options.population_file is not None:
        return NOT_FITTED, NOT_FITTED, None
    found = estimated(one.cells, known.seen_through(one.place, len(one.cells.records)))
    largest = None if found.risks is None else float(np.max(found.risks.risk))
    led = found.recommended
    return led.expected_population_uniques, led.expected_correct_matches, largest


def _keeps(options: AssessOptions, sizes: SizeIndices, largest: float | None) -> bool | None:
    """Whether the limits would be kept; None where there is none or the risk is not known."""
    if not _has_limits(options):
        return None
    if options.min_k is not None and sizes.records_below(options.min_k):
        return False
    if options.max_risk is None:
        return True
    return None if largest is None or np.isnan(largest) else largest <= options.max_risk
