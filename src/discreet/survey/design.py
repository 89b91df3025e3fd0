"""How the records were drawn: in strata, in clusters, in whole households, or one by one.

Cells of the keys say nothing of that, so the same records are counted once more with the stratum
and with what was drawn together as further keys. What is not said shows in part: households that
are complete, and neighbours in the file that are alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.engines.contract import Cells, CellStore, ColumnOrder
from discreet.engines.key_space import View
from discreet.engines.local.cells import LocalCells
from discreet.engines.local.grouping import distinct_rows
from discreet.engines.steps import ByCode
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.headline.by_cluster import MOST_UNITS, recommend_by_cluster
from discreet.survey.headline.recommendation import COUNTED, Estimated, recommend_cells
from discreet.survey.headline.record_risk import POPULATION_UNIQUE, RISK
from discreet.survey.nested_keys import nesting_of
from discreet.survey.options import AssessOptions

CLUSTERS, HOUSEHOLDS = "clusters", "households"
FEW_TOGETHER = 1.1  # records for each household up to which members hardly come together
COMPLETE = 0.95  # of the records, whose household has as many members in the file as a key says
# Other members of the own household in the file, for each record: of persons drawn one by one at
# the fraction π they are π times those of the population, of whom hardly anybody has four but the
# one in ten who may live in homes.
MOST_OTHERS, ALWAYS_OTHERS, IN_HOMES = 3.5, 0.1, 0.1
ALIKE, SURELY = 0.05, 6.0  # excess of equal neighbours; in standard errors
LEAST_ALIKE = 2  # keys
MOST_OF_A_CLUSTER = 2.0  # times its members that are in the file, if clusters are of one size
SAME_WEIGHT = 1e-9  # of the squares, by which equal weights seem apart by rounding
DRAWN_WHOLE = ", so households are taken to be drawn whole"
SINGLY = "the estimate takes persons to be drawn singly, with wider limits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How the records were drawn, as far as the estimate takes it into account.

    `finer` are the cells of the keys with, as further keys, the stratum if `stratified`, and the
    `groups` ("clusters" or "households") that were drawn if there are some, `n_groups` of them in
    the population, None where they were taken whole; `households` says that households were drawn
    whole within clusters, and are the last of the keys. A `doubt` widens the limits. `words` say
    what was found.
    """

    finer: Cells | None = None
    stratified: bool = False
    groups: str = ""
    n_groups: int | None = None
    households: bool = False
    doubt: str = ""
    words: tuple[str, ...] = ()

    def seen_through(self, view: View) -> "Design":
        """The same records by the keys of a view; what was found is said once."""
        finer = self.finer
        if finer is not None:
            finer = finer.seen_through(view.beside(finer.space))
        return replace(self, finer=finer, words=())

    def told(self, found: Estimated) -> Estimated:
        """The estimate with what was found of the design beside the figure."""
        led = found.recommended
        uniques = led.expected_population_uniques
        if not isinstance(uniques, Figure) or uniques.how is How.BOUND or led.model == COUNTED:
            return found
        note = "; ".join(filter(None, (uniques.note, *self.words)))
        led = replace(led, expected_population_uniques=replace(uniques, note=note))
        return replace(found, recommended=led)

    def estimated(
        self, *, population_size: float | None, n_table_cells: int, n_table_cells_known: bool
    ) -> Estimated:
        """The estimate, where it takes more than the cells of the keys."""
        assert self.finer is not None
        cells: Cells = self.finer
        if self.stratified:
            cells = _by_stratum(cells, bool(self.groups) + self.households)
        if self.groups:
            return recommend_by_cluster(
                cells,
                population_size=population_size,
                n_clusters=self.n_groups,
                n_table_cells=n_table_cells,
                n_table_cells_known=n_table_cells_known,
                named=self.groups,
                households=self.households,
            )
        found = recommend_cells(
            cells,
            population_size=population_size,
            n_table_cells=n_table_cells,
            n_table_cells_known=n_table_cells_known,
            repeated=nesting_of(cells).repeated,
        )
        if found.risks is None:
            return found
        cells.add(found.risks)
        held = cells.held(MOST_UNITS, (RISK, POPULATION_UNIQUE))
        assert held is not None
        return replace(found, risks=ByCode(held.words, held.extra))


