"""The recipe that does what is asked with the least loss: which recodings, and what to suppress.

How strong a file must be protected is one number: how many records are to belong together. Where
that is what is asked, one search finds the recipe. Other rules, such as a limit on the risk, are
kept from some strength on; so strengths are tried, each file is measured, and the weakest that
keeps all rules is taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.masks.records.contract import RecordMethod
from discreet.masks.records.recoding import Drop, Same, recodings_in
from discreet.masks.records.suppress import Suppress
from discreet.masks.records.suppression import Guarantee, Values
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress, silent
from discreet.protection.counted import Counted
from discreet.protection.ladders import Ladder, ladder_of
from discreet.protection.lattice import Lattice, Node
from discreet.protection.mending import Solved, SuppressRecords, SuppressValues
from discreet.protection.options import ProtectOptions
from discreet.protection.search import WORK, Found, searched
from discreet.protection.search_loss import search_loss

STRENGTHS = (2, 3, 5, 8, 12, 20, 30, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The steps found for a strength `k`: recodings and what is suppressed, and how well they are
    known to be the best. `found` is None where there was nothing to look for."""

    k: int
    steps: tuple[RecordMethod, ...]
    found: Found | None
    node: Node = ()

    @property
    def recodings(self) -> tuple[RecordMethod, ...]:
        """The recodings among the steps."""
        return tuple(step for step in self.steps if not isinstance(step, Suppress))

    @property
    def loss(self) -> float | None:
        """The loss of the search."""
        return None if self.found is None or self.found.best is None else self.found.best.loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Finds recipes for a file after the recodings that were asked for.

    `fixed` are keys that were recoded so, or may not be touched, which are not recoded further.
    `pairs` are the origins and values of the sensitive variables that have to be diverse, with how
    many different values each group needs. Of the keys in `never` no value is taken out.
    """

    counted: Counted
    options: ProtectOptions
    trees: Mapping[str, Hierarchy]
    fixed: frozenset[str]
    pairs: Mapping[str, tuple[IntArray, IntArray]]
    diverse: Mapping[str, int]
    never: tuple[str, ...] = ()
    population: float | None = None
    solved: Solved = field(default_factory=Solved)
    progress: Progress = silent

    def planned(self, k: int, *, work: float = WORK, starts: Sequence[Node] = ()) -> Planned | None:
        """The steps with the least loss at a strength; None where none were found."""
        lattice = self.lattice()
        found = searched(
            lattice,
            k,
            self._mending(k, lattice),
            work=work,
            starts=starts,
            progress=self.progress,
        )
        if found.best is None:
            return None
        node = found.best.node
        if all(
            isinstance(ladder.rungs[rung].how, Drop)
            for ladder, rung in zip(lattice.ladders, node, strict=True)
        ):
            return None  # a file without any key is no answer
        steps: list[RecordMethod] = [
            ladder.rungs[rung].how
            for ladder, rung in zip(lattice.ladders, node, strict=True)
            if not isinstance(ladder.rungs[rung].how, Same)
        ]
        if found.best.mended.records or self.options.suppress == "values":
            steps += self.suppressing(k)
        return Planned(k=k, steps=tuple(steps), found=found, node=node)

    def suppressing(self, k: int, above: float | None = None) -> list[RecordMethod]:
        """The step that takes values out, where that may be done."""
        options = self.options
        if options.suppress == "none":
            return []
        step = Suppress(
            k=k,
            guarantee=options.guarantee,
            importance=dict(options.importance),
            never=self.never,
            most=dict(options.most_suppressed),
            diverse=dict(self.diverse),
            records=options.suppress == "records",
            above=above,
        )
        return [step]

    def lattice(self) -> Lattice:
        """The recodings that may be tried."""
        importance = [float(self.options.importance.get(k.name, 1.0)) for k in self.counted.keys]
        values = tuple(
            Values(cell=origin, value=value, least=self.diverse[name])
            for name, (origin, value) in self.pairs.items()
        )
        return Lattice(
            ladders=tuple(self._ladder(key) for key in range(len(self.counted.keys))),
            levels=self.counted.levels,
            records=self.counted.n,
            loss=search_loss(self.options.loss),
            importance=np.array(importance),
            values=values,
        )

    def _ladder(self, key: int) -> Ladder:
        name = self.counted.keys[key].name
        levels = self.counted.margin(key, self.population)
        may_recode = self.options.search and name not in self.fixed
        return ladder_of(
            levels,
            self.trees.get(name) if may_recode else None,
            may_drop=not self.options.keep_keys,
            may_recode=may_recode,
        )

    def _mending(self, k: int, lattice: Lattice) -> SuppressValues | SuppressRecords:
        options = self.options
        if options.suppress != "values":
            share = options.most_records if options.suppress == "records" else 0.0
            return SuppressRecords(k=k, most=share * lattice.n_records)
        names = [key.name for key in self.counted.keys]
        most = None
        if options.most_suppressed:
            most = np.array([int(options.most_suppressed.get(name, -1)) for name in names])
        return SuppressValues(
            k=k,
            guarantee=Guarantee(options.guarantee),
            cost=np.array([float(options.importance.get(name, 1.0)) for name in names]),
            never=frozenset(names.index(name) for name in self.never if name in names),
            most=most,
            solved=self.solved,
        )


def fixed_keys(steps: Sequence[RecordMethod], options: ProtectOptions) -> frozenset[str]:
    """Keys that no search recodes: those recoded as asked, and those not to be touched."""
    recoded = {step.key for step in recodings_in(steps)}
    return frozenset(recoded | set(options.untouched))


Kept = Callable[[int], bool]


def weakest(kept: Kept, start: int) -> int | None:
    """The weakest of the strengths from `start` on that keeps all rules, if a stronger one keeps
    what a weaker one does; None if none of them does. The first are tried at growing steps, then
    the last step is halved."""
    strengths = [start, *(k for k in STRENGTHS if k > start)]
    low, high, step = -1, 0, 1
    while not kept(strengths[high]):
        low = high
        if high == len(strengths) - 1:
            return None
        high, step = min(high + step, len(strengths) - 1), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if kept(strengths[middle]):
            high = middle
        else:
            low = middle
    return strengths[high]
