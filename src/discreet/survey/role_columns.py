"""Columns of a kind (region, zip, age, household, weight, identifier) that rules are about.

Nobody guesses them silently: they are named by the user (`roles`), or a column bears the name of
the role, which is then said. A role without a column leaves the rule undecided, unless the user
says that the file has none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nextafter

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.columns import near_match
from discreet.data.label_nesting import range_of
from discreet.data.missing import POLICIES
from discreet.data.records import Records
from discreet.engines.contract import ColumnOrder, Engine
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.rounding import above
from discreet.policy.findings import Finding
from discreet.policy.record_rules import (
    HouseholdPattern,
    NoIdentifiers,
    PopulationOfColumn,
    SharedWeights,
    Shuffled,
    TopClass,
)
from discreet.policy.rule import Rule
from discreet.survey.known_population import COUNT
from discreet.survey.options import AssessOptions
from discreet.survey.population_counts import NO_SIZE, Values, column_finding

HOUSEHOLD, WEIGHT, IDENTIFIER = "household", "weight", "identifier"
FEWEST = 30  # records of which the order can tell anything
IDENTIFIERS = re.compile(
    r"(?:(?:first|last|full|sur|given|family|patient)[_ -]?)?names?"
    r"|(?:.*[_ -])?(?:mrn|ssn|nhs)(?:[_ -]?n(?:o|r|umber))?"
    r"|(?:person|patient|record|case|client|student|employee|respondent)[_ -]?(?:id|n(?:o|r|umber))"
    r"|e-?mail.*|(?:tele)?phone.*|(?:street[_ -]?)?address|passport.*|iban"
    r"|.*social[_ -]?security.*",
    re.IGNORECASE,
)
OPEN_ABOVE = re.compile(r"<(?!=)|under|below")  # a class that ends before its number
CONFIRM = f"say that the file has none (role {IDENTIFIER}=), or name them"
NONE = Figure(value=0, how=How.EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCounts:
    """The values of one column: their labels (None where missing), records, weights where there are
    any, and counts in a file of the population where there is one."""

    name: str
    labels: tuple[str | None, ...]
    records: IntArray
    weights: FloatArray | None
    population: IntArray | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns that rules ask for: counted where a role has one, the order where it is asked."""

    names: tuple[str, ...] = ()
    counts: Mapping[str, ColumnCounts] | None = None
    orders: tuple[ColumnOrder, ...] | Unavailable | None = None


def roles_of(rules: Iterable[Rule]) -> tuple[str, ...]:
    """The roles that rules ask for, each once."""
    kinds = {HouseholdPattern.name: HOUSEHOLD, SharedWeights.name: WEIGHT}
    kinds[NoIdentifiers.name] = IDENTIFIER
    found = (getattr(rule, "role", kinds.get(rule.name)) for rule in rules)
    return tuple(dict.fromkeys(role for role in found if role))


def check_roles_asked(options: AssessOptions, columns: Sequence[str], source: str) -> None:
    """Raises InputError for a role that no rule asks for, and for a column that is not there."""
    asked = roles_of(options.rules)
    for role, column in options.roles.items():
        if role not in asked:
            rule = f"one that a policy asks for: {', '.join(asked)}" if asked else "left out"
            remedy = _meant(role, asked) if asked else "no policy that was given asks for it"
            raise InputError(must_be("roles", rule, repr(role), remedy=remedy))
        if column and column not in columns:
            rule, remedy = f"columns of {source}", _meant(column, columns)
            raise InputError(must_be("roles", rule, repr(column), remedy=remedy))
        named = _named(role, columns)
        if named is not None and column != named and role != IDENTIFIER:
            rule = f"the column {named!r} for {role}, which the file has"
            remedy = "rename that column, or leave it out of the file"
            raise InputError(
                must_be("roles", rule, repr(column) if column else "none", remedy=remedy)
            )


def _named(role: str, columns: Sequence[str]) -> str | None:
    """The column that bears the name of the role."""
    return next((name for name in columns if name.strip().casefold() == role), None)


def _meant(word: str, words: Sequence[str]) -> str | None:
    near = near_match(word, words)
    return f"did you mean {near!r}?" if near else None


def column_of(role: str, options: AssessOptions, columns: Sequence[str]) -> str | None:
    """The column of a role, '' where the user says that there is none, None where nobody says."""
    if role in options.roles:
        return options.roles[role]
    own = {HOUSEHOLD: options.household, WEIGHT: options.weight}.get(role)
    if own is not None:
        return own
    return _named(role, columns)


def with_household(options: AssessOptions, columns: Sequence[str]) -> AssessOptions:
    """The options with the household that a rule asks for."""
    asked = any(isinstance(rule, HouseholdPattern) for rule in options.rules)
    column = column_of(HOUSEHOLD, options, columns) if asked and columns else None
    if options.household is not None or not column or column in options.key_names:
        return options
    return replace(options, household=column)


