"""A hospital's infections by ward through the count policy.

For each ward the hospital wants to publish the number of weeks, the sum of the infections and the
sum of their log factorials, enough to fit a COM-Poisson distribution. May it, and with how many
decimals?

Run: .venv/bin/python examples/hospital_counts.py
"""

import csv
from collections import Counter
from pathlib import Path

from discreet.count_tables.options import CountOptions
from discreet.flows.counts import assess_categories, assess_counts

HERE = Path(__file__).parent
MAX_RISK = 0.6  # that an intruder finds the table of a ward, or how many weeks had a given count


def tables() -> dict[str, Counter[int]]:
    """For each ward, how many weeks had 0, 1, 2, … infections."""
    found: dict[str, Counter[int]] = {}
    with (HERE / "infections.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["ward"], Counter())[int(row["infections"])] += 1
    return found


def main() -> None:
    """Each ward alone, then all wards together."""
    wards = tables()
    for name, table in wards.items():
        found = assess_counts(table, CountOptions(max_risk=MAX_RISK, seconds=30))
        assert found.advice is not None
        print(f"{name}: {found.advice.sentence}")
    together = assess_categories(wards, max_risk=MAX_RISK)
    assert together.verdict is not None
    print("all wards:", together.verdict.ruling)
    for judged in together.verdict.rules:
        print(f"  {judged.ruling}: {judged.words}")


if __name__ == "__main__":
    main()
