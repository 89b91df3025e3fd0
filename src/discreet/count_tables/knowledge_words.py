"""Is what an intruder is said to know true of the holder's table? Told in the words it was said
in.

The complaint repeats what was said and names what in the table speaks against it; no count
of the table is printed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.knowledge_notation import parse_knowledge
from discreet.count_tables.knowledge_truth import check_true
from discreet.errors import InputError, must_be


def check_words(
    said: str,
    table: Mapping[int, int],
    *,
    withhold_n: bool = False,
    category: str | None = None,
) -> None:
    """Raises InputError that says which of the words contradicts what in the table."""
    wrong = [f"{word!r} against {what}" for word, what in _contradictions(said, table, withhold_n)]
    if wrong:
        where = "the table" if category is None else f"the table of {category}"
        rule = f"true of {where}, as what someone knows is"
        remedy = "leave out what is not true, or correct the table"
        raise InputError(must_be("knows", rule, "; ".join(wrong), remedy=remedy))


def _contradictions(
    said: str, table: Mapping[int, int], withhold_n: bool
) -> Iterator[tuple[str, str]]:
    """Each word that is not true by itself, with what it is about."""
    whole = parse_knowledge(said)
    shapes = " beside 'nozeros'" if whole.no_zeros else ""
    for word in filter(None, (part.strip() for part in said.split(","))):
        known = parse_knowledge(word)
        if known.shape is None:
            if not _is_true(known, table, withhold_n):
                yield word, _about(known)
        elif not _is_true(_with_zeros(known, whole), table, withhold_n):
            yield word, f"the order of the table's counts{shapes}"


def _with_zeros(known: Knowledge, whole: Knowledge) -> Knowledge:
    """A shape with what says where it begins."""
    return replace(known, no_zeros=whole.no_zeros, n=whole.n)


def _is_true(known: Knowledge, table: Mapping[int, int], withhold_n: bool) -> bool:
    try:
        check_true(known, table, n_is_known=not withhold_n)
    except InputError:
        return False
    return True


def _about(known: Knowledge) -> str:
    if known.largest is not None:
        return "the table's largest value"
    if known.n is not None:
        return "the table's number of observations"
    value = next(iter(known.cells), 0)
    return f"the table's own count of value {value}"
