"""How many persons of the population stand behind a value, from how many records of the file do.

With a sampling fraction φ, f of the F persons with a value are in the file, each drawn with
probability φ. The estimate is f/φ, with weights the sum of them. The limits hold all F under which
what was seen is not too improbable (Clopper and Pearson 1934, for the number of trials instead of
the probability): from the least F with Pr(X ≥ f | F, φ) above 5 % to the greatest with
Pr(X ≤ f | F, φ) above 5 %, X being binomial. Exact where everybody is in the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from discreet.data.coding import Coding
from discreet.data.missing import POLICIES
from discreet.engines.contract import Cells, PopulationCells
from discreet.engines.key_space import KeySpace
from discreet.engines.local.grouping import places_among
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.numerics.exact_sums import as_float
from discreet.policy.findings import Finding
from discreet.policy.record_rules import PopulationOfColumn, PopulationOfKeys
from discreet.survey.headline.recommendation import WeightSum

TAIL = 0.05  # on either side of the limits
CONFIDENCE = 1 - 2 * TAIL
HALVINGS = 60
MOST_NAMED = 5  # values that are named
MOST_VALUES = 5_000_000  # combinations of a few keys that are looked at together
TOO_MANY = Unavailable(
    f"some keys have more than {MOST_VALUES:,} combinations of values, too many to look at"
)
NO_SIZE = Unavailable("the size of the population is not known: give it, or weights")
NOTE = (
    "estimated from the records that have the value, as if persons were drawn one by one, those "
    "with one value with like weights"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Some values, or combinations of values, of the file: how many records have each, how many of
    the population that stands for, and whether the latter was counted."""

    names: Sequence[str]
    records: IntArray
    population: FloatArray
    counted: bool


