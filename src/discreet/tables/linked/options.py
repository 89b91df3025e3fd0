"""What may be asked of an attack on published tables, by the same names in Python and on the
command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.data.hierarchy import Hierarchy
from discreet.data.tree_file import read_hierarchy
from discreet.errors import InputError, must_be
from discreet.option_types import check_types
from discreet.policy.policy import Policy, check_about
from discreet.policy.reading import policies_of
from discreet.policy.rule import Subject
from discreet.policy.table_rules import SMALL, DerivedCounts
from discreet.tables.policy_needs import largest_small

MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOptions:
    """The options of an attack. On the command line they have the same names, with dashes; one that
    holds several values is given several times, in the singular (`--label`).

    What the labels mean:

    - `trees`: for a variable, which levels are in which group: a Hierarchy, or a file with a row a
      level, from the level to the group of all.
    - `labels`: other names, as 'sex:Female=F' for a level and 'Geschlecht=sex' for a variable.
    - `others`: variables that have levels which no table lists.
    - `absent`: what a combination is that a table does not list: unknown, or zero.

    - `knows`: what an intruder also knows, as 'A=1,B=2:0..3': 0 to 3 persons have these levels.

    What is looked for:

    - `policy`: the name of a policy, a file or a Policy, or several of them.
    - `small`: counts from 1 to it are small; 2, or what the policies call small. Without a policy
      the verdict says whether such a count follows from the tables.
    - `most`: figures that are listed with their derivation, the smallest first.

    - `areas`: a variable whose parts are areas: what can be rebuilt is found for each of them.

    How long it may take:

    - `seconds`: the time for all of it; None for no limit.
    - `area_seconds`: of work on each area, on all processors.
    - `seed`: of what is drawn at random to estimate the number of tables.
    """

    trees: Mapping[str, Hierarchy | str | Path] = field(
        default_factory=lambda: MappingProxyType({})
    )
    labels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    absent: str = "unknown"
    knows: tuple[str, ...] = ()
    policy: Any = None
    small: int | None = None
    most: int = MOST_LISTED
    areas: str | None = None
    seconds: float | None = 60.0
    area_seconds: float = 10.0
    seed: int = 1

    def __post_init__(self) -> None:
        check_types(self, untyped=("trees",))
        policies = policies_of(self.policy)
        check_about(policies, Subject.TABLES)
        object.__setattr__(self, "policy", policies)
        if self.absent not in ("unknown", "zero"):
            raise InputError(must_be("absent", "unknown or zero", repr(self.absent)))
        if self.small is not None and self.small < 1:
            raise InputError(must_be("small", "at least 1", self.small))
        if self.most < 0:
            raise InputError(must_be("most", "at least 0", self.most))
        if not 0 < self.area_seconds < float("inf"):
            raise InputError(must_be("area_seconds", "above 0 and finite", self.area_seconds))
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise InputError(must_be("seconds", "above 0 and finite", self.seconds))

    def read_trees(self) -> dict[str, Hierarchy]:
        """The trees, those in files read."""
        return {
            name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree)
            for name, tree in self.trees.items()
        }

    @property
    def most_small(self) -> int:
        """Counts from 1 to it are small."""
        if self.small is not None:
            return self.small
        return largest_small(self.policy) or SMALL

    @property
    def policies(self) -> tuple[Policy, ...]:
        """What is judged by: the policies, or that no small count follows."""
        own = tuple(self.policy)
        if own and self.small is None:
            return own
        return (*own, Policy(name="", rules=(DerivedCounts(limit=self.most_small + 1),)))
