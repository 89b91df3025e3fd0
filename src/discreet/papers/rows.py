"""One row for each figure of a paper: what is printed, what comes out here, and the verdict.

The verdict is worked out, never written down. A printed number agrees with a computed one if that
rounds to it: they differ by at most half a unit of the last digit printed. A row that does not
agree needs a declared reason, with a page that gives the argument; without one it `disagrees`. A
row whose figure could not be had here is `not computed`, and says why.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from discreet.errors import must_be

Value = int | float | str | None
Part = TypeVar("Part")

DASHES = ("—", "–", "-")  # what a paper prints where it has no value
ROUNDING = 1e-9  # of a unit of the last digit, for ties and the arithmetic of floats
MOST_ERRORS = 4.0  # standard errors by which a simulation may be off
FULL = 4  # decimals beyond which a computed value is shown with no more of them
NOT_SO = "not so"
PAGES = "docs/slips"
SAME = "the same"
NUMBER = re.compile(r"(?<![A-Za-z_\d.,(^−])\d[\d,]*(?:\.\d+)?")  # no index, label or exponent


class RowVerdict(StrEnum):
    """What is to be thought of a printed figure."""

    AGREES = "agrees"
    SLIP = "paper slip"
    SIMULATED = "paper simulated"
    NOT_PUBLIC = "data not public"
    DISAGREES = "disagrees"
    NOT_COMPUTED = "not computed"


class NotComputedError(Exception):
    """A figure cannot be had; the message says why."""


class Kind(StrEnum):
    """What a paper prints: numbers, a formula (then its value stands here), or words."""

    NUMBERS = "numbers"
    FORMULA = "formula"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A printed figure, or a few that belong together, beside the computed ones.

    `reason` is what a difference is put down to, with its `page` in docs/slips. `errors` are the
    standard errors of a paper's simulation and ours together, one for each number. `missing` says
    why nothing could be computed.
    """

    paper: str
    figure: str
    printed: tuple[str, ...]
    computed: tuple[Value, ...]
    note: str = ""
    kind: Kind = Kind.NUMBERS
    reason: RowVerdict | None = None
    page: str | None = None
    errors: tuple[float, ...] = ()
    missing: str = ""

    def __post_init__(self) -> None:
        if len(self.printed) != len(self.computed) or not self.printed:
            counts = f"{len(self.printed)} and {len(self.computed)}"
            raise ValueError(must_be("printed and computed", "equally many", counts))
        if self.errors and len(self.errors) != len(self.printed):
            raise ValueError(must_be("errors", "one for each number", len(self.errors)))

    @property
    def verdict(self) -> RowVerdict:
        """By the rule of this module."""
        if self.missing:
            return RowVerdict.NOT_COMPUTED
        if all(self.matches):
            return RowVerdict.AGREES
        if self.reason is RowVerdict.SIMULATED and not self._is_near:
            return RowVerdict.DISAGREES
        if self.reason is RowVerdict.NOT_PUBLIC and set(self.computed) != {None}:
            return RowVerdict.DISAGREES
        return self.reason or RowVerdict.DISAGREES

    @property
    def matches(self) -> tuple[bool, ...]:
        """Whether each printed number, or text, agrees with the computed one."""
        pairs = zip(self.printed, self.computed, strict=True)
        return tuple(agree(text, value) for text, value in pairs)

    @property
    def _is_near(self) -> bool:
        """Whether a simulation as long as the paper's may well have given what is printed."""
        errors = self.errors or (0.0,) * len(self.printed)
        return all(
            agree(text, value)
            or (
                isinstance(value, int | float)
                and abs(float(number(text)) - value) <= half_unit(text) + MOST_ERRORS * error
            )
            for text, value, error in zip(self.printed, self.computed, errors, strict=True)
        )

    @property
    def n_numbers(self) -> int:
        """Printed numbers that were compared; the value of a formula is none, a missing one too."""
        if self.kind is Kind.FORMULA or self.missing:
            return 0
        return sum(
            1 if text in DASHES or "/" in text else len(NUMBER.findall(text))
            for text in self.printed
        )

    def to_json(self) -> dict[str, Any]:
        """The names of the design first, then each number by itself and where the argument is."""
        return {
            "paper": self.paper,
            "figure": self.figure,
            "printed": " ".join(self.printed),
            "computed": " ".join(_plain(value) for value in self.computed),
            "verdict": self.verdict.value,
            "note": self.note,
            "kind": self.kind.value,
            "numbers": self.n_numbers,
            "values": [
                {"printed": text, "computed": value, "agrees": same}
                for text, value, same in zip(self.printed, self.computed, self.matches, strict=True)
            ],
            "page": self.link,
        } | ({"unavailable": self.missing} if self.missing else {})

    @property
    def link(self) -> str | None:
        """The page with the argument, where there is one to make."""
        needed = self.page and self.verdict not in (RowVerdict.AGREES, RowVerdict.NOT_COMPUTED)
        return f"{PAGES}/{self.page}.md" if needed else None

    @property
    def shown(self) -> tuple[str, ...]:
        """The computed values, with two digits more than printed where they are no whole numbers.

        A value that cannot be had is a dash where the paper prints one, too, else a question mark;
        a text that is the printed one is not said again.
        """
        if self.missing:
            return ("–",)
        if self.kind is Kind.STATEMENT and self.verdict is RowVerdict.AGREES:
            return ("holds",)
        pairs = zip(self.printed, self.computed, strict=True)
        return tuple(_shown(text, value) for text, value in pairs)


