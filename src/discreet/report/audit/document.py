"""What released margins reveal of a table, as a document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from discreet.figures import Outcome, Unavailable
from discreet.numerics.rounding import order_of
from discreet.policy.verdict import ends
from discreet.report import words
from discreet.report.audit import answer
from discreet.report.audit import words as texts
from discreet.report.audit.releases import added_section, changes_section
from discreet.report.document import (
    Block,
    Box,
    Document,
    Facts,
    Grid,
    Place,
    Plot,
    Row,
    Section,
    Table,
    Text,
    Tiles,
)
from discreet.report.verdict import next_section, verdict_section
from discreet.tables.audit import Audit, CellAudit, main_view
from discreet.tables.posteriors import AVERAGE, View
from discreet.tables.refused_margin import RefusalView
from discreet.tables.table_findings import RULES, table_name

SHOWN, SHOWN_MODELS = 20, 10  # on the terminal
MOST_ROWS, MOST_BARS = 200, 24  # on the page
MOST_GRID = 1024  # cells of a table that is shown whole
SHADES = ("known", "2 values", "3 to 5", "6 to 10", "more")  # widths 0, 1, 2–4, 5–9, more
IMPOSSIBLE = Box("–", "", len(SHADES), False)  # grey: nothing was worked out there
TILES = ("bounds", "one_over_tables", "true_table", "small_cells_identified")
SMALL_HEADER = (
    "cell",
    "true\ncount",
    "bounds",
    "best\nguess",
    "prob. of\nguess",
    "prob. of\ntruth",
    "how the bounds are known",
)
MODEL_HEADER = (
    "model",
    "probability\nof the model",
    "true table's\nprobability",
    "small cells\nidentified",
)
POPULATION_HEADER = (
    "cell",
    "count in\nthe table",
    "prob. of 1 in\nthe population",
    "expected in\nthe population",
)
REFUSAL_HEADER = (
    "cell",
    "true\ncount",
    "probability of the\ntruth before",
    "and after\nthe refusal",
)
LEARNED = (
    "All members of such a group share a level: whoever knows that a person belongs to it learns "
    "the level, however large the group is."
)
TREE = {
    True: "decomposable: the margins fit together as a tree, which gives exact formulas",
    False: "not decomposable: the margins do not fit together as a tree; few exact formulas hold",
}


def audit_document(
    source: str, audits: Sequence[Audit], *, sequence: bool = False, command: str = ""
) -> Document:
    """The answer first, then the last audit in full; where a `sequence` was asked for, what each
    release added and what the last one changed. `command` is the choice by the same rules, as it
    is typed."""
    audit = audits[-1]
    rest = (
        Tiles(_tiles(audit)),
        _small_cells(audit),
        *_beliefs(audit),
        Section("How bad that is", tuple(_measures(audit))),
        *_crosses(audit),
        *(changes_section(audits) if len(audits) > 1 else ()),
        *_grid(audit),
        *_models(audit),
        *_population(audit),
        *_learned(audit),
        Section("How this was made", (_made(audit),)),
    )
    return Document(
        title=f"What the released margins of {source} reveal",
        scope=tuple(texts.scope(audit)),
        mark="confidential",
        blocks=(
            *_answer(audit),
            Section("What this rests on", tuple(map(Text, answer.circumstances(audit)))),
            *(added_section(audits) if sequence and len(audits) > 1 else ()),
            *_refusal(audit),
            next_section(answer.next_steps(audit, command)),
            *(Text(note, "warning") for note in texts.general_notes(audit)),
            *map(_in_detail, rest),
        ),
    )


def _answer(audit: Audit) -> Iterator[Section]:
    """The verdict, or without a limit what stands out."""
    if audit.verdict is not None:
        yield verdict_section(audit.verdict)
        return
    doubts = [Text(words.full(doubt), "warning") for doubt in audit.release.table.doubts]
    lines = [] if audit.options.refused else answer.headline(audit)
    yield Section("In short", (*doubts, *(Text(line, "strong") for line in lines)))


def _in_detail(block: Block) -> Block:
    """Not in the short view of the terminal."""
    return replace(block, only="detail") if block.only is None else block


def _tiles(audit: Audit) -> tuple[tuple[str, str], ...]:
    found = texts.figures(audit, main_view(audit))
    titles = texts.TITLES | {"bounds": "width of the narrowest bounds"}
    return tuple((texts.brief_words(key, found[key]), titles[key]) for key in TILES)


def _doubts(audit: Audit) -> Iterator[Text]:
    return (Text(line, "warning") for line in texts.warnings_of(audit, main_view(audit)))


def _small_cells(audit: Audit) -> Section:
    title, name = "Small cells (confidential)", main_view(audit)
    cells, view = audit.small_cells, audit.views[name]
    if not cells:
        return Section(title, (Text("No cell is small, so there is none to protect."),))
    rows = tuple(
        (
            texts.cell_name(audit, cells[i]),
            words.count(cells[i].truth),
            f"{cells[i].lower} to {cells[i].upper}",
            *texts.guess(view, i, cells[i].truth),
            cells[i].how,
        )
        for i in texts.most_exposed(audit, name, MOST_ROWS, SHOWN)
    )
    blocks: list[Block] = [
        Table(
            header=SMALL_HEADER,
            rows=rows,
            sides="lrrrrrl",
            page_columns=1,
            most=SHOWN,
            first="most exposed",
        )
    ]
    if len(rows) < len(cells):
        said = f"The {len(rows)} most exposed of {words.count(len(cells))}."
        blocks.append(Text(said, "soft", "page"))
    if isinstance(view, View):
        said = f"Probabilities of the best guess and of the true count under {name}: {view.method}."
        blocks.append(Text(said, "soft"))
    return Section(title, (*blocks, *_doubts(audit)))


def _beliefs(audit: Audit) -> Iterator[Section]:
    name = main_view(audit)
    view = audit.views[name]
    if isinstance(view, Unavailable) or not audit.small_cells:
        return
    places = texts.most_exposed(audit, name, MOST_BARS)

    def draw() -> str:
        from discreet.report.plots import belief_plot

        cells = [audit.small_cells[i] for i in places]
        names = [texts.cell_name(audit, cell) for cell in cells]
        truths = [cell.truth for cell in cells]
        return belief_plot(names, [view.distributions[i] for i in places], truths)

    some = len(places) < len(audit.small_cells)
    which = f"The {len(places)} small cells whose true count is the most probable. " if some else ""
    yield Section(
        "What an intruder believes of the small cells",
        (
            *_doubts(audit),
            Text(
                f"{which}Each bar is a small cell, cut into the probabilities of its counts; the "
                "number is the count. Red is the true one.",
                "soft",
            ),
            Plot(
                "beliefs",
                "Probabilities of the counts of each small cell, with the true count in red",
                draw,
            ),
        ),
        only="page",
    )


def _measures(audit: Audit) -> Iterator[Block]:
    name = main_view(audit)
    found = texts.figures(audit, name)
    yield Table(
        header=("measure", "value", "how it is known", "what it means"),
        rows=tuple(
            (
                texts.TITLES[key],
                texts.measure_words(key, outcome, texts.n_cells_of(key, audit)),
                texts.how_words(outcome),
                texts.meaning(key, audit),
            )
            for key, outcome in found.items()
        ),
        sides="lrll",
        page_columns=1,
    )
    yield from _doubts(audit)
    for key, outcome in found.items():
        title, said = texts.TITLES[key].capitalize(), texts.meaning(key, audit)
        yield Text(f"{title}: {said[:1].lower()}{said[1:]}", "soft", "terminal")
        if not isinstance(outcome, Unavailable) and outcome.note:
            yield Text(f"{title}: {words.sentence(outcome.note)}.", "soft", "page")
    lost = ((texts.TITLES[k], o.reason) for k, o in found.items() if isinstance(o, Unavailable))
    for reason, titles in words.by_reason(lost).items():
        yield Text(f"Not available: {words.listed(titles)}, since {words.sentence(reason)}.")
    view = audit.views[name]
    if isinstance(view, Unavailable):
        yield Text(f"{name} is not available: {words.sentence(view.reason)}.", "warning", "page")
    else:
        yield Text(f"Under {name}: {view.method}.", "soft", "page")


def _crosses(audit: Audit) -> Iterator[Section]:
    """The smaller tables that the release is judged by, the riskiest first."""
    if not audit.crosses:
        return
    key = RULES[audit.options.measure]
    order = order_of([_greatest(one.risk) for one in audit.crosses])
    rows = tuple(
        (
            table_name(audit.release.table, one.axes),
            words.count(one.n_small),
            texts.measure_words(key, one.risk, one.n_looked_at),
            texts.how_words(one.risk),
        )
        for one in (audit.crosses[i] for i in order[:MOST_ROWS])
    )
    yield Section(
        "Smaller tables that it is judged by (confidential)",
        (
            Text(
                "A small count that is found in a table of fewer variables is found, even if "
                "nobody could tell how it splits by the others.",
                "soft",
            ),
            Table(
                header=("table", "small\ncells", texts.TITLES[key], "how it is known"),
                rows=rows,
                sides="lrll",
                page_columns=1,
                most=SHOWN,
                first="riskiest",
            ),
        ),
    )


def _greatest(risk: Outcome) -> float:
    """The greatest that a risk may be; what is not known comes first."""
    return float("inf") if isinstance(risk, Unavailable) else ends(risk)[1]


def shade_of(width: int) -> int:
    """The narrower the bounds, the lower (and redder) the shade."""
    return 0 if width == 0 else 1 if width == 1 else 2 if width < 5 else 3 if width < 10 else 4


def _grid(audit: Audit) -> Iterator[Section]:
    """The table with the last variable across; nothing where it is too large to show."""
    table = audit.release.table
    if len(audit.cells) != table.n_cells or table.n_cells > MOST_GRID:
        return
    *down, last = table.levels
    nested, small = audit.release.nested, audit.options.most_small
    boxes = {
        cell.levels: IMPOSSIBLE if nested.excludes(cell.levels) else _box(cell, small)
        for cell in audit.cells
    }
    grey = IMPOSSIBLE in boxes.values()
    rows = tuple(
        (
            tuple(levels[i] for levels, i in zip(down, place, strict=True)),
            tuple(boxes[(*place, j)] for j in range(len(last))),
        )
        for place in product(*(range(len(levels)) for levels in down))
    )
    yield Section(
        "The table with its bounds",
        (
            Text(
                "The least and the greatest count in all tables consistent with what was released, "
                "with the true count below. The redder, the narrower; small cells have a frame."
                + (" Grey cells cannot be, as everybody knows." if grey else ""),
                "soft",
            ),
            Grid(
                names=tuple(table.names[:-1]),
                across=table.names[-1],
                levels=tuple(last),
                rows=rows,
                shades=(*SHADES, "impossible") if grey else SHADES,
            ),
        ),
        only="page",
    )


def _box(cell: CellAudit, small: int) -> Box:
    text = str(cell.lower) if cell.lower == cell.upper else f"{cell.lower} – {cell.upper}"
    framed = 0 < cell.truth <= small
    return Box(text, words.count(cell.truth), shade_of(cell.upper - cell.lower), framed)


def _models(audit: Audit) -> Iterator[Section]:
    if len(audit.views) < 2:
        return
    names = list(audit.views)
    kind = audit.options.weight_kind.value.replace("_", " ")
    alike = audit.options.model_priors is None
    prior = "; all are equally probable before anything is released" if alike else ""
    yield Section(
        "By model",
        (
            *_weights(audit),
            Table(
                header=MODEL_HEADER,
                rows=tuple((name, *_model_row(audit, name)) for name in names[:MOST_ROWS]),
                most=SHOWN_MODELS,
            ),
            Text(f"Probability of the model: given the release, by {kind}{prior}.", "soft"),
            *_model_notes(audit, names[:SHOWN_MODELS]),
            *(
                Text(block.text, block.style, "page")
                for block in _model_notes(audit, names[SHOWN_MODELS:])
            ),
        ),
    )


def _model_notes(audit: Audit, names: Sequence[str]) -> Iterator[Text]:
    """Which figures of these models are missing, and which may be off."""
    yield from (Text(line) for line in texts.model_gaps(audit, names))
    for name in names:
        view = audit.views[name]
        if isinstance(view, Unavailable):
            yield Text(f"{name} is not available: {words.sentence(view.reason)}.")
        if name != main_view(audit):
            yield from (
                Text(f"{name}: {line}", "warning") for line in texts.warnings_of(audit, name)
            )


def _model_row(audit: Audit, name: str) -> Row:
    """Weight, probability of the true table and share identified of one view."""
    view = audit.views[name]
    if isinstance(view, Unavailable):
        return ("–", "–", "–")
    found = texts.figures(audit, name)
    shown = ("true_table", "small_cells_identified")
    return (
        texts.outcome_cell(view.weight, 3),
        *(texts.brief_words(key, found[key]) for key in shown),
    )


def weights_of(audit: Audit) -> dict[str, float]:
    """The most probable models with their probabilities, at most as many as a plot has room for."""
    found = {
        name: view.weight.value
        for name, view in audit.views.items()
        if name != AVERAGE
        and isinstance(view, View)
        and not isinstance(view.weight, Unavailable)
        and view.weight.value is not None
    }
    names = list(found)
    best = [names[i] for i in order_of(list(found.values()))[:MOST_BARS]]
    return {name: found[name] for name in best}


def _weights(audit: Audit) -> Iterator[Plot]:
    weights = weights_of(audit)
    if len(weights) < 2:
        return

    def draw() -> str:
        from discreet.report.plots import weights_plot

        return weights_plot(list(weights), list(weights.values()))

    yield Plot("weights", "Probability of each model given the release", draw)


def _population(audit: Audit) -> Iterator[Section]:
    if not audit.population:
        return
    size = audit.options.population or 0
    share = words.share(audit.release.table.total, size)
    title = f"In the population of {words.count(size)}, of whom {share} are in the table"
    found = audit.population[main_view(audit)]
    if isinstance(found, Unavailable):
        yield Section(title, (Text(f"Not available: {words.sentence(found.reason)}."),))
        return
    rows = tuple(
        (
            texts.cell_name(audit, cell),
            str(cell.truth),
            words.probability(own.unique),
            words.expected(own.mean),
        )
        for cell, own in zip(audit.small_cells, found, strict=True)
    )
    table = Table(header=POPULATION_HEADER, rows=rows[:MOST_ROWS], most=SHOWN)
    yield Section(title, (table, Text(texts.OUTSIDE, "soft")))


def _refusal(audit: Audit) -> Iterator[Section]:
    found = audit.refusal
    if found is None:
        return
    title = "What the refusal tells"
    if isinstance(found, Unavailable):
        said = f"Not available: {words.sentence(found.reason)}."
        yield Section(title, (Text(f"{said} More --seconds may help."),))
        return
    rows = tuple(
        (texts.cell_name(audit, cell), str(cell.truth), *_before_after(found, i, cell.truth))
        for i, cell in enumerate(audit.small_cells[:MOST_ROWS])
    )
    table = (Table(header=REFUSAL_HEADER, rows=rows, most=SHOWN),) if rows else ()
    yield Section(title, (*(Text(line) for line in _refusal_lines(audit, found)), *table))


def _refusal_lines(audit: Audit, found: RefusalView) -> Iterator[str]:
    """What was refused under which rule, and how much that says."""
    refused = words.listed([texts.margin_name(audit.release, axes) for axes in found.requests])
    yield f"Refused: {refused}; {texts.rule_words(found.rule)}."
    chance = texts.outcome_cell(found.probability)
    yield f"Probability of a refusal beforehand: {chance}; {found.method}."
    if found.n_tables is not None:
        yield f"Tables left: {words.count(found.n_tables)}."


def _before_after(found: RefusalView, place: int, truth: int) -> tuple[str, str]:
    """The probability of the true count before and after a refusal."""
    error = found.errors[place].get(truth, 0.0)
    after = texts.probability_words(found.distributions[place], truth, error)
    return texts.probability_words(found.before[place], truth), after


def _learned(audit: Audit) -> Iterator[Section]:
    named = audit.options.targets is not None
    probable = audit.believed if isinstance(audit.believed, tuple) else ()
    lines = [texts.learned_words(audit, one) for one in (*audit.learned, *probable)]
    lines += [texts.unless_nested_words(audit, one) for one in audit.shown.unless_nested]
    if not lines and not named:
        return
    blocks = [Text(line) for line in lines[:SHOWN] or [texts.NO_GROUP]]
    blocks += [Text(line, only="page") for line in lines[SHOWN:MOST_ROWS]]
    places: tuple[tuple[int, Place], ...] = ((SHOWN, "terminal"), (MOST_ROWS, "page"))
    for shown, place in places:
        if len(lines) > shown:
            left = words.count(len(lines) - shown)
            blocks.append(Text(f"And {left} more; --json has them all.", "soft", place))
    if lines:
        blocks.append(Text(LEARNED, "soft"))
    if named and isinstance(audit.believed, Unavailable):
        blocks.append(Text(texts.only_proved(audit.believed), "soft"))
    yield Section("Who would learn what", tuple(blocks))


def _made(audit: Audit) -> Facts:
    options = audit.options
    return Facts(
        (
            ("margins", TREE[audit.decomposable]),
            ("prior", f"{options.alpha:g} in every cell"),
            ("small", f"counts from 1 to {options.most_small}"),
            (
                "seconds allowed",
                "no limit" if options.seconds is None else f"{options.seconds:.3g}",
            ),
            ("seed", str(options.seed)),
        )
    )
