"""An engine whose cells lie in many small parts, in no order, and come in another one each time.

What is computed from its cells must not rest on an order, on how cells fall into batches, or on
having more of them at once than was asked for.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.local.cells import LocalCells
from discreet.engines.local.parts import Part, Shelf

MOST_ASKED = 20_000_000  # cells that nobody may ask for more than at once


class MemoryShelf(Shelf):
    """Keeps every part in memory, however many there are: what files hold is tested elsewhere."""

    def part(self, columns, *, on_disk):
        """These columns as a part."""
        kinds = {name: (values.dtype, values.shape[1:]) for name, values in columns.items()}
        length = len(next(iter(columns.values())))
        return Part(length, None, dict(columns), kinds if on_disk else {})

    def scattered(self, rows, n_parts):
        """Parts of rows, each chosen by its number."""
        given = list(rows)
        numbers = np.concatenate([number for number, _ in given])
        columns = {name: np.concatenate([own[name] for _, own in given]) for name in given[0][1]}
        return [
            self.part({name: own[numbers == at] for name, own in columns.items()}, on_disk=False)
            for at in range(n_parts)
        ]


@dataclass(slots=True)
class ScatteredCells(LocalCells):
    """Cells whose rows are put into another order before each question."""

    rng: Any = None

    @classmethod
    def of(cls, cells, rng):
        """The same cells, in no order."""
        shelf = MemoryShelf(None, cells.shelf.most_held, cells.shelf.at_once)
        parts = [
            shelf.part({name: part.read(name) for name in (*part.held, *part.kinds)}, on_disk=False)
            for part in cells.parts
        ]
        return cls(cells.space, parts, shelf, cells.together, rng)

    def shuffle(self):
        """Put the rows of each part into another order. The parts keep theirs: each has its cells
        by the hash of their codes."""
        for part in self.parts:
            order = self.rng.permutation(len(part))
            part.put({name: values[order] for name, values in part.held.items()})

    def pieces(self, part) -> list[np.ndarray]:
        """Some rows of a part at a time, in any order, none of them empty."""
        rows = self.rng.permutation(len(part))
        cuts = np.sort(self.rng.integers(0, len(part) + 1, self.rng.integers(0, 3)))
        return [piece for piece in np.split(rows, cuts) if len(piece)]

    def batches(self, reads: Sequence[str] = ()):
        """All cells, a few at a time, from one part after another in any order."""
        for number in self.rng.permutation(len(self.parts)):
            part = self.parts[number]
            batch = self.read(part, reads)
            for rows in self.pieces(part):
                yield batch.part(rows)

    def add(self, step):
        """Put columns beside the cells, of a few cells at a time."""
        states = []
        for number in self.rng.permutation(len(self.parts)):
            part = self.parts[number]
            batch = self.read(part, step.reads)
            columns = {name: np.full(len(part), np.nan) for name in step.gives}
            for rows in self.pieces(part):
                found, state = step.of(batch.part(rows))
                assert set(found) == set(step.gives)
                states.append(state)
                for name, values in found.items():
                    columns[name][rows] = values
            part.put(columns)
        self.shuffle()
        return reduce(step.joined, states)

    def add_together(self, step, keys):
        self.shuffle()
        return LocalCells.add_together(self, step, keys)

    def without_each_key(self):
        self.shuffle()
        return LocalCells.without_each_key(self)

    def small(self, views, k):
        self.shuffle()
        return LocalCells.small(self, views, k)

    def seen_through(self, view):
        self.shuffle()
        found = ScatteredCells.of(LocalCells.seen_through(self, view), self.rng)
        found.shuffle()
        return found

    def measure_values(self, name, rows, labels, step):
        self.shuffle()
        return LocalCells.measure_values(self, name, rows, labels, step)

    def held(self, most: int, reads=()):
        """All cells, where they are no more than was asked for."""
        assert most <= MOST_ASKED, f"{most:,} cells are more than anybody may ask for"
        found = LocalCells.held(self, most, reads)
        assert found is None or len(found) <= most
        return found

    def sampled(self, most, reads=()):
        """Some cells, hardly more than were asked for."""
        found = LocalCells.sampled(self, most, reads)
        assert len(found) <= most + 6 * np.sqrt(most) + 6
        return found


@dataclass(frozen=True)
class ScatteredEngine:
    """Counts as DuckDB does, with its cells in parts of about `cells_at_once`, shuffled by `seed`;
    `n_parts` has in how many each count kept them."""

    seed: int
    cells_at_once: int = 40
    n_parts: list[int] = field(default_factory=list)

    @contextmanager
    def count(self, request) -> Iterator[Any]:
        """The cells of the request, as long as the `with` lasts."""
        engine = DuckDBEngine(cells_held=1, cells_at_once=self.cells_at_once)
        with engine.count(request) as store:
            cells = ScatteredCells.of(store.cells, np.random.default_rng(self.seed))
            cells.shuffle()
            self.n_parts.append(len(cells.parts))
            yield replace(store, cells=cells)

    def orders(self, records, names):
        """How alike neighbours are in each of the columns."""
        return DuckDBEngine().orders(records, names)
