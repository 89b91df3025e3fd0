"""How a candidate is judged: margins of a table, or linked tables with bands and subtotals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from discreet.choice.certain_harm import Harm, certain_harm, judged_with
from discreet.choice.options import ChooseOptions
from discreet.choice.published_variables import Judged
from discreet.choice.release_findings import page_findings, worked_out_findings
from discreet.choice.smaller_crosses import worst_cross
from discreet.clock import Clock
from discreet.figures import Outcome
from discreet.masks.contract import Axes, Masked
from discreet.policy.findings import Finding
from discreet.tables.cross_risks import Remembered
from discreet.tables.policy_needs import Needs
from discreet.tables.refused_margin import RiskFigure


class Judging(Protocol):
    """What can be said of a candidate before and beside the belief in its cells."""

    def judged(self, masked: Masked) -> Judged | None:
        """The publication as an intruder has it; None where nothing is told."""

    def harm(self, masked: Masked, clock: Clock, seed: Sequence[int]) -> Harm:
        """What it gives away for certain."""

    def page(self, masked: Masked, needs: Needs) -> dict[str, Finding]:
        """What stands on its pages."""

    def worked_out(
        self, masked: Masked, judged: Judged | None, needs: Needs, clock: Clock
    ) -> dict[str, Finding]:
        """Hidden counts that follow from all that is known."""

    def crosses(
        self,
        masked: Masked,
        judged: Judged,
        figure: RiskFigure,
        clock: Clock,
        remembered: Remembered,
    ) -> dict[str, Outcome]:
        """The worst of its smaller crosses by a measure."""


@dataclass(frozen=True, slots=True)
class ByMargins:
    """Candidates about margins of one table, with the margins that are out."""

    out: tuple[Axes, ...]
    options: ChooseOptions

    def judged(self, masked: Masked) -> Judged | None:
        """The publication as an intruder has it; None where nothing is told."""
        return judged_with(masked, self.out, self.options)

    def harm(self, masked: Masked, clock: Clock, seed: Sequence[int]) -> Harm:
        """What it gives away for certain."""
        return certain_harm(masked, self.out, self.options, clock, seed)

    def page(self, masked: Masked, needs: Needs) -> dict[str, Finding]:
        """What stands on its pages."""
        return page_findings(masked, self.out, self.options, needs)

    def worked_out(
        self, masked: Masked, judged: Judged | None, needs: Needs, clock: Clock
    ) -> dict[str, Finding]:
        """Hidden counts that follow from all that is known."""
        return worked_out_findings(masked, judged, self.out, self.options, needs, clock)

    def crosses(
        self,
        masked: Masked,
        judged: Judged,
        figure: RiskFigure,
        clock: Clock,
        remembered: Remembered,
    ) -> dict[str, Outcome]:
        """The worst of its smaller crosses by a measure."""
        return worst_cross(masked, judged, self.out, self.options, figure, clock, remembered)
