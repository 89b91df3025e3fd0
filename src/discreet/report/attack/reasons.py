"""Why a figure follows, in few words: what a figure has in common with it is not said again."""

from collections.abc import Iterator, Mapping, Sequence

from discreet.report import words
from discreet.tables.linked.attack import Followed
from discreet.tables.linked.naming import Step

MOST_STEPS = 6  # figures that are written out
LISTED = "the same in every table that fits; all of them were tried"


def reason(one: Followed, called: Mapping[str, str]) -> str:
    """The figures that are added and subtracted: 30 (age 15-19 in t1.csv) − 29 (age 16-19 in …).

    `called` says what to call each table.
    """
    told = one.derivation
    if not told.above and not told.below:
        return LISTED
    if told.above == told.below:
        return _sum(told.above, one.cell, called)
    sides = (("at most", told.above, one.upper), ("at least", told.below, one.lower))
    if any(steps and _total(steps) != value for _, steps, value in sides):
        return told.sentence  # something is divided
    return "; ".join(f"{how} {_sum(steps, one.cell, called)}" for how, steps, _ in sides if steps)


def _total(steps: Sequence[Step]) -> int:
    return sum(step.times * step.figure for step in steps)


def _sum(steps: Sequence[Step], cell: Mapping[str, str], called: Mapping[str, str]) -> str:
    shown, more = steps[:MOST_STEPS], steps[MOST_STEPS:]
    text = " ".join(
        f"{_sign(step, first=not i)}{step.figure:,} ({_named(step, cell, called)})"
        for i, step in enumerate(shown)
    )
    if not more:
        return text
    total = _total(more)
    rest = words.plural(len(more), "more figure")
    return f"{text} {'−' if total < 0 else '+'} {abs(total):,} ({rest})"


def _sign(step: Step, *, first: bool) -> str:
    sign = "− " if step.times < 0 else "+ "
    times = f"{abs(step.times)} × " if abs(step.times) > 1 else ""
    return f"{'' if first and step.times > 0 else sign}{times}"


def _named(step: Step, cell: Mapping[str, str], called: Mapping[str, str]) -> str:
    """What a figure is of where that is not what the derived figure is of, and its table."""
    own = ", ".join(_apart(step.cell, cell))
    table = called[step.table]
    where = f"{own} in {table}" if own else f"in {table}"
    stands = step.printed if step.printed == "withheld" else f"printed {step.printed}"
    return where if step.printed == str(step.figure) else f"{where}, {stands}"


def _apart(own: Mapping[str, str], cell: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys([*cell, *own]):
        if name not in own:
            yield f"any {name}"
        elif own[name] != cell.get(name):
            yield f"{name} {own[name]}"
