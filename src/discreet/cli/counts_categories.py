"""discreet counts FILE --column x --by ward,year (the holder), or --sets FILE (an intruder)"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet.cli.option_names import speaking_of
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable

if TYPE_CHECKING:
    from discreet.count_tables.release import Release
    from discreet.report.counts.categories import CategoriesView

MOST_CATEGORIES = 200
DRAWING_SECONDS = 20.0
Levels = tuple[str, ...]


def run_categories(counts: str | None, options: dict[str, Any]) -> bool:
    """Answer; was a greatest risk given that the sets do not keep?"""
    from discreet.cli.console import progress_bar
    from discreet.cli.show import show
    from discreet.report.counts.categories import categories_document
    from discreet.report.counts.categories_json import categories_json

    report = options["report"]
    if not 0 < options["seconds"] < float("inf"):
        raise InputError(must_be("seconds", "a finite number above zero", options["seconds"]))
    with progress_bar() as progress:
        if counts is None:
            view = _intruder_view(options, progress)
        else:
            view = _holder_view(counts, options, progress)
    show(
        partial(categories_document, view),
        partial(categories_json, view),
        as_json=options["as_json"],
        report=report,
    )
    return view.allows is False


def _holder_view(file: str, options: dict[str, Any], progress: Any) -> "CategoriesView":
    from discreet.cli.counts_knowledge import check_known
    from discreet.cli.counts_reading import read_by_category
    from discreet.count_tables.category_assessment import assess_categories
    from discreet.count_tables.release import release_of
    from discreet.count_tables.statistics import CountStatistics

    by = options["by"]
    source, by_levels = read_by_category(file, options, progress)
    names = category_names(list(by_levels))
    tables = {names[levels]: table for levels, table in by_levels.items()}
    for name, table in tables.items():
        check_known(options["knows"], table, category=name)
    withheld = _withheld(options["withheld"], list(tables))
    margins = _margins(options["margins"], by, names, tables)
    found = assess_categories(
        tables,
        withheld=withheld,
        margins=margins | _all_together(withheld, tables),
        release_totals=options["totals"],
        knowledge=_knowledge(options, list(tables)),
        max_risk=options["max_risk"],
        seconds=options["seconds"],
        seed=options["seed"],
        progress=progress,
    )
    releases = {
        name: release_of(CountStatistics.of_counts(table)) if max(table) else _zeros(table)
        for name, table in tables.items()
        if name not in withheld
    }
    beside = _beside(options, withheld)
    return _view(found, options, (source, by, names), releases, tables, beside)


def _intruder_view(options: dict[str, Any], progress: Any) -> "CategoriesView":
    from discreet.cli.counts_reading import read_sets
    from discreet.count_tables.category_assessment import Margin, assess_categories
    from discreet.count_tables.notation import parse_counts

    file, by, sets = read_sets(options["sets"], options, progress)
    names = category_names(list(sets))
    releases = {names[levels]: _release(names[levels], one) for levels, one in sets.items()}
    exact = {name: _exact(name, one) for name, one in releases.items() if one.total}
    margins: dict[str, Any] = {}
    if options["total_table"] is not None:
        with speaking_of({"counts": "--total-table"}):
            table = _without_zeros(parse_counts(options["total_table"]), releases)
        _check_total_table(table, exact)
        margins["all"] = Margin(categories=tuple(exact), table=table)
    found = assess_categories(
        statistics=exact,
        margins=margins,
        knowledge=_knowledge(options, list(exact)),
        seconds=options["seconds"],
        seed=options["seed"],
        progress=progress,
    )
    beside = ("the table of all categories together",) if margins else ()
    return _view(found, options, (file, by, names), releases, None, beside)


def _view(
    found: Any,
    options: dict[str, Any],
    naming: tuple[str, Sequence[str], Mapping[Levels, str]],
    releases: Mapping[str, "Release"],
    tables: Mapping[str, Mapping[int, int]] | None,
    beside: tuple[str, ...],
) -> "CategoriesView":
    """All that is shown, with the regression and the Bayesian analyses that were asked for."""
    from discreet.cli.counts_models import bayes_by_category, regression_of, sums_of
    from discreet.report.counts.categories import CategoriesView

    source, by, names = naming
    regression = None
    if options["regress"]:
        levels_of = {name: levels for levels, name in names.items()}
        sets = {levels_of[name]: sums_of(one) for name, one in releases.items()}
        regression = regression_of(by, sets, options["regress"])
    bayes = bayes_by_category(releases, options) if options["bayes"] else {}
    return CategoriesView(
        source=source,
        variables=tuple(by),
        found=found,
        releases=releases,
        tables=tables,
        beside=beside,
        known=_described(options),
        likely=_likely(found, options) if options["report"] is not None else {},
        regression=regression,
        bayes=bayes,
        max_risk=options["max_risk"],
    )


def category_names(combinations: Sequence[Levels]) -> dict[Levels, str]:
    """A name for each combination of levels, no two of them alike."""
    if len(combinations) > MOST_CATEGORIES:
        rule = f"at most {MOST_CATEGORIES} categories"
        got = f"{len(combinations):,}"
        raise InputError(must_be("--by", rule, got, remedy="leave out a column"))
    plain = {levels: ", ".join(levels) for levels in combinations}
    if len(set(plain.values())) == len(plain):
        return plain
    return {levels: ", ".join(map(repr, levels)) for levels in combinations}


def _withheld(typed: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    for name in typed:
        if name not in names:
            listed = ", ".join(map(repr, names[:8]))
            raise InputError(must_be("--withhold", f"one of {listed}", repr(name)))
    return tuple(dict.fromkeys(typed))


def _all_together(
    withheld: Sequence[str], tables: Mapping[str, Mapping[int, int]]
) -> dict[str, Any]:
    """The set of all categories together, which goes out where one of them is withheld."""
    from discreet.count_tables.category_assessment import Margin
    from discreet.count_tables.statistics import CountStatistics

    if not withheld:
        return {}
    sums = CountStatistics.of_counts(_added(tables.values()))
    return {"all together": Margin(categories=tuple(tables), statistics=sums)}


def _margins(
    typed: Sequence[Sequence[str]],
    by: Sequence[str],
    names: Mapping[Levels, str],
    tables: Mapping[str, Mapping[int, int]],
) -> dict[str, Any]:
    """The tables by some of the --by columns: one margin for each of their combinations.

    A margin of zeros only adds nothing to S1 = 0 and is left out.
    """
    from discreet.count_tables.category_assessment import Margin

    margins: dict[str, Any] = {}
    for wanted in typed:
        _check_margin(wanted, by)
        for levels, held in _groups([by.index(name) for name in wanted], names).items():
            table = _added([tables[name] for name in held])
            said = ", ".join(f"{w}={x!r}" for w, x in zip(wanted, levels, strict=True))
            if max(table) > 0:
                margins[said] = Margin(categories=tuple(held), table=table)
    return margins


def _groups(places: Sequence[int], names: Mapping[Levels, str]) -> dict[Levels, list[str]]:
    """Categories by their levels of some of the columns."""
    groups: dict[Levels, list[str]] = {}
    for levels, name in names.items():
        groups.setdefault(tuple(levels[i] for i in places), []).append(name)
    return groups


def _check_margin(wanted: Sequence[str], by: Sequence[str]) -> None:
    for name in wanted:
        if name not in by:
            rule = f"of columns of --by ({', '.join(map(repr, by))})"
            raise InputError(must_be("--margin", rule, repr(name)))
    if set(wanted) == set(by):
        rule = "of fewer columns than --by, whose table is all there is to hide"
        raise InputError(must_be("--margin", rule, ", ".join(wanted)))


def _added(tables: Iterable[Mapping[int, int]]) -> dict[int, int]:
    found: Counter[int] = Counter()
    for table in tables:
        found.update(table)
    return dict(found)


def _beside(options: dict[str, Any], withheld: Sequence[str]) -> tuple[str, ...]:
    said = [f"the table by {', '.join(margin)}" for margin in options["margins"]]
    if options["totals"]:
        said.append("the table of all categories together")
    if withheld:
        said.append("the set of all categories together")
    return tuple(said)


def _knowledge(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What is known of every category alike; shapes are for one table only."""
    from discreet.count_tables.knowledge_notation import parse_knowledge

    if options["knows"] is None:
        return {}
    known = parse_knowledge(options["knows"])
    if known.shape is not None:
        rule = "without shapes where there are categories"
        raise InputError(must_be("--knows", rule, repr(str(known.shape))))
    return dict.fromkeys(names, known)


