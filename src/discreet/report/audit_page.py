"""An audit as one HTML page: bounds coloured by width, beliefs as bars, measures with meaning."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from discreet.data.writing import written_whole
from discreet.figures import Outcome, Unavailable
from discreet.numerics.rounding import order_of
from discreet.report import plots, words
from discreet.report.audit import before_after, guess, model_row, refusal_lines, sequence_row
from discreet.report.audit_words import (
    NO_GROUP,
    OUTSIDE,
    TITLES,
    brief_words,
    cell_name,
    count_words,
    figures,
    general_notes,
    how_words,
    learned_words,
    margin_name,
    meaning,
    measure_words,
    model_gaps,
    most_exposed,
    n_cells_of,
    only_proved,
    scope,
    step_gaps,
    verdict_words,
    warnings_of,
)
from discreet.report.html import render
from discreet.tables.audit import Audit, CellAudit, main_view
from discreet.tables.posteriors import AVERAGE, View
from discreet.tables.refused_margin import RefusalView

MOST_GRID = 1024  # cells of a table that is shown whole
MOST_BARS = 24
MOST_ROWS = 200
MOST_LINES = 10
TILES = {"bounds": "width of the narrowest bounds"}
SCALE = ("#c53030", "#e08a6a", "#efc4a0", "#f5e3cf", "#f7f3ea")  # widths 0, 1, 2–4, 5–9, more


class Box(NamedTuple):
    """One cell of the table as it is shown."""

    text: str
    truth: str
    colour: str
    ink: str
    is_small: bool


def write_audit(source: str, audits: Sequence[Audit], path: Path) -> None:
    """Write the page, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_bytes(audit_html(source, audits).encode("utf-8", "backslashreplace"))


def audit_html(source: str, audits: Sequence[Audit]) -> str:
    """The page of the last audit, with what changed since the one before."""
    audit = audits[-1]
    name = main_view(audit)
    view = audit.views[name]
    return render(
        "audit.html",
        a=audit,
        w=words,
        source=source,
        scope=list(scope(audit)),
        notes=general_notes(audit),
        verdict=None if audit.verdict is None else verdict_words(audit, audit.verdict),
        warnings=warnings_of(audit, name),
        tables=count_words(audit.n_tables),
        view_name=name,
        view=view if isinstance(view, View) else None,
        unavailable="" if isinstance(view, View) else words.sentence(view.reason),
        grid=_grid(audit),
        small=_small_rows(audit, name),
        belief=_belief(audit, name),
        bars=MOST_BARS if len(audit.small_cells) > MOST_BARS else None,
        tiles=_tiles(audit, name),
        measures=_measures(audit, name),
        models=[(model, *model_row(audit, model)) for model in audit.views][:MOST_ROWS],
        missing=_missing(audit),
        weights=_weights(audit),
        learned=list(_learned(audit)),
        refusal=_refusal(audit),
        population=_population(audit, name),
        outside=OUTSIDE if isinstance(audit.population.get(name), tuple) else "",
        changes=_changes(audits),
        steps=[sequence_row(step) for step in audits],
        gaps=list(step_gaps(audits, TITLES)),
        sequence=_sequence(audits),
        scale=_scale(),
    )


def colour_of(width: int) -> tuple[str, str]:
    """Background and ink of a cell whose bounds are so wide: the narrower, the redder."""
    place = 0 if width == 0 else 1 if width == 1 else 2 if width < 5 else 3 if width < 10 else 4
    return SCALE[place], "#fff" if place == 0 else "#1f2933"


def _scale() -> list[tuple[str, str, str]]:
    named = {0: "known", 1: "2 values", 2: "3 to 5", 5: "6 to 10", 10: "more"}
    return [(text, *colour_of(width)) for width, text in named.items()]


