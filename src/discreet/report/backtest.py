"""The league on the terminal, as JSON, and as a page with a plot."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.data.writing import written_whole
from discreet.errors import one_line
from discreet.figures import Figure
from discreet.report import words
from discreet.report.html import render
from discreet.report.plots import league_plot
from discreet.report.text import heading, indented, plain_table
from discreet.survey.backtest.league import Backtest, Score

FIGURES = {"uniques": "population uniques", "matches": "correct matches"}
HEADER = ("model", "truth", "estimate", "bias", "error", "covered", "answers")


def print_backtest(console: Console, league: Backtest) -> None:
    """A table for each fraction, and who did best."""
    console.print(Text(one_line(f"Models on samples of {league.source}"), style="bold"))
    console.print(indented(Text("\n".join(scope(league)))))
    for fraction in league.fractions:
        console.print(heading(f"Population uniques, samples of {fraction:.4g} of the population"))
        table = plain_table(*HEADER)
        for score in league.scores():
            if score.fraction == fraction:
                table.add_row(*row(score))
        console.print(indented(table))
    for line in reasons(league):
        console.print(indented(Text(one_line(line), style="dim")))
    console.print(heading("Which model to trust on data like these"))
    for line in verdict(league):
        console.print(indented(Text(line)))


def scope(league: Backtest) -> Iterator[str]:
    """What was tried, in a few lines."""
    yield (
        f"{words.plural(league.population_size, 'person')} taken as the population, "
        f"{words.plural(len(league.keys), 'key')}, "
        f"{words.plural(league.n_cells, 'cell')} occupied, "
        f"{words.plural(league.population_uniques, 'population unique')}"
    )
    how = "drawn simply at random"
    if league.stratum is not None:
        how = f"with as many persons from each level of {one_line(league.stratum)!r}, weighted"
    yield f"{words.plural(len(league.trials), 'sample')} {how}, seed {league.seed}"
    if not league.complete:
        wanted = league.repeats * len(league.fractions)
        yield f"stopped early: {words.count(wanted)} samples were asked for"


def verdict(league: Backtest) -> Iterator[str]:
    """The ranking in words, with what the figures mean."""
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
    yield (
        "Error is the mean distance from the truth, as a share of the truth; bias the same with "
        "its sign; covered the share of intervals that hold the truth (90 % limits of the "
        "recommended estimate, 95 % of the models). Truth and estimate are means over the samples "
        "that the model answered."
    )


def reasons(league: Backtest) -> Iterator[str]:
    """Why some models left samples unanswered, each reason once."""
    told: dict[str, list[str]] = {}
    for score in league.scores():
        if score.reason is not None and score.model not in told.get(score.reason, []):
            told.setdefault(score.reason, []).append(score.model)
    for reason, models in told.items():
        yield f"{', '.join(models)}: {reason}."


def row(score: Score) -> tuple[str, ...]:
    """One line of the table."""
    return (
        score.model,
        "–" if score.truth is None else words.expected(score.truth),
        "–" if score.estimate is None else words.expected(score.estimate),
        "–" if score.bias is None else _percent(score.bias, "+"),
        "–" if score.error is None else _percent(score.error, ""),
        "–" if score.coverage is None else _percent(score.coverage, ""),
        f"{score.n_answers} of {score.n_trials}",
    )


def _percent(value: float, sign: str) -> str:
    return f"{100 * value:{sign},.0f} %"


def backtest_json(league: Backtest) -> dict[str, Any]:
    """The league with every trial."""
    return {
        "population_size": league.population_size,
        "population_uniques": league.population_uniques,
        "n_cells": league.n_cells,
        "keys": list(league.keys),
        "stratum": league.stratum,
        "fractions": list(league.fractions),
        "repeats": league.repeats,
        "seed": league.seed,
        "complete": league.complete,
        "scores": {name: [_score_json(s) for s in league.scores(name)] for name in FIGURES},
        "ranking": {
            name: [{"model": m, "error": e} for m, e in league.ranking(name)] for name in FIGURES
        },
        "trials": [
            {
                "fraction": trial.fraction,
                "sample_size": trial.sample_size,
                "sample_uniques": trial.sample_uniques,
                "population_uniques": trial.population_uniques,
                "correct_matches": trial.correct_matches,
                "estimates": {
                    name: {figure: getattr(given, figure).to_json() for figure in FIGURES}
                    for name, given in trial.estimates.items()
                },
            }
            for trial in league.trials
        ],
    }


def _score_json(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in Score.__dataclass_fields__}


def write_backtest(league: Backtest, path: Path) -> None:
    """A page with the tables and every estimate as a point against the truth."""
    with written_whole(path) as temporary:
        temporary.write_bytes(backtest_html(league).encode("utf-8", errors="backslashreplace"))


def backtest_html(league: Backtest) -> str:
    """The page."""
    return render(
        "backtest.html",
        league=league,
        scope=list(scope(league)),
        verdict=[*verdict(league), *reasons(league)],
        header=HEADER,
        tables=[
            (title, fraction, [row(s) for s in league.scores(figure) if s.fraction == fraction])
            for figure, title in FIGURES.items()
            for fraction in league.fractions
        ],
        plots=[(title, _plot(league, figure)) for figure, title in FIGURES.items()],
    )


def _plot(league: Backtest, figure: str) -> str:
    ratios: dict[str, list[list[float]]] = {}
    for name in league.models:
        ratios[name] = [[] for _ in league.fractions]
        for trial in league.trials:
            given = getattr(trial.estimates[name], figure)
            truth = trial.population_uniques if figure == "uniques" else trial.correct_matches
            if isinstance(given, Figure) and given.value is not None:
                place = league.fractions.index(trial.fraction)
                ratios[name][place].append(given.value / max(truth, 1))
    return league_plot(ratios, [f"{fraction:.4g}" for fraction in league.fractions])
