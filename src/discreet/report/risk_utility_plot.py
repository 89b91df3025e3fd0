"""The risk–utility map as a picture: candidates, the limit, the frontier and the choice.

Colours are told apart by people who see few, and every colour comes with a shape of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator

from discreet.choice.choice import Standing
from discreet.errors import one_line
from discreet.report.plots import GRID, INK, STYLE, _svg

LONGEST_LABEL = 44
FONT = 8.0  # points
MOST_LABELS = 14
FLOOR = 1e-30  # the least probability that a logarithmic axis shows
CAP, FRONTIER, CHOSEN = "#d55e00", "#52606d", "#1f2933"
MARKS: Mapping[Standing, tuple[str, str, str]] = {
    Standing.WITHIN: ("o", "#0072b2", "within the limit"),
    Standing.ABOVE: ("X", "#d55e00", "above the limit"),
    Standing.DOUBTFUL: ("^", "#e69f00", "too near the limit to tell"),
    Standing.UNKNOWN: ("s", "#8a5ca8", "open whether it may go out"),
}
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


Box = tuple[float, float, float, float]
Line = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A candidate on the map; `high` is the upper limit of its risk where that is not exact."""

    title: str
    risk: float
    worth: float
    standing: Standing
    high: float | None = None
    is_chosen: bool = False
    is_named: bool = False


def risk_utility_plot(
    dots: Sequence[Dot], front: Sequence[tuple[float, float]], cap: float | None, scale: str
) -> str:
    """SVG of the map: risk across, worth up; `scale` is "bounds", "table" or "cells", `cap` the
    limit on the risk, where there is one."""
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(7.6, 4.6), layout="constrained")
        axes = canvas.add_subplot()
        axes.grid(color=GRID, linewidth=0.8, zorder=0)
        axes.set_ylabel("worth to users (1 = the full table, 0 = nothing)")
        shown = _scaled(axes, dots, cap, scale)
        _draw(axes, dots, front, cap, shown)
        canvas.draw_without_rendering()
        _label(axes, dots, list(_lines(axes, front, cap, shown)), shown)
        return _svg(canvas)


class _Shown:
    """Where a risk stands on the axis."""

    def __init__(self, least: float) -> None:
        self.least = least

    def __call__(self, risk: float) -> float:
        return max(risk, self.least)


def _scaled(axes: Any, dots: Sequence[Dot], cap: float | None, scale: str) -> _Shown:
    risks = [dot.risk for dot in dots] + ([0.0] if cap is None else [cap])
    if scale == "table":
        axes.set_xlabel("risk: probability of the true table")
        axes.set_xscale("log")
        least = max(min([r for r in risks if r > 0], default=FLOOR), FLOOR)
        axes.set_xlim(least / 5, 3)
        axes.xaxis.set_major_locator(LogLocator(numticks=7))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _power(x)))
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda x, _: ""))
        return _Shown(least / 3)
    if scale == "bounds":
        axes.set_xlabel("risk: minus the narrowest width of a small cell's bounds")
        axes.set_xscale("function", functions=(_log_width, _width))
        widest = max(1.0, -min(risks))
        axes.set_xlim(-1.6 * widest, 0.15)
        axes.set_xticks(_width_ticks(widest))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _whole(x)))
        return _Shown(-widest)
    axes.set_xlabel("risk: share of small cells found")
    axes.set_xlim(-0.04, max(1.0, *risks) + 0.04)
    return _Shown(-0.04)


def _draw(
    axes: Any,
    dots: Sequence[Dot],
    front: Sequence[tuple[float, float]],
    cap: float | None,
    shown: _Shown,
) -> None:
    if cap is not None:
        line = {"color": CAP, "linestyle": "--", "linewidth": 1.4}
        axes.axvline(shown(cap), label="the limit", zorder=2, **line)
    if front:
        x, y = zip(*((shown(r), w) for r, w in sorted(front)), strict=True)
        axes.step(x, y, where="post", color=FRONTIER, linewidth=1.2, zorder=2, label="the frontier")
    for standing, (marker, colour, name) in MARKS.items():
        own = [dot for dot in dots if dot.standing is standing]
        for dot in own:
            if dot.high is not None and dot.high > dot.risk:
                axes.plot([shown(dot.risk), shown(dot.high)], [dot.worth] * 2, color=colour, lw=1)
        if own:
            places = ([shown(dot.risk) for dot in own], [dot.worth for dot in own])
            axes.scatter(*places, s=34, marker=marker, color=colour, label=name, zorder=4,
                         edgecolors="white", linewidths=0.6, clip_on=False)  # fmt: skip
    for dot in dots:
        if dot.is_chosen:
            axes.plot([shown(dot.risk)], [dot.worth], marker="o", markersize=13, fillstyle="none",
                      color=CHOSEN, markeredgewidth=2.2, linestyle="none", label="the choice",
                      zorder=5, clip_on=False)  # fmt: skip
    low, high = min([0.0, *(dot.worth for dot in dots)]), max([1.0, *(dot.worth for dot in dots)])
    axes.set_ylim(low - 0.06, high + 0.08)
    axes.legend(frameon=False, fontsize=FONT, loc="upper left", bbox_to_anchor=(1, 1))


