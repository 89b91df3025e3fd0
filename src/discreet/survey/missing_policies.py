"""A file under every policy for missing values, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.figures import Unavailable
from discreet.notebooks import Result
from discreet.survey.assessment import Assessment


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PolicyComparison(Result):
    """What each policy, by name, makes of the file, or why it makes nothing of it.

    `with_models` says whether models of the population were asked for.
    """

    source: str
    n_incomplete: int
    with_models: bool
    policies: Mapping[str, Assessment | Unavailable]
