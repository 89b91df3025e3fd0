"""How could the statistics of a count table go out? Releases tried one after the other.

The release that the holder has in mind is tried first, then S2 with fewer and fewer decimals, until
one keeps every rule of all policies. A figure from draws passes only where its upper limit does,
and fails only where its lower one does; between them nothing is decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from discreet.belief.count_belief import exact
from discreet.count_tables.findings import cell_figure, findings_of, upper_of
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.measures import CellRisk, CountRisk, holder_risk
from discreet.count_tables.rebuilding import Effort
from discreet.count_tables.release import Attack, CountRelease, attack, release_of
from discreet.count_tables.statistics import CountStatistics, DecimalLog
from discreet.count_tables.verdict import MEASURES, CountMeasure, plain_policy
from discreet.errors import InputError, must_be
from discreet.figures import Figure, Outcome, Unavailable
from discreet.numerics.rounding import above, first_largest
from discreet.policy.count_rules import BestGuess, Truth, text_of
from discreet.policy.count_rules import CountRisk as CountRule
from discreet.policy.policy import Policy, judge
from discreet.policy.rule import Rule, Subject
from discreet.policy.verdict import Judged, Ruling, Verdict, ends
from discreet.progress import Progress, silent

DECIMALS = (8, 7, 6, 5, 4, 3, 2, 1, 0)
ALONE = "the probability of the true count of value {value}"


class CountDecision(StrEnum):
    """What to do with the statistics."""

    RELEASE = "release"
    FEWER_DECIMALS = "release with fewer decimals"
    DO_NOT = "do not release"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedValue:
    """A value whose true count an intruder finds with more than the greatest risk allowed."""

    value: int
    count: int
    probability: float
    standard_error: float | None
    upper: float

    @property
    def words(self) -> str:
        """In a sentence, without the count."""
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2g}"
        limit = "" if self.standard_error is None else f", at most {self.upper:.3g}"
        return (
            f"the count of value {self.value} is found with probability "
            f"{self.probability:.3f}{error}{limit}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to release, and its risk: the larger of that of the table and of a single count.

    `table_risk` is by `measure`; `cell_risk` is that of the count of `worst_value`. `limit` is what
    was held against the greatest risk allowed: an upper limit where draws were made. `verdict` is
    what all policies say of it.
    """

    release: CountRelease
    risk: Outcome
    measure: CountMeasure
    table_risk: Outcome
    verdict: Verdict
    cell_risk: Outcome | None = None
    worst_value: int | None = None
    limit: float | None = None
    exposed: tuple[ExposedValue, ...] = ()
    by_bound: bool = False

    @property
    def ruling(self) -> Ruling:
        """What becomes of the release."""
        return self.verdict.ruling

    @property
    def against(self) -> Judged | None:
        """The rule that most speaks against it: the first that is broken, else undecided."""
        found = (*self.verdict.those(Ruling.BROKEN), *self.verdict.those(Ruling.UNDECIDED))
        return found[0] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAdvice:
    """What to do, in words; `decimals` where fewer of them make the release safe enough.

    `exposed` are the values whose counts the release in mind gives away, `rule` is what was
    compared. `warnings` name them, and what else the figures do not show. `max_risk` is the limit
    that was given as an option, None where only policies were named.
    """

    decision: CountDecision
    decimals: int | None
    measure: CountMeasure
    max_risk: float | None
    sentence: str
    trials: tuple[Trial, ...]
    warnings: tuple[str, ...]
    exposed: tuple[ExposedValue, ...] = ()
    rule: str = ""

    @property
    def finds_one(self) -> bool:
        """Was some release found whose risk is not above what is allowed?"""
        return self.decision in (CountDecision.RELEASE, CountDecision.FEWER_DECIMALS)

    @property
    def verdict(self) -> Verdict:
        """On the release as first asked: another that would keep all rules is its remedy."""
        first, remedy = self.trials[0].verdict, ""
        if self.decision is CountDecision.FEWER_DECIMALS:
            kept = "every rule" if first.policies else "the limit"
            remedy = f"S2 with {_number(self.trials[-1].release)} keeps {kept}"
        rules = tuple(
            judged if judged.ruling is Ruling.KEPT else replace(judged, remedy=remedy)
            for judged in first.rules
        )
        return replace(first, rules=rules)


