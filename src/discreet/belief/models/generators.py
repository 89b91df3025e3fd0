"""Hierarchical log-linear models by their generators: the sets of variables that interact.

A hierarchical model holds with an interaction all that lie in it, so it is given by its largest
ones, the *generators*, whose margins are its minimal sufficient statistics. `[race income][income
gender]` says that race and gender are independent given income.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet.errors import InputError, must_be
from discreet.fiber.system.margins import maximal

Axes = tuple[int, ...]
SATURATED = "saturated"
NO_HIGHEST = "no-highest-interaction"
MOST_MODELS = 10_000


@dataclass(frozen=True, slots=True)
class HierarchicalModel:
    """A hierarchical log-linear model of `n_variables`, by its generators in ascending order.

    Every variable is in some generator: all main effects are in the model.
    """

    n_variables: int
    generators: tuple[Axes, ...]

    @classmethod
    def of(cls, n_variables: int, sets: Iterable[Sequence[int]]) -> "HierarchicalModel":
        """The model with these interactions and every main effect."""
        singles = [(i,) for i in range(n_variables)]
        given = [tuple(sorted(set(group))) for group in sets]
        return cls(n_variables, maximal([*given, *singles]))

    @classmethod
    def saturated(cls, n_variables: int) -> "HierarchicalModel":
        """The model without any restriction."""
        return cls(n_variables, (tuple(range(n_variables)),))

    @classmethod
    def no_highest_interaction(cls, n_variables: int) -> "HierarchicalModel":
        """All interactions but the one of all variables."""
        return cls.of(n_variables, combinations(range(n_variables), max(n_variables - 1, 1)))

    @property
    def is_saturated(self) -> bool:
        """Whether every table of probabilities obeys it."""
        return self.generators == (tuple(range(self.n_variables)),)

    def contains(self, sets: Iterable[Sequence[int]]) -> bool:
        """Whether each of the sets lies in one of the generators."""
        return all(any(set(g) <= set(own) for own in self.generators) for g in sets)

    def name(self, names: Sequence[str]) -> str:
        """By the names of the variables: `[race income][income gender]`."""
        if self.is_saturated:
            return SATURATED
        groups = (" ".join(_quoted(names[axis]) for axis in group) for group in self.generators)
        return "".join(f"[{group}]" for group in groups)


def _quoted(name: str) -> str:
    return f'"{name}"' if re.search(r"[\s,\[\]]", name) else name


def parse_model(text: str, names: Sequence[str]) -> HierarchicalModel:
    """The model of a text: `saturated`, `no-highest-interaction`, or `[a b][b c]`.

    Names in a group are separated by blanks or commas; one that holds such goes in double quotes.
    """
    plain = text.strip()
    if plain == SATURATED:
        return HierarchicalModel.saturated(len(names))
    if plain == NO_HIGHEST:
        return HierarchicalModel.no_highest_interaction(len(names))
    return HierarchicalModel.of(len(names), _groups(text, names))


def variables_named(text: str, names: Sequence[str]) -> Axes:
    """The variables that the text of a model names; none of a word such as `saturated`."""
    groups = _groups(text, names) if "[" in text else []
    return tuple(sorted({axis for group in groups for axis in group}))


def _groups(text: str, names: Sequence[str]) -> list[Axes]:
    plain = text.strip()
    groups = re.findall(r"\[((?:\"[^\"]*\"|[^\[\]\"])*)\]", plain)
    if not groups or "".join(f"[{group}]" for group in groups) != re.sub(r"\]\s+\[", "][", plain):
        rule = f"{SATURATED!r}, {NO_HIGHEST!r} or groups of variables as in '[a b][b c]'"
        raise InputError(must_be("model", rule, repr(text)))
    return [_group(group, names) for group in groups]


def _group(text: str, names: Sequence[str]) -> Axes:
    found = [a or b for a, b in re.findall(r"\"([^\"]*)\"|([^\s,]+)", text)]
    for name in found:
        if name not in names:
            rule = "made of the table's variables " + ", ".join(map(repr, names))
            raise InputError(must_be("model", rule, repr(name)))
    return tuple(sorted(names.index(name) for name in found))


def models_containing(
    n_variables: int, released: Iterable[Sequence[int]], *, most: int = MOST_MODELS
) -> tuple[HierarchicalModel, ...]:
    """All hierarchical models that contain the released sets, the smallest one first.

    Grown upward: a model with one more interaction is one whose smaller interactions are all in
    already. Raises InputError where there are more than `most`.
    """
    first = HierarchicalModel.of(n_variables, released)
    found, edge = {first: None}, [first]
    while edge:
        edge = [bigger for model in edge for bigger in _one_more(model) if bigger not in found]
        found |= dict.fromkeys(edge)
        edge = list(dict.fromkeys(edge))
        if len(found) > most:
            remedy = "average over decomposable models, or name the models"
            raise InputError(
                must_be("models", f"at most {most:,} in number", "more", remedy=remedy)
            )
    return tuple(found)


def _one_more(model: HierarchicalModel) -> Iterator[HierarchicalModel]:
    """The models with exactly one more interaction."""
    for size in range(2, model.n_variables + 1):
        for group in combinations(range(model.n_variables), size):
            if not model.contains([group]) and model.contains(combinations(group, size - 1)):
                yield HierarchicalModel.of(model.n_variables, [*model.generators, group])
