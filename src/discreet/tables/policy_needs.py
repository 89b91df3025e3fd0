"""What policies ask to be found of tables: each figure once, whoever asks for it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from discreet.numerics.rounding import above
from discreet.policy.policy import Policy
from discreet.policy.rule import Rule, Subject
from discreet.policy.table_rules import (
    CONFIDENCE,
    SMALL,
    Bounds,
    DerivedCounts,
    Groups,
    PrintedCounts,
    Rounded,
    SmallCellsIdentified,
    TrueCount,
    TrueTable,
)
from discreet.tables.refused_margin import RiskFigure, RiskMeasure

ZEROS = 0  # stands among greatest small counts for a count of 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What is to be found: `printed` and `derived` counts up to each number, 0 being zeros alone,
    figures of any kind that are `shown`, figures that are not `rounded` as rules ask, whether
    `groups` share a level, and measures of what an intruder learns."""

    printed: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    derived: tuple[int, ...] = ()
    rounded: tuple[Rounded, ...] = ()
    groups: bool = False
    measured: tuple[RiskFigure, ...] = ()


def needs_of(policies: Sequence[Policy]) -> Needs:
    """All that the rules of the policies on tables are about."""
    rules = [rule for policy in policies for rule in policy.about(Subject.TABLES)]
    printed = [rule for rule in rules if isinstance(rule, PrintedCounts)]
    return Needs(
        printed=_once(n for rule in printed if rule.figures == "exact" for n in _up_to(rule)),
        shown=_once(n for rule in printed if rule.figures == "all" for n in _up_to(rule)),
        derived=_once(n for rule in rules if isinstance(rule, DerivedCounts) for n in _up_to(rule)),
        rounded=tuple({r.figure: r for r in rules if isinstance(r, Rounded)}.values()),
        groups=any(isinstance(rule, Groups) for rule in rules),
        measured=tuple(
            dict.fromkeys(one for rule in rules if (one := figure_of(rule)) is not None)
        ),
    )


def _once(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))


def _up_to(rule: PrintedCounts | DerivedCounts) -> Iterator[int]:
    if rule.small:
        yield rule.small
    if rule.zeros == "refused":
        yield ZEROS


def figure_of(rule: Rule) -> RiskFigure | None:
    """The measure that a rule limits; None for rules on what is certain."""
    if isinstance(rule, TrueTable):
        return RiskFigure(measure=RiskMeasure.TABLE, small=SMALL, confidence=CONFIDENCE)
    if isinstance(rule, Bounds):
        return RiskFigure(measure=RiskMeasure.BOUNDS, small=rule.small, confidence=CONFIDENCE)
    if isinstance(rule, TrueCount):
        return RiskFigure(measure=RiskMeasure.COUNT, small=rule.small, confidence=CONFIDENCE)
    if isinstance(rule, SmallCellsIdentified):
        own = {"small": rule.small, "confidence": rule.confidence}
        return RiskFigure(measure=RiskMeasure.CELLS, **own)  # type: ignore[arg-type]
    return None


def finding_name(figure: RiskFigure) -> str:
    """The finding of a measure, as its rule names it."""
    if figure.measure is RiskMeasure.TABLE:
        return TrueTable.name
    if figure.measure is RiskMeasure.BOUNDS:
        return f"{Bounds.name}:{figure.small}"
    if figure.measure is RiskMeasure.COUNT:
        return f"{TrueCount.name}:{figure.small}"
    return f"{SmallCellsIdentified.name}:{figure.small}:{float(figure.confidence)!r}"


def largest_small(policies: Sequence[Policy]) -> int | None:
    """The greatest count that a rule of the policies calls small; None where none does."""
    needs = needs_of(policies)
    own = [one.small for one in needs.measured if one.measure is not RiskMeasure.TABLE]
    counts = (*needs.printed, *needs.shown, *needs.derived, *own)
    return max(filter(None, counts), default=None)


def plain_policy(measure: RiskMeasure, max_risk: float, small: int, confidence: float) -> Policy:
    """The policy that plain options write: a limit on a measure, no small count on the page unless
    the limit allows certain knowledge, and no group that is shown to share a level."""
    rules: list[Rule] = [_limit(measure, max_risk, small, confidence)]
    if above(CERTAIN[measure], max_risk):
        rules.append(PrintedCounts(limit=small + 1))
    return Policy(name="", rules=(*rules, Groups()))


def _limit(measure: RiskMeasure, max_risk: float, small: int, confidence: float) -> Rule:
    if measure is RiskMeasure.BOUNDS:
        return Bounds(limit=0.0 - max_risk, small=small)
    if measure is RiskMeasure.TABLE:
        return TrueTable(limit=max_risk, printed="allowed")
    return SmallCellsIdentified(limit=max_risk, small=small, confidence=confidence)


CERTAIN = {  # risk of what is certain, the greatest that there is
    RiskMeasure.BOUNDS: 0.0,
    RiskMeasure.TABLE: 1.0,
    RiskMeasure.CELLS: 1.0,
    RiskMeasure.COUNT: 1.0,
}
