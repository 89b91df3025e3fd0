"""The tables of a result, found in its JSON: so every table that a program can read is a frame too.

A list of objects is a table, and so is an object whose values are all objects, or all numbers: then
the column `name` has their names. A figure within a row has a column for its value and further ones
for its limits. Tables within rows are put together as one, whose column `of` names the row.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet.data.frames import frame_from, table_from_rows
from discreet.errors import InputError, must_be
from discreet.report.results import json_of

FIGURES = "figures"
OUTCOME = {  # names that an outcome may have, and no row of a table has alone
    "value", "low", "high", "lower", "upper", "how", "standard_error", "confidence", "note", "unit",
    "warning", "width", "unavailable",
}  # fmt: skip
SHOWN = ("low", "high", "lower", "upper", "how", "standard_error", "unavailable")
LABELLED = ("cell", "group")  # objects whose names are variables and whose values are levels
NAMING = ("title", "category", "model", "name")  # what names a row, the first that it has
MAIN: Mapping[str, tuple[str, ...]] = {  # the figures that lead, by the kind of the result
    "assess": (
        "sample_size", "population_size", "n_cells", "n_table_cells", "sample_uniques", "anonymity",
        "recommended", "households",
    ),
    "attack": ("n_figures", "n_cells", "n_derived", "n_tables"),
    "audit": ("total", "n_table_cells", "n_small_cells", "n_tables", "risk"),
    "backtest": ("population_size", "population_uniques", "n_cells"),
    "choose": ("chosen", "max_risk"),
    "compare_policies": ("incomplete_records", "missing"),
    "counts": ("statistics", "n_solutions", "priors", "fit"),
    "counts_by_category": ("sets_alone", "joint"),
}  # fmt: skip
Row = dict[str, Any]
Tables = dict[str, list[Row]]


def is_outcome(value: Any) -> bool:
    """Whether JSON is a figure, or the reason why there is none."""
    if not isinstance(value, Mapping) or not set(value) <= OUTCOME:
        return False
    return "unavailable" in value or ("how" in value and bool({"value", "lower"} & set(value)))


def names_of(result: Any) -> tuple[str, ...]:
    """The names of the tables of a result."""
    return tuple(tables_in(json_of(result)))


def frame_of_result(result: Any, name: str = FIGURES, kind: str | None = None) -> Any:
    """One table of a result as a frame."""
    tables = tables_in(json_of(result))
    if name == FIGURES and name not in tables and len(tables) == 1:
        name = next(iter(tables))  # a result of one table, such as a comparison
    if name not in tables:
        raise InputError(must_be("name", f"one of {', '.join(tables)}", repr(name)))
    return frame_from(table_from_rows(tables[name], _level_types(result)), kind)


def tables_in(data: Mapping[str, Any]) -> Tables:
    """The tables of a result as JSON, by name; the main figures first."""
    main = [{"figure": name, **_told(value)} for name, value in main_figures(data)]
    found: Tables = {FIGURES: main} if main else {}
    for name, value in data.items():
        for own, rows in _tables(name, value):
            found.setdefault(own, []).extend(rows)
    return found


def main_figures(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The figures and numbers that lead a result of its kind, each with the names to it."""
    wanted = MAIN.get(str(data["kind"]))
    for name, value in data.items():
        if name in (wanted or data):
            yield from _figures(name, value)


def _figures(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if is_outcome(value) or _is_number(value):
        yield name, value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _figures(f"{name}.{key}", one)


def _told(value: Any) -> Row:
    if not isinstance(value, Mapping):
        return {"value": value}
    return {"value": value.get("value")} | {n: value[n] for n in SHOWN if n in value}


def _tables(name: str, value: Any) -> Iterator[tuple[str, list[Row]]]:
    if _is_rows(value):
        yield from _of_rows(name, [(_naming(row, i), row) for i, row in enumerate(value)], "")
    elif _is_named_rows(value):
        yield from _of_rows(name, value.items(), "name")
    elif _is_numbers(value) and len(value) > 1:
        yield name, [{"name": _key(key), "value": one} for key, one in value.items()]
    elif isinstance(value, Mapping) and not is_outcome(value):
        for key, one in value.items():
            yield from _tables(f"{name}.{key}", one)


def _of_rows(
    name: str, rows: Iterable[tuple[Any, Mapping[str, Any]]], column: str
) -> Iterator[tuple[str, list[Row]]]:
    """The table of the rows, and those within them, put together."""
    inner: Tables = {}
    found = []
    for key, row in rows:
        own = {column: _key(key)} if column else {}
        found.append(own | (_told(row) if is_outcome(row) else _flat(row)))
        for part, value in row.items():
            if _is_rows(value) or _is_named_rows(value):
                for below, more in _tables(f"{name}.{part}", value):
                    inner.setdefault(below, []).extend(_within(key, one) for one in more)
    yield name, found
    yield from inner.items()


def _within(key: Any, row: Row) -> Row:
    """A row with the name of the row that it is within, and those further out."""
    return row | {"of": f"{key}: {row['of']}"} if "of" in row else {"of": _key(key)} | row


def _flat(row: Mapping[str, Any]) -> Row:
    """A row with one value a column, without the tables that are within it."""
    found: Row = {}
    for name, value in row.items():
        if is_outcome(value):
            told = _told(value)
            found[name] = told.pop("value")
            found.update({f"{name}_{key}": one for key, one in told.items()})
        elif _is_rows(value) or _is_named_rows(value):
            continue
        elif isinstance(value, Mapping):
            for key, one in _flat(value).items():
                found[key if name in LABELLED and key not in found else f"{name}_{key}"] = one
        else:
            found[name] = value
    return found


def _naming(row: Mapping[str, Any], place: int) -> Any:
    return next((row[name] for name in NAMING if name in row), place)


def _key(name: Any) -> Any:
    """A name, or the number that it writes."""
    return int(name) if isinstance(name, str) and name.isdecimal() else name


def _is_rows(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and bool(value)
        and all(isinstance(one, Mapping) for one in value)
    )


def _is_named_rows(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and not is_outcome(value)
        and all(isinstance(one, Mapping) for one in value.values())
    )


def _is_numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_number(one) for one in value.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _level_types(result: Any) -> Mapping[str, Any]:
    """The types of the variables, where the result knows them: those of its table or its source."""
    last = result[-1] if isinstance(result, tuple) and result else result
    for one in (last, getattr(last, "release", None)):
        for name in ("table", "held"):
            types = getattr(getattr(one, name, None), "types", None)
            if types:
                return dict(types)
    return {}
