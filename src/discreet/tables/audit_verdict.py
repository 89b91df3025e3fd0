"""May the margins go out together? Each rule applied to what the audit found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from discreet.data.nesting import Nested
from discreet.data.table import Table
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import above
from discreet.policy.verdict import Judged, Ruling, Verdict, at_most, ends, worst
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.groups import Learned, learned_words
from discreet.tables.printed import Axes, Printed, number_printed
from discreet.tables.refused_margin import RefusalRule, RiskMeasure
from discreet.tables.release import NOTHING_NESTED
from discreet.tables.ruled_out import RuledOut
from discreet.tables.shown_groups import ShownGroups

RULES = {
    RiskMeasure.BOUNDS: "bounds",
    RiskMeasure.TABLE: "true_table",
    RiskMeasure.CELLS: "small_cells_identified",
}
CERTAIN = {
    RiskMeasure.BOUNDS: 0.0,
    RiskMeasure.TABLE: 1.0,
    RiskMeasure.CELLS: 1.0,
}  # risk of what is printed
TINY = 1e-3  # a probability that is told as one in so many
MOST_NAMED = 5  # groups and tables named in a sentence
NO_SMALL = "no cell is small, so there is none to protect"
PRINTED_WHOLE = "the table is printed whole, so that its own small counts decide"
COARSER = "merge levels, or leave out a variable"
OPEN = f"{COARSER}; if it is no secret, say so (knows), or name the variables that are (targets)"
LONGER = "allow more time (seconds), or release less"
REMEDIES = {Ruling.KEPT: "", Ruling.BROKEN: COARSER, Ruling.UNDECIDED: LONGER}
TREE = "release margins that fit together as a tree, or fewer of them"
NONE_SHOWN = ShownGroups(learned=())
CONFIRM = "count persons, or confirm that these are (persons)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an audit found, as far as rules are about it.

    `risk` is that of the measure, `n_looked_at` of the `n_small` small cells being known;
    `crosses` have the same of smaller tables.
    `learned` are groups that share a level, proved or probable; `not_sought` says why probable ones
    were not, `shown` what was proved and what not looked at.
    """

    table: Table
    risk: Outcome
    n_small: int
    n_looked_at: int
    hides: bool
    crosses: Sequence[CrossRisk] = ()
    printed: Sequence[Printed] = ()
    learned: Sequence[Learned] = ()
    not_sought: Unavailable | None = None
    shown: ShownGroups = NONE_SHOWN
    nested: RuledOut = NOTHING_NESTED


def verdict(rule: RefusalRule, found: Found) -> Verdict:
    """Every rule on a release: the measure that is limited, what is printed, groups, and doubts."""
    rules = (_risk_rule(rule, found), _printed_rule(rule, found), _groups_rule(found))
    return Verdict(rules=(*rules, *doubts_rules(found.table)))


def _risk_rule(rule: RefusalRule, found: Found) -> Judged:
    """The measure against its limit, for the table of all variables and for smaller crosses: the
    worst of them counts, since a small count that is found there is found."""
    own = _judged_by(rule, found)
    worse = [own, *(_judged_by(rule, _of_cross(found, one), one.axes) for one in found.crosses)]
    ruling = worst(judged.ruling for judged in worse)
    return next(judged for judged in worse if judged.ruling is ruling)


def _of_cross(found: Found, cross: CrossRisk) -> Found:
    """A smaller cross as what rules are about; it is never printed whole."""
    return replace(
        found, risk=cross.risk, n_small=cross.n_small, n_looked_at=cross.n_looked_at, hides=True
    )


def _judged_by(rule: RefusalRule, found: Found, cross: Axes | None = None) -> Judged:
    """The measure of one table against the limit: kept only where it is shown to be within.

    An estimate is taken two standard errors higher, and a risk known by limits at the upper one; a
    share over some of the small cells alone can break the limit but not show that it is kept.
    Without a small cell there is nothing to protect, except a hidden table as a whole.
    """
    ruling, why = _ruled(rule, found)
    nothing = why in (NO_SMALL, PRINTED_WHOLE)
    where = "" if cross is None else f" of {table_name(found.table, cross)}"
    words = f"{why}." if nothing else f"{measured_words(rule, found, where)}; {why}."
    return Judged(
        rule=RULES[rule.measure],
        ruling=ruling,
        value=found.risk,
        limit=rule.max_risk,
        words=words[:1].upper() + words[1:],
        concerns=() if cross is None else (table_name(found.table, cross),),
        remedy=REMEDIES[ruling],
    )


