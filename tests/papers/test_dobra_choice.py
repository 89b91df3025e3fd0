"""Sections 3 and 4, Meek's remarks and the reply, on the census table of section 5."""

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.choice.candidates import margin_proposals
from discreet.choice.choice import Decision
from discreet.choice.measures import Measure
from discreet.choice.options import ChooseOptions
from discreet.choice.proposals import mask_proposal, parse_masks
from discreet.choice.risk_utility import risk_utility
from discreet.data.table import Table
from discreet.fiber.system.priors import Multinomial, Uniform
from discreet.figures import How
from discreet.masks.after_publication import intruders_belief
from discreet.masks.margins import release_margins
from discreet.tables.attacks import OneCell, bounds_scenario, cells_scenario, table_scenario
from discreet.tables.disclosure import Always, Discrete, Fixed, Scenario, disclosure_risk
from discreet.tables.refused_margin import RiskMeasure

COUNTS = [96, 72, 161, 10, 7, 6, 1, 1, 2, 186, 127, 51, 11, 7, 3, 0, 1, 0]  # table 1
CENSUS = Table.of_dense(np.array(COUNTS).reshape(2, 3, 3), ["gender", "race", "income"])
TRUTH = CENSUS.dense()
RELEASE = [["race", "income"], ["income", "gender"]]
NAMES = ["[gender race]", "[gender income]", "[race income]"]


@pytest.fixture(scope="module")
def believed():
    masked = release_margins(CENSUS, RELEASE)
    found = {p.name: intruders_belief(masked, p) for p in (Uniform(), Multinomial())}
    assert len(found["uniform"].tables) == 59_400
    return found


def risk(scenario, believed, prior="multinomial"):
    return disclosure_risk(scenario, believed[prior], TRUTH)


def test_example_1_tightness_of_bounds(believed):
    assert risk(bounds_scenario(), believed) == -1


def test_example_2_the_true_table(believed):
    assert risk(table_scenario(), believed, "uniform") == pytest.approx(1 / 59_400)
    logs = -gammaln(believed["multinomial"].tables + 1.0).sum(axis=1)
    own = -gammaln(np.array(COUNTS) + 1.0).sum()
    by_hand = np.exp(own - logs.max()) / np.exp(logs - logs.max()).sum()
    assert risk(table_scenario(), believed) == pytest.approx(by_hand)


def test_example_3_small_cells_found(believed):
    """Table 4: with t* = 1 three of the four counts are inferred; above 1/2 only the count of 2."""
    assert risk(cells_scenario(18, confidence=0.0), believed) == pytest.approx(3 / 4)
    assert risk(cells_scenario(18, confidence=0.5), believed) == pytest.approx(1 / 4)


def test_the_threshold_may_have_a_distribution(believed):
    """Half of the intruders act below an uncertainty of .5, half always: the risks are averaged."""
    attacks = [(1 / 18, OneCell(cell=cell)) for cell in range(18)]
    ends = [
        risk(Scenario(attacks=attacks, threshold=threshold), believed)
        for threshold in (Fixed(0.5), Always())
    ]
    distribution = Discrete((0.5, 1.0), (0.5, 0.5))
    mixed = risk(Scenario(attacks=attacks, threshold=distribution), believed)
    assert ends == pytest.approx([1 / 4, 3 / 4])
    assert mixed == pytest.approx(1 / 2)


def proposals(masks="rounding:base=3,rounding:base=5,random,perturbation"):
    measure = Measure()
    others = [
        mask_proposal(
            written, spec, CENSUS, (), measure,
            max_risk=0.5, seconds=None, seed=1, is_asked=True,
        )
        for written, spec in parse_masks(masks)
    ]  # fmt: skip
    return [*margin_proposals(CENSUS, order=2), *others]


@pytest.fixture(scope="module")
def maps():
    every = proposals()
    return {
        policy: risk_utility(
            CENSUS,
            every,
            ChooseOptions(
                max_risk=cap,
                measure=Measure(kind=policy),
                intruders=("dirichlet", "multinomial"),
            ),
        )
        for policy, cap in (
            (RiskMeasure.CELLS, 0.3),
            (RiskMeasure.TABLE, 0.001),
            (RiskMeasure.BOUNDS, -2.0),
        )
    }


