"""The figures that are computed on request, each a section with a table."""

from collections.abc import Iterator, Mapping, Sequence

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.assess.meaning import MEANING
from discreet.report.assess.words import (
    expected_persons,
    has_register,
    is_everybody,
    risk_name,
    short_outcome,
)
from discreet.report.document import Block, Place, Row, Section, Table, Text
from discreet.survey.assessment import Assessment
from discreet.survey.attributes.sensitive import NO_VALUE, SensitiveFigures
from discreet.survey.bayes_test import CalledUnique
from discreet.survey.headline.record_risk import RISK
from discreet.survey.known_population import KnownPopulation
from discreet.survey.leading import RiskOverview
from discreet.survey.scoring import ModelResult
from discreet.survey.suda.special import SpecialFigures

MOST_RATIOS = 5  # that fit on a terminal


def table_section(
    title: str,
    meaning: str,
    header: Row,
    rows: Sequence[Row],
    notes: Sequence[str] = (),
    *,
    only: Place | None = None,
) -> Section:
    """A table whose first column is text, its notes, and what it means."""
    blocks: list[Block] = [Table(header=header, rows=tuple(rows))] if rows else []
    blocks += [Text(note) for note in notes]
    return Section(title, (*blocks, Text(meaning, "soft")), only=only)


def requested_sections(assessment: Assessment) -> Iterator[Section]:
    """One section for each thing that was asked for."""
    yield from _population(assessment)
    yield from _scenarios(assessment)
    yield from _subsets(assessment)
    yield from _sensitive(assessment)
    yield from _households(assessment)
    yield from _special(assessment)
    yield from _shrinkages(assessment)
    yield from _bayes_test(assessment)


def _population(assessment: Assessment) -> Iterator[Section]:
    truth = assessment.population
    if truth is None:
        return
    rows = [
        (
            name,
            words.probability(r.highest),
            words.probability(r.average),
            words.count(r.records_at_risk),
        )
        for name, r in (("prosecutor", truth.prosecutor), ("journalist", truth.journalist))
    ]
    rows.append(("marketer", "", words.probability(truth.marketer), ""))
    low, high = (
        words.probability(truth.delta_min),
        words.probability(truth.delta_max),
    )
    yield table_section(
        title="The truth, from the population file",
        meaning=MEANING["population"],
        header=("intruder", "highest risk", "average", f"above {truth.journalist.threshold:g}"),
        rows=tuple(rows),
        notes=(
            f"{words.plural(truth.population_uniques, 'record')} "
            f"{words.by_number(truth.population_uniques, 'is', 'are')} alone in the population of "
            f"{words.count(truth.population_size)}; an intruder who tries every record is right "
            f"{words.expected(truth.correct_matches)} times on average.",
            f"δ-presence: a person of the population is in the sample with probability {low} to "
            f"{high}, by the keys.",
            *_left_out(truth),
        ),
    )


def _left_out(truth: KnownPopulation) -> Iterator[str]:
    n = truth.n_left_out
    if n:
        lack, are = words.by_number(n, "lacks", "lack"), words.by_number(n, "is", "are")
        who = f"{words.plural(n, 'record')} of the population file that {lack} a key"
        yield f"{who} {are} left out."


def _scenarios(assessment: Assessment) -> Iterator[Section]:
    if assessment.scenarios is None:
        return
    views = assessment.scenarios.each
    same = all(
        a.records == s.size_indices.sample_uniques for s in views for a in s.anonymity if a.k == 2
    )
    ks = [a.k for a in views[0].anonymity if a.k != 2 or not same]
    everybody = is_everybody(assessment)
    yield table_section(
        title="Scenarios: what different intruders may know",
        meaning=MEANING["scenarios_counted" if everybody else "scenarios"],
        header=(
            "scenario",
            "keys",
            "alone",
            *(f"break {k}" for k in ks),
            *(() if everybody else ("population uniques",)),
            "correct matches",
        ),
        rows=tuple(
            (
                s.name,
                words.count(len(s.keys)),
                words.count(s.size_indices.sample_uniques),
                *(words.count(a.records) for a in s.anonymity if a.k in ks),
                *(() if everybody else (short_outcome(s.recommended.expected_population_uniques),)),
                short_outcome(s.recommended.expected_correct_matches),
            )
            for s in views
        ),
        notes=tuple(f"{s.name}: {', '.join(s.keys)}" for s in views),
    )


