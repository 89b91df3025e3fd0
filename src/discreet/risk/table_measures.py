"""How bad a release is for the small cells of a table (dobra section 4, and what it leaves out)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.fiber.counting import Count
from discreet.figures import Figure, How, Outcome, Unavailable

Law = Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMeasures:
    """The measures under one law of the table.

    `true_table` is the probability of the whole table, `small_cells_identified` (5) the share of
    small cells whose most probable value is right and has a probability above the confidence, and
    `expected_identified` the sum of the probabilities of the true values.
    """

    true_table: Outcome
    small_cells_identified: Outcome
    expected_identified: Outcome


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
    laws: Sequence[Law],
    errors: Sequence[Law],
    truths: Sequence[int],
    *,
    confidence: float,
    true_table: Outcome,
) -> TableMeasures:
    """The measures of the small cells, whose laws, their standard errors and truths are given.

    A simulated law is an estimate; the share found is then one too, and says how many cells lie so
    near the confidence that two standard errors could turn them.
    """
    if not laws:
        none = Unavailable("no cell is small, so there is none to protect")
        return TableMeasures(
            true_table=true_table, small_cells_identified=none, expected_identified=none
        )
    exact = all(error == 0 for law in errors for error in law.values())
    found = [_is_found(law, truth, confidence) for law, truth in zip(laws, truths, strict=True)]
    expected = sum(law.get(truth, 0.0) for law, truth in zip(laws, truths, strict=True))
    spread = sum(error.get(truth, 0.0) for error, truth in zip(errors, truths, strict=True))
    doubtful = sum(_is_doubtful(law, se, confidence) for law, se in zip(laws, errors, strict=True))
    how = How.EXACT if exact else How.ESTIMATE
    note = "" if not doubtful else f"{doubtful} of the cells are near the confidence"
    return TableMeasures(
        true_table=true_table,
        small_cells_identified=Figure(value=sum(found) / len(found), how=how, note=note),
        expected_identified=Figure(
            value=expected, how=how, standard_error=None if exact else spread
        ),
    )


def best_value(law: Law) -> int:
    """The most probable value; of several, the least."""
    return max(law, key=lambda q: (law[q], -q))


def _is_found(law: Law, truth: int, confidence: float) -> bool:
    best = best_value(law)
    return best == truth and law[best] > confidence


def _is_doubtful(law: Law, errors: Law, confidence: float) -> bool:
    best = best_value(law)
    second = max((p for q, p in law.items() if q != best), default=0.0)
    margin = 2 * errors.get(best, 0.0)
    return margin > 0 and (abs(law[best] - confidence) < margin or law[best] - second < 2 * margin)
