"""Make infections.csv, allowance.csv and the tables published of it again.

Run: .venv/bin/python examples/make_data.py
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from discreet.count_tables.com_poisson.distribution import ComPoisson

HERE = Path(__file__).parent
WARDS = {"surgery": (1.8, 1.3), "medicine": (2.6, 1.1), "paediatrics": (0.9, 0.8)}
WEEKS = 26
OF_FIFTEEN = {"Centre": (3, 4), "Harbour": (1, 3), "Hillside": (0, 2), "Mill": (2, 5)}  # F, M
BANDS = {"15-19": (15, 19), "20-24": (20, 24), "25-29": (25, 29)}
YOUTH = {"16-19": (16, 19), "20-24": (20, 24)}

Row = tuple[str, str, str, int]  # district, age, sex, count


def infections() -> None:
    """Infections a week on three wards, COM-Poisson with a rate and a dispersion of their own."""
    rng = np.random.default_rng(3)
    rows = []
    for ward, (rate, dispersion) in WARDS.items():
        counts = ComPoisson(rate, dispersion).draw(WEEKS, rng=rng)
        rows += [[ward, week + 1, int(count)] for week, count in enumerate(counts)]
    write("infections.csv", ["ward", "week", "infections"], rows)


def allowance() -> None:
    """Persons of 15 to 29 who receive an allowance, and two tables published of them.

    `youth_withheld.csv` is the second table with a total of both sexes and one figure withheld.
    """
    counts = persons()
    write(
        "allowance.csv",
        ["district", "sex", "age", "count"],
        [[*key, n] for key, n in counts.items()],
    )
    women = [
        [district, *(within(counts, district, "F", *ends) for ends in BANDS.values())]
        for district in OF_FIFTEEN
    ]
    write("women_by_age.csv", [r"district \ age", *BANDS], women)
    keys = [(district, age, sex) for district in OF_FIFTEEN for age in YOUTH for sex in "FM"]
    youth: list[Row] = [(*key, within(counts, key[0], key[2], *YOUTH[key[1]])) for key in keys]
    write("youth_by_age.csv", ["district", "age", "sex", "count"], youth)
    write("youth_withheld.csv", ["district", "age", "sex", "count"], with_totals(youth))


def persons() -> dict[tuple[str, str, int], int]:
    """How many there are of each district, sex and age; few of 15."""
    rng = np.random.default_rng(15)
    found = {}
    for district, of_fifteen in OF_FIFTEEN.items():
        for sex, first in zip("FM", of_fifteen, strict=True):
            found[district, sex, 15] = first
            for age in range(16, 30):
                found[district, sex, age] = int(rng.integers(2, 10))
    return found


def within(
    counts: dict[tuple[str, str, int], int], district: str, sex: str, low: int, high: int
) -> int:
    """How many of a district and sex are of an age from low to high."""
    return sum(counts[district, sex, age] for age in range(low, high + 1))


def with_totals(youth: list[Row]) -> list[Sequence[object]]:
    """The rows with one of both sexes behind each two; women of 16-19 in Harbour are withheld."""
    rows: list[Sequence[object]] = []
    for one, other in zip(youth[::2], youth[1::2], strict=True):
        district, age, sex, women = one
        hidden = (district, age) == ("Harbour", "16-19")
        rows += [[district, age, sex, "x" if hidden else women], other]
        rows.append([district, age, "Total", women + other[-1]])
    return rows


def write(name: str, header: list[str], rows: Sequence[Sequence[object]]) -> None:
    """One CSV file in this folder."""
    with (HERE / name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    infections()
    allowance()
