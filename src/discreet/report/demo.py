"""A demonstration on the terminal: the assessment, then the truth beside each model's figures."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.extras import Section
from discreet.report.json import assessment_json
from discreet.report.text import print_assessment, section_parts, two_figures
from discreet.risk.demonstration import Demonstration


def print_demo(console: Console, demonstration: Demonstration, *, report: Path) -> None:
    """The assessment, and the truth that only the maker of the population knows."""
    size = words.count(demonstration.population_size)
    console.print(
        Text(f"A survey drawn from a made-up population of {size} (seed {demonstration.seed})\n")
    )
    print_assessment(console, demonstration.assessment, report=report)
    for part in section_parts(truth_section(demonstration)):
        console.print(part)


def truth_section(demonstration: Demonstration) -> Section:
    """The truth beside what each model says, for the terminal and the report."""
    truth, models = demonstration.truth, demonstration.assessment.models
    found = {n: two_figures(r) for n, r in models.items() if not isinstance(r, Unavailable)}
    true_figures = (
        words.count(truth.population_uniques),
        words.expected(truth.expected_correct_matches),
    )
    return Section(
        title="And the truth, since this population is known in full",
        meaning=(
            f"Of {words.count(truth.sample_uniques)} records that are alone in the survey, "
            f"{words.count(truth.population_uniques)} "
            f"({words.share(truth.population_uniques, truth.sample_uniques)}) are alone in the "
            "population too. An intruder who holds a register of everyone and tries every record "
            f"once would be right {words.count(round(truth.expected_correct_matches))} times on "
            "average."
        ),
        header=("", "population uniques", "correct matches"),
        rows=(("truth", *true_figures), *((name, *two) for name, two in found.items())),
    )


def demo_json(demonstration: Demonstration) -> dict[str, Any]:
    """The assessment's JSON with the truth and the seed."""
    truth = demonstration.truth
    return assessment_json(demonstration.assessment) | {
        "truth": {
            "population_size": demonstration.population_size,
            "sample_uniques": truth.sample_uniques,
            "population_uniques": truth.population_uniques,
            "expected_correct_matches": truth.expected_correct_matches,
        },
        "seed": demonstration.seed,
    }
