"""Changes that somebody wants to try: what each does, and all of them together."""

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.data.summary import Summary
from discreet.engines.contract import Cells
from discreet.errors import InputError, must_be
from discreet.masks.records.notation import recoding_of
from discreet.masks.records.recoding import (
    Drop,
    Levels,
    Merge,
    Recoding,
    applied,
    check_levels,
)
from discreet.survey.coarsening import Coarser, Step


def steps_of(
    tries: Sequence[str | Recoding],
    cells: Cells,
    summary: Summary,
    trees: Mapping[str, Hierarchy],
) -> tuple[Step, ...]:
    """The changes as steps; raises InputError for one that no key of the file can have."""
    names = cells.space.names
    found: list[Step] = []
    for one in tries:
        how = recoding_of(one, trees) if isinstance(one, str) else one
        if how.key not in names:
            raise InputError(must_be("try", f"about one of the keys {', '.join(names)}",
                                     repr(how.key)))  # fmt: skip
        if isinstance(how, Merge):
            check_levels(how, cells.space.keys)
        if how.key in {name for name, _ in found}:
            raise InputError(must_be("try", "given once for each key", repr(how.key)))
        found.append(_step(how, names.index(how.key), cells, summary))
    return tuple(found)


def _step(how: Recoding, key: int, cells: Cells, summary: Summary) -> Step:
    own = cells.space.keys[key]
    if isinstance(how, Drop):
        return own.name, None
    records, population = summary.margins[(key,)], None
    if summary.population_size is not None:
        persons = summary.population_size / max(int(records.sum()), 1)
        population = records.astype(np.float64) * persons
    after = applied(Levels(key=own, records=records, population=population), how)
    told = Coarser(change=after.how.in_words, to=after.to, levels=after.levels, how=after.how)
    return own.name, told
