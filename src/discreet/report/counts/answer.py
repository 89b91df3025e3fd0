"""What goes out of counts, in a line, and what to do now, computed from what was tried."""

from collections.abc import Iterator

from discreet.count_tables.advice import CountAdvice, CountDecision
from discreet.count_tables.assessment import CountAssessment
from discreet.count_tables.category_assessment import CategoriesAssessment
from discreet.count_tables.release import CountRelease
from discreet.count_tables.statistics import DecimalLog
from discreet.policy.count_rules import text_of
from discreet.policy.verdict import Ruling
from discreet.report import words

OTHER_COMMAND = (
    "This judges the release of statistics alone; to publish the table of counts itself: discreet "
    "audit FILE --release COLUMN"
)
JUDGE = "to have it judged, say which risk is allowed, as in --max-risk 0.1, or name a policy"
RELEASE = (
    "release them as they stand; what else goes out of the same counts must be judged with them"
)
HOLDER = "the holder of the table judges its release: discreet counts FILE --max-risk 0.1"

MERGE = "merge categories so that each has more observations, and judge the sets again"

LEAST_ADVISED = 10.0  # seconds, for a question that some did not settle


def out_line(a: CountAssessment) -> str:
    """The figures that go out."""
    goes = "goes out" if a.table is None else "would go out"
    return f"{goes}: {', '.join(a.release.lines())}"


def next_steps(a: CountAssessment) -> Iterator[str]:
    """What the holder does now; an intruder has nothing to decide."""
    if a.table is None:
        yield HOLDER
        return
    yield JUDGE if a.advice is None else _advised(a.advice, a.options.seconds)
    yield OTHER_COMMAND


def _advised(advice: CountAdvice, seconds: float) -> str:
    last = advice.trials[-1]
    if advice.decision is CountDecision.RELEASE:
        return RELEASE
    if advice.decision is CountDecision.FEWER_DECIMALS:
        number = words.plural(advice.decimals or 0, "decimal")
        then = _every_rule(advice) or f"the largest risk is then {_larger(advice)}"
        return f"release S2 with {number} instead (--decimals {advice.decimals}): {then}"
    if advice.decision is CountDecision.UNDECIDED:
        return more_time(seconds)
    hide = "" if last.release.n is None else ", or see what withholding n does (--withhold-n)"
    if len(advice.trials) == 1:
        return f"keep these statistics inside{hide}"
    even = f"even with {_decimals(last.release)}"
    if _every_rule(advice):
        tried = f"{even} not every rule is kept"
    else:
        tried = f"{even} the largest risk is {_larger(advice)}"
    return f"fewer decimals do not help: {tried}; keep these statistics inside{hide}"


def _every_rule(advice: CountAdvice) -> str:
    """What is said where policies are named, whose rules have limits of their own; else nothing."""
    return "every rule is then kept" if advice.verdict.policies or advice.max_risk is None else ""


def _larger(advice: CountAdvice) -> str:
    return f"{text_of(advice.trials[-1].risk)} (limit {advice.max_risk:g})"


def _decimals(release: CountRelease) -> str:
    given = release.log_factorial_total
    return words.plural(given.decimals, "decimal") if isinstance(given, DecimalLog) else "all"


def more_time(seconds: float) -> str:
    """What to do where the time that was allowed settles nothing."""
    return f"allow more time for it, as in --seconds {max(5 * seconds, LEAST_ADVISED):g}"


def _for_each(found: CategoriesAssessment) -> Iterator[str]:
    """What becomes of each category that breaks the limit; where more than the sets is out, what is
    out is judged as a whole."""
    if found.out.margins:
        yield "keep back the tables that go out beside the sets, or merge categories"
        return
    kept = [name for name, one in found.verdicts.items() if one.ruling is Ruling.KEPT]
    if kept:
        yield f"what goes out of {words.listed(kept)} may go out as it stands"
    by_number: dict[int, list[str]] = {}
    for name, advice in found.advice.items():
        if advice.decision is CountDecision.FEWER_DECIMALS and advice.decimals is not None:
            by_number.setdefault(advice.decimals, []).append(name)
    for number, names in sorted(by_number.items(), reverse=True):
        yield f"of {words.listed(names)} release S2 with {words.plural(number, 'decimal')} only"
    helped = {name for names in by_number.values() for name in names}
    inside = [n for n in found.verdicts if n not in kept and n not in helped]
    if inside:
        yield f"keep what would go out of {words.listed(inside)} inside, or {MERGE}"


def next_steps_of_categories(found: CategoriesAssessment) -> Iterator[str]:
    """What the holder of several categories does now."""
    if not found.is_holder:
        yield HOLDER
        return
    verdict = found.verdict
    if verdict is None:
        yield JUDGE
    elif verdict.ruling is Ruling.KEPT:
        yield RELEASE
    elif verdict.ruling is Ruling.UNDECIDED:
        yield more_time(found.options.seconds)
    else:
        yield from _for_each(found)
    by = ",".join(found.options.by)
    yield OTHER_COMMAND.replace("COLUMN", f"{by},COLUMN") if by else OTHER_COMMAND