def _described(options: dict[str, Any]) -> tuple[str, ...]:
    from discreet.count_tables.knowledge_notation import parse_knowledge

    return () if options["knows"] is None else parse_knowledge(options["knows"]).described()


def _release(name: str, one: tuple[int | None, int, str]) -> "Release":
    from discreet.cli.counts_reading import parse_s2
    from discreet.count_tables.release import Release

    n, total, s2 = one
    if s2 == "1":  # as a product, which is what sets are written as
        return Release(n=n, total=total, log_factorial_total={})
    try:
        return Release(n=n, total=total, log_factorial_total=parse_s2(s2, total))
    except InputError as problem:
        raise InputError(f"{problem} (category {name})") from problem


def _zeros(table: Mapping[int, int]) -> "Release":
    """What goes out of a category of zeros only."""
    from discreet.count_tables.release import Release

    return Release(n=sum(table.values()), total=0, log_factorial_total={})


def _exact(name: str, release: "Release") -> Any:
    """The exact set of a category, which is what several are solved from."""
    from discreet.count_tables.statistics import CountStatistics, DecimalLog

    given = release.log_factorial_total
    if release.n is None or isinstance(given, DecimalLog):
        lacks = "no n" if release.n is None else "a rounded S2"
        rule = "of sets with n and S2 as a product such as 2^20*3^7"
        remedy = "--n, --s1 and --s2 take such a set by itself"
        raise InputError(must_be("--sets", rule, f"{lacks} for {name}", remedy=remedy))
    try:
        return CountStatistics(release.n, release.total, given)
    except InputError as problem:
        raise InputError(f"{problem} (category {name})") from problem


