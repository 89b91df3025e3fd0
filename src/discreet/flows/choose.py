"""What to publish of a table: the most useful release within a limit of risk."""

from collections.abc import Sequence
from typing import Any

from discreet.choice.options import ChooseOptions
from discreet.choice.recommendation import recommended
from discreet.choice.risk_utility import RiskUtility
from discreet.clock import guarded
from discreet.data.hierarchy import Hierarchy
from discreet.data.tree_file import read_hierarchy
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable, with_the_clock_noted
from discreet.flows.table_input import Reading, margins_of, reading_apart, table_from
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent


@in_one_thread
@stoppable
@documented_by(Reading, ChooseOptions)
def choose(
    table: Any,
    masks: str | Sequence[str] | None = None,
    options: ChooseOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> RiskUtility:
    """Risk and worth of every release that could be made of the table, and the one to choose.

    `table` is a Table, a file (records, or cells with a column of counts), a frame, a crosstab, a
    Series, a dict or an array of counts.

    Masks are looked at by name, or all that make sense. `margins` without sets stands for every set
    of margins of up to 4 variables; beyond, the best one is sought, and with it others that were
    met. A table of more than 4,096 cells is served with margins alone.

    The options are given as keywords, or as ChooseOptions, whose values keywords replace.
    """
    if masks is not None:
        listed = isinstance(masks, list | tuple) and all(isinstance(one, str) for one in masks)
        keywords = {"masks": ",".join(masks) if listed else masks, **keywords}
    if "out" in keywords and not keywords.get("tables"):
        keywords = {**keywords, "out": margins_of("out", keywords["out"])}
    reading, rest = reading_apart(keywords)
    asked = _with_trees(options_of(ChooseOptions, options, rest), reading)
    read = table_from(table, reading, progress)
    with guarded(asked.seconds):
        return with_the_clock_noted(recommended(read, asked, progress))


def _with_trees(options: ChooseOptions, reading: Reading) -> ChooseOptions:
    """With the trees of variables read from their files."""
    trees = {
        name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree, reading.csv)
        for name, tree in options.trees.items()
    }
    return options.replaced(trees=trees) if trees else options


recommend = choose
