"""What an audit answers beside the posterior: groups, refusals, and the population of a sample."""

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.belief.exact.population_chain import released_links
from discreet.belief.intruder_priors import LogLinearPrior
from discreet.belief.models.generators import HierarchicalModel, parse_model
from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray
from discreet.progress import Progress
from discreet.tables.audit_options import AuditOptions
from discreet.tables.groups import Learned
from discreet.tables.population_cells import (
    PopulationCell,
    averaged_population_cells,
    chained_population_cells,
    check_population,
    population_cells,
)
from discreet.tables.posteriors import AVERAGE, RELEASED, View, chosen_models
from discreet.tables.probable_groups import sought_groups
from discreet.tables.refused_margin import RefusalView, refusal_view
from discreet.tables.release import MOST_SHOWN, Release
from discreet.tables.ruled_out import is_common

ONLY_KNOWN = (
    "known only under the saturated model and under decomposable models whose own margins are all "
    "released; ask for the posterior 'saturated'"
)
NOT_NESTED = (
    "where one variable determines another, known only under the saturated model; ask for the "
    "posterior 'saturated'"
)


def share_beside(options: AuditOptions) -> float:
    """The part of the time kept for what is asked beside the posterior."""
    return 0.3 * bool(options.refused) + 0.1 * (options.targets is not None)


def believed(
    out: Release, options: AuditOptions, learned: Sequence[Learned], clock: Clock
) -> tuple[Learned, ...] | Unavailable:
    """Groups that share a level with high probability, under the first model, where it is listed;
    those that are proved anyway are left out."""
    if options.targets is None:
        return Unavailable("no target was named")
    if not out.is_shown:
        return Unavailable("the table is too large to list the tables consistent with the release")
    question = out.question(LogLinearPrior(_first_model(out, options), options.alpha))
    if isinstance(question.model_distribution, Unavailable):
        return Unavailable(
            "the first model's distribution of the table is not known in closed form"
        )
    found = sought_groups(
        question,
        out.table.sizes,
        [axis for axis in out.targets(options.targets) or () if axis in out.told],
        threshold=options.sure,
        proved=learned,
        clock=clock,
        seed=[options.seed, 2],
    )
    if isinstance(found, Unavailable):
        return found
    return tuple(one for one in found if not is_common(one, out.table, out.nested, out.known))


def refusal(
    out: Release, options: AuditOptions, watched: IntArray, clock: Clock, progress: Progress
) -> RefusalView | Unavailable | None:
    """What the refusals tell of the watched cells (rows of levels); None without a refusal."""
    rule = options.rule
    if not options.refused or rule is None:
        return None
    requests = [out.table.axes(names) for names in options.refused]
    _check_hidden(out, requests)
    if not out.is_shown:
        return Unavailable(f"the table has more than {MOST_SHOWN:,} cells")
    cells = np.ravel_multi_index(tuple(watched.T), out.table.sizes) if len(watched) else []
    return refusal_view(
        out,
        _first_model(out, options),
        np.full(out.table.sizes, options.alpha),
        requests,
        rule,
        np.asarray(cells, dtype=np.int64),
        clock=Clock(clock.left()),
        rng=np.random.default_rng([options.seed, 3]),
        progress=progress,
    )


def _check_hidden(out: Release, requests: Sequence[tuple[int, ...]]) -> None:
    for request in requests:
        if any(set(request) <= set(own) for own in out.sets):
            names = "[" + " ".join(out.table.names[axis] for axis in request) + "]"
            raise InputError(must_be("refused", "a margin that is not out already", names))


def _first_model(out: Release, options: AuditOptions) -> HierarchicalModel:
    text = options.models[0]
    if text in (RELEASED, AVERAGE):
        return HierarchicalModel.of(len(out.table.names), out.sets)
    return parse_model(text, out.table.names)


Cells = tuple[PopulationCell, ...] | Unavailable


def population(
    out: Release, options: AuditOptions, seen: Mapping[str, View | Unavailable]
) -> dict[str, Cells]:
    """The small cells of a sample as cells of its population, under each view."""
    if options.population is None:
        return {}
    check_population(out.table.total, options.population)
    if not out.is_shown:
        why = f"needs a table of at most {MOST_SHOWN:,} cells, since its prior counts all of them"
        return {name: Unavailable(why) for name in seen}
    models, _ = chosen_models(out, options.models)
    found: dict[str, Cells] = {}
    for name, view in seen.items():
        if isinstance(view, Unavailable):
            found[name] = view
        elif name != AVERAGE:
            model = models.get(name) or parse_model(name, out.table.names)
            found[name] = _under(model, view, out, options, options.population)
    if isinstance(seen.get(AVERAGE), View):
        found[AVERAGE] = _averaged(found, seen)
    return {name: found[name] for name in seen}


def _under(
    model: HierarchicalModel, view: View, out: Release, options: AuditOptions, size: int
) -> Cells:
    """Under one model, where the sample tells of the cells' probabilities in closed form."""
    if model.is_saturated:
        return population_cells(
            view.distributions,
            alpha=options.alpha,
            alpha_total=options.alpha * out.n_possible,
            sample_size=out.table.total,
            population_size=size,
            small=options.most_small,
        )
    if out.nested.pairs:
        return Unavailable(NOT_NESTED)
    links = released_links(out.margins, model, _small_cells(out, options.most_small), options.alpha)
    if links is None:
        return Unavailable(ONLY_KNOWN)
    return chained_population_cells(
        view.distributions,
        links,
        sample_size=out.table.total,
        population_size=size,
        small=options.most_small,
    )


def _small_cells(out: Release, small: int) -> IntArray:
    """The levels of the small cells of a table that is shown, in the order of the views'
    distributions.
    """
    counts = out.table.dense()
    return np.argwhere((counts > 0) & (counts <= small))


def _averaged(found: Mapping[str, Cells], seen: Mapping[str, View | Unavailable]) -> Cells:
    """The average over the models that have a weight, where it is known under all of them."""
    weighed = []
    for name, cells in found.items():
        view = seen[name]
        if isinstance(view, Unavailable) or isinstance(view.weight, Unavailable):
            continue
        if isinstance(cells, Unavailable):
            return Unavailable(f"not known under {name}, which is averaged over: {cells.reason}")
        weighed.append((view.weight.value or 0.0, cells))
    return averaged_population_cells(weighed)
