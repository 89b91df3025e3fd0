"""Options that several commands share."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from discreet.cli.grouped import JUDGED, KNOWN, OUTPUT, READING, Decorated, option
from discreet.data.csv_dialect import CsvOptions


class Names(click.ParamType[tuple[str, ...]]):
    """Column names separated by commas; one that holds a comma goes in double quotes."""

    name = "NAME,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = split_names(value)
        if not names:
            self.fail(f"must be column names separated by commas, got {value!r}", param, ctx)
        return names


def split_names(value: str) -> tuple[str, ...]:
    """Names separated by commas; one that holds a comma goes in double quotes."""
    try:
        row = next(csv.reader(io.StringIO(value, newline=""), skipinitialspace=True), [])
    except csv.Error:
        return ()
    names = tuple(row if '"' in value else (name.strip(" ") for name in row))
    return names if all(names) else ()


class Scenario(click.ParamType[tuple[str, tuple[str, ...]]]):
    """A name and what it stands for: neighbour=sex,age."""

    name = "NAME=KEY,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[str, ...]]:
        if isinstance(value, tuple):
            return value
        name, _, keys = value.partition("=")
        names = split_names(keys)
        if not name or not names:
            self.fail(
                f"must be a name, '=' and keys separated by commas, got {value!r}", param, ctx
            )
        return name, names


class Role(click.ParamType[tuple[str, str]]):
    """A kind of column and the column that is of it: region=province; without a column, none is."""

    name = "ROLE=COLUMN"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        role, equals, column = value.partition("=")
        if not role.strip() or not equals:
            self.fail(f"must be a role, '=' and a column, got {value!r}", param, ctx)
        return role.strip(), column


class NamedFile(click.ParamType[tuple[str, str]]):
    """A name and a file: diagnosis=tree.csv."""

    name = "NAME=FILE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, _, path = value.partition("=")
        if not name or not path:
            self.fail(f"must be a name, '=' and a file, got {value!r}", param, ctx)
        return name, path


class NamedNumber(click.ParamType[tuple[str, float]]):
    """A name and a number: age=3."""

    name = "NAME=NUMBER"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, equals, number = value.rpartition("=")
        try:
            if not equals or not name.strip():
                raise ValueError
            return name.strip(), float(number)
        except ValueError:
            self.fail(f"must be a name, '=' and a number, got {value!r}", param, ctx)


class Codes(click.ParamType[tuple[str, tuple[str, ...]]]):
    """Codes for every column, or after '=' for one: NA,. or age=99."""

    name = "[NAME=]CODE,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[str, ...]]:
        if isinstance(value, tuple):
            return value
        column, equals, codes = value.partition("=")
        listed = split_names(codes if equals else value)
        if not listed or not column:
            self.fail(f"must be codes separated by commas, got {value!r}", param, ctx)
        return (column if equals else "*"), listed


class WholeNumbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers separated by commas."""

    name = "N,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"must be whole numbers separated by commas, got {value!r}", param, ctx)


class Numbers(click.ParamType[tuple[float, ...]]):
    """Numbers separated by commas."""

    name = "X,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"must be numbers separated by commas, got {value!r}", param, ctx)


