"""The recommended estimate of a sample that was drawn in clusters, or of whole households.

Persons of one cluster are alike, and those of clusters that were drawn have more of their like in
the sample than persons drawn singly would; so what the sample tells of the population is asked in
two steps. Someone is alone in the population who is alone in the cluster and whose keys occur in
no other cluster:

    P(F = 1) = P(F within = 1) · P(no other cluster has them).

*Within*: the cluster is one more key, and the sample a sample of the clusters that were drawn, at
the fraction π·C/c of c drawn clusters of C. Clusters that were taken whole leave nothing to
estimate there. *Between*: each combination of keys counts once in each cluster, and what is known
of it is counted in the other clusters alone. If a key tells the cluster, no other has it.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

import numpy as np

from discreet.data.coding import Coding
from discreet.data.nesting import nested_pairs
from discreet.engines.contract import Cells
from discreet.engines.local.cells import NEIGHBOURS, cells_at_hand
from discreet.engines.local.grouping import in_order
from discreet.engines.steps import ByCode
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.headline.likeness import (
    LEAST_OTHERS,
    DrawingReferences,
    Likeness,
    n_references,
)
from discreet.survey.headline.limits import NEAREST_END, NORMAL_QUANTILE, Doubt, Scale, exactly
from discreet.survey.headline.nested_in_clusters import FACTOR_OF_STRAYS, Telling, telling
from discreet.survey.headline.rate_index import (
    Known,
    KnownBeside,
    Others,
    known_of,
    rarity,
    small_pairs,
)
from discreet.survey.headline.recommendation import (
    FROM_KEYS,
    NO_TWO_AGREE,
    Estimated,
    Recommended,
    figures_of,
    note_on_fraction,
    note_on_weights,
    recommend_cells,
)
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.nested_keys import nesting_of

MOST_UNITS = 5_000_000  # combinations of keys and clusters, which are held at once
# So many drawn clusters, or their square for each cluster of the population, from which on it is no
# accident that each has a level of a key for itself: of fewer levels two would share one.
MANY_APART, TOLD_APART = 25, 6
FEWEST_CLUSTERS = 25  # that tell how many levels are in no cluster that was drawn
LIKELY, UNLIKELY = 0.5, 0.05  # that a key tells the cluster
OF_A_CLUSTER, OF_A_CLUSTER_MATCHES = 0.8, 0.25  # misfit, over the root of the drawn clusters
# The same of clusters taken whole, over the root of the pairs of clusters that share the level of a
# key which all of a cluster share, as regions are: how many others share it rests on these.
OF_A_MEETING, OF_A_MEETING_MATCHES = 1.5, 0.4
ALL_DRAWN = 0.9  # of the clusters, from which on they are strata rather than clusters
NOTHING_TOLD = (
    "the records of the {clusters} are too few to tell how alike those of one are, so the estimate "
    "takes persons to be drawn singly, with wider limits"
)
WHY = (
    "averages over models of how full cells are, within the {clusters} and between them, each "
    "weighted by how well it explains the cells of one, two, three … records"
)


class _Possible(TypedDict):
    n_table_cells: int
    n_table_cells_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What one of the two steps says: P(F = 1) and E(1/F) of the records of each row, and how far
    that may be off, None where it is exact."""

    unique: FloatArray
    risk: FloatArray
    n_unique: float
    doubts: tuple[Doubt, Doubt] | None = None

    @classmethod
    def of(cls, cells: Cells, found: Estimated) -> "_Step":
        """What an estimate of the cells says, which puts its risks beside them."""
        assert found.risks is not None
        cells.add(found.risks)
        held = cells.held(MOST_UNITS, (RISK, POPULATION_UNIQUE))
        assert held is not None
        n_unique = float(np.count_nonzero(held.n_records == 1))
        return cls(
            unique=held.extra[POPULATION_UNIQUE],
            risk=held.extra[RISK],
            n_unique=n_unique,
            doubts=found.doubts,
        )


