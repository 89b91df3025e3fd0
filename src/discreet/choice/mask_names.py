"""Masks by name: what a user writes, what a record holds, and the publication made from either.

A mask is written as its name, the sets of variables it is about, and its options:

    margins[race income][gender]      rounding:base=3,random      suppression[a b][a]:small=4,exact
    suppression:decoys=no
    controlled-rounding:base=5        perturbation[a b]:fitted=table,show=[a c]
    imputation[a b]:copies=10         redaction:most=7,base=5,zeros=redacted      statistics
    cell-key[a b][a]:variance=2,max=5,small=2,keep=0.3      discrete-laplace:epsilon=1,clamp

Sets may be left out where they are given beside; an empty pair of brackets is the total. An option
without a value is switched on. A colon may stand between options in place of a comma.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from discreet.count_tables import statistics_mask
from discreet.data.table import Table
from discreet.errors import InputError, must_be
from discreet.figures import Unavailable
from discreet.masks import (
    cell_key,
    controlled_rounding,
    discrete_laplace,
    margins,
    perturbation,
    redaction,
    rounding,
)
from discreet.masks import suppression as hiding
from discreet.masks.contract import Masked
from discreet.masks.perturbation_table import NoiseRule

Sets = Sequence[Sequence[str]]
Options = Mapping[str, Any]
Make = Callable[[Table, Sets | None, "_Ask"], Masked | Unavailable]

SPELLING = re.compile(
    r"\s*(?P<name>[A-Za-z_-]+)\s*(?P<sets>(?:\[[^\]]*\]\s*)*)(?::(?P<options>.*))?"
)
GROUP = re.compile(r"\[([^\]]*)\]")
WORD = re.compile(r'"([^"]*)"|([^\s,"]+)')
BLANKS = re.compile(r"[\s,]*")
PART = re.compile(r"(?:\[[^\]]*\]|[^,:\[\]])+")
YES, NO = {"yes", "true", "1"}, {"no", "false", "0"}


@dataclass(frozen=True, slots=True)
class MaskSpec:
    """A mask by its name, its sets of variables (None: given beside) and its options."""

    name: str
    sets: tuple[tuple[str, ...], ...] | None = None
    options: Options = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Ask:
    """What is asked of a mask beside its sets: its options, a seed, and how long it may take."""

    options: Options
    seed: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class _Kind:
    """A mask: how its options are read, which of them it needs, and how it is made."""

    options: Mapping[str, type]
    make: Make
    needs: tuple[str, ...] = ()


def parse_mask(text: str) -> MaskSpec:
    """The mask that a text names.

    Raises InputError for names, options and values that do not exist, naming the nearest one.
    """
    match = SPELLING.fullmatch(text)
    if match is None:
        rule = "a name, sets in brackets, a colon and options, as in 'rounding[a b]:base=3,random'"
        raise InputError(must_be("mask", rule, repr(text)))
    name = match["name"].replace("_", "-").lower()
    kind = _kind(name)
    options: dict[str, Any] = {}
    for part in _parts(match["options"] or ""):
        key, value = _option(part, name, kind)
        if key in options:
            raise InputError(must_be(key, "given once", "twice", where=f"mask {name}"))
        options[key] = value
    _check_needs(name, kind, options)
    return MaskSpec(name, parse_sets(match["sets"]) if match["sets"] else None, options)


def parse_sets(text: str) -> tuple[tuple[str, ...], ...]:
    """Sets of variables from `[a b][b c]`; names with blanks or commas go in double quotes."""
    if GROUP.sub("", text).strip() or not GROUP.search(text):
        raise InputError(must_be("sets", "in brackets, as in [a b][b c]", repr(text)))
    return tuple(_words(group) for group in GROUP.findall(text))


def _words(group: str) -> tuple[str, ...]:
    """The names in a pair of brackets."""
    if not BLANKS.fullmatch(WORD.sub("", group)):
        raise InputError(must_be("sets", "names with their quotes closed", repr(f"[{group}]")))
    return tuple(quoted or plain for quoted, plain in WORD.findall(group))


def mask_table(
    spec: str | MaskSpec,
    table: Table,
    sets: Sets | None = None,
    *,
    seed: int | None = None,
    seconds: float | None = None,
) -> Masked | Unavailable:
    """What a mask makes of a table, or why it makes nothing.

    The sets of the mask itself come before those given beside. What a mask does at random needs a
    seed, and the same seed always gives the same publication; one that goes out must be secret
    (`fresh_seed`). `seconds` limit the search for a pattern and the drawing of tables, which then
    make nothing rather than something else.
    """
    chosen = parse_mask(spec) if isinstance(spec, str) else spec
    kind = _kind(chosen.name)
    _check_needs(chosen.name, kind, chosen.options)
    for option, value in chosen.options.items():
        _check_option(option, chosen.name, kind)
        _check_value(option, value, kind.options[option])
    own = chosen.sets if chosen.sets is not None else sets
    return kind.make(table, own, _Ask(chosen.options, seed, seconds))


def fresh_seed() -> int:
    """A seed that nobody can guess, small enough that every reader of JSON keeps all its digits."""
    return secrets.randbelow(2**53)


def make_again(record: Mapping[str, Any], table: Table) -> Masked | Unavailable:
    """The publication that a record (`Masked.record`) describes, made anew from the same table.

    Checked: the record names a mask and options of it. Trusted: the table is that of the record.
    """
    if not isinstance(record, Mapping):
        raise InputError(must_be("record", "one of a mask", type(record).__name__))
    for key in ("mask", "parameters", "seed"):
        if key not in record:
            raise InputError(must_be("record", "one of a mask", f"none of its {key}"))
    if not isinstance(record["parameters"], Mapping):
        raise InputError(must_be("record", "one of a mask", "parameters without names"))
    options = dict(record["parameters"])
    if record["mask"] == hiding.NAME:
        options.setdefault("decoys", False)  # a record from before there were any
    sets = _recorded_sets("sets", options.pop("sets", None))
    if "show" in options:
        options["show"] = _recorded_sets("show", options["show"])
    return mask_table(MaskSpec(record["mask"], sets, options), table, seed=record["seed"])


def _recorded_sets(name: str, given: Any) -> tuple[tuple[str, ...], ...] | None:
    """Sets of variables as JSON holds them."""
    if given is None:
        return None
    if not _is_list(given) or not all(_is_list(group) for group in given):
        raise InputError(must_be(name, "lists of names of variables", "another"))
    return tuple(tuple(group) for group in given)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _kind(name: str) -> _Kind:
    if not isinstance(name, str):
        raise InputError(must_be("mask", f"one of {', '.join(KINDS)}", type(name).__name__))
    if name not in KINDS:
        near = get_close_matches(name, KINDS, n=1)
        remedy = f"did you mean {near[0]!r}?" if near else None
        raise InputError(must_be("mask", f"one of {', '.join(KINDS)}", repr(name), remedy=remedy))
    return KINDS[name]


def _parts(text: str) -> list[str]:
    """Options between commas or colons that are not in brackets."""
    if re.sub("[,:]", "", PART.sub("", text)):
        raise InputError(must_be("options", "with their brackets closed", repr(text)))
    return [part.strip() for part in PART.findall(text) if part.strip()]


def _option(part: str, name: str, kind: _Kind) -> tuple[str, Any]:
    key, equals, value = part.partition("=")
    key = key.strip().replace("-", "_").lower()
    _check_option(key, name, kind)
    if not equals and kind.options[key] is not bool:
        raise InputError(must_be(key, "given a value", "none", where=f"mask {name}"))
    return key, _read(key, kind.options[key], value.strip() if equals else "yes")


def _check_option(key: str, name: str, kind: _Kind) -> None:
    if key in kind.options:
        return
    near = get_close_matches(key, kind.options, n=1)
    remedy = f"did you mean {near[0]!r}?" if near else None
    rule = f"one of {', '.join(kind.options)}" if kind.options else "left out"
    raise InputError(must_be(f"options of {name}", rule, repr(key), remedy=remedy))


def _check_value(key: str, value: Any, wanted: type) -> None:
    """An option that was not read from a text is of its kind; its range is the mask's to check."""
    if value is None or wanted is tuple:
        return
    if wanted is bool and not isinstance(value, bool | np.bool_):
        raise InputError(must_be(key, "yes or no", repr(value)))
    if wanted is str and not isinstance(value, str):
        raise InputError(must_be(key, "a word", repr(value)))
    numbers: tuple[type, ...] = (int, np.integer)
    if wanted is float:
        numbers = (int, float, np.integer, np.floating)
    if wanted in (int, float) and (isinstance(value, bool) or not isinstance(value, numbers)):
        kind = "a whole number" if wanted is int else "a number"
        raise InputError(must_be(key, kind, repr(value)))


