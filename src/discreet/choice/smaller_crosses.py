"""The risk of smaller crosses of what a candidate shows exactly, with what is out already."""

from collections.abc import Sequence

from discreet.belief.draws.augmentation import ChainEffort
from discreet.choice.candidates import NOTHING
from discreet.choice.choice import limits
from discreet.choice.options import ChooseOptions
from discreet.clock import Clock
from discreet.figures import Figure, Outcome, Unavailable
from discreet.masks.contract import Axes, Masked
from discreet.numerics.rounding import first_largest
from discreet.tables.audit_verdict import table_name
from discreet.tables.cross_risks import CrossRisk, Remembered, cross_risks
from discreet.tables.refused_margin import RefusalRule
from discreet.tables.release import released


def worst_cross(
    masked: Masked,
    out: Sequence[Axes],
    options: ChooseOptions,
    clock: Clock,
    remembered: Remembered,
) -> dict[str, Outcome]:
    """The worst of the crosses that an audit of the same margins is judged by, under its name.

    Of rounded, suppressed or perturbed tables, those of the margins that are told exactly. Nothing
    where there is no such cross.
    """
    table, measure = masked.source, options.measure
    exact = list(out)
    if masked.margins is not None and masked.mask != NOTHING:
        exact += [axes for axes in masked.margins.tables if axes]
    if not exact:
        return {}
    told = {axis for one in masked.published for axis in one.axes}
    release = released(
        table,
        [table.names_of(axes) for axes in exact],
        targets=options.targets or (),
        nesting=options.nesting,
        nested=options.nested,
    )
    found = cross_risks(
        release,
        RefusalRule(
            policy=measure.policy,
            max_risk=options.max_risk,
            small=measure.small,
            confidence=measure.confidence,
        ),
        alpha=measure.alpha,
        effort=ChainEffort(),
        seed=1,
        clock=clock,
        whole=not told <= {axis for axes in exact for axis in axes},
        remembered=remembered,
    )
    if not found:
        return {}
    top = found[first_largest([_most(one) for one in found])]
    return {f"in {table_name(release.table, top.axes)}": top.risk}


def _most(cross: CrossRisk) -> float:
    """The greatest that its risk may be; what is not known comes first."""
    if isinstance(cross.risk, Unavailable):
        return 1e300
    assert isinstance(cross.risk, Figure)
    return limits(cross.risk)[1]
