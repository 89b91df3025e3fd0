"""What the names of columns say: a variable, a column of figures, or a flag beside them."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.data.columns import find_columns
from discreet.data.published.gathering import Kind
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.python_tables import COUNT_NAMES
from discreet.errors import FileError, must_be

# Names of columns of counts, the surest first: `size` may well be a variable, `count` hardly.
SURE = ("count", "counts", "obs_value")
USUAL = ("n", "freq", "frequency", "value", "values", "number", "numbers")
RARELY = tuple(sorted(COUNT_NAMES - {*SURE, *USUAL}))
COUNTS = (*((name,) for name in SURE), USUAL, RARELY)
PERCENTS = ("percent", "percentage", "percentages", "pct", "%", "per cent", "share", "shares")
FLAGS = ("obs_flag", "obs_status", "conf_status", "flag", "flags", "conf_flag", "value_status")
OF_EXCHANGE = ("dataflow", "structure", "structure_id", "structure_name", "action", "last update")
UNITS = ("unit", "unit_measure", "measure")  # of the figures, in files of an exchange

PERCENT = re.compile(r"(?:percentages?|percent|per cent|pct|%)(?: within (?P<of>.+))?", re.I)
MEAN = re.compile(r"(?:mean|average)(?: of)? (?P<of>.+)", re.I)
OTHER_STATISTICS = re.compile(
    r"\b(?:median|index|ratio|rate|per (?:1[,. ]?000|100|10[,. ]?000|100[,. ]?000)|change|growth|"
    r"density|quantile|decile|std|standard (?:error|deviation)|variance|coefficient|cv)\b",
    re.I,
)
LONG_PERCENT = re.compile(r"%|\b(?:percent(?:age)?s?|per cent|pct|pc|prozent|pourcentage)\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a table in long form by what they are, each by its place."""

    variables: tuple[int, ...]
    figures: tuple[tuple[int, Kind], ...]
    flags: tuple[int, ...] = ()
    units: int | None = None
    left_out: tuple[int, ...] = ()
    is_sure: bool = True  # the name of the column of figures can hardly be a label of a crosstab


def columns_of(file: str, names: Sequence[str], count: str | None) -> Columns | None:
    """What the columns are; None where none is known to hold figures, as in a crosstab.

    Checked: no name occurs twice, and only one column can be the one of counts.
    """
    place = _count_place(file, names, count)
    folded = [_plain(name) for name in names]
    exchange = place is not None and folded[place] == "obs_value"
    flags = tuple(i for i, name in enumerate(folded) if place is not None and name in FLAGS)
    left_out = tuple(i for i, name in enumerate(folded) if exchange and name in OF_EXCHANGE)
    units = [i for i, name in enumerate(folded) if exchange and name in UNITS]
    others = _other_figures(names, {*flags, *left_out, *units, place})
    if place is None and not others:
        return None
    taken = {place, *flags, *left_out, *units[:1], *(i for i, _ in others)}
    counted = () if place is None else ((place, Kind()),)
    return Columns(
        variables=tuple(i for i in range(len(names)) if i not in taken),
        figures=tuple(sorted((*counted, *others), key=lambda one: one[0])),
        flags=flags,
        units=units[0] if units else None,
        left_out=left_out,
        is_sure=count is not None
        or (place is not None and folded[place] not in RARELY)
        or any(kind.of for _, kind in others),
    )


def kind_of(name: str, variables: Sequence[str] = ()) -> Kind | None:
    """What a heading says the figures below it are; None where it names none.

    `percent within sex` are percentages of each sex; `mean age` is the mean of age.
    """
    plain = " ".join(name.split())
    percent = PERCENT.fullmatch(plain)
    if percent and (of := _names(percent["of"])) is not None and set(of) <= set(variables):
        return Kind(statistic=Statistic.PERCENT, of=of)
    mean = MEAN.fullmatch(plain)
    if mean:
        return Kind(statistic=Statistic.MEAN, of=(mean["of"],))
    if _plain(plain) in PERCENTS:
        return Kind(statistic=Statistic.PERCENT)
    return Kind() if any(_plain(plain) in names for names in COUNTS) else None


def kind_of_unit(text: str) -> Kind | None:
    """What figures are by the name of their contents or unit: counts if nothing else is said, and
    None for what is neither a count nor a percentage nor a mean, such as a median."""
    plain = " ".join(text.split())
    mean = MEAN.fullmatch(plain)
    if OTHER_STATISTICS.search(plain):
        return None
    if mean:
        return Kind(statistic=Statistic.MEAN, of=(mean["of"],))
    return Kind(statistic=Statistic.PERCENT) if LONG_PERCENT.search(plain) else Kind()


def heading(table: PublishedTable, taken: Sequence[str] = ()) -> str:
    """A name for the column of figures that says what they are, and that no variable has.

    `taken` are names to avoid beside those of the variables.
    """
    if table.statistic is Statistic.MEAN:
        return f"mean {table.of[0]}"
    if table.statistic is Statistic.PERCENT:
        return f"percent within {_joined(table.of)}" if table.of else "percent"
    found = "count"
    while found in (*table.variables, *taken):
        found += "_"
    return found


def _count_place(file: str, names: Sequence[str], count: str | None) -> int | None:
    """The column of counts: the one that was named, else the one of the surest name."""
    if count is not None:
        return find_columns("count", [count], names, file)[0]
    for known in COUNTS:
        found = [i for i, name in enumerate(names) if _plain(name) in known]
        longest = max((len(names[i]) - len(names[i].rstrip("_")) for i in found), default=0)
        if longest:  # count_ beside a variable of the name count
            found = [i for i in found if names[i].endswith("_" * longest)]
        if len(found) > 1:
            listed = " and ".join(repr(names[i]) for i in found[:3])
            remedy = "say which holds the counts (count)"
            raise FileError(
                must_be(file, "a table with one column of counts", listed, remedy=remedy)
            )
        if found:
            return found[0]
    return None


def _other_figures(names: Sequence[str], taken: set[int | None]) -> tuple[tuple[int, Kind], ...]:
    """Columns of percentages and means, which stand behind the variables; before a variable, or
    where there would be none, such a name is that of a variable."""
    kinds = {i: kind_of(name, names) for i, name in enumerate(names) if i not in taken}
    found = {i: k for i, k in kinds.items() if k is not None and k.statistic is not Statistic.COUNT}
    plain = [i for i in kinds if i not in found]
    last = max(plain, default=len(names))
    return tuple(
        (i, kind) for i, kind in found.items() if i > last or (taken <= {None} and not plain)
    )


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold().rstrip("_")


def _names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; None for what is no list of names."""
    if text is None:
        return ()
    try:
        row = next(
            csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True), []
        )
    except csv.Error:
        return None
    return tuple(row) if all(row) else None


def _joined(names: Sequence[str]) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="").writerow(names)
    return buffer.getvalue()
