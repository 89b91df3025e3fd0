"""Published tables held against the data behind them: what is true, what follows, how bad that is.

The hidden table is that of the parts that the tables tell apart. Its small cells are those to
protect, and so is every small figure that follows from the tables together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.belief.belief import Belief
from discreet.belief.ladder import believe
from discreet.belief.request import Limits, Question
from discreet.clock import Clock
from discreet.data.nesting import Nested
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.sums.counting import Count
from discreet.fiber.system.priors import ProductForm
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.notebooks import Result
from discreet.numerics.arrays import IntArray
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import Policy, judge
from discreet.policy.rule import Subject
from discreet.policy.table_rules import DerivedCounts
from discreet.policy.verdict import Verdict
from discreet.progress import Progress
from discreet.tables.audit_options import check_max_risk
from discreet.tables.cross_risks import CrossRisk
from discreet.tables.linked.attack import (
    MOST_BOUNDED,
    NOT_SOUGHT,
    Bounded,
    Followed,
    Linked,
    bounded_cells,
    derived_finding,
    domains_of,
    late,
    linked,
    listed,
    named_unions,
    number_of_tables,
    printed_finding,
)
from discreet.tables.linked.derived import Following, following
from discreet.tables.linked.naming import Names
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.shared_levels import SharedLevel, shared_levels
from discreet.tables.linked.smaller_crosses import smaller_crosses
from discreet.tables.linked.sources import Sources
from discreet.tables.linked.true_figures import atom_counts, true_table
from discreet.tables.linked.unions import small_unions
from discreet.tables.measures import (
    TableMeasures,
    one_over_tables,
    table_measures,
    tightness,
)
from discreet.tables.policy_needs import finding_name, needs_of, plain_policy
from discreet.tables.refused_margin import RiskFigure, RiskMeasure, measure_named
from discreet.tables.ruled_out import RuledOut, ruled_out
from discreet.tables.table_findings import measured_finding

MOST_BELIEVED = 4096  # atoms of a table whose distribution is summed or drawn
MOST_NAMED = 5  # groups, and pairs of variables, in a sentence
EXACT = ("listed", "summed", "weighed")
EXACT_SHARE, DRAWN_SHARE, PROOF_SHARE, UNIONS_SHARE = 0.4, 0.6, 0.5, 0.5
CROSSES_SHARE = 0.7  # of what is left, for each measure of the smaller crosses
LIMITS = Limits(least_effective=100.0)
NOT_BOUNDED = Unavailable(f"the bounds of more than {MOST_BELIEVED:,} cells were not sought")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAuditOptions(AttackOptions):
    """What may be asked of an audit of published tables: the options of an attack, and

    - `confidence`: an intruder who is surer than this of a count takes it as known.
    - `measure` and `max_risk`: the greatest risk allowed, by `cells` (share of the small cells
      found), `table` (probability of the true table) or `bounds` (minus the width of the narrowest
      bounds, so 0 or below).
    """

    confidence: float = 0.5
    measure: str = "cells"
    max_risk: float | None = None

    def __post_init__(self) -> None:
        # Zero-argument super() does not work in a dataclass with slots.
        AttackOptions.__post_init__(self)
        if not 0 <= self.confidence < 1:
            raise InputError(must_be("confidence", "from 0 to below 1", self.confidence))
        measure = measure_named(self.measure)
        if self.max_risk is not None:
            check_max_risk(self.max_risk, measure)
        for name, given in (("others", self.others), ("areas", self.areas)):
            if given:
                rule = "left out where the data are given"
                raise InputError(must_be(name, rule, repr(given)))

    @property
    def policies(self) -> tuple[Policy, ...]:
        """What is judged by: the limit and the policies; or that no small count follows."""
        if self.max_risk is None:
            return AttackOptions.policies.fget(self)  # type: ignore[attr-defined,no-any-return]
        small, measure = self.most_small, measure_named(self.measure)
        plain = plain_policy(measure, self.max_risk, small, self.confidence)
        rules = (*plain.rules, DerivedCounts(limit=small + 1))
        return (replace(plain, rules=rules), *self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueCell:
    """A small cell with its true count, its bounds and what an intruder believes of it."""

    bounds: Bounded
    count: int
    chances: Mapping[int, float]
    errors: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublishedAudit(Result):
    """What published tables reveal of the data behind them.

    `cells` are the bounds of all cells where these are few, `small_cells` those to protect with
    what an intruder believes of them, out of `n_small` in the whole table of parts; `unions` are
    cells of coarser crosses that are small, hidden and not known. The rest is as in an attack; a
    figure that follows is the true one.
    """

    table: Table
    linked: Linked
    options: PublishedAuditOptions
    derived: tuple[Followed, ...]
    n_derived: int
    unproved: int
    cells: tuple[Bounded, ...]
    unions: tuple[Bounded, ...]
    small_cells: tuple[TrueCell, ...]
    n_small: int
    n_tables: Count
    measures: TableMeasures
    tightness: Outcome
    one_over_tables: Outcome
    believed: str
    findings: Findings
    verdict: Verdict | None
    notes: tuple[str, ...] = ()


def audited_published(
    table: Table,
    sources: Sources,
    options: PublishedAuditOptions,
    clock: Clock,
    progress: Progress,
) -> PublishedAudit:
    """What the tables reveal of the data, and what the rules say of that.

    Raises InputError for a label that the data do not have, and for a figure that is not true of
    them under the rule by which it was printed.
    """
    levels = {name: table.levels[table.names.index(name)] for name in table.names}
    domains = domains_of(sources, options, levels)
    truth = true_table(table, domains)
    own = linked(sources, domains, clock, progress, small=options.most_small, truth=truth)
    followed = following(own.known, own.seen, own.exact, Clock(clock.share(PROOF_SHARE)), progress)
    number = number_of_tables(own, options.seed, clock, progress)
    names, counts = Names(own.universe), atom_counts(own.universe, truth)
    cells = bounded_cells(own, names)
    small = _small(counts, options.most_small)
    belief = _belief(own, counts, options, clock, progress) if len(small) else _NONE_SMALL
    watched = _watched(own, cells, counts, small, belief)
    measures = _measures(own, watched, counts, belief, options)
    share = Clock(clock.share(UNIONS_SHARE))
    joint, more = small_unions(own.seen, counts, options.most_small, share, progress)
    unions = named_unions(joint, names)
    widths = [one.bounds.upper - one.bounds.lower for one in watched]
    widths += [one.upper - one.lower for one in unions]
    exact = _all_exact(own, small) and not more and not any("outer" in one.how for one in unions)
    tight = NOT_BOUNDED if own.exact is None else tightness(widths, exact)
    asked = table, own, followed, names, options, measures, tight, counts, clock
    found = Findings(dict(_findings(*asked)))
    return PublishedAudit(
        table=table,
        linked=own,
        options=options,
        derived=listed(followed, names, options.most),
        n_derived=len(followed.figures),
        unproved=followed.unproved,
        cells=cells,
        unions=unions,
        small_cells=watched,
        n_small=len(small),
        n_tables=number,
        measures=measures,
        tightness=tight,
        one_over_tables=one_over_tables(number),
        believed=belief.reason if isinstance(belief, Unavailable) else belief.method,
        findings=found,
        verdict=judge(options.policies, Subject.TABLES, found),
        notes=(*sources.notes, *own.notes, *late(followed)),
    )


_NONE_SMALL = Unavailable("no cell is small, so there is none to protect")


def _small(counts: IntArray, small: int) -> IntArray:
    return np.flatnonzero((counts > 0) & (counts <= small))


def _belief(
    own: Linked,
    counts: IntArray,
    options: PublishedAuditOptions,
    clock: Clock,
    progress: Progress,
) -> Belief | Unavailable:
    """What somebody believes of the atoms who holds all cells to be equally probable for a person
    before he sees the tables, so that an atom of k cells has k times the probability."""
    known = own.known
    if known.n_unlimited:
        return Unavailable("some cells are limited by no figure")
    if len(known.limited) > MOST_BELIEVED:
        reason = f"the tables tell more than {MOST_BELIEVED:,} cells apart"
        return Unavailable(reason)
    progress("weighing the tables", None)
    question = Question(
        prior=ProductForm(own.universe.size_of_atom.astype(np.float64)),
        constraints=known.system,
        truth=counts,
        limits=LIMITS,
    )
    belief = believe(question, EXACT, clock=Clock(clock.share(EXACT_SHARE)), progress=progress)
    if isinstance(belief, Unavailable):
        rng = np.random.default_rng(options.seed)
        left = Clock(clock.share(DRAWN_SHARE))
        belief = believe(question, ("filled",), clock=left, rng=rng, progress=progress)
    return belief


def _watched(
    own: Linked,
    cells: Sequence[Bounded],
    counts: IntArray,
    small: IntArray,
    belief: Belief | Unavailable,
) -> tuple[TrueCell, ...]:
    """The small cells with their bounds and beliefs, where bounds were sought."""
    by_atom = {cell.atom: cell for cell in cells}
    found = []
    for atom in small.tolist():
        if atom not in by_atom:
            continue
        chances, errors = ({}, {}) if isinstance(belief, Unavailable) else _of(belief, atom)
        found.append(
            TrueCell(bounds=by_atom[atom], count=int(counts[atom]), chances=chances, errors=errors)
        )
    return tuple(found)


def _of(belief: Belief, atom: int) -> tuple[Mapping[int, float], Mapping[int, float]]:
    return belief.cell(atom), belief.cell_error(atom)


def _measures(
    own: Linked,
    watched: Sequence[TrueCell],
    counts: IntArray,
    belief: Belief | Unavailable,
    options: PublishedAuditOptions,
) -> TableMeasures:
    if isinstance(belief, Unavailable):
        return TableMeasures(
            true_table=belief,
            small_cells_identified=belief,
            expected_identified=belief,
            true_count=belief,
        )
    return table_measures(
        [one.chances for one in watched],
        [one.errors for one in watched],
        [one.count for one in watched],
        confidence=options.confidence,
        true_table=belief.probability(counts),
    )


def _all_exact(own: Linked, small: IntArray) -> bool:
    """Whether the bounds of the small cells are all proved."""
    open_ones = ("outer", NOT_SOUGHT)
    return not any(one in own.proofs[atom] for atom in small.tolist() for one in open_ones)


def _findings(
    table: Table,
    own: Linked,
    followed: Following,
    names: Names,
    options: PublishedAuditOptions,
    measures: TableMeasures,
    tight: Outcome,
    counts: IntArray,
    clock: Clock,
) -> Iterator[tuple[str, Finding]]:
    """What rules on tables may be about."""
    needs = needs_of(options.policies)
    for n in dict.fromkeys([options.most_small, *needs.derived]):
        yield f"derived:{n}", derived_finding(followed, names, n)
    for n in dict.fromkeys([options.most_small, *needs.printed, *needs.shown]):
        one = printed_finding(own.universe, n)
        yield f"printed:{n}", one
        yield f"shown:{n}", one
    if needs.groups:
        yield "groups", _groups(own, true_table(table, own.universe.domains))
    for figure in needs.measured:
        risk = _risk(figure, options, measures, tight)
        n_small = len(_small(counts, figure.small))
        every = tuple(range(len(own.universe.domains)))
        whole = CrossRisk(axes=every, risk=risk, n_small=n_small, n_looked_at=n_small)
        truth = true_table(table, own.universe.domains)
        more = smaller_crosses(
            own.known, truth, figure, options.seed, Clock(clock.share(CROSSES_SHARE))
        )
        yield (
            finding_name(figure),
            measured_finding(
                more.table, figure, whole, more.risks, all_looked_at=more.all_looked_at
            ),
        )


def _risk(
    figure: RiskFigure,
    options: PublishedAuditOptions,
    measures: TableMeasures,
    tight: Outcome,
) -> Outcome:
    """A measure as a rule asks for it; what was not measured for its counts says so."""
    if figure.measure is RiskMeasure.TABLE:
        return measures.true_table
    if figure.small != options.most_small:
        return Unavailable(f"measured for counts from 1 to {options.most_small} (small)")
    if figure.measure is RiskMeasure.BOUNDS:
        return tight
    if figure.measure is RiskMeasure.COUNT:
        return measures.true_count
    if figure.confidence != options.confidence:
        return Unavailable(f"measured for a confidence of {options.confidence:g} (confidence)")
    return measures.small_cells_identified


def _groups(own: Linked, truth: IntArray) -> Finding:
    """Groups of persons who are shown to share a part of a variable, by the bounds of all cells.

    What the data alone show of nested variables excuses no group for certain.
    """
    if own.exact is None or len(own.known.limited) > MOST_BOUNDED:
        return Finding(value=NOT_BOUNDED, found="groups that share a level were not sought")
    domains = own.universe.domains
    names = [domain.name for domain in domains]
    nested = ruled_out(Table.of_dense(truth, names, [domain.parts for domain in domains]))
    shared = _shared(own, nested)
    told = _told_of(nested, names)
    common = f"; that {told} is taken as common knowledge" if told else ""
    if shared or not nested.unconfirmed:
        words = f"no group of persons is shown to share a level{common}"
        if shared:
            words = f"{_sharing(shared)}{common}"
        return _finding(Figure(value=len(shared), how=How.EXACT), words, shared)
    perhaps = _shared(own, nested.confirmed())
    words = f"no group of persons is shown to share a level{common}"
    if perhaps:
        told = _told_of(nested, names, nested.unconfirmed)
        words = f"{_sharing(perhaps)}, unless everybody knows that {told}"
    value = Figure(value=None, low=0, high=len(perhaps), how=How.BOUND)
    known = Figure(value=0, how=How.EXACT)
    return _finding(value if perhaps else known, words, perhaps)


def _shared(own: Linked, nested: RuledOut) -> tuple[SharedLevel, ...]:
    assert own.exact is not None
    names = [domain.name for domain in own.universe.domains]
    known = [(names[pair.determining], names[pair.determined]) for pair in nested.pairs]
    return shared_levels(own.universe, own.exact, known)


def _sharing(shared: Sequence[SharedLevel]) -> str:
    noun = "group of persons is" if len(shared) == 1 else "groups of persons are"
    return f"{len(shared):,} {noun} shown to share a level, the first: {shared[0].words}"


def _told_of(nested: RuledOut, names: Sequence[str], pairs: Sequence[Nested] | None = None) -> str:
    own = nested.pairs if pairs is None else pairs
    told = [f"each {names[p.determining]} has one {names[p.determined]}" for p in own]
    return " and ".join(told[:MOST_NAMED])


def _finding(value: Figure, words: str, shared: Sequence[SharedLevel]) -> Finding:
    concerns = tuple(one.words for one in shared[:MOST_NAMED])
    return Finding(value=value, found=words, concerns=concerns)
