"""What to call sets of persons and the arguments about them, so that a person can check them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.fiber.bounds.certificates import Certificate
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.tables.linked.derived import Derived
from discreet.tables.linked.reduced import all_ranges
from discreet.tables.linked.universe import Universe

MOST_STEPS = 8  # figures of a derivation that are written out in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A figure in a derivation: its table, what it is of, what stands there, and how often it is
    added (above 0) or subtracted."""

    table: str
    cell: Mapping[str, str]
    printed: str
    figure: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """Why a figure follows: the figures that make it up, or that limit it from both sides.

    `above` and `below` have the same steps where the figure is a sum and difference of others.
    """

    sentence: str
    above: tuple[Step, ...] = ()
    below: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """Names of atoms and figures of the tables together."""

    universe: Universe

    def cell(self, atoms: IntArray) -> dict[str, str] | None:
        """A set of atoms by the parts that it holds of each variable, those held whole left out;
        None where it is no such product."""
        held = self._held(atoms)
        if prod(int(own.sum()) for own in held) != len(self.universe.cells_of(atoms)):
            return None
        return self._said(held)

    def box(self, atoms: IntArray) -> tuple[dict[str, str], tuple[dict[str, str], ...]]:
        """A set of atoms that is no product, as the least one that holds it, and the finest cells
        in that which are not of the set."""
        u = self.universe
        held = self._held(atoms)
        every = np.ravel_multi_index(np.ix_(*map(np.flatnonzero, held)), u.shape).ravel()
        missing = np.setdiff1d(every, u.cells_of(atoms))
        places = np.stack(u.places(missing), axis=1)
        singles = [[np.arange(n) == i for n, i in zip(u.shape, at, strict=True)] for at in places]
        return self._said(held), tuple(map(self._said, singles))

    def _held(self, atoms: IntArray) -> list[BoolArray]:
        """The parts of each variable that some cell of the atoms has."""
        u = self.universe
        places = u.places(u.cells_of(atoms))
        return [np.isin(np.arange(n), own) for n, own in zip(u.shape, places, strict=True)]

    def _said(self, held: Sequence[BoolArray]) -> dict[str, str]:
        pairs = zip(self.universe.domains, held, strict=True)
        named = {domain.name: domain.name_of(own) for domain, own in pairs}
        return {name: said for name, said in named.items() if said is not None}

    def derivation(self, one: Derived) -> Derivation:
        """Why a figure follows, in a sentence that can be checked with pencil and paper."""
        if one.above is None or one.below is None:
            return Derivation(sentence="the same in every table that fits, all of which were tried")
        above, below = self._steps(one.above), self._steps(one.below)
        if one.above == one.below:
            return Derivation(sentence=f"{_sum(above)} = {one.value}", above=above, below=below)
        over = f" / {one.above.denominator}" if one.above.denominator > 1 else ""
        under = f" / {one.below.denominator}" if one.below.denominator > 1 else ""
        most = f"at most {_sum(above)}{over} = {one.value}" if above else f"at most {one.value}"
        least = f"at least {_sum(below)}{under} = {one.value}" if below else "nobody less than 0"
        parts = [most] if one.value == 0 and not below else [most, least]
        return Derivation(sentence="; ".join(parts), above=above, below=below)

    def _steps(self, certificate: Certificate) -> tuple[Step, ...]:
        u = self.universe
        steps = []
        every = all_ranges(u)
        for at, times in zip(certificate.rows, certificate.weights, strict=True):
            limit = every.high[at] if (times > 0) == certificate.is_upper else every.low[at]
            row = u.figure_of(at)
            steps.append(
                Step(
                    table=u.tables[int(u.table[row])].name,
                    cell=u.cell_of(row),
                    printed=u.printed(row),
                    figure=int(limit),
                    times=times,
                )
            )
        return tuple(sorted(steps, key=lambda step: -step.times))


def said(cell: Mapping[str, str]) -> str:
    """A cell in words: sex F, age 15-19."""
    return ", ".join(f"{name} {label}" for name, label in cell.items()) or "everybody"


def _sum(steps: Sequence[Step]) -> str:
    """Figures added and subtracted: 23 (t2.csv: sex F, age 15-19) − 20 (t1.csv: …)."""
    parts: list[str] = []
    for number, step in enumerate(steps[:MOST_STEPS]):
        sign = "−" if step.times < 0 else "+"
        times = f"{abs(step.times)} × " if abs(step.times) > 1 else ""
        lead = f"{sign} " if number or step.times < 0 else ""
        stands = "" if step.printed == str(step.figure) else f", printed {step.printed}"
        parts.append(f"{lead}{times}{step.figure:,} ({step.table}: {said(step.cell)}{stands})")
    more = steps[MOST_STEPS:]
    if more:
        total = sum(step.times * step.figure for step in more)
        sign = "−" if total < 0 else "+"
        parts.append(
            f"{sign} {abs(total):,} ({len(more):,} more figure{'' if len(more) == 1 else 's'})"
        )
    return " ".join(parts)
