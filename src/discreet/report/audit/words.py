"""An audit in words: names of cells, margins and groups, and what each measure means."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import order_of
from discreet.report import words
from discreet.tables import groups
from discreet.tables.audit import Audit, CellAudit, main_view
from discreet.tables.groups import Learned
from discreet.tables.measures import NO_ERROR, TOO_SMALL, best_value
from discreet.tables.posteriors import View
from discreet.tables.refused_margin import RefusalRule, RiskMeasure
from discreet.tables.release import Release

NO_BITS = 1e-12  # doubt that rounding can make of none
BELOW_ONE = 1 - 2.0**-53  # the largest probability that is no certainty
CONSISTENT = "all tables consistent with what was released"
MEANINGS = {
    "bounds": (
        "How far the count of the best known small cell can still vary over {consistent}. The "
        "narrower, the worse; 0 means that a small cell is known for certain."
    ),
    "one_over_tables": (
        "One over the number of {consistent}: the probability of the true table if all of them "
        "were equally probable."
    ),
    "true_table": (
        "Probability that an intruder gives to the whole true table. Many consistent tables are "
        "no protection if most of them are improbable."
    ),
    "small_cells_identified": (
        "Share of {cells} whose count an intruder would guess right, and be more than "
        "{confidence} sure of."
    ),
    "expected_identified": (
        "How many of {cells} an intruder would get right on average, guessing each count with the "
        "probability it has: a number of cells, not a share."
    ),
    "entropy": (
        "What an intruder has still to learn of the table, in bits; 0 means that it is known."
    ),
}
TITLES = {
    "bounds": "narrowest bounds",
    "one_over_tables": "1 / number of tables",
    "true_table": "true table's probability",
    "small_cells_identified": "small cells identified",
    "expected_identified": "expected right guesses",
    "entropy": "left to learn",
}
UNITS = {
    "bounds": "counts, minus the width of the bounds",
    "one_over_tables": "probability",
    "true_table": "probability",
    "small_cells_identified": "share of small cells",
    "expected_identified": "cells",
    "entropy": "bits",
}
MEASURED = {
    RiskMeasure.BOUNDS: "the narrowest bounds of a small cell",
    RiskMeasure.TABLE: "the probability of the true table",
    RiskMeasure.CELLS: "the share of small cells identified",
}
NO_GROUP = "No group of persons was found to share a level."
OUTSIDE = (
    "The table is taken as a simple random sample of the population; persons outside it follow the "
    "same model. These figures are as exact as the probabilities of the table's own counts."
)
MOST_WRITTEN = 10**9  # of one in so many
SMALLEST = 1e-3  # probability that is written out


def meaning(measure: str, audit: Audit) -> str:
    """One sentence on what a measure says."""
    cells, sure = small_cells_words(audit, measure), sure_words(audit.options.confidence)
    return MEANINGS[measure].format(consistent=CONSISTENT, cells=cells, confidence=sure)


def sure_words(confidence: float) -> str:
    """A probability as people say how sure they are."""
    return f"{100 * confidence:.6g} %"


def n_cells_of(measure: str, audit: Audit) -> int:
    """The number of small cells that a measure is about."""
    return audit.n_measured if measure == "small_cells_identified" else len(audit.small_cells)


def small_cells_words(audit: Audit, measure: str) -> str:
    """Which small cells a measure is about: all, or those looked at in a large table."""
    n = n_cells_of(measure, audit)
    if n == audit.n_small:
        return "the small cells"
    return f"the {words.count(n)} small cells looked at, of {words.count(audit.n_small)},"


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


def measure_words(measure: str, outcome: Outcome, n_cells: int) -> str:
    """A measure with its unit, `n_cells` being the number of small cells it is about."""
    if isinstance(outcome, Unavailable):
        return "–"
    if measure == "bounds":
        width = brief_words(measure, outcome)
        return "known for certain" if width == "0" else f"{width} wide"
    if measure == "small_cells_identified":
        return _share_words(outcome, n_cells)
    if measure == "expected_identified":
        error = f" ± {outcome.standard_error:.2g}" if outcome.standard_error else ""
        return f"{words.expected(outcome.value or 0.0)}{error} of {words.plural(n_cells, 'cell')}"
    if measure == "entropy" and outcome.value is not None and abs(outcome.value) < NO_BITS:
        return "0 bits"
    if measure == "entropy" and outcome.value is not None and outcome.value < SMALLEST:
        return f"less than {SMALLEST:g} bits"
    shown = outcome_cell(outcome)
    return f"{shown} bits" if measure == "entropy" else shown


def brief_words(measure: str, outcome: Outcome) -> str:
    """A measure for a narrow column: bounds by their width, without the sign; shares in percent."""
    if isinstance(outcome, Unavailable):
        return "–"
    if measure == "bounds" and outcome.value is None:
        return f"at most {words.plural(round(-(outcome.low or 0.0)), 'count')}"
    if measure == "bounds":
        return words.plural(round(-(outcome.value or 0.0)), "count") if outcome.value else "0"
    if measure != "small_cells_identified":
        return outcome_cell(outcome, 3)
    share = words.share(outcome.value or 0.0, 1.0)
    high = outcome.high
    turned = high is not None and high > (outcome.value or 0.0)
    return f"{share}, up to {words.share(high or 0.0, 1.0)}" if turned else share


def _share_words(share: Figure, n_cells: int) -> str:
    numbers = [round((x or 0.0) * n_cells) for x in (share.value, share.low, share.high)]
    found, low, high = numbers
    limits = "" if share.low is None or low == high else f"; {low} to {high} by draws"
    return f"{words.share(found, n_cells)} ({words.count(found)} of {words.count(n_cells)}{limits})"


def how_words(outcome: Outcome) -> str:
    """How a figure is known, in a word or two."""
    if isinstance(outcome, Unavailable):
        return "not available"
    return {How.EXACT: "exact", How.BOUND: "proven bound", How.ESTIMATE: "estimate"}[outcome.how]


def probability_words(distribution: Mapping[int, float], count: int, error: float = 0.0) -> str:
    """The probability of a count, with its standard error if it has one.

    It is 1 where no other count is possible, and only there, whatever rounding made of it.
    """
    value = distribution.get(count, 0.0)
    if value > 0:
        value = 1.0 if len(distribution) == 1 else min(value, BELOW_ONE)
    shown = words.probability(value)
    return f"{shown} ± {error:.1g}" if error > NO_ERROR else shown


def guess(view: View | Unavailable, place: int, truth: int) -> tuple[str, str, str]:
    """The most probable count, its probability, and that of the true one."""
    if isinstance(view, Unavailable):
        return ("–", "–", "–")
    distribution, errors = view.distributions[place], view.errors[place]
    best = best_value(distribution)
    best_p, true_p = (
        probability_words(distribution, count, errors.get(count, 0.0)) for count in (best, truth)
    )
    return (str(best), best_p, true_p)


def model_gaps(audit: Audit, names: Sequence[str]) -> Iterator[str]:
    """Why figures of some models are missing; those of the main view are told beside them."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for name in names:
        view = audit.views[name]
        if isinstance(view, Unavailable):
            continue
        shown = {"probability of the model": view.weight}
        if name != main_view(audit):
            found = figures(audit, name)
            shown |= {TITLES[k]: found[k] for k in ("true_table", "small_cells_identified")}
        for title, outcome in shown.items():
            if isinstance(outcome, Unavailable):
                reasons.setdefault((title, outcome.reason), []).append(name)
    for (title, reason), own in reasons.items():
        yield f"No {title} for {words.listed(own)}: {words.sentence(reason)}."


