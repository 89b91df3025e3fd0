"""The risk of smaller crosses of what a candidate shows, with what is out already."""

from collections.abc import Sequence

from discreet.belief.draws.augmentation import ChainEffort
from discreet.choice.candidates import NOTHING
from discreet.choice.choice import limits
from discreet.choice.measures import small_cells
from discreet.choice.options import ChooseOptions
from discreet.choice.published_variables import Judged
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.fiber.system.priors import Multinomial
from discreet.figures import Outcome, Unavailable
from discreet.masks.after_publication import intruders_question
from discreet.masks.contract import Axes, Masked
from discreet.masks.margins import NAME as MARGINS
from discreet.numerics.rounding import first_largest
from discreet.tables.cross_risks import LIMITS, CrossRisk, Remembered, cross_risks, risks_by_all
from discreet.tables.crosses import crosses
from discreet.tables.refused_margin import RiskFigure, RiskMeasure
from discreet.tables.release import Release, released
from discreet.tables.table_findings import table_name

SEED = 1  # of draws that stand for a belief, so that the same candidate has the same risk
NOT_DRAWN = Unavailable("the tables that fit are too many to list and too uneven to draw")


def worst_cross(
    masked: Masked,
    judged: Judged,
    out: Sequence[Axes],
    options: ChooseOptions,
    figure: RiskFigure,
    clock: Clock,
    remembered: Remembered,
) -> dict[str, Outcome]:
    """The worst of the smaller crosses of a candidate, under its name; nothing where there is none.

    Margins are judged as an audit of them is. Of rounded, suppressed or perturbed tables every sum
    over variables is a cross of its own, over all tables that could have led to the publication.
    """
    if masked.mask not in (NOTHING, MARGINS):
        return worst_cross_of(judged, [one.axes for one in masked.published], figure, clock)
    return _worst(*_of_margins(masked, out, options, figure, clock, remembered))


def worst_cross_of(
    judged: Judged, sets: Sequence[Axes], figure: RiskFigure, clock: Clock
) -> dict[str, Outcome]:
    """The worst of the crosses of some sets of variables, over all tables that could have led to
    the publication."""
    return _worst(judged.masked.source, _of_mask(judged, sets, figure, clock))


def _worst(table: Table, found: Sequence[CrossRisk]) -> dict[str, Outcome]:
    if not found:
        return {}
    top = found[first_largest([_most(one) for one in found])]
    return {f"in {table_name(table, top.axes)}": top.risk}


def exact_sets(masked: Masked, out: Sequence[Axes]) -> list[Axes]:
    """The margins that go out as they are, with those that are out."""
    exact = list(out)
    if masked.margins is not None and masked.mask != NOTHING:
        exact += [axes for axes in masked.margins.tables if axes]
    return exact


def release_of(table: Table, sets: Sequence[Axes], options: ChooseOptions) -> Release:
    """Margins as an audit of them sees them."""
    return released(
        table,
        [table.names_of(axes) for axes in sets],
        targets=options.targets or (),
        nesting=options.nesting,
        nested=options.nested,
    )


def _of_margins(
    masked: Masked,
    out: Sequence[Axes],
    options: ChooseOptions,
    rule: RiskFigure,
    clock: Clock,
    remembered: Remembered,
) -> tuple[Table, Sequence[CrossRisk]]:
    exact = exact_sets(masked, out)
    if not exact:
        return masked.source, ()
    release = release_of(masked.source, exact, options)
    return release.table, cross_risks(
        release,
        rule,
        alpha=options.measure.alpha,
        effort=ChainEffort(),
        seed=SEED,
        clock=clock,
        remembered=remembered,
    )


def _of_mask(
    judged: Judged, sets: Sequence[Axes], rule: RiskFigure, clock: Clock
) -> list[CrossRisk]:
    masked, table = judged.masked, judged.masked.source
    n_variables = len(table.names)
    every = range(n_variables)
    smaller = crosses(sets, n_variables, len(table.cells), also=every, exact=False)
    wanted = [
        axes
        for axes in smaller
        if rule.measure is RiskMeasure.TABLE or len(small_cells(table.margin(axes), rule.small))
    ]
    question = intruders_question(masked, Multinomial(), also=judged.also, limits=LIMITS)
    known = [*masked.known, *judged.also]
    found = list(risks_by_all(table, question, known, rule, wanted, seed=SEED, clock=clock))
    if wanted and not found:
        return [CrossRisk(axes=wanted[0], risk=NOT_DRAWN, n_small=1, n_looked_at=0)]
    return found


def _most(cross: CrossRisk) -> float:
    """The greatest that its risk may be; what is not known comes first."""
    return 1e300 if isinstance(cross.risk, Unavailable) else limits(cross.risk)[1]
