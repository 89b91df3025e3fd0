"""An audit as a document: bounds coloured by width, warnings beside figures, changes, the verdict."""

import re
from dataclasses import replace

import numpy as np
import pytest

from discreet.data.table import Table
from discreet.figures import Figure, How, Unavailable
from discreet.flows.audit import audit, audit_sequence
from discreet.report.audit.document import SHADES, audit_document, shade_of, weights_of
from discreet.report.render_html import page_of
from discreet.tables.audit import main_view
from discreet.tables.audit_options import AuditOptions
from discreet.tables.posteriors import View
from discreet.tables.refused_margin import RiskMeasure

TABLE = Table.of_dense(
    np.array([[[30, 1], [0, 2]], [[2, 4], [1, 0]]]),
    ["a", "b", "c"],
    [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]],
)
SETS = [["a", "b"], ["b", "c"]]


@pytest.fixture(scope="module")
def steps():
    options = AuditOptions(models=("released", "saturated"))
    return audit_sequence(TABLE, [["a", "c"], ["a"], ["a", "b"]], options)


def audit_html(source, audits, sequence=True):
    return page_of(audit_document(source, audits, sequence=sequence))


def boxes(page):
    """(shade, bounds, true count) of each cell of the table as shown."""
    found = re.findall(r'box shade(\d)[^"]*">([\d –]+)<br><small>([\d,]+)</small>', page)
    return [
        (int(shade), *map(int, (bounds.split(" – ") * 2)[:2]), int(truth))
        for shade, bounds, truth in found
    ]


def test_the_narrower_the_redder():
    shades = [shade_of(width) for width in (0, 1, 2, 4, 5, 9, 10, 1000)]
    assert shades == [0, 1, 2, 2, 3, 3, 4, 4]
    assert len(SHADES) == 5


def test_a_cell_that_cannot_be_is_grey_and_not_known():
    rows = np.array([[[9, 4], [0, 0]], [[7, 5], [0, 0]], [[0, 0], [2, 8]], [[0, 0], [6, 1]]])
    names, levels = ["d", "r", "s"], [["d1", "d2", "d3", "d4"], ["r1", "r2"], ["f", "m"]]
    found = audit(Table.of_dense(rows, names, levels), [["d"], ["r", "s"]])
    page = audit_html("t", [found], sequence=False)
    assert page.count('box shade5">–</td>') == 8
    assert page.count("box shade") == 16
    assert "box shade0" not in page
    assert '<span class="shade5">impossible</span>' in page
    assert "Grey cells cannot be" in page
    other = audit_html("t", [audit(TABLE, SETS)], sequence=False)
    assert "impossible" not in other


def test_each_cell_of_the_table_has_the_colour_of_its_width(steps):
    shown = boxes(audit_html("t", steps))
    cells = steps[-1].cells
    assert [(low, high, truth) for _, low, high, truth in shown] == [
        (cell.lower, cell.upper, cell.truth) for cell in cells
    ]
    assert [shade for shade, *_ in shown] == [shade_of(cell.width) for cell in cells]


def test_small_cells_and_they_alone_have_a_frame(steps):
    page = audit_html("t", steps)
    assert page.count(' framed">') == len(steps[-1].small_cells)


def test_what_changed_tells_the_margin_added_and_measures_before_and_after(steps):
    page = audit_html("t", steps)
    section = page[page.index("What changed since") :]
    section = section[: section.index("</section>")]
    assert "Added: [a b]" in section
    for step in steps[-2:]:
        assert f"{-step.tightness.value:.0f} count" in section
    assert audit_html("t", steps[-1:]).count("What changed since") == 0
    assert "What each release added" not in audit_html("t", steps, sequence=False)


def test_all_three_plots_are_named_for_a_notebook(steps):
    page = audit_html("t", steps)
    for name in ("beliefs", "weights", "releases"):
        assert (
            len(re.findall(rf'<figure role="img" id="{name}" aria-label="[^"]+"><svg', page)) == 1
        )


def test_a_warning_stands_beside_every_figure_that_it_is_about(steps):
    last = steps[-1]
    doubtful = {
        name: replace(view, warning="draws are few", how=How.ESTIMATE)
        if isinstance(view, View)
        else view
        for name, view in last.views.items()
    }
    page = audit_html("t", [replace(last, views=doubtful)])
    for title in ("How bad that is", "What an intruder believes", "<h2>Small cells"):
        section = page[page.index(title) :]
        assert "draws are few" in section[: section.index("</section>")]


def test_the_verdict_is_on_the_page():
    options = AuditOptions(measure=RiskMeasure.BOUNDS, max_risk=-100)
    page = audit_html("t", [audit(TABLE, SETS, options)])
    assert "Verdict: may not go out" in page
    assert "they must be at least 100 wide" in page


def test_no_figure_is_shown_for_what_is_not_available(steps):
    last = steps[-1]
    nothing = replace(last, views=dict.fromkeys(last.views, Unavailable("no time")), measures={})
    page = audit_html("t", [nothing])
    assert f"{main_view(nothing)} is not available: no time" in page
    assert 'id="beliefs"' not in page


def test_names_from_the_data_cannot_become_markup():
    hostile = replace(TABLE, levels=(("<script>x</script>", "a2"), *TABLE.levels[1:]))
    assert "<script" not in audit_html("<script>", [audit(hostile, SETS)])


@pytest.mark.parametrize("noise", [-(2**-53), 0.0, 2**-53])
def test_models_as_probable_keep_their_order(noise):
    found = audit(TABLE, SETS, AuditOptions(models=("released", "saturated")))
    names = list(found.views)
    weighed = {
        name: replace(found.views[name], weight=Figure(value=p, how=How.EXACT))
        for name, p in zip(names, (0.5, 0.5 + noise), strict=True)
    }
    assert list(weights_of(replace(found, views=weighed))) == names
