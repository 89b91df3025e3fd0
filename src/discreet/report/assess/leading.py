"""What leads: how many could be found, which records, and how their risk is spread."""

from collections.abc import Iterator

from discreet.figures import Outcome, Unavailable
from discreet.report import words
from discreet.report.assess import words as texts
from discreet.report.assess.classes import filled_classes, first_result, n_classes_above
from discreet.report.assess.meaning import MEANING
from discreet.report.document import Block, Plot, Row, Section, Table, Text, Tiles
from discreet.survey.assessment import Assessment
from discreet.survey.leading import RiskOverview

SHOWN_CELLS = 3  # on the terminal
MATCHED = "records that an intruder matches correctly"


def headline_section(assessment: Assessment) -> Section:
    """How many could be found, and which records first."""
    title = f"How many could be found ({texts.headline_title(assessment.recommended)})"
    return Section(title, tuple(_headline(assessment)))


def _headline(assessment: Assessment) -> Iterator[Block]:
    """The recommended estimate, what speaks against it, and what to make of other models."""
    led = assessment.recommended
    named = list(_figures(assessment))
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


def _figures(assessment: Assessment) -> Iterator[tuple[str, Outcome]]:
    """What leads, by its name. Where the file is everybody, those alone in it are told below."""
    led = assessment.recommended
    if texts.has_register(assessment):
        yield "records alone in the population", led.expected_population_uniques
    elif not texts.is_everybody(assessment):
        yield "population uniques among the records", led.expected_population_uniques
    yield MATCHED, led.expected_correct_matches


def _rows(assessment: Assessment) -> Iterator[Row]:
    """The figures of the estimate that there are, the records at high risk, those who are alone."""
    for what, figure in _figures(assessment):
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
    keys, carried = assessment.settings.keys, assessment.settings.options.carry
    told = any(cell.risk is not None for cell in assessment.riskiest)
    rows = tuple(
        (
            texts.rows_of(cell),
            *texts.carried_by(cell, len(carried)),
            *((_chance(cell.risk),) if told else ()),
            texts.combination(cell.sample_count, cell.records),
            ", ".join(f"{k}={v}" for k, v in zip(keys, cell.levels, strict=True)),
        )
        for cell in assessment.riskiest
    )
    header = ("row", *carried, *(("risk",) if told else ()), "", "combination")
    sides = "l" * (1 + len(carried)) + ("rll" if told else "ll")
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
    estimated = told and not (texts.is_everybody(assessment) or texts.has_register(assessment))
    names = [("row", True), ("risk", told), ("population unique", estimated), ("records", True),
             ("count", counted), ("weights", weighted), ("expected", True)]  # fmt: skip
    shown = [name for name, is_shown in names if is_shown]
    carried = assessment.settings.options.carry
    rows: list[Row] = []
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
        first, *rest = (numbers[name] for name in shown)
        rows.append((first, *texts.carried_by(cell, len(carried)), *rest, *cell.levels))
    keys = assessment.settings.keys
    return Table(
        header=(shown[0], *carried, *shown[1:], *keys),
        rows=tuple(rows),
        sides="l" * (1 + len(carried)) + "r" * (len(shown) - 1) + "l" * len(keys),
        only="page",
    )


def _chance(value: float | None) -> str:
    return "–" if value is None else words.probability(value)
