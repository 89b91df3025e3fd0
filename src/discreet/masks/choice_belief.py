"""What an intruder believes who repeats the choice of what was published: he owns this program.

    Pr(table | publication)  ∝  prior(table) · Pr(the mask leads to this publication | table)

over all tables that fit. For a mask without chance the second factor is 0 or 1, and found by
running it on every table, where these can be listed. For a pattern around decoys it is a
probability over the secret draw: tables are drawn from the prior among those that fit, each is
weighed by an unbiased estimate of that probability, and the weighted draws have their standard
errors as any others.
"""

from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.belief import Belief, ListedBelief
from discreet.belief.drawn_belief import DrawnBelief, too_few
from discreet.belief.ladder import believe
from discreet.belief.request import Limits, Question
from discreet.clock import Clock, working_seconds
from discreet.figures import Unavailable
from discreet.masks.after_publication import AnyPrior, checked_prior, intruders_question
from discreet.masks.contract import Masked
from discreet.masks.replay import Replay
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent

MOST_LISTED = 2000  # tables on which a mask is run again
LEAST_EFFECTIVE = 100.0
ENOUGH = 400.0  # effective draws, after which no more are made
MOST_DRAWS = 4000
ROUND = 25
FIRST = 100  # draws, after which it is seen whether enough of them can be had
HOPELESS = 0.5  # of the draws that would have to be effective by then
DRAW_SHARE = 0.3  # of the time, for drawing tables that fit
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Counting:
    """What counting the choice may take: time, randomness, and who waits."""

    clock: Clock
    rng: np.random.Generator
    progress: Progress = silent


def belief_with_choice(
    masked: Masked,
    prior: AnyPrior = "multinomial",
    *,
    seconds: float = SECONDS,
    seed: int = 0,
    progress: Progress = silent,
) -> Belief | Unavailable:
    """The belief of an intruder who knows how the publication was chosen, or why it is not known.

    `seconds` limit the work, `seed` is that of the draws. A mask whose choice tells nothing more
    has no replay, and gives a reason that says so.
    """
    question = intruders_question(masked, checked_prior(prior, masked))
    counting = Counting(Clock(seconds), np.random.default_rng(seed), progress)
    if masked.replay is None:
        return Unavailable("the choice of this mask cannot be repeated on other tables")
    return counted_belief(question, masked.replay, counting)


def counted_belief(
    question: Question, replay: Replay | Unavailable, counting: Counting
) -> Belief | Unavailable:
    """The answer to a question, with the choice of the publication counted."""
    if isinstance(replay, Unavailable):
        return replay
    few = replace(question, limits=replace(question.limits, most_tables=MOST_LISTED))
    listed = believe(few, ("listed",), clock=Clock(counting.clock.share(DRAW_SHARE)))
    if replay.is_certain:
        return (
            listed
            if isinstance(listed, Unavailable)
            else _run_on_all(listed, few, replay, counting)
        )
    base: Belief | Unavailable = listed
    if isinstance(listed, Unavailable):
        own = replace(few, limits=Limits(draw_share=1.0))
        drawing = Clock(counting.clock.share(DRAW_SHARE))
        base = believe(own, ("weighed", "filled"), clock=drawing, rng=counting.rng)
    if isinstance(base, Unavailable):
        return base
    assert isinstance(base, ListedBelief | DrawnBelief)
    return _weighed(base, replay, counting)


def _run_on_all(
    listed: Belief, question: Question, replay: Replay, counting: Counting
) -> Belief | Unavailable:
    """The tables among those listed that lead to the publication, with the prior as it was."""
    assert isinstance(listed, ListedBelief)
    n = len(listed.tables)
    began = working_seconds()
    if question.truth is not None:
        replay.log_chance(question.truth.ravel(), counting.rng)
    left, each = counting.clock.left(), working_seconds() - began
    if left is not None and n * each > left:
        return Unavailable(
            f"to run the mask again on each of {n:,} tables takes longer than the time allowed"
        )
    kept = []
    for done, cells in enumerate(listed.tables):
        if counting.clock.is_over:
            return Unavailable(f"the mask was run again on {done:,} of {n:,} tables in the time")
        counting.progress("running the mask on every table", done / n)
        kept.append(replay.log_chance(cells, counting.rng) == 0)
    return listed.given(kept)


def _weighed(
    base: ListedBelief | DrawnBelief, replay: Replay, counting: Counting
) -> DrawnBelief | Unavailable:
    """Draws from a belief, each weighed by how probable the publication is under it."""
    known = replay.informed(np.unique(base.tables, axis=0))
    most = MOST_DRAWS if isinstance(base, ListedBelief) else min(MOST_DRAWS, len(base.tables))
    rows: list[int] = []
    logs: list[float] = []
    began = working_seconds()
    while True:
        counting.progress("weighing the choice", len(rows) / most)
        for row in _some(base, len(rows), min(ROUND, most - len(rows)), counting.rng):
            rows.append(row)
            logs.append(known.log_chance(base.tables[row], counting.rng))
        found = _joined(base, np.array(rows), np.array(logs))
        is_enough = above(found.effective_draws, ENOUGH)
        part = _part_done(len(rows), most, began, counting.clock)
        if is_enough or part >= 1 or _is_hopeless(found.effective_draws, len(rows), part):
            break
    if above(LEAST_EFFECTIVE, found.effective_draws):
        return too_few(f"{len(rows):,} draws", found.effective_draws, LEAST_EFFECTIVE)
    return found


def _part_done(n: int, most: int, began: float, clock: Clock) -> float:
    """How much is done of what can be: of the draws, or of the time if that is over sooner."""
    spent, left = working_seconds() - began, clock.left()
    if clock.is_over:
        return 1.0
    return max(n / most, 0.0 if left is None else spent / (spent + left))


def _is_hopeless(effective: float, n: int, part: float) -> bool:
    """Whether draws at this rate come to far fewer than are needed; after some have been made."""
    return n >= FIRST and effective < HOPELESS * part * LEAST_EFFECTIVE


def _some(
    base: ListedBelief | DrawnBelief, first: int, n: int, rng: np.random.Generator
) -> list[int]:
    """Tables drawn from a list by their probabilities, or the next of those drawn already."""
    if isinstance(base, DrawnBelief):
        return list(range(first, first + n))
    found: list[int] = rng.choice(len(base.tables), size=n, p=base.probabilities).tolist()
    return found


def _joined(base: ListedBelief | DrawnBelief, rows: IntArray, logs: FloatArray) -> DrawnBelief:
    ratios = logs if isinstance(base, ListedBelief) else base.log_ratios[rows] + logs
    return DrawnBelief(
        tables=base.tables[rows],
        log_ratios=ratios,
        log_weights=ratios,
        n_tried=len(rows),
        lower=np.array(base.lower),
        upper=np.array(base.upper),
    )
