"""How the expected counts of cells may be spread: a dictionary of shapes, and what each predicts.

A cell has a rate μ, the records that a sample is expected to hold of it. Over the cells, log μ is a
location plus a deviate z with one of the densities (up to a factor) listed here:

- generalised inverse Gaussian, exp(p z − ½ω(e^z + e^−z)): for p = −½ Poisson counts are Poisson–
  inverse Gaussian;
- its limit without a lower end, exp(p z − e^z): gamma for p > 0 (negative binomial counts), a power
  distribution towards small rates for p ≤ 0 (as in Pitman's model with index −p);
- normal: Poisson–lognormal counts;
- normal plus a power law below it: most cells of one kind, and stragglers.

What a shape predicts is a sum over a grid of z. On the log scale a location is a shift, so all
locations are one matrix product.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import lgamma

import numpy as np

from discreet.numerics.arrays import FloatArray, IntArray, read_only

STEP = 0.1  # of the grids of locations and of deviates
LARGEST_SIZE = 15  # sample counts up to this one are modelled; larger cells say nothing of uniques
HIGHEST_RATE, HIGHEST_LOCATION = 6.0, 4.0  # logarithms
LOWEST_RATE = -17.0  # logarithm; lower where the sampling fraction asks for it
BELOW_FRACTION = 12.0  # log units below the sampling fraction at which the grid may begin
TINY = 1e-290

INDICES = np.arange(-1.1, 0.95, 0.2)
CONCENTRATIONS = np.array([-5.5, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.5])  # log ω
NO_LOWER_END = -7.0  # stands for log ω = −∞ in the prior
SPREADS = np.arange(-2.7, 1.35, 0.25)  # log of the standard deviation of the normal
TAILED_SPREADS = (-2.0, -1.0, -0.4, 0.1, 0.5)
TAIL_INDICES = (-0.6, -0.2, 0.2)
TAIL_HEIGHTS = (-1.0, -2.5, -4.0, -5.5)  # log, relative to the peak of the normal

FAMILY_PRIOR = {"inverse": 0.525, "normal": 0.225, "tailed": 0.25}
INDEX_PRIOR = (-0.5, 0.4)  # mean and standard deviation
CONCENTRATION_PRIOR = (-3.0, 2.0)
SPREAD_PRIOR = (0.7, 0.6)


@dataclass(frozen=True, slots=True)
class Shape:
    """One density of log-rates, by the logarithm of its value and of its prior weight."""

    family: str
    log_density: Callable[[FloatArray], FloatArray]
    log_prior: float


def all_shapes() -> tuple[Shape, ...]:
    """The dictionary; prior weights add up to `FAMILY_PRIOR` within each family."""
    shapes = (*_inverse_gaussians(), *_normals(), *_tailed_normals())
    total = {
        family: np.logaddexp.reduce([s.log_prior for s in shapes if s.family == family])
        for family in FAMILY_PRIOR
    }
    return tuple(
        Shape(
            s.family,
            s.log_density,
            float(s.log_prior - total[s.family] + np.log(FAMILY_PRIOR[s.family])),
        )
        for s in shapes
    )


def _inverse_gaussians() -> Iterator[Shape]:
    for p in INDICES:
        yield Shape("inverse", _power(p), _normal_log(p, INDEX_PRIOR) + _breadth(NO_LOWER_END))
        for log_omega in CONCENTRATIONS:
            prior = _normal_log(p, INDEX_PRIOR) + _breadth(log_omega)
            yield Shape("inverse", _two_ended(p, float(np.exp(log_omega))), prior)


def _normals() -> Iterator[Shape]:
    for log_spread in SPREADS:
        density = _bell(float(np.exp(log_spread)))
        yield Shape("normal", density, _normal_log(log_spread, SPREAD_PRIOR))


def _tailed_normals() -> Iterator[Shape]:
    for log_spread in TAILED_SPREADS:
        for p in TAIL_INDICES:
            for height in TAIL_HEIGHTS:
                yield Shape("tailed", _tailed(float(np.exp(log_spread)), p, height), 0.0)


def _power(p: float) -> Callable[[FloatArray], FloatArray]:
    return lambda z: p * z - np.exp(z)


def _two_ended(p: float, omega: float) -> Callable[[FloatArray], FloatArray]:
    return lambda z: p * z - omega * np.cosh(z)


def _bell(spread: float) -> Callable[[FloatArray], FloatArray]:
    return lambda z: -0.5 * (z / spread) ** 2


def _tailed(spread: float, p: float, height: float) -> Callable[[FloatArray], FloatArray]:
    bell, tail = _bell(spread), _power(p)
    return lambda z: np.logaddexp(bell(z), height + 1.0 + tail(z))  # tail(0) is −1


def _normal_log(value: float, prior: tuple[float, float]) -> float:
    mean, deviation = prior
    return float(-0.5 * ((value - mean) / deviation) ** 2)


def _breadth(log_omega: float) -> float:
    return _normal_log(log_omega, CONCENTRATION_PRIOR)


@dataclass(frozen=True)
class RateGrid:
    """All shapes at all locations on a grid of log-rates that begins at `lowest`."""

    lowest: float

    @cached_property
    def log_rates(self) -> FloatArray:
        """The grid of log μ."""
        return np.arange(self.lowest, HIGHEST_RATE, STEP)

    @cached_property
    def locations(self) -> FloatArray:
        """The grid of locations."""
        return np.arange(self.lowest + 2.0, HIGHEST_LOCATION + STEP / 2, STEP)

    @cached_property
    def log_prior(self) -> FloatArray:
        """Logarithm of the prior weight of each shape."""
        return np.array([shape.log_prior for shape in all_shapes()])

    @cached_property
    def _deviates(self) -> FloatArray:
        n = len(self.log_rates) + len(self.locations) - 1
        deviates: FloatArray = self.log_rates[0] - self.locations[-1] + STEP * np.arange(n)
        return deviates

    @cached_property
    def _densities(self) -> FloatArray:
        """Shapes × deviates, each with maximum 1."""
        with np.errstate(over="ignore"):
            logs = np.array([shape.log_density(self._deviates) for shape in all_shapes()])
        densities: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
        return densities

    def total(self, value: FloatArray) -> FloatArray:
        """Σ value(μ) · density over the grid of rates: shapes × locations.

        `value` has one entry for each log-rate.
        """
        shifted = np.zeros((len(self._deviates), len(self.locations)))
        last = len(self.locations) - 1
        for place in range(last + 1):
            shifted[last - place : last - place + len(value), place] = value
        totals: FloatArray = self._densities @ shifted
        return totals

    @cached_property
    def sizes(self) -> FloatArray:
        """Cells with sample count 1, 2, …, `LARGEST_SIZE`: sizes × shapes × locations."""
        x = self.log_rates
        logs = (j * x - np.exp(x) - lgamma(j + 1) for j in range(1, LARGEST_SIZE + 1))
        return read_only(np.array([np.maximum(self.total(np.exp(log)), TINY) for log in logs]))

    @cached_property
    def seen(self) -> FloatArray:
        """Cells with any of those sample counts: shapes × locations."""
        seen: FloatArray = self.sizes.sum(axis=0)
        return read_only(seen)

    @cached_property
    def log_conditional(self) -> FloatArray:
        """log P(sample count is j, given from 1 to `LARGEST_SIZE`): sizes × shapes × locations."""
        return read_only(np.log(self.sizes / self.seen))

    def staying_unique(self, fraction: float) -> FloatArray:
        """P(F = 1 given f = 1) = Σ μ e^(−μ/π) g / Σ μ e^(−μ) g: shapes × locations."""
        rate = np.exp(self.log_rates)
        staying: FloatArray = self.total(rate * np.exp(-rate / fraction)) / self.sizes[0]
        return np.minimum(staying, 1.0)

    def size_expectation(self, size: int, value: FloatArray) -> FloatArray:
        """E(value(μ) given that the sample count is `size`): shapes × locations.

        `value` has one entry for each log-rate; trusted: size from 1 to `LARGEST_SIZE`.
        """
        x = self.log_rates
        chance = np.exp(size * x - np.exp(x) - lgamma(size + 1))
        expectation: FloatArray = self.total(chance * value) / self.sizes[size - 1]
        return expectation

    def unseen_in_population(self, fraction: float) -> FloatArray:
        """Cells of the population outside the sample, for each cell seen: shapes × locations."""
        rate = np.exp(self.log_rates)
        unseen = np.exp(-rate) - np.exp(-rate / fraction)
        return np.maximum(self.total(unseen), 0.0) / self.seen

    def cells_above(self, log_rate: float) -> FloatArray:
        """Cells whose log-rate is at least this, for each cell seen: shapes × locations."""
        return self.total((self.log_rates >= log_rate).astype(np.float64)) / self.seen

    def nearest(self, offset: FloatArray) -> IntArray:
        """Offsets of locations as steps of the grid."""
        return np.rint(offset / STEP).astype(np.int64)


@lru_cache(maxsize=2)
def _grid(lowest: float) -> RateGrid:
    return RateGrid(lowest)


def grid_for(fraction: float) -> RateGrid:
    """The grid that reaches low enough for a sampling fraction; kept from one call to the next."""
    return _grid(min(LOWEST_RATE, float(np.floor(np.log(fraction))) - BELOW_FRACTION))
