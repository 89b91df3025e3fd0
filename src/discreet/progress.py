"""Telling whoever waits how far the work is.

Work that takes long is given a `Progress`; it calls it with the name of the step and the fraction
done, or None when the fraction is not known. The library never prints.
"""

from typing import Protocol


class Progress(Protocol):
    """Receives the step under way and the fraction of it that is done."""

    def __call__(self, step: str, fraction: float | None) -> None: ...


def silent(step: str, fraction: float | None) -> None:
    """Tells nobody."""
