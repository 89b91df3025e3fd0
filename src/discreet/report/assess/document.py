"""Who stands out in a file and who could be found, as a document for readers inside the agency."""

from collections.abc import Iterator, Sequence

from discreet.data.missing import EVERY_COLUMN
from discreet.figures import Figure, Unavailable
from discreet.report import words
from discreet.report.assess import words as texts
from discreet.report.assess.classes import filled_classes, first_result
from discreet.report.assess.meaning import MEANING
from discreet.report.assess.requested import requested_sections
from discreet.report.document import Block, Document, Facts, Plot, Row, Section, Table, Text, Tiles
from discreet.survey.assessment import Assessment
from discreet.survey.contributions import Contribution
from discreet.survey.scoring import ModelResult

BAR = 20  # characters of the longest bar
SHOWN_KEYS, SHOWN_PAIRS, SHOWN_CELLS = 10, 3, 3  # on the terminal
MOST_KEYS, MOST_PAIRS = 30, 5  # on the page
MOST_CAUTIONS = 2  # told in full on the terminal; more are only marked
MARK = " !"
MARKED = (
    "The data contradict the models marked !, or leave room for doubt; --report and --json say "
    "how, and so does --models with one name."
)


def assess_document(assessment: Assessment, first: Sequence[Section] = ()) -> Document:
    """Everything, risky combinations included: as confidential as the data.

    Sections to show `first` come before what was estimated.
    """
    return Document(
        title=f"Disclosure risk of {assessment.settings.source}",
        scope=tuple(texts.scope(assessment)),
        mark="confidential",
        blocks=(
            *(Text(words.full(warning), "warning") for warning in assessment.warnings),
            Tiles(tuple(_tiles(assessment)), bad=True),
            *first,
            Section("How many could be found", tuple(_headline(assessment))),
            _standing_out(assessment),
            _contributions(assessment),
            Section("What each model says", tuple(_models(assessment))),
            _risk(assessment),
            _sizes(assessment),
            *requested_sections(assessment),
            _riskiest(assessment),
            Section("The keys", (_keys(assessment),)),
            Section("How this was made", (Facts(tuple(_made(assessment))),)),
        ),
    )


def _tiles(assessment: Assessment) -> Iterator[tuple[str, str]]:
    total, n = assessment.summary.sample_size, assessment.sample_uniques
    share = words.share(n, total)
    records = words.by_number(n, "record", "records")
    yield words.count(n), f"{records} {texts.alone(assessment)}, {share} of the file"
    for row in assessment.anonymity:
        if row.k != 2 or texts.overlaps(assessment):
            share, breaks = words.share(row.records, total), "record breaks"
            breaks = words.by_number(row.records, breaks, "records break")
            yield words.count(row.records), f"{breaks} {row.k}-anonymity, {share}"
    number, _, cells = texts.cells_line(assessment).partition(" ")
    yield number, cells


def _standing_out(assessment: Assessment) -> Section:
    total, curve = assessment.summary.sample_size, assessment.anonymity_curve

    def draw() -> str:
        from discreet.report.plots import anonymity_plot

        return anonymity_plot([a.k for a in curve], [a.record_share for a in curve])

    rows = tuple(
        (name, words.count(records), words.share(records, total), words.count(cells))
        for name, records, cells in texts.anonymity_rows(assessment)
    )
    return Section(
        "Who stands out in the file",
        (
            Table(header=("", "records", "share", "cells"), rows=rows),
            Text(texts.anonymity_meaning(assessment), "soft"),
            Plot("anonymity", "Share of records that break k-anonymity for k from 2 to 100", draw),
        ),
        half=True,
    )


def _contributions(assessment: Assessment) -> Section:
    """Keys by the uniques that vanish without them: bars on the terminal, a plot on the page."""
    single, pairs = assessment.contributions.single, assessment.contributions.pairs
    total = assessment.sample_uniques
    listed = () if isinstance(pairs, Unavailable) else pairs
    shown = (*single[:SHOWN_KEYS], *listed[:SHOWN_PAIRS])
    blocks: list[Block] = [
        Table(
            header=("without", "uniques vanish", "share", ""),
            rows=tuple((*_contribution(c, total), _bar(c, total)) for c in shown),
            sides="lrrl",
            only="terminal",
        ),
        Text(MEANING["contributions"], "soft"),
        _contribution_plot(single[:MOST_KEYS], total),
    ]
    if isinstance(pairs, Unavailable):
        blocks.append(Text(f"Pairs of keys: {pairs.reason}.", "soft"))
    elif pairs:
        rows = tuple(_contribution(c, total) for c in pairs[:MOST_PAIRS])
        header = ("without both", "uniques vanish", "share")
        blocks.append(Table(header=header, rows=rows, only="page"))
    return Section("Which keys make records unique", tuple(blocks), half=True)


def _contribution(contribution: Contribution, total: int) -> Row:
    removed = contribution.uniques_removed
    return (" and ".join(contribution.keys), words.count(removed), words.share(removed, total))


def _bar(contribution: Contribution, total: int) -> str:
    return "█" * round(BAR * contribution.uniques_removed / max(total, 1))


