"""What to publish of a table: masks by name, the map over them, and the choice."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from discreet.choice.best_set.best_margins import BestMargins, best_margins
from discreet.choice.best_set.margin_requests import checked_requests
from discreet.choice.candidates import (
    MOST_VARIABLES,
    Proposal,
    margin_proposal,
    margin_proposals,
)
from discreet.choice.exposure import MOST_CELLS
from discreet.choice.large_tables import check_large, large_choice
from discreet.choice.linked_tables import DEFAULT as LINKED_MASKS
from discreet.choice.linked_tables import LinkedSet, linked_proposals
from discreet.choice.mask_names import MaskSpec
from discreet.choice.options import ChooseOptions
from discreet.choice.proposals import (
    MARGINS,
    default_masks,
    mask_proposal,
    n_searching,
    parse_masks,
)
from discreet.choice.risk_utility import RiskUtility, check_requests, out_axes, risk_utility
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.margins import maximal
from discreet.masks.contract import Axes, named_sets
from discreet.numerics.bit_sets import axes_of
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent
from discreet.tables.policy_needs import CERTAIN, needs_of
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.ruled_out import check_nested

SEARCH_SHARE = 0.5  # of the time, for the best set of margins of many variables
MOST_OTHERS = 12  # further sets that the search met


def recommended(table: Table, options: ChooseOptions, progress: Progress = silent) -> RiskUtility:
    """The map and the choice over the masks named, or over all that make sense.

    Checked: masks named fit the table. Raises InputError for names that nothing has.
    """
    masks = options.masks
    if options.tables:
        return _of_linked(table, options, progress)
    check_nested(options.nested, table, options.targets or ())
    specs = default_masks(options.policy, options.measure.small)
    specs = specs if masks is None else parse_masks(masks)
    clock = Clock(options.seconds)
    if len(table.names) > MOST_VARIABLES and any(_is_open(spec) for _, spec in specs):
        check_requests(table, options)
        options = _with_requests(table, options)
        if table.n_cells > MOST_CELLS:
            _check_margins_only(masks, specs)
            check_large(options)
        best = _search(table, options, clock, progress)
        if table.n_cells > MOST_CELLS:
            return large_choice(table, best, options, clock, progress)
    else:
        best = None
    proposals = _proposals(table, specs, best, options, clock, is_asked=masks is not None)
    found = risk_utility(table, proposals, options, clock=clock, progress=progress)
    return replace(found, search=best)


def _of_linked(table: Table, options: ChooseOptions, progress: Progress) -> RiskUtility:
    """The map and the choice for tables that are named, which are judged as one set."""
    linked = LinkedSet.of(table, options, options.trees)
    check_nested(options.nested, linked.table, options.targets or ())
    clock = Clock(options.seconds)
    specs = parse_masks(options.masks or LINKED_MASKS)
    proposals = linked_proposals(linked, specs, options, clock)
    return risk_utility(
        linked.table, proposals, options, linked=linked, clock=clock, progress=progress
    )


def _is_open(spec: MaskSpec) -> bool:
    """Whether it stands for all sets of margins."""
    return spec.name == MARGINS and spec.sets is None


def _proposals(
    table: Table,
    specs: Sequence[tuple[str, MaskSpec]],
    best: BestMargins | None,
    options: ChooseOptions,
    clock: Clock,
    *,
    is_asked: bool,
) -> list[Proposal]:
    out = maximal(out_axes(table, options))
    found: list[Proposal] = []
    for written, spec in specs:
        if _is_open(spec):
            searched = None if best is None else _met(table, best, out)
            found += margin_proposals(table, out) if searched is None else searched
        elif spec.name == MARGINS and spec.sets is not None:
            sets = maximal([*out, *(table.axes(names) for names in spec.sets)])
            found.append(margin_proposal(table, sets, out))
        else:
            found.append(
                mask_proposal(
                    written,
                    spec,
                    table,
                    named_sets(table, out),
                    options.measure,
                    max_risk=options.max_risk,
                    seconds=options.seconds,
                    seed=options.seed,
                    is_asked=is_asked,
                    nesting=options.nesting,
                    nested=options.nested,
                    n_searching=n_searching(specs),
                    clock=clock,
                )
            )
    return found


def _met(table: Table, best: BestMargins, out: Sequence[Axes]) -> list[Proposal]:
    """The best set of margins and others that were met on the way, each once.

    The search goes by the cells of the whole table; each set is looked at again by the cells of its
    own variables.
    """
    found: dict[tuple[Axes, ...], None] = {}
    for sets in (best.chosen, *(sets for sets, _ in best.others[:MOST_OTHERS])):
        whole = maximal([*out, *(table.axes(names) for names in sets)])
        if whole not in (maximal(out), ()):
            found[whole] = None
    return [margin_proposal(table, sets, out) for sets in found]


def _with_requests(table: Table, options: ChooseOptions) -> ChooseOptions:
    """With the margins that users of many variables are taken to want, where nobody says."""
    if options.requests or options.users is not None:
        return options
    out = [set(table.names_of(axes)) for axes in out_axes(table, options)]
    wanted = [
        (tuple(table.names[axis] for axis in axes_of(one)), weight)
        for one, weight in checked_requests(table, None).items()
    ]
    fresh = [(names, w) for names, w in wanted if not any(set(names) <= own for own in out)]
    return replace(options, requests=tuple(fresh)) if fresh else options


def _search(table: Table, options: ChooseOptions, clock: Clock, progress: Progress) -> BestMargins:
    """The best set of margins under the limit, by the measures that the search knows."""
    measure = options.measure
    if not options.has_limit:
        return _search_by_policies(table, options, clock, progress)
    if measure.kind is RiskMeasure.TABLE:
        rule = f"bounds or cells for sets of margins of more than {MOST_VARIABLES} variables"
        raise InputError(must_be("measure", rule, repr(measure.kind.value)))
    width = ceil(-options.max_risk) if measure.kind is RiskMeasure.BOUNDS else 0
    return best_margins(
        table,
        min_width=width,
        small=measure.small,
        measure=measure.kind.value,
        max_share=options.max_risk if measure.kind is RiskMeasure.CELLS else 0.0,
        confidence=measure.confidence,
        least_printed=measure.small + 1 if _prints_nothing_small(options) else 1,
        requests=_summed(options.requests) or None,
        already=[table.names_of(axes) for axes in out_axes(table, options)],
        seconds=clock.share(SEARCH_SHARE) if table.n_cells <= MOST_CELLS else clock.left(),
        seed=options.seed,
        progress=progress,
    )


def _search_by_policies(
    table: Table, options: ChooseOptions, clock: Clock, progress: Progress
) -> BestMargins:
    """Sets of margins that print no count which the policies call small, and whose small cells keep
    bounds where none may be worked out; each is judged by every rule afterwards."""
    needs = needs_of(options.policy)
    derived = max(needs.derived, default=0)
    return best_margins(
        table,
        min_width=1 if needs.derived else 0,
        small=derived or options.measure.small,
        measure=RiskMeasure.BOUNDS,
        least_printed=max((*needs.printed, *needs.shown), default=0) + 1,
        requests=_summed(options.requests) or None,
        already=[table.names_of(axes) for axes in out_axes(table, options)],
        seconds=clock.share(SEARCH_SHARE) if table.n_cells <= MOST_CELLS else clock.left(),
        seed=options.seed,
        progress=progress,
    )


def _prints_nothing_small(options: ChooseOptions) -> bool:
    """Whether a small count that is printed is more than the limit allows."""
    return above(CERTAIN[options.measure.kind], options.max_risk)


def _summed(requests: Sequence[tuple[tuple[str, ...], float]]) -> dict[tuple[str, ...], float]:
    """Weights by margin; one that is asked for twice counts twice."""
    found: dict[tuple[str, ...], float] = {}
    for names, weight in requests:
        found[names] = found.get(names, 0.0) + weight
    return found


def _check_margins_only(masks: str | None, specs: Sequence[tuple[str, MaskSpec]]) -> None:
    """Other masks were not asked for by name, where they cannot be looked at."""
    others = [written for written, spec in specs if spec.name != MARGINS or spec.sets is not None]
    if masks is not None and others:
        rule = f"margins alone for a table of more than {MOST_CELLS:,} cells"
        raise InputError(must_be("masks", rule, repr(others[0])))
