"""What one set of count statistics for each category gives away, as a document."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.count_tables.advice import CountAdvice, CountDecision
from discreet.count_tables.category_assessment import CategoriesAssessment, CategoryRisk
from discreet.count_tables.com_poisson.conjugate import BayesianAnalysis
from discreet.count_tables.com_poisson.regression import Regression, SetsRegression
from discreet.count_tables.likely_tables import LikelyTables
from discreet.count_tables.measures import CellRisk
from discreet.count_tables.release import CountRelease
from discreet.fiber.sums.counting import Count
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import first_largest
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.counts.answer import next_steps_of_categories
from discreet.report.counts.document import TRUE_LINE, draw_panels
from discreet.report.counts.fit import (
    EFFECT_HEADER,
    MEAN_HEADER,
    bayes_section,
    mean_rows,
    regression_notes,
    regression_rows,
)
from discreet.report.counts.words import cell_words
from discreet.report.document import Block, Document, Plot, Section, Table, Text
from discreet.report.verdict import next_section, verdict_section

SHOWN = 40  # rows on the terminal
SHOWN_VERDICTS = 8  # on the terminal
SHOWN_WARNINGS = 3  # in the short view
MOST_PANELS = 30
VERDICT_HEADER = ("category", "verdict", "best guess", "surest count", "S2 with")
RULED = {
    Ruling.KEPT: "may go out",
    Ruling.BROKEN: "may not go out",
    Ruling.UNDECIDED: "undecided",
}
SET_HEADER = ("category", "n", "S1", "e^S2")
OWN_HEADER = ("category", "tables", "effective", "best guess", "true table", "surest count")
JOINT_HEADER = ("all tables jointly", "tables", "bits", "effective", "best guess", "true tables")
ADDED_HEADER = ("category", "surest count alone", "jointly")
OWN_MEANING = (
    "Effective: the number of equally probable tables that would leave an intruder as unsure. Best "
    "guess: the probability that the most probable table is right. Surest count: the value whose "
    "count an intruder finds most surely, and with what probability. All with the multinomial "
    "prior, which is right for independent counts."
)
INDEPENDENT = (
    "Given its own set, a category's table tells nothing of the others: numbers of tables multiply "
    "and bits add up. That ends where tables over categories are out as well."
)
DRAWN = (
    "Each line is a table that agrees with the category's own set, coloured by its probability; "
    "where tables are too many, the most probable or some drawn."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoriesView:
    """What is shown of categories; `tables` are the holder's, `likely` for a page only.

    `releases` are the sets that go out by category, `beside` what else goes out.
    """

    source: str
    variables: tuple[str, ...]
    found: CategoriesAssessment
    releases: Mapping[str, CountRelease]
    tables: Mapping[str, Mapping[int, int]] | None
    beside: tuple[str, ...]
    known: tuple[str, ...]
    likely: Mapping[str, LikelyTables | Unavailable]
    regression: SetsRegression | Unavailable | None
    bayes: Mapping[str, BayesianAnalysis | Unavailable]
    max_risk: float | None

    @property
    def is_holder(self) -> bool:
        """Are the true tables known?"""
        return self.tables is not None

    @property
    def zeros(self) -> tuple[str, ...]:
        """Categories of which S1 = 0 tells that all observations are zero."""
        return tuple(name for name, one in self.releases.items() if one.total == 0)


def categories_view(source: str, found: CategoriesAssessment) -> CategoriesView:
    """What is shown of an assessment of categories, wherever the counts are from."""
    return CategoriesView(
        source=source,
        variables=tuple(found.options.by),
        found=found,
        releases=found.out.releases,
        tables=found.out.tables,
        beside=found.out.beside,
        known=found.options.described(),
        likely=found.likely,
        regression=found.regression,
        bayes=found.bayes,
        max_risk=found.options.max_risk,
    )


def categories_document(view: CategoriesView) -> Document:
    """The verdict, each category by itself, and all of them together."""
    return Document(
        title=title(view),
        scope=(scope(view),),
        mark="confidential" if view.is_holder else None,
        blocks=(
            _verdict(view),
            Section("Each category", tuple(_each(view))),
            _headline(view),
            next_section(next_steps_of_categories(view.found)),
            Section(
                "What would go out" if view.is_holder else "What goes out",
                (
                    _table(SET_HEADER, set_rows(view), "lrrr"),
                    *(Text(line) for line in beside_lines(view)),
                ),
                only="detail",
            ),
            Section(
                "What an intruder can rebuild of each category from its own set",
                (
                    _table(own_header(view), own_rows(view)),
                    Text(OWN_MEANING, "soft"),
                    *_drawn(view),
                ),
                only="detail",
            ),
            Section("All categories together", tuple(_together(view)), only="detail"),
            Section("COM-Poisson regression of the log rate, from the sets", _regression(view)),
            *([bayes_section(view.bayes)] if view.bayes else []),
        ),
    )


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], sides: str = "") -> Table:
    return Table(header=header, rows=tuple(rows), sides=sides, most=SHOWN)


def _verdict(view: CategoriesView) -> Section:
    lines = warning_lines(view)
    warnings = [Text(line, "warning") for line in lines[:SHOWN_WARNINGS]]
    warnings += [Text(line, "warning", "detail") for line in lines[SHOWN_WARNINGS:]]
    if view.found.verdict is None:
        return Section("Warnings", tuple(warnings))
    found = verdict_section(view.found.verdict)
    return replace(found, blocks=(*found.blocks, *warnings))


def _each(view: CategoriesView) -> Iterator[Block]:
    """The verdict on each category, those that may not go out first."""
    if view.found.verdicts:
        rows, sides = tuple(verdict_rows(view)), "llrll"
        yield Table(header=VERDICT_HEADER, rows=rows, sides=sides, most=SHOWN_VERDICTS)


def verdict_rows(view: CategoriesView) -> Iterator[tuple[str, ...]]:
    """Each category: may its set go out, its risks, and the decimals of S2 that keep the limit."""
    order = {Ruling.BROKEN: 0, Ruling.UNDECIDED: 1, Ruling.KEPT: 2}
    for name, verdict in sorted(view.found.verdicts.items(), key=lambda x: order[x[1].ruling]):
        risk, cells = view.found.alone.get(name), view.found.joint_cells.get(name)
        best = cell_words(risk.best_guess_probability) if isinstance(risk, CategoryRisk) else "–"
        surest = _surest_jointly(view, name, cells) if cells else "–"
        yield name, RULED[verdict.ruling], best, surest, _instead(view.found.advice.get(name))


def _instead(advice: CountAdvice | None) -> str:
    if advice is None:
        return ""
    if advice.decision is CountDecision.FEWER_DECIMALS:
        return words.plural(advice.decimals or 0, "decimal")
    return "none helps" if advice.decision is CountDecision.DO_NOT else "undecided"


def _headline(view: CategoriesView) -> Section:
    """All tables together, in a line or two; the rest has tables of its own."""
    joint = view.found.joint
    if isinstance(joint, Unavailable):
        said = f"Not known: {words.sentence(joint.reason)}."
    else:
        figures = JointFigures.of(joint)
        best = cell_words(figures.best_guess)
        said = f"Tables of all categories that are consistent with what goes out: {figures.tables}."
        said += "" if best == "–" else f" The best guess of all has probability {best}."
    return Section("What an intruder can rebuild", (Text(said),), only="terminal")


def _drawn(view: CategoriesView) -> Iterator[Block]:
    """The tables of each category as lines, and what is not drawn."""
    drawn = {name: one for name, one in view.likely.items() if not isinstance(one, Unavailable)}
    shown = dict(list(drawn.items())[:MOST_PANELS])
    label = "Tables of each category as lines over the values, coloured by probability"
    if shown:
        marked = ", with the true tables marked" if view.is_holder else ""
        yield Plot("solutions", label + marked, lambda: draw_panels(shown, view.tables))
        cut = len(drawn) > len(shown)
        some = f" The first {MOST_PANELS} of {len(drawn)} categories." if cut else ""
        yield Text(f"{DRAWN}{some}{TRUE_LINE if view.is_holder else ''}", "soft", "page")
    lost = ((n, one.reason) for n, one in view.likely.items() if isinstance(one, Unavailable))
    for reason, names in words.by_reason(lost).items():
        said = f"Not drawn: {words.listed(names)}, since {words.sentence(reason)}."
        yield Text(said, "soft", "page")


def _together(view: CategoriesView) -> Iterator[Block]:
    yield _table(joint_header(view), joint_rows(view))
    yield from (Text(line, "soft") for line in joint_notes(view))
    if view.beside and added_rows(view):
        yield _table(ADDED_HEADER, added_rows(view))


def _regression(view: CategoriesView) -> tuple[Block, ...]:
    found = view.regression
    if found is None:
        return ()
    if isinstance(found, Unavailable):
        return (Text(f"Not available: {words.sentence(found.reason)}."),)
    effects = regression_rows(found.common) if isinstance(found.common, Regression) else []
    means = mean_rows(found, list(view.releases))
    return (
        *([_table(EFFECT_HEADER, effects)] if effects else []),
        *(Text(note, "soft") for note in regression_notes(found)),
        Table(header=MEAN_HEADER, rows=tuple(means), only="page"),
    )


def title(view: CategoriesView) -> str:
    """What the report is about."""
    if view.is_holder:
        return "What one set of count statistics for each category gives away"
    return "What an intruder rebuilds from one set of count statistics for each category"


def scope(view: CategoriesView) -> str:
    """Where the figures come from, and what makes the categories."""
    number = len(view.releases) + sum(name not in view.releases for name in view.found.names)
    counted = words.plural(number, "category", "categories")
    by = f" by {words.listed(view.variables)}" if view.variables else ""
    return f"{view.source}: {counted}{by}"


def set_rows(view: CategoriesView) -> list[tuple[str, ...]]:
    """What goes out of each category."""
    rows: list[tuple[str, ...]] = []
    for name, one in view.releases.items():
        n = "withheld" if one.n is None else words.count(one.n)
        rows.append((name, n, words.count(one.total), one.lines()[-1].partition(" = ")[2]))
    return rows


def beside_lines(view: CategoriesView) -> Iterator[str]:
    """What goes out beside the sets, what is withheld, and what is known."""
    if view.beside:
        yield f"Also out: {words.listed(view.beside)}."
    hidden = [name for name in view.found.names if name not in view.releases]
    if hidden:
        yield f"Withheld: the set of {words.listed(hidden)}."
    for name in view.zeros:
        n = words.plural(view.releases[name].n or 0, "observation")
        yield f"{name}: S1 = 0, so all of its {n} must be zero."
    if view.known:
        yield f"Known of every category: {'; '.join(view.known)}."


def own_header(view: CategoriesView) -> tuple[str, ...]:
    """Columns of the categories; an intruder knows no truth."""
    return OWN_HEADER if view.is_holder else (*OWN_HEADER[:4], OWN_HEADER[5])


def own_rows(view: CategoriesView) -> list[tuple[str, ...]]:
    """The risk of each category from its own set."""
    rows = []
    for name, risk in view.found.alone.items():
        if isinstance(risk, Unavailable):
            rows.append((name, *("–",) * (len(own_header(view)) - 1)))
            continue
        truth = (cell_words(risk.truth_probability),) if view.is_holder else ()
        shown = (_tables(risk.count), cell_words(risk.effective_tables))
        best = cell_words(risk.best_guess_probability)
        rows.append((name, *shown, best, *truth, _surest_alone(risk)))
    return rows


def _tables(count: Count) -> str:
    return words.tables(count).split(" (")[0].split(":")[0]


def _surest_alone(risk: CategoryRisk) -> str:
    """For the holder the true count that is found most surely; for an intruder his surest guess."""
    worst = risk.worst_cell
    if worst is not None:
        return _surest(worst.value, worst.probability)
    distribution = risk.distributions["multinomial"]
    if isinstance(distribution, Unavailable):
        return "–"
    cells = distribution.cells[distribution.first_value :]
    cell = cells[first_largest([one.best_guess_probability for one in cells])]
    return _surest(cell.cell, cell.best_guess_probability)


def _surest(value: int, probability: float) -> str:
    known = words.probability(1.0 if probability > 1 - 1e-9 else probability)
    return f"value {value}: {known}"


def joint_header(view: CategoriesView) -> tuple[str, ...]:
    """Columns of the joint figures."""
    return JOINT_HEADER if view.is_holder else JOINT_HEADER[:-1]


def joint_rows(view: CategoriesView) -> list[tuple[str, ...]]:
    """The figures of all tables jointly: from the sets alone, and with all that is out."""
    found, rows = view.found.joint, []
    alone = alone_jointly(view)
    if view.beside:
        rows.append(_joint_row(view, "from the sets alone", alone or NOT_EXACT))
    label = "with all that is out" if view.beside else "from the sets"
    if isinstance(found, Unavailable):
        rows.append((label, *("–",) * (len(joint_header(view)) - 1)))
    else:
        rows.append(_joint_row(view, label, JointFigures.of(found)))
    return rows


@dataclass(frozen=True, slots=True)
class JointFigures:
    """Number of all categories' tables, bits of doubt, and how sure an intruder is of all."""

    tables: str
    entropy: Outcome
    effective: Outcome
    best_guess: Outcome
    truth: Outcome | None

    @classmethod
    def of(cls, risk: CategoryRisk) -> "JointFigures":
        """Those of the joint distribution."""
        tables = _tables(risk.count)
        best, truth = risk.best_guess_probability, risk.truth_probability
        return cls(tables, risk.entropy, risk.effective_tables, best, truth)


