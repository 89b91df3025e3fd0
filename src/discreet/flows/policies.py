"""The policies that come with Discreet, and those in files."""

from collections.abc import Sequence
from pathlib import Path

from discreet.errors import InputError, must_be, problem_of
from discreet.policy.policy import Policy
from discreet.policy.reading import policy_of, preset, preset_names


def policies() -> tuple[Policy, ...]:
    """The policies that come with Discreet, by name."""
    return tuple(preset(name) for name in preset_names())


def read_policy(source: str | Path) -> Policy:
    """The policy of that name, or the one in that TOML file.

    Raises InputError that names the line where the file is no policy: nothing is judged by a part
    of one.
    """
    found = policy_of(source)
    check_masks([found])
    return found


def check_masks(policies: Sequence[Policy]) -> None:
    """Raises InputError for a policy that prescribes a mask which does not exist."""
    for one in policies:
        if one.mask and one.name not in preset_names():
            from discreet.choice.proposals import parse_masks

            try:
                parse_masks(one.mask)
            except InputError as error:
                name = f"mask of {one.name}"
                rule, got = "one that choose has", repr(one.mask)
                remedy = problem_of(error.args[0]).what
                raise InputError(must_be(name, rule, got, remedy=remedy)) from error
