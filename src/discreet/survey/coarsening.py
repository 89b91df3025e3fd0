"""Ways to make a key coarser: bands of numbers, leading characters of codes, parts of dates, rare
levels merged.

Each way is a rule that turns a value into its group, so that it can be followed in the file by
hand, and applies to values that only the population has. What it says names the rule in full.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.engines.contract import NOT_APPLICABLE_LABEL, SUPPRESSED_LABEL
from discreet.engines.key_space import KeyLevels
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.survey.code_lists import is_code, leading_parts
from discreet.survey.warnings import looks_missing

WIDTHS = (5, 10, 20)  # of bands, in steps of the numbers
FEW_WIDTHS, FEW = (3, 6), 13  # of bands of few numbers, such as months, from the first of them on
FEWEST_NUMBERS = 8  # levels from which on numbers are worth bands
FEWEST_LEVELS = 2  # that are left after a change: fewer is leaving the key out
YEARS = (5, 10, 20)  # that dates are put together by, after months and years
KEPT_SHARES = (
    0.99,
    0.95,
    0.9,
    0.8,
    0.5,
)  # of the records, in levels that stay when the rest are merged
ISO_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-\d{2}(?:[ T].*)?")
DOTTED_DATE = re.compile(r"\d{1,2}\.(?P<month>\d{1,2})\.(?P<year>\d{4})")
SLASHED_DATE = re.compile(r"\d{1,2}/\d{1,2}/(?P<year>\d{4})")  # which of them is the month?
MOST_NAMED = 5  # levels to be merged that are named one by one
OTHER = "other"
APART = (SUPPRESSED_LABEL, NOT_APPLICABLE_LABEL)  # levels that stay as they are

Rule = Callable[[str], Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarser:
    """A key made coarser: level i becomes level to[i] of `levels`; `change` says how, in words.

    `groups` are the levels of the coarser key, as `rule` makes them of a value.
    """

    change: str
    to: IntArray
    levels: KeyLevels
    rule: Rule
    groups: tuple[Hashable, ...]


Step = tuple[str, Coarser | None]  # a key, and how it is coarsened; None where it is left out


def coarser_keys(key: KeyLevels, records: IntArray) -> Iterator[Coarser]:
    """Ways to coarsen a key, the mildest first; `records` are those of each level.

    Each way puts together what the one before left apart, so that a file can be coarsened step by
    step.
    """
    apart = _apart(key)
    known = [value for value in key.values if value is not None and value not in apart]
    numbers, date = _numbers(known), _form_of_dates(known)
    ways: Iterator[tuple[str, Rule]] = iter(())
    if date is not None:
        ways = _parts_of_dates(key.name, date, known)
    elif is_code(key.name, known):
        ways = ((f"keep only {what}", rule) for what, rule in leading_parts(key.name, known))
    elif numbers is not None and len(known) >= FEWEST_NUMBERS:
        ways = _bands(key.name, numbers)
    elif numbers is None:
        ways, apart = _merged(key, records), ()
    stay = [repr(value) for value in key.values if value in apart]
    for change, rule in ways:
        more = f" and leave {', '.join(stay)} as it is" if stay else ""
        yield from _coarser(key, _staying(rule, apart), change + more)


def _apart(key: KeyLevels) -> tuple[str, ...]:
    """Levels that stay by themselves: what stands for no value, or looks as if it did."""
    return (*APART, *looks_missing([value for value in key.values if value is not None]))


def _numbers(values: list[str]) -> FloatArray | None:
    try:
        found = np.array([float(value) for value in values])
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _bands(name: str, numbers: FloatArray) -> Iterator[tuple[str, Rule]]:
    """Bands of so many steps, a step being the most usual distance of two numbers."""
    gaps = np.diff(np.unique(numbers))
    whole = bool((numbers == np.rint(numbers)).all())
    step = 1.0 if whole else float(np.median(gaps))
    spread = len(numbers) * step / max(float(np.ptp(numbers)), step)
    if spread < 0.1:  # numbers far apart, such as incomes: a band of ten holds hardly two of them
        step = 10.0 ** math.floor(math.log10(float(np.ptp(numbers)) / 20))
    few = np.ptp(numbers) < FEW * step
    start = float(numbers.min()) if few else 0.0
    for width in FEW_WIDTHS if few else WIDTHS:
        size = width * step

        def band(value: str, size: float = size) -> Hashable:
            return math.floor((float(value) - start) / size + 1e-9)

        first = start + size * math.floor((float(numbers.min()) - start) / size + 1e-9)
        shown = _first_band(first, size, whole=whole)
        yield f"put {name} into bands of {size:g} ({shown}, …)", band


def _first_band(low: float, size: float, *, whole: bool) -> str:
    """The first band, so that it is plain where all of them begin."""
    if whole and size == int(size):
        return f"{int(low)} to {int(low + size) - 1}"
    return f"{low:g} to below {low + size:g}"


def _form_of_dates(values: list[str]) -> re.Pattern[str] | None:
    """How all values are written as dates; None where they are none."""
    for form in (ISO_DATE, DOTTED_DATE, SLASHED_DATE):
        if values and all(form.fullmatch(value) for value in values):
            return form
    return None


def _parts_of_dates(
    name: str, form: re.Pattern[str], dates: list[str]
) -> Iterator[tuple[str, Rule]]:
    def part(value: str, unit: str, width: int = 1) -> int:
        found = form.fullmatch(value)
        return int(found[unit]) // width if found else -1

    def month(value: str) -> Hashable:
        return part(value, "year"), part(value, "month")

    if "month" in form.groupindex:
        yield f"give {name} by month", month
    yield f"give {name} by year", partial(part, unit="year")
    first = min(part(value, "year") for value in dates)
    for width in YEARS:
        shown = _first_band(first - first % width, width, whole=True)
        change = f"put the year of {name} into bands of {width} ({shown}, …)"
        yield change, partial(part, unit="year", width=width)


def _merged(key: KeyLevels, records: IntArray) -> Iterator[tuple[str, Rule]]:
    """The rarest levels as one, the most frequent ones that hold a share of the records kept.

    Levels of equally many records stay or go together, so that a number of records tells which.
    """
    records = records[: sum(value is not None for value in key.values)]
    order = np.argsort(-records, kind="stable")
    reached = np.cumsum(records[order]) / max(int(records.sum()), 1)
    told: set[int] = set()
    for share in KEPT_SHARES:
        least = records[order[int(np.searchsorted(reached, share))]]
        kept = int((records >= least).sum())
        if len(records) - kept < 2 or kept in told:
            continue
        told.add(kept)
        rare = order[kept:]
        gone = {key.values[int(level)] for level in rare}
        change = f"merge {_rare(key, rare, records)} into one level"

        def merged(value: str, gone: set[str | None] = gone) -> Hashable:
            return OTHER if value in gone else (value,)

        yield change, merged


def _rare(key: KeyLevels, rare: IntArray, records: IntArray) -> str:
    """Which levels are merged: by their names where they are few, else by their records."""
    named = [key.labels[int(level)] for level in rare]
    if len(named) <= MOST_NAMED:
        return f"the {len(named)} rarest levels of {key.name} ({', '.join(named)})"
    most = int(records[rare].max())
    each = "only 1 record each" if most == 1 else f"at most {most:,} records each"
    return f"the {len(named):,} rarest levels of {key.name} (those with {each})"


def _staying(rule: Rule, apart: tuple[str, ...]) -> Rule:
    """The rule, but for the values that stay by themselves."""
    return lambda value: (value, "stays") if value in apart else rule(value)


def _coarser(key: KeyLevels, rule: Rule, change: str) -> Iterator[Coarser]:
    """The change that puts levels of one group together; none where it changes nothing, or leaves
    too few levels to be worth it."""
    groups = [rule(value) for value in key.values if value is not None]
    names = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    if not FEWEST_LEVELS <= len(names) < len(groups):
        return
    lacks = key.values[-1] is None
    to = [names[group] for group in groups] + ([len(names)] if lacks else [])
    labels = tuple(str(place) for place in range(len(names)))
    yield Coarser(
        change=change,
        to=np.array(to, dtype=np.int64),
        levels=KeyLevels(
            name=key.name,
            values=(*labels, None) if lacks else labels,
            labels=(*labels, key.labels[-1]) if lacks else labels,
            n_missing=key.n_missing,
        ),
        rule=rule,
        groups=tuple(names),
    )
