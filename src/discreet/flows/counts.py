"""What the statistics of counts give away: of one table, or of one table a category."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from discreet.clock import guarded
from discreet.count_tables.assessment import CountAssessment, assessed_release
from discreet.count_tables.category_assessment import (
    CategoriesAssessment,
    assessed_categories,
    likely_by_category,
)
from discreet.count_tables.category_inputs import (
    Categories,
    Sets,
    Tables,
    categories_of_sets,
    categories_of_tables,
)
from discreet.count_tables.knowledge_truth import check_true
from discreet.count_tables.knowledge_words import check_words
from discreet.count_tables.notation import parse_s2
from discreet.count_tables.options import CategoryOptions, CountOptions
from discreet.count_tables.release import CountRelease, release_of
from discreet.count_tables.statistics import CountStatistics, DecimalLog, check_counts
from discreet.count_tables.user_models import bayes_by_category, regression_of
from discreet.data.csv_dialect import CsvOptions
from discreet.errors import InputError, must_be
from discreet.flows.counts_checks import (
    check_by_category,
    check_of_categories,
    check_of_statistics,
    check_of_table,
    counts_of,
)
from discreet.flows.counts_input import Reading, check_statistics, names_of, told_of
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent

Options = TypeVar("Options", CountOptions, CategoryOptions)
RENAMED = {
    "knowledge": "'knows'",
    "withheld": "'withhold'",
    "release_totals": "'totals'",
    "statistics": "'sets'",
}


@in_one_thread
@documented_by(CountOptions, CategoryOptions, renamed=RENAMED)
def counts(
    source: Any = None,
    options: CountOptions | CategoryOptions | None = None,
    *,
    n: int | None = None,
    s1: int | None = None,
    s2: Mapping[int, int] | DecimalLog | str | None = None,
    sets: Any = None,
    column: str | None = None,
    by: Sequence[str] | str = (),
    count: str | None = None,
    missing: str | None = None,
    csv: CsvOptions | None = None,
    sheet: str | None = None,
    progress: Progress = silent,
    **keywords: Any,
) -> CountAssessment | CategoriesAssessment:
    """What the statistics n, S1 and S2 of counts give away of the table of counts, as the command
    `counts` says it.

    The holder gives the table as `source`: {value: count}, '0:15,1:20,2:9', a Series of counts by
    value or of values, a file or a frame; {category: {value: count}} for one set a category. An
    intruder gives `n` (left out where it is withheld), `s1` and `s2`, or `sets`, one a category:
    {category: (n, S1, '2^20*3^7')}, or a file or a frame with columns n, s1 and s2.

    How a file or a frame is read:

    - `column`: the values, by default the only column.
    - `by`: columns whose levels make up a category.
    - `count`: the column that says how many have the value; without it each row is one.
    - `missing`: rows without a value are an error (error, the default) or left out (drop).
    - `csv`: delimiter, quote and encoding (CsvOptions); `sheet`: of an Excel file.

    Returns a CategoriesAssessment where there are categories, and is then asked with the options of
    CategoryOptions; else a CountAssessment, with those of CountOptions. The functions for each:
    `assess_counts`, `assess_statistics`, `assess_categories`.
    """
    reading = Reading(
        column=column, by=names_of("by", by), count=count, missing=missing, csv=csv, sheet=sheet,
    )  # fmt: skip
    told = told_of(source, n, s1, s2, sets, reading, progress)
    own = {"progress": progress, **keywords}
    if told.statistics is not None:
        return assess_statistics(*told.statistics, _only(CountOptions, options), **own)
    if told.table is not None:
        return assess_counts(told.table, _only(CountOptions, options), **own)
    if told.by:
        own["by"] = told.by
    given = _only(CategoryOptions, options)
    return assess_categories(told.tables, told.sets, given, **own)


def _only(kind: type[Options], options: Any) -> Options | None:
    if options is not None and not isinstance(options, kind):
        raise InputError(f"options must be {kind.__name__}, got {type(options).__name__}")
    return options


@in_one_thread
@stoppable
@documented_by(CountOptions, renamed=RENAMED)
def assess_counts(
    table: Mapping[int, int],
    options: CountOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> CountAssessment:
    """For the holder of a table {value: count}: what its statistics would give away.

    A Series of counts by value (as `value_counts` gives it) or of values will do too. The options
    are given as keywords, or as CountOptions, whose values keywords replace. Raises InputError
    where the table is none, or where the intruder's knowledge is not true of it.
    """
    asked = options_of(CountOptions, options, keywords)
    check_of_table(asked)
    table = check_counts(counts_of(table))
    if isinstance(asked.knows, str):
        check_words(asked.knows, table, withhold_n=asked.withhold_n)
    if asked.knowledge is not None:
        check_true(asked.knowledge, table, n_is_known=not asked.withhold_n)
    statistics = CountStatistics.of_counts(table)
    release = release_of(
        statistics,
        decimals=asked.decimals,
        truncate=asked.truncate,
        withhold_n=asked.withhold_n,
    )
    with guarded(asked.seconds):
        return assessed_release(release, asked, table, statistics, progress)


@in_one_thread
@stoppable
@documented_by(CountOptions, renamed=RENAMED)
def assess_statistics(
    n: int | None,
    s1: int,
    s2: Mapping[int, int] | DecimalLog | str,
    options: CountOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> CountAssessment:
    """For an intruder, who has n (None where withheld), S1 and S2.

    `s2` is written as a product that e^S2 is ('2^20*3^7', exact) or as a decimal ('21.55'), or
    given as the exponents by prime or a DecimalLog. The options are given as keywords, or as
    CountOptions, whose values keywords replace. Raises InputError where no table has these
    statistics, naming what contradicts what.
    """
    asked = options_of(CountOptions, options, keywords)
    check_statistics(n, s1, s2)
    if isinstance(s2, str):
        s2 = parse_s2(s2, s1, truncated=asked.truncate)
    check_of_statistics(asked, n, is_decimal=isinstance(s2, DecimalLog))
    release = CountRelease(n=n, total=s1, log_factorial_total=s2)
    statistics = None
    if n is not None and not isinstance(s2, DecimalLog):
        statistics = CountStatistics(n, s1, s2)
    with guarded(asked.seconds):
        return assessed_release(release, asked, None, statistics, progress)


@in_one_thread
@stoppable
@documented_by(CategoryOptions, renamed=RENAMED)
def assess_categories(
    tables: Tables | None = None,
    sets: Sets | None = None,
    options: CategoryOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> CategoriesAssessment:
    """What one set of statistics for each category gives away, alone and jointly.

    The holder gives `tables` {category: {value: count}}, an intruder `sets` {category: (n, S1,
    '2^20*3^7')}. A category is a name, or its levels in the columns `by`. The options are given as
    keywords, or as CategoryOptions, whose values keywords replace. Raises InputError where what is
    out contradicts itself.
    """
    asked = options_of(CategoryOptions, options, keywords)
    check_of_categories(asked, is_holder=tables is not None)
    out = _out(tables, sets, asked)
    with guarded(asked.seconds):
        found = assessed_categories(out, asked, progress)
        regression = None
        if asked.regress:
            regression = regression_of(out.releases, out.levels, asked.by, asked.regress)
        return replace(
            found,
            likely=likely_by_category(found, asked) if asked.draw else {},
            regression=regression,
            bayes=bayes_by_category(out.releases, asked.prior, asked.seconds)
            if asked.bayes
            else {},
        )


def _out(
    tables: Tables | None,
    sets: Sets | None,
    options: CategoryOptions,
) -> Categories:
    check_by_category("tables", tables)
    check_by_category("sets", sets)
    if tables is not None and sets is None:
        return categories_of_tables(tables, options)
    if sets is not None and tables is None:
        return categories_of_sets(sets, options)
    rule = "either the tables of a holder or the sets of an intruder"
    raise InputError(must_be("categories", rule, "both" if tables else "neither"))
