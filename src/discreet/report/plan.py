"""Plans of sample sizes: how large a sample may be, with the curve."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from discreet.report import words
from discreet.report.document import Block, Document, Plot, Section, Table, Text
from discreet.report.outside import outside_document
from discreet.report.render_json import fields_json, known, of_kind
from discreet.survey.models.exchangeable_prior import PopulationPrior
from discreet.survey.models.sample_size import Plan

POINTS = 101
PLAN_FIELDS = (
    "sample_size", "sample_fraction", "unique_probability", "expected_sample_uniques",
    "expected_population_uniques",
)  # fmt: skip
HEADER = ("prior", "sample size", "fraction", "unique probability")
FORMULAS = (
    "By the Bayes formulas of Cohen and Sackrowitz, which treat all cells alike. Exact. The unique "
    "probability is the probability that a record alone in the sample is alone in the population."
)


def plan_document(plans: Sequence[Plan]) -> Document:
    """The answer of each prior, with the curve."""
    first = plans[0]
    return Document(
        title="How large a sample may be",
        scope=(
            f"{words.count(first.population_size)} people, "
            f"{words.plural(first.n_table_cells, 'possible cell')}, "
            f"a unique probability of at most {float(first.target):g}",
        ),
        blocks=(
            Section("The answer", tuple(_answer(plans))),
            Section("Unique probability against sample size", (_curve(plans),)),
        ),
    )


def _answer(plans: Sequence[Plan]) -> Iterator[Block]:
    yield from (Text(f"{plan.prior.value}: {verdict(plan)}.", "strong") for plan in plans)
    yield Table(header=HEADER, rows=tuple(_row(plan) for plan in plans))
    yield Text(FORMULAS, "soft", "detail")
    yield from (Text(caution(plan), "warning") for plan in plans if caution(plan))


def _curve(plans: Sequence[Plan]) -> Plot:
    def draw() -> str:
        from discreet.report.plots import plan_plot

        curves = {plan.prior.value: plan.curve(POINTS) for plan in plans}
        return plan_plot(curves, float(plans[0].target))

    return Plot("plan", "Unique probability against the size of the sample", draw)


def verdict(plan: Plan) -> str:
    """The answer in one sentence, with thousands marked."""
    said = plan.verdict
    for number in {plan.sample_size, plan.population_size}:
        said = re.sub(rf"\b{number}\b", words.count(number), said)
    return said


def caution(plan: Plan) -> str:
    """How strong the multinomial prior is; nothing to say of the other."""
    if plan.prior is not PopulationPrior.MULTINOMIAL:
        return ""
    each = words.expected(plan.population_size / plan.n_table_cells)
    return (
        "The multinomial prior is strong: every person falls in any cell with the same chance, so "
        f"that cells hold about {each} people each. Real tables have many rare cells, and with "
        "them far more uniques."
    )


def _row(plan: Plan) -> tuple[str, str, str, str]:
    q = "–" if plan.unique_probability is None else words.probability(plan.unique_probability)
    fraction = words.share(plan.sample_size, plan.population_size)
    return plan.prior.value, words.count(plan.sample_size), fraction, q


@of_kind("plan")
def plan_json(plans: Sequence[Plan]) -> dict[str, Any]:
    """Each prior's plan with its curve."""
    first = plans[0]
    return {
        "n_table_cells": first.n_table_cells,
        "population_size": first.population_size,
        "target_risk": float(first.target),
        "priors": {plan.prior.value: _one_json(plan) for plan in plans},
    }


def _one_json(plan: Plan) -> dict[str, Any]:
    return fields_json(plan, *PLAN_FIELDS) | known(
        how="exact",
        verdict=verdict(plan),
        caution=caution(plan) or None,
        curve=[{"sample_size": n, "unique_probability": q} for n, q in plan.curve(POINTS)],
    )


def external_document(plans: Sequence[Plan]) -> Document:
    """How large a sample may be, as a share to the nearest percent; the target stays inside."""
    return outside_document(
        "How large a sample may be: summary for readers outside",
        asked=["how large a sample of the population may be, so that few who stand out in it can "
               "be found in the population"],
        ruling=None,
        estimate=[
            f"with the {plan.prior.value} prior: about {100 * plan.sample_fraction:.0f} % of the "
            "population"
            for plan in plans
        ],
    )  # fmt: skip
