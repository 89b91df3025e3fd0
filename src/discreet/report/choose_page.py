"""A choice of what to release as one HTML page: the decision, the map, users and intruders."""

from pathlib import Path

from discreet.choice.candidates import SAFE
from discreet.choice.choice import Standing, Verdict, limits, place
from discreet.choice.risk_utility import RiskUtility
from discreet.choice.users import unit, wants
from discreet.data.writing import written_whole
from discreet.figures import Figure, How
from discreet.report import words
from discreet.report.choose_words import (
    WORTH,
    conflict_words,
    headline,
    how_words,
    intruder_hint,
    intruder_words,
    mark,
    minus,
    number,
    ordered,
    reasons,
    risk_meaning,
    risk_words,
    scope,
    search_words,
    short,
    standing_words,
    worth_number,
    worth_words,
)
from discreet.report.html import render
from discreet.report.lattice_plot import MOST_VARIABLES, lattice_plot
from discreet.report.risk_utility_plot import Dot, risk_utility_plot

MOST_ROWS = 400
Row = tuple[str, ...]


def write_choice(source: str, found: RiskUtility, path: Path) -> None:
    """Write the page, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_bytes(choose_html(source, found).encode("utf-8", "backslashreplace"))


def choose_html(source: str, found: RiskUtility) -> str:
    """The page of a choice."""
    return render(
        "choose.html",
        source=source,
        scope=list(scope(found)),
        headline=headline(found),
        refused=found.choice.verdict is not Verdict.RELEASE,
        reasons=list(reasons(found)),
        tiles=_tiles(found),
        plot=_plot(found),
        risk_meaning=risk_meaning(found),
        worth_meaning=WORTH,
        user_names=[user.name for user in found.scientists],
        rows=[_row(found, i) for i in ordered(found)[:MOST_ROWS]],
        search=list(search_words(found)),
        lattice=_lattice(found),
        users=_users(found),
        conflict=conflict_words(found),
        intruders=intruder_words(found),
        hint=intruder_hint(found),
        notes=[words.sentence(note) for note in found.notes],
        options=found.options,
        recipe=_recipe(found),
    )


def _tiles(found: RiskUtility) -> list[tuple[str, str]]:
    chosen = found.chosen
    safe = sum(s is Standing.WITHIN for s in found.choice.standings)
    return [
        ("–" if chosen is None else risk_words(chosen.risk), "risk of the choice"),
        (minus(number(found.options.max_risk)), "the cap on risk"),
        ("–" if chosen is None else worth_words(chosen), "worth of the choice to users"),
        (f"{safe} of {len(found.candidates)}", "candidates within the cap, nothing among them"),
    ]


def _plot(found: RiskUtility) -> str:
    """The map; candidates whose risk or worth is not known are not on it."""
    dots = []
    for i, one in enumerate(found.candidates):
        if place(one) is None or not isinstance(one.risk, Figure):
            continue
        low, high = limits(one.risk)
        safe = one.risk.note == SAFE
        value = high if safe else one.risk.value
        dots.append(
            Dot(
                title=one.title,
                risk=low if value is None else value,
                worth=one.worth or 0.0,
                standing=found.choice.standings[i],
                high=None if safe or one.risk.how is How.EXACT else high,
                is_chosen=i == found.choice.chosen,
                is_named=i == found.choice.chosen or i in found.choice.front or one.is_nothing,
            )
        )
    front = [p for i in found.choice.front if (p := place(found.candidates[i])) is not None]
    policy = found.options.measure.policy.value
    return risk_utility_plot(dots, front, found.options.max_risk, policy)


def _lattice(found: RiskUtility) -> str | None:
    """The margins as a picture of what can go out, for tables of few variables."""
    best = found.search
    if best is None or best.frontier is None or len(best.names) > MOST_VARIABLES:
        return None
    return lattice_plot(best.names, best.frontier.statuses)


def _row(found: RiskUtility, i: int) -> Row:
    one = found.candidates[i]
    worths = [
        worth_number(one.worths[user.name]) if one.worths else "–" for user in found.scientists
    ]
    how = one.method if isinstance(one.risk, Figure) else how_words(one.risk)
    return (
        mark(found, i),
        short(one.title, 200),
        risk_words(one.risk),
        standing_words(found, i),
        worth_words(one),
        *worths,
        words.sentence(how),
    )


def _users(found: RiskUtility) -> list[Row]:
    chosen = found.chosen
    rows: list[Row] = []
    for user in found.scientists:
        known = chosen is not None and chosen.worths
        best = found.best_for.get(user.name)
        rows.append(
            (
                user.name,
                wants(user.name),
                f"{user.weight:g}",
                minus(words.expected(chosen.losses[user.name])) if known and chosen else "–",
                unit(user.name),
                worth_number(chosen.worths[user.name]) if known and chosen else "–",
                "–" if best is None else short(found.candidates[best].title, 200),
            )
        )
    return rows


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
