"""Dobra, Fienberg and Trottini: bounds, posteriors, model weights, the discussion's examples."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from discreet.belief.belief import ListedBelief
from discreet.belief.draws.augmentation import Effort
from discreet.belief.models.model_averaging import WeightKind
from discreet.fiber.system.margins import margins_of
from discreet.figures import Unavailable
from discreet.flows.audit import audit
from discreet.papers.dobra_data import (
    AVERAGE,
    BOUNDS,
    CELLS,
    CENSUS,
    DISTRIBUTIONS,
    DRAWS,
    HAIR,
    LEVELS,
    PRIORS,
    RELEASED,
    SATURATED,
    SECOND,
    TABLES,
    THIRD,
    WEIGHTS,
    census,
)
from discreet.papers.outcomes import available, number_of, value_of
from discreet.papers.rows import Kind, NotComputedError, Row, agree, half_unit, row
from discreet.progress import Progress, silent
from discreet.tables.attacks import FiniteChoice
from discreet.tables.audit import Audit
from discreet.tables.audit_options import AuditOptions
from discreet.tables.disclosure import Scenario, disclosure_risk
from discreet.tables.groups import learned_from_margins
from discreet.tables.measures import best_value
from discreet.tables.posteriors import View
from discreet.tables.refusal_loss import belief_after_refusal, shows_unique

PAPER = "dobra-fienberg-trottini"
EFFORT = Effort(n_draws=2000)
SIMULATED = "dobra-simulated-tables"
Cell = tuple[int, ...]
Distribution = tuple[list[float | None], list[float]]  # probabilities and standard errors
_row = partial(row, PAPER)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All figures, in the order of the paper."""
    yield _utility()
    as_printed = audited(WeightKind.POSTERIOR_PREDICTIVE, progress)
    yield from _measures(as_printed)
    yield from _bounds(as_printed)
    yield _prior()
    yield _row("section 5.2: cells of counts 1 and 2", "4", len(as_printed.small_cells))
    yield from _distributions(as_printed, SATURATED)
    yield from _guesses(as_printed)
    yield from _distributions(as_printed, SECOND)
    yield from _distributions(as_printed, THIRD)
    models = [name for name in as_printed.views if name != AVERAGE]
    yield _row("section 5.4: models compatible with the release", "3", len(models))
    yield from _weights(as_printed, audited(WeightKind.MARGINAL_LIKELIHOOD, progress))
    yield from _distributions(as_printed, AVERAGE)
    yield _arithmetic()
    yield from _discussion()


def audited(kind: WeightKind, progress: Progress = silent) -> Audit:
    """The audit of table 1 after the release, the three models weighed in one of the two ways."""
    return audit(
        census(),
        RELEASED,
        models=(AVERAGE,),
        model_priors=PRIORS,
        model_weights=kind,
        draws=EFFORT.n_draws,
        progress=progress,
    )


def _utility() -> Row:
    """(2) where the scientist always acts and then loses 1: the sum over j has no j in it."""
    loss = FiniteChoice(actions=[0], loss=lambda *_: 0.0, harm_of=lambda *_: 1.0)
    belief = ListedBelief.of_weights([np.array([1])], np.zeros(1))
    right = -disclosure_risk(Scenario(attacks=[(1.0, loss)]), belief, np.array([1]))
    return _row(
        "(2) where the scientist acts for certain and loses 1",
        f"{-sum(1.0 * 1.0 for _ in (1, 0)):.0f}",
        right,
        "a_1S is printed where a_jS belongs, so that one action counts twice",
        kind=Kind.FORMULA,
        slip="dobra-utility",
    )


def _measures(found: Audit) -> Iterator[Row]:
    widths = [
        int(upper) - int(lower)
        for (gender, race), text in BOUNDS.items()
        for income, (lower, upper) in enumerate(zip(*[iter(text.split())] * 2, strict=True))
        if 0 < CENSUS[LEVELS[0].index(gender), LEVELS[1].index(race), income] < 3
    ]
    yield _row(
        "(3) on Table 1",
        str(-min(widths)),
        lambda: value_of(found.tightness),
        "minus the least width of a small cell's printed bounds",
        kind=Kind.FORMULA,
    )
    yield _row(
        "section 4.2: 1/M(T) on Table 1",
        f"{1 / tables_by_income():.6e}",
        lambda: value_of(found.one_over_tables),
        lambda: (
            f"M(T) = {number_of(found.n_tables):,} tables (not printed), the product over incomes"
        ),
        kind=Kind.FORMULA,
    )


def tables_by_income() -> int:
    """Tables with both margins, by hand: for each income a 2 × 3 table with its margins."""
    count = 1
    for income in range(3):
        rows_, columns = CENSUS[:, :, income].sum(axis=1), CENSUS[:, :, income].sum(axis=0)
        ways = product(range(columns[1] + 1), range(columns[2] + 1))
        count *= sum(0 <= rows_[0] - b - c <= columns[0] for b, c in ways)
    return count


