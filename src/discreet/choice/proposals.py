"""Proposals from masks as a user writes them: a list with commas, or all that make sense."""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from math import ceil, prod
from typing import Any

from discreet.choice.candidates import Proposal
from discreet.choice.mask_names import KINDS, MaskSpec, mask_table, parse_mask
from discreet.choice.measures import Measure
from discreet.choice.nested_suppression import suppressed
from discreet.clock import Clock
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.masks.contract import Masked
from discreet.policy.policy import Policy
from discreet.tables.refused_margin import RiskMeasure
from discreet.tables.ruled_out import ruled_out

MARGINS = "margins"
SEARCHING = ("controlled-rounding", "suppression")
MOST_FIGURES = 300  # of a table with its margins; beyond, these are tried only where all else fails
MAKING_SHARE = 0.25  # of the seconds left, for making any one mask without a search
SEARCH_SHARE = 0.6  # of the seconds left, for all masks together that are made by a search
WORK_SHARE = 0.05  # of the seconds, for a controlled rounding
DRAWN = ("perturbation", "imputation")
FEW_CELLS = 24
DEFAULT = (
    "margins, rounding:base=3, rounding:base=5, rounding:base=3,random, rounding:base=5,random, "
    "rounding:base=10,random, controlled-rounding:base=3, suppression, perturbation"
)


def parse_masks(text: str) -> list[tuple[str, MaskSpec]]:
    """Each mask of a list with commas, as it was written and as it is meant.

    Options of a mask stand between commas too: what is no option belongs to the next mask.
    """
    parts = [part.strip() for part in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text)]
    written: list[str] = []
    for part in filter(None, parts):
        if written and _is_option(part, written[-1]):
            joint = "," if ":" in written[-1] else ":"
            written[-1] += joint + part
        else:
            written.append(part)
    if not written:
        raise InputError(must_be("masks", "at least one", repr(text)))
    if len(set(written)) < len(written):
        twice = next(one for one in written if written.count(one) > 1)
        raise InputError(must_be("masks", "different", f"{twice!r} twice"))
    return [(one, parse_mask(one)) for one in written]


def mask_proposal(
    written: str,
    spec: MaskSpec,
    table: Table,
    out: Sequence[Sequence[str]],
    measure: Measure,
    *,
    max_risk: float,
    seconds: float | None,
    seed: int,
    is_asked: bool,
    nesting: bool = True,
    nested: Sequence[str] = (),
    n_searching: int = 2,
    clock: Clock | None = None,
) -> Proposal:
    """The proposal of one mask; suppression protects what the measure calls small.

    Perturbation without sets of its own keeps the margins that are out; where none is, those of
    every two variables, or of every two neighbours in a table of more than 24 cells. It is made
    within a part of what is left on the `clock` by then; those that are made by a search, of which
    there are `n_searching`, have more than half of it between them.
    """
    sets = spec.sets
    if spec.name in DRAWN and sets is None:
        sets = tuple(tuple(names) for names in out) or _kept(table)
    options = {**_effort(spec.name, seconds), **spec.options}
    if spec.name == "suppression":
        options = {**_protection(measure, max_risk), **options}
    whole = MaskSpec(spec.name, sets, options)
    time = clock or Clock(seconds)
    searches = spec.name in SEARCHING
    share = SEARCH_SHARE / n_searching if searches else MAKING_SHARE

    def make() -> Masked | Unavailable:
        if spec.name == "suppression" and sets is not None:
            involved = {axis for names in (*sets, *out) for axis in table.axes(names)}
            known = ruled_out(table, nesting=nesting, nested=nested)
            return suppressed(whole, table, involved, known, seed, time.share(share))
        return mask_table(whole, table, seed=seed, seconds=time.share(share))

    reserve = "" if is_asked or not searches else _too_many_figures(table)
    return Proposal(written, make, is_asked=is_asked, reserve=reserve)


def _is_option(part: str, mask: str) -> bool:
    """Whether a part between commas is an option of the mask before it."""
    head = re.split(r"[\[:=]", part, maxsplit=1)[0].strip().replace("_", "-").lower()
    if head in KINDS and not re.match(r"[^\[:]*=", part):
        return False
    if re.match(r"[^\[:]*=", part):
        return True
    name = re.split(r"[\[:]", mask, maxsplit=1)[0].strip().replace("_", "-").lower()
    kind = KINDS.get(name)
    return kind is not None and kind.options.get(head.replace("-", "_")) is bool


def default_masks(
    policies: Sequence[Policy] = (), small: int | None = None
) -> list[tuple[str, MaskSpec]]:
    """All masks that make sense, and what policies say must be done to a table.

    Suppression of counts up to what is `small` is the usual one.
    """
    found = parse_masks(DEFAULT)
    usual = MaskSpec("suppression", None, {"small": small})
    for written in (policy.mask for policy in policies if policy.mask):
        spec = parse_mask(written)
        if spec not in (usual, *(own for _, own in found)):
            found.append((written, spec))
    return found


def n_searching(specs: Sequence[tuple[str, MaskSpec]]) -> int:
    """How many of the masks are made by a search."""
    return sum(spec.name in SEARCHING for _, spec in specs)


def _too_many_figures(table: Table) -> str:
    """Why a mask that is made by a long search waits for the others; empty for a small table."""
    figures = prod(size + 1 for size in table.sizes)
    if figures <= MOST_FIGURES:
        return ""
    return (
        f"its search takes long on a table of {figures:,} figures with the margins, and something "
        "else is within the limit; name it among the masks to have it tried"
    )


def _effort(name: str, seconds: float | None) -> dict[str, Any]:
    """The work that a controlled rounding may take, in units of about a second.

    A suppression counts its own work: its seconds are all it needs."""
    if name != "controlled-rounding" or seconds is None:
        return {}
    return {"work": max(1.0, WORK_SHARE * seconds)}


def _kept(table: Table) -> tuple[tuple[str, ...], ...]:
    """Margins that a perturbation keeps: all of two variables, or of neighbours in a larger table,
    which can be drawn from at once."""
    if len(table.names) < 3:
        return tuple((name,) for name in table.names)
    if table.n_cells <= FEW_CELLS:
        return tuple(combinations(table.names, 2))
    return tuple(pairwise(table.names))


def _protection(measure: Measure, max_risk: float) -> dict[str, Any]:
    """What a suppression must protect, and how wide the intervals must be that it leaves."""
    found: dict[str, Any] = {"small": measure.small}
    if measure.kind is RiskMeasure.BOUNDS and max_risk <= -1:
        found["protect"] = ceil(-max_risk)
    return found
