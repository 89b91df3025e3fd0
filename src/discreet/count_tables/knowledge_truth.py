"""Is what an intruder is said to know true of the holder's table?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.statistics import check_counts
from discreet.errors import InputError, must_be


def check_true(knowledge: Knowledge, table: Mapping[int, int], *, n_is_known: bool = True) -> None:
    """Raises InputError that names each thing which is not true of the table, and no count.

    `n_is_known` says whether n goes out: where a shape begins depends on it.
    """
    counts = check_counts(table)
    wrong = [words for part in _parts(knowledge) for words in _untrue(part, counts, n_is_known)]
    if wrong:
        rule = "true of the table, as what someone knows is"
        raise InputError(must_be("knowledge", rule, f"what is not: {'; '.join(wrong)}"))


def _parts(knowledge: Knowledge) -> Iterator[Knowledge]:
    """Each thing that is known, by itself; a shape keeps what it needs to be read."""
    yield Knowledge(largest=knowledge.largest)
    yield from (Knowledge(cells={j: limits}) for j, limits in knowledge.cells.items())
    yield Knowledge(no_zeros=knowledge.no_zeros)
    if knowledge.shape is not None:
        yield replace(knowledge, cells={}, largest=None)
    yield Knowledge(n=knowledge.n)


def _untrue(part: Knowledge, table: Mapping[int, int], n_is_known: bool) -> tuple[str, ...]:
    if part.shape is not None:
        return () if part.is_shape_of(table, n_is_known) else _shape_words(part)
    held = (
        _within(max(table), part.largest_range)
        and all(_within(table.get(j, 0), limits) for j, limits in part.cells.items())
        and not (part.no_zeros and 0 in table)
        and _within(sum(table.values()), part.n)
    )
    return () if held else part.described()[-1:]


def _shape_words(part: Knowledge) -> tuple[str, ...]:
    return replace(part, no_zeros=False, n=None).described()[-1:]


def _within(number: int, limits: tuple[int, int | None] | None) -> bool:
    if limits is None:
        return True
    low, high = limits
    return low <= number and (high is None or number <= high)
