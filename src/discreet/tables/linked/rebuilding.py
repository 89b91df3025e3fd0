"""What can be rebuilt from the tables: of all that they tell of, and of each area by itself."""

import numpy as np

from discreet.clock import Clock
from discreet.errors import InputError, must_be
from discreet.fiber.reconstruction.areas import Area, areas_of
from discreet.fiber.reconstruction.rebuilt import RebuiltTable, rebuilt_table
from discreet.figures import Unavailable
from discreet.progress import Progress
from discreet.tables.linked.reduced import Reduced

MOST_CELLS = 4096  # cells of a table that is rebuilt as a whole
SHARE = 0.5  # of the time that is left


def rebuilt_of(known: Reduced, clock: Clock, progress: Progress) -> RebuiltTable | Unavailable:
    """Certain records and the greatest distance over all cells, or why they were not sought."""
    if known.n_unlimited:
        return Unavailable("some cells are limited by no figure")
    if len(known.limited) > MOST_CELLS:
        return Unavailable(
            f"the tables tell more than {MOST_CELLS:,} cells apart: ask for it area by area (areas)"
        )
    return rebuilt_table(
        known.system, time_limit=clock.share(SHARE), count=False, progress=progress
    )


def areas_by(known: Reduced, name: str) -> tuple[Area, ...]:
    """The areas that are the parts of a variable, each with what is said of it.

    Cells that the tables do not tell apart by area are an area of their own, named by all of them.
    """
    universe = known.universe
    names = [domain.name for domain in universe.domains]
    if name not in names:
        rule = f"a variable of the tables ({', '.join(names)})"
        raise InputError(must_be("areas", rule, repr(name)))
    if known.n_unlimited:
        rule = "asked for where figures limit every cell"
        raise InputError(must_be("areas", rule, f"{known.n_unlimited:,} without a limit"))
    axis = names.index(name)
    parts = universe.domains[axis].parts
    labels = []
    for atom in range(universe.n_atoms):
        cells = universe.cells_of(np.array([atom]))
        own = np.unique(universe.places(cells)[axis])
        labels.append(" + ".join(parts[i] for i in own.tolist()))
    return areas_of(universe.n_atoms, list(known.statements()), labels)
