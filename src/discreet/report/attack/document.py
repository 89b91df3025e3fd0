"""What follows from published tables, as a document."""

from collections.abc import Iterator, Sequence

from discreet.figures import Unavailable
from discreet.report import words
from discreet.report.attack.json import figures_are
from discreet.report.document import Block, Document, Section, Table, Text
from discreet.report.reconstruction import areas_section, rebuilt_section
from discreet.report.verdict import next_section, verdict_section
from discreet.tables.linked.attack import Attack, Bounded, Followed, Linked
from discreet.tables.linked.naming import said

SHOWN, MOST_ROWS = 8, 200  # figures on the terminal, on the page
FOLLOWS = ("of whom", "count", "how it follows")
CELLS = ("cell", "at least", "at most")


def attack_document(attack: Attack) -> Document:
    """The verdict, what follows and why, what the tables are, and what was taken for granted."""
    return Document(
        title="What the published tables reveal together",
        scope=tuple(scope(attack.linked)),
        blocks=tuple(_blocks(attack)),
    )


def scope(own: Linked) -> Iterator[str]:
    """What was looked at."""
    tables, universe = own.universe.tables, own.universe
    n = words.plural(len(tables), "table")
    names = [domain.name for domain in universe.domains]
    by = f" told apart by {words.listed(names)}" if names else ""
    yield (
        f"{n} with {words.plural(universe.n_figures, 'figure')}, "
        f"{words.plural(universe.n_atoms, 'cell')}{by}"
    )


def _blocks(attack: Attack) -> Iterator[Block]:
    if attack.verdict is not None:
        yield verdict_section(attack.verdict, title=title(attack))
    yield follows_section(attack.derived, attack.n_derived)
    yield from narrow_section(attack.narrow)
    yield from _rebuilt(attack)
    yield Section("What this rests on", tuple(map(Text, circumstances(attack))))
    yield cells_section(attack.cells)
    yield tables_section(attack.linked)
    yield next_section(_next(attack))


def title(attack: Attack) -> str:
    """What became of the tables; they are out already."""
    if attack.verdict is None:
        return ""
    return {
        "kept": "nothing small follows",
        "broken": "the tables give small figures away",
        "undecided": "undecided",
    }[attack.verdict.ruling.value]


def follows_section(derived: Sequence[Followed], number: int) -> Section:
    """The figures that no table shows, those of persons first, each with its derivation."""
    title = "What follows although no table shows it"
    if not number:
        return Section(title, (Text("No figure that is not shown follows from the tables."),))
    persons = [one for one in derived if one.lower > 0]
    zeros = len(derived) - len(persons)
    rows = tuple((one.words, words.count(one.lower), one.derivation.sentence) for one in persons)
    lines: list[Block] = [Text(line) for line in _lines(persons[:SHOWN])]
    if number > min(len(persons), SHOWN):
        of_zeros = f", of which {zeros:,} {words.by_number(zeros, 'is', 'are')} 0" if zeros else ""
        first = "The smallest above 0 of " if persons else ""
        lines.append(Text(f"{first}{words.plural(number, 'figure')} in all{of_zeros}.", "soft"))
    table = Table(header=FOLLOWS, rows=rows[:MOST_ROWS], sides="lrl", only="detail")
    return Section(title, (*lines, table))


def _lines(derived: Sequence[Followed]) -> Iterator[str]:
    for one in derived:
        yield f"{one.words}: {one.derivation.sentence}"


def _rebuilt(attack: Attack) -> Iterator[Section]:
    """How much of the hidden table can be rebuilt, and of each area."""
    if isinstance(attack.rebuilt, Unavailable):
        line = f"Not worked out: {attack.rebuilt.reason}."
        yield Section("What can be rebuilt", (Text(line),), only="detail")
    else:
        yield rebuilt_section(attack.rebuilt)
    if attack.areas:
        yield areas_section(attack.areas)


def narrow_section(narrow: Sequence[Bounded]) -> Iterator[Section]:
    """Cells that are small for certain, though not known."""
    if not narrow:
        return
    first = [f"{said(one.cell)} ({one.lower} to {one.upper})" for one in narrow[:SHOWN]]
    more = f" and {len(narrow) - SHOWN:,} more" if len(narrow) > SHOWN else ""
    line = f"Small for certain, though not known: {'; '.join(first)}{more}."
    yield Section("Nearly known", (Text(line),))


def circumstances(attack: Attack) -> Iterator[str]:
    """What the answer rests on."""
    yield f"Tables that fit all figures: {words.tables(attack.n_tables)}."
    if attack.unproved:
        n = words.plural(attack.unproved, "more cell is", "more cells are")
        yield f"{n} the same in every table that was looked at; that was not proved."
    yield from (words.full(note) for note in attack.notes)


def cells_section(cells: Sequence[Bounded]) -> Section:
    """The bounds of the finest cells."""
    rows = tuple((said(c.cell), words.count(c.lower), words.count(c.upper)) for c in cells)
    table = Table(header=CELLS, rows=rows[:MOST_ROWS], sides="lrr")
    return Section("The finest cells", (table,) if rows else (), only="detail")


def tables_section(own: Linked) -> Section:
    """The tables as they were understood."""
    rows = tuple(
        (
            table.name,
            ", ".join(table.variables),
            words.count(table.n_figures),
            words.count(sum(not text for text in table.printed)),
            figures_are(table, rule),
        )
        for table, rule in zip(own.universe.tables, own.universe.rules, strict=True)
    )
    header = ("table", "variables", "figures", "withheld", "figures are")
    return Section("The tables", (Table(header=header, rows=rows, sides="llrrl"),), only="detail")


def _next(attack: Attack) -> Iterator[str]:
    if attack.n_derived:
        yield (
            "`discreet choose DATA --tables …` finds suppressions and roundings that are safe for "
            "all tables together."
        )
