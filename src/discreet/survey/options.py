"""What may be asked of an assessment of records, by the same names in Python and on the command
line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.csv_dialect import CsvOptions
from discreet.data.hierarchy import Hierarchy
from discreet.data.missing import MissingCodes, MissingPolicy, missing_policy
from discreet.data.records import Records
from discreet.engines.contract import ClassLimits, Request
from discreet.errors import ColumnError, InputError, must_be
from discreet.masks.records.recoding import Recoding
from discreet.option_types import check_types
from discreet.policy.policy import Policy, check_about
from discreet.policy.reading import policies_of
from discreet.policy.record_rules import Alpha, C, DisSuda, L, MaxRisk, MinCandidates, MinK, T
from discreet.policy.rule import Rule, Subject
from discreet.survey.attributes.sensitive import Thresholds
from discreet.survey.codes import Codes, by_column, codes_of
from discreet.survey.models.contract import Model
from discreet.survey.models.registry import MODELS, choose_models
from discreet.survey.suda.scores import check_size
from discreet.survey.validation import (
    check_carried,
    check_codes,
    check_headline,
    check_limits,
    check_model_settings,
    check_roles,
    check_scenarios,
    check_trees,
    check_whole_population,
    checked_match_weight,
    checked_names,
    checked_sensitive,
)

USUAL_LIMIT = 0.2  # above which a risk is high where no limit is given
SHARE_OF_SOME = 0.25  # of the limit, above which a risk is some
CODES = ("missing_codes", "suppressed_codes", "not_applicable_codes")
THRESHOLDS = {  # what the limits of sensitive variables are called below
    "l": "diversity",
    "c": "recursive_c",
    "t": "closeness",
    "alpha": "concentration",
    "alpha_k": "anonymity",
}


UNTYPED = (
    "keys",
    "known_margins",
    "sensitive",
    "population",
    "missing_codes",
    "suppressed_codes",
    "not_applicable_codes",
    "policy",
    "tries",
)  # checked by themselves, with a word on what was meant


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessOptions:
    """The options of an assessment. On the command line they have the same names, with dashes; one
    that holds several values is given several times, in the singular (`--scenario`).

    What you know of the data:

    - `keys`: columns an intruder may know; by default all that the scenarios name.
    - `weight`: column of survey weights.
    - `population`: number of persons in the population.
    - `whole_population`: the file is the population, and no sample of it.
    - `population_file`: a file or a frame of the whole population, for true risks.
    - `known_margins`: files or frames with published tables of the population, each with one key or
      two and a column of counts.
    - `cells`: number of possible cells; by default the product of the numbers of levels, without
      the combinations that nested keys rule out.
    - `nesting`: keys that determine other keys (district and region) are found in the data, and
      combinations that cannot occur are no possible cells; False to count them.
    - `impossible`: a file or a frame whose columns are keys and whose rows are impossible
      combinations, an empty value meaning any level.
    - `household`: column that tells the household of each record; where households seem to have
      been drawn whole, the estimate takes it into account.
    - `cluster`, `clusters`: column of the areas, schools and so on that were drawn, and how many of
      them the population has; without a number those that were drawn were taken whole.
    - `original`: the file or the frame that this one was made of, to count how many of its records
      fit each record; keys that were recoded are recoded in it by the `recipe`.
    - `recipe`: the recipe by which the file was made of the original.
    - `stratum`: column of the strata, in each of which everybody had the same chance to be drawn;
      records take the mean weight of their stratum.
    - `sensitive`: columns that an intruder would like to learn.
    - `trees`: for a sensitive variable, which levels belong together: a file with one leaf a row,
      or a Hierarchy.
    - `scenarios`: name of a scenario to the keys that an intruder knows in it.

    What may go out:

    - `max_risk`: no record may have a recommended risk above this, 0 to 1.
    - `min_k`: at least so many records of the file must share each combination of keys.
    - `min_candidates`: at least so many records of the `original` file could be behind each record.
    - `policy`: policies that must hold, by name ('hdx'), as files or as Policy; one or several.
    - `roles`: which column is of a kind that a policy asks for: {'region': 'province'}; an empty
      name says that the file has none.

    What is computed:

    - `tries`: changes of keys to try, such as 'age=bands(5)': what each does, and all together.
    - `k`: records that must share each combination of keys, one number or several.
    - `models`: names of models to run beside the recommended estimate.
    - `all_models`: run all of them.
    - `headline`: the model that leads, in place of the recommended estimate.
    - `l`, `c`: l-diversity wants l different sensitive values in a cell (2); recursive
      (c, l)-diversity wants the most frequent value less than c times as often as the l-th most
      frequent and all rarer ones together (3).
    - `t`: greatest distance of the values in a cell from those of the file (0.3).
    - `alpha`, `alpha_k`: (α, k)-anonymity wants no value in more than this share of a cell (0.8),
      and so many records in it (2).
    - `suda`: SUDA scores from sets of up to so many keys.
    - `subsets`: sample uniques under all sets of up to so many keys.
    - `shrinkage`: how far the Lancaster model shrinks interactions, 0 to 1; by default chosen.
    - `shrinkage_table`: the Lancaster model over shrinkages from 0 to 1.
    - `loss_ratios`: how many times worse it is to miss a population unique than to call a record
      one that is not, for further Bayes tests of uniqueness.
    - `all_pairs`: how many uniques each pair of keys makes, however long that takes.
    - `n_riskiest`: so many of the riskiest combinations are listed.
    - `risks`: a CSV or Parquet file to write, with one row a record: row, risk, population_unique,
      class (high above `max_risk`, or above 0.2 if none is given; some above a quarter of it).
    - `carry`: columns of the file that go into it and into the list of the riskiest as they are,
      such as an identifier.

    How the file is read:

    - `missing`: how missing keys match: wildcard, conservative, category, drop or error.
    - `missing_weight`: how much a match counts that rests on a missing value, 0 to 1, where
      `missing` is wildcard.
    - `missing_codes`, `suppressed_codes`, `not_applicable_codes`: values that mean not known, taken
      out, or nothing to know: a list, or a list for each column.
    - `csv`: delimiter, quote, encoding and decimal mark (CsvOptions).
    """

    keys: Sequence[str] | None = None
    weight: str | None = None
    population: float | None = None
    whole_population: bool = False
    population_file: Any = field(default=None, repr=False)
    known_margins: Any = field(default=(), repr=False)
    cells: int | None = None
    nesting: bool = True
    impossible: Any = field(default=None, repr=False)
    household: str | None = None
    cluster: str | None = None
    clusters: int | None = None
    stratum: str | None = None
    original: Any = field(default=None, repr=False)
    recipe: Any = None
    sensitive: Sequence[str] = ()
    trees: Mapping[str, Hierarchy | str | Path] = field(default_factory=dict)
    scenarios: Mapping[str, Sequence[str]] = field(default_factory=dict)
    max_risk: float | None = None
    min_k: int | None = None
    min_candidates: int | None = None
    policy: Any = None
    roles: Mapping[str, str] = field(default_factory=dict)
    tries: Sequence[str | Recoding] = ()
    k: int | Sequence[int] = (2, 3, 5)
    models: str | Sequence[str] | None = None
    all_models: bool = False
    headline: str | None = None
    l: int | None = None  # noqa: E741 - the letter that everybody uses
    c: float | None = None
    t: float | None = None
    alpha: float | None = None
    alpha_k: int | None = None
    suda: int | None = None
    subsets: int | None = None
    shrinkage: float | None = None
    shrinkage_table: bool = False
    loss_ratios: Sequence[float] = ()
    all_pairs: bool = False
    n_riskiest: int = 20
    risks: str | Path | None = None
    carry: Sequence[str] = ()
    missing: str = "category"
    missing_weight: float = 1.0
    missing_codes: Codes = field(default_factory=dict)
    suppressed_codes: Codes = field(default_factory=dict)
    not_applicable_codes: Codes = field(default_factory=dict)
    csv: CsvOptions | None = None

    def __post_init__(self) -> None:
        check_types(self, untyped=UNTYPED)
        self._settle()
        if not self.key_names:
            raise InputError(must_be("keys", "at least one column", "none"))
        check_scenarios(self.scenarios, self.key_names)
        missing_policy(self.missing)
        checked_match_weight(self.missing_weight, self.missing)
        check_roles(self.key_names, self.weight, self.household, tuple(self.sensitive))
        check_codes(self.codes, (*self.key_names, *self.sensitive))
        self._check_sensitive()
        self._check_design()
        self._check_numbers()
        if self.all_models and self.models is not None:
            rule = "left out where models are named"
            raise InputError(must_be("all_models", rule, "both"))
        check_headline(self.headline, tuple(MODELS))
        names = [model.name for model in self.chosen_models]
        check_model_settings(names, self.shrinkage, tuple(self.loss_ratios))
        check_about(self.policy, Subject.RECORDS)

    def _settle(self) -> None:
        """Lists and texts in one form each."""
        keys = None if self.keys is None else checked_names("keys", self.keys)
        levels = (self.k,) if isinstance(self.k, int | np.integer) else tuple(self.k)
        named = self.models is None or isinstance(self.models, str)
        settled = {
            "keys": keys,
            "sensitive": checked_sensitive(self.sensitive),
            "carry": checked_names("carry", self.carry),
            "trees": dict(self.trees or {}),
            "scenarios": dict(self.scenarios or {}),
            "k": tuple(sorted(set(levels))),
            "models": self.models if named else tuple(self.models or ()),
            "loss_ratios": tuple(self.loss_ratios),
            "risks": None if self.risks is None else Path(self.risks),
            "policy": policies_of(self.policy),
            "roles": dict(self.roles or {}),
            "known_margins": _several(self.known_margins),
            "tries": _several(self.tries),
            **{kind: by_column(getattr(self, kind)) for kind in CODES},
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def _check_numbers(self) -> None:
        if self.population is not None:
            _check_population(self.population)
            if self.population_file is not None:
                rule = "left out where a file of the population is given"
                raise InputError(must_be("population", rule, self.population))
        check_whole_population(self.whole_population, self.population, self.population_file,
                               self.weight)  # fmt: skip
        check_limits(self.max_risk, self.min_k)
        self._check_original()
        check_carried(tuple(self.carry))
        if self.cells is not None:
            if self.cells < 1:
                raise InputError(must_be("cells", "at least 1", self.cells))
            if self.impossible is not None:
                rule = "left out where impossible combinations are given"
                remedy = "the possible cells are counted without them"
                raise InputError(must_be("cells", rule, self.cells, remedy=remedy))
        for k in self.levels_of_k:
            if k < 2:
                raise InputError(must_be("k", "at least 2", k))
        if self.suda is not None:
            check_size(self.suda, len(self.key_names), "suda")

    def _check_original(self) -> None:
        for name in ("min_candidates", "recipe"):
            given = getattr(self, name)
            if given is not None and self.original is None:
                remedy = "name it (original)"
                rule = "given with the original file"
                got = "none" if name == "recipe" else given
                raise InputError(must_be(name, rule, got, remedy=remedy))
        if self.original is not None and self.missing not in ("category", "wildcard"):
            rule = "category or wildcard where the original file is given"
            raise InputError(must_be("missing", rule, repr(self.missing)))

    def _check_design(self) -> None:
        if self.known_margins and (self.population_file is not None or self.whole_population):
            rule = "left out where the whole population is given"
            raise InputError(must_be("known_margins", rule, "both"))
        if self.clusters is not None:
            if self.cluster is None:
                rule = "given with the column of the clusters"
                raise InputError(
                    must_be("clusters", rule, self.clusters, remedy="give the column too (cluster)")
                )
            if self.clusters < 1:
                raise InputError(must_be("clusters", "at least 1", self.clusters))
        if not self.is_estimated:
            for role in ("cluster", "stratum"):
                if getattr(self, role) is not None:
                    rule = (
                        "given where the recommended estimate leads: with the size of the "
                        "population or weights, and no model or population in its place"
                    )
                    raise InputError(must_be(role, rule, repr(getattr(self, role))))
        if self.stratum is not None and self.weight is None:
            rule = "given with weights, which say how likely its records were to be drawn"
            raise InputError(must_be("stratum", rule, "none", remedy="give their column (weight)"))
        taken = {} if self.weight is None else {self.weight: "weight"}
        for role, column in self.drawn_by.items():
            if column in taken:
                rule = f"another column than {taken[column]}"
                raise ColumnError(must_be(role, rule, repr(column)))
            taken[column] = role

    def _check_sensitive(self) -> None:
        check_trees(tuple(self.trees), (*self.sensitive, *self.key_names))
        given = [name for name in THRESHOLDS if getattr(self, name) is not None]
        if given and not self.sensitive:
            raise InputError(must_be(given[0], "given with a sensitive variable", "none"))
        _ = self.thresholds  # checks them

    @property
    def uses_nesting(self) -> bool:
        """Whether keys that determine others say how many cells are possible."""
        return self.nesting and self.cells is None

    @property
    def policies(self) -> tuple[Policy, ...]:
        """All that must hold: the limits given as options, and the policies."""
        own = tuple(self._given_rules())
        return (*((Policy(name="", rules=own),) if own else ()), *self.policy)

    def _given_rules(self) -> Iterator[Rule]:
        """The limits that were given as options, as rules."""
        if self.max_risk is not None:
            yield MaxRisk(limit=self.max_risk)
        if self.min_k is not None:
            yield MinK(limit=self.min_k)
        if self.min_candidates is not None:
            yield MinCandidates(limit=self.min_candidates)
        usual = Thresholds()
        if self.l is not None:
            yield L(limit=self.l)
        if self.c is not None:
            yield C(limit=self.c, l=usual.diversity if self.l is None else self.l)
        if self.t is not None:
            yield T(limit=self.t)
        if self.alpha is not None or self.alpha_k is not None:
            share, k = self.alpha, self.alpha_k
            yield Alpha(
                limit=usual.concentration if share is None else share,
                k=usual.anonymity if k is None else k,
            )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules on records that are to be judged."""
        return tuple(rule for one in self.policies for rule in one.about(Subject.RECORDS))

    @property
    def risk_limits(self) -> tuple[float, ...]:
        """The largest risks of a record that rules allow, ascending."""
        return tuple(sorted({rule.limit for rule in self.rules if isinstance(rule, MaxRisk)}))

    @property
    def least_k(self) -> int | None:
        """The most records that a rule wants to share each combination; None without a rule."""
        of_file = [r.limit for r in self.rules if isinstance(r, MinK) and r.of == "sample"]
        return int(max(of_file)) if of_file else None

    @property
    def suda_sizes(self) -> tuple[int, ...]:
        """Sets of up to how many keys SUDA looks at: as asked first, then as rules ask."""
        asked = [] if self.suda is None else [self.suda]
        own = (min(r.up_to, len(self.key_names)) for r in self.rules if isinstance(r, DisSuda))
        return tuple(dict.fromkeys([*asked, *own]))

    @property
    def key_names(self) -> tuple[str, ...]:
        """The keys, or where none are given all that the scenarios name."""
        if self.keys is not None:
            return tuple(self.keys)
        return tuple(dict.fromkeys(key for keys in self.scenarios.values() for key in keys))

    @property
    def levels_of_k(self) -> tuple[int, ...]:
        """The values of k, ascending, each once; the least that is asked for among them."""
        given = (self.k,) if isinstance(self.k, int) else tuple(self.k)
        of_rules = {int(r.limit) for r in self.rules if isinstance(r, MinK) and r.of == "sample"}
        reported = {k for one in self.policies for k in one.reports_k}
        return tuple(sorted({*given, *of_rules, *reported}))

    @property
    def class_limits(self) -> ClassLimits:
        """From which risk on records are of the classes some and high."""
        high = self.risk_limits[0] if self.risk_limits else USUAL_LIMIT
        return ClassLimits(some=high * SHARE_OF_SOME, high=high)

    @property
    def chosen_models(self) -> tuple[Model, ...]:
        """The models that are run: those named, all if asked for, and the one that leads."""
        wanted: list[Model] = []
        if self.all_models or self.models is not None:
            wanted += choose_models(self.models if self.models is not None else "auto")
        if self.headline is not None and self.headline not in [model.name for model in wanted]:
            wanted += choose_models([self.headline])
        return tuple(map(self._set, wanted))

    def _set(self, model: Model) -> Model:
        """The model with the setting that was given for it."""
        if model.name != "lancaster":
            return model
        from discreet.survey.models.lancaster import Lancaster

        return Lancaster(shrinkage=self.shrinkage)

    @property
    def missing_policy(self) -> MissingPolicy:
        """What a missing key means."""
        return missing_policy(self.missing)

    @property
    def codes(self) -> MissingCodes:
        """The codes of all three kinds."""
        return codes_of(self.missing_codes, self.suppressed_codes, self.not_applicable_codes)

    @property
    def thresholds(self) -> Thresholds:
        """What a cell must reach in its sensitive values."""
        given = self._of_policies() | {
            name: value for name in THRESHOLDS if (value := getattr(self, name)) is not None
        }
        return Thresholds(
            **{THRESHOLDS[name]: value for name, value in given.items() if value is not None}
        )

    def _of_policies(self) -> dict[str, Any]:
        """The strictest thresholds of sensitive values that policies have."""
        rules = [rule for one in self.policy for rule in one.about(Subject.RECORDS)]
        found: dict[str, Any] = {}
        for kind, name, strictest in ((L, "l", max), (C, "c", min), (T, "t", min),
                                      (Alpha, "alpha", min)):  # fmt: skip
            limits = [rule.limit for rule in rules if isinstance(rule, kind)]
            if limits:
                found[name] = strictest(limits)
        if "l" in found:
            found["l"] = int(found["l"])
        several = [rule.l for rule in rules if isinstance(rule, C)]
        if several:
            found.setdefault("l", max(several))
        sizes = [rule.k for rule in rules if isinstance(rule, Alpha)]
        return found | ({"alpha_k": max(sizes)} if sizes else {})

    @property
    def is_estimated(self) -> bool:
        """Whether the recommended estimate leads: no model that was chosen, no counted population,
        and a sample as far as is known."""
        counted = self.whole_population or self.population_file is not None
        told = self.population is not None or self.weight is not None or self.known_margins
        return self.headline is None and not counted and bool(told)

    @property
    def drawn_by(self) -> dict[str, str]:
        """The columns that say how the records were drawn, by their roles: from the largest that
        was drawn to the smallest."""
        named = {role: getattr(self, role) for role in ("stratum", "cluster", "household")}
        return {role: column for role, column in named.items() if column is not None}

    def drawn_request(self, records: Records) -> Request:
        """The same records by the keys and by what says how they were drawn."""
        keys = (*self.key_names, *self.drawn_by.values())
        return replace(self.request(records), keys=keys, sensitive=(), household=None, carry=())

    def request(self, records: Records) -> Request:
        """What the engine is to count."""
        return Request(
            records=records,
            keys=self.key_names,
            weight=self.weight,
            missing=self.missing_policy,
            missing_weight=self.missing_weight,
            codes=self.codes,
            sensitive=tuple(self.sensitive),
            household=self.household,
            carry=tuple(self.carry),
            decimal=(self.csv or CsvOptions()).decimal,
        )


def _several(files: Any) -> tuple[Any, ...]:
    """Files or frames, given as one or several."""
    if files is None:
        return ()
    return tuple(files) if isinstance(files, list | tuple) else (files,)


def _check_population(population: Any) -> None:
    if not isinstance(population, Real):
        rule = "a number of persons"
        remedy = "population_file takes a file or a frame of the whole population"
        got = f"a {type(population).__name__}"
        raise InputError(must_be("population", rule, got, remedy=remedy))
    if not 1 <= float(population) < 1e15:
        raise InputError(must_be("population", "from 1 to 1e15", population))
