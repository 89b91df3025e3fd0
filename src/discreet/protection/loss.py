"""What a change of a file has cost, in all and by key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import BoolArray, FloatArray
from discreet.numerics.rounding import first_largest
from discreet.protection.key_change import KeyChange, key_change
from discreet.protection.key_tables import (
    Keys,
    TableMoves,
    key_columns,
    one_way_moves,
    two_way_moves,
)
from discreet.protection.propensity import Propensity, propensity
from discreet.protection.search_loss import SEARCH_LOSSES, SearchLoss, normalised
from discreet.protection.transition import Transition

NO_KEYS = Unavailable("no keys were given")
NO_RECORDS = Unavailable("there are no records")
NO_WEIGHTS = Unavailable("the file has no weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One figure in all, and the same of each key, by its name."""

    overall: Outcome
    by_key: Mapping[str, Outcome] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The figure, with those of the keys inside it."""
        by_key = {name: found.to_json() for name, found in self.by_key.items()}
        return {**self.overall.to_json(), "by_key": by_key}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCost:
    """The mean over tables of one key or of two, the worst of them and where, and each by its keys.

    `weighted` is the same of persons as the weights count them; `pooled`, of information, the sum
    over all tables after over that before, to which tables that had little hardly add. `left_out`
    are tables of more than 2²² cells, which nothing here speaks of.
    """

    mean: Outcome
    worst: Outcome
    worst_at: tuple[str, ...] = ()
    by_table: Mapping[tuple[str, ...], Outcome] = field(default_factory=dict)
    weighted: "TableCost | Unavailable | None" = None
    pooled: Outcome | None = None
    left_out: tuple[tuple[str, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The mean as a figure, with the worst and all others inside it."""
        found = {
            **self.mean.to_json(),
            "worst": {"keys": list(self.worst_at), **self.worst.to_json()},
            **self._tables(),
            "left_out": [list(names) for names in self.left_out],
        }
        more = {"weighted": self.weighted, "pooled": self.pooled}
        return found | {name: one.to_json() for name, one in more.items() if one is not None}

    def _tables(self) -> dict[str, Any]:
        """By key as an object by name; by pair as a list, for a name may hold any separator."""
        if all(len(names) == 1 for names in self.by_table):
            return {"by_key": {names[0]: one.to_json() for names, one in self.by_table.items()}}
        by_pair = [{"keys": list(keys), **one.to_json()} for keys, one in self.by_table.items()]
        return {"by_pair": by_pair}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What the records lost from before to after.

    A value that was known is `suppressed` if it is missing now, `changed` if it is not the recoding
    of what it was (one that was missing and is filled in counts here too), `coarsened` if its level
    holds several old ones: never two of these. `dropped_keys` were left out altogether; their
    values are coarsened into one level. `records_touched` have a value that was suppressed or
    changed, `records_as_before` have all their values as they were.

    `search` are the losses that a search over recodings may use, of all records; `arx`, the metric
    "Loss" of ARX, is one of them. `entropy_kept` is I(before; after) / H(before) of each key.
    The distances are the share of persons in another cell than the recoding alone would put them
    in; a suppressed value is in none. `two_way_information_kept` is the mutual information of two
    keys after over that before, each times the share of records that have both values, at most 1,
    of the pairs that had some; a pair with little counts as much as one with much.
    """

    n_records: int
    suppressed_values: Cost
    changed_values: Cost
    coarsened_values: Cost
    dropped_keys: tuple[str, ...]
    records_touched: Outcome
    records_as_before: Outcome
    search: Mapping[str, Cost]
    entropy_kept: Cost
    one_way_distance: TableCost
    two_way_distance: TableCost
    two_way_information_kept: TableCost
    pmse: Propensity
    pmse_two_way: Propensity

    @property
    def arx(self) -> Cost:
        """The metric "Loss" of ARX."""
        return self.search["arx"]

    def to_json(self) -> dict[str, Any]:
        """All of it by name; every measure is a figure with its parts inside it."""
        return {
            "records": self.n_records,
            "suppressed_values": self.suppressed_values.to_json(),
            "changed_values": self.changed_values.to_json(),
            "coarsened_values": self.coarsened_values.to_json(),
            "dropped_keys": list(self.dropped_keys),
            "records_touched": self.records_touched.to_json(),
            "records_as_before": self.records_as_before.to_json(),
            "arx": self.arx.to_json(),
            "search_losses": {name: cost.to_json() for name, cost in self.search.items()},
            "entropy_kept": self.entropy_kept.to_json(),
            "one_way_distance": self.one_way_distance.to_json(),
            "two_way_distance": self.two_way_distance.to_json(),
            "two_way_information_kept": self.two_way_information_kept.to_json(),
            "pmse": {**self.pmse.to_json(), "two_way": self.pmse_two_way.to_json()},
        }


def loss_of(
    transition: Transition,
    *,
    importance: FloatArray | None = None,
    leaves: Sequence[int] | None = None,
) -> Loss:
    """What the transition cost.

    `importance` weighs the keys in the losses of a search and in the mean entropy kept; by default
    all are equal. `leaves` are those of the domain of each key; without them the least number that
    fits the known levels and the leaf shares is taken. Checked: the importance. Trusted: the
    levels of the transition.
    """
    n_keys = len(transition.keys_before)
    weights = normalised(importance, n_keys)
    given = [None] * n_keys if leaves is None else leaves
    keys = [key_change(transition, j, given[j]) for j in range(n_keys)]
    columns = key_columns(transition)
    names = tuple(key.name for key in keys)
    two_way = two_way_moves(transition, columns)
    return Loss(
        n_records=transition.n_records,
        suppressed_values=_values(keys, lambda key: key.suppressed),
        changed_values=_values(keys, lambda key: key.changed),
        coarsened_values=_values(keys, lambda key: key.coarsened),
        dropped_keys=tuple(key.name for key in keys if key.dropped),
        records_touched=_records(transition, keys, lambda key: key.suppressed | key.changed),
        records_as_before=_as_before(transition, keys),
        search={name: _searched(keys, loss, weights) for name, loss in SEARCH_LOSSES.items()},
        entropy_kept=_entropy_kept(keys, weights),
        one_way_distance=_distance(one_way_moves(transition, columns), names, transition),
        two_way_distance=_distance(two_way, names, transition),
        two_way_information_kept=_information(two_way, names),
        pmse=propensity(columns, names, transition.records),
        pmse_two_way=propensity(columns, names, transition.records, two_way=True),
    )


def _exact(value: float) -> Figure:
    return Figure(value=value, how=How.EXACT)


def _values(keys: Sequence[KeyChange], which: Callable[[KeyChange], BoolArray]) -> Cost:
    counts = {key.name: key.count(which(key)) for key in keys}
    by_key = {name: _exact(count) for name, count in counts.items()}
    return Cost(overall=_exact(sum(counts.values())), by_key=by_key)


def _records(
    transition: Transition, keys: Sequence[KeyChange], which: Callable[[KeyChange], BoolArray]
) -> Figure:
    """Records of which a value in any key is in one of the cells."""
    found = np.zeros(len(transition.records), dtype=np.bool_)
    for j, key in enumerate(keys):
        cells = which(key)
        if cells.any():
            found |= _rows_in(transition, j, key, cells)
    return _exact(int(transition.records[found].sum()))


def _rows_in(transition: Transition, j: int, key: KeyChange, cells: BoolArray) -> BoolArray:
    """Which rows are in one of these cells of a key: found among the codes of the cells."""
    codes = key.before[cells] * key.n_after + key.after[cells]
    rows = transition.before[:, j] * key.n_after + transition.after[:, j]
    return np.asarray(np.isin(rows, codes))


def _as_before(transition: Transition, keys: Sequence[KeyChange]) -> Figure:
    moved = _records(transition, keys, lambda key: key.suppressed | key.changed | key.coarsened)
    return _exact(transition.n_records - int(moved.value or 0))


def _searched(keys: Sequence[KeyChange], loss: SearchLoss, weights: FloatArray) -> Cost:
    if not keys:
        return Cost(overall=NO_KEYS)
    if not any(len(key.records) for key in keys):
        return Cost(overall=NO_RECORDS)
    by_key = np.array([key.mean_loss(loss) for key in keys])
    return Cost(
        overall=_exact(float(loss.together(by_key, weights))),
        by_key={key.name: _exact(float(x)) for key, x in zip(keys, by_key, strict=True)},
    )


def _entropy_kept(keys: Sequence[KeyChange], weights: FloatArray) -> Cost:
    """The mean over the keys that had any: one with a single value has nothing to keep."""
    shares = [key.entropy_kept() for key in keys]
    none = Unavailable("the key has a single value, so there is no entropy to keep")
    by_key: dict[str, Outcome] = {
        key.name: none if share is None else _exact(share)
        for key, share in zip(keys, shares, strict=True)
    }
    known = [(share, w) for share, w in zip(shares, weights, strict=True) if share is not None]
    total = sum(w for _, w in known)
    if not total:
        why = Unavailable("no key of any importance has several values")
        return Cost(overall=why if keys else NO_KEYS, by_key=by_key)
    return Cost(overall=_exact(sum(s * w for s, w in known) / total), by_key=by_key)


def _distance(moves: TableMoves, names: Sequence[str], transition: Transition) -> TableCost:
    none = _no_table(moves, names)
    weighted: TableCost | Unavailable = NO_WEIGHTS
    if transition.weight is not None:
        weighted = _over_tables(moves.weighted, moves, names, none)
    return _over_tables(moves.distances, moves, names, none, weighted=weighted)


def _information(moves: TableMoves, names: Sequence[str]) -> TableCost:
    none = _no_table(moves, names)
    if moves.distances:
        none = Unavailable(
            "no two keys have any information of each other, so there is none to keep"
        )
    found = _over_tables(moves.information, moves, names, none, least_is_worst=True)
    before = sum(moves.bits_before[keys] for keys in moves.information)
    kept = sum(moves.bits_before[keys] * share for keys, share in moves.information.items())
    return replace(found, pooled=_exact(kept / before) if before else none)


def _no_table(moves: TableMoves, names: Sequence[str]) -> Unavailable:
    if moves.too_large:
        return Unavailable("every table of two keys has more than 2²² cells")
    return Unavailable("there are not two keys") if len(names) == 1 else NO_KEYS


def _over_tables(
    found: Mapping[Keys, float],
    moves: TableMoves,
    names: Sequence[str],
    none: Unavailable,
    *,
    weighted: "TableCost | Unavailable | None" = None,
    least_is_worst: bool = False,
) -> TableCost:
    """Mean and worst of these tables; the first of those that are equally bad but for rounding."""
    left_out = tuple(tuple(names[j] for j in keys) for keys in moves.too_large)
    if not found:
        return TableCost(mean=none, worst=none, weighted=weighted, left_out=left_out)
    tables, values = list(found), list(found.values())
    sign = -1.0 if least_is_worst else 1.0
    at = tables[first_largest([sign * value for value in values])]
    return TableCost(
        mean=_exact(float(np.mean(values))),
        worst=_exact(found[at]),
        worst_at=tuple(names[j] for j in at),
        by_table={tuple(names[j] for j in keys): _exact(x) for keys, x in found.items()},
        weighted=weighted,
        left_out=left_out,
    )