def _grid(audit: Audit) -> dict[str, Any] | None:
    """The table with the last variable as columns; None where it is too large to show."""
    table = audit.release.table
    if len(audit.cells) != table.n_cells or table.n_cells > MOST_GRID:
        return None
    *rows, last = table.levels
    boxes = {cell.levels: _box(cell, audit.options.small) for cell in audit.cells}
    return {
        "names": table.names[:-1],
        "last": table.names[-1],
        "columns": last,
        "rows": [
            (
                [levels[i] for levels, i in zip(rows, place, strict=True)],
                [boxes[(*place, j)] for j in range(len(last))],
            )
            for place in product(*(range(len(levels)) for levels in rows))
        ],
    }


def _box(cell: CellAudit, small: int) -> Box:
    text = str(cell.lower) if cell.lower == cell.upper else f"{cell.lower} – {cell.upper}"
    is_small = 0 < cell.truth <= small
    return Box(text, words.count(cell.truth), *colour_of(cell.upper - cell.lower), is_small)


def _small_rows(audit: Audit, name: str) -> list[tuple[str, ...]]:
    cells, view = audit.small_cells, audit.views[name]
    return [
        (
            cell_name(audit, cells[i]),
            words.count(cells[i].truth),
            f"{cells[i].lower} to {cells[i].upper}",
            *guess(view, i, cells[i].truth),
            cells[i].how,
        )
        for i in most_exposed(audit, name, MOST_ROWS)
    ]


def _belief(audit: Audit, name: str) -> str | None:
    view = audit.views[name]
    if isinstance(view, Unavailable) or not audit.small_cells:
        return None
    places = most_exposed(audit, name, MOST_BARS)
    cells = [audit.small_cells[i] for i in places]
    names = [cell_name(audit, cell) for cell in cells]
    return plots.belief_plot(
        names, [view.distributions[i] for i in places], [c.truth for c in cells]
    )


def _tiles(audit: Audit, name: str) -> list[tuple[str, str]]:
    found = figures(audit, name)
    named = ("bounds", "one_over_tables", "true_table", "small_cells_identified")
    return [(TILES.get(key, TITLES[key]), brief_words(key, found[key])) for key in named]


def _measures(audit: Audit, name: str) -> list[tuple[str, str, str, str]]:
    return [
        (
            TITLES[key],
            measure_words(key, value, n_cells_of(key, audit)),
            _how(value),
            meaning(key, audit),
        )
        for key, value in figures(audit, name).items()
    ]


def _how(outcome: Outcome) -> str:
    if isinstance(outcome, Unavailable):
        return f"not available: {words.sentence(outcome.reason)}"
    note = f"; {outcome.note}" if outcome.note else ""
    return f"{how_words(outcome)}{words.sentence(note)}"


def _missing(audit: Audit) -> list[str]:
    """What is missing or to be mistrusted of each model."""
    absent = [
        f"{name} is not available: {words.sentence(view.reason)}."
        for name, view in audit.views.items()
        if isinstance(view, Unavailable)
    ]
    doubts = [
        f"{name}: {words.sentence(warning)}."
        for name in audit.views
        if name != main_view(audit)
        for warning in warnings_of(audit, name)
    ]
    return [*absent, *model_gaps(audit, list(audit.views)), *doubts]


def _weights(audit: Audit) -> str | None:
    found: Mapping[str, float] = {
        name: view.weight.value
        for name, view in audit.views.items()
        if name != AVERAGE
        and isinstance(view, View)
        and not isinstance(view.weight, Unavailable)
        and view.weight.value is not None
    }
    if len(found) < 2:
        return None
    names = list(found)
    best = [names[i] for i in order_of(list(found.values()))[:MOST_BARS]]
    return plots.weights_plot(best, [found[name] for name in best])


def _learned(audit: Audit) -> Iterator[str]:
    probable = audit.believed if isinstance(audit.believed, tuple) else ()
    lines = [learned_words(audit, learned) for learned in (*audit.learned, *probable)]
    named = audit.options.targets is not None
    yield from lines[:MOST_ROWS] or ([NO_GROUP] if named else [])
    if len(lines) > MOST_ROWS:
        yield f"and {words.count(len(lines) - MOST_ROWS)} more"
    if named and isinstance(audit.believed, Unavailable):
        yield only_proved(audit.believed)