def _check_needs(name: str, kind: _Kind, options: Options) -> None:
    for key in kind.needs:
        if key not in options:
            raise InputError(must_be(f"mask {name}", f"given {key}=…", "none"))


def _read(key: str, wanted: type, text: str) -> Any:
    """An option's value from its text."""
    if wanted is bool:
        if text.lower() not in YES | NO:
            raise InputError(must_be(key, "yes or no", repr(text)))
        return text.lower() in YES
    if wanted is tuple:
        return parse_sets(text)
    try:
        return wanted(text)
    except ValueError:
        kind = "a whole number" if wanted is int else "a number"
        raise InputError(must_be(key, kind, repr(text))) from None


def seeded(name: str, seed: int | None) -> int:
    if seed is None:
        raise InputError(must_be("seed", f"given for {name}, which draws at random", "none"))
    return seed


def _margins(table: Table, sets: Sets | None, ask: _Ask) -> Masked:
    if sets is None:
        raise InputError(must_be("sets", "given for margins", "none"))
    return margins.release_margins(table, sets)


def _rounding(table: Table, sets: Sets | None, ask: _Ask) -> Masked:
    given = {**ask.options}
    if given.pop("random", False):
        return rounding.round_at_random(
            table, sets=sets, seed=seeded("random rounding", ask.seed), **given
        )
    return rounding.round_conventionally(table, sets=sets, **given)