def _subsets(assessment: Assessment) -> Iterator[Section]:
    if not assessment.subsets:
        return
    rows: list[tuple[str, ...]] = []
    for size in assessment.subsets:
        some = f"{words.count(size.n_with_uniques)} of {words.count(size.n_sets)}"
        worst = size.worst[0] if size.worst else None
        shown = ", ".join(worst.keys) if worst else "none"
        rows.append(
            (str(size.size), some, words.count(worst.sample_uniques if worst else 0), shown)
        )
    yield table_section(
        title="Where uniqueness begins",
        meaning=MEANING["subsets"],
        header=("keys", "sets with uniques", "most uniques", "by"),
        rows=tuple(rows),
    )


def _sensitive(assessment: Assessment) -> Iterator[Section]:
    for figures in assessment.sensitive:
        yield table_section(
            title=f"Sensitive variable {figures.name}",
            meaning=MEANING["sensitive"],
            header=("measure", "worst", "records failing", "cells failing"),
            rows=tuple(
                (
                    f.name,
                    _worst(f.worst),
                    words.count(f.records),
                    words.count(f.cells),
                )
                for f in figures.figures
            ),
            notes=(
                *_without_value(figures),
                *(f"{f.name}: {f.rule}" for f in figures.figures),
            ),
        )


def _worst(worst: float | Unavailable) -> str:
    if isinstance(worst, Unavailable):
        return "–" if worst == NO_VALUE else "no limit"
    return words.expected(worst)


def _without_value(figures: SensitiveFigures) -> Iterator[str]:
    if any(f.worst == NO_VALUE for f in figures.figures):
        yield f"Not available: {NO_VALUE.reason}."
    if figures.n_without_value:
        are = words.by_number(figures.n_without_value, "is", "are")
        yield (
            f"{words.plural(figures.n_without_value, 'record')} without a value of it {are} left "
            "out of these measures."
        )


def _households(assessment: Assessment) -> Iterator[Section]:
    totals = assessment.households
    if totals is None:
        return
    n = totals.n_households
    unique = totals.pattern_sizes.sample_uniques
    yield table_section(
        title="Households",
        meaning=MEANING["households"],
        header=("risk of the members by", "households found", "share", "persons found"),
        rows=tuple(
            (_risk_name(column), words.expected(value), words.share(value, n), persons)
            for (column, value), persons in zip(
                totals.expected_found.items(), _persons(assessment), strict=True
            )
        ),
        notes=(
            f"{words.plural(n, 'household')}; {words.count(unique)} ({words.share(unique, n)}) "
            f"{words.by_number(unique, 'has', 'have')} a pattern of members that no other has.",
        ),
    )


def _risk_name(column: str) -> str:
    """Whose risk a column holds: a model, a scenario, or the file of the population."""
    name = risk_name(column)
    if name == "true":
        return "population file"
    if name == "worst_scenario":
        return "worst scenario"
    scenario = name.removeprefix("scenario_")
    if scenario == name:
        return name
    if scenario.endswith(f"_{RISK}"):
        return f"scenario {scenario.removesuffix(f'_{RISK}')}, recommended"
    return f"scenario {scenario}, known to be in the file"


def _persons(assessment: Assessment) -> Iterator[str]:
    """Persons found, in the order of the household totals."""
    assert assessment.households is not None
    found = expected_persons(assessment)
    for column in assessment.households.expected_found:
        value = found.get(risk_name(column))
        yield "–" if value is None else words.expected(value)


def _special(assessment: Assessment) -> Iterator[Section]:
    special = assessment.special
    if special is None:
        return
    notes = [
        f"{words.plural(special.n_scored, 'record')} "
        f"{words.by_number(special.n_scored, 'has', 'have')} a minimal sample unique (a smallest "
        f"set of keys that makes it unique) of at most "
        f"{words.plural(special.max_size, 'key')}."
    ]
    if special.n_unscored:
        are = words.by_number(special.n_unscored, "is", "are")
        more = f"{words.count(special.n_unscored)} more {are} unique only on larger sets"
        notes.append(f"{more}; a score of 0 says no more.")
    notes += missing_in_suda(assessment)
    notes.append(_dis(special))
    if special.example_text is not None:
        notes += f"The highest score, derived: {special.example_text}".splitlines()
    yield table_section(
        title="Special uniques (SUDA)",
        meaning=MEANING["suda"],
        header=("key", "share of all scores", "scores it is in"),
        rows=tuple(
            (s.key, words.share(s.shared, 1), words.share(s.involved, 1)) for s in special.keys
        ),
        notes=tuple(notes),
    )


