"""What may be asked of a choice among releases, by the same names in Python and on the command
line."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

from discreet.choice.mask_names import fresh_seed
from discreet.choice.measures import Measure
from discreet.errors import InputError, must_be
from discreet.option_types import check_types
from discreet.policy.policy import Policy, check_about
from discreet.policy.reading import policies_of
from discreet.policy.rule import Subject
from discreet.tables.policy_needs import figure_of, largest_small
from discreet.tables.refused_margin import BY_OPTION, RiskMeasure, measure_named
from discreet.tables.ruled_out import check_nesting

NOT_GIVEN = float("nan")  # told from any number by what it is, not by its value
USUAL = Measure()  # stands for none that was named
NO_LIMIT = math.inf  # on the measure, where policies stand in its place


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseOptions:
    """The options of a choice. On the command line they have the same names, with dashes; one that
    holds several values is given several times, in the singular (`--request`).

    What must hold, one of these at least:

    - `policy`: the name of a policy, a file or a Policy, or several of them; `discreet policies`
      lists those that come with Discreet. What it says must be done to a table is among the masks.
    - `max_risk`: the greatest risk allowed: from 0 to 1 by `cells` and `table`; by `bounds`, where
      risk is minus the narrowest width, 0 or below.
    - `min_width`: bounds of small cells must be so wide, which is `measure` bounds with `max_risk`
      minus this width; in place of `max_risk`.

    How risk is measured:

    - `measure`: `cells` (share of the small cells found), `table` (probability of the true table)
      or `bounds` (how narrow the bounds of a small cell are).
    - `small`: counts from 1 to it are small; 2, or what the policies call small.
    - `confidence`: an intruder who is surer than this of a count takes it as known.
    - `alpha`: count that the prior of the intruder `dirichlet` puts into each cell.
    - `intruders`: multinomial, dirichlet, uniform, by what they believe before the release; of
      several the worst counts.

    What could go out, and who is served:

    - `masks`: what to look at, such as 'margins,rounding:base=3'; by default all that make sense.
    - `tables`: the tables that are to go out as one set, as 'region:tree(all),age:bands(10)+total'
      or 'region,sex | age=0-15'; masks are then looked at for exactly these. `trees` are those of
      their variables, each a file or a Hierarchy.
    - `published`: with `tables`, files of tables as they were published before, perhaps rounded or
      with withheld figures: 't.csv | sex=F | rounded(5)'. `labels` are other names in them, as
      'sex:Female=F'.
    - `out`: margins that are out already; with `tables` also tables written as they are.
    - `targets`: variables whose level a group of persons must not share; all unless named. Where
      they are named, groups that only probably share one count too, from the probability `sure`.
    - `nesting`: an intruder knows what one variable determines of another, such as the region of a
      district, as far as the table shows it; False against that.
    - `nested`: pairs of which everybody knows that one determines the other, as 'district:region';
      what a group shares by that is no news. Names of levels may show it too (N1 in N, 23 in
      20-24).
    - `requests`: margins that users want, each with its weight: `((("a", "b"), 1.0),)`.
    - `users`: counts, squares, association, fit, shape or requests, with their weights.

    How long it may take:

    - `seconds`: the time for all candidates together; None for no limit.
    - `seed`: of all draws and random masks, a new one each time unless given; keep it secret.
    """

    policy: Any = None
    max_risk: float = NOT_GIVEN
    min_width: InitVar[int | None] = None
    measure: Measure = USUAL
    small: InitVar[int | None] = None
    confidence: InitVar[float | None] = None
    alpha: InitVar[float | None] = None
    intruders: tuple[str, ...] = ("multinomial",)
    masks: str | None = None
    tables: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    trees: Mapping[str, Any] = field(default_factory=dict)
    out: tuple[tuple[str, ...] | str, ...] = ()
    targets: tuple[str, ...] | None = None
    sure: float = 0.9
    nesting: bool = True
    nested: tuple[str, ...] = ()
    requests: tuple[tuple[tuple[str, ...], float], ...] = ()
    users: Mapping[str, float] | None = None
    seconds: float | None = 60.0
    seed: int = field(default_factory=fresh_seed)

    def __post_init__(
        self,
        min_width: int | None,
        small: int | None,
        confidence: float | None,
        alpha: float | None,
    ) -> None:
        own = {"min_width": min_width, "small": small, "confidence": confidence, "alpha": alpha}
        check_types(self, untyped=("measure",), given=own)
        policies = policies_of(self.policy)
        check_about(policies, Subject.TABLES)
        limits = min_width is not None or self.max_risk is not NOT_GIVEN
        measure = _measure(self.measure, min_width, policies, limits=limits)
        given = {"small": small, "confidence": confidence, "alpha": alpha}
        more = {name: value for name, value in given.items() if value is not None}
        limit = self.max_risk if min_width is None else _limit(min_width, self.max_risk)
        limit = NO_LIMIT if policies and limit is NOT_GIVEN else limit
        intruders: Iterable[str] = self.intruders
        nested: Iterable[str] = self.nested
        tables: Iterable[str] = self.tables
        published: Iterable[str] = self.published
        settled = {
            "policy": policies,
            "published": tuple([published] if isinstance(published, str) else published),
            "measure": replace(measure, **more),  # type: ignore[arg-type]
            "max_risk": limit,
            "intruders": tuple([intruders] if isinstance(intruders, str) else intruders),
            "nested": tuple([nested] if isinstance(nested, str) else nested),
            "tables": tuple([tables] if isinstance(tables, str) else tables),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        self._check()

    def replaced(self, **keywords: Any) -> "ChooseOptions":
        """With some options replaced; what belongs to the measure and is not named stays."""
        own = self.measure
        kept: dict[str, Any] = {}
        if not isinstance(keywords.get("measure"), Measure):
            kept = {"small": own.small, "confidence": own.confidence, "alpha": own.alpha}
        if "min_width" in keywords:
            kept["max_risk"] = NOT_GIVEN
        return replace(self, **(kept | keywords))

    @property
    def has_limit(self) -> bool:
        """Whether the measure itself is limited, beside what the policies say."""
        return self.max_risk != NO_LIMIT

    def _check(self) -> None:
        if self.max_risk is NOT_GIVEN:
            what = "policy, max_risk or min_width"
            raise InputError(must_be(what, "given, one of them at least", "none"))
        if self.has_limit or not self.policy:
            _check_max_risk(self.max_risk, self.measure.kind)
        check_nesting(self.nesting, self.nested)
        if self.published and not self.tables:
            remedy = "name the tables that are to go out (tables)"
            raise InputError(must_be("published", "given with tables", "none", remedy=remedy))
        if self.labels and not self.published:
            raise InputError(must_be("labels", "given with published tables", "none"))
        if not 0 < self.sure <= 1:
            raise InputError(must_be("sure", "above 0, up to 1", self.sure))
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise InputError(must_be("seconds", "above 0 and finite", self.seconds))
        if not self.intruders or len(set(self.intruders)) < len(self.intruders):
            raise InputError(must_be("intruders", "at least one, each once", self.intruders))


def _measure(
    given: Measure | str, min_width: int | None, policies: Sequence[Policy], *, limits: bool
) -> Measure:
    """The measure by its name, or as it was made; a width is one of bounds. Left out and without a
    limit of its own, it is the first that a policy limits."""
    small = largest_small(policies)
    usual = USUAL if small is None else Measure(small=small)
    if given is USUAL and not limits:
        return replace(_limited_by(policies) or usual)
    if given is USUAL:
        return _by_width(usual, min_width)
    if isinstance(given, Measure):
        return _by_width(given, min_width)
    kind = measure_named(given)
    if min_width is not None and kind is not RiskMeasure.BOUNDS:
        rule = "given with the measure bounds"
        raise InputError(must_be("min_width", rule, repr(kind.value)))
    return replace(usual, kind=kind)


def _by_width(measure: Measure, min_width: int | None) -> Measure:
    """The measure, or that of bounds where a width is the limit."""
    return replace(measure) if min_width is None else replace(measure, kind=RiskMeasure.BOUNDS)


def _limited_by(policies: Sequence[Policy]) -> Measure | None:
    """The first measure that a policy limits."""
    rules = (rule for policy in policies for rule in policy.rules)
    figures = (one for rule in rules if (one := figure_of(rule)) is not None)
    first = next((one for one in figures if one.measure in BY_OPTION), None)
    if first is None:
        return None
    return Measure(kind=first.measure, small=first.small, confidence=first.confidence)


def _limit(min_width: int, max_risk: float) -> float:
    """A least width as a greatest risk."""
    if max_risk is not NOT_GIVEN:
        raise InputError(must_be("max_risk", "left out where min_width is given", max_risk))
    if min_width < 0:
        raise InputError(must_be("min_width", "at least 0", min_width))
    return 0.0 - min_width


def _check_max_risk(max_risk: float, measure: RiskMeasure) -> None:
    if measure is RiskMeasure.BOUNDS:
        if not -math.inf < max_risk <= 0:
            rule = "at most 0 for bounds, where risk is minus a width"
            remedy = f"a least width of {abs(max_risk):g} (min_width) asks for bounds so wide"
            raise InputError(must_be("max_risk", rule, f"{max_risk:g}", remedy=remedy))
    elif not 0 <= max_risk <= 1:
        raise InputError(must_be("max_risk", f"from 0 to 1 for {measure.value}", f"{max_risk:g}"))
