"""What is told of a key, from the levels that occur and the counts of its codes."""

from collections.abc import Iterable, Mapping, Sequence

from discreet.engines.contract import MISSING_LABEL, Request
from discreet.engines.duckdb_keys import Column
from discreet.engines.key_space import KeyLevels


def key_levels(
    request: Request,
    name: str,
    column: Column,
    values: Sequence[str | None],
    n_absent: int,
    coded: Mapping[str, int],
) -> KeyLevels:
    """The key called `name`, whose `values` occur in this order in the records that are counted.

    Of all records `n_absent` have no value, and `coded` have each of its codes.
    """
    given = request.records.value_labels.get(name, {})
    suppressed = sum(coded[code] for code in column.suppressed)
    hidden = 0 if column.suppressed_is_a_level else suppressed
    return KeyLevels(
        name=name,
        values=tuple(values),
        labels=tuple(MISSING_LABEL if v is None else given.get(v, v) for v in values),
        n_missing=n_absent - hidden,
        n_suppressed=suppressed,
        n_not_applicable=sum(coded[code] for code in column.not_applicable),
    )


def labels_at(labels: Sequence[str], levels: Iterable[int]) -> list[str | None]:
    """The label of each level; that after the last is the one of a missing value, which has none.

    Cost grows with the levels that are asked for, as a key may have millions.
    """
    return [labels[level] if level < len(labels) else None for level in levels]