def advise(
    table: Mapping[int, int],
    max_risk: float | None = None,
    *,
    policies: Sequence[Policy] = (),
    measure: CountMeasure | str = CountMeasure.BEST_GUESS,
    knowledge: Knowledge | None = None,
    first: CountRelease | None = None,
    found: Attack | None = None,
    decimals: Iterable[int] = DECIMALS,
    truncate: bool = False,
    small: int | None = None,
    effort: Effort | None = None,
    progress: Progress = silent,
) -> CountAdvice:
    """Whether the holder may release the statistics, and with how many decimals of S2.

    The release `first` (n, S1 and the exact factorisation if not said) is tried first; `found` is
    what an intruder finds from it, where that is known already. Then S2 with fewer and fewer of the
    `decimals`, until the risk is not above `max_risk`, and every rule of the `policies` is kept.
    With `small` only values that at most so many observations have count as single ones under
    `max_risk`; else every value that occurs does.
    """
    asked = _asked(table, max_risk, CountMeasure(measure), small, policies)
    trials: list[Trial] = []
    warnings: tuple[str, ...] = ()
    for release in _releases(table, first, decimals, truncate):
        if trials or found is None:
            progress(f"trying {release.words}", None)
            found = attack(release, knowledge, truth=table, effort=effort, progress=progress)
        risk = holder_risk(found, table)
        trials.append(_trial(release, risk, asked))
        warnings = _warnings(risk, trials[-1], asked)
        if trials[-1].ruling is Ruling.KEPT or isinstance(risk, Unavailable):
            break
    return _advice(trials, asked, warnings)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is judged: `policies` are all of them, that of the options first; `measure` and `small`
    say which figures are shown of a release that is tried."""

    table: Mapping[int, int]
    max_risk: float | None
    measure: CountMeasure
    small: int | None
    policies: tuple[Policy, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules on counts."""
        return tuple(rule for one in self.policies for rule in one.about(Subject.COUNTS))

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the options says what is judged."""
        return not any(one.name for one in self.policies)

    @property
    def strictest(self) -> float:
        """The least probability that may not be exceeded; 1 where none is limited."""
        kinds = (BestGuess, Truth, CountRule)
        return min((one.limit for one in self.rules if isinstance(one, kinds)), default=1.0)

    def counts(self, value: int) -> bool:
        """Is the count of this value one to be hidden by itself?"""
        count = self.table.get(value, 0)
        return count > 0 and (self.small is None or count <= self.small)

    def exposes(self, cell: CellRisk) -> bool:
        """Is the count of this value, or may it be, found more surely than a rule allows?"""
        count, figure = self.table.get(cell.value, 0), cell_figure(cell)
        return count > 0 and any(
            rule.ruling(figure) is not Ruling.KEPT
            for rule in self.rules
            if isinstance(rule, CountRule) and (rule.small is None or count <= rule.small)
        )

    @property
    def rule(self) -> str:
        """What is compared with which limit."""
        said = [one.said() for policy in self.policies if policy.name for one in _on_counts(policy)]
        if said:
            said.append("Where a figure is simulated, its limits are judged.")
        return " ".join([*([] if self.max_risk is None else [self._plain_rule]), *said])

    @property
    def _plain_rule(self) -> str:
        which = "any value that occurs"
        if self.small is not None:
            which = f"any value that 1 to {self.small} observations have"
        return (
            f"Neither may exceed {self.max_risk:g}: {MEASURES[self.measure]}, and the "
            f"probability of the true count of {which}; where a figure is simulated, its upper "
            "limit is judged."
        )


def _on_counts(policy: Policy) -> tuple[Rule, ...]:
    return policy.about(Subject.COUNTS)


def _asked(
    table: Mapping[int, int],
    max_risk: float | None,
    measure: CountMeasure,
    small: int | None,
    policies: Sequence[Policy],
) -> _Asked:
    """All that is judged; where no limit is an option, the first rules of the policies say which
    figures are shown."""
    held = (*plain_policy(max_risk, measure, small), *policies)
    rules = [rule for one in held for rule in _on_counts(one)]
    if not rules:
        raise InputError(must_be("max_risk", "given, or a policy on counts (policy)", "none"))
    if max_risk is None:
        named = [CountMeasure(rule.name) for rule in rules if rule.name in set(CountMeasure)]
        single = [rule.small for rule in rules if isinstance(rule, CountRule)]
        measure, small = next(iter(named), measure), next(iter(single), None)
    return _Asked(table, max_risk, measure, small, held)


def _releases(
    table: Mapping[int, int], first: CountRelease | None, decimals: Iterable[int], truncate: bool
) -> list[CountRelease]:
    """The first release, then those with fewer decimals than it has."""
    statistics = CountStatistics.of_counts(table)
    first = first or release_of(statistics)
    fewest = _decimals(first)
    fewer = [d for d in sorted(set(decimals), reverse=True) if fewest is None or d < fewest]
    hidden = first.n is None
    return [first] + [
        release_of(statistics, decimals=d, truncate=truncate, withhold_n=hidden) for d in fewer
    ]


def _trial(release: CountRelease, risk: CountRisk | Unavailable, asked: _Asked) -> Trial:
    """The figures that a verdict looks at; a certain table has the risk 1 by any measure."""
    verdict = judge(asked.policies, Subject.COUNTS, findings_of(risk, asked.table))
    assert verdict is not None  # `_asked` wants a rule
    if isinstance(risk, Unavailable):
        return Trial(
            release=release, risk=risk, measure=asked.measure, table_risk=risk, verdict=verdict
        )
    table, by_bound = _table_risk(risk, asked.measure)
    cells = [cell for cell in risk.cells if asked.counts(cell.value)]
    figures = [cell_figure(cell) for cell in cells]
    worst = first_largest([upper_of(one) for one in figures]) if cells else None
    single = None if worst is None else figures[worst]
    return Trial(
        release=release,
        risk=_larger(table, single),
        measure=asked.measure,
        table_risk=table,
        verdict=verdict,
        cell_risk=single,
        worst_value=None if worst is None else cells[worst].value,
        limit=_limit(table, single),
        exposed=tuple(_exposed(risk.cells, asked)),
        by_bound=by_bound,
    )


def _table_risk(risk: CountRisk, measure: CountMeasure) -> tuple[Outcome, bool]:
    """The measure of the whole table, and whether it is only what that is not above."""
    if measure is CountMeasure.TRUTH:
        return risk.truth_probability or Unavailable("no true table was given"), False
    if measure is CountMeasure.BEST_GUESS:
        known = not isinstance(risk.best_guess_probability, Unavailable)
        if known or risk.best_guess_limit is None:
            return risk.best_guess_probability, False
        return risk.best_guess_limit, True
    if isinstance(risk.bounded, Unavailable):
        return risk.bounded, False
    certain = isinstance(risk.reciprocal_entropy, Unavailable)
    return (exact(1.0) if certain else risk.reciprocal_entropy), False


def _larger(table: Outcome, single: Figure | None) -> Outcome:
    """The larger of the two, a single count where they are alike; the table's where not known."""
    if single is None or single.value is None or isinstance(table, Unavailable):
        return table
    return table if above(table.value or 0.0, single.value) else single


