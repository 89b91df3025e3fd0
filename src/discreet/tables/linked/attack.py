"""What follows from published tables taken together, for somebody who holds nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.clock import Clock
from discreet.errors import InputError, must_be, problem_of
from discreet.fiber.bounds.by_programming import Work
from discreet.fiber.bounds.certificates import Certificate
from discreet.fiber.reconstruction.areas import AreaRebuilt
from discreet.fiber.reconstruction.rebuilt import RebuiltTable
from discreet.fiber.sums.counting import Count
from discreet.fiber.system.linear_system import UNLIMITED
from discreet.fiber.system.programs import Deadline
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.notebooks import Result
from discreet.numerics.arrays import IntArray
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import judge
from discreet.policy.rule import Subject
from discreet.policy.verdict import Verdict
from discreet.progress import Progress
from discreet.tables.audit_count import counted_within
from discreet.tables.linked.derived import Derived, Following, following
from discreet.tables.linked.domains import Domain, Label, domain_of
from discreet.tables.linked.doubts import doubts
from discreet.tables.linked.naming import Derivation, Names, said
from discreet.tables.linked.options import AttackOptions
from discreet.tables.linked.rebuilding import rebuilt_of
from discreet.tables.linked.reduced import Reduced, reduced
from discreet.tables.linked.shares_and_means import with_shares_and_means
from discreet.tables.linked.sources import Sources
from discreet.tables.linked.true_figures import atom_counts, check_true
from discreet.tables.linked.unions import Union, small_unions
from discreet.tables.linked.universe import Universe, universe_of
from discreet.tables.linked.witnesses import Witnesses, witnesses
from discreet.tables.policy_needs import needs_of

MOST_BOUNDED = 4096  # atoms up to which the bounds of each are sought
MOST_WANTED = 20_000  # small cells of a larger table whose bounds are
NOT_SOUGHT = "not sought"
LATE = "there was no time to look at all differences of figures; allow more (seconds)"
BOUNDS_SHARE, SEEN_SHARE, PROOF_SHARE, UNIONS_SHARE = (
    0.35,
    0.4,
    0.6,
    0.3,
)  # of what is left of the time
MOST_CONCERNS = 5
MOST_BUT = 4  # cells that a figure does not count, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A figure that follows although no table shows it: of whom, its value, and why.

    `cell` has the variables that it is by; `but` are cells within that one which it does not count.
    """

    cell: Mapping[str, str]
    but: tuple[Mapping[str, str], ...]
    lower: int
    upper: int
    how: str
    derivation: Derivation
    atoms: IntArray

    @property
    def words(self) -> str:
        """Of whom it is."""
        return _words(self.cell, self.but)


