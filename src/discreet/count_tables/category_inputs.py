"""Categories by name, and all that is out of them: from the holder's tables, or from released
sets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.count_tables.categories import Margin, together
from discreet.count_tables.knowledge_words import check_words
from discreet.count_tables.notation import parse_counts, parse_s2, write_factorisation
from discreet.count_tables.options import CategoryOptions
from discreet.count_tables.release import Release, release_of
from discreet.count_tables.statistics import CountStatistics, DecimalLog
from discreet.errors import InputError, must_be

MOST_CATEGORIES = 200
Levels = tuple[str, ...]
Counts = Mapping[int, int]
ReleasedSet = tuple[int | None, int, str]  # n (None where withheld), S1, and S2 as it was written
# A category goes by its name, or by its levels in the columns that make it up.
Tables = Mapping[str, Counts] | Mapping[Levels, Counts]
Sets = Mapping[str, CountStatistics | ReleasedSet] | Mapping[Levels, CountStatistics | ReleasedSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """The categories by name and what is out of them; `tables` are the holder's.

    `releases` are the sets that go out, categories of zeros only among them; `sets` are those that
    tables are rebuilt from. `beside` says in words what else is out.
    """

    levels: Mapping[str, Levels]
    releases: Mapping[str, Release]
    sets: Mapping[str, CountStatistics]
    margins: Mapping[str, Margin]
    beside: tuple[str, ...]
    tables: Mapping[str, Counts] | None = None


def categories_of_tables(tables: Tables, options: CategoryOptions) -> Categories:
    """What the holder of the tables would let out.

    Checked: categories and columns that are named are there; what an intruder knows is true.
    """
    names = category_names([_levels(one) for one in tables])
    own = {names[_levels(one)]: table for one, table in tables.items()}
    if isinstance(options.knows, str):
        for name, table in own.items():
            check_words(options.knows, table, category=name)
    _check_withheld(options.withhold, list(own))
    sets = {n: t for n, t in own.items() if n not in options.withhold}
    whole = _all_together(options, own)
    return Categories(
        levels={name: levels for levels, name in names.items()},
        releases={name: _release_of(table) for name, table in sets.items()},
        sets={},
        margins=_margins(options, names, own) | whole,
        beside=(*_beside(options), *(["the set of all categories together"] if whole else [])),
        tables=own,
    )


def categories_of_sets(sets: Sets, options: CategoryOptions) -> Categories:
    """What is out, as an intruder sees it.

    Checked: sets are exact, and a table of all together is that of all sets.
    """
    names = category_names([_levels(one) for one in sets])
    releases = {names[_levels(one)]: _released(names[_levels(one)], s) for one, s in sets.items()}
    exact = {name: _exact(name, one) for name, one in releases.items() if one.total}
    margins = dict(options.margins) if isinstance(options.margins, Mapping) else {}
    beside: tuple[str, ...] = ()
    if options.total_table is not None:
        margins["all"] = _all_sets(options.total_table, releases, exact)
        beside = ("the table of all categories together",)
    return Categories(
        levels={name: levels for levels, name in names.items()},
        releases=releases,
        sets=exact,
        margins=margins,
        beside=beside,
    )


def category_names(combinations: Sequence[Levels]) -> dict[Levels, str]:
    """A name for each combination of levels, no two of them alike."""
    if len(combinations) > MOST_CATEGORIES:
        rule = f"columns of at most {MOST_CATEGORIES} categories"
        got = f"{len(combinations):,}"
        raise InputError(must_be("by", rule, got, remedy="leave out a column"))
    plain = {levels: ", ".join(levels) for levels in combinations}
    if len(set(plain.values())) == len(plain):
        return plain
    return {levels: ", ".join(map(repr, levels)) for levels in combinations}


def _levels(category: str | Levels) -> Levels:
    return (category,) if isinstance(category, str) else tuple(category)


def _release_of(table: Counts) -> Release:
    """The set of a table; CountStatistics are of some observation above zero."""
    if max(table) > 0:
        return release_of(CountStatistics.of_counts(table))
    return Release(n=sum(table.values()), total=0, log_factorial_total={})


def _check_withheld(withheld: Iterable[str], names: Sequence[str]) -> None:
    for name in withheld:
        if name not in names:
            listed = ", ".join(map(repr, names[:8]))
            raise InputError(must_be("withhold", f"one of {listed}", repr(name)))


def _all_together(options: CategoryOptions, tables: Mapping[str, Counts]) -> dict[str, Margin]:
    """The set of all categories together, which goes out where one of them is withheld.

    One who names further sets himself says with them what goes out.
    """
    if not options.withhold or (options.margins and isinstance(options.margins, Mapping)):
        return {}
    sums = CountStatistics.of_counts(added(tables.values()))
    return {"all together": Margin(categories=tuple(tables), statistics=sums)}


def _margins(
    options: CategoryOptions, names: Mapping[Levels, str], tables: Mapping[str, Counts]
) -> dict[str, Margin]:
    """The tables by some of the columns: one margin for each of their combinations.

    A margin of zeros only adds nothing to S1 = 0 and is left out.
    """
    if isinstance(options.margins, Mapping):
        return dict(options.margins)
    margins: dict[str, Margin] = {}
    for wanted in options.margins:
        _check_margin(wanted, options.by)
        places = [list(options.by).index(name) for name in wanted]
        for levels, held in _groups(places, names).items():
            table = added([tables[name] for name in held])
            said = ", ".join(f"{w}={x!r}" for w, x in zip(wanted, levels, strict=True))
            if max(table) > 0:
                margins[said] = Margin(categories=tuple(held), table=table)
    return margins


def _check_margin(wanted: Sequence[str], by: Sequence[str]) -> None:
    for name in wanted:
        if name not in by:
            rule = f"of category columns ({', '.join(map(repr, by))})"
            raise InputError(must_be("margins", rule, repr(name)))
    if set(wanted) == set(by):
        rule = "of fewer columns than the categories, whose table is all there is to hide"
        raise InputError(must_be("margins", rule, ", ".join(wanted)))


def _groups(places: Sequence[int], names: Mapping[Levels, str]) -> dict[Levels, list[str]]:
    """Categories by their levels of some of the columns."""
    groups: dict[Levels, list[str]] = {}
    for levels, name in names.items():
        groups.setdefault(tuple(levels[i] for i in places), []).append(name)
    return groups


def added(tables: Iterable[Counts]) -> dict[int, int]:
    """The table of all observations together."""
    found: Counter[int] = Counter()
    for table in tables:
        found.update(table)
    return dict(found)


def _beside(options: CategoryOptions) -> Iterable[str]:
    if isinstance(options.margins, Mapping):
        yield from options.margins
    else:
        yield from (f"the table by {', '.join(margin)}" for margin in options.margins)
    if options.totals:
        yield "the table of all categories together"


def _released(name: str, one: CountStatistics | ReleasedSet) -> Release:
    if isinstance(one, CountStatistics):
        return release_of(one)
    n, total, s2 = one
    if s2 == "1":  # as a product, which is what sets are written as
        return Release(n=n, total=total, log_factorial_total={})
    try:
        return Release(n=n, total=total, log_factorial_total=parse_s2(s2, total))
    except InputError as problem:
        raise InputError(f"{problem} (category {name})") from problem


def _exact(name: str, release: Release) -> CountStatistics:
    """The exact set of a category, which is what several are solved from."""
    given = release.log_factorial_total
    if release.n is None or isinstance(given, DecimalLog):
        lacks = "no n" if release.n is None else "a rounded S2"
        rule = "of sets with n and S2 as a product such as 2^20*3^7"
        remedy = "such a set can be looked at by itself (n, s1, s2)"
        raise InputError(must_be("sets", rule, f"{lacks} for {name}", remedy=remedy))
    try:
        return CountStatistics(release.n, release.total, given)
    except InputError as problem:
        raise InputError(f"{problem} (category {name})") from problem


def _all_sets(
    given: Counts | str, releases: Mapping[str, Release], exact: Mapping[str, CountStatistics]
) -> Margin:
    """The table of all together, less the categories of zeros only."""
    whole = _typed(given) if isinstance(given, str) else dict(given)
    zeros = sum(one.n or 0 for one in releases.values() if one.total == 0)
    if zeros > whole.get(0, 0):
        rule = f"one with at least {zeros} zeros, those of categories with S1 = 0"
        raise InputError(must_be("total_table", rule, whole.get(0, 0)))
    table = whole | {0: whole.get(0, 0) - zeros}
    _check_all_sets(table, exact)
    return Margin(categories=tuple(exact), table=table)


def _typed(text: str) -> dict[int, int]:
    try:
        return parse_counts(text)
    except InputError as problem:
        name, must, rest = str(problem).partition(" must be ")
        raise InputError(f"{'total_table' if name == 'counts' else name}{must}{rest}") from problem


def _check_all_sets(table: Counts, sets: Mapping[str, CountStatistics]) -> None:
    """Raises InputError that says which statistic of the table is not that of all sets."""
    own, wanted = CountStatistics.of_counts(table), together(sets)
    for what, one, other in (
        ("n", own.n, wanted.n),
        ("S1", own.total, wanted.total),
        ("e^S2", *(write_factorisation(s.factorisation) for s in (own, wanted))),
    ):
        if one != other:
            rule = f"a table with the {what} of all sets together, {other}"
            remedy = "categories with S1 = 0 left out"
            raise InputError(must_be("total_table", rule, f"one with {one}", remedy=remedy))
