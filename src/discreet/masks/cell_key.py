"""The cell-key method: noise that belongs to the persons a figure counts, the same in every table.

Every person has a secret key, a uniform number of 64 bits. The key of a figure is the sum of its
persons' keys modulo 2**64; its deviation is read off the perturbation table by that key and the
count. So the same persons have the same figure wherever they are counted, in whatever table of the
same data, and nothing is gained by asking for it twice (Marley and Leaver 2011).

*One key a cell is enough.* A sum of independent uniform keys modulo 2**64 is uniform, and keys of
different persons are independent. So one uniform number is drawn for each occupied cell of the full
table, as the sum of its persons' keys, and the key of any margin is the sum of those of its cells.

*Keys are scrambled before use.* Read off as it is, the key of a total would be the sum of its
cells' keys: any two of them are independent, but all together are not, and the noise of the parts
would tell of the noise of the total. Here a key first goes through BLAKE2b with a secret of its
own, which stands for a function drawn at random: noise of different persons is independent,
whatever other figures are known. (Two sets of persons have one key by chance with probability
2**-64.)

*What an intruder knows:* the perturbation table and how keys work, neither keys nor seed. A figure
says that its count is at most `largest` away, and how probable each count is; see `same_persons`
for figures that may count the same persons. Empty figures are published as 0, as are some others.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from discreet.belief.factors import Factor, product_of
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.fiber.system.linear_system import LARGEST, Statement
from discreet.masks.averaging import averaging_words
from discreet.masks.contract import (
    Axes,
    Masked,
    Parameter,
    PublishedTable,
    checked_counts,
    chosen_sets,
    entry_groups,
    entry_names,
    margin_sum,
    named_sets,
    sets_text,
    total_statement,
)
from discreet.masks.perturbation_table import (
    KeyArray,
    NoiseRule,
    PerturbationTable,
    perturbation_table,
)
from discreet.masks.rounding import Rounded, checked_seed, estimate_from
from discreet.masks.same_persons import SamePersons
from discreet.numerics.arrays import IntArray

NAME = "cell-key"
SECRET_BYTES = 32
MOST_NAMED = 5  # counts whose variance is another
NOT_USED = (
    "Figures that differ count different persons; there are too many pairs of figures for bounds "
    "to use that, so they may be closer than stated."
)


def perturb_by_keys(
    table: Table,
    *,
    rule: NoiseRule,
    seed: int,
    sets: Sequence[Sequence[str]] | None = None,
    total_known: bool = True,
) -> Masked:
    """Each figure of the named tables (the full one where left out) changed by its cell key.

    `total_known` says whether an intruder knows the number of persons, as dobra 4 takes it. The
    same seed gives the same figures, and figures of the same persons are equal in every table.

    Checked: names are variables of the table, and figures can be held exactly.
    """
    chosen, found = chosen_sets(table, sets), perturbation_table(rule)
    counts = _checked_room(table, rule)
    noisy = noisy_tables(counts, chosen, found, seed=checked_seed(seed))
    factors = _factors(table, noisy, found)
    figures = np.concatenate([part.counts.ravel() for part in noisy])
    together = SamePersons(n_cells=table.n_cells, figures=figures, factors=factors)
    known = [_range(factor) for factor in factors] + together.statements()
    if total_known:
        known.append(total_statement(table))
    return Masked(
        mask=NAME,
        title=_title(table, rule, chosen),
        source=table,
        published=tuple(PublishedTable(axes=part.axes, counts=part.counts) for part in noisy),
        known=tuple(known),
        estimate=estimate_from(table, noisy, total_known=total_known),
        effect=_effect(table, found, chosen),
        parameters=_parameters(table, rule, chosen, total_known=total_known),
        seed=int(seed),
        likelihood=product_of(factors) if together.is_product else together,
        factors=factors if together.is_product else None,
        guide=() if together.is_product else factors,
        beyond=NOT_USED if together.pairs is None else "",
    )


def noisy_tables(
    counts: IntArray, sets: Sequence[Axes], table: PerturbationTable, *, seed: int
) -> list[Rounded]:
    """The margins of some counts over each set of axes, with the noise of their keys."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**64, size=counts.shape, dtype=np.uint64)
    keys *= (counts > 0).astype(np.uint64)
    secret = rng.bytes(SECRET_BYTES)
    found = []
    for axes in sets:
        own = margin_sum(counts, axes)
        sums = np.asarray(keys.sum(axis=tuple(i for i in range(keys.ndim) if i not in axes)))
        found.append(Rounded(axes, np.asarray(own + table.deviation(own, scrambled(sums, secret)))))
    return found


