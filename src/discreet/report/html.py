"""The report as one HTML file that opens anywhere, offline: an internal and an external version."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from discreet.data.missing import EVERY_COLUMN
from discreet.data.writing import written_whole
from discreet.figures import Figure
from discreet.report import plots, standing_out, words
from discreet.report.classes import filled_classes, first_result
from discreet.report.external import public_figures
from discreet.report.extras import Section, extra_sections
from discreet.report.meaning import MEANING
from discreet.report.text import headline_note, headline_words, population_line, scope
from discreet.survey.assessment import Assessment
from discreet.survey.scoring import ModelResult

MOST_KEYS_SHOWN = 30


def write_report(
    assessment: Assessment,
    path: str | Path,
    *,
    external: bool = False,
    first: Sequence[Section] = (),
) -> None:
    """Write the report, whole or not at all; `external` for readers outside the agency.

    Sections to show `first` go into the internal report only.
    """
    text = external_html(assessment) if external else internal_html(assessment, first)
    with written_whole(Path(path)) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))


def internal_html(assessment: Assessment, first: Sequence[Section] = ()) -> str:
    """Everything, risky combinations included: as confidential as the data."""
    removed = {c.keys[0]: c.uniques_removed for c in assessment.contributions.single}
    return render(
        "internal.html",
        a=assessment,
        headline=" ".join(headline_words(assessment.recommended)),
        note=headline_note(assessment.recommended),
        w=words,
        scope=list(scope(assessment)),
        population=population_line(assessment),
        hows=_hows,
        removed=removed,
        st=standing_out,
        first=first,
        codes=_codes(assessment),
        sections=[s for s in extra_sections(assessment) if s.only != "terminal"],
        plots=_internal_plots(assessment),
    )


def external_html(assessment: Assessment) -> str:
    """Rounded shares of the whole; nothing that a reader could act on."""
    figures = public_figures(assessment)
    drawn: dict[str, str] = {}
    if figures.anonymity is not None:
        ks = [int(k) for k in figures.anonymity.labels]
        drawn["anonymity"] = plots.anonymity_plot(ks, figures.anonymity.shares)
    if figures.risk is not None:
        percent = [100 * share for share in figures.risk.shares]
        drawn["risk"] = plots.risk_plot(figures.risk.labels, percent, "records, %")
    if figures.contributions is not None:
        keys, shares = figures.contributions.labels, figures.contributions.shares
        drawn["contributions"] = plots.contribution_plot(
            keys[:MOST_KEYS_SHOWN], shares[:MOST_KEYS_SHOWN]
        )
    return render("external.html", p=figures, plots=drawn)


def _internal_plots(assessment: Assessment) -> dict[str, str]:
    curve = assessment.anonymity_curve
    single = assessment.contributions.single[:MOST_KEYS_SHOWN]
    uniques = max(assessment.sample_uniques, 1)
    result = first_result(assessment)
    risk = ""
    if result is not None and result.distribution is not None:
        classes = filled_classes(result.distribution)
        risk = plots.risk_plot([label for label, _ in classes], [n for _, n in classes])
    indices = assessment.size_indices
    return {
        "estimates": _estimates(assessment),
        "risk": risk,
        "risk_model": result.name if result else "none",
        "sizes": plots.size_index_plot(indices.sizes.tolist(), indices.cells.tolist()),
        "anonymity": plots.anonymity_plot([a.k for a in curve], [a.record_share for a in curve]),
        "contributions": plots.contribution_plot(
            [" and ".join(c.keys) for c in single], [c.uniques_removed / uniques for c in single]
        ),
    }


def _codes(assessment: Assessment) -> list[str]:
    """The codes that were given, each with what it means and where."""
    return [
        f"{code!r} for {kind} in {'every column' if column == EVERY_COLUMN else column}"
        for kind, column, code in assessment.settings.codes.given()
    ]


def _estimates(assessment: Assessment) -> str:
    """The recommended estimate of population uniques above those of all models, drawn."""
    named = {"recommended": assessment.recommended.expected_population_uniques} | {
        name: result.expected_population_uniques
        for name, result in assessment.models.items()
        if isinstance(result, ModelResult)
    }
    rows = [
        (name, figure.value, figure.low, figure.high)
        for name, figure in named.items()
        if isinstance(figure, Figure)
        and figure.value is not None
        and figure.low is not None
        and figure.high is not None
    ]
    if len(rows) < 2 or rows[0][0] != "recommended":
        return ""
    return plots.estimates_plot(rows, max(high for *_, high in rows))


def _hows(result: ModelResult) -> list[str]:
    outcomes = (result.expected_population_uniques, result.expected_correct_matches)
    found = [o.how.value for o in outcomes if isinstance(o, Figure)]
    return list(dict.fromkeys(found))


def render(template: str, **values: Any) -> str:
    """A template of this package filled in; every value is escaped unless marked safe there."""
    environment = Environment(
        loader=PackageLoader("discreet.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(meaning=MEANING, **values)
