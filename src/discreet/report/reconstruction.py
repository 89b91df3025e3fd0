"""What can be rebuilt from published tables, as a section of a document."""

from collections.abc import Sequence

from discreet.fiber.reconstruction.areas import AreaRebuilt
from discreet.fiber.reconstruction.rebuilt import RebuiltTable
from discreet.figures import Figure, Outcome
from discreet.report import words
from discreet.report.document import Section, Table, Text

HEADER = ("area", "persons", "certain\nrecords", "most that\ndiffer", "share", "rebuilt\nwhole")
MOST_AREAS = 20  # on the terminal
WHOLE = "One table fits: every record is certain, as far as the tables tell records apart."
MEANING = (
    "A record is certain if it stands in every table that fits what is published. Two tables that "
    "fit can differ in so many persons; over all persons that is the solution variability."
)


def rebuilt_section(found: RebuiltTable) -> Section:
    """What can be rebuilt of a table as a whole."""
    certain, distance = found.rebuilt.figure, found.distance.figure
    rows = (
        ("persons", words.outcome(found.persons)),
        ("records that are certain", words.outcome(certain)),
        ("persons in which two tables that fit can differ", words.outcome(distance)),
        ("solution variability", _share(found.distance.share)),
    )
    first = WHOLE if found.rebuilt.is_whole else _said(found)
    return Section(
        "What can be rebuilt",
        (
            Text(first),
            Table(header=("", ""), rows=rows, only="detail"),
            Text(MEANING, "soft", only="detail"),
        ),
    )


def _said(found: RebuiltTable) -> str:
    """The same in a sentence."""
    certain, distance = found.rebuilt.figure, found.distance.figure
    return (
        f"{words.outcome(certain)} of {words.outcome(found.persons)} records stand in every table "
        f"that fits; two such tables can differ in {words.outcome(distance)} persons."
    )


def areas_section(found: Sequence[AreaRebuilt]) -> Section:
    """What can be rebuilt of each area: in a sentence of all, and a row for each."""
    table = Table(header=HEADER, rows=tuple(_row(one) for one in found), most=MOST_AREAS)
    problems = [one for one in found if one.problem]
    told = [
        Text(f"{one.name}: {words.full(one.problem)}", "warning") for one in problems[:MOST_AREAS]
    ]
    return Section(
        "What can be rebuilt of each area",
        (Text(areas_sentence(found), "strong"), table, *told, Text(MEANING, "soft", "detail")),
    )


def areas_sentence(found: Sequence[AreaRebuilt]) -> str:
    """How many areas and how many of their persons are certain."""
    judged = [one for one in found if not one.problem]
    whole = sum(one.is_whole is True for one in judged)
    persons = sum(_least(one.persons) for one in judged)
    certain = sum(_least(one.certain) for one in judged)
    is_known = all(one.is_whole is not None for one in judged)
    at_least = "" if is_known else "at least "
    said = (
        f"{at_least}{words.count(whole)} of {words.plural(len(judged), 'area')} "
        f"{words.by_number(whole, 'is', 'are')} rebuilt whole "
        f"({words.share(whole, len(judged))}); of {words.plural(persons, 'person')} "
        f"{words.share(certain, persons)} are certain"
    )
    return words.full(said)


def _row(one: AreaRebuilt) -> tuple[str, ...]:
    whole = {True: "yes", False: "no", None: "not known"}[one.is_whole]
    if one.problem:
        return (one.name, "–", "–", "–", "–", whole)
    figures = (words.outcome(each) for each in (one.persons, one.certain, one.distance))
    return (one.name, *figures, _share(one.variability), whole)


def _share(outcome: Outcome) -> str:
    if not isinstance(outcome, Figure):
        return "–"
    if outcome.value is not None:
        return words.share(outcome.value, 1)
    return f"{words.share(outcome.low or 0, 1)} to {words.share(outcome.high or 1, 1)}"


def _least(outcome: Outcome) -> float:
    if not isinstance(outcome, Figure):
        return 0
    return float((outcome.low if outcome.value is None else outcome.value) or 0)
