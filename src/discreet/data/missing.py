"""What a missing key value means: a named policy.

A policy says whether a missing value is a level of its own, whether an incomplete record is counted
at all, and whether it is accepted. Engines and reports read these answers and never the name.
"""

from dataclasses import dataclass

from discreet.errors import InputError, must_be


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPolicy:
    """How records with missing key values are treated."""

    name: str
    meaning: str
    is_a_level: bool = False
    accepts: bool = True


POLICIES = {
    policy.name: policy
    for policy in (
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
