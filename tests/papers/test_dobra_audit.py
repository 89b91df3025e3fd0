"""Tables 1 to 5 of dobra, fienberg and trottini from `discreet audit` on a file."""

import json

import pytest

LEVELS = (("male", "female"), ("White", "Black", "Chinese"), ("low", "middle", "high"))
COUNTS = [96, 72, 161, 10, 7, 6, 1, 1, 2, 186, 127, 51, 11, 7, 3, 0, 1, 0]  # table 1
BOUNDS = [
    (85, 107), (64, 80), (158, 169), (0, 21), (0, 14), (0, 9), (0, 1), (0, 2), (0, 2),
    (175, 197), (119, 135), (43, 54), (0, 21), (0, 14), (0, 9), (0, 1), (0, 2), (0, 2),
]  # fmt: skip
CELLS = [(g, r, i) for g in LEVELS[0] for r in LEVELS[1] for i in LEVELS[2]]
SMALL = [
    ("male", "Chinese", "low"),
    ("male", "Chinese", "middle"),
    ("female", "Chinese", "middle"),
    ("male", "Chinese", "high"),
]


@pytest.fixture
def census(tmp_path):
    rows = [",".join([*cell, str(n)]) for cell, n in zip(CELLS, COUNTS, strict=True)]
    path = tmp_path / "census.csv"
    path.write_text("\n".join(["gender,race,income,n", *rows]) + "\n")
    return path


@pytest.fixture
def audited(discreet, census):
    def run(*options):
        found = discreet(
            "audit", census, "--count", "n", "--release", "race,income", "--release",
            "income,gender", "--json", *options,
        )  # fmt: skip
        assert found.code == 0, found.err
        return json.loads(found.out)

    return run


def distributions(cells):
    return {
        tuple(one["cell"][v] for v in ("gender", "race", "income")): one.get("probabilities")
        for one in cells
    }


def test_table_1_bounds_and_the_number_of_tables(audited):
    found = audited()
    limits = {
        tuple(one["cell"][v] for v in ("gender", "race", "income")): (one["lower"], one["upper"])
        for one in found["cells"]
    }
    assert limits == dict(zip(CELLS, BOUNDS, strict=True))
    assert found["n_tables"]["value"] == 59_400
    assert found["n_tables"]["how"] == "exact"
    assert (found["risk"]["bounds"]["value"], found["risk"]["bounds"]["width"]) == (-1, 1)
    assert found["risk"]["one_over_tables"]["value"] == pytest.approx(1 / 59_400)


SECOND, THIRD = "[gender race][gender income][race income]", "[gender income][race income]"
PRINTED = {  # tables 2 to 5: probabilities of 0, 1, 2 in the cells of SMALL
    "saturated": ("50 50", "43 26 31", "31 26 43", "39 25 36"),
    SECOND: ("64 36", "44 36 20", "20 36 44", "14 34 52"),
    THIRD: ("65 35", "39 47 14", "14 47 39", "06 37 57"),
    "average": ("62 38", "44 36 20", "20 36 44", "15 33 52"),
}
DRAWS = 500  # of the paper, behind tables 2, 3 and 5


def percents(text):
    return [int(part) / 100 for part in text.split()]


def verdict(computed, printed, *, simulated=True):
    """agrees: as printed to two digits; paper simulated: within three errors of 500 draws."""
    if abs(computed - printed) <= 0.00501:
        return "agrees"
    error = (computed * (1 - computed) / DRAWS) ** 0.5
    within = simulated and abs(computed - printed) <= 3 * error + 0.005
    return "paper simulated" if within else "slip"


def verdicts(found, name, *, simulated=True):
    """What to think of each probability of a table, cell by cell."""
    own = distributions(found["views"][name]["cells"])
    return [
        [
            verdict(own[cell][str(q)], p, simulated=simulated)
            for q, p in enumerate(percents(printed))
        ]
        for cell, printed in zip(SMALL, PRINTED[name], strict=True)
    ]


