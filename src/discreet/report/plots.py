"""Plots as SVG text: no script, no font file, the same bytes for the same data."""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import matplotlib as mpl
import matplotlib.cm
import matplotlib.colors
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator

from discreet.errors import one_line

LONGEST_LABEL = 28
LEAST_NAMED = 0.06  # probability whose part of a bar has room for a number
ROOT_FROM = 300  # the greatest count from which an axis has a root scale
FLOOR = 1e-3  # the least ratio that a logarithmic axis shows
INK, BLUE, RED, GRID = "#1f2933", "#2b6cb0", "#c53030", "#d9e2ec"
METADATA: Any = {"png": {"Software": None}, "pdf": {"Creator": None, "CreationDate": None}}
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def before_and_after_plot(
    labels: Sequence[str], left: Sequence[float], kept: Sequence[float | None]
) -> str:
    """For each change the share of records that still stand out, and beside it the share of the
    information that is kept; the first on top."""
    height = 0.9 + 0.42 * len(labels)
    with axes_drawn("%", "", height=height, grid="x") as (axes, drawn):
        places = np.arange(len(labels))[::-1]
        axes.barh(places + 0.18, [100 * one for one in left], 0.34, color=RED, zorder=3,
                  label="still stand out")  # fmt: skip
        known = [(p, 100 * k) for p, k in zip(places, kept, strict=True) if k is not None]
        if known:
            axes.barh([p - 0.18 for p, _ in known], [k for _, k in known], 0.34, color=BLUE,
                      zorder=3, label="information kept")  # fmt: skip
        axes.set_yticks(places, [one_line(label) for label in labels])
        axes.set_xlim(0, 100)
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    return drawn[0]


def size_index_plot(sizes: Sequence[int], cells: Sequence[int]) -> str:
    """Number of cells against their size, both axes logarithmic; uniques in red."""
    with axes_drawn("records in the combination", "combinations") as (axes, drawn):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.scatter(sizes[1:], cells[1:], s=14, color=BLUE, zorder=3)
        colour = RED if len(sizes) and sizes[0] == 1 else BLUE
        axes.scatter(sizes[:1], cells[:1], s=30, color=colour, zorder=4)
        _whole_numbers(axes.xaxis, axes.yaxis)
    return drawn[0]


def risk_plot(
    labels: Sequence[str], records: Sequence[float], y_label: str = "records", n_high: int = 1
) -> str:
    """Records (or their share) by class of risk; the last `n_high` classes in red."""
    with axes_drawn("risk of a record", y_label) as (axes, drawn):
        colours = [RED if i >= len(labels) - n_high else BLUE for i in range(len(labels))]
        axes.bar(range(len(labels)), records, color=colours, width=0.8, zorder=3)
        axes.set_xticks(range(len(labels)), labels, rotation=35, ha="right")
    return drawn[0]


def contribution_plot(labels: Sequence[str], shares: Sequence[float]) -> str:
    """Share of uniques that vanish without each key, largest on top, in percent."""
    height = 0.8 + 0.26 * len(labels)
    with axes_drawn("uniques that vanish, %", "", height=height, grid="x") as (axes, drawn):
        places = np.arange(len(labels))[::-1]
        axes.barh(places, [100 * s for s in shares], color=BLUE, height=0.7, zorder=3)
        axes.set_yticks(places, [_short(label) for label in labels])
        axes.set_xlim(0, 100)
    return drawn[0]


def anonymity_plot(ks: Sequence[int], shares: Sequence[float]) -> str:
    """Share of records that break k-anonymity against k, in percent."""
    with axes_drawn("k", "records that break k-anonymity, %") as (axes, drawn):
        axes.plot(
            ks, [100 * s for s in shares], color=BLUE, marker="o", markersize=4, clip_on=False
        )
        axes.set_xscale("log")
        axes.set_xticks(ks, [str(k) for k in ks])
        axes.minorticks_off()
        axes.set_ylim(0, 100)
    return drawn[0]