def _without_zeros(table: dict[int, int], releases: Mapping[str, "Release"]) -> dict[int, int]:
    """The table of all together less the categories of zeros only."""
    zeros = sum(one.n or 0 for one in releases.values() if one.total == 0)
    if zeros > table.get(0, 0):
        rule = f"one with at least {zeros} zeros, those of categories with S1 = 0"
        raise InputError(must_be("--total-table", rule, table.get(0, 0)))
    return table | {0: table.get(0, 0) - zeros}


def _check_total_table(table: Mapping[int, int], sets: Mapping[str, Any]) -> None:
    """Raises InputError that says which statistic of the table is not that of all sets."""
    from discreet.count_tables.categories import together
    from discreet.count_tables.notation import write_factorisation
    from discreet.count_tables.statistics import CountStatistics

    own, wanted = CountStatistics.of_counts(table), together(sets)
    for what, one, other in (
        ("n", own.n, wanted.n),
        ("S1", own.total, wanted.total),
        ("e^S2", *(write_factorisation(s.factorisation) for s in (own, wanted))),
    ):
        if one != other:
            rule = f"a table with the {what} of all sets together, {other}"
            remedy = "categories with S1 = 0 left out"
            raise InputError(must_be("--total-table", rule, f"one with {one}", remedy=remedy))


def _likely(found: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The most probable tables of each category from its own set, to be drawn."""
    import numpy as np

    from discreet.clock import working_seconds
    from discreet.count_tables.likely_tables import likely_tables
    from discreet.count_tables.rebuilding import Effort
    from discreet.count_tables.release import attack, release_of

    known = _knowledge(options, found.names)
    rng = np.random.default_rng(options["seed"])
    seconds = min(DRAWING_SECONDS, options["seconds"])
    effort = Effort(seconds=seconds / 4, until=working_seconds() + seconds, rng=rng)
    drawn: dict[str, Any] = {}
    for name in found.names:
        if name not in found.statistics:
            drawn[name] = Unavailable("its own set is not out")
            continue
        release = release_of(found.statistics[name])
        own = attack(release, known.get(name), effort=effort)
        drawn[name] = likely_tables(release, own, known.get(name), effort=effort)
    return drawn