EXACT = {
    "saturated": [(0.4994, 0.5006), (0.3739, 0.25, 0.3761), (0.3761, 0.25, 0.3739),
                  (0.3777, 0.25, 0.3723)],
    THIRD: [(0.648, 0.352), (0.3932, 0.4695, 0.1374), (0.1374, 0.4695, 0.3932),
            (0.0578, 0.3687, 0.5735)],
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact_tables(audited, name):
    run = audited("--posterior", name)
    assert run["views"][name]["how"] == "exact"
    found = distributions(run["cells"])
    for cell, distribution in zip(SMALL, EXACT[name], strict=True):
        assert [found[cell][str(q)] for q in range(len(distribution))] == pytest.approx(
            distribution, abs=6e-5
        )


def test_table_2_was_simulated_by_the_paper_though_it_has_an_exact_answer(audited):
    found = verdicts(audited("--posterior", "saturated"), "saturated")
    sim = "paper simulated"
    assert found == [["agrees", "agrees"], [sim] * 3, [sim] * 3, [sim, "agrees", sim]]


def test_table_4_agrees_to_the_last_digit(audited):
    found = verdicts(audited("--posterior", "released"), THIRD, simulated=False)
    assert {one for cell in found for one in cell} == {"agrees"}


PRIORS = (
    "--model-prior", "saturated=.22", "--model-prior", "no-highest-interaction=.67",
    "--model-prior", "[gender income][race income]=.11", "--seconds", "200", "--draws", "2000",
)  # fmt: skip


def test_tables_3_and_5_and_the_weights_as_printed(audited):
    """With the paper's own weights; long runs give .23, .66, .11, and table 3 within ±.003."""
    found = audited("--posterior", "average", "--weights", "posterior_predictive", *PRIORS)
    assert found["weights"] == "posterior_predictive"
    weights = [found["models"][name]["value"] for name in ("saturated", SECOND, THIRD)]
    assert weights == pytest.approx([0.23, 0.66, 0.11], abs=0.04)
    assert [verdict(w, p) for w, p in zip(weights, (0.18, 0.72, 0.1), strict=True)][:2] == [
        "paper simulated",
        "paper simulated",
    ]
    table_3 = distributions(found["views"][SECOND]["cells"])
    expected = [(0.609, 0.391), (0.415, 0.357, 0.229), (0.229, 0.357, 0.415), (0.14, 0.313, 0.547)]
    for cell, distribution in zip(SMALL, expected, strict=True):
        assert [table_3[cell][str(q)] for q in range(len(distribution))] == pytest.approx(
            distribution, abs=0.02
        )
    for name in (SECOND, "average"):
        told = {one for cell in verdicts(found, name) for one in cell}
        assert told <= {"agrees", "paper simulated"}
        assert "paper simulated" in told


def test_table_5_is_the_average_of_tables_2_to_4_by_the_weights(audited):
    found = audited("--posterior", "average", "--weights", "posterior_predictive", *PRIORS)
    names = ("saturated", SECOND, THIRD)
    own = {name: distributions(found["views"][name]["cells"]) for name in names}
    for cell, distribution in distributions(found["views"]["average"]["cells"]).items():
        for q, p in distribution.items():
            mean = sum(
                found["models"][name]["value"] * own[name][cell].get(q, 0.0) for name in names
            )
            assert p == pytest.approx(mean, abs=1e-9)


def test_the_weights_by_the_marginal_likelihood_show_the_slip(audited):
    """Pr(R | A) as printed uses R twice; the first and the third weight are in closed form."""
    found = audited("--posterior", "average", *PRIORS)
    assert found["weights"] == "marginal_likelihood"
    weights = [found["models"][name]["value"] for name in ("saturated", SECOND, THIRD)]
    assert weights == pytest.approx([0.10, 0.70, 0.20], abs=0.02)
    assert weights[0] / weights[2] == pytest.approx(0.2563 * 0.22 / 0.11, rel=2e-3)
    told = [verdict(w, p) for w, p in zip(weights, (0.18, 0.72, 0.1), strict=True)]
    assert (told[0], told[2]) == ("slip", "slip")


def test_a_refusal_changes_the_belief_exactly(audited):
    found = audited("--refused", "gender,race", "--max-risk", "0.2")["refusal"]
    assert found["n_tables"] < 59_400
    assert 0 < found["probability"]["value"] < 1
    for cell in found["cells"]:
        assert sum(cell["probabilities"].values()) == pytest.approx(1)