UNKNOWN = Unavailable("not known exactly for every category")
NOT_EXACT = JointFigures("–", UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)


def alone_jointly(view: CategoriesView) -> JointFigures | None:
    """Independent tables: numbers and probabilities multiply, bits add up. None: some unknown."""
    risks = [risk for risk in view.found.alone.values() if isinstance(risk, CategoryRisk)]
    counts = [risk.count for risk in risks]
    if len(risks) < len(view.found.alone) or any(c.how is not How.EXACT for c in counts):
        return None
    entropy = _combined([risk.entropy for risk in risks], sum)
    best = _combined([risk.best_guess_probability for risk in risks], math.prod)
    truth = _combined([risk.truth_probability for risk in risks], math.prod)
    tables = words.count(math.prod(c.value or 0 for c in counts))
    effective = Unavailable("a number too large to print")
    bits = entropy.value if isinstance(entropy, Figure) else None
    if bits is not None and bits < 1000:
        return JointFigures(tables, entropy, Figure(value=2**bits, how=How.EXACT), best, truth)
    return JointFigures(tables, entropy, effective, best, truth)


def _combined(outcomes: list[Outcome | None], combine: object) -> Outcome:
    values = [o.value for o in outcomes if isinstance(o, Figure) and o.how is How.EXACT]
    if len(values) < len(outcomes) or not callable(combine):
        return UNKNOWN
    return Figure(value=float(combine(values)), how=How.EXACT)


