"""Tables as offices lay them out: titles above, labels down the side and across, notes below.

The heading is the first row that names every column of figures, with the rows that it needs below.
Labels that are left blank because they repeat are those of the row above or the column before. A
blank where another label stands before it is a total. Where the columns are named as those of
figures are (`count`, `percent`), the table is one in long form. What cannot be placed is an error;
lines around the table are named in the notes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.published.figures_in_cells import is_blank, is_mark, is_number, shown
from discreet.data.published.gathering import (
    DecimalMark,
    Gathered,
    Kind,
    decimal_for,
    has_mark,
    noted,
)
from discreet.data.published.grid import Grid
from discreet.data.published.headings import Columns, columns_of, kind_of
from discreet.data.published.labels import Whole, meaning
from discreet.data.published.long_form import LongSource, label_text, long_tables
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import FileError, must_be, one_line

TOTAL = "Total"
MOST_NOTED = 80  # characters of a line that a note repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a table stands in a grid: the rows of its heading, the first and last of its body, and
    how many columns of labels it has at the side."""

    head: tuple[int, ...]
    first: int
    last: int
    width: int


def grid_tables(
    file: str, name: str, grid: Grid, count: str | None, mark: DecimalMark
) -> list[PublishedTable]:
    """The tables of a grid: one, or one for each kind of figures in it."""
    head = _heading(file, name, grid)
    names = _names(grid, head)
    columns = columns_of(file, names, count)
    if columns is not None and (columns.is_sure or not _is_crosstab(grid, head, columns)):
        return _long(file, name, grid, head, columns, mark)
    if not any(grid.has_figures(i, 1) for i in range(head[-1] + 1, len(grid.rows))):
        raise _no_heading(name)
    frame = _frame(grid, head)
    return _cross(file, name, grid, frame, mark)


def _heading(file: str, name: str, grid: Grid) -> tuple[int, ...]:
    """The rows of the heading: the first that, with those that it needs, names all columns."""
    for start, row in enumerate(grid.rows):
        places = [j for j, value in enumerate(row) if not is_blank(value)]
        if not places or (len(places) == 1 and places[0] == 0 and grid.width > 1):
            continue
        rows = _heading_from(grid, start)
        if rows and _names_all(grid, rows):
            return rows
    raise _no_heading(name)


def _no_heading(name: str) -> FileError:
    rule = "a table with a heading over its figures"
    remedy = "name the column of its figures count or percent, or say which has the counts (count)"
    return FileError(must_be(name, rule, "none that could be found", remedy=remedy))


def _heading_from(grid: Grid, start: int) -> tuple[int, ...]:
    end = start
    while end + 1 < len(grid.rows) and _goes_on(grid, start, end):
        end += 1
    return tuple(range(start, end + 1)) if end + 1 < len(grid.rows) else ()


def _goes_on(grid: Grid, start: int, end: int) -> bool:
    """Whether the row below belongs to the heading too: a column has no name of its own yet, a
    merged cell reaches down, or there is text where figures should be."""
    bare = (
        all(
            is_blank(grid.rows[i][j]) and not _from_above(grid, i, j) for i in range(start, end + 1)
        )
        for j in range(1, grid.width)
    )
    reaches = any(first <= end < last and first >= start for first, last, _, _ in grid.areas)
    below = grid.rows[end + 1][-1]
    text = not is_blank(below) and not is_number(below) and not is_mark(below)
    return reaches or text or any(bare)


def _from_above(grid: Grid, row: int, column: int) -> bool:
    """Whether a cell is covered by a merged one that begins in its column."""
    return (row, column) in grid.covered and (
        column == 0 or grid.filled[row][column] != grid.filled[row][column - 1]
    )


def _names_all(grid: Grid, head: Sequence[int]) -> bool:
    """Whether every column with figures below has a name, or stands under one that spans it."""
    return all(
        any(not is_blank(value) for i in head for value in grid.filled[i][1 : j + 1])
        for j in range(1, grid.width)
    ) and any(
        grid.has_figures(i, min(1, grid.width - 1)) for i in range(head[-1] + 1, len(grid.rows))
    )


def _names(grid: Grid, head: Sequence[int]) -> list[str]:
    """The names of the columns, each with what stands above it."""
    found = []
    for j in range(grid.width):
        parts = [label_text(grid.filled[i][j]) for i in head if not is_blank(grid.filled[i][j])]
        found.append(" ".join(dict.fromkeys(parts)))
    return found


