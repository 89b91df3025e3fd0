"""Ways to make a key coarser: bands of numbers, leading characters of codes, parts of dates, rare
levels merged.

Each way is a recoding (`masks/records/recoding.py`): a rule that turns a value into its group, so
that it can be followed in the file by hand, and applies to values that only the population has.
What it says names the rule in full.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.engines.contract import NOT_APPLICABLE_LABEL, SUPPRESSED_LABEL
from discreet.engines.key_space import KeyLevels
from discreet.masks.records.recoding import (
    DATE_FORMS,
    MOST_NAMED,
    OTHER,
    Bands,
    Dates,
    Leading,
    Levels,
    Merge,
    Recoding,
    Tree,
    recoded,
)
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
APART = (SUPPRESSED_LABEL, NOT_APPLICABLE_LABEL)  # levels that stay as they are

Way = tuple[str, Recoding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarser:
    """A key made coarser by a recoding: level i becomes level to[i] of `levels`; `change` says how,
    in words."""

    change: str
    to: IntArray
    levels: KeyLevels
    how: Recoding

    @property
    def rule(self) -> Callable[[str], str]:
        """The group of a value; raises ValueError for one that the recoding does not understand."""
        return self.how.group

    @property
    def groups(self) -> tuple[str, ...]:
        """The levels of the coarser key, as `rule` makes them of a value."""
        return tuple(value for value in self.levels.values if value is not None)


Step = tuple[str, Coarser | None]  # a key, and how it is coarsened; None where it is left out


def coarser_keys(
    key: KeyLevels, records: IntArray, tree: Hierarchy | None = None
) -> Iterator[Coarser]:
    """Ways to coarsen a key, the mildest first; `records` are those of each level. With a tree they
    are its heights below the root.

    Each way puts together what the one before left apart, so that a file can be coarsened step by
    step.
    """
    if tree is not None:
        for height in range(1, tree.height):
            by_tree = Tree(key=key.name, height=height, tree=tree)
            levels = Levels(key=key, records=records)
            yield from _coarser(key, by_tree.fitted(levels), by_tree.in_words)
        return
    apart = _apart(key)
    known = [value for value in key.values if value is not None and value not in apart]
    numbers, date = _numbers(known), _form_of_dates(known)
    ways: Iterator[Way] = iter(())
    if date is not None:
        ways = _parts_of_dates(key.name, date, known, apart)
    elif is_code(key.name, known):
        ways = (
            (f"keep only {what}", Leading(key=key.name, stay=apart, **kept))
            for what, kept in leading_parts(key.name, known)
        )
    elif numbers is not None and len(known) >= FEWEST_NUMBERS:
        ways = _bands(key.name, numbers, apart)
    elif numbers is None:
        ways, apart = _merged(key, records), ()
    stay = [repr(value) for value in key.values if value in apart]
    for change, how in ways:
        more = f" and leave {', '.join(stay)} as it is" if stay else ""
        yield from _coarser(key, how, change + more)


def _apart(key: KeyLevels) -> tuple[str, ...]:
    """Levels that stay by themselves: what stands for no value, or looks as if it did."""
    known = [value for value in key.values if value is not None]
    return (*(value for value in APART if value in known), *looks_missing(known))


def _numbers(values: list[str]) -> FloatArray | None:
    try:
        found = np.array([float(value) for value in values])
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _bands(name: str, numbers: FloatArray, stay: tuple[str, ...]) -> Iterator[Way]:
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
        how = Bands(key=name, width=size, start=start, whole=whole and size == int(size), stay=stay)
        shown = _first_band(how.lowest(float(numbers.min())), size, whole=whole)
        yield f"put {name} into bands of {size:g} ({shown}, …)", how


def _first_band(low: float, size: float, *, whole: bool) -> str:
    """The first band, so that it is plain where all of them begin."""
    if whole and size == int(size):
        return f"{int(low)} to {int(low + size) - 1}"
    return f"{low:g} to below {low + size:g}"


def _form_of_dates(values: list[str]) -> re.Pattern[str] | None:
    """How all values are written as dates; None where they are none."""
    for form in DATE_FORMS:
        if values and all(form.fullmatch(value) for value in values):
            return form
    return None


def _parts_of_dates(
    name: str, form: re.Pattern[str], dates: list[str], stay: tuple[str, ...]
) -> Iterator[Way]:
    if "month" in form.groupindex:
        yield f"give {name} by month", Dates(key=name, to="month", stay=stay)
    yield f"give {name} by year", Dates(key=name, stay=stay)
    first = min(int(found["year"]) for value in dates if (found := form.fullmatch(value)))
    for width in YEARS:
        shown = _first_band(first - first % width, width, whole=True)
        change = f"put the year of {name} into bands of {width} ({shown}, …)"
        yield change, Dates(key=name, years=width, stay=stay)


def _merged(key: KeyLevels, records: IntArray) -> Iterator[Way]:
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
        gone = tuple(value for level in rare if (value := key.values[int(level)]) is not None)
        change = f"merge {_rare(key, rare, records)} into one level"
        yield change, Merge(key=key.name, levels=gone, into=_name_of_others(key, gone))


def _name_of_others(key: KeyLevels, gone: tuple[str, ...]) -> str:
    """A name for the merged levels that none which stays has."""
    stays = {value for value in key.values if value not in gone}
    return next(name for i in range(len(stays) + 1) if (name := f"{OTHER}{'_' * i}") not in stays)


def _rare(key: KeyLevels, rare: IntArray, records: IntArray) -> str:
    """Which levels are merged: by their names where they are few, else by their records."""
    named = [key.labels[int(level)] for level in rare]
    if len(named) <= MOST_NAMED:
        return f"the {len(named)} rarest levels of {key.name} ({', '.join(named)})"
    most = int(records[rare].max())
    each = "only 1 record each" if most == 1 else f"at most {most:,} records each"
    return f"the {len(named):,} rarest levels of {key.name} (those with {each})"


def _coarser(key: KeyLevels, how: Recoding, change: str) -> Iterator[Coarser]:
    """The change that puts levels of one group together; none where it changes nothing, or leaves
    too few levels to be worth it."""
    after = recoded(key, how)
    n_after, n_before = after.levels.n_known, sum(value is not None for value in key.values)
    if FEWEST_LEVELS <= n_after < n_before:
        yield Coarser(change=change, to=after.to, levels=after.levels, how=how)
