"""What a superpopulation model makes of samples drawn from its own fit: a check on its limits."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, read_only
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.fitted import FittedSuperpopulation, Totals
from discreet.survey.models.superpopulation.goodness_of_fit import goodness_of_fit


class SizeIndexModel(Protocol):
    """Any model that is fitted on totals."""

    def fit_totals(self, totals: Totals) -> FittedSuperpopulation:
        """The fitted model; raises ModelUnavailable where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """Estimates from samples drawn from a fitted distribution.

    `population_uniques` and `statistic` are those of each draw that could be fitted, `failed` how
    many could not; `p_value` is the share of draws whose misfit is at least the observed one.
    """

    population_uniques: FloatArray
    statistic: FloatArray
    failed: int
    p_value: float | None

    def __post_init__(self) -> None:
        read_only(self.population_uniques)
        read_only(self.statistic)

    def limits(self, confidence: float) -> tuple[float, float]:
        """Equal-tailed percentiles of the estimate; raises where no draw could be fitted."""
        if not len(self.population_uniques):
            raise InputError(must_be("a bootstrap", "of draws that can be fitted", "none"))
        tail = (1 - confidence) / 2
        low, high = np.quantile(self.population_uniques, [tail, 1 - tail])
        return float(low), float(high)


def parametric_bootstrap(
    model: SizeIndexModel,
    fitted: FittedSuperpopulation,
    draws: int,
    *,
    rng: np.random.Generator,
) -> Bootstrap:
    """Estimates and misfits of so many samples drawn from the fitted distribution.

    Checked: at least one draw. Trusted: `fitted` came from `model`.
    """
    if draws < 1:
        raise InputError(must_be("draws", "at least 1", draws))
    fits = [refit for _ in range(draws) if (refit := _refitted(model, fitted, rng)) is not None]
    statistic = np.array([goodness_of_fit(refit).statistic for refit in fits])
    worse = int(np.count_nonzero(statistic >= goodness_of_fit(fitted).statistic))
    return Bootstrap(
        population_uniques=np.array([refit.population_uniques for refit in fits]),
        statistic=statistic,
        failed=draws - len(fits),
        p_value=(1 + worse) / (1 + len(fits)) if fits else None,
    )


def _refitted(
    model: SizeIndexModel, fitted: FittedSuperpopulation, rng: np.random.Generator
) -> FittedSuperpopulation | None:
    """The model fitted to one sample drawn from the distribution, at the same sampling fraction."""
    sizes, fraction = fitted.distribution.draw_sizes(rng), fitted.totals.sampling_fraction
    size = max(sizes.sample_size, round(sizes.sample_size / fraction))
    try:
        return model.fit_totals(replace(fitted.totals, size_indices=sizes, population_size=size))
    except ModelUnavailable:
        return None
