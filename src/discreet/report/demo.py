"""A demonstration on the terminal: the assessment, then the truth beside each model's figures."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.json import assessment_json
from discreet.report.text import heading, indented, plain_table, print_assessment
from discreet.risk.demonstration import Demonstration


def print_demo(console: Console, demonstration: Demonstration) -> None:
    """The assessment, and the truth that only the maker of the population knows."""
    size = words.count(demonstration.population_size)
    console.print(
        Text(f"A survey drawn from a made-up population of {size} (seed {demonstration.seed})\n")
    )
    print_assessment(console, demonstration.assessment)
    console.print(heading("And the truth, since this population is known in full"))
    console.print(indented(_truth_table(demonstration)))
    truth = demonstration.truth
    sentence = (
        f"Of {words.count(truth.sample_uniques)} records that are alone in the survey, "
        f"{words.count(truth.population_uniques)} "
        f"({words.share(truth.population_uniques, truth.sample_uniques)}) are alone in the "
        "population too. An intruder who holds a register of everyone and tries every record once "
        f"would be right {words.count(round(truth.expected_correct_matches))} times on average."
    )
    console.print(indented(Text(sentence)))


def _truth_table(demonstration: Demonstration) -> Table:
    truth = demonstration.truth
    table = plain_table("", "population uniques", "correct matches")
    table.add_row(
        "truth",
        words.count(truth.population_uniques),
        words.expected(truth.expected_correct_matches),
        style="bold green",
    )
    for name, result in demonstration.assessment.models.items():
        if not isinstance(result, Unavailable):
            table.add_row(
                name,
                words.outcome(result.expected_population_uniques),
                words.outcome(result.expected_correct_matches),
            )
    return table


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