def design_of(
    store: CellStore,
    finer: CellStore | None,
    options: AssessOptions,
    *,
    population_size: float | None,
    orders: Sequence[ColumnOrder] | Unavailable = (),
) -> Design:
    """How the records were drawn, from what was said and from what shows.

    `finer` has the same records by the keys and the `options.drawn_by`; `orders` say how alike
    neighbours in the file are, where nothing was said. Checked: the cluster, the stratum and the
    household are known of every record, and the number of clusters in the population is possible.
    """
    if options.drawn_by and store.cells.space.overlap:
        what = " and ".join(options.drawn_by)
        return Design(
            doubt=f"where missing values match anything nothing is made of the {what}, so {SINGLY}"
        )
    words = _words_of_weights(store.cells)
    if finer is None:
        return Design(doubt=_doubt_of_order(orders), words=words)
    _check_known(store, finer, options)
    cells, n = finer.cells, store.n_records
    groups, households = CLUSTERS if options.cluster is not None else "", False
    if options.household is not None:
        shown = ""
        if population_size is not None:
            shown = _complete_households(store, cells, n / population_size)
        if shown:
            groups, households = groups or HOUSEHOLDS, bool(groups)
            words = (*words, shown)
        else:
            last = len(cells.space.keys) - 1
            cells = cells.seen_through(cells.space.itself().of_keys(range(last)))
    if options.cluster is not None:
        place = len(store.keys) + (options.stratum is not None)
        drawn = int(np.count_nonzero(_sizes(cells, place)))
        fraction = None if population_size is None else n / population_size
        words = (*words, _clusters_told(options.clusters, drawn, fraction))
    stratified = options.stratum is not None
    if stratified:
        words = (*words, f"records count with the mean weight of their {options.stratum}")
    if not groups and not stratified:
        return Design(words=words)
    if cells.n_cells > MOST_UNITS:
        what = " and ".join(name for name in options.drawn_by)
        doubt = (
            f"there are {cells.n_cells:,} combinations of the keys with {what}, more than "
            f"the {MOST_UNITS:,} that are looked at, so {SINGLY}"
        )
        return Design(doubt=doubt, words=words)
    return Design(
        finer=cells,
        stratified=stratified,
        groups=groups,
        n_groups=options.clusters,
        households=households,
        words=words,
    )


def _check_known(store: CellStore, finer: CellStore, options: AssessOptions) -> None:
    """Every record has a value of each column that says how it was drawn."""
    for key, name in zip(finer.keys[len(store.keys) :], options.drawn_by.values(), strict=True):
        lacking = key.n_missing + key.n_suppressed + key.n_not_applicable
        if lacking or finer.n_records != store.n_records:
            role = next(role for role, column in options.drawn_by.items() if column == name)
            got = f"{lacking or store.n_records - finer.n_records:,} records without it"
            raise InputError(must_be(f"{role} {name!r}", "known of every record", got))


def _words_of_weights(cells: Cells) -> tuple[str, ...]:
    """The keys that say how likely a record was to be drawn, in words."""
    if not cells.weighted or cells.space.overlap:
        return ()
    sizes = cells.space.coding.sizes
    sums = cells.fold(WeightsOfLevels(sizes))
    if _are_alike(sums[:, : sizes[0]].sum(axis=1, keepdims=True)):
        return ()
    ends = np.cumsum((0, *sizes))
    same = [
        name
        for name, first, last in zip(cells.space.names, ends, ends[1:], strict=False)
        if _are_alike(sums[:, first:last])
    ]
    return tuple(
        f"the weights are the same for all with the same {name}, as where each was drawn at a rate "
        "of its own"
        for name in same
    )


def _are_alike(sums: FloatArray) -> bool:
    """Whether the records of each level have one weight."""
    records, weight, squares = sums
    with np.errstate(over="ignore", invalid="ignore"):  # of weights beyond all reason
        return bool(np.all(records * squares - weight**2 <= SAME_WEIGHT * records * squares))


