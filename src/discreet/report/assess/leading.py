"""What leads: how many could be found, which records, and how their risk is spread."""

from collections.abc import Iterator

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.assess import words as texts
from discreet.report.assess.classes import filled_classes, first_result, n_classes_above
from discreet.report.assess.meaning import MEANING
from discreet.report.document import Block, Plot, Row, Section, Table, Text, Tiles
from discreet.survey.assessment import Assessment
from discreet.survey.leading import RiskOverview

SHOWN_CELLS = 3  # on the terminal
FIGURES = (
    ("population uniques among the records", "expected_population_uniques"),
    ("records that an intruder matches correctly", "expected_correct_matches"),
)


def headline_section(assessment: Assessment) -> Section:
    """How many could be found, and which records first."""
    title = f"How many could be found ({texts.headline_title(assessment.recommended)})"
    return Section(title, tuple(_headline(assessment)))


def _headline(assessment: Assessment) -> Iterator[Block]:
    """The recommended estimate, what speaks against it, and what to make of other models."""
    led = assessment.recommended
    named = [(what, getattr(led, name)) for what, name in FIGURES]
    yield Table(header=("", ""), rows=tuple(_rows(assessment)), only="terminal")
    yield Tiles(
        tuple(
            (words.outcome(figure), what)
            for what, figure in named
            if not isinstance(figure, Unavailable)
        )
        + tuple((n, what) for what, n in _high(assessment)),
        bad=True,
    )
    yield from (Text(line, "strong") for line in texts.population_question(assessment))
    yield from (Text(line) for line in texts.riskiest_rows(assessment))
    if texts.headline_note(led):
        yield Text(words.full(texts.headline_note(led)), "warning")
    yield Text(" ".join(texts.headline_words(assessment)), "soft", "detail")
    if led.disagreement:
        yield Text(words.full(led.disagreement), "soft")


def _rows(assessment: Assessment) -> Iterator[Row]:
    """The figures of the estimate that there are, the records at high risk, those who are alone."""
    for what, name in FIGURES:
        figure = getattr(assessment.recommended, name)
        if not isinstance(figure, Unavailable):
            yield what, words.outcome(figure)
    yield from _high(assessment)
    total, n = assessment.summary.sample_size, assessment.sample_uniques
    yield f"records {texts.alone(assessment)}", f"{words.count(n)} ({words.share(n, total)})"


def _high(assessment: Assessment) -> Iterator[tuple[str, str]]:
    """The records at high risk, where the risk is known."""
    risk = assessment.risk
    if isinstance(risk, RiskOverview):
        yield f"records at high risk (above {risk.limits.high:g})", words.count(risk.high)


def risk_section(assessment: Assessment) -> Section:
    """How the risk is spread over the records."""
    result = first_result(assessment)
    classes = filled_classes(result.distribution)

    def draw() -> str:
        from discreet.report.plots import risk_plot

        labels, records = [label for label, _ in classes], [n for _, n in classes]
        return risk_plot(labels, records, n_high=n_classes_above(assessment))

    return Section(
        "Risk of the records",
        (
            Text(MEANING["distribution"], "soft"),
            Plot("risk", "Bar chart of the number of records in each class of risk", draw),
            Text(result.said, "soft"),
        ),
        half=True,
        only="page",
    )


def riskiest_section(assessment: Assessment) -> Section:
    """The riskiest combinations, with the rows of their records."""
    keys = assessment.settings.keys
    told = any(cell.risk is not None for cell in assessment.riskiest)
    rows = tuple(
        (
            texts.rows_of(cell),
            *((_chance(cell.risk),) if told else ()),
            texts.combination(cell.sample_count, cell.records),
            ", ".join(f"{k}={v}" for k, v in zip(keys, cell.levels, strict=True)),
        )
        for cell in assessment.riskiest
    )
    header = ("row", *(("risk",) if told else ()), "", "combination")
    sides = "lrll" if told else "lll"
    return Section(
        "Riskiest combinations (confidential)",
        (
            Table(header=header, rows=rows, sides=sides, most=SHOWN_CELLS, only="terminal"),
            Text(MEANING["riskiest"], "soft", "page"),
            _riskiest_cells(assessment),
        ),
        only="detail",
    )


def _riskiest_cells(assessment: Assessment) -> Table:
    """A column a key, with the rows, risks and counts that there are."""
    counted, weighted = texts.overlaps(assessment), assessment.settings.weight is not None
    told = any(cell.risk is not None for cell in assessment.riskiest)
    names = [("row", True), ("risk", told), ("population unique", told), ("records", True),
             ("count", counted), ("weights", weighted), ("expected", True)]  # fmt: skip
    shown = [name for name, is_shown in names if is_shown]
    rows = []
    for cell in assessment.riskiest:
        numbers = {
            "row": texts.rows_of(cell),
            "risk": _chance(cell.risk),
            "population unique": _chance(cell.population_unique),
            "records": words.count(cell.records),
            "count": words.count(cell.sample_count),
            "weights": "" if cell.weight_total is None else words.expected(cell.weight_total),
            "expected": words.expected(cell.expected_count),
        }
        rows.append((*(numbers[name] for name in shown), *cell.levels))
    keys = assessment.settings.keys
    return Table(
        header=(*shown, *keys),
        rows=tuple(rows),
        sides="l" + "r" * (len(shown) - 1) + "l" * len(keys),
        only="page",
    )


def _chance(value: float | None) -> str:
    return "–" if value is None else words.probability(value)
