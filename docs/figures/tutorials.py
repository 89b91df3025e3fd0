"""The pictures of the tutorials: the plots of the reports that their commands write.

Writes survey-*.svg, table-*.svg, counts-*.svg beside this file; the same bytes each time for one
matplotlib. Run: .venv/bin/python docs/figures/tutorials.py
"""

from pathlib import Path

import numpy as np

import discreet
from discreet.report.audit.document import audit_document
from discreet.report.document import plots_in

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
MASKS = "margins,rounding:base=3,rounding:base=5,suppression"
KEYS = ["sex", "age", "marital_status", "birthplace", "household_type"]


def survey() -> None:
    """What the models say, and what vanishes without each key."""
    found = discreet.assess(EXAMPLES / "survey.csv", KEYS, weight="weight", population=40_000)
    for name in ("estimates", "contributions"):
        found.plots()[name].save(HERE / f"survey-{name}.svg")


def table() -> None:
    """What the intruder believes after two margins, and how he got there."""
    census = discreet.read_table(EXAMPLES / "census.csv", count="count")
    releases = [["race", "gender"], ["race", "income"], ["income", "gender"]]
    pair = discreet.audit(census, releases[1:])
    pair.plots()["beliefs"].save(HERE / "table-beliefs.svg")
    steps = discreet.audit_sequence(census, releases, discreet.AuditOptions(seconds=60))
    document = audit_document("census.csv", steps, sequence=True)
    drawn = {plot.name: plot for plot in plots_in(document)}
    (HERE / "table-releases.svg").write_text(drawn["releases"].draw(), encoding="utf-8")


def counts() -> None:
    """The tables that fit the statistics of one ward."""
    found = discreet.assess_counts({0: 5, 1: 10, 2: 8, 3: 2, 4: 1})
    found.plots()["solutions"].save(HERE / "counts-solutions.svg")


def choice() -> None:
    """The risk–utility map of the census table, and a lattice of margins."""
    census = discreet.read_table(EXAMPLES / "census.csv", count="count")
    found = discreet.choose(census, MASKS, max_risk=0.25, seed=1)
    found.plots()["risk-utility"].save(HERE / "choice-risk-utility.svg")
    counts = np.random.default_rng(5).poisson(6, (2, 2, 2, 2, 2))
    table = discreet.Table.of_dense(counts, names=["a", "b", "c", "d", "e"])
    best = discreet.best_margins(table, min_width=10, seconds=30)
    best.plots()["lattice"].save(HERE / "choice-lattice.svg")


if __name__ == "__main__":
    survey()
    table()
    counts()
    choice()
