"""Plans of sample sizes: on the terminal, as JSON, and as a page with the curve."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.data.writing import written_whole
from discreet.report import words
from discreet.report.html import render
from discreet.report.plots import plan_plot
from discreet.report.text import indented, plain_table
from discreet.survey.models.exchangeable_prior import Prior
from discreet.survey.models.sample_size import Plan

POINTS = 101


def print_plans(console: Console, plans: Sequence[Plan]) -> None:
    """The answer of each prior, and what to expect of such a sample."""
    first = plans[0]
    title = (
        f"Largest sample of {words.count(first.population_size)} people in a table of "
        f"{words.count(first.n_table_cells)} cells whose uniques are population uniques with "
        f"probability at most {float(first.target):g}"
    )
    console.print(Text(title, style="bold"))
    table = plain_table("prior", "sample size", "fraction", "unique probability")
    for plan in plans:
        table.add_row(*_row(plan))
    console.print(indented(table))
    for plan in plans:
        console.print(indented(Text(f"{plan.prior.value}: {verdict(plan)}.")))
    for caution in cautions(plans):
        console.print(indented(Text(caution, style="yellow")))


def verdict(plan: Plan) -> str:
    """The answer in one sentence, with thousands marked."""
    said = plan.verdict
    for number in {plan.sample_size, plan.population_size}:
        said = re.sub(rf"\b{number}\b", words.count(number), said)
    return said


def cautions(plans: Sequence[Plan]) -> Iterator[str]:
    """How strong the multinomial prior is, where it was used."""
    for plan in plans:
        if plan.prior is Prior.MULTINOMIAL:
            each = words.expected(plan.population_size / plan.n_table_cells)
            yield (
                "The multinomial prior is strong: it takes every person to fall in any cell with "
                f"the same chance, so that cells hold about {each} people each, where real tables "
                "have many rare cells and with them far more uniques."
            )


def _row(plan: Plan) -> tuple[str, str, str, str]:
    q = "–" if plan.unique_probability is None else words.probability(plan.unique_probability)
    return (
        plan.prior.value,
        words.count(plan.sample_size),
        words.share(plan.sample_size, plan.population_size),
        q,
    )


def plans_json(plans: Sequence[Plan]) -> dict[str, Any]:
    """Each prior's plan with its curve."""
    first = plans[0]
    return {
        "n_table_cells": first.n_table_cells,
        "population_size": first.population_size,
        "target_risk": float(first.target),
        "priors": {plan.prior.value: _plan_json(plan) for plan in plans},
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "sample_size": plan.sample_size,
        "sample_fraction": plan.sample_fraction,
        "unique_probability": plan.unique_probability,
        "how": "exact",
        "expected_sample_uniques": plan.expected_sample_uniques,
        "expected_population_uniques": plan.expected_population_uniques,
        "verdict": verdict(plan),
        "caution": next(cautions([plan]), None),
        "curve": [{"sample_size": n, "unique_probability": q} for n, q in plan.curve(POINTS)],
    }


def write_plans(plans: Sequence[Plan], path: Path) -> None:
    """A page with the curves and the answers."""
    with written_whole(path) as temporary:
        temporary.write_bytes(plans_html(plans).encode("utf-8", errors="backslashreplace"))


def plans_html(plans: Sequence[Plan]) -> str:
    """The page."""
    curves = {plan.prior.value: plan.curve(POINTS) for plan in plans}
    return render(
        "plan.html",
        plans=plans,
        rows=[_row(p) for p in plans],
        plot=plan_plot(curves, float(plans[0].target)),
        w=words,
        verdict=verdict,
        cautions=list(cautions(plans)),
    )
