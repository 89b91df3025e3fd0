"""What to release of a table, as a document."""

from collections.abc import Iterator
from dataclasses import replace

from discreet.choice.best_set.result import BestMargins
from discreet.choice.choice import Standing, limits, place
from discreet.choice.risk_utility import RiskUtility
from discreet.choice.users import unit, wants
from discreet.figures import Figure, How
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.choose import words as texts
from discreet.report.choose.protected_table import protected_section
from discreet.report.document import Block, Document, Facts, Plot, Row, Section, Table, Text, Tiles
from discreet.report.verdict import next_section, verdict_section

FEW = 5  # candidates in the short view
SHOWN, LONGEST = 25, 36  # candidates on the terminal, and characters of their names
MOST_ROWS, MOST_TITLE = 400, 200  # on the page
MOST_VARIABLES = 6  # of a lattice that can be read
MAP = (
    "Each mark is something that could be released. To the left is safer, higher is more useful; "
    "what stands right of the dashed line is above the limit. No candidate beats those on the "
    "frontier in both."
)
MAP_OF_RULES = (
    "Each mark is something that could be released. To the left is safer, higher is more useful; "
    "its colour says whether it is within the rules. No candidate beats those on the frontier in "
    "both."
)
USER_HEADER = (
    "user",
    "weight",
    "worth",
    "best within the limit",
    "wants",
    "loss by the choice",
    "counted in",
)


def choose_document(
    source: str, found: RiskUtility, *, command: str = "", written: bool = False
) -> Document:
    """The verdict, what could go out, the map, users and intruders.

    `command` is what was typed, `written` whether the tables are written already.
    """
    title = texts.headline(found)
    return Document(
        title=f"What to release of {source}",
        scope=tuple(texts.scope(found)),
        mark="confidential",
        blocks=(
            _verdict(found, title[:1].lower() + title[1:].rstrip(".").replace("elease:", "elease")),
            Section("What could go out", tuple(_short(found)), only="terminal"),
            next_section(texts.next_steps(found, command, written=written)),
            *(Text(words.full(note), "warning") for note in found.notes),
            Tiles(_tiles(found)),
            protected_section(found),
            Section("Risk against worth", (Text(_told(found), "soft"), _map(found)), only="page"),
            *(
                Section(title, tuple(blocks), only="detail")
                for title, blocks in (
                    ("Risk and worth of what could be released", _candidates(found)),
                    ("The search for the best set of margins", _search(found)),
                    ("Whom it serves", _users(found)),
                    ("Whom it is guarded against", _intruders(found)),
                    ("How this was made", (_made(found),)),
                )
            ),
        ),
    )


def _verdict(found: RiskUtility, title: str) -> Section:
    """The decision as the verdict's title, and why."""
    section = verdict_section(found.verdict, title=title)
    why = [Text(line) for line in texts.reasons(found)]
    more = [Text(line, only="detail") for line in texts.more_reasons(found)]
    if found.verdict.ruling is Ruling.KEPT:
        return replace(section, blocks=(*why, *more))
    return replace(section, blocks=(*section.blocks, *why, *more))


def _short(found: RiskUtility) -> Iterator[Block]:
    """The choice and what comes next within the limit; where nothing is, the most useful."""
    order = [i for i in texts.ordered(found) if not found.candidates[i].is_nothing]
    within = [i for i in order if found.choice.standings[i] is Standing.WITHIN]
    order = within or order
    header = ("", "release", "risk", "worth", "the limit")
    rows = tuple(_row(found, i, LONGEST) for i in order[:FEW])
    yield Table(header=header, rows=rows, sides="llrrl")
    if len(order) > FEW:
        yield Text(f"And {words.count(len(order) - FEW)} more.", "soft")


def _tiles(found: RiskUtility) -> tuple[tuple[str, str], ...]:
    chosen = found.chosen
    safe = sum(s is Standing.WITHIN for s in found.choice.standings)
    within = "candidates within the limit, releasing nothing among them"
    return (
        ("–" if chosen is None else texts.risk_words(chosen.risk), "risk of the choice"),
        (_limit(found), "the limit on risk"),
        ("–" if chosen is None else texts.worth_words(chosen), "worth of the choice to users"),
        (f"{safe} of {len(found.candidates)}", within),
    )


def _limit(found: RiskUtility) -> str:
    """The limit on the measure of the map; there may be none, but for rules of policies."""
    if not found.options.has_limit:
        return "–"
    return texts.minus(texts.number(found.options.max_risk))


def _told(found: RiskUtility) -> str:
    return MAP if found.options.has_limit else MAP_OF_RULES


def _map(found: RiskUtility) -> Plot:
    """The map; candidates whose risk or worth is not known are not on it."""

    def draw() -> str:
        from discreet.report.risk_utility_plot import Dot, risk_utility_plot

        dots = []
        for i, one in enumerate(found.candidates):
            if place(one) is None or not isinstance(one.risk, Figure):
                continue
            low, high = limits(one.risk)
            value = one.risk.value
            dots.append(
                Dot(
                    title=one.title,
                    risk=low if value is None else value,
                    worth=one.worth or 0.0,
                    standing=found.choice.standings[i],
                    high=None if one.risk.how is How.EXACT else high,
                    is_chosen=i == found.choice.chosen,
                    is_named=i == found.choice.chosen or i in found.choice.front or one.is_nothing,
                )
            )
        front = [p for i in found.choice.front if (p := place(found.candidates[i])) is not None]
        options = found.options
        cap = options.max_risk if options.has_limit else None
        return risk_utility_plot(dots, front, cap, options.measure.kind.value)

    label = "Risk–utility map: risk across, worth up, with the limit, the frontier and the choice"
    return Plot("risk-utility", label, draw)