def recommend_by_cluster(
    cells: Cells,
    *,
    population_size: float | None,
    n_clusters: int | None,
    n_table_cells: int,
    n_table_cells_known: bool = False,
    named: str = "clusters",
    households: bool = False,
) -> Estimated:
    """The estimate from cells of the keys and, as the last key, the cluster; of each combination of
    keys its risk.

    `n_clusters` are those of the population, None where those that were drawn were taken whole.
    With `households`, drawn whole within the clusters, they are one more key after the cluster.
    Checked: there are no more than `MOST_UNITS` cells.
    """
    apart = cells
    if households:
        before = range(len(cells.space.keys) - 1)
        apart = cells.seen_through(cells.space.itself().of_keys(before))
    units = _Units.of(apart)
    n = units.n
    asked: _Possible = {"n_table_cells": n_table_cells, "n_table_cells_known": n_table_cells_known}
    if population_size is None or n >= population_size * (1 - 1e-9):
        return units.estimated(population_size, **asked)
    fraction = n / population_size
    within_fraction = 1.0
    if n_clusters is not None:
        within_fraction = min(fraction * n_clusters / units.n_clusters, 1.0)
    if n_clusters is not None and units.n_clusters > ALL_DRAWN * n_clusters:
        if not households:  # clusters are strata, as all were drawn
            return units.estimated(population_size, **asked)
        last = len(cells.space.keys) - 1
        homes = cells.space.itself().of_keys([*range(last - 1), last])
        return recommend_by_cluster(
            cells.seen_through(homes),
            population_size=population_size,
            n_clusters=None,
            named="households",
            **asked,
        )
    within = _within(
        apart, cells if households else None, n / within_fraction,
        n_table_cells * units.n_clusters,
    )  # fmt: skip
    alone_within = 0.0 if within is None else float(within.unique.sum()) / n
    between = units.between(
        fraction, n_clusters or units.n_clusters / fraction, alone_within, **asked
    )
    if between is None or within is None:
        doubt = NOTHING_TOLD.format(clusters=named)
        return units.estimated(population_size, doubt=doubt, **asked)
    return _together(units, within, between, fraction, named)


def _within(
    cells: Cells, by_household: Cells | None, population: float, n_table_cells: int
) -> _Step | None:
    """The clusters that were drawn, seen by themselves; None where nothing tells how often two
    persons of one share the keys."""
    if by_household is not None:
        found = recommend_by_cluster(
            by_household,
            population_size=population,
            n_clusters=None,
            n_table_cells=n_table_cells,
            named="households",
        )
    else:
        repeated = nesting_of(cells).repeated  # a key may be the cluster in other words
        found = recommend_cells(
            cells, population_size=population, n_table_cells=n_table_cells, repeated=repeated
        )
    return None if found.risks is None else _Step.of(cells, found)


def _together(
    units: "_Units",
    within: _Step,
    between: _Step,
    fraction: float,
    named: str,
) -> Estimated:
    """Both steps in one: 1/F of a combination of keys is the share of its units that are in the
    sample, over the persons of these."""
    place, records = units.place, units.n_records
    alone = np.bincount(place, within.unique) / units.n_units
    unique = np.where(records == 1, alone * between.unique, 0.0)
    persons = np.bincount(place, 1 / within.risk)
    risk = np.clip(units.n_units * between.risk / persons, unique, 1 / records)
    risks = units.told(risk, unique)
    sample_uniques = float((records == 1).sum())
    uniques, matches = math.fsum(unique), math.fsum(records * risk)  # in whatever order they are
    if within.doubts is None and between.doubts is None:
        led = Recommended(
            model=FROM_KEYS,
            why=f"is exact if the {named} were taken whole: a key tells them apart, so whoever "
            "shares the keys of a record is in the file",
            expected_population_uniques=exactly(uniques),
            expected_correct_matches=exactly(matches),
        )
        return Estimated(recommended=led, risks=risks)
    further = units.of_meetings if within.doubts is None else 0.0
    doubts = (
        _of_uniques(
            uniques,
            sample_uniques,
            math.hypot(OF_A_CLUSTER / math.sqrt(units.n_clusters), OF_A_MEETING * further),
            (within, between),
        ),
        _of_matches(
            matches,
            math.hypot(
                OF_A_CLUSTER_MATCHES / math.sqrt(units.n_clusters), OF_A_MEETING_MATCHES * further
            ),
            (within, between),
        ),
    )
    weights = None if units.weight is None else float(units.weight.sum())
    notes = (
        note_on_fraction(fraction),
        NO_TWO_AGREE if len(units.words) == units.n else "",
        note_on_weights(weights, units.n / fraction),
    )
    uniques_figure, matches_figure = figures_of(
        doubts,
        varying=math.fsum(unique * (1 - unique)),
        most=(sample_uniques, float(len(records))),
        fraction=fraction,
        note="; ".join(filter(None, notes)),
    )
    led = Recommended(
        model=FROM_KEYS,
        why=WHY.format(clusters=named),
        expected_population_uniques=uniques_figure,
        expected_correct_matches=matches_figure,
    )
    return Estimated(recommended=led, risks=risks, doubts=doubts)


