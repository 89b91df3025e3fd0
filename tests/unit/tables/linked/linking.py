"""Small tables put together, for the tests of this folder."""

from dataclasses import replace

from tests.oracles.published_tables import published

from discreet.clock import Clock
from discreet.progress import silent
from discreet.tables.linked.attack import domains_of, linked
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.rules import Rule
from discreet.tables.linked.shares_and_means import with_shares_and_means
from discreet.tables.linked.sources import Source, together
from discreet.tables.linked.universe import universe_of

EXACT = Rule(stated=True)


def source(name, variables, rows, *, rule=EXACT, **more):
    """A table in long form with its rule; `more` are fields of the table."""
    return Source(table=replace(published(name, variables, rows), **more), rule=rule)


def universe(*sources, **options):
    """The tables over the cells that they tell apart."""
    found = together(sources)
    domains = domains_of(found, AttackOptions(**options))
    return with_shares_and_means(universe_of(domains, found.tables, found.rules))[0]


def put_together(*sources, **options):
    """The tables with tables that fit and bounds."""
    found = together(sources)
    domains = domains_of(found, AttackOptions(**options))
    return linked(found, domains, Clock(None), silent, small=2)


SQUARE = source(
    "square",
    ["sex", "age"],
    [
        ("F", "0-17", 1), ("F", "18+", 4), ("F", "Total", 5),
        ("M", "0-17", 2), ("M", "18+", 3), ("M", "Total", 5),
        ("Total", "0-17", 3), ("Total", "18+", 7), ("Total", "Total", 10),
    ],
)  # fmt: skip
# Women, and women of 16 and more: women below 16 follow.
TOLD = (
    source("t1", ["sex", "age"], [("F", "15-19", 23), ("M", "15-19", 30)]),
    source("t2", ["sex", "age"], [("F", "16-19", 20), ("M", "16-19", 29)]),
)
