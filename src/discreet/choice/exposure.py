"""The risk of a release by one of the measures of dobra section 4, exact where it can be.

An intruder holds a prior over tables and learns what the release tells. By a preset of the general
risk (1) he does one of three harms: narrow bounds of a small cell (3), the probability of the true
table (4.2), small cells whose count he finds (5). Where his distribution over tables is too large
to sum, weighted draws stand for it, and the risk has limits."""

from collections.abc import Callable, Mapping, Sequence
from math import exp

import numpy as np

from discreet.belief.belief import Belief, ListedBelief
from discreet.belief.closed_belief import ClosedBelief, closed_belief
from discreet.belief.draws.importance_draws import DrawnBelief
from discreet.choice.actors import Intruder
from discreet.choice.drawn_exposure import drawn_exposure, share_found
from discreet.choice.measures import Exposure, Measure, small_cells
from discreet.clock import Clock
from discreet.fiber.system.linear_system import Statement
from discreet.fiber.system.priors import Prior
from discreet.figures import Figure, How, Unavailable
from discreet.masks.after_publication import intruders_belief, intruders_bounds
from discreet.masks.contract import Masked
from discreet.tables.measures import tightness
from discreet.tables.refused_margin import Policy

EXACT_SECONDS = 30.0  # for listing, for summing, for drawing, where no time was given
EXACT_SHARE = 0.25  # of the time, for each of these
MOST_CELLS = 4096  # of a table whose distribution is summed or drawn
CLOSED = "exact, in closed form"
Distribution = Mapping[int, float]


def bounds_exposure(
    masked: Masked, small: int, *, also: Sequence[Statement] = (), clock: Clock
) -> Exposure:
    """(3): minus the least width of the bounds of a small cell, −n where no cell is small.

    `also` is what is known beside. Bounds are the same whatever the intruder's prior, as long as it
    excludes no table.
    """
    truth = masked.source.dense()
    cells = small_cells(truth, small)
    if not len(cells):
        note = "no cell is small, so there is none to protect"
        return Exposure(Figure(value=-float(truth.sum()), how=How.EXACT, note=note), note)
    found = intruders_bounds(masked, cells=cells, also=also, time_limit=clock.left())
    widths = (found.upper - found.lower).tolist()
    method = "bounds over all consistent tables" + (f"; {found.note}" if found.note else "")
    return Exposure(tightness(widths, found.complete), method)


def belief_exposure(
    masked: Masked,
    intruder: Intruder,
    measure: Measure,
    *,
    also: Sequence[Statement] = (),
    clock: Clock,
    rng: np.random.Generator,
) -> Exposure:
    """The probability of the true table (4.2), or (5), by one intruder under his exact belief.

    Both are what (1) comes to for an intruder who never gives up on the table, or on a cell that
    he knows well enough. Where the exact belief is not to be had in the time, weighted draws stand
    for it, and the figure has its error or its limits.
    """
    truth = masked.source.dense()
    if truth.size > MOST_CELLS:
        reason = Unavailable(f"the table has more than {MOST_CELLS:,} cells")
        return Exposure(reason, reason.reason)
    cells = small_cells(truth, measure.small)
    if measure.policy is Policy.CELLS and not len(cells):
        note = "no cell is small, so there is none to find"
        return Exposure(Figure(value=0.0, how=How.EXACT, note=note), note)
    closed = None if also else _closed(masked, intruder.prior)
    if closed is not None:
        return _of_distributions(
            closed.cell, exp(closed.log_probability(truth)), masked, measure, CLOSED
        )
    seconds = clock.share(EXACT_SHARE, EXACT_SECONDS) or EXACT_SECONDS
    belief = intruders_belief(masked, intruder.prior, also=also, seconds=seconds)
    if isinstance(belief, Unavailable):
        return drawn_exposure(masked, intruder.prior, measure, also=also, clock=clock, rng=rng)
    if isinstance(belief, DrawnBelief):
        return _of_draws(belief, masked, measure)
    own = belief.probability(truth)
    value = own.value if isinstance(own, Figure) else None
    return _of_distributions(belief.cell, value or 0.0, masked, measure, _method(belief))


def _closed(masked: Masked, prior: Prior) -> ClosedBelief | None:
    if masked.margins is None or masked.likelihood is not None:
        return None
    return closed_belief(masked.margins, prior)


def _of_distributions(
    distribution: Callable[[int], Distribution],
    true_table: float,
    masked: Masked,
    measure: Measure,
    method: str,
) -> Exposure:
    """The measure under an exact distribution, given those of cells and the true table's
    probability.
    """
    if measure.policy is Policy.TABLE:
        return Exposure(Figure(value=min(true_table, 1.0), how=How.EXACT), method)
    truth = np.ravel(masked.source.dense())
    cells = small_cells(truth, measure.small)
    distributions = [distribution(int(cell)) for cell in cells]
    found = share_found(
        distributions, [{}] * len(distributions), truth[cells].tolist(), measure.confidence
    )
    return Exposure(Figure(value=found.value, how=How.EXACT), method)


def _of_draws(belief: DrawnBelief, masked: Masked, measure: Measure) -> Exposure:
    """The measure under a distribution by draws, with its error or its limits."""
    truth = masked.source.dense()
    method = (
        f"{len(belief.tables):,} weighted draws, worth {belief.effective_draws:,.0f} plain ones"
    )
    if measure.policy is Policy.TABLE:
        return Exposure(belief.probability(truth), method)
    flat = np.ravel(truth)
    cells = small_cells(flat, measure.small)
    distributions = [belief.cell(int(cell)) for cell in cells]
    errors = [_errors(belief, int(cell)) for cell in cells]
    return Exposure(
        share_found(distributions, errors, flat[cells].tolist(), measure.confidence), method
    )


def _errors(belief: DrawnBelief, cell: int) -> Distribution:
    """Standard errors of a cell's distribution; where all draws agree though others are possible,
    that of the rule of succession."""
    found = belief.cell_error(cell)
    if len(found) == 1 and belief.least[cell] < belief.most[cell]:
        return dict.fromkeys(found, 1.0 / (belief.effective_draws + 2.0))
    return found


def _method(belief: Belief) -> str:
    if isinstance(belief, ListedBelief):
        return f"exact, over {len(belief.tables):,} listed tables"
    return "exact, by summing over all consistent tables"