def _bounds(found: Audit) -> Iterator[Row]:
    limits = {cell.levels: (cell.lower, cell.upper) for cell in found.cells}
    for (gender, race), printed in BOUNDS.items():
        place = (LEVELS[0].index(gender), LEVELS[1].index(race))
        computed = [limit for income in range(3) for limit in limits[(*place, income)]]
        yield _row(f"Table 1, bounds, {gender} {race}", printed, computed)


def _prior() -> Row:
    """Probabilities of 0.5 in each of 18 cells would add to 9."""
    alpha = np.full(CENSUS.size, AuditOptions().alpha)
    return _row(
        "section 5.2: θ(i) = 0.5 for each of 18 cells; their sum",
        f"{0.5 * CENSUS.size:.1f}",
        float((alpha / alpha.sum()).sum()),
        "a probability cannot be 0.5 in 18 cells: the parameters α(i) are meant",
        kind=Kind.FORMULA,
        slip="dobra-prior",
    )


def _view(found: Audit, name: str) -> View:
    return available(found.views.get(name, Unavailable("the model was not looked at")))


def _distribution(found: Audit, name: str, cell: Cell) -> Distribution:
    """Pr(F = 0, 1, 2) of a cell, None where not feasible, and our standard errors."""
    levels = tuple(i - 1 for i in cell)
    place = [small.levels for small in found.small_cells].index(levels)
    view = _view(found, name)
    distribution, errors = view.distributions[place], view.errors[place]
    return [distribution.get(q) for q in range(3)], [errors.get(q, 0.0) for q in range(3)]


def _distributions(found: Audit, name: str) -> Iterator[Row]:
    for cell, printed in zip(CELLS, DISTRIBUTIONS[name], strict=True):
        yield _distribution_row(
            partial(_distribution, found, name, cell), f"Table {TABLES[name]}, cell {cell}", printed
        )


def _distribution_row(distribution: Callable[[], Distribution], figure: str, printed: str) -> Row:
    return _row(
        figure,
        printed,
        lambda: distribution()[0],
        lambda: f"{_how(max(distribution()[1]))}; print {_off(printed, *distribution())}",
        simulated=SIMULATED,
        errors=lambda: _errors(*distribution()),
    )


def _how(error: float) -> str:
    """How we got a figure."""
    return f"estimate ± {error:.3f}" if error else "exact"


def _errors(distribution: Sequence[float | None], ours: Sequence[float]) -> list[float]:
    """Standard errors of shares among 500 draws, and ours."""
    return [
        0.0 if p is None else math.hypot(error, math.sqrt(p * (1 - p) / DRAWS))
        for p, error in zip(distribution, ours, strict=True)
    ]


def _off(printed: str, distribution: Sequence[float | None], ours: Sequence[float]) -> str:
    """How far the printed figures are from ours, in standard errors of 500 draws."""
    off = [
        (abs(float(text) - p) - half_unit(text)) / error
        for text, p, error in zip(
            printed.split(), distribution, _errors(distribution, ours), strict=True
        )
        if p is not None and not agree(text, p)
    ]
    return (
        f"off by {max(off):.1f} standard errors of {DRAWS} draws" if off else "right to the digit"
    )


def _guesses(found: Audit) -> Iterator[Row]:
    """How many of the four counts the most probable value finds, ties at two digits aside."""
    truth: dict[Cell, int] = {cell: int(CENSUS[tuple(i - 1 for i in cell)]) for cell in CELLS}
    words = {
        SATURATED: ("5.2", "0"),
        SECOND: ("5.4", "1"),
        THIRD: ("5.4", "3"),
        AVERAGE: ("5.4", "1"),
    }
    for name, (section, printed) in words.items():
        figure = f"section {section}: counts guessed right of four, {_short(name)}"
        yield _guess_row(partial(_found_cells, found, name, truth), figure, printed)


def _guess_row(right: Callable[[], list[Cell]], figure: str, printed: str) -> Row:
    return _row(
        figure,
        printed,
        lambda: len(right()),
        lambda: f"found: {', '.join(map(str, right())) or 'none'}",
    )


def _found_cells(found: Audit, name: str, truth: Mapping[Cell, int]) -> list[Cell]:
    """The cells whose most probable value is the true one."""
    distributions = {cell: dict(enumerate(_distribution(found, name, cell)[0])) for cell in CELLS}
    return [cell for cell in CELLS if _finds(distributions[cell], truth[cell])]


def _finds(distribution: Mapping[int, float | None], truth: int) -> bool:
    known = {q: p for q, p in distribution.items() if p is not None}
    best = best_value(known)
    rivals = [p for q, p in known.items() if q != best]
    return best == truth and round(known[best], 2) > round(max(rivals), 2)


def _short(name: str) -> str:
    return {SATURATED: "saturated", SECOND: "no 2nd-order", THIRD: "independence"}.get(name, name)


