"""Suppression of tables whose variables determine each other, as everybody knows.

Where a district lies in one region, a table by district tells the table by district and region, and
sums of hidden districts must not give one away. So the pattern is sought and proved for the tables
with the variables that they determine, and then read off for the tables as they were named.
"""

from collections.abc import Collection
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from discreet.choice.mask_names import MaskSpec, mask_table
from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.masks.contract import (
    Axes,
    Masked,
    PublishedTable,
    chosen_sets,
    named_sets,
    tables_text,
)
from discreet.tables.ruled_out import RuledOut

READ_OFF = Unavailable("the pattern is read off one of tables with the variables that follow")


def suppressed(
    spec: MaskSpec,
    table: Table,
    involved: Collection[int],
    nested: RuledOut,
    seed: int,
    seconds: float | None,
) -> Masked | Unavailable:
    """The suppression of the named tables; `involved` are the variables that something tells of,
    `nested` what these determine of each other."""
    asked = chosen_sets(table, spec.sets)
    closed = [tuple(a for a in nested.closed(axes) if a in involved) for axes in asked]
    whole = replace(spec, sets=named_sets(table, list(dict.fromkeys(closed))))
    found = mask_table(whole, table, seed=seed, seconds=seconds)
    if isinstance(found, Unavailable) or list(asked) == closed:
        return found
    by_axes = {one.axes: one for one in found.published}
    return replace(
        found,
        title=found.title.replace(tables_text(table, list(by_axes)), tables_text(table, asked)),
        published=tuple(
            _read_off(by_axes[wide], axes) for axes, wide in zip(asked, closed, strict=True)
        ),
        parameters=MappingProxyType({**found.parameters, "sets": named_sets(table, asked)}),
        replay=READ_OFF,
    )


def _read_off(wide: PublishedTable, axes: Axes) -> PublishedTable:
    """A table without the variables that its others determine: of each sum one term is possible."""
    left = tuple(i for i, axis in enumerate(wide.axes) if axis not in axes)
    if not left:
        return wide
    shown = wide.shown
    return PublishedTable(
        axes=axes,
        counts=np.asarray(wide.counts.sum(axis=left)),
        shown=None if shown is None else np.asarray(shown.all(axis=left)),
    )
