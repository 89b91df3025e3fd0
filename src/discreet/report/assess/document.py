"""Who stands out in a file and who could be found, as a document for readers inside the agency."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from discreet.data.missing import EVERY_COLUMN
from discreet.figures import Unavailable
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.assess import words as texts
from discreet.report.assess.changes import changes_section, tried_section
from discreet.report.assess.leading import headline_section, risk_section, riskiest_section
from discreet.report.assess.meaning import MEANING
from discreet.report.assess.models import models_sections
from discreet.report.assess.requested import requested_sections
from discreet.report.document import Block, Document, Facts, Plot, Row, Section, Table, Text, Tiles
from discreet.report.verdict import next_section, verdict_section
from discreet.survey.assessment import Assessment
from discreet.survey.contributions import Contribution

BAR = 20  # characters of the longest bar
SHOWN_KEYS, SHOWN_PAIRS = 10, 3  # on the terminal
MOST_KEYS, MOST_PAIRS = 30, 5  # on the page


def assess_document(assessment: Assessment, first: Sequence[Section] = ()) -> Document:
    """Everything, risky combinations included: as confidential as the data.

    The answer first: the verdict, how many could be found, what to do now. Sections to show `first`
    come after these.
    """
    verdict = assessment.verdict
    return Document(
        title=f"Disclosure risk of {assessment.settings.source}",
        scope=(texts.scope_line(assessment),),
        mark="confidential",
        blocks=(
            *(() if verdict is None else (verdict_section(verdict),)),
            Section("Reported, and not judged", tuple(_reported(assessment))),
            headline_section(assessment),
            *first,
            tried_section(assessment),
            _next(assessment),
            *(Text(words.full(warning), "warning") for warning in assessment.warnings),
            Tiles(tuple(_tiles(assessment)), bad=True),
            Section("The file", tuple(Text(t) for t in texts.scope(assessment)), only="detail"),
            _standing_out(assessment),
            _contributions(assessment),
            risk_section(assessment),
            _sizes(assessment),
            riskiest_section(assessment),
            changes_section(assessment),
            *requested_sections(assessment),
            *models_sections(assessment),
            Section("The keys", (_keys(assessment),)),
            Section("How this was made", (Facts(tuple(_made(assessment))),)),
        ),
    )


def _reported(assessment: Assessment) -> Iterator[Text]:
    yield from (Text(words.full(line)) for line in texts.reported_steps(assessment))


def _next(assessment: Assessment) -> Section:
    """What to do now; on the terminal what helps most, all of it in the full view.

    What would settle an open rule comes first where none is broken.
    """
    changes = next_section(texts.next_steps(assessment)).blocks
    mending = next_section(texts.mending_steps(assessment)).blocks
    settling = next_section(texts.open_steps(assessment)).blocks
    verdict = assessment.verdict
    is_open = verdict is not None and verdict.ruling is Ruling.UNDECIDED and bool(settling)
    first = settling if is_open else changes[:1]
    others = changes if is_open else changes[1:]
    more = (replace(block, only="detail") for block in others if isinstance(block, Text))
    carried_out = next_section(texts.carrying_out(assessment)).blocks
    blocks = (*mending, *first, *more, *carried_out, *(() if is_open else settling))
    return replace(next_section(()), blocks=blocks)


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
        only="detail",
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
    return Section("Which keys make records unique", tuple(blocks), half=True, only="detail")


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


def _sizes(assessment: Assessment) -> Section:
    indices = assessment.size_indices

    def draw() -> str:
        from discreet.report.plots import size_index_plot

        return size_index_plot(indices.sizes.tolist(), indices.cells.tolist())

    label = "Number of combinations against the records in each, on logarithmic axes"
    blocks = (Text(MEANING["size_indices"], "soft"), Plot("sizes", label, draw))
    return Section("Sizes of the combinations", blocks, half=True, only="page")


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
    yield "nested keys", texts.nesting_line(assessment) or "none"
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
