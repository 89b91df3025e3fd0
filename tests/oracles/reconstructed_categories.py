"""All categories' tables together, from one set each and with the table of all of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.count_tables.categories import (
    JointDistributions,
    Margin,
    joint_distributions,
    joint_system,
    together,
)
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.rebuilding import Effort
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError, must_be


@dataclass(frozen=True, slots=True, kw_only=True)
class JointReconstruction:
    """What an intruder finds from one set a category, and with the table of all together beside it.

    `with_totals` is None where no such table is out.
    """

    categories: tuple[str, ...]
    width: int
    sets_alone: JointDistributions
    with_totals: JointDistributions | None

    def cell(self, category: str, value: int) -> int:
        """The number of the cell f_value of a category."""
        return self.categories.index(category) * self.width + value


def reconstruct_categories(
    categories: Mapping[str, CountStatistics],
    *,
    totals: Mapping[int, int] | None = None,
    knowledge: Mapping[str, Knowledge] | None = None,
    truth: Mapping[str, Mapping[int, int]] | None = None,
    effort: Effort | None = None,
) -> JointReconstruction:
    """What an intruder finds of all categories' tables from one set each, and with `totals`.

    `totals` is the table {value: count} of all categories together. `knowledge` is that of each
    category, shapes excepted. Raises InputError where totals and sets contradict one another.
    """
    effort, names = effort or Effort(), tuple(categories)
    if not names:
        raise InputError(must_be("categories", "at least one", "none"))
    alone = joint_system(names, categories, (), knowledge)
    cells = None if truth is None else alone.cells_of(truth)
    with_totals = None
    if totals is not None:
        if CountStatistics.of_counts(totals) != together(categories):
            rule = "a table with the n, S1 and S2 of all categories together"
            raise InputError(must_be("totals", rule, "one with others"))
        margin = Margin(categories=names, table=totals)
        both = joint_system(names, categories, (margin,), knowledge)
        own = None if truth is None else both.cells_of(truth)
        with_totals = joint_distributions(both.system, own, effort)
    return JointReconstruction(
        categories=names,
        width=alone.width,
        sets_alone=joint_distributions(alone.system, cells, effort),
        with_totals=with_totals,
    )
