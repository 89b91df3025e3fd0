"""What each model says, for those who ask: closed on the page, in the full view on the terminal."""

from collections.abc import Iterator

from discreet.figures import Figure
from discreet.report import words
from discreet.report.assess import words as texts
from discreet.report.assess.meaning import MEANING
from discreet.report.document import Block, Plot, Section, Table, Text
from discreet.survey.assessment import Assessment
from discreet.survey.scoring import ModelResult

MOST_CAUTIONS = 2  # told in full on the terminal; more are only marked
MARK = " !"
MARKED = (
    "The data contradict the models marked !, or leave room for doubt; --report and --json say "
    "how, and so does --models with one name."
)


def models_sections(assessment: Assessment) -> Iterator[Section]:
    """The models that were run; open where the user named them, no section where none was."""
    if not assessment.models:
        return
    named = assessment.settings.options.models is not None
    yield Section("What each model says", tuple(_models(assessment)), collapsed=not named)


def _models(assessment: Assessment) -> Iterator[Block]:
    results = [r for r in assessment.models.values() if isinstance(r, ModelResult)]
    yield Text(MEANING["sample_uniques"], only="page")
    yield from _estimates(assessment)
    yield Table(
        header=("model", "population uniques", "correct matches", "how", "it assumes"),
        rows=tuple(
            (r.name + (MARK if r.caution else ""), *texts.two_figures(r), _how(r), r.assumption)
            for r in results
        ),
        sides="lrrll",
        page_columns=2,
    )
    yield Text(MEANING["models"], "soft", "terminal")
    yield from (Text(line) for line in texts.model_gaps(assessment))
    cautions = [r for r in results if r.caution]
    many = len(cautions) > MOST_CAUTIONS
    for r in cautions:
        said = f"{r.name}: {words.sentence(r.caution or '')}"
        yield Text(said, "warning", "page" if many else None)
    if many:
        yield Text(MARKED, "warning", "terminal")
    yield Text(_meant(), "soft", "page")


def _estimates(assessment: Assessment) -> Iterator[Plot]:
    """The recommended estimate of population uniques above those of all models."""
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
        return

    def draw() -> str:
        from discreet.report.plots import estimates_plot

        return estimates_plot(rows, max(high for *_, high in rows))

    label = "Estimates of population uniques with their limits, the recommended one first"
    yield Plot("estimates", label, draw)


def _meant() -> str:
    """What figures and words of the table mean."""
    return (
        f"Population uniques: {MEANING['expected_population_uniques']} "
        f"Correct matches: {MEANING['expected_correct_matches']} Exact: {MEANING['exact']}. "
        f"Certified bound: {MEANING['certified bound']}. Estimate: {MEANING['estimate']}."
    )


def _how(result: ModelResult) -> str:
    outcomes = (result.expected_population_uniques, result.expected_correct_matches)
    return "; ".join(dict.fromkeys(o.how.value for o in outcomes if isinstance(o, Figure)))
