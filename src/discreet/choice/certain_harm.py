"""What a release gives away for certain: small counts that it prints, groups that share a level."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.choice.choice import Doubt
from discreet.choice.options import ChooseOptions
from discreet.choice.published_variables import Judged, judged_by, printed_by
from discreet.clock import Clock, work
from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.after_publication import intruders_bounds, intruders_question
from discreet.masks.contract import Axes, Masked, margin_sum
from discreet.masks.suppression import NAME as SUPPRESSION
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import junction_tree
from discreet.policy.table_rules import LONGER
from discreet.tables.crosses import entry_bounds
from discreet.tables.groups import Learned, learned_words
from discreet.tables.printed import Printed, number_printed
from discreet.tables.probable_groups import sought_groups
from discreet.tables.release import MOST_SHOWN
from discreet.tables.ruled_out import RuledOut, is_common
from discreet.tables.shown_groups import ShownGroups, possible_cells, proved_groups
from discreet.tables.table_findings import (
    TREE,
    confirm_remedy,
    small_words,
    table_name,
    unless_nested_words,
)

BOUNDS_SHARE, BOUNDS_SECONDS = 0.1, 5.0  # of the time, for bounds that show groups
GROUPS_SECONDS = 3e-3  # to look for groups, beside their bounds
MOST_NAMED = 3  # tables in a reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What a publication gives away for certain: small counts `printed`, groups who `shared` a
    level (a text each, empty where there is none), and `doubts` where that is open. `judged` is the
    publication as it is judged beyond that, None where nothing is told."""

    judged: Judged | None
    printed: str = ""
    shared: str = ""
    doubts: tuple[Doubt, ...] = ()


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
    left = len(learned) - 1
    more = f" (and {left:,} more such group{'' if left == 1 else 's'})" if left else ""
    return f"shows that {learned_words(learned[0], table)}{more}"


def groups_shown(
    judged: Judged, bare: Judged | None, targets: Sequence[str] | None, clock: Clock
) -> ShownGroups:
    """Groups that a release proves to share a level, beyond what everybody knows.

    By margins whose true counts are known: those that go out, those that are out, those that a mask
    keeps; and by the bounds that all figures together leave, as far as they are found in their
    time. `bare` is the same release without nesting that the data alone show, where there is any.
    """
    learned, missed = _news(judged, targets, clock)
    if learned or bare is None:
        return ShownGroups(learned=learned, not_sought=missed)
    more, also_missed = _news(bare, targets, clock)
    return ShownGroups(learned=(), unless_nested=more, not_sought=missed or also_missed)


def _news(
    judged: Judged, targets: Sequence[str] | None, clock: Clock
) -> tuple[tuple[Learned, ...], str]:
    table = judged.masked.source
    if not judged.is_certain:
        return (), ""
    work(GROUPS_SECONDS)
    upper = _upper(judged, clock) if table.n_cells <= MOST_SHOWN else None
    return proved_groups(
        table,
        judged.exact,
        upper,
        _axes(table, targets),
        lambda one: not is_common(one, table, judged.nested, ()),
        plain=judged.is_plain,
    )


def _axes(table: Table, targets: Sequence[str] | None) -> tuple[int, ...] | None:
    return None if targets is None else table.axes([t for t in targets if t in table.names])


def _upper(judged: Judged, clock: Clock) -> IntArray:
    """The upper bounds of all cells, or what is as good: whether a cell may hold somebody."""
    masked, exact = judged.masked, judged.exact
    if judged.is_plain and exact is not None and junction_tree(exact.tables) is not None:
        return possible_cells(exact)
    seconds = clock.share(BOUNDS_SHARE, BOUNDS_SECONDS) or BOUNDS_SECONDS
    found = intruders_bounds(masked, also=judged.also, time_limit=seconds)
    upper: IntArray = found.upper.reshape(masked.source.sizes)
    return upper


