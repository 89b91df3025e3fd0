"""Polettini: each printed form of the individual risk, put beside the library's own.

The paper prints formulas and no numbers, so a printed value is that of the formula as it stands.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.integrate import quad
from scipy.special import hyp2f1, poch

from discreet.papers.rows import Kind, Row, claim, row
from discreet.progress import Progress, silent
from discreet.survey.models.benedetti_franconi import individual_risk, unique_probability
from discreet.survey.models.inverse_mean import (
    approximation_error,
    printed_form_of_three,
    three_term_approximation,
    two_term_approximation,
)

PAPER = "polettini"
FORMULA = "value of the printed formula"
P = 0.3
Q = 1 - P
_row = partial(row, PAPER, kind=Kind.FORMULA)


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All formulas, in the order of the paper."""
    yield from _integrals()
    yield from _closed_forms()
    yield _certain()
    yield _convergence()
    yield from _large()
    yield from _approximations()
    yield _orders()
    yield _order_rule()


def risk(f: float, p: float = P) -> float:
    """The library's individual risk of one cell."""
    return float(individual_risk(np.array([f]), np.array([p]))[0])


def _at(figure: str, f: int, printed: float, note: str = FORMULA, slip: str | None = None) -> Row:
    """A form of the risk at f and p = 0.3, to ten decimals."""
    return _row(f"{figure} at f = {f}, p = {P}", f"{printed:.10f}", risk(f), note, slip=slip)


def _integrate(integrand: Callable[[float], float], low: float, high: float) -> float:
    return float(quad(integrand, low, high, epsabs=1e-13, epsrel=1e-13)[0])


def _integrals() -> Iterator[Row]:
    f = 4
    mass = (math.comb(h - 1, f - 1) * P**f * Q ** (h - f) / h for h in range(f, 300))
    yield _at("(1) with the negative binomial distribution", f, math.fsum(mass))
    yield _row(
        f"(2): Pr(F = 1 | f = 1) at p = {P}",
        f"{math.comb(0, 0) * P:.2f}",
        float(unique_probability(np.array([1]), np.array([P]))[0]),
        FORMULA,
    )
    third = _integrate(lambda t: (P * math.exp(-t) / (1 - Q * math.exp(-t))) ** f, 0, math.inf)
    yield _at("(3)", f, third)
    between = (P / Q) ** f * _integrate(lambda y: (y - 1) ** (f - 1) / y, 1, 1 / P)
    yield _at("section 2, integral of Benedetti and Franconi", f, between)
    fifth = P**f * _integrate(lambda t: t ** (f - 1) * (1 - t * Q) ** -f, 0, 1)
    yield _at("(5)", f, fifth)
    yield _at("(6)", f, P**f / f * float(hyp2f1(f, f, f + 1, Q)))


def _closed_forms() -> Iterator[Row]:
    log = math.log(P)
    yield _at("section 2", 1, P / (1 - P) * math.log(1 / P))
    yield _at("section 2, first form", 2, P**2 * ((Q - 1) * log - Q) / (Q**2 * (Q - 1)))
    yield _at("section 2, last form", 2, P / (1 - P) ** 2 * (P * log + 1 - P))
    numerator = 3 * Q * (3 * Q - 2) - 6 * (Q - 1) ** 2 * math.log(1 - Q)
    yield _at("section 2, first form", 3, P**3 / 3 * numerator / (2 * (Q - 1) ** 2 * Q**3))
    last = float(printed_form_of_three(np.array([P]))[0])
    note = "q² is printed in the denominator where q³ belongs"
    yield _at("section 2, last form", 3, last, note, slip="polettini-three")


def _certain() -> Row:
    values = [f"{1 / f:.10f}" for f in (1, 2, 3, 50)]
    return _row(
        "section 2: 1/f at p = 1, for f = 1, 2, 3, 50",
        values,
        [risk(f, 1.0) for f in (1, 2, 3, 50)],
        FORMULA,
    )


def _convergence() -> Row:
    """Whether Σ terms of ₂F₁(f, f; f+1; −1) settle, at c − a − b = −1 (f = 2) and 0 (f = 1)."""

    def term(f: int, n: int = 10_000) -> float:
        logs = 2 * _log_poch(f, n) - _log_poch(f + 1, n) - math.lgamma(n + 1)
        return math.exp(logs)

    settles = {1 - f: term(f) < 1e-3 for f in (1, 2)}
    computed = [x for x, good in settles.items() if good]
    return _row(
        "(7): which of c−a−b = −1, 0 converges conditionally on |z| = 1",
        "-1",
        computed,
        "printed −1 ≤ c−a−b < 0, right −1 < c−a−b ≤ 0 (and z ≠ 1)",
        kind=Kind.NUMBERS,
        slip="polettini-convergence",
    )


