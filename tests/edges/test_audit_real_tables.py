"""Real tables audited with sets of two-way margins: sane figures that do not depend on the seed.

Counts of R's `Titanic` and `UCBAdmissions`, and of the Czech autoworkers (Edwards and Havránek
1985), all published. Here a part of all sets; within little time, so that a view may be missing
where it says why.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import betabinom, hypergeom

from discreet.data.table import Table
from discreet.figures import How, Unavailable
from discreet.flows.audit import audit
from discreet.tables.audit_options import AuditOptions

TITANIC = Table.of_dense(
    np.array(
        [
            4, 140, 0, 1, 118, 57, 0, 5, 13, 80, 0, 13, 154, 14, 0, 11,
            89, 76, 17, 14, 387, 75, 35, 13, 3, 20, 0, 0, 670, 192, 0, 0,
        ]
    ).reshape(4, 2, 2, 2),
    ["Class", "Sex", "Age", "Survived"],
)  # fmt: skip
BERKELEY = Table.of_dense(
    np.array(
        [
            89, 17, 202, 131, 94, 24, 512, 353, 120, 138, 53, 22,
            19, 8, 391, 244, 299, 317, 313, 207, 205, 279, 138, 351,
        ]
    ).reshape(2, 2, 6),
    ["Admit", "Gender", "Dept"],
)  # fmt: skip
CZECH = Table.of_dense(
    np.array(
        [
            4, 16, 2, 9, 3, 13, 4, 23, 11, 57, 8, 33, 14, 66, 9, 67,
            14, 63, 17, 67, 16, 80, 17, 145, 0, 25, 3, 12, 3, 32, 7, 40,
            4, 7, 5, 7, 2, 7, 1, 12, 13, 73, 11, 80, 14, 70, 21, 112,
            5, 51, 14, 109, 9, 50, 9, 129, 4, 24, 4, 35, 7, 23, 5, 44,
        ]
    ).reshape((2,) * 6),
    ["smoke", "mental", "phys", "systol", "protein", "family"],
)  # fmt: skip
ALL = [list(pairs) for k in (1, 2, 3) for pairs in combinations(combinations(BERKELEY.names, 2), k)]
LONG = pytest.mark.soak
PAIRS = list(combinations(CZECH.names, 2))
TITANIC_SETS = [
    [("Class", "Sex")],
    pytest.param([("Class", "Sex"), ("Age", "Survived")], marks=LONG),
    pytest.param([("Sex", "Age"), ("Sex", "Survived"), ("Age", "Survived")], marks=LONG),
    list(combinations(TITANIC.names, 2)),
]
CZECH_SETS = [
    [("smoke", "mental"), ("phys", "systol"), ("protein", "family")],
    PAIRS,
]


def audited(table, sets, *models, seconds=1.0, seed=1, small=2):
    options = AuditOptions(models=models, seconds=seconds, seed=seed, small=small)
    return audit(table, sets, options)


def assert_sane(found):
    for view in found.views.values():
        if isinstance(view, Unavailable):
            assert len(view.reason) > 20
            continue
        for cell, distribution, errors in zip(
            found.small_cells, view.distributions, view.errors, strict=True
        ):
            assert sum(distribution.values()) == pytest.approx(1, abs=1e-6)
            assert all(cell.lower <= q <= cell.upper for q in distribution)
            assert all(0 < p <= 1 + 1e-9 for p in distribution.values())
            assert set(errors) == set(distribution)
            zero = view.how is How.EXACT or cell.lower == cell.upper
            assert all((error == 0) if zero else (error >= 0) for error in errors.values())


def assert_agree(first, second):
    """Every probability within five of the stated standard errors, whatever the seed."""
    for name, view in first.views.items():
        other = second.views[name]
        if isinstance(view, Unavailable) or isinstance(other, Unavailable):
            continue
        sides = ((view.distributions, view.errors), (other.distributions, other.errors))
        for distributions in zip(*(zip(*side, strict=True) for side in sides), strict=True):
            unseen = [_unseen(distribution, errors) for distribution, errors in distributions]
            for q in {q for distribution, _ in distributions for q in distribution}:
                p = [distribution.get(q, 0.0) for distribution, _ in distributions]
                error = [
                    own[1].get(q, rare) for own, rare in zip(distributions, unseen, strict=True)
                ]
                assert abs(p[0] - p[1]) < 5 * np.hypot(*error) + 1e-9


def _unseen(distribution, errors):
    """What a value not among the draws may have: the rule of succession."""
    worth = [p * (1 - p) / errors[q] ** 2 for q, p in distribution.items() if errors[q] > 0]
    return 1 / (2 + max(worth)) if worth else 0.0


@pytest.mark.parametrize(
    "sets",
    [ALL[0], ALL[3], ALL[6], *(pytest.param(s, marks=LONG) for s in (*ALL[1:3], *ALL[4:6]))],
    ids=len,
)
def test_berkeley(sets):
    every = f"[{' '.join(BERKELEY.names)}]"  # the saturated model, with each variable named
    found = [audited(BERKELEY, sets, "released", every, seed=s, small=12) for s in (1, 2)]
    for one in found:
        assert_sane(one)
        assert len(one.small_cells) == 1
    assert_agree(*found)
    if len(sets) < 3:
        released = found[0].views[next(iter(found[0].views))]
        assert released.how is How.EXACT


@pytest.mark.parametrize("sets", TITANIC_SETS, ids=len)
def test_titanic(sets):
    found = [audited(TITANIC, sets, "released", "saturated", seed=seed) for seed in (1, 2)]
    for one in found:
        assert_sane(one)
    assert_agree(*found)


@pytest.mark.parametrize("sets", CZECH_SETS, ids=len)
def test_czech_autoworkers(sets):
    found = [audited(CZECH, sets, "released", "saturated", seed=seed) for seed in (1, 2)]
    for one in found:
        assert_sane(one)
    assert_agree(*found)


def test_two_margins_within_departments_are_hypergeometric():
    """Admission and gender of each department: one number is hidden, of a known distribution."""
    found = audited(BERKELEY, [("Admit", "Dept"), ("Gender", "Dept")], "released", small=12)
    [distribution] = found.views[
        next(iter(found.views))
    ].distributions  # of 8 women rejected by department B
    women, rejected, everyone = 17 + 8, 8 + 207, 17 + 8 + 353 + 207
    right = hypergeom(everyone, women, rejected)
    for q, p in distribution.items():
        assert p == pytest.approx(right.pmf(q), rel=1e-9, abs=1e-12)


def test_one_margin_leaves_beta_binomial_cells():
    """One of 145 women of the first class is a child who did not survive: one of four cells."""
    every = f"[{' '.join(TITANIC.names)}]"  # names variables that nothing released tells of
    found = audited(TITANIC, [("Class", "Sex")], every, seconds=20.0)
    distribution = found.views["saturated"].distributions[0]
    right = betabinom(145, 0.5, 1.5)
    for q, p in distribution.items():
        assert p == pytest.approx(right.pmf(q), rel=1e-8, abs=1e-12)


def test_the_average_over_models_of_a_large_dense_table():
    """Three pairs of six variables: models are weighed exactly though tables are past counting."""
    found = audited(CZECH, CZECH_SETS[0], "average", seconds=4.0)
    average = found.views["average"]
    assert not isinstance(average, Unavailable)
    known = {
        name: view.evidence
        for name, view in found.views.items()
        if name != "average" and not isinstance(view, Unavailable)
    }
    base = known["[smoke mental][phys systol][protein family]"]
    assert base.log_probability == pytest.approx(log_pairs(), abs=1e-8)
    more = known.get("[smoke mental][smoke phys][phys systol][protein family]")
    if not isinstance(more, Unavailable | None) and more.standard_error == 0:
        assert more.log_probability == pytest.approx(log_pairs() + log_edge(), abs=1e-8)
    weights = [
        view.weight.value
        for view in found.views.values()
        if not isinstance(view, Unavailable) and not isinstance(view.weight, Unavailable)
    ]
    assert sum(weights) == pytest.approx(2)  # those of the models, and of their average


def log_dirichlet_multinomial(counts, each):
    counts, n = np.ravel(counts), np.sum(counts)
    terms = gammaln(counts + each) - gammaln(each) - gammaln(counts + 1)
    total = each * len(counts)
    return terms.sum() + gammaln(n + 1) + gammaln(total) - gammaln(n + total)


def log_pairs():
    """Three pairs that are independent: each margin is Dirichlet–multinomial, 16 cells an entry."""
    table = CZECH.dense()
    sums = [table.sum(axis=rest) for rest in ((2, 3, 4, 5), (0, 1, 4, 5), (0, 1, 2, 3))]
    return sum(log_dirichlet_multinomial(own, 8.0) for own in sums)


def log_edge():
    """What smoke × phys, hidden but for its own two margins, adds to that."""
    table = CZECH.dense()
    rows, columns = table.sum(axis=(1, 2, 3, 4, 5)), table.sum(axis=(0, 1, 3, 4, 5))
    low, high = max(0, rows[0] - columns[1]), min(rows[0], columns[0])
    logs = [
        log_dirichlet_multinomial([x, rows[0] - x, columns[0] - x, rows[1] - columns[0] + x], 8.0)
        for x in range(int(low), int(high) + 1)
    ]
    own = [log_dirichlet_multinomial(side, 16.0) for side in (rows, columns)]
    return float(logsumexp(logs)) - sum(own)
