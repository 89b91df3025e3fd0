"""What could be released of a table: nothing, every set of its margins, and other masks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.margins import maximal
from discreet.figures import Unavailable
from discreet.masks.contract import Axes, Masked, sets_text
from discreet.masks.margins import release_margins

MOST_VARIABLES = 4  # of a table whose sets of margins are all looked at: 166 of them
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that could be released, made only when it is looked at.

    One that was asked for by name must fit the table; of others it is said that they do not.
    `reserve` is why it is tried only where nothing else is within the limit; empty for all others.
    """

    title: str
    make: Callable[[], Masked | Unavailable]
    is_nothing: bool = False
    is_asked: bool = False
    reserve: str = ""


def release_nothing(table: Table, out: Sequence[Axes] = ()) -> Masked:
    """Nothing beyond the margins that are out; without any, users know the total (dobra 4)."""
    masked = release_margins(table, _named(table, out or [()]))
    title = f"nothing beyond {sets_text(table, out)}" if out else NOTHING
    return replace(masked, mask=NOTHING, title=title, published=(), effect="Nothing is published.")


def nothing(table: Table, out: Sequence[Axes] = ()) -> Proposal:
    """To release nothing beyond what is out."""
    return Proposal(NOTHING, lambda: release_nothing(table, out), is_nothing=True)


def margin_proposals(
    table: Table, out: Sequence[Axes] = (), *, order: int | None = None
) -> list[Proposal]:
    """Every set of margins, together with those that are out, by the number of figures.

    `order` keeps to margins of so many variables. Sets that say the same come once.

    Checked: at most 4 variables, since the number of sets explodes beyond (7,579 for 5).
    """
    n = len(table.names)
    if order is not None and not 1 <= order <= n:
        raise InputError(must_be("order", f"from 1 to {n}, the variables", order))
    if n > MOST_VARIABLES:
        rule = f"of a table of at most {MOST_VARIABLES} variables"
        raise InputError(must_be("sets of margins", rule, f"{n} variables"))
    chosen = {maximal([*out, *sets]) for sets in margin_sets(n, order)} - {maximal(out)}
    listed = sorted(chosen, key=lambda sets: (_figures(table, sets), len(sets), sets))
    return [margin_proposal(table, sets, out) for sets in listed]


def margin_proposal(table: Table, sets: Sequence[Axes], out: Sequence[Axes] = ()) -> Proposal:
    """A set of margins; those that are out already count as known and are not published again."""

    def make() -> Masked:
        masked = release_margins(table, _named(table, sets))
        fresh = tuple(one for one in masked.published if one.axes not in out)
        return replace(masked, title=title, published=fresh)

    title = sets_text(table, [axes for axes in sets if axes not in out])
    return Proposal(title, make)


def margin_sets(n_variables: int, order: int | None = None) -> Iterator[tuple[Axes, ...]]:
    """Every collection of sets of variables of which none lies in another, but the empty ones."""
    sizes = range(1, n_variables + 1) if order is None else (order,)
    sets = list(chain.from_iterable(combinations(range(n_variables), size) for size in sizes))
    yield from _antichains((), sets)


def _antichains(taken: tuple[Axes, ...], left: Sequence[Axes]) -> Iterator[tuple[Axes, ...]]:
    for i, one in enumerate(left):
        if any(set(own) <= set(one) for own in taken):
            continue
        yield (*taken, one)
        yield from _antichains((*taken, one), left[i + 1 :])


def _figures(table: Table, sets: Sequence[Axes]) -> int:
    """Figures in some margins together."""
    total = 0
    for axes in sets:
        size = 1
        for axis in axes:
            size *= table.sizes[axis]
        total += size
    return total


def _named(table: Table, sets: Sequence[Axes]) -> list[list[str]]:
    return [[table.names[axis] for axis in axes] for axes in sets]