def _is_crosstab(grid: Grid, head: Sequence[int], columns: Columns) -> bool:
    """Whether columns taken for variables hold figures: numbers throughout, while the labels before
    them tell the rows apart already."""
    body = [row for row in grid.rows[head[-1] + 1 :] if not all(is_blank(v) for v in row)]
    numbers = [
        j for j in columns.variables[1:] if all(is_blank(r[j]) or is_number(r[j]) for r in body)
    ]
    words = [j for j in columns.variables if j not in numbers]
    labels = [tuple(str(row[j]) for j in words) for row in body]
    return bool(numbers) and len(set(labels)) == len(labels)


def _long(
    file: str, name: str, grid: Grid, head: Sequence[int], columns: Columns, mark: DecimalMark
) -> list[PublishedTable]:
    """A table in long form, with titles above, notes below and labels left blank."""
    figures = [place for place, _ in columns.figures]
    body = range(head[-1] + 1, len(grid.rows))
    lines = [i for i in body if any(not is_blank(value) for value in grid.rows[i])]
    last = max((i for i in lines if _holds(grid, i, figures, columns.variables)), default=head[-1])
    lines = [i for i in lines if i <= last]
    side = _side(grid, lines, columns.variables)
    rows = []
    for i, labels in zip(lines, side, strict=True):
        row = list(grid.rows[i])
        for j, label in zip(columns.variables, labels, strict=True):
            row[j] = label
        rows.append((str(i), row))
    names = _names(grid, head)
    source = LongSource(
        file=file,
        name=name,
        names=tuple(names),
        columns=columns,
        rows=lambda: iter(rows),
        where=lambda row, column: grid.where(int(row), column),
        mark=mark,
        notes=(
            *_lines_around(grid, head[0], last),
            *_blank_totals(grid, lines, columns.variables),
        ),
    )
    return long_tables(source)


def _holds(grid: Grid, row: int, figures: Sequence[int], variables: Sequence[int]) -> bool:
    """Whether a row of a long table has a figure, or all of several labels of a withheld one."""
    cells = grid.rows[row]
    told = any(not is_blank(cells[j]) for j in figures)
    return told or (
        len(variables) > 1 and all(not is_blank(grid.filled[row][j]) for j in variables)
    )


def _frame(grid: Grid, head: tuple[int, ...]) -> Frame:
    """Columns of labels are those with words, and those up to a corner with a backslash; one of
    numbers is one too where it tells rows apart and has numbers that come again (ages by region).
    """
    body = [i for i in range(head[-1] + 1, len(grid.rows)) if grid.has_figures(i, 1)]
    corners = [j for i in head for j, v in enumerate(grid.rows[i]) if "\\" in str(v or "")]
    width = max([1, *(j + 1 for j in corners if j + 1 < grid.width)])
    while width < grid.width - 1 and any(_is_word(grid.rows[i][width]) for i in body):
        width += 1
    wider = width
    while not corners and wider < grid.width - 1 and not _apart(grid, body, wider):
        values = [str(grid.rows[i][wider]) for i in body]
        if len(set(values)) == len(values):
            break
        wider += 1
    width = wider if _apart(grid, body, wider) else width
    return Frame(head=head, first=head[-1] + 1, last=body[-1], width=width)


def _is_word(value: Any) -> bool:
    return not (is_blank(value) or is_number(value) or is_mark(value))


def _apart(grid: Grid, body: Sequence[int], width: int) -> bool:
    """Whether the first columns tell the rows apart."""
    labels = _side(grid, body, range(width))
    return len({tuple(one) for one in labels}) == len(labels)


def _side(grid: Grid, rows: Sequence[int], columns: Sequence[int]) -> list[list[str | None]]:
    """The labels of each row; those left blank are the label above, or a total where another label
    stands before them."""
    above: list[str | None] = [None] * len(columns)
    found = []
    for i in rows:
        own: list[str | None] = []
        new = False
        for place, j in enumerate(columns):
            value = grid.filled[i][j]
            if not is_blank(value):
                label: str | None = label_text(value)
                new = new or _is_new(grid, i, j)
            else:
                label = TOTAL if new else above[place]
            own.append(label)
        above = own
        found.append(own)
    return found


def _is_new(grid: Grid, row: int, column: int) -> bool:
    """Whether a label at the side begins in this row."""
    return not is_blank(grid.filled[row][column]) and (row, column) not in grid.covered


def _blank_totals(grid: Grid, rows: Sequence[int], columns: Sequence[int]) -> list[str]:
    """A note on the blanks at the side that were taken for totals."""
    places = [
        grid.where(i, j)
        for i in rows
        for place, j in enumerate(columns)
        if is_blank(grid.filled[i][j]) and any(_is_new(grid, i, k) for k in columns[:place])
    ]
    note = noted(places, "a blank behind another label, taken for its total")
    return [note] if note else []


