"""What is found of a candidate, as far as rules of policies are about it.

What stands on the page is read off at once. What can be worked out, groups and what an intruder
learns take their time, and are looked for only where nothing on the page breaks a rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from discreet.choice.candidates import NOTHING
from discreet.choice.certain_harm import Harm
from discreet.choice.choice import Doubt
from discreet.choice.measures import Measure, small_cells
from discreet.choice.options import ChooseOptions
from discreet.choice.published_variables import (
    Judged,
    exact_tables,
    exactly_shown,
    printed_by,
)
from discreet.choice.smaller_crosses import exact_sets, release_of
from discreet.clock import Clock
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.contract import Axes, Masked
from discreet.masks.margins import NAME as MARGINS
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.policy import verdict as rulings
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.table_rules import LONGER, PRINTED_WHOLE, Rounded, chance
from discreet.policy.verdict import Ruling
from discreet.tables.crosses import crosses
from discreet.tables.policy_needs import Needs, finding_name
from discreet.tables.printed import Printed, printed_zeros
from discreet.tables.refused_margin import RiskFigure, RiskMeasure
from discreet.tables.release import MOST_SHOWN
from discreet.tables.ruled_out import RuledOut, ruled_out
from discreet.tables.table_findings import (
    NO_SMALL,
    as_width,
    printed_finding,
    rounded_finding,
    worked_out_finding,
    zeros_finding,
)
from discreet.tables.worked_out import Wanted, by_statements, worked_out

NOT_A_TABLE = Unavailable("figures go out that are in no table, which this rule does not know")
TOO_LARGE = Unavailable(f"the table has more than {MOST_SHOWN:,} cells")
NOTHING_TOLD = "nothing is out"
NO_GROUP = "no group of persons is shown to share a level"
HIDDEN = int(np.iinfo(np.int64).min)  # stands for a figure that is not shown, and is none itself
NOT_YET = Doubt("Not every rule was looked at: time ran out", LONGER)

Measuring = Callable[[RiskFigure], Outcome]


def page_findings(
    masked: Masked, out: Sequence[Axes], options: ChooseOptions, needs: Needs
) -> dict[str, Finding]:
    """What stands on the page: small counts, zeros, figures that are not rounded."""
    if masked.figures:
        names = [f"printed:{n}" for n in needs.printed] + [one.figure for one in needs.rounded]
        names += [f"shown:{n}" for n in needs.shown]
        return {name: Finding(value=NOT_A_TABLE) for name in names}
    table = masked.source
    found = {
        f"printed:{small}": printed_finding(table, printed_by(masked, out, small), small)
        for small in filter(None, needs.printed)
    }
    if 0 in needs.printed:
        found["printed:0"] = _zeros(masked, out, options, all_figures=False)
    for small in needs.shown:
        found[f"shown:{small}"] = (
            printed_finding(table, _shown(masked, out, small), small)
            if small
            else _zeros(masked, out, options, all_figures=True)
        )
    return found | {rule.figure: _rounded(masked, out, rule) for rule in needs.rounded}


def _shown(masked: Masked, out: Sequence[Axes], small: int) -> tuple[Printed, ...]:
    """Figures on the page that are from 1 to `small`, or stand for such a count."""
    own = {axes for axes, _ in _figures(masked)}
    found = [one for one in printed_by(masked, out, small) if one.axes not in own]
    for axes, figures in _figures(masked):
        counts = masked.source.margin(axes)
        too_small = ((figures > 0) & (figures <= small)) | ((counts > 0) & (counts <= small))
        found.append(Printed(axes, int(np.count_nonzero(too_small & (figures != HIDDEN)))))
    return tuple(one for one in found if one.number)


def _figures(masked: Masked) -> list[tuple[Axes, IntArray]]:
    """The figures of every table that goes out, `HIDDEN` where one is not shown; of several copies
    each has its own."""
    return [
        (one.axes, one.counts if one.shown is None else np.where(one.shown, one.counts, HIDDEN))
        for one in masked.published
    ]


def _zeros(
    masked: Masked, out: Sequence[Axes], options: ChooseOptions, *, all_figures: bool
) -> Finding:
    """Zeros on the page that tell of persons, or all that stand there."""
    table = masked.source
    secret = [i for i, name in enumerate(table.names) if name in (options.targets or ())]
    nested = ruled_out(table, nesting=options.nesting, secret=secret, nested=options.nested)

    def shown(known: RuledOut) -> tuple[Printed, ...]:
        def possible(axes: Axes) -> BoolArray:
            return known.possible_cells(table.sizes, axes)

        own = [(axes, np.where(e, n, HIDDEN)) for axes, (n, e) in exactly_shown(masked).items()]
        figures = _figures(masked) if all_figures else own
        looked = {axes for axes, _ in figures}
        exact = printed_zeros(exact_tables(masked, out), possible)
        found = [one for one in exact if one.axes not in looked]
        found += [
            Printed(axes, int(np.count_nonzero((one == 0) & possible(axes))))
            for axes, one in figures
        ]
        return tuple(one for one in found if one.number)

    return zeros_finding(table, nested, shown(nested), shown(nested.confirmed()))


def _rounded(masked: Masked, out: Sequence[Axes], rule: Rounded) -> Finding:
    """Figures of the tables that go out, and of those that are out, that are not as the rule
    asks."""
    base, table = int(rule.limit), masked.source
    numbers = []
    for axes, own in [*((axes, table.margin(axes)) for axes in out), *_figures(masked)]:
        counts = table.margin(axes)
        wrong = own % base > 0
        if rule.small is not None:
            few = (counts > 0) & (counts <= rule.small)
            wrong |= (few & (own != rule.shown)) | ((counts == 0) & (own > 0))
        if rule.random and not masked.parameters.get("random", False):
            wrong |= own != counts  # rounded, but to the same figure each time
        numbers.append(Printed(axes, int(np.count_nonzero(wrong & (own != HIDDEN)))))
    return rounded_finding(table, base, [one for one in numbers if one.number])


def worked_out_findings(
    masked: Masked,
    judged: Judged | None,
    out: Sequence[Axes],
    options: ChooseOptions,
    needs: Needs,
    clock: Clock,
) -> dict[str, Finding]:
    """Hidden counts that follow from all that is known."""
    return {
        f"derived:{small}": _worked_out(masked, judged, out, options, small, clock)
        for small in needs.derived
    }


def _worked_out(
    masked: Masked,
    judged: Judged | None,
    out: Sequence[Axes],
    options: ChooseOptions,
    small: int,
    clock: Clock,
) -> Finding:
    if judged is None:
        return Finding(value=Figure(value=0, how=How.EXACT), found=NOTHING_TOLD)
    if masked.mask in (NOTHING, MARGINS):
        release = release_of(masked.source, exact_sets(masked, out), options)
        own = worked_out(release, small, clock)
        return worked_out_finding(release.table, small, release.nested, own)
    table, publication = judged.masked.source, judged.masked
    if table.n_cells > MOST_SHOWN:
        return Finding(value=TOO_LARGE)
    sets, every = [one.axes for one in publication.published], range(len(table.names))
    told = [] if judged.exact is None else [set(axes) for axes in judged.exact.tables]
    asked = [
        axes
        for axes in crosses(sets, len(every) + 1, len(table.cells), also=every, exact=False)
        if not any(set(axes) <= one for one in told)
    ]
    own = tuple(
        by_statements(
            table,
            [*publication.known, *judged.also],
            asked,
            Wanted(small=small, nested=judged.nested),
            clock,
            shown={axes: exact for axes, (_, exact) in exactly_shown(publication).items()},
        )
    )
    return worked_out_finding(table, small, judged.nested, own)


def groups_found(harm: Harm) -> Finding:
    """Groups that share a level, as certain harm has them."""
    if harm.shared:
        return Finding(value=Figure(value=1, how=How.EXACT), found=harm.shared)
    if harm.doubts:
        first = harm.doubts[0]
        return Finding(value=Unavailable(first.words), found=first.words, remedy=first.remedy)
    return Finding(value=Figure(value=0, how=How.EXACT), found=NO_GROUP)


def learned_findings(
    judged: Judged | None, needs: Needs, hides: bool, measuring: Measuring
) -> dict[str, Finding]:
    """Each measure that a rule limits, `measuring` being how one is found."""
    return {finding_name(one): _learned(one, judged, hides, measuring) for one in needs.measured}


def _learned(
    figure: RiskFigure, judged: Judged | None, hides: bool, measuring: Measuring
) -> Finding:
    nothing = NOTHING_TOLD if judged is None else ""
    if judged is not None:
        if figure.measure is RiskMeasure.TABLE:
            nothing = "" if hides else PRINTED_WHOLE
        elif not len(small_cells(judged.masked.source.dense(), figure.small)):
            nothing = NO_SMALL
    if nothing:
        return Finding(value=Unavailable(nothing), found=nothing, nothing=True)
    risk = measuring(figure)
    value = as_width(risk) if figure.measure is RiskMeasure.BOUNDS else risk
    return Finding(value=value, found=_words(figure.measure, value))


def _words(measure: RiskMeasure, value: Outcome) -> str:
    known = None if isinstance(value, Unavailable) else value.value
    if measure is RiskMeasure.BOUNDS:
        width = "of unknown width" if known is None else f"{known:g} wide"
        return f"the narrowest bounds of a small cell are {width}"
    if measure is RiskMeasure.CELLS:
        share = "some" if known is None else f"{100 * known:.3g} %"
        return f"an intruder would find {share} of the small cells"
    what = "the true table" if measure is RiskMeasure.TABLE else "a true small count"
    return f"the probability of {what}" + ("" if known is None else f" is {chance(known)}")


def measure_of(figure: RiskFigure, options: ChooseOptions) -> Measure:
    """A figure of a rule as a measure of the choice."""
    own = options.measure
    return replace(own, kind=figure.measure, small=figure.small, confidence=figure.confidence)


def rules_applied(
    options: ChooseOptions, found: dict[str, Finding]
) -> tuple[tuple[rulings.Judged, ...], tuple[str, ...], tuple[Doubt, ...]]:
    """What the policies say: every rule, what is broken in words, and what is open."""
    verdict = judge(options.policy, Subject.TABLES, Findings(found))
    rules = () if verdict is None else verdict.rules
    broken = tuple(reason(one) for one in rules if one.ruling is Ruling.BROKEN)
    doubts = tuple(
        Doubt(f"{one.policy}: {one.words.removesuffix('.')}", one.remedy or LONGER)
        for one in rules
        if one.ruling is Ruling.UNDECIDED
    )
    return rules, broken, doubts


def reason(judged: rulings.Judged) -> str:
    """A broken rule as a clause after 'which'."""
    said = judged.words.removesuffix(".")
    return f"breaks {judged.policy}: {said[:1].lower()}{said[1:]}"