def _ruled(rule: RefusalRule, found: Found) -> tuple[Ruling, str]:
    if found.n_small == 0 and rule.measure is not RiskMeasure.TABLE:
        return Ruling.KEPT, NO_SMALL
    if rule.measure is RiskMeasure.TABLE and not found.hides:
        return Ruling.KEPT, PRINTED_WHOLE
    risk = _of_all(found, rule.measure)
    ruling = at_most(risk, rule.max_risk)
    limit = limit_words(rule)
    return ruling, _doubt(found, rule) if ruling is Ruling.UNDECIDED else limit


def _of_all(found: Found, measure: RiskMeasure) -> Outcome:
    """The risk over all small cells: those not looked at may all be found, or none of them."""
    risk, n, looked_at = found.risk, found.n_small, found.n_looked_at
    if isinstance(risk, Unavailable) or measure is not RiskMeasure.CELLS or looked_at >= n:
        return risk
    low, high = ends(risk)
    return Figure(
        value=None, low=low * looked_at / n, high=(high * looked_at + n - looked_at) / n,
        how=How.BOUND,
    )  # fmt: skip


def _doubt(found: Found, rule: RefusalRule) -> str:
    if isinstance(found.risk, Unavailable):
        return f"it is not known: {found.risk.reason}"
    if rule.measure is RiskMeasure.CELLS and found.n_looked_at < found.n_small:
        return f"only {found.n_looked_at:,} of {found.n_small:,} small cells were looked at"
    if found.risk.how is How.ESTIMATE:
        return f"the estimate is too near to tell, {limit_words(rule)}"
    return f"it is known within limits only, {limit_words(rule)}"


def measured_words(rule: RefusalRule, found: Found, where: str = "") -> str:
    """The measure in words, with its value where that is known; `where` names a smaller cross."""
    risk = found.risk
    value = None if isinstance(risk, Unavailable) else risk.value
    if rule.measure is RiskMeasure.BOUNDS:
        width = "of unknown width" if value is None else f"{-value:g} wide"
        return f"the narrowest bounds of a small cell{where} are {width}"
    if rule.measure is RiskMeasure.TABLE:
        known = "" if value is None else f" is {_chance(value)}"
        return f"the probability of the true table{where}{known}"
    if value is None:
        return f"small cells{where} that an intruder would find"
    number, noun = round(value * found.n_looked_at), "cell" if found.n_looked_at == 1 else "cells"
    return f"an intruder would find {number:,} of {found.n_looked_at:,} small {noun}{where}"


def _chance(value: float) -> str:
    """A probability; a tiny one as one in so many."""
    return f"1 in {round(1 / value):,}" if 0 < value < TINY else f"{value:.3g}"


def limit_words(rule: RefusalRule) -> str:
    """The limit as a clause."""
    if rule.measure is RiskMeasure.BOUNDS:
        return f"they must be at least {-rule.max_risk:g} wide"
    if rule.measure is RiskMeasure.TABLE:
        return f"the limit is {_chance(rule.max_risk)}"
    return f"the limit is {100 * rule.max_risk:g} %"


def _printed_rule(rule: RefusalRule, found: Found) -> Judged:
    """Small counts on the page: each is known for certain."""
    number = number_printed(found.printed)
    allowed = not above(CERTAIN[rule.measure], rule.max_risk)
    ruling = Ruling.BROKEN if number and not allowed else Ruling.KEPT
    return Judged(
        rule="printed_small_counts",
        ruling=ruling,
        value=Figure(value=number, how=How.EXACT),
        limit=number if allowed else 0,
        words=printed_words(found.table, found.printed, rule.small),
        concerns=tuple(table_name(found.table, one.axes) for one in found.printed),
        remedy="" if ruling is Ruling.KEPT else COARSER,
    )


