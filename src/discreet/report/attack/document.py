"""What follows from published tables, as a document."""

import re
from collections.abc import Iterator, Sequence

from discreet.figures import Figure, Unavailable
from discreet.policy.verdict import Ruling
from discreet.report import words
from discreet.report.attack.json import figures_are
from discreet.report.attack.reasons import reason
from discreet.report.document import Block, Document, Section, Table, Text
from discreet.report.reconstruction import areas_section, rebuilt_section
from discreet.report.verdict import next_section, remedies, verdict_section
from discreet.tables.linked.attack import Attack, Bounded, Followed, Linked
from discreet.tables.linked.naming import said

SHOWN, MOST_ROWS = 8, 200  # figures on the terminal, on the page
AGAIN = re.compile(r" \(\d+\)$")  # tells two tables of one description apart
FOLLOWS = ("of whom", "count", "how it follows")
CELLS = ("cell", "at least", "at most")


def attack_document(attack: Attack) -> Document:
    """The verdict, what follows and why, what the tables are, and what was taken for granted."""
    return Document(
        title="What the published tables reveal together",
        scope=tuple(scope(attack.linked, attack.options.knows)),
        blocks=tuple(_blocks(attack)),
    )


def scope(own: Linked, knows: Sequence[str]) -> Iterator[str]:
    """What was looked at; each thing that an intruder knows is a table of one figure."""
    tables, universe = own.universe.tables, own.universe
    n = words.plural(len(tables) - len(knows), "table")
    tell = words.by_number(len(tables) - len(knows), "it tells", "together they tell")
    names = [domain.name for domain in universe.domains]
    by = f", by {words.listed(names)}" if names else ""
    yield (
        f"{n} with {words.plural(universe.n_figures - len(knows), 'figure')}; {tell} "
        f"{words.plural(universe.n_atoms, 'cell')} apart{by}"
    )

    yield from (f"{called}: {_described(own, name)}" for name, called in _in_words(own).items())


def names_of_tables(own: Linked) -> dict[str, str]:
    """What to call each table: the name of its file, or its number where it is told in words."""
    return {table.name: table.name for table in own.universe.tables} | _in_words(own)


def _in_words(own: Linked) -> dict[str, str]:
    """The tables that are told in words, by number."""
    tables = zip(own.universe.tables, own.universe.rules, own.sources.holds, strict=True)
    return {
        table.name: f"table {number}"
        for number, (table, _, holds) in enumerate(tables, start=1)
        if holds
    }


def _described(own: Linked, name: str) -> str:
    pairs = zip(own.universe.tables, own.universe.rules, strict=True)
    rule = next(rule for table, rule in pairs if table.name == name)
    plain = AGAIN.sub("", name)
    return plain if rule.is_exact else f"{plain}, {rule.words}"


def _blocks(attack: Attack) -> Iterator[Block]:
    if attack.verdict is not None:
        yield verdict_section(attack.verdict, title=title(attack))
    yield follows_section(attack.derived, attack.n_derived, attack.linked)
    yield from narrow_section(attack.narrow)
    yield from _rebuilt(attack)
    yield Section("What this rests on", tuple(map(Text, circumstances(attack))))
    yield next_section(_next(attack))
    yield cells_section(attack.cells)
    yield tables_section(attack.linked)


def title(attack: Attack) -> str:
    """What became of the tables; they are out already."""
    if attack.verdict is None:
        return ""
    return {
        "kept": "nothing small follows",
        "broken": "the tables give small figures away",
        "undecided": "undecided",
    }[attack.verdict.ruling.value]


def follows_section(derived: Sequence[Followed], number: int, own: Linked) -> Section:
    """The figures that no table shows, those of persons first, each with its derivation."""
    title = "What follows although no table shows it"
    if not number:
        return Section(title, (Text("No figure that is not shown follows from the tables."),))
    persons = [one for one in derived if one.lower > 0]
    zeros = len(derived) - len(persons)
    called = names_of_tables(own)
    rows = tuple(
        (one.words, words.count(one.lower), reason(one, called)) for one in persons[:MOST_ROWS]
    )
    table = Table(header=FOLLOWS, rows=rows, sides="lrl", most=SHOWN, first="smallest")
    lines = tuple(Text(line, "soft") for line in _in_all(number, len(rows), zeros))
    return Section(title, (*((table,) if rows else ()), *lines))


def _in_all(number: int, listed: int, zeros: int) -> Iterator[str]:
    """How many figures follow, where the table does not list them all."""
    if number == listed:
        return
    if zeros == number:
        yield f"{words.plural(number, 'zero')} {words.by_number(number, 'follows', 'follow')}."
        return
    of_zeros = f", {words.plural(zeros, 'zero')} among them" if zeros else ""
    yield f"In all {words.plural(number, 'figure')} follow{of_zeros}; --json lists them."


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
    line = f"Small for certain, though the exact count is open: {'; '.join(first)}{more}."
    yield Section("Nearly known", (Text(line),))


def circumstances(attack: Attack) -> Iterator[str]:
    """What the answer rests on, and that small counts are printed, where some are."""
    printed = attack.findings.the(f"printed:{attack.options.most_small}")
    rules = () if attack.verdict is None else attack.verdict.rules
    is_judged = any(rule.rule == "printed_counts" for rule in rules)
    if isinstance(printed.value, Figure) and printed.value.value and not is_judged:
        yield words.full(f"{printed.found}, which the verdict here is not about")
    yield f"Tables consistent with all figures: {words.tables(attack.n_tables)}."
    yield from unproved(attack.unproved)
    yield from also_known(attack.options.knows)
    yield from noted(attack.linked, attack.notes)


def unproved(number: int) -> Iterator[str]:
    """What may follow too."""
    if number:
        n = words.plural(number, "more figure", "more figures")
        verb = words.by_number(number, "is", "are")
        yield f"{n} {verb} the same in every table that was looked at; that was not proved."


def also_known(knows: Sequence[str]) -> Iterator[str]:
    """What was told of an intruder."""
    yield from (f"The intruder also knows: {text}." for text in knows)


def noted(own: Linked, notes: Sequence[str]) -> Iterator[str]:
    """What was noted on the way, in sentences; the name of a table stays as it is written."""
    names = tuple(table.name for table in own.universe.tables)
    for note in notes:
        text = f"In {note}" if note.startswith(names) else note
        yield words.full(text.replace("(absent zero)", "(--absent zero)"))


def cells_section(cells: Sequence[Bounded]) -> Section:
    """The bounds of the finest cells."""
    rows = tuple((said(c.cell), words.count(c.lower), words.count(c.upper)) for c in cells)
    table = Table(header=CELLS, rows=rows[:MOST_ROWS], sides="lrr")
    return Section("The finest cells", (table,) if rows else (), only="detail")


def tables_section(own: Linked) -> Section:
    """The tables as they were understood."""
    called = names_of_tables(own)
    rows = tuple(
        (
            called[table.name],
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
    verdict = attack.verdict
    if verdict is None or verdict.ruling is Ruling.KEPT:
        yield "Keep these files: the next table must be judged with them"
    elif verdict.ruling is Ruling.UNDECIDED:
        yield from remedies(verdict)
    else:
        yield (
            "Whoever holds the data finds what may go out together with "
            "`discreet choose DATA --tables … --max-risk 0`"
        )
