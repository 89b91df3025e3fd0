"""Which margins of a table to publish: the most that is wanted, with every small cell kept safe.

The optimal tabular release of Dobra, Fienberg and Trottini (sections 3, 4 and 6): utility is the
weight of the wanted margins that can be read off what is out, and the risk of all that is out
together stays within the limit.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from discreet.choice.best_set.margin_requests import Asked, checked_requests, information_weights
from discreet.choice.best_set.result import BestMargins, DecomposableBest, Family
from discreet.choice.best_set.search import Search, Task
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.numerics.bit_sets import set_of
from discreet.numerics.linear_algebra import in_one_thread
from discreet.option_types import a_kind
from discreet.progress import Progress, listening, silent
from discreet.tables.refused_margin import RiskMeasure

__all__ = [
    "BestMargins",
    "DecomposableBest",
    "Family",
    "best_margins",
    "information_weights",
]

CAPPED = (RiskMeasure.BOUNDS, RiskMeasure.CELLS)


@in_one_thread
def best_margins(
    table: Table,
    *,
    min_width: int = 3,
    small: int = 2,
    measure: RiskMeasure | str = RiskMeasure.BOUNDS,
    max_share: float = 0.0,
    confidence: float = 0.5,
    least_printed: int = 1,
    requests: Asked | None = None,
    already: Iterable[Sequence[str]] = (),
    seconds: float | None = 60.0,
    seed: int = 1,
    progress: Progress = silent,
) -> BestMargins:
    """The set of margins with the most requested weight whose risk stays within the limit.

    `measure="bounds"`: every cell with a count of 1 to `small` keeps bounds (given all margins
    that are out) whose upper end is at least `min_width` above the lower one. Sought among all
    sets of margins, decomposable ones first.
    `measure="cells"`: at most a share `max_share` of the small cells is identified: its true count
    is the most probable one, with a probability above `confidence`, under the model that the
    release generates. Sought among decomposable sets that cover every variable, where that
    probability is exact; it can fall when more is released, so the bound is exact for up to 6
    variables (within the time) and else the weight of all requests.

    `least_printed`: no margin prints a count from 1 to below it.
    `requests`: names of variables to weights, or a list of margins of weight 1; for None every
    margin of 1 up to m − 1 of m ≤ 6 variables, up to 3 of m ≤ 12, else up to 2, of weight 1 each.
    A request is met by any released margin that holds its variables. `already`: margins that are
    out and stay. `seconds` (None: no limit) ends the search with what was found and proved by
    then, as an interruption does; whatever is not proved safe is not chosen.

    Checked: variables exist, weights are above 0, limits make sense. Trusted: the table's total is
    below 2**53.
    """
    _check_table(table)
    task = Task(
        table=table,
        measure=_measure(measure),
        min_width=_at_least("min_width", min_width, 0),
        max_share=_share("max_share", max_share, inclusive=True),
        confidence=_share("confidence", confidence, inclusive=False),
        small=_at_least("small", small, 1),
        least_printed=_at_least("least_printed", least_printed, 1),
        requests=checked_requests(table, requests),
        already=tuple(set_of(table.axes(names)) for names in already),
        seconds=_seconds(seconds),
        seed=seed,
    )
    with listening(progress, keeps_parts=True) as told:
        return Search(task, told).result()


def _check_table(given: Any) -> None:
    if not isinstance(given, Table):
        remedy = "read_table makes one of a file or a frame"
        raise InputError(must_be("table", "a Table", a_kind(given), remedy=remedy))


def _measure(measure: RiskMeasure | str) -> RiskMeasure:
    if measure not in CAPPED:
        rule = " or ".join(repr(str(one)) for one in CAPPED)
        raise InputError(must_be("measure", rule, repr(measure)))
    return RiskMeasure(measure)


def _at_least(name: str, value: int, least: int) -> int:
    if value < least or int(value) != value:
        raise InputError(must_be(name, f"a whole number of at least {least}", value))
    return int(value)


def _share(name: str, value: float, *, inclusive: bool) -> float:
    if not (0 <= value < 1 or (inclusive and value == 1)):
        rule = "from 0 to 1" if inclusive else "from 0 to below 1"
        raise InputError(must_be(name, rule, value))
    return float(value)


def _seconds(seconds: float | None) -> float | None:
    if seconds is not None and not seconds > 0:
        raise InputError(must_be("seconds", "above 0", seconds))
    return seconds