def step_gaps(audits: Sequence[Audit], measures: Iterable[str]) -> Iterator[str]:
    """Why figures after earlier releases are missing; those of the last are told elsewhere."""
    for step in audits[:-1]:
        reasons: dict[str, list[str]] = {}
        if step.n_tables.value is None:
            reasons[step.n_tables.note or "they were not counted"] = ["number of tables"]
        found = figures(step, main_view(step))
        for key in measures:
            outcome = found[key]
            if isinstance(outcome, Unavailable):
                reasons.setdefault(outcome.reason, []).append(TITLES[key])
        out = margin_names(step.release)
        for reason, titles in reasons.items():
            yield f"After {out}, not known: {words.listed(titles)} ({reason})."


def most_exposed(audit: Audit, name: str, most: int, at_once: int | None = None) -> list[int]:
    """Places of up to `most` small cells: all in the table's order where no more than `at_once` are
    to be shown, else those first whose true count is the most probable under the view (the
    narrowest bounds where it is not available)."""
    places, view = range(len(audit.small_cells)), audit.views[name]
    if len(places) <= (most if at_once is None else at_once):
        return list(places)
    narrow = sorted(places, key=lambda place: audit.small_cells[place].width)
    if isinstance(view, Unavailable):
        return narrow[:most]
    known = [view.distributions[place].get(audit.small_cells[place].truth, 0.0) for place in narrow]
    return [narrow[i] for i in order_of(known)[:most]]


def general_notes(audit: Audit) -> list[str]:
    """Notes on the whole audit; those on one view stand beside its figures."""
    own = tuple(f"{name}: " for name in audit.views)
    return [words.full(note) for note in audit.notes if not note.startswith(own)]