def _refusal(audit: Audit) -> dict[str, Any] | None:
    found = audit.refusal
    if found is None:
        return None
    if not isinstance(found, RefusalView):
        return {"lines": [f"not available: {words.sentence(found.reason)}"], "rows": []}
    return {
        "lines": list(refusal_lines(audit, found)),
        "rows": [
            (cell_name(audit, cell), str(cell.truth), *before_after(found, i, cell.truth))
            for i, cell in enumerate(audit.small_cells[:MOST_ROWS])
        ],
    }


def _population(audit: Audit, name: str) -> dict[str, Any] | None:
    if not audit.population:
        return None
    found = audit.population[name]
    if isinstance(found, Unavailable):
        return {"line": f"not available: {words.sentence(found.reason)}", "rows": []}
    size = audit.options.population or 0
    share = words.share(audit.release.table.total, size)
    return {
        "line": f"{words.count(size)} persons, of whom {share} are in the table",
        "rows": [
            (cell_name(audit, cell), str(cell.truth), words.probability(own.unique),
             words.expected(own.mean))
            for cell, own in zip(audit.small_cells, found, strict=True)
        ][:MOST_ROWS],
    }  # fmt: skip


def _changes(audits: Sequence[Audit]) -> dict[str, Any] | None:
    """What the last release changed: margins added, measures and small cells before and after."""
    if len(audits) < 2:
        return None
    before, after = audits[-2:]
    names = (main_view(before), main_view(after))
    old, new = figures(before, names[0]), figures(after, names[1])
    added = [axes for axes in after.release.sets if axes not in before.release.sets]
    return {
        "added": " ".join(margin_name(after.release, axes) for axes in added) or "nothing new",
        "measures": [
            ("consistent tables", *(_number(step) for step in (before, after))),
            *(_measure_change(key, old[key], new[key], before, after) for key in new),
        ],
        "cells": list(_cell_changes(before, after)),
    }


def _number(audit: Audit) -> str:
    return "–" if audit.n_tables.value is None else count_words(audit.n_tables)


def _measure_change(
    key: str, old: Outcome, new: Outcome, before: Audit, after: Audit
) -> tuple[str, str, str]:
    pairs = ((old, n_cells_of(key, before)), (new, n_cells_of(key, after)))
    was, now = (measure_words(key, outcome, n) for outcome, n in pairs)
    return TITLES[key], was, now


def _cell_changes(before: Audit, after: Audit) -> Iterator[tuple[str, ...]]:
    views = before.views[main_view(before)], after.views[main_view(after)]
    places = {cell.levels: i for i, cell in enumerate(before.small_cells)}
    for i in most_exposed(after, main_view(after), MOST_ROWS):
        cell = after.small_cells[i]
        at = places.get(cell.levels)
        if at is None:
            continue
        old = before.small_cells[at]
        yield (
            cell_name(after, cell),
            str(cell.truth),
            f"{old.lower} to {old.upper}",
            f"{cell.lower} to {cell.upper}",
            guess(views[0], at, cell.truth)[2],
            guess(views[1], i, cell.truth)[2],
        )


def _sequence(audits: Sequence[Audit]) -> str | None:
    if len(audits) < 3 or not audits[-1].small_cells:
        return None
    lines: dict[str, list[float | None]] = {}
    last = audits[-1]
    for cell in (last.small_cells[i] for i in most_exposed(last, main_view(last), MOST_LINES)):
        name = cell_name(audits[-1], cell)
        lines[name] = [_true_probability(step, cell) for step in audits]
    return plots.sequence_plot([str(i + 1) for i in range(len(audits))], lines)


def _true_probability(audit: Audit, cell: CellAudit) -> float | None:
    view = audit.views[main_view(audit)]
    place = next((i for i, c in enumerate(audit.small_cells) if c.levels == cell.levels), None)
    if place is None or isinstance(view, Unavailable):
        return None
    return view.distributions[place].get(cell.truth, 0.0)
