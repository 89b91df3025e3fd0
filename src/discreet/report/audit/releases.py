"""What releases one after the other reveal: the last change, and all steps."""

from collections.abc import Iterator, Sequence

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.audit import words as texts
from discreet.report.document import Block, Plot, Row, Section, Table, Text
from discreet.report.verdict import TITLES
from discreet.tables.audit import Audit, CellAudit, main_view

MOST_ROWS, MOST_LINES = 200, 10
LONGEST = 12  # characters of a number of tables
STEP_MEASURES = ("bounds", "true_table", "small_cells_identified")
STEP_HEADER = (
    "after the release of",
    "consistent\ntables",
    "width of\nbounds",
    "probability\nof the table",
    "small cells\nidentified",
)
CHANGE_HEADER = (
    "cell",
    "true count",
    "bounds before",
    "bounds after",
    "probability of the truth before",
    "and after",
)


def changes_section(audits: Sequence[Audit]) -> Iterator[Section]:
    """What the last release changed: margins added, measures and small cells before and after."""
    before, after = audits[-2:]
    added = [axes for axes in after.release.asked if axes not in before.release.asked]
    names = " ".join(texts.margin_name(after.release, axes) for axes in added) or "nothing new"
    cells = tuple(_cell_changes(before, after))
    blocks: list[Block] = [
        Text(f"Added: {names}."),
        Table(header=("measure", "before", "after"), rows=tuple(_measure_changes(before, after))),
    ]
    if cells:
        said = "Small cells: their bounds, and the probability of their true count."
        blocks += [Text(said, "soft"), Table(header=CHANGE_HEADER, rows=cells)]
    yield Section("What changed since the last release", tuple(blocks), only="page")


def _measure_changes(before: Audit, after: Audit) -> Iterator[Row]:
    steps = (before, after)
    found = [texts.figures(step, main_view(step)) for step in steps]
    numbers = ("–" if s.n_tables.value is None else words.tables(s.n_tables) for s in steps)
    yield ("consistent tables", *numbers)
    for key in found[1]:
        pairs = zip(steps, found, strict=True)
        shown = (
            texts.measure_words(key, own[key], texts.n_cells_of(key, step)) for step, own in pairs
        )
        yield (texts.TITLES[key], *shown)


def _cell_changes(before: Audit, after: Audit) -> Iterator[Row]:
    views = before.views[main_view(before)], after.views[main_view(after)]
    places = {cell.levels: i for i, cell in enumerate(before.small_cells)}
    for i in texts.most_exposed(after, main_view(after), MOST_ROWS):
        cell = after.small_cells[i]
        at = places.get(cell.levels)
        if at is None:
            continue
        old = before.small_cells[at]
        yield (
            texts.cell_name(after, cell),
            str(cell.truth),
            f"{old.lower} to {old.upper}",
            f"{cell.lower} to {cell.upper}",
            texts.guess(views[0], at, cell.truth)[2],
            texts.guess(views[1], i, cell.truth)[2],
        )


def added_section(audits: Sequence[Audit]) -> Iterator[Section]:
    """One row a release: what was added and what is known after it; then, where a limit was given,
    whether all until then may go out."""
    yield Section(
        "What each release added",
        (
            Table(header=STEP_HEADER, rows=tuple(_step_row(step) for step in audits)),
            *(Text(line) for step in audits for line in _may_go_out(step)),
            *(Text(line) for line in texts.step_gaps(audits, texts.TITLES)),
            *_steps_plot(audits),
        ),
    )


def _may_go_out(step: Audit) -> Iterator[str]:
    """The verdict on a step, with the first reason against it."""
    if step.verdict is not None:
        said = TITLES[step.verdict.ruling].lower()
        first = words.full(step.verdict.those(step.verdict.ruling)[0].words)
        against = "" if step.verdict.allows else f" {first}"
        yield f"{texts.margin_names(step.release)}: {said}.{against}"


def _step_row(audit: Audit) -> Row:
    found = texts.figures(audit, main_view(audit))
    value = audit.n_tables.value
    number = "–" if value is None else words.count(value)
    if value is not None and len(number) > LONGEST:
        number = f"10^{len(str(value)) - 1}"
    measures = (texts.brief_words(key, found[key]) for key in STEP_MEASURES)
    return (texts.margin_names(audit.release), number, *measures)


def _steps_plot(audits: Sequence[Audit]) -> Iterator[Plot]:
    last = audits[-1]
    if len(audits) < 3 or not last.small_cells:
        return

    def draw() -> str:
        from discreet.report.plots import sequence_plot

        cells = (last.small_cells[i] for i in texts.most_exposed(last, main_view(last), MOST_LINES))
        lines = {
            texts.cell_name(last, c): [_true_probability(step, c) for step in audits] for c in cells
        }
        return sequence_plot([str(i + 1) for i in range(len(audits))], lines)

    label = "Probability of the true count of small cells after each release"
    yield Plot("releases", label, draw)


def _true_probability(audit: Audit, cell: CellAudit) -> float | None:
    view = audit.views[main_view(audit)]
    place = next((i for i, c in enumerate(audit.small_cells) if c.levels == cell.levels), None)
    if place is None or isinstance(view, Unavailable):
        return None
    return view.distributions[place].get(cell.truth, 0.0)
