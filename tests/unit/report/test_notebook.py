"""What a notebook shows of a result."""

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.data.table import Table
from discreet.errors import OutputError
from discreet.figures import Figure, How, Unavailable
from discreet.report.notebook import html_of, plots_of
from discreet.report.render_html import page_of
from discreet.report.results import document_of
from discreet.survey.assessment import Assessment
from discreet.survey.models.sample_size import plan_sample_size


@pytest.fixture(scope="module")
def assessment() -> Assessment:
    rng = np.random.default_rng(1)
    columns = {"age": rng.integers(0, 30, 300), "<b>sex": rng.integers(0, 2, 300)}
    return discreet.assess(pa.table(columns), ["age", "<b>sex"], population=3000)


def test_an_assessment_shows_its_report_without_the_page_around_it(assessment: Assessment) -> None:
    shown = assessment._repr_html_()
    assert shown.startswith('<div class="discreet">')
    assert "How many could be found" in shown
    assert "<html" not in shown
    assert "<body" not in shown
    assert "<b>sex" not in shown


def test_the_style_stays_inside(assessment: Assessment) -> None:
    style = assessment._repr_html_().partition("<style>")[2].partition("</style>")[0]
    assert style.startswith(".discreet {")
    assert style.count("{") == style.count("}")
    assert "body" not in style
    assert ":root" not in style


def test_each_plot_of_the_report_can_be_had_and_saved(assessment: Assessment, tmp_path) -> None:
    document = document_of(assessment)
    assert document is not None
    found = assessment.plots()
    assert len(found) == page_of(document).count("<svg")
    assert set(found) >= {"risk", "sizes", "anonymity", "contributions"}
    plot = found["contributions"]
    assert "key is dropped" in plot.title
    assert plot._repr_svg_().startswith("<svg")
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text(encoding="utf-8") == plot.svg
    for ending, first in (("png", b"\x89PNG"), ("PDF", b"%PDF-")):
        plot.save(tmp_path / f"plot.{ending}")
        plot.save(tmp_path / f"again.{ending}")
        content = (tmp_path / f"plot.{ending}").read_bytes()
        assert content.startswith(first)
        assert content == (tmp_path / f"again.{ending}").read_bytes()
    with pytest.raises(OutputError, match=r"path must be a file that ends in .svg, .png, .pdf, go"):
        plot.save(tmp_path / "plot.jpg")
    assert not (tmp_path / "plot.jpg").exists()


def test_a_plan_shows_its_curve() -> None:
    plan = plan_sample_size(1108, 46228, 0.05, "uniform")
    assert "9,477" in plan._repr_html_()
    assert list(plan.plots()) == ["plan"]


def test_a_figure_shows_its_limits_and_a_missing_one_its_reason() -> None:
    figure = Figure(value=4.5, how=How.ESTIMATE, low=1.0, high=9.0, confidence=0.9)
    assert figure._repr_html_() == "<span>4.5 (1 to 9) [estimate]</span>"
    assert "too &lt;few&gt; records" in Unavailable("too <few> records")._repr_html_()


def test_a_result_without_a_page_shows_its_fields() -> None:
    table = Table.of_dense(np.array([[1, 2], [3, 4]]), names=["a", "<i>"])
    shown = html_of(table)
    assert "<th>names</th>" in shown
    assert "&lt;i&gt;" in shown
    assert plots_of(table) == {}


def test_an_audit_shows_bounds_and_beliefs() -> None:
    table = Table.of_dense(np.array([[1, 5], [7, 2]]), names=["a", "b"])
    found = discreet.audit(table, [["a"], ["b"]])
    assert "consistent with what was released" in found._repr_html_()
    assert list(found.plots()) == ["beliefs"]


def test_counts_show_the_tables_that_fit() -> None:
    found = discreet.assess_counts({0: 15, 1: 20, 2: 9, 3: 5, 4: 2})
    assert "2^20*3^7" in found._repr_html_()
    assert list(found.plots()) == ["solutions"]


def test_a_choice_shows_the_map_and_a_best_set_its_lattice() -> None:
    counts = np.array([[[9, 1], [4, 8]], [[7, 5], [2, 6]]])
    table = Table.of_dense(counts, names=["a", "b", "c"])
    choice = discreet.recommend(
        table, "margins[a b][c],rounding:base=3", discreet.ChooseOptions(max_risk=0.5)
    )
    assert "<svg" in choice._repr_html_()
    best = discreet.best_margins(table, seconds=10)
    assert list(best.plots()) == ["lattice"]
    assert "<svg" in best._repr_html_()
