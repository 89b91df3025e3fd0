"""A published table as JSON-stat 2.0: https://json-stat.org/full/.

A withheld figure is null and has a status, its mark or `c`; it is never a zero. What JSON-stat has
no word for (percentages within groups, means) stands in `extension`.
"""

import json
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from discreet.data.published.about import About
from discreet.data.published.headings import heading
from discreet.data.published.published_table import PublishedTable, Statistic

WITHHELD = "c"


def json_stat_bytes(table: PublishedTable, about: About) -> bytes:
    """The dataset, figures with the decimals that were printed."""
    sizes = [len(labels) for labels in table.labels]
    places = _places(table, sizes)
    status = {
        str(place): table.marks.get(i) or WITHHELD
        for i, place in enumerate(places)
        if not table.printed[i]
    }
    head: dict[str, Any] = {"version": "2.0", "class": "dataset"}
    head |= {"label": about.title or about.column or heading(table)}
    head |= {"source": about.source} if about.source else {}
    head |= {"updated": about.updated} if about.updated else {}
    head |= {
        "id": list(table.variables),
        "size": sizes,
        "dimension": {
            name: {"label": name, "category": _category(labels)}
            for name, labels in zip(table.variables, table.labels, strict=True)
        },
    }
    tail: dict[str, Any] = {"status": status} if status else {}
    tail |= _extension(table, WITHHELD in status.values())
    values = f'"value":{_values(table, places, prod(sizes))}'
    parts = [_dumped(head)[1:-1], values, *([_dumped(tail)[1:-1]] if tail else [])]
    return ("{" + ",".join(parts) + "}\n").encode("utf-8", "backslashreplace")


def _places(table: PublishedTable, sizes: Sequence[int]) -> list[int]:
    """The place of each figure in the cube, the last variable running fastest."""
    if not sizes:
        return [0] * len(table.printed)
    found: list[int] = np.ravel_multi_index(tuple(table.places.T), tuple(sizes)).tolist()
    return found


def _category(labels: Sequence[str]) -> dict[str, Any]:
    return {"index": list(labels), "label": {label: label for label in labels}}


def _values(table: PublishedTable, places: Sequence[int], size: int) -> str:
    """All values in their order; of a table that does not list all combinations those listed."""
    told = dict(zip(places, (printed or "null" for printed in table.printed), strict=True))
    if len(told) == size:
        return "[" + ",".join(told[place] for place in range(size)) + "]"
    return "{" + ",".join(f'"{place}":{told[place]}' for place in sorted(told)) + "}"


def _extension(table: PublishedTable, withheld: bool) -> dict[str, Any]:
    own: dict[str, Any] = {}
    if table.statistic is not Statistic.COUNT:
        own |= {"statistic": str(table.statistic), "of": list(table.of)}
    if withheld:
        own |= {"status": {"label": {WITHHELD: "withheld"}}}
    return {"extension": own} if own else {}


def _dumped(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
