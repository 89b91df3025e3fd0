"""Figures from many rows, computed where the rows lie.

A step turns some rows into a state and joins two states into one; as joining is exact in any order,
the answer does not depend on how Spark cuts the rows. One state a partition is pickled and joined
with others in a second stage; the driver sees a few.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

from discreet.engines.spark.work import Work, mapped
from discreet.errors import DiscreetError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_HAND = 1 << 17
JOINERS = 4  # tasks that join the states of all partitions
SCHEMA = "state binary"
Joined = Callable[[Any, Any], Any]


class Step(Protocol):
    """What is computed of rows; it must be picklable, and so must its states."""

    def of(self, batch: Any) -> Any:
        """The state of some rows."""

    def joined(self, one: Any, other: Any) -> Any:
        """The state of the rows of both."""


def fold(
    work: Work,
    what: str,
    frame: Any,
    step: Step,
    read: "Callable[[pa.Table], Any] | None" = None,
    *,
    whole: bool = False,
) -> Any:
    """The state of all rows of the frame, None for no rows; `read` makes a batch of a table, which
    has some rows of a partition, or with `whole` all of them."""

    def states(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        tables = whole_partition(batches) if whole else in_hand(batches)
        yield from _pickled(
            lambda: _joined(step.joined, (step.of(read(t) if read else t) for t in tables))
        )

    frames = mapped(frame, states, SCHEMA)
    return joined_states(work, frames, step.joined, what)


def joined_states(work: Work, frame: Any, joined: Joined, what: str = "reading the cells") -> Any:
    """The pickled states of a frame put together, in a narrower stage and then in the driver; None
    where there are none."""

    def joining(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        yield from _pickled(lambda: _joined(joined, _states(batches)))

    found = mapped(frame.repartition(JOINERS), joining, SCHEMA)
    rows = work.run(what, found.collect)
    return _joined(joined, (_opened(bytes(row[0])) for row in rows))


def whole_partition(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.Table]":
    """All rows of a partition as one table, if there are any."""
    import pyarrow as pa

    held = list(batches)
    if sum(map(len, held)):
        yield pa.Table.from_batches(held)


def in_hand(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.Table]":
    """The rows in tables of some size, as Spark gives few at a time."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= ROWS_AT_HAND:
            yield pa.Table.from_batches(held)
            held = []
    if sum(map(len, held)):
        yield pa.Table.from_batches(held)


def _joined(joined: Joined, states: Iterable[Any]) -> Any:
    found = iter(states)
    first = next(found, None)
    return first if first is None else reduce(joined, found, first)


def pickled(state: Any) -> bytes:
    """A state to be sent."""
    return pickle.dumps((state, None), protocol=pickle.HIGHEST_PROTOCOL)


def _pickled(action: Callable[[], Any]) -> "Iterator[pa.RecordBatch]":
    """The state, or the complaint, which Spark would wrap in one of its own."""
    import pyarrow as pa

    try:
        state, complaint = action(), None
    except DiscreetError as error:
        state, complaint = None, error
    if state is not None or complaint is not None:
        said = pickle.dumps((state, complaint), protocol=pickle.HIGHEST_PROTOCOL)
        yield pa.RecordBatch.from_pydict({"state": pa.array([said], pa.binary())})


def _states(batches: "Iterable[pa.RecordBatch]") -> Iterator[Any]:
    for batch in batches:
        for said in batch.column(0):
            yield _opened(said.as_buffer().to_pybytes())


def _opened(said: bytes) -> Any:
    state, complaint = pickle.loads(said)
    if complaint is not None:
        raise complaint
    return state
