"""What released margins of a table reveal, all at once or one after the other."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from discreet.clock import Clock, telling_of_compiling
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.flows.keywords import documented_by, options_of
from discreet.numerics.linear_algebra import in_one_thread
from discreet.progress import Progress, silent
from discreet.tables.audit import Audit, audited
from discreet.tables.audit_options import AuditOptions

RENAMED = {
    "posterior": "'models'",
    "weight_kind": "'model_weights'",
    "weights": "'model_weights'",
    "effort": "'draws'",
}


@in_one_thread
@documented_by(AuditOptions)
def audit(
    table: Table,
    release: Iterable[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> Audit:
    """What the released margins (names of variables) reveal of the table's small cells.

    Bounds of every cell of a table of up to 4,096 cells, of up to 100,000 small cells beyond, of
    which the 1,000 most exposed are looked at; the number of consistent tables; what an intruder
    believes of the small cells under each model; the verdict where a greatest risk is given.

    The options are given as keywords, or as AuditOptions, whose values keywords replace.
    """
    asked = options_of(AuditOptions, options, keywords, RENAMED)
    with telling_of_compiling(progress):
        return audited(table, release, asked, progress)


@in_one_thread
@documented_by(AuditOptions)
def audit_sequence(
    table: Table,
    release: Sequence[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    first: int = 1,
    progress: Progress = silent,
    **keywords: Any,
) -> tuple[Audit, ...]:
    """The audit after the first release, after the first two, and so on: what each one added.

    `first` is the number of releases of the first audit. Each step has an equal part of the time.
    Refused margins count from the last step on; a step that holds an earlier one whole is the same.
    All steps are about the table of all variables that the last one names, so that their figures
    compare.

    The options are given as keywords, or as AuditOptions, whose values keywords replace.
    """
    if not release:
        raise InputError(must_be("release", "at least one margin", "none"))
    asked = options_of(AuditOptions, options, keywords, RENAMED)
    clock, found = Clock(asked.seconds), []
    named = {name for names in release for name in names}
    for step in range(first, len(release) + 1):
        seconds = clock.share(1 / (len(release) + 1 - step))
        own = replace(asked, seconds=seconds)
        if step < len(release) and asked.refused:
            own = replace(own, refused=(), max_risk=None)
        with telling_of_compiling(progress):
            one = audited(table, release[:step], own, progress, involved=named)
        found.append(replace(one, options=replace(one.options, seconds=asked.seconds)))
    return tuple(found)
