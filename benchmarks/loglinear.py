"""Log-linear models on a survey of a known population: CPU seconds, memory, and the truth.

Six keys make 1,248,520 cells and are fitted with all two-way terms, once as they are (most cells
cannot be occupied) and once with every margin positive, so that all cells take part. Ten keys make
249,704,000 cells and are fitted by the search over decomposable models, as are files of 10,000 and
100,000 records with ten keys of a census, whose population is not known.
"""

import math
import resource
from collections.abc import Sequence
from time import process_time

import numpy as np
import pyarrow.parquet as pq

from benchmarks.comparing import Comparison, NotRun
from benchmarks.contestants import in_process
from benchmarks.data import KEYS, census_file
from discreet.numerics.arrays import IntArray
from discreet.numerics.graphs import bracketed
from discreet.survey.models.loglinear.decomposable import DecomposableFit
from discreet.survey.models.loglinear.fitting import all_of_order, fit_by_iteration
from discreet.survey.models.loglinear.judgement import LogLinearFit, expected_uniques, judgement
from discreet.survey.models.loglinear.occupied_cells import OccupiedCells, gathered_cells
from discreet.survey.models.loglinear.search import forward_search
from discreet.synthetic.population import Population, census_population
from discreet.synthetic.survey import Survey, draw_survey

SDC_MICRO = NotRun(
    name="sdcMicro modRisk, the same terms by IPF (R)",
    why="needs R; seconds of another machine",
    seconds=12.5,
)


def comparisons(_: Sequence[int]) -> list[Comparison]:
    """All two-way terms of 10,000 records × 6 keys."""
    return [
        Comparison(
            title="log-linear model with all two-way terms, 10,000 records × 6 keys",
            contestants=[in_process("discreet, iteration over margins", "loglinear_two_way")],
            not_run=[SDC_MICRO],
        )
    ]


def made_up(scale: float) -> tuple[Population, Survey]:
    """The population and a survey of it, with one record in 200."""
    population = census_population(max(1000, round(2e6 * scale)), rng=np.random.default_rng(1))
    survey = draw_survey(population, max(100, round(1e4 * scale)), rng=np.random.default_rng(2))
    return population, survey


def run(scale: float) -> None:
    """Prints each fit with its time, peak memory of the process so far, and the truth."""
    population, survey = made_up(scale)
    two_way(population, survey, "six keys", smoothing=0.0)
    two_way(population, survey, "six keys, every margin positive", smoothing=0.2)
    decomposable(population, survey)
    for rows in (10_000, 100_000):
        of_file(max(1000, round(rows * scale)))


def counted(
    population: Population, survey: Survey, n_keys: int
) -> tuple[OccupiedCells, float, int]:
    """Cells of the first keys, the sampling fraction, and the true number of population uniques."""
    keys = population.keys[:n_keys]
    sizes = tuple(len(population.labels[key]) for key in keys)
    levels: IntArray = np.stack([population.codes[key].astype(np.int64) for key in keys])
    code = np.ravel_multi_index(tuple(levels), sizes)
    everyone, persons = np.unique(code, return_counts=True)
    sampled, counts = np.unique(code[survey.positions], return_counts=True)
    persons = persons[np.searchsorted(everyone, sampled)]
    decoded = np.stack(np.unravel_index(sampled, sizes), axis=1)
    cells = gathered_cells(sizes, [(decoded, counts, None)])
    return cells, len(survey) / len(population), int(np.count_nonzero(persons == 1))


def two_way(population: Population, survey: Survey, name: str, smoothing: float) -> None:
    """All two-way terms by iteration, their variance and their criterion."""
    cells, fraction, truth = counted(population, survey, 6)
    start = process_time()
    fit = fit_by_iteration(cells, all_of_order(6, 2), smoothing=smoothing)
    seconds = process_time() - start
    told(
        f"{name}, {len(fit.support):,} of {math.prod(cells.sizes):,} cells, {fit.sweeps} rounds",
        seconds,
        fit,
        fraction,
        truth,
    )
    start = process_time()
    alone = cells.sample_count == 1
    unseen = fit.sample_mean * (1 - fraction) / fraction
    error = fit.estimation_variance(np.where(alone, -unseen * np.exp(-unseen), 0.0)) ** 0.5
    print(f"    standard error of the fit {error:.1f} in {process_time() - start:.2f} CPU s")


def decomposable(population: Population, survey: Survey) -> None:
    """The search on all ten keys."""
    cells, fraction, truth = counted(population, survey, 10)
    start = process_time()
    search = forward_search(cells, fraction)
    seconds = process_time() - start
    fit = DecomposableFit(search.chosen.graph, cells)
    name = f"ten keys, {math.prod(cells.sizes):,} cells, {len(search.tried)} models tried"
    told(name, seconds, fit, fraction, truth)
    print(f"    {bracketed(fit.generators, population.keys)}")


def of_file(rows: int) -> None:
    """The search on a census-like file, and how many of its models were judged finely."""
    table = pq.read_table(census_file(rows, "parquet"))
    codes = [table[key].combine_chunks().dictionary_encode() for key in KEYS]
    levels = np.stack([column.indices.to_numpy() for column in codes], axis=1)
    found, counts = np.unique(levels, axis=0, return_counts=True)
    sizes = [len(column.dictionary) for column in codes]
    cells = gathered_cells(sizes, [(found.astype(np.int64), counts, None)])
    start = process_time()
    search = forward_search(cells, rows / float(np.sum(table["weight"].to_numpy())))
    seconds = process_time() - start
    fine = sum(judged.is_fine for judged in search.tried)
    print(
        f"  {rows:,} records, {len(cells):,} of {math.prod(sizes):.2g} cells, "
        f"{len(search.tried)} models tried, {fine} of them finely: {seconds:.2f} CPU s"
    )
    print(f"    {bracketed(search.chosen.graph.cliques, KEYS)}")


def told(name: str, seconds: float, fit: LogLinearFit, fraction: float, truth: int) -> None:
    """One line a fit."""
    judged = judgement(fit, fraction)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  {name}: {seconds:.2f} CPU s, peak {peak:.0f} MiB; "
        f"{expected_uniques(fit, fraction):.0f} population uniques (truth {truth}), "
        f"criterion {judged.uniques.standardised:+.1f}"
    )


if __name__ == "__main__":
    run(1.0)
