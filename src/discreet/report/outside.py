"""Reports for readers outside: what was asked, whether it is allowed, what could be instead.

They are made of words and coarse classes alone. No count of the data, no level and no combination
of levels is in them, and no seed, confidence or limit of the agency but what a named policy says in
public: an intruder who owns this program could work back from each. What could be asked instead
follows from the request, never from the data, for the same reason.
"""

from collections.abc import Iterable, Sequence

from discreet.policy.policy import Policy
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.document import Block, Document, Section, Text
from discreet.report.verdict import TONES

CONCLUSIONS = {
    Ruling.KEPT: "The rules for this release allow it.",
    Ruling.BROKEN: "The rules for this release do not allow it.",
    Ruling.UNDECIDED: (
        "It was not shown that the rules for this release allow it, so it may not go out for now."
    ),
}
NOT_JUDGED = "It was measured, and not held against a rule."
READING = (
    "This summary holds no count, no category and no limit of the agency but those of a public "
    "policy, since a reader could work back from them. Figures are given in broad classes."
)
CHANCES = ((0.01, "less than 1 in 100"), (0.1, "less than 1 in 10"), (0.5, "less than 1 in 2"))
SMALLEST = 10  # records that half a step of a public share stands for, at least
FEWEST = 100  # that a whole must have, or no share of it is shown
STEPS = (1, 2, 4, 5, 10, 20, 25, 50, 100)
MOST_NAMED = 12  # tables that could be asked for instead


def outside_document(
    title: str,
    *,
    asked: Iterable[str],
    ruling: Ruling | None,
    estimate: Iterable[str],
    instead: Iterable[str] = (),
    name: str = "",
    more: Sequence[Block] = (),
    policies: Sequence[Policy] = (),
    told: str = "The estimate",
) -> Document:
    """What was asked of which data, the conclusion in plain words, what instead, and the
    estimate, or what else is `told`."""
    said = NOT_JUDGED if ruling is None else CONCLUSIONS[ruling]
    data = [Text(f"Data set: {name}.")] if name else []
    refused = ruling in (Ruling.BROKEN, Ruling.UNDECIDED)
    steps = tuple(Text(words.full(line)) for line in instead) if refused else ()
    return Document(
        title=title,
        mark="public",
        blocks=(
            Section("What was asked", (*data, *(Text(words.full(line)) for line in asked))),
            Section(
                "Conclusion", (Text(said, "strong"),), tone="" if ruling is None else TONES[ruling]
            ),
            rules_section(policies),
            Section("What could be asked instead", steps),
            Section(told, tuple(Text(words.full(line)) for line in estimate)),
            *more,
            Section("How to read this", (Text(READING, "soft"),)),
        ),
    )


def rules_section(policies: Sequence[Policy]) -> Section:
    """What the named policies ask, without the numbers that are secret; limits that were given as
    options are of no policy and stay inside."""
    lines = []
    for one in policies:
        if one.name:
            lines.append(Text(f"The policy {one.name} (version {one.version})."))
            lines += [Text(f"– {rule.public()}") for rule in one.rules]
            lines += [Text(f"Not judged: {part}.", "soft") for part in one.not_judged]
    return Section("The rules", tuple(lines))


def chance(probability: float) -> str:
    """A probability as a broad class."""
    return next((said for most, said in CHANCES if probability < most), "1 in 2 or more")


def public_share(part: int, whole: int) -> float:
    """A share as a multiple of a step of percents whose half stands for SMALLEST or more.

    The step divides 100, so that 0 % and 100 %, which stand for half a step, hide as many too.
    """
    step = next(s for s in STEPS if s * whole >= 2 * 100 * SMALLEST or s == STEPS[-1])
    return round(100 * part / whole / step) * step / 100


def in_percent(part: int, whole: int) -> str:
    """A public share in words."""
    percent = round(100 * public_share(part, whole))
    return f"about {percent} %" if percent else "less than 1 %"


def smaller_sets(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The tables that leave out one variable of each that was asked for: they follow from the
    request alone."""
    found = {
        tuple(name for name in one if name != left): None
        for one in sets
        if len(one) > 1
        for left in one
    }
    return list(found)[:MOST_NAMED]


def bracketed(sets: Iterable[Sequence[str]]) -> str:
    """Tables as people write them: [race income], [gender]."""
    return ", ".join(f"[{' '.join(one)}]" if one else "[total]" for one in sets)
