"""What was found of a release, as far as rules are about it: only what is asked is looked for."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.clock import Clock
from discreet.figures import Outcome, Unavailable
from discreet.policy.findings import Finding, Findings
from discreet.policy.table_rules import Rounded
from discreet.progress import silent
from discreet.tables.audit_cells import LookedAt, looked_at
from discreet.tables.audit_options import AuditOptions
from discreet.tables.cross_risks import CrossRisk, cross_risks
from discreet.tables.crosses import crosses
from discreet.tables.measured import Measured, main_view_of, measured, measures_of, risk_of
from discreet.tables.policy_needs import Needs, finding_name
from discreet.tables.posteriors import ViewOptions
from discreet.tables.printed import Printed, printed_zeros
from discreet.tables.refused_margin import BY_OPTION, RiskFigure, RiskMeasure
from discreet.tables.release import Release
from discreet.tables.table_findings import (
    NO_SMALL,
    FoundGroups,
    doubts_findings,
    groups_finding,
    measured_finding,
    printed_finding,
    rounded_finding,
    worked_out_finding,
    zeros_finding,
)
from discreet.tables.worked_out import worked_out

SHARE = 0.3  # of the time left, for each further number up to which counts are small
# What policies often ask for: it is found of every table that is small enough.
USUAL_SMALL = (0, 1, 2, 4, 5, 7, 9, 10)
USUAL_BASES = (
    *(Rounded(limit=base) for base in (3, 5, 10)),
    Rounded(limit=3, random=True),
    Rounded(limit=5, small=7, shown=5),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """A release with what was measured of it for the options' own small counts; what rules call
    small beside them is measured when one of them asks.

    `crosses` fills with the risk of smaller tables by each measure that was asked for.
    """

    out: Release
    options: AuditOptions
    view_options: ViewOptions
    own: Measured
    groups: FoundGroups
    clock: Clock
    others: dict[int, Measured] = field(default_factory=dict)
    crosses: dict[RiskFigure, tuple[CrossRisk, ...]] = field(default_factory=dict)

    def findings(self, needs: Needs) -> Findings:
        """All that is asked, and what is known anyway: counts printed, groups, the measures of the
        whole table."""
        small, bases = (USUAL_SMALL, USUAL_BASES) if self.out.is_shown else ((), ())
        counts = {*small, self.options.most_small, *needs.printed, *needs.shown}
        printed = {n: self._printed(n) for n in sorted(counts)}
        found = {
            **{f"printed:{n}": one for n, one in printed.items()},
            **{f"shown:{n}": one for n, one in printed.items()},
            **{rule.figure: self._rounded(int(rule.limit)) for rule in (*bases, *needs.rounded)},
            "groups": groups_finding(self.groups),
            **doubts_findings(self.out.table),
        }
        for n in needs.derived:
            parts = worked_out(self.out, n, self.clock)
            found[f"derived:{n}"] = worked_out_finding(self.out.table, n, self.out.nested, parts)
        found |= {finding_name(figure): one for figure, one in self._measured(needs)}
        for measure in BY_OPTION:
            figure = self._usual(measure)
            if finding_name(figure) not in found:
                found[finding_name(figure)] = self._of_whole(figure)
        return Findings(found)

    def _usual(self, measure: RiskMeasure) -> RiskFigure:
        """A measure as the options have it."""
        return RiskFigure(
            measure=measure, small=self.options.most_small, confidence=self.options.confidence
        )

    def _printed(self, small: int) -> Finding:
        out = self.out
        if small:
            return printed_finding(out.table, out.printed(small), small)
        tables, sizes, sure = out.tables_out(), out.table.sizes, out.nested
        return zeros_finding(
            out.table,
            out.nested,
            printed_zeros(tables, lambda axes: sure.possible_cells(sizes, axes)),
            printed_zeros(tables, lambda axes: sure.confirmed().possible_cells(sizes, axes)),
        )

    def _rounded(self, base: int) -> Finding:
        tables = self.out.tables_out().items()
        numbers = [Printed(axes, int(np.count_nonzero(own % base))) for axes, own in tables]
        return rounded_finding(self.out.table, base, [one for one in numbers if one.number])

    def _measured(self, needs: Needs) -> Iterator[tuple[RiskFigure, Finding]]:
        """Each measure that is asked for, with the smaller crosses."""
        wholes = {figure: self._whole(figure) for figure in needs.measured}
        for i, (figure, whole) in enumerate(wholes.items()):
            smaller = cross_risks(
                self.out,
                figure,
                alpha=self.options.alpha,
                effort=self.options.effort,
                seed=self.options.seed,
                clock=Clock(self.clock.share(1 / (len(wholes) - i))),
            )
            self.crosses[figure] = smaller
            yield (
                figure,
                measured_finding(self.out.table, figure, whole, smaller, hides=self.out.hides),
            )

    def _of_whole(self, figure: RiskFigure) -> Finding:
        """A measure that nobody asked for: what is known of the table of all variables."""
        out = self.out
        known_of = {axis for one in out.known for axis in one.levels}
        smaller = crosses(out.sets, len(out.table.names), len(out.table.cells), also=known_of)
        return measured_finding(
            out.table, figure, self._whole(figure), hides=out.hides, all_looked_at=not smaller
        )

    def _whole(self, figure: RiskFigure) -> CrossRisk:
        """The measure of the table of all variables."""
        every = tuple(range(len(self.out.table.names)))
        if figure.measure is RiskMeasure.BOUNDS:
            cells = self._cells(figure.small)
            n_small, risk = cells.n_small, cells.tightness
            return CrossRisk(axes=every, risk=risk, n_small=n_small, n_looked_at=n_small)
        found = self.own if figure.measure is RiskMeasure.TABLE else self._with(figure.small)
        cells = found.cells
        return CrossRisk(
            axes=every,
            risk=_risk(found, figure),
            n_small=cells.n_small,
            n_looked_at=cells.n_measured(figure.confidence),
        )

    def _cells(self, small: int) -> LookedAt:
        if small == self.options.most_small:
            return self.own.cells
        if small in self.others:
            return self.others[small].cells
        return looked_at(self.out, small, self.clock, silent)

    def _with(self, small: int) -> Measured:
        """What is believed of the counts up to some number."""
        if small == self.options.most_small:
            return self.own
        if small not in self.others:
            cells, sure = self._cells(small), self.options.confidence
            own = replace(self.view_options, seconds=self.clock.share(SHARE))
            self.others[small] = measured(self.out, cells, sure, own, silent)
        return self.others[small]


def _risk(found: Measured, figure: RiskFigure) -> Outcome:
    """The measure under the main view, by the figure's own confidence."""
    name = main_view_of(found.seen.views)
    measures = measures_of(found.seen.views, found.cells, figure.confidence)
    if figure.measure is RiskMeasure.CELLS and not found.cells.n_small:
        return Unavailable(NO_SMALL)
    tightness, view = found.cells.tightness, found.seen.views[name]
    return risk_of(figure.measure, tightness, view, measures.get(name))
