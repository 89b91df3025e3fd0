"""May the file go out: the limits that were given, held against the figures."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from discreet.data.summary import SizeIndices, Summary
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import alike
from discreet.policy.verdict import Judged, Ruling, Verdict, at_least, at_most
from discreet.survey.attributes.sensitive import SensitiveFigures
from discreet.survey.headline.recommendation import note_on_fraction
from discreet.survey.leading import RiskOverview
from discreet.survey.options import AssessOptions

MOST_NAMED = 6  # columns that are named
FEWEST_VALUES = 2  # that the members of a group must have where nobody says more
IDENTIFIER = re.compile(
    r"(?:(?:first|last|full|sur|given|family|patient)[_ -]?)?names?"
    r"|(?:.*[_ -])?(?:mrn|ssn|nhs)(?:[_ -]?n(?:o|r|umber))?"
    r"|(?:person|patient|record|case|client|student|employee|respondent)[_ -]?(?:id|n(?:o|r|umber))"
    r"|e-?mail.*|(?:tele)?phone.*|(?:street[_ -]?)?address|passport.*|iban"
    r"|.*social[_ -]?security.*",
    re.IGNORECASE,
)
TOO_LOW = 2.0  # times the estimate that the truth may be where the estimate was not tried


def judged(
    options: AssessOptions,
    summary: Summary,
    risk: RiskOverview | Unavailable,
    *,
    exact: bool,
    n_dropped: int = 0,
    sensitive: Sequence[SensitiveFigures] = (),
    columns: Sequence[str] = (),
) -> Verdict | None:
    """The verdict on the limits that were given; None where none was.

    `exact` says that risks were counted, not estimated; `columns` are all of the file, of which
    only the keys and what is sensitive are judged.
    """
    sizes = summary.size_indices
    rules = (
        *_max_risk(options, summary, risk, exact),
        *_min_k(options, sizes),
        *_sensitive(options, sensitive),
    )
    if not rules:
        return None
    rules = (*rules, *_without_threshold(options, sensitive), *_left_out(n_dropped))
    return Verdict(rules=rules, notes=tuple(_not_judged(options, sensitive, columns)))


def _left_out(number: int) -> Iterator[Judged]:
    """Records that were left out were not judged, so that nothing allows them to go out."""
    if number:
        yield Judged(
            rule="left_out",
            ruling=Ruling.UNDECIDED,
            value=Figure(value=number, how=How.EXACT),
            limit=0,
            words=f"{_records(number)} that lack a key were left out and not judged.",
            remedy="take these records out of the file, or judge them too (missing)",
        )


def with_remedy(verdict: Verdict, remedy: str) -> Verdict:
    """The verdict with what would help most beside the rules on the keys that are not kept."""
    rules = (
        replace(rule, remedy=remedy)
        if rule.rule in ("max_risk", "min_k") and rule.ruling is Ruling.BROKEN
        else rule
        for rule in verdict.rules
    )
    return replace(verdict, rules=tuple(rules))


def _sensitive(options: AssessOptions, sensitive: Sequence[SensitiveFigures]) -> Iterator[Judged]:
    """The rules on sensitive variables whose thresholds were given."""
    for variable in sensitive:
        by_column = dict(zip(variable.per_cell, variable.figures, strict=True))
        for name, column in _given(options, by_column):
            figure = by_column[column]
            ruling = Ruling.BROKEN if figure.records else Ruling.KEPT
            words = f"{_records(figure.records)} {_has(figure.records)} a group without it"
            yield Judged(
                rule=name,
                ruling=ruling,
                value=Figure(value=figure.records, how=How.EXACT),
                limit=0,
                words=f"{variable.name}: {figure.name} ({figure.rule}): "
                + ("every group has it." if ruling is Ruling.KEPT else f"{words}."),
                concerns=(variable.name,),
            )


def _without_threshold(
    options: AssessOptions, sensitive: Sequence[SensitiveFigures]
) -> Iterator[Judged]:
    """Sensitive variables that no threshold judges: open where a group shares one value."""
    for variable in sensitive:
        by_column = dict(zip(variable.per_cell, variable.figures, strict=True))
        if any(True for _ in _given(options, by_column)):
            continue
        shared = by_column["distinct_l"]
        if isinstance(shared.worst, float) and shared.worst < FEWEST_VALUES:
            yield Judged(
                rule="sensitive",
                ruling=Ruling.UNDECIDED,
                value=Unavailable("no threshold was given"),
                limit=FEWEST_VALUES,
                words=f"there are groups whose members all have the same value of {variable.name}, "
                "and no threshold says what is allowed.",
                concerns=(variable.name,),
                remedy="give a threshold (l) for the values that every group must have, such as 2",
            )


def _given(options: AssessOptions, columns: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The thresholds that were given, each with the measure that it is about."""
    closest = next(one for one in ("t_tree", "t_ordered", "t_equal") if one in columns)
    for name, given, column in (
        ("l", options.l, "distinct_l"),
        ("c", options.c, "recursive_c"),
        ("t", options.t, closest),
        ("alpha", options.alpha if options.alpha_k is None else options.alpha_k, "alpha"),
    ):
        if given is not None:
            yield name, column


