"""What an intruder believes of the small cells under each model, and under all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data.arrays import IntArray
from discreet.errors import InputError, must_be
from discreet.fiber.decomposable import junction_tree
from discreet.fiber.dynamic_programming_plan import BudgetExceeded
from discreet.figures import Figure, How, Outcome, Unavailable
from discreet.progress import Progress
from discreet.tables.augmentation import Effort
from discreet.tables.averaging import Evidence, WeightKind, model_weights
from discreet.tables.generators import HierarchicalModel, models_containing, parse_model
from discreet.tables.matched_law import matched_law
from discreet.tables.model_search import ModelSearch, search_models
from discreet.tables.posterior import Question, TablePosterior, table_posterior
from discreet.tables.release import Release
from discreet.tables.time_shares import Clock

AVERAGE, RELEASED = "average", "released"
MOST_AVERAGED = 20
SEARCH_SHARE = 10  # the least number of models that a search shares its time among
Law = Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One law of the table: of a model, or their average. `laws[i]` is that of the i-th small cell,
    `errors[i]` its standard errors; `weight` is the model's posterior probability."""

    name: str
    method: str
    how: How
    laws: Sequence[Law]
    errors: Sequence[Law]
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
    search = None
    if release.is_shown:
        posteriors, search = _posteriors(release, watched, options, progress)
    else:
        posteriors = _named_posteriors(release, watched, options)
    in_average = posteriors
    if search is not None:
        names = {model.name(release.table.names) for model in search.models}
        in_average = {name: posteriors[name] for name in posteriors if name in names}
    weights = _weights(in_average, release, options)
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
    parts = len(chosen) + (SEARCH_SHARE if to_search else 0)
    for number, (name, model) in enumerate(chosen.items()):
        found[name] = ask(model, clock.share(1 / (parts - number)))
    if not to_search:
        return found, None
    names = release.table.names

    def evaluate(model: HierarchicalModel) -> float | None:
        name = model.name(names)
        if name not in found:
            found[name] = ask(model, clock.share(1 / SEARCH_SHARE))
        own = found[name]
        evidence = own if isinstance(own, Unavailable) else own.evidence
        return None if isinstance(evidence, Unavailable) else evidence.log_probability

    search = search_models(len(names), release.sets, evaluate, is_over=lambda: clock.is_over)
    return found, search


class _Asker:
    """Asks one model after another the same question, each with randomness of its own."""

    def __init__(
        self, release: Release, watched: IntArray, options: ViewOptions, progress: Progress
    ) -> None:
        sizes = release.table.sizes
        cells = np.ravel_multi_index(tuple(watched.T), sizes) if len(watched) else watched[:, 0]
        self._question = Question(
            margins=release.margins,
            cells=np.asarray(cells, dtype=np.int64),
            alpha=np.full(sizes, options.alpha),
            known=[known.statement(sizes) for known in release.known],
            truth=release.table.dense(),
            weight_kind=options.weight_kind,
            effort=options.effort,
        )
        self._seed, self._number, self._progress = options.seed, 0, progress

    def __call__(
        self, model: HierarchicalModel, seconds: float | None
    ) -> TablePosterior | Unavailable:
        effort = replace(self._question.effort, seconds=seconds)
        question = replace(self._question, effort=effort)
        rng = np.random.default_rng([self._seed, self._number])
        self._number += 1
        return table_posterior(question, model, rng=rng, progress=self._progress)


