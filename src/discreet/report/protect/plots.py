"""The frontier of a protection as a picture."""

from collections.abc import Sequence

from discreet.protection.protected import FrontierPoint
from discreet.report.plots import BLUE, GRID, RED, axes_drawn


def frontier_plot(points: Sequence[FrontierPoint]) -> str:
    """Loss by how many records belong together; the one taken in red, values suppressed beside."""
    with axes_drawn("records that belong together, at least", "loss") as (axes, drawn):
        axes.set_xscale("log")
        axes.plot([p.k for p in points], [p.loss for p in points], color=GRID, zorder=2)
        for point in points:
            colour = RED if point.chosen else BLUE
            axes.scatter([point.k], [point.loss], s=34, color=colour, zorder=3)
            axes.annotate(f"{point.suppressed:,}", (point.k, point.loss), (4, 5),
                          textcoords="offset points", fontsize=8)  # fmt: skip
        ticks = sorted({point.k for point in points})
        axes.set_xticks(ticks, [str(k) for k in ticks])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
    return drawn[0]
