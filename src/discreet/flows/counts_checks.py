"""What is asked of counts makes sense: options that would have no effect are refused."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from discreet.count_tables.options import CategoryOptions, CountOptions
from discreet.errors import InputError, must_be
from discreet.option_types import a_kind

OF_HOLDER = ("decimals", "withhold_n", "max_risk", "measure", "small", "policy")
OF_HOLDERS = ("withhold", "max_risk", "policy")
HOLDER = "given with the table of counts, which an intruder has not"


def counts_of(table: Any) -> Mapping[Any, Any]:
    """The table {value: count} that is given, or that of a Series."""
    if isinstance(table, Mapping):
        return table
    from discreet.data.python_tables import (  # loads Arrow
        counts_by_value,
        is_series,
        labels_are_no_values,
    )

    if not is_series(table):
        remedy = "discreet.counts reads files and frames"
        raise InputError(must_be("table", "{value: count}", a_kind(table), remedy=remedy))
    found = None if labels_are_no_values(table) else counts_by_value(table)
    return table.value_counts().to_dict() if found is None else found


def check_by_category(name: str, given: Any) -> None:
    """A dict with what each category has: a dict of counts, or three figures."""
    what = "a dict of counts" if name == "tables" else "n, S1 and S2"
    rule = f"a dict with {what} for each category"
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InputError(must_be(name, rule, a_kind(given)))
    for one in given.values():
        if isinstance(one, str | int | float) or (name == "tables") != isinstance(one, Mapping):
            raise InputError(must_be(name, rule, f"{a_kind(one)} for one"))
        if isinstance(one, list | tuple) and len(one) != 3:
            raise InputError(must_be(name, rule, f"{len(one)} figures for one"))


def check_of_table(asked: CountOptions) -> None:
    """Options for the holder of a table."""
    if asked.max_risk is None:
        _refuse(asked, ("measure", "small"), "given with max_risk")
        if asked.decimals is None and not asked.policy:
            _refuse(asked, ("truncate",), "given with decimals")
    if not asked.withhold_n:
        _refuse(asked, ("number_prior",), "given where n is withheld")
    _check_prior(asked)


def check_of_statistics(asked: CountOptions, n: int | None, *, is_decimal: bool) -> None:
    """Options for an intruder, who has three figures."""
    _refuse(asked, OF_HOLDER, HOLDER)
    if not is_decimal:
        _refuse(asked, ("truncate",), "given with S2 as a decimal")
    if n is not None:
        _refuse(asked, ("number_prior",), "given where n is withheld")
    _check_prior(asked)


def check_of_categories(asked: CategoryOptions, *, is_holder: bool) -> None:
    """Options for categories, of the holder or of an intruder."""
    if is_holder:
        _refuse(asked, ("total_table",), "given with sets; a holder says totals")
    else:
        _refuse(asked, OF_HOLDERS, HOLDER)
        if asked.margins and not isinstance(asked.margins, Mapping):
            raise InputError(must_be("margins", HOLDER, "none"))
    _check_prior(asked)


def _check_prior(asked: CountOptions | CategoryOptions) -> None:
    if not asked.bayes:
        _refuse(asked, ("prior",), "given with bayes")


def _refuse(asked: Any, names: tuple[str, ...], rule: str) -> None:
    defaults = {field.name: field.default for field in fields(asked)}
    for name in names:
        value = getattr(asked, name)
        if value != defaults[name] and value != ():
            raise InputError(must_be(name, rule, "none"))
