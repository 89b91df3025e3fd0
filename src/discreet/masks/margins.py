"""Margins of the table go out, exactly as they are."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from discreet.belief.models.proportional_fitting import ProportionalFit, fit_margins
from discreet.data.table import Table
from discreet.fiber.system.margins import Margins, maximal
from discreet.masks.contract import (
    Axes,
    Masked,
    PublishedTable,
    checked_counts,
    chosen_sets,
    margin_sum,
    named_sets,
    sets_text,
)
from discreet.numerics.arrays import FloatArray, IntArray

NAME = "margins"


def release_margins(table: Table, sets: Sequence[Sequence[str]]) -> Masked:
    """The margins of the table over the named sets of variables; a set of none is the total.

    Margins that lie in others are published but add nothing to what is known. The estimate is the
    maximum-likelihood fit of the log-linear model of these margins, found by proportional fitting.

    Checked: the table has persons, names are its variables.
    """
    counts = checked_counts(table)
    chosen = chosen_sets(table, sets)
    margins = margins_out(table, counts, maximal(chosen))
    fit = fitted_to(margins)
    return Masked(
        mask=NAME,
        title=f"margins {sets_text(table, chosen)}",
        source=table,
        published=tuple(
            PublishedTable(axes=axes, counts=margin_sum(counts, axes)) for axes in chosen
        ),
        known=tuple(margins.statements()),
        estimate=np.array(fit.fitted),
        effect=_effect(table, maximal(chosen), fit),
        parameters=MappingProxyType({"sets": named_sets(table, chosen)}),
        margins=margins,
    )


def margins_out(table: Table, counts: IntArray, sets: Sequence[Axes]) -> Margins:
    """The margins of the table over sets of which none lies in another."""
    tables = {axes: margin_sum(counts, axes) for axes in sets}
    return Margins(sizes=table.sizes, names=table.names, tables=tables)


def fitted_to(margins: Margins) -> ProportionalFit:
    """The fit of the log-linear model whose sufficient statistics are these margins."""
    wanted: dict[Axes, FloatArray] = {
        axes: counts.astype(np.float64) for axes, counts in margins.tables.items()
    }
    return fit_margins(wanted, margins.sizes)


def _effect(table: Table, sets: Sequence[Axes], fit: ProportionalFit) -> str:
    if len(sets[0]) == len(table.names):
        return "The full table is published as it is."
    shaky = "" if fit.converged else f" (stopped {fit.deviation:.1g} of the total short of a fit)"
    return (
        f"Exact margins {sets_text(table, sets)} are published, the cells are not; the estimate is "
        f"the maximum-likelihood fit of these margins{shaky}."
    )