def plan_plot(curves: Mapping[str, Sequence[tuple[int, float]]], target: float) -> str:
    """Unique probability against sample size for each prior, with the target as a line."""
    with axes_drawn("sample size", "unique probability") as (axes, drawn):
        for (name, curve), colour in zip(curves.items(), (BLUE, INK), strict=False):
            axes.plot([n for n, _ in curve], [q for _, q in curve], color=colour, label=name)
        axes.axhline(target, color=RED, linewidth=1, linestyle="--", label="target")
        axes.set_ylim(0, 1)
        axes.legend(frameon=False)
        _whole_numbers(axes.xaxis)
    return drawn[0]


def estimates_plot(rows: Sequence[tuple[str, float, float, float]], most: float) -> str:
    """Estimates with their limits, one row each, the first in red; up to `most`, on a root scale.

    The square root shows small and large figures together and has a place for zero.
    """
    height = 0.9 + 0.27 * len(rows)
    label = "population uniques (root scale); 90 % and 95 % limits"
    with axes_drawn(label, "", height=height, grid="x") as (axes, drawn):
        places = np.arange(len(rows))[::-1]
        for place, (number, (_, value, low, high)) in zip(places, enumerate(rows), strict=True):
            colour = RED if number == 0 else BLUE
            axes.plot([low, high], [place, place], color=colour, linewidth=2, zorder=3)
            axes.scatter([value], [place], s=22, color=colour, zorder=4)
        axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
        axes.set_xlim(0, 1.03 * max(most, 1))
        axes.set_xticks(_root_ticks(max(most, 1)))
        axes.set_yticks(places, [_short(name) for name, *_ in rows])
        _whole_numbers(axes.xaxis)
    return drawn[0]


def _root_ticks(most: float) -> list[float]:
    """A few round numbers that lie evenly on a root scale."""
    wanted = [most * (i / 4) ** 2 for i in range(1, 5)]
    return [0.0, *sorted({float(f"{x:.1g}") for x in wanted if float(f"{x:.1g}") <= most})]


def league_plot(ratios: Mapping[str, Sequence[Sequence[float]]], fractions: Sequence[str]) -> str:
    """Estimate over truth of every sample on a log axis, one row a model, a colour a fraction."""
    height = 1.2 + 0.34 * len(ratios)
    with axes_drawn("estimate / truth", "", height=height, grid="x") as (axes, drawn):
        places = np.arange(len(ratios))[::-1]
        for number, fraction in enumerate(fractions):
            shade = number / max(len(fractions) - 1, 1)
            colour = mpl.colors.to_hex((0.17 + 0.6 * shade, 0.42 - 0.2 * shade, 0.69 - 0.5 * shade))
            shift = 0.5 * ((number + 0.5) / len(fractions) - 0.5)
            x = [max(v, FLOOR) for values in ratios.values() for v in values[number]]
            rows = zip(places, ratios.values(), strict=True)
            y = [place - shift for place, values in rows for _ in values[number]]
            axes.scatter(x, y, s=9, color=colour, label=fraction, zorder=3, linewidths=0)
        axes.axvline(1, color=RED, linewidth=1, zorder=2)
        axes.set_xscale("log")
        axes.set_yticks(places, [_short(name) for name in ratios])
        axes.set_ylim(-0.6, len(ratios) - 0.4)
        axes.legend(title="fraction", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    return drawn[0]


def belief_plot(
    labels: Sequence[str], distributions: Sequence[Mapping[int, float]], truths: Sequence[int]
) -> str:
    """One bar a cell, cut into the probabilities of its counts; the true count's part in red."""
    height = 0.9 + 0.34 * len(labels)
    with axes_drawn("probability", "", height=height, grid="x") as (axes, drawn):
        places = np.arange(len(labels))[::-1]
        for place, distribution, truth in zip(places, distributions, truths, strict=True):
            left = 0.0
            for count in sorted(distribution):
                share = distribution[count]
                colour = RED if count == truth else _shade(count)
                axes.barh(place, share, left=left, color=colour, height=0.72, zorder=3,
                          edgecolor="white", linewidth=0.6)  # fmt: skip
                if share > LEAST_NAMED:
                    axes.text(left + share / 2, place, str(count), color="white", zorder=4,
                              ha="center", va="center", fontsize=8)  # fmt: skip
                left += share
        axes.set_yticks(places, [_short(label) for label in labels])
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.6, len(labels) - 0.4)
    return drawn[0]