def worked_out_reason(judged: Judged, small: int, clock: Clock) -> str:
    """Small figures that are hidden, but follow from all that is known; nothing where none does."""
    masked, table = judged.masked, judged.masked.source
    if masked.mask != SUPPRESSION:
        return ""
    truth, wanted = table.dense(), {}
    for one in masked.published:
        own = margin_sum(truth, one.axes)
        hidden = np.zeros(own.shape, dtype=np.bool_) if one.shown is None else ~one.shown
        wanted[one.axes] = np.flatnonzero(hidden & (own > 0) & (own <= small))
    if not any(map(len, wanted.values())):
        return ""
    seconds = clock.share(BOUNDS_SHARE, BOUNDS_SECONDS) or BOUNDS_SECONDS
    found = entry_bounds(table, [*masked.known, *judged.also], wanted, seconds)
    given = {axes: int(np.count_nonzero(own.lower == own.upper)) for axes, own in found.items()}
    number = sum(given.values())
    if not number:
        return ""
    where = ", ".join(table_name(table, axes) for axes, own in given.items() if own)
    noun = "count" if number == 1 else "counts"
    return f"hides {number:,} {noun} that can be worked out in {where}"


def judged_with(
    masked: Masked, out: Sequence[Axes], options: ChooseOptions, *, confirmed: bool = False
) -> Judged | None:
    """The publication as it is judged; `confirmed`: without nesting that the data alone show."""
    return judged_by(
        masked,
        out,
        nesting=options.nesting,
        secret=options.targets or (),
        nested=options.nested,
        confirmed=confirmed,
    )


def certain_harm(
    masked: Masked,
    out: Sequence[Axes],
    options: ChooseOptions,
    clock: Clock,
    seed: Sequence[int],
) -> Harm:
    """The publication as it is judged, and what it gives away for certain.

    Groups that only probably share a level are sought where nothing else is given away, or where a
    policy may be about them.
    """
    small = options.measure.small
    printed = printed_reason(masked.source, printed_by(masked, out, small), small)
    judged = judged_with(masked, out, options)
    if judged is None:
        return Harm(judged=None, printed=printed)
    bare = judged_with(masked, out, options, confirmed=True) if judged.nested.unconfirmed else None
    return harm_of(
        judged,
        bare,
        options,
        clock,
        seed,
        printed=printed,
        worked_out=lambda: worked_out_reason(judged, small, clock),
    )


def harm_of(
    judged: Judged,
    bare: Judged | None,
    options: ChooseOptions,
    clock: Clock,
    seed: Sequence[int],
    *,
    printed: str,
    worked_out: Callable[[], str],
) -> Harm:
    """What a publication gives away for certain, where it is known what is `printed`; `worked_out`
    looks for hidden counts that follow. `bare` is as in `groups_shown`."""
    targets = options.targets
    shown = groups_shown(judged, bare, targets, clock)
    probable: tuple[Learned, ...] | Unavailable = ()
    settled = shown.learned or (printed and not options.policy)
    if not settled:
        probable = _probable(judged, options, clock, seed)
    table, known = judged.masked.source, () if isinstance(probable, Unavailable) else probable
    return Harm(
        judged=judged,
        printed=printed or worked_out(),
        shared=groups_reason(table, (*shown.learned, *known)),
        doubts=tuple(_doubts(table, judged.nested, shown, probable)),
    )


def _probable(
    judged: Judged, options: ChooseOptions, clock: Clock, seed: Sequence[int]
) -> tuple[Learned, ...] | Unavailable:
    """Groups that probably share a level of a target, for the intruder who finds the first ones."""
    table = judged.masked.source
    axes = _axes(table, options.targets)
    if not axes:
        return ()
    if table.n_cells > MOST_SHOWN:
        return Unavailable(f"the table has more than {MOST_SHOWN:,} cells")
    for i, name in enumerate(options.intruders):
        prior = options.measure.intruder(name, table.n_cells).prior
        found = sought_groups(
            intruders_question(judged.masked, prior, also=judged.also),
            table.sizes,
            axes,
            threshold=options.sure,
            proved=(),
            clock=Clock(clock.share(1 / (len(options.intruders) - i))),
            seed=seed,
        )
        if isinstance(found, Unavailable):
            return found
        news = tuple(one for one in found if not is_common(one, table, judged.nested, ()))
        if news:
            return news
    return ()


def _doubts(
    table: Table, nested: RuledOut, shown: ShownGroups, probable: tuple[Learned, ...] | Unavailable
) -> Iterator[Doubt]:
    """Why it is open whether groups share a level."""
    groups = shown.unless_nested
    if groups:
        words = unless_nested_words(table, nested, groups)
        yield Doubt(words, confirm_remedy(table, nested, groups))
    if shown.not_sought:
        yield Doubt(f"Not all groups that share a level were sought: {shown.not_sought}", TREE)
    if isinstance(probable, Unavailable):
        said = "Groups that probably share a level were not sought"
        yield Doubt(f"{said}: {probable.reason}", LONGER)
