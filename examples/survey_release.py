"""A survey file, from raw CSV to a release under a limit: assess, recode what makes records unique.

Run: .venv/bin/python examples/survey_release.py [FOLDER]     (default: survey-release)
What may go out is written to FOLDER/public, what must not to FOLDER/internal.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import discreet

HERE = Path(__file__).parent
KEYS = ["sex", "age", "marital_status", "birthplace", "household_type"]
MOST_UNIQUES = 5.0  # population uniques among the records that the agency accepts, upper limit
Recoding = Callable[[pa.Table], pa.Table]


def age_in_bands(table: pa.Table, years: int = 10, top: int = 80) -> pa.Table:
    """Ages as 0-9, 10-19, …, 80+."""
    age = table["age"]
    low = pc.multiply(pc.divide(age, years), years)
    text = pc.binary_join_element_wise(
        pc.cast(low, pa.string()), pc.cast(pc.add(low, years - 1), pa.string()), "-"
    )
    return replaced(table, "age", pc.if_else(pc.greater_equal(age, top), f"{top}+", text))


def birthplace_at_home_or_not(table: pa.Table) -> pa.Table:
    """Born in the home region, or elsewhere."""
    home = pc.equal(table["birthplace"], "Home region")
    return replaced(table, "birthplace", pc.if_else(home, "Home region", "Elsewhere"))


def marital_status_in_three(table: pa.Table) -> pa.Table:
    """Married, never married, formerly married."""
    status = table["marital_status"]
    single = pc.equal(status, "Never married")
    other = pc.if_else(pc.equal(status, "Married"), "Married", "Formerly married")
    return replaced(table, "marital_status", pc.if_else(single, "Never married", other))


def household_type_in_three(table: pa.Table) -> pa.Table:
    """A couple, one person alone, or another household."""
    kind = table["household_type"]
    couple = pc.match_substring(kind, "couple")
    other = pc.if_else(pc.equal(kind, "Person alone"), "Person alone", "Other household")
    return replaced(table, "household_type", pc.if_else(couple, "Couple", other))


def replaced(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    """The table with one column changed."""
    return table.set_column(table.column_names.index(name), name, column)


STEPS: list[tuple[str, Recoding]] = [
    ("as collected", lambda table: table),
    ("age in bands of ten years, 80 and over together", age_in_bands),
    ("birthplace: home region or elsewhere", birthplace_at_home_or_not),
    ("marital status in three levels", marital_status_in_three),
    ("household type in three levels", household_type_in_three),
]


def main(folder: Path) -> None:
    """Recode step by step until the upper limit of population uniques is acceptable."""
    table = pyarrow.csv.read_csv(HERE / "survey.csv")
    print(f"{'':50}{'alone in':>10}{'population uniques':>26}")
    print(f"{'':50}{'the file':>10}{'estimate (90 % limits)':>26}")
    for title, recode in STEPS:
        table = recode(table)
        found = discreet.assess(table, KEYS, weight="weight", population=40_000)
        uniques = found.recommended.expected_population_uniques
        if isinstance(uniques, discreet.Unavailable):
            raise SystemExit(f"no estimate: {uniques.reason}")
        limits = f"{uniques.value:.1f} ({uniques.low:.0f} to {uniques.high:.0f})"
        print(f"{title:50}{found.sample_uniques:>10,}{limits:>26}")
        if uniques.high <= MOST_UNIQUES:
            break
    else:
        raise SystemExit("no step was enough: release fewer keys")
    public, internal = folder / "public", folder / "internal"
    for place in (public, internal):
        place.mkdir(parents=True, exist_ok=True)
    # A weight is often the same for all of a stratum: it would undo what the recoding hides.
    pyarrow.csv.write_csv(table.select(KEYS), public / "survey.csv")
    discreet.write_report(found, public / "report.html", external=True)
    discreet.write_report(found, internal / "report.html")
    print(f"may go out: {public}/survey.csv (without weights), {public}/report.html")
    print(f"stays: {internal}/report.html")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "survey-release"))
