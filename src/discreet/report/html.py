"""The report as one HTML file that opens anywhere, offline: an internal and an external version."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from discreet.data.writing import written_whole
from discreet.figures import Figure
from discreet.report import plots, words
from discreet.report.classes import filled_classes, first_result
from discreet.report.external import public_figures
from discreet.report.extras import extra_sections
from discreet.report.meaning import MEANING
from discreet.report.text import population_line, scope
from discreet.risk.assessment import Assessment
from discreet.risk.distribution import RiskDistribution
from discreet.risk.scoring import ModelResult

MOST_KEYS_SHOWN = 30


def write_report(assessment: Assessment, path: str | Path, *, external: bool = False) -> None:
    """Write the report, whole or not at all; `external` for readers outside the agency."""
    text = external_html(assessment) if external else internal_html(assessment)
    with written_whole(Path(path)) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))


def internal_html(assessment: Assessment) -> str:
    """Everything, risky combinations included: as confidential as the data."""
    removed = {c.keys[0]: c.uniques_removed for c in assessment.contributions.single}
    return render(
        "internal.html",
        a=assessment,
        w=words,
        scope=list(scope(assessment)),
        population=population_line(assessment),
        hows=_hows,
        removed=removed,
        sections=list(extra_sections(assessment)),
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
    spread = result.distribution if result and result.distribution else RiskDistribution.empty()
    classes = filled_classes(spread)
    indices = assessment.size_indices
    return {
        "risk": plots.risk_plot([label for label, _ in classes], [n for _, n in classes]),
        "risk_model": result.name if result else "none",
        "sizes": plots.size_index_plot(indices.sizes.tolist(), indices.cells.tolist()),
        "anonymity": plots.anonymity_plot([a.k for a in curve], [a.record_share for a in curve]),
        "contributions": plots.contribution_plot(
            [" and ".join(c.keys) for c in single], [c.uniques_removed / uniques for c in single]
        ),
    }


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
