"""A table as it was published: what stands on the page for each combination of labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from discreet.numerics.arrays import IntArray, read_only


class Statistic(StrEnum):
    """What the figures of a table are."""

    COUNT = "count"  # persons
    PERCENT = "percent"  # of the persons of a group
    MEAN = "mean"  # of a variable in numbers, over the persons of the cell


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One table as it was published, before anything is made of its labels.

    `labels` are those of each variable as they stand in the table, in the order in which they
    occur: levels, bands such as 15-19 or 85+, and words for a total. `places` (figures × variables)
    says which labels each figure is for, `printed` what stands there: `""` where the figure was
    withheld (however the file marks that; the mark is in `marks`), else the figure as text with its
    decimals, `.` for the decimal mark. A combination that the table does not list has no row.

    `part` are conditions under which the whole table stands (`{"sex": "F"}`: women only), beside
    what its columns say. `of` are the variables within whose combinations percentages add up to
    100 (none: of all), or the one variable that means are of. `where` says for each figure where it
    stands in the file, so that a message can name it; `notes` what was left out when it was read.
    """

    name: str
    variables: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    places: IntArray
    printed: tuple[str, ...]
    statistic: Statistic = Statistic.COUNT
    of: tuple[str, ...] = ()
    part: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    marks: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    where: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self.places)

    @property
    def n_figures(self) -> int:
        """Figures, withheld ones too."""
        return len(self.printed)

    def cell(self, figure: int) -> dict[str, str]:
        """What a figure is for: the label of each variable."""
        texts = (
            own[place] for own, place in zip(self.labels, self.places[figure].tolist(), strict=True)
        )
        return dict(zip(self.variables, texts, strict=True))
