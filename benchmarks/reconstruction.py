"""Made-up census areas rebuilt: which records are certain, and how far two tables can differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

import numpy as np

from discreet.fiber.reconstruction.areas import Area, AreaRebuilt, rebuild_areas
from discreet.fiber.reconstruction.distance import largest_distance
from discreet.fiber.sums.enumeration import tables
from discreet.fiber.system.linear_system import system_of
from discreet.figures import Figure, Outcome
from discreet.synthetic.census_areas import census_areas, census_layouts, statements_of

AREAS, LEAST, MOST, SEED = 1000, 10, 500, 1
SECONDS = 10.0  # of work on an area
CLASSES = (10, 20, 50, 100, 200, 350, 501)
TINY, MOST_LISTED = 20, 3000


@dataclass(frozen=True, slots=True)
class Limits:
    """A figure by its limits, which are alike where it is exact."""

    low: float
    high: float

    @classmethod
    def of(cls, outcome: Outcome) -> "Limits":
        """Those of a figure; none is missing here."""
        assert isinstance(outcome, Figure), outcome
        if outcome.value is not None:
            return cls(outcome.value, outcome.value)
        assert outcome.low is not None
        assert outcome.high is not None
        return cls(outcome.low, outcome.high)

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left open."""
        return self.low == self.high


def run(scale: float) -> None:
    """Prints both parts."""
    against_all_pairs(max(1, round(60 * scale)))
    many_areas(max(1, round(AREAS * scale)))


def areas(n: int, *, least: int = LEAST, most: int = MOST) -> Iterator[Area]:
    """Made-up areas with what is printed of them."""
    for name, table in census_areas(n, seed=SEED, least=least, most=most):
        n_cells, statements = statements_of(census_layouts(table))
        yield Area(name=name, n_cells=n_cells, statements=statements)


def against_all_pairs(n: int) -> None:
    """The distance of areas with few tables, beside that of all pairs of tables listed."""
    compared = 0
    for area in areas(n, least=TINY, most=8 * TINY):
        system = system_of(area.n_cells, area.statements)
        listed = np.array(list(tables(system, limit=MOST_LISTED)))
        if not 1 < len(listed) < MOST_LISTED:
            continue
        truth = max(int(np.maximum(one - listed, 0).sum(axis=1).max()) for one in listed)
        found = largest_distance(system)
        assert found.value == found.upper == truth, area.name
        compared += 1
    print(f"  distance alike in all of {compared} areas whose tables could be listed", flush=True)


def many_areas(n: int) -> None:
    """All areas in one run: what is certain, what is proved, and what it took."""
    began, cpu = perf_counter(), _cpu()
    found = list(rebuild_areas(areas(n), seconds=SECONDS))
    wall, spent = perf_counter() - began, _cpu() - cpu
    print(f"  {n:,} areas: {wall:.0f} s, {spent / n:.3f} CPU s an area, {_peak():.0f} MiB")
    problems = [each.problem for each in found if each.problem]
    print(f"  without figures: {len(problems)} {problems[:3]}")
    told = [each for each in found if not each.problem]
    for low, high in pairwise(CLASSES):
        inside = [each for each in told if low <= Limits.of(each.persons).low < high]
        if inside:
            print(f"  {low:>4} to {high - 1:>3} persons: {_words(inside)}")
    print(f"  together: {_words(told)}")


def _words(found: Sequence[AreaRebuilt]) -> str:
    persons = sum(Limits.of(each.persons).low for each in found)
    certain = sum(Limits.of(each.certain).low for each in found)
    distances = [Limits.of(each.distance) for each in found]
    far = sum(each.low for each in distances) / persons
    gap = max(each.high - each.low for each in distances)
    whole = sum(each.is_whole is True for each in found) / len(found)
    return (
        f"{len(found):,} areas, {whole:.0%} rebuilt whole, {certain / persons:.1%} of persons "
        f"certain, variability {far:.1%}, proved in {sum(each.is_exact for each in distances):,}, "
        f"largest gap {gap:g}"
    )


def _cpu() -> float:
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _peak() -> float:
    """The largest memory of this process or one of its children."""
    return max(getrusage(who).ru_maxrss for who in (RUSAGE_SELF, RUSAGE_CHILDREN)) / 1024


if __name__ == "__main__":
    run(1.0)