def _of_uniques(uniques: float, n_unique: float, misfit: float, steps: tuple[_Step, ...]) -> Doubt:
    """The doubt about P(F = 1), a product: what each step leaves open moves the logarithm, and on
    the logit scale that is so many times more as 1 − P is smaller. The fewer clusters were drawn,
    the farther may they be from the others (`misfit`)."""
    most = max(n_unique, 1.0)
    share = min(max(uniques / most, NEAREST_END), 1 - NEAREST_END)
    reach = [NORMAL_QUANTILE * misfit] * 2
    for step in steps:
        if step.doubts is not None:
            own, total = step.doubts[0], max(step.n_unique, 1.0)
            scale, left = Scale(total), 1 - own.mean / total
            for side, end in enumerate((own.low, own.high)):
                moved = abs(float(scale.of(end)) - float(scale.of(own.mean)))
                reach[side] = math.hypot(reach[side], moved * left / (1 - share))
    scale = Scale(most)
    centre = float(scale.of(uniques))
    return Doubt(uniques, scale.back(centre - reach[0]), scale.back(centre + reach[1]))


def _of_matches(matches: float, misfit: float, steps: tuple[_Step, ...]) -> Doubt:
    """The doubt about the matches, a quotient: on the log scale."""
    low = high = NORMAL_QUANTILE * misfit
    for step in steps:
        if step.doubts is not None:
            one = step.doubts[1]
            low = math.hypot(low, math.log(one.mean / one.low))
            high = math.hypot(high, math.log(one.high / one.mean))
    return Doubt(matches, matches * math.exp(-low), matches * math.exp(high))


