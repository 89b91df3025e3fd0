"""Policies for missing values side by side."""

from collections.abc import Callable, Iterator
from typing import Any

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.assess.json import model_json, recommended_json
from discreet.report.assess.meaning import MEANING
from discreet.report.assess.requested import table_section
from discreet.report.assess.requested_json import requested_json
from discreet.report.assess.words import is_everybody, short_outcome, two_figures
from discreet.report.document import Document, Section
from discreet.report.render_json import of_kind
from discreet.survey.assessment import Assessment
from discreet.survey.attributes.sensitive import NO_VALUE, SensitiveFigure
from discreet.survey.missing_policies import PolicyComparison
from discreet.survey.scoring import ModelResult

SHORT = {
    "distinct l-diversity": "distinct l",
    "entropy l-diversity": "entropy l",
    "recursive (c, l)-diversity": "(c, l)",
    "t-closeness, equal distance": "t equal",
    "t-closeness, ordered": "t ordered",
    "t-closeness, hierarchical": "t tree",
    "(α, k)-anonymity": "(α, k)",
}


def comparison_document(comparison: PolicyComparison) -> Document:
    """The main figures, and what else was asked for, one table each."""
    return Document(
        title="Policies for missing values, side by side",
        mark="confidential",
        blocks=tuple(comparison_sections(comparison)),
    )


def comparison_sections(comparison: PolicyComparison) -> Iterator[Section]:
    """One table for each thing that was asked for, a row for each policy."""
    yield _main(comparison)
    first = next(iter(_assessed(comparison).values()))
    if first.summary.population_size is not None:
        yield _recommended(comparison)
    if comparison.with_models:
        yield from (_model(comparison, name) for name in first.models)
    for place in range(len(first.scenarios.each) if first.scenarios else 0):
        yield _scenario(comparison, place)
    for place in range(len(first.sensitive)):
        yield _sensitive(comparison, place)
    if first.households is not None:
        yield _households(comparison)
    if first.special is not None:
        yield _special(comparison)


@of_kind("compare_policies")
def comparison_json(comparison: PolicyComparison) -> dict[str, Any]:
    """The main figures under every policy, and what else was asked for."""
    return {
        "incomplete_records": comparison.n_incomplete,
        "missing": {
            name: found.to_json()
            if isinstance(found, Unavailable)
            else _policy_json(found, comparison.with_models)
            for name, found in comparison.policies.items()
        },
    }


def _policy_json(found: Assessment, with_models: bool) -> dict[str, Any]:
    models = {name: model_json(result) for name, result in found.models.items()}
    main = {
        "sample_size": found.summary.sample_size,
        "n_cells": found.size_indices.n_cells,
        "n_incomplete_cells": found.n_incomplete_cells,
        "n_table_cells": found.summary.n_table_cells,
        "sample_uniques": found.sample_uniques,
        "anonymity": {str(a.k): a.records for a in found.anonymity},
    }
    main["recommended"] = recommended_json(found.recommended)
    return main | ({"models": models} if with_models else {}) | requested_json(found)


def _assessed(comparison: PolicyComparison) -> dict[str, Assessment]:
    return {n: a for n, a in comparison.policies.items() if isinstance(a, Assessment)}