def _joint_row(view: CategoriesView, label: str, figures: JointFigures) -> tuple[str, ...]:
    truth = (cell_words(figures.truth),) if view.is_holder else ()
    entropy = figures.entropy
    value = None if isinstance(entropy, Unavailable) else entropy.value
    bits = "–" if value is None else words.expected(value)
    effective, best = cell_words(figures.effective), cell_words(figures.best_guess)
    return (label, figures.tables, bits, effective, best, *truth)


def joint_notes(view: CategoriesView) -> Iterator[str]:
    """What the joint figures rest on, and why some are not there."""
    yield INDEPENDENT
    for line in view.found.assumptions[1:]:
        yield f"Assumed: {line}."
    risks: list[tuple[str, CategoryRisk | JointFigures | Unavailable]] = [
        *view.found.alone.items(),
        ("all jointly", view.found.joint),
    ]
    if view.beside:
        risks.append(("all jointly from the sets alone", alone_jointly(view) or UNKNOWN))
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, risk in risks:
        for what, reason in gaps(risk):
            reasons.setdefault((what, reason), []).append(name)
    for (what, reason), names in reasons.items():
        yield f"No {what} for {words.listed(names)}: {words.sentence(reason)}."


def gaps(risk: "CategoryRisk | JointFigures | Unavailable") -> Iterator[tuple[str, str]]:
    """What of a risk has no figure, and why; all of it where the distribution is not known."""
    whole = risk if isinstance(risk, Unavailable) else risk.entropy
    if isinstance(whole, Unavailable):
        yield "figures", whole.reason
        return
    assert not isinstance(risk, Unavailable)
    if isinstance(risk, CategoryRisk):
        if risk.count.value is None:
            yield "number of tables", risk.count.note
        risk = JointFigures.of(risk)
    for what, outcome in (
        ("number of effective tables", risk.effective),
        ("probability of the best guess", risk.best_guess),
        ("probability of the true table", risk.truth),
    ):
        if isinstance(outcome, Unavailable):
            yield what, outcome.reason


def added_rows(view: CategoriesView) -> list[tuple[str, ...]]:
    """The count found most surely of each category: from its own set, and with all that is out."""
    rows: list[tuple[str, ...]] = []
    for name, cells in view.found.joint_cells.items():
        risk = view.found.alone[name]
        alone = "–" if isinstance(risk, Unavailable) else _surest_alone(risk)
        rows.append((name, alone, _surest_jointly(view, name, cells)))
    return rows


def _surest_jointly(view: CategoriesView, name: str, cells: tuple[CellRisk, ...]) -> str:
    if view.tables is None:
        best = cells[first_largest([cell.best_guess_probability for cell in cells])]
        return _surest(best.value, best.best_guess_probability)
    held = [cell for cell in cells if view.tables[name].get(cell.value, 0) > 0]
    worst = held[first_largest([cell.truth_probability or 0.0 for cell in held])]
    return _surest(worst.value, worst.truth_probability or 0.0)


def warning_lines(view: CategoriesView) -> list[str]:
    """What must not be overlooked."""
    return [words.full(line) for line in view.found.warnings]