@dataclass(frozen=True, slots=True)
class WeightsOfLevels:
    """Records, weights and squares of weights of each level of each key, one key after the
    other."""

    sizes: tuple[int, ...]
    reads: tuple[str, ...] = ("squares",)

    def of(self, batch: CellBatch) -> FloatArray:
        """Of some cells."""
        assert batch.weight_total is not None
        own = batch.n_records, batch.weight_total, batch.extra["squares"]
        levels = batch.levels().T
        return np.stack([
            np.concatenate([
                np.bincount(column, values, size)
                for column, size in zip(levels, self.sizes, strict=True)
            ])
            for values in own
        ])  # fmt: skip

    def joined(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """Of the cells of both."""
        return one + other


def _clusters_told(given: int | None, drawn: int, fraction: float | None) -> str:
    """What is made of the clusters, in words; raises InputError for a number that cannot be."""
    if given is None:
        what = "one cluster of the file is" if drawn == 1 else f"{drawn:,} clusters of the file are"
        return (
            f"the {what} taken to be there with all members, as the number of clusters in the "
            "population (clusters) was not given; if only some members of each were drawn, the "
            "estimate is far too high"
        )
    if given < drawn:
        rule = f"at least the {drawn:,} of the file"
        raise InputError(must_be("clusters", rule, f"{given:,}"))
    share = 1.0 if fraction is None else fraction * given / drawn
    if share > MOST_OF_A_CLUSTER:
        most = MOST_OF_A_CLUSTER * drawn / (fraction or 1)
        rule = (
            f"at most about {most:,.0f}, with which the {drawn:,} of the file, taken whole, would "
            "hold twice their share"
        )
        remedy = "is it the right column?"
        raise InputError(must_be("clusters", rule, f"{given:,}", remedy=remedy))
    if share >= 1:
        return (
            f"the {drawn:,} clusters of the file are taken to be there with all their members: of "
            f"{given:,} in the population they hold {share:.1f} times their share"
        )
    are = "is" if drawn == 1 else "are"
    return (
        f"of {given:,} clusters {drawn:,} {are} in the file, each with about {100 * share:.3g} % "
        "of its members"
    )


def _sizes(cells: Cells, key: int) -> IntArray:
    """The records of each level of a key."""
    return cells.margins([(key,)])[(key,)]


def _complete_households(store: CellStore, cells: Cells, fraction: float) -> str:
    """Why households seem to have been drawn whole, in words; empty where they do not."""
    sizes = _sizes(cells, len(cells.space.keys) - 1)
    sizes = sizes[sizes > 0]
    n, n_households = store.n_records, len(sizes)
    if n < FEW_TOGETHER * n_households:
        return ""
    told = f"the {n:,} records are of {n_households:,} households"
    key = _key_of_size(store, cells)
    if key:
        return f"{told}, each with as many members in the file as {key} says{DRAWN_WHOLE}"
    others = _others_of_the_most(sizes)
    if others > MOST_OTHERS * fraction + ALWAYS_OTHERS:
        return (
            f"{told}: on average {others:.1f} others of the household of a record are in the file "
            f"too, more than persons who were drawn one by one could have{DRAWN_WHOLE}"
        )
    return ""


def _others_of_the_most(sizes: IntArray) -> float:
    """How many other members of their household records have in the file, on average, but for the
    `IN_HOMES` of the records that have most: homes with many members are there in part whenever
    persons are drawn one by one."""
    members = np.sort(sizes)
    left = members.sum() * (1 - IN_HOMES)
    counted = np.clip(left - (np.cumsum(members) - members), 0, members)
    return float(counted @ (members - 1)) / max(float(left), 1.0)


def _key_of_size(store: CellStore, cells: Cells) -> str:
    """The key that says how many members each household has in the file."""
    held = cells.held(MOST_UNITS)
    if held is None:
        return ""
    levels = held.levels()
    members = np.bincount(levels[:, -1], held.n_records)[levels[:, -1]]
    for place, key in enumerate(store.keys):
        told = np.array([_whole_number(value) for value in key.values])[levels[:, place]]
        if held.n_records[told == members].sum() >= COMPLETE * store.n_records:
            return key.name
    return ""


def _whole_number(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else -1


def _doubt_of_order(orders: Sequence[ColumnOrder] | Unavailable) -> str:
    """That neighbours in the file are alike in several keys, as where they were drawn together.

    A file that was put in order by a key says nothing of that.
    """
    if isinstance(orders, Unavailable):
        return ""
    if any(one.in_order for one in orders):
        return ""
    alike = [
        one.name for one in orders if one.like_neighbours > max(SURELY, ALIKE * one.n_records**0.5)
    ]
    if len(alike) < LEAST_ALIKE:
        return ""
    return (
        f"neighbours in the file are alike in {', '.join(alike)}, as where areas or households "
        f"were drawn together; that was not said, so {SINGLY}: give the column that tells them "
        "(cluster or household)"
    )


def _by_stratum(finer: Cells, n_after: int) -> LocalCells:
    """The cells without the stratum, after which so many keys come, each record with the mean
    weight of its stratum."""
    held = finer.held(MOST_UNITS)
    assert held is not None
    assert held.weight_total is not None
    n_keys = len(finer.space.keys)
    place = n_keys - 1 - n_after
    stratum = held.coding.level(held.words, place)
    mean = np.bincount(stratum, held.weight_total) / np.maximum(
        np.bincount(stratum, held.n_records), 1
    )
    own = mean[stratum]
    view = finer.space.itself().of_keys([key for key in range(n_keys) if key != place])
    words, at = distinct_rows(view.words(held.words), view.space.coding.n_combinations)
    records, weight, squares = (
        np.bincount(at, values, len(words)).astype(np.float64)
        for values in (held.n_records, held.n_records * own, held.n_records * own**2)
    )
    return LocalCells.of_arrays(
        words, records.astype(np.int64), view.space, weight, squares=squares
    )
