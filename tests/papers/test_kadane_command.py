"""The figures of kadane-krishnan-shmueli through the command line, as anyone can ask for them."""

import json

import pytest

DISASTERS = "0:15,1:20,2:9,3:5,4:2"  # Table 3
POEM = "1:7,2:33,3:49,4:22,5:6"  # Table 5

TABLE_4 = [(11, 17, 0.39), (14, 32, 0.24), (1, 13, 0.28), (1, 7, 0.39), (0, 6, 0.39)]
TABLE_6 = [
    (0, 2, 1), (0, 7, 0.36), (33, 45, 0.28), (49, 51, 1), (16, 22, 0.39), (0, 6, 0.39), (0, 6, 0.39)
]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "solutions", "bounds", "printed", "right", "truth", "fit"),
    [
        (DISASTERS, 7, TABLE_4, 0.356, 0.606, 0.363, (1.2156, 1.0245)),
        (POEM, 14, TABLE_6, 0.263, 0.593, 0.479, (70.541, 3.5991)),
    ],
    ids=["disasters", "poem"],
)
def test_holder(discreet, table, solutions, bounds, printed, right, truth, fit):
    got = json.loads(discreet("counts", table, "--json").out)
    assert got["n_solutions"] == {"value": solutions, "how": "exact"}
    for row, (lower, upper, risk) in zip(got["bounds"], bounds, strict=True):
        assert (row["lower"], row["upper"]) == (lower, upper)
        assert row["dr_printed"]["value"] == pytest.approx(risk, abs=0.006)
    priors = got["priors"]
    assert priors["uniform"]["global_dr"]["value"] == pytest.approx(printed, abs=5e-4)
    assert priors["multinomial"]["global_dr"]["value"] == pytest.approx(right, abs=5e-4)
    assert priors["uniform"]["true_table_probability"]["value"] == pytest.approx(1 / solutions)
    found = priors["multinomial"]["true_table_probability"]["value"]
    assert found == pytest.approx(truth, abs=5e-4)
    fitted = [got["fit"][name]["value"] for name in ("rate", "dispersion")]
    assert fitted == pytest.approx(fit, abs=6e-4)


def test_injuries_of_the_intruder_who_has_table_8(discreet):
    """Number and bounds; the entropies over all tables have a test of their own."""
    released = ("--n", 10000, "--s1", 7073, "--s2", "2^2000*3^585*5^87*7^20*11^1")
    got = json.loads(discreet("counts", *released, "--json", "--seconds", 12).out)
    assert got["n_solutions"]["value"] == 82_938_779
    assert [row["upper"] for row in got["bounds"]][:3] == [5510, 4213, 1241]
    assert [row["lower"] for row in got["bounds"]][:3] == [4994, 2686, 230]
    assert "unavailable" in got["bounds"][11]["dr_printed"]
    assert got["fit"]["log_likelihood"] == pytest.approx(-11501.717, abs=1e-3)