def _named_posteriors(
    release: Release, watched: IntArray, options: ViewOptions
) -> dict[str, TablePosterior | Unavailable]:
    """For a table too large to be built: the released model, cell by cell, if decomposable."""
    own = HierarchicalModel.of(len(release.table.names), release.sets)
    found: dict[str, TablePosterior | Unavailable] = {}
    for text in options.models:
        model = own if text in (RELEASED, AVERAGE) else parse_model(text, release.table.names)
        name = model.name(release.table.names)
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
    matched = matched_law(release.margins, model)
    if matched is None:
        return Unavailable("the counts are too large to match records one by one")
    try:
        laws = matched.cells(watched, lambda: clock.is_over)
    except BudgetExceeded as beyond:
        return Unavailable(str(beyond))
    why = Unavailable("not computed for a table this large")
    return TablePosterior(
        model=model,
        cells=np.arange(len(watched)),
        laws=laws,
        errors=[dict.fromkeys(law, 0.0) for law in laws],
        how=How.EXACT,
        method="exact, by matching records along the junction tree",
        evidence=why,
        true_table=why,
        entropy=why,
    )


def _weights(
    posteriors: Mapping[str, TablePosterior | Unavailable], release: Release, options: ViewOptions
) -> dict[str, tuple[float, float]] | Unavailable:
    if not posteriors:
        return Unavailable("no model could be weighed")
    evidence: dict[str, Evidence] = {}
    for name, posterior in posteriors.items():
        own = posterior if isinstance(posterior, Unavailable) else posterior.evidence
        if isinstance(own, Unavailable):
            return Unavailable(f"the weight of {name} is not known: {own.reason}")
        evidence[name] = own
    if options.model_priors is None:
        return model_weights(evidence)
    names = release.table.names
    prior = {parse_model(t, names).name(names): p for t, p in options.model_priors.items()}
    unknown = set(prior) ^ set(evidence)
    if unknown:
        rule = "given for each of the models " + ", ".join(evidence)
        raise InputError(must_be("model priors", rule, min(unknown)))
    return model_weights(evidence, prior)


def _view(
    name: str, posterior: TablePosterior, weights: Mapping[str, tuple[float, float]] | Unavailable
) -> View:
    weight: Outcome
    if isinstance(weights, Unavailable):
        weight = weights
    elif name not in weights:
        weight = Unavailable("not among the models that were averaged")
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
        laws=posterior.laws,
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
    """The law averaged over the models by their weights (dobra eq. 10)."""
    pairs = [
        (posterior, *weights[name])
        for name, posterior in posteriors.items()
        if isinstance(posterior, TablePosterior)
    ]
    laws, errors = [], []
    for i in range(len(pairs[0][0].laws)):
        values = sorted({q for posterior, *_ in pairs for q in posterior.laws[i]})
        mean = {q: sum(w * p.laws[i].get(q, 0.0) for p, w, _ in pairs) for q in values}
        laws.append(mean)
        errors.append(
            {
                q: sum(
                    (w * p.errors[i].get(q, 0.0)) ** 2
                    + (e * (p.laws[i].get(q, 0.0) - mean[q])) ** 2
                    for p, w, e in pairs
                )
                ** 0.5
                for q in values
            }
        )
    exact = all(error == 0 for law in errors for error in law.values())
    return View(
        name=AVERAGE,
        method=f"average over {len(pairs)} models by their weights",
        how=How.EXACT if exact else How.ESTIMATE,
        laws=laws,
        errors=errors,
        weight=Figure(value=1.0, how=How.EXACT),
        evidence=Unavailable("an average is no model"),
        true_table=_averaged_truth(pairs),
        entropy=Unavailable("the entropy of an average is not that of its parts"),
        warning=next((p.warning for p, *_ in pairs if p.warning), ""),
        complete=all(p.complete for p, *_ in pairs),
    )


def _averaged_truth(pairs: Sequence[tuple[TablePosterior, float, float]]) -> Outcome:
    value = variance = 0.0
    for posterior, weight, error in pairs:
        own = posterior.true_table
        if isinstance(own, Unavailable):
            return own
        value += weight * (own.value or 0.0)
        variance += (weight * (own.standard_error or 0.0)) ** 2 + (error * (own.value or 0.0)) ** 2
    if variance == 0:
        return Figure(value=value, how=How.EXACT)
    return Figure(value=value, how=How.ESTIMATE, standard_error=variance**0.5)