def taken_by_name(options: AssessOptions, columns: Sequence[str]) -> Iterator[str]:
    """Roles whose column was taken by its name alone, in words."""
    for role in roles_of(options.rules):
        if role in (IDENTIFIER, *options.roles):
            continue
        column = column_of(role, options, columns)
        if column and column not in (options.household, options.weight):
            yield f"by its name, the column {column} was taken for the {role}"


def counted_columns(
    engine: Engine, records: Records, register: Records | None, options: AssessOptions
) -> Columns:
    """What rules ask of single columns, each counted in a pass of its own."""
    rules, names = options.rules, records.column_names
    wanted = [rule.role for rule in rules if isinstance(rule, PopulationOfColumn | TopClass)]
    if any(isinstance(rule, SharedWeights) for rule in rules):
        wanted.append(WEIGHT)
    found: dict[str, ColumnCounts] = {}
    for role in dict.fromkeys(wanted):
        column = column_of(role, options, names)
        if column:
            found[role] = _counted(engine, records, register, column, options)
    order = None
    if any(isinstance(rule, Shuffled) for rule in rules):
        order = engine.orders(records, names)
    return Columns(names=names, counts=found, orders=order)


def _counted(
    engine: Engine, records: Records, register: Records | None, column: str, options: AssessOptions
) -> ColumnCounts:
    weight = options.weight if options.weight != column else None
    request = replace(
        options.request(records), keys=(column,), missing=POLICIES["category"], sensitive=(),
        household=None, carry=(), weight=weight, missing_weight=1.0,
    )  # fmt: skip
    with engine.count(request) as cells:
        key = cells.keys[0]
        there = register is not None and column in register.column_names
        if there and register is not None:
            cells.count_population(register)
        held = cells.cells.fold(ByLevel(len(key.values), (COUNT,) if there else ()))
        pairs = zip(key.values, key.labels, strict=True)
        return ColumnCounts(
            name=column,
            labels=tuple(None if value is None else label for value, label in pairs),
            records=held.records,
            weights=held.weights if cells.weights is not None else None,
            population=held.population if there else None,
        )


@dataclass(frozen=True, slots=True)
class LevelTotals:
    """The records of each level of a key, their weights, and who has it in the population; zeros
    where there is none of these."""

    records: IntArray
    weights: FloatArray
    population: IntArray


@dataclass(frozen=True, slots=True)
class ByLevel:
    """The totals of the levels of the only key, of which there are `n_levels`."""

    n_levels: int
    reads: tuple[str, ...] = ()

    def of(self, batch: CellBatch) -> LevelTotals:
        """Of some cells: each is a level by itself."""
        found = LevelTotals(
            records=np.zeros(self.n_levels, dtype=np.int64),
            weights=np.zeros(self.n_levels),
            population=np.zeros(self.n_levels, dtype=np.int64),
        )
        level = batch.coding.level(batch.words, 0)
        found.records[level] = batch.n_records
        if batch.weight_total is not None:
            found.weights[level] = batch.weight_total
        if COUNT in batch.extra:
            found.population[level] = batch.extra[COUNT]
        return found

    def joined(self, one: LevelTotals, other: LevelTotals) -> LevelTotals:
        """Of the cells of both."""
        return LevelTotals(
            records=one.records + other.records,
            weights=one.weights + other.weights,
            population=one.population + other.population,
        )


def column_findings(
    columns: Columns, options: AssessOptions, size: float | None
) -> Iterator[tuple[str, Finding]]:
    """The findings of all rules on single columns, on the order and on what must not be there."""
    rules = options.rules
    for rule in rules:
        if isinstance(rule, PopulationOfColumn):
            yield rule.figure, _people(columns, rule, options, size)
        if isinstance(rule, TopClass):
            name = f"top_class:{rule.role}:{rule.limit:g}"
            yield name, _top(columns, rule.role, rule.limit, options)
    if any(isinstance(rule, SharedWeights) for rule in rules):
        limits = [rule.limit for rule in rules if isinstance(rule, SharedWeights)]
        yield "shared_weights", _weights(columns, options, limits)
    if any(isinstance(rule, NoIdentifiers) for rule in rules):
        yield "no_identifiers", _identifiers(columns.names, options)
    if columns.orders is not None:
        yield "shuffled", _order(columns.orders)


def _waiting(columns: Columns, role: str, options: AssessOptions) -> Finding | None:
    """A finding that waits for a column, or one without; None where the column was counted."""
    if columns.counts and role in columns.counts:
        return None
    if column_of(role, options, columns.names) == "":
        return Finding(value=NONE, found=f"the file has no {role}, as was said", nothing=True)
    said = f"no column is named {role}, and none was named as it"
    return Finding(value=Unavailable(said), doubt=said)