def missing_in_suda(assessment: Assessment) -> Iterator[str]:
    """What a missing value is to SUDA, where there are any."""
    policy = assessment.settings.missing
    if not assessment.n_incomplete:
        return
    if policy.matching is not None:
        yield (
            f"Missing values are treated by the policy {policy.name} on every set of keys: "
            f"{policy.meaning}."
        )
    elif policy.is_a_level:
        yield "A missing value counts as a level here, by the policy category."
    else:
        are = words.by_number(assessment.n_dropped, "is", "are")
        left = words.plural(assessment.n_dropped, "record")
        yield f"{left} with a missing key value {are} left out."


def _dis(special: SpecialFigures) -> str:
    shown = words.probability(special.dis)
    if isinstance(special.dis_estimate, Unavailable):
        return f"DIS-SUDA rests on a DIS of {shown}, by convention: {special.dis_estimate.reason}."
    low, high = special.dis_estimate.low, special.dis_estimate.high
    between = ""
    if low is not None and high is not None:
        between = f" ({words.probability(low)} to {words.probability(high)})"
    return f"DIS of the file is {shown}{between}, estimated under simple random sampling."


def _shrinkages(assessment: Assessment) -> Iterator[Section]:
    rows = assessment.shrinkages
    if isinstance(rows, Unavailable):
        yield table_section(
            title="Lancaster model over its shrinkage",
            meaning=MEANING["shrinkage"],
            header=(),
            rows=(),
            notes=(f"Not available: {words.sentence(rows.reason)}.",),
        )
    elif rows:
        yield table_section(
            title="Lancaster model over its shrinkage",
            meaning=MEANING["shrinkage"],
            header=("share λ", "no renormalisation", "renormalisation", "sum of negatives"),
            rows=tuple(
                (
                    f"{row.shrinkage:g}",
                    words.expected(row.plain_uniques),
                    words.expected(row.renormalised_uniques),
                    words.expected(row.negative_sum),
                )
                for row in rows
            ),
            notes=tuple(_chosen_shrinkage(assessment)),
        )


def _chosen_shrinkage(assessment: Assessment) -> Iterator[str]:
    result = assessment.models.get("lancaster")
    if isinstance(result, ModelResult) and "shrinkage" in result.parameters:
        value, rule = result.parameters["shrinkage"], result.parameters.get("shrinkage_rule", "")
        yield f"The model lancaster above takes λ = {float(value):.3g} ({rule})."


def _bayes_test(assessment: Assessment) -> Iterator[Section]:
    """All ratios on the page; on the terminal those that were asked for."""
    results = [r for r in assessment.models.values() if isinstance(r, ModelResult)]
    called = {r.name: r.called_unique for r in results if r.called_unique is not None}
    counted = is_everybody(assessment) or has_register(assessment)  # then nobody has to be called
    if (
        isinstance(assessment.risk, RiskOverview)
        and assessment.risk.called_unique is not None
        and not (counted and not assessment.settings.loss_ratios)
    ):
        called = {"recommended": assessment.risk.called_unique} | called
    if not called:
        return
    ratios = next(iter(called.values())).loss_ratios
    asked = [ratio for ratio in ratios if ratio in assessment.settings.loss_ratios]
    yield _called_section(called, ratios, "page")
    for first in range(0, len(asked), MOST_RATIOS):
        yield _called_section(called, asked[first : first + MOST_RATIOS], "terminal")


def _called_section(
    called: Mapping[str, CalledUnique],
    ratios: Sequence[float],
    only: Place,
) -> Section:
    return table_section(
        title="Who would be called a population unique",
        meaning=MEANING["bayes_test"],
        header=("model", *(f"{ratio:g} times" for ratio in ratios)),
        rows=tuple(
            (name, *(words.count(int(c.records[c.loss_ratios.index(r)])) for r in ratios))
            for name, c in called.items()
        ),
        only=only,
    )
