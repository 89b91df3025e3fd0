"""The league's errors as a picture and as the tables of docs/methods/league.md.

Reads league.csv beside this file, which `python -m benchmarks.league --save` writes; writes
league.svg beside it, the same bytes each time for one matplotlib, and prints the tables.
Run: .venv/bin/python docs/figures/league.py
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

HERE = Path(__file__).resolve()
DESIGNS = {"equal": "equal weights", "unequal": "unequal weights"}
SHORT = {
    "recommended": "recommended",
    "loglinear": "log-linear",
    "lancaster": "Lancaster",
    "pitman": "Pitman",
    "ewens": "Ewens",
    "poisson_gamma": "P.–gamma",
    "poisson_inverse_gaussian": "P.–inv. Gauss",
    "negative_binomial": "neg. binomial",
    "zayatz": "Zayatz",
    "dankar": "Dankar",
    "cohen_sackrowitz_uniform": "C.–S. uniform",
    "cohen_sackrowitz_multinomial": "C.–S. multin.",
    "benedetti_franconi": "Ben.–Franconi",
}
ENOUGH = 0.8  # of the intervals
Line = dict[str, str]
Lines = dict[tuple[str, str, str, str], Line]  # by population, design, fraction and model


def read_lines() -> Lines:
    """The lines of the league."""
    with HERE.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return {
            (line["population"], line["design"], line["fraction"], line["model"]): line
            for line in csv.DictReader(file)
        }


def rows_of(lines: Lines) -> list[tuple[str, str]]:
    """Populations and fractions in the order of the file."""
    return list(dict.fromkeys((population, fraction) for population, _, fraction, _ in lines))


def draw(axes: Axes, lines: Lines, design: str) -> None:
    """A square for each population, fraction and model; a dot where its intervals hold."""
    rows = rows_of(lines)
    found = [[lines[place, design, f, model] for model in SHORT] for place, f in rows]
    error = [[float(line["error"] or "nan") for line in row] for row in found]
    mesh = axes.pcolormesh(
        np.clip(np.ma.masked_invalid(error), 0.02, 2),
        cmap="YlOrRd",
        norm=LogNorm(0.02, 2),
        edgecolors="white",
        linewidth=0.4,
    )
    holds = [[float(line["covered"] or 0) >= ENOUGH for line in row] for row in found]
    down, across = np.nonzero(np.array(holds))
    axes.plot(across + 0.5, down + 0.5, ".", color="black", markersize=4)
    axes.set_title(DESIGNS[design])
    axes.set_xticks(np.arange(len(SHORT)) + 0.5, list(SHORT.values()), rotation=60, ha="left")
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    for place in range(4, len(rows), 4):
        axes.axhline(place, color="black", linewidth=0.8)
    axes.set(facecolor="lightgrey", ylim=(len(rows), 0))
    bar = axes.figure.colorbar(mesh, ax=axes, location="bottom", pad=0.02, label="error")
    bar.set_ticks([0.02, 0.05, 0.1, 0.3, 1, 2], labels=["≤ .02", ".05", ".1", ".3", "1", "≥ 2"])
    bar.minorticks_off()


def picture(lines: Lines) -> Figure:
    """Equal and unequal weights side by side."""
    rows = rows_of(lines)
    figure = Figure(figsize=(10, 11), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, design in zip(panels, DESIGNS, strict=True):
        draw(axes, lines, design)
    labels = [f"{name}  {f}" if n % 4 == 0 else f for n, (name, f) in enumerate(rows)]
    panels[0].set_yticks(np.arange(len(rows)) + 0.5, labels)
    return figure


def table(lines: Lines, design: str) -> Iterator[str]:
    """Error and, in brackets, the percentage of intervals that hold, as Markdown."""
    yield "| population | fraction | truth | " + " | ".join(SHORT.values()) + " |"
    yield "|---" * (len(SHORT) + 3) + "|"
    for population, fraction in rows_of(lines):
        here = [lines[population, design, fraction, model] for model in SHORT]
        cells = (entry(line) for line in here)
        truth = f"{float(here[0]['truth']):,.0f}"
        yield f"| {population} | {fraction} | {truth} | " + " | ".join(cells) + " |"
    means = (pooled([line for k, line in lines.items() if k[1::2] == (design, m)]) for m in SHORT)
    yield "| **all** | | | " + " | ".join(means) + " |"


def entry(line: Line) -> str:
    """Error and coverage of a model on some samples; an asterisk where it left some out."""
    if not line["error"]:
        return "–"
    star = "" if line["answers"] == line["samples"] else "*"
    return f"{float(line['error']):.2f}{star} ({percent(line['covered'])})"


def pooled(lines: list[Line]) -> str:
    """The means of a column."""
    errors = [float(line["error"]) for line in lines if line["error"]]
    covered = [float(line["covered"]) for line in lines if line["covered"]]
    return f"**{np.mean(errors):.2f} ({percent(np.mean(covered))})**"


def percent(share: str | np.floating) -> str:
    """A share in percent, without the sign."""
    return "–" if share == "" else f"{100 * float(share):.0f}"


if __name__ == "__main__":
    given = read_lines()
    for which, title in DESIGNS.items():
        print(f"\n{title}\n")
        print("\n".join(table(given, which)))
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        picture(given).savefig(HERE.with_suffix(".svg"), metadata={"Date": None})
