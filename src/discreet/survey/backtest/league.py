"""The league: samples drawn from a known population, every model's estimates against the truth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError, must_be
from discreet.figures import Figure, Outcome, Unavailable
from discreet.notebooks import Result
from discreet.numerics.exact_sums import as_float
from discreet.numerics.rounding import above, order_of
from discreet.progress import Progress, silent
from discreet.survey.backtest.options import BacktestOptions
from discreet.survey.backtest.sampling_trial import DrawnSample, PopulationCells, draw_sample
from discreet.survey.headline.recommendation import WeightSum, recommend_cells
from discreet.survey.models.contract import Model
from discreet.survey.models.registry import choose_models
from discreet.survey.scoring import ModelResult, fit_model, scored_by
from discreet.survey.summarising import summarise

RECOMMENDED = "recommended"
FEWEST_COMPARED = 10  # samples of a fraction from which on models are compared
LEAST_COVERAGE = 0.8  # of the intervals of a model that may be preferred


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """What one model said of one sample."""

    uniques: Outcome
    matches: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One sample: its fraction, the truth, and the estimates of every model."""

    fraction: float
    sample_size: int
    sample_uniques: int
    population_uniques: int
    correct_matches: float
    estimates: Mapping[str, Estimates]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one model did at one fraction, for one figure.

    `truth` and `estimate` are means over the samples it could answer (`n_answers` of `n_trials`).
    `error` is the mean distance of estimate and truth over max(truth, 1), `bias` the mean of the
    same with its sign, `coverage` the share of its intervals that hold the truth (None where it
    gives none).
    """

    model: str
    fraction: float
    n_trials: int
    n_answers: int
    truth: float | None
    estimate: float | None
    bias: float | None
    error: float | None
    coverage: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Backtest(Result):
    """The league table of a population. `complete` is False where the user stopped it early."""

    source: str
    keys: tuple[str, ...]
    population_size: int
    population_uniques: int
    n_cells: int
    stratum: str | None
    fractions: tuple[float, ...]
    repeats: int
    seed: int
    trials: tuple[Trial, ...]
    complete: bool

    @property
    def models(self) -> tuple[str, ...]:
        """The models that took part."""
        return tuple(self.trials[0].estimates) if self.trials else ()

    def scores(self, figure: str = "uniques") -> tuple[Score, ...]:
        """Each model at each fraction, for `uniques` or `matches`."""
        return tuple(
            _score(name, fraction, [t for t in self.trials if t.fraction == fraction], figure)
            for fraction in self.fractions
            for name in self.models
            if any(t.fraction == fraction for t in self.trials)
        )

    def better_than_recommended(self) -> str | None:
        """A model to prefer to the recommended estimate on data like these, if there is one.

        It must have answered every sample, as the recommended estimate must, of at least 10 for
        each fraction; its error must be smaller by more than two standard errors of the difference,
        and its intervals must hold the truth four times in five at least.
        """
        names = [name for name, _ in self.ranking()]
        counts = [sum(t.fraction == f for t in self.trials) for f in self.fractions]
        if RECOMMENDED not in names or min(counts) < FEWEST_COMPARED:
            return None
        for name in names[: names.index(RECOMMENDED)]:
            scores = [s for s in self.scores() if s.model == name]
            covers = all(s.coverage is not None and s.coverage >= LEAST_COVERAGE for s in scores)
            gain = np.array(
                [self._error(t, RECOMMENDED) - self._error(t, name) for t in self.trials]
            )
            if covers and gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain)):
                return name
        return None

    def _error(self, trial: Trial, model: str) -> float:
        """How far an estimate of uniques is from the truth, as a share of the truth."""
        figure = trial.estimates[model].uniques
        value = figure.value if isinstance(figure, Figure) and figure.value is not None else 0.0
        return abs(value - trial.population_uniques) / max(trial.population_uniques, 1)

    def ranking(self, figure: str = "uniques") -> tuple[tuple[str, float], ...]:
        """Models that answered every sample, by their error averaged over the fractions."""
        errors: dict[str, list[float]] = {}
        for score in self.scores(figure):
            if score.error is not None and score.n_answers == score.n_trials:
                errors.setdefault(score.model, []).append(score.error)
        whole = max((len(found) for found in errors.values()), default=0)
        means = {m: float(np.mean(found)) for m, found in errors.items() if len(found) == whole}
        ranked = list(means.items())
        return tuple(ranked[i] for i in order_of([-mean for mean in means.values()], scale=1.0))


def league(
    population: PopulationCells, source: str, options: BacktestOptions, progress: Progress = silent
) -> Backtest:
    """Every model on samples of the population; if the user interrupts, on those done so far.

    Each sample costs as much as its models take on its cells.
    """
    for fraction in options.fractions:
        _check_size(fraction, population.size)
    done: list[Trial] = []
    try:
        for trial in _trials(population, options, progress):
            done.append(trial)  # one by one: what is done must survive an interruption
    except KeyboardInterrupt:
        if not done:
            raise
    return Backtest(
        source=source,
        keys=tuple(options.keys),
        population_size=population.size,
        population_uniques=int((population.counts == 1).sum()),
        n_cells=len(population.counts),
        stratum=options.stratum,
        fractions=tuple(options.fractions),
        repeats=options.repeats,
        seed=options.seed,
        trials=tuple(done),
        complete=len(done) == options.repeats * len(options.fractions),
    )


def _trials(
    population: PopulationCells, options: BacktestOptions, progress: Progress
) -> Iterator[Trial]:
    """The samples, repeat by repeat, so that an early stop leaves all fractions with some."""
    models = choose_models(options.models)
    fractions, repeats = options.fractions, options.repeats
    stratum = None if options.stratum is None else list(options.keys).index(options.stratum)
    for repeat in range(repeats):
        for number, fraction in enumerate(fractions):
            done = (repeat * len(fractions) + number) / (repeats * len(fractions))
            progress("drawing samples and asking every model", done)
            rng = np.random.default_rng([options.seed, repeat, number])
            size = round(fraction * population.size)
            drawn = draw_sample(population, size, stratum=stratum, rng=rng)
            yield _trial(drawn, models, fraction, population.size)


def _trial(
    drawn: DrawnSample, models: Sequence[Model], fraction: float, population_size: int
) -> Trial:
    cells = drawn.cells
    summary = summarise(
        cells,
        n_table_cells=cells.coding.n_combinations,
        population_size=population_size,
        weight_total=as_float(cells.fold(WeightSum())) if cells.weighted else None,
        needs=set().union(*(model.needs for model in models)),
    )
    fitted = {model.name: fit_model(model, summary, cells, [], silent) for model in models}
    results, _ = scored_by(cells, models, fitted, keeps=False)
    estimates = {name: _estimates(found) for name, found in results.items()}
    led = recommend_cells(
        cells, population_size=summary.population_size, n_table_cells=summary.n_table_cells
    ).recommended
    uniques, matches = led.expected_population_uniques, led.expected_correct_matches
    return Trial(
        fraction=fraction,
        sample_size=summary.sample_size,
        sample_uniques=summary.size_indices.sample_uniques,
        population_uniques=drawn.population_uniques,
        correct_matches=drawn.correct_matches,
        estimates={RECOMMENDED: Estimates(uniques=uniques, matches=matches)} | estimates,
    )


def _estimates(found: ModelResult | Unavailable) -> Estimates:
    if isinstance(found, Unavailable):
        return Estimates(uniques=found, matches=found)
    return Estimates(
        uniques=found.expected_population_uniques, matches=found.expected_correct_matches
    )


def _score(model: str, fraction: float, trials: Sequence[Trial], figure: str) -> Score:
    answers, reason = [], None
    for trial in trials:
        outcome = getattr(trial.estimates[model], figure)
        truth = trial.population_uniques if figure == "uniques" else trial.correct_matches
        if isinstance(outcome, Figure) and outcome.value is not None:
            answers.append((float(truth), outcome))
        else:
            reason = outcome.reason if isinstance(outcome, Unavailable) else "gives limits only"
    truths = np.array([truth for truth, _ in answers])
    values = np.array([float(outcome.value or 0) for _, outcome in answers])
    off = (values - truths) / np.maximum(truths, 1)
    holds = [
        not above(o.low, t, scale=1.0) and not above(t, o.high, scale=1.0)
        for t, o in answers
        if o.low is not None and o.high is not None
    ]
    return Score(
        model=model,
        fraction=fraction,
        n_trials=len(trials),
        n_answers=len(answers),
        truth=float(truths.mean()) if answers else None,
        estimate=float(values.mean()) if answers else None,
        bias=float(off.mean()) if answers else None,
        error=float(np.abs(off).mean()) if answers else None,
        coverage=float(np.mean(holds)) if holds else None,
        reason=reason,
    )


def _check_size(fraction: float, population_size: int) -> None:
    if round(fraction * population_size) < 1:
        rule = f"large enough for a sample of the {population_size:,} persons"
        raise InputError(must_be("fractions", rule, fraction))
