"""What a missing key value means: a named policy, and the codes that stand for one.

A policy says whether a missing value is a level of its own, whether an incomplete record is counted
at all, whether it is accepted, and how it is matched. Engines and reports read these answers and
never the name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from discreet.errors import InputError, must_be

EVERY_COLUMN = "*"
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
    """

    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    suppressed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    not_applicable: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = {*self.missing, *self.suppressed, *self.not_applicable}
        for column in sorted(columns):
            kinds = self.of(column)
            listed = [code for codes in kinds for code in codes]
            twice = next((code for code in listed if listed.count(code) > 1), None)
            if twice is not None:
                name = "every column" if column == EVERY_COLUMN else repr(column)
                rule = "codes of one kind each (missing, suppressed or not applicable)"
                raise InputError(must_be(f"codes of {name}", rule, f"{twice!r} as two kinds"))

    def of(self, column: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Codes of a column: missing, suppressed, not applicable."""
        return (
            _codes(self.missing, column),
            _codes(self.suppressed, column),
            _codes(self.not_applicable, column),
        )


def _codes(codes: Mapping[str, Sequence[str]], column: str) -> tuple[str, ...]:
    everywhere = codes.get(EVERY_COLUMN, ())
    here = codes.get(column, ()) if column != EVERY_COLUMN else ()
    return tuple(dict.fromkeys((*everywhere, *here)))