def warnings_of(audit: Audit, name: str) -> list[str]:
    """Why the probabilities under one view may be off."""
    view, seconds = audit.views[name], audit.options.seconds
    if isinstance(view, Unavailable):
        return []
    stopped = "" if seconds is None else f" after {seconds:.3g} s"
    found = [] if view.complete else [f"Stopped{stopped}, before all draws were made."]
    if view.warning:
        found.append(f"These probabilities are uncertain: {words.sentence(view.warning)}.")
    return found


def margin_name(release: Release, axes: Sequence[int]) -> str:
    """A margin by its variables: [race income]; a name with blanks or the like is in quotes, as in
    the names of models."""
    names = (release.table.names[axis] for axis in axes)
    return "[" + " ".join(f'"{x}"' if re.search(r"[\s,\[\]]", x) else x for x in names) + "]"


def margin_names(release: Release) -> str:
    """All margins that are out."""
    return "".join(margin_name(release, axes) for axes in release.asked)


def cell_name(audit: Audit, cell: CellAudit) -> str:
    """A cell by its levels, in the order of the variables."""
    labels = audit.release.table.labels(cell.levels)
    return ", ".join(labels.values())


def small_words(audit: Audit) -> str:
    """What counts as small."""
    most = audit.options.most_small
    return "a count of 1" if most == 1 else f"a count from 1 to {most}"


def scope(audit: Audit) -> Iterator[str]:
    """What was audited, in a few lines."""
    table, release = audit.release.table, audit.release
    yield (
        f"{words.plural(table.total, 'person')}, {words.plural(len(table.names), 'variable')}, "
        f"{words.plural(table.n_cells, 'cell')}, "
        f"{words.plural(len(table.small_cells(audit.options.most_small)), 'small cell')} "
        f"({small_words(audit)})"
    )
    yield f"released: {margin_names(release)}"


def learned_words(audit: Audit, learned: Learned) -> str:
    """Who would learn what, in one sentence."""
    return words.full(groups.learned_words(learned, audit.release.table))


def unless_nested_words(audit: Audit, learned: Learned) -> str:
    """Who would learn what, unless everybody knows it."""
    said = groups.learned_words(learned, audit.release.table)
    return f"{words.full(said).removesuffix('.')}, unless everybody knows that (--nested)."


def only_proved(why: Unavailable) -> str:
    """That groups which only probably share a level are not listed, and why."""
    return (
        "Only what the release proves is listed, nothing that is merely probable: "
        f"{words.sentence(why.reason)}."
    )


def rule_words(rule: RefusalRule) -> str:
    """The rule of refusal, as whoever asks knows it."""
    return f"a margin is refused where {MEASURED[rule.measure]} would be {limit_words(rule, True)}"


def limit_words(rule: RefusalRule, beyond: bool) -> str:
    """The limit of a measure, seen from beyond it or from within."""
    if rule.measure is RiskMeasure.BOUNDS:
        width = words.plural(-rule.max_risk, "count")
        return f"less than {width} wide" if beyond else f"at least {width} wide"
    most = (
        f"{rule.max_risk:g}" if rule.measure is RiskMeasure.TABLE else f"{100 * rule.max_risk:g} %"
    )
    return f"above {most}" if beyond else f"at most {most}"


def outcome_cell(outcome: Outcome, places: int = 4) -> str:
    """A figure for a narrow table."""
    if isinstance(outcome, Unavailable):
        return "–"
    if outcome.value is None:
        return _limits_words(outcome)
    value, error = outcome.value, outcome.standard_error
    if value == 0 and outcome.note == TOO_SMALL:
        return "less than 1 in 10^300"
    if 0 < value < SMALLEST:
        spread = f" ± {100 * error / value:.0f} %" if error and value * MOST_WRITTEN > 1 else ""
        return tiny(value) + spread
    if NO_BITS < 1 - value < 0.5 * 10.0**-places and not error:  # rounds to 1 and is no certainty
        return f"> {1 - 10.0**-places:.{places}f}"
    shown = f"{value:.{places}f}".rstrip("0").rstrip(".") if value != int(value) else f"{value:.0f}"
    return f"{shown} ± {error:.2g}" if error else shown


def _limits_words(outcome: Figure) -> str:
    """A probability of which only limits are known."""
    if outcome.high is not None and outcome.high < 1:
        high = tiny(outcome.high) if outcome.high < SMALLEST else words.probability(outcome.high)
        return f"at most {high}"
    return f"at least {words.expected(outcome.low or 0)}"


def tiny(value: float) -> str:
    """A probability too small to write out, as one in so many."""
    number = round(1 / value)
    shown = words.count(number) if number < MOST_WRITTEN else f"10^{len(str(number)) - 1}"
    return f"1 in {shown.removeprefix('about ')}"