def scrambled(keys: KeyArray, secret: bytes) -> KeyArray:
    """Each key through BLAKE2b with a secret: uniform, and independent for different keys."""
    own = partial(hashlib.blake2b, digest_size=8, key=secret)
    found = [
        int.from_bytes(own(key.to_bytes(8, "little")).digest(), "little")
        for key in keys.ravel().tolist()
    ]
    return np.array(found, dtype=np.uint64).reshape(keys.shape)


def _checked_room(table: Table, rule: NoiseRule) -> IntArray:
    """The full table as an array, if figures above their counts can be held exactly too."""
    counts = checked_counts(table)
    if table.total + 2 * rule.largest >= LARGEST:
        raise InputError(must_be("table", "of fewer than 2**53 persons less the noise", "more"))
    return counts


def _factors(
    table: Table, noisy: Sequence[Rounded], found: PerturbationTable
) -> tuple[Factor, ...]:
    """For each figure its probability under every count, taken by itself."""
    factors = []
    for part in noisy:
        groups, names = entry_groups(table, part.axes), entry_names(table, part.axes)
        told = {p: found.log_probability(p) for p in np.unique(part.counts).tolist()}
        for cells, figure, name in zip(groups, part.counts.ravel().tolist(), names, strict=True):
            low, logs = told[figure]
            factors.append(Factor(cells=cells, low=low, log_probability=logs, name=f"noisy {name}"))
    return tuple(factors)


def _range(factor: Factor) -> Statement:
    return Statement(cells=factor.cells, low=factor.low, high=factor.high, name=factor.name)


def _title(table: Table, rule: NoiseRule, sets: Sequence[Axes]) -> str:
    full = len(sets) == 1 and len(sets[0]) == len(table.names)
    part = "" if full else f" {sets_text(table, sets)}"
    small = f", small {rule.small}" if rule.small else ""
    keep = "" if rule.keep is None else f", keep {rule.keep:g}"
    return f"cell-key noise, variance {rule.variance:g}, max {rule.largest}{small}{keep}{part}"


def _effect(table: Table, found: PerturbationTable, sets: Sequence[Axes]) -> str:
    """What was done, in words."""
    rule = found.rule
    words = (
        f"Every figure of {sets_text(table, sets)} is changed by at most {rule.largest}, right on "
        f"average and with variance {rule.variance:g}, by a key of the persons it counts: the same "
        "persons have the same figure in every table. Empty figures stay 0"
    )
    if rule.small:
        words += f", and no figure from 1 to {rule.small} appears"
    if rule.keep is not None:
        words += f"; a count stays as it is with probability {rule.keep:g}"
    words += "." if len(sets) == 1 else "; figures need not add up across tables."
    if found.relaxed:
        words += f" {_relaxed(found)}"
    return words + averaging_words(table.sizes, sets, rule.variance)


def _relaxed(found: PerturbationTable) -> str:
    """Which counts have another variance, and what it is."""
    shown = found.relaxed[:MOST_NAMED]
    listed = ", ".join(f"{count} (variance {found.variances[count]:.3g})" for count in shown)
    more = (
        "" if len(found.relaxed) == len(shown) else f" and {len(found.relaxed) - len(shown)} more"
    )
    what = "Counts" if len(found.relaxed) > 1 else "A count"
    return f"{what} of {listed}{more} cannot have this variance."


def _parameters(
    table: Table, rule: NoiseRule, sets: Sequence[Axes], *, total_known: bool
) -> MappingProxyType[str, Parameter]:
    return MappingProxyType(
        {
            "variance": rule.variance,
            "max": rule.largest,
            "small": rule.small,
            "keep": rule.keep,
            "sets": named_sets(table, sets),
            "total_known": total_known,
        }
    )
