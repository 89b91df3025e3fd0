"""What to change: the keys whose coarsening helps most, and by how much.

For each key the ways to coarsen it are tried on the counted cells, and leaving it out as the last
of them. Of the ways of one key the mildest is taken that does most of what leaving it out would do;
of the keys, those that help most. The figures after a change are those of a new assessment.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from discreet.data.summary import SizeIndices
from discreet.engines.contract import Small
from discreet.figures import Outcome, Unavailable
from discreet.masks.records.recoding import Drop, Recoding
from discreet.numerics.rounding import ALIKE
from discreet.policy.record_rules import MinK
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import Progress, silent
from discreet.survey.after_change import (
    MOST_AGAIN,
    TOO_MANY_CELLS,
    Before,
    Changed,
    after,
    changed,
    view_after,
)
from discreet.survey.coarsening import Coarser, Step, coarser_keys
from discreet.survey.combined_changes import combined_steps
from discreet.survey.headline.recommendation import COUNTED
from discreet.survey.information import Tables, information_kept, tables_of_two
from discreet.survey.leading import estimated
from discreet.survey.options import AssessOptions
from discreet.survey.suppressing import suppressed_cells
from discreet.survey.trying import steps_of

MOST = 3
MOST_LISTED = 4  # keys that are named with how many values they lose
NOT_ESTIMATED = Unavailable(
    "it is estimated by protect, from the file as it is then: clusters, households, tables of the "
    "population or a population file are known"
)
MOST_COUNTS, MOST_ESTIMATES = 200, 20  # checks of the limits by counting, or by an estimate each
ENOUGH = 0.7  # of the uniques that vanish without a key: a coarsening that reaches it will do
MOST_WORK = 30_000_000  # cells times keys beyond which only leaving out is counted
MATCHING_COST = 100  # how much longer a cell takes where missing values match anything
LEAST_GAIN = 0.02  # share of the uniques that must vanish for a change to be worth naming


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A change of a key, or of several, and what it does.

    `change` says what to do to `key`, in words. `breaking_before` and `breaking_after` count the
    records that break `k`-anonymity. `largest_risk_after` is the greatest risk of a record then,
    None where there is none. `keeps_limits` says whether the limits that were given would be kept
    after it; None where none was given or that cannot be told. `recodings` are what `protect` can
    carry out (its `recode`); `information_kept` is the share of the information of tables of two
    keys that is left. `suppressed` values are taken out, where that is the change.
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
    largest_risk_after: float | None = None
    keeps_limits: bool | None = None
    recodings: tuple[Recoding, ...] = ()
    information_kept: float | None = None
    suppressed: int | None = None


def suggestions(before: Before, progress: Progress = silent) -> tuple[Suggestion, ...]:
    """At most three changes, the one that helps most first; none where nobody stands out.

    What is to be brought down are the records that break k-anonymity: with `min_k` of it, else the
    sample uniques. Where limits are given that no single change keeps without leaving a key out,
    several together come first. A change that leaves all keys goes before one that leaves a key
    out, if it does half of the work.
    """
    cells, options = before.cells, before.options
    sizes = before.summary.size_indices
    k = _size_needed(before, sizes)
    if not sizes.records_below(k):
        return ()
    found = []
    n_keys = len(cells.space.keys)
    for key in range(n_keys):
        tried = _best(before, key, k, sizes)
        if tried is not None:
            found.append(tried)
        progress("looking for what helps", (key + 1) / n_keys)
    half = sizes.records_below(k) / 2

    def rank(one: _Tried) -> tuple[bool, int, int]:
        left = one.small.below
        return not (one.leaves_keys and left <= half), left, one.small.uniques

    found.sort(key=rank)
    progress("counting tables of two keys", None)
    tables = tables_of_two(cells)
    if cells.n_cells > MOST_AGAIN:
        return tuple(_counted(one, sizes, before, k, tables) for one in found[:MOST])
    measured = [
        _measured(changed(cells, (one.step,)), sizes, before, k, tables) for one in found[:MOST]
    ]
    told = zip(found, measured, strict=False)
    mild = any(one.leaves_keys and figures.keeps_limits for one, figures in told)
    if _has_limits(options) and not mild:
        measured = _with_several(measured, _together(before, k), before, sizes, k, tables)
    return (*measured[:MOST], *_suppressing(before, sizes, k))


def tried(
    before: Before, tries: Sequence[str | Recoding], progress: Progress = silent
) -> tuple[Suggestion, ...]:
    """What the changes that were asked for do: each alone, and last all of them together."""
    cells, sizes = before.cells, before.summary.size_indices
    steps = steps_of(tries, cells, before.summary, before.trees)
    k = before.options.least_k or 2
    tables = tables_of_two(cells)
    lots: list[tuple[Step, ...]] = [(one,) for one in steps]
    lots += [steps] if len(steps) > 1 else []
    found = []
    for done, lot in enumerate(lots):
        progress("trying changes", done / len(lots))
        found.append(_measured(changed(cells, lot), sizes, before, k, tables))
    return tuple(found)


def _is_counted(options: AssessOptions) -> bool:
    """Whether all that is asked is that so many records belong together."""
    rules = options.rules
    return bool(rules) and all(isinstance(r, MinK) and r.of == "sample" for r in rules)


def _suppressing(before: Before, sizes: SizeIndices, k: int) -> tuple[Suggestion, ...]:
    """What it would take to suppress single values instead, with the keys as they are."""
    found = suppressed_cells(before.cells, k)
    if found is None or not found.n_values:
        return ()
    led, after_it = before.led, found.cells.size_indices()
    names = before.cells.space.names
    listed = [f"{name} {n:,}" for n, name in sorted(zip(found.values, names, strict=True),
                                                  reverse=True) if n]  # fmt: skip
    change = f"suppress {found.n_values:,} values ({', '.join(listed[:MOST_LISTED])})"
    one = Suggestion(
        key=", ".join(names),
        change=change,
        k=k,
        sample_uniques_before=sizes.sample_uniques,
        sample_uniques_after=after_it.sample_uniques,
        breaking_before=sizes.records_below(k),
        breaking_after=after_it.records_below(k),
        expected_population_uniques_before=led.expected_population_uniques,
        expected_population_uniques_after=NOT_ESTIMATED,
        expected_correct_matches_before=led.expected_correct_matches,
        expected_correct_matches_after=NOT_ESTIMATED,
        keeps_limits=True if _is_counted(before.options) else None,
        suppressed=found.n_values,
    )
    known = before.known
    if before.population is not None or before.options.headline or not known.is_plain:
        return (one,)
    own = known.of_other_cells()
    then = estimated(found.cells, own, nesting=before.options.uses_nesting).recommended
    return (
        replace(
            one,
            expected_population_uniques_after=then.expected_population_uniques,
            expected_correct_matches_after=then.expected_correct_matches,
        ),
    )


def _with_several(
    measured: list[Suggestion],
    several: Changed | None,
    before: Before,
    sizes: SizeIndices,
    k: int,
    tables: Tables,
) -> list[Suggestion]:
    """Several changes first, unless a single one is enough and they leave a key out as it does."""
    enough = any(one.keeps_limits for one in measured)
    if several is None or (enough and not several.leaves_keys):
        return measured
    return [_measured(several, sizes, before, k, tables), *measured]


def _has_limits(options: AssessOptions) -> bool:
    return bool(options.rules)


def _size_needed(before: Before, sizes: SizeIndices) -> int:
    """The size from which on a cell is no longer small: that asked for, or 2.

    In a population that was counted a risk is one over the size. Where a limit is broken although
    no cell is as small as that, the smallest are too small.
    """
    options = before.options
    k = options.least_k or 2
    if options.risk_limits and before.led.model == COUNTED and before.population is None:
        k = max(k, math.ceil(1 / options.risk_limits[0] - ALIKE))
    if _has_limits(options) and not sizes.records_below(k):
        k = math.floor(float(sizes.sizes.min())) + 1
    return k


def _together(before: Before, k: int) -> Changed | None:
    """Several changes that keep the limits, no more than it takes; None where none were found."""
    cells, options = before.cells, before.options

    def keeps(steps: tuple[Step, ...]) -> bool:
        one = changed(cells, steps)
        if options.least_k is not None and one.sizes.records_below(options.least_k):
            return False
        return _ruled(after(one, before).verdict) is True

    counted = before.led.model == COUNTED and before.population is None
    alone = not options.sensitive and all(
        isinstance(rule, MinK) and rule.of == "sample" for rule in options.rules
    )
    most = MOST_COUNTS if counted or alone else MOST_ESTIMATES
    found = combined_steps(cells, k, keeps, most_checks=most, trees=before.trees)
    return changed(cells, found) if found else None


@dataclass(frozen=True, slots=True)
class _Tried:
    """A change of one key, and the small cells after it."""

    step: Step
    small: Small

    @property
    def leaves_keys(self) -> bool:
        """Whether the key stays, if coarser."""
        return self.step[1] is not None


def _tried(before: Before, key: int, coarser: Coarser | None, k: int) -> _Tried:
    """The small cells alone; where no missing value matches others they take no more than a
    sort."""
    cells, left_out = before.cells, before.left_out
    step = (cells.space.names[key], coarser)
    if left_out is None:
        sizes = changed(cells, (step,)).sizes
        return _Tried(step, Small(sizes.records_below(k), sizes.sample_uniques))
    if coarser is None:
        without = left_out.count()[key]
        return _Tried(step, Small(without.records_below(k), without.sample_uniques))
    (small,) = cells.small([view_after(cells, (step,))], k)
    return _Tried(step, small)


def _best(before: Before, key: int, k: int, sizes: SizeIndices) -> _Tried | None:
    """The mildest change of one key that does most of what leaving it out does."""
    cells = before.cells
    without = _tried(before, key, None, k)
    start = sizes.records_below(k)
    gain = start - without.small.below
    if gain < LEAST_GAIN * start or gain == 0:
        return None
    cost = MATCHING_COST if cells.space.overlap else 1
    if cells.n_cells * len(cells.space.keys) * cost > MOST_WORK:
        return without
    own = cells.space.keys[key]
    ways = list(coarser_keys(own, before.summary.margins[(key,)], before.trees.get(own.name)))

    @cache
    def tried(way: int) -> _Tried:
        return _tried(before, key, ways[way], k)

    def enough(way: int) -> bool:
        return start - tried(way).small.below >= ENOUGH * gain

    # Each way puts together what the one before left apart, so that none does less than it.
    if not ways or not enough(len(ways) - 1):
        return without
    return tried(bisect_left(range(len(ways)), True, key=enough))


def _ruled(verdict: Verdict | None) -> bool | None:
    """Whether the limits are kept; None where there is none, or that is not decided."""
    if verdict is None or verdict.ruling is Ruling.UNDECIDED:
        return None
    return verdict.allows


def _counted(one: _Tried, sizes: SizeIndices, before: Before, k: int, tables: Tables) -> Suggestion:
    """What a change does to the counts, where a new estimate would take too long."""
    led, (name, coarser) = before.led, one.step
    return Suggestion(
        key=name,
        change=f"leave out {name}" if coarser is None else coarser.change,
        k=k,
        sample_uniques_before=sizes.sample_uniques,
        sample_uniques_after=one.small.uniques,
        breaking_before=sizes.records_below(k),
        breaking_after=one.small.below,
        expected_population_uniques_before=led.expected_population_uniques,
        expected_population_uniques_after=TOO_MANY_CELLS,
        expected_correct_matches_before=led.expected_correct_matches,
        expected_correct_matches_after=TOO_MANY_CELLS,
        recodings=_recodings((one.step,)),
        information_kept=information_kept(tables, before.cells.space.names, (one.step,)),
    )


def _recodings(steps: Sequence[Step]) -> tuple[Recoding, ...]:
    """The changes as what `protect` carries out."""
    return tuple(Drop(key=name) if how is None else how.how for name, how in steps)


def _measured(
    one: Changed, sizes: SizeIndices, before: Before, k: int, tables: Tables
) -> Suggestion:
    led, then = before.led, after(one, before)
    return Suggestion(
        key=", ".join(name for name, _ in one.steps),
        change=one.change,
        k=k,
        sample_uniques_before=sizes.sample_uniques,
        sample_uniques_after=one.sizes.sample_uniques,
        breaking_before=sizes.records_below(k),
        breaking_after=one.sizes.records_below(k),
        expected_population_uniques_before=led.expected_population_uniques,
        expected_population_uniques_after=then.led.expected_population_uniques,
        expected_correct_matches_before=led.expected_correct_matches,
        expected_correct_matches_after=then.led.expected_correct_matches,
        largest_risk_after=then.largest,
        keeps_limits=_ruled(then.verdict),
        recodings=_recodings(one.steps),
        information_kept=information_kept(tables, before.cells.space.names, one.steps),
    )
