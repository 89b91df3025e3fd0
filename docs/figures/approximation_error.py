"""The error of polettini's approximations (9) and (10) over counts and inclusion probabilities.

Writes approximation_error.svg beside this file; the same bytes each time for one matplotlib.
Run: .venv/bin/python docs/figures/approximation_error.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from discreet.survey.models.inverse_mean import (
    Method,
    approximation_error,
    three_term_approximation,
    two_term_approximation,
)

COUNTS = (1, 2, 3, 5, 10, 30, 100)
PROBABILITIES = np.logspace(-4, np.log10(0.95), 121)  # at p = 1 both are exact
PANELS: tuple[tuple[str, Method], ...] = (
    ("Approximation (9): three terms", three_term_approximation),
    ("Approximation (10): two terms", two_term_approximation),
)


def draw(axes: Axes, title: str, approximation: Method) -> None:
    """How far too low the approximation is, one line a sample count."""
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(COUNTS)))
    for count, colour in zip(COUNTS, colours, strict=True):
        f = np.full(PROBABILITIES.shape, float(count))
        error = -100 * approximation_error(approximation, f, PROBABILITIES)
        axes.plot(PROBABILITIES, error, color=colour, label=f"f = {count}")
    axes.set(title=title, xscale="log", yscale="log", xlabel="inclusion probability p")
    axes.grid(alpha=0.3)


def picture() -> Figure:
    """Both approximations side by side."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, panel in zip((left, right), PANELS, strict=True):
        draw(axes, *panel)
    left.set(ylabel="too low by (% of the risk)", xlim=(1e-4, 1), ylim=(1e-4, 150))
    figure.legend(*right.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


if __name__ == "__main__":
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        picture().savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
