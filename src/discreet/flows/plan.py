"""How large a sample may be for a given risk."""

from decimal import Decimal
from fractions import Fraction

from discreet.flows.keywords import documented_by
from discreet.notebooks import Result
from discreet.survey.models.exchangeable_prior import PopulationPrior, check_whole
from discreet.survey.models.sample_size import Plan, plan_sample_size


class Plans(Result, tuple[Plan, ...]):
    """The plans of one question, one for each prior: a tuple that shows itself as a whole."""

    __slots__ = ()


@documented_by()
def plan(
    cells: int,
    population: int,
    target_risk: float | Fraction | Decimal | str,
    prior: PopulationPrior | str | None = None,
) -> Plans:
    """The largest sample whose uniques are seldom population uniques, by the formulas of Cohen and
    Sackrowitz, which treat all cells alike.

    - `cells`: possible cells of the table, at least 2.
    - `population`: number of persons in the population.
    - `target_risk`: the greatest probability allowed that a sample unique is a population unique;
      a float means the decimal it prints as.
    - `prior`: 'uniform' or 'multinomial'; by default one plan for each of them.

    Raises InputError for numbers out of range.
    """
    check_whole("cells", cells, 2)
    check_whole("population", population, 1)
    priors = tuple(PopulationPrior) if prior is None else (prior,)
    return Plans(plan_sample_size(cells, population, target_risk, one) for one in priors)
