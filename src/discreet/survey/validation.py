"""What may be asked of an assessment: roles that do not clash, numbers that make sense.

All of it is checked before a record is read.
"""

from collections.abc import Iterable, Mapping, Sequence

from discreet.data.columns import near_match
from discreet.data.missing import EVERY_COLUMN, MissingCodes
from discreet.data.records import Records
from discreet.errors import ColumnError, InputError, must_be

APART = "take it out of one of them"
OF_RISKS = ("row", "risk", "population_unique", "class", "sample_count", "weight_total")


def check_columns(
    keys: Sequence[str] | None, scenarios: Mapping[str, Sequence[str]], records: Records
) -> None:
    """The keys, or where none are given those that the scenarios name, are columns of the file."""
    if keys is None:
        check_scenarios(scenarios, records.column_names, records.name)
        keys = tuple(dict.fromkeys(key for names in scenarios.values() for key in names))
    records.find("keys", keys)


def checked_sensitive(given: Sequence[str]) -> tuple[str, ...]:
    """The sensitive variables; each a name, each once, also without its capitals."""
    names = checked_names("sensitive", given)
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
    scenarios: Mapping[str, Sequence[str]], keys: Sequence[str], source: str | None = None
) -> None:
    """Scenarios have different names and are made of keys, each once; a typo is told."""
    twice = _alike(tuple(scenarios))
    if twice is not None:
        got = f"{twice[0]!r} and {twice[1]!r}"
        raise InputError(must_be("scenarios", "names that differ in more than capitals", got))
    for name, members in scenarios.items():
        role = f"scenario {name!r}"
        if not checked_names(role, members, "made of different keys"):
            raise InputError(must_be(role, "made of at least one key", "none"))
        for key in members:
            if key not in keys:
                near = near_match(key, keys)
                otherwise = f"is it a column of {source}?" if source else "is it among the keys?"
                remedy = f"did you mean {near!r}?" if near else otherwise
                raise ColumnError(must_be(role, "made of keys", repr(key), remedy=remedy))


def check_headline(headline: str | None, models: Sequence[str]) -> None:
    """The model that leads is one of those that are asked."""
    if headline is not None and headline not in models:
        near = near_match(headline, models)
        remedy = f"did you mean {near!r}?" if near else None
        rule = "one of the models " + ", ".join(models)
        raise InputError(must_be("headline", rule, repr(headline), remedy=remedy))


def check_whole_population(
    whole: bool, population: float | None, population_file: object, weight: str | None
) -> None:
    """Where the file is the population, nothing else says how large that is."""
    given = {"population": population, "population_file": population_file, "weight": weight}
    for name, value in given.items():
        if whole and value is not None:
            rule = "left out where the file is the whole population"
            remedy = "each record then stands for itself alone"
            raise InputError(must_be(name, rule, "it", remedy=remedy))


def check_limits(max_risk: float | None, min_k: int | None) -> None:
    """Limits of what may go out are in range."""
    if max_risk is not None and not 0 < max_risk <= 1:
        raise InputError(must_be("max_risk", "above 0 and at most 1", max_risk))
    if min_k is not None and min_k < 2:
        raise InputError(must_be("min_k", "at least 2", min_k))


def check_carried(carry: Sequence[str]) -> None:
    """Columns to carry are named unlike those of the file of risks that they go to."""
    for name in carry:
        if name.casefold() in OF_RISKS:
            rule = "columns named unlike those of the file of risks"
            raise ColumnError(must_be("carry", rule, repr(name), remedy="rename it"))
    twice = _alike(carry)
    if twice is not None:
        got = f"{twice[0]!r} and {twice[1]!r}"
        raise ColumnError(must_be("carry", "names that differ in more than capitals", got))


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


def check_trees(trees: Sequence[str], columns: Sequence[str]) -> None:
    """Each tree is that of a sensitive variable or of a key; a typo is told."""
    for name in trees:
        if name not in columns:
            near = near_match(name, columns)
            remedy = f"did you mean {near!r}?" if near else None
            rule = "those of sensitive variables or keys"
            raise InputError(must_be("trees", rule, repr(name), remedy=remedy))


def check_model_settings(
    models: Sequence[str], shrinkage: float | None, loss_ratios: Sequence[float]
) -> None:
    """Settings of models are in range, and some model that was asked for obeys them."""
    named = ", ".join(models) or "none"
    if shrinkage is not None:
        if not 0 <= shrinkage <= 1:
            raise InputError(must_be("shrinkage", "from 0 to 1", shrinkage))
        if "lancaster" not in models:
            rule = "given with the model lancaster"
            remedy = "name it (models), or run all (all_models)"
            raise InputError(must_be("shrinkage", rule, f"the models {named}", remedy=remedy))
    for ratio in loss_ratios:
        if not 0 < ratio < float("inf"):
            raise InputError(must_be("loss_ratios", "positive numbers", ratio))


def no_test_of_uniqueness(got: str, remedy: str) -> InputError:
    """The complaint about ratios of losses that no model has a use for."""
    rule = "given with a model that says how likely a record is a population unique"
    return InputError(must_be("loss_ratios", rule, got, remedy=remedy))


def checked_names(
    role: str, given: Sequence[str], apart: str = "different columns"
) -> tuple[str, ...]:
    """Names of columns, each once."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        listed = [name.strip() for name in given.split(",")] if isinstance(given, str) else None
        remedy = None if listed is None else f"give {listed!r}"
        raise InputError(must_be(role, "a list of column names", repr(given), remedy=remedy))
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
