"""The records behind an assessment, kept so that the risk of each can be had afterwards.

Nothing that grows with the records is kept: only the source itself, by reference. Whoever asks for
the records has them assessed once more, which gives the same figures, and the risks are read from a
temporary file.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.records import Records
from discreet.errors import InputError, must_be
from discreet.numerics.rounding import alike
from discreet.survey.assessment import Assessment

if TYPE_CHECKING:
    import pyarrow as pa

Again = Callable[[Path], Assessment]  # assess the same once more, writing the risks to that file


class HeldRecords:
    """The source of an assessment, and how it is assessed; pickled, its types alone are left."""

    def __init__(self, source: Any, again: Again, types: Mapping[str, Any]) -> None:
        self._source, self._again = source, again
        self.types = types

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return HeldRecords, (None, _is_gone, self.types)

    def frame(self, before: Assessment, kind: str | None = None) -> Any:
        """One row a record in the order of the source, in the kind of frame that it is.

        Raises InputError where the source is no longer what it was.
        """
        import pyarrow.parquet as pq  # here: who never asks for the records need not load it

        with TemporaryDirectory(prefix="discreet-") as folder:
            path = Path(folder) / "risks.parquet"
            now = self._again(path)
            _check_same(before, now)
            table = pq.read_table(path)
        return self._framed(table.sort_by("row"), kind)

    def _framed(self, table: "pa.Table", kind: str | None) -> Any:
        from discreet.data.frames import frame_from, kind_of_frame

        is_frame = not isinstance(self._source, str | Path | Records)
        own = kind_of_frame(self._source) if is_frame else "arrow"
        frame = frame_from(table, kind or own)
        if own == "pandas" and (kind or own) == "pandas":
            frame.index = self._source.index[frame["row"].to_numpy() - 1]
        return frame


def _is_gone(path: Path) -> Assessment:
    remedy = "assess the file again, or have the risks written (risks)"
    got = "one without them, since it was pickled"
    raise InputError(must_be("result", "one that has its records", got, remedy=remedy))


def _check_same(before: Assessment, now: Assessment) -> None:
    """The records are those that were assessed, as far as the figures tell."""
    changed = next(_changed(before, now), None)
    if changed is not None:
        rule = "what it was when it was assessed"
        raise InputError(must_be("source", rule, f"other {changed}", remedy="assess it again"))


def _changed(before: Assessment, now: Assessment) -> Iterator[str]:
    """What has changed since, by name."""
    if before.summary.sample_size + before.n_dropped != now.summary.sample_size + now.n_dropped:
        yield "numbers of records"
    same = (
        before.keys == now.keys
        and before.n_incomplete == now.n_incomplete
        and before.n_dropped == now.n_dropped
        and before.anonymity_curve == now.anonymity_curve
        and all(
            np.array_equal(counts, now.summary.margins[axes])
            for axes, counts in before.summary.margins.items()
        )
    )
    if not same:
        yield "keys"
    then, since = before.to_json(), now.to_json()
    options = before.settings.options
    asked = {"weights": options.weight, **{f"{r}s": c for r, c in options.drawn_by.items()}}
    drawn = [f"{what} {column!r}" for what, column in asked.items() if column is not None]
    for part, what in {
        "weight_total": f"weights {options.weight!r}",
        "population_size": "sizes of the population",
        "recommended": " or ".join(drawn) or "figures",
        "riskiest": "orders of records",
        "households": f"households {options.household!r}",
        "sensitive": "sensitive variables",
    }.items():
        if not _same(then.get(part), since.get(part)):
            yield what


def _same(one: Any, other: Any) -> bool:
    """Equal but for what the order of a sum can make."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return alike(one, other)
    return bool(one == other)