def _limit(table: Outcome, single: Figure | None) -> float | None:
    if isinstance(table, Unavailable):
        return None
    return max(ends(one)[1] for one in (table, single) if one is not None)


def _exposed(cells: Iterable[CellRisk], asked: _Asked) -> Iterable[ExposedValue]:
    """Values whose true count is, or may be, found with more than the risk allowed."""
    for cell in cells:
        if asked.exposes(cell):
            yield ExposedValue(
                value=cell.value,
                count=asked.table[cell.value],
                probability=cell.truth_probability or 0.0,
                standard_error=cell.truth_standard_error,
                upper=upper_of(cell_figure(cell)),
            )


def _warnings(risk: CountRisk | Unavailable, trial: Trial, asked: _Asked) -> tuple[str, ...]:
    """Counts that are exposed, and what rests on n being hidden."""
    found = [one.words for one in trial.exposed]
    if trial.by_bound:
        found.insert(0, _INSTEAD)
    given = None if isinstance(risk, Unavailable) else risk.truth_given_number
    value = given.value if isinstance(given, Figure) else None
    if value is not None and above(value, asked.strictest):
        found.append(
            f"this rests on the number of observations{_above_zero(risk)} staying hidden: whoever "
            f"learns it gives the true table the probability {value:.3f}"
        )
    return tuple(found)


def _above_zero(risk: CountRisk | Unavailable) -> str:
    """Which observations are meant: where n is withheld, nothing is known of the zeros."""
    cells = () if isinstance(risk, Unavailable) else risk.cells
    return " above zero" if cells and min(cell.value for cell in cells) > 0 else ""


_INSTEAD = (
    "draws cannot tell the best guess; judged is a limit that its probability does not exceed"
)