def _rows(
    comparison: PolicyComparison, figures: Callable[[Assessment], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """A row a policy; why one has no figures stands below the first table."""
    told = {name: figures(found) for name, found in _assessed(comparison).items()}
    none = ("–",) * len(next(iter(told.values())))
    return tuple((name, *told.get(name, none)) for name in comparison.policies)


def _counts(*numbers: float) -> tuple[str, ...]:
    return tuple(words.count(number) for number in numbers)


def _main(comparison: PolicyComparison) -> Section:
    first = next(iter(_assessed(comparison).values()))
    notes = [f"{name}: {_meant(found)}" for name, found in comparison.policies.items()]
    lack = words.by_number(comparison.n_incomplete, "lacks", "lack")
    return table_section(
        title="The same file under each policy for missing values",
        meaning=f"{words.plural(comparison.n_incomplete, 'record')} {lack} the value of a key. "
        + MEANING["comparison"],
        header=("policy", "records", "cells", "alone", *(f"break {a.k}" for a in first.anonymity)),
        rows=_rows(
            comparison,
            lambda a: _counts(
                a.summary.sample_size,
                a.size_indices.n_cells,
                a.sample_uniques,
                *(row.records for row in a.anonymity),
            ),
        ),
        notes=tuple(notes),
    )


def _meant(found: Assessment | Unavailable) -> str:
    return found.reason if isinstance(found, Unavailable) else found.settings.missing.meaning


def _recommended(comparison: PolicyComparison) -> Section:
    """The recommended estimate under each policy, and why there is none where there is none."""

    def figures(found: Assessment) -> tuple[str, ...]:
        led = found.recommended
        outcomes = (led.expected_population_uniques, led.expected_correct_matches)
        return tuple(map(short_outcome, outcomes))

    everybody = all(is_everybody(found) for found in _assessed(comparison).values())
    lost = (
        (name, found.recommended.why)
        for name, found in _assessed(comparison).items()
        if isinstance(found.recommended.expected_correct_matches, Unavailable)
    )
    return table_section(
        title="How many could be found under each policy",
        meaning=MEANING["recommended_counted" if everybody else "recommended_compared"],
        header=("policy", "population uniques", "correct matches"),
        rows=_rows(comparison, figures),
        notes=tuple(
            f"{words.listed(names)}: {words.sentence(reason)}"
            for reason, names in words.by_reason(lost).items()
        ),
    )


def _model(comparison: PolicyComparison, model: str) -> Section:
    def figures(found: Assessment) -> tuple[str, str]:
        result = found.models[model]
        if isinstance(result, Unavailable):
            return "–", "–"
        return two_figures(result)

    assessed = _assessed(comparison).items()
    lost = ((name, why) for name, found in assessed for why in _reasons(found.models[model]))
    return table_section(
        title=f"Model {model} under each policy",
        meaning=MEANING["models_compared"],
        header=("policy", "population uniques", "correct matches"),
        rows=_rows(comparison, figures),
        notes=tuple(
            f"{words.listed(names)}: {words.sentence(reason)}"
            for reason, names in words.by_reason(lost).items()
        ),
    )


def _reasons(result: ModelResult | Unavailable) -> Iterator[str]:
    """Why figures are not there."""
    if isinstance(result, Unavailable):
        yield result.reason
        return
    for outcome in (result.expected_population_uniques, result.expected_correct_matches):
        if isinstance(outcome, Unavailable):
            yield outcome.reason


def _scenario(comparison: PolicyComparison, place: int) -> Section:
    def view(found: Assessment) -> Any:
        assert found.scenarios is not None
        return found.scenarios.each[place]

    first = view(next(iter(_assessed(comparison).values())))
    return table_section(
        title=f"Scenario {first.name} under each policy",
        meaning=f"Keys: {', '.join(first.keys)}.",
        header=("policy", "cells", "alone", *(f"break {a.k}" for a in first.anonymity)),
        rows=_rows(
            comparison,
            lambda a: _counts(
                view(a).size_indices.n_cells,
                view(a).size_indices.sample_uniques,
                *(row.records for row in view(a).anonymity),
            ),
        ),
    )


def _sensitive(comparison: PolicyComparison, place: int) -> Section:
    first = next(iter(_assessed(comparison).values())).sensitive[place]
    return table_section(
        title=f"Sensitive variable {first.name} under each policy",
        meaning=MEANING["sensitive_compared"],
        header=("policy", *(SHORT.get(f.name, f.name) for f in first.figures)),
        rows=_rows(comparison, lambda a: tuple(map(_failing, a.sensitive[place].figures))),
        notes=(
            *(f"{SHORT.get(f.name, f.name)}: {f.rule}" for f in first.figures),
            *_without_value(comparison, place),
        ),
    )


def _failing(figure: SensitiveFigure) -> str:
    """Records that break the rule; the k of (α, k) is judged whether or not there are values."""
    judged = figure.records or figure.worst != NO_VALUE
    return words.count(figure.records) if judged else "–"


def _without_value(comparison: PolicyComparison, place: int) -> Iterator[str]:
    """Where no figure could be had, and why."""
    names = [
        name
        for name, found in _assessed(comparison).items()
        if any(_failing(figure) == "–" for figure in found.sensitive[place].figures)
    ]
    if names:
        yield f"{words.listed(names)}: not available, {NO_VALUE.reason}"


def _households(comparison: PolicyComparison) -> Section:
    def figures(found: Assessment) -> tuple[str, ...]:
        assert found.households is not None
        totals = found.households
        sure = next(iter(totals.expected_found.values()), None)
        return (
            *_counts(totals.n_households, totals.pattern_sizes.sample_uniques),
            "–" if sure is None else words.expected(sure),
        )

    return table_section(
        title="Households under each policy",
        meaning=MEANING["households"],
        header=("policy", "households", "unique patterns", "households found"),
        rows=_rows(comparison, figures),
    )


def _special(comparison: PolicyComparison) -> Section:
    def figures(found: Assessment) -> tuple[str, ...]:
        assert found.special is not None
        return _counts(found.special.n_scored, found.special.n_unscored)

    return table_section(
        title="Special uniques (SUDA) under each policy",
        meaning=MEANING["suda"],
        header=("policy", "records with a score", "unique on larger sets only"),
        rows=_rows(comparison, figures),
    )
