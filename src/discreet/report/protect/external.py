"""What may leave the agency of a protection: how the file was treated, in words without a count."""

from collections.abc import Iterator

from discreet.masks.records.recoding import (
    Bands,
    Bottom,
    Breaks,
    Dates,
    Drop,
    Leading,
    Merge,
    Top,
    Tree,
)
from discreet.masks.records.suppress import Suppress
from discreet.masks.records.suppression import Guarantee
from discreet.protection.protected import Protected
from discreet.report.document import Document
from discreet.report.outside import outside_document

KINDS = {
    Bands: "{key} is given in bands of {width:g}",
    Breaks: "{key} is given in bands",
    Top: "the highest values of {key} are one category",
    Bottom: "the lowest values of {key} are one category",
    Merge: "some categories of {key} are merged",
    Tree: "{key} is given in larger groups",
    Dates: "{key} is given by larger units of time",
    Leading: "of {key} the first characters are given",
    Drop: "{key} is left out",
}
METHODS = {
    "pram": "values of {key} were changed at random",
    "swap": "{key} was exchanged between records that are alike",
    "subsample": "the file is a random part of the original",
    "round_weights": "weights are rounded",
    "remove_weights": "weights are left out",
    "shuffle": "the records are in random order",
    "remove_columns": "some columns are left out",
}


def external_document(found: Protected, name: str = "") -> Document:
    """How the file was treated, for whoever works with it."""
    ruling = None if found.verdict is None else found.verdict.ruling
    policies = () if found.verdict is None else found.assessment.settings.options.policy
    return outside_document(
        "How this file was protected",
        asked=[f"a file of records with the keys {', '.join(found.options.keys or ())}"],
        ruling=ruling,
        estimate=list(_treated(found)),
        name=name,
        policies=policies,
        told="What was done",
    )


def _treated(found: Protected) -> Iterator[str]:
    if not found.recipe.steps:
        yield "the file is as it was collected"
    if found.options.guarantee == Guarantee.WILDCARD and found.options.min_k is not None:
        yield (
            "records were counted as alike where a value left empty matches any other, which "
            "protects little by itself"
        )
    for step in found.recipe.steps:
        if isinstance(step, Suppress):
            yield "single values are left empty because few persons share them with the other keys"
        else:
            words = METHODS.get(step.name) or KINDS[type(step)]
            yield words.format(key=getattr(step, "key", ""), width=getattr(step, "width", 0))