def _advice(trials: list[Trial], asked: _Asked, warnings: tuple[str, ...]) -> CountAdvice:
    last = trials[-1]
    if last.ruling is Ruling.KEPT:
        decision = CountDecision.RELEASE if len(trials) == 1 else CountDecision.FEWER_DECIMALS
    elif all(trial.ruling is Ruling.BROKEN for trial in trials):
        decision = CountDecision.DO_NOT
    else:
        decision = CountDecision.UNDECIDED
    fewer = decision is CountDecision.FEWER_DECIMALS
    first = tuple(one.words for one in trials[0].exposed) if len(trials) > 1 else ()
    named = {one.words for one in last.exposed} | {_INSTEAD} if len(trials) > 1 else set()
    told = tuple(f"with {_number(last.release)}, {w}" if w in named else w for w in warnings)
    return CountAdvice(
        decision=decision,
        decimals=_decimals(last.release) if fewer else None,
        measure=asked.measure,
        max_risk=asked.max_risk,
        sentence=_sentence(decision, trials, asked),
        trials=tuple(trials),
        warnings=tuple(dict.fromkeys((*told, *(() if last.exposed else _before(first))))),
        exposed=trials[0].exposed,
        rule=asked.rule,
    )


def _before(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"as first asked, {one}" for one in words)


def _decimals(release: CountRelease) -> int | None:
    given = release.log_factorial_total
    return given.decimals if isinstance(given, DecimalLog) else None


def _sentence(decision: CountDecision, trials: list[Trial], asked: _Asked) -> str:
    if asked.is_plain and asked.max_risk is not None:
        return _by_limit(decision, trials, asked.max_risk)
    return _by_policies(decision, trials)


def _by_policies(decision: CountDecision, trials: list[Trial]) -> str:
    """What the policies say: the rule that speaks against a release in its own words."""
    first, last = trials[0], trials[-1]
    at_first, at_last = (
        "every rule is kept" if one.against is None else one.against.words.rstrip(".")
        for one in (first, last)
    )
    if decision is CountDecision.RELEASE:
        return "Release: every rule is kept."
    if decision is CountDecision.FEWER_DECIMALS:
        number = _number(last.release)
        return (
            f"Release S2 with {number} only: every rule is then kept; with {_form(first.release)} "
            f"{at_first}."
        )
    if decision is CountDecision.DO_NOT:
        even = ", even with the fewest decimals tried" if len(trials) > 1 else ""
        return f"Do not release: {at_last}{even}."
    if len(trials) == 1:
        return f"Undecided: {at_first}."
    known = f"with {_form(first.release)} {at_first}"
    return f"Undecided: {known}; with {_number(last.release)} {at_last}."


def _by_limit(decision: CountDecision, trials: list[Trial], max_risk: float) -> str:
    """What the limit given as an option says."""
    first, last = trials[0], trials[-1]
    at_first, at_last = _told(first), _told(last)
    if decision is CountDecision.RELEASE:
        return f"Release: {at_first}, not above {max_risk:g}."
    if decision is CountDecision.FEWER_DECIMALS:
        return (
            f"Release S2 with {_number(last.release)} only: {at_last}, not above {max_risk:g}; "
            f"with {_form(first.release)} {at_first}."
        )
    if decision is CountDecision.DO_NOT:
        even = " even with the fewest decimals tried" if len(trials) > 1 else ""
        return f"Do not release: {at_last}{even}, above {max_risk:g}."
    if len(trials) == 1:
        return f"Undecided: {at_first}; {max_risk:g} is allowed."
    is_high = first.ruling is Ruling.BROKEN
    limit = f"above {max_risk:g}, so not that" if is_high else f"and {max_risk:g} is allowed"
    known = f"with {_form(first.release)} {at_first}, {limit}"
    return f"Undecided: {known}; with {_number(last.release)} {at_last}."


def _told(trial: Trial) -> str:
    """What is judged, in words: the table, or the count that is found more surely."""
    risk = trial.risk
    if isinstance(risk, Unavailable):
        return f"{MEASURES[trial.measure]} is not known ({risk.reason})"
    if risk is trial.cell_risk:
        what = ALONE.format(value=trial.worst_value)
    else:
        what = MEASURES[trial.measure]
    most = " at most" if trial.by_bound and risk is trial.table_risk else ""
    return f"{what} is{most} {text_of(risk)}"


def _form(release: CountRelease) -> str:
    return "the exact factorisation" if release.is_exact else _number(release)


def _number(release: CountRelease) -> str:
    decimals = _decimals(release)
    return "1 decimal" if decimals == 1 else f"{decimals} decimals"
