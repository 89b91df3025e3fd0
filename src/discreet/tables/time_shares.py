"""A time limit that several steps share: each is told what is left, and what part of it is its."""

from dataclasses import dataclass, field

from discreet.fiber.working_time import working_seconds

LEAST_SECONDS = 0.2  # what a step gets even when the time is over, to give some answer


@dataclass(frozen=True, slots=True)
class Clock:
    """What is left of some seconds since it was made; None where there is no limit.

    It stands still while code is compiled."""

    seconds: float | None
    began: float = field(default_factory=working_seconds)

    def left(self) -> float | None:
        """Seconds, never quite nothing, or None where there is no limit."""
        if self.seconds is None:
            return None
        return max(self.seconds - (working_seconds() - self.began), LEAST_SECONDS)

    def share(self, part: float, most: float | None = None) -> float | None:
        """A part of what is left, and never more than `most` seconds."""
        left = self.left()
        if left is None:
            return most
        own = max(part * left, LEAST_SECONDS)
        return own if most is None else min(own, most)

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and working_seconds() - self.began >= self.seconds
