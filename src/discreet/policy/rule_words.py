"""Numbers and figures of rules as people write them."""

from discreet.figures import Figure, Outcome, Unavailable
from discreet.numerics.rounding import alike

MOST_PERSONS = 1e15


def records(number: int) -> str:
    """So many records, in words."""
    return "1 record" if number == 1 else f"{number:,} records"


def number_of(value: float) -> str:
    """A number as people write it."""
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.3g}"


def told_risk(risk: float) -> str:
    """A probability in few digits."""
    return "1" if alike(risk, 1.0) else f"{risk:.2g}"


def interval(value: Outcome) -> str:
    """A figure with its limits, or why there is none."""
    if isinstance(value, Unavailable):
        return "not known"
    if value.value is None:
        return f"from {number_of(value.low or 0.0)} to {number_of(value.high or 0.0)}"
    if value.low is None or value.high is None:
        return number_of(value.value)
    return f"{number_of(value.value)} ({number_of(value.low)} to {number_of(value.high)})"


def persons(value: Figure) -> str:
    """A number of persons with its limits, in whole numbers."""
    if value.value is None or value.low is None or value.high is None:
        return interval(value)
    return f"about {round(value.value):,} ({round(value.low):,} to {round(value.high):,})"


def percent(value: Figure) -> str:
    """A share with its limits, in percent."""

    def one(number: float) -> str:
        return f"{100 * number:.3g}"

    if value.value is None:
        return f"from {one(value.low or 0.0)} to {one(value.high or 0.0)} %"
    if value.low is None or value.high is None:
        return f"{one(value.value)} %"
    return f"{one(value.value)} % ({one(value.low)} to {one(value.high)})"


def has(number: int) -> str:
    """The verb after so many."""
    return "has" if number == 1 else "have"


def are(number: int) -> str:
    """The verb after so many."""
    return "is" if number == 1 else "are"
