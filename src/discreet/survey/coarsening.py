"""Ways to make a key coarser: bands of numbers, parts of dates, rare levels merged, or left out."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.engines.contract import KeyLevels
from discreet.numerics.arrays import FloatArray, IntArray

WIDTHS = (5, 10, 20)  # of bands, in steps of the numbers
FEW_WIDTHS, FEW = (3, 6), 13  # of bands of few numbers, such as months, from the first of them on
FEWEST_NUMBERS = 8  # levels from which on numbers are worth bands
FEWEST_LEVELS = 2  # that are left after a change: fewer is leaving the key out
KEPT_SHARES = (
    0.99,
    0.95,
    0.9,
    0.8,
    0.5,
)  # of the records, in levels that stay when the rest are merged
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
MOST_NAMED = 5  # levels to be merged that are named one by one
OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarser:
    """A key made coarser: level i becomes level to[i] of `levels`; `change` says how, in words."""

    change: str
    to: IntArray
    levels: KeyLevels


def coarser_keys(key: KeyLevels, records: IntArray) -> Iterator[Coarser]:
    """Ways to coarsen a key, the mildest first; `records` are those of each level."""
    known = [value for value in key.values if value is not None]
    numbers = _numbers(known)
    if numbers is not None and len(known) >= FEWEST_NUMBERS:
        yield from _bands(key, numbers)
    elif known and all(DATE.fullmatch(value) for value in known):
        yield from _parts_of_dates(key, known)
    elif numbers is None:
        yield from _merged(key, records[: len(known)])


def _numbers(values: list[str]) -> FloatArray | None:
    try:
        found = np.array([float(value) for value in values])
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _bands(key: KeyLevels, numbers: FloatArray) -> Iterator[Coarser]:
    """Bands of so many steps, a step being the most usual distance of two numbers.

    Each band is a part of one of the next width, so that a file can be coarsened step by step.
    """
    gaps = np.diff(np.unique(numbers))
    step = 1.0 if (numbers == np.rint(numbers)).all() else float(np.median(gaps))
    spread = len(numbers) * step / max(float(np.ptp(numbers)), step)
    if spread < 0.1:  # numbers far apart, such as incomes: a band of ten holds hardly two of them
        step = 10.0 ** math.floor(math.log10(float(np.ptp(numbers)) / 20))
    few = np.ptp(numbers) < FEW * step
    start = float(numbers.min()) if few else 0.0
    for width in FEW_WIDTHS if few else WIDTHS:
        band = np.floor((numbers - start) / (width * step) + 1e-9)
        shown = f"{width * step:g}"
        yield from _coarser(key, band.tolist(), f"put {key.name} into bands of {shown}")


def _parts_of_dates(key: KeyLevels, dates: list[str]) -> Iterator[Coarser]:
    for length, unit in ((7, "month"), (4, "year")):
        cut = [date[:length] for date in dates]
        yield from _coarser(key, cut, f"give {key.name} by {unit}")


def _merged(key: KeyLevels, records: IntArray) -> Iterator[Coarser]:
    """The rarest levels as one, the most frequent ones that hold a share of the records kept."""
    order = np.argsort(-records, kind="stable")
    reached = np.cumsum(records[order]) / max(int(records.sum()), 1)
    told: set[int] = set()
    for share in KEPT_SHARES:
        kept = int(np.searchsorted(reached, share)) + 1
        n_merged = len(records) - kept
        if n_merged < 2 or kept in told:
            continue
        told.add(kept)
        stay = {int(level) for level in order[:kept]}
        groups = [level if level in stay else OTHER for level in range(len(records))]
        merged = [key.labels[int(level)] for level in order[kept:]]
        named = ", ".join(merged) if len(merged) <= MOST_NAMED else f"{merged[0]} and rarer"
        change = f"merge the {n_merged:,} rarest levels of {key.name} ({named})"
        yield from _coarser(key, groups, change)


def _coarser(key: KeyLevels, groups: Sequence[object], change: str) -> Iterator[Coarser]:
    """The change that puts levels of one group together; none where it changes nothing, or leaves
    too few levels to be worth it."""
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
    )
