"""A verdict in words, the same for every command: may it go out, why, and what now."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from discreet.policy.verdict import Judged, Ruling, Verdict
from discreet.report.document import Place, Section, Text
from discreet.report.words import full

NEXT = "What now"  # the title of the steps that make sense
TITLES = {
    Ruling.KEPT: "May go out",
    Ruling.BROKEN: "May not go out",
    Ruling.UNDECIDED: "Undecided, so it may not go out yet",
}
TONES: dict[Ruling, Literal["good", "bad", "open"]] = {
    Ruling.KEPT: "good",
    Ruling.BROKEN: "bad",
    Ruling.UNDECIDED: "open",
}


def verdict_section(verdict: Verdict, *, title: str = "") -> Section:
    """The verdict first; then what breaks it, what is open, and what is kept, a sentence each.

    On the terminal the rules that are kept stand in the full view only, unless all are.
    """
    ruling = verdict.ruling
    against = (*verdict.those(Ruling.BROKEN), *verdict.those(Ruling.UNDECIDED))
    lines = [_line(judged) for judged in against]
    detail: Place | None = None if ruling is Ruling.KEPT else "detail"
    lines += [Text(f"Kept: {judged.words}", only=detail) for judged in verdict.those(Ruling.KEPT)]
    lines += [Text(full(note)) for note in verdict.notes]
    named = f"Verdict: {title or TITLES[ruling].lower()}"
    return Section(named, tuple(lines), tone=TONES[ruling])


def _line(judged: Judged) -> Text:
    word = "Broken" if judged.ruling is Ruling.BROKEN else "Undecided"
    return Text(f"{word}: {judged.words}", "strong")


def next_section(lines: Iterable[str]) -> Section:
    """What to do now, each step a sentence of its own; without one, a section that is not shown."""
    return Section(NEXT, tuple(Text(full(line)) for line in lines))


def remedies(verdict: Verdict) -> Iterator[str]:
    """What would help where a rule is open, with options for the parameters that are named."""
    open_ones = (judged.remedy for judged in verdict.those(Ruling.UNDECIDED))
    for one in filter(None, dict.fromkeys(open_ones)):
        yield full(as_option(one))


def as_option(remedy: str) -> str:
    """A remedy with options for the parameters that it names in brackets."""
    return re.sub(r"(?<= )\((\w+)( \S+)?\)", r"(--\1\2)", remedy)
