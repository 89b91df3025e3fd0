"""What an intruder believes of the small cells under each model, and under all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot

import numpy as np

from discreet.belief.draws.augmentation import Effort
from discreet.belief.exact.matched_distribution import matched_distribution
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel, models_containing, parse_model
from discreet.belief.models.model_averaging import Evidence, WeightKind, model_weights
from discreet.belief.models.model_search import ModelSearch, search_models
from discreet.belief.posterior import LIMITS, table_posterior
from discreet.belief.request import Question
from discreet.belief.table_posterior import TablePosterior
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import junction_tree
from discreet.numerics.rounding import above, alike, order_of
from discreet.progress import Progress
from discreet.tables.measures import is_exact
from discreet.tables.release import Release

AVERAGE, RELEASED = "average", "released"
MOST_AVERAGED = 20
SEARCH_SHARE = 10  # the least number of models that a search shares its time among
DISTRIBUTION_SHARE = (
    4  # parts of the time more for a model whose distribution is known, as it can be weighed
)
NO_TIME = Unavailable("time ran out before this model's turn; allow more seconds")
Distribution = Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One distribution of the table: of a model, or their average. `distributions[i]` is that of
    the i-th small cell,
    `errors[i]` its standard errors; `weight` is the model's posterior probability.

    Of a table too large to be shown only the first small cells have distributions where the time
    was over."""

    name: str
    method: str
    how: How
    distributions: Sequence[Distribution]
    errors: Sequence[Distribution]
    weight: Outcome
    evidence: Evidence | Unavailable
    true_table: Outcome
    entropy: Outcome
    warning: str
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Which models, how they are weighed, and how much work they may be."""

    models: Sequence[str]
    model_priors: Mapping[str, float] | None
    weight_kind: WeightKind
    alpha: float
    effort: Effort
    seconds: float | None
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All views by name, and the search for models where there was one."""

    views: Mapping[str, View | Unavailable]
    search: ModelSearch | None = None


def chosen_models(
    release: Release, asked: Sequence[str]
) -> tuple[dict[str, HierarchicalModel], bool]:
    """The models asked for, by their names, and whether more are to be searched for: `average` is
    all that contain the release, unless they are more than 20."""
    names, n = release.table.names, len(release.table.names)
    chosen: dict[str, HierarchicalModel] = {}
    to_search = False
    for text in asked:
        found: tuple[HierarchicalModel, ...]
        if text == AVERAGE:
            try:
                found = models_containing(n, release.sets, most=MOST_AVERAGED)
            except InputError:
                found, to_search = (), True
        elif text == RELEASED:
            found = (HierarchicalModel.of(n, release.sets),)
        else:
            found = (parse_model(text, names),)
        chosen |= {model.name(names): model for model in found}
    return chosen, to_search


def views(release: Release, watched: IntArray, options: ViewOptions, progress: Progress) -> Seen:
    """Each model's view of the watched cells (rows of levels), with `average` last if asked for."""
    priors = _priors(release, options)
    search = None
    if release.is_shown:
        posteriors, search = _posteriors(release, watched, options, progress)
    else:
        posteriors = _named_posteriors(release, watched, options)
    in_average = posteriors
    if search is not None:
        names = {model.name(release.table.names) for model in search.models}
        in_average = {name: posteriors[name] for name in posteriors if name in names}
    weights = _weights(in_average, priors, options)
    found: dict[str, View | Unavailable] = {
        name: posterior if isinstance(posterior, Unavailable) else _view(name, posterior, weights)
        for name, posterior in posteriors.items()
    }
    if AVERAGE in options.models:
        found[AVERAGE] = (
            weights if isinstance(weights, Unavailable) else _average(in_average, weights)
        )
    return Seen(views=found, search=search)


Posteriors = dict[str, TablePosterior | Unavailable]