def _people(
    columns: Columns, rule: PopulationOfColumn, options: AssessOptions, size: float | None
) -> Finding:
    waiting = _waiting(columns, rule.role, options)
    if waiting is not None:
        return waiting
    assert columns.counts is not None
    own = columns.counts[rule.role]
    values = _values(own, size)
    if isinstance(values, Unavailable):
        most, names = rule.digits, [label for label in own.labels if label is not None]
        long = 0 if most is None else sum(len(name.strip()) > most for name in names)
        return Finding(value=values, beyond={0.0: long} if long else {}, concerns=(own.name,))
    return column_finding(values, rule, own.name)


def _values(own: ColumnCounts, size: float | None) -> Values | Unavailable:
    """The values of a column with how many of the population each stands for."""
    known = np.array([label is not None for label in own.labels], dtype=np.bool_)
    names = [label for label in own.labels if label is not None]
    records, n = own.records[known], int(own.records.sum())
    if own.population is not None:
        counted = own.population[known].astype(np.float64)
        return Values(names=names, records=records, population=counted, counted=True)
    if size is None:
        return NO_SIZE
    census = n >= size * (1 - 1e-9)
    population = np.asarray(records * (size / n), dtype=np.float64)
    if own.weights is not None and not census:
        population = own.weights[known] * (size / float(own.weights.sum()))
    return Values(names=names, records=records, population=population, counted=census)


def _top(columns: Columns, role: str, first: float, options: AssessOptions) -> Finding:
    """How many values tell apart what should be one class from `first` on."""
    waiting = _waiting(columns, role, options)
    if waiting is not None:
        return waiting
    assert columns.counts is not None
    own = columns.counts[role]
    labels = [label for label in own.labels if label is not None]
    ranges = [_closed(label.strip().lower()) for label in labels]
    unread = sum(one is None for one in ranges)
    if unread:
        noun = "value" if unread == 1 else "values"
        said = f"{unread:,} {noun} of {own.name} cannot be read as numbers or bands"
        return Finding(value=Unavailable(said), concerns=(own.name,))
    reach = [one for one in ranges if one is not None and one[1] >= first]
    classes = [one for one in reach if _is_top(one, first)]
    apart = len(reach) - len(classes) + max(len(classes) - 1, 0)
    return Finding(value=Figure(value=apart, how=How.EXACT), concerns=(own.name,))


def _closed(label: str) -> tuple[float, float] | None:
    """The least and the greatest number of a level; what is under 90 does not reach it."""
    found = range_of(label)
    if found is not None and OPEN_ABOVE.match(label):
        return found[0], nextafter(found[1], -inf)
    return found


def _is_top(reach: tuple[float, float], first: float) -> bool:
    """Whether a value may stand for all from `first` on: an open class that begins there or below,
    or that number itself."""
    low, high = reach
    return (high == inf and low <= first) or low == high == first


def _weights(columns: Columns, options: AssessOptions, limits: Sequence[float]) -> Finding:
    waiting = _waiting(columns, WEIGHT, options)
    if waiting is not None:
        return waiting
    assert columns.counts is not None
    own = columns.counts[WEIGHT]
    return Finding(
        value=Figure(value=int(own.records.min()), how=How.EXACT),
        beyond={limit: int(own.records[own.records < limit].sum()) for limit in limits},
        concerns=(own.name,),
    )


def _identifiers(names: Sequence[str], options: AssessOptions) -> Finding:
    """Columns that identify a person directly: those that were named, or whose names tell,
    whatever else is said."""
    given = options.roles.get(IDENTIFIER)
    telling = [name for name in names if IDENTIFIERS.fullmatch(name.strip())]
    found = list(dict.fromkeys([*([given] if given else []), *telling]))
    if found:
        number = Figure(value=len(found), how=How.EXACT)
        return Finding(value=number, concerns=tuple(found))
    if given == "":
        return Finding(value=NONE)
    said = "no name tells of one, and nobody has said that there is none"
    return Finding(value=Unavailable(said), remedy=CONFIRM)


def _order(orders: Sequence[ColumnOrder] | Unavailable) -> Finding:
    if isinstance(orders, Unavailable):
        return Finding(value=orders, remedy="put the records in random order")
    n = orders[0].n_records if orders else 0
    if 1 < n < FEWEST:
        said = f"the order of fewer than {FEWEST} records does not tell"
        return Finding(value=Unavailable(said), remedy="put the records in random order")
    worst = max(orders, key=lambda one: one.most)
    telling = [one.name for one in orders if above(one.most, Shuffled().limit)]
    return Finding(
        value=Figure(value=worst.most, how=How.EXACT),
        found=", ".join(telling),
        concerns=tuple(telling),
    )