def printed_words(table: Table, printed: Sequence[Printed], small: int) -> str:
    """How many small counts are printed, and where."""
    counts = small_words(small)
    if not printed:
        return f"No count {counts} is printed."
    number = number_printed(printed)
    named = [f"{one.number:,} in {table_name(table, one.axes)}" for one in printed[:MOST_NAMED]]
    more = [f"{len(printed) - MOST_NAMED} more tables"] if len(printed) > MOST_NAMED else []
    are = "is" if number == 1 else "are"
    noun = "count" if number == 1 else "counts"
    return f"{number:,} {noun} {counts} {are} printed: {', '.join([*named, *more])}."


def small_words(small: int) -> str:
    """What is small."""
    return "of 1" if small == 1 else f"from 1 to {small}"


def table_name(table: Table, axes: Axes) -> str:
    """A table by its variables, as people write it."""
    return f"[{' '.join(table.names_of(axes))}]" if axes else "[total]"


def _groups_rule(found: Found) -> Judged:
    """Groups whose members are all of one level: whoever knows a member learns the level.

    Undecided where it is open whether everybody knows of it anyway, and where not all groups were
    sought."""
    open_reason = _open_groups(found)
    ruling = Ruling.KEPT if open_reason is None else Ruling.UNDECIDED
    ruling = Ruling.BROKEN if found.learned else ruling
    listed = found.learned or found.shown.unless_nested
    return Judged(
        rule="groups",
        ruling=ruling,
        value=open_reason
        if open_reason is not None and ruling is Ruling.UNDECIDED
        else Figure(value=len(found.learned), how=How.EXACT),
        limit=0,
        words=groups_words(found),
        concerns=tuple(learned_words(one, found.table) for one in listed),
        remedy={**REMEDIES, Ruling.BROKEN: OPEN, Ruling.UNDECIDED: _open_remedy(found)}[ruling],
    )


def _open_groups(found: Found) -> Unavailable | None:
    """Why it is not known that no group shares a level; None where it is."""
    if found.shown.unless_nested:
        pairs = doubtful_pairs(found.nested, found.shown.unless_nested)
        told = _pairs_words(found.table, pairs)
        return Unavailable(f"it is open whether everybody knows that {told}")
    if found.shown.not_sought:
        return Unavailable(found.shown.not_sought)
    return found.not_sought


def _open_remedy(found: Found) -> str:
    """What settles it."""
    if found.shown.unless_nested:
        return confirm_remedy(found.table, found.nested, found.shown.unless_nested)
    return TREE if found.shown.not_sought else LONGER


def groups_words(found: Found) -> str:
    """Which groups are shown to share a level, the first by name."""
    if not found.learned and found.shown.unless_nested:
        return f"{unless_nested_words(found.table, found.nested, found.shown.unless_nested)}."
    if not found.learned and found.shown.not_sought:
        return f"Not all groups that share a level were sought: {found.shown.not_sought}."
    if not found.learned and found.not_sought is not None:
        return f"Groups that probably share a level were not sought: {found.not_sought.reason}."
    if not found.learned:
        return "No group of persons is shown to share a level."
    number, first = len(found.learned), learned_words(found.learned[0], found.table)
    if number == 1:
        return f"A group of persons is shown to share a level: {first}."
    return f"{number:,} groups of persons are shown to share a level, the first: {first}."


def unless_nested_words(table: Table, nested: RuledOut, groups: Sequence[Learned]) -> str:
    """What is shown unless everybody knows what the data alone show, as a sentence without end."""
    pairs = doubtful_pairs(nested, groups)
    determined = {pair.determined for pair in pairs}
    first = next((one for one in groups if one.target in determined), groups[0])
    return (
        f"Unless everybody knows that {_pairs_words(table, pairs)}, a group of persons is shown to "
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


def doubts_rules(table: Table) -> Iterator[Judged]:
    """Whether the counts are counts of persons, where there is a doubt."""
    if table.doubts:
        yield Judged(
            rule="counts_of_persons",
            ruling=Ruling.UNDECIDED,
            value=Unavailable("; ".join(table.doubts)),
            limit=0,
            words=f"These may be no counts of persons: {'; '.join(table.doubts)}.",
            remedy=CONFIRM,
        )
