"""What to publish of a table: the most useful release within a limit of risk."""

from typing import Any

from discreet.choice.options import ChooseOptions
from discreet.choice.recommendation import recommended
from discreet.choice.risk_utility import RiskUtility
from discreet.data.table import Table
from discreet.flows.keywords import documented_by, options_of
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent


@in_one_thread
@documented_by(ChooseOptions)
def choose(
    table: Table,
    masks: str | None = None,
    options: ChooseOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> RiskUtility:
    """Risk and worth of every release that could be made of the table, and the one to choose.

    Masks are looked at by name, or all that make sense. `margins` without sets stands for every set
    of margins of up to 4 variables; beyond, the best one is sought, and with it others that were
    met. A table of more than 4,096 cells is served with margins alone.

    The options are given as keywords, or as ChooseOptions, whose values keywords replace.
    """
    if masks is not None:
        keywords = {"masks": masks, **keywords}
    return recommended(table, options_of(ChooseOptions, options, keywords), progress)


recommend = choose
