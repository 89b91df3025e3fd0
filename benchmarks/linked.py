"""A hierarchy of areas published as eight linked tables: what follows from them, and what it takes.

Every table withholds counts of 1 and 2. Each size is attacked, and audited with the data behind it,
in a process of its own.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.measuring import measured
from discreet.data.hierarchy import Hierarchy
from discreet.data.table import Table
from discreet.flows.attack import attack
from discreet.flows.audit_published import audit_published
from discreet.masks.layout_notation import layout_of, part_labels, parted
from discreet.tables.linked.attack import Attack
from discreet.tables.linked.audit import PublishedAudit
from discreet.tables.linked.layouts import source_of_layout
from discreet.tables.linked.rules import rule_of
from discreet.tables.linked.sources import Source

# Regions, provinces of each, districts of each, areas of each; with the country five levels.
SIZES = ((1, 1, 2, 5), (2, 2, 2, 5), (2, 2, 5, 10), (2, 5, 5, 10), (4, 5, 10, 10))
AGES, SEXES = 18, ("F", "M")
LEVELS = ("area", "district", "province", "region", "country")
MEAN = 6.0  # persons of an area, age and sex
TABLES = (  # areas with little detail, larger ones with more
    "area:tree(all)",
    "area,sex",
    "area,age:bands(6)",
    "area,age:bands(9) | sex=F",
    "area:tree(district,province),age:bands(3)+total",
    "area:tree(province),age,sex+total",
    "area:tree(region),age+total,sex",
    "area:tree(country),age:bands(9)+total,sex+total",
)
COLUMNS = (
    ("cells", 8), ("figures", 9), ("blocks", 8), ("follow", 8), ("open", 6), ("CPU s", 8),
    ("MB", 7),
)  # fmt: skip
WITHHELD = " | withheld(1..2)"
SECONDS = 120.0  # of work, twice what the commands allow
LIMIT = 900.0


def run(scale: float) -> None:
    """Prints a row for each size up to that share of the largest."""
    print(
        "  8 tables of areas × 18 ages × 2 sexes, five levels of areas; counts of 1 and 2 withheld"
    )
    columns = "".join(f"{name:>{width}}" for name, width in COLUMNS)
    print(f"  {'':<8}{columns}")
    most = scale * np.prod(SIZES[-1])
    for sizes in SIZES:
        if np.prod(sizes) <= most:
            row("attack", sizes)
            row("audit", sizes)


def row(kind: str, sizes: Sequence[int]) -> None:
    """One run in a process of its own; CPU seconds and memory are of the whole process."""
    command = (sys.executable, "-m", "benchmarks.linked", kind, *map(str, sizes))
    cost = measured(command, answer=lambda printed: printed.splitlines()[-1], limit=LIMIT)
    found = json.loads(cost.answer)
    print(
        f"  {kind:<8}{found['cells']:>8,}{found['figures']:>9,}{found['blocks']:>8,}"
        f"{found['follow']:>8,}{found['open']:>6,}{cost.cpu:>8.1f}{cost.peak_mib:>7,.0f}",
        flush=True,
    )


def made(sizes: Sequence[int]) -> tuple[Table, Hierarchy]:
    """The counts of all areas, and the tree of areas."""
    places = list(product(*map(range, sizes)))
    rows = [[_node(place[: len(place) - height]) for height in range(5)] for place in places]
    rng = np.random.default_rng(1)
    rate = rng.gamma(1.5, MEAN / 1.5, size=(len(rows), AGES, len(SEXES)))
    levels = [[row[0] for row in rows], [str(age) for age in range(AGES)], list(SEXES)]
    names = ["area", "age", "sex"]
    return Table.of_dense(rng.poisson(rate), names=names, levels=levels), _tree(rows)


def _node(place: Sequence[int]) -> str:
    """A node of the tree by its level and numbers, the country without a number."""
    return f"{LEVELS[4 - len(place)]} {'.'.join(map(str, place))}".strip()


def _tree(rows: Sequence[Sequence[str]]) -> Hierarchy:
    return replace(Hierarchy.of_table(rows), columns=LEVELS)


def sources(table: Table, tree: Hierarchy) -> list[Source]:
    """The tables as they would be published."""
    found = []
    for text in TABLES:
        listed, (*sections, last) = parted(text + WITHHELD)
        layout = layout_of(" | ".join([listed, *sections]), table, {"area": tree})
        found.append(source_of_layout(layout, rule_of([last])[0], part_labels(layout)))
    return found


def job(kind: str, sizes: Sequence[int]) -> None:
    """One attack or audit; what there was to find, as JSON."""
    table, tree = made(sizes)
    trees: dict[str, Hierarchy | str | Path] = {"area": tree}
    found: Attack | PublishedAudit
    if kind == "attack":
        plain = [replace(one, holds={}) for one in sources(table, tree)]
        found = attack(plain, trees=trees, seconds=SECONDS)
    else:
        release = [text + WITHHELD for text in TABLES]
        found = audit_published(table, [], release, trees=trees, seconds=SECONDS)
    known = found.linked.known
    told = {
        "cells": known.universe.n_atoms,
        "figures": known.universe.n_figures,
        "blocks": len(known.structure.blocks),
        "follow": found.n_derived,
        "open": found.unproved,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    job(sys.argv[1], [int(number) for number in sys.argv[2:]])
