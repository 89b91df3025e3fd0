"""Whether moves connect a fiber, by a search over all of its points."""

import numpy as np

from discreet.errors import InputError, must_be
from discreet.fiber.draws.moves import ListedMoves, listed
from discreet.fiber.system.linear_system import System
from discreet.figures import Unavailable
from discreet.numerics.arrays import IntArray


def moves_checked(system: System, moves: IntArray, points: IntArray) -> ListedMoves | Unavailable:
    """Moves that a search over all points of a small fiber shows to connect them.

    `points` are all the points of the system, one a row (trusted to be complete; checked to hold).
    """
    if np.any(system.matrix @ moves.T):
        raise InputError(must_be("moves", "free of effect on released figures", "others"))
    numbers = {tuple(point): i for i, point in enumerate(points.tolist())}
    for point in points:
        if not system.holds(point):
            raise InputError(must_be("points", "of the system", "another"))
    reached, waiting = {0}, [0] if len(points) else []
    both = np.concatenate([moves, -moves])
    while waiting:
        near = points[waiting.pop()] + both
        found = {numbers[key] for key in map(tuple, near.tolist()) if key in numbers} - reached
        reached |= found
        waiting += found
    if len(reached) < len(points):
        return Unavailable(f"the moves reach {len(reached)} of {len(points)} tables")
    return listed(moves, f"a search reached all {len(points)} tables")
