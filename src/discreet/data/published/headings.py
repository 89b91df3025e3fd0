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
USUAL = (
    "n", "freq", "frequency", "value", "values", "number", "numbers", "anzahl", "wert", "nombre",
    "effectif", "effectifs", "valeur", "número", "numero", "aantal", "antal", "liczba",
)  # fmt: skip
RARELY = tuple(sorted(COUNT_NAMES - {*SURE, *USUAL}))
PEOPLE = tuple(name for name in RARELY if name != "size")
COUNTS = (*((name,) for name in SURE), USUAL, PEOPLE, ("size",))
PERCENTS = ("percent", "percentage", "percentages", "pct", "%", "per cent", "share", "shares")
FLAGS = ("obs_flag", "obs_status", "conf_status", "flag", "flags", "conf_flag", "value_status")
OF_EXCHANGE = ("dataflow", "structure", "structure_id", "structure_name", "action", "last update")
UNITS = ("unit", "unit_measure", "measure")  # of the figures, in files of an exchange

QUOTES = "\"'"  # around names in a heading; PX has no double ones within a text
PERCENT = re.compile(r"(?:percentages?|percent|per cent|pct|%)(?: within (?P<of>.+))?", re.I)
MEAN = re.compile(r"(?:mean|average)(?: of)? (?P<of>.+)", re.I)
OTHER_STATISTICS = re.compile(
    r"\b(?:median|index|ratio|rate|per (?:1[,. ]?000|100|10[,. ]?000|100[,. ]?000)|change|growth|"
    r"density|quantile|decile|std|standard (?:error|deviation)|variance|coefficient|cv)\b",
    re.I,
)
MULTIPLES = re.compile(
    r"\b(?:1[ ,.]?000|thousands?|ths(?:_per)?|tsd|tausend|milliers|miles|tusental|millions?|mio)\b",
    re.I,
)  # units in which figures are no counts of persons
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

    Columns of percentages and means stand behind the variables, and so does that of counts beside
    them; before a variable, or where there would be none, such a name is that of a variable.
    Checked: only one column can be the one of counts.
    """
    place = _count_place(file, names, count)
    beside = _beside(names, place)
    plain = [i for i in range(len(names)) if i != place and i not in beside.taken]
    others = _other_figures(names, plain)
    left = [i for i in plain if i not in others]
    last = max(left) if left else max((*others, -1 if place is None else place), default=0) - 1
    others = {i: kind for i, kind in others.items() if i > last}
    if others and count is None and place is not None and place <= last:
        place, beside = None, Beside()
    if place is None and not others:
        return None
    figures = {**others} if place is None else {place: Kind(), **others}
    taken = {*figures, *beside.taken}
    return Columns(
        variables=tuple(i for i in range(len(names)) if i not in taken),
        figures=tuple(sorted(figures.items(), key=lambda one: one[0])),
        flags=beside.flags,
        units=beside.units,
        left_out=beside.left_out,
        is_sure=count is not None
        or (place is not None and _plain(names[place]) not in RARELY)
        or any(kind.of for kind in others.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Columns that say something of the figures or of the file, each by its place."""

    flags: tuple[int, ...] = ()
    units: int | None = None
    left_out: tuple[int, ...] = ()

    @property
    def taken(self) -> set[int | None]:
        """All of them."""
        return {*self.flags, self.units, *self.left_out}


def _beside(names: Sequence[str], place: int | None) -> Beside:
    """Flags behind the counts, and a first column without a name, of the numbers of rows; in files
    of an exchange the unit and what is told of the file."""
    if place is None:
        return Beside()
    folded = [_plain(name) for name in names]
    exchange = folded[place] == "obs_value"
    units = [i for i, name in enumerate(folded) if exchange and name in UNITS]
    return Beside(
        flags=tuple(i for i, name in enumerate(folded) if i > place and name in FLAGS),
        units=units[0] if units else None,
        left_out=tuple(
            i
            for i, name in enumerate(folded)
            if (exchange and name in OF_EXCHANGE) or (i == 0 and not name and place > 0)
        ),
    )


def order_of(table: PublishedTable) -> list[int]:
    """The variables of a table in the order of its columns: first those whose names could be taken
    for those of figures, which stand last."""
    counts = table.statistic is Statistic.COUNT

    def could_be(name: str) -> bool:
        kind = kind_of(name, table.variables)
        return kind is not None and not (counts and kind.statistic is Statistic.COUNT)

    return sorted(range(len(table.variables)), key=lambda i: not could_be(table.variables[i]))


def kind_of(name: str, variables: Sequence[str] = ()) -> Kind | None:
    """What a heading says the figures below it are; None where it names none.

    `percent within sex` are percentages of each sex; `mean age` is the mean of age.
    """
    plain = " ".join(name.split())
    percent = PERCENT.fullmatch(plain)
    for quote in QUOTES:
        of = _names(percent["of"], quote) if percent else None
        if of is not None and set(of) <= set(variables):
            return Kind(statistic=Statistic.PERCENT, of=of)
    mean = MEAN.fullmatch(plain)
    if mean:
        return Kind(statistic=Statistic.MEAN, of=(mean["of"],))
    if _plain(plain) in PERCENTS:
        return Kind(statistic=Statistic.PERCENT)
    return Kind() if any(_plain(plain) in names for names in COUNTS) else None


def kind_of_unit(text: str) -> Kind | None:
    """What figures are by the name of their contents or unit: counts if nothing else is said, and
    None for what is neither a count nor a percentage nor a mean, such as a median or thousands."""
    plain = " ".join(text.split())
    mean = MEAN.fullmatch(plain)
    if OTHER_STATISTICS.search(plain) or MULTIPLES.search(plain):
        return None
    if mean:
        return Kind(statistic=Statistic.MEAN, of=(mean["of"],))
    return Kind(statistic=Statistic.PERCENT) if LONG_PERCENT.search(plain) else Kind()


def heading(table: PublishedTable, taken: Sequence[str] = (), *, quote: str = QUOTES[0]) -> str:
    """A name for the column of figures that says what they are, and that no variable has.

    `taken` are names to avoid beside those of the variables, `quote` stands around those that hold
    a comma.
    """
    if table.statistic is Statistic.MEAN:
        return f"mean {table.of[0]}"
    if table.statistic is Statistic.PERCENT:
        return f"percent within {_joined(table.of, quote)}" if table.of else "percent"
    found = "count"
    names = {name.casefold() for name in (*table.variables, *taken)}
    while found in names:
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


def _other_figures(names: Sequence[str], among: Sequence[int]) -> dict[int, Kind]:
    """Columns whose names are those of percentages and means."""
    kinds = {i: kind_of(names[i], names) for i in among}
    return {i: k for i, k in kinds.items() if k is not None and k.statistic is not Statistic.COUNT}


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold().rstrip("_")


def _names(text: str | None, quote: str) -> tuple[str, ...] | None:
    """Names separated by commas; None for what is no list of names."""
    if text is None:
        return ()
    try:
        lines = io.StringIO(text, newline="")
        row = next(csv.reader(lines, skipinitialspace=True, strict=True, quotechar=quote), [])
    except csv.Error:
        return None
    return tuple(row) if all(row) else None


def _joined(names: Sequence[str], quote: str) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="", quotechar=quote).writerow(names)
    return buffer.getvalue()
