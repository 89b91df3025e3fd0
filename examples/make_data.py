"""Make infections.csv of this folder again.

Run: .venv/bin/python examples/make_data.py
"""

import csv
from pathlib import Path

import numpy as np

from discreet.count_tables.com_poisson.distribution import ComPoisson

HERE = Path(__file__).parent
WARDS = {"surgery": (1.8, 1.3), "medicine": (2.6, 1.1), "paediatrics": (0.9, 0.8)}
WEEKS = 26


def infections() -> None:
    """Infections a week on three wards, COM-Poisson with a rate and a dispersion of their own."""
    rng = np.random.default_rng(3)
    rows = []
    for ward, (rate, dispersion) in WARDS.items():
        counts = ComPoisson(rate, dispersion).draw(WEEKS, rng=rng)
        rows += [[ward, week + 1, int(count)] for week, count in enumerate(counts)]
    write("infections.csv", ["ward", "week", "infections"], rows)


def write(name: str, header: list[str], rows: list[list[object]]) -> None:
    """One CSV file in this folder."""
    with (HERE / name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    infections()
