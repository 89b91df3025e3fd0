"""A demonstration: the assessment, and the truth beside what leads."""

from dataclasses import replace
from typing import Any

from discreet.report import words
from discreet.report.assess.document import assess_document
from discreet.report.assess.json import assessment_json
from discreet.report.assess.requested import table_section
from discreet.report.assess.words import short_outcome
from discreet.report.document import Document, Section
from discreet.synthetic.demonstration import Demonstration


def demo_document(demonstration: Demonstration) -> Document:
    """The assessment, and the truth that only the maker of the population knows."""
    size = words.count(demonstration.population_size)
    drawn = f"A survey drawn from a made-up population of {size} (seed {demonstration.seed})"
    document = assess_document(demonstration.assessment, [truth_section(demonstration)])
    return replace(document, scope=(drawn, *document.scope))


def truth_section(demonstration: Demonstration) -> Section:
    """The truth beside the recommended estimate."""
    truth, led = demonstration.truth, demonstration.assessment.recommended
    leads = (led.expected_population_uniques, led.expected_correct_matches)
    true_figures = (
        words.count(truth.population_uniques),
        words.expected(truth.expected_correct_matches),
    )
    return table_section(
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
        rows=(("truth", *true_figures), ("recommended", *(short_outcome(f) for f in leads))),
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
