"""The three count tables of kadane, krishnan and shmueli, and what they print about each."""

from collections.abc import Mapping
from dataclasses import dataclass

DASH = "—"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example of section 4 with its printed figures, by the number of its section."""

    section: str
    name: str
    counts: tuple[int, ...]
    statistics: str  # n, s1, then the exponents of 2, 3, 5, …
    next_prime: str
    equations: tuple[str, ...]
    equation_names: tuple[str, ...]
    largest: str
    solutions: str
    bounds_table: str
    lower: str
    upper: str
    risk: str
    global_risk: str

    @property
    def table(self) -> Mapping[int, int]:
        """Value to count."""
        return dict(enumerate(self.counts))


DISASTERS = Example(
    section="4.1",
    name="disasters",
    counts=(15, 20, 9, 5, 2),  # table 3
    statistics="51 61 20 7",
    next_prime="5",
    equations=(
        "20 = f2 + f3 + 3 f4",
        "7 = f3 + f4",
        "51 = f0 + f1 + f2 + f3 + f4",
        "61 = f1 + 2 f2 + 3 f3 + 4 f4",
    ),
    equation_names=("(16)", "(17)", "(18)", "(19)"),
    largest="4",
    solutions="7",
    bounds_table="Table 4",
    lower="11 14 1 1 0",
    upper="17 32 13 7 6",
    risk="0.39 0.24 0.28 0.39 0.39",
    global_risk="0.356",
)
POEM = Example(
    section="4.2",
    name="poem",
    counts=(0, 7, 33, 49, 22, 6),  # table 5
    statistics="117 338 166 77 6",
    next_prime="7",
    equations=(
        "166 = f2 + f3 + 3 f4 + 3 f5 + 4 f6",
        "77 = f3 + f4 + f5 + 2 f6",
        "6 = f5 + f6",
        "117 = f0 + f1 + f2 + f3 + f4 + f5 + f6",
        "338 = f1 + 2 f2 + 3 f3 + 4 f4 + 5 f5 + 6 f6",
    ),
    equation_names=("(20)", "(21)", "(22)", "(23)", "(24)"),
    largest="5",
    solutions="14",
    bounds_table="Table 6",
    lower="0 0 33 49 16 0 0",
    upper="2 7 45 51 22 6 6",
    risk="1 0.36 0.28 1 0.39 0.39 0.39",
    global_risk="0.263",
)
INJURIES = Example(
    section="4.3",
    name="injuries",
    counts=(5363, 3091, 1008, 348, 105, 46, 19, 9, 7, 2, 1, 1),  # table 7
    statistics="10,000 7,073 2,000 585 87 20 1",
    next_prime="13",
    equations=(
        "2000 = f2 + f3 + 3 f4 + 3 f5 + 4 f6 + 4 f7 + 7 f8 + 7 f9 + 8 f10 + 8 f11 + 10 f12",
        "585 = f3 + f4 + f5 + 2 f6 + 2 f7 + 2 f8 + 4 f9 + 4 f10 + 4 f11 + 5 f12",
        "87 = f5 + f6 + f7 + f8 + f9 + 2 f10 + 2 f11 + 2 f12",
        "20 = f7 + f8 + f9 + f10 + f11 + f12",
        "1 = f11 + f12",
        "10000 = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12",
        "7073 = f1 + 2 f2 + 3 f3 + 4 f4 + 5 f5 + 6 f6 + 7 f7 + 8 f8 + 9 f9 + 10 f10 + 11 f11"
        " + 12 f12",
    ),
    equation_names=("(25)", *(f"below (25), equation {k}" for k in range(2, 8))),
    largest="11",
    solutions="82,938,779",
    bounds_table="Table 8",
    lower="4,994 2,686 230 0 0 0 0 0 0 0 0 0 0",
    upper="5,510 4,213 1,241 477 477 66 66 19 19 19 19 1 1",
    risk=f"0.11 0.09 0.10 0.11 0.11 0.17 0.17 0.24 0.24 0.24 0.24 {DASH} {DASH}",
    global_risk="0.04",
)
TABLE_1 = (  # largest values J, number of equations, p′
    ((1,), "2", "2"),
    ((2,), "3", "3"),
    ((3, 4), "4", "5"),
    ((5, 6), "5", "7"),
    ((7, 8, 9, 10), "6", "11"),
    ((11, 12), "7", "13"),
    ((13, 14, 15, 16), "9", "17"),
)
TABLE_2 = {  # a(k, p) for k = 2 … 13, blanks as zeros
    2: "1 0 2 0 1 0 3 0 1 0 2 0",
    3: "0 1 0 0 1 0 0 2 0 0 1 0",
    5: "0 0 0 1 0 0 0 0 1 0 0 0",
    7: "0 0 0 0 0 1 0 0 0 0 0 0",
    11: "0 0 0 0 0 0 0 0 0 1 0 0",
    13: "0 0 0 0 0 0 0 0 0 0 0 1",
}
