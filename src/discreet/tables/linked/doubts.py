"""Labels that may mean something else than they were taken for, in words.

Nobody says of published tables which labels are the same and which are totals. What was taken for
granted must be told, or tables that were never tied together would look safe.
"""

from collections.abc import Container, Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.data.published.labels import Whole, meaning
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.total_names import OFTEN_NAMES, TOTAL_NAMES
from discreet.tables.linked.domains import Domain
from discreet.tables.linked.universe import Universe

FEWEST_PARTS = 2  # labels beside one that may be their total


def doubts(universe: Universe, trees: Container[str]) -> Iterator[str]:
    """What a reader should look at, of each variable that no tree tells of."""
    for domain in universe.domains:
        if domain.name not in trees:
            yield from _other_names(universe, domain)
            yield from _taken_for_totals(domain)
            yield from _perhaps_totals(universe, domain)


def _other_names(universe: Universe, domain: Domain) -> Iterator[str]:
    """A label of each of two tables that share others, where each lacks what the other has."""
    listed = {
        table.name: [x for x in table.labels[table.variables.index(domain.name)]
                     if not domain.sets[x].all()]
        for table in universe.tables if domain.name in table.variables
    }  # fmt: skip
    several = [(name, own) for name, own in listed.items() if len(own) > 1]
    for (one, first), (other, second) in combinations(several, 2):
        alone = _only_in(domain, first, second), _only_in(domain, second, first)
        if all(alone):
            yield (
                f"{domain.name} {alone[0]!r} is in {one} only and {alone[1]!r} in {other} only: "
                "taken as different. If they are the same, say so with a label, "
                f"'{domain.name}:{alone[1]}={alone[0]}'."
            )
            return


def _is_word(domain: Domain, text: str) -> bool:
    """Whether a label is neither a band nor a group of others."""
    parts = np.flatnonzero(domain.sets[text])
    return len(parts) == 1 and domain.ends[int(parts[0])] is None


def _only_in(domain: Domain, own: list[str], others: list[str]) -> str:
    """The first label that has nobody in common with those of the other table; else empty."""
    held = np.any([domain.sets[text] for text in others], axis=0)
    return next((text for text in own if not np.any(domain.sets[text] & held)), "")


def _taken_for_totals(domain: Domain) -> Iterator[str]:
    """Labels such as Total employed, which may be of a part."""
    usual = TOTAL_NAMES | OFTEN_NAMES
    named = domain.name.casefold().rstrip("s")
    for text in domain.sets:
        plain = " ".join(text.casefold().split())
        if isinstance(meaning(text), Whole) and plain not in usual and named not in plain:
            yield (
                f"{domain.name} {text!r} is taken for the total of all. If it is of a part of "
                f"them, give a tree of {domain.name} in which it is a group."
            )


def _perhaps_totals(universe: Universe, domain: Domain) -> Iterator[str]:
    """Labels whose figures look like the sums of all others beside them."""
    for table in universe.tables:
        if domain.name in table.variables and table.statistic is Statistic.COUNT:
            for text in _sums(table, table.variables.index(domain.name), domain):
                yield (
                    f"{domain.name} {text!r} in {table.name} may be the total of the others, and "
                    "is taken as one more beside them. If it is the total, say so with a label, "
                    f"'{domain.name}:{text}=Total'."
                )


def _sums(table: PublishedTable, axis: int, domain: Domain) -> Iterator[str]:
    """Labels whose figure is in every combination of the other variables the sum of all others, or
    where some of those are withheld, from half as much more than what is shown of them."""
    others = np.delete(table.places, axis, axis=1)
    _, group = np.unique(others, axis=0, return_inverse=True)
    label = table.places[:, axis]
    plain = np.array([not domain.sets[text].all() for text in table.labels[axis]])
    shown = np.array([text != "" for text in table.printed])
    value = np.array([float(Fraction(text or 0)) for text in table.printed])
    own = plain[label]
    n = int(group.max(initial=-1)) + 1
    group = np.ravel(group)
    number, seen, total = (
        np.bincount(group[own], weights=w[own], minlength=n)
        for w in (np.ones(len(value)), shown.astype(float), value)
    )
    for place, text in enumerate(table.labels[axis]):
        mine = np.flatnonzero((label == place) & shown)
        is_word = plain[place] and _is_word(domain, text)
        if not is_word or not len(mine) or value[mine].max() == 0:
            continue
        at = group[mine]
        rest, whole = total[at] - value[mine], number[at] == seen[at]
        equal = np.where(
            whole, rest == value[mine], (rest <= value[mine]) & (2 * rest > value[mine])
        )
        if equal.all() and number[at].min() > FEWEST_PARTS:
            yield text