def _log_poch(a: float, n: int) -> float:
    return math.lgamma(a + n) - math.lgamma(a)


def _large() -> Iterator[Row]:
    f = 4
    right = float(hyp2f1(1, 1, f + 1, Q)) / (1 - Q) ** (f - 1)
    for name, argument in (("contiguity relation, argument 0", 0.0), ("(8), argument p", P)):
        yield _row(
            f"section 3, {name}, left side at f = {f}, p = {P}",
            f"{float(hyp2f1(f, f, f + 1, argument)):.6f}",
            right,
            "the right side is that of the argument q",
            slip="polettini-argument",
        )
    yield _row(
        "section 3, relation with argument q",
        f"{float(hyp2f1(f, f, f + 1, Q)):.8f}",
        right,
        "as it should read",
    )
    yield _row(
        "(8): coefficients 2²/2 and 6²/6",
        [f"{2**2 // 2}", f"{6**2 // 6}"],
        [round(float(poch(1, k) ** 2 / math.factorial(k))) for k in (2, 3)],
        "(1)ₖ(1)ₖ/k!",
        kind=Kind.NUMBERS,
    )


def _approximations() -> Iterator[Row]:
    f, p = np.array([12.0]), np.array([P])
    nine = P / 12 * (1 + Q / 13 + 2**2 * Q**2 / (2 * 13 * 14))
    ten = P / 12 * (1 + Q / 13)
    forms = ((9, nine, three_term_approximation), (10, ten, two_term_approximation))
    for name, value, approximation in forms:
        few = approximation_error(approximation, np.array([1.0]), np.array([0.001]))[0]
        many = approximation_error(approximation, f, p)[0]
        yield _row(
            f"({name}) at f = 12, p = {P}",
            f"{value:.10f}",
            float(approximation(f, p)[0]),
            f"below the risk by {-many:.2%} here, by {-few:.0%} at f = 1, p = 0.001",
        )
    text = "(9) and (10) are too low"
    counts, probabilities = (np.ravel(x) for x in np.meshgrid(np.arange(1.0, 60), np.linspace(
        0.001, 0.99, 60)))  # fmt: skip
    low = all((approximation_error(a, counts, probabilities) < 0).all() for _, _, a in forms)
    yield _row(
        "section 3: “always underestimating”",
        [text],
        claim(text, low),
        "on a grid",
        kind=Kind.STATEMENT,
    )


def _orders() -> Row:
    """How the error of the bracket falls with f while Σw stays, so that p = f/Σw."""
    f = np.array([1e3, 1e4])
    p = f / 1e6
    falls = [
        float(-np.diff(np.log10(individual_risk(f, p) - approximation(f, p)))[0])
        for approximation in (three_term_approximation, two_term_approximation)
    ]
    text = "O(f^−2) for (9), O(f^−1) for (10)"
    return _row(
        "section 3: remainders with estimated p",
        [text],
        claim(text, falls[0] >= 2 and falls[1] >= 1),
        f"they fall as f^−{falls[0]:.1f} and f^−{falls[1]:.1f} while Σw stays",
        kind=Kind.STATEMENT,
    )


def _order_rule() -> Row:
    """The error of a polynomial of the order that the rule asks for, f = 2, p = 0.05, ε = 1e−6."""
    f, p, epsilon = 2, 0.05, 1e-6
    rule = -math.log(epsilon) / math.log(f)
    order = math.floor(rule) + 1
    terms = (math.factorial(k) / float(poch(f + 1, k)) * (1 - p) ** k for k in range(order + 1))
    error = risk(f, p) - p / f * math.fsum(terms)
    text = "error < 0.000001"
    return _row(
        f"section 3: order j > −log ε/log f = {rule:.2f} (f = 2, p = 0.05)",
        [text],
        text if error < epsilon else f"error = {error:.2g}",
        "terms fall as q^k/C(f+k, k), not as f^−k",
        kind=Kind.STATEMENT,
        slip="polettini-order",
    )
