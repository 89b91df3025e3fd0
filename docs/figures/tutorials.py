"""The pictures of the tutorials: the plots of the reports that their commands write.

Writes survey-*.svg, table-*.svg, counts-*.svg beside this file; the same bytes each time for one
matplotlib. Run: .venv/bin/python docs/figures/tutorials.py
"""

from pathlib import Path

import discreet

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
KEYS = ["sex", "age", "marital_status", "birthplace", "household_type"]


def survey() -> None:
    """What the models say, and what vanishes without each key."""
    found = discreet.assess(EXAMPLES / "survey.csv", KEYS, weight="weight", population_size=40_000)
    for name in ("estimates", "contributions"):
        found.plots()[name].save(HERE / f"survey-{name}.svg")


if __name__ == "__main__":
    survey()
