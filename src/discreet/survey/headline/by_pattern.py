"""The recommended estimate where a missing value matches anything.

Of a record that lacks some keys an intruder knows the others: in the population it shares them with
everybody who agrees on those, whatever their further keys. All records that lack the same keys have
one *pattern*. For each pattern the file is seen through its known keys alone: the records that have
all of these are a sample of the population (values being missing at random), the estimate is made
on it, and the records of the pattern take their risk from there. The sum over patterns is the
estimate of the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.coding import Coding
from discreet.engines.local.cells import LocalCells, cells_at_hand
from discreet.engines.local.grouping import distinct_rows
from discreet.engines.steps import ByCode
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import Progress, silent
from discreet.survey.headline.limits import Doubt, exactly, in_all
from discreet.survey.headline.recommendation import (
    COUNTED,
    FROM_KEYS,
    Estimated,
    Recommended,
    figures_of,
    note_on_fraction,
    recommend_cells,
)
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.nested_keys import nesting_of
from discreet.survey.projection import AllCells

MOST_PATTERNS = 100  # some tenths of a second each
AT_RANDOM = "values are taken to be missing at random"
WHY = (
    "averages over models of how full cells are, for each set of keys that records have, each "
    "weighted by how well it explains the cells of one, two, three … records"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The records of one pattern: their cells, how many records agree with each on its known keys,
    the estimate, or the reason why there is none, and the risks of each cell where there are."""

    cells: IntArray
    records: IntArray
    agreeing: IntArray
    found: Estimated | str
    risk: FloatArray | None = None
    unique: FloatArray | None = None

    @property
    def n_records(self) -> int:
        return int(self.records.sum())

    @property
    def n_alone(self) -> int:
        """Records that nobody in the file is sure to agree with."""
        return int(self.records[self.agreeing == 1].sum())

    @property
    def n_cells(self) -> float:
        return float((self.records / self.agreeing).sum())

    def varying(self) -> float:
        """The variance of the number of population uniques, given their chances."""
        assert self.unique is not None
        return float(self.records @ (self.unique * (1 - self.unique)))

    def doubts(self) -> tuple[Doubt, Doubt]:
        """About the uniques and the matches of the pattern: as about all that have its keys."""
        assert isinstance(self.found, Estimated)
        assert self.risk is not None
        assert self.unique is not None
        uniques = float(self.records @ self.unique)
        matches = float(self.records @ self.risk)
        if self.found.doubts is None:
            return Doubt(uniques, uniques, uniques), Doubt(matches, matches, matches)
        of_uniques, of_matches = self.found.doubts
        return of_uniques.of_part(uniques), of_matches.of_part(matches)


def recommend_by_pattern(
    cells: AllCells,
    *,
    population_size: float | None,
    doubt: str = "",
    progress: Progress = silent,
) -> Estimated:
    """The estimate of a file in which missing values match anything, and that of each cell.

    The most frequent patterns come first, up to `MOST_PATTERNS`; where some are left out, or cannot
    be estimated, there is no estimate of the file but certain limits, and no risk for their
    records. A `doubt` about how the sample was drawn widens the limits and is noted.
    """
    n = int(cells.records.sum())
    parts = list(_parts(cells, population_size, doubt, progress))
    risk, unique = np.full(len(cells.records), np.nan), np.full(len(cells.records), np.nan)
    doubts, lost = [], []
    for part in parts:
        if part.risk is None or part.unique is None:
            lost.append(part)
            continue
        risk[part.cells], unique[part.cells] = part.risk, part.unique
        doubts.append(part.doubts())
    told = {RISK: risk, POPULATION_UNIQUE: unique}
    risks = ByCode(cells.words, told) if doubts else None
    if lost or population_size is None:
        return Estimated(recommended=_limits(parts, lost, n), risks=risks)
    most = float(sum(p.n_alone for p in parts)), sum(p.n_cells for p in parts)
    in_sum = in_all(d for d, _ in doubts), in_all(d for _, d in doubts)
    if all(isinstance(p.found, Estimated) and p.found.doubts is None for p in parts):
        return Estimated(recommended=_counted(in_sum), risks=risks)
    fraction = n / population_size
    note = "; ".join(filter(None, (note_on_fraction(fraction), AT_RANDOM, doubt)))
    varying = sum(part.varying() for part in parts)
    uniques, matches = figures_of(in_sum, varying=varying, most=most, fraction=fraction, note=note)
    led = Recommended(
        model=FROM_KEYS,
        why=WHY,
        expected_population_uniques=uniques,
        expected_correct_matches=matches,
    )
    return Estimated(recommended=led, risks=risks, doubts=in_sum)


