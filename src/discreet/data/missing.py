"""What a missing key value means: a named policy, and the codes that stand for one.

A policy says whether a missing value is a level of its own, whether an incomplete record is counted
at all, whether it is accepted, and how it is matched. Engines and reports read these answers and
never the name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from discreet.errors import InputError, must_be

EVERY_COLUMN = "*"
KINDS = ("missing", "suppressed", "not applicable")
MISSING_LABELS = tuple(f"({kind})" for kind in KINDS)  # how levels that are no values are shown
Matching = Literal["wildcard", "conservative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPolicy:
    """How records with missing key values are treated.

    `is_a_level`: a missing value is coded as a level. `accepts`: records may have missing values.
    `matching`: how a record with missing values is matched with others, None for like any other.
    """

    name: str
    meaning: str
    is_a_level: bool = False
    accepts: bool = True
    matching: Matching | None = None

    def in_words(self, missing_weight: float) -> str:
        """Its meaning, with what a match counts that needs a missing value where that matters."""
        if self.matching != "wildcard" or missing_weight == 1:
            return self.meaning
        return f"{self.meaning}; a match that needs a missing value counts {missing_weight:g}"


POLICIES = {
    policy.name: policy
    for policy in (
        MissingPolicy(
            name="wildcard",
            meaning="a missing value matches any value, and any value matches it",
            is_a_level=True,
            matching="wildcard",
        ),
        MissingPolicy(
            name="conservative",
            meaning="a complete record is matched with complete records alone; an incomplete one "
            "with all complete records that agree with what is known of it",
            is_a_level=True,
            matching="conservative",
        ),
        MissingPolicy(
            name="category",
            meaning="a missing value counts as a level of its own: it matches other missing values "
            "and nothing else",
            is_a_level=True,
        ),
        MissingPolicy(
            name="drop",
            meaning="records with a missing key value are left out of every figure",
        ),
        MissingPolicy(
            name="error",
            meaning="no missing key value is accepted",
            accepts=False,
        ),
    )
}


def missing_policy(name: str) -> MissingPolicy:
    """The policy of that name."""
    if name not in POLICIES:
        raise InputError(must_be("missing", "one of " + ", ".join(POLICIES), repr(name)))
    return POLICIES[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCodes:
    """Values, as text, that stand for something else: by column, or under '*' for every column.

    `missing`: not known. `suppressed`: known but taken out, a level of its own where missing is one
    and else like missing. `not_applicable`: there is nothing to know, which is a level like others.
    Where a file labels its values, a code may be a value or a label.
    """

    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    suppressed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    not_applicable: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in sorted({*self.missing, *self.suppressed, *self.not_applicable}):
            _check_kinds(column, self.of(column))

    def of(
        self, column: str, labels: Mapping[str, str] | None = None
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Values of a column that stand for missing, suppressed and not applicable.

        `labels` has the label of each value. Checked: no code is a value and the label of another,
        and no value is of two kinds.
        """
        kinds = self.missing, self.suppressed, self.not_applicable
        missing, suppressed, not_applicable = (
            tuple(
                dict.fromkeys(
                    value
                    for code in _codes(kind, column)
                    for value in values_meant(code, column, labels or {})
                )
            )
            for kind in kinds
        )
        _check_kinds(column, (missing, suppressed, not_applicable))
        return missing, suppressed, not_applicable

    def values(
        self, columns: Sequence[str], labels: Mapping[str, Mapping[str, str]]
    ) -> dict[str, tuple[str, ...]]:
        """For each of the columns that has codes, the values that they stand for."""
        kinds = {column: self.of(column, labels.get(column, {})) for column in columns}
        return {column: sum(of, ()) for column, of in kinds.items() if any(of)}

    def given(self) -> Iterator[tuple[str, str, str]]:
        """Every code as it was given: its kind, its column or '*', and the code."""
        kinds = self.missing, self.suppressed, self.not_applicable
        for kind, codes in zip(KINDS, kinds, strict=True):
            for column, listed in codes.items():
                yield from ((kind, column, code) for code in listed)


def values_meant(code: str, column: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """What a code stands for in a column: that value, and every value that it is the label of.

    Checked: it is not one labelled value and the label of another.
    """
    labelled = [value for value, label in labels.items() if label == code and value != code]
    if labelled and labels.get(code, code) != code:
        raise _ambiguous(code, column)
    return (code, *labelled)


def check_told_apart(
    code: str, column: str, labels: Mapping[str, str], occurring: Mapping[str, int]
) -> None:
    """A code that labels a value is no other value that occurs; raises InputError where it is."""
    labelled = [value for value in values_meant(code, column, labels) if value != code]
    if occurring.get(code) and any(occurring.get(value) for value in labelled):
        raise _ambiguous(code, column)


def _ambiguous(code: str, column: str) -> InputError:
    rule = "a value or the label of one"
    got = "one value and the label of another"
    name = f"code {code!r} of {column!r}"
    return InputError(must_be(name, rule, got, remedy="label the values apart"))


def _check_kinds(column: str, kinds: Sequence[Sequence[str]]) -> None:
    listed = [code for codes in kinds for code in codes]
    twice = next((code for code in listed if listed.count(code) > 1), None)
    if twice is not None:
        name = "every column" if column == EVERY_COLUMN else repr(column)
        rule = "codes of one kind each (missing, suppressed or not applicable)"
        raise InputError(must_be(f"codes of {name}", rule, f"{twice!r} as two kinds"))


def _codes(codes: Mapping[str, Sequence[str]], column: str) -> tuple[str, ...]:
    everywhere = codes.get(EVERY_COLUMN, ())
    here = codes.get(column, ()) if column != EVERY_COLUMN else ()
    return tuple(dict.fromkeys((*everywhere, *here)))