def _cross(
    file: str, name: str, grid: Grid, frame: Frame, mark: DecimalMark
) -> list[PublishedTable]:
    across = _across(file, name, grid, frame)
    rest = _rest_of_corner(grid, frame, across)
    rows = list(_body(file, grid, frame))
    side = _side(grid, rows, range(frame.width))
    stub, notes = _stub_names(name, grid, frame, across)
    _check_one_table(file, grid, frame, rows)
    notes += _blank_totals(grid, rows, range(frame.width))
    notes += _lines_around(grid, frame.head[0], frame.last, (*across.left_out, *rest))
    tables = []
    for kind in dict.fromkeys(across.kinds):
        columns = [j for j, own in enumerate(across.kinds) if own == kind]
        own_name = name if len(set(across.kinds)) == 1 else f"{name}, {kind.statistic}"
        cells = [(i, j + frame.width) for i in rows for j in columns]
        told = [(grid.where(i, j), grid.rows[i][j]) for i, j in cells if has_mark(grid.rows[i][j])]
        decimal = decimal_for(file, told, kind.statistic, mark)
        own = Gathered(file, own_name, (*stub, *across.names), kind, decimal)
        for i, labels in zip(rows, side, strict=True):
            _check_labels(file, grid, i, labels)
            for j in columns:
                _check_cell(file, grid, i, j + frame.width)
                value, where = grid.rows[i][j + frame.width], grid.where(i, j + frame.width)
                own.add((*map(str, labels), *across.labels[j]), value, where)
        tables.append(own.table(notes))
    return tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """What stands over the columns of figures: variables with their labels for each, the kind of
    figures of each, and cells of the heading that are neither."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    kinds: tuple[Kind, ...]
    left_out: tuple[tuple[int, int], ...] = ()


def _across(file: str, name: str, grid: Grid, frame: Frame) -> Across:
    """The variables across: a row of one value names the labels in the row below it."""
    count = grid.width - frame.width
    kinds = [Kind()] * count
    names: list[str] = []
    labels: list[list[str]] = []
    left_out: list[tuple[int, int]] = []
    waiting = ""
    for i, told in zip(frame.head, _over(grid, frame), strict=True):
        values = list(dict.fromkeys(told))
        measured = [kind_of(value) if value else None for value in told]
        if "" in values:
            left_out += [(i, j) for j in range(frame.width, grid.width) if told[j - frame.width]]
        elif all(measured):
            kinds = [one or Kind() for one in measured]
        elif any(one is not None and one.statistic is not Statistic.COUNT for one in measured):
            raise _mixed(file, grid, i, frame.width + _first_of(measured))
        elif len(values) == 1 and i != frame.head[-1]:
            left_out += [(i, frame.width)] if waiting else []
            waiting = values[0]
        else:
            names.append(waiting or _corner(grid, frame, i) or f"columns of {name}")
            labels.append(told)
            waiting = ""
    return Across(
        names=tuple(_numbered(names)),
        labels=tuple(zip(*labels, strict=True)) if labels else tuple(() for _ in range(count)),
        kinds=tuple(kinds),
        left_out=tuple(left_out),
    )


def _over(grid: Grid, frame: Frame) -> list[list[str]]:
    """What each row of the heading says over each column of figures.

    A blank below another label is the total of it, or the same total; else it is the label of the
    column before, which spans it; empty where there is none. A single name at the left is of all.
    """
    found: list[list[str]] = []
    for i in frame.head:
        own: list[str] = []
        told = [value for value in grid.filled[i][frame.width :] if not is_blank(value)]
        if len(told) == 1 and i != frame.head[-1] and not is_blank(grid.rows[i][frame.width]):
            found.append([label_text(told[0])] * (grid.width - frame.width))
            continue
        for place, j in enumerate(range(frame.width, grid.width)):
            value = grid.filled[i][j]
            above = [row[place] for row in found]
            before = [row[place - 1] for row in found] if place else None
            if not is_blank(value) and not (above and _from_above(grid, i, j)):
                own.append(label_text(value))
            elif place and own[-1] and before == above and i != frame.head[-1]:
                own.append(own[-1])
            else:
                own.append(_total_of(above[-1] if above else ""))
        found.append(own)
    return found


def _total_of(above: str) -> str:
    """The label of a blank below another label."""
    return above if not above or isinstance(meaning(above), Whole) else TOTAL


def _corner(grid: Grid, frame: Frame, row: int) -> str:
    """The name of the variable across that stands beside its labels, or behind a backslash."""
    own = grid.rows[row][frame.width - 1]
    if is_blank(own):
        return ""
    text = label_text(own)
    if "\\" in text:
        return text.partition("\\")[2].strip()
    below = [grid.rows[i][frame.width - 1] for i in frame.head if i > row]
    return text if any(not is_blank(value) for value in below) else ""


def _rest_of_corner(grid: Grid, frame: Frame, across: Across) -> list[tuple[int, int]]:
    """Cells of the heading above the labels down the side that name no variable."""
    found = []
    for j in range(frame.width):
        told = [i for i in frame.head if not is_blank(grid.rows[i][j])]
        found += [(i, j) for i in told[:-1] if label_text(grid.rows[i][j]) not in across.names]
    return found


def _numbered(names: Sequence[str]) -> list[str]:
    """Names made up for several variables told apart."""
    return [
        f"{name} ({names[: i + 1].count(name)})" if name in names[:i] else name
        for i, name in enumerate(names)
    ]


def _stub_names(name: str, grid: Grid, frame: Frame, across: Across) -> tuple[list[str], list[str]]:
    """The names of the variables down the side, and notes on those without."""
    found = []
    for j in range(frame.width):
        told = [label_text(grid.rows[i][j]) for i in frame.head if not is_blank(grid.rows[i][j])]
        own = told[-1].partition("\\")[0].strip() if told else ""
        found.append(own or f"rows of {name}")
    made_up = [
        one for one in (*found, *across.names) if one.startswith(("rows of ", "columns of "))
    ]
    notes = [
        f"a variable has no name in the file and is called {shown(one)}, so that nothing ties it "
        f"to those of other tables; give it a label, '{one}=NAME', or write both names into the "
        "corner: age \\ sex"
        for one in made_up
    ]
    return _numbered(found), notes


def _body(file: str, grid: Grid, frame: Frame) -> Iterator[int]:
    """The rows with figures. Checked: none in between has only a label."""
    for i in range(frame.first, frame.last + 1):
        cells = grid.rows[i]
        if all(is_blank(value) for value in cells):
            continue
        if all(is_blank(v) for v in cells[frame.width :]) and grid.width - frame.width > 1:
            remedy = (
                "write what the line says into a column of its own beside the rows that it is "
                "over, or a mark such as x into each cell of a row that is withheld"
            )
            rule = "a row with figures or marks of withheld ones"
            got = "one with a label only"
            raise FileError(must_be(file, rule, got, where=grid.where(i, 0), remedy=remedy))
        yield i


def _check_one_table(file: str, grid: Grid, frame: Frame, rows: Sequence[int]) -> None:
    """No row begins as the heading does: there a second table would begin."""
    corner = grid.rows[frame.head[-1]][0]
    for i in rows:
        if not is_blank(corner) and grid.rows[i][0] == corner:
            rule = "a sheet with one table"
            got = f"its heading {shown(label_text(corner))} again"
            remedy = "give each table a file or a sheet of its own"
            raise FileError(must_be(file, rule, got, where=grid.where(i, 0), remedy=remedy))


def _check_labels(file: str, grid: Grid, row: int, labels: Sequence[str | None]) -> None:
    if None in labels:
        where = grid.where(row, labels.index(None))
        raise FileError(must_be(file, "a table with a label for every row", "none", where=where))


def _check_cell(file: str, grid: Grid, row: int, column: int) -> None:
    if (row, column) in grid.covered:
        rule, got = "one cell for each figure", "merged cells"
        remedy = "take them apart"
        where = grid.where(row, column)
        raise FileError(must_be(file, rule, got, where=where, remedy=remedy))


def _mixed(file: str, grid: Grid, row: int, column: int) -> FileError:
    rule = "a table of one kind of figures in each row of its heading"
    remedy = "give percentages and means a table of their own, or a row of the heading with a word "
    remedy += "for every column (Number, Percent)"
    got = shown(label_text(grid.filled[row][column]))
    return FileError(must_be(file, rule, got, where=grid.where(row, column), remedy=remedy))


def _first_of(kinds: Sequence[Kind | None]) -> int:
    """The place of the first that is no count."""
    return next(
        i for i, one in enumerate(kinds) if one is not None and one.statistic is not Statistic.COUNT
    )


def _lines_around(
    grid: Grid, first: int, last: int, cells: Sequence[tuple[int, int]] = ()
) -> list[str]:
    """Titles above, notes below and odd cells of the heading, each by its text."""
    rows = [i for i in range(len(grid.rows)) if not first <= i <= last]
    lines = [(i, j) for i in rows for j, v in enumerate(grid.rows[i]) if not is_blank(v)]
    return [
        f"left out, {grid.where(i, j)}: {one_line(label_text(grid.rows[i][j]))[:MOST_NOTED]}"
        for i, j in sorted([*lines, *cells])
    ]