def row(
    paper: str,
    figure: str,
    printed: str | Sequence[str],
    computed: Value | Iterable[Value] | Callable[[], Value | Iterable[Value]],
    note: str | Callable[[], str] = "",
    *,
    kind: Kind = Kind.NUMBERS,
    slip: str | None = None,
    simulated: str | None = None,
    not_public: str | None = None,
    errors: Iterable[float] | Callable[[], Iterable[float]] = (),
) -> Row:
    """A row; printed numbers may stand in one text with spaces between them.

    What may fail is given as a function: where it raises NotComputedError, the row stays and says
    why. At most one of `slip`, `simulated` and `not_public` names the page of the reason.
    """
    reasons = {
        RowVerdict.SLIP: slip,
        RowVerdict.SIMULATED: simulated,
        RowVerdict.NOT_PUBLIC: not_public,
    }
    reason = next((verdict for verdict, page in reasons.items() if page), None)
    texts = tuple(printed.split()) if isinstance(printed, str) else tuple(printed)
    missing = ""
    try:
        values, said, off = _values(_had(computed)), _had(note), tuple(_had(errors))
    except NotComputedError as why:
        missing = str(why)
        values, said, off = (None,) * len(texts), f"not computed: {missing}", ()
    return Row(
        paper=paper,
        figure=figure,
        printed=texts,
        computed=values,
        note=said,
        kind=kind,
        reason=reason,
        page=reasons[reason] if reason else None,
        errors=off,
        missing=missing,
    )


def _had(part: Part | Callable[[], Part]) -> Part:
    """A part of a row, computed now if it is a function."""
    return part() if callable(part) else part


def _values(computed: Value | Iterable[Value]) -> tuple[Value, ...]:
    """Plain numbers, of which there may be one alone."""
    alone = computed is None or isinstance(computed, int | float | str)
    values: Iterable[Value] = (computed,) if alone else computed  # type: ignore[assignment]
    return tuple(getattr(value, "item", lambda value=value: value)() for value in values)


def claim(text: str, holds: bool) -> str:
    """What is computed of a statement in words: the statement itself, if it holds."""
    return text if holds else NOT_SO


def agree(printed: str, value: Value) -> bool:
    """Whether a computed value is what is printed, to the last digit printed."""
    if value is None:
        return printed in DASHES
    if isinstance(value, str):
        return printed == value
    if printed in DASHES or not NUMBER.search(printed):
        return False
    if "/" in printed:
        return abs(value - float(Fraction(printed))) <= ROUNDING * abs(value)
    if isinstance(value, int):
        return abs(number(printed) - value) <= Decimal(half_unit(printed))
    unit = half_unit(printed) or 1.0  # a float may be a whole number but for rounding
    return abs(float(number(printed)) - value) <= half_unit(printed) + ROUNDING * unit


def number(printed: str) -> Decimal:
    """The printed number, without the marks of its thousands."""
    return Decimal(printed.replace(",", ""))


def half_unit(printed: str) -> float:
    """Half a unit of the last digit printed; 0 for a whole number, which must be met exactly."""
    exponent = number(printed).as_tuple().exponent
    return 0.0 if exponent == 0 else 0.5 * 10.0 ** int(exponent)


def _plain(value: Value) -> str:
    """A computed value to ten digits, without marks of thousands."""
    return "?" if value is None else value if isinstance(value, str) else f"{value:.10g}"


def _shown(printed: str, value: Value) -> str:
    if value is None:
        return printed if printed in DASHES else "?"
    if isinstance(value, str):
        return SAME if value == printed else value
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e6):
        return f"{int(value):,}"
    mantissa, _, exponent = printed.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    more = 0 if decimals > FULL else 2 if decimals else 4
    if exponent or (decimals <= FULL and not 1e-3 <= abs(value) < 1e7):
        return f"{value:.{decimals + more}e}"
    return f"{value:.{decimals + more}f}"
