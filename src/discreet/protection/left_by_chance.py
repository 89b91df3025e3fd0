"""What steps that treat records by chance leave to an intruder, from their chances."""

from itertools import groupby

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.records.after_pram import after_pram
from discreet.masks.records.after_swapping import after_swapping
from discreet.masks.records.swapping import Swap
from discreet.protection.applying import Chance, Changed
from discreet.protection.protected import LeftByChance


def left_by_chance(changed: Changed) -> tuple[LeftByChance, ...]:
    """For each swap, and for randomisations that follow each other together, the probability that a
    link to a record that looks unique is right."""
    found = []
    for is_swap, chances in groupby(changed.chances, key=lambda one: isinstance(one.step, Swap)):
        if is_swap:
            found += [_after_swap(one) for one in chances]
        else:
            found.append(_after_pram(list(chances)))
    return tuple(found)


def _after_swap(chance: Chance) -> LeftByChance:
    assert chance.swapped is not None
    left = after_swapping(chance.swapped)
    return LeftByChance(method="swap", looks_alone=left.n_alone, right=left.chance_of_any)


def _after_pram(chances: list[Chance]) -> LeftByChance:
    first, last = chances[0], chances[-1]
    fitted = [one.fitted for one in chances if one.fitted is not None]
    assert last.after is not None
    left = after_pram(first.before, last.after, fitted)
    if isinstance(left, Unavailable):
        return LeftByChance(method="pram", looks_alone=0, right=left)
    n, links = left.as_if_true, left.correct_links
    right: Outcome = Unavailable("no record looks unique")
    if n and isinstance(links, Figure) and links.value is not None:
        right = Figure(value=links.value / n, how=How.EXACT)
    return LeftByChance(method="pram", looks_alone=n, right=right)
