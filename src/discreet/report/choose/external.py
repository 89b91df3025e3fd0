"""What may leave the agency of a choice of what to release."""

from collections.abc import Iterator

from discreet.choice.choice import Candidate
from discreet.choice.risk_utility import RiskUtility
from discreet.report import words
from discreet.report.document import Document
from discreet.report.outside import bracketed, outside_document, smaller_sets

METHODS = {  # what is done to the figures, without the parameters that would help to undo it
    "margins": "exact figures",
    "rounding": "rounded figures",
    "controlled-rounding": "rounded figures that add up",
    "suppression": "exact figures, some of which are not shown",
    "redaction": "figures of which small ones are treated",
    "perturbation": "figures that were changed at random",
    "imputation": "several tables of figures that were changed at random",
    "cell-key": "figures that were changed at random, the same persons in the same way",
    "discrete-laplace": "figures with noise added",
    "statistics": "summary figures",
}
WORTH = ((0.9, "nearly all"), (0.6, "most"), (0.3, "some"))
PLENTY = 8  # tables that are named


def external_document(found: RiskUtility, name: str = "") -> Document:
    """What will be published in answer to a wish for a table, or that nothing can be."""
    table, chosen = found.table, found.chosen
    released = found.verdict.allows and chosen is not None and not chosen.is_nothing
    return outside_document(
        "What can be published: summary for readers outside",
        name=name,
        asked=[f"what can be published of the table of {words.listed(list(table.names))}"],
        ruling=found.verdict.ruling,
        estimate=_answer(found, chosen) if chosen is not None and released else _none(),
        instead=_instead(found),
        policies=found.options.policy,
    )


def _answer(found: RiskUtility, chosen: Candidate) -> Iterator[str]:
    masked, names = chosen.masked, found.table.names
    sets = list(chosen.margins)
    if masked is not None:
        sets = [tuple(names[axis] for axis in one.axes) for one in masked.published]
    method = METHODS["margins" if masked is None else masked.mask]
    largest = [one for one in sets if not any(set(one) < set(other) for other in sets)]
    more = f" and {len(largest) - PLENTY} more" if len(largest) > PLENTY else ""
    yield f"published: {bracketed(largest[:PLENTY])}{more}, {method}"
    if chosen.worth is not None:
        part = next((said for least, said in WORTH if chosen.worth >= least), "little")
        yield f"this gives users {part} of what the full table would"


def _none() -> Iterator[str]:
    yield "no way of publishing it that was looked at keeps the rules"


def _instead(found: RiskUtility) -> Iterator[str]:
    fewer = smaller_sets([found.table.names])
    if fewer:
        yield f"tables with a variable less: {bracketed(fewer)}"
    yield "the same table with broader categories"
    yield "each of these would be judged anew"
