"""Records to risk, the whole way: check what is asked, count, and measure."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.data.hierarchy import Hierarchy
from discreet.data.missing import POLICIES
from discreet.data.records import Records, open_records
from discreet.data.tree_file import read_hierarchy
from discreet.data.writing import check_outputs
from discreet.engines.contract import Engine
from discreet.errors import MissingError
from discreet.figures import Unavailable
from discreet.flows.engine import engine_or_default
from discreet.flows.held_records import HeldRecords
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent
from discreet.survey.assessment import Assessment, Inputs, assessed
from discreet.survey.missing_policies import PolicyComparison
from discreet.survey.options import AssessOptions
from discreet.survey.role_columns import check_roles_asked, counted_columns, with_household
from discreet.survey.suda.matching import MatchingTooLongError
from discreet.survey.validation import check_columns

MOST_IN_ORDER = 2_000_000  # records whose order is looked at
RENAMED = {
    "population_size": "'population'",
    "n_table_cells": "'cells'",
    "structural_zeros": "'impossible'",
    "anonymity_levels": "'k'",
    "thresholds": "'l', 'c', 't', 'alpha' and 'alpha_k'",
    "hierarchies": "'trees'",
    "codes": "'missing_codes', 'suppressed_codes' and 'not_applicable_codes'",
}


@in_one_thread
@stoppable
@documented_by(AssessOptions, renamed=RENAMED)
def assess(
    source: Any,
    keys: Iterable[str] | None = None,
    options: AssessOptions | None = None,
    *,
    sheet: str | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
    **keywords: Any,
) -> Assessment:
    """The disclosure risk of a file of records.

    `source` is a path (CSV, Parquet file, folder or glob, Arrow, Excel, Stata, SPSS, SAS), a pandas
    or polars frame, an Arrow table or a DuckDB relation; `sheet` is that of an Excel file, by
    default the first. The options are given as keywords, or as AssessOptions, whose values keywords
    replace.

    Raises InputError, with one clear line, for anything that cannot be assessed.
    """
    return _assessed(source, sheet, _options(options, keys, keywords), engine, progress)


@in_one_thread
@stoppable
@documented_by(AssessOptions, renamed=RENAMED)
def compare_policies(
    source: Any,
    keys: Iterable[str] | None = None,
    options: AssessOptions | None = None,
    *,
    sheet: str | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
    **keywords: Any,
) -> PolicyComparison:
    """The file assessed once under each policy for missing keys; `missing` itself has no effect.

    `source` and `sheet` are those of `assess`. Models are run beside the recommended estimate if
    they are asked for.
    """
    asked = _options(options, keys, keywords | {"missing": "wildcard"})
    opened = open_records(source, asked.csv, sheet)
    found = {name: _under(name, opened, asked, engine, progress) for name in POLICIES}
    first = next(a for a in found.values() if isinstance(a, Assessment))
    return PolicyComparison(
        source=first.settings.source,
        n_incomplete=first.n_incomplete,
        with_models=bool(asked.chosen_models),
        policies=found,
    )


def _options(
    given: AssessOptions | None, keys: Iterable[str] | None, keywords: Mapping[str, Any]
) -> AssessOptions:
    named = keywords if keys is None else {"keys": keys, **keywords}
    return options_of(AssessOptions, given, named)


def _under(
    name: str, source: Any, asked: AssessOptions, engine: Engine | None, progress: Progress
) -> Assessment | Unavailable:
    """What one policy makes of the file, or why it makes nothing of it."""
    policy = POLICIES[name]
    weight = asked.missing_weight if policy.matching == "wildcard" else 1.0
    try:
        own = replace(asked, missing=name, missing_weight=weight)
        return _assessed(source, None, own, engine, progress)
    except MissingError as reason:
        too_much = isinstance(reason, MatchingTooLongError)
        if policy.is_a_level and not too_much:  # it accepts any missing key: look elsewhere
            raise
        return Unavailable(str(reason))


def _assessed(
    source: Any,
    sheet: str | None,
    options: AssessOptions,
    engine: Engine | None,
    progress: Progress,
) -> Assessment:
    """The figures, and with them the source, by which the records can be had afterwards."""

    def again(risks: Path) -> Assessment:
        fresh = open_records(source, options.csv, sheet)
        return measured(fresh, replace(options, risks=risks), engine, silent, suggest=False)

    records = open_records(source, options.csv, sheet)
    found = measured(records, options, engine, progress)
    return replace(found, held=HeldRecords(source, again, records.types(options.key_names)))


def measured(
    records: Records,
    options: AssessOptions,
    engine: Engine | None,
    progress: Progress,
    *,
    suggest: bool = True,
) -> Assessment:
    """The figures of opened records, without the source by which the records can be had."""
    inputs = _opened(records, options)
    check_columns(options.keys, options.scenarios, inputs.records)
    check_roles_asked(options, records.column_names, records.name)
    for role, column in options.drawn_by.items():
        records.find(role, (column,))
    options = with_household(options, records.column_names)
    if options.risks is not None:
        opened = (inputs.records, inputs.impossible, inputs.population, *inputs.margins)
        _check_output(Path(options.risks), [one for one in opened if one is not None])
    counting = engine_or_default(engine, progress)
    columns = counted_columns(counting, records, inputs.population, options)
    inputs = replace(inputs, columns=columns)
    with counting.count(options.request(inputs.records)) as cells, ExitStack() as stack:
        if options.is_estimated and not cells.cells.space.overlap:
            if options.drawn_by:
                finer = stack.enter_context(counting.count(options.drawn_request(inputs.records)))
                inputs = replace(inputs, finer=finer)
            elif cells.n_records <= MOST_IN_ORDER:
                orders = counting.orders(inputs.records, options.key_names)
                inputs = replace(inputs, orders=orders)
        if options.original is not None:
            from discreet.flows.original import fits_in

            inputs = replace(inputs, fits=fits_in(options, cells.cells, counting))
        return assessed(cells, inputs, options, progress, suggest=suggest)


def _opened(records: Records, options: AssessOptions) -> Inputs:
    impossible, population = options.impossible, options.population_file
    return Inputs(
        records=records,
        impossible=None if impossible is None else open_records(impossible, options.csv),
        population=None if population is None else open_records(population, options.csv),
        margins=tuple(open_records(one, options.csv) for one in options.known_margins),
        trees={
            name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree, options.csv)
            for name, tree in options.trees.items()
        },
    )


def _check_output(risks: Path, opened: list[Records]) -> None:
    """The file of risks overwrites no input and is no part of one."""
    files = [path for source in opened for path in source.files]
    parts = [path for source in opened for path in source.parts]
    check_outputs([risks], files, parts)
