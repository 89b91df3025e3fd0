"""A choice for tables that are named: bands, subtotals and parts, with what is out already.

Everything is judged on the coarsest table that has all figures, those that are out among them: by
its cells and the crosses of its variables as elsewhere, and by every figure of the tables, with
small sums of hidden figures beside each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discreet.choice.candidates import NOTHING, Proposal
from discreet.choice.certain_harm import Harm, harm_of
from discreet.choice.mask_names import MaskSpec, seeded
from discreet.choice.options import ChooseOptions
from discreet.choice.published_variables import Judged
from discreet.choice.smaller_crosses import worst_cross_of
from discreet.clock import Clock
from discreet.data.coarse_layouts import coarsened
from discreet.data.hierarchy import Hierarchy
from discreet.data.layout import Layout
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import Statement
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.contract import Masked
from discreet.masks.controlled_rounding import NAME as CONTROLLED
from discreet.masks.controlled_rounding import round_controlled
from discreet.masks.layout_notation import layout_of
from discreet.masks.linked_figures import LinkedFigures, linked_figures
from discreet.masks.linked_margins import release_layouts, withheld
from discreet.masks.margins import NAME as MARGINS
from discreet.masks.suppression import NAME as SUPPRESSION
from discreet.masks.suppression import SEARCH_SECONDS, Rule, Zeros, suppress
from discreet.masks.suppression_proof import bounds_of_sums, listed
from discreet.masks.suppression_unions import TooManyUnionsError, small_unions
from discreet.numerics.arrays import BoolArray, IntArray
from discreet.policy.findings import Finding
from discreet.policy.table_rules import Rounded
from discreet.tables.cross_risks import Remembered
from discreet.tables.crosses import crosses
from discreet.tables.linked.layouts import LayoutOut, layouts_out
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.sources import source_of, together
from discreet.tables.policy_needs import Needs
from discreet.tables.refused_margin import RiskFigure
from discreet.tables.ruled_out import RuledOut, ruled_out
from discreet.tables.table_findings import small_words
from discreet.tables.worked_out import Wanted, by_statements

MASKS = (MARGINS, SUPPRESSION, CONTROLLED)
DEFAULT = "margins, suppression:unions=yes, controlled-rounding:base=3"
BOUNDS_SHARE, BOUNDS_SECONDS = 0.2, 10.0  # of the time, for bounds of hidden figures
OPEN = "not all bounds are proved"
SEARCH_SHARE = 0.6  # of the seconds left, for all masks together that are made by a search
MOST_NAMED = 5
BEFORE = "That is without what was published before: with it, some of them"
BEFORE_OPEN = "That is without what was published before: with it, they may be known more closely."


@dataclass(frozen=True, slots=True)
class LinkedSet:
    """The tables that are to go out as one set, on the coarsest table that has all figures."""

    table: Table
    layouts: tuple[Layout, ...]
    out: tuple[Layout, ...]
    figures: LinkedFigures
    beside: tuple[Layout, ...] = ()
    known: tuple[Statement, ...] = ()

    @classmethod
    def of(
        cls, table: Table, options: ChooseOptions, trees: Mapping[str, Hierarchy]
    ) -> "LinkedSet":
        """The tables that the options name.

        Checked: each is written as one and names what the table has; requests of margins are none.
        """
        if options.requests:
            rule = "left out where the tables are named"
            raise InputError(must_be("requests", rule, f"{len(options.requests)} of them"))
        going = [layout_of(text, table, trees) for text in options.tables]
        out = [
            layout_of(one, table, trees)
            if isinstance(one, str)
            else Layout.of_margin(table, list(one))
            for one in options.out
        ]
        published = _published(table, options, trees)
        every = coarsened([*going, *out, *(one.layout for one in published)])
        ends = len(going), len(going) + len(out)
        own = every[: ends[0]], every[ends[0] : ends[1]]
        known = tuple(
            statement
            for one, layout in zip(published, every[ends[1] :], strict=True)
            for statement in one.statements(layout)
        )
        figures = linked_figures(*own, coarse=False)
        return cls(every[0].table, *own, figures, every[ends[1] :], known)

    def exactly_known(self, masked: Masked) -> BoolArray:
        """Which figures stand somewhere as they are."""
        if masked.mask == CONTROLLED or not masked.published:
            return self.figures.is_out
        flags = [
            np.ones(one.counts.shape, dtype=np.bool_) if one.shown is None else one.shown
            for one in masked.published
        ]
        return self.figures.shown_by(flags)

    def where(self, flags: BoolArray) -> tuple[int, list[str]]:
        """How many figures there are of a kind, and the names of some tables that have them."""
        every = zip(self.figures.layouts, self.figures.entries, strict=True)
        padded = np.append(flags, False)
        return int(flags.sum()), [f"[{one.title}]" for one, own in every if padded[own].any()]

    def withheld(self) -> Proposal:
        """To release nothing beyond what is out."""

        def make() -> Masked:
            found = withheld(self.table, self.layouts, out=self.out, beside=self.beside)
            return replace(found, mask=NOTHING, title=NOTHING)

        return Proposal(NOTHING, make, is_nothing=True)


def _published(
    table: Table, options: ChooseOptions, trees: Mapping[str, Hierarchy]
) -> tuple[LayoutOut, ...]:
    """What was published before, as it was published: rounded, withheld, of a part."""
    sources = [one for given in options.published for one in source_of(given)]
    if not sources:
        return ()
    found = together(sources, labels=options.labels, names=table.names)
    return layouts_out(table, found, AttackOptions(trees=dict(trees), labels=options.labels))


def linked_proposals(
    linked: LinkedSet,
    specs: Sequence[tuple[str, MaskSpec]],
    options: ChooseOptions,
    clock: Clock,
) -> list[Proposal]:
    """What the masks make of the tables.

    Checked: masks are among those that can be put on linked tables, and name no sets of their own.
    """
    for written, spec in specs:
        if spec.name not in MASKS or spec.sets is not None:
            rule = f"of {', '.join(MASKS)} where the tables are named, without sets"
            raise InputError(must_be("masks", rule, repr(written)))
    share = SEARCH_SHARE / max(sum(spec.name != MARGINS for _, spec in specs), 1)

    def made(spec: MaskSpec) -> Masked | Unavailable:
        return _made(linked, spec, options, clock.share(share))

    is_asked = options.masks is not None
    return [Proposal(written, partial(made, spec), is_asked=is_asked) for written, spec in specs]


def _made(
    linked: LinkedSet, spec: MaskSpec, options: ChooseOptions, seconds: float | None
) -> Masked | Unavailable:
    given = dict(spec.options)
    if spec.name == MARGINS:
        return release_layouts(linked.table, linked.layouts, out=linked.out, beside=linked.beside)
    if spec.name == CONTROLLED:
        own = seeded("random rounding", options.seed) if given.pop("random", False) else None
        return round_controlled(
            linked.table,
            layouts=linked.layouts,
            out=linked.out,
            beside=linked.beside,
            seed=own,
            **given,
        )
    if given.pop("decoys", False):
        remedy = "a pattern for linked tables is one of little cost"
        raise InputError(must_be("decoys", "no where the tables are named", "yes", remedy=remedy))
    of_search = {k: given.pop(k) for k in ("least", "guarantee", "exact", "work") if k in given}
    rule = Rule(**{"small": options.measure.small, "unions": True, **given})
    try:
        found = suppress(
            linked.table,
            layouts=linked.layouts,
            out=linked.out,
            beside=linked.beside,
            rule=rule,
            seconds=SEARCH_SECONDS if seconds is None else seconds,
            **of_search,
        )
        if isinstance(found, Unavailable) or not linked.known:
            return found
        return _with_known(linked, found, rule, _bounds_seconds(seconds))
    except TooManyUnionsError as many:  # other masks may still do
        return Unavailable(str(many))


def _bounds_seconds(seconds: float | None) -> float:
    return BOUNDS_SECONDS if seconds is None else min(BOUNDS_SHARE * seconds, BOUNDS_SECONDS)


def _with_known(linked: LinkedSet, masked: Masked, rule: Rule, seconds: float) -> Masked:
    """The pattern with a sentence on what published files make of it: it was sought, and is proved,
    without them."""
    figures, truth = linked.figures, linked.table.dense().ravel()
    flags = [one.shown for one in masked.published if one.shown is not None]
    hidden = ~figures.shown_by(flags)
    at = np.flatnonzero(rule.is_sensitive(figures.counts) & hidden).tolist()
    sums = [(figures.cells(one), int(figures.counts[one]), figures.name(one)) for one in at]
    if rule.unions:
        unions = small_unions(figures, hidden & ~figures.is_total, rule)
        sums += [(one.cells, one.count, one.label) for one in unions]
    if not sums:
        return masked
    groups, counts, names = zip(*sums, strict=True)
    every = [*masked.known, *linked.known]
    found = bounds_of_sums(linked.table, every, groups, names, [truth], seconds)
    needs = zip(counts, found.lower.tolist(), found.upper.tolist(), strict=True)
    met = np.array([rule.needs(count).met(low, high) for count, low, high in needs])
    closer = [name for name, is_met in zip(names, met.tolist(), strict=True) if not is_met]
    if not closer and np.all(found.exact):
        words = "So it is with what was published before, in whole numbers (proved)."
        return replace(masked, effect=f"{masked.effect} {words}")
    words = BEFORE_OPEN if not closer else f"{BEFORE} are known more closely: {listed(closer)}."
    protection = masked.protection and replace(masked.protection, guarantee=None)
    return replace(masked, effect=f"{masked.effect} {words}", protection=protection)


@dataclass(frozen=True, slots=True)
class ByLayouts:
    """Candidates about linked tables."""

    linked: LinkedSet
    options: ChooseOptions

    def judged(self, masked: Masked) -> Judged | None:
        """The publication as an intruder has it; None where nothing is told."""
        if not masked.published and not self.linked.out and not self.linked.known:
            return None
        return self._with(masked, self._nested())

    def _with(self, masked: Masked, nested: RuledOut) -> Judged:
        table = self.linked.table
        zeros = tuple(one.statement(table.sizes) for one in nested.zeros(table.names, ()))
        also = (*zeros, *self.linked.known)
        return Judged(masked=masked, also=also, nested=nested, exact=None)

    def _nested(self) -> RuledOut:
        table, targets = self.linked.table, self.options.targets or ()
        secret = [i for i, name in enumerate(table.names) if name in targets]
        own = self.options.nesting, self.options.nested
        return ruled_out(table, nesting=own[0], secret=secret, nested=own[1])

    def harm(self, masked: Masked, clock: Clock, seed: Sequence[int]) -> Harm:
        """What it gives away for certain."""
        judged, small = self.judged(masked), self.options.measure.small
        number, tables = self.linked.where(self._small(small) & self._told(masked))
        printed = ""
        if number:
            noun = "count" if number == 1 else "counts"
            printed = f"prints {number:,} {noun} {small_words(small)} in {', '.join(tables)}"
        if judged is None:
            return Harm(judged=None, printed=printed)
        bare = None
        if judged.nested.unconfirmed:
            bare = self._with(masked, judged.nested.confirmed())
        return harm_of(
            judged,
            bare,
            self.options,
            clock,
            seed,
            printed=printed,
            worked_out=lambda: self._worked_out_reason(masked, judged, small, clock),
        )

    def _told(self, masked: Masked) -> BoolArray:
        return self.linked.exactly_known(masked)

    def _small(self, small: int) -> BoolArray:
        counts = self.linked.figures.counts
        return np.asarray((counts > 0) & (counts <= small))

    def _worked_out_reason(self, masked: Masked, judged: Judged, small: int, clock: Clock) -> str:
        if masked.mask != SUPPRESSION:
            return ""
        known, _ = self._known(masked, judged, small, clock)
        if not known:
            return ""
        noun = "count" if len(known) == 1 else "counts"
        return f"hides {len(known):,} {noun} that can be worked out: {listed(known)}"

    def _known(
        self, masked: Masked, judged: Judged, small: int, clock: Clock
    ) -> tuple[list[str], list[str]]:
        """Hidden figures, and sums of those beside each other, from 1 to `small` that can be worked
        out, and those of which that was not settled."""
        figures, hidden = self.linked.figures, ~self._told(masked)
        at = np.flatnonzero(self._small(small) & hidden)
        groups = [figures.cells(one) for one in at.tolist()]
        names = [figures.name(one) for one in at.tolist()]
        if masked.mask == SUPPRESSION:
            rule = Rule(small=small, zeros=Zeros.SPARE)
            for union in small_unions(figures, hidden & ~figures.is_total, rule):
                groups.append(union.cells)
                names.append(union.label)
        if not groups:
            return [], []
        seconds = clock.share(BOUNDS_SHARE, BOUNDS_SECONDS) or BOUNDS_SECONDS
        truth: IntArray = self.linked.table.dense().ravel()
        every = [*masked.known, *judged.also]
        found = bounds_of_sums(figures.table, every, groups, names, [truth], seconds)
        met = found.lower == found.upper
        known = [name for name, is_met in zip(names, met.tolist(), strict=True) if is_met]
        unsettled = (~met & ~found.exact).tolist()
        return known, [name for name, is_open in zip(names, unsettled, strict=True) if is_open]

    def page(self, masked: Masked, needs: Needs) -> dict[str, Finding]:
        """What stands on its pages: small counts, zeros, figures that are not rounded."""
        told = self._told(masked)
        found = {f"printed:{n}": self._printed(told, n) for n in needs.printed}
        values, shown = self._values(masked)
        for n in needs.shown:
            few = (values == 0) if n == 0 else ((values > 0) & (values <= n)) | self._small(n)
            found[f"shown:{n}"] = self._finding(few & shown & self._can_be(n), n)
        return found | {rule.figure: self._rounded(masked, rule) for rule in needs.rounded}

    def _values(self, masked: Masked) -> tuple[IntArray, BoolArray]:
        """What stands for each figure, and whether something does."""
        figures = self.linked.figures
        values, shown = figures.counts.copy(), figures.is_out
        if masked.published:
            flags = [
                np.ones(one.counts.shape, dtype=np.bool_) if one.shown is None else one.shown
                for one in masked.published
            ]
            shown = figures.shown_by(flags)
            for one, own in zip(masked.published, figures.entries, strict=False):
                is_there = own >= 0
                values[own[is_there]] = one.counts.ravel()[is_there]
        return values, shown

    def _can_be(self, small: int) -> BoolArray:
        """For zeros, which figures are of persons that can be."""
        figures = self.linked.figures
        if small:
            return np.ones(figures.n, dtype=np.bool_)
        possible = self._nested().possible_cells(figures.table.sizes).ravel()
        return np.asarray(figures.summed(possible.astype(np.int64)) > 0)

    def _printed(self, told: BoolArray, small: int) -> Finding:
        own = self._small(small) if small else (self.linked.figures.counts == 0)
        return self._finding(own & told & self._can_be(small), small)

    def _finding(self, flags: BoolArray, small: int) -> Finding:
        number, tables = self.linked.where(flags)
        what = f"count {small_words(small)}" if small else "zero"
        are = "is" if number == 1 else "are"
        several = what if number == 1 else what.replace("count", "counts").replace("zero", "zeros")
        found = f"{number:,} {several} {are} printed: {', '.join(tables)}" if number else ""
        return Finding(
            value=Figure(value=number, how=How.EXACT),
            found=found or f"no {what} is printed",
            concerns=tuple(tables) if number else (),
        )

    def _rounded(self, masked: Masked, rule: Rounded) -> Finding:
        base, figures = int(rule.limit), self.linked.figures
        values, shown = self._values(masked)
        counts = figures.counts
        wrong = values % base > 0
        if rule.small is not None:
            few = (counts > 0) & (counts <= rule.small)
            wrong |= (few & (values != rule.shown)) | ((counts == 0) & (values > 0))
        if rule.random and not masked.parameters.get("random", False):
            wrong |= values != counts
        number, tables = self.linked.where(wrong & shown)
        said = f"{number:,} printed figures are no multiples of {base}: {', '.join(tables)}"
        return Finding(
            value=Figure(value=number, how=How.EXACT),
            found=said if number else f"every printed figure is a multiple of {base}",
            concerns=tuple(tables) if number else (),
            remedy=f"round every figure to a multiple of {base}" if number else "",
        )

    def worked_out(
        self, masked: Masked, judged: Judged | None, needs: Needs, clock: Clock
    ) -> dict[str, Finding]:
        """Hidden counts that follow from all that is known, in the tables and in crosses."""
        return {
            f"derived:{small}": self._derived(masked, judged, small, clock)
            for small in needs.derived
        }

    def _derived(self, masked: Masked, judged: Judged | None, small: int, clock: Clock) -> Finding:
        if judged is None:
            return Finding(value=Figure(value=0, how=How.EXACT), found="nothing is out")
        table = self.linked.table
        known, unsettled = self._known(masked, judged, small, clock) if small else ([], [])
        every = range(len(table.names))
        asked = crosses(self._sets(), len(every) + 1, len(table.cells), also=every, exact=False)
        wanted = Wanted(small=small, nested=judged.nested)
        own = [*masked.known, *judged.also]
        shown = {axes: self._shown_cross(masked, axes) for axes in asked}
        found = list(by_statements(table, own, asked, wanted, clock, shown=shown))
        least = max(len(known), sum(one.least for one in found))
        is_open = bool(unsettled) or any(one.most > one.least for one in found)
        most = least + len(unsettled) + sum(one.most - one.least for one in found)
        value = Figure(value=None, low=least, high=most, how=How.BOUND)
        return Finding(
            value=value if is_open else Figure(value=least, how=How.EXACT),
            found=_derived_words(least, small, known, is_open=is_open),
            doubt=OPEN if is_open and not least else "",
            concerns=tuple(known[:MOST_NAMED]),
        )

    def _sets(self) -> list[tuple[int, ...]]:
        return list(dict.fromkeys(tuple(sorted(one.axes)) for one in self.linked.figures.layouts))

    def _shown_cross(self, masked: Masked, axes: tuple[int, ...]) -> BoolArray:
        """Which entries of a cross stand in a table as they are."""
        figures = self.linked.figures
        told = self._told(masked)
        known = {figures.cells(one).tobytes() for one in np.flatnonzero(told).tolist()}
        margin = Layout.of_margin(self.linked.table, self.linked.table.names_of(axes))
        flags = [margin.cells_of(entry).tobytes() in known for entry in range(margin.n_figures)]
        return np.array(flags, dtype=np.bool_).reshape(margin.shape)

    def crosses(
        self,
        masked: Masked,
        judged: Judged,
        figure: RiskFigure,
        clock: Clock,
        remembered: Remembered,
    ) -> dict[str, Outcome]:
        """The worst of the crosses of the variables by a measure."""
        return worst_cross_of(judged, self._sets(), figure, clock)


def _derived_words(least: int, small: int, known: Sequence[str], *, is_open: bool) -> str:
    """What can be worked out, in words."""
    noun, counts = ("count", f" {small_words(small)}") if small else ("zero", "")
    if least:
        named = f": {listed(known)}" if known else " in crosses of the variables"
        return (
            f"{least:,} hidden {noun}{'' if least == 1 else 's'}{counts} can be worked out{named}"
        )
    if is_open:
        return f"it is open whether a hidden {noun}{counts} can be worked out, since {OPEN}"
    return f"no hidden {noun}{counts} can be worked out"
