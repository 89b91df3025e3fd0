"""Counted cells to the few numbers that models are fitted on."""

from collections.abc import Iterable
from itertools import combinations

from discreet.data.summary import Summary
from discreet.engines.contract import Cells
from discreet.numerics.rounding import alike
from discreet.survey.models.contract import Need

ORDERS = {Need.MARGINS_1: 1, Need.MARGINS_2: 2, Need.MARGINS_3: 3}


def summarise(
    cells: Cells,
    *,
    n_table_cells: int,
    population_size: float | None,
    weight_total: float | None,
    needs: Iterable[Need],
) -> Summary:
    """Totals, size indices and the margins needed; without N, the sum of the weights stands in.

    Weights scaled to add up to n may miss it in their last digits: that is n, for no population is
    smaller than its sample.
    """
    stand_in = weight_total
    if weight_total is not None and alike(weight_total, cells.n_records):
        stand_in = float(cells.n_records)
    keys = range(len(cells.space.keys))
    sets = [axes for need in sorted(needs) for axes in combinations(keys, ORDERS[need])]
    margins = cells.margins(sets)
    return Summary(
        sample_size=cells.n_records,
        n_table_cells=n_table_cells,
        level_counts=cells.space.coding.sizes,
        size_indices=cells.size_indices(),
        weight_total=weight_total,
        population_size=population_size if population_size is not None else stand_in,
        population_size_known=population_size is not None,
        margins=margins,
    )
