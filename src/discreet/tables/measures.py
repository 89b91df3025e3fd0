"""How bad a release is for the small cells of a table (dobra section 4, and what it leaves out)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.fiber.sums.counting import Count
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import above

Distribution = Mapping[int, float]
TOO_SMALL = "not zero, but too small for a floating-point number"
ROUNDING = 1e-9  # probabilities as near as this are alike, so that noise turns no even chance
ERRORS = 2.0  # standard errors that a distribution may be off
NO_ERROR = 1e-7  # √ε and more: what a standard error of 0 may come out as


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMeasures:
    """The measures under one distribution of the table.

    `true_table` is the probability of the whole table, `small_cells_identified` (5) the share of
    small cells whose most probable value is right and has a probability above the confidence,
    `expected_identified` the sum of the probabilities of the true values, and `true_count` the
    greatest of these.
    """

    true_table: Outcome
    small_cells_identified: Outcome
    expected_identified: Outcome
    true_count: Outcome


def tightness(widths: Sequence[int], exact: bool) -> Outcome:
    """(3): minus the least width of the bounds of a small cell; 0 means that one is known.

    Bounds that are not all exact may be wider than the truth, so that the risk is at least this.
    """
    if not widths:
        return Unavailable("no cell is small, so there is none to protect")
    value = -min(widths)
    if exact:
        return Figure(value=value, how=How.EXACT)
    return Figure(value=None, low=value, high=0, how=How.BOUND, note="bounds are not all tight")


def one_over_tables(number: Count) -> Outcome:
    """1/M(T): the probability of the true table if all consistent ones are equally probable."""
    if number.value is None:
        if number.at_least > 0:
            return Figure(value=None, low=0.0, high=1 / number.at_least, how=How.BOUND)
        return Unavailable(number.note or "the tables were not counted")
    value = 1.0 / max(number.value, 1)
    if number.how is How.EXACT:
        return Figure(value=value, how=How.EXACT)
    error = None if number.standard_error is None else value**2 * number.standard_error
    return Figure(value=value, how=How.ESTIMATE, standard_error=error, note=number.note)


def table_measures(
    distributions: Sequence[Distribution],
    errors: Sequence[Distribution],
    truths: Sequence[int],
    *,
    confidence: float,
    true_table: Outcome,
    not_found: int = 0,
    rest: float = 0.0,
) -> TableMeasures:
    """The measures of the small cells, whose distributions, their standard errors and truths are
    given.

    A simulated distribution is an estimate; the share found is then one too, with limits: cells so
    near the confidence that two standard errors could turn them are found, or none of them.
    `not_found` are small cells beside, of which it is known that they are not identified, `rest`
    is the greatest probability that the true count of one of those not given may have."""
    true_table = _not_zero(true_table)
    if not distributions:
        none = Unavailable("no cell is small, so there is none to protect")
        return TableMeasures(
            true_table=true_table,
            small_cells_identified=none,
            expected_identified=none,
            true_count=none,
        )
    exact = all(map(is_exact, errors))
    expected = sum(
        distribution.get(truth, 0.0)
        for distribution, truth in zip(distributions, truths, strict=True)
    )
    spread = sum(error.get(truth, 0.0) for error, truth in zip(errors, truths, strict=True))
    return TableMeasures(
        true_table=true_table,
        small_cells_identified=share_found(
            distributions, errors, truths, confidence, not_found=not_found
        ),
        expected_identified=Figure(
            value=expected,
            how=How.EXACT if exact else How.ESTIMATE,
            standard_error=None if exact else spread,
        ),
        true_count=greatest_chance(distributions, errors, truths, rest=rest),
    )


def greatest_chance(
    distributions: Sequence[Distribution],
    errors: Sequence[Distribution],
    truths: Sequence[int],
    *,
    rest: float = 0.0,
) -> Outcome:
    """The greatest probability of a true count; those that are not given may have up to `rest`.

    Of simulated distributions its limits are the greatest of all, two standard errors either way.
    """
    triples = list(zip(distributions, errors, truths, strict=True))
    if not triples:
        return Unavailable("no cell is small, so there is none to protect")
    own = [distribution.get(truth, 0.0) for distribution, _, truth in triples]
    top = min(max(own), 1.0)
    if all(map(is_exact, errors)):
        if not above(rest, top):
            return Figure(value=top, how=How.EXACT)
        note = "small cells that were not looked at may have more"
        return Figure(value=None, low=top, high=min(rest, 1.0), how=How.BOUND, note=note)
    room = [ERRORS * error.get(truth, 0.0) for _, error, truth in triples]
    pairs = list(zip(own, room, strict=True))
    return Figure(
        value=top,
        low=max(0.0, min(top, max(p - r for p, r in pairs))),
        high=min(1.0, max(rest, *(p + r for p, r in pairs))),
        how=How.ESTIMATE,
    )


def _not_zero(true_table: Outcome) -> Outcome:
    """The true table is consistent with the release, so that its probability cannot be zero."""
    if isinstance(true_table, Figure) and true_table.value == 0:
        return replace(true_table, note=TOO_SMALL)
    return true_table


def share_found(
    distributions: Sequence[Distribution],
    errors: Sequence[Distribution],
    truths: Sequence[int],
    confidence: float,
    *,
    not_found: int = 0,
) -> Figure:
    """(5): the share of small cells whose likeliest count is right, and likelier than that.

    Exact where the distributions are. Else its limits count the cells of which two standard errors
    could turn whether the true count is found; a wrong guess near the confidence turns nothing.
    """
    triples = list(zip(distributions, errors, truths, strict=True))
    n = len(triples) + not_found
    hits = [is_found(distribution, truth, confidence) for distribution, _, truth in triples]
    if all(map(is_exact, errors)):
        return Figure(value=sum(hits) / n, how=How.EXACT)
    doubts = [
        not is_exact(own) and _is_open(distribution, own, truth, confidence)
        for distribution, own, truth in triples
    ]
    pairs = list(zip(hits, doubts, strict=True))
    note = f"{sum(doubts)} of the cells are too near the confidence to tell" if any(doubts) else ""
    return Figure(
        value=sum(hits) / n,
        low=sum(hit and not doubt for hit, doubt in pairs) / n,
        high=sum(hit or doubt for hit, doubt in pairs) / n,
        how=How.ESTIMATE,
        note=note,
    )


def _is_open(
    distribution: Distribution, errors: Distribution, truth: int, confidence: float
) -> bool:
    """Whether the true count may be found or not, two standard errors either way."""
    own, room = distribution.get(truth, 0.0), ERRORS * errors.get(truth, 0.0)
    others = [(p, ERRORS * errors.get(q, 0.0)) for q, p in distribution.items() if q != truth]
    surely = own - room > max([confidence, *(p + r for p, r in others)])
    never = own + room <= confidence or own + room < max((p - r for p, r in others), default=0.0)
    return not surely and not never


def is_exact(errors: Distribution) -> bool:
    """Whether a cell's distribution has no standard errors.

    A cell with one value has none, whatever rounding leaves of 1 − 1; a single value of draws in a
    cell with room for others has the error of the rule of succession, which is far larger.
    """
    most = NO_ERROR if len(errors) == 1 else 0.0
    return all(error <= most for error in errors.values())


def best_value(distribution: Distribution) -> int:
    """The most probable value; of several that are alike up to rounding, the least."""
    most = max(distribution.values())
    return min(q for q, p in distribution.items() if not above(most, p))


def surely_above(confidence: float) -> float:
    """What a probability must exceed to be above this confidence by more than rounding.

    The room above a confidence next to 1 is small: certainty is above every one that is not 1.
    """
    return confidence + ROUNDING * (1 - confidence)


def is_found(distribution: Distribution, truth: int, confidence: float) -> bool:
    """Whether the likeliest count is the true one, and likelier than the confidence."""
    best = best_value(distribution)
    return best == truth and distribution[best] > surely_above(confidence)
