"""What may be asked of a protection, by the same names in Python and on the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.data.csv_dialect import CsvOptions
from discreet.data.hierarchy import Hierarchy
from discreet.errors import InputError, must_be
from discreet.masks.records.contract import RecordMethod
from discreet.masks.records.recoding import Recoding
from discreet.masks.records.suppression import Guarantee
from discreet.option_types import check_types
from discreet.policy.policy import Policy
from discreet.policy.record_rules import PopulationUniques
from discreet.protection.recipe import Recipe
from discreet.protection.search_loss import search_loss
from discreet.survey.options import AssessOptions
from discreet.survey.validation import checked_names, checked_sensitive

UNTYPED = ("keys", "sensitive", "population", "policy", "recode", "steps", "recipe", "untouched")
OF_ASSESS = (  # options that mean the same in an assessment
    "weight", "population", "whole_population", "household", "cluster", "clusters", "stratum",
    "sensitive", "max_risk", "l", "roles", "csv",
)  # fmt: skip
SUPPRESSIONS = ("values", "records", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectOptions:
    """The options of a protection. On the command line they have the same names, with dashes; one
    that holds several values is given several times, in the singular (`--recode`).

    What you know of the data:

    - `keys`: columns an intruder may know.
    - `weight`, `population`, `whole_population`, `household`, `cluster`, `clusters`, `stratum`,
      `sensitive`, `roles`: as in `assess`.
    - `trees`: for a key, which levels belong together: a file with one leaf a row, or a Hierarchy.

    What must hold afterwards, one of these at least:

    - `min_k`: so many records belong together, as `guarantee` says.
    - `max_risk`: no record has a recommended risk above this, 0 to 1.
    - `max_uniques`: so many population uniques among the records at most, by the limits of the
      estimate.
    - `l`: so many different values of each sensitive variable where keys agree.
    - `policy`: policies that must hold, by name ('hdx'), as files or as Policy; one or several.

    What may be done:

    - `guarantee`: strict (at least `min_k` released records show the same values), candidates
      (every released record fits `min_k` original ones) or wildcard (as R sdcMicro counts).
    - `recode`: recodings to begin with, such as 'age=bands(5)', as texts or objects.
    - `search`: whether further recodings are looked for; False to leave the keys as they are.
    - `suppress`: single `values`, whole `records` or `none`.
    - `most_records`: with whole records, the largest share of them, 0 to 1.
    - `untouched`: keys that are neither recoded nor suppressed.
    - `keep_keys`: no key may be left out of the file.
    - `importance`: how much a value of a key is worth against one of another (1).
    - `most_suppressed`: the most values of a key that may be taken out.
    - `steps`: what is done to single records in the end: Pram, Swap, Subsample, RoundWeights,
      RemoveWeights, RemoveColumns or Shuffle, as objects or as texts such as 'shuffle()'.
    - `recipe`: carry out this recipe (a file, a dict or a Recipe) and look for nothing.

    What is computed:

    - `loss`: what the search keeps small: arx, entropy or values.
    - `keep`: analyses whose results are compared: 'income ~ age + sex', or 'table:age,sex'.
    - `frontier`: whether risk and loss at other strengths are worked out too.
    - `seed`: of steps that treat records by chance; drawn afresh if not given, and secret.
    - `closest`: give out the closest file where the goal cannot be reached.
    - `csv`: delimiter, quote, encoding and decimal mark (CsvOptions).
    """

    keys: Sequence[str] | None = None
    weight: str | None = None
    population: float | None = None
    whole_population: bool = False
    household: str | None = None
    cluster: str | None = None
    clusters: int | None = None
    stratum: str | None = None
    sensitive: Sequence[str] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    trees: Mapping[str, Hierarchy | str | Path] = field(default_factory=dict)
    min_k: int | None = None
    max_risk: float | None = None
    max_uniques: float | None = None
    l: int | None = None  # noqa: E741 - as the literature writes it
    policy: Any = ()
    guarantee: str = Guarantee.STRICT.value
    recode: Sequence[str | Recoding] = ()
    search: bool = True
    suppress: str = "values"
    most_records: float = 1.0
    untouched: Sequence[str] = ()
    keep_keys: bool = False
    importance: Mapping[str, float] = field(default_factory=dict)
    most_suppressed: Mapping[str, int] = field(default_factory=dict)
    steps: Sequence[str | RecordMethod] = ()
    recipe: str | Path | Mapping[str, Any] | Recipe | None = None
    loss: str = "arx"
    keep: Sequence[str] = ()
    frontier: bool = True
    seed: int | None = None
    closest: bool = False
    csv: CsvOptions | None = None

    def __post_init__(self) -> None:
        check_types(self, untyped=UNTYPED)
        listed = {
            "keys": checked_names("keys", self.keys or ()),
            "sensitive": checked_sensitive(self.sensitive),
            "untouched": checked_names("untouched", self.untouched),
            "recode": _several(self.recode),
            "steps": _several(self.steps),
            "keep": _several(self.keep),
        }
        for name, value in listed.items():
            object.__setattr__(self, name, value)
        if not self.keys:
            raise InputError(must_be("keys", "at least one column", "none"))
        self._check_names()
        self._check_choices()
        object.__setattr__(self, "policy", self.assessing(tuple(self.keys)).policy)
        if not self.has_goal and self.recipe is None:
            remedy = "give a rule (min_k, max_risk, max_uniques, l, policy) or a recipe (recipe)"
            raise InputError(must_be("goal", "given", "none", remedy=remedy))

    def _check_names(self) -> None:
        keys = set(self.keys or ())
        for name in ("trees", "importance", "most_suppressed", "untouched"):
            strange = [one for one in getattr(self, name) if one not in keys]
            if strange:
                raise InputError(must_be(name, "of the keys", repr(strange[0])))

    def _check_choices(self) -> None:
        if self.guarantee not in set(Guarantee):
            rule = f"one of {', '.join(Guarantee)}"
            raise InputError(must_be("guarantee", rule, repr(self.guarantee)))
        if self.suppress not in SUPPRESSIONS:
            rule = f"one of {', '.join(SUPPRESSIONS)}"
            raise InputError(must_be("suppress", rule, repr(self.suppress)))
        search_loss(self.loss)
        if not 0 <= self.most_records <= 1:
            raise InputError(must_be("most_records", "a share from 0 to 1", self.most_records))
        if self.most_records != 1 and self.suppress != "records":
            rule = "given where whole records are suppressed"
            remedy = "suppress records (suppress)"
            raise InputError(must_be("most_records", rule, f"suppress {self.suppress!r}",
                                     remedy=remedy))  # fmt: skip
        if self.max_uniques is not None and not 0 <= self.max_uniques < 1e15:
            raise InputError(must_be("max_uniques", "0 or more", self.max_uniques))
        if self.seed is not None and self.seed < 0:
            raise InputError(must_be("seed", "0 or more", self.seed))
        for key, price in self.importance.items():
            if not 0 < price < 1e9:
                raise InputError(must_be(f"importance of {key!r}", "above 0", price))
        if self.l is not None and not self.sensitive:
            raise InputError(must_be("l", "given with a sensitive variable", "none"))
        if self.suppress == "records" and self.household is not None:
            rule = "values where households are told, of which other members would show the rest"
            raise InputError(must_be("suppress", rule, "'records'"))
        if self.l is not None and not self.is_strict:
            rule = "given with the strict guarantee, which parts records into groups"
            raise InputError(must_be("l", rule, repr(self.guarantee)))

    @property
    def has_goal(self) -> bool:
        """Whether anything must hold afterwards."""
        goals = (self.min_k, self.max_risk, self.max_uniques, self.l)
        return bool(self.policy) or any(goal is not None for goal in goals)

    @property
    def is_strict(self) -> bool:
        """Whether the file is to prove by itself that `min_k` records belong together."""
        return self.guarantee == Guarantee.STRICT

    def assessing(self, keys: tuple[str, ...], **more: Any) -> AssessOptions:
        """What the file is assessed by, before and after; `keys` are those that it has then.

        Under another guarantee than `strict` the records that belong together are counted
        differently, so `min_k` is no rule of the assessment then.
        """
        given = {name: getattr(self, name) for name in OF_ASSESS}
        asked = given | {"keys": keys, "policy": self._policies(), "missing": "category"} | more
        if self.guarantee == Guarantee.WILDCARD:
            asked["missing"] = "wildcard"
        if self.guarantee != Guarantee.CANDIDATES:
            asked["min_k"] = self.min_k
        return AssessOptions(**asked)

    def _policies(self) -> tuple[Any, ...]:
        given = self.policy if isinstance(self.policy, list | tuple) else (self.policy,)
        if self.max_uniques is None:
            return tuple(given)
        own = PopulationUniques(limit=self.max_uniques)
        already = any(isinstance(one, Policy) and own in one.rules for one in given)
        return tuple(given) if already else (*given, Policy(name="", rules=(own,)))


def _several(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)
