"""What a release gives away for certain: small counts that it prints, groups that share a level."""

from collections.abc import Sequence

import numpy as np

from discreet.choice.candidates import NOTHING
from discreet.choice.published_variables import Judged, judged_by, printed_by
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.fiber.bounds.cell_bounds import bounds
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.masks.after_publication import intruders_bounds
from discreet.masks.contract import Axes, Masked, entry_groups, margin_sum
from discreet.masks.margins import NAME as MARGINS
from discreet.masks.suppression import NAME as SUPPRESSION
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import junction_tree
from discreet.tables.audit_verdict import small_words, table_name
from discreet.tables.groups import (
    Learned,
    learned_from_bounds,
    learned_from_margins,
    learned_words,
)
from discreet.tables.printed import Printed, number_printed
from discreet.tables.release import MOST_SHOWN
from discreet.tables.ruled_out import is_common

BOUNDS_SHARE, BOUNDS_SECONDS = 0.1, 5.0  # of the time, for bounds that show groups
MOST_NAMED = 3  # tables in a reason
EXACT_MASKS = (NOTHING, MARGINS, SUPPRESSION)  # whose figures prove something of groups


def printed_reason(table: Table, printed: Sequence[Printed], small: int) -> str:
    """How many small counts are printed, and where; nothing where none is."""
    if not printed:
        return ""
    number, noun = number_printed(printed), "count" if number_printed(printed) == 1 else "counts"
    named = [table_name(table, one.axes) for one in printed[:MOST_NAMED]]
    more = f" and {len(printed) - MOST_NAMED} more" if len(printed) > MOST_NAMED else ""
    return f"prints {number:,} {noun} {small_words(small)} in {', '.join(named)}{more}"


def groups_reason(table: Table, learned: Sequence[Learned]) -> str:
    """The first group that is shown to share a level, and how many there are."""
    if not learned:
        return ""
    more = "" if len(learned) == 1 else f" (and {len(learned) - 1:,} more such groups)"
    return f"shows that {learned_words(learned[0], table)}{more}"


def groups_shown(
    judged: Judged, targets: Sequence[str] | None, clock: Clock
) -> tuple[Learned, ...]:
    """Groups that a release proves to share a level, beyond what everybody knows.

    For exact margins and for suppressed tables, by bounds: exact where these are found in their
    time, else what single margins show. Rounded and perturbed figures prove nothing here.
    """
    masked = judged.masked
    table = masked.source
    if masked.mask not in EXACT_MASKS or table.n_cells > MOST_SHOWN:
        return ()
    axes = None if targets is None else table.axes([t for t in targets if t in table.names])
    found: tuple[Learned, ...] = ()
    if masked.margins is not None:
        found = learned_from_margins(masked.margins, axes)
    most = _upper(judged, clock)
    if most is not None:
        found = (*found, *learned_from_bounds(most, table.dense(), axes, proved=found))
    return tuple(one for one in found if not is_common(one, table, judged.nested, ()))


def _upper(judged: Judged, clock: Clock) -> IntArray | None:
    """The upper bounds of all cells, or what is as good: whether a cell may hold somebody."""
    masked = judged.masked
    if masked.margins is not None and junction_tree(masked.margins.tables) is not None:
        possible = np.ones(masked.source.sizes, dtype=np.int64)
        for axes, counts in masked.margins.tables.items():
            others = tuple(i for i in range(possible.ndim) if i not in axes)
            possible *= np.expand_dims(counts > 0, others)
        return possible
    seconds = clock.share(BOUNDS_SHARE, BOUNDS_SECONDS) or BOUNDS_SECONDS
    found = intruders_bounds(masked, also=judged.also, time_limit=seconds)
    upper: IntArray = found.upper.reshape(masked.source.sizes)
    return upper


def worked_out_reason(judged: Judged, small: int, clock: Clock) -> str:
    """Small figures that are hidden, but follow from all that is known; nothing where none does.

    A figure of several cells is bounded by what it lacks to the number of persons, a column tied to
    its cells by an equation. Bounds that meet prove the figure, whether they are tight or not.
    """
    masked, table = judged.masked, judged.masked.source
    if masked.mask != SUPPRESSION:
        return ""
    truth, known = table.dense(), [*masked.known, *judged.also]
    point, names, columns = truth.ravel().tolist(), [], []
    for one in masked.published:
        own = margin_sum(truth, one.axes)
        hidden = np.zeros(own.shape, dtype=np.bool_) if one.shown is None else ~one.shown
        groups = entry_groups(table, one.axes)
        for entry in np.flatnonzero(hidden.ravel() & (own.ravel() > 0) & (own.ravel() <= small)):
            column = len(point)
            cells = np.append(groups[entry], column)
            known.append(Statement(cells=cells, low=table.total, high=table.total, name="lack"))
            point.append(table.total - int(own.ravel()[entry]))
            columns.append(column)
            names.append(one.axes)
    if not columns:
        return ""
    seconds = clock.share(BOUNDS_SHARE, BOUNDS_SECONDS) or BOUNDS_SECONDS
    found = bounds(
        system_of(len(point), known),
        cells=np.array(columns, dtype=np.int64),
        tables=[np.array(point, dtype=np.int64)],
        time_limit=seconds,
    )
    given = np.flatnonzero(found.lower == found.upper)
    if not len(given):
        return ""
    where = dict.fromkeys(table_name(table, names[i]) for i in given.tolist())
    noun = "count" if len(given) == 1 else "counts"
    return f"hides {len(given):,} {noun} that can be worked out in {', '.join(where)}"


def certain_reasons(
    masked: Masked,
    out: Sequence[Axes],
    small: int,
    *,
    nesting: bool,
    targets: Sequence[str] | None,
    clock: Clock,
) -> tuple[Judged | None, str, str]:
    """The publication as it is judged, and why it harms for certain: what is printed, who shares.

    An empty text where there is no such reason.
    """
    judged = judged_by(masked, out, nesting=nesting, secret=targets or ())
    printed = printed_reason(masked.source, printed_by(masked, out, small), small)
    if judged is None:
        return None, printed, ""
    learned = groups_shown(judged, targets, clock)
    shared = groups_reason(judged.masked.source, learned)
    return judged, printed or worked_out_reason(judged, small, clock), shared
