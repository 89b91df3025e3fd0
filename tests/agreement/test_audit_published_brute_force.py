"""What an audit of published tables says, against every table that fits, each weighed.

An atom of k combinations of parts has the weight kˣ/x! for x persons: whoever holds all combinations
equally probable for a person gives tables these probabilities (multinomial).
"""

from collections import Counter
from itertools import combinations, product
from math import factorial, prod

import numpy as np
import pytest
from tests.oracles.published_worlds import ONLY_F, OPEN_SEX, PAIRS, made, small_worlds

from discreet.data.table import Table
from discreet.figures import Unavailable
from discreet.flows.audit_published import audit_published
from discreet.policy.policy import Policy
from discreet.policy.table_rules import Groups
from discreet.tables.linked.shared_levels import shared_levels

KNOWN = tuple(pair for pair in PAIRS if OPEN_SEX not in pair and ONLY_F not in pair)
FEW = list(small_worlds(range(22), pairs=KNOWN))
MANY = [
    pytest.param(seed, marks=pytest.mark.soak) for seed in small_worlds(range(22, 400), pairs=KNOWN)
]
SEEDS = [*FEW, *MANY]
GROUPS = Policy(name="groups", rules=(Groups(),))


def audited(seed):
    world = made(seed, pairs=KNOWN)
    levels = [one.levels for one in world.variables]
    table = Table.of_dense(world.hidden.reshape(world.sizes), world.names, levels)
    found = audit_published(
        table, world.sources, seconds=None, small=2, policy=GROUPS, **world.keywords
    )
    return world, found


def weighed(world):
    """The different tables of atoms with their probabilities, and the true one."""
    atoms = world.atoms()
    tables = world.tables()
    by_atom = np.unique(np.stack([tables[:, own].sum(axis=1) for own in atoms], axis=1), axis=0)
    size = [float(world.n_parts(own)) for own in atoms]
    weights = np.array(
        [prod(k**x / factorial(x) for x, k in zip(t, size, strict=True)) for t in by_atom.tolist()]
    )
    truth = np.array([world.count(own) for own in atoms])
    return by_atom, weights / weights.sum(), truth


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_number_and_what_is_believed(seed):
    world, found = audited(seed)
    tables = world.tables()
    for one in found.cells:
        sums = tables[:, sorted(world.cells_called(one.cell))].sum(axis=1)
        assert (sums.min(), sums.max()) == (one.lower, one.upper)
    by_atom, chances, truth = weighed(world)
    assert found.n_tables.value == len(by_atom)
    small = np.flatnonzero((truth >= 1) & (truth <= 2))
    assert found.n_small == len(small)
    share = found.measures.small_cells_identified
    if not len(small):
        assert isinstance(share, Unavailable)
        return
    right = []
    for atom in small:
        own = Counter()
        for count, chance in zip(by_atom[:, atom].tolist(), chances, strict=True):
            own[count] += chance
        right.append(own[int(truth[atom])])
    assert share.value == pytest.approx(np.mean(np.array(right) > 0.5 + 1e-9))
    assert found.measures.expected_identified.value == pytest.approx(sum(right), abs=1e-6)
    true_table = chances[(by_atom == truth).all(axis=1)].sum()
    assert found.measures.true_table.value == pytest.approx(true_table, abs=1e-6)
    widths = by_atom.max(axis=0) - by_atom.min(axis=0)
    unions = [one.upper - one.lower for one in found.unions]
    assert found.tightness.value == -min([*widths[small], *unions])


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_that_share_a_level_do_so_in_every_table(seed):
    world, found = audited(seed)
    own = found.linked
    if own.exact is None:
        return
    listed = {
        (tuple(sorted(one.cell.items())), one.name, one.part)
        for one in shared_levels(own.universe, own.exact, [])
    }
    assert listed == shared_in_all(world, own.universe.domains)


def shared_in_all(world, domains):
    """Groups with somebody in them, all of one part, in every table; none within another."""
    tables = world.tables()
    whole = {domain.name for domain in domains if domain.size == 1}

    def persons(cell):
        named = {name: part for name, part in cell.items() if name not in whole}
        return tables[:, sorted(world.cells_called(named))].sum(axis=1)

    found = set()
    for domain in domains:
        others = [one for one in domains if one is not domain]
        listed = []
        for cell in cells_by(others):
            if domain.size == 1 or any(one.items() <= cell.items() for one in listed):
                continue
            some = [p for p in domain.parts if persons(cell | {domain.name: p}).any()]
            if len(some) == 1 and persons(cell).all():
                listed.append(cell)
                found.add((tuple(sorted(cell.items())), domain.name, some[0]))
    return found


def cells_by(domains):
    for size in range(1, len(domains) + 1):
        for chosen in combinations(domains, size):
            for parts in product(*(domain.parts for domain in chosen)):
                yield {one.name: part for one, part in zip(chosen, parts, strict=True)}
