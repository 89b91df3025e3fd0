"""The risk of a release by one of the measures of dobra section 4, exact where it can be.

An intruder holds a prior over tables and learns what the release tells. By a preset of the general
risk (1) he does one of three harms: narrow bounds of a small cell (3), the probability of the true
table (4.2), small cells whose count he finds (5). Where his distribution over tables is too large
to sum, weighted draws stand for it, and the risk has limits."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.belief.belief import Belief
from discreet.belief.ladder import believe
from discreet.belief.request import Limits, Question
from discreet.choice.actors import Intruder
from discreet.choice.measures import Exposure, Measure, small_cells
from discreet.clock import Clock
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Figure, How, Unavailable
from discreet.masks.after_publication import intruders_bounds, intruders_question
from discreet.masks.choice_belief import Counting, counted_belief
from discreet.masks.contract import Masked
from discreet.numerics.arrays import IntArray
from discreet.tables.measures import greatest_chance, share_found, tightness
from discreet.tables.refused_margin import RiskMeasure

EXACT_SECONDS = 30.0  # for all but the last rung, where no time was given
EXACT_SHARE = 0.25  # of the time, for the same
CHOICE_SHARE = 0.4  # of the time, for counting what the choice of a publication tells
CHOICE_SECONDS = 3.0
BY_CHOICE = ", with the choice of what is published counted"
EXACT_FIRST = ("closed", "summed", "listed", "weighed")
LIMITS = Limits(least_effective=100.0)
Choices = dict[str, Belief | Unavailable]  # by the name of an intruder
MOST_CELLS = 4096  # of a table whose distribution is summed or drawn


def bounds_exposure(
    masked: Masked, small: int, *, also: Sequence[Statement] = (), clock: Clock
) -> Exposure:
    """(3): minus the least width of the bounds of a small cell, −n where no cell is small.

    `also` is what else is known. Bounds are the same whatever the intruder's prior, as long as it
    excludes no table.
    """
    truth = masked.source.dense()
    cells = small_cells(truth, small)
    if not len(cells):
        note = "no cell is small, so there is none to protect"
        return Exposure(Figure(value=-float(truth.sum()), how=How.EXACT, note=note), note)
    counted = _bounds_with_choice(masked, cells, also, clock)
    if isinstance(counted, Exposure):
        return counted
    found = intruders_bounds(masked, cells=cells, also=also, time_limit=clock.left())
    widths = (found.upper - found.lower).tolist()
    method = "bounds over all consistent tables" + (f"; {found.note}" if found.note else "")
    plain = Exposure(tightness(widths, found.complete), method)
    return plain if counted is None else _without_choice(plain, counted)


def _bounds_with_choice(
    masked: Masked, cells: IntArray, also: Sequence[Statement], clock: Clock
) -> Exposure | Unavailable | None:
    """The bounds over all tables that lead to the publication, or why they are not known. None for
    a mask whose choice tells no more: that of decoys leaves every table possible."""
    replay = masked.replay
    if replay is None or (not isinstance(replay, Unavailable) and not replay.is_certain):
        return None
    question = intruders_question(masked, Multinomial(), also=also, limits=LIMITS)
    belief = counted_belief(question, replay, _counting(clock, np.random.default_rng(0)))
    if isinstance(belief, Unavailable):
        return belief
    widths = (belief.upper - belief.lower)[cells].tolist()
    return Exposure(tightness(widths, True), f"bounds{BY_CHOICE}", counted=True)


def _counting(clock: Clock, rng: np.random.Generator) -> Counting:
    """A part of the time, of which something is left for the belief without the choice."""
    return Counting(Clock(clock.share(CHOICE_SHARE, CHOICE_SECONDS)), rng)


def _without_choice(plain: Exposure, why: Unavailable) -> Exposure:
    """A risk as it is for an intruder who does not repeat the choice."""
    said = f"{plain.method}; for an intruder who does not repeat the choice ({why.reason})"
    return replace(plain, method=said, counted=False, uncounted=why.reason)


def belief_exposure(
    masked: Masked,
    intruder: Intruder,
    measure: Measure,
    *,
    also: Sequence[Statement] = (),
    clock: Clock,
    rng: np.random.Generator,
    choices: Choices | None = None,
) -> Exposure:
    """The probability of the true table (4.2), or (5), under the belief of one intruder.

    Both are what (1) comes to for an intruder who never gives up on the table, or on a cell that
    he knows well enough. Where an exact belief does not fit the time, weighted draws stand for it,
    and the figure has its error or its limits. `choices` keeps beliefs that count the choice of the
    publication, which take long to find, for other measures of the same release.
    """
    truth = masked.source.dense()
    if truth.size > MOST_CELLS:
        reason = Unavailable(f"the table has more than {MOST_CELLS:,} cells")
        return Exposure(reason, reason.reason)
    cells = small_cells(truth, measure.small)
    if measure.kind is not RiskMeasure.TABLE and not len(cells):
        note = "no cell is small, so there is none to find"
        return Exposure(Figure(value=0.0, how=How.EXACT, note=note), note)
    question = intruders_question(masked, intruder.prior, also=also, limits=LIMITS)
    if masked.replay is None:
        return _believed(question, truth, measure, clock, rng)
    known = {} if choices is None else choices
    if intruder.name not in known:
        known[intruder.name] = counted_belief(question, masked.replay, _counting(clock, rng))
    counted = known[intruder.name]
    if isinstance(counted, Unavailable):
        return _without_choice(_believed(question, truth, measure, clock, rng), counted)
    found = exposure_of(counted, truth, measure)
    return replace(found, method=f"{found.method}{BY_CHOICE}", counted=True)


def _believed(
    question: Question,
    truth: IntArray,
    measure: Measure,
    clock: Clock,
    rng: np.random.Generator,
) -> Exposure:
    """The measure under the belief of an intruder who does not repeat any choice."""
    seconds = clock.share(EXACT_SHARE, EXACT_SECONDS) or EXACT_SECONDS
    belief = believe(question, EXACT_FIRST, clock=Clock(seconds))
    if isinstance(belief, Unavailable):
        belief = believe(question, ("filled",), clock=clock, rng=rng)
    if isinstance(belief, Unavailable):
        return Exposure(belief, belief.reason)
    return exposure_of(belief, truth, measure)


def exposure_of(belief: Belief, truth: IntArray, measure: Measure) -> Exposure:
    """The measure under a belief, with its error or its limits where draws made the belief."""
    if measure.kind is RiskMeasure.TABLE:
        return Exposure(belief.probability(truth), belief.method)
    cells = small_cells(truth, measure.small)
    own, errors = [belief.cell(int(c)) for c in cells], [belief.cell_error(int(c)) for c in cells]
    truths = np.ravel(truth)[cells].tolist()
    if measure.kind is RiskMeasure.COUNT:
        return Exposure(greatest_chance(own, errors, truths), belief.method)
    found = share_found(own, errors, truths, measure.confidence)
    if belief.how is How.EXACT:
        found = Figure(value=found.value, how=How.EXACT)
    return Exposure(found, belief.method)
