"""Published tables made ready to be put together: names, labels, parts and rules in one language.

A source is a file, perhaps with what is to be said of it: `t2.csv | sex=F | rounded(5)` is a table
of women whose figures were rounded.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.data.columns import near_match
from discreet.data.csv_dialect import CsvOptions
from discreet.data.published.labels import stated_range
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import Complaint, FileError, InputError, must_be, problem_of
from discreet.numerics.arrays import BoolArray
from discreet.tables.knowledge import parts_of
from discreet.tables.linked.rules import FORMS, Rule, check_figures, guessed, rule_of

PART = re.compile(r"\s*([^=|]+?)\s*=\s*([^=|]+?)\s*")
STATISTIC = re.compile(r"(percent|mean)\s*(?:\((.*)\))?", re.IGNORECASE)
OF_CSV = ("encoding", "decimal")
OF_READING = ("count", "sheet", *OF_CSV)
MOST_ABSENT = 2**22  # combinations of a table that are filled with zeros


Holds = Mapping[tuple[str, str], BoolArray]  # by variable and label


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table with the rule by which its figures were printed.

    `holds` says which levels of the data a label of a variable holds, where it was made of them and
    need not be matched by its text.
    """

    table: PublishedTable
    rule: Rule
    holds: Holds = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All tables in one language, and what is to be said of how they were read."""

    tables: tuple[PublishedTable, ...]
    rules: tuple[Rule, ...]
    holds: tuple[Holds, ...] = ()
    notes: tuple[str, ...] = ()


def source_of(given: Any) -> tuple[Source, ...]:
    """The tables of a file with its sections, or a table itself."""
    if isinstance(given, Source):
        return (given,)
    if isinstance(given, PublishedTable):
        return (Source(table=given, rule=Rule()),)
    if not isinstance(given, str | Path):
        wanted = "files, or published tables"
        raise InputError(must_be("published", wanted, f"a {type(given).__name__}"))
    from discreet.data.published.reading import read_published

    path, sections = _parted(str(given))
    rule, rest = rule_of(sections)
    statistic, rest = _statistic(rest)
    options, rest = _options(rest)
    part = _part(rest)
    csv = CsvOptions(**{name: options[name] for name in OF_CSV if name in options})
    count, sheet = options.get("count"), options.get("sheet")
    try:
        found = read_published(Path(path), count=count, sheet=sheet, csv=csv)
    except FileError as error:
        raise _with_encoding(error, path) from error
    return tuple(
        Source(table=replace(one, part={**one.part, **part}, **statistic), rule=rule)
        for one in found
    )


def _with_encoding(error: FileError, path: str) -> FileError:
    """The complaint, with how an encoding is given here."""
    told = problem_of(error.args[0])
    given = f"('{Path(path).name} | encoding=latin-1')"
    return FileError(
        Complaint.of(replace(told, remedy=(told.remedy or "").replace("(encoding)", given)))
    )


def _parted(text: str) -> tuple[str, list[str]]:
    """The file and the sections behind it; a file may have a bar in its name."""
    if Path(text).exists():
        return text, []
    path, *sections = text.split("|")
    return path.strip(), [one for one in sections if one.strip()]


def _statistic(sections: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """What the figures are, from `percent(sex)` or `mean(age)`, and the sections that say nothing
    of it."""
    found: dict[str, Any] = {}
    rest: list[str] = []
    for section in sections:
        match = STATISTIC.fullmatch(section.strip())
        if match is None:
            rest.append(section)
            continue
        names = tuple(name.strip() for name in (match[2] or "").split(",") if name.strip())
        statistic = Statistic(match[1].lower())
        if statistic is Statistic.MEAN and len(names) != 1:
            raise InputError(must_be("mean", "given one variable, as mean(age)", repr(section)))
        found = {"statistic": statistic, "of": names}
    return found, rest


def _options(sections: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """How the file is to be read, from `sheet=2021` or `decimal=,`, and the other sections."""
    found: dict[str, str] = {}
    rest: list[str] = []
    for section in sections:
        name, _, value = section.partition("=")
        if name.strip() in OF_READING and value.strip():
            found[name.strip()] = value.strip()
        else:
            rest.append(section)
    return found, rest


def _part(sections: Sequence[str]) -> dict[str, str]:
    """Conditions such as `sex=F,age=15-19`."""
    part: dict[str, str] = {}
    for section in sections:
        for one in section.split(","):
            found = PART.fullmatch(one)
            if found is None:
                wanted = (
                    f"a part (sex=F), a rule ({FORMS}), or how to read the file (count=COLUMN, "
                    "sheet=NAME, encoding=NAME, decimal=,)"
                )
                rule = "what follows the bar of published"
                raise InputError(must_be(rule, wanted, repr(one.strip())))
            part[found[1]] = found[2]
    return part


def source_of_knowledge(text: str) -> Source:
    """What an intruder knows besides, as a table of one figure that is withheld in a range."""
    pairs, low, high = parts_of(text)
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise InputError(must_be("knows", "about different variables", repr(text)))
    exact = low == high
    return Source(
        table=PublishedTable(
            name="knowledge",
            variables=tuple(names),
            labels=tuple((level,) for _, level in pairs),
            places=np.zeros((1, len(pairs)), dtype=np.int64),
            printed=(str(low) if exact else "",),
        ),
        rule=Rule(stated=True) if exact else Rule(withheld=(low, high), stated=True),
    )


def together(
    sources: Sequence[Source],
    *,
    labels: Sequence[str] = (),
    absent: str = "unknown",
    names: Sequence[str] | None = None,
) -> Sources:
    """All tables with the same names for the same things.

    `labels` say what else things are called, `names` are the variables of the data where there are
    data. Parts become variables with one label; figures that are no counts are left out with a
    note. Raises InputError for a variable that the data do not have.
    """
    if not sources:
        raise InputError(must_be("published", "at least one table", "none"))
    other = _other_names(labels)
    notes: list[str] = []
    tables: list[PublishedTable] = []
    rules: list[Rule] = []
    holds: list[Holds] = []
    known = {name.casefold(): name for name in names or ()}
    _check_used(other, [source.table for source in sources], labels)
    for source in _named_apart(sources):
        table = _renamed(source.table, other, known, fixed=names is not None)
        notes += [f"{table.name}: {note}" for note in table.notes]
        check_figures(table)
        rule, note = guessed(table, source.rule)
        notes += [note] if note else []
        notes += _on_withheld(table, rule)
        table = _with_part(table)
        _check_shape(table)
        table, note = _filled(table, absent)
        notes += [note] if note else []
        tables.append(table)
        rules.append(rule)
        holds.append(source.holds)
    return Sources(tables=tuple(tables), rules=tuple(rules), holds=tuple(holds), notes=tuple(notes))


def _on_withheld(table: PublishedTable, rule: Rule) -> list[str]:
    """A note where zeros are shown, and it is not said whether a withheld figure may be one."""
    marks = (table.marks.get(i, "") for i, text in enumerate(table.printed) if not text)
    hides = any(stated_range(mark) is None for mark in marks)
    if rule.withheld != (0, None) or not hides or "0" not in table.printed:
        return []
    return [
        f"Withheld figures are taken as 0 or more, though zeros are shown in {table.name}: if "
        f"readers know that none is 0, say '{table.name} | withheld(1..)'."
    ]


def _named_apart(sources: Sequence[Source]) -> list[Source]:
    """Two tables of the same name are told apart by a number."""
    seen: dict[str, int] = {}
    found: list[Source] = []
    for source in sources:
        name = source.table.name
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name = f"{name} ({seen[name]})"
        found.append(replace(source, table=replace(source.table, name=name)))
    return found


@dataclass(frozen=True, slots=True)
class _OtherNames:
    """What variables and labels are called besides."""

    variables: Mapping[str, str]
    labels: Mapping[tuple[str, str], str]


def _other_names(given: Sequence[str]) -> _OtherNames:
    variables: dict[str, str] = {}
    labels: dict[tuple[str, str], str] = {}
    for text in given:
        left, equals, right = text.partition("=")
        name, colon, label = left.partition(":")
        if not equals or not name.strip() or not right.strip() or (colon and not label.strip()):
            rule = "written VARIABLE:LABEL=LEVEL or OTHER=VARIABLE"
            raise InputError(must_be("labels", rule, repr(text)))
        if colon:
            labels[name.strip().casefold(), " ".join(label.split())] = right.strip()
        else:
            variables[name.strip().casefold()] = right.strip()
    # Labels may be named by either name of their variable.
    found = {(variables.get(name, name).casefold(), x): y for (name, x), y in labels.items()}
    return _OtherNames(variables, found)


def _check_used(other: _OtherNames, before: Sequence[PublishedTable], given: Sequence[str]) -> None:
    """Raises InputError for another name of what no table has: it would change nothing."""
    variables = {_folded(name) for table in before for name in (*table.variables, *table.part)}
    labels = {
        (other.variables.get(_folded(name), _folded(name)).casefold(), " ".join(text.split()))
        for table in before
        for name, column in (
            *zip(table.variables, table.labels, strict=True),
            *((name, (text,)) for name, text in table.part.items()),
        )
        for text in column
    }
    wrong = [name for name in other.variables if name not in variables]
    wrong += [f"{name}:{label}" for name, label in other.labels if (name, label) not in labels]
    if wrong:
        text = next(one for one in given if _folded(one).startswith(_folded(wrong[0])))
        known = [name for table in before for name in table.variables]
        near = near_match(wrong[0].partition(":")[0], known)
        remedy = f"did you mean {near!r}?" if near else None
        rule = "of a variable or label that some table has"
        raise InputError(must_be("labels", rule, repr(text), remedy=remedy))


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _renamed(
    table: PublishedTable, other: _OtherNames, known: dict[str, str], *, fixed: bool
) -> PublishedTable:
    """The table with the names that are known for its variables and labels.

    Names are the same but for their case. `known` learns those of this table, unless it is `fixed`.
    """

    def variable(name: str) -> str:
        plain = " ".join(name.split())
        named = other.variables.get(plain.casefold(), plain)
        found = known.get(named.casefold())
        if found is None and fixed:
            near = near_match(named, list(known.values()))
            meant = f"did you mean {near!r}? " if near else ""
            remedy = f"{meant}say what it is called there, '{named}=VARIABLE' (labels)"
            what = "variables of published tables"
            got = repr(named)
            raise InputError(
                must_be(what, "those of the data", got, where=table.name, remedy=remedy)
            )
        return known.setdefault(named.casefold(), named)

    def label(name: str, text: str) -> str:
        return other.labels.get((name.casefold(), " ".join(text.split())), text)

    own = tuple(variable(name) for name in table.variables)
    if len(set(own)) < len(own):
        twice = next(name for i, name in enumerate(own) if name in own[:i])
        what, got = f"variables of {table.name}", f"{twice!r} twice"
        raise InputError(must_be(what, "different but for case", got))
    labels = [
        tuple(label(n, x) for x in column) for n, column in zip(own, table.labels, strict=True)
    ]
    part = {variable(name): label(variable(name), text) for name, text in table.part.items()}
    merged = [_merged(column, table.places[:, v]) for v, column in enumerate(labels)]
    places = [place for _, place in merged]
    return replace(
        table,
        variables=own,
        labels=tuple(column for column, _ in merged),
        places=np.stack(places, axis=1) if places else table.places,
        part=part,
        of=tuple(variable(name) for name in table.of),
    )


def _merged(labels: Sequence[str], places: Any) -> tuple[tuple[str, ...], Any]:
    """Labels each once, where two got the same name."""
    once = list(dict.fromkeys(labels))
    move = np.array([once.index(label) for label in labels], dtype=np.int64)
    return tuple(once), move[places] if len(move) else places


def _with_part(table: PublishedTable) -> PublishedTable:
    """What the whole table is a part by becomes a variable with one label."""
    more = [(name, label) for name, label in table.part.items() if name not in table.variables]
    for name in table.part:
        if name in table.variables:
            rule = "about variables that the table has no column for"
            raise InputError(must_be(f"part of {table.name}", rule, repr(name)))
    if not more:
        return table
    zeros = np.zeros((table.n_figures, len(more)), dtype=np.int64)
    within = [name for name, _ in more if table.of and table.statistic is Statistic.PERCENT]
    return replace(
        table,
        of=(*table.of, *within),
        variables=(*table.variables, *(name for name, _ in more)),
        labels=(*table.labels, *((label,) for _, label in more)),
        places=np.concatenate([table.places, zeros], axis=1),
        part={},
    )


def _check_shape(table: PublishedTable) -> None:
    """Each combination stands once, and percentages are of variables of the table."""
    shape = [len(labels) for labels in table.labels]
    code = np.zeros(table.n_figures, dtype=np.int64)
    if shape and table.n_figures:
        code = np.ravel_multi_index(tuple(table.places.T), shape)
    _, first, times = np.unique(code, return_index=True, return_counts=True)
    if len(first) < table.n_figures:
        said = ", ".join(f"{n} {x}" for n, x in table.cell(int(first[times > 1][0])).items())
        remedy = "are two labels called the same (labels)?" if table.variables else None
        got = f"{said or 'the total'} twice"
        raise InputError(
            must_be(f"figures of {table.name}", "of one combination each", got, remedy=remedy)
        )
    strange = [name for name in table.of if name not in table.variables]
    if table.statistic is Statistic.PERCENT and strange:
        rule = f"within variables of {table.name} ({', '.join(table.variables)})"
        raise InputError(must_be("percentages", rule, repr(strange[0])))


def _filled(table: PublishedTable, absent: str) -> tuple[PublishedTable, str]:
    """The table with what it does not list, and a note of what that is taken as."""
    shape = [len(column) for column in table.labels]
    missing = prod(shape) - table.n_figures
    if missing <= 0:
        return table, ""
    listed = f"{missing:,} of {prod(shape):,} combinations are not listed in {table.name}"
    if absent == "unknown":
        return table, f"{listed}: taken as not published. If they are empty, say so (absent zero)."
    if prod(shape) > MOST_ABSENT:
        raise InputError(must_be("absent", f"zero for at most {MOST_ABSENT:,}", f"{prod(shape):,}"))
    there = {tuple(row) for row in table.places.tolist()}
    more = [row for row in product(*(range(size) for size in shape)) if row not in there]
    filled = replace(
        table,
        places=np.concatenate([table.places, np.array(more, dtype=np.int64)]),
        printed=(*table.printed, *["0"] * len(more)),
        where=(*table.where, *["not listed"] * len(more)) if table.where else (),
    )
    return filled, f"{listed}: taken as zero."
