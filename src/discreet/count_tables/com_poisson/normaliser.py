"""Sums of COM-Poisson terms over a range of counts, and with them log Z and the moments.

`range_sum` adds λ^x / (x!)^ν, and its products with x, log x! and their squares, over all whole x
of a range, to about 1e-13 of the result whatever the scale:

- Where at most `DIRECT_TERMS` terms matter they are added one by one.
- Else the sum is an integral plus the corrections of Euler and Maclaurin at those ends of the range
  that matter, the integral by Gauss–Legendre panels, and the first terms, where log Γ bends
  sharply, one by one.

Terms that do not matter are those below e^−DROP of the largest, its nearest neighbours apart. The
logarithm of a term is concave, so beyond a point with slope −s they sum to less than
(term there)/s: the bound in `truncation`.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.count_tables.com_poisson.terms import (
    LARGEST_PLAIN,
    SERIES_DEGREE,
    Terms,
    log_ratio_series,
    log_term_series,
    terms_of,
)
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.numerics.special import log_gamma

DROP = 50.0
WIDEST = 1e98  # a range whose cube, times logarithms squared, is still a float
DIRECT_TERMS = 4000
VECTOR_TERMS = 1000  # counts that matter up to which many sums are taken at once
NEIGHBOURS = 8  # terms on each side of the largest that are kept however small
HEAD = 32  # first whole number at which Euler–Maclaurin corrections are taken
PANELS = 8  # on each side of the largest term
TOLERANCE = 1e-11  # of the sum, where it is an integral
COARSE = np.polynomial.legendre.leggauss(14)
FINE = np.polynomial.legendre.leggauss(20)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeSum:
    """Σ w(x) term(x) over a range, relative to the term at the centre.

    `log_total` is for w = 1. `means` holds the weighted means of k, r, k², kr and r², where
    k = x − pivot and r = k log μ − log x! + log pivot!, which unlike log x! is far from linear in
    k; the pivot is the largest term's x, or the centre. `error` is relative: what was cut off,
    rigorously, and what quadrature may add.
    """

    log_total: float
    pivot: float
    means: FloatArray
    truncation: float
    error: float


@dataclass(frozen=True, slots=True)
class Moments:
    """log Z, its gradient (E X, −E log X!) and Hessian in (log λ, ν), to `error` of log Z.

    `covariance` is that of X and log X!. `reduced` is the covariance matrix (as var, cov, var) of X
    and X log c − log X! with `log_centre` = log c: the same information, without the near
    collinearity that spoils the first for large counts.
    """

    log_normaliser: float
    mean: float
    log_factorial_mean: float
    variance: float
    covariance: float
    log_factorial_variance: float
    reduced: tuple[float, float, float]
    log_centre: float
    error: float


def moments(log_rate: float, dispersion: float, *, rate: float | None = None) -> Moments:
    """log Z and the first two moments of X and log X!."""
    terms = terms_of(log_rate, dispersion, rate=rate)
    return moments_of(terms, range_sum(terms, 0.0, math.inf))


def log_normaliser(log_rate: float, dispersion: float) -> float:
    """log Z(λ, ν) for θ = log λ."""
    terms = terms_of(log_rate, dispersion)
    return terms.log_reference + range_sum(terms, 0.0, math.inf).log_total


def log_normalisers(log_rates: FloatArray, dispersions: FloatArray) -> FloatArray:
    """log Z at pairs of parameters, all in one sum where few counts matter."""
    last = _last_that_matters(float(log_rates.max()), float(dispersions.min()))
    if last <= VECTOR_TERMS:
        return _log_normalisers(log_rates, dispersions, last)
    pairs = np.broadcast(log_rates, dispersions)
    return np.array([log_normaliser(float(theta), float(nu)) for theta, nu in pairs])


def _last_that_matters(log_rate: float, dispersion: float) -> float:
    """The last count that matters for the largest rate and smallest dispersion of many."""
    try:
        terms = terms_of(log_rate, dispersion)
    except InputError:
        return math.inf
    if terms.centre * terms.log_rate > LARGEST_PLAIN:
        return math.inf
    return math.ceil(terms.centre + _edge(terms, 0.0, math.inf) + NEIGHBOURS)


def _log_normalisers(log_rates: FloatArray, dispersions: FloatArray, last: float) -> FloatArray:
    values = np.arange(last + 1.0)
    factorials = np.multiply.outer(dispersions, log_gamma(values + 1))
    exponent = np.multiply.outer(log_rates, values) - factorials
    largest = exponent.max(axis=-1)
    total: FloatArray = largest + np.log(np.exp(exponent - largest[:, None]).sum(axis=-1))
    return total


def moments_of(terms: Terms, whole: RangeSum) -> Moments:
    """The moments from the sum over all counts, with log X! = X log c − (X log c − log X!)."""
    k, r, kk, kr, rr = (float(mean) for mean in whole.means)
    a = terms.log_centre
    v, c, f = kk - k * k, kr - k * r, rr - r * r
    return Moments(
        terms.log_reference + whole.log_total,
        whole.pivot + k,
        math.lgamma(whole.pivot + 1) + (a * k - r),
        v,
        a * v - c,
        a * a * v - 2 * a * c + f,
        (v, c, f),
        a,
        whole.error,
    )


def range_sum(terms: Terms, low: float, high: float) -> RangeSum:
    """Σ over whole x from low to high (whole, or infinite), both included; trusted: low ≤ high."""
    first, last = _offset(terms, low), _offset(terms, high)
    peak = min(max(0.0, first), last)
    try:
        left = max(first, min(_edge(terms, peak, first), peak - NEIGHBOURS))
        right = min(last, max(_edge(terms, peak, last), peak + NEIGHBOURS))
    except OverflowError as beyond:  # a count so large that its factorial has no logarithm
        raise InputError(_not_reached(terms, "more counts matter than can be told")) from beyond
    if right - left > WIDEST:
        raise InputError(_not_reached(terms, f"about {right - left:.0e} counts matter"))
    cut = _tail(terms, peak, left, first) + _tail(terms, peak, right, last)
    if right - left <= DIRECT_TERMS:
        start = low if left == first else math.ceil(terms.centre + left)
        end = high if right == last else math.floor(terms.centre + right)
        return _direct(terms, peak, start, end, cut)
    return _smooth(terms, peak, (left, left == first), (right, right == last), cut)


def _offset(terms: Terms, value: float) -> float:
    return float(terms.offset(np.array(value)))


def _edge(terms: Terms, peak: float, limit: float) -> float:
    """Where between the peak and the limit terms fall to e^−DROP of the peak, or the limit.

    Newton's method on a concave function comes from outside without passing the edge, so what is
    returned lies on it or a little beyond, to a hundredth on the logarithmic scale.
    """
    if limit == peak:
        return limit
    target = terms.log_term_at(peak) - DROP
    if math.isfinite(limit) and terms.log_term_at(limit) >= target:
        return limit
    at = _guess(terms, peak, limit)
    for _ in range(300):
        above = terms.log_term_at(at) - target
        if -1 < above < 0.01:
            return at
        at -= above / terms.slope(at)
        at = min(at, limit) if limit > peak else max(at, limit)
    raise InputError(_not_reached(terms, "no edge found"))


def _guess(terms: Terms, peak: float, limit: float) -> float:
    """A first point beyond the peak: by its curvature, or its slope if that takes less."""
    direction = 1.0 if limit > peak else -1.0
    curvature = terms.dispersion / (terms.centre + peak + 1)
    steps = [math.sqrt(2 * DROP / curvature)] if curvature > 0 else []
    slope = -direction * terms.slope(peak)
    steps += [DROP / slope] if slope > 0 else []
    at = peak + direction * max(min(steps), 0.5)
    return min(at, limit) if direction > 0 else max(at, limit)


def _tail(terms: Terms, peak: float, edge: float, limit: float) -> float:
    """What the terms beyond an edge add at most, relative to the term at the peak."""
    if edge == limit:
        return 0.0
    size = math.exp(terms.log_term_at(edge) - terms.log_term_at(peak))
    return size * (1 + 1 / abs(terms.slope(edge)))


def _direct(terms: Terms, peak: float, start: float, end: float, cut: float) -> RangeSum:
    """Term by term, from a whole start to a whole end."""
    values = np.arange(start, end + 1)
    offset = terms.offset(values)
    logs = terms.log_term(offset)
    largest = int(np.argmax(logs))
    weight = np.exp(logs - logs[largest])
    others = float(weight[:largest].sum() + weight[largest + 1 :].sum())
    ratio = terms.log_poisson_ratio(offset)
    means = _powers(offset - offset[largest], ratio - ratio[largest]) @ weight / (1 + others)
    lost = cut * math.exp(min(terms.log_term_at(peak) - logs[largest], 0.0)) / (1 + others)
    return RangeSum(
        log_total=float(logs[largest]) + math.log1p(others),
        pivot=float(values[largest]),
        means=means,
        truncation=lost,
        error=lost + 4e-16 * math.sqrt(len(values)),
    )


def _powers(k: FloatArray, r: FloatArray) -> FloatArray:
    """k, r, k², kr, r², a row each."""
    return np.stack([k, r, k * k, k * r, r * r])


def _smooth(
    terms: Terms, peak: float, left: tuple[float, bool], right: tuple[float, bool], cut: float
) -> RangeSum:
    """By Euler–Maclaurin; an end is where it is and whether the range truly ends there."""
    top = terms.log_term_at(peak)
    ends = np.zeros(6)
    begin = left[0]
    last_correction = 0.0
    if left[1]:
        first = round(terms.centre + begin)
        begin_value = max(first, HEAD)
        ends += _head(terms, top, first, begin_value)
        correction, last_correction = _end_correction(terms, top, begin_value, 1.0)
        ends += correction
        begin = _offset(terms, float(begin_value))
    if right[1]:
        correction, last = _end_correction(terms, top, round(terms.centre + right[0]), -1.0)
        ends += correction
        last_correction += last
    cuts = _breakpoints(terms, begin, min(max(peak, begin), right[0]), right[0])
    fine = _integrals(terms, top, cuts)
    coarse = float(_weighted_nodes(terms, top, cuts, COARSE)[1].sum())
    sums = fine + ends
    error = (abs(fine[0] - coarse) * 1e-3 + last_correction + cut) / sums[0] + 1e-14
    if not error < TOLERANCE:
        raise InputError(_not_reached(terms, f"quadrature leaves {error:.1e}"))
    return RangeSum(
        log_total=top + math.log(sums[0]),
        pivot=terms.centre,
        means=sums[1:] / sums[0],
        truncation=cut / sums[0],
        error=float(error),
    )


def _breakpoints(terms: Terms, begin: float, peak: float, end: float) -> FloatArray:
    """Even panels on both sides of the peak, and panels that grow fourfold away from x = 0."""
    even = [np.linspace(begin, peak, PANELS + 1), np.linspace(peak, end, PANELS + 1)]
    largest = terms.centre + end
    smallest = max(terms.centre + begin, largest * 1e-17)
    count = max(0, math.ceil(math.log(largest / smallest, 4)))
    grown = smallest * 4.0 ** np.arange(1, count) - terms.centre
    points = np.unique(np.concatenate([*even, grown]))
    return points[(points >= begin) & (points <= end)]


def _integrals(terms: Terms, top: float, cuts: FloatArray) -> FloatArray:
    """∫ w(x) term(x) dx for w = 1, k, r, k², kr, r² over all panels."""
    offset, weight = _weighted_nodes(terms, top, cuts, FINE)
    powers = _powers(offset, terms.log_poisson_ratio(offset))
    return np.concatenate([[weight.sum()], powers @ weight])


def _weighted_nodes(
    terms: Terms, top: float, cuts: FloatArray, rule: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Nodes of a rule on all panels, and the rule's weights times the terms there."""
    nodes, weights = rule
    half = 0.5 * np.diff(cuts)[:, None]
    offset = (0.5 * (cuts[1:] + cuts[:-1])[:, None] + half * nodes).ravel()
    return offset, np.exp(terms.log_term(offset) - top) * (half * weights).ravel()


