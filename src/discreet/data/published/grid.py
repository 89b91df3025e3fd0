"""A sheet of cells, or the lines of a CSV file, as a reader sees it: titles above, merged cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.published.figures_in_cells import is_blank, is_mark, is_number

Area = tuple[int, int, int, int]  # of merged cells: first and last row, first and last column


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Cells in rows of the same width, blank columns left out.

    `rows` are the cells as they stand, `filled` with the value of merged cells in all that they
    cover; `covered` are those that a merged cell covers and does not begin in.
    """

    rows: list[list[Any]]
    filled: list[list[Any]]
    covered: frozenset[tuple[int, int]]
    where: Callable[[int, int], str]
    areas: tuple[Area, ...] = ()

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.rows[0]) if self.rows else 0

    def has_figures(self, row: int, first: int) -> bool:
        """Whether a row has a figure or the mark of one, from a column on."""
        return any(is_number(value) or is_mark(value) for value in self.rows[row][first:])


def grid_of(
    rows: Sequence[Sequence[Any]], areas: Sequence[Area], where: Callable[[int, int], str]
) -> Grid:
    """The grid of rows that may differ in length; `where` names a cell by its row and column."""
    width = max((len(row) for row in rows), default=0)
    padded = [[*row, *[None] * (width - len(row))] for row in rows]
    filled = [list(row) for row in padded]
    covered = set()
    inside = [area for area in areas if area[0] < len(rows) and area[2] < width]
    for first, last, left, right in inside:
        for i in range(first, min(last, len(rows) - 1) + 1):
            for j in range(left, min(right, width - 1) + 1):
                filled[i][j] = padded[first][left]
                if (i, j) != (first, left):
                    covered.add((i, j))
    used = [j for j in range(width) if any(not is_blank(row[j]) for row in padded)]
    place = {j: k for k, j in enumerate(used)}
    return Grid(
        rows=[[row[j] for j in used] for row in padded],
        filled=[[row[j] for j in used] for row in filled],
        covered=frozenset((i, place[j]) for i, j in covered if j in place),
        where=lambda row, column: where(row, used[column]),
        areas=tuple(inside),
    )
