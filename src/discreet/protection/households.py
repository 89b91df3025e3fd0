"""Keys that the members of a household share: what one member loses, another would still show.

Where the household of each record can be told from the file, a value that is the same for all its
members (region, size of the household) is not hidden by taking it out of one of them. So such keys
are recoded or left out, and never suppressed.
"""

import numpy as np

from discreet.numerics.arrays import IntArray
from discreet.protection.applying import Source

ALIKE = 0.99  # of the households with several members, in which all have the same value


def shared_keys(source: Source, household: str) -> tuple[str, ...]:
    """The keys that nearly all households share, of those with several members in the file."""
    levels, unit = _by_record(source, household)
    order = np.argsort(unit, kind="stable")
    unit, levels = unit[order], levels[order]
    first = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]])
    several = np.diff(np.r_[first, len(unit)]) > 1
    if not several.any():
        return ()
    lowest = np.minimum.reduceat(levels, first, axis=0)[several]
    highest = np.maximum.reduceat(levels, first, axis=0)[several]
    alike = (lowest == highest).mean(axis=0)
    names = [key.name for key in source.counted.keys]
    return tuple(name for name, share in zip(names, alike, strict=True) if share >= ALIKE)


def _by_record(source: Source, household: str) -> tuple[IntArray, IntArray]:
    """The levels of every record, and the number of its household."""
    import pyarrow as pa

    levels, chunks = [], []
    for batch in source.store.coded_rows((household,)):
        levels.append(source.store.cells.space.coding.decode(batch.words).astype(np.int32))
        chunks += batch.carried.column(household).chunks
    coded = pa.chunked_array(chunks).combine_chunks().dictionary_encode()
    unit = np.asarray(coded.indices.fill_null(-1), dtype=np.int64)
    return np.concatenate(levels), unit
