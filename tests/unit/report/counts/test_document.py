"""Count statistics on the terminal, as JSON and as a page: the truth for the holder only."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.report.showing import page_words, terminal_lines, terminal_words

from discreet.count_tables.advice import CountDecision, ExposedValue
from discreet.count_tables.com_poisson.comparison_estimates import ComparisonEstimate
from discreet.count_tables.com_poisson.conjugate import bayes_from_statistics
from discreet.count_tables.com_poisson.estimation import Fit, NoMaximum
from discreet.count_tables.com_poisson.goodness import Goodness
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.options import CountOptions
from discreet.count_tables.statistics import CountStatistics
from discreet.errors import InputError
from discreet.fiber.sums.counting import Count
from discreet.figures import Unavailable
from discreet.flows.counts import assess_counts, assess_statistics
from discreet.report.counts.answer import next_steps
from discreet.report.counts.document import counts_document
from discreet.report.counts.fit import bayes_section, less_dispersed_words
from discreet.report.counts.json import bayes_json, counts_json
from discreet.report.counts_plots import Panel, panel_of, panels_plot
from discreet.report.document import Document
from discreet.report.render_html import page_of

DISASTERS = dict(enumerate([15, 20, 9, 5, 2]))
HOLDER = assess_counts(DISASTERS, CountOptions(max_risk=0.2, knows=Knowledge(largest=4)))
INTRUDER = assess_statistics(51, 61, {2: 20, 3: 7})


def shown(assessment, full=True):
    return terminal_lines(counts_document(assessment, "x"), full=full)


def page(assessment):
    return page_words(counts_document(assessment, "x"))


@pytest.mark.parametrize("assessment", [HOLDER, INTRUDER], ids=["holder", "intruder"])
def test_it_fits_80_columns(assessment):
    assert max(map(len, shown(assessment).splitlines())) <= 80


def test_how_sure_an_intruder_is():
    text = " ".join(shown(INTRUDER).split())
    assert "3.14 0.470 0.606" in text
    assert "0 11–17 0.263 16 0.470" in text


def test_the_truth_is_for_the_holder_only():
    for text in (
        shown(INTRUDER),
        json.dumps(counts_json(INTRUDER)),
        page_of(counts_document(INTRUDER, "x")),
    ):
        assert "true table" not in text.replace("true_table", "")
        assert "confidential" not in text
    assert "the true table" in shown(HOLDER)
    assert "as confidential as the data" in page(HOLDER)
    assert "The true table is dashed, in red." in page(HOLDER)


def test_the_verdict_is_told_everywhere():
    words = [judged.words for judged in HOLDER.verdict.rules]
    for text in (flat(shown(HOLDER)), flat(shown(HOLDER, full=False)), page(HOLDER)):
        assert "Verdict: may not go out" in text
        assert all(one in text for one in words)
    assert counts_json(HOLDER)["verdict"] == HOLDER.verdict.to_json()
    assert counts_json(HOLDER)["advice"]["exposed"]
    assert "exposed value" in page(HOLDER)


@pytest.mark.parametrize(
    ("decision", "decimals", "words"),
    [
        (CountDecision.RELEASE, None, "release them as they stand"),
        (CountDecision.FEWER_DECIMALS, 1, "release S2 with 1 decimal instead (--decimals 1)"),
        (CountDecision.FEWER_DECIMALS, 0, "release S2 with 0 decimals instead (--decimals 0)"),
        (CountDecision.UNDECIDED, None, "allow more time for it, as in --seconds 600"),
        (CountDecision.DO_NOT, None, "even with 0 decimals the largest risk is"),
    ],
)
def test_what_to_do_now(decision, decimals, words):
    advice = replace(HOLDER.advice, decision=decision, decimals=decimals)
    steps = list(next_steps(replace(HOLDER, advice=advice)))
    assert words in steps[0]
    assert "discreet audit" in steps[1]


def test_without_a_limit_the_next_step_is_to_give_one():
    assert "--max-risk" in next(iter(next_steps(replace(HOLDER, verdict=None, advice=None))))
    assert "the holder" in next(iter(next_steps(INTRUDER)))


def test_the_short_view_is_short():
    for one in (HOLDER, INTRUDER):
        lines = shown(one, full=False).splitlines()
        assert len(lines) <= 24
        assert "Bounds and risk of each count" not in lines
    assert shown(HOLDER, full=False).splitlines()[4].startswith("Verdict: ")


def test_zeros_that_are_not_known_are_not_shown_as_none():
    hidden = assess_counts(DISASTERS, CountOptions(withhold_n=True))
    text, told = shown(hidden), counts_json(hidden)
    assert "? 20 9 5 2" in text
    assert "? 20 9 5 2" in page(hidden)
    assert "0 20 9 5 2" not in text + page(hidden)
    assert {table["counts"][0] for table in told["solutions"]["tables"]} == {"?"}
    assert "what a user gets" not in text + page(hidden)
    assert "each taken as equally probable" in " ".join(text.split())


def test_zeros_have_no_bounds_where_they_are_not_known():
    for decimals in (None, 0):
        a = assess_counts({0: 7, 1: 2, 2: 1}, CountOptions(withhold_n=True, decimals=decimals))
        assert [one["value"] for one in counts_json(a)["bounds"]] == [1, 2]


def test_the_line_of_the_truth_begins_where_counts_are_known():
    hidden = assess_counts(DISASTERS, CountOptions(withhold_n=True))
    panel = panel_of("", hidden.likely, hidden.table)
    assert panel.first_value == 1
    assert panel.tables.shape[1] == 4
    assert panel.truth == [20, 9, 5, 2]


def test_panels_share_one_scale_of_colours():
    tables = np.array([[16, 17, 11], [15, 20, 9]])
    panels = [
        Panel(name=name, first_value=0, tables=tables, probabilities=[0.6, 0.4], truth=truth)
        for name, truth in (("<a>", [15, 20, 9]), ("b", None), ("c", None), ("d", None))
    ]
    drawn = panels_plot(panels)
    assert drawn.count("true table") == 1
    assert drawn.count("probability of the table") == 1
    assert "&lt;a&gt;" in drawn
    assert "<image" not in drawn
    assert drawn == panels_plot(panels)
    wide = Panel(
        name="", first_value=1, tables=tables * 1000, probabilities=[1e-300, 0.0], truth=None
    )
    assert "<svg" in panels_plot([wide])


def test_no_line_ends_in_blanks():
    for assessment in (HOLDER, INTRUDER):
        lines = shown(assessment).splitlines()
        assert lines == [line.rstrip() for line in lines]


def test_the_published_decimal_is_what_is_fitted():
    rounded = assess_counts(DISASTERS, CountOptions(decimals=0))
    text = shown(rounded)
    assert "maximum likelihood, what a user gets" in text
    assert "maximum likelihood, from the table" in text
    seen = assess_statistics(51, 61, rounded.release.log_factorial_total)
    rates = [counts_json(one)["fit"]["rate"]["value"] for one in (rounded, seen)]
    assert rates[0] == pytest.approx(rates[1])


def test_knowledge_before_and_after():
    text = " ".join(shown(HOLDER).split())
    assert "tables 7 6" in text
    assert "true table 0.363 0.405" in text


def test_a_bad_fit_is_a_warning():
    bad = Goodness(
        groups=(),
        statistic=100.0,
        degrees_of_freedom=4,
        p_value=0.002,
        p_value_standard_error=0.001,
        chi_square_p_value=None,
        draws=499,
    )
    found = replace(INTRUDER, table=DISASTERS, goodness=bad)
    for text in (shown(found), page(found)):
        assert "COM-Poisson fits these counts badly (p = 0.002)" in " ".join(text.split())
    assert counts_json(found)["warnings"]


def test_one_table_left():
    found = assess_counts({0: 3, 1: 4})
    text = " ".join(shown(found).split())
    assert "Tables consistent with what goes out: 1 (exact)" in text
    assert "Nothing to fit: all observations are 0 or 1" in text
    told = counts_json(found)
    assert "unavailable" in told["bounds"][0]["dr_printed"]
    assert told["bounds"][0]["dr"] == 1
    assert "one table" in told["priors"]["multinomial"]["global_dr"]["unavailable"]
    assert "<svg" in page_of(counts_document(found, "x"))


def test_nothing_found_says_why():
    none = Unavailable("the search does not fit")
    risks = {"multinomial": none, "uniform": none}
    found = replace(INTRUDER, found=none, risks=risks, likely=none)
    assert "not known: the search does not fit" in shown(found)
    assert counts_json(found)["n_solutions"] == none.to_json()
    assert counts_json(found)["priors"]["uniform"] == none.to_json()
    assert "the search does not fit" in page(found)


def test_zeros_come_in_with_a_range_of_n():
    options = CountOptions(withhold_n=True, knows=Knowledge(n=(50, 52)))
    text = " ".join(shown(assess_counts(DISASTERS, options)).split())
    assert "the two are not about the same tables" in text


def one_panel(tables, probabilities, truth=None):
    panel = Panel(name="", first_value=0, tables=tables, probabilities=probabilities, truth=truth)
    return panels_plot([panel])


def test_lines_of_the_plot():
    tables = np.array([[16, 17, 11], [15, 20, 9]])
    plain = one_panel(tables, [0.6, 0.4])
    marked = one_panel(tables, [0.6, 0.4], [15, 20, 9])
    assert "true table" not in plain
    assert "true table" in marked
    assert "<image" not in marked  # the page's policy shows none
    assert one_panel(tables, [0.6, 0.4]) == plain
    assert "<svg" in one_panel(tables * 1000, [1e-12, 1e-300])


@pytest.mark.parametrize(("probability", "words"), [
    (0.0, "< 0.001"), (1e-16, "< 0.001"), (1.0, "> 0.999"), (1 - 1e-16, "> 0.999"), (0.25, "0.250")
])  # fmt: skip
def test_dispersion_is_never_certain(probability, words):
    assert less_dispersed_words(SimpleNamespace(less_dispersed=probability)) == words


def told(a, **more):
    return shown(a, **more), page(a), json.loads(json.dumps(counts_json(a)))


def flat(text):
    return " ".join(text.split())


def test_tables_that_are_not_listed_say_why():
    text, page, data = told(replace(HOLDER, likely=Unavailable("there are too many tables")))
    for one in (flat(text), page):
        assert "No table is listed or drawn: there are too many tables." in one
    assert data["solutions"] == {"unavailable": "there are too many tables"}


def test_effective_tables_without_a_figure_say_why():
    lost = replace(
        HOLDER.risks["multinomial"], effective_tables=Unavailable("too large for a number")
    )
    a = replace(HOLDER, risks={**HOLDER.risks, "multinomial": lost})
    for text in told(a)[:2]:
        assert "Effective tables have no figure, too large for a number" in flat(text)


def test_estimates_of_the_table_that_are_missing_say_why():
    estimates = {
        "weighted least squares": Unavailable("three values are needed"),
        "moments": ComparisonEstimate(log_rate=800.0, dispersion=2.0),
    }
    a = replace(
        HOLDER,
        comparison=estimates,
        release=replace(HOLDER.release, n=None),
        holder_fit=NoMaximum(sums=None, reason="all observations are 2", log_likelihood_limit=0.0),
    )
    for text in told(a)[:2]:
        said = flat(text)
        least = "Weighted least squares, from the table: not available, three values are needed."
        assert least in said
        assert "beyond every number" in said
        assert "from the table: nothing to fit, all observations are 2." in said
    data = told(a)[2]["fit"]["comparison"]
    assert "rate" not in data["moments"]


def test_limits_of_the_dispersion_that_cannot_be_had_say_why(monkeypatch):
    def beyond(*_):
        raise InputError("log_rate must be smaller")

    monkeypatch.setattr(Fit, "dispersion_interval", beyond)
    text, page, data = told(HOLDER)
    for one in (flat(text), page):
        assert "limits of the dispersion not available, they are beyond floating-point" in one
    assert "beyond floating-point" in data["fit"]["dispersion"]["note"]
    assert "low" not in data["fit"]["dispersion"]


def test_knowledge_says_why_nothing_is_known_without_it():
    lost = {name: Unavailable("it took too long") for name in HOLDER.risks_before}
    for text in told(replace(HOLDER, risks_before=lost))[:2]:
        assert "Before: it took too long." in flat(text)


def test_bounds_that_would_go_out_instead_say_what_is_not_known():
    count = Count(value=None, how=None, note="too many states")
    unknown = replace(HOLDER, intervals=replace(HOLDER.intervals, count=count))
    distribution = {
        "multinomial": Unavailable("too many states"),
        "uniform": Unavailable("too many"),
    }
    doubtful = replace(HOLDER, intervals=replace(HOLDER.intervals, distributions=distribution))
    for a, said in (
        (unknown, "would be left: not known: too many states."),
        (doubtful, "effective tables are not known: too many states."),
    ):
        for text in told(a)[:2]:
            assert said in flat(text)


def test_bounds_that_draws_do_not_tell_have_a_reason_in_json():
    data = told(replace(INTRUDER, found=Unavailable("no time"), likely=Unavailable("no time")))[2]
    assert data["bounds"] == {"unavailable": "no time"}
    assert [one["value"] for one in told(INTRUDER)[2]["bounds"]] == [0, 1, 2, 3, 4]


def test_tiles_keep_their_places_without_figures():
    lost = dict.fromkeys(HOLDER.risks, Unavailable("no time"))
    for one in (replace(HOLDER, risks=lost), HOLDER):
        assert page_of(counts_document(one, "x")).count('class="tile"') == 4


def test_long_tables_say_what_is_left_out():
    one = ExposedValue(value=0, count=1, probability=0.9, standard_error=None, upper=0.9)
    many = replace(HOLDER.advice, exposed=(one,) * 47)
    assert "The first 40 of 47; --report or" in shown(replace(HOLDER, advice=many))


def test_bayesian_figures_of_categories_say_why_they_are_missing():
    found = bayes_from_statistics(CountStatistics.of_counts(DISASTERS))
    lost = replace(found, rate_mean=Unavailable("it is infinite"))
    many = {"a": found, "b": lost, "c": lost} | dict.fromkeys("defghijklmnopqrstuvw", found)
    text = terminal_words(Document(title="t", blocks=(bayes_section(many),)))
    assert "b and c: No mean of the rate: it is infinite." in text
    assert "The first 40 of 46; --report or --json shows the rest." in text
    beyond = replace(found, rate_quantiles=Unavailable("beyond every number"))
    quantiles = bayes_json(beyond)["rate"]["quantiles"]
    assert quantiles == {"unavailable": "beyond every number"}
