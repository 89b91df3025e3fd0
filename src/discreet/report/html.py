"""The report as one HTML file that opens anywhere, offline: an internal and an external version."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from discreet.data.writing import written_whole
from discreet.figures import Figure
from discreet.report import plots, words
from discreet.report.external import first_distribution, public_figures, risk_classes
from discreet.report.meaning import MEANING
from discreet.report.text import population_line, scope
from discreet.risk.assessment import Assessment, ModelResult

MOST_KEYS_SHOWN = 30


def write_report(assessment: Assessment, path: str | Path, *, external: bool = False) -> None:
    """Write the report, whole or not at all; `external` for readers outside the agency."""
    text = external_html(assessment) if external else internal_html(assessment)
    with written_whole(Path(path)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def internal_html(assessment: Assessment) -> str:
    """Everything, risky combinations included: as confidential as the data."""
    removed = {c.keys[0]: c.uniques_removed for c in assessment.contributions.single}
    return _render(
        "internal.html",
        a=assessment,
        w=words,
        scope=list(scope(assessment)),
        population=population_line(assessment),
        hows=_hows,
        removed=removed,
        plots=_internal_plots(assessment),
    )


def external_html(assessment: Assessment) -> str:
    """Rounded shares of the whole; nothing that a reader could act on."""
    figures = public_figures(assessment)
    shown = MOST_KEYS_SHOWN
    drawn = {
        "anonymity": plots.anonymity_plot(figures.anonymity_ks, figures.anonymity_shares),
        "risk": plots.risk_plot(
            figures.risk_labels, [100 * s for s in figures.risk_shares], "records, %"
        ),
        "contributions": plots.contribution_plot(
            figures.contribution_keys[:shown], figures.contribution_shares[:shown]
        ),
    }
    return _render("external.html", p=figures, plots=drawn)


def _internal_plots(assessment: Assessment) -> dict[str, str]:
    curve = assessment.anonymity_curve
    single = assessment.contributions.single[:MOST_KEYS_SHOWN]
    uniques = max(assessment.sample_uniques, 1)
    classes = risk_classes(first_distribution(assessment))
    indices = assessment.size_indices
    return {
        "risk": plots.risk_plot([label for label, _ in classes], [n for _, n in classes]),
        "risk_model": _risk_model(assessment),
        "sizes": plots.size_index_plot(indices.sizes.tolist(), indices.cells.tolist()),
        "anonymity": plots.anonymity_plot([a.k for a in curve], [a.record_share for a in curve]),
        "contributions": plots.contribution_plot(
            [" and ".join(c.keys) for c in single], [c.uniques_removed / uniques for c in single]
        ),
    }


def _risk_model(assessment: Assessment) -> str:
    named = (r for r in assessment.models.values() if isinstance(r, ModelResult) and r.distribution)
    return next((r.name for r in named), "none")


def _hows(result: ModelResult) -> list[str]:
    outcomes = (result.expected_population_uniques, result.expected_correct_matches)
    found = [o.how.value for o in outcomes if isinstance(o, Figure)]
    return list(dict.fromkeys(found))


def _render(template: str, **values: Any) -> str:
    environment = Environment(
        loader=PackageLoader("discreet.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(meaning=MEANING, **values)
