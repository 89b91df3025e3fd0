"""Whole commands on the small files of the examples, with nothing compiled yet and after that."""

from collections.abc import Sequence

from benchmarks.comparing import Comparison
from benchmarks.contestants import our_command
from benchmarks.measuring import ROOT

CENSUS, SURVEY = (str(ROOT / "examples" / name) for name in ("census.csv", "survey.csv"))
COMMANDS = {
    "audit examples/census.csv": (
        *("audit", CENSUS, "--count", "count"),
        *("--release", "race,income", "--release", "gender,income"),
    ),
    "choose examples/census.csv": (
        *("choose", CENSUS, "--count", "count", "--max-risk", "0.25", "--seed", "1"),
    ),
    "assess examples/survey.csv": (
        *("assess", SURVEY, "--weight", "weight"),
        *("--keys", "sex,age,marital_status,birthplace,household_type"),
    ),
}


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """Each command warm, then cold: an empty folder for compiled code, Python's own kept."""
    return [
        Comparison(
            title=title,
            contestants=[
                our_command("warm", *command),
                our_command("cold", *command, cold=True),
            ],
        )
        for title, command in COMMANDS.items()
    ]
