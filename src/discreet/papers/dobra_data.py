"""The census table of dobra, fienberg and trottini, and what they print about it."""

import numpy as np

from discreet.data.table import Table

CENSUS = np.array(  # table 1: gender × race × income
    [[[96, 72, 161], [10, 7, 6], [1, 1, 2]], [[186, 127, 51], [11, 7, 3], [0, 1, 0]]]
)
NAMES = ("gender", "race", "income")
LEVELS = (
    ("Male", "Female"),
    ("White", "Black", "Chinese"),
    ("to 10,000", "to 25,000", "above 25,000"),
)
RELEASED = (("race", "income"), ("income", "gender"))
BOUNDS = {  # table 1, square brackets: lower and upper by income
    ("Male", "White"): "85 107 64 80 158 169",
    ("Male", "Black"): "0 21 0 14 0 9",
    ("Male", "Chinese"): "0 1 0 2 0 2",
    ("Female", "White"): "175 197 119 135 43 54",
    ("Female", "Black"): "0 21 0 14 0 9",
    ("Female", "Chinese"): "0 1 0 2 0 2",
}
CELLS = ((1, 3, 1), (1, 3, 2), (2, 3, 2), (1, 3, 3))  # those of tables 2 to 5
SATURATED, SECOND, THIRD = (
    "saturated",
    "[gender race][gender income][race income]",
    "[gender income][race income]",
)
AVERAGE = "average"
PRIORS = {SATURATED: 0.22, SECOND: 0.67, THIRD: 0.11}
WEIGHTS = "0.18 0.72 0.10"
DRAWS = 500
DISTRIBUTIONS = {  # tables 2 to 5, by model: probabilities of 0, 1, 2 (a dash where not feasible)
    SATURATED: ("0.50 0.50 —", "0.43 0.26 0.31", "0.31 0.26 0.43", "0.39 0.25 0.36"),
    SECOND: ("0.64 0.36 —", "0.44 0.36 0.20", "0.20 0.36 0.44", "0.14 0.34 0.52"),
    THIRD: ("0.65 0.35 —", "0.39 0.47 0.14", "0.14 0.47 0.39", "0.06 0.37 0.57"),
    AVERAGE: ("0.62 0.38 —", "0.44 0.36 0.20", "0.20 0.36 0.44", "0.15 0.33 0.52"),
}
TABLES = {SATURATED: 2, SECOND: 3, THIRD: 4, AVERAGE: 5}
HAIR = np.array([[4, 4], [4, 4], [4, 0]])  # the discussion's table 1: colour × income


def census() -> Table:
    """Table 1 as the library's table."""
    return Table.of_dense(CENSUS, NAMES, LEVELS)
