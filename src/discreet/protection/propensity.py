"""Can a model tell the protected records from the original ones? The propensity score mean square.

pMSE = 1/N Σ (p_i − c)², where the N records are those before and those after, c is the share of the
latter, and p_i the probability of being one of them by a logistic regression on the keys (Woo,
Reiter, Oganian and Karr 2009). 0: no difference that the model can see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.coding import Coding
from discreet.engines.local.grouping import distinct_rows
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.linear_algebra import in_one_thread
from discreet.protection.key_tables import KeyColumn

RIDGE = 0.01  # a level that only one of the files has would else have no finite coefficient
STEP, MOST_STEPS = 1e-8, 50
DEPENDENT = 1e-10  # of the eigenvalues of correlations: far above rounding
MOST_COLUMNS = 1000
MOST_WORK = 1 << 29  # cells × terms²: sums of one step of the fit with two-way interactions


@dataclass(frozen=True, slots=True, kw_only=True)
class Propensity:
    """The pMSE, and what it would be of a file drawn anew.

    `expected` and `standard_deviation` are those of a file of as many records drawn from what the
    original ones show, (k−1)(1−c)²c/N and √(2(k−1)) (1−c)²c/N of k free coefficients (Snoke, Raab,
    Nowok, Dibben and Slavković 2018). The protected file is no such draw, it is made of the same
    records: so the `ratio` of the pMSE to what is expected compares the change with the noise of
    a synthetic file, 1 being as much, and is no test. `left_out` are keys of too many levels.
    """

    pmse: Outcome
    expected: Outcome
    standard_deviation: Outcome
    ratio: Outcome
    coefficients: int = 0
    left_out: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The pMSE as a figure, with the others inside it."""
        return {
            **self.pmse.to_json(),
            "expected": self.expected.to_json(),
            "standard_deviation": self.standard_deviation.to_json(),
            "ratio": self.ratio.to_json(),
            "coefficients": self.coefficients,
            "left_out": list(self.left_out),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A factor of the model: the level of each cell, and how many levels there are.

    Every level has a coefficient, and the ridge makes them unique: with a level of reference the
    fit would depend on which one that is.
    """

    levels: NDArray[np.int32]
    n_levels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoFiles:
    """The distinct combinations of levels, cells × keys, and their records in each file."""

    levels: NDArray[np.int32]
    original: IntArray
    protected: IntArray

    @property
    def records(self) -> IntArray:
        """The records of both."""
        return self.original + self.protected


def propensity(
    columns: Sequence[KeyColumn], names: Sequence[str], records: IntArray, *, two_way: bool = False
) -> Propensity:
    """The pMSE of the recoded records against the protected ones.

    Main effects of the levels after, a value taken out being a level; with `two_way` all two-way
    interactions too, where their number is bounded. The smaller keys come first in the model, as
    many as have 1,000 levels together. The coefficients are shrunk by a ridge of 0.01.
    """
    if not columns or not records.sum():
        return _unavailable("there are no records" if columns else "no keys were given")
    used = _smallest(columns)
    left_out = tuple(name for j, name in enumerate(names) if j not in used)
    if not used:
        return _unavailable(f"every key has more than {MOST_COLUMNS:,} levels", left_out)
    files = two_files([columns[j] for j in used], records)
    terms = [_term(files.levels[:, j]) for j in range(len(used))]
    if two_way:
        pairs = _interactions(files, terms)
        if isinstance(pairs, Unavailable):
            return _unavailable(pairs.reason, left_out)
        terms += pairs
    model = PropensityModel(files, terms)
    scores = fitted_scores(model)
    if scores is None:
        return _unavailable("the fit of the propensity scores did not converge", left_out)
    return _judged(files, scores, model.rank() - 1, left_out)


def _unavailable(reason: str, left_out: tuple[str, ...] = ()) -> Propensity:
    why = Unavailable(reason)
    return Propensity(pmse=why, expected=why, standard_deviation=why, ratio=why, left_out=left_out)


def _smallest(columns: Sequence[KeyColumn]) -> list[int]:
    """The keys of few levels that have 1,000 together at most, in their order."""
    order = sorted(range(len(columns)), key=lambda j: columns[j].n_after)
    sizes = np.cumsum([columns[j].n_after for j in order])
    return sorted(order[: int(np.searchsorted(sizes, MOST_COLUMNS, side="right"))])


def two_files(columns: Sequence[KeyColumn], records: IntArray) -> TwoFiles:
    """The combinations of the recoded levels, and of those after."""
    coding = Coding.of_sizes([column.n_after for column in columns])
    words = np.concatenate(
        [
            _words([column.recoded for column in columns], coding),
            _words([column.after for column in columns], coding),
        ]
    )
    cells, place = distinct_rows(words)
    n = len(records)
    levels = [coding.level(cells, j).astype(np.int32) for j in range(len(columns))]
    return TwoFiles(
        levels=np.stack(levels, axis=1),
        original=_sums(place[:n], records, len(cells)),
        protected=_sums(place[n:], records, len(cells)),
    )


def _words(levels: Sequence[NDArray[np.int32]], coding: Coding) -> IntArray:
    words = np.zeros((len(levels[0]), coding.n_words), dtype=np.int64)
    for level, digit in zip(levels, coding.digits, strict=True):
        words[:, digit.word] += level.astype(np.int64) * digit.stride
    return words


def _sums(place: IntArray, records: IntArray, n: int) -> IntArray:
    return np.bincount(place, weights=records, minlength=n).astype(np.int64)


def _term(codes: NDArray[Any]) -> Term:
    """The levels that occur."""
    distinct, level = np.unique(codes, return_inverse=True)
    return Term(levels=level.astype(np.int32), n_levels=len(distinct))


def _interactions(files: TwoFiles, terms: Sequence[Term]) -> list[Term] | Unavailable:
    """Products of the dummies of two keys, where there are few enough."""
    pairs = list(combinations(terms, 2))
    most = sum(one.n_levels * other.n_levels for one, other in pairs)
    most += sum(term.n_levels for term in terms)
    if most > MOST_COLUMNS:
        return Unavailable(
            f"two-way interactions would have up to {most:,} coefficients, more than "
            f"{MOST_COLUMNS:,}"
        )
    if len(files.original) * (len(terms) + len(pairs)) ** 2 > MOST_WORK:
        return Unavailable("two-way interactions of so many combinations would take too long")
    return [
        _term(one.levels.astype(np.int64) * other.n_levels + other.levels) for one, other in pairs
    ]


def fitted_scores(model: "PropensityModel") -> FloatArray | None:
    """The probability of each combination that its record is a protected one; None if no fit.

    Newton's steps for the logistic likelihood less RIDGE/2 Σ β², halved until they rise. They
    start at β = 0, where files that are the same have their maximum: nothing is then ever added.
    """
    files = model.files
    coefficients = np.zeros(model.n_columns)
    coefficients[0] = np.log(files.protected.sum() / files.original.sum())
    for _ in range(MOST_STEPS):
        step = model.step(coefficients)
        if np.max(np.abs(model.linear(step))) < STEP:
            return model.scores(coefficients)
        moved = model.raised(coefficients, step)
        if moved is None:
            return None
        coefficients = moved
    return None


class PropensityModel:
    """Gradient and information of the likelihood, as sums over cells of each pair of levels.

    No dummies are ever made: a row of them has one 1 a term, so the information of two terms is
    their two-way table of the weights n p (1 − p), and the gradient the one-way table of residuals.
    """

    def __init__(self, files: TwoFiles, terms: Sequence[Term]) -> None:
        self.files = files
        self.terms = [term for term in terms if term.n_levels > 1]
        self.first = np.cumsum([1, *(term.n_levels for term in self.terms)])
        self.n_columns = int(self.first[-1])
        self.records = files.records.astype(np.float64)
        self.ridge = np.full(self.n_columns, RIDGE)
        self.ridge[0] = 0.0

    def linear(self, coefficients: FloatArray) -> FloatArray:
        """The sum of the coefficients of each combination."""
        linear = np.full(len(self.records), coefficients[0])
        for term, first in zip(self.terms, self.first, strict=False):
            linear += coefficients[first : first + term.n_levels][term.levels]
        return linear

    def scores(self, coefficients: FloatArray) -> FloatArray:
        """The probabilities at these coefficients."""
        from scipy.special import expit

        return np.asarray(expit(self.linear(coefficients)), dtype=np.float64)

    def _likelihood(self, coefficients: FloatArray) -> float:
        linear = self.linear(coefficients)
        gained = self.files.protected @ linear - self.records @ np.logaddexp(0.0, linear)
        return float(gained - self.ridge @ coefficients**2 / 2.0)

    @in_one_thread
    def step(self, coefficients: FloatArray) -> FloatArray:
        """Newton's step from here."""
        p = self.scores(coefficients)
        gradient = self._gradient(self.files.protected - self.records * p)
        information = self._information(self.records * p * (1.0 - p))
        information[np.diag_indices(self.n_columns)] += self.ridge
        found = np.linalg.solve(information, gradient - self.ridge * coefficients)
        return np.asarray(found, dtype=np.float64)

    def raised(self, coefficients: FloatArray, step: FloatArray) -> FloatArray | None:
        """The coefficients after the step, or the longest half of a half that does not fall."""
        here = self._likelihood(coefficients)
        slack = 1e-12 * float(self.records.sum())  # of rounding, at the end of the steps
        for halved in range(30):
            moved = coefficients + step * 0.5**halved
            if self._likelihood(moved) >= here - slack:
                return moved
        return None

    @in_one_thread
    def rank(self) -> int:
        """Coefficients that the combinations tell apart, the constant among them."""
        information = self._information(self.records)
        scale = np.sqrt(np.diag(information))
        spread = np.linalg.eigvalsh(information / np.outer(scale, scale))
        return int(np.count_nonzero(spread > DEPENDENT * self.n_columns))

    def _gradient(self, residuals: FloatArray) -> FloatArray:
        parts = [np.array([residuals.sum()])]
        for term in self.terms:
            parts.append(np.bincount(term.levels, weights=residuals))
        return np.concatenate(parts)

    def _information(self, weights: FloatArray) -> FloatArray:
        found = np.empty((self.n_columns, self.n_columns))
        found[0, 0] = weights.sum()
        for i, (term, row) in enumerate(zip(self.terms, self.first, strict=False)):
            rows = slice(row, row + term.n_levels)
            sums = np.bincount(term.levels, weights=weights)
            found[rows, 0] = found[0, rows] = sums
            found[rows, rows] = np.diag(sums)
            for other, column in zip(self.terms[:i], self.first, strict=False):
                columns = slice(column, column + other.n_levels)
                block = _cross(term, other, weights)
                found[rows, columns], found[columns, rows] = block, block.T
        return found


def _cross(one: Term, other: Term, weights: FloatArray) -> FloatArray:
    """The weights of each pair of levels."""
    codes = one.levels.astype(np.int64) * other.n_levels + other.levels
    table = np.bincount(codes, weights=weights, minlength=one.n_levels * other.n_levels)
    return table.reshape(one.n_levels, other.n_levels).astype(np.float64)


def _judged(
    files: TwoFiles, scores: FloatArray, n_free: int, left_out: tuple[str, ...]
) -> Propensity:
    n = int(files.records.sum())
    share = int(files.protected.sum()) / n
    pmse = float(files.records @ (scores - share) ** 2) / n
    unit = (1.0 - share) ** 2 * share / n
    expected = n_free * unit
    none = Unavailable("all keys have a single level, so no difference can be seen or expected")
    return Propensity(
        pmse=Figure(value=pmse, how=How.EXACT),
        expected=Figure(value=expected, how=How.ESTIMATE),
        standard_deviation=Figure(value=(2 * n_free) ** 0.5 * unit, how=How.ESTIMATE),
        ratio=Figure(value=pmse / expected, how=How.ESTIMATE) if n_free else none,
        coefficients=n_free,
        left_out=left_out,
    )