def _controlled(table: Table, sets: Sets | None, ask: _Ask) -> Masked | Unavailable:
    given = {**ask.options}
    own = seeded("random rounding", ask.seed) if given.pop("random", False) else None
    return controlled_rounding.round_controlled(table, sets=sets, seed=own, **given)


def _suppression(table: Table, sets: Sets | None, ask: _Ask) -> Masked | Unavailable:
    of_search = {
        key: ask.options[key]
        for key in ("least", "guarantee", "exact", "work")
        if key in ask.options
    }
    of_rule = {k: v for k, v in ask.options.items() if k not in of_search and k != "decoys"}
    own = seeded("decoys", ask.seed) if ask.options.get("decoys", True) else None
    seconds = hiding.SEARCH_SECONDS if ask.seconds is None else ask.seconds
    rule = hiding.Rule(**of_rule)
    return hiding.suppress(table, sets, rule=rule, seconds=seconds, seed=own, **of_search)


def _redaction(table: Table, sets: Sets | None, ask: _Ask) -> Masked:
    given = {key: value for key, value in ask.options.items() if key != "total_known"}
    rule, known = redaction.Rule(**given), ask.options.get("total_known", True)
    return redaction.redact(table, rule=rule, sets=sets, total_known=known)


def _perturbation(table: Table, sets: Sets | None, ask: _Ask) -> Masked | Unavailable:
    recipe = perturbation.Recipe(**ask.options)
    own = seeded("perturbation", ask.seed)
    return perturbation.perturb(table, sets or (), seed=own, recipe=recipe, time_limit=ask.seconds)


def _cell_key(table: Table, sets: Sets | None, ask: _Ask) -> Masked:
    given = {**ask.options}
    known = given.pop("total_known", True)
    if "max" in given:
        given["largest"] = given.pop("max")
    rule, own = NoiseRule(**given), seeded("cell keys", ask.seed)
    return cell_key.perturb_by_keys(table, rule=rule, seed=own, sets=sets, total_known=known)


def _laplace(table: Table, sets: Sets | None, ask: _Ask) -> Masked:
    own = seeded("discrete Laplace noise", ask.seed)
    return discrete_laplace.add_laplace(table, seed=own, sets=sets, **ask.options)


def _statistics(table: Table, sets: Sets | None, ask: _Ask) -> Masked:
    return statistics_mask.release_statistics(table, **ask.options)


_DRAWN: Mapping[str, type] = {
    "distribution": str,
    "fitted": str,
    "alpha": float,
    "copies": int,
    "show": tuple,
    "method": str,
}
KINDS: Mapping[str, _Kind] = {
    "margins": _Kind({}, _margins),
    "rounding": _Kind(
        {"base": int, "random": bool, "sums": str, "total_known": bool}, _rounding, ("base",)
    ),
    "controlled-rounding": _Kind(
        {"base": int, "random": bool, "total_known": bool, "work": float}, _controlled, ("base",)
    ),
    "suppression": _Kind(
        {
            "small": int,
            "protect": int,
            "lower": int,
            "upper": int,
            "above_small": bool,
            "zeros": str,
            "rule_known": bool,
            "unions": bool,
            "least": str,
            "guarantee": str,
            "exact": bool,
            "work": float,
            "decoys": bool,
        },
        _suppression,
    ),
    "redaction": _Kind(
        {"most": int, "base": int, "shown": int, "zeros": str, "total_known": bool},
        _redaction,
        ("most",),
    ),
    "perturbation": _Kind(_DRAWN, _perturbation),
    "imputation": _Kind(_DRAWN, _perturbation, ("copies",)),
    "cell-key": _Kind(
        {"variance": float, "max": int, "small": int, "keep": float, "total_known": bool},
        _cell_key,
        ("variance",),
    ),
    "discrete-laplace": _Kind({"epsilon": float, "clamp": bool}, _laplace, ("epsilon",)),
    "statistics": _Kind({"largest_known": bool}, _statistics),
}
