"""A survey drawn from a population that is known in full, assessed, with the truth beside it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from discreet.data.writing import written_whole
from discreet.errors import OutputError, must_be
from discreet.flows.assess import assess
from discreet.progress import Progress, silent
from discreet.survey.assessment import Assessment
from discreet.synthetic.population import census_population
from discreet.synthetic.survey import Truth, draw_survey, true_risks

WEIGHT = "weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """An assessment of a survey, and what only the maker of the population can know."""

    assessment: Assessment
    truth: Truth
    population_size: int
    seed: int
    survey: Path
    risks: Path


def demonstrate(
    folder: Path, *, size: int, sample: int, seed: int, progress: Progress = silent
) -> Demonstration:
    """Make a population of `size`, draw a survey of about `sample` persons, write it to `folder`
    and assess it by its ten keys and weights. The same seed gives the same survey."""
    _make_folder(folder)
    rng = np.random.default_rng(seed)
    progress("making a population", None)
    population = census_population(size, rng=rng)
    progress("drawing a survey", None)
    survey = draw_survey(population, sample, rng=rng)
    path = folder / "survey.parquet"
    with written_whole(path) as temporary:
        pq.write_table(survey.to_arrow(population), temporary)
    risks = folder / "risks.parquet"
    return Demonstration(
        assessment=assess(path, population.keys, weight=WEIGHT, risks=risks, progress=progress),
        truth=true_risks(population, survey),
        population_size=len(population),
        seed=seed,
        survey=path,
        risks=risks,
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(must_be(f"folder {str(folder)!r}", "writable", error.strerror)) from error