class PagePath(click.ParamType[Path]):
    """A page to write, as HTML or PDF; told before any work where it cannot be."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from discreet.report.render_html import check_page

        path = Path(value)
        check_page(param.opts[0] if param is not None else "report", path)
        return path


def design_options(command: Decorated) -> Decorated:
    """How large the population is, and how the records were drawn from it."""
    for one in (
        option(
            KNOWN, "--stratum",
            help="Column of the strata, in each of which everybody had the same chance to be "
            "drawn; needs --weight.",
        ),
        option(
            KNOWN, "--clusters", type=int, metavar="C",
            help="How many clusters the population has, where some members of each drawn one are "
            "in the file [default: clusters were taken whole].",
        ),
        option(
            KNOWN, "--cluster",
            help="Column of the areas, schools and so on that were drawn, and of whose members "
            "some or all are in the file.",
        ),
        option(
            KNOWN, "--household",
            help="Column that tells the household of each record; whether households were drawn "
            "whole is seen from the file.",
        ),
        option(
            KNOWN, "--whole-population", is_flag=True,
            help="The file holds everybody: it is the population, and no sample of it.",
        ),
        option(
            KNOWN, "--population", type=float, help="Number of persons in the population."
        ),
        option(KNOWN, "--weight", help="Column of survey weights."),
    ):  # fmt: skip
        command = one(command)
    return command


def page_options(command: Decorated) -> Decorated:
    """--report and --external-report."""
    outside = "Write a report that may leave the agency: no count, no level, no limit."
    command = option(OUTPUT, "--external-report", type=PagePath(), help=outside)(command)
    inside = "Write a report, as .html or .pdf (internal)."
    return option(OUTPUT, "--report", type=PagePath(), help=inside)(command)


def policy_option(command: Decorated) -> Decorated:
    """--policy"""
    told = (
        "A policy that must hold: its name (`discreet policies` lists them) or a file; may be "
        "given several times."
    )
    named = option(JUDGED, "--policy", multiple=True, metavar="NAME|FILE", help=told)
    return named(command)


def pages_asked(options: Mapping[str, Any]) -> list[Path]:
    """The pages that are to be written."""
    asked = (options.get("report"), options.get("external_report"))
    return [path for path in asked if path is not None]


def full_option(command: Decorated) -> Decorated:
    """--full"""
    told = "Print every figure and how it was got, not the answer alone."
    return option(OUTPUT, "--full", is_flag=True, help=told)(command)


def csv_options(command: Decorated) -> Decorated:
    """--sheet, --delimiter, --quote, --encoding and --decimal."""
    command = option(READING, "--decimal", help="Decimal mark of numbers [default: .].")(command)
    return csv_text_options(command)


def csv_text_options(command: Decorated) -> Decorated:
    """--sheet, --delimiter, --quote and --encoding."""
    for one in (
        option(READING, "--sheet", help="Sheet of an Excel file [default: the first]."),
        option(READING, "--encoding", help="Encoding of a CSV file [default: UTF-8]."),
        option(READING, "--quote", help='Quote of a CSV file [default: "].'),
        option(READING, "--delimiter", help="Delimiter of a CSV file [default: detected]."),
    ):
        command = one(command)
    return command


def code_options(command: Decorated) -> Decorated:
    """--missing-code, --suppressed-code and --not-applicable-code."""
    for kind, meaning in (
        ("not-applicable", "there is nothing to know"),
        ("suppressed", "known, but taken out"),
        ("missing", "not known"),
    ):
        command = option(
            READING, f"--{kind}-code", f"{kind.replace('-', '_')}_codes", type=Codes(),
            multiple=True, help=f"Values that mean: {meaning}.",
        )(command)  # fmt: skip
    return command


def codes_by_column(given: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """The codes of each column, those of all columns under '*'."""
    codes: dict[str, tuple[str, ...]] = {}
    for column, values in given:
        codes[column] = (*codes.get(column, ()), *values)
    return codes


def model_names(given: str | None) -> str | list[str] | None:
    """The models of a list with commas, or 'auto'."""
    if given is None or given == "auto":
        return given
    return [name.strip() for name in given.split(",")]


def csv_from(
    delimiter: str | None, quote: str | None, encoding: str | None, decimal: str | None
) -> CsvOptions:
    """The CSV options of the command line; \\t may be written for a tab."""
    tab = {"\\t": "\t", "tab": "\t"}
    chosen = {
        "delimiter": None if delimiter is None else tab.get(delimiter, delimiter),
        "quote": quote,
        "encoding": encoding,
        "decimal": decimal,
    }
    return CsvOptions(**{name: value for name, value in chosen.items() if value is not None})
