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


def laws(cells):
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
    assert found["risk"]["bounds"]["value"] == -1
    assert found["risk"]["one_over_tables"]["value"] == pytest.approx(1 / 59_400)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("saturated", [(0.4994, 0.5006), (0.3739, 0.25, 0.3761), (0.3761, 0.25, 0.3739),
                       (0.3777, 0.25, 0.3723)]),
        ("released", [(0.648, 0.352), (0.3932, 0.4695, 0.1374), (0.1374, 0.4695, 0.3932),
                      (0.0578, 0.3687, 0.5735)]),
    ],
    ids=["table 2, exact", "table 4"],
)  # fmt: skip
def test_exact_tables(audited, model, expected):
    found = laws(audited("--posterior", model)["cells"])
    for cell, law in zip(SMALL, expected, strict=True):
        assert [found[cell][str(q)] for q in range(len(law))] == pytest.approx(law, abs=6e-5)


def test_tables_3_and_5_and_the_weights(audited):
    """With the paper's own weights; long runs give .23, .66, .11, and table 3 within ±.003."""
    found = audited(
        "--posterior", "average", "--weights", "posterior_predictive", "--seconds", "200",
        "--draws", "600", "--model-prior", "saturated=.22", "--model-prior",
        "no-highest-interaction=.67", "--model-prior", "[gender income][race income]=.11",
    )  # fmt: skip
    second = next(n for n in found["models"] if n.count("[") == 3)
    assert found["models"]["saturated"] == pytest.approx(0.23, abs=0.04)
    assert found["models"][second] == pytest.approx(0.66, abs=0.04)
    table_3 = laws(found["views"][second]["cells"])
    expected = [(0.609, 0.391), (0.415, 0.357, 0.229), (0.229, 0.357, 0.415), (0.14, 0.313, 0.547)]
    for cell, law in zip(SMALL, expected, strict=True):
        assert [table_3[cell][str(q)] for q in range(len(law))] == pytest.approx(law, abs=0.02)
    table_5 = laws(found["cells"])
    printed = [(0.62, 0.38), (0.44, 0.36, 0.20), (0.20, 0.36, 0.44), (0.15, 0.33, 0.52)]
    for cell, law in zip(SMALL, printed, strict=True):  # the paper simulated 500 draws
        assert [table_5[cell][str(q)] for q in range(len(law))] == pytest.approx(law, abs=0.06)
    assert found["weights"] == "posterior_predictive"


def test_a_refusal_changes_the_belief_exactly(audited):
    found = audited("--refused", "gender,race", "--max-risk", "0.2")["refusal"]
    assert found["n_tables"] < 59_400
    assert 0 < found["probability"]["value"] < 1
    for cell in found["cells"]:
        assert sum(cell["probabilities"].values()) == pytest.approx(1)
