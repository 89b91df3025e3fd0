"""Priors and beliefs: what is refused, and what is said where nothing can be computed."""

from types import SimpleNamespace

import numpy as np
import pytest

from discreet.belief import ladder
from discreet.belief.draws import importance_draws
from discreet.belief.factors import Factor
from discreet.belief.intruder_priors import LogLinearPrior, log_weights, prior_named
from discreet.belief.models.generators import HierarchicalModel
from discreet.belief.summed_belief import SummedBelief
from discreet.data.table import Table
from discreet.errors import InputError
from discreet.fiber.system.linear_system import Statement, system_of
from discreet.fiber.system.priors import DirichletMultinomial, ProductForm
from discreet.figures import Unavailable
from discreet.masks.after_publication import intruders_belief, intruders_bounds
from discreet.masks.margins import release_margins
from discreet.masks.rounding import round_at_random

CENSUS = np.array([[[96, 72, 161], [10, 7, 6], [1, 1, 2]], [[186, 127, 51], [11, 7, 3], [0, 1, 0]]])
TABLE = Table.of_dense(CENSUS, names=["gender", "race", "income"])
TWO = [["race", "income"], ["gender", "income"]]


def test_the_census_margins_leave_59400_tables_and_dobras_table_4():
    belief = intruders_belief(release_margins(TABLE, TWO))
    assert len(belief.tables) == 59_400
    distribution = belief.cell(int(np.ravel_multi_index((0, 2, 0), CENSUS.shape)))
    assert distribution[0] == pytest.approx(0.648, abs=5e-4)
    assert distribution[1] == pytest.approx(0.352, abs=5e-4)


def test_the_saturated_model_gives_the_exact_figures_of_dobras_table_2():
    prior = LogLinearPrior(HierarchicalModel.saturated(3), 0.5)
    belief = intruders_belief(release_margins(TABLE, TWO), prior)
    distribution = belief.cell(int(np.ravel_multi_index((0, 2, 1), CENSUS.shape)))
    assert [round(distribution[q], 4) for q in range(3)] == [0.3739, 0.25, 0.3761]


def test_too_many_tables_to_list_are_summed():
    belief = intruders_belief(release_margins(TABLE, [["race", "income"]]))
    assert isinstance(belief, SummedBelief)
    assert belief.cell(6) == pytest.approx({0: 0.5, 1: 0.5})
    with pytest.raises(InputError, match="cell must be from 0 to 17, got 18"):
        belief.cell(18)


def test_rounding_of_the_census_has_an_exact_distribution():
    masked = round_at_random(TABLE, base=3, seed=1)
    belief = intruders_belief(masked, "dirichlet")
    assert isinstance(belief, SummedBelief)
    assert sum(belief.cell(6).values()) == pytest.approx(1)
    assert 0 < belief.probability(CENSUS).value < 1
    bounds = intruders_bounds(masked)
    assert belief.lower.tolist() == bounds.lower.tolist()
    assert belief.upper.tolist() == bounds.upper.tolist()


def test_knowledge_beside_the_publication_narrows_both():
    masked = release_margins(TABLE, TWO)
    cell = int(np.ravel_multi_index((0, 2, 0), CENSUS.shape))
    known = [Statement(cells=np.array([cell]), low=1, high=1, name="a neighbour")]
    assert intruders_belief(masked, also=known).cell(cell) == pytest.approx({1: 1.0})
    bounds = intruders_bounds(masked, cells=np.array([cell]), also=known)
    assert (bounds.lower[0], bounds.upper[0]) == (1, 1)


def test_a_model_without_closed_form_says_so():
    prior = LogLinearPrior(HierarchicalModel.no_highest_interaction(3))
    found = intruders_belief(release_margins(TABLE, TWO), prior)
    assert isinstance(found, Unavailable)
    assert "no closed form" in found.reason
    rounded = round_at_random(TABLE, base=3, seed=1, total_known=False)
    found = intruders_belief(rounded, LogLinearPrior(HierarchicalModel.saturated(3)))
    assert "number of persons" in found.reason


def test_no_budget_is_said():
    found = intruders_belief(release_margins(TABLE, [[]]), most_tables=10, seconds=1e-6)
    assert isinstance(found, Unavailable)
    assert "more than 10 tables" in found.reason


def test_priors_by_name():
    assert prior_named("dirichlet", 3).alpha.tolist() == [0.5] * 3  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="got 'multinomal'; did you mean 'multinomial'"):
        intruders_belief(release_margins(TABLE, TWO), "multinomal")
    short = DirichletMultinomial(np.ones(4))
    with pytest.raises(InputError, match="alpha must be one number for each of the 18 cells"):
        intruders_belief(release_margins(TABLE, TWO), short)


@pytest.mark.parametrize(
    "prior",
    [
        prior_named("multinomial", 3),
        DirichletMultinomial(np.array([0.5, 1.0, 2.0])),
        ProductForm(np.array([0.2, 0.3, 1.5])),
    ],
    ids=lambda prior: prior.name,
)
def test_weights_across_totals_give_each_number_of_persons_the_same_mass(prior):
    tables = np.array(
        [[x, y, n - x - y] for n in (3, 5) for x in range(n + 1) for y in range(n + 1 - x)]
    )
    mass = np.exp(log_weights(prior, tables))
    totals = tables.sum(axis=1)
    assert mass[totals == 3].sum() == pytest.approx(1)
    assert mass[totals == 5].sum() == pytest.approx(1)


