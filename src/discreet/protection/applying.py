"""A recipe carried out on a file: what every combination of keys becomes, then every record.

Recodings and suppression are worked out on the cells, so that a file of any size can be changed:
its records are read once more, some at a time, and look up what their cell became. From the first
step on that treats records by chance, or puts them into another order, the keys of all records are
held in memory: four bytes for each key of a record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.engines.contract import CodedRows, RowStore
from discreet.engines.key_space import KeyLevels
from discreet.engines.local.grouping import places_among
from discreet.errors import InputError, must_be
from discreet.masks.records.contract import CodedRecords, RecordMethod
from discreet.masks.records.order import RemoveColumns
from discreet.masks.records.pram import FittedPram, Pram
from discreet.masks.records.recoding import RECODINGS, Drop, Recoding, Same, recodings_in
from discreet.masks.records.suppress import Suppress
from discreet.masks.records.suppression import Suppression
from discreet.masks.records.swapping import Swap, Swapped
from discreet.masks.records.weights import RemoveWeights
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.progress import Progress, silent
from discreet.protection.counted import Counted, suppressed
from discreet.protection.ladders import leaf_shares, leaves_of_key
from discreet.protection.mending import Solved
from discreet.protection.recipe import Recipe
from discreet.protection.transition import Transition

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 30_000_000  # combinations that are held while they are changed
Risks = Callable[[Counted], FloatArray]  # the risk of each row of a file as it is now


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file as it was counted: its cells in the order of their codes, and where its records are.

    `population` is the number of persons in the population, where it is known. `weight` and
    `household` are the columns that hold these.
    """

    store: RowStore
    words: IntArray
    counted: Counted
    population: float | None = None
    weight: str | None = None
    household: str | None = None
    sensitive: tuple[str, ...] = ()
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)
    cell_weight: FloatArray | None = None
    solved: Solved = field(default_factory=Solved)

    @classmethod
    def of_store(cls, store: RowStore, **more: Any) -> "Source":
        """All cells at once; raises InputError where they are too many."""
        batch = store.cells.held(MOST_CELLS)
        if batch is None:
            rule = f"at most {MOST_CELLS:,} combinations that occur"
            remedy = "name fewer keys, or give coarser ones"
            raise InputError(must_be("keys", rule, f"{store.cells.n_cells:,}", remedy=remedy))
        order = np.lexsort(batch.words.T[::-1])
        part = batch.part(order)
        counted = Counted(
            keys=store.keys,
            levels=part.levels().astype(np.int32),
            n=part.n_records,
            origin=np.arange(len(part)),
        )
        return cls(
            store=store,
            words=part.words,
            counted=counted,
            cell_weight=part.weight_total,
            **more,
        )

    @property
    def n_records(self) -> int:
        """Records of the file."""
        return self.store.n_records

    def sensitive_values(self, names: Sequence[str]) -> dict[str, tuple[IntArray, IntArray]]:
        """The cells and the values of sensitive variables, one row for each pair that occurs."""
        found = {}
        for name in names:
            if name not in self.sensitive:
                remedy = "name it (sensitive)"
                rule = "one of the sensitive variables"
                raise InputError(must_be("what is diverse", rule, repr(name), remedy=remedy))
            pairs = list(self.store.sensitive_pairs(name))
            words = np.concatenate([one["words"] for one in pairs])
            value = np.concatenate([one["value"] for one in pairs])
            found[name] = (places_among(self.words, words, ordered=True), value)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Some records as they go out: their rows in the source, from 0, and their levels, with the
    carried columns as an Arrow table, and new weights where there are any."""

    rows: IntArray
    levels: IntArray
    carried: "pa.Table"
    weight: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A file after a recipe.

    `recipe` has the steps as they were fitted to the file. `anew` are keys whose values some
    records have from others, by chance or by swapping. `records` is None as long as nothing was
    done to records one by one. `chances` are the steps that treated them by chance.
    """

    source: Source
    recipe: Recipe
    counted: Counted
    recoded: Mapping[str, IntArray]
    records: CodedRecords | None = None
    anew: frozenset[str] = frozenset()
    gone_columns: tuple[str, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    chances: tuple["Chance", ...] = ()

    @property
    def keys(self) -> tuple[KeyLevels, ...]:
        """The keys as they go out, those that are left out among them."""
        return self.counted.keys

    @property
    def dropped(self) -> frozenset[str]:
        """Keys that are left out."""
        return frozenset(step.key for step in self.recipe.steps if isinstance(step, Drop))

    @classmethod
    def untouched(cls, source: Source) -> "Changed":
        """The file as it is."""
        names = tuple(key.name for key in source.counted.keys)
        return carried_out(source, Recipe(keys=names))

    def recoded_alone(self) -> "Changed":
        """The file after the recodings alone."""
        recipe = replace(self.recipe, steps=tuple(recodings_in(self.recipe.steps)))
        return carried_out(self.source, recipe)

    def without_exchanges(self) -> "Changed | None":
        """The file after all steps but those by which records have values from others; None where
        there is no such step."""
        steps = tuple(step for step in self.recipe.steps if not isinstance(step, Pram | Swap))
        if len(steps) == len(self.recipe.steps):
            return None
        return carried_out(self.source, replace(self.recipe, steps=steps))

    def leaves(self, key: str) -> int:
        """The size of the domain of a key in the source."""
        own = self.source.counted.keys[self.source.counted.place(key)]
        return leaves_of_key(own, self.source.trees.get(key))

    def row_places(self) -> Iterator[IntArray]:
        """For every record in its order, some at a time, the row of `counted` that it belongs to.
        Trusted: nothing was done to records one by one."""
        for _, place in _placed(self.source, self.counted, ()):
            yield place

    def is_recoded(self, key: str) -> bool:
        """Whether the levels of a key are others than in the source."""
        return bool(self._hows(key))

    @property
    def kept_keys(self) -> tuple[str, ...]:
        """The names of the keys that go out."""
        gone = {*self.dropped, *self.gone_columns}
        return tuple(key.name for key in self.keys if key.name not in gone)

    @property
    def with_less(self) -> frozenset[str]:
        """Keys of which some value was taken out."""
        masks = [one.without for one in self.suppressions]
        return frozenset(
            key.name
            for place, key in enumerate(self.keys)
            if any(bool((mask >> place & 1).any()) for mask in masks)
        )

    @property
    def left(self) -> int:
        """Records that local suppression could not help."""
        return sum(one.left for one in self.suppressions)

    @property
    def n_records(self) -> int:
        """Records that go out."""
        return self.source.n_records if self.records is None else len(self.records)

    def rows(self, carry: Sequence[str]) -> Iterator[Rows]:
        """The records in the order in which they go out, some at a time."""
        if self.records is None:
            yield from _looked_up(self.source, self.counted, carry)
            return
        first = 0
        for table in self.source.store.rows_at(self.records.rows, carry):
            here = slice(first, first + table.num_rows)
            first += table.num_rows
            weight = self.records.weight
            yield Rows(
                rows=self.records.rows[here],
                levels=self.records.levels[here],
                carried=table,
                weight=None if weight is None else weight[here],
            )

    def transition(self) -> Transition:
        """What the combinations of the file became."""
        before = self.source.counted
        found = _of_cells(self) if self.records is None else _of_records(self)
        levels_before, levels_after, records, weight = found
        keys_after = self.keys
        return Transition(
            keys_before=before.keys,
            keys_after=keys_after,
            before=levels_before,
            after=levels_after,
            records=records,
            recoded=tuple(self.recoded[key.name] for key in before.keys),
            leaf_shares=tuple(
                leaf_shares(own, now, self.recoded[own.name], self._hows(own.name),
                            self.source.trees.get(own.name))
                for own, now in zip(before.keys, keys_after, strict=True)
            ),
            weight=weight,
        )  # fmt: skip

    def _hows(self, key: str) -> tuple[Recoding, ...]:
        """The recodings of a key in their order."""
        return tuple(step for step in recodings_in(self.recipe.steps) if step.key == key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """A step by which records have values from others, with the records before it and what tells
    how probable each change was."""

    step: Pram | Swap
    before: CodedRecords
    after: CodedRecords | None = None
    fitted: FittedPram | None = None
    swapped: Swapped | None = None


Combined = tuple[IntArray, IntArray, IntArray, FloatArray | None]


def _of_cells(changed: Changed) -> Combined:
    """The levels of every cell before and after, with its records; the weight of a cell is shared
    among what it became as its records are."""
    before, after = changed.source.counted, changed.counted
    weight = None
    if changed.source.cell_weight is not None:
        weight = changed.source.cell_weight[after.origin] * (after.n / before.n[after.origin])
    return before.levels[after.origin], after.levels, after.n, weight


def _of_records(changed: Changed) -> Combined:
    """What the combinations became, told record by record."""
    records, source = changed.records, changed.source
    assert records is not None
    cell = np.concatenate(
        [places_among(source.words, one.words, ordered=True) for one in source.store.coded_rows(())]
    )
    before = source.counted.levels[cell[records.rows]]
    both = np.concatenate([before, records.levels], axis=1)
    distinct, place, n = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    width = before.shape[1]
    weight: FloatArray | None = None
    if records.weight is not None:
        weight = np.bincount(place.ravel(), weights=records.weight).astype(np.float64)
    return distinct[:, :width], distinct[:, width:], n.astype(np.int64), weight


def carried_out(
    source: Source,
    recipe: Recipe,
    *,
    risks: Risks | None = None,
    progress: Progress = silent,
) -> Changed:
    """A file after every step of a recipe; its steps as they were fitted come with it.

    `risks` estimates the risk of the records, for steps that ask for it.
    """
    carrying = _Carrying(source, recipe, risks, progress)
    for step in recipe.steps:
        carrying.take(step)
    return carrying.changed()


@dataclass
class _Carrying:
    """The file after the steps so far. `told` are these steps as they were fitted."""

    source: Source
    recipe: Recipe
    risks: Risks | None
    progress: Progress
    counted: Counted = field(init=False)
    recoded: dict[str, IntArray] = field(init=False)
    records: CodedRecords | None = None
    anew: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    told: list[RecordMethod] = field(default_factory=list)
    suppressions: list[Suppression] = field(default_factory=list)
    chances: list[Chance] = field(default_factory=list)
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.counted = self.source.counted
        self.recoded = {
            key.name: np.arange(max(len(key.values), 1)) for key in self.source.counted.keys
        }
        self.rng = np.random.default_rng(self.recipe.seed)

    def take(self, step: Any) -> None:
        """One step."""
        if isinstance(step, tuple(RECODINGS.values())):
            self._recode(step)  # type: ignore[arg-type]
        elif isinstance(step, Suppress):
            self._suppress(step)
        else:
            self._by_record(step)
        self.progress("changing the file", len(self.told) / len(self.recipe.steps))

    def _recode(self, step: Recoding) -> None:
        key = self.counted.place(step.key)
        levels = self.counted.margin(key, self.source.population)
        self.counted, fitted, to = self.counted.recoded(levels, step)
        self.recoded[step.key] = to[self.recoded[step.key]]
        if not isinstance(fitted, Same):  # no level was rare: then there is nothing to tell
            self.told.append(fitted)
        if self.records is not None:
            self.records = self._of_counted()

    def _suppress(self, step: Suppress) -> None:
        values = self.source.sensitive_values(list(step.diverse)) if step.diverse else None
        if values is not None and self.records is not None:
            rule = "before steps that treat single records"
            raise InputError(must_be("suppression for diverse values", rule, "one after them"))
        risk = None if step.above is None or self.risks is None else self.risks(self.counted)
        done = suppressed(
            self.counted,
            step,
            values=values,
            risk=risk,
            solved=self.source.solved,
            progress=self.progress,
        )
        self.counted = done.after
        self.suppressions.append(done.found)
        self.told.append(step)
        if self.records is not None:
            self.records = self._of_counted()

    def _by_record(self, step: Any) -> None:
        """A step that treats records one by one, or the columns of the file."""
        if isinstance(step, RemoveColumns):
            self.gone += [name for name in step.columns if name not in self.gone]
        elif isinstance(step, RemoveWeights):
            self.gone += [self.source.weight] if self.source.weight is not None else []
        else:
            before = self.records or self._all_records()
            self.records = self._treated(step, before)
            self._note_what_is_anew(before)
            self.counted = Counted(
                keys=self.records.keys,
                levels=self.records.levels,
                n=np.ones(len(self.records), dtype=np.int64),
                origin=np.arange(len(self.records)),
            )
        self.told.append(step)

    def _treated(self, step: Any, before: CodedRecords) -> CodedRecords:
        """The records after a step; what it leaves to an intruder is kept beside them."""
        if isinstance(step, Swap):
            swapped = step.swapped(before, self.rng)
            self.chances.append(Chance(step=step, before=before, swapped=swapped))
            return swapped.records
        if isinstance(step, Pram):
            fitted = step.fitted(before)
            after = fitted.drawn(before, self.rng)
            self.chances.append(Chance(step=step, before=before, fitted=fitted, after=after))
            return after
        found: CodedRecords = step.applied(before, self.rng)
        return found

    def _note_what_is_anew(self, before: CodedRecords) -> None:
        """Keys whose values some records now have from others."""
        assert self.records is not None
        was = _by_row(before, self.records)
        for key, one in enumerate(self.records.keys):
            if not np.array_equal(self.records.levels[:, key], was[:, key]):
                self.anew.add(one.name)

    def _all_records(self) -> CodedRecords:
        """The keys of every record, in memory, with its household and weight."""
        wanted = [c for c in (self.source.household, self.source.weight) if c is not None]
        parts = list(_looked_up(self.source, self.counted, wanted))
        household = weight = None
        if self.source.household is not None:
            household = _numbered([one.carried.column(self.source.household) for one in parts])
        if self.source.weight is not None:
            weight = _as_numbers([one.carried.column(self.source.weight) for one in parts])
        return CodedRecords(
            keys=self.counted.keys,
            levels=np.concatenate([one.levels for one in parts]),
            rows=np.concatenate([one.rows for one in parts]),
            household=household,
            weight=weight,
        )

    def _of_counted(self) -> CodedRecords:
        """The records after a step on a table with a row for each of them."""
        assert self.records is not None
        return replace(self.records, keys=self.counted.keys, levels=self.counted.levels)

    def changed(self) -> Changed:
        """The file after all steps."""
        return Changed(
            source=self.source,
            recipe=replace(self.recipe, steps=tuple(self.told)),
            counted=self.counted,
            recoded=self.recoded,
            records=self.records,
            anew=frozenset(self.anew),
            gone_columns=tuple(self.gone),
            suppressions=tuple(self.suppressions),
            chances=tuple(self.chances),
        )


def _by_row(before: CodedRecords, after: CodedRecords) -> IntArray:
    """The levels before of the records after."""
    place = np.empty(int(before.rows.max(initial=-1)) + 1, dtype=np.int64)
    place[before.rows] = np.arange(len(before))
    return before.levels[place[after.rows]]


def _numbered(columns: "Sequence[pa.ChunkedArray]") -> IntArray:
    """Households as numbers."""
    import pyarrow as pa

    whole = pa.chunked_array([chunk for column in columns for chunk in column.chunks])
    coded = whole.combine_chunks().dictionary_encode()
    return np.asarray(coded.indices.fill_null(-1), dtype=np.int64)


def _as_numbers(columns: "Sequence[pa.ChunkedArray]") -> FloatArray:
    """Weights, which were checked when the records were counted."""
    import pyarrow as pa

    whole = pa.chunked_array([chunk for column in columns for chunk in column.chunks])
    return np.asarray(whole.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _looked_up(source: Source, counted: Counted, carry: Sequence[str]) -> Iterator[Rows]:
    """Every record with what its cell became."""
    first = 0
    for batch, row in _placed(source, counted, carry):
        rows = np.arange(first, first + len(row))
        first += len(row)
        yield Rows(rows=rows, levels=counted.levels[row], carried=batch.carried)


def _placed(
    source: Source, counted: Counted, carry: Sequence[str]
) -> Iterator[tuple[CodedRows, IntArray]]:
    """The records some at a time, with the row of the changed file that each belongs to. Those of a
    cell that became several rows belong to these in the order of the file."""
    starts = np.searchsorted(counted.origin, np.arange(len(source.words) + 1))
    parted = np.diff(starts) > 1
    ends = np.cumsum(counted.n)  # of the records of each row, all rows laid out one after the other
    seen = np.zeros(len(source.words), dtype=np.int64)
    for batch in source.store.coded_rows(carry):
        cell = places_among(source.words, batch.words, ordered=True)
        row = starts[cell]
        among = np.flatnonzero(parted[cell])
        if len(among):
            own = cell[among]
            rank = _rank(own) + seen[own]
            seen += np.bincount(own, minlength=len(seen))
            before = ends[starts[own]] - counted.n[starts[own]]
            row[among] = np.searchsorted(ends, before + rank, side="right")
        yield batch, row


def _rank(group: IntArray) -> IntArray:
    """How many rows before each are of the same group."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    start = np.repeat(first, np.diff(np.r_[first, len(group)]))
    found = np.empty(len(group), dtype=np.int64)
    found[order] = np.arange(len(group)) - start
    return found