def _not_judged(
    options: AssessOptions, sensitive: Sequence[SensitiveFigures], columns: Sequence[str]
) -> Iterator[str]:
    """What the rules are not about: sensitive variables, and columns beside the keys."""
    names = [variable.name for variable in sensitive]
    if sensitive and not any(True for _ in _sensitive(options, sensitive)):
        yield f"no threshold (l or t) was given for {', '.join(names)}"
    others = [name for name in columns if name not in (*options.key_names, *names)]
    telling = [name for name in others if IDENTIFIER.fullmatch(name.strip())]
    if telling:
        yield f"remove what identifies a person directly, as these names tell: {', '.join(telling)}"
    if others:
        shown = ", ".join(others[:MOST_NAMED])
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        yield f"judged by the keys alone: the file also has {shown}{more}"


def _max_risk(
    options: AssessOptions,
    summary: Summary,
    risk: RiskOverview | Unavailable,
    exact: bool,
) -> Iterator[Judged]:
    """No record's risk above the limit.

    On a share of the population smaller than any that the estimate was tried on it may be half the
    truth or less (docs/methods/recommended.md): there it is kept only with as much to spare.
    """
    limit, sizes = options.max_risk, summary.size_indices
    if limit is None:
        return
    if isinstance(risk, Unavailable):
        yield _without_risk(limit, sizes, risk.reason)
        return
    size = summary.population_size
    untried = not exact and size is not None and note_on_fraction(summary.sample_size / size)
    value = Figure(value=risk.largest, how=How.EXACT if exact else How.ESTIMATE)
    if untried:
        value = replace(value, low=risk.largest, high=min(1.0, TOO_LOW * risk.largest))
    ruling = at_most(value, limit)
    if ruling is Ruling.KEPT and risk.unknown:
        ruling = Ruling.UNDECIDED
        words = f"{_records(risk.unknown)} {_has(risk.unknown)} no estimate of the risk"
    elif ruling is Ruling.BROKEN:
        words = (
            f"{_records(risk.high)} {_has(risk.high)} a risk above {limit:g}; the highest is "
            f"{_told(risk.largest)}"
        )
    else:
        words = f"no record has a risk above {limit:g}; the highest is {_told(risk.largest)}"
        if ruling is Ruling.UNDECIDED:
            words += f", but {untried}"
    yield Judged(
        rule="max_risk",
        ruling=ruling,
        value=value,
        limit=limit,
        words=f"{words}.",
        concerns=(_records(risk.high),) if ruling is Ruling.BROKEN else (),
    )


def _without_risk(limit: float, sizes: SizeIndices, reason: str) -> Judged:
    """No estimate: only 1/f, which no risk exceeds, may show that the limit is kept."""
    value: Outcome = Unavailable(reason)
    ruling, words = Ruling.UNDECIDED, f"the risk of the records cannot be estimated: {reason}"
    least = float(sizes.sizes.min())
    if sizes.is_partition:
        value = Figure(value=None, low=0.0, high=1 / least, how=How.BOUND)
        ruling = at_most(value, limit)
    if ruling is Ruling.KEPT:
        words = (
            f"at least {least:g} records share each combination, so no record can have a risk "
            f"above {limit:g}"
        )
    return Judged(rule="max_risk", ruling=ruling, value=value, limit=limit, words=f"{words}.")


def _min_k(options: AssessOptions, sizes: SizeIndices) -> Iterator[Judged]:
    k = options.min_k
    if k is None:
        return
    least, below = float(sizes.sizes.min()), sizes.records_below(k)
    ruling = at_least(Figure(value=least, how=How.EXACT), k)
    words = f"each combination of keys is shared by at least {k} records."
    if ruling is Ruling.BROKEN:
        share = "shares its" if below == 1 else "share their"
        words = f"{_records(below)} {share} combination of keys with fewer than {k - 1} others."
        if k == 2:
            words = f"{_records(below)} {'is' if below == 1 else 'are'} alone with the keys."
    yield Judged(
        rule="min_k",
        ruling=ruling,
        value=Figure(value=least, how=How.EXACT),
        limit=k,
        words=words,
        concerns=(_records(below),) if ruling is Ruling.BROKEN else (),
    )


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _told(risk: float) -> str:
    return "1" if alike(risk, 1.0) else f"{risk:.2g}"
