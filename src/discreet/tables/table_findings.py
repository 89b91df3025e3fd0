"""What an audit found, in words and as figures that rules are about."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.data.nesting import Nested
from discreet.data.table import Table
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import first_largest
from discreet.policy.findings import Finding
from discreet.policy.policy import DOUBT
from discreet.policy.table_rules import COARSER, LONGER, PRINTED_WHOLE, chance
from discreet.policy.verdict import ends
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.groups import Learned, learned_words
from discreet.tables.policy_needs import CERTAIN
from discreet.tables.printed import Axes, Printed, number_printed
from discreet.tables.refused_margin import RiskFigure, RiskMeasure
from discreet.tables.release import NOTHING_NESTED
from discreet.tables.ruled_out import RuledOut
from discreet.tables.shown_groups import ShownGroups
from discreet.tables.worked_out import WorkedOut
from discreet.tables.worst_figure import worst_figure

RULES = {
    RiskMeasure.BOUNDS: "bounds",
    RiskMeasure.TABLE: "true_table",
    RiskMeasure.CELLS: "small_cells_identified",
}
MOST_NAMED = 5  # groups and tables named in a sentence
NO_SMALL = "no cell is small, so there is none to protect"
OPEN = f"{COARSER}; if it is no secret, say so (knows), or name the variables that are (targets)"
TREE = "release margins that fit together as a tree, or fewer of them"
NONE_SHOWN = ShownGroups(learned=())
CONFIRM = "count persons, or confirm that these are (persons)"
NOT_LOOKED_AT = "smaller tables of these variables were not looked at: ask for it with a limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroups:
    """What an audit found of groups of persons.

    `learned` are groups that share a level, proved or probable; `not_sought` says why probable ones
    were not, `shown` what was proved and what not looked at.
    """

    table: Table
    learned: Sequence[Learned] = ()
    not_sought: Unavailable | None = None
    shown: ShownGroups = NONE_SHOWN
    nested: RuledOut = NOTHING_NESTED


def measured_finding(
    table: Table,
    figure: RiskFigure,
    whole: CrossRisk,
    smaller: Sequence[CrossRisk] = (),
    *,
    hides: bool = True,
    all_looked_at: bool = True,
) -> Finding:
    """A measure for the table of all variables and for smaller crosses: the worst of them counts,
    since a small count that is found there is found.

    Without a small cell there is nothing to protect, except a hidden table as a whole. Where
    smaller crosses were not looked at, the risk is at least that of the whole.
    """
    nothing = _nothing(figure, whole, hides)
    if nothing and not smaller:
        return Finding(value=whole.risk, found=nothing, nothing=True)
    parts = [*(() if nothing else (whole,)), *smaller]
    where = ["" if one is whole else f" of {table_name(table, one.axes)}" for one in parts]
    risks = {table_name(table, one.axes): of_all(one, figure.measure) for one in parts}
    doubt = _doubt(parts, where, figure)
    most = CERTAIN[figure.measure]
    if not all_looked_at:
        risks, doubt = {**risks, "smaller tables": Unavailable(NOT_LOOKED_AT)}, NOT_LOOKED_AT
    told = first_largest([_least(one) for one in parts])
    value = worst_figure(risks, most)
    top = parts[told]
    return Finding(
        value=as_width(value) if figure.measure is RiskMeasure.BOUNDS else value,
        found=measured_words(figure.measure, top, where[told]),
        doubt=doubt,
        concerns=() if top is whole else (table_name(table, top.axes),),
    )


def _nothing(figure: RiskFigure, whole: CrossRisk, hides: bool) -> str:
    """Why there is nothing to protect; nothing where there is."""
    if figure.measure is RiskMeasure.TABLE:
        return "" if hides else PRINTED_WHOLE
    return "" if whole.n_small else NO_SMALL


def _least(part: CrossRisk) -> float:
    """What the risk is at least, as it is told; what is not known comes last."""
    risk = part.risk
    if isinstance(risk, Unavailable):
        return -1e300
    return ends(risk)[0] if risk.value is None else risk.value


def as_width(risk: Outcome) -> Outcome:
    """A risk by bounds as the least width that they have, and the other way round."""
    if isinstance(risk, Unavailable):
        return risk
    low, high = ends(risk)
    if risk.value is not None and risk.how is How.EXACT:
        return Figure(value=0 - risk.value, how=How.EXACT, note=risk.note)
    return Figure(value=None, low=0 - high, high=0 - low, how=How.BOUND, note=risk.note)


def of_all(part: CrossRisk, measure: RiskMeasure) -> Outcome:
    """The risk over all small cells: those not looked at may all be found, or none of them."""
    risk, n, looked_at = part.risk, part.n_small, part.n_looked_at
    if isinstance(risk, Unavailable) or measure is not RiskMeasure.CELLS or looked_at >= n:
        return risk
    low, high = ends(risk)
    return Figure(
        value=None, low=low * looked_at / n, high=(high * looked_at + n - looked_at) / n,
        how=How.BOUND,
    )  # fmt: skip


def _doubt(parts: Sequence[CrossRisk], where: Sequence[str], figure: RiskFigure) -> str:
    """Why the worst may not settle a rule, where more than its limits is to be said."""
    for one, own in zip(parts, where, strict=True):
        if isinstance(one.risk, Unavailable):
            return f"it is not known{own}: {one.risk.reason}"
        if figure.measure is RiskMeasure.CELLS and one.n_looked_at < one.n_small:
            return f"only {one.n_looked_at:,} of {one.n_small:,} small cells{own} were looked at"
    return ""


def measured_words(measure: RiskMeasure, part: CrossRisk, where: str = "") -> str:
    """The measure in words, with its value where that is known; `where` names a smaller cross."""
    risk = part.risk
    value = None if isinstance(risk, Unavailable) else risk.value
    if measure is RiskMeasure.BOUNDS:
        width = "of unknown width" if value is None else f"{-value:g} wide"
        return f"the narrowest bounds of a small cell{where} are {width}"
    if measure in (RiskMeasure.TABLE, RiskMeasure.COUNT):
        of_what = "the true table" if measure is RiskMeasure.TABLE else "a true small count"
        greatest = "" if measure is RiskMeasure.TABLE else "greatest "
        known = "" if value is None else f" is {chance(value)}"
        return f"the {greatest}probability of {of_what}{where}{known}"
    if value is None:
        return f"small cells{where} that an intruder would find"
    number, noun = round(value * part.n_looked_at), "cell" if part.n_looked_at == 1 else "cells"
    return f"an intruder would find {number:,} of {part.n_looked_at:,} small {noun}{where}"


def printed_finding(table: Table, printed: Sequence[Printed], small: int) -> Finding:
    """Small counts on the page: each is known for certain."""
    return Finding(
        value=Figure(value=number_printed(printed), how=How.EXACT),
        found=printed_words(table, printed, small).removesuffix("."),
        concerns=tuple(table_name(table, one.axes) for one in printed),
    )


def zeros_finding(
    table: Table, nested: RuledOut, sure: Sequence[Printed], may_be: Sequence[Printed]
) -> Finding:
    """Zeros on the page: those that are `sure`, and those that `may_be` some, unless everybody
    knows a nesting that the data alone show."""
    number, most = number_printed(sure), number_printed(may_be)
    left_out = "; what cannot be by nesting is left out" if nested.pairs else ""
    listed = sure or may_be
    found = f"no zero is printed{left_out}"
    if listed:
        n, where = number_printed(listed), _where(table, listed)
        found = f"{n:,} {_noun(n, 'zero')} {_are(n)} printed: {where}{left_out}"
    if number or not most:
        value: Outcome = Figure(value=number, how=How.EXACT)
        remedy = ""
    else:
        value = Figure(value=None, low=0, high=most, how=How.BOUND)
        found += f", unless everybody knows that {_pairs_words(table, nested.unconfirmed)}"
        remedy = confirm_remedy(table, nested, ())
    concerns = tuple(table_name(table, one.axes) for one in listed)
    return Finding(value=value, found=found, concerns=concerns, remedy=remedy)


def worked_out_finding(
    table: Table, small: int, nested: RuledOut, found: Sequence[WorkedOut]
) -> Finding:
    """Hidden counts that can be worked out, in the whole table and in smaller crosses."""
    least, most = sum(one.least for one in found), sum(one.most for one in found)
    what = f"hidden {{noun}} {small_words(small)}" if small else "hidden {noun} of 0"
    left_out = "; what cannot be by nesting is left out" if not small and nested.pairs else ""
    doubt, listed = "", [one for one in found if one.least]
    if least:
        named = _listed([f"{one.least:,} in {table_name(table, one.axes)}" for one in listed])
        words = f"{least:,} {what.format(noun=_noun(least, 'count'))} can be worked out: {named}"
    elif most:
        listed = list(found)
        named = _listed([table_name(table, one.axes) for one in listed])
        words = (
            f"it is open whether {what.format(noun='counts')} can be worked out in {named}, since "
            "not all bounds are proved"
        )
        doubt = "not all bounds are proved"
    else:
        words = f"no {what.format(noun='count')} can be worked out"
    return Finding(
        value=Figure(value=least, how=How.EXACT)
        if least == most
        else Figure(value=None, low=least, high=most, how=How.BOUND),
        found=words + left_out,
        doubt=doubt,
        concerns=tuple(table_name(table, one.axes) for one in listed),
    )


def rounded_finding(table: Table, base: int, beyond: Sequence[Printed]) -> Finding:
    """Printed figures that are no multiple of a base."""
    number = number_printed(beyond)
    found = f"every printed figure is a multiple of {base}"
    if number:
        are = "figure is no multiple" if number == 1 else "figures are no multiples"
        found = f"{number:,} printed {are} of {base}: {_where(table, beyond)}"
    return Finding(
        value=Figure(value=number, how=How.EXACT),
        found=found,
        concerns=tuple(table_name(table, one.axes) for one in beyond),
        remedy=f"round every figure to a multiple of {base}" if number else "",
    )


def _noun(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def printed_words(table: Table, printed: Sequence[Printed], small: int) -> str:
    """How many small counts are printed, and where."""
    counts = small_words(small)
    if not printed:
        return f"no count {counts} is printed."
    number = number_printed(printed)
    noun = _noun(number, "count")
    return f"{number:,} {noun} {counts} {_are(number)} printed: {_where(table, printed)}."


def _where(table: Table, printed: Sequence[Printed]) -> str:
    return _listed([f"{one.number:,} in {table_name(table, one.axes)}" for one in printed])


def _listed(named: Sequence[str]) -> str:
    more = [f"{len(named) - MOST_NAMED} more tables"] if len(named) > MOST_NAMED else []
    return ", ".join([*named[:MOST_NAMED], *more])


def small_words(small: int) -> str:
    """What is small."""
    return "of 1" if small == 1 else f"from 1 to {small}"


def table_name(table: Table, axes: Axes) -> str:
    """A table by its variables, as people write it."""
    return f"[{' '.join(table.names_of(axes))}]" if axes else "[total]"


def groups_finding(found: FoundGroups) -> Finding:
    """Groups whose members are all of one level: whoever knows a member learns the level.

    Open where everybody may know of it anyway, and where not all groups were sought."""
    why = None if found.learned else _open_groups(found)
    listed = found.learned or found.shown.unless_nested
    return Finding(
        value=Figure(value=len(found.learned), how=How.EXACT) if why is None else why,
        found=groups_words(found).removesuffix("."),
        concerns=tuple(learned_words(one, found.table) for one in listed),
        remedy=OPEN if found.learned else "" if why is None else _open_remedy(found),
    )


def _open_groups(found: FoundGroups) -> Unavailable | None:
    """Why it is not known that no group shares a level; None where it is."""
    if found.shown.unless_nested:
        pairs = doubtful_pairs(found.nested, found.shown.unless_nested)
        told = _pairs_words(found.table, pairs)
        return Unavailable(f"it is open whether everybody knows that {told}")
    if found.shown.not_sought:
        return Unavailable(found.shown.not_sought)
    return found.not_sought


def _open_remedy(found: FoundGroups) -> str:
    """What settles it."""
    if found.shown.unless_nested:
        return confirm_remedy(found.table, found.nested, found.shown.unless_nested)
    return TREE if found.shown.not_sought else LONGER


def groups_words(found: FoundGroups) -> str:
    """Which groups are shown to share a level, the first by name."""
    if not found.learned and found.shown.unless_nested:
        return f"{unless_nested_words(found.table, found.nested, found.shown.unless_nested)}."
    if not found.learned and found.shown.not_sought:
        return f"not all groups that share a level were sought: {found.shown.not_sought}."
    if not found.learned and found.not_sought is not None:
        return f"groups that probably share a level were not sought: {found.not_sought.reason}."
    if not found.learned:
        return "no group of persons is shown to share a level."
    number, first = len(found.learned), learned_words(found.learned[0], found.table)
    if number == 1:
        return f"a group of persons is shown to share a level: {first}."
    return f"{number:,} groups of persons are shown to share a level, the first: {first}."


def unless_nested_words(table: Table, nested: RuledOut, groups: Sequence[Learned]) -> str:
    """What is shown unless everybody knows what the data alone show, as a sentence without end."""
    pairs = doubtful_pairs(nested, groups)
    determined = {pair.determined for pair in pairs}
    first = next((one for one in groups if one.target in determined), groups[0])
    return (
        f"unless everybody knows that {_pairs_words(table, pairs)}, a group of persons is shown to "
        f"share a level: {learned_words(first, table)}"
    )


def doubtful_pairs(nested: RuledOut, groups: Sequence[Learned]) -> tuple[Nested, ...]:
    """The pairs that the data alone show and that would excuse the groups; all where none does."""
    several = nested.unconfirmed
    found = [
        pair
        for pair in several
        if any(
            (pair.determined == one.target and pair.determining in one.group)
            or (pair.determining == one.target and pair.determined in one.group)
            for one in groups
        )
    ]
    return tuple(found) or several


def _pairs_words(table: Table, pairs: Sequence[Nested]) -> str:
    """What one variable determines of another, as a clause."""
    named = [f"each {a} has one {b}" for a, b in _names(table, pairs[:MOST_NAMED])]
    return " and ".join(named)


def confirm_remedy(table: Table, nested: RuledOut, groups: Sequence[Learned]) -> str:
    """How to say whether a nesting that the data alone show is common knowledge or a secret."""
    first, second = _names(table, doubtful_pairs(nested, groups))[0]
    return (
        f"if {second} follows from {first} by definition, confirm it (nested {first}:{second}); if "
        f"it is a secret, say so (targets {second})"
    )


def _names(table: Table, pairs: Sequence[Nested]) -> list[tuple[str, str]]:
    return [(table.names[pair.determining], table.names[pair.determined]) for pair in pairs]


def doubts_findings(table: Table) -> dict[str, Finding]:
    """Whether the counts are counts of persons, where there is a doubt."""
    if not table.doubts:
        return {}
    told = "; ".join(table.doubts)
    found = f"These may be no counts of persons: {told}"
    doubt = Finding(value=Unavailable(told), found=found, remedy=CONFIRM)
    return {f"{DOUBT}:counts_of_persons": doubt}
