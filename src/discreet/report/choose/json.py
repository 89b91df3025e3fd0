"""A choice of what to release as JSON."""

from typing import Any

from discreet.choice.best_set.result import BestMargins
from discreet.choice.choice import Candidate
from discreet.choice.risk_utility import RiskUtility
from discreet.choice.users import unit, wants
from discreet.errors import one_line
from discreet.report.choose.words import headline, intruder_hint
from discreet.report.render_json import known, of_kind, without_nulls
from discreet.tables.refused_margin import RiskMeasure


@of_kind("choose")
def choose_json(found: RiskUtility) -> dict[str, Any]:
    """The decision, every candidate, users and intruders under stable names."""
    options, choice = found.options, found.choice
    chosen = None if choice.chosen is None else _candidate(found, choice.chosen)
    bounds = options.measure.kind is RiskMeasure.BOUNDS
    return known(
        verdict=found.verdict.to_json(),
        decision=choice.decision.value,
        headline=headline(found),
        why=choice.why,
        chosen=chosen,
        measure=options.measure.kind.value,
        max_risk=options.max_risk if options.has_limit else None,
        min_width=0 - options.max_risk if bounds and options.has_limit else None,
        small=options.measure.small,
        confidence=options.measure.confidence,
        candidates=[_candidate(found, i) for i in range(len(found.candidates))],
        frontier=_titles(found, choice.front),
        ties=_titles(found, choice.ties),
        not_decided=_titles(found, choice.missed),
        users={user.name: _user(found, user.name, user.weight) for user in found.scientists},
        in_conflict=found.in_conflict,
        compromises=_titles(found, found.compromises),
        intruders=["any"] if bounds else list(options.intruders),
        hint=intruder_hint(found) or None,
        tables=list(options.tables) or None,
        out=[one if isinstance(one, str) else list(one) for one in options.out],
        requests=[{"margin": list(names), "weight": w} for names, w in options.requests],
        seconds=options.seconds,
        seed=options.seed,
        notes=[*found.table.notes, *found.table.doubts, *found.notes],
        search=None if found.search is None else without_nulls(found.search.described()),
    )


@of_kind("best_margins")
def best_margins_json(best: BestMargins) -> dict[str, Any]:
    """The margins to publish, how good they are, and how much better any choice could be."""
    found: dict[str, Any] = without_nulls(best.described())
    return found


def _titles(found: RiskUtility, places: tuple[int, ...]) -> list[str]:
    return [one_line(found.candidates[i].title) for i in places]


def _candidate(found: RiskUtility, place: int) -> dict[str, Any]:
    one = found.candidates[place]
    return {
        "title": one_line(one.title),
        **without_nulls(_recipe(one)),
        "risk": one.risk.to_json(),
        "risks": {name: risk.to_json() for name, risk in one.risks.items()},
        "worth": one.utility.to_json(),
        "users": {
            name: {"loss": loss, "utility": 0 - loss, "worth": one.worths[name]}
            for name, loss in one.losses.items()
        },
        "standing": found.choice.standings[place].value,
        "on_frontier": place in found.choice.front,
        "is_chosen": place == found.choice.chosen,
        "breaks": list(one.breaks),
        "doubts": [{"words": doubt.words, "remedy": doubt.remedy} for doubt in one.doubts],
        **known(rules=[judged.to_json() for judged in one.judged] or None),
        **known(method=one.method or None),
        **known(choice_counted=one.counted, choice_not_counted=one.uncounted or None),
    }


def _recipe(one: Candidate) -> dict[str, Any]:
    """What is needed to make it again, and what it does."""
    if one.masked is not None:
        beyond = one.masked.beyond or None
        return {**one.masked.record(), "effect": one.masked.effect, "beyond": beyond}
    sets = [list(names) for names in one.margins]
    return {"mask": "margins", "parameters": {"sets": sets}} if sets else {}


def _user(found: RiskUtility, name: str, weight: float) -> dict[str, Any]:
    best = found.best_for.get(name)
    return known(
        weight=weight,
        wants=wants(name),
        loss_in=unit(name),
        best_within_cap=None if best is None else one_line(found.candidates[best].title),
    )
