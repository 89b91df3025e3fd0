"""Rules on a file of records: how many share a combination, how probable it is that somebody is
found, how large the groups behind the keys are, and what must not be in the file at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import alike
from discreet.policy.findings import NOT_MEASURED, Finding, Findings
from discreet.policy.population_rules import PopulationOfColumn, PopulationOfKeys
from discreet.policy.role_rules import (
    HouseholdPattern,
    NoIdentifiers,
    SharedWeights,
    Shuffled,
    TopClass,
)
from discreet.policy.rule import (
    JudgedBy,
    Rule,
    Side,
    Subject,
    at_its_value,
    one_word,
)
from discreet.policy.rule_words import (
    MOST_PERSONS,
    are,
    has,
    interval,
    number_of,
    percent,
    records,
    told_risk,
)
from discreet.policy.sensitive_rules import Alpha, C, L, T
from discreet.policy.verdict import Judged, Ruling

__all__ = [
    "RULES",
    "Alpha",
    "C",
    "CorrectMatches",
    "DisSuda",
    "HouseholdPattern",
    "L",
    "MaxRisk",
    "MeanRisk",
    "MinCandidates",
    "MinK",
    "MostKeys",
    "NoIdentifiers",
    "PopulationOfColumn",
    "PopulationOfKeys",
    "PopulationUniques",
    "ShareBelowK",
    "SharedWeights",
    "Shuffled",
    "T",
    "TopClass",
]
Of = Literal["sample", "population"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MinK(Rule):
    """So many records share each combination of keys; or so many persons of the population do, by
    estimate: then one over the risk, the harmonic mean of what the population count may be."""

    of: Of = "sample"

    name: ClassVar[str] = "min_k"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how few may share a combination of keys"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = MOST_PERSONS

    def __post_init__(self) -> None:
        one_word("of", self.of, ("sample", "population"))
        Rule.__post_init__(self)

    def said(self) -> str:
        who = "records share" if self.of == "sample" else "persons of the population share"
        least = "more than" if self.strict else "at least"
        return f"{least.capitalize()} {number_of(self.limit)} {who} each combination of keys."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(f"min_k:{self.of}")
        ruling = self.ruling(found.value)
        below = found.beyond.get(self.limit)
        broken = ruling is Ruling.BROKEN and below is not None
        words = self._in_sample(found, ruling) if self.of == "sample" else self._of_all(found)
        concerns = (records(below),) if broken and below is not None else ()
        return (self.judged(found.value, ruling, words, concerns=concerns),)

    def _in_sample(self, found: Finding, ruling: Ruling) -> str:
        k, below = int(self.limit), found.beyond.get(self.limit)
        if isinstance(found.value, Unavailable):
            return f"how many records share a combination is not known: {found.value.reason}."
        if ruling is Ruling.KEPT:
            return f"each combination of keys is shared by at least {k} records."
        if below is None or self.strict:
            return f"a combination of keys is shared by {number_of(found.value.value or 0)} only."
        if k == 2:
            return f"{records(below)} {'is' if below == 1 else 'are'} alone with the keys."
        share = "shares its" if below == 1 else "share their"
        return f"{records(below)} {share} combination of keys with fewer than {k - 1} others."

    def _of_all(self, found: Finding) -> str:
        if isinstance(found.value, Unavailable):
            return f"how many of the population share a combination is open: {found.value.reason}."
        return (
            f"the combination of keys with the highest risk is shared by about "
            f"{interval(found.value)} of the population; the rule asks for {number_of(self.limit)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MinCandidates(Rule):
    """So many of the original records could be behind each released record: they agree with all
    that it still shows."""

    name: ClassVar[str] = "min_candidates"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how few original records a released record may fit"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        least = "more than" if self.strict else "at least"
        return f"Each released record fits {least} {number_of(self.limit)} of the original records."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("min_candidates")
        ruling, below = self.ruling(found.value), found.beyond.get(self.limit)
        broken = ruling is Ruling.BROKEN and below is not None
        concerns = (records(below),) if broken and below is not None else ()
        return (self.judged(found.value, ruling, self._words(found, ruling), concerns=concerns),)

    def _words(self, found: Finding, ruling: Ruling) -> str:
        if isinstance(found.value, Unavailable):
            return f"how many original records a record fits is not known: {found.value.reason}."
        limit, below = number_of(self.limit), found.beyond.get(self.limit)
        if ruling is Ruling.KEPT:
            return f"each released record fits at least {limit} original records."
        if below is None or self.strict:
            return f"a released record fits {number_of(found.value.value or 0)} original ones only."
        fits = "fits" if below == 1 else "fit"
        return f"{records(below)} {fits} fewer than {limit} of the original records."


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareBelowK(Rule):
    """The share of the records whose combination of keys fewer than `k` share, in the file or, by
    estimate, in the population (a risk above 1/k)."""

    k: int
    of: Of = "sample"

    name: ClassVar[str] = "share_below_k"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "the share of records that few others are like"

    def __post_init__(self) -> None:
        one_word("of", self.of, ("sample", "population"))
        Rule.__post_init__(self)

    def said(self) -> str:
        who = "records" if self.of == "sample" else "persons of the population"
        most = "less than" if self.strict else "at most"
        return (
            f"{most.capitalize()} {100 * self.limit:g} % of the records have a combination of "
            f"keys that fewer than {self.k:,} {who} share."
        )

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        value = self._share(findings)
        if isinstance(value, Unavailable):
            words = f"the share of the records below k = {self.k} is not known: {value.reason}."
        else:
            words = (
                f"{percent(value)} of the records are below k = {self.k}; the limit is "
                f"{100 * self.limit:g} %."
            )
        return (self.judged(value, self.ruling(value), words),)

    def _share(self, findings: Findings) -> Outcome:
        if self.of == "population":
            return findings.the(f"share_below_k:population:{self.k}").value
        total = findings.the("n_records").value
        below = findings.the("min_k:sample").beyond.get(float(self.k))
        if below is None or not isinstance(total, Figure) or not total.value:
            return Unavailable(NOT_MEASURED)
        return Figure(value=below / total.value, how=How.EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expected(Rule):
    """An expected number of records, in all or as a share of the file."""

    judged_by: JudgedBy = "limits"

    subject: ClassVar[Subject] = Subject.RECORDS
    highest: ClassVar[float] = MOST_PERSONS
    figure: ClassVar[str]
    noun: ClassVar[str]

    def __post_init__(self) -> None:
        one_word("judged_by", self.judged_by, ("limits", "value"))
        Rule.__post_init__(self)

    @property
    def is_share(self) -> bool:
        """Whether the limit is a share of the records."""
        return True

    def said(self) -> str:
        most = "less than" if self.strict else "at most"
        number = f"{100 * self.limit:g} % of the records"
        number = number if self.is_share else number_of(self.limit)
        by = ", by the estimate itself" if self.judged_by == "value" else ""
        return f"{self.noun}: {most} {number}{by}."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        value, total = findings.the(self.figure).value, findings.the("n_records").value
        if self.is_share and isinstance(value, Figure):
            n = total.value if isinstance(total, Figure) else None
            value = divided(value, n) if n else Unavailable("the number of records is not known")
        held = value if self.judged_by == "limits" else at_its_value(value)
        ruling = self.ruling(held)
        return (self.judged(value, ruling, self._words(value, ruling)),)

    def _words(self, value: Outcome, ruling: Ruling) -> str:
        if isinstance(value, Unavailable):
            return f"{self.noun.lower()}: not known, since {value.reason}."
        told = percent(value) if self.is_share else interval(value)
        most = f"{100 * self.limit:g} %" if self.is_share else number_of(self.limit)
        limit = f"the limit is {'below ' if self.strict else ''}{most}"
        if ruling is Ruling.UNDECIDED:
            limit += ", which its limits lie on both sides of"
        return f"{self.noun.lower()}: {told}; {limit}."


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExpectedNumber(_Expected):
    """An expected number of records; with `share`, as a share of the file."""

    share: bool = False

    def __post_init__(self) -> None:
        _Expected.__post_init__(self)
        if self.share and self.limit > 1:
            where = self.name
            raise InputError(
                must_be(self.written_limit(), "a share from 0 to 1", f"{self.limit:g}", where=where)
            )

    @property
    def is_share(self) -> bool:
        return self.share


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationUniques(_ExpectedNumber):
    """Records that are expected to be the only ones of their kind in the population."""

    name: ClassVar[str] = "population_uniques"
    about: ClassVar[str] = "how many records may be unique in the population"
    figure: ClassVar[str] = "population_uniques"
    noun: ClassVar[str] = "Population uniques"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectMatches(_ExpectedNumber):
    """Records that an intruder is expected to match correctly."""

    name: ClassVar[str] = "correct_matches"
    about: ClassVar[str] = "how many records an intruder may match correctly"
    figure: ClassVar[str] = "correct_matches"
    noun: ClassVar[str] = "Records that an intruder matches correctly"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRisk(_Expected):
    """The mean risk of a record: the expected correct matches as a share of the records."""

    name: ClassVar[str] = "mean_risk"
    about: ClassVar[str] = "the mean risk of a record"
    figure: ClassVar[str] = "correct_matches"
    noun: ClassVar[str] = "Mean risk of a record"
    highest: ClassVar[float] = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxRisk(Rule):
    """The largest risk of a record: the probability that an intruder who knows the keys of this
    person finds the right one."""

    judged_by: JudgedBy = "limits"

    name: ClassVar[str] = "max_risk"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "the risk of a record"

    def __post_init__(self) -> None:
        one_word("judged_by", self.judged_by, ("limits", "value"))
        if not self.limit > 0:
            rule = "above 0 and at most 1"
            raise InputError(
                must_be(self.written_limit(), rule, f"{self.limit:g}", where=self.name)
            )
        Rule.__post_init__(self)

    def said(self) -> str:
        most = "of" if self.strict else "above"
        more = " or more" if self.strict else ""
        return f"No record has a risk {most} {self.limit:g}{more}."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("max_risk")
        value = found.value if self.judged_by == "limits" else at_its_value(found.value)
        ruling, high = self.ruling(value), found.beyond.get(self.limit)
        unknown = findings.the("risk_unknown").value
        if ruling is Ruling.KEPT and isinstance(unknown, Figure) and unknown.value:
            n = int(unknown.value)
            words = f"{records(n)} {has(n)} no estimate of the risk"
            return (self.judged(found.value, Ruling.UNDECIDED, f"{words}."),)
        words = self._words(found, ruling)
        concerns = (records(high),) if ruling is Ruling.BROKEN and high is not None else ()
        return (self.judged(found.value, ruling, f"{words}.", concerns=concerns),)

    def _words(self, found: Finding, ruling: Ruling) -> str:
        value, limit, high = found.value, self.limit, found.beyond.get(self.limit)
        if isinstance(value, Unavailable):
            return f"the risk of the records cannot be estimated: {value.reason}"
        if value.value is None:
            so = f"so no record can have a risk above {limit:g}"
            return f"{found.found}, {so}" if ruling is Ruling.KEPT else found.doubt
        largest = told_risk(value.value)
        if ruling is Ruling.BROKEN and high:
            return f"{records(high)} {has(high)} a risk above {limit:g}; the highest is {largest}"
        if ruling is Ruling.BROKEN:
            below = "below " if self.strict else ""
            return f"the highest risk of a record is {largest}; the limit is {below}{limit:g}"
        near = largest == told_risk(limit) and not alike(value.value, limit)
        highest = f"just below {largest}" if near else largest
        words = f"no record has a risk above {limit:g}; the highest is {highest}"
        return f"{words}, but {found.doubt}" if ruling is Ruling.UNDECIDED else words


@dataclass(frozen=True, slots=True, kw_only=True)
class DisSuda(Rule):
    """The largest DIS-SUDA score: how probable it is that a match of a special unique is right,
    from sets of up to `up_to` keys that make a record unique."""

    up_to: int

    name: ClassVar[str] = "dis_suda"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "the DIS-SUDA score of a record"

    def said(self) -> str:
        most = "of" if self.strict else "above"
        more = " or more" if self.strict else ""
        return (
            f"No record has a DIS-SUDA score {most} {self.limit:g}{more} (sets of up to "
            f"{self.up_to} keys)."
        )

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(f"dis_suda:{self.up_to}")
        value, high = found.value, found.beyond.get(self.limit)
        ruling = self.ruling(value)
        if isinstance(value, Unavailable):
            return (self.judged(value, ruling, f"the DIS-SUDA scores: {value.reason}."),)
        told = f"the highest DIS-SUDA score is {told_risk(value.value or 0.0)}"
        more = f"; {records(high)} {are(high)} above it" if high else ""
        words = f"{told}, the limit {self.limit:g}{more}."
        return (self.judged(value, ruling, words),)


@dataclass(frozen=True, slots=True, kw_only=True)
class MostKeys(Rule):
    """The number of keys in the file."""

    name: ClassVar[str] = "most_keys"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how many keys the file may have"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"The file has at most {number_of(self.limit)} keys."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        value = findings.the("most_keys").value
        ruling = self.ruling(value)
        told = interval(value)
        words = f"the file has {told} key{'' if told == '1' else 's'}; the limit is {self.limit:g}."
        remedy = "leave out keys, or keep them for the few who need them"
        return (
            self.judged(value, ruling, words, remedy=remedy if ruling is Ruling.BROKEN else ""),
        )


def divided(value: Figure, by: float) -> Figure:
    """A figure and its limits as a share."""
    return Figure(
        value=None if value.value is None else value.value / by,
        how=value.how,
        low=None if value.low is None else value.low / by,
        high=None if value.high is None else value.high / by,
        standard_error=None if value.standard_error is None else value.standard_error / by,
        confidence=value.confidence,
        note=value.note,
    )


RULES: tuple[type[Rule], ...] = (
    MinK, MinCandidates, ShareBelowK, PopulationUniques, CorrectMatches, MaxRisk, MeanRisk, L, C, T,
    Alpha,
    DisSuda, PopulationOfKeys, MostKeys, PopulationOfColumn, TopClass, HouseholdPattern,
    NoIdentifiers, SharedWeights, Shuffled,
)  # fmt: skip
