"""What a release tells of the small cells of one table: their bounds, and beliefs about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.figures import Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress
from discreet.tables.audit_cells import LookedAt
from discreet.tables.measures import TableMeasures, table_measures
from discreet.tables.posteriors import AVERAGE, Seen, View, ViewOptions, views
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The cells looked at, each view's distributions of the small ones (levels a row in `watched`),
    and the measures under each view."""

    cells: LookedAt
    watched: IntArray
    seen: Seen
    measures: Mapping[str, TableMeasures]

    def risk(self, measure: RiskMeasure, view: str) -> Outcome:
        """The measure under one view."""
        return risk_of(
            measure, self.cells.tightness, self.seen.views[view], self.measures.get(view)
        )


def measured(
    out: Release, cells: LookedAt, confidence: float, options: ViewOptions, progress: Progress
) -> Measured:
    """What is believed of the small ones of the cells, and how bad that is."""
    watched = cells.small_levels(len(out.table.names))
    seen = views(out, watched, options, progress)
    cells = cells.first(_fewest_distributions(seen, len(watched)))
    return Measured(
        cells=cells,
        watched=watched[: len(cells.small)],
        seen=seen,
        measures=measures_of(seen.views, cells, confidence),
    )


def _fewest_distributions(seen: Seen, most: int) -> int:
    """How many small cells every view has a distribution of."""
    return min(
        (len(v.distributions) for v in seen.views.values() if isinstance(v, View)), default=most
    )


def measures_of(
    seen: Mapping[str, View | Unavailable], cells: LookedAt, confidence: float
) -> dict[str, TableMeasures]:
    """The measures under each view."""
    truths = [cell.truth for cell in cells.small]
    not_found = cells.n_measured(confidence) - len(cells.small)
    return {
        name: table_measures(
            view.distributions,
            view.errors,
            truths,
            confidence=confidence,
            true_table=view.true_table,
            not_found=not_found,
            rest=cells.rest,
        )
        for name, view in seen.items()
        if isinstance(view, View)
    }


def risk_of(
    measure: RiskMeasure,
    tightness: Outcome,
    view: View | Unavailable,
    measures: TableMeasures | None,
) -> Outcome:
    """The measure, or why there is none."""
    if measure is RiskMeasure.BOUNDS:
        return tightness
    if isinstance(view, Unavailable) or measures is None:
        return view if isinstance(view, Unavailable) else Unavailable("not measured")
    if measure is RiskMeasure.COUNT:
        return measures.true_count
    return measures.true_table if measure is RiskMeasure.TABLE else measures.small_cells_identified


def main_view_of(seen: Mapping[str, View | Unavailable]) -> str:
    """The view that headlines and the verdict are about: the average, or the first there is."""
    if isinstance(seen.get(AVERAGE), View):
        return AVERAGE
    there: Sequence[str] = [name for name, view in seen.items() if isinstance(view, View)]
    return there[0] if there else next(iter(seen))
