"""What released margins of a table reveal, all at once or one after the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.clock import Clock, guarded
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.flows.keywords import documented_by, options_of
from discreet.flows.policies import check_masks
from discreet.flows.stopping import stoppable, with_the_clock_noted
from discreet.flows.table_input import Reading, margins_of, reading_apart, table_from
from discreet.notebooks import Result
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


class AuditSequence(Result, tuple[Audit, ...]):
    """The audits of a sequence of releases, one a step: a tuple that shows itself as a whole."""

    __slots__ = ()


@in_one_thread
@stoppable
@documented_by(Reading, AuditOptions, renamed=RENAMED)
def audit(
    table: Any,
    release: Iterable[str] | Iterable[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Any,
) -> Audit:
    """What the released margins (names of variables) reveal of the table's small cells.

    `table` is a Table, a file (records, or cells with a column of counts), a frame, a crosstab, a
    Series, a dict or an array of counts. `release` is one margin as a plain list of names, ['sex',
    'age'], or several as a list of lists, [['sex', 'age'], ['region']].

    Bounds of every cell of a table of up to 4,096 cells, of up to 100,000 small cells beyond, of
    which the 1,000 most exposed are looked at; the number of consistent tables; what an intruder
    believes of the small cells under each model; the verdict where a greatest risk is given.

    The options are given as keywords, or as AuditOptions, whose values keywords replace.
    """
    reading, rest = reading_apart(keywords)
    asked = _options(options, rest)
    margins = margins_of("release", release)
    read = table_from(table, reading, progress, released=margins)
    with guarded(asked.seconds):
        return with_the_clock_noted(audited(read, margins, asked, progress))


@in_one_thread
@stoppable
@documented_by(Reading, AuditOptions, renamed=RENAMED)
def audit_sequence(
    table: Any,
    release: Iterable[str] | Iterable[Sequence[str]],
    options: AuditOptions | None = None,
    *,
    first: int = 1,
    progress: Progress = silent,
    **keywords: Any,
) -> AuditSequence:
    """The audit after the first release, after the first two, and so on: what each one added.

    `table` and `release` are those of `audit`.

    `first` is the number of releases of the first audit. Each step has an equal part of the time.
    Refused margins count from the last step on; a step that holds an earlier one whole is the same.
    All steps are about the table of all variables that the last one names, so that their figures
    compare.

    The options are given as keywords, or as AuditOptions, whose values keywords replace.
    """
    reading, rest = reading_apart(keywords)
    asked = _options(options, rest)
    margins = margins_of("release", release)
    if not margins:
        raise InputError(must_be("release", "at least one margin", "none"))
    if not 1 <= first <= len(margins):
        raise InputError(must_be("first", f"from 1 to the {len(margins)} releases", first))
    read = table_from(table, reading, progress, released=margins)
    with guarded(asked.seconds):
        return AuditSequence(_steps(read, margins, asked, first, progress))


def _steps(
    read: Table,
    margins: Sequence[Sequence[str]],
    asked: AuditOptions,
    first: int,
    progress: Progress,
) -> Iterator[Audit]:
    clock, named = Clock(asked.seconds), {name for names in margins for name in names}
    for step in range(first, len(margins) + 1):
        seconds = clock.share(1 / (len(margins) + 1 - step))
        own = replace(asked, seconds=seconds)
        if step < len(margins) and asked.refused:
            own = replace(own, refused=(), max_risk=None)
        one = audited(read, margins[:step], own, progress, involved=named)
        yield with_the_clock_noted(
            replace(one, options=replace(one.options, seconds=asked.seconds))
        )


def _options(given: AuditOptions | None, keywords: Mapping[str, Any]) -> AuditOptions:
    named = dict(keywords)
    if "refused" in named:
        named["refused"] = margins_of("refused", named["refused"])
    found = options_of(AuditOptions, given, named)
    check_masks(found.policy)
    return found