@dataclass(frozen=True, kw_only=True)
class _Units:
    """Units: combinations of keys in a cluster. `levels` of the keys and the `cluster` of each,
    `place` the combination of keys among `words`, and the `records` of each. Keys that repeat
    others, or have one level, are left out, but in the codes of the `whole` combinations."""

    fine: IntArray
    fine_coding: Coding
    levels: IntArray
    cluster: IntArray
    records: IntArray
    weight: FloatArray | None
    squares: FloatArray | None
    coding: Coding
    words: IntArray
    place: IntArray
    whole: IntArray
    is_key: bool

    @classmethod
    def of(cls, cells: Cells) -> "_Units":
        """From the cells of keys and cluster, in the order of their codes; a key may be the cluster
        itself, by its values."""
        held = cells.held(MOST_UNITS, ("squares",) if cells.weighted else ())
        assert held is not None
        every = held.levels()
        last = every.shape[1] - 1
        *keys, cluster = cells.space.keys
        is_key = any(
            len(set(key.values)) == len(key.values)
            and key.values == cluster.values
            and bool(np.array_equal(column, every[:, last]))
            for key, column in zip(keys, every.T, strict=False)
        )
        says_nothing = {*nesting_of(cells).repeated, *np.flatnonzero(np.ptp(every, axis=0) == 0)}
        apart = [key for key in range(last) if key not in says_nothing] or [0]
        itself = cells.space.itself()
        fine = itself.of_keys([*apart, last])
        coarse = itself.of_keys(apart)
        coding = coarse.space.coding
        words, first, place = np.unique(
            coarse.words(held.words), axis=0, return_index=True, return_inverse=True
        )
        return cls(
            whole=itself.of_keys(range(last)).words(held.words[first]),
            is_key=is_key,
            fine=fine.words(held.words),
            fine_coding=fine.space.coding,
            levels=every[:, apart],
            cluster=every[:, last],
            records=held.n_records,
            weight=held.weight_total,
            squares=held.extra.get("squares"),
            coding=coding,
            words=words,
            place=place.ravel(),
        )

    def told(self, risk: FloatArray, unique: FloatArray) -> ByCode:
        """Risks of the combinations of all keys."""
        order = in_order(self.whole)
        return ByCode(self.whole[order], {RISK: risk[order], POPULATION_UNIQUE: unique[order]})

    @cached_property
    def n(self) -> int:
        """Records."""
        return int(self.records.sum())

    @cached_property
    def n_units(self) -> IntArray:
        """Clusters in which each combination of keys lies."""
        return np.bincount(self.place, minlength=len(self.words))

    @cached_property
    def n_records(self) -> IntArray:
        """Records of each combination of keys."""
        return self._summed(self.records).astype(np.int64)

    @cached_property
    def n_clusters(self) -> int:
        """Clusters that were drawn."""
        return len(np.unique(self.cluster))

    @cached_property
    def of_meetings(self) -> float:
        """1 over the root of the pairs, and two more, of clusters that share the level of a key
        which is the same for all of each cluster; of the key with the fewest, and 0 where there is
        none."""
        fewest = math.inf
        for level in self.levels.T:
            clusters = self._clusters_of(level)
            if clusters.sum() == self.n_clusters:
                fewest = min(fewest, float((clusters * (clusters - 1)).sum()) / 2)
        return 1 / math.sqrt(fewest + 2)

    def _summed(self, values: IntArray | FloatArray) -> FloatArray:
        return np.bincount(self.place, values, len(self.words)).astype(np.float64)

    def estimated(
        self,
        population_size: float | None,
        doubt: str = "",
        *,
        n_table_cells: int,
        n_table_cells_known: bool,
    ) -> Estimated:
        """The estimate of the combinations of keys wherever they lie, as if drawn singly."""
        weight = None if self.weight is None else self._summed(self.weight)
        squares = None if self.squares is None else self._summed(self.squares)
        cells = cells_at_hand(self.words, self.n_records, self.coding, weight, squares)
        found = recommend_cells(
            cells,
            population_size=population_size,
            n_table_cells=n_table_cells,
            n_table_cells_known=n_table_cells_known,
            doubt=doubt,
        )
        if found.risks is None:
            return found
        step = _Step.of(cells, found)
        return replace(found, risks=self.told(step.risk, step.unique))

    def between(
        self,
        fraction: float,
        n_clusters: float,
        alone_within: float,
        *,
        n_table_cells: int,
        n_table_cells_known: bool,
    ) -> "_Step | None":
        """Whether other clusters have the same keys, of each combination of keys; None where that
        is not known. Someone is alone in the own cluster with the chance `alone_within`."""
        if self._is_apart(n_clusters):
            return _Step(unique=np.ones(len(self.words)), risk=1.0 / self.n_units, n_unique=0.0)
        weight = squares = None
        if self.weight is not None:
            own = self.weight / self.records
            weight, squares = self._summed(own), self._summed(own**2)
        cells = cells_at_hand(self.words, self.n_units, self.coding, weight, squares)
        cells.add(ByCode(self.words, KnownBeside.columns(self._known())))
        found = recommend_cells(
            cells,
            population_size=len(self.records) / fraction,
            n_table_cells=n_table_cells,
            n_table_cells_known=n_table_cells_known,
            beside=KnownBeside(
                bool(n_references(len(self.records))),
                tuple(self._seen(column) for column in self.levels.T),
            ),
        )
        modelled = None if found.risks is None else _Step.of(cells, found)
        told = telling(self.levels, self.cluster, n_clusters)
        return modelled if told is None else self._joined(modelled, told, alone_within)

    def _is_apart(self, n_clusters: float) -> bool:
        """Whether a key tells the cluster, for sure."""
        n_keys = self.levels.shape[1]
        if self.is_key:
            return True
        if not (self.n_clusters >= MANY_APART or self.n_clusters**2 > TOLD_APART * n_clusters):
            return False
        rows = np.column_stack([self.levels, self.cluster])
        sizes = (*self.coding.sizes, int(self.cluster.max()) + 1)
        nested = nested_pairs(rows, np.ones_like(self.records), sizes)
        return any(pair.determined == n_keys for pair in nested)

    def _joined(
        self, modelled: "_Step | None", told: Telling, alone_within: float
    ) -> "_Step | None":
        """What a key tells that lies in one cluster but for strays, as far as that is sure, and
        what is modelled for the rest; the limits reach to either where it may be."""
        sure = told.weight
        if modelled is None:
            if sure < LIKELY:
                return None
            sure = 1.0
        single = self.n_units == 1

        def of_key(times: float) -> FloatArray:
            alone = self._summed(told.alone(alone_within, times)) / self.n_units
            return np.where(single, alone, 0.0)

        def risk_of(unique: FloatArray) -> FloatArray:
            return (1 + unique) / 2 / self.n_units

        def sums(unique: FloatArray, risk: FloatArray) -> tuple[float, float]:
            return float(unique.sum()), float(self.n_units @ risk)

        own, ends = of_key(1.0), []
        for times in (FACTOR_OF_STRAYS, 0.0):
            end = of_key(times)
            ends.append(sums(end, risk_of(end)))
        unique, risk = own, risk_of(own)
        if modelled is not None:
            unique = sure * own + (1 - sure) * modelled.unique
            risk = sure * risk + (1 - sure) * modelled.risk
            assert modelled.doubts is not None
            other = modelled.doubts
            if sure < 1 - UNLIKELY:
                ends[0] = min(ends[0][0], other[0].low), min(ends[0][1], other[1].low)
            if sure < UNLIKELY:
                ends[1] = other[0].high, other[1].high
            ends[1] = max(ends[1][0], other[0].high), max(ends[1][1], other[1].high)
        means = sums(unique, risk)
        low, high = ends
        doubts = (
            Doubt(means[0], min(low[0], means[0]), max(high[0], means[0])),
            Doubt(means[1], min(low[1], means[1]), max(high[1], means[1])),
        )
        n_unique = float(np.count_nonzero(single))
        return _Step(unique=unique, risk=risk, n_unique=n_unique, doubts=doubts)

    def _known(self) -> Known:
        """What is known of each combination of keys, on average over its units, but for what lies
        in the same cluster, and for the combination itself."""
        sizes, columns = self.coding.sizes, list(self.levels.T)
        again = self.n_units[self.place] - 1  # units of the combination in other clusters
        n = len(self.cluster)
        elsewhere = n - np.bincount(self.cluster)[self.cluster]
        scale = n / np.maximum(elsewhere, 1)  # as if the own cluster were like the others
        others = [
            Others.of_level((self._others(c, size) - again) * scale, self._rarity(c))
            for c, size in zip(columns, sizes, strict=True)
        ]
        pairs = (
            (
                Others.of_pair(self._of_pair(j, k, again, scale), others[j], others[k]),
                others[j],
                others[k],
            )
            for j, k in small_pairs(sizes)
        )
        known = known_of(others, pairs, self._near(again) * scale, self._density(others), n)
        mean = [
            self._summed(column) / self.n_units
            for column in (*known.covariates.T, known.beyond, known.independent)
        ]
        return Known(np.column_stack(mean[:4]), mean[4], mean[5])

    def _of_pair(self, j: int, k: int, again: IntArray, scale: FloatArray) -> FloatArray:
        sizes, levels = self.coding.sizes, self.levels
        both = levels[:, j] * sizes[k] + levels[:, k]
        found: FloatArray = (self._others(both, sizes[j] * sizes[k]) - again) * scale
        return found

    def _rarity(self, level: IntArray) -> float:
        """How rare the levels of a key are that are seen in one cluster."""
        seen = self._seen(level)
        return rarity(seen, len(self.records) / max(int(seen.sum()), 1))

    def _seen(self, level: IntArray) -> IntArray:
        """How often each level was seen: in how many clusters, as those of one have more than one
        unit of it; where clusters are few, in how many units."""
        if self.n_clusters < FEWEST_CLUSTERS:
            return np.bincount(level)
        return self._clusters_of(level)

    def _clusters_of(self, level: IntArray) -> IntArray:
        """In how many clusters each level is seen."""
        n_clusters = int(self.cluster.max()) + 1
        found: IntArray = np.bincount(np.unique(level * n_clusters + self.cluster) // n_clusters)
        return found

    def _others(self, level: IntArray, size: int) -> IntArray:
        """Units of other clusters that share a level with each."""
        _, place, own = np.unique(
            level * (int(self.cluster.max()) + 1) + self.cluster,
            return_inverse=True,
            return_counts=True,
        )
        found: IntArray = np.bincount(level, minlength=size)[level] - own[place]
        return found

    def _near(self, again: IntArray) -> IntArray:
        """Units of other clusters that differ from each in one key."""
        if self.levels.shape[1] == 1:
            return np.zeros_like(again)
        everywhere = cells_at_hand(self.words, self.n_units, self.coding)
        inside = cells_at_hand(self.fine, np.ones_like(self.records), self.fine_coding)
        for cells in (everywhere, inside):
            cells.without_each_key()
        (whole,), (own,) = everywhere.parts, inside.parts
        of_cluster = own.read(NEIGHBOURS) - again  # one of the keys there is the cluster itself
        found: IntArray = whole.read(NEIGHBOURS)[self.place] - of_cluster
        return found

    def _density(self, others: list[Others]) -> FloatArray | None:
        """The kernel of the other clusters."""
        n_keys = len(others)
        references = n_references(len(self.cluster))
        if not references:
            return None
        cells = cells_at_hand(self.fine, np.ones_like(self.records), self.fine_coding)
        sets = [(key,) for key in range(n_keys + 1)]
        margins = tuple(cells.margins(sets).values())
        share = min(references / len(self.cluster), 1.0)
        drawn = cells.fold(DrawingReferences(share, tuple(range(n_keys + 1)), margins))
        kernel = Likeness.fitted(
            drawn, self.fine_coding, tuple(range(n_keys)), margins[:n_keys], len(self.cluster),
            by=n_keys,
        )  # fmt: skip
        return kernel.density(
            self.levels, [one.at_least(LEAST_OTHERS) for one in others], self.cluster
        )
