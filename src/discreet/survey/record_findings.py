"""What an assessment found, as far as rules are about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.data.summary import SizeIndices, Summary
from discreet.engines.contract import HouseholdTotals
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.records.fitting import Fits
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import NOTE, SENSITIVE
from discreet.policy.record_rules import (
    DisSuda,
    HouseholdPattern,
    MinK,
    PopulationOfKeys,
    ShareBelowK,
)
from discreet.policy.rule_words import MOST_PERSONS, records
from discreet.survey.attributes.sensitive import SensitiveFigures
from discreet.survey.headline.recommendation import Recommended, note_on_fraction
from discreet.survey.leading import RiskOverview
from discreet.survey.options import AssessOptions
from discreet.survey.population_counts import KeyPopulations
from discreet.survey.role_columns import (
    HOUSEHOLD,
    IDENTIFIERS,
    Columns,
    column_findings,
    column_of,
    taken_by_name,
)
from discreet.survey.suda.special import SpecialFigures

TOO_LOW = 2.0  # times the estimate that the truth may be where the estimate was not tried
MOST_NAMED = 6  # columns that are named
FEWEST_VALUES = 2  # that the members of a group must have where nobody says more
CURVE = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)  # of k that records are counted below


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """All that was measured of a file, for rules to look at.

    `exact` says that risks were counted, not estimated; `anew` that keys were changed and only what
    follows from the cells is measured.
    """

    options: AssessOptions
    summary: Summary
    led: Recommended
    risk: RiskOverview | Unavailable
    exact: bool
    sensitive: Sequence[SensitiveFigures] = ()
    specials: Mapping[int, SpecialFigures] = field(default_factory=dict)
    households: HouseholdTotals | None = None
    populations: KeyPopulations | None = None
    columns: Columns = Columns()  # noqa: RUF009 - frozen
    n_keys: int | None = None  # where it is not that of the options
    n_dropped: int = 0
    fits: Fits | None = None
    anew: bool = False

    @property
    def sizes(self) -> SizeIndices:
        """How many cells hold so many records."""
        return self.summary.size_indices

    @property
    def untried(self) -> str:
        """That the estimate was not tried on so small a share of the population; '' where it
        was."""
        size = self.summary.population_size
        if self.exact or size is None:
            return ""
        return note_on_fraction(self.summary.sample_size / size)

    def findings(self) -> Findings:
        """By the names that rules look for."""
        return Findings(dict(self._all()))

    def _all(self) -> Iterator[tuple[str, Finding]]:
        n = self.summary.sample_size
        yield "n_records", Finding(value=Figure(value=n, how=How.EXACT))
        n_keys = len(self.options.key_names) if self.n_keys is None else self.n_keys
        yield "most_keys", Finding(value=Figure(value=n_keys, how=How.EXACT))
        yield "min_k:sample", self._sample_k()
        if self.fits is not None:
            least = Figure(value=self.fits.fewest, how=How.EXACT)
            beyond = {float(k): n for k, n in self.fits.below.items()}
            yield "min_candidates", Finding(value=least, beyond=beyond)
        yield "max_risk", self._max_risk()
        yield "min_k:population", self._population_k()
        for k in shares_asked(self.options):
            yield f"share_below_k:population:{k:g}", Finding(value=self._share_below(k))
        unknown = 0 if isinstance(self.risk, Unavailable) else self.risk.unknown
        yield "risk_unknown", Finding(value=Figure(value=unknown, how=How.EXACT))
        led = self.led
        yield "population_uniques", Finding(value=self._spared(led.expected_population_uniques))
        yield "correct_matches", Finding(value=self._spared(led.expected_correct_matches))
        yield from self._sensitive()
        yield from self._doubts()
        if self.populations is not None:
            rules = self.options.rules
            own = [rule for rule in rules if isinstance(rule, PopulationOfKeys)]
            yield from self.populations.findings(own)
        if not self.anew:
            yield from self._beside_cells()

    def _doubts(self) -> Iterator[tuple[str, Finding]]:
        """What is open whatever the rules: records that were left out, and sensitive variables of
        which a group shares one value, unless a threshold judges them."""
        for one in self.sensitive:
            shared = dict(zip(one.measures, one.figures, strict=True))["distinct_l"].worst
            if isinstance(shared, float) and shared < FEWEST_VALUES:
                yield f"doubt:{SENSITIVE}/{one.name}", _without_threshold(one.name)
        if self.n_dropped:
            found = f"{records(self.n_dropped)} that lack a key were left out and not judged"
            remedy = "take these records out of the file, or judge them too (missing)"
            number = Figure(value=self.n_dropped, how=How.EXACT)
            yield "doubt:left_out", Finding(value=number, found=found, remedy=remedy)

    def _notes(self) -> Iterator[tuple[str, Finding]]:
        """What no rule is about: sensitive variables without a threshold, columns beside the keys;
        and which columns were taken for what rules ask for."""
        options, columns = self.options, self.columns.names
        sensitive = tuple(options.sensitive)
        told: dict[str, str] = {}
        if sensitive:
            told[SENSITIVE] = f"no threshold (l or t) was given for {', '.join(sensitive)}"
        told |= {f"role/{i}": one for i, one in enumerate(taken_by_name(options, columns))}
        others = [name for name in columns if name not in (*options.key_names, *sensitive)]
        telling = [name for name in others if IDENTIFIERS.fullmatch(name.strip())]
        if telling:
            told["identifiers"] = (
                "remove what identifies a person directly, as these names tell: "
                f"{', '.join(telling)}"
            )
        if others:
            shown = ", ".join(others[:MOST_NAMED])
            more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
            told["columns"] = f"judged by the keys alone: the file also has {shown}{more}"
        none = Figure(value=0, how=How.EXACT)
        yield from (
            (f"{NOTE}:{name}", Finding(value=none, found=one)) for name, one in told.items()
        )

    def _beside_cells(self) -> Iterator[tuple[str, Finding]]:
        """What takes more than the cells, as far as rules ask for it."""
        yield from self._notes()
        yield from self._suda()
        yield from self._households()
        yield from column_findings(self.columns, self.options, self.summary.population_size)

    def _sample_k(self) -> Finding:
        asked = {int(r.limit) for r in self.options.rules if isinstance(r, MinK)}
        asked |= {r.k for r in self.options.rules if isinstance(r, ShareBelowK)}
        return Finding(
            value=Figure(value=float(self.sizes.sizes.min()), how=How.EXACT),
            beyond={float(k): self.sizes.records_below(k) for k in sorted({*CURVE, *asked})},
        )

    def _max_risk(self) -> Finding:
        """The largest risk of a record.

        On a share of the population smaller than any that the estimate was tried on it may be half
        the truth or less (docs/methods/recommended.md): there its upper limit is twice as high.
        """
        if isinstance(self.risk, Unavailable):
            return self._without_risk(self.risk.reason)
        risk = self.risk
        value = Figure(value=risk.largest, how=How.EXACT if self.exact else How.ESTIMATE)
        if self.untried:
            value = replace(value, low=risk.largest, high=min(1.0, TOO_LOW * risk.largest))
        return Finding(value=value, beyond=risk.above, doubt=self.untried)

    def _without_risk(self, reason: str) -> Finding:
        """No estimate: only 1/f, which no risk exceeds, may show that a limit is kept."""
        doubt = f"the risk of the records cannot be estimated: {reason}"
        if not self.sizes.is_partition:
            return Finding(value=Unavailable(reason), doubt=doubt)
        least = float(self.sizes.sizes.min())
        return Finding(
            value=Figure(value=None, low=0.0, high=1 / least, how=How.BOUND),
            found=f"at least {least:g} records share each combination",
            doubt=doubt,
        )

    def _population_k(self) -> Finding:
        """One over the risk: the harmonic mean of what the population count of a cell may be."""
        own = self._max_risk()
        value = own.value
        if isinstance(value, Unavailable):
            return own
        if value.value is None:  # no fewer of the population share it than of the file
            least = float(self.sizes.sizes.min())
            bound = Figure(value=None, low=least, high=MOST_PERSONS, how=How.BOUND)
            return Finding(value=bound, doubt=own.doubt)
        turned = Figure(
            value=1 / value.value,
            how=value.how,
            low=None if value.high is None else 1 / value.high,
            high=None if value.low is None else 1 / value.low,
        )
        return Finding(value=turned, doubt=self.untried)

    def _share_below(self, k: float) -> Outcome:
        """The share of the records whose cell fewer than k of the population share: those with a
        risk above 1/k; where the estimate was not tried, up to those with half that risk."""
        n = self.summary.sample_size
        if not self.sizes.records_below(int(k)) and self.sizes.is_partition:
            return Figure(value=0.0, how=How.EXACT)  # no fewer than share it in the file
        if isinstance(self.risk, Unavailable):
            return Unavailable(self.risk.reason)
        if self.risk.unknown:
            return Unavailable("some records have no estimate of the risk")
        share = self.risk.above[1 / k] / n
        value = Figure(value=share, how=How.EXACT if self.exact else How.ESTIMATE)
        if not self.untried:
            return value
        return replace(value, low=share, high=self.risk.above[1 / (TOO_LOW * k)] / n)

    def _spared(self, value: Outcome) -> Outcome:
        """An expected number with an upper limit twice as high where the estimate was not tried."""
        if not self.untried or not isinstance(value, Figure) or value.value is None:
            return value
        high = TOO_LOW * value.value
        return replace(value, high=high if value.high is None else max(value.high, high))

    def _sensitive(self) -> Iterator[tuple[str, Finding]]:
        """The measures that rules may limit, of every sensitive variable."""
        used = self.options.thresholds
        for one in self.sensitive:
            by_column = dict(zip(one.measures, one.figures, strict=True))
            closest = next(n for n in ("t_tree", "t_ordered", "t_equal") if n in by_column)
            for stem, column, limit in (
                ("l", "distinct_l", used.diversity),
                (f"c/{used.diversity}", "recursive_c", used.recursive_c),
                ("t", closest, used.closeness),
                (f"alpha/{used.anonymity}", "alpha", used.concentration),
            ):
                figure = by_column[column]
                worst = figure.worst
                value: Outcome = (
                    worst
                    if isinstance(worst, Unavailable)
                    else Figure(value=float(worst), how=How.EXACT)
                )
                yield (
                    f"{stem}:{one.name}",
                    Finding(
                        value=value,
                        beyond={float(limit): figure.records},
                        found=f"{figure.name} ({figure.rule})",
                    ),
                )

    def _suda(self) -> Iterator[tuple[str, Finding]]:
        limits = scores_asked(self.options)
        n_keys = len(self.options.key_names)
        asked = {rule.up_to for rule in self.options.rules if isinstance(rule, DisSuda)}
        for up_to in asked:
            special = self.specials.get(min(up_to, n_keys))
            if special is None:
                continue
            estimate = special.dis_estimate
            note = f"with DIS = {special.dis:.3g}"
            if isinstance(estimate, Unavailable):
                note += f", the usual value, since it cannot be estimated: {estimate.reason}"
            value = Figure(value=special.largest_dis, how=How.ESTIMATE, note=note)
            beyond = {x: special.above[x] for x in limits}
            yield f"dis_suda:{up_to}", Finding(value=value, beyond=beyond)

    def _households(self) -> Iterator[tuple[str, Finding]]:
        limits = [r.limit for r in self.options.rules if isinstance(r, HouseholdPattern)]
        if not limits:
            return
        yield "household_pattern", self._pattern(limits)

    def _pattern(self, limits: Sequence[float]) -> Finding:
        none = Figure(value=0, how=How.EXACT)
        if self.households is None:
            if column_of(HOUSEHOLD, self.options, self.columns.names) == "":
                said = "the file has no household, as was said"
                return Finding(value=none, found=said, nothing=True)
            said = "no column is named household, and none was named as it"
            return Finding(value=Unavailable(said), doubt=said)
        several = self.households.several
        if not len(several.sizes):
            said = "no household has several members in the file"
            return Finding(value=none, found=said, nothing=True)
        sizes = several.sizes
        return Finding(
            value=Figure(value=float(sizes.min()), how=How.EXACT),
            beyond={x: int((several.cells * sizes)[sizes < x].sum()) for x in limits},
        )


def _without_threshold(variable: str) -> Finding:
    return Finding(
        value=Unavailable("no threshold was given"),
        found=f"there are groups whose members all have the same value of {variable}, and no "
        "threshold says what is allowed",
        concerns=(variable,),
        remedy="give a threshold (l) for the values that every group must have, such as 2",
    )


def scores_asked(options: AssessOptions) -> tuple[float, ...]:
    """DIS-SUDA scores above which a rule asks for the records."""
    return tuple(rule.limit for rule in options.rules if isinstance(rule, DisSuda))


def shares_asked(options: AssessOptions) -> tuple[float, ...]:
    """Sizes of cells in the population that a rule asks the share of the records below of."""
    rules = options.rules
    own = {float(r.k) for r in rules if isinstance(r, ShareBelowK) and r.of == "population"}
    return tuple(sorted(own))


def risks_counted(options: AssessOptions) -> tuple[float, ...]:
    """Risks above which records are counted, as rules ask for."""
    sizes = shares_asked(options)
    return (*options.risk_limits, *(1 / k for k in sizes), *(1 / (TOO_LOW * k) for k in sizes))
