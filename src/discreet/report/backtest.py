"""The league of models on samples of a known population."""

from collections.abc import Iterator
from typing import Any

from discreet.figures import Figure
from discreet.report import words
from discreet.report.document import Block, Document, Plot, Section, Table, Text
from discreet.report.outside import outside_document
from discreet.report.render_json import fields_json, known, of_kind
from discreet.survey.backtest.league import Backtest, Score, Trial

FIGURES = {"uniques": "population uniques", "matches": "correct matches"}
SHORT = 6  # models in the short view
SHORT_HEADER = ("model", "error on\naverage", "largest\nbias", "least\ncovered")
HEADER = ("model", "truth", "estimate", "bias", "error", "covered", "answers")
LEAGUE_FIELDS = (
    "population_size", "population_uniques", "n_cells", "keys", "stratum", "fractions", "repeats",
    "seed", "complete",
)  # fmt: skip
TRIAL_FIELDS = (
    "fraction", "sample_size", "sample_uniques", "population_uniques", "correct_matches",
)  # fmt: skip
MEANING = (
    "Error is the mean distance from the truth, as a share of the truth; bias is the same with its "
    "sign. Covered is the share of intervals that hold the truth (90 % limits of the recommended "
    "estimate, 95 % of the models). Truth and estimate are means over the samples that the model "
    "answered."
)


def backtest_document(league: Backtest) -> Document:
    """Who did best, and a table for each figure and fraction."""
    return Document(
        title=f"Which model to trust on data like {league.source}",
        scope=tuple(scope(league)),
        blocks=(
            Section("The answer", tuple(_answer(league))),
            *(_plot(league, figure, title) for figure, title in FIGURES.items()),
            *(
                _scores(league, figure, fraction)
                for figure in FIGURES
                for fraction in league.fractions
            ),
        ),
    )


def scope(league: Backtest) -> Iterator[str]:
    """What was tried, in a line; how, stands in the full view."""
    yield (
        f"{words.plural(len(league.trials), 'sample')} of "
        f"{words.plural(league.population_size, 'person')}, taken as the population; "
        f"{words.plural(len(league.keys), 'key')}"
    )
    if not league.complete:
        wanted = league.repeats * len(league.fractions)
        yield f"stopped early: {words.plural(wanted, 'sample')} were asked for"


def tried(league: Backtest) -> str:
    """The population, and how samples were drawn from it."""
    how = "drawn simply at random"
    if league.stratum is not None:
        how = f"with as many persons from each level of {league.stratum!r}, weighted"
    return (
        f"{words.plural(league.n_cells, 'cell')} occupied, "
        f"{words.plural(league.population_uniques, 'population unique')}. Samples {how}, seed "
        f"{league.seed}."
    )


def _answer(league: Backtest) -> Iterator[Block]:
    yield from (Text(line, "strong") for line in verdict(league))
    yield Table(header=SHORT_HEADER, rows=tuple(_short_rows(league)), only="terminal")
    yield Text(tried(league), only="detail")
    yield Text(MEANING, "soft", "detail")
    yield from (Text(line, "soft", "detail") for line in reasons(league))


def _short_rows(league: Backtest) -> Iterator[tuple[str, ...]]:
    """The models that answered every sample, best first: error and cover over the fractions."""
    scores = {(one.model, one.fraction): one for one in league.scores()}
    for name, error in league.ranking()[:SHORT]:
        own = [scores[name, fraction] for fraction in league.fractions]
        farthest = max((one.bias or 0.0 for one in own), key=abs)
        covered = min((one.coverage for one in own if one.coverage is not None), default=None)
        yield name, _percent(error), _percent(farthest, "+"), _percent(covered)


def verdict(league: Backtest) -> Iterator[str]:
    """The ranking in words."""
    best = league.ranking()
    if not best:
        yield "No model answered every sample, so none can be named."
        return
    listed = ", ".join(f"{name} {100 * error:.0f} %" for name, error in best[:3])
    yield f"Least error on average over the fractions: {listed}."
    better = league.better_than_recommended()
    if better is not None:
        yield (
            f"On data like these {better} did better than the recommended estimate, by more than "
            f"chance and with intervals that hold; 'discreet assess --headline {better}' leads "
            "with it."
        )


