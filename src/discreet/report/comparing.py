"""Two results of one kind side by side: which figures changed, and whether the verdict did."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError, must_be
from discreet.figures import Figure, Outcome, Unavailable
from discreet.notebooks import Result
from discreet.report import words
from discreet.report.document import Document, Section, Table, Text
from discreet.report.reading import outcome_of
from discreet.report.render_json import known, of_kind
from discreet.report.result_tables import main_figures
from discreet.report.results import json_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A figure before and after; None where only one of the results has it.

    `change` is after minus before, None where one of them is not known.
    """

    name: str
    before: Outcome | float | None
    after: Outcome | float | None

    @property
    def change(self) -> float | None:
        """After minus before."""
        first, last = _number(self.before), _number(self.after)
        return None if first is None or last is None else last - first

    @property
    def is_changed(self) -> bool:
        """Whether anything about the figure is another."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Result):
    """The main figures of two results of one `kind`, and their verdicts (None where none was
    asked for)."""

    kind: str
    differences: tuple[Difference, ...]
    verdicts: tuple[str | None, str | None]

    @property
    def changed(self) -> tuple[Difference, ...]:
        """The figures that differ."""
        return tuple(one for one in self.differences if one.is_changed)


def compared(before: Any, after: Any) -> Comparison:
    """The differences from one result to another; raises InputError where their kinds differ."""
    if not isinstance(after, Result):
        rule = "another result of the same kind"
        raise InputError(must_be("other", rule, type(after).__name__))
    first, last = json_of(before), json_of(after)
    kind = first["kind"]
    if last["kind"] != kind:
        raise InputError(must_be("other", f"a result of the kind {kind!r}", repr(last["kind"])))
    mine, others = _main(first), _main(last)
    return Comparison(
        kind=kind,
        differences=tuple(
            Difference(name=name, before=mine.get(name), after=others.get(name))
            for name in dict.fromkeys((*mine, *others))
        ),
        verdicts=(_verdict(first), _verdict(last)),
    )


def _main(data: Mapping[str, Any]) -> dict[str, Outcome | float]:
    return {
        name: outcome_of(value) if isinstance(value, Mapping) else value
        for name, value in main_figures(data)
    }


def _verdict(data: Mapping[str, Any]) -> str | None:
    found = data.get("verdict")
    if isinstance(found, Mapping):
        found = found.get("verdict", found.get("decision"))
    return None if found is None else str(found)


def _number(value: Outcome | float | None) -> float | None:
    if isinstance(value, Figure):
        return value.value
    return None if isinstance(value, Unavailable) else value


def comparison_document(comparison: Comparison) -> Document:
    """The verdicts, and every main figure that differs."""
    rows = tuple(
        (one.name, _words(one.before), _words(one.after), _signed(one.change))
        for one in comparison.changed
    )
    same = len(comparison.differences) - len(rows)
    told = Text(f"{words.plural(same, 'figure')} did not change.", "soft")
    table = [Table(header=("figure", "before", "after", "change"), rows=rows)] if rows else []
    return Document(
        title=f"What changed between two results of {comparison.kind}",
        mark="confidential",
        blocks=(Section("Differences", (*_verdict_text(comparison), *table, told)),),
    )


def _verdict_text(comparison: Comparison) -> tuple[Text, ...]:
    before, after = comparison.verdicts
    if before is None and after is None:
        return ()
    if before == after:
        return (Text(f"Verdict: {after}, as before."),)
    return (Text(f"Verdict: {after or 'none'}; before: {before or 'none'}.", "strong"),)


def _words(value: Outcome | float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, Unavailable):
        return "not available"
    return words.outcome(value) if isinstance(value, Figure) else words.expected(value)


def _signed(change: float | None) -> str:
    if change is None:
        return "–"
    return f"+{words.expected(change)}" if change > 0 else words.expected(change)


@of_kind("comparison")
def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Every figure of both, the change, and the verdicts."""
    before, after = comparison.verdicts
    return {
        "of": comparison.kind,
        "differences": [
            known(
                figure=one.name,
                before=_json(one.before),
                after=_json(one.after),
                change=one.change,
            )
            for one in comparison.differences
        ],
        "verdicts": known(before=before, after=after),
    }


def _json(value: Outcome | float | None) -> Any:
    return value.to_json() if isinstance(value, Figure | Unavailable) else value