def _posteriors(
    release: Release, watched: IntArray, options: ViewOptions, progress: Progress
) -> tuple[Posteriors, ModelSearch | None]:
    clock, found = Clock(options.seconds), Posteriors()
    chosen, to_search = chosen_models(release, options.models)
    ask = _Asker(release, watched, options, progress)
    parts = {
        name: 1 + DISTRIBUTION_SHARE * _has_distribution(release, chosen[name]) for name in chosen
    }
    left = sum(parts.values()) + (SEARCH_SHARE if to_search else 0)
    for name in sorted(chosen, key=lambda name: -parts[name]):
        late = clock.is_over and found
        found[name] = NO_TIME if late else ask(chosen[name], clock.share(parts[name] / left))
        left -= parts[name]
    found = {name: found[name] for name in chosen}
    if not to_search:
        return found, None
    names = release.table.names

    def evaluate(model: HierarchicalModel) -> float | None:
        name = model.name(names)
        if name not in found:
            late = clock.is_over and found
            found[name] = NO_TIME if late else ask(model, clock.share(1 / SEARCH_SHARE))
        own = found[name]
        evidence = own if isinstance(own, Unavailable) else own.evidence
        return None if isinstance(evidence, Unavailable) else evidence.log_probability

    search = search_models(len(names), release.sets, evaluate, is_over=lambda: clock.is_over)
    return found, search


def _has_distribution(release: Release, model: HierarchicalModel) -> bool:
    """Whether the model's distribution of the table is known: such models are asked first, as their
    weights are had for certain or sooner."""
    if junction_tree(model.generators) is not None:
        return True
    return all(any(set(g) <= set(own) for own in release.sets) for g in model.generators)


class _Asker:
    """Asks one model after another the same question, each with randomness of its own."""

    def __init__(
        self, release: Release, watched: IntArray, options: ViewOptions, progress: Progress
    ) -> None:
        sizes = release.table.sizes
        cells = np.ravel_multi_index(tuple(watched.T), sizes) if len(watched) else watched[:, 0]
        self._release, self._options, self._progress = release, options, progress
        self._cells, self._number = np.asarray(cells, dtype=np.int64), 0

    def __call__(
        self, model: HierarchicalModel, seconds: float | None
    ) -> TablePosterior | Unavailable:
        rng = np.random.default_rng([self._options.seed, self._number])
        self._number += 1
        question = self._question(model, seconds)
        kind = self._options.weight_kind
        return table_posterior(question, weight_kind=kind, rng=rng, progress=self._progress)

    def _question(self, model: HierarchicalModel, seconds: float | None) -> Question:
        asked = self._release.question(LogLinearPrior(model, self._options.alpha), LIMITS)
        effort = replace(self._options.effort, seconds=seconds)
        return replace(asked, cells=self._cells, effort=effort)


def _named_posteriors(
    release: Release, watched: IntArray, options: ViewOptions
) -> dict[str, TablePosterior | Unavailable]:
    """For a table too large to be built: the released model, cell by cell, if decomposable."""
    own = HierarchicalModel.of(len(release.table.names), release.sets)
    found: dict[str, TablePosterior | Unavailable] = {}
    for text in options.models:
        model = own if text in (RELEASED, AVERAGE) else parse_model(text, release.table.names)
        name = model.name(release.table.names)
        if name in found:
            continue
        if model != own:
            found[name] = Unavailable("a table this large allows only the released model")
        elif junction_tree(release.sets) is None or model.generators != release.sets:
            found[name] = Unavailable(
                "a table this large needs decomposable margins that cover every variable"
            )
        else:
            found[name] = _named(release, watched, own, Clock(options.seconds))
    return found


