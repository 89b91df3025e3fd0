"""The figures that are computed on request, as titled tables for the terminal and the page."""

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.meaning import MEANING
from discreet.risk.assessment import Assessment
from discreet.risk.comparison import PolicyComparison
from discreet.risk.scoring import MATCH, ModelResult
from discreet.risk.sensitive import SensitiveFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title, a sentence of meaning, and a table whose first column is text.

    A `wide` one does not fit on a terminal.
    """

    title: str
    meaning: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    wide: bool = False


def extra_sections(assessment: Assessment) -> Iterator[Section]:
    """One section for each thing that was asked for."""
    yield from _population(assessment)
    yield from _scenarios(assessment)
    yield from _subsets(assessment)
    yield from _sensitive(assessment)
    yield from _households(assessment)
    yield from _special(assessment)
    yield from _shrinkages(assessment)
    yield from _bayes_test(assessment)


def comparison_section(comparison: PolicyComparison) -> Section:
    """Every policy for missing values, side by side."""
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    header: tuple[str, ...] = ("policy", "records", "cells", "alone")
    for name, figures in comparison.policies.items():
        if isinstance(figures, Unavailable):
            notes.append(f"{name}: {figures.reason}")
            continue
        ks = tuple(a for a in figures.anonymity if a.k != 2)
        header = ("policy", "records", "cells", "alone", *(f"break {a.k}" for a in ks))
        numbers = (figures.n_records, figures.n_cells, figures.sample_uniques)
        counts = (*numbers, *(a.records for a in ks))
        rows.append((name, *(words.count(n) for n in counts)))
        notes.append(f"{name}: {figures.policy.meaning}")
    return Section(
        title="The same file under each policy for missing values",
        meaning=f"{words.plural(comparison.n_incomplete, 'record')} lack the value of a key.",
        header=header,
        rows=tuple(rows),
        notes=tuple(notes),
    )


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
        words.probability(truth.presence.delta_min),
        words.probability(truth.presence.delta_max),
    )
    yield Section(
        title="The truth, from the population file",
        meaning=MEANING["population"],
        header=("intruder", "highest risk", "average", f"above {truth.journalist.threshold:g}"),
        rows=tuple(rows),
        notes=(
            f"{words.count(truth.population_uniques)} records are alone in the population of "
            f"{words.count(truth.population_size)}; an intruder who tries every record is right "
            f"{words.expected(truth.correct_matches)} times on average.",
            f"δ-presence: a person of the population is in the sample with probability {low} to "
            f"{high}, by the keys.",
        ),
    )


def _scenarios(assessment: Assessment) -> Iterator[Section]:
    if assessment.scenarios is None:
        return
    first = assessment.scenarios.each[0]
    yield Section(
        title="Scenarios: what different intruders may know",
        meaning=MEANING["scenarios"],
        header=(
            "scenario",
            "keys",
            "alone",
            *(f"break {a.k}" for a in first.anonymity if a.k != 2),
        ),
        rows=tuple(
            (
                s.name,
                words.count(len(s.keys)),
                words.count(s.size_indices.sample_uniques),
                *(words.count(a.records) for a in s.anonymity if a.k != 2),
            )
            for s in assessment.scenarios.each
        ),
        notes=tuple(f"{s.name}: {', '.join(s.keys)}" for s in assessment.scenarios.each),
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
    yield Section(
        title="Where uniqueness begins",
        meaning=MEANING["subsets"],
        header=("keys", "sets with uniques", "most uniques", "by"),
        rows=tuple(rows),
    )


def _sensitive(assessment: Assessment) -> Iterator[Section]:
    for figures in assessment.sensitive:
        yield Section(
            title=f"Sensitive variable {figures.name}",
            meaning=MEANING["sensitive"],
            header=("measure", "worst", "records failing", "cells failing"),
            rows=tuple(
                (
                    f.name,
                    "no limit" if isinstance(f.worst, Unavailable) else f"{f.worst:.3g}",
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


def _without_value(figures: SensitiveFigures) -> Iterator[str]:
    if figures.n_without_value:
        yield (
            f"{words.plural(figures.n_without_value, 'record')} without a value of it are left out "
            "of these measures."
        )


def _households(assessment: Assessment) -> Iterator[Section]:
    totals = assessment.households
    if totals is None:
        return
    n = totals.n_households
    unique = totals.pattern_sizes.sample_uniques
    yield Section(
        title="Households",
        meaning=MEANING["households"],
        header=("model", "households found", "share", "persons found"),
        rows=tuple(
            (
                column.removesuffix(MATCH),
                words.expected(value),
                words.share(value, n),
                _persons(assessment, column.removesuffix(MATCH)),
            )
            for column, value in totals.expected_found.items()
        ),
        notes=(
            f"{words.count(n)} households; {words.count(unique)} ({words.share(unique, n)}) have a "
            "pattern of members that no other household has.",
        ),
    )


def _persons(assessment: Assessment, model: str) -> str:
    result = assessment.models.get(model)
    if result is None or isinstance(result, Unavailable):
        return ""
    matches = result.expected_correct_matches
    value = None if isinstance(matches, Unavailable) else matches.value
    return "" if value is None else words.expected(value)


def _special(assessment: Assessment) -> Iterator[Section]:
    special = assessment.special
    if special is None:
        return
    notes = [
        f"{words.count(special.n_scored)} records have a minimal sample unique of at most "
        f"{words.plural(special.found.max_size, 'key')}."
    ]
    if len(special.found.rows_without_msu):
        more = words.count(len(special.found.rows_without_msu))
        notes.append(f"{more} more are unique only on larger sets; their score of 0 says no more.")
    if special.example_text is not None:
        notes.append(f"The highest score, derived: {special.example_text}")
    yield Section(
        title="Special uniques (SUDA)",
        meaning=MEANING["suda"],
        header=("key", "share of all scores", "scores it is in"),
        rows=tuple(
            (s.key, words.share(s.shared, 1), words.share(s.involved, 1)) for s in special.keys
        ),
        notes=tuple(notes),
    )


def _shrinkages(assessment: Assessment) -> Iterator[Section]:
    rows = assessment.shrinkages
    if isinstance(rows, Unavailable):
        yield Section(
            title="Lancaster model over its shrinkage",
            meaning=MEANING["shrinkage"],
            header=("λ",),
            rows=(),
            notes=(f"not available: {rows.reason}",),
        )
    elif rows:
        yield Section(
            title="Lancaster model over its shrinkage",
            meaning=MEANING["shrinkage"],
            header=("λ", "no renormalisation", "renormalisation", "sum of negatives"),
            rows=tuple(
                (
                    f"{row.shrinkage:g}",
                    words.expected(row.plain_uniques),
                    words.expected(row.renormalised_uniques),
                    f"{row.negative_sum:.3g}",
                )
                for row in rows
            ),
        )


def _bayes_test(assessment: Assessment) -> Iterator[Section]:
    results = [r for r in assessment.models.values() if isinstance(r, ModelResult)]
    called = {r.name: r.called_unique for r in results if r.called_unique is not None}
    if not called:
        return
    ratios = next(iter(called.values())).loss_ratios
    yield Section(
        title="Who would be called a population unique",
        meaning=MEANING["bayes_test"],
        header=("model", *(f"b/c {ratio:g}" for ratio in ratios)),
        rows=tuple((name, *(words.count(int(n)) for n in c.records)) for name, c in called.items()),
        wide=True,
    )
