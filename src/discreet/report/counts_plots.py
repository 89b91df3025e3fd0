"""Tables of counts as lines over the values, coloured by probability (kadane figures 1 to 3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import matplotlib.cm
import matplotlib.colors
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator

from discreet.count_tables.likely_tables import LikelyTables
from discreet.numerics.arrays import IntArray
from discreet.report.plots import (
    GRID,
    RED,
    ROOT_FROM,
    STYLE,
    _plain,
    _root_ticks,
    _shade_limits,
    _short,
    _svg,
    _whole_numbers,
)

MOST_ACROSS = 3
MOST_TICKS = 12
LEAST = 1e-100  # the least probability that has a colour of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The tables of one category, most probable first; the `truth` is for the holder only.

    Columns of `tables` are the values from `first_value` on.
    """

    name: str
    first_value: int
    tables: IntArray
    probabilities: Sequence[float]
    truth: Sequence[int] | None


def panel_of(name: str, likely: LikelyTables, table: Mapping[int, int] | None) -> Panel:
    """The tables of one category as lines; counts that are not known are not drawn."""
    first, width = likely.first_value, likely.tables.shape[1]
    return Panel(
        name=name,
        first_value=first,
        tables=likely.tables[:, first:],
        probabilities=likely.probability.tolist(),
        truth=None if table is None else [table.get(j, 0) for j in range(first, width)],
    )


def panels_plot(panels: Sequence[Panel]) -> str:
    """One panel a category with the same colours in all; the darker a line, the more probable.

    Counts beyond a few hundred go on a root scale, which shows small and large ones together.
    """
    across = 2 if len(panels) == 4 else min(len(panels), MOST_ACROSS)
    down = math.ceil(len(panels) / across)
    size = (5.2, 3.8) if len(panels) == 1 else (1.4 + 2.6 * across, 0.4 + 2.3 * down)
    shades = mpl.colors.LogNorm(
        *_shade_limits([max(p, LEAST) for one in panels for p in one.probabilities])
    )
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=size, layout="constrained")
        grid = canvas.subplots(down, across, squeeze=False)
        for place, axes in enumerate(grid.ravel()):
            if place < len(panels):
                _draw(axes, panels[place], shades)
            else:
                axes.set_axis_off()
        _name_axes(canvas, panels)
        _colour_scale(canvas, grid, shades)
        return _svg(canvas)


def _draw(axes: Any, panel: Panel, shades: Any) -> None:
    values = panel.first_value + np.arange(panel.tables.shape[1])
    shown = shades(np.maximum(panel.probabilities, LEAST))
    colours = mpl.colormaps["Blues"](0.3 + 0.7 * np.clip(shown, 0, 1))
    for line, colour in reversed(list(zip(panel.tables.tolist(), colours, strict=True))):
        axes.plot(values, line, color=colour, linewidth=1.1, zorder=3)
    if panel.truth is not None:
        axes.plot(values, panel.truth, color="white", linewidth=2.6, zorder=4)
        axes.plot(values, panel.truth, color=RED, linestyle="--", marker="o", markersize=3,
                  linewidth=1.5, zorder=5, label="true table")  # fmt: skip
    _scale(axes, panel, values)
    axes.grid(axis="y", color=GRID, linewidth=0.8, zorder=0)
    if panel.name:
        axes.set_title(_short(panel.name), fontsize=9, loc="left")


def _scale(axes: Any, panel: Panel, values: IntArray) -> None:
    most = int(max(panel.tables.max(initial=0), *(panel.truth or [0])))
    if most > ROOT_FROM:
        axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0)), np.square))
        axes.set_yticks(_root_ticks(float(most)))
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, nbins=5))
    axes.set_ylim(bottom=0)
    axes.set_xticks(values[:: max(1, math.ceil(len(values) / MOST_TICKS))])
    _whole_numbers(axes.yaxis)


def _name_axes(canvas: Any, panels: Sequence[Panel]) -> None:
    """Labels once for all panels, and what the dashed line is."""
    canvas.supxlabel("value", fontsize=9)
    canvas.supylabel("count: how many have it", fontsize=9)
    if any(panel.truth is not None for panel in panels):
        canvas.axes[0].legend(frameon=False, fontsize=8)


def _colour_scale(canvas: Any, grid: Any, shades: Any) -> None:
    """The colours of the lines with their probabilities, beside the panels."""
    blues = mpl.colormaps["Blues"](np.linspace(0.3, 1, 40))  # more would be drawn as an image
    scale = mpl.cm.ScalarMappable(shades, mpl.colors.ListedColormap(blues))
    bar = canvas.colorbar(scale, ax=grid, label="probability of the table", shrink=0.8)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
    bar.ax.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
