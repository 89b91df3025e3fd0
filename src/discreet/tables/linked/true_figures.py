"""Whether published figures are true of the data, by the rules that they were printed by."""

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import IntArray
from discreet.tables.linked.universe import Universe

MOST_NAMED = 5


def check_true(universe: Universe, counts: IntArray) -> None:
    """Raises InputError for figures that the counts of the atoms do not give; it names the figures
    and tells no count of the data."""
    sums = universe.matrix @ counts
    wrong = np.flatnonzero((sums < universe.low) | (sums > universe.high)).tolist()
    for one in universe.moments:
        if not one.low <= int((one.matrix @ counts)[0]) <= one.high:
            wrong.append(one.row)
    wrong = list(dict.fromkeys(wrong))
    if not wrong:
        return
    named = [universe.name_of(row) for row in wrong[:MOST_NAMED]]
    more = f" and {len(wrong) - MOST_NAMED:,} more" if len(wrong) > MOST_NAMED else ""
    table = universe.tables[int(universe.table[wrong[0]])]
    where = table.where[int(universe.place[wrong[0]])] if table.where else None
    remedy = (
        "is the table of other data, of a part of them ('t.csv | sex=F'), or rounded "
        "('t.csv | rounded(5)')?"
    )
    got = f"{len(wrong):,} that are not: {'; '.join(named)}{more}"
    raise InputError(
        must_be("published figures", "true of the data", got, where=where, remedy=remedy)
    )