@pytest.mark.parametrize("policy", [RiskMeasure.CELLS, RiskMeasure.TABLE, RiskMeasure.BOUNDS])
def test_the_map_over_all_sets_of_two_way_margins_and_other_masks_is_exact(maps, policy):
    found = maps[policy]
    titles = [one.title for one in found.candidates]
    sets = {"".join(part) for n in (1, 2, 3) for part in combinations(NAMES, n)}
    assert sets <= set(titles)
    assert len(titles) == 1 + 7 + 3
    for one in found.candidates:  # the paper's measure; sums of masked tables may be drawn
        paper = [risk for name, risk in one.risks.items() if not name.startswith("in [")]
        assert paper
        assert all(risk.how is How.EXACT for risk in paper)
    assert found.chosen is not None
    assert found.choice.chosen in found.choice.front


def test_figures_of_the_map(maps):
    cells, table, bounds = (
        {one.title: one for one in maps[policy].candidates}
        for policy in (RiskMeasure.CELLS, RiskMeasure.TABLE, RiskMeasure.BOUNDS)
    )
    two, all_three = "[gender income][race income]", "".join(NAMES)
    assert cells[two].risks["multinomial"].value == pytest.approx(1 / 4)
    assert bounds[two].risks["any"].value == -1
    assert cells[all_three].risks["multinomial"].value == pytest.approx(1)
    belief = intruders_belief(release_margins(CENSUS, RELEASE), Multinomial())
    own = belief.probability(TRUTH).value
    assert table[two].risks["multinomial"].value == pytest.approx(own)
    assert bounds["nothing"].risk.value == -742
    printed = cells[two].risk  # beyond the paper: [race income] has counts of 1 and 2 itself
    assert (printed.value, printed.note) == (1, "prints 3 counts from 1 to 2 in [race income]")


def test_perturbation_within_margins_tells_no_more_than_they_do(maps):
    for policy in (RiskMeasure.CELLS, RiskMeasure.TABLE, RiskMeasure.BOUNDS):
        found = {one.title: one.risk.value for one in maps[policy].candidates}
        perturbed = next(title for title in found if title.startswith("perturbed"))
        assert found[perturbed] == pytest.approx(found["".join(NAMES)])


def test_more_margins_never_have_less_risk_by_bounds(maps):
    risks = {one.title: one.risk.value for one in maps[RiskMeasure.BOUNDS].candidates}
    for n in (1, 2):
        for part in combinations(NAMES, n):
            for more in set(NAMES) - set(part):
                whole = "".join(name for name in NAMES if name in {*part, more})
                assert risks["".join(part)] <= risks[whole]


def test_meek_ties_go_to_the_least_risk():
    """Both sets meet the request; the smaller one is the safer."""
    asked = ChooseOptions(max_risk=1.0, requests=((("gender", "income"), 1.0),))
    found = risk_utility(CENSUS, margin_proposals(CENSUS, order=2), asked)
    assert found.choice.ties
    assert found.chosen.title == "[gender income]"
    least = min(found.candidates[i].risk.value for i in found.choice.ties)
    assert found.chosen.risk.value <= least


def test_meek_and_the_reply_the_empty_case():
    """Nothing within the limit: release no data. What an intruder holds already may exceed it."""
    every = Measure(kind=RiskMeasure.BOUNDS, small=54)  # then each margin of two has a small count
    asked = ChooseOptions(max_risk=-743.0, measure=every)
    found = risk_utility(CENSUS, margin_proposals(CENSUS, order=2), asked)
    assert found.chosen is None
    assert found.choice.decision is Decision.EXCEEDED
    asked = ChooseOptions(max_risk=-742.0, measure=every)
    found = risk_utility(CENSUS, margin_proposals(CENSUS, order=2), asked)
    assert found.chosen.is_nothing
    assert found.choice.decision is Decision.NOTHING


def test_the_command(discreet, tmp_path):
    levels = (("male", "female"), ("White", "Black", "Chinese"), ("low", "middle", "high"))
    cells = [",".join((g, r, i)) for g in levels[0] for r in levels[1] for i in levels[2]]
    lines = [f"{cell},{n}" for cell, n in zip(cells, COUNTS, strict=True)]
    path = tmp_path / "census.csv"
    path.write_text("\n".join(["gender,race,income,n", *lines]) + "\n")
    found = discreet(
        "choose", path, "--count", "n", "--max-risk", "1", "--masks",
        "margins[gender income][race income],margins[gender race][race income]", "--json",
    )  # fmt: skip
    assert found.code == 0, found.err
    chosen = json.loads(found.out)["chosen"]
    assert chosen["title"] == "[gender income][race income]"
    assert chosen["risks"]["multinomial"]["value"] == pytest.approx(1 / 4)
