"""`discreet papers`: every row asserted, none missing, none that only says so."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from discreet.belief.draws.augmentation import ChainEffort
from discreet.cli.papers import NAMES, _parts
from discreet.errors import InputError
from discreet.figures import Unavailable
from discreet.papers import dobra
from discreet.papers.catalogue import NAMES as CATALOGUE
from discreet.papers.catalogue import paper_rows
from discreet.papers.rows import NUMBER, Kind, Row, RowVerdict

ROOT = Path(__file__).parents[2]
COHEN, DOBRA, POLETTINI, TAKEMURA, KADANE = NAMES

# Rows and numbers of each paper: a row that is lost is noticed.
SIZES = {
    COHEN: (10, 8),
    DOBRA: (38, 99),
    POLETTINI: (22, 4),
    TAKEMURA: (16, 27),
    KADANE: (81, 293),
}

# All rows that do not agree, with the page of the argument; every other row must agree.
DIFFER = {
    (COHEN, "(2.5): the sum of a runs up to"): "cohen-sackrowitz-sum",
    (COHEN, "section 2: the quotient set equal to 4.36"): "cohen-sackrowitz-example",
    (DOBRA, "(2) where the scientist acts for certain and loses 1"): "dobra-utility",
    (DOBRA, "section 5.2: θ(i) = 0.5 for each of 18 cells; their sum"): "dobra-prior",
    **{
        (DOBRA, f"Table {table}, cell {cell}"): "dobra-simulated-tables"
        for table in (2, 3, 5)
        for cell in ((1, 3, 1), (1, 3, 2), (2, 3, 2), (1, 3, 3))
        if (table, cell) != (2, (1, 3, 1))
    },
    (DOBRA, "section 5.4: model probabilities, by Pr(R|A) as printed"): "dobra-model-weights",
    (DOBRA, "section 5.4: model probabilities, by the marginal likelihood"): "dobra-model-weights",
    (DOBRA, "(10) with tables not normalised: weights in effect"): "dobra-model-weights",
    (DOBRA, "Table 5, cell (1, 3, 3), value 0, from Tables 2–4 and the weights"): "dobra-table-5",
    (POLETTINI, "section 2, last form at f = 3, p = 0.3"): "polettini-three",
    (
        POLETTINI,
        "(7): which of c−a−b = −1, 0 converges conditionally on |z| = 1",
    ): "polettini-convergence",
    (
        POLETTINI,
        "section 3, contiguity relation, argument 0, left side at f = 4, p = 0.3",
    ): "polettini-argument",
    (POLETTINI, "section 3, (8), argument p, left side at f = 4, p = 0.3"): "polettini-argument",
    (
        POLETTINI,
        "section 3: order j > −log ε/log f = 19.93 (f = 2, p = 0.05)",
    ): "polettini-order",
    (TAKEMURA, "(4) on dobra's Table 1, cell (2,3,2), λ = 0.5"): "takemura-equation-4",
    (TAKEMURA, "table, no renormalization, λ = 0 … 1"): "takemura-data",
    (TAKEMURA, "table, renormalization, λ = 0 … 1"): "takemura-data",
    (TAKEMURA, "table, sum of negative prob., λ > 0"): "takemura-data",
    (TAKEMURA, "table, Pitman"): "takemura-pitman",
    (KADANE, "section 3.3: J = p′ − 1 for J = 1, 2, 3"): "kadane-largest-value",
    (KADANE, "(10): exponent of 2 for the disasters"): "kadane-equation-10",
    (KADANE, "section 3.4: e^S2 lies within e^S̃2 ± 10^−d, disasters, d = 2"): "kadane-decimals",
    (KADANE, "Table 1, J = 13–16: equations, frequencies"): "kadane-table-1",
    (KADANE, "(14) at U − L = 1"): "kadane-interval-risk",
    (KADANE, "section 4.1: ν < 1, so the data are over-dispersed"): "kadane-estimates",
    (KADANE, "section 4.1: probability of each solution"): "kadane-equal-tables",
    (KADANE, "section 4.1: chance to reconstruct the table"): "kadane-equal-tables",
    (KADANE, "section 4.1: peaks of the three “shapes”"): "kadane-shapes",
    (KADANE, "Figure 2, note: number of equations"): "kadane-figure-2",
    (KADANE, "Theorem 1 on the poem: probability of the true table"): "kadane-equal-tables",
    (KADANE, "section 5: the fit of the three examples"): "kadane-fit",
}
NOT_PUBLIC = {"takemura-data"}
SIMULATED = {"dobra-simulated-tables"}

# What comes out, from elsewhere: closed forms, brute force, long runs (see the pages).
COMPUTED = {
    (COHEN, "section 2: estimate of the example"): [4.3553],
    (COHEN, "(2.6) for the example"): [1.58e-13 / 108],
    (DOBRA, "Table 2, cell (1, 3, 2)"): [0.3739, 0.2500, 0.3761],
    (DOBRA, "Table 2, cell (1, 3, 3)"): [0.3777, 0.2500, 0.3723],
    (DOBRA, "Table 4, cell (1, 3, 3)"): [0.0578, 0.3687, 0.5735],
    (DOBRA, "section 4.2: 1/M(T) on Table 1"): [1 / 59_400],
    (POLETTINI, "section 2, last form at f = 3, p = 0.3"): [0.125385614335],
    (TAKEMURA, "table, Ewens"): [5.8769],
    (TAKEMURA, "table, Pitman"): [118.94],
    (KADANE, "section 4.1: estimates of λ and ν"): [1.1469, 0.8785],
    (KADANE, "section 4.1: chance to reconstruct the table"): [0.3628],
    (KADANE, "Theorem 1 on the poem: probability of the true table"): [0.4790],
    (KADANE, "Table 1, J = 13–16: equations, frequencies"): [8, 17],
}
NEAR = {  # by simulation, with the difference allowed
    (DOBRA, "Table 3, cell (1, 3, 1)"): ([0.609, 0.391, None], 0.02),
    (DOBRA, "Table 3, cell (1, 3, 3)"): ([0.140, 0.313, 0.547], 0.02),
    (DOBRA, "section 5.4: model probabilities, by Pr(R|A) as printed"): ([0.23, 0.66, 0.11], 0.02),
    (
        DOBRA,
        "section 5.4: model probabilities, by the marginal likelihood",
    ): ([0.105, 0.69, 0.204], 0.02),
}


@pytest.fixture(scope="module")
def rows():
    return paper_rows()


@pytest.fixture(scope="module")
def by_figure(rows):
    return {(row.paper, row.figure): row for row in rows}


def test_every_figure_has_a_row_of_its_own(rows, by_figure):
    assert len(by_figure) == len(rows)
    found = {
        paper: (len(own), sum(row.n_numbers for row in own))
        for paper in NAMES
        for own in [[row for row in rows if row.paper == paper]]
    }
    assert found == SIZES


def test_rows_that_differ_are_those_with_an_argument(by_figure):
    differ = {
        key: row.page for key, row in by_figure.items() if row.verdict is not RowVerdict.AGREES
    }
    assert differ == DIFFER


def test_verdicts(by_figure):
    assert RowVerdict.DISAGREES not in {row.verdict for row in by_figure.values()}
    for key, page in DIFFER.items():
        verdict = by_figure[key].verdict
        assert (verdict is RowVerdict.NOT_PUBLIC) == (page in NOT_PUBLIC)
        if page in SIMULATED or key[1].endswith("Pr(R|A) as printed"):
            assert verdict is RowVerdict.SIMULATED
        elif page not in NOT_PUBLIC:
            assert verdict is RowVerdict.SLIP


def test_no_reason_is_declared_in_vain(rows):
    """A simulated figure may have come out right; a slip or a lack of data must show."""
    for row in rows:
        if row.reason in (RowVerdict.SLIP, RowVerdict.NOT_PUBLIC):
            assert row.verdict is row.reason, row.figure


@pytest.mark.parametrize("key", COMPUTED, ids=lambda key: f"{key[0]}, {key[1]}")
def test_computed_figures(by_figure, key):
    assert by_figure[key].computed == pytest.approx(COMPUTED[key], rel=2e-3, abs=1e-18)


@pytest.mark.parametrize("key", NEAR, ids=lambda key: key[1])
def test_simulated_figures(by_figure, key):
    expected, allowed = NEAR[key]
    for value, right in zip(by_figure[key].computed, expected, strict=True):
        assert value == (None if right is None else pytest.approx(right, abs=allowed))


def test_probabilities_of_the_seven_tables(by_figure):
    found = by_figure[KADANE, "section 4.1: probability of each solution"].computed
    assert found[:5] == pytest.approx([0.1033, 0.4700, 0.3628, 0.0615, 0.0023], abs=5e-5)
    assert sum(found) == pytest.approx(1)


def test_all_bounds_of_dobra_table_1_are_there(by_figure):
    rows = [row for (_, figure), row in by_figure.items() if figure.startswith("Table 1, bounds")]
    assert sum(row.n_numbers for row in rows) == 2 * 18
    assert all(row.verdict is RowVerdict.AGREES for row in rows)


@pytest.mark.parametrize("table", ["Table 4", "Table 6", "Table 8"])
def test_bounds_and_risks_of_kadane(by_figure, table):
    for kind in ("lower bounds", "upper bounds", "DR"):
        assert by_figure[KADANE, f"{table}, {kind}"].verdict is RowVerdict.AGREES


def test_pages_exist_and_each_is_needed(rows):
    pages = {row.link for row in rows if row.link}
    files = {
        f"docs/slips/{path.name}"
        for path in (ROOT / "docs" / "slips").glob("*.md")
        if path.name != "index.md"
    }
    assert pages == files


def test_rows_are_json(rows):
    got = json.loads(json.dumps([row.to_json() for row in rows], allow_nan=False))
    names = {"paper", "figure", "printed", "computed", "verdict", "note"}
    assert all(names <= row.keys() for row in got)
    assert {row["verdict"] for row in got} == {
        "agrees", "paper slip", "paper simulated", "data not public",
    }  # fmt: skip
    assert all(len(row["note"]) <= 90 and "\n" not in row["note"] for row in got)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_text_fits_the_terminal(rows, width):
    console = Console(file=io.StringIO(), width=width, highlight=False, emoji=False, markup=False)
    for part in _parts(rows, width):
        console.print(part)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for word in ("In all", "paper slip", "data not public", "[kadane-table-1]", *NAMES):
        assert word in re.sub(r"\s+", " ", text) or word in text.replace("\n", "")


PAPERS = ROOT.parent / "shared" / "papers"
FILES = {COHEN: "000", DOBRA: "001", POLETTINI: "002", TAKEMURA: "003", KADANE: "004"}


@pytest.mark.skipif(not PAPERS.exists(), reason="the papers are not here")
def test_printed_numbers_stand_in_the_papers(rows):
    for paper, number in FILES.items():
        text = next(PAPERS.glob(f"{number}_*.txt")).read_text(encoding="utf-8")
        known = {word.replace(",", "") for word in re.findall(r"\d[\d,]*\.\d+|\d[\d,]*", text)}
        for row in rows:
            if row.paper == paper and row.kind is Kind.NUMBERS:
                for token in NUMBER.findall(" ".join(row.printed)):
                    if len(token) > 2:  # one or two digits stand anywhere
                        assert token.replace(",", "") in known, (row.figure, token)


def test_command_prints_a_list(discreet):
    found = discreet("papers", "--paper", "cohen-sackrowitz", "--paper", "takemura", "--json")
    assert (found.code, found.err) == (0, "")
    got = json.loads(found.out)
    assert [row["paper"] for row in got] == [COHEN] * 10 + [TAKEMURA] * 16
    assert got[-2]["figure"] == "table, Ewens"
    assert got[-2]["verdict"] == "agrees"
    assert got[-1]["page"] == "docs/slips/takemura-pitman.md"


def test_command_prints_a_table(discreet):
    found = discreet("papers", "--paper", "polettini")
    assert (found.code, found.err) == (0, "")
    assert "0.0877699300" in found.out
    assert "In all" in found.out
    assert max(map(len, found.out.splitlines())) <= 80


NO_FIGURE = Unavailable("the chains are worth 17 independent draws, too few")


@pytest.fixture
def failing_views(monkeypatch):
    """Audits in which no model has a posterior."""
    real = dobra.audit  # type: ignore[attr-defined]

    def audit(*arguments, **options):
        found = real(*arguments, **options)
        return replace(found, views=dict.fromkeys(found.views, NO_FIGURE))

    monkeypatch.setattr(dobra, "audit", audit)
    monkeypatch.setattr(dobra, "EFFORT", ChainEffort(n_draws=50))


def test_figures_that_cannot_be_had_are_rows_that_say_so(rows, discreet, failing_views):
    found = discreet("papers", "--paper", DOBRA, "--json")
    assert (found.code, found.err) == (1, "")
    got = json.loads(found.out)
    assert [row["figure"] for row in got] == [row.figure for row in rows if row.paper == DOBRA]
    missing = [row for row in got if row["verdict"] == "not computed"]
    assert len(missing) == 16 + 4 + 3
    assert {row["note"] for row in missing} == {f"not computed: {NO_FIGURE.reason}"}
    assert "disagrees" not in {row["verdict"] for row in got}


def test_figures_that_cannot_be_had_are_shown_in_the_terminal(discreet, failing_views):
    found = discreet("papers", "--paper", DOBRA)
    assert (found.code, found.err) == (1, "")
    assert "23 not computed" in " ".join(found.out.split())
    assert "not computed: the chains are worth 17 independent draws, too few" in found.out


def test_a_figure_that_disagrees_fails(discreet, monkeypatch):
    wrong = Row(paper=POLETTINI, figure="(1)", printed=("1",), computed=(2,))
    monkeypatch.setattr("discreet.papers.polettini.rows", lambda progress: [wrong])
    found = discreet("papers", "--paper", POLETTINI)
    assert (found.code, found.err) == (1, "")


def test_unknown_paper(discreet):
    assert "nobody" in discreet("papers", "--paper", "nobody").complaint()
    with pytest.raises(InputError, match="paper must be cohen-sackrowitz or .*, got nobody"):
        paper_rows(["nobody"])


def test_names_of_the_command_are_those_of_the_catalogue():
    assert NAMES == CATALOGUE


def test_progress_is_told():
    steps = []
    paper_rows(
        ["cohen-sackrowitz", "polettini"], progress=lambda step, part: steps.append((step, part))
    )
    assert steps[0] == ("cohen-sackrowitz", 0.0)
    assert ("polettini", 0.5) in steps
    assert all(part is not None and 0 <= part <= 1 for _, part in steps)
