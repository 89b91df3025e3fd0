"""The superpopulation models together: fitted to bare size indices, quickly and many times over."""

from collections.abc import Iterable

from discreet.data.summary import SizeIndices, Summary
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.survey.models.contract import ModelUnavailable
from discreet.survey.models.superpopulation.dankar import Dankar
from discreet.survey.models.superpopulation.ewens import Ewens
from discreet.survey.models.superpopulation.fitted import FittedSuperpopulation, Totals, usable
from discreet.survey.models.superpopulation.goodness_of_fit import RankedFit, rank_by_fit
from discreet.survey.models.superpopulation.negative_binomial import NegativeBinomial
from discreet.survey.models.superpopulation.parametric_bootstrap import SizeIndexModel
from discreet.survey.models.superpopulation.pitman import Pitman
from discreet.survey.models.superpopulation.poisson_gamma import PoissonGamma
from discreet.survey.models.superpopulation.poisson_inverse_gaussian import PoissonInverseGaussian
from discreet.survey.models.superpopulation.zayatz import Zayatz

SUPERPOPULATIONS: dict[str, SizeIndexModel] = {
    "ewens": Ewens(),
    "pitman": Pitman(),
    "poisson_gamma": PoissonGamma(),
    "poisson_inverse_gaussian": PoissonInverseGaussian(),
    "negative_binomial": NegativeBinomial(),
    "zayatz": Zayatz(),
    "dankar": Dankar(),
}


def fit_from_size_indices(
    name: str, sizes: SizeIndices, population_size: int, n_table_cells: int
) -> FittedSuperpopulation:
    """The named model fitted to size indices, for callers that fit thousands of subsamples.

    `.population_uniques` is its estimate and `.uniques_figure()` that with limits, which cost more.
    Checked: the name, a partition, N ≥ n ≥ 1. Raises ModelUnavailable as `fit` does.
    """
    if name not in SUPERPOPULATIONS:
        raise InputError(must_be("name", "among " + ", ".join(SUPERPOPULATIONS), repr(name)))
    if not sizes.is_partition:
        raise InputError(
            must_be("sizes", "those of a partition of the records", "overlapping cells")
        )
    if not 1 <= sizes.sample_size <= population_size:
        rule = f"at least the sample size {sizes.sample_size}, and that at least 1"
        raise InputError(must_be("population_size", rule, population_size))
    totals = Totals(
        size_indices=sizes, population_size=population_size, n_table_cells=n_table_cells
    )
    return SUPERPOPULATIONS[name].fit_totals(totals)


def fit_all(
    summary: Summary, names: Iterable[str] = tuple(SUPERPOPULATIONS)
) -> dict[str, FittedSuperpopulation | Unavailable]:
    """Every model fitted to a summary, or why it could not be."""
    totals = usable(summary)
    fits: dict[str, FittedSuperpopulation | Unavailable] = {}
    for name in names:
        try:
            fits[name] = SUPERPOPULATIONS[name].fit_totals(totals)
        except ModelUnavailable as reason:
            fits[name] = Unavailable(str(reason))
    return fits


def ranked(summary: Summary) -> tuple[RankedFit, ...]:
    """The models that have a likelihood, fitted to a summary, best first (`rank_by_fit`)."""
    fits = fit_all(summary, (name for name in SUPERPOPULATIONS if name not in {"dankar", "zayatz"}))
    return rank_by_fit(
        {name: fit for name, fit in fits.items() if isinstance(fit, FittedSuperpopulation)}
    )
