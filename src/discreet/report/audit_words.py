"""An audit in words: names of cells, margins and groups, and what each measure means."""

from collections.abc import Iterator, Sequence

from discreet.errors import one_line
from discreet.fiber.counting import Count
from discreet.figures import How, Outcome, Unavailable
from discreet.report import words
from discreet.risk.attribute import Learned
from discreet.risk.audit import Audit, CellAudit
from discreet.risk.table_refusal import RefusalRule
from discreet.risk.table_views import AVERAGE, View
from discreet.tables.release import Release

CONSISTENT = "all tables consistent with what was released"
MEANINGS = {
    "bounds": (
        "Tightest bounds of a small cell: minus the width of the narrowest range that {consistent} "
        "leave to one. 0 means that a small cell is known for certain."
    ),
    "one_over_tables": (
        "One over the number of {consistent}: the chance of the true table, were all of them "
        "equally probable."
    ),
    "true_table": (
        "Probability that an intruder gives to the whole true table; many consistent tables are "
        "no protection if most are improbable."
    ),
    "small_cells_identified": (
        "Share of small cells whose most probable count is the true one, with a probability above "
        "{confidence:g}."
    ),
    "expected_identified": (
        "Small cells an intruder is expected to get right who draws his guess from his belief."
    ),
    "entropy": "What is left to learn about the table, in bits; 0 means that it is known.",
}
TITLES = {
    "bounds": "tightest bounds",
    "one_over_tables": "1 / number of tables",
    "true_table": "true table",
    "small_cells_identified": "small cells identified",
    "expected_identified": "expected identified",
    "entropy": "entropy, bits",
}


def meaning(measure: str, audit: Audit) -> str:
    """One sentence on what a measure says."""
    return MEANINGS[measure].format(consistent=CONSISTENT, confidence=audit.options.confidence)


def figures(audit: Audit, name: str) -> dict[str, Outcome]:
    """Every measure under one view."""
    view, own = audit.views[name], audit.measures.get(name)
    if isinstance(view, Unavailable) or own is None:
        reason = view if isinstance(view, Unavailable) else Unavailable("not computed")
        return {
            "bounds": audit.tightness,
            "one_over_tables": audit.one_over_tables,
            **dict.fromkeys(list(TITLES)[2:], reason),
        }
    return {
        "bounds": audit.tightness,
        "one_over_tables": audit.one_over_tables,
        "true_table": own.true_table,
        "small_cells_identified": own.small_cells_identified,
        "expected_identified": own.expected_identified,
        "entropy": view.entropy,
    }


def main_view(audit: Audit) -> str:
    """The view that headlines are about: the average, or the first that there is."""
    if isinstance(audit.views.get(AVERAGE), View):
        return AVERAGE
    there = [name for name, view in audit.views.items() if isinstance(view, View)]
    return there[0] if there else next(iter(audit.views))


def margin_name(release: Release, axes: Sequence[int]) -> str:
    """A margin by its variables: [race income]."""
    return "[" + " ".join(release.table.names[axis] for axis in axes) + "]"


def cell_name(audit: Audit, cell: CellAudit) -> str:
    """A cell by its levels, in the order of the variables."""
    labels = audit.release.table.labels(cell.levels)
    return one_line(", ".join(labels.values()))


def small_words(audit: Audit) -> str:
    """What counts as small."""
    most = audit.options.small
    return "a count of 1" if most == 1 else f"a count from 1 to {most}"


def scope(audit: Audit) -> Iterator[str]:
    """What was audited, in a few lines."""
    table, release = audit.release.table, audit.release
    yield (
        f"{words.plural(table.total, 'person')}, {words.plural(len(table.names), 'variable')}, "
        f"{words.plural(table.n_cells, 'cell')}, "
        f"{words.plural(len(table.small_cells(audit.options.small)), 'small cell')} "
        f"({small_words(audit)})"
    )
    kind = "decomposable" if audit.decomposable else "not decomposable"
    listed = "".join(margin_name(release, axes) for axes in release.sets)
    yield one_line(f"released: {listed} ({kind})")
    for known in release.known:
        yield one_line(f"known beside: {known.text}")


def count_words(count: Count) -> str:
    """How many tables are consistent."""
    if count.value is None:
        at_least = f", at least {words.count(count.at_least)}" if count.at_least else ""
        return f"not known{at_least}: {words.sentence(count.note)}"
    if count.how is How.EXACT:
        return f"{words.count(count.value)} (exact)"
    error = count.standard_error or 0.0
    number = words.count(count.value).removeprefix("about ")
    return f"about {number} (estimate, error {100 * error / count.value:.0f} %)"


def learned_words(audit: Audit, learned: Learned) -> str:
    """Who would learn what, in one sentence."""
    table = audit.release.table
    pairs = zip(learned.group, learned.group_levels, strict=True)
    who = " and ".join(f"{table.names[a]} = {table.levels[a][level]}" for a, level in pairs)
    target = f"{table.names[learned.target]} = {table.levels[learned.target][learned.level]}"
    people = "everyone" if not who else f"everyone with {who}"
    if learned.persons is not None:
        people += f" ({words.plural(learned.persons, 'person')})"
    if learned.probability >= 1:
        return one_line(f"{people} has {target}")
    return one_line(f"{people} has {target}, probability {words.probability(learned.probability)}")


def rule_words(rule: RefusalRule) -> str:
    """The rule of refusal, as whoever asks knows it."""
    named = {
        "bounds": "the tightness of the bounds of small cells",
        "table": "the probability of the true table",
        "cells": "the share of small cells identified",
    }
    return f"a margin is refused where {named[rule.policy.value]} would exceed {rule.max_risk:g}"


def outcome_cell(outcome: Outcome, places: int = 4) -> str:
    """A figure for a narrow table."""
    if isinstance(outcome, Unavailable):
        return "–"
    if outcome.value is None:
        return f"at least {words.expected(outcome.low or 0)}"
    value, error = outcome.value, outcome.standard_error
    if value != 0 and abs(value) < 10.0**-places:
        return tiny(value)
    shown = f"{value:.{places}f}".rstrip("0").rstrip(".") if value != int(value) else f"{value:.0f}"
    return f"{shown} ± {error:.2g}" if error else shown


def tiny(value: float) -> str:
    """A probability too small to write out, as one in so many."""
    return f"1 in {words.count(round(1 / value))}"
