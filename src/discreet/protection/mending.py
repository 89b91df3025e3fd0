"""What is done at a node of the lattice with the records that still stand out."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from discreet.data.coding import Coding
from discreet.figures import How
from discreet.masks.records.candidate_suppression import suppressed_to_candidates
from discreet.masks.records.strict_suppression import most_sets_of, suppressed_strictly
from discreet.masks.records.suppression import Guarantee, Problem, Suppression
from discreet.masks.records.wildcard_suppression import suppressed_to_wildcards
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import Progress, silent
from discreet.protection.lattice import CellsAt
from discreet.protection.search import Mended

MOST_REMEMBERED = 4  # suppressions
Method = Callable[[Problem, Progress], Suppression]
METHODS: dict[Guarantee, Method] = {
    Guarantee.STRICT: suppressed_strictly,
    Guarantee.CANDIDATES: suppressed_to_candidates,
    Guarantee.WILDCARD: suppressed_to_wildcards,
}


@dataclass(frozen=True, slots=True)
class Solved:
    """Suppressions that were found, by the problem: a plan is carried out without solving anew."""

    found: dict[bytes, Suppression] = field(default_factory=dict)

    def of(self, problem: Problem, guarantee: Guarantee, progress: Progress) -> Suppression:
        """The suppression of a problem, found now or before."""
        key = _fingerprint(problem, guarantee)
        if key not in self.found:
            while len(self.found) >= MOST_REMEMBERED:
                del self.found[next(iter(self.found))]
            self.found[key] = METHODS[guarantee](problem, progress)
        return self.found[key]


def within_sets(problem: Problem, guarantee: Guarantee) -> Problem:
    """The problem with as many sets of keys as are looked at for a guarantee."""
    if guarantee is Guarantee.CANDIDATES:
        return problem
    return replace(problem, most_sets=most_sets_of(problem))


def tells_nothing(coding: Coding) -> frozenset[int]:
    """Keys with one level, such as those that are left out: taking a value out helps nobody."""
    return frozenset(key for key, size in enumerate(coding.sizes) if size < 2)


def _fingerprint(problem: Problem, guarantee: Guarantee) -> bytes:
    """A hash of all that a suppression depends on."""
    most = problem.most if problem.most is not None else np.zeros(0, dtype=np.int64)
    arrays = [problem.words, problem.records, problem.cost, most, problem.stands_out]
    for values in problem.values:
        arrays += [values.cell, values.value, np.array([values.least])]
    asked = (guarantee, problem.k, problem.coding, sorted(problem.never), problem.most_sets)
    digest = blake2b(repr(asked).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressValues:
    """Single values are taken out, so that the guarantee holds.

    `cost` is the price of a value of each key, `never` are keys of which none is taken out, `most`
    how many of each key may be (−1: any number).
    """

    k: int
    guarantee: Guarantee
    cost: FloatArray
    never: frozenset[int] = frozenset()
    most: IntArray | None = None
    whole: bool = False
    solved: Solved = field(default_factory=Solved, compare=False)

    @property
    def least_is_wanted(self) -> bool:
        """Whether the guarantee is the one for which the least is found."""
        return self.guarantee is Guarantee.CANDIDATES

    def allows(self, standing_out: int) -> bool:
        """However many they are."""
        return True

    def problem(self, cells: CellsAt) -> Problem:
        """The cells of a node as a problem of suppression."""
        few = cells.records < self.k
        for values in cells.values:
            distinct = np.bincount(values.cell, minlength=len(cells.records))
            few |= distinct < values.least
        problem = Problem(
            coding=cells.coding,
            words=cells.words,
            records=cells.records,
            k=self.k,
            cost=self.cost,
            never=self.never | tells_nothing(cells.coding),
            most=self.most,
            open=few,
            values=cells.values,
        )
        return within_sets(problem, self.guarantee)

    def least(self, cells: CellsAt) -> Mended:
        """The least that is taken out so that every record fits k original ones. No guarantee but
        the weakest can do with fewer values, if all are worth the same."""
        found = suppressed_to_candidates(self.problem(cells))
        mended = with_levels(cells, found)
        alike = bool((self.cost == self.cost[:1]).all()) and found.how is How.EXACT
        if not alike or self.guarantee is Guarantee.WILDCARD or _lacks_values(cells):
            return mended
        return replace(mended, values=sum(int(one.sum()) for one in mended.suppressed))

    def wanted(self, cells: CellsAt) -> Mended:
        """The values that are taken out, by key and level."""
        return with_levels(cells, self.solved.of(self.problem(cells), self.guarantee, silent))


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressRecords:
    """Whole records lose all their keys, at most `most` of them; as ARX does, these records are not
    asked to be k themselves."""

    k: int
    most: float
    whole: bool = True
    least_is_wanted: bool = True

    def allows(self, standing_out: int) -> bool:
        """Up to the limit."""
        return standing_out <= self.most

    def wanted(self, cells: CellsAt) -> Mended:
        """All values of the records that stand out."""
        return self.least(cells)

    def least(self, cells: CellsAt) -> Mended:
        """The same: there is no choice."""
        few = cells.records < self.k
        every = (1 << len(cells.coding.digits)) - 1
        places = np.arange(len(cells.records))
        return with_levels(
            cells,
            Suppression(
                cell=places,
                without=np.where(few, every, 0),
                records=cells.records,
                how=How.EXACT,
                least=0.0,
            ),
        )


def _lacks_values(cells: CellsAt) -> bool:
    """Whether some value is missing, which can be taken out at no cost."""
    return cells.lacks_values


def with_levels(cells: CellsAt, found: Suppression) -> Mended:
    """A suppression with how many values of each level of each key it takes out."""
    gone = found.without != 0
    levels = cells.coding.decode(cells.words[found.cell[gone]])
    without, records = found.without[gone], found.records[gone]
    suppressed = []
    for key, size in enumerate(cells.coding.sizes):
        out = (without >> key & 1) == 1
        held = np.bincount(levels[out, key], weights=records[out], minlength=size)
        suppressed.append(held.astype(np.int64))
    return Mended(
        suppressed=tuple(suppressed),
        records=int(records.sum()),
        left=found.left,
        suppression=found,
    )
