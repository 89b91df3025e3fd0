"""How a table that may go out is written: 'region:tree(province),age:breaks(18,65)+total | sex=F'.

    SPECIFICATION  VARIABLE[:RULE][+total],… [| SECTION]…      or  total  for the number of persons
    RULE           a recoding such as bands(10), breaks(18,65), top(85), merge(a,b,into=c), or
                   tree(LEVEL,…): levels of a tree by name or height; tree(all) has every node
    SECTION        totals             every variable has a total
                   NAME=LEVEL;…,…     the part of the data it is of: women aged 0-15 are
                                      sex=F, age=0-15; a semicolon joins levels of one variable

A level of a part may be a level of the data, a category of the table, a node of the tree or a range
of numbers. A variable of the table that has a part shows its categories cut to it: of ages 0-15 the
bands 0-9 and 10-15, with 0-15 as their total. What holds one of , ; | is put in double quotes. A
rule may not look at the counts, for then the shape of the table would tell of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, isinf, nextafter
from types import MappingProxyType

import numpy as np

from discreet.data.columns import near_match
from discreet.data.hierarchy import Hierarchy
from discreet.data.label_nesting import range_of
from discreet.data.layout import TOTAL, Classified, Layout
from discreet.data.missing import MISSING_LABELS
from discreet.data.table import Table
from discreet.engines.key_space import KeyLevels
from discreet.errors import InputError, must_be
from discreet.masks.records.notation import called, recoding_of
from discreet.masks.records.recoding import Levels, Merge, Recoding, applied, check_levels
from discreet.numerics.arrays import BoolArray

WITH_TOTAL = "+total"
TOTALS = "totals"
EVERY = "all"  # nodes of a tree
STRICT = ("below", "under", "over", "above", "<", ">")  # words before the end of an open range
BY_COUNTS = ("quantiles", "rare")  # rules that look at how many persons have a level
BY_SHARE = ("share", "count", "population")  # what rules are given that do
FORM = "written as VARIABLE[:RULE][+total],… [| VARIABLE=LEVEL]"

Trees = Mapping[str, Hierarchy]


def layout_of(text: str, table: Table, trees: Trees | None = None) -> Layout:
    """The shape of a table that a text describes.

    Checked: variables, rules, levels of trees and levels of parts are there; no rule looks at the
    counts or leaves a level that it does not understand; each variable comes once.
    """
    listed, sections = parted(text)
    known = trees or {}
    strange = [one for one in sections if not is_section_of_layout(one, table)]
    if strange:
        remedy = "a part is written as sex=F"
        rule = f"{TOTALS} or parts of the data behind '|'"
        raise InputError(must_be(f"table {text!r}", rule, repr(strange[0]), remedy=remedy))
    wants_totals = any(_plain(one) == TOTALS for one in sections)
    variables = tuple(_variables(listed, text, table, known, wants_totals))
    parts = [one for one in sections if _plain(one) != TOTALS]
    layout = Layout(
        table=table,
        variables=variables,
        part=MappingProxyType(_part(parts, variables, table, known)),
        title=_title(listed, sections),
    )
    written = dict(part_labels(layout))
    own = (
        _within_part(one, layout.part[one.axis], table, written[table.names[one.axis]])
        if one.axis in layout.part
        else one
        for one in layout.variables
    )
    return replace(layout, variables=tuple(own))


def _within_part(found: Classified, part: BoolArray, table: Table, written: str) -> Classified:
    """The categories as far as they lie in the part, each with a name that says so: what the file
    of a table calls 10-19 or Total must not be of ages up to 15 alone."""
    held: dict[str, BoolArray] = {}
    for category, holds in zip(found.categories, found.holds, strict=True):
        own = holds & part
        if not own.any():
            continue
        label = category
        if np.any(holds & ~part):
            levels = table.levels[found.axis]
            label = written if np.array_equal(own, part) else _cut(category, written, levels)
        if label not in held or not np.array_equal(held[label], own):
            held[label if label not in held else f"{category} of {written}"] = own
    return Classified(axis=found.axis, categories=tuple(held), holds=np.array(list(held.values())))


def _cut(category: str, written: str, levels: Sequence[str]) -> str:
    """What to call the part of a category: the range that both share, where all are whole
    numbers."""
    one, other = _range(category), _range(written)
    if one is not None and other is not None and all(level.isdecimal() for level in levels):
        low, high = max(one[0], other[0]), min(one[1], other[1])
        if not isinf(low) and not isinf(high):
            ends = ceil(low), floor(high)
            return f"{ends[0]}" if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"
    return f"{category} of {written}"


def parted(text: str) -> tuple[str, tuple[str, ...]]:
    """The variables of a specification as written, and each section behind a '|'."""
    first, *rest = _split(text, "|", text)
    return first, tuple(one for one in rest if one)


def part_labels(layout: Layout) -> list[tuple[str, str]]:
    """The part that a layout from a text is of, as written: each variable with its levels."""
    if not layout.part:
        return []
    _, sections = parted(layout.title)
    every = [one for section in sections for one in _split(section, ",", section)]
    pairs = [one.partition("=") for one in every if _plain(one) != TOTALS]
    return [(_unquoted(name), _unquoted(levels)) for name, _, levels in pairs]


def is_section_of_layout(section: str, table: Table) -> bool:
    """Whether a section says something of the shape of a table, not how its figures are made."""
    if _plain(section) == TOTALS:
        return True
    name, equals, _ = section.partition("=")
    return bool(equals) and (_unquoted(name) in table.names or "(" not in name)


def _plain(text: str) -> str:
    return text.strip().casefold()


def _title(listed: str, sections: Sequence[str]) -> str:
    variables = ",".join(_split(listed, ",", listed)) or "total"
    return " | ".join([variables, *sections])


def _split(text: str, marks: str, whole: str) -> list[str]:
    """A text at marks that stand neither in brackets nor in quotes."""
    found, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter == "(") - (letter == ")")
        if letter in marks and depth == 0 and not quoted:
            found.append("")
        else:
            found[-1] += letter
    if depth or quoted:
        got = "an open quote" if quoted else "brackets that do not match"
        raise InputError(must_be(f"table {whole!r}", FORM, got))
    return [one.strip() for one in found]


def _unquoted(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if is_quoted else text


def _variables(
    listed: str, text: str, table: Table, trees: Trees, wants_totals: bool
) -> Iterator[Classified]:
    if _plain(listed) == TOTAL.casefold() and listed not in table.names:
        return
    written = [_name_and_rule(one, table) for one in _split(listed, ",", text)]
    if not all(name for name, _, _ in written):
        raise InputError(must_be(f"table {text!r}", FORM, "a variable without a name"))
    table.axes([name for name, _, _ in written])
    for name, rule, has_total in written:
        found = _classified(table, name, rule, trees)
        yield _with_total(table, found) if has_total or wants_totals else found


def _name_and_rule(text: str, table: Table) -> tuple[str, str, bool]:
    """The name of a variable, its rule and whether it has a total."""
    if _unquoted(text) in table.names:
        return _unquoted(text), "", False
    has_total = text.casefold().endswith(WITH_TOTAL)
    own = text[: -len(WITH_TOTAL)].strip() if has_total else text
    if _unquoted(own) in table.names:
        return _unquoted(own), "", has_total
    begun = [name for name in table.names if own.startswith(f"{name}:")]
    name = max(begun, key=len, default=None)
    if name is None:
        first, *rest = _split(own, ":", own)
        return _unquoted(first), ":".join(rest), has_total
    return name, own[len(name) + 1 :].strip(), has_total


def _with_total(table: Table, found: Classified) -> Classified:
    """With a total, unless a category, as the root of a tree, holds all levels already.

    Checked: no category has the name of the total.
    """
    if found.holds.all(axis=1).any():
        return found
    if TOTAL in found.categories:
        name = f"categories of {table.names[found.axis]!r}"
        remedy = "rename that level in the data, or leave the total out"
        rule = f"called other than {TOTAL!r} where they have a total"
        raise InputError(must_be(name, rule, repr(TOTAL), remedy=remedy))
    return found.with_total()


def _classified(table: Table, name: str, rule: str, trees: Trees) -> Classified:
    axis = table.names.index(name)
    if not rule:
        return Classified.by_level(table, axis)
    kind, listed, named = called(rule, f"{name}:{rule}")
    if kind == "tree":
        return _by_tree(table, axis, _tree_of(name, trees), [*listed, *named.values()])
    if kind in BY_COUNTS or any(one in named for one in BY_SHARE):
        remedy = "give the levels themselves, with breaks or merge"
        rule_text = "one that does not look at the counts"
        raise InputError(must_be(f"rule of {name!r}", rule_text, repr(rule), remedy=remedy))
    return _by_rule(table, axis, recoding_of(f"{name}={rule}", trees))


def _by_rule(table: Table, axis: int, how: Recoding) -> Classified:
    """The groups of a recoding; what is missing stays by itself."""
    own = table.levels[axis]
    key = KeyLevels(name=table.names[axis], values=own, labels=own, n_missing=0)
    if isinstance(how, Merge):
        check_levels(how, [key])
    levels = Levels(key=key, records=table.margin((axis,)))
    fitted = how.fitted(levels)
    strange = [one for one in own if one not in MISSING_LABELS and not _understands(fitted, one)]
    if strange:
        remedy = "name it in the rule with stay=…, or take another rule"
        rule = f"one that holds for every level of {key.name!r}"
        raise InputError(must_be(f"rule {how.name}", rule, f"{strange[0]!r}", remedy=remedy))
    found = applied(levels, fitted)
    groups = found.to[None, :] == np.arange(len(found.levels.values))[:, None]
    return Classified(axis=axis, categories=found.levels.labels, holds=groups)


def _understands(how: Recoding, level: str) -> bool:
    try:
        how.group(level)
    except ValueError:
        return False
    return True


def _tree_of(name: str, trees: Trees) -> Hierarchy:
    if name not in trees:
        remedy = f"give the tree of {name!r}"
        raise InputError(
            must_be(f"{name!r}", "a variable with a tree", "one without", remedy=remedy)
        )
    return trees[name]


def _by_tree(table: Table, axis: int, tree: Hierarchy, asked: Sequence[str]) -> Classified:
    """The nodes of a tree at some of its levels, the leaves first."""
    name, own = table.names[axis], table.levels[axis]
    groups = tree.groups_of(own)
    heights = _heights(name, tree, asked)
    nodes: dict[tuple[str, bytes], BoolArray] = {}
    for height in heights:
        codes = groups[height] if height < tree.height else np.zeros(len(own), dtype=np.int64)
        for code in dict.fromkeys(codes.tolist()):
            holds = codes == code
            nodes.setdefault((_node(tree, height, code), holds.tobytes()), holds)
    return Classified(
        axis=axis,
        categories=tuple(_told_apart([label for label, _ in nodes])),
        holds=np.array(list(nodes.values())),
    )


def _node(tree: Hierarchy, height: int, code: int) -> str:
    return tree.names[height][code] if tree.names else f"group {code + 1} of level {height}"


def _told_apart(labels: Sequence[str]) -> Iterator[str]:
    """Names of nodes, where a city and its province share one with a number behind the later."""
    seen: dict[str, int] = {}
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        yield label if seen[label] == 1 else f"{label} ({seen[label]})"


def _heights(name: str, tree: Hierarchy, asked: Sequence[str]) -> list[int]:
    """The levels of a tree by their names or heights, the leaves first."""
    if not asked:
        remedy = f"give a height from 0 to {tree.height}, a name, or {EVERY}"
        raise InputError(must_be(f"tree of {name!r}", "given with a level", "none", remedy=remedy))
    found = set()
    for one in asked:
        every = range(tree.height + 1)
        found |= set(every) if _plain(one) == EVERY else {_height(name, tree, one)}
    return sorted(found)


def _height(name: str, tree: Hierarchy, asked: str) -> int:
    named = [column.casefold() for column in tree.columns]
    if _plain(asked) in named:
        return named.index(_plain(asked))
    if asked.strip().isdigit() and int(asked) <= tree.height:
        return int(asked)
    near = near_match(asked, tree.columns)
    known = f", or one of {', '.join(tree.columns)}" if tree.columns else ""
    raise InputError(
        must_be(
            f"level of the tree of {name!r}",
            f"{EVERY}, a height from 0 to {tree.height}{known}",
            repr(asked),
            remedy=f"did you mean {near!r}?" if near else None,
        )
    )


def _part(
    sections: Sequence[str], variables: Sequence[Classified], table: Table, trees: Trees
) -> dict[int, BoolArray]:
    """The levels that count of each variable that a section names."""
    found: dict[int, BoolArray] = {}
    for section in sections:
        for one in _split(section, ",", section):
            name, equals, levels = (part.strip() for part in one.partition("="))
            if not equals:
                remedy = "join levels of one variable with a semicolon"
                raise InputError(must_be("part", "VARIABLE=LEVEL", repr(one), remedy=remedy))
            (axis,) = table.axes([_unquoted(name)])
            if axis in found:
                remedy = "join its levels with a semicolon"
                got = f"{table.names[axis]!r} twice"
                raise InputError(must_be("parts", "of different variables", got, remedy=remedy))
            named = [_unquoted(level) for level in _split(levels, ";", section)]
            held = [_levels_named(level, axis, variables, table, trees) for level in named]
            found[axis] = np.logical_or.reduce(held)
    return found


def _levels_named(
    label: str, axis: int, variables: Sequence[Classified], table: Table, trees: Trees
) -> BoolArray:
    """The levels of the data that a part names: a level, a category, a node, a range."""
    levels, name = table.levels[axis], table.names[axis]
    if label in levels:
        return np.array([level == label for level in levels])
    own = [one for one in variables if one.axis == axis]
    if name in trees:
        own.append(_by_tree(table, axis, trees[name], [EVERY]))
    for one in own:
        if label in one.categories:
            return np.asarray(one.holds[one.categories.index(label)])
    found = _within(label, levels, name)
    if found is None:
        known = [*levels, *(category for one in own for category in one.categories)]
        near = near_match(label, known)
        remedy = f"did you mean {near!r}?" if near else None
        rule = f"a level of {name!r} or a group of them"
        raise InputError(must_be("part", rule, repr(label), remedy=remedy))
    return found


def _within(label: str, levels: Sequence[str], name: str) -> BoolArray | None:
    """The levels that lie in a range of numbers; None where it is none, or none lies in it.

    Checked: the range does not cut through a band.
    """
    wanted = _range(label)
    if wanted is None:
        return None
    found = np.zeros(len(levels), dtype=np.bool_)
    for place, level in enumerate(levels):
        own = _range(level)
        if own is None or not _meet(wanted, own):
            continue
        if not (wanted[0] <= own[0] and own[1] <= wanted[1]):
            rule = f"a range that cuts through no level of {name!r}"
            raise InputError(must_be("part", rule, f"{label!r}, which cuts {level!r}"))
        found[place] = True
    return found if found.any() else None


def _range(label: str) -> tuple[float, float] | None:
    """The numbers of a level; 'below 18' does not hold 18."""
    found, text = range_of(label), _plain(label)
    if found is None or not text.startswith(STRICT) or text.startswith(("<=", ">=")):
        return found
    low, high = found
    return (low, nextafter(high, low)) if isinf(low) else (nextafter(low, high), high)


def _meet(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Whether two ranges share numbers; bands that touch, as 0-5 and 5-10 do, share none."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    is_number = first[0] == first[1] or second[0] == second[1]
    return low < high or (low == high and is_number)