def population_limits(records: IntArray, estimate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest population count under which so many records are not improbable.

    `estimate` is the records over the probability of being drawn."""
    from scipy.special import betainc  # here: few rules ask for it, and SciPy takes long to load

    f, estimate = records.astype(np.float64), np.maximum(estimate, records)
    drawn = np.clip(f / np.maximum(estimate, 1e-300), 1e-12, 1.0)
    most = np.maximum(estimate * (1 + 12 / np.sqrt(np.maximum(f, 1))) + 12 / drawn, f + 1)

    def so_many(F: FloatArray) -> FloatArray:  # Pr(X ≥ f)
        return np.where(f > 0, betainc(np.maximum(f, 1e-300), F - f + 1, drawn), 1.0)

    def so_few(F: FloatArray) -> FloatArray:  # Pr(X ≤ f)
        more = betainc(f + 1, np.maximum(F - f, 1e-300), drawn)
        return np.where(f < F, 1 - more, 1.0)

    low = _first(lambda F: so_many(F) > TAIL, f, most)
    high = _first(lambda F: so_few(F) <= TAIL, f, most) - 1
    whole = drawn >= 1.0
    return np.where(whole, f, low), np.where(whole, f, np.maximum(high, f))


def _first(
    holds: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """The least whole number from `low` on for which it holds, which it does from there on."""
    low, high = np.floor(low), np.ceil(high)
    for _ in range(HALVINGS):
        middle = np.floor((low + high) / 2)
        yes = holds(middle)
        low, high = np.where(yes, low, np.minimum(middle + 1, high)), np.where(yes, middle, high)
    return high


def least_population(values: Values, limits: Mapping[float, bool]) -> Finding:
    """The value that fewest of the population stand behind, and how many are below each limit
    (strictly above it is asked where the limit says so).

    The limits of the least are the least of the limits: where the upper one is below what is asked,
    some value is too rare for certain; where the lower one is not, none may be.
    """
    if not len(values.records):
        none = Figure(value=0, how=How.EXACT)
        return Finding(value=none, nothing=True, found="there is no value to judge")
    count = values.population
    value: Outcome = Figure(value=float(count.min()), how=How.EXACT)
    if not values.counted:
        low, high = _least_limits(values)
        value = Figure(
            value=float(count.min()), how=How.ESTIMATE, low=low, high=high,
            confidence=CONFIDENCE, note=NOTE,
        )  # fmt: skip
    order = np.argsort(count, kind="stable")[:MOST_NAMED]
    return Finding(
        value=value,
        beyond={
            limit: int(np.count_nonzero(count <= limit if strict else count < limit))
            for limit, strict in limits.items()
        },
        concerns=tuple(values.names[int(i)] for i in order),
    )


def _least_limits(values: Values) -> tuple[float, float]:
    """The least lower and the least upper limit: for each number of records those of the smallest
    estimate, since both limits grow with it."""
    f, at = np.unique(values.records, return_inverse=True)
    smallest = np.full(len(f), np.inf)
    np.minimum.at(smallest, at, values.population)
    low, high = population_limits(f, smallest)
    return float(low.min()), float(high.min())


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPopulations:
    """The cells of a file with what is known of its population: enough to say how many stand behind
    every value, pair or combination of three values of the keys.

    `size` is that of the population. `register` has, for combinations of levels of the file, how
    many of the population have them, where a file of the population was counted.
    """

    cells: Cells
    size: float | None
    register: tuple[IntArray, IntArray] | None = None

    def findings(self, rules: Iterable[PopulationOfKeys]) -> Iterator[tuple[str, Finding]]:
        """One finding for each number of keys that a rule is about."""
        asked: dict[int, dict[float, bool]] = {}
        for rule in rules:
            asked.setdefault(rule.keys, {})[rule.limit] = rule.strict
        for keys, limits in asked.items():
            yield f"population_of_keys:{keys}", self._least(keys, limits)

    def _least(self, n_keys: int, limits: Mapping[float, bool]) -> Finding:
        everything = range(len(self.cells.space.keys))
        n_keys = min(n_keys, len(everything))  # of fewer keys, all of them together
        if self.register is None and self.size is None:
            return Finding(value=NO_SIZE)
        worst: list[Finding] = []
        for keys in combinations(everything, n_keys):
            values = self._values(keys)
            if values is None:
                return Finding(value=TOO_MANY)
            worst.append(least_population(values, limits))
        return _worst(worst, limits)

    def _values(self, keys: tuple[int, ...]) -> Values | None:
        """The combinations of these keys' values that are in the file, none of them missing; None
        where there are too many."""
        space = self.cells.space
        view = space.itself().of_keys(keys)
        by_itself = replace(
            view.space, policy=POLICIES["category"]
        )  # who has them, not who matches
        found = self.cells.seen_through(replace(view, space=by_itself)).held(MOST_VALUES)
        if found is None:
            return None
        levels = found.levels()
        known = (levels != space.missing_levels[list(keys)]).all(axis=1)
        values, at = found.part(np.flatnonzero(known)), levels[known]
        names = _Names(space, keys, at)
        records = values.n_records
        if self.register is not None:
            counted = _counted(self.register, keys, view.space.coding, values.words)
            return Values(names=names, records=records, population=counted, counted=True)
        population = self._estimated(records, values.weight_total)
        return Values(names=names, records=records, population=population, counted=self._is_census)

    @property
    def _is_census(self) -> bool:
        return self.size is not None and self.cells.n_records >= self.size * (1 - 1e-9)

    def _estimated(self, records: IntArray, weights: FloatArray | None) -> FloatArray:
        assert self.size is not None
        if weights is None or self._is_census:
            return np.asarray(records * (self.size / self.cells.n_records), np.float64)
        scale = self.size / as_float(self.cells.fold(WeightSum()))
        return weights * scale


def in_levels_of(space: KeySpace, population: PopulationCells) -> tuple[IntArray, IntArray]:
    """The combinations of a population in the levels of the file's keys, −1 for a value that no
    record of the file has, with how many have each."""
    columns = []
    for j, key in enumerate(space.keys):
        places = {value: i for i, value in enumerate(key.values) if value is not None}
        to = np.array([*(places.get(value, -1) for value in population.values[j]), -1])
        columns.append(to[population.levels[:, j]])  # −1, for missing, is the last of them
    return np.stack(columns, axis=1), population.counts


class _Names(Sequence[str]):
    """The names of combinations, made only for those that are shown."""

    def __init__(self, space: KeySpace, keys: tuple[int, ...], levels: IntArray) -> None:
        self._space, self._keys, self._levels = space, keys, levels

    def __len__(self) -> int:
        return len(self._levels)

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        pairs = zip(self._keys, self._levels[place].tolist(), strict=True)
        named = ((self._space.keys[key], level) for key, level in pairs)
        return ", ".join(f"{key.name}={key.labels[level]}" for key, level in named)


def _counted(
    register: tuple[IntArray, IntArray], keys: tuple[int, ...], coding: Coding, words: IntArray
) -> FloatArray:
    """How many of the population have each of the combinations with these codes."""
    levels, counts = register
    own = levels[:, list(keys)]
    inside = (own >= 0).all(axis=1)
    place = places_among(words, coding.encode(own[inside]))
    found = place >= 0
    return np.bincount(place[found], counts[inside][found], len(words)).astype(np.float64)


def _worst(parts: Sequence[Finding], limits: Mapping[float, bool]) -> Finding:
    """Of several sets of keys the least, and the numbers below the limits in all of them."""
    told = [one for one in parts if isinstance(one.value, Figure) and not one.nothing]
    if not told:
        return parts[0]
    figures = [one.value for one in told if isinstance(one.value, Figure)]
    first = min(range(len(told)), key=lambda i: (figures[i].value, i))
    least = figures[first]
    if least.how is not How.EXACT:
        least = Figure(
            value=least.value,
            how=least.how,
            low=min(one.low for one in figures if one.low is not None),
            high=min(one.high for one in figures if one.high is not None),
            confidence=least.confidence,
            note=least.note,
        )
    return Finding(
        value=least,
        beyond={limit: sum(one.beyond.get(limit, 0) for one in told) for limit in limits},
        concerns=told[first].concerns,
    )


def column_finding(values: Values, rule: PopulationOfColumn, column: str) -> Finding:
    """How many people the areas in a column have, but for values that name none."""
    keep = np.array([name not in rule.but for name in values.names], dtype=np.bool_)
    names = [name for name, kept in zip(values.names, keep, strict=True) if kept]
    own = Values(
        names=names,
        records=values.records[keep],
        population=values.population[keep],
        counted=values.counted,
    )
    found = least_population(own, {rule.limit: rule.strict})
    if found.nothing:
        return found
    most = rule.digits
    long = 0 if most is None else sum(len(name.strip()) > most for name in names)
    beyond = {**found.beyond, **({0.0: long} if long else {})}
    named = tuple(f"{column}={name}" for name in found.concerns)
    return Finding(value=found.value, beyond=beyond, concerns=(column, *named))
