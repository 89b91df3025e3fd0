"""Households: their risk from that of their members, and their pattern of members.

The risk of a household is 1 − ∏ (1 − r) over its members. Logarithms are summed as whole numbers of
2^−48, so that the result does not depend on the order of rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.data.summary import SizeIndices
from discreet.engines.contract import HouseholdTotals
from discreet.engines.spark.source import quoted
from discreet.engines.spark.work import Work
from discreet.engines.spark.writing import known

SHIFT = 48


def gathered(
    work: Work, staged: Any, cells: Any, words: Sequence[str], risks: Sequence[str]
) -> Any:
    """A frame of households: members, pattern of cells, and the risk in each column of `risks`."""
    from pyspark.sql import functions as F  # noqa: N812

    scored = cells.select(*words, *(known(F.col(quoted(r))).alias(r) for r in risks))
    members = staged.select("household", *words).join(scored.hint("merge"), list(words))
    found = members.groupBy("household").agg(
        F.count("*").alias("members"),
        F.sort_array(F.collect_list(F.struct(*words))).alias("pattern"),
        *(_risk(F.col(quoted(r))).alias(r) for r in risks),
    )
    return work.written("gathering households", found, "households")


def household_totals(work: Work, households: Any, risks: Mapping[str, str]) -> HouseholdTotals:
    """Households by the number that share their pattern, and the expected number found; `risks` has
    the columns and what they are called."""
    from pyspark.sql import functions as F  # noqa: N812

    sums = [_whole_sum(F.col(quoted(r))) for r in risks]
    n, *found = work.run("gathering households", households.agg(F.count("*"), *sums).collect)[0]
    expected = [0.0 if units is None else int(units) / 2**SHIFT for units in found]
    return HouseholdTotals(
        n_households=n,
        pattern_sizes=_pattern_sizes(work, households),
        several=_pattern_sizes(work, households.where("members > 1")),
        expected_found=dict(zip(risks.values(), expected, strict=True)),
    )


def _whole_sum(number: Any) -> Any:
    """The sum of numbers below 2^15 in size, in whole units of 2^−SHIFT."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.sum(F.floor(number * F.lit(2.0**SHIFT)).cast("decimal(20, 0)"))


def _risk(risk: Any) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    logs = F.when(risk < 1, F.log(1 - risk)).otherwise(0.0)
    spared = F.exp(_whole_sum(logs).cast("double") * F.lit(2.0**-SHIFT))
    return F.when(F.max(risk) >= 1, 1.0).otherwise(1 - spared)


def _pattern_sizes(work: Work, households: Any) -> SizeIndices:
    """Patterns by the number of households that have them."""
    from pyspark.sql import functions as F  # noqa: N812

    shared = households.groupBy("pattern").agg(F.count("*").alias("n"))
    sizes = shared.groupBy("n").agg(F.count("*"))
    rows = sorted(map(tuple, work.run("gathering households", sizes.collect)))
    found = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return SizeIndices(found[:, 0].copy(), found[:, 1].copy())
