"""An attack on published tables as JSON, with the names that are promised to users."""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.fiber.reconstruction.rebuilt import RebuiltTable
from discreet.figures import Unavailable
from discreet.report.render_json import count_json, known, of_kind
from discreet.tables.linked.attack import Attack, Bounded, Followed, Linked
from discreet.tables.linked.naming import Step
from discreet.tables.linked.rules import Rule


@of_kind("attack")
def attack_json(attack: Attack) -> dict[str, Any]:
    """The figures that follow, smallest first, with their derivations; then all else."""
    own = attack.linked
    return known(
        published=published_json(own),
        variables={d.name: list(d.parts) for d in own.universe.domains},
        small=attack.options.most_small,
        n_figures=own.universe.n_figures,
        n_cells=own.universe.n_atoms,
        verdict=None if attack.verdict is None else attack.verdict.to_json(),
        findings=attack.findings.to_json(),
        derived=[derived_json(one) for one in attack.derived],
        n_derived=attack.n_derived,
        n_unproved=attack.unproved or None,
        narrow=[bounded_json(one) for one in attack.narrow],
        cells=[bounded_json(one) for one in attack.cells],
        n_tables=count_json(attack.n_tables),
        reconstruction=_rebuilt(attack.rebuilt),
        areas=[one.to_json() for one in attack.areas] or None,
        notes=list(attack.notes),
    )


def _rebuilt(found: RebuiltTable | Unavailable) -> dict[str, Any]:
    """What can be rebuilt; the number of tables stands by itself."""
    return {name: one for name, one in found.to_json().items() if name != "n_tables"}


def published_json(own: Linked) -> list[dict[str, Any]]:
    """Every table as it was understood: its variables, how many figures, and by which rule."""
    pairs = zip(own.universe.tables, own.universe.rules, strict=True)
    return [_table(table, rule) for table, rule in pairs]


def _table(table: PublishedTable, rule: Rule) -> dict[str, Any]:
    return {
        "table": table.name,
        "variables": list(table.variables),
        "n_figures": table.n_figures,
        "n_withheld": sum(not text for text in table.printed),
        "figures_are": figures_are(table, rule),
    }


def figures_are(table: PublishedTable, rule: Rule) -> str:
    """What the figures of a table are."""
    if table.statistic is Statistic.COUNT:
        return rule.words
    return "percentages" if table.statistic is Statistic.PERCENT else "means"


def derived_json(one: Followed) -> dict[str, Any]:
    """A figure that follows: of whom, its value, how it is known, and why."""
    told = one.derivation
    same = told.above == told.below
    return known(
        cell=dict(one.cell),
        but=[dict(cell) for cell in one.but] or None,
        lower=one.lower,
        upper=one.upper,
        how=one.how,
        derivation=told.sentence,
        steps=_steps(told.above) if same else None,
        steps_at_most=None if same else _steps(told.above),
        steps_at_least=None if same else _steps(told.below),
    )


def _steps(steps: Sequence[Step]) -> list[Mapping[str, Any]]:
    return [
        {
            "table": step.table,
            "cell": dict(step.cell),
            "printed": step.printed,
            "figure": step.figure,
            "times": step.times,
        }
        for step in steps
    ]


def bounded_json(one: Bounded) -> dict[str, Any]:
    """A cell with its bounds."""
    return {"cell": dict(one.cell), "lower": one.lower, "upper": one.upper, "how": one.how}
