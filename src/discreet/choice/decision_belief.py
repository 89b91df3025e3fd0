"""What an intruder learns from the choice of a release among others, who can repeat that choice.

The agency looks at the table, and then decides what goes out of it. So of all tables that fit the
release only those remain for which the same decision leads to the same publication. For tiny tables
that is found by deciding anew for each.
"""

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.ladder import believe
from discreet.belief.request import Limits
from discreet.choice.recommendation import recommended
from discreet.choice.risk_utility import RiskUtility
from discreet.clock import Clock, working_seconds
from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.after_publication import intruders_question
from discreet.masks.contract import Masked, PublishedTable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent

MOST_TABLES = 200
SECONDS = 60.0


def belief_with_decision(
    found: RiskUtility,
    *,
    most_tables: int = MOST_TABLES,
    seconds: float = SECONDS,
    progress: Progress = silent,
) -> ListedBelief | Unavailable:
    """The belief of an intruder who would decide as the agency did, or why it is not known.

    His prior is that of the first intruder of the options. Tables that fit the release are listed,
    at most `most_tables`; `seconds` limit the work.

    Checked: nothing was drawn, so that the decision is a function of the table.
    """
    chosen = found.chosen
    if chosen is None or chosen.masked is None:
        return Unavailable("nothing was chosen, so that no table is told of")
    if any(one.masked is not None and one.masked.seed is not None for one in found.candidates):
        return Unavailable("a mask among the candidates is drawn; name masks without chance")
    before = _listed(chosen.masked, found, most_tables)
    if isinstance(before, Unavailable):
        return before
    clock, began = Clock(seconds), working_seconds()
    kept = []
    for done, cells in enumerate(before.tables):
        progress("deciding for every table", done / len(before.tables))
        kept.append(_is_same(cells, chosen.masked, found))
        if clock.is_over or (done == 0 and _all(before, began) > (clock.left() or 0.0)):
            return Unavailable(
                f"to decide for each of {len(before.tables):,} tables takes longer than allowed"
            )
    return before.given(kept)


def _all(before: ListedBelief, began: float) -> float:
    """What the tables take that are left, if each takes as long as the first."""
    return (len(before.tables) - 1) * (working_seconds() - began)


def _listed(masked: Masked, found: RiskUtility, most: int) -> ListedBelief | Unavailable:
    """The belief before the decision counts."""
    name, measure = found.options.intruders[0], found.options.measure
    prior = measure.intruder(name, masked.source.n_cells).prior
    question = intruders_question(masked, prior, limits=Limits(most_tables=most))
    belief = believe(question, ("listed",), clock=Clock(SECONDS))
    assert isinstance(belief, ListedBelief | Unavailable)
    return belief


def _is_same(cells: IntArray, masked: Masked, found: RiskUtility) -> bool:
    """Whether another table would have led to the same publication."""
    source = found.table
    counts = np.asarray(cells).reshape(source.sizes)
    other = Table.of_dense(counts, names=source.names, levels=source.levels)
    chosen = recommended(other, found.options, silent).chosen
    if chosen is None or chosen.masked is None:
        return False
    return _looks_like(chosen.masked, masked)


def _looks_like(one: Masked, other: Masked) -> bool:
    """Whether two publications are the same to those who see them."""
    if one.mask != other.mask or len(one.published) != len(other.published):
        return False
    pairs = zip(one.published, other.published, strict=True)
    return all(_is_same_table(a, b) for a, b in pairs)


def _is_same_table(one: PublishedTable, other: PublishedTable) -> bool:
    if one.axes != other.axes or not np.array_equal(one.counts, other.counts):
        return False
    every = np.ones(one.counts.shape, dtype=np.bool_)
    first, second = (every if part.shown is None else part.shown for part in (one, other))
    return bool(np.array_equal(first, second))
