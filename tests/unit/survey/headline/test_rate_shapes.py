import math

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.survey.headline.rate_shapes import (
    CONCENTRATIONS,
    FAMILY_PRIOR,
    INDICES,
    LARGEST_SIZE,
    LOWEST_RATE,
    RateGrid,
    all_shapes,
    grid_for,
)

SHAPES = all_shapes()
GRID = grid_for(0.1)


def place_of(location):
    return int(np.argmin(np.abs(GRID.locations - location)))


def gamma_shape(index):
    """Place in the dictionary of the gamma shape with the index nearest to this one, and it."""
    number = int(np.argmin(np.abs(INDICES - index)))
    return number * (len(CONCENTRATIONS) + 1), float(INDICES[number])


def integral(shape, location, value):
    """∫ value(μ) · density, by adaptive quadrature over log μ."""
    x = np.linspace(location - 30, location + 30, 6001)
    top = shape.log_density(x - location).max()

    def integrand(log_rate):
        density = math.exp(float(shape.log_density(np.array([log_rate - location]))[0]) - top)
        return value(math.exp(log_rate)) * density

    return integrate.quad(integrand, GRID.lowest, 6, limit=400, epsabs=0, epsrel=1e-10)[0]


def test_prior_weights_add_up_within_each_family():
    for family, weight in FAMILY_PRIOR.items():
        mine = [math.exp(shape.log_prior) for shape in SHAPES if shape.family == family]
        assert sum(mine) == pytest.approx(weight)
    assert sum(FAMILY_PRIOR.values()) == pytest.approx(1)


@pytest.mark.parametrize("location", [-3.0, 0.0, 1.0])
@pytest.mark.parametrize("index", [0.3, 0.9])
def test_a_gamma_shape_predicts_negative_binomial_sample_counts(location, index):
    shape, p = gamma_shape(index)
    scale = math.exp(location)
    sizes = np.arange(1, LARGEST_SIZE + 1)
    wanted = stats.nbinom.pmf(sizes, p, 1 / (1 + scale))
    found = np.exp(GRID.log_conditional[:, shape, place_of(location)])
    assert found == pytest.approx(wanted / wanted.sum(), rel=2e-3)


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.7])
@pytest.mark.parametrize("location", [-3.0, 0.0, 1.0])
def test_a_gamma_shape_gives_the_closed_forms_of_the_population(fraction, location):
    shape, p = gamma_shape(0.9)
    scale = math.exp(location)
    place = place_of(location)
    staying = ((1 / scale + 1) / (1 / scale + 1 / fraction)) ** (p + 1)
    assert GRID.staying_unique(fraction)[shape, place] == pytest.approx(staying, rel=2e-3)
    sizes = np.arange(1, LARGEST_SIZE + 1)
    seen = stats.nbinom.pmf(sizes, p, 1 / (1 + scale)).sum()
    unseen = (1 + scale) ** -p - (1 + scale / fraction) ** -p
    found = GRID.unseen_in_population(fraction)[shape, place]
    assert found == pytest.approx(unseen / seen, rel=2e-3)


@pytest.mark.parametrize("number", range(7, len(SHAPES), 23))
@pytest.mark.parametrize("location", [-4.0, 0.5])
def test_sums_over_the_grid_are_integrals(number, location):
    shape, place = SHAPES[number], place_of(location)
    one = integral(shape, location, lambda mu: mu * math.exp(-mu))
    two = integral(shape, location, lambda mu: mu**2 / 2 * math.exp(-mu))
    stay = integral(shape, location, lambda mu: mu * math.exp(-mu / 0.1))
    log_ratio = GRID.log_conditional[1] - GRID.log_conditional[0]
    assert math.exp(log_ratio[number, place]) == pytest.approx(two / one, rel=5e-3)
    assert GRID.staying_unique(0.1)[number, place] == pytest.approx(stay / one, rel=5e-3)


def test_with_everybody_sampled_every_unique_stays_unique():
    assert np.allclose(GRID.staying_unique(1.0), 1.0)
    assert np.allclose(GRID.unseen_in_population(1.0), 0.0)


def test_cells_above_a_rate_fall_as_the_rate_rises():
    assert (GRID.cells_above(-3.0) >= GRID.cells_above(-1.0)).all()


def test_the_grid_reaches_lower_for_smaller_fractions():
    assert grid_for(0.3).lowest == LOWEST_RATE
    assert grid_for(1e-9).lowest < math.log(1e-9) - 10
    assert grid_for(0.3) is grid_for(0.2)


def test_every_location_sees_something_however_low():
    grid = RateGrid(-40.0)
    assert np.isfinite(grid.log_conditional).all()
    assert (grid.seen > 0).all()