def _named(
    release: Release, watched: IntArray, model: HierarchicalModel, clock: Clock
) -> TablePosterior | Unavailable:
    """The distributions of the watched cells, or of the first ones where time runs out."""
    matched = matched_distribution(release.margins, model)
    if matched is None:
        return Unavailable("the counts are too large to match records one by one")
    distributions = matched.cells(watched, lambda: clock.is_over)
    if len(watched) and not distributions:
        return Unavailable("time ran out before the first small cell; allow more seconds")
    truth = float(np.exp(min(matched.log_probability(release.table.counts), 0.0)))
    why = Unavailable("not computed for a table this large")
    return TablePosterior(
        model=model,
        cells=np.arange(len(distributions)),
        distributions=distributions,
        errors=[dict.fromkeys(distribution, 0.0) for distribution in distributions],
        how=How.EXACT,
        method="exact, by matching records along the junction tree",
        evidence=why,
        true_table=Figure(value=truth, how=How.EXACT),
        entropy=why,
    )


def _weights(
    posteriors: Mapping[str, TablePosterior | Unavailable],
    priors: Mapping[str, float] | None,
    options: ViewOptions,
) -> dict[str, tuple[float, float]] | Unavailable:
    """The weight of every model, or of those that could be weighed where `average` was asked for
    and no prior names them all."""
    if not posteriors:
        return Unavailable("no model could be weighed")
    evidence = {
        name: posterior.evidence
        for name, posterior in posteriors.items()
        if isinstance(posterior, TablePosterior) and isinstance(posterior.evidence, Evidence)
    }
    unknown = _unweighed(posteriors)
    partial = AVERAGE in options.models and priors is None
    if unknown and not (partial and len(evidence) > 1):
        name, why = next(iter(unknown.items()))
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        return Unavailable(f"the weight of {name}{more} is not known: {why}")
    return model_weights(evidence, priors)


def _priors(release: Release, options: ViewOptions) -> dict[str, float] | None:
    """The models' probabilities beforehand by the models' names, None where none were given.

    Checked: a positive one for each model asked for, and for no other.
    """
    if options.model_priors is None:
        return None
    names = release.table.names
    given = {parse_model(t, names).name(names): p for t, p in options.model_priors.items()}
    chosen, to_search = chosen_models(release, options.models)
    if to_search:
        rule = f"left out where more than {MOST_AVERAGED} models are averaged by search"
        raise InputError(must_be("model priors", rule, next(iter(given), "none")))
    rule = "given for each of the models " + ", ".join(chosen)
    for name in chosen:
        if name not in given:
            raise InputError(must_be("model priors", rule, f"none for {name}"))
    for name, prior in given.items():
        if name not in chosen:
            raise InputError(must_be("model priors", rule, f"one for {name}"))
        if not 0 < prior < float("inf"):
            rule = "a positive probability for each model"
            raise InputError(must_be("model priors", rule, f"{prior:g} for {name}"))
    return given


def _unweighed(posteriors: Mapping[str, TablePosterior | Unavailable]) -> dict[str, str]:
    """Models without a weight, and why."""
    found = {}
    for name, posterior in posteriors.items():
        own = posterior if isinstance(posterior, Unavailable) else posterior.evidence
        if isinstance(own, Unavailable):
            found[name] = own.reason
    return found


def _view(
    name: str, posterior: TablePosterior, weights: Mapping[str, tuple[float, float]] | Unavailable
) -> View:
    weight: Outcome
    if isinstance(weights, Unavailable):
        weight = weights
    elif name not in weights:
        why = posterior.evidence
        weight = Unavailable(
            why.reason
            if isinstance(why, Unavailable)
            else "not among the models that were averaged"
        )
    else:
        value, error = weights[name]
        exact = error == 0
        weight = Figure(
            value=value,
            how=How.EXACT if exact else How.ESTIMATE,
            standard_error=None if exact else error,
        )
    return View(
        name=name,
        method=posterior.method,
        how=posterior.how,
        distributions=posterior.distributions,
        errors=posterior.errors,
        weight=weight,
        evidence=posterior.evidence,
        true_table=posterior.true_table,
        entropy=posterior.entropy,
        warning=posterior.warning,
        complete=posterior.complete,
    )


