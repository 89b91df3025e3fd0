"""What may be asked about the statistics of counts, by the same names in Python and on the command
line."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from discreet.count_tables.categories import Margin
from discreet.count_tables.knowledge import Knowledge
from discreet.count_tables.knowledge_notation import parse_knowledge
from discreet.count_tables.verdict import CountMeasure, check_max_risk, plain_policy
from discreet.count_tables.withheld_number import check_number_prior
from discreet.errors import InputError, must_be, one_of
from discreet.option_types import check_types
from discreet.policy.policy import Policy, check_about
from discreet.policy.reading import policies_of
from discreet.policy.rule import Subject

Prior = tuple[float, float, float]
OnePolicy = str | Path | Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOptions:
    """The options for one table of counts. On the command line they have the same names, with
    dashes.

    What goes out:

    - `decimals`: S2 goes out with so many decimals; by default exactly.
    - `truncate`: decimals are cut off, not rounded.
    - `withhold_n`: n does not go out.

    What an intruder has:

    - `knows`: what he knows, as 'max=4,nozeros,2=5..9,decreasing,n=40..60', or Knowledge.
    - `number_prior`: what he assumes of a withheld n: 'equal' (each n alike) or 'reciprocal' (in
      proportion to 1/n).

    The verdict:

    - `policy`: a policy that must hold, by its name, as a file or as a Policy; or several.
    - `max_risk`: the greatest risk allowed.
    - `measure`: the risk of the table: best_guess, truth or reciprocal_entropy.
    - `small`: single counts are judged where at most so many have the value; by default all.

    What else is computed:

    - `bayes`: a Bayesian analysis of rate and dispersion, with `prior`, worth c observations of
      total a and log-factorial total b, as (a, b, c); by default flat.
    - `fit_draws`: the fit is tested on so many tables that are drawn from it and fitted again; by
      default by a formula for large tables.
    - `draw`: tables are drawn where they are too many to list.
    - `seconds`: the time it may take; `seed`: of all draws.
    """

    knows: str | Knowledge | None = None
    decimals: int | None = None
    truncate: bool = False
    withhold_n: bool = False
    max_risk: float | None = None
    measure: CountMeasure = CountMeasure.BEST_GUESS
    seconds: float = 120.0
    seed: int = 1
    draw: bool = False
    small: int | None = None
    number_prior: str = "equal"
    bayes: bool = False
    prior: Prior | None = None
    policy: OnePolicy | Sequence[OnePolicy] | None = None
    fit_draws: int = 0

    def __post_init__(self) -> None:
        check_types(self)
        object.__setattr__(self, "policy", _on_counts(self.policy))
        if self.fit_draws < 0:
            raise InputError(must_be("fit_draws", "zero or more", self.fit_draws))
        object.__setattr__(self, "measure", one_of("measure", CountMeasure, self.measure))
        _ = self.knowledge  # checks it
        check_number_prior(self.number_prior)
        if self.small is not None and self.small < 1:
            raise InputError(must_be("small", "at least 1", self.small))
        _check_work(self.seconds, self.max_risk)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """All that must hold: the limit of the options as a policy without a name, and those that
        are named."""
        return (
            *plain_policy(self.max_risk, self.measure, self.small),
            *policies_of(self.policy),
        )

    @property
    def knowledge(self) -> Knowledge | None:
        """What an intruder knows; None where that is nothing."""
        return parse_knowledge(self.knows) if isinstance(self.knows, str) else self.knows


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryOptions:
    """The options for one set of statistics a category. On the command line they have the same
    names, with dashes; one that holds several values is given several times, in the singular
    (`--margin`).

    What goes out besides one set for each category:

    - `by`: the columns whose levels make up a category, where categories are named by levels.
    - `withhold`: categories whose own set does not go out, but that of all together does.
    - `margins`: tables by some of the columns `by` that go out too; or further sets and tables by
      name (Margin).
    - `totals`: the table of all together goes out too.
    - `total_table`: for an intruder, the table of all together, where it is out.

    What an intruder has:

    - `knows`: what he knows of every category, as 'max=4,nozeros,2=5..9' or Knowledge, or of each
      by its name.

    What is computed:

    - `policy`: a policy that must hold, by its name, as a file or as a Policy; or several.
    - `max_risk`: the greatest risk allowed.
    - `regress`: regression of the log rate on these category columns; 'ward*year' adds their
      interaction.
    - `bayes`: a Bayesian analysis of each category, with `prior` as (a, b, c); by default flat.
    - `draw`: the most probable tables of each category, to be shown.
    - `seconds`: the time it may take; `seed`: of all draws.
    """

    by: Sequence[str] = ()
    withhold: Collection[str] = ()
    margins: Mapping[str, Margin] | Sequence[Sequence[str]] = field(default_factory=dict)
    totals: bool = False
    total_table: Mapping[int, int] | str | None = None
    knows: str | Knowledge | Mapping[str, Knowledge] | None = None
    max_risk: float | None = None
    regress: Sequence[str] = ()
    bayes: bool = False
    prior: Prior | None = None
    draw: bool = False
    seconds: float = 120.0
    seed: int = 1
    policy: OnePolicy | Sequence[OnePolicy] | None = None

    def __post_init__(self) -> None:
        check_types(self)
        object.__setattr__(self, "policy", _on_counts(self.policy))
        if isinstance(self.withhold, str):
            object.__setattr__(self, "withhold", (self.withhold,))
        known = parse_knowledge(self.knows) if isinstance(self.knows, str) else self.knows
        if isinstance(known, Knowledge) and known.shape is not None:
            rule = "without shapes where there are categories"
            raise InputError(must_be("knows", rule, repr(str(known.shape))))
        _check_work(self.seconds, self.max_risk)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """All that must hold, as for one table."""
        return (*plain_policy(self.max_risk), *policies_of(self.policy))

    def knowledge(self, names: Collection[str]) -> dict[str, Knowledge]:
        """What is known of each category."""
        known = parse_knowledge(self.knows) if isinstance(self.knows, str) else self.knows
        if known is None:
            return {}
        return dict.fromkeys(names, known) if isinstance(known, Knowledge) else dict(known)

    def described(self) -> tuple[str, ...]:
        """What is known of every category, in words."""
        known = parse_knowledge(self.knows) if isinstance(self.knows, str) else self.knows
        return known.described() if isinstance(known, Knowledge) else ()


def _on_counts(given: OnePolicy | Sequence[OnePolicy] | None) -> tuple[Policy, ...]:
    """The policies that are named, read once; raises InputError for one that is not on counts."""
    found = policies_of(given)
    check_about(found, Subject.COUNTS)
    return found


def _check_work(seconds: float, max_risk: float | None) -> None:
    if not 0 < seconds < float("inf"):
        raise InputError(must_be("seconds", "a finite number above zero", seconds))
    if max_risk is not None:
        check_max_risk(max_risk)