def _label(axes: Any, dots: Sequence[Dot], lines: Sequence[Line], shown: _Shown) -> None:
    """Names beside the choice and the frontier, where there is room for them.

    Labels stand on no dot and on no other label, and on as few lines as can be.
    """
    to_pixels = axes.transData.transform
    unit = axes.figure.dpi / 72.0
    area = axes.get_window_extent()
    taken = [_around(to_pixels((shown(dot.risk), dot.worth)), 5 * unit) for dot in dots]
    drawn = [_along(to_pixels(line), unit) for line in lines]
    wanted = sorted((d for d in dots if d.is_named), key=lambda d: (not d.is_chosen, -d.worth))
    for dot in wanted[:MOST_LABELS]:
        place = (shown(dot.risk), dot.worth)
        text = _short(dot.title)
        boxes = list(_boxes(to_pixels(place), len(text), unit))
        inside = [(offset, box) for offset, box in boxes if _within(box, area)]
        free = [(o, box) for o, box in inside if not any(_overlap(box, b) for b in taken)]
        if free:
            offset, box = min(free, key=lambda pair: sum(_overlap(pair[1], b) for b in drawn))
            taken.append(box)
            _write(axes, dot, text, place, offset)


def _boxes(
    place: Sequence[float], letters: int, unit: float
) -> Iterator[tuple[tuple[float, float], Box]]:
    """Where a label may stand, and the room that it takes [pixels]."""
    x, y = place
    width, height = 0.56 * FONT * letters * unit, 1.25 * FONT * unit
    for dx, dy in _offsets():
        left = x + dx * unit - (width if dx < 0 else 0.0)
        bottom = y + dy * unit - height / 2
        yield (dx, dy), (left, bottom, left + width, bottom + height)


def _within(box: Box, area: Any) -> bool:
    return bool(area.x0 <= box[0] and box[2] <= area.x1 and area.y0 <= box[1] and box[3] <= area.y1)


def _write(
    axes: Any, dot: Dot, text: str, place: tuple[float, float], offset: tuple[float, float]
) -> None:
    far = abs(offset[1]) > 12
    axes.annotate(
        text,
        place,
        xytext=offset,
        textcoords="offset points",
        fontsize=FONT,
        fontweight="bold" if dot.is_chosen else "normal",
        ha="right" if offset[0] < 0 else "left",
        va="center",
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
        arrowprops={"arrowstyle": "-", "color": FRONTIER, "linewidth": 0.6} if far else None,
        zorder=6,
    )


def _offsets() -> Iterator[tuple[float, float]]:
    """Where a label may stand, the nearest first [points]."""
    for dy in (0.0, 9.0, -9.0, 18.0, -18.0, 28.0, -28.0, 40.0, -40.0, 54.0, -54.0):
        yield 10.0, dy
        yield -10.0, dy


def _around(place: Sequence[float], room: float) -> Box:
    x, y = place
    return (x - room, y - room, x + room, y + room)


def _along(ends: Any, room: float) -> Box:
    (x0, y0), (x1, y1) = ends
    return (min(x0, x1) - room, min(y0, y1) - room, max(x0, x1) + room, max(y0, y1) + room)


def _lines(
    axes: Any, front: Sequence[tuple[float, float]], cap: float | None, shown: _Shown
) -> Iterator[Line]:
    """The straight pieces that labels should not stand on: the limit and the steps."""
    low, high = axes.get_ylim()
    if cap is not None:
        yield (shown(cap), low), (shown(cap), high)
    places = sorted((shown(risk), worth) for risk, worth in front)
    for (x0, y0), (x1, y1) in pairwise(places):
        yield (x0, y0), (x1, y0)
        yield (x1, y0), (x1, y1)


def _overlap(one: Box, other: Box) -> bool:
    apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    return not apart


def _log_width(x: Any) -> Any:
    """Minus log(1 + width): wide bounds close together, narrow ones apart."""
    widths = np.maximum(-np.asarray(x, dtype=np.float64), -0.9)
    return -np.log1p(widths)


def _width(x: Any) -> Any:
    return -np.expm1(-np.asarray(x, dtype=np.float64))


def _width_ticks(widest: float) -> list[float]:
    steps = [d * 10.0**k for k in range(12) for d in (1, 2, 5)]
    shown = [-step for step in steps if step <= widest]
    return [*shown[:: 1 if widest < 200 else 2], 0.0]


def _whole(x: float) -> str:
    return f"{x:,.0f}".replace("-", "−") if round(x) else "0"


def _power(x: float) -> str:
    power = round(float(np.log10(x)))
    return "1" if power == 0 else f"10{str(power).translate(SUPERSCRIPT)}"


def _short(label: str) -> str:
    plain = one_line(label)
    return plain if len(plain) <= LONGEST_LABEL else plain[: LONGEST_LABEL - 1] + "…"
