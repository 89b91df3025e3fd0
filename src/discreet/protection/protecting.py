"""From what is asked to a recipe that does it: plans are made, carried out and measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version

import numpy as np

from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.masks.records.fitting import Combinations, fits_of
from discreet.masks.records.notation import recoding_of
from discreet.masks.records.recoding import Merge, check_levels, recodings_in
from discreet.masks.records.strict_suppression import MOST_SETS
from discreet.masks.records.suppression import Guarantee
from discreet.numerics.arrays import BoolArray, FloatArray, IntArray
from discreet.policy.findings import Finding, Findings
from discreet.policy.policy import Policy, judge
from discreet.policy.record_rules import MaxRisk, MinCandidates, MinK
from discreet.policy.rule import Rule, Subject
from discreet.policy.sensitive_rules import L
from discreet.policy.verdict import Ruling, Verdict
from discreet.progress import Progress, silent
from discreet.protection.applying import Changed, Source, carried_out
from discreet.protection.counted import Counted
from discreet.protection.ladders import leaves_of_key
from discreet.protection.options import ProtectOptions
from discreet.protection.planning import Planned, Planner, fixed_keys, weakest
from discreet.protection.protected import FrontierPoint, Searched
from discreet.protection.recipe import Recipe, read_recipe, step_of
from discreet.protection.search import WORK
from discreet.protection.search_loss import SearchedKey, search_loss
from discreet.survey.assessment import Assessment
from discreet.survey.options import AssessOptions

AS_IT_IS = 1  # the strength of a file in which nobody has to share anything
FRONTIER = (2, 3, 5, 10, 20)  # strengths beside the one that was asked for
FRONTIER_CELLS = 60_000  # beyond which other strengths are not worked out
MOST_MEASURED = 3  # strengths at which only risky records are helped
SHARES_OF_LIMIT = (1.0, 0.7, 0.4, 0.2)  # of the largest risk, above which records are helped

Measure = Callable[[Changed], Assessment]
Risks = Callable[[Changed], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A file at a strength: what was planned, what it became, what an assessment says of it."""

    k: int
    changed: Changed
    assessment: Assessment
    verdict: Verdict | None
    loss: float
    planned: Planned | None = None

    @property
    def kept(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict is None or self.verdict.ruling is not Ruling.BROKEN

    @property
    def open_rules(self) -> frozenset[tuple[str, str]]:
        """The rules that are neither kept nor broken, with their policies."""
        open_ = () if self.verdict is None else self.verdict.those(Ruling.UNDECIDED)
        return frozenset((one.policy, one.rule) for one in open_)

    @property
    def without_a_figure(self) -> frozenset[tuple[str, str]]:
        """Rules that are open because there is no figure: no change of the keys gives one."""
        open_ = () if self.verdict is None else self.verdict.those(Ruling.UNDECIDED)
        without = (one for one in open_ if isinstance(one.value, Unavailable))
        return frozenset((one.policy, one.rule) for one in without)

    @property
    def suppressed(self) -> int:
        """Values that were taken out of the keys that go out."""
        return int(_suppressed_by_key(self.changed).sum())

    def point(self, *, chosen: bool) -> FrontierPoint:
        """The attempt as it is compared with others."""
        risk = self.assessment.risk
        largest: Outcome
        if isinstance(risk, Unavailable):
            largest = risk
        else:
            largest = Figure(value=risk.largest, how=How.ESTIMATE)
        return FrontierPoint(
            k=self.k,
            changes=tuple(one.in_words for one in recodings_in(self.changed.recipe.steps)),
            suppressed=self.suppressed,
            loss=self.loss,
            largest_risk=largest,
            population_uniques=self.assessment.recommended.expected_population_uniques,
            ruling=None if self.verdict is None else self.verdict.ruling,
            chosen=chosen,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The recipe that was taken, the file it makes, and what it was compared with."""

    attempt: Attempt
    changed: Changed
    frontier: tuple[FrontierPoint, ...]
    searched: Searched | None


@dataclass
class Protecting:
    """Finds the recipe for one file.

    `measure` assesses a file as a recipe makes it; `risks` gives the recommended risk of each of
    its rows. Of the keys in `never`, beside those that the options leave untouched, no value is
    taken out.
    """

    source: Source
    options: ProtectOptions
    measure: Measure
    risks: Risks
    progress: Progress = silent
    seed: int | None = None
    never: tuple[str, ...] = ()
    attempts: dict[tuple[int, bool], Attempt] = field(default_factory=dict)

    def chosen(self) -> Chosen:
        """The recipe given, or the one found."""
        if self.options.recipe is not None:
            given = self._tried(AS_IT_IS, read_recipe(self.options.recipe), None)
            return Chosen(attempt=given, changed=given.changed, frontier=(), searched=None)
        attempt = self._found()
        changed = self._with_steps(attempt.changed)
        return Chosen(
            attempt=attempt,
            changed=changed,
            frontier=self._frontier(attempt),
            searched=_searched(attempt.planned),
        )

    def _found(self) -> Attempt:
        """The file as it is where that keeps all rules, else the weakest that does."""
        plain = self._at(AS_IT_IS)
        if self._settled(plain):
            return plain
        start = self._start()
        if not self._is_of_risk():
            return self._at(start)
        k = weakest(lambda strength: self._settled(self._at(strength)), start)
        if k is None:
            return min(self.attempts.values(), key=_how_close)
        best = self._only_risky(k) or self._at(k)
        return self._looked_for_longer(k) if best is self._at(k) and k != start else best

    def _looked_for_longer(self, k: int) -> Attempt:
        """The file at the strength that is taken, after as long a search as one for it alone."""
        quick = self.attempts.pop((k, False))
        longer = self._at(k, alone=True)
        if longer.loss >= quick.loss or not self._settled(longer):
            self.attempts[k, False] = quick
        return self.attempts[k, False]

    def _settled(self, attempt: Attempt) -> bool:
        """Whether every rule is shown to be kept, but for those that no change can settle."""
        return attempt.kept and attempt.open_rules <= self._at(AS_IT_IS).without_a_figure

    def _start(self) -> int:
        """The strength to begin with: what rules say of how many belong together."""
        least = self.options.min_k or self._asked().least_k
        only_values = all(isinstance(rule, L) for rule in self._rules())
        return least or (AS_IT_IS if only_values else FRONTIER[0])

    def _asked(self) -> AssessOptions:
        return self.options.assessing(tuple(self.options.keys or ()))

    def _rules(self) -> tuple[Rule, ...]:
        return tuple(self._asked().rules)

    def _is_of_risk(self) -> bool:
        """Whether a rule asks for more than that records belong together or are diverse."""
        plain = (MinK, L)
        return any(not isinstance(r, plain) or getattr(r, "of", "") == "population"
                   for r in self._rules())  # fmt: skip

    def _at(self, k: int, *, alone: bool = False) -> Attempt:
        """The file at a strength."""
        if (k, False) not in self.attempts:
            base = self._base()
            planned = None
            steps = base.recipe.steps
            if k > AS_IT_IS or self._diverse():
                planner = self._planner(base)
                near = [one.planned.node for _, one in sorted(self.attempts.items())
                        if one.planned is not None]  # fmt: skip
                others = k != self._start() and bool(near) and not alone
                planned = planner.planned(
                    k, work=WORK / 5 if others else WORK, starts=near[-1:] if others else ()
                )
                more = planner.suppressing(k) if planned is None else planned.steps
                steps = (*steps, *more)
            self.attempts[k, False] = self._tried(k, replace(base.recipe, steps=steps), planned)
        return self.attempts[k, False]

    def _only_risky(self, k: int) -> Attempt | None:
        """A file in which only records above the limit of the risk are helped, at a recoding of a
        weaker strength; None where none of those that were tried keeps all rules and loses less."""
        limits = [rule.limit for rule in self._rules() if isinstance(rule, MaxRisk)]
        unknown = isinstance(self._at(k).assessment.risk, Unavailable)
        if not limits or unknown or self.options.suppress != "values":
            return None
        if self.options.min_k is not None:  # which is about records that are not risky too
            return None
        best = self._at(k)
        weaker = sorted(s for s, _ in self.attempts if AS_IT_IS <= s <= k)
        for strength in weaker[:MOST_MEASURED]:
            # Whoever is not helped may be riskier afterwards, when others have left the cell: so
            # from the limit downwards, until the risk of all of them keeps it.
            for share in SHARES_OF_LIMIT:
                attempt = self._helping(strength, k, share * min(limits))
                if attempt.loss >= best.loss:
                    break
                if self._settled(attempt):
                    best = attempt
                    break
        return None if best is self._at(k) else best

    def _helping(self, strength: int, k: int, above: float) -> Attempt:
        """The file recoded as for a strength, in which records above a risk are helped."""
        base = self._base()
        steps = (
            *recodings_in(self._at(strength).changed.recipe.steps),
            *self._planner(base).suppressing(k, above=above),
        )
        return self._tried(k, replace(base.recipe, steps=steps), None)

    def _base(self) -> Changed:
        """The file after the recodings that were asked for."""
        steps = tuple(
            recoding_of(one, self.source.trees) if isinstance(one, str) else one
            for one in self.options.recode
        )
        for step in steps:
            if isinstance(step, Merge):
                check_levels(step, self.source.counted.keys)
        keys = tuple(key.name for key in self.source.counted.keys)
        made = {"discreet": version("discreet")}
        recipe = Recipe(keys=keys, steps=steps, made=made)
        return carried_out(self.source, recipe)

    def _diverse(self) -> dict[str, int]:
        """How many different values of each sensitive variable a group needs."""
        least = [int(rule.limit) for rule in self._rules() if isinstance(rule, L)]
        return dict.fromkeys(self.options.sensitive, max(least)) if least else {}

    def _planner(self, base: Changed) -> Planner:
        diverse = self._diverse()
        return Planner(
            counted=base.counted,
            options=self.options,
            trees=self.source.trees,
            fixed=fixed_keys(base.recipe.steps, self.options),
            pairs=self.source.sensitive_values(list(diverse)) if diverse else {},
            diverse=diverse,
            never=(*self.options.untouched, *self.never),
            population=self.source.population,
            solved=self.source.solved,
            progress=self.progress,
        )

    def _tried(self, k: int, recipe: Recipe, planned: Planned | None) -> Attempt:
        """A recipe carried out and measured."""
        changed = carried_out(
            self.source, recipe, risks=self._risks_of_rows, progress=self.progress
        )
        assessment = self.measure(changed)
        return Attempt(
            k=k,
            changed=changed,
            assessment=assessment,
            verdict=self.judged(assessment, changed),
            loss=self._loss(changed),
            planned=planned,
        )

    def _risks_of_rows(self, counted: Counted) -> FloatArray:
        """The risk of each row before anything is suppressed."""
        changed = replace(self._base(), counted=counted)
        return self.risks(changed)

    def judged(self, assessment: Assessment, changed: Changed) -> Verdict | None:
        """The verdict of an assessment, with the rule on original records where that is asked."""
        k = self.options.min_k
        if self.options.guarantee == Guarantee.WILDCARD and assessment.verdict is not None:
            return _of_matches(assessment.verdict)
        if k is None or self.options.guarantee != Guarantee.CANDIDATES:
            return assessment.verdict
        fits = fits_of(_combinations(_recoded_alone(changed)), _combinations(changed.counted), [k])
        found = Finding(
            value=Figure(value=fits.fewest, how=How.EXACT),
            beyond={float(limit): n for limit, n in fits.below.items()},
        )
        rule = Policy(name="", rules=(MinCandidates(limit=k),))
        findings = Findings({**assessment.findings, "min_candidates": found})
        own = judge([rule], Subject.RECORDS, findings)
        assert own is not None
        other = assessment.verdict
        if other is None:
            return own
        return replace(other, rules=(*own.rules, *other.rules))

    def _loss(self, changed: Changed) -> float:
        """The loss that the search keeps small."""
        loss = search_loss(self.options.loss)
        transition, by_key = changed.transition(), []
        for j, key in enumerate(transition.keys_before):
            records = np.bincount(
                transition.before[:, j], weights=transition.records, minlength=len(key.values)
            )
            lacks = key.values[-1:] == (None,)
            leaves = leaves_of_key(key, self.source.trees.get(key.name))
            searched = SearchedKey(records=records.astype(np.int64), leaves=leaves, missing=lacks)
            costs = loss.of_key(searched, transition.recoded[j], transition.leaf_shares[j])
            would = transition.recoded[j][transition.before[:, j]]
            gone = _is_missing(transition.keys_after[j].values, transition.after[:, j])
            per_row = np.where(gone, costs.suppressed[would], costs.kept[would])
            by_key.append(float(per_row @ transition.records) / max(transition.n_records, 1))
        importance = np.array(
            [float(self.options.importance.get(k.name, 1.0)) for k in transition.keys_before]
        )
        return float(loss.together(np.array(by_key), importance))

    def _with_steps(self, changed: Changed) -> Changed:
        """The file after the steps that were asked for besides."""
        more = tuple(step_of(one) for one in self.options.steps)
        if not more:
            return changed
        steps = (*changed.recipe.steps, *more)
        recipe = replace(changed.recipe, steps=steps, seed=self.seed)
        return carried_out(self.source, recipe, risks=self._risks_of_rows, progress=self.progress)

    def _frontier(self, chosen: Attempt) -> tuple[FrontierPoint, ...]:
        """What other strengths would cost, and the risk that they leave."""
        few = (
            len(self.source.words) <= FRONTIER_CELLS and 2 ** len(chosen.changed.keys) <= MOST_SETS
        )
        if self.options.frontier and few:
            for k in FRONTIER:
                if k not in {strength for strength, _ in self.attempts} and k != chosen.k:
                    self._at(k)
        others = [one for one in self.attempts.values() if one is not chosen]
        told = [chosen.point(chosen=True), *(one.point(chosen=False) for one in others)]
        return tuple(sorted(told, key=lambda one: (one.k, one.loss)))


def _of_matches(verdict: Verdict) -> Verdict:
    """The verdict with the rule on shared combinations in words of what was counted: matches."""
    rules = (
        replace(one, words=f"a suppressed value matching any other, {one.words}")
        if one.rule == "min_k"
        else one
        for one in verdict.rules
    )
    return replace(verdict, rules=tuple(rules))


def _how_close(attempt: Attempt) -> tuple[int, int, float]:
    """How many rules are broken, how many open, and what it costs."""
    verdict = attempt.verdict
    if verdict is None:
        return 0, 0, attempt.loss
    broken, open_ = verdict.those(Ruling.BROKEN), verdict.those(Ruling.UNDECIDED)
    return len(broken), len(open_), attempt.loss


def _searched(planned: Planned | None) -> Searched | None:
    found = None if planned is None else planned.found
    if found is None or found.best is None:
        return None
    return Searched(
        n_nodes=found.n_nodes,
        n_looked_at=found.n_looked_at,
        proved=found.proved,
        gap=found.gap or 0.0,
        loss=found.best.loss,
    )


def _combinations(counted: Counted) -> Combinations:
    return Combinations(keys=counted.keys, levels=counted.levels, n=counted.n)


def _recoded_alone(changed: Changed) -> Counted:
    """The file after the recodings of a recipe and nothing else."""
    counted = changed.source.counted
    for how in recodings_in(changed.recipe.steps):
        counted, _, _ = counted.recoded(counted.margin(counted.place(how.key)), how)
    return counted


def _is_missing(values: Sequence[str | None], levels: IntArray) -> BoolArray:
    if tuple(values)[-1:] != (None,):
        return np.zeros(len(levels), dtype=np.bool_)
    return np.asarray(levels == len(values) - 1)


def _suppressed_by_key(changed: Changed) -> IntArray:
    """How many values of each key are gone that were known."""
    found = []
    transition = changed.transition()
    for j, key in enumerate(transition.keys_before):
        after = _is_missing(transition.keys_after[j].values, transition.after[:, j])
        before = _is_missing(key.values, transition.before[:, j])
        found.append(int(transition.records[after & ~before].sum()))
    return np.array(found)