def reasons(league: Backtest) -> Iterator[str]:
    """Why some models left samples unanswered, each reason once."""
    told = ((score.model, score.reason) for score in league.scores() if score.reason is not None)
    for reason, models in words.by_reason(told).items():
        yield f"{', '.join(models)}: {reason}."


def _plot(league: Backtest, figure: str, title: str) -> Section:
    def draw() -> str:
        from discreet.report.plots import league_plot

        return league_plot(_ratios(league, figure), [f"{f:.4g}" for f in league.fractions])

    label = f"Estimates of {title} divided by the truth, by model"
    return Section(
        f"{title.capitalize()}: estimate over truth",
        (
            Plot(title.replace(" ", "-"), label, draw),
            Text("Each point is a sample; 1 is right, 2 is twice too many.", "soft", "page"),
        ),
        half=True,
        only="page",
    )


def _ratios(league: Backtest, figure: str) -> dict[str, list[list[float]]]:
    """Estimate over truth, by model and fraction."""
    ratios: dict[str, list[list[float]]] = {}
    for name in league.models:
        ratios[name] = [[] for _ in league.fractions]
        for trial in league.trials:
            given = getattr(trial.estimates[name], figure)
            truth = trial.population_uniques if figure == "uniques" else trial.correct_matches
            if isinstance(given, Figure) and given.value is not None:
                place = league.fractions.index(trial.fraction)
                ratios[name][place].append(given.value / max(truth, 1))
    return ratios


def _scores(league: Backtest, figure: str, fraction: float) -> Section:
    """A row a model."""
    rows = tuple(row(s) for s in league.scores(figure) if s.fraction == fraction)
    return Section(
        f"{FIGURES[figure].capitalize()}, samples of {fraction:.4g} of the population",
        (Table(header=HEADER, rows=rows),),
        only="detail",
    )


def row(score: Score) -> tuple[str, ...]:
    """One line of the table."""
    return (
        score.model,
        "–" if score.truth is None else words.expected(score.truth),
        "–" if score.estimate is None else words.expected(score.estimate),
        _percent(score.bias, "+"),
        _percent(score.error),
        _percent(score.coverage),
        f"{score.n_answers} of {score.n_trials}",
    )


def _percent(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{100 * value:{sign},.0f} %"


@of_kind("backtest")
def backtest_json(league: Backtest) -> dict[str, Any]:
    """The league with every trial."""
    return fields_json(league, *LEAGUE_FIELDS) | {
        "scores": {name: [_score_json(s) for s in league.scores(name)] for name in FIGURES},
        "ranking": {
            name: [{"model": m, "error": e} for m, e in league.ranking(name)] for name in FIGURES
        },
        "trials": [_trial_json(trial) for trial in league.trials],
    }


def _trial_json(trial: Trial) -> dict[str, Any]:
    given = {name: fields_json(one, *FIGURES) for name, one in trial.estimates.items()}
    return fields_json(trial, *TRIAL_FIELDS) | {"estimates": given}


def _score_json(score: Score) -> dict[str, Any]:
    """A model that answered no sample says why; one that left some says so in a note."""
    told = fields_json(score, *(name for name in Score.__dataclass_fields__ if name != "reason"))
    return told | known(**{"note" if score.n_answers else "unavailable": score.reason})


def external_document(league: Backtest, name: str = "") -> Document:
    """Which models did best, with errors in steps of ten percent."""
    best = league.ranking()[:3]
    said = ", ".join(f"{model} (error about {10 * round(10 * error)} %)" for model, error in best)
    return outside_document(
        "Which model to trust: summary for readers outside",
        name=name or league.source,
        asked=[f"which estimate of risk to trust on data like these, with the keys "
               f"{words.listed(list(league.keys))}"],
        ruling=None,
        estimate=[f"least error on average: {said}" if best else "no model answered every sample"],
    )  # fmt: skip