def _words(cell: Mapping[str, str], but: Sequence[Mapping[str, str]]) -> str:
    if not but:
        return said(cell)
    more = f"; and {len(but) - MOST_BUT:,} more cells" if len(but) > MOST_BUT else ""
    return f"{said(cell)} but for {'; '.join(map(said, but[:MOST_BUT]))}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """A cell, or a union of cells, with the least and the greatest count that it may have; `atom`
    is its number where it is one of the finest cells."""

    cell: Mapping[str, str]
    lower: int
    upper: int
    how: str
    atom: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """Tables put together: the names and labels they share, what they say, and tables that fit."""

    sources: Sources
    known: Reduced
    seen: Witnesses
    exact: tuple[IntArray, IntArray] | None
    proofs: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def universe(self) -> Universe:
        """The cells and figures."""
        return self.known.universe


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Attack(Result):
    """What follows from published tables.

    `derived` are figures that no table shows, smallest first, `n_derived` how many there are in
    all; `unproved` more are the same in every table that was looked at, without a proof.
    `cells` are the bounds of the finest cells, where these are few; `narrow` those that are small
    for certain though not known. `n_tables` counts the tables that fit; `rebuilt` says how many
    records are certain and how far two of these tables can differ, `areas` the same of each area.
    """

    linked: Linked
    options: AttackOptions
    derived: tuple[Followed, ...]
    n_derived: int
    unproved: int
    cells: tuple[Bounded, ...]
    narrow: tuple[Bounded, ...]
    n_tables: Count
    rebuilt: RebuiltTable | Unavailable
    findings: Findings
    verdict: Verdict | None
    notes: tuple[str, ...] = ()
    areas: tuple[AreaRebuilt, ...] = ()


def domains_of(
    sources: Sources,
    options: AttackOptions,
    levels: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Domain, ...]:
    """Every variable of the tables, in the order in which they come."""
    names = list(dict.fromkeys(name for table in sources.tables for name in table.variables))
    _check_known(options, names)
    titles = [table.name for table in sources.tables]
    trees = options.read_trees()
    found = []
    for name in names:
        labels = [
            Label(text, number, sources.holds[number].get((name, text)))
            for number, table in enumerate(sources.tables)
            if name in table.variables
            for text in table.labels[table.variables.index(name)]
        ]
        found.append(
            domain_of(
                name,
                labels,
                titles,
                levels=None if levels is None else levels[name],
                tree=trees.get(name),
                others=name in options.others,
            )
        )
    return tuple(found)


def _check_known(options: AttackOptions, names: Sequence[str]) -> None:
    for option, given in (("others", options.others), ("trees", tuple(options.trees))):
        for name in given:
            if name not in names:
                rule = f"variables of the tables ({', '.join(names)})"
                raise InputError(must_be(option, rule, repr(name)))


def linked(
    sources: Sources,
    domains: Sequence[Domain],
    clock: Clock,
    progress: Progress,
    *,
    small: int,
    truth: IntArray | None = None,
) -> Linked:
    """The tables put together, with tables that fit; raises InputError where none does, and
    where a figure is not true of the data.

    `truth` is the table of the cells that the data hold, where there are data: it spares search.
    Of many cells only the bounds of those are sought that are small in truth, or nearly known.
    """
    try:
        return _linked(sources, domains, clock, progress, small, truth)
    except InputError as error:
        raise _in_words(error) from error


def _in_words(error: InputError) -> InputError:
    """The complaint that no table fits, as one about published figures."""
    told = problem_of(error.args[0] if error.args else "")
    if not told.what.startswith("statements must be"):
        return error
    remedy = (
        f"{told.remedy}; is a table of other data, of a part ('FILE | sex=F'), rounded "
        "('FILE | rounded(5)'), with withheld figures in another range ('FILE | withheld(1..)'), "
        "or are there levels that no table lists (others)?"
    )
    rule = "true of at least one table together"
    return InputError(must_be("published figures", rule, "figures that disagree", remedy=remedy))


def _linked(
    sources: Sources,
    domains: Sequence[Domain],
    clock: Clock,
    progress: Progress,
    small: int,
    truth: IntArray | None,
) -> Linked:
    progress("putting the tables together", None)
    universe, left = with_shares_and_means(universe_of(domains, sources.tables, sources.rules))
    if truth is not None:
        check_true(universe, truth)
    known = reduced(universe)
    point = None if truth is None else atom_counts(universe, truth)[known.limited]
    seen = witnesses(known, Clock(clock.share(SEEN_SHARE)), progress)
    wanted = nearly_known(seen, small)
    if point is not None:
        wanted = known.limited[(point > 0) & (point <= small)][:MOST_WANTED]
    exact, proofs, notes = _bounds(known, clock, progress, point, wanted)
    return Linked(
        sources=sources, known=known, seen=seen, exact=exact, proofs=proofs,
        notes=(*left, *_notes_of(known, domains), *notes),
    )  # fmt: skip


def _notes_of(known: Reduced, domains: Sequence[Domain]) -> list[str]:
    notes: list[str] = []
    open_ones = [domain.name for domain in domains if domain.others]
    if open_ones:
        notes.append(f"Levels that no table lists are taken to exist of {', '.join(open_ones)}.")
    if known.n_unlimited:
        n = known.n_unlimited
        verb = "is" if n == 1 else "are"
        notes.append(f"{n:,} {'cell' if n == 1 else 'cells'} {verb} limited by no figure.")
    return notes


def _bounds(
    known: Reduced,
    clock: Clock,
    progress: Progress,
    point: IntArray | None,
    wanted: IntArray,
) -> tuple[tuple[IntArray, IntArray] | None, tuple[str, ...], list[str]]:
    """The bounds of all atoms where these are few, else of those wanted; how each is known; and a
    note where time ended the search."""
    few = len(known.limited) <= MOST_BOUNDED
    columns = np.flatnonzero(np.isin(known.limited, wanted)) if not few else None
    if not len(known.limited) or (columns is not None and not len(columns)):
        return None, (), []
    if columns is None:
        columns = np.arange(len(known.limited))
    deadline = Deadline(clock.share(BOUNDS_SHARE))
    tables = [] if point is None else [point]
    found = Work(known.system, tables, deadline, progress, structure=known.structure).bounds(
        columns
    )
    lower, upper = known.limits()
    atoms = known.limited[columns]
    lower[atoms], upper[atoms] = found.lower, found.upper
    how = [NOT_SOUGHT] * known.universe.n_atoms
    for place, atom in enumerate(atoms.tolist()):
        least, most = found.how(place)
        same = found.lower[place] == found.upper[place]
        how[atom] = least.text if same else f"lower {least.text}; upper {most.text}"
    notes = [f"bounds: {found.note}"] if found.note else []
    return (lower, upper), tuple(how), notes


def nearly_known(seen: Witnesses, small: int) -> IntArray:
    """Atoms that have from 1 to `small` persons in every table that was found, not always as many:
    those of a table of many cells whose bounds are worth a search."""
    n = seen.known.universe.n_atoms
    low, high = seen.sums(np.arange(n), n)
    return np.flatnonzero((low > 0.5) & (high < small + 0.5) & (high - low > 0.5))


def attacked(sources: Sources, options: AttackOptions, clock: Clock, progress: Progress) -> Attack:
    """What follows from the tables, and what the rules say of that."""
    small = options.most_small
    own = linked(sources, domains_of(sources, options), clock, progress, small=small)
    followed = following(own.known, own.seen, own.exact, Clock(clock.share(PROOF_SHARE)), progress)
    number = number_of_tables(own, options.seed, clock, progress)
    names = Names(own.universe)
    derived = listed(followed, names, options.most)
    cells = bounded_cells(own, names)
    share = Clock(clock.share(UNIONS_SHARE))
    unions = named_unions(small_unions(own.seen, None, small, share, progress)[0], names)
    found = Findings(dict(_findings(own, followed, names, options)))
    return Attack(
        linked=own,
        options=options,
        derived=derived,
        n_derived=len(followed.figures),
        unproved=followed.unproved,
        cells=cells,
        narrow=(
            *(c for c in cells if 0 < c.lower < c.upper <= small),
            *(c for c in unions if 0 < c.lower < c.upper <= small),
        ),
        n_tables=number,
        rebuilt=rebuilt_of(own.known, clock, progress),
        findings=found,
        verdict=judge(options.policies, Subject.TABLES, found),
        notes=(
            *sources.notes,
            *own.notes,
            *doubts(own.universe, options.trees),
            *late(followed),
        ),
    )


def late(followed: Following) -> tuple[str, ...]:
    """A note where time ended the search for what follows."""
    return () if followed.is_whole else (f"What follows: {LATE}.",)


def number_of_tables(own: Linked, seed: int, clock: Clock, progress: Progress) -> Count:
    """How many tables of the finest cells fit all figures."""
    if own.known.n_unlimited:
        note = "not counted: some cells are limited by no figure, so there is no end of tables"
        return Count(value=None, how=None, note=note)
    return counted_within(own.known.system, seed=seed, clock=clock, progress=progress)


def listed(followed: Following, names: Names, most: int) -> tuple[Followed, ...]:
    """The smallest figures that follow, with their names and derivations."""
    found = []
    for one in followed.figures[:most]:
        cell, but = _named(one, names)
        found.append(
            Followed(
                cell=cell,
                but=but,
                lower=one.value,
                upper=one.value,
                how="exact",
                derivation=names.derivation(one),
                atoms=one.atoms,
            )
        )
    return tuple(found)


def _named(one: Derived, names: Names) -> tuple[dict[str, str], tuple[dict[str, str], ...]]:
    """A figure as a cell; where it is no cell, as one less others."""
    cell = names.cell(one.atoms)
    if cell is not None:
        return cell, ()
    told, universe = one.above, names.universe
    if told is None or not _is_difference(told) or max(told.rows) >= universe.n_figures:
        return names.box(one.atoms)
    whole = told.rows[told.weights.index(1)]
    parts = (row for row in told.rows if row != whole)
    return universe.cell_of(whole), tuple(map(universe.cell_of, parts))


def _is_difference(told: Certificate) -> bool:
    """Whether it is one figure less others."""
    alone = [*[-1] * (len(told.weights) - 1), 1]
    return told.is_equal and told.denominator == 1 and sorted(told.weights) == alone


def bounded_cells(own: Linked, names: Names) -> tuple[Bounded, ...]:
    """The finest cells with their bounds, where these were sought; those without limit left out."""
    if own.exact is None:
        return ()
    lower, upper = own.exact
    found = []
    for atom in np.flatnonzero(upper < UNLIMITED).tolist():
        cell = names.cell(np.array([atom])) if own.proofs[atom] != NOT_SOUGHT else None
        if cell is not None:
            found.append(
                Bounded(
                    cell=cell,
                    lower=int(lower[atom]),
                    upper=int(upper[atom]),
                    how=own.proofs[atom],
                    atom=atom,
                )
            )
    return tuple(found)


def named_unions(unions: Sequence[Union], names: Names) -> tuple[Bounded, ...]:
    """Unions of cells with their names and bounds."""
    return tuple(
        Bounded(cell=names.cell(one.atoms) or {}, lower=one.lower, upper=one.upper, how=one.how)
        for one in unions
    )


def _findings(
    own: Linked, followed: Following, names: Names, options: AttackOptions
) -> Sequence[tuple[str, Finding]]:
    """What rules on tables may be about: small figures that follow, and such that are printed."""
    needs = needs_of(options.policies)
    found = [
        (f"derived:{n}", derived_finding(followed, names, n))
        for n in dict.fromkeys([options.most_small, *needs.derived])
    ]
    for n in dict.fromkeys([options.most_small, *needs.printed, *needs.shown]):
        one = printed_finding(own.universe, n)
        found += [(f"printed:{n}", one), (f"shown:{n}", one)]
    return found


def derived_finding(followed: Following, names: Names, small: int) -> Finding:
    """How many figures from 1 to `small` (zeros for 0) follow although no table shows them."""
    mine = [one for one in followed.figures if _is_small(one.value, small)]
    n_open = sum(_is_small(value, small) for value in followed.open_values)
    what = _small_words(small)
    if mine:
        words = f"{_number(len(mine), 'figure')} {what} can be worked out"
        concerns = tuple(_words(*_named(one, names)) for one in mine[:MOST_CONCERNS])
        value: Outcome = Figure(value=len(mine), how=How.EXACT)
        if n_open or not followed.is_whole:
            most = len(mine) + n_open if followed.is_whole else None
            value = Figure(value=None, low=len(mine), high=most, how=How.BOUND)
        return Finding(value=value, found=words, concerns=concerns)
    if not followed.is_whole:
        return Finding(
            value=Unavailable(LATE), found=f"it is open whether a figure {what} can be worked out"
        )
    if n_open:
        value = Figure(value=None, low=0, high=n_open, how=How.BOUND)
        cells = _number(n_open, "cell")
        words = f"it is open whether a figure {what} can be worked out: {cells} not proved"
        return Finding(value=value, found=words, doubt="not all cells were proved in time")
    words = f"no figure {what} that is not shown can be worked out"
    return Finding(value=Figure(value=0, how=How.EXACT), found=words)


def _is_small(value: int, small: int) -> bool:
    return 1 <= value <= small if small else value == 0


def printed_finding(universe: Universe, small: int) -> Finding:
    """How many exact figures from 1 to `small` (zeros for 0) stand in the tables."""
    least, most = (1, small) if small else (0, 0)
    own = universe.low
    mine = np.flatnonzero(universe.is_shown & (own >= least) & (own <= most))
    words = f"no count {_small_words(small)} is printed"
    if len(mine):
        verb = "is" if len(mine) == 1 else "are"
        words = f"{_number(len(mine), 'count')} {_small_words(small)} {verb} printed"
    concerns = tuple(universe.name_of(int(row)) for row in mine[:MOST_CONCERNS])
    value: Figure | Unavailable = Figure(value=len(mine), how=How.EXACT)
    return Finding(value=value, found=words, concerns=concerns)


def _small_words(small: int) -> str:
    if small == 0:
        return "of 0"
    return "of 1" if small == 1 else f"from 1 to {small}"


def _number(n: int, noun: str) -> str:
    return f"{n:,} {noun if n == 1 else noun + 's'}"