def _contribution_plot(single: Sequence[Contribution], total: int) -> Plot:
    def draw() -> str:
        from discreet.report.plots import contribution_plot

        names = [" and ".join(c.keys) for c in single]
        return contribution_plot(names, [c.uniques_removed / max(total, 1) for c in single])

    label = "Share of unique records that vanish when each key is dropped"
    return Plot("contributions", label, draw)


def _headline(assessment: Assessment) -> Iterator[Block]:
    """The recommended estimate, why it leads, and how far the models disagree."""
    led = assessment.recommended
    named = (
        ("population uniques among the records", led.expected_population_uniques),
        ("records that an intruder matches correctly", led.expected_correct_matches),
    )
    yield Table(
        header=(texts.headline_title(led), ""),
        rows=tuple((what, words.outcome(figure)) for what, figure in named),
        only="terminal",
    )
    yield Tiles(
        tuple(
            ("–", f"{what}: {figure.reason}")
            if isinstance(figure, Unavailable)
            else (words.outcome(figure), what)
            for what, figure in named
        ),
        bad=True,
    )
    if texts.headline_note(led):
        yield Text(words.full(texts.headline_note(led)), "warning")
    yield Text(" ".join(texts.headline_words(led)), "soft")
    yield from _estimates(assessment)


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


def _models(assessment: Assessment) -> Iterator[Block]:
    results = [r for r in assessment.models.values() if isinstance(r, ModelResult)]
    yield Text(MEANING["sample_uniques"], only="page")
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


def _risk(assessment: Assessment) -> Section:
    result, title = first_result(assessment), "Risk of the records"
    if result is None or result.distribution is None:
        said = Text("Not available: no model gave a risk for each record.")
        return Section(title, (said,), half=True, only="page")
    classes = filled_classes(result.distribution)

    def draw() -> str:
        from discreet.report.plots import risk_plot

        return risk_plot([label for label, _ in classes], [n for _, n in classes])

    return Section(
        title,
        (
            Text(MEANING["distribution"], "soft"),
            Plot("risk", "Bar chart of the number of records in each class of risk", draw),
            Text(f"Under the model {result.name}.", "soft"),
        ),
        half=True,
        only="page",
    )


def _sizes(assessment: Assessment) -> Section:
    indices = assessment.size_indices

    def draw() -> str:
        from discreet.report.plots import size_index_plot

        return size_index_plot(indices.sizes.tolist(), indices.cells.tolist())

    label = "Number of combinations against the records in each, on logarithmic axes"
    blocks = (Text(MEANING["size_indices"], "soft"), Plot("sizes", label, draw))
    return Section("Sizes of the combinations", blocks, half=True, only="page")


def _riskiest(assessment: Assessment) -> Section:
    keys = assessment.settings.keys
    rows = tuple(
        (
            texts.combination(cell.sample_count, cell.records),
            ", ".join(f"{k}={v}" for k, v in zip(keys, cell.levels, strict=True)),
        )
        for cell in assessment.riskiest
    )
    header = ("", "combination")
    return Section(
        "Riskiest combinations (confidential)",
        (
            Table(header=header, rows=rows, sides="ll", most=SHOWN_CELLS, only="terminal"),
            Text(MEANING["riskiest"], "soft", "page"),
            _riskiest_cells(assessment),
        ),
    )


def _riskiest_cells(assessment: Assessment) -> Table:
    """A column a key, with the counts that there are."""
    counted, weighted = texts.overlaps(assessment), assessment.settings.weight is not None
    names = [("records", True), ("count", counted), ("weights", weighted), ("expected", True)]
    shown = [name for name, is_shown in names if is_shown]
    rows = []
    for cell in assessment.riskiest:
        numbers = {
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
        sides="r" * len(shown) + "l" * len(keys),
        only="page",
    )


def _keys(assessment: Assessment) -> Table:
    removed = {c.keys[0]: c.uniques_removed for c in assessment.contributions.single}
    rows = tuple(
        (
            key.name,
            words.count(len(key.labels)),
            words.count(key.n_missing),
            words.count(removed[key.name]),
        )
        for key in assessment.keys
    )
    header = ("key", "levels", "missing", "uniques that vanish without it")
    return Table(header=header, rows=rows, only="page")


def _made(assessment: Assessment) -> Iterator[tuple[str, str]]:
    settings = assessment.settings
    yield "weight", settings.weight or "none"
    yield "population", texts.population_line(assessment)
    yield "missing values", _missing(assessment)
    codes = (
        f"{code!r} for {kind} in {'every column' if column == EVERY_COLUMN else column}"
        for kind, column, code in settings.codes.given()
    )
    yield "codes", "; ".join(codes) or "none given"
    yield "impossible combinations", str(settings.structural_zeros or "none given")
    yield "randomness", "none: every figure here is repeatable without a seed"
    versions = (f"{name} {number}" for name, number in settings.versions.items())
    yield "versions", ", ".join(versions)


def _missing(assessment: Assessment) -> str:
    policy, lack, left = assessment.settings.missing, assessment.n_incomplete, assessment.n_dropped
    said = (
        f"{policy.name}: {policy.meaning}; {words.plural(lack, 'record')} "
        f"{words.by_number(lack, 'lacks', 'lack')} a key value, {words.count(left)} "
        f"{words.by_number(left, 'was', 'were')} left out"
    )
    if policy.matching != "wildcard":
        return said
    weight = assessment.settings.missing_weight
    return f"{said}; a match that needs a missing value counts {weight:g}"
