"""A table that a file gives as a cube: all combinations of the categories of its dimensions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from discreet.data.published.figures_in_cells import Cell, shown
from discreet.data.published.gathering import Gathered, Kind
from discreet.data.published.headings import kind_of, kind_of_unit
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.errors import FileError, must_be


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A dimension: its name and code, and those of its categories.

    `is_metric` says that its categories are measures, `units` what each of them is measured in.
    """

    name: str
    code: str
    labels: tuple[str, ...]
    codes: tuple[str, ...]
    units: tuple[str, ...] = ()
    is_metric: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cube:
    """The figures of a file by their place, the last dimension running fastest; a place that is not
    there has no figure. `kind` is what the figures are, None where their measure or unit tells."""

    file: str
    dimensions: tuple[Dimension, ...]
    cells: Mapping[int, Cell]
    kind: Kind | None
    where: Callable[[int], str]
    unit: str = ""
    notes: tuple[str, ...] = ()


def cube_tables(cube: Cube) -> list[PublishedTable]:
    """The table of a cube, or one for each of its measures; measures that are neither counts nor
    percentages nor means are left out with a note."""
    metrics = [i for i, one in enumerate(cube.dimensions) if one.is_metric]
    if len(metrics) > 1:
        got = f"{len(metrics)}"
        raise FileError(must_be(cube.file, "a table with one dimension of measures", got))
    if not metrics or cube.kind is not None:
        kind = cube.kind or _kind(cube, cube.unit)
        if kind is None:
            rule = "a table of counts, percentages or means"
            raise FileError(must_be(cube.file, rule, f"one of {shown(cube.unit)}"))
        return [_table(cube, None, 0, kind, cube.file, cube.notes)]
    return _by_measure(cube, metrics[0])


def _by_measure(cube: Cube, metric: int) -> list[PublishedTable]:
    dimension = cube.dimensions[metric]
    kinds = [
        _kind(cube, unit, name)
        for name, unit in zip(dimension.labels, _units(dimension), strict=True)
    ]
    left = [
        f"left out: {shown(name)}, which is neither a count nor a percentage nor a mean"
        for name, kind in zip(dimension.labels, kinds, strict=True)
        if kind is None
    ]
    several = len(dimension.labels) > 1
    found = [
        _table(
            cube, metric, place, kind,
            f"{cube.file}, {dimension.labels[place]}" if several else cube.file,
            (*cube.notes, *left),
        )
        for place, kind in enumerate(kinds)
        if kind is not None and any(_at(cube, metric, place))
    ]  # fmt: skip
    if not found:
        rule = "a table of counts, percentages or means"
        raise FileError(must_be(cube.file, rule, f"one of {shown(dimension.labels[0])}"))
    return found


def _units(dimension: Dimension) -> Sequence[str]:
    return dimension.units or ("",) * len(dimension.labels)


def _kind(cube: Cube, unit: str, name: str = "") -> Kind | None:
    """What figures are by the name of their measure and their unit."""
    variables = [one.name for one in cube.dimensions]
    by_name = (kind_of(name, variables) or kind_of_unit(name)) if name else Kind()
    by_unit = (kind_of(unit, variables) or kind_of_unit(unit)) if unit else Kind()
    if by_name is None or by_unit is None:
        return None
    return by_name if by_name.statistic is not Statistic.COUNT else by_unit


def _at(cube: Cube, metric: int | None, wanted: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The places of the figures of a measure, and the category of each dimension there."""
    sizes = [len(one.labels) for one in cube.dimensions]
    strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    for place in cube.cells:
        own = tuple(place // stride % size for stride, size in zip(strides, sizes, strict=True))
        if metric is None or own[metric] == wanted:
            yield place, own


def _table(
    cube: Cube, metric: int | None, wanted: int, kind: Kind, name: str, notes: Sequence[str]
) -> PublishedTable:
    kept = [i for i in range(len(cube.dimensions)) if i != metric]
    names, more = _names([cube.dimensions[i] for i in kept])
    labels = []
    for i in kept:
        own, note = _labels(cube.dimensions[i])
        labels.append(own)
        more += note
    gathered = Gathered(cube.file, name, names, kind)
    for variable, own in enumerate(labels):
        gathered.offer(variable, own)
    for place, at in _at(cube, metric, wanted):
        cell, where = cube.cells[place], cube.where(place)
        _check_sign(cube, kind, cell, where)
        gathered.put([own[at[i]] for own, i in zip(labels, kept, strict=True)], cell, where)
    return gathered.table([*notes, *more])


def _check_sign(cube: Cube, kind: Kind, cell: Cell, where: str) -> None:
    if cell.printed.startswith("-") and kind.statistic is not Statistic.MEAN:
        name = f"figure in {cube.file}"
        raise FileError(must_be(name, "a figure from 0", shown(cell.printed), where=where))


def _names(dimensions: Sequence[Dimension]) -> tuple[list[str], list[str]]:
    """Names of variables; their codes where two have the same name."""
    names = [one.name for one in dimensions]
    if len(set(names)) == len(names):
        return names, []
    return [one.code for one in dimensions], ["two variables have one name: their codes are given"]


def _labels(dimension: Dimension) -> tuple[tuple[str, ...], list[str]]:
    """Labels of a variable; its codes where two have the same label."""
    if len(set(dimension.labels)) == len(dimension.labels):
        return dimension.labels, []
    note = f"two labels of {shown(dimension.name)} are the same: its codes are given"
    return dimension.codes, [note]
