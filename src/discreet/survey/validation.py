"""What may be asked of an assessment: roles that do not clash, numbers that make sense.

All of it is checked before a record is read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.columns import near_match
from discreet.data.missing import EVERY_COLUMN, MissingCodes
from discreet.data.records import Records
from discreet.errors import ColumnError, InputError, must_be

APART = "take it out of one of them"


def checked_keys(
    given: Sequence[str] | None, scenarios: Mapping[str, Sequence[str]], records: Records
) -> tuple[str, ...]:
    """The keys, by default all that the scenarios name; each a name, each once."""
    if given is None:
        check_scenarios(scenarios, records.column_names, records.name)
        given = list(dict.fromkeys(key for keys in scenarios.values() for key in keys))
    keys = _names("keys", given)
    if not keys:
        raise InputError(must_be("keys", "at least one column", "none"))
    records.find("keys", keys)
    check_scenarios(scenarios, keys, records.name)
    return keys


def checked_sensitive(given: Sequence[str]) -> tuple[str, ...]:
    """The sensitive variables; each a name, each once, also without its capitals."""
    names = _names("sensitive", given)
    twice = _alike(names)
    if twice is not None:
        got = f"{twice[0]!r} and {twice[1]!r}"
        raise ColumnError(must_be("sensitive", "names that differ in more than capitals", got))
    return names


def check_roles(
    keys: Sequence[str], weight: str | None, household: str | None, sensitive: Sequence[str]
) -> None:
    """Weight, household and sensitive variables are no keys, and columns of their own."""
    taken: dict[str, str] = dict.fromkeys(keys, "key")
    others = [("weight", weight), ("household", household)]
    for role, name in [*others, *(("sensitive", name) for name in sensitive)]:
        if name is None:
            continue
        if name in taken:
            rule = "no key" if taken[name] == "key" else f"another column than {taken[name]}"
            raise ColumnError(must_be(role, rule, repr(name), remedy=APART))
        taken[name] = role


def check_scenarios(
    scenarios: Mapping[str, Sequence[str]], keys: Sequence[str], source: str
) -> None:
    """Scenarios have different names and are made of keys, each once; a typo is told."""
    twice = _alike(tuple(scenarios))
    if twice is not None:
        got = f"{twice[0]!r} and {twice[1]!r}"
        raise InputError(must_be("scenarios", "names that differ in more than capitals", got))
    for name, members in scenarios.items():
        role = f"scenario {name!r}"
        if not _names(role, members, "made of different keys"):
            raise InputError(must_be(role, "made of at least one key", "none"))
        for key in members:
            if key not in keys:
                near = near_match(key, keys)
                remedy = f"did you mean {near!r}?" if near else f"is it a column of {source}?"
                raise ColumnError(must_be(role, "made of keys", repr(key), remedy=remedy))


def check_headline(headline: str | None, models: Sequence[str]) -> None:
    """The model that leads is one of those that are asked."""
    if headline is not None and headline not in models:
        near = near_match(headline, models)
        remedy = f"did you mean {near!r}?" if near else None
        rule = "one of the models " + ", ".join(models)
        raise InputError(must_be("headline", rule, repr(headline), remedy=remedy))


def check_codes(codes: MissingCodes, columns: Sequence[str]) -> None:
    """Codes are given for keys or sensitive variables; a typo is told."""
    for kind, column, _ in codes.given():
        if column not in (EVERY_COLUMN, *columns):
            near = near_match(column, columns)
            remedy = f"did you mean {near!r}?" if near else "leave it out, or make it a key"
            name = f"column of a code for {kind}"
            rule = "a key or a sensitive variable"
            raise ColumnError(must_be(name, rule, repr(column), remedy=remedy))


def checked_match_weight(weight: float, policy: str) -> float:
    """What a match counts that needs a missing value; only wildcard has a use for it."""
    if not 0 <= weight <= 1:
        raise InputError(must_be("missing_weight", "from 0 to 1", weight))
    if weight != 1 and policy != "wildcard":
        rule = "1 unless missing is 'wildcard', which alone has a use for it"
        raise InputError(must_be("missing_weight", rule, weight))
    return weight


def check_totals(
    population_size: float | None, population: Any, n_table_cells: int | None, impossible: Any
) -> None:
    """The size of the population and the possible cells: in range, and told once."""
    if population_size is not None and not 1 <= population_size < 1e15:
        raise InputError(must_be("population_size", "from 1 to 1e15", population_size))
    if n_table_cells is not None and n_table_cells < 1:
        raise InputError(must_be("n_table_cells", "at least 1", n_table_cells))
    if population_size is not None and population is not None:
        rule = "left out where a file of the population is given"
        raise InputError(must_be("population_size", rule, population_size))
    if n_table_cells is not None and impossible is not None:
        rule = "left out where impossible combinations are given"
        remedy = "the possible cells are counted without them"
        raise InputError(must_be("n_table_cells", rule, n_table_cells, remedy=remedy))


def check_settings(
    models: Sequence[str], shrinkage: float | None, loss_ratios: Sequence[float]
) -> None:
    """Settings of models are in range, and some model that was asked for obeys them."""
    named = ", ".join(models)
    if shrinkage is not None:
        if not 0 <= shrinkage <= 1:
            raise InputError(must_be("shrinkage", "from 0 to 1", shrinkage))
        if "lancaster" not in models:
            rule = "given with the model lancaster"
            raise InputError(must_be("shrinkage", rule, f"the models {named}"))
    for ratio in loss_ratios:
        if not 0 < ratio < float("inf"):
            raise InputError(must_be("loss_ratios", "positive numbers", ratio))
    if loss_ratios and set(models) <= {"sample_frequency"}:
        raise no_test_of_uniqueness(f"the models {named}", "name another model")


def no_test_of_uniqueness(got: str, remedy: str) -> InputError:
    """The complaint about ratios of losses that no model has a use for."""
    rule = "given with a model that says how likely a record is a population unique"
    return InputError(must_be("loss_ratios", rule, got, remedy=remedy))


def _names(role: str, given: Sequence[str], apart: str = "different columns") -> tuple[str, ...]:
    """Names of columns, each once."""
    if isinstance(given, str):
        raise InputError(must_be(role, "a list of column names", repr(given)))
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise InputError(must_be(role, "names as text", repr(name)))
        if names.count(name) > 1:
            raise ColumnError(must_be(role, apart, f"{name!r} twice"))
    return names


def _alike(names: Sequence[str]) -> tuple[str, str] | None:
    """Two names that differ in capitals only, to which the columns of SQL are blind."""
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            return seen[name.casefold()], name
        seen[name.casefold()] = name
    return None
