"""Is what a snooper is said to know true of the holder's table?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from discreet.compoisson.knowledge import Knowledge, Shape
from discreet.compoisson.statistics import check_counts
from discreet.errors import InputError, must_be


def check_true(knowledge: Knowledge, table: Mapping[int, int]) -> None:
    """Raises InputError that names each thing which is not true of the table, and no count."""
    wrong = [words for part in _parts(knowledge) for words in _untrue(part, check_counts(table))]
    if wrong:
        rule = "true of the table, as what someone knows is"
        raise InputError(must_be("knowledge", rule, f"what is not: {'; '.join(wrong)}"))


def _parts(knowledge: Knowledge) -> Iterator[Knowledge]:
    """Each thing that is known, by itself; a shape keeps what it needs to be read."""
    yield Knowledge(largest=knowledge.largest)
    yield from (Knowledge(cells={j: limits}) for j, limits in knowledge.cells.items())
    yield Knowledge(no_zeros=knowledge.no_zeros)
    if knowledge.shape is not None:
        yield replace(knowledge, cells={}, largest=None, n=None)
    yield Knowledge(n=knowledge.n)


def _untrue(part: Knowledge, table: Mapping[int, int]) -> tuple[str, ...]:
    held = (
        _within(max(table), part.largest_range)
        and all(_within(table.get(j, 0), limits) for j, limits in part.cells.items())
        and (part.shape is not None or not (part.no_zeros and 0 in table))
        and _has_shape(part, table)
        and _within(sum(table.values()), part.n)
    )
    return () if held else part.described()[-1:]


def _within(number: int, limits: tuple[int, int | None] | None) -> bool:
    if limits is None:
        return True
    low, high = limits
    return low <= number and (high is None or number <= high)


def _has_shape(part: Knowledge, table: Mapping[int, int]) -> bool:
    """Do the counts go as is known? Where nobody has value 0 they begin at value 1."""
    if part.shape is None:
        return True
    counts = [table.get(j, 0) for j in range(1 if part.no_zeros else 0, max(table) + 1)]
    rises, falls = sorted(counts), sorted(counts, reverse=True)
    if part.shape is not Shape.UNIMODAL:
        return counts == (rises if part.shape is Shape.INCREASING else falls)
    top = max(counts)
    peak = counts.index(top) if part.peak is None else part.peak - (1 if part.no_zeros else 0)
    if not 0 <= peak < len(counts) or counts[peak] != top:
        return False
    up, down = counts[: peak + 1], counts[peak:]
    return up == sorted(up) and down == sorted(down, reverse=True)
