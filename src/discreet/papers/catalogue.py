"""All five papers, by name."""

from collections.abc import Iterable, Iterator
from importlib import import_module

from discreet.errors import InputError, must_be
from discreet.papers.rows import Row
from discreet.progress import Progress, silent

HOMES = {  # name to module, each with a function `rows`
    "cohen-sackrowitz": "discreet.papers.cohen_sackrowitz",
    "dobra-fienberg-trottini": "discreet.papers.dobra",
    "polettini": "discreet.papers.polettini",
    "takemura": "discreet.papers.takemura",
    "kadane-krishnan-shmueli": "discreet.papers.kadane",
}
NAMES = tuple(HOMES)


def paper_rows(names: Iterable[str] = NAMES, *, progress: Progress = silent) -> tuple[Row, ...]:
    """Every figure of the papers named, computed now, in the order of the list above.

    Raises InputError for a name that is none of them.
    """
    wanted = set(names)
    if unknown := sorted(wanted - set(NAMES)):
        raise InputError(must_be("paper", " or ".join(NAMES), unknown[0]))
    return tuple(_chosen([name for name in NAMES if name in wanted], progress))


def _chosen(names: list[str], progress: Progress) -> Iterator[Row]:
    for number, name in enumerate(names):
        progress(name, number / len(names))
        inner = _within(name, number, len(names), progress)
        yield from import_module(HOMES[name]).rows(inner)


def _within(name: str, number: int, papers: int, progress: Progress) -> Progress:
    """What a paper's own work tells, as a part of the whole."""

    def tell(step: str, fraction: float | None) -> None:
        progress(f"{name}: {step}", (number + (fraction or 0.0)) / papers)

    return tell
