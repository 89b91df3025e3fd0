"""Rules on a file of records: how many share a combination, how probable it is that somebody is
found, how large the groups behind the keys are, and what must not be in the file at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.rounding import alike
from discreet.policy.findings import NOT_MEASURED, Finding, Findings
from discreet.policy.rule import (
    JudgedBy,
    Rule,
    Side,
    Subject,
    asked,
    at_its_value,
    one_word,
)
from discreet.policy.verdict import Judged, Ruling, at_most

MOST_PERSONS = 1e15
RARE = "merge rare values, or leave out a key"
Of = Literal["sample", "population"]
SETS = {1: "value", 2: "pair of values", 3: "combination of three values"}


def records(number: int) -> str:
    """So many records, in words."""
    return "1 record" if number == 1 else f"{number:,} records"


def number_of(value: float) -> str:
    """A number as people write it."""
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.3g}"


def told_risk(risk: float) -> str:
    """A probability in few digits."""
    return "1" if alike(risk, 1.0) else f"{risk:.2g}"


def interval(value: Outcome) -> str:
    """A figure with its limits, or why there is none."""
    if isinstance(value, Unavailable):
        return "not known"
    if value.value is None:
        return f"from {number_of(value.low or 0.0)} to {number_of(value.high or 0.0)}"
    if value.low is None or value.high is None:
        return number_of(value.value)
    return f"{number_of(value.value)} ({number_of(value.low)} to {number_of(value.high)})"


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
                f"{_percent(value)} of the records are below k = {self.k}; the limit is "
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
        told = _percent(value) if self.is_share else interval(value)
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
            words = f"{records(n)} {_has(n)} no estimate of the risk"
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
            return f"{records(high)} {_has(high)} a risk above {limit:g}; the highest is {largest}"
        if ruling is Ruling.BROKEN:
            below = "below " if self.strict else ""
            return f"the highest risk of a record is {largest}; the limit is {below}{limit:g}"
        words = f"no record has a risk above {limit:g}; the highest is {largest}"
        return f"{words}, but {found.doubt}" if ruling is Ruling.UNDECIDED else words


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfSensitive(Rule):
    """A rule on each sensitive variable: the worst group of records that share their keys."""

    subject: ClassVar[Subject] = Subject.RECORDS

    @property
    def stem(self) -> str:
        """The name of its findings before the variable's."""
        return self.name

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        each = findings.of(self.stem)
        if not each and findings.of(L.name):  # there are such variables
            value = Unavailable("it was measured with another number")
            remedy = "judge by this policy alone, without others on sensitive values"
            words = f"{asked(self)}: {value.reason}."
            return (self.judged(value, Ruling.UNDECIDED, words, remedy=remedy),)
        if not each:
            value = Unavailable("no sensitive variable was named")
            words = f"{asked(self)}: no sensitive variable was named."
            remedy = "name the variables that an intruder would like to learn (sensitive)"
            return (self.judged(value, Ruling.UNDECIDED, words, remedy=remedy),)
        return tuple(self._of(variable, found) for variable, found in each)

    def _of(self, variable: str, found: Finding) -> Judged:
        failing = found.beyond.get(self.limit)
        if failing is None:
            ruling, value = self._otherwise(found), found.value
            no = "" if ruling is Ruling.KEPT else "it does not hold that "
            words = f"{variable}: {no}{asked(self)}."
        else:
            ruling = Ruling.BROKEN if failing else Ruling.KEPT
            value = Figure(value=failing, how=How.EXACT)
            said = f"{records(failing)} {_has(failing)} a group without it"
            words = f"{variable}: {found.found}: " + (
                f"{said}." if failing else "every group has it."
            )
        return self.judged(value, ruling, words, concerns=(variable,))

    def _otherwise(self, found: Finding) -> Ruling:
        """The ruling where groups were counted by another limit: by the worst of them."""
        return self.ruling(found.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class L(_OfSensitive):
    """Different values of each sensitive variable in every group (distinct l-diversity)."""

    name: ClassVar[str] = "l"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    about: ClassVar[str] = "how few different sensitive values a group may have"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"Every group has at least {number_of(self.limit)} different sensitive values."


@dataclass(frozen=True, slots=True, kw_only=True)
class C(_OfSensitive):
    """The commonest value less than c times as often as the l-th and rarer ones together."""

    l: int = 2  # noqa: E741 - the letter that everybody uses

    name: ClassVar[str] = "c"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how common one sensitive value may be in a group"
    highest: ClassVar[float] = MOST_PERSONS

    @property
    def stem(self) -> str:
        return f"c/{self.l}"

    def ruling(self, value: Outcome) -> Ruling:
        return at_most(value, self.limit, strict=True)  # less than c times, not as much

    def said(self) -> str:
        return (
            f"In every group the commonest sensitive value is less than {self.limit:g} times as "
            f"common as the {self.l}. and rarer ones together."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class T(_OfSensitive):
    """How far the sensitive values of a group may be from those of the file (t-closeness)."""

    name: ClassVar[str] = "t"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how far the sensitive values of a group may be from those of all"

    def said(self) -> str:
        return (
            f"The sensitive values of every group are within a distance of {self.limit:g} of "
            "those of the file."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha(_OfSensitive):
    """The greatest share of one sensitive value in a group, which must have `k` records or more."""

    k: int = 2

    name: ClassVar[str] = "alpha"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"most": False}
    about: ClassVar[str] = "how common one sensitive value may be in a group"

    @property
    def stem(self) -> str:
        return f"alpha/{self.k}"

    def _otherwise(self, found: Finding) -> Ruling:
        """A stricter limit that no group breaks shows that this is kept, a looser one that some
        group breaks that it is not; the largest share alone says nothing of small groups."""
        for limit, failing in found.beyond.items():
            if not failing and limit <= self.limit:
                return Ruling.KEPT
            if failing and limit >= self.limit:
                return Ruling.BROKEN
        return Ruling.UNDECIDED

    def said(self) -> str:
        return (
            f"Every group has at least {self.k} records, and no sensitive value has a share above "
            f"{self.limit:g} in it."
        )


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
        more = f"; {records(high)} {_is(high)} above it" if high else ""
        words = f"{told}, the limit {self.limit:g}{more}."
        return (self.judged(value, ruling, words),)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationOfKeys(Rule):
    """How many persons of the population, by estimate, stand behind every value of a key (`keys` =
    1), every pair of values (2) or every combination of three (3) that is in the file."""

    keys: int

    name: ClassVar[str] = "population_of_keys"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how many of the population must stand behind the values of keys"
    side: ClassVar[Side] = "least"
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def __post_init__(self) -> None:
        if self.keys not in SETS:
            one_word("keys", str(self.keys), ("1", "2", "3"))
        Rule.__post_init__(self)

    def said(self) -> str:
        least = "more than" if self.strict else "at least"
        return (
            f"Every {SETS[self.keys]} of the keys stands for {least} {number_of(self.limit)} "
            "persons of the population."
        )

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(f"population_of_keys:{self.keys}")
        return (_population_judged(self, found, SETS[self.keys]),)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationOfColumn(Rule):
    """How many persons of the population live behind each value of a column of a kind: a region, a
    ZIP area. `digits` are the leading characters that a value may have; `but` are values that name
    no single area."""

    role: str
    digits: int | None = None
    but: tuple[str, ...] = ()

    name: ClassVar[str] = "population_of_column"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how many people an area in the file must have"
    side: ClassVar[Side] = "least"
    lowest: ClassVar[float] = 1
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        least = "more than" if self.strict else "at least"
        short = "" if self.digits is None else f" has at most {self.digits} characters and"
        but = f", but for {', '.join(self.but)}" if self.but else ""
        return f"Every {self.role}{short} has {least} {number_of(self.limit)} people{but}."

    @property
    def figure(self) -> str:
        """The name of its finding."""
        digits = "" if self.digits is None else f":{self.digits}"
        return f"population_of_column:{self.role}{digits}" + "".join(f":{one}" for one in self.but)

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(self.figure)
        open_role = role_is_open(self, found)
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        long = int(found.beyond.get(0.0, 0))
        if self.digits is not None and long:
            words = (
                f"{long:,} value{'' if long == 1 else 's'} of {self.role} ({found.concerns[0]}) "
                f"{_has(long)} more than {self.digits} characters."
            )
            remedy = f"keep the first {self.digits} characters of {found.concerns[0]}"
            concerns = found.concerns
            value = Figure(value=long, how=How.EXACT)
            return (self.judged(value, Ruling.BROKEN, words, remedy=remedy, concerns=concerns),)
        return (_population_judged(self, found, self.role),)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopClass(Rule):
    """All values of a column of a kind from the limit on are in one class: ages from 90."""

    role: str = "age"

    name: ClassVar[str] = "top_class"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "from where on the highest values must be in one class"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"from": False}
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"All values of {self.role} from {self.limit:g} on are in one class."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the(f"top_class:{self.role}:{self.limit:g}")
        open_role = role_is_open(self, found)
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        value = found.value
        if isinstance(value, Unavailable):
            words = f"whether {self.role} from {self.limit:g} on is one class: {value.reason}."
            return (self.judged(value, Ruling.UNDECIDED, words, concerns=found.concerns),)
        apart = int(value.value or 0)
        if apart == 0:
            column = found.concerns[0]
            words = f"no value of {self.role} ({column}) tells more than from {self.limit:g}."
            return (self.judged(value, Ruling.KEPT, words, concerns=found.concerns),)
        tells = "value tells" if apart == 1 else "values tell"
        words = f"{apart:,} {tells} {self.role} ({found.concerns[0]}) from {self.limit:g} on apart."
        remedy = f"put {found.concerns[0]} from {self.limit:g} on into one class"
        concerns = found.concerns
        return (self.judged(value, Ruling.BROKEN, words, remedy=remedy, concerns=concerns),)


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdPattern(Rule):
    """So many households of several members in the file have each pattern of members' keys."""

    name: ClassVar[str] = "household_pattern"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how few households may have a pattern of members"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return (
            f"At least {number_of(self.limit)} households with several members in the file share "
            "each pattern of members."
        )

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("household_pattern")
        open_role = role_is_open(self, found, "household")
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        ruling, below = self.ruling(found.value), found.beyond.get(self.limit)
        words = f"the rarest pattern of members is that of {interval(found.value)} of them"
        if below and ruling is Ruling.BROKEN:
            one = "household shares its" if below == 1 else "households share their"
            words = (
                f"{below:,} {one} pattern of members with fewer than "
                f"{number_of(self.limit - 1)} others"
            )
        remedy = "make keys coarser, or release one member of each household"
        broken = ruling is Ruling.BROKEN
        return (self.judged(found.value, ruling, f"{words}.", remedy=remedy if broken else ""),)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoIdentifiers(Rule):
    """No column of the file identifies a person directly: a name, a number, an address."""

    limit: float = 0.0

    name: ClassVar[str] = "no_identifiers"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "columns that identify a person directly"
    limit_words: ClassVar[Mapping[str, bool] | None] = {}

    def said(self) -> str:
        return "No column identifies a person directly (a name, a number, an address)."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("no_identifiers")
        value, named = found.value, ", ".join(found.concerns)
        if isinstance(value, Figure) and value.value:
            words = f"the file has what identifies a person directly: {named}."
            remedy = f"remove {named}"
            return (
                self.judged(value, Ruling.BROKEN, words, concerns=found.concerns, remedy=remedy),
            )
        if isinstance(value, Unavailable):
            words = f"whether a column identifies a person directly is open: {value.reason}."
            return (self.judged(value, Ruling.UNDECIDED, words, remedy=found.remedy),)
        return (self.judged(value, Ruling.KEPT, "no column identifies a person directly."),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWeights(Rule):
    """So many records share each value of the survey weight that is in the file: exact weights tell
    of strata and of response, and so of small groups."""

    name: ClassVar[str] = "shared_weights"
    limit_words: ClassVar[Mapping[str, bool] | None] = {"least": False}
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "how few records may share a survey weight"
    side: ClassVar[Side] = "least"
    whole: ClassVar[bool] = True
    lowest: ClassVar[float] = 2
    highest: ClassVar[float] = MOST_PERSONS

    def said(self) -> str:
        return f"At least {number_of(self.limit)} records share each survey weight in the file."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("shared_weights")
        open_role = role_is_open(self, found, "weight")
        if open_role is not None:
            return (open_role,)
        if found.nothing:
            return (self.judged(found.value, Ruling.KEPT, f"{found.found}."),)
        ruling, below = self.ruling(found.value), found.beyond.get(self.limit)
        words = f"the rarest survey weight is that of {interval(found.value)} records."
        if below and ruling is Ruling.BROKEN:
            words = f"{records(below)} {_has(below)} a survey weight that fewer than "
            words += f"{number_of(self.limit)} share."
        remedy = f"round {found.concerns[0]}, or leave it out" if found.concerns else ""
        broken = ruling is Ruling.BROKEN
        return (self.judged(found.value, ruling, words, remedy=remedy if broken else ""),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled(Rule):
    """The order of the records tells nothing: neighbours are no more alike than chance makes them,
    within 5 standard errors, in any column."""

    limit: float = 5.0

    name: ClassVar[str] = "shuffled"
    subject: ClassVar[Subject] = Subject.RECORDS
    about: ClassVar[str] = "what the order of the records may tell"
    limit_words: ClassVar[Mapping[str, bool] | None] = {}
    highest: ClassVar[float] = 5.0

    def said(self) -> str:
        return "The records are in random order."

    def judge(self, findings: Findings) -> tuple[Judged, ...]:
        found = findings.the("shuffled")
        ruling = self.ruling(found.value)
        if isinstance(found.value, Unavailable):
            words = f"whether the order of the records tells something: {found.value.reason}."
        elif ruling is Ruling.BROKEN:
            words = f"the records are not in random order: neighbours are alike in {found.found}."
        else:
            words = "the order of the records tells nothing: neighbours are no more alike than any."
        remedy = "put the records in random order" if ruling is Ruling.BROKEN else found.remedy
        return (self.judged(found.value, ruling, words, concerns=found.concerns, remedy=remedy),)


RULES: tuple[type[Rule], ...] = (
    MinK, ShareBelowK, PopulationUniques, CorrectMatches, MaxRisk, MeanRisk, L, C, T, Alpha,
    DisSuda, PopulationOfKeys, MostKeys, PopulationOfColumn, TopClass, HouseholdPattern,
    NoIdentifiers, SharedWeights, Shuffled,
)  # fmt: skip


def role_is_open(rule: Rule, found: Finding, role: str | None = None) -> Judged | None:
    """The rule as undecided where nobody said which column it is about; None where that is known.

    A finding that waits for a column has the question as its doubt."""
    if not found.doubt:
        return None
    named = role or getattr(rule, "role", "")
    words = f"{asked(rule)}: {found.doubt}."
    remedy = f"name the column (role {named}=COLUMN), or say that there is none (role {named}=)"
    return rule.judged(found.value, Ruling.UNDECIDED, words, remedy=found.remedy or remedy)


def _population_judged(rule: Rule, found: Finding, noun: str) -> Judged:
    """A least population count, estimated or known, against its limit."""
    if found.nothing:
        return rule.judged(found.value, Ruling.KEPT, f"{found.found}.")
    ruling, below = rule.ruling(found.value), found.beyond.get(rule.limit)
    if isinstance(found.value, Unavailable):
        words = f"how many of the population stand behind each {noun} is not known: "
        words += f"{found.value.reason}."
        return rule.judged(found.value, ruling, words, remedy=found.remedy)
    named = [one for one in found.concerns if "=" in one][:1]
    which = f" ({named[0]})" if named else ""
    people = _persons(found.value)
    words = f"the rarest {noun}{which} stands for {people} of the population"
    if below and ruling is not Ruling.KEPT:
        words += f"; {below:,} {_is(below)} below {number_of(rule.limit)}"
    remedy = RARE if ruling is Ruling.BROKEN else found.remedy
    if ruling is Ruling.UNDECIDED:
        words += f", and its limits lie on both sides of {number_of(rule.limit)}"
    return rule.judged(found.value, ruling, f"{words}.", remedy=remedy, concerns=found.concerns)


def _persons(value: Figure) -> str:
    """A number of persons with its limits, in whole numbers."""
    if value.value is None or value.low is None or value.high is None:
        return interval(value)
    return f"about {round(value.value):,} ({round(value.low):,} to {round(value.high):,})"


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


def _percent(value: Figure) -> str:
    def one(number: float) -> str:
        return f"{100 * number:.3g}"

    if value.value is None:
        return f"from {one(value.low or 0.0)} to {one(value.high or 0.0)} %"
    if value.low is None or value.high is None:
        return f"{one(value.value)} %"
    return f"{one(value.value)} % ({one(value.low)} to {one(value.high)})"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