def _counted(sums: tuple[Doubt, Doubt]) -> Recommended:
    return Recommended(
        model=COUNTED,
        why="the file is the whole population, so nothing has to be estimated",
        expected_population_uniques=exactly(sums[0].mean),
        expected_correct_matches=exactly(sums[1].mean),
    )


def _limits(parts: list[_Part], lost: list[_Part], n: int) -> Recommended:
    """Certain limits of the uniques: no record that another is sure to agree with is one."""
    reasons = dict.fromkeys(part.found for part in lost if isinstance(part.found, str))
    reason = "; ".join(reasons)
    if len(lost) < len(parts):
        records = sum(part.n_records for part in lost)
        reason = f"{records:,} of {n:,} records have no estimate: {reason}"
    high = sum(part.n_alone for part in parts)
    limits = Figure(value=None, low=0, high=high, how=How.BOUND, note=reason)
    return Recommended(
        model=COUNTED,
        why=reason,
        expected_population_uniques=limits if high else exactly(0.0),
        expected_correct_matches=Unavailable(reason),
    )


def _parts(
    cells: AllCells, population_size: float | None, doubt: str, progress: Progress
) -> Iterator[_Part]:
    """The patterns, those of most records first."""
    levels = cells.coding.decode(cells.words)
    lacks = levels == cells.missing_levels
    patterns, pattern = np.unique(lacks, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    held = np.bincount(pattern, weights=cells.records)
    order = np.argsort(-held, kind="stable")
    for done, number in enumerate(order.tolist()):
        keys = np.flatnonzero(~patterns[number])
        at = np.flatnonzero(pattern == number)
        if len(keys):
            fit = np.flatnonzero(~lacks[:, keys].any(axis=1))
            whole = _Whole.of(cells, levels, keys, fit)
            estimate = done < MOST_PATTERNS
            yield whole.part(cells, at, population_size, doubt, estimate=estimate)
        else:
            yield _nothing_known(cells, at, population_size)
        progress("estimating by known keys", (done + 1) / len(order))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """All records that have certain keys at least, seen through these: `fit` are their cells, and
    `place` is in which of the coarser cells each lies."""

    cells: LocalCells
    fit: IntArray
    place: IntArray
    records: IntArray

    @classmethod
    def of(cls, cells: AllCells, levels: IntArray, keys: IntArray, fit: IntArray) -> "_Whole":
        coding = Coding.of_sizes([cells.keys[key].n_known for key in keys])
        codes = coding.encode(levels[np.ix_(fit, keys)])
        words, place = distinct_rows(codes, coding.n_combinations)
        records = np.bincount(place, cells.records[fit], len(words)).astype(np.int64)
        weights, squares = (
            None if own is None else np.bincount(place, own[fit], len(words)).astype(np.float64)
            for own in (cells.weight, cells.squares)
        )
        return cls(
            cells=cells_at_hand(words, records, coding, weights, squares),
            fit=fit,
            place=place,
            records=records,
        )

    def part(
        self,
        cells: AllCells,
        at: IntArray,
        population_size: float | None,
        doubt: str,
        *,
        estimate: bool,
    ) -> _Part:
        """The records at these cells, which have these keys alone."""
        own = self.place[np.searchsorted(self.fit, at)]
        part = _Part(
            cells=at,
            records=cells.records[at],
            agreeing=self.records[own],
            found=f"there are more than {MOST_PATTERNS} sets of missing keys, and the rarest were "
            "left out",
        )
        if not estimate:
            return part
        nested = nesting_of(self.cells)
        found = recommend_cells(
            self.cells,
            population_size=population_size,
            n_table_cells=nested.n_possible(self.cells.space.known_sizes),
            repeated=nested.repeated,
            doubt=doubt,
        )
        if found.risks is None:
            return replace(part, found=found.recommended.why)
        self.cells.add(found.risks)
        (whole,) = self.cells.parts
        risk, unique = (whole.read(name)[own] for name in (RISK, POPULATION_UNIQUE))
        return replace(part, found=found, risk=risk, unique=unique)


def _nothing_known(cells: AllCells, at: IntArray, population_size: float | None) -> _Part:
    """Records without any key: whoever is looked for, each is one of the whole population."""
    n = int(cells.records.sum())
    part = _Part(
        cells=at,
        records=cells.records[at],
        agreeing=np.full(len(at), n),
        found="the size of the population is not known",
    )
    if population_size is None:
        return part
    size = max(population_size, float(n))
    nobody = Recommended(
        model=COUNTED,
        why="nothing is known of these records",
        expected_population_uniques=exactly(0.0),
        expected_correct_matches=exactly(1 / size),
    )
    return replace(
        part,
        found=Estimated(recommended=nobody),
        risk=np.full(len(at), 1 / size),
        unique=np.full(len(at), float(size == 1)),
    )
