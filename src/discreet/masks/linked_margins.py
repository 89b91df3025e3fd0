"""Linked tables go out exactly as they are, or nothing does beyond those that are out."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.masks.contract import Masked, total_statement
from discreet.masks.linked_figures import LinkedFigures, figures_to_protect
from discreet.masks.margins import NAME
from discreet.masks.suppression import filled_in
from discreet.masks.suppression_figures import Rule, statements

TOLD = Rule(rule_known=False)  # that something is hidden tells nothing by itself


def release_layouts(
    table: Table,
    layouts: Sequence[Layout],
    *,
    out: Sequence[Layout] = (),
    beside: Sequence[Layout] = (),
) -> Masked:
    """Linked tables with all their figures; layouts that are `out` are known besides, and what
    layouts `beside` tell apart is told apart here too.

    The source is the coarsest table that has all of them. The estimate fills its cells by
    proportional fitting to every figure.
    """
    figures = figures_to_protect(table, None, layouts, out=out, beside=beside)
    assert isinstance(figures, LinkedFigures)
    nothing = np.zeros(figures.n, dtype=np.bool_)
    return Masked(
        mask=NAME,
        title=f"tables {figures.text()}",
        source=figures.table,
        published=figures.published(),
        known=statements(figures, nothing, TOLD),
        estimate=filled_in(figures, nothing),
        effect=f"Exact tables {figures.text()} are published; the estimate is fitted to them.",
        parameters=MappingProxyType(figures.record()),
    )


def withheld(
    table: Table,
    layouts: Sequence[Layout],
    *,
    out: Sequence[Layout] = (),
    beside: Sequence[Layout] = (),
) -> Masked:
    """Nothing beyond what is out; the number of persons is taken to be known."""
    whole = release_layouts(table, layouts, out=out, beside=beside)
    figures = figures_to_protect(table, None, layouts, out=out, beside=beside)
    known = statements(figures, ~figures.is_out & ~figures.is_total, TOLD)
    return replace(
        whole,
        title="nothing",
        published=(),
        known=known or (total_statement(figures.table),),
        estimate=filled_in(figures, ~figures.is_out),
        effect="Nothing is published.",
    )
