"""How many records of the original file fit each record of one that was made of it."""

from dataclasses import replace

import numpy as np

from discreet.data.records import Records, open_records
from discreet.engines.contract import Cells, Engine
from discreet.errors import ColumnError, InputError, must_be
from discreet.masks.records.fitting import Combinations, Fits, fits_of
from discreet.masks.records.recoding import Levels, Recoding, recodings_in
from discreet.protection.applying import MOST_CELLS
from discreet.protection.counted import Counted
from discreet.protection.recipe import read_recipe
from discreet.survey.options import AssessOptions


def fits_in(options: AssessOptions, released: Cells, engine: Engine) -> Fits:
    """How many original records the released ones fit, by the keys that they still have.

    Keys that a recipe recoded are recoded in the original first. Raises InputError where a value of
    the released file is none of the original, which no record could fit.
    """
    records = open_records(options.original, options.csv)
    _check_keys(records, options.key_names)
    recodings = () if options.recipe is None else recodings_in(read_recipe(options.recipe).steps)
    request = replace(options.request(records), weight=None, household=None, sensitive=(), carry=())
    with engine.count(request) as store:
        original = _recoded(_combinations(store.cells), tuple(recodings))
    own = _combinations(released)
    limits = [k for k in (options.min_candidates, options.min_k, 2, 3, 5) if k is not None]
    return fits_of(original, own, sorted(set(limits)))


def _check_keys(records: Records, keys: tuple[str, ...]) -> None:
    absent = [key for key in keys if key not in records.column_names]
    if absent:
        raise ColumnError(must_be("original", "a file with all keys", f"none called {absent[0]!r}"))


def _combinations(cells: Cells) -> Combinations:
    batch = cells.held(MOST_CELLS)
    if batch is None:
        rule = f"at most {MOST_CELLS:,} combinations that occur"
        raise InputError(must_be("keys", rule, f"{cells.n_cells:,}"))
    return Combinations(keys=cells.space.keys, levels=batch.levels(), n=batch.n_records)


def _recoded(original: Combinations, recodings: tuple[Recoding, ...]) -> Combinations:
    """The original with the keys that it has recoded as the recipe says."""
    counted = Counted(
        keys=original.keys,
        levels=original.levels,
        n=original.n,
        origin=np.arange(len(original.n)),
    )
    names = {key.name for key in original.keys}
    for how in recodings:
        if how.key in names:
            key = counted.place(how.key)
            levels = Levels(key=counted.keys[key], records=counted.records_by_level(key))
            counted, _, _ = counted.recoded(levels, how)
    return Combinations(keys=counted.keys, levels=counted.levels, n=counted.n)
