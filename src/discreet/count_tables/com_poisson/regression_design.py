"""Categories of a table and the design matrix of a regression on them."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.count_tables.com_poisson.estimation import SampleSums
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, read_only


@dataclass(frozen=True, slots=True)
class Category:
    """The statistics of all observations with these levels, for example {'state': 'Ohio'}."""

    levels: Mapping[str, str]
    sums: SampleSums

    @classmethod
    def of(cls, levels: Mapping[str, str], statistics: CountStatistics) -> "Category":
        """From exact statistics."""
        return cls(
            levels, SampleSums(statistics.n, statistics.total, statistics.log_factorial_total)
        )


@dataclass(frozen=True, slots=True)
class Design:
    """One row a category, one named column a coefficient: dummy variables without first levels."""

    names: tuple[str, ...]
    matrix: FloatArray

    def __post_init__(self) -> None:
        read_only(self.matrix)
        rank = int(np.linalg.matrix_rank(self.matrix))
        if rank < len(self.names):
            raise InputError(
                must_be(
                    "the effects",
                    f"at most {rank} independent columns, as the categories allow",
                    len(self.names),
                    remedy="leave out an interaction",
                )
            )


def check_categories(categories: Sequence[Category]) -> None:
    """Raises InputError unless all categories name the same variables, each combination once."""
    if not categories:
        raise InputError(must_be("categories", "at least one", "none"))
    names = set(categories[0].levels)
    for one in categories:
        if set(one.levels) != names:
            raise InputError(
                must_be("levels", f"of {', '.join(sorted(names))}", ", ".join(sorted(one.levels)))
            )
    seen = {tuple(sorted(one.levels.items())) for one in categories}
    if len(seen) < len(categories):
        raise InputError(must_be("categories", "all different", "one twice"))


def effects_design(categories: Sequence[Category], effects: Sequence[Sequence[str]]) -> Design:
    """An intercept and, for each effect (variables that interact), its dummy variables.

    `[["state"], ["sex"]]` are main effects; `["state", "sex"]` adds their interaction.
    """
    check_categories(categories)
    known = list(categories[0].levels)
    columns = {"intercept": np.ones(len(categories))}
    for effect in effects:
        for variable in effect:
            if variable not in known:
                raise InputError(must_be("effects", f"of {', '.join(known)}", repr(variable)))
        columns |= _dummies(categories, effect)
    return Design(tuple(columns), np.column_stack(list(columns.values())))


def _dummies(categories: Sequence[Category], effect: Sequence[str]) -> dict[str, FloatArray]:
    """A column for each combination of levels other than first ones."""
    later = [sorted({one.levels[variable] for one in categories})[1:] for variable in effect]
    return {
        " × ".join(f"{v}={level}" for v, level in zip(effect, levels, strict=True)): np.array(
            [
                float(all(one.levels[v] == w for v, w in zip(effect, levels, strict=True)))
                for one in categories
            ]
        )
        for levels in itertools.product(*later)
    }
