"""What a protection did, what it cost, and what a file at other strengths would be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import InputError, must_be
from discreet.figures import Outcome, Unavailable
from discreet.masks.records.contract import RecordMethod
from discreet.notebooks import Result
from discreet.policy.verdict import Ruling, Verdict
from discreet.protection.estimates_kept import AnalysisKept
from discreet.protection.loss import Loss
from discreet.protection.options import ProtectOptions
from discreet.protection.recipe import Recipe
from discreet.survey.assessment import Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """One way to protect the file: how many records belong together at least (`k`, 1 for the file
    as it is), what is done, what it costs and what risk is left.

    `suppressed` values are taken out; `loss` is the one that the search keeps small; `largest_risk`
    and `population_uniques` are what an assessment says. `chosen` marks the one that was taken.
    """

    k: int
    changes: tuple[str, ...]
    suppressed: int
    loss: float
    largest_risk: Outcome
    population_uniques: Outcome
    ruling: Ruling | None
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """How well the recipe is known to be the best among the recodings that were looked for: of
    `n_nodes` recodings `n_looked_at` were counted; `proved` that no other loses less, or by how
    much at most one could (`gap`)."""

    n_nodes: int
    n_looked_at: int
    proved: bool
    gap: float
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftByChance:
    """What steps that treat records by chance leave to an intruder, worked out from the chances.

    `looks_alone` records are the only ones that show their keys; `right` is the probability that a
    link to one of them is right.
    """

    method: str
    looks_alone: int
    right: Outcome


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Protected(Result):
    """A protected file.

    `verdict` says whether the goal is reached; `assessment` is that of the protected file, `before`
    that of the original, `loss` what it cost, `recipe` what was done. `frontier` are other ways to
    protect the file, `searched` how well the recipe is known to be the best. `least_values` is a
    number of suppressed values that no choice can do without, given the recodings. `reached` says
    that no rule is broken; where one is, `closest` tells what would have to give. `notes` say what
    must not be overlooked. `output` is the
    file that was written, None if none was; `data` gives the records.
    """

    source: str
    options: ProtectOptions
    assessment: Assessment
    before: Assessment
    verdict: Verdict | None
    loss: Loss
    recipe: Recipe
    frontier: tuple[FrontierPoint, ...] = ()
    searched: Searched | None = None
    least_values: float | None = None
    analyses: Mapping[str, AnalysisKept | Unavailable] = field(default_factory=dict)
    by_chance: tuple[LeftByChance, ...] = ()
    closest: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    n_records: int = 0
    output: Path | None = None
    held: Any = field(default=None, compare=False)

    @property
    def reached(self) -> bool:
        """Whether no rule that was given is broken."""
        return self.verdict is None or self.verdict.ruling is not Ruling.BROKEN

    @property
    def steps(self) -> tuple[RecordMethod, ...]:
        """What was done, in order."""
        return self.recipe.steps

    @property
    def still_possible(self) -> tuple[str, ...]:
        """What an intruder can still do, step by step, each sentence once."""
        return tuple(dict.fromkeys(step.still_possible for step in self.recipe.steps))

    @property
    def data(self) -> Any:
        """The protected records, as the kind of frame that was given; of a file an Arrow table.

        Raises InputError where the goal was not reached and the closest file was not asked for, and
        for a result that was pickled.
        """
        if self.held is None:
            rule, remedy = "one that holds its records", None
            got = "one that was pickled"
            if not self.reached:
                got = "one that did not reach its goal"
                remedy = "ask for the closest file (closest)"
            elif self.output is None:
                got = "that of a file without an output"
                remedy = "name one (write), or give a frame"
            raise InputError(must_be("result", rule, got, remedy=remedy))
        return self.held()

    def __reduce__(self) -> Any:
        """Pickled without its records."""
        from dataclasses import fields

        state = {one.name: getattr(self, one.name) for one in fields(self)} | {"held": None}
        return _made, (state,)


def _made(state: dict[str, Any]) -> Protected:
    return Protected(**state)
