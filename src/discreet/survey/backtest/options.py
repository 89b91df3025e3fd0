"""How the models are tried on samples of a known population."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.data.csv_dialect import CsvOptions
from discreet.data.missing import missing_policy
from discreet.data.records import Records
from discreet.engines.contract import Request
from discreet.errors import ColumnError, InputError, must_be
from discreet.option_types import check_types
from discreet.survey.codes import Codes, codes_of
from discreet.survey.models.registry import choose_models
from discreet.survey.validation import check_codes, checked_names

MOST_REPEATS = 10_000
UNTYPED = ("keys", "missing_codes", "suppressed_codes", "not_applicable_codes")


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestOptions:
    """The options of a backtest.

    - `keys`: columns an intruder may know.
    - `fractions`: sizes of the samples, as parts of the population.
    - `repeats`: how many samples are drawn of each size.
    - `models`: names of models, or 'auto' for all.
    - `stratum`: a key; as many persons are drawn from each of its levels, and weighted.
    - `missing`: what a missing key means: category, drop or error.
    - `missing_codes`, `suppressed_codes`, `not_applicable_codes`: values that mean not known, taken
      out, or nothing to know: a list, or a list for each column.
    - `seed`: of all samples.
    - `csv`: delimiter, quote, encoding and decimal mark (CsvOptions).
    """

    keys: Sequence[str]
    fractions: Sequence[float] = (0.01, 0.05, 0.1)
    repeats: int = 20
    models: str | Sequence[str] = "auto"
    stratum: str | None = None
    missing: str = "category"
    missing_codes: Codes = field(default_factory=dict)
    suppressed_codes: Codes = field(default_factory=dict)
    not_applicable_codes: Codes = field(default_factory=dict)
    seed: int = 1
    csv: CsvOptions | None = None

    def __post_init__(self) -> None:
        check_types(self, untyped=UNTYPED)
        keys = () if self.keys is None else checked_names("keys", self.keys)
        if not keys:
            raise InputError(must_be("keys", "a list of at least one column name", "none"))
        check_codes(
            codes_of(self.missing_codes, self.suppressed_codes, self.not_applicable_codes), keys
        )
        fractions = tuple(self.fractions)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "fractions", fractions)
        if not isinstance(self.models, str):
            object.__setattr__(self, "models", tuple(self.models))
        if self.stratum is not None and self.stratum not in self.keys:
            raise ColumnError(must_be("stratum", "one of the keys", repr(self.stratum)))
        if not fractions or not all(0 < f <= 1 for f in fractions):
            raise InputError(must_be("fractions", "numbers above 0, up to 1", list(fractions)))
        if len(set(fractions)) < len(fractions):
            raise InputError(must_be("fractions", "different numbers", list(fractions)))
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise InputError(must_be("repeats", f"from 1 to {MOST_REPEATS:,}", self.repeats))
        if missing_policy(self.missing).matching is not None:
            rule = "category, drop or error, since a population must be counted once"
            raise InputError(must_be("missing", rule, repr(self.missing)))
        choose_models(self.models)

    def request(self, records: Records) -> Request:
        """What the engine is to count."""
        return Request(
            records=records,
            keys=tuple(self.keys),
            missing=missing_policy(self.missing),
            codes=codes_of(self.missing_codes, self.suppressed_codes, self.not_applicable_codes),
        )
