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
    lines = [Text(_line(judged), "strong") for judged in against]
    detail: Place | None = None if ruling is Ruling.KEPT else "detail"
    lines += [Text(_line(judged), only=detail) for judged in verdict.those(Ruling.KEPT)]
    lines += [Text(full(note)) for note in verdict.notes]
    if verdict.policies:
        lines.append(Text(f"Judged by {policies_named(verdict)}.", "soft", only="detail"))
    named = f"Verdict: {title or TITLES[ruling].lower()}"
    return Section(named, tuple(lines), tone=TONES[ruling])


def _line(judged: Judged) -> str:
    """What became of a rule, and of which policy it is."""
    of = f" ({judged.policy})" if judged.policy else ""
    return f"{judged.ruling.value.capitalize()}{of}: {judged.words}"


def policies_named(verdict: Verdict) -> str:
    """The policies of a verdict with their versions and the first digits of their hashes."""
    named = [f"{one.name} (version {one.version}, {one.hash[:12]})" for one in verdict.policies]
    return f"the {'policy' if len(named) == 1 else 'policies'} {', '.join(named)}"


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