def _head(terms: Terms, top: float, first: int, end: int) -> FloatArray:
    """The same sums over whole x from first to end − 1."""
    offset = terms.offset(np.arange(float(first), float(end)))
    weight = np.exp(terms.log_term(offset) - top)
    return np.concatenate(
        [[weight.sum()], _powers(offset, terms.log_poisson_ratio(offset)) @ weight]
    )


def _end_correction(
    terms: Terms, top: float, value: int, direction: float
) -> tuple[FloatArray, float]:
    """f/2 − f′/12 + f‴/720 − f⁗′/30240 at an end of the range, and the size of the last for w = 1.

    `direction` is 1 at the lower and −1 at the upper end, where odd derivatives change sign.
    """
    ratio = log_ratio_series(terms, float(value))
    exponent = log_term_series(terms, float(value), ratio)
    exponent[0] -= top
    offset = np.zeros(SERIES_DEGREE + 1)
    offset[:2] = _offset(terms, float(value)), 1.0
    term = _exp_series(exponent)
    series = [term, _product(offset, term), _product(ratio, term)]
    series += [_product(offset, series[1]), _product(offset, series[2])]
    series.append(_product(ratio, series[2]))
    taylor = np.stack(series)
    odd = taylor[:, 1] / 12 - taylor[:, 3] * 6 / 720 + taylor[:, 5] * 120 / 30240
    return taylor[:, 0] / 2 - direction * odd, abs(float(term[5])) * 120 / 30240


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Taylor coefficients of a product."""
    return np.convolve(left, right)[: SERIES_DEGREE + 1]


def _exp_series(exponent: FloatArray) -> FloatArray:
    """Taylor coefficients of e^g from those of g: n f_n = Σ j g_j f_(n−j)."""
    result = np.zeros(SERIES_DEGREE + 1)
    result[0] = math.exp(exponent[0])
    for n in range(1, SERIES_DEGREE + 1):
        j = np.arange(1, n + 1)
        result[n] = np.dot(j * exponent[1 : n + 1], result[n - 1 :: -1][:n]) / n
    return result


def _not_reached(terms: Terms, got: str) -> str:
    return must_be(
        "log_rate and dispersion",
        "such that sums reach ten digits",
        f"{terms.log_rate:g} and {terms.dispersion:g} ({got})",
    )
