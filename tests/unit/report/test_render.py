"""One document on the terminal and on the page: the same words, each in its own form."""

import re

import pytest
from tests.unit.report.showing import page_words, terminal_lines

from discreet.report.document import (
    Box,
    Document,
    Facts,
    Grid,
    Plot,
    Section,
    Table,
    Text,
    Tiles,
    plots_in,
    shown_on,
)
from discreet.report.render_html import page_of, part_of, write_page

ROWS = tuple((f"name {i}", str(i), "note") for i in range(5))
TABLE = Table(
    header=("name", "true\ncount", "note"), rows=ROWS, sides="lrl", page_columns=1, most=3
)


def drawn():
    return "<svg><text>drawn</text></svg>"


DOCUMENT = Document(
    title="What <b> gives away",
    scope=("3 persons",),
    mark="confidential",
    blocks=(
        Tiles((("7", "tables"),), bad=True),
        Section("Verdict", (Text("Do not release.", "strong"),), tone="bad"),
        Section("Figures", (TABLE, Text("explained", "soft"), Plot("p", "a <label>", drawn))),
        Section("Only drawn", (Plot("q", "label", drawn),), half=True),
        Section("Equations", (Text("x = 1"),), collapsed=True),
        Section("How this was made", (Facts((("seed", "1"),)),)),
        Text("look", "warning"),
        Text("for paper", only="page"),
        Text("for screens", only="terminal"),
    ),
)


def test_the_terminal_shows_text_and_tables_and_no_empty_section():
    text = terminal_lines(DOCUMENT)
    assert text.splitlines()[:2] == ["What <b> gives away", "  3 persons"]
    for part in ("Verdict", "Do not release.", "Figures", "explained", "look", "for screens"):
        assert part in text
    for part in ("Only drawn", "Equations", "How this was made", "for paper", "tables", "svg"):
        assert part not in text


def test_a_table_that_is_cut_says_so_and_where_the_rest_is():
    text = terminal_lines(DOCUMENT)
    assert "name 2" in text
    assert "name 3" not in text
    assert "note" not in text
    assert "The first 3 of 5; --report or --json shows the rest." in text
    assert "The first 3 of 5." in terminal_lines(DOCUMENT, has_page=True)


def test_no_line_ends_in_blanks_or_is_too_wide():
    lines = terminal_lines(DOCUMENT).splitlines()
    assert lines == [line.rstrip() for line in lines]
    wide = Document(title="x", blocks=(Text("word " * 100), TABLE))
    assert max(map(len, terminal_lines(wide).splitlines())) <= 80


@pytest.mark.parametrize(
    "hostile", ["[bold]x[/bold]", ":smile:", "\x1b[2J", "a\nb", "a\rb", "\x07"]
)
def test_nothing_in_the_data_acts_on_the_terminal(hostile):
    table = Table(header=("name", hostile), rows=((hostile, hostile),))
    section = Section(hostile, (Text(hostile), table))
    text = terminal_lines(Document(title=hostile, scope=(hostile,), blocks=(section,)))
    assert not re.search("[\x1b\x07\r]", text)
    assert not hostile.isprintable() or text.count(hostile) >= 4


def test_the_page_holds_everything_escaped():
    page, text = page_of(DOCUMENT), page_words(DOCUMENT)
    assert page.startswith("<!doctype html>")
    for part in ("What <b> gives away", "3 persons", "as confidential as the data", "7 tables",
                 "Do not release.", "name 4", "true count", "note", "x = 1", "seed 1", "look"):  # fmt: skip
        assert part in text
    assert "for screens" not in text
    assert "What &lt;b&gt; gives away" in page
    assert '<figure role="img" id="p" aria-label="a &lt;label&gt;"><svg>' in page
    assert '<section class="bad"><h2>Verdict' in page
    assert "<details><summary>Equations" in page
    assert page == page_of(DOCUMENT)


def test_a_grid_has_shades_and_frames():
    boxes = (Box("0 – 3", "1", 2, True), Box("5", "5", 0, False))
    grid = Grid(
        names=("a",), across="b", levels=("x", "y"), rows=((("l",), boxes),), shades=("known",)
    )
    page = page_of(Document(title="t", blocks=(Section("s", (grid,)),)))
    assert '<td class="n box shade2 framed">0 – 3<br><small>1</small></td>' in page
    assert page.count("framed") == 2  # one of them in the style
    assert '<span class="shade0">known</span>' in page


def test_a_notebook_gets_the_same_without_the_page_around_it():
    part = part_of(DOCUMENT)
    assert part.startswith('<div class="discreet"><style>.discreet {')
    assert "<html" not in part
    assert "Do not release." in part
    style = part.partition("<style>")[2].partition("</style>")[0]
    assert "body" not in style
    assert ":root" not in style


def test_plots_are_drawn_by_pages_only():
    def never():
        raise AssertionError

    document = Document(title="t", blocks=(Section("s", (Plot("p", "l", never), Text("x"))),))
    assert [plot.name for plot in plots_in(document)] == ["p"]
    assert [block.kind for block in shown_on("terminal", document.blocks)] == ["section"]


def test_a_page_is_written_whole(tmp_path):
    write_page(Document(title="surrogate \udcff"), tmp_path / "p.html")
    assert "surrogate \\udcff" in (tmp_path / "p.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("cells", "side"),
    [
        (("1", "2,000", "< 0.001", "–"), "r"),
        (("0 to 2", "about 10^7", "± 0.3", "-5 %", "+16 %"), "r"),
        (("value 5: 0.672", "value 0: 0.4"), "l"),
        (("12", "not available"), "l"),
        (("exact", "estimate"), "l"),
    ],
)
def test_text_stands_left_and_numbers_right(cells, side):
    table = Table(header=("name", "column"), rows=tuple(("x", cell) for cell in cells))
    assert [letter for _, letter in table.columns] == ["l", side]
    page = page_of(Document(title="t", blocks=(table,)))
    assert f'<th class="{"n" if side == "r" else "l"}">column</th>' in page


def test_the_head_of_a_table_is_repeated_on_paper():
    page = page_of(DOCUMENT)
    assert '<thead><tr><th class="l">name</th>' in page
    assert "display: table-header-group" in page


def test_a_verdict_that_is_open_has_its_own_colour():
    page = page_of(Document(title="t", blocks=(Section("Verdict", (Text("x"),), tone="open"),)))
    assert '<section class="open">' in page
    assert "section.open {" in page


def test_a_grid_may_tell_what_is_hidden():
    grid = Grid(
        names=("a",), across="b", levels=("x",), shades=("first",), style="hide",
        rows=((("y",), (Box("hidden", "", 0, False),)),),
    )  # fmt: skip
    page = page_of(Document(title="t", blocks=(grid,)))
    assert '<td class="n box hide0">hidden</td>' in page
    assert '<span class="hide0">first</span>' in page