def _candidates(found: RiskUtility) -> Iterator[Block]:
    """All candidates with what is known of them, in short on the terminal."""
    order = texts.ordered(found)
    users = [user.name for user in found.scientists]
    header = ("", "release", "risk", "worth", "the limit")
    rows = tuple(_row(found, i, LONGEST) for i in order)
    yield Table(header=header, rows=rows, sides="llrrl", most=SHOWN, only="terminal")
    yield Table(
        header=(*header, *users, "how the risk is known"),
        rows=tuple((*_row(found, i, MOST_TITLE), *_more(found, i)) for i in order[:MOST_ROWS]),
        sides="llrrl" + "r" * len(users) + "l",
        only="page",
    )
    yield Text(texts.LEGEND, "soft")
    yield Text("Columns with the name of a user give the worth to that user alone.", "soft", "page")
    yield from (Text(line, "soft") for line in (texts.risk_meaning(found), texts.WORTH))
    yield from (Text(line, "warning") for line in texts.unknown_words(found))


def _row(found: RiskUtility, i: int, longest: int) -> Row:
    one = found.candidates[i]
    shown = (texts.short(one.title, longest), texts.risk_words(one.risk), texts.worth_words(one))
    return (texts.mark(found, i), *shown, texts.standing_words(found, i))


def _more(found: RiskUtility, i: int) -> Row:
    """The worth to each user, and how the risk is known."""
    one = found.candidates[i]
    names = (user.name for user in found.scientists)
    worths = (texts.worth_number(one.worths[name]) if one.worths else "–" for name in names)
    how = one.method if isinstance(one.risk, Figure) else texts.how_words(one.risk)
    return (*worths, words.sentence(how))


def _search(found: RiskUtility) -> Iterator[Block]:
    if found.search is not None:
        yield from (Text(line) for line in texts.best_words(found.search))
        yield from _lattice(found.search)


def _lattice(best: BestMargins) -> Iterator[Block]:
    """What became of each margin, as a picture, for tables of few variables."""
    if best.frontier is None or len(best.names) > MOST_VARIABLES:
        return
    statuses = best.frontier.statuses

    def draw() -> str:
        from discreet.report.lattice_plot import lattice_plot

        return lattice_plot(best.names, statuses)

    yield Text("Every margin by its variables, the total at the bottom.", "soft", "page")
    yield Plot("lattice", "Lattice of margins: what goes out, what could, what cannot", draw)


def lattice_document(best: BestMargins) -> Document:
    """The best set of margins by itself, for a notebook."""
    section = Section("What goes out, what could, what cannot", tuple(_lattice(best)))
    sentences = tuple(Text(line) for line in texts.best_words(best))
    return Document(
        title="The best set of margins",
        mark="confidential",
        blocks=(Section("The search", sentences), section),
    )


def _users(found: RiskUtility) -> Iterator[Block]:
    rows = tuple(_user_row(found, user.name, user.weight) for user in found.scientists)
    yield Table(header=USER_HEADER, rows=rows, sides="lrrllrl", page_columns=2)
    if texts.conflict_words(found):
        yield Text(texts.conflict_words(found))


def _user_row(found: RiskUtility, name: str, weight: float) -> Row:
    chosen, best = found.chosen, found.best_for.get(name)
    worth = loss = "–"
    if chosen is not None and chosen.worths:
        worth, loss = (
            texts.worth_number(chosen.worths[name]),
            texts.minus(words.expected(chosen.losses[name])),
        )
    liked = "–" if best is None else texts.short(found.candidates[best].title, texts.LISTED)
    return (name, f"{weight:g}", worth, liked, wants(name), loss, unit(name))


def _intruders(found: RiskUtility) -> Iterator[Block]:
    yield from (Text(f"{line}.") for line in texts.intruder_words(found))
    if texts.intruder_hint(found):
        yield Text(texts.intruder_hint(found), "warning")
    said = (
        "Of several intruders the worst counts. Each knows how the release was made, but no seed."
    )
    yield Text(said, "soft", "page")


def _made(found: RiskUtility) -> Facts:
    options = found.options
    return Facts(
        (
            *_recipe(found),
            ("measure", options.measure.kind.value),
            ("small", f"counts from 1 to {options.measure.small}"),
            ("seconds", "no limit" if options.seconds is None else f"{options.seconds:.3g}"),
            ("seed", str(options.seed)),
        )
    )


def _recipe(found: RiskUtility) -> list[tuple[str, str]]:
    """What is needed to make the chosen release again."""
    chosen = found.chosen
    if chosen is None or chosen.masked is None:
        return []
    record = chosen.masked.record()
    given = [
        (name.replace("_", " "), _value(value)) for name, value in record["parameters"].items()
    ]
    seed = [] if record["seed"] is None else [("seed of the mask", str(record["seed"]))]
    return [("mask", record["mask"]), *given, *seed]


def _value(value: object) -> str:
    """A parameter as people write it: sets in brackets, yes and no."""
    if isinstance(value, list):
        return "".join(f"[{' '.join(group)}]" for group in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)
