"""What an attack finds in tables of every kind is what all tables that fit agree in.

Parts of the population, trees, words beside bands, levels that no table lists, perturbed and rounded
figures, percentages, means and knowledge; each hidden table is small enough to try every other.
"""

from itertools import combinations, product

import numpy as np
import pytest
from tests.oracles.published_worlds import made, small_worlds

from discreet.flows.attack import attack

FEW = list(small_worlds(range(45)))
MANY = [pytest.param(seed, marks=pytest.mark.soak) for seed in small_worlds(range(45, 600))]


def cells_of(world, one):
    """The hidden cells of a derived figure."""
    own = world.cells_called(one.cell)
    return own.difference(*(world.cells_called(cell) for cell in one.but))


def range_over(tables, cells):
    sums = tables[:, sorted(cells)].sum(axis=1)
    return int(sums.min()), int(sums.max())


@pytest.mark.parametrize("seed", [*FEW, *MANY])
def test_figures_bounds_and_number_are_those_of_all_tables(seed):
    world = made(seed)
    tables = world.tables()
    found = attack(world.sources, seconds=None, **world.keywords)
    assert found.unproved == 0
    for one in found.derived:
        assert range_over(tables, cells_of(world, one)) == (one.lower, one.upper), one
    for one in found.cells:
        assert range_over(tables, world.cells_called(one.cell)) == (one.lower, one.upper), one
    by_atom = np.stack([tables[:, own].sum(axis=1) for own in world.atoms()], axis=1)
    assert found.linked.universe.n_atoms == by_atom.shape[1]
    assert found.n_tables.value == len(np.unique(by_atom, axis=0))
    assert not missed(world, tables, found)


def missed(world, tables, found):
    """Cells of any cross of parts that all tables agree in, and that are no sum of figures that are
    shown or told; what lies in zeros that are printed or told is left out."""
    universe = found.linked.universe
    named = {row: world.cells_called(universe.cell_of(row)) for row in range(universe.n_figures)}
    empty = set().union(*(named[row] for row in np.flatnonzero(universe.high == 0)))
    empty = empty.union(*(cells_of(world, one) for one in found.derived if one.upper == 0))
    known = [named[row] - empty for row in np.flatnonzero(universe.is_shown)]
    known += [cells_of(world, one) - empty for one in found.derived]
    return [
        cell
        for cell in crosses(universe.domains)
        if len(set(range_over(tables, own := world.cells_called(cell)))) == 1
        and not is_sum(own - empty, [one for one in known if one])
    ]


def crosses(domains):
    for size in range(len(domains) + 1):
        for chosen in combinations(domains, size):
            for parts in product(*(domain.parts for domain in chosen)):
                pairs = zip(chosen, parts, strict=True)
                yield {domain.name: part for domain, part in pairs if domain.size > 1}


def is_sum(cells, known):
    """Whether cells are made up of known sets that have none in common."""
    if not cells:
        return True
    first = min(cells)
    return any(first in one and one <= cells and is_sum(cells - one, known) for one in known)
