"""What follows from published tables for somebody who holds nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.clock import Clock, guarded
from discreet.fiber.reconstruction.areas import rebuild_areas
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.stopping import stoppable, with_the_clock_noted
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent
from discreet.tables.linked.attack import Attack, attacked
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.rebuilding import areas_by
from discreet.tables.linked.sources import source_of, source_of_knowledge, together


@in_one_thread
@stoppable
@documented_by(AttackOptions)
def attack(
    published: Any,
    options: AttackOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> Attack:
    """What follows from published tables taken together, without the data behind them.

    `published` is a file or several: CSV in long form, Excel, JSON-stat 2 or PX, or PublishedTable
    objects. What is to be said of one stands behind a bar: 't2.csv | sex=F' is of women only,
    't3.csv | rounded(5)' was rounded to 5, 't4.csv | withheld(1..4)' hides counts from 1 to 4.

    Figures that no table shows, smallest first, each with a derivation that can be checked by hand;
    bounds of the finest cells of up to 4,096; how many tables fit; and the verdict of the policies,
    or without one whether a small count follows.

    The options are given as keywords, or as AttackOptions, whose values keywords replace.
    """
    asked = options_of(AttackOptions, options, keywords)
    several = isinstance(published, Sequence) and not isinstance(published, str)
    given = published if several else [published]
    with guarded(asked.seconds):
        clock = Clock(asked.seconds)
        found = [source for one in given for source in source_of(one)]
        found += [source_of_knowledge(text) for text in asked.knows]
        sources = together(found, labels=asked.labels, absent=asked.absent)
        found_out = with_the_clock_noted(attacked(sources, asked, clock, progress))
    if asked.areas is None:
        return found_out
    areas = areas_by(found_out.linked.known, asked.areas)
    own = rebuild_areas(areas, seconds=asked.area_seconds, progress=progress)
    return replace(found_out, areas=tuple(own))