def _shade(count: int) -> str:
    """Blue, darker and lighter by turns, so that neighbouring counts stand apart."""
    return ("#2b6cb0", "#63a0d8", "#1e4e82", "#8fbce6")[count % 4]


def weights_plot(names: Sequence[str], weights: Sequence[float]) -> str:
    """Probability of each model given the release."""
    height = 0.9 + 0.3 * len(names)
    with axes_drawn("probability of the model", "", height=height, grid="x") as (axes, drawn):
        places = np.arange(len(names))[::-1]
        axes.barh(places, weights, color=BLUE, height=0.7, zorder=3)
        axes.set_yticks(places, [_short(name) for name in names])
        axes.set_xlim(0, 1)
    return drawn[0]


def sequence_plot(steps: Sequence[str], lines: Mapping[str, Sequence[float | None]]) -> str:
    """The probability of each small cell's true count after each release."""
    with axes_drawn("releases that are out", "probability of the true count", height=3.4) as (
        axes,
        drawn,
    ):
        for number, (name, values) in enumerate(lines.items()):
            points = [(i, v) for i, v in enumerate(values) if v is not None]
            axes.plot(
                [i for i, _ in points],
                [v for _, v in points],
                color=mpl.colormaps["tab10"](number % 10),
                marker="os^Dv"[number // 10 % 5],
                markersize=4,
                label=_short(name),
                clip_on=False,
                zorder=3,
            )
        axes.set_xticks(range(len(steps)), steps)
        axes.set_ylim(0, 1)
        if lines:
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    return drawn[0]


def _shade_limits(probabilities: Sequence[float]) -> tuple[float, float]:
    """The range of the colours: at most six powers of ten down from the most probable."""
    most = max([*probabilities, 1e-290])
    least = max(min(probabilities), most / 1e6)
    return min(least, most / 10), most


def _plain(probability: float) -> str:
    """A probability without a power of ten while it can be read."""
    return f"{probability:.6f}".rstrip("0") if probability > 9e-7 else f"{probability:.0e}"


@contextmanager
def axes_drawn(
    x_label: str, y_label: str, *, height: float = 2.9, grid: Literal["x", "y"] = "y"
) -> Iterator[tuple[Any, list[str]]]:
    """Axes in the house style; when the block ends the SVG text is in the list."""
    drawn: list[str] = []
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(5.2, height), layout="constrained")
        axes = canvas.add_subplot()
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.grid(axis=grid, color=GRID, linewidth=0.8, zorder=0)
        yield axes, drawn
        drawn.append(_svg(canvas))


def _short(label: str) -> str:
    """A name that fits beside an axis and holds nothing but printable characters."""
    plain = one_line(label)
    return plain if len(plain) <= LONGEST_LABEL else plain[: LONGEST_LABEL - 1] + "…"


_also_as: ContextVar[tuple[str, io.BytesIO] | None] = ContextVar("also_as", default=None)


@contextmanager
def drawn_also(form: str) -> Iterator[io.BytesIO]:
    """What is drawn meanwhile is written into the buffer too, as png or pdf."""
    buffer = io.BytesIO()
    token = _also_as.set((form, buffer))
    try:
        yield buffer
    finally:
        _also_as.reset(token)


def _svg(canvas: Canvas) -> str:
    """The text of the picture; the reader's browser has the glyphs that matplotlib may lack."""
    buffer = io.StringIO()
    drawing: Any = FigureCanvasSVG(canvas)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        drawing.print_svg(buffer, metadata={"Date": None, "Creator": None})
        also = _also_as.get()
        if also is not None:
            canvas.savefig(also[1], format=also[0], dpi=200, metadata=METADATA[also[0]])
    text = buffer.getvalue()
    return text[text.index("<svg") :].rstrip()


def _whole_numbers(*axes: Any) -> None:
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
