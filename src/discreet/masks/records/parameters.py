"""What the parameters of methods for records may be, and how they are said."""

from collections.abc import Sequence

import numpy as np

from discreet.errors import ColumnError, InputError, must_be
from discreet.masks.records.contract import CodedRecords
from discreet.numerics.arrays import IntArray


def check_share(name: str, value: object, *, zero: bool) -> None:
    """A share is a number from 0 to 1, and above 0 where `zero` is not allowed."""
    number = isinstance(value, int | float | np.integer | np.floating)
    good = number and not isinstance(value, bool) and 0 <= value <= 1  # type: ignore[operator]
    if not good or (not zero and value == 0):
        rule = "a number from 0 to 1" if zero else "a number above 0, at most 1"
        raise InputError(must_be(name, rule, repr(value)))


def check_names(name: str, value: object) -> None:
    """Columns are given by several names, each once."""
    names = value if isinstance(value, tuple) else (None,)
    if not all(isinstance(one, str) for one in names) or len(set(names)) < len(names):
        raise InputError(must_be(name, "a tuple of names, each once", repr(value)))


def check_yes_or_no(name: str, value: object) -> None:
    """A choice of two is True or False."""
    if not isinstance(value, bool):
        raise InputError(must_be(name, "True or False", repr(value)))


def place_of(records: CodedRecords, name: str, key: str) -> int:
    """Where the key stands that the parameter `name` names; raises ColumnError where it is none."""
    names = [one.name for one in records.keys]
    if key not in names:
        raise ColumnError(must_be(name, f"one of the keys {', '.join(names)}", repr(key)))
    return names.index(key)


def need_households(records: CodedRecords) -> IntArray:
    """The household of each record; raises InputError where the file has none."""
    if records.household is None:
        remedy = "name the column that numbers them"
        raise InputError(must_be("households", "known for every record", "none", remedy=remedy))
    return records.household


def percent(share: float) -> str:
    """A share as a reader says it: 12.5 %."""
    return f"{100 * share:.4g} %"


def said(names: Sequence[str]) -> str:
    """Names in a sentence: age, sex and region."""
    first, last = names[:-1], names[-1]
    return f"{', '.join(first)} and {last}" if first else last