def test_one_limit_of_time_is_for_all_ways_together(monkeypatch):
    """Margins alone are not drawn where they cannot be summed: that needs the same sum again."""
    asked = []
    monkeypatch.setattr(
        ladder, "importance_belief", lambda *a, **k: asked.append(k) or Unavailable("no")
    )
    monkeypatch.setattr(ladder, "by_summing", lambda *_: Unavailable("beyond its budget"))
    found = intruders_belief(release_margins(TABLE, [[]]), most_tables=10)
    assert found.reason.endswith("; beyond its budget")
    assert asked == []
    rounded = round_at_random(TABLE, base=3, seed=1, sets=[["gender"], ["race"]])
    intruders_belief(rounded, most_tables=10, seconds=20)
    assert 0 <= asked[0]["seconds"] <= 20


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(InputError, match="seconds must be at least 0"):
        intruders_belief(release_margins(TABLE, TWO), seconds=seconds)


def test_drawing_ends_where_the_kept_tables_would_fill_the_memory(monkeypatch):
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    monkeypatch.setattr(ladder, "by_summing", lambda *_: Unavailable("not tried"))
    table = Table.of_dense(np.array([[2, 1, 0], [1, 3, 4]]))
    masked = round_at_random(table, base=5, seed=1, sets=[["v1", "v2"], ["v1"], ["v2"]])
    monkeypatch.setattr(importance_draws, "ENOUGH", 1e9)
    monkeypatch.setattr(importance_draws, "MOST_KEPT", 60_000)
    belief = intruders_belief(masked, "dirichlet")
    assert 60_000 < belief.tables.size <= 60_000 + 6 * 4096
    assert belief.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("way", ["summed", "drawn"])
def test_what_is_no_table_of_this_size_has_no_probability(way, monkeypatch):
    monkeypatch.setattr(ladder, "by_listing", lambda *_: None)
    if way == "drawn":
        monkeypatch.setattr(ladder, "by_summing", lambda *_: Unavailable("not tried"))
    table = Table.of_dense(np.array([[2, 1, 0], [1, 3, 4]]))
    masked = round_at_random(table, base=3, seed=1, sets=[["v1", "v2"], ["v1"]])
    belief = intruders_belief(masked, "dirichlet")
    for other in (np.array([2, 1]), np.ones(7, np.int64), table.dense() + 0.5):
        with pytest.raises(InputError, match="table must be of whole numbers in 6 cells"):
            belief.probability(other)


def test_priors_of_other_tables_are_refused():
    masked = release_margins(TABLE, TWO)
    with pytest.raises(InputError, match="prior must be a model of 3 variables, got one of 2"):
        intruders_belief(masked, LogLinearPrior(HierarchicalModel.saturated(2)))
    with pytest.raises(InputError, match="alpha must be a number above 0, got -1"):
        LogLinearPrior(HierarchicalModel.saturated(3), -1)
    with pytest.raises(InputError, match="prior must be a name or a prior, got NoneType"):
        intruders_belief(masked, None)


@pytest.mark.parametrize("spans", [(10,) * 6, (100,) * 3, (1000,) * 2])
def test_exactly_a_million_combinations_are_few(spans, monkeypatch):
    limits = [
        Statement(cells=np.array([i]), low=0, high=span - 1, name=f"cell {i}")
        for i, span in enumerate(spans)
    ]
    half = sum(span - 1 for span in spans) // 2
    total = Statement(cells=np.arange(len(spans)), low=half, high=half, name="total")
    system = system_of(len(spans), [*limits, total])
    monkeypatch.setattr(ladder, "listed_fiber", lambda *_, **__: "listed at once")
    monkeypatch.setattr(ladder, "listed_within", lambda *_, **__: "guessed first")
    assert ladder.fiber_within(system, 10, 1.0, np.random.default_rng(0)) == "listed at once"


@pytest.fixture
def evenly_drawn(monkeypatch):
    """A belief by so many draws, whose weights are alike but for rounding."""
    monkeypatch.setattr(
        importance_draws,
        "marginals",
        SimpleNamespace(posterior=lambda *_, **__: SimpleNamespace(log_normaliser=0.0)),
    )

    def found(n, seed):
        def batches(*_, **__):
            yield np.arange(2 * n).reshape(n, 2) % 3
            raise AssertionError("no more draws are needed")

        noise = np.random.default_rng(seed).integers(-3, 4, 5) * 2.0**-52
        told = Factor(
            cells=np.arange(2), low=0, log_probability=np.log(0.3) * (1 + noise), name="sum"
        )
        monkeypatch.setattr(
            importance_draws, "sampler", lambda *_, **__: SimpleNamespace(batches=batches)
        )
        known = [Statement(cells=np.array([i]), low=0, high=2, name="cell") for i in range(2)]
        limits = (np.zeros(2, dtype=np.int64), np.full(2, 2))
        return importance_draws.importance_belief(
            prior_named("uniform", 2), 2, known, (told,), limits, seconds=60.0, progress=print
        )

    return found


@pytest.mark.parametrize("seed", range(5))
def test_what_even_draws_are_good_for_is_a_matter_of_their_number(seed, evenly_drawn, monkeypatch):
    monkeypatch.setattr(importance_draws, "MOST_KEPT", 0)
    assert isinstance(evenly_drawn(399, seed), Unavailable)
    belief = evenly_drawn(400, seed)
    assert 0 < belief.log_normaliser[1] < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_drawing_ends_where_even_draws_are_enough(seed, evenly_drawn, monkeypatch):
    monkeypatch.setattr(importance_draws, "ENOUGH", 400.0)
    assert len(evenly_drawn(400, seed).tables) == 400
