"""May the statistics of a count table go out? A verdict in words against the greatest risk allowed.

The release that the holder has in mind is tried first, then S2 with fewer and fewer decimals.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from discreet.compoisson.knowledge import Knowledge
from discreet.compoisson.laws import exact
from discreet.compoisson.release import Attack, Release, attack, release_of
from discreet.compoisson.snooper import Effort
from discreet.compoisson.statistics import CountStatistics, DecimalLog
from discreet.errors import InputError, must_be
from discreet.figures import Outcome, Unavailable
from discreet.progress import Progress, silent
from discreet.risk.count_risk import CountRisk, holder_risk

DECIMALS = (6, 4, 3, 2, 1, 0)


class Measure(StrEnum):
    """What a verdict holds against the greatest risk allowed."""

    BEST_GUESS = "best_guess"
    TRUTH = "truth"
    RECIPROCAL_ENTROPY = "reciprocal_entropy"


class Decision(StrEnum):
    """What to do with the statistics."""

    RELEASE = "release"
    FEWER_DECIMALS = "release with fewer decimals"
    DO_NOT = "do not release"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way to release and its risk by `measure`.

    That is the measure asked for, but the true table's probability where draws cannot tell the
    best guess.
    """

    release: Release
    risk: Outcome
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to do, in words; `decimals` where fewer of them make the release safe enough.

    `warnings` name what the whole table's risk does not show: cells all but known, and a measure
    other than the one asked for.
    """

    decision: Decision
    decimals: int | None
    measure: Measure
    max_risk: float
    sentence: str
    trials: tuple[Trial, ...]
    warnings: tuple[str, ...]

    @property
    def allows(self) -> bool:
        """Was some release found whose risk is not above what is allowed?"""
        return self.decision in (Decision.RELEASE, Decision.FEWER_DECIMALS)


def verdict(
    table: Mapping[int, int],
    max_risk: float,
    *,
    measure: Measure | str = Measure.BEST_GUESS,
    knowledge: Knowledge | None = None,
    first: Release | None = None,
    found: Attack | None = None,
    decimals: Iterable[int] = DECIMALS,
    truncate: bool = False,
    effort: Effort | None = None,
    progress: Progress = silent,
) -> Verdict:
    """Whether the holder may release the statistics, and with how many decimals of S2.

    The release `first` (n, S1 and the exact factorisation if not said) is tried first; `found` is
    what a snooper finds from it, where that is known already. Then S2 with fewer and fewer of the
    `decimals`, until the measure, under the law that is right for independent counts, is not above
    `max_risk`.
    """
    check_max_risk(max_risk)
    chosen = Measure(measure)
    trials: list[Trial] = []
    warnings: tuple[str, ...] = ()
    for release in _releases(table, first, decimals, truncate):
        if trials or found is None:
            progress(f"trying {release.words}", None)
            found = attack(release, knowledge, truth=table, effort=effort, progress=progress)
        risk = holder_risk(found, table)
        trials.append(_trial(release, risk, chosen))
        warnings = _warnings(risk, table, max_risk)
        if _is_low(trials[-1].risk, max_risk) or isinstance(trials[-1].risk, Unavailable):
            break
    return _verdict(trials, chosen, max_risk, warnings)


def check_max_risk(max_risk: float) -> None:
    """Raises InputError unless it lies between 0 and 1."""
    if not 0 < max_risk < 1:
        raise InputError(must_be("max_risk", "between 0 and 1", max_risk))


def _releases(
    table: Mapping[int, int], first: Release | None, decimals: Iterable[int], truncate: bool
) -> list[Release]:
    """The first release, then those with fewer decimals than it has."""
    statistics = CountStatistics.of_counts(table)
    first = first or release_of(statistics)
    fewest = _decimals(first)
    fewer = [d for d in sorted(set(decimals), reverse=True) if fewest is None or d < fewest]
    hidden = first.n is None
    return [first] + [
        release_of(statistics, decimals=d, truncate=truncate, withhold_n=hidden) for d in fewer
    ]


def _trial(release: Release, risk: CountRisk | Unavailable, measure: Measure) -> Trial:
    """The figure that a verdict looks at; a certain table has the risk 1 by any measure."""
    if isinstance(risk, Unavailable):
        return Trial(release=release, risk=risk, measure=measure)
    if measure is Measure.BEST_GUESS and isinstance(risk.best_guess_probability, Unavailable):
        measure = Measure.TRUTH
    if measure is Measure.BEST_GUESS:
        figure = risk.best_guess_probability
    elif measure is Measure.TRUTH:
        figure = risk.truth_probability or Unavailable("no true table was given")
    elif isinstance(risk.bounded, Unavailable):
        figure = risk.bounded
    else:
        certain = isinstance(risk.reciprocal_entropy, Unavailable)
        figure = exact(1.0) if certain else risk.reciprocal_entropy
    return Trial(release=release, risk=figure, measure=measure)


def _is_low(risk: Outcome, max_risk: float) -> bool:
    """Not above, with two standard errors to spare where it is an estimate."""
    if isinstance(risk, Unavailable) or risk.value is None:
        return False
    return risk.value + 2 * (risk.standard_error or 0.0) <= max_risk


def _warnings(
    risk: CountRisk | Unavailable, table: Mapping[int, int], max_risk: float
) -> tuple[str, ...]:
    """Cells whose true count is the best guess and more probable than the risk allowed."""
    if isinstance(risk, Unavailable):
        return ()
    return tuple(
        f"the count of value {cell.value} is found with probability {cell.truth_probability:.3f}"
        for cell in risk.cells
        if table.get(cell.value, 0) > 0
        and cell.best_guess == table.get(cell.value, 0)
        and (cell.truth_probability or 0.0) > max_risk
    )


_WORDS = {
    Measure.BEST_GUESS: "the probability that a snooper's best guess of the table is right",
    Measure.TRUTH: "the probability that a snooper gives to the true table",
    Measure.RECIPROCAL_ENTROPY: "one over the entropy of the table",
}
_INSTEAD = (
    "the true table's probability stands in for that of the best guess, which draws cannot tell "
    "and which is at least as high"
)


def _verdict(
    trials: list[Trial], measure: Measure, max_risk: float, warnings: tuple[str, ...]
) -> Verdict:
    last = trials[-1]
    if _is_low(last.risk, max_risk):
        decision = Decision.RELEASE if len(trials) == 1 else Decision.FEWER_DECIMALS
    else:
        unknown = isinstance(last.risk, Unavailable)
        decision = Decision.UNDECIDED if unknown else Decision.DO_NOT
    fewer = decision is Decision.FEWER_DECIMALS
    instead = (_INSTEAD,) if last.measure is not measure else ()
    return Verdict(
        decision=decision,
        decimals=_decimals(last.release) if fewer else None,
        measure=measure,
        max_risk=max_risk,
        sentence=_sentence(decision, trials, max_risk),
        trials=tuple(trials),
        warnings=(*instead, *warnings),
    )


def _decimals(release: Release) -> int | None:
    given = release.log_factorial_total
    return given.decimals if isinstance(given, DecimalLog) else None


def _sentence(decision: Decision, trials: list[Trial], max_risk: float) -> str:
    first, last = trials[0], trials[-1]
    words, at_first, at_last = _WORDS[last.measure], _text(first.risk), _text(last.risk)
    if decision is Decision.RELEASE:
        return f"Release: {words} is {at_first}, not above {max_risk:g}."
    if decision is Decision.FEWER_DECIMALS:
        return (
            f"Release S2 with {_number(last.release)} only: {words} is {at_last}, not above "
            f"{max_risk:g}, but {at_first} with {_form(first.release)}."
        )
    if decision is Decision.DO_NOT:
        even = " even with the fewest decimals tried" if len(trials) > 1 else ""
        return f"Do not release: {words} is {at_last}{even}, above {max_risk:g}."
    if len(trials) == 1:
        return f"Undecided: {words} is not known; {at_first}."
    known = f"{words} is {at_first} with {_form(first.release)}, and {max_risk:g} is allowed"
    return f"Undecided: {known}; with {_number(last.release)} {at_last}."


def _form(release: Release) -> str:
    return "the exact factorisation" if release.is_exact else _number(release)


def _number(release: Release) -> str:
    decimals = _decimals(release)
    return "1 decimal" if decimals == 1 else f"{decimals} decimals"


def _text(risk: Outcome) -> str:
    if isinstance(risk, Unavailable):
        return f"no answer ({risk.reason})"
    return f"{risk.value:.3g}"
