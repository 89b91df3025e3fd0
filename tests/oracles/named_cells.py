"""The distribution of one named cell under decomposable margins, without ever building the table.

With the margins of a decomposable set released, and the model they generate (or the multinomial
prior), all ways of matching records are equally probable. Going along the junction tree, the
records that have the cell's levels so far are matched at random, within the level of the separator,
with those that have the next clique's levels:

    x₁ = the first clique's entry,   x_{k+1} | x_k ~ Hypergeometric(n_separator, x_k, n_clique),

and the last x is the cell's count. A cell costs as much as its smallest clique entries allow
values, however many cells the table has.
"""

import numpy as np
from scipy.special import gammaln

from discreet.errors import InputError, must_be
from discreet.fiber.system.decomposable import separator_table
from discreet.fiber.system.margins import Margins
from discreet.numerics.arrays import FloatArray, IntArray
from discreet.numerics.graphs import junction_tree

MOST_VALUES = 20_000  # a cell that may have more values is not a small one


def cell_distribution(margins: Margins, levels: IntArray) -> dict[int, float]:
    """Pr(F(cell) = q) for every possible q, the cell being given by its levels. Exact.

    Checked: the margins are decomposable and every variable is in one. Raises InputError also for a
    cell with more than 20,000 possible values.
    """
    tree = junction_tree(margins.tables)
    covered = {axis for axes in margins.tables for axis in axes}
    if tree is None or covered != set(range(len(margins.sizes))):
        rule = "a decomposable set that covers every variable"
        raise InputError(must_be("margins", rule, "another"))
    entries = [int(margins.tables[c][tuple(levels[list(c)])]) for c in tree.components]
    if min(entries) > MOST_VALUES:
        rule = f"one with at most {MOST_VALUES:,} possible values"
        raise InputError(must_be("cell", rule, f"{min(entries):,}"))
    low, distribution = entries[0], np.ones(1)
    for entry, separator in zip(entries[1:], tree.separators[1:], strict=True):
        total = int(separator_table(margins, separator)[tuple(levels[list(separator)])])
        low, distribution = _matched(low, distribution, entry, total)
    return {low + q: float(p) for q, p in enumerate(distribution) if p > 0}


def _matched(low: int, distribution: FloatArray, entry: int, total: int) -> tuple[int, FloatArray]:
    """The distribution after matching: `distribution` is that of `low`, `low` + 1, … records."""
    held = low + np.arange(len(distribution))
    first = max(0, low + entry - total)
    last = min(int(held[-1]), entry)
    values = np.arange(first, last + 1)
    after: FloatArray = np.zeros(len(values))
    for count, probability in zip(held.tolist(), distribution.tolist(), strict=True):
        if probability > 0:
            after += probability * _hypergeometric(values, total, count, entry)
    return first, after / after.sum()


def _hypergeometric(values: IntArray, total: int, marked: int, drawn: int) -> FloatArray:
    """Pr(x of the `marked` among `drawn` out of `total`) for each x."""
    possible = (values >= max(0, marked + drawn - total)) & (values <= min(marked, drawn))
    x = np.where(possible, values, max(0, marked + drawn - total))
    log_p = _log_choose(marked, x) + _log_choose(total - marked, drawn - x)
    p: FloatArray = np.where(possible, np.exp(log_p - _log_choose(total, drawn)), 0.0)
    return p


def _log_choose(n: int, k: IntArray | int) -> FloatArray:
    found: FloatArray = (
        gammaln(n + 1.0) - gammaln(np.add(k, 1.0)) - gammaln(n - np.asarray(k) + 1.0)
    )
    return found
