"""How the values of a sensitive variable are spread over the cells, where the cells lie."""

from collections.abc import Sequence
from typing import Any


def sensitive_pairs(staged: Any, words: Sequence[str], place: int, n_labels: int) -> Any:
    """A frame with one row for each occupied pair of a cell and a value: code, value, records.
    Records without a value are not in it."""
    from pyspark.sql import functions as F  # noqa: N812

    known = (F.col(f"s{place}") < n_labels) & F.col("w0").isNotNull()
    own = staged.where(known).select(*words, F.col(f"s{place}").alias("value"))
    return own.groupBy(*words, "value").agg(F.count("*").alias("records"))
