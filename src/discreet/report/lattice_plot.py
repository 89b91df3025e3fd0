"""The margins of a table as a lattice: what is out, what could be, and what cannot.

Rows by the number of variables, the total at the bottom; a line joins a margin to those with one
variable less. Readable up to five variables.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from discreet.choice.best_set.frontier import Status
from discreet.errors import InputError, must_be
from discreet.report.plots import BLUE, GRID, INK, RED, STYLE, _short, _svg

MOST_VARIABLES = 6
LETTERS = "ABCDEF"
WIDTH = 7.4  # inches
Axes = tuple[int, ...]

LOOKS: Mapping[Status, tuple[str, str, str]] = {  # face, edge, ink of the text
    Status.RELEASED: (BLUE, BLUE, "white"),
    Status.IMPLIED: ("#bcd7f0", BLUE, INK),
    Status.JOINABLE: ("white", BLUE, INK),
    Status.APART: ("#fbe3b5", "#b7791f", INK),
    Status.UNRELEASABLE: ("#f3b4b4", RED, INK),
    Status.UNSETTLED: ("#e4e7eb", "#7b8794", INK),
}


def lattice_plot(names: Sequence[str], statuses: Mapping[Axes, Status]) -> str:
    """The lattice as SVG text: a box a margin, coloured by what became of it.

    Variables stand as letters, explained beside the key. Raises InputError for more than six.
    """
    n = len(names)
    if not 1 <= n <= MOST_VARIABLES:
        rule = f"of 1 to {MOST_VARIABLES} variables"
        raise InputError(must_be("a lattice", rule, n))
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(WIDTH, 1.5 + 0.72 * (n + 1)), layout="constrained")
        axes = canvas.add_subplot()
        places = _places(n)
        _lines(axes, places, statuses)
        for own, place in places.items():
            _box(axes, own, place, statuses.get(own))
        _frame(axes, n)
        _key(axes, names, statuses)
        return _svg(canvas)


def _places(n: int) -> dict[Axes, tuple[float, float]]:
    """Where each margin stands: its row is its number of variables."""
    found: dict[Axes, tuple[float, float]] = {}
    for size in range(n + 1):
        row = list(combinations(range(n), size))
        for i, own in enumerate(row):
            found[own] = ((i + 0.5) / len(row), float(size))
    return found


def _lines(
    axes: Any, places: Mapping[Axes, tuple[float, float]], statuses: Mapping[Axes, Status]
) -> None:
    """Lines to the margins with one variable less, dark between margins that are out."""
    out = {own for own, status in statuses.items() if status in (Status.RELEASED, Status.IMPLIED)}
    for own, (x, y) in places.items():
        for part in combinations(own, len(own) - 1) if own else ():
            dark = own in out
            axes.plot(
                [x, places[part][0]],
                [y, places[part][1]],
                color=BLUE if dark else GRID,
                linewidth=1.1 if dark else 0.7,
                alpha=0.55 if dark else 1.0,
                zorder=2 if dark else 1,
            )


def _box(axes: Any, own: Axes, place: tuple[float, float], status: Status | None) -> None:
    unseen = Status.UNSETTLED if own else Status.IMPLIED
    face, edge, ink = LOOKS[status or unseen]
    text = "".join(LETTERS[axis] for axis in own) or "total"
    box = {"boxstyle": "round,pad=0.32", "facecolor": face, "edgecolor": edge, "linewidth": 1.1}
    if status is Status.UNRELEASABLE:
        box["linestyle"] = (0, (3, 2))
    axes.text(*place, text, ha="center", va="center", color=ink, fontsize=8, bbox=box, zorder=4)


def _frame(axes: Any, n: int) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.5, n + 0.5)
    axes.set_yticks(range(n + 1), [str(size) for size in range(n + 1)])
    axes.set_ylabel("variables of the margin")
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _key(axes: Any, names: Sequence[str], statuses: Mapping[Axes, Status]) -> None:
    """What the colours and the letters stand for, under the lattice."""
    used = [status for status in Status if status in set(statuses.values())]
    marks = [
        Line2D([], [], marker="s", linestyle="", markersize=9, markerfacecolor=LOOKS[s][0],
               markeredgecolor=LOOKS[s][1], label=s.value)
        for s in used
    ]  # fmt: skip
    letters = [
        Line2D([], [], linestyle="", label=f"{LETTERS[i]} = {_short(name)}")
        for i, name in enumerate(names)
    ]
    where = {"loc": "outside lower left", "frameon": False, "fontsize": 8, "alignment": "left"}
    axes.figure.legend(handles=marks, ncols=1, **where)
    where["loc"] = "outside lower right"
    axes.figure.legend(handles=letters, ncols=2, handlelength=0, **where)
