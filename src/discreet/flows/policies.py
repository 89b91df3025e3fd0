"""The policies that come with Discreet, and those in files."""

from pathlib import Path

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
    return policy_of(source)
