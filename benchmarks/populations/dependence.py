"""How keys depend on each other: persons drawn from six kinds of model.

Each function takes the number of levels of each key and gives the levels of so many persons, one
row a person. Their parameters are drawn too, so that another generator makes another population of
the same kind.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from discreet.numerics.arrays import BoolArray, FloatArray, IntArray

Draw = Callable[[Sequence[int], int, np.random.Generator], IntArray]

CLASSES = 12
MOST_SMOOTH = 12  # levels from which on neighbouring levels are alike
FACTORS = 2
DEGREES_OF_FREEDOM = 4.0
EXCLUDED_BY_AGE, EXCLUDED_PAIRS = 0.5, 0.05


def uneven(rng: np.random.Generator, levels: int, spread: float) -> FloatArray:
    """Lognormal shares of the levels of a key; `spread` is the standard deviation of their logs."""
    weight: FloatArray = np.exp(level_effects(rng, levels, spread))
    shares: FloatArray = weight / weight.sum()
    return shares


def level_effects(rng: np.random.Generator, levels: int, spread: float) -> FloatArray:
    """Normal effects on the levels of a key.

    A key of many levels is taken for an ordered one, such as age: its effects change slowly, with a
    third of the variance left to single levels.
    """
    own = rng.standard_normal(levels)
    if levels > MOST_SMOOTH:
        knots = np.linspace(0, levels - 1, MOST_SMOOTH)
        slow = np.interp(np.arange(levels), knots, rng.standard_normal(MOST_SMOOTH))
        own = np.sqrt(2 / 3) * slow + np.sqrt(1 / 3) * own
    return spread * own


def independent(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """Keys that have nothing to do with each other, their levels uneven."""
    drawn = [rng.choice(size, persons, p=uneven(rng, size, 1.0)) for size in levels]
    return np.stack(drawn, axis=1)


def latent_classes(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """Twelve kinds of person; within each kind the keys are independent."""
    kind = rng.choice(CLASSES, persons, p=uneven(rng, CLASSES, 0.8))
    return np.stack([_given(kind, CLASSES, size, 1.3, rng) for size in levels], axis=1)


def tree(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """Each key depends on one of those before it, and through it on all others."""
    drawn = [rng.choice(levels[0], persons, p=uneven(rng, levels[0], 0.7))]
    for place in range(1, len(levels)):
        parent = int(rng.integers(place))
        drawn.append(_given(drawn[parent], levels[parent], levels[place], 1.2, rng))
    return np.stack(drawn, axis=1)


def log_linear(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """Log probabilities that are sums of normal main effects, all two-way terms and every third
    three-way term."""
    logs = np.zeros(levels)
    for order, spread, step in ((1, 0.7, 1), (2, 0.45, 1), (3, 0.4, 3)):
        for axes in list(itertools.combinations(range(len(levels)), order))[::step]:
            shape = [size if axis in axes else 1 for axis, size in enumerate(levels)]
            logs = logs + spread * rng.standard_normal(shape)
    weight = np.exp(logs - logs.max()).ravel()
    counts = rng.multinomial(persons, weight / weight.sum())
    cells = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    return np.stack(np.unravel_index(cells, levels), axis=1)


def structural_zeros(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """Kinds of person, but some combinations exclude each other.

    The longest key is the age. Half of the levels of every other key are reached from some age on
    only, as marriages and degrees are; beside these one in twenty pairs of levels of two other keys
    cannot occur. Persons who cannot exist are drawn again, of the same kinds.
    """
    kinds = uneven(rng, CLASSES, 0.8)
    shares = [_shares(CLASSES, size, 1.0, rng) for size in levels]
    barred = _barred(levels, rng)
    found: list[IntArray] = []
    while sum(map(len, found)) < persons:
        kind = rng.choice(CLASSES, 4 * persons, p=kinds)
        drawn = np.stack([_draw(kind, each, rng) for each in shares], axis=1)
        wrong = np.zeros(len(drawn), dtype=bool)
        for (one, other), pairs in barred.items():
            wrong |= pairs[drawn[:, one], drawn[:, other]]
        found.append(drawn[~wrong])
    return np.concatenate(found)[:persons]


def cut_normal(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """A multivariate normal of two factors, each variable cut into levels of uneven shares."""
    return _cut(_factor_scores(len(levels), persons, rng), levels, rng)


def cut_t(levels: Sequence[int], persons: int, rng: np.random.Generator) -> IntArray:
    """The same of a multivariate t of four degrees of freedom, whose extremes come together."""
    scores = _factor_scores(len(levels), persons, rng)
    scale = np.sqrt(rng.chisquare(DEGREES_OF_FREEDOM, persons) / DEGREES_OF_FREEDOM)
    return _cut(scores / scale[:, None], levels, rng)


DEPENDENCES: dict[str, Draw] = {
    "independent": independent,
    "latent classes": latent_classes,
    "tree": tree,
    "log-linear": log_linear,
    "structural zeros": structural_zeros,
    "cut normal": cut_normal,
    "cut t": cut_t,
}


def _given(
    parent: IntArray, rows: int, levels: int, spread: float, rng: np.random.Generator
) -> IntArray:
    """Levels of a key whose shares depend on the level of another."""
    return _draw(parent, _shares(rows, levels, spread, rng), rng)


def _shares(rows: int, levels: int, spread: float, rng: np.random.Generator) -> FloatArray:
    return np.stack([uneven(rng, levels, spread) for _ in range(rows)])


def _draw(row: IntArray, shares: FloatArray, rng: np.random.Generator) -> IntArray:
    """A level for each person, by the shares in the person's row.

    The cumulative shares of row r are shifted by r, so that one search serves all rows.
    """
    rows, levels = shares.shape
    ends = (np.cumsum(shares, axis=1) + np.arange(rows)[:, None]).ravel()
    place = np.searchsorted(ends, row + rng.random(len(row)), side="right") - row * levels
    drawn: IntArray = np.clip(place, 0, levels - 1)
    return drawn


def _barred(levels: Sequence[int], rng: np.random.Generator) -> dict[tuple[int, int], BoolArray]:
    """For two keys, which pairs of their levels cannot occur."""
    found = {}
    age = int(np.argmax(levels))
    others = [key for key in range(len(levels)) if key != age]
    for key in others:
        late = rng.random(levels[key]) < EXCLUDED_BY_AGE
        late[0] = False  # somebody of every age can exist
        first_age = np.where(late, rng.integers(1, 1 + levels[age] // 2, levels[key]), 0)
        found[age, key] = np.arange(levels[age])[:, None] < first_age
    for one, other in itertools.combinations(others, 2):
        pairs = rng.random((levels[one], levels[other])) < EXCLUDED_PAIRS
        pairs[0] = pairs[:, 0] = False
        found[one, other] = pairs
    return found


def _factor_scores(keys: int, persons: int, rng: np.random.Generator) -> FloatArray:
    """Standard normal scores that two common factors explain in part."""
    loadings = rng.normal(0, 0.6, (FACTORS, keys))
    common = (loadings**2).sum(axis=0)
    loadings *= np.sqrt(np.minimum(1, 0.8 / common))  # at least a fifth is a key's own
    own = np.sqrt(1 - (loadings**2).sum(axis=0))
    factors = rng.standard_normal((persons, FACTORS))
    scores: FloatArray = factors @ loadings + own * rng.standard_normal((persons, keys))
    return scores


def _cut(scores: FloatArray, levels: Sequence[int], rng: np.random.Generator) -> IntArray:
    """Scores cut at their quantiles, so that levels have uneven shares."""
    columns = []
    for score, size in zip(scores.T, levels, strict=True):
        cuts = np.quantile(score, np.cumsum(uneven(rng, size, 0.8))[:-1])
        columns.append(np.searchsorted(cuts, score))
    return np.stack(columns, axis=1)