def _weights(as_printed: Audit, proper: Audit) -> Iterator[Row]:
    weights = partial(_weights_of, as_printed)
    yield _row(
        "section 5.4: model probabilities, by Pr(R|A) as printed",
        WEIGHTS,
        weights,
        lambda: f"posterior predictive, which uses R twice; {_weight_error(as_printed)}",
        simulated="dobra-model-weights",
        errors=lambda: _weight_errors(as_printed, weights()),
    )
    yield _row(
        "section 5.4: model probabilities, by the marginal likelihood",
        WEIGHTS,
        partial(_weights_of, proper),
        lambda: f"what Bayes' theorem asks for: R used once; {_weight_error(proper)}",
        slip="dobra-model-weights",
    )
    yield _row(
        "(10) with tables not normalised: weights in effect",
        _doubled(as_printed),
        weights,
        "as printed Pr(R|A) enters once more; normalise each model's distribution first",
        kind=Kind.FORMULA,
        slip="dobra-model-weights",
    )


def _weights_of(found: Audit) -> list[float]:
    return [value_of(_view(found, name).weight) for name in (SATURATED, SECOND, THIRD)]


def _doubled(found: Audit) -> list[str]:
    """What (10) as printed makes of the weights; question marks where there are none."""
    try:
        weights = np.array(_weights_of(found))
    except NotComputedError:
        return ["?"] * 3
    doubled = weights**2 / np.array([PRIORS[name] for name in (SATURATED, SECOND, THIRD)])
    return [f"{w:.3f}" for w in doubled / doubled.sum()]


def _weight_error(found: Audit) -> str:
    """The largest of our own standard errors of the weights."""
    weights = [available(_view(found, name).weight) for name in (SATURATED, SECOND, THIRD)]
    return _how(max(weight.standard_error or 0.0 for weight in weights))


def _weight_errors(found: Audit, weights: Sequence[float]) -> list[float]:
    """Standard errors of weights from 500 draws a model: ours, as many times √ as draws are fewer.

    With s_j the standard error of log Pr(R | A_j), that of w_i is w_i times the root of
    (1 − w_i)² s_i² + Σ w_j² s_j² over the other models j.
    """
    longer = math.sqrt(EFFORT.n_chains * EFFORT.n_draws / DRAWS)
    evidence = [available(_view(found, name).evidence) for name in (SATURATED, SECOND, THIRD)]
    w = np.array(weights)
    s = longer * np.array([one.standard_error for one in evidence])
    all_squares = (w**2 * s**2).sum()
    return [
        float(w[i] * math.sqrt((1 - w[i]) ** 2 * s[i] ** 2 + all_squares - (w[i] * s[i]) ** 2))
        for i in range(len(w))
    ]


def least_average(place: int, value: int) -> float:
    """The least that weights and Tables 2 to 4 allow in Table 5, whatever their digits cut off."""
    lows = [
        float(DISTRIBUTIONS[m][place].split()[value]) - 0.005 for m in (SATURATED, SECOND, THIRD)
    ]
    weights = [float(w) - 0.005 for w in WEIGHTS.split()]
    spare = 1 - sum(weights)
    order = np.argsort(lows)
    for i in order:
        more = min(spare, 0.01)
        weights[i], spare = weights[i] + more, spare - more
    return float(np.dot(weights, lows))


def _arithmetic() -> Row:
    place, value = CELLS.index((1, 3, 3)), 0
    parts = [
        float(DISTRIBUTIONS[model][place].split()[value]) for model in (SATURATED, SECOND, THIRD)
    ]
    weights = [float(weight) for weight in WEIGHTS.split()]
    return _row(
        "Table 5, cell (1, 3, 3), value 0, from Tables 2–4 and the weights",
        DISTRIBUTIONS[AVERAGE][place].split()[value],
        float(np.dot(parts, weights)),
        f"at least {least_average(place, value):.3f}, whatever digits were cut off",
        slip="dobra-table-5",
    )


def _discussion() -> Iterator[Row]:
    learned = learned_from_margins(margins_of(HAIR, [(0, 1)]), targets=[1])
    yield _row(
        "discussion, Table 1: blonds of 4 who are known to have a high income",
        "4",
        sum(item.persons or 0 for item in learned if item.group_levels == (2,)),
        "a group that shares a level, without a small count",
    )
    yield _row(
        "discussion: tables left when a 2 × 2 table of four is refused",
        "1",
        max(_left_after_refusal()),
        "the most over all margins that show no count of one themselves",
    )


def _left_after_refusal() -> Iterator[int]:
    for rows_, columns in product([(0, 4), (2, 2), (4, 0)], repeat=2):
        tables = [
            np.array([a, rows_[0] - a, columns[0] - a, rows_[1] - columns[0] + a])
            for a in range(min(rows_[0], columns[0]) + 1)
        ]
        possible = [table for table in tables if table.min() >= 0]
        rule = shows_unique((2, 2), (0, 1))
        if any((table == 1).any() for table in possible):
            belief = ListedBelief.of_weights(possible, np.zeros(len(possible)))
            yield len(belief_after_refusal(belief, (2, 2), (0, 1), rule).tables)
