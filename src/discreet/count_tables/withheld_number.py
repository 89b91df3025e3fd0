"""What is assumed of the number of observations where n does not go out.

P(f | S1, S2) = Σ_n P(n | S1, S2) P(f | n, S1, S2). The last factor is that of the count policy, but
how probable each n is depends on the parameters, which S1 and S2 do not tell without n. So it is
an assumption, and one that is stated: `equal` takes every n that some table has as equally
probable, `reciprocal` as probable as 1/n.

Without a range for n zeros are not identified: any number of them agrees with S1 and S2. Then the
same is assumed of the observations above zero, of which there are at least one and at most S1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.special import log_sum

NUMBER_PRIORS = {"equal": "taken as equally probable", "reciprocal": "with weight one over itself"}
ABOVE_ZERO = "observations above zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The range of n, or of the observations above zero, where n is withheld.

    `possible` is how many numbers of the range some table has, None where that was not found out;
    `finite` says whether n itself has an upper limit; `prior` is what is assumed of them.
    """

    of: str
    low: int
    high: int
    possible: int | None
    finite: bool
    prior: str

    @property
    def words(self) -> str:
        """The range and the assumption, in a sentence."""
        named = "n" if self.of == "n" else f"the number of {self.of}"
        if self.possible == 1:
            range_ = f"{named} can only be {self.low:,}"
        elif self.possible is None:
            range_ = f"{named} lies between {self.low:,} and {self.high:,}"
        else:
            range_ = f"{named} can be {self.possible:,} numbers from {self.low:,} to {self.high:,}"
        endless = "; n itself has no upper limit, since zeros leave S1 and S2 as they are"
        taken = "" if self.possible == 1 else f", each {NUMBER_PRIORS[self.prior]}"
        return f"n is withheld: {range_}{taken}{'' if self.finite else endless}"


def number_weights(groups: Mapping[str, int], prior: str) -> dict[str, float]:
    """The weight of each group of tables from its number of observations."""
    check_number_prior(prior)
    return {name: 1.0 if prior == "equal" else 1.0 / max(1, n) for name, n in groups.items()}


def check_number_prior(prior: str) -> None:
    """Raises InputError for a prior on n that there is not."""
    if prior not in NUMBER_PRIORS:
        raise InputError(must_be("the prior on n", " or ".join(NUMBER_PRIORS), repr(prior)))


def numbers_of(
    shares: Mapping[str, float] | None,
    limits: tuple[int, int],
    *,
    n_has_range: bool,
    prior: str,
) -> Numbers:
    """The numbers that some table has where an exact distribution tells them, else the limits
    given.
    """
    found = sorted(int(name) for name in shares or {})
    low, high = (found[0], found[-1]) if found else limits
    return Numbers(
        of="n" if n_has_range else ABOVE_ZERO,
        low=low,
        high=high,
        possible=len(found) or None,
        finite=n_has_range,
        prior=prior,
    )


def by_number(
    tables: IntArray, log_weights: FloatArray, prior: str
) -> tuple[FloatArray, dict[str, float]]:
    """Weights of listed tables, such that each number of observations gets what the prior says.

    With them the probability of each number.
    """
    logs, sums = log_weights.copy(), tables.sum(axis=1)
    weights = number_weights({str(n): int(n) for n in np.unique(sums)}, prior)
    whole = sum(weights.values())
    for name, weight in weights.items():
        here = sums == int(name)
        logs[here] += math.log(weight / whole) - log_sum(logs[here])
    return logs, {name: weight / whole for name, weight in weights.items()}
