"""The flows and the layers that they pass, as a picture.

Writes architecture.svg beside this file; the same bytes each time for one matplotlib.
Run: .venv/bin/python docs/figures/architecture.py
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, LINE = "#1f2933", "#7b8794"
FLOWS = {
    "survey file": (
        "#dbeafe",
        [
            ("records", "data"),
            ("cells", "engines"),
            ("summary", "data"),
            ("fitted model", "survey"),
            ("risks", "survey"),
            ("assessment", "flows"),
            ("report", "report"),
        ],
    ),
    "changed file": (
        "#fae8ff",
        [
            ("cells", "engines"),
            ("recodings", "masks, protection"),
            ("values taken\nout", "masks, protection"),
            ("recipe", "protection"),
            ("protected\nrecords", "protection, data"),
            ("assessment", "flows"),
            ("report", "report"),
        ],
    ),
    "table": (
        "#dcfce7",
        [
            ("table", "data"),
            ("released\nmargins", "tables"),
            ("fiber", "fiber"),
            ("bounds, number,\nbelief", "fiber, belief"),
            ("audit", "tables"),
            ("choice", "masks, choice"),
            ("report", "report"),
        ],
    ),
    "counts": (
        "#fef3c7",
        [
            ("count table", "data"),
            ("sufficient\nstatistics", "count_tables"),
            ("fiber", "fiber"),
            ("bounds, number,\nbelief", "fiber, belief"),
            ("audit", "count_tables"),
            ("verdict", "flows"),
            ("report", "report"),
        ],
    ),
}
LAYERS = (
    "numerics", "data", "engines", "fiber", "belief", "masks",
    "survey · tables ·\ncount_tables", "choice ·\nprotection", "flows", "report", "cli",
)  # fmt: skip


def draw_layers(axes: Axes, y: float) -> None:
    """The folders in the order of their imports: each may use those on its left."""
    axes.text(-0.62, y, "layers", ha="right", va="center", fontsize=10, weight="bold", color=INK)
    step = 6.5 / len(LAYERS)
    for i, name in enumerate(LAYERS):
        box = {"boxstyle": "square,pad=0.4", "facecolor": "#e4e7eb", "edgecolor": "white"}
        axes.text(i * step, y, name, ha="center", va="center", fontsize=7.5, color=INK, bbox=box)
    told = "each folder uses only folders on its left"
    axes.text(3, y - 0.36, told, ha="center", va="center", fontsize=7.5, color=LINE)


def draw_flow(axes: Axes, y: float, name: str, colour: str, steps: list[tuple[str, str]]) -> None:
    """One row of boxes with arrows; below each box the folder where it is made."""
    axes.text(-0.62, y, name, ha="right", va="center", fontsize=10, weight="bold", color=INK)
    for x, (text, folder) in enumerate(steps):
        box = {"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": LINE}
        axes.text(x, y, text, ha="center", va="center", fontsize=8.5, color=INK, bbox=box)
        axes.text(x, y - 0.36, folder, ha="center", va="center", fontsize=7.5, color=LINE)
        if x:
            arrow = {"arrowstyle": "->", "color": LINE, "lw": 1.2}
            axes.annotate("", (x - 0.44, y), (x - 0.56, y), arrowprops=arrow)


def picture() -> Figure:
    """All flows, one below the other."""
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    axes = figure.subplots()
    for row, (name, (colour, steps)) in enumerate(FLOWS.items()):
        draw_flow(axes, -row, name, colour, steps)
    draw_layers(axes, -len(FLOWS))
    axes.set(xlim=(-1.3, 6.6), ylim=(-4.6, 0.5))
    axes.axis("off")
    return figure


if __name__ == "__main__":
    style = {"svg.hashsalt": "discreet", "svg.fonttype": "none", "font.family": "sans-serif"}
    with mpl.rc_context(style):
        where = Path(__file__).with_suffix(".svg")
        picture().savefig(where, metadata={"Date": None})