def _average(
    posteriors: Mapping[str, TablePosterior | Unavailable],
    weights: Mapping[str, tuple[float, float]],
) -> View:
    """The distribution averaged over the models by their weights (dobra eq. 10).

    Weights add up to one, so that an error of log Pr(R | A) by d moves the average by d times the
    weight of A times how far A is from the average: errors of evidence are independent of each
    other, those of weights are not.
    """
    pairs = [
        (posterior, weights[name][0], _evidence_error(posterior))
        for name, posterior in posteriors.items()
        if isinstance(posterior, TablePosterior) and name in weights
    ]
    distributions, errors = [], []
    for i in range(len(pairs[0][0].distributions)):
        values = sorted({q for posterior, *_ in pairs for q in posterior.distributions[i]})
        mean = {q: sum(w * p.distributions[i].get(q, 0.0) for p, w, _ in pairs) for q in values}
        distributions.append(mean)
        errors.append(
            {
                q: sum(
                    (w * p.errors[i].get(q, 0.0)) ** 2
                    + (w * e * _apart(p.distributions[i].get(q, 0.0), mean[q])) ** 2
                    for p, w, e in pairs
                )
                ** 0.5
                for q in values
            }
        )
    exact = all(map(is_exact, errors))
    return View(
        name=AVERAGE,
        method=f"average over {_number(len(pairs), len(posteriors))} models by their weights",
        how=How.EXACT if exact else How.ESTIMATE,
        distributions=distributions,
        errors=errors,
        weight=Figure(value=1.0, how=How.EXACT),
        evidence=Unavailable("an average is no model"),
        true_table=_averaged_truth(pairs),
        entropy=Unavailable("the entropy of an average is not that of its parts"),
        warning="; ".join(filter(None, [_partial(posteriors), _worst_warning(pairs)])),
        complete=all(p.complete for p, *_ in pairs),
    )


def _evidence_error(posterior: TablePosterior) -> float:
    """Of log Pr(R | A)."""
    evidence = posterior.evidence
    return 0.0 if isinstance(evidence, Unavailable) else evidence.standard_error


def _apart(probability: float, mean: float) -> float:
    """How far a model is from the average; 0 where only rounding is between them."""
    return 0.0 if alike(probability, mean) else probability - mean


def _number(averaged: int, asked: int) -> str:
    return str(averaged) if averaged == asked else f"{averaged} of {asked}"


def _partial(posteriors: Mapping[str, TablePosterior | Unavailable]) -> str:
    """What the average lacks, or nothing."""
    unknown = _unweighed(posteriors)
    if not unknown:
        return ""
    name, why = next(iter(unknown.items()))
    return (
        f"only {len(posteriors) - len(unknown)} of {len(posteriors)} models could be weighed; the "
        f"others are left out of the average, {name} among them: {why}"
    )


def _worst_warning(pairs: Sequence[tuple[TablePosterior, float, float]]) -> str:
    """Of the models that make up at least a hundredth of the average, the weightiest one's."""
    heavy = (pairs[i] for i in order_of([weight for _, weight, _ in pairs]))
    return next((p.warning for p, w, _ in heavy if p.warning and not above(0.01, w)), "")


def _averaged_truth(pairs: Sequence[tuple[TablePosterior, float, float]]) -> Outcome:
    figures = []
    for posterior, _, _ in pairs:
        own = posterior.true_table
        if isinstance(own, Unavailable):
            return own
        figures.append(own)
    value = sum(w * (own.value or 0.0) for own, (_, w, _) in zip(figures, pairs, strict=True))
    spreads = []
    for own, (_, weight, error) in zip(figures, pairs, strict=True):
        apart = _apart(own.value or 0.0, value)
        spreads += [weight * (own.standard_error or 0.0), weight * error * apart]
    spread = hypot(*spreads)  # the squares of tiny probabilities would be 0
    if spread == 0:
        return Figure(value=value, how=How.EXACT)
    return Figure(value=value, how=How.ESTIMATE, standard_error=spread)
