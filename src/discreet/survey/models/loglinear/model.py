"""Log-linear Poisson models of the cells, after Skinner, Holmes, Elamir and Shlomo.

The population count of cell k is F_k ~ Poisson(λ_k), and everyone is in the sample with probability
π, so that f_k ~ Poisson(μ_k) with μ_k = π·λ_k, and independently of it F_k − f_k ~
Poisson((1 − π)·λ_k). A log-linear model of μ is fitted to the *sample* counts; the population mean
is μ/π. With m = (1 − π)·μ/π people unseen on average,

    P(F = 1 | f = 1) = e^(−m),        E(1/F | f = 1) = (1 − e^(−m)) / m.

Where weights differ, π_k = f_k / (sum of the weights) stands in for π in cell k, with the weights
scaled to the population size: everyone of a cell is taken to have had the same chance to be asked.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data.cells import CellBatch
from discreet.data.structural_zeros import Box, StructuralZeros
from discreet.data.summary import Summary
from discreet.engines.contract import Cells
from discreet.errors import InputError, must_be
from discreet.numerics.arrays import FloatArray
from discreet.numerics.graphs import Graph, GraphNotDecomposable, Keys
from discreet.numerics.rounding import above
from discreet.progress import Progress, silent
from discreet.survey.models.contract import ModelUnavailable, Need
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitted import (
    ErrorParts,
    Fit,
    FittedLogLinear,
    unseen_in_cells,
)
from discreet.survey.models.loglinear.fitting import TableTooLarge, all_of_order, fit_by_iteration
from discreet.survey.models.loglinear.judgement import judgement
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells, gathered_cells
from discreet.survey.models.loglinear.poisson_reciprocal import (
    chance_alone,
    reciprocal_mean,
    reciprocal_slope,
)
from discreet.survey.models.loglinear.search import BUDGET, SAME_DISTANCE, Search, forward_search

STRUCTURES = {"independence": 1, "two-way": 2, "three-way": 3}
MOST_FITTED = 5_000_000  # occupied cells that a model is fitted to
MOST_CELLS = 1 << 26  # that a fit by iteration may hold
AUTO_WORK = 1 << 22  # cells × generators of a fit by iteration that nobody asked for
STUCK = 1.0  # |B̂| / √v of the chosen decomposable model from which all two-way terms are tried
RIVALS = 12  # models alike to the chosen one whose figures are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinear:
    """A log-linear model, by default the decomposable one of minimum error.

    `structure` is 'auto' (a forward search over decomposable models, and all two-way terms where
    that gets stuck), 'decomposable' (the search alone), 'independence', 'two-way', 'three-way', or
    generators as groups of key positions. `smoothing` from 0 to 1 draws the margins of a model
    fitted by iteration towards independence.
    """

    name: str = "loglinear"
    assumption: str = (
        "The numbers of people in the cells are Poisson with means that follow a log-linear model, "
        "and everyone in a cell had the same chance to be in the sample."
    )
    needs: frozenset[Need] = frozenset()
    structure: str | tuple[Keys, ...] = "auto"
    smoothing: float = 0.0
    use_weights: bool = True
    structural_zeros: tuple[Box, ...] = ()
    budget: float = BUDGET
    prepared: FittedLogLinear | None = field(default=None, compare=False, repr=False)

    def tuned(
        self,
        summary: Summary,
        cells: Cells,
        impossible: Sequence[Box] = (),
        progress: Progress = silent,
    ) -> "LogLinear":
        """The model chosen and fitted on the cells, all of which are held in memory; there may be
        `MOST_FITTED` of them."""
        _sampling_fraction(summary)
        held = cells.held(MOST_FITTED)
        if held is None:
            raise ModelUnavailable(
                f"a log-linear model is fitted to all occupied cells at once, of which there may "
                f"be {MOST_FITTED:,}, and there are {cells.n_cells:,}; make keys coarser, or leave "
                "one out"
            )
        return self.fitted_to(held, summary, impossible, progress)

    def fitted_to(
        self,
        held: CellBatch,
        summary: Summary,
        impossible: Sequence[Box] = (),
        progress: Progress = silent,
    ) -> "LogLinear":
        """The model chosen and fitted on cells at hand."""
        fraction = _sampling_fraction(summary)
        parts = [(held.levels(), held.sample_count, held.weight_total)]
        cells = gathered_cells(summary.level_counts, parts)
        zeros = _checked_zeros((*self.structural_zeros, *impossible), cells)
        chosen = _Chosen.of(self, cells, fraction, zeros, progress)
        scale = _weight_scale(summary, cells) if self.use_weights else None
        return replace(self, prepared=_fitted(chosen, fraction, scale, summary, zeros))

    def fit(self, summary: Summary) -> FittedLogLinear:
        """What `tuned` fitted; the margins of a summary alone do not tell which model to take."""
        if self.prepared is None:
            raise ModelUnavailable("a log-linear model is fitted to the cells; call tuned() first")
        return self.prepared


def _sampling_fraction(summary: Summary) -> float:
    """n / N; ModelUnavailable says why there is no such model."""
    n, population = summary.sample_size, summary.population_size
    if n == 0:
        raise ModelUnavailable("the sample holds no record")
    if not summary.size_indices.is_partition:
        raise ModelUnavailable(
            "where missing values match anything, cells overlap and there is no table of them; "
            "let missing values be a category of their own"
        )
    if sum(size > 1 for size in summary.level_counts) < 2:
        raise ModelUnavailable(
            "a log-linear model needs two keys or more with two levels or more: with one, each "
            "cell has a parameter of its own and nothing is left to tell"
        )
    if population is None:
        raise ModelUnavailable(
            "the population size is not known; give it, or survey weights that estimate it"
        )
    if not n <= population < math.inf:
        rule = f"at least the sample size {n}"
        raise ModelUnavailable(must_be("population_size", rule, f"{population:g}"))
    return n / population


def _checked_zeros(boxes: Iterable[Box], cells: OccupiedCells) -> StructuralZeros:
    """The impossible cells; InputError if a box is none of this table, or a record lies in one."""
    given = [dict(box) for box in boxes]
    sizes = cells.sizes
    for box in given:
        if not box or any(not 0 <= k < len(sizes) or not 0 <= v < sizes[k] for k, v in box.items()):
            rule = "levels in range of one or more keys, by position"
            raise InputError(must_be("structural zero", rule, box))
    zeros = StructuralZeros.of_boxes(sizes, given)
    if zeros.boxes and (held := int(zeros.covers(cells.levels.T.astype(np.int64)).sum())):
        rule = "combinations that no record has"
        raise InputError(must_be("structural_zeros", rule, f"some that {held:,} cells have"))
    return zeros


def _weight_scale(summary: Summary, cells: OccupiedCells) -> float | None:
    """What weights are multiplied by so that they add up to N, or None where they are all alike."""
    weights = cells.weight_total
    if weights is None or summary.population_size is None:
        return None
    mean = weights / cells.sample_count
    if np.ptp(mean) <= 1e-9 * mean.max():
        return None
    return summary.population_size / float(weights.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """A fitted model and how it was come by."""

    fit: Fit
    rule: str
    search: Search | None = None

    @classmethod
    def of(
        cls,
        model: LogLinear,
        cells: OccupiedCells,
        fraction: float,
        zeros: StructuralZeros,
        progress: Progress,
    ) -> "_Chosen":
        """The model asked for, or the one of minimum error."""
        if model.structure not in ("auto", "decomposable"):
            generators = _generators(model.structure, len(cells.sizes))
            return cls(fit=_given(model, cells, generators, zeros, progress), rule="given")
        search = forward_search(cells, fraction, budget=model.budget, progress=progress)
        found = cls(
            fit=DecomposableFit(search.chosen.graph, cells),
            rule="decomposable model of minimum error",
            search=search,
        )
        return found if model.structure == "decomposable" else found._or_richer(fraction, zeros)

    def _or_richer(self, fraction: float, zeros: StructuralZeros) -> "_Chosen":
        """The same generators without impossible cells, or all two-way terms if nearer to B̂ = 0."""
        assert self.search is not None
        cells, generators = self.fit.cells, self.fit.generators
        try:
            if zeros.boxes:
                most = AUTO_WORK // len(generators)
                refit = fit_by_iteration(cells, generators, impossible=zeros, most_cells=most)
                return replace(self, fit=refit, rule=self.rule + ", impossible cells left out")
            if self.search.chosen.distance <= STUCK:
                return self
            pairs = all_of_order(len(cells.sizes), 2)
            two_way = fit_by_iteration(cells, pairs, most_cells=AUTO_WORK // len(pairs))
        except TableTooLarge:
            return self
        distance = judgement(two_way, fraction).distance
        if not above(self.search.chosen.distance, distance, scale=SAME_DISTANCE):
            return self  # of two keys it is the same model
        return replace(self, fit=two_way, rule="all two-way terms, of minimum error")


def _generators(structure: str | tuple[Keys, ...], n_keys: int) -> tuple[Keys, ...]:
    """The generators asked for; keys in none of them stand alone."""
    if isinstance(structure, str):
        if structure not in STRUCTURES:
            names = ", ".join(["auto", "decomposable", *STRUCTURES])
            raise InputError(must_be("structure", f"generators or among {names}", repr(structure)))
        return all_of_order(n_keys, STRUCTURES[structure])
    groups = [tuple(sorted(set(group))) for group in structure]
    if any(not 0 <= key < n_keys for group in groups for key in group):
        rule = f"groups of key positions from 0 to {n_keys - 1}"
        raise InputError(must_be("structure", rule, structure))
    named = {key for group in groups for key in group}
    return (*groups, *((key,) for key in range(n_keys) if key not in named))


def _given(
    model: LogLinear,
    cells: OccupiedCells,
    generators: tuple[Keys, ...],
    zeros: StructuralZeros,
    progress: Progress,
) -> Fit:
    """A fit in closed form where there is one and nothing forbids it, else by iteration."""
    if not 0 <= model.smoothing <= 1:
        raise InputError(must_be("smoothing", "from 0 to 1", model.smoothing))
    graph = Graph.of_generators(len(cells.sizes), generators)
    if model.smoothing == 0 and not zeros.boxes and _is_graphical(graph, generators):
        return DecomposableFit(graph, cells)
    try:
        return fit_by_iteration(
            cells,
            generators,
            impossible=zeros,
            smoothing=model.smoothing,
            most_cells=MOST_CELLS,
            progress=progress,
        )
    except TableTooLarge as reason:
        raise ModelUnavailable(f"this model does not fit in memory: {reason}") from None


def _is_graphical(graph: Graph, generators: Iterable[Keys]) -> bool:
    """Whether the generators are the cliques of a decomposable graph."""
    try:
        cliques = set(graph.cliques)
    except GraphNotDecomposable:
        return False
    largest = {g for g in generators if not any(set(g) < set(h) for h in generators)}
    return largest == cliques


def _fitted(
    chosen: _Chosen,
    fraction: float,
    weight_scale: float | None,
    summary: Summary,
    zeros: StructuralZeros,
) -> FittedLogLinear:
    """The fitted model with its judgement and the parts of its error."""
    fit, cells = chosen.fit, chosen.fit.cells
    unseen = unseen_in_cells(
        fit.sample_mean, cells.sample_count, cells.weight_total, fraction, weight_scale
    )
    ratio = np.divide(unseen, fit.sample_mean, out=np.zeros(len(unseen)), where=fit.sample_mean > 0)
    slopes = _slopes(cells, unseen)
    choice = _choice_variances(chosen, ratio)
    uniques, matches = (
        ErrorParts(estimation=fit.estimation_variance(slope), choice=spread)
        for slope, spread in zip(slopes, choice, strict=True)
    )
    search = chosen.search
    return FittedLogLinear(
        fit=fit,
        rule=chosen.rule,
        models_tried=len(search.tried) if search else 1,
        search_complete=search.complete if search else True,
        sampling_fraction=fraction,
        weight_scale=weight_scale,
        judgement=judgement(fit, fraction),
        uniques_error=uniques,
        matches_error=matches,
        zeros_ignored=bool(zeros.boxes) and isinstance(fit, DecomposableFit),
        population_size_known=summary.population_size_known,
    )


def _slopes(cells: OccupiedCells, unseen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By how much each cell's part of τ₁ and τ₂ grows with log μ."""
    f = cells.sample_count
    uniques = np.where(f == 1, -unseen * chance_alone(unseen), 0.0)
    return uniques, f * unseen * reciprocal_slope(f, unseen)


def _choice_variances(chosen: _Chosen, ratio: FloatArray) -> tuple[float, float]:
    """Variance of τ₁ and τ₂ between the chosen model and others that fit as well.

    `ratio` is m/μ of each occupied cell.
    """
    if chosen.search is None:
        return 0.0, 0.0
    cells = chosen.fit.cells
    alone = cells.sample_count == 1
    rivals = [DecomposableFit(r.graph, cells) for r in chosen.search.rivals(RIVALS)]
    unseen = [ratio * fit.sample_mean for fit in (chosen.fit, *rivals)]
    uniques = [float(chance_alone(m[alone]).sum()) for m in unseen]
    f = cells.sample_count
    matches = [float((f * reciprocal_mean(f, m)).sum()) for m in unseen]
    return _spread(uniques), _spread(matches)


def _spread(figures: Sequence[float]) -> float:
    """Mean square distance of the others from the first figure."""
    others = np.array(figures[1:]) - figures[0]
    return float(np.mean(others**2)) if len(others) else 0.0
