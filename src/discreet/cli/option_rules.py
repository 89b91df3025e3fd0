"""Options of assess that need one another or exclude one another, told before any work is done."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.data.columns import near_match
from discreet.errors import must_be

if TYPE_CHECKING:
    from discreet.data.records import Records

Named = TypeVar("Named")
OF_SENSITIVE = ("l", "c", "t", "alpha", "alpha_k")
OF_ONE_POLICY = (
    "report",
    "external_report",
    "risks",
    "population_file",
    "subsets",
    "shrinkage_table",
    "loss_ratios",
    "all_pairs",
    "headline",
    "max_risk",
    "min_k",
    "policy",
    "roles",
    "carry",
    "tries",
    "original",
    "min_candidates",
    "recipe",
)
OF_CSV = ("delimiter", "quote", "encoding")
TYPED = {"tries": "--try", "trees": "--tree", "loss_ratios": "--loss-ratio", "roles": "--role"}


def typed(name: str) -> str:
    """The option as the user types it."""
    return TYPED.get(name, "--" + name.replace("_", "-"))


def check_together(options: Mapping[str, Any]) -> None:
    """No option is given that would have no effect beside the others."""
    for name in OF_SENSITIVE:
        if _given(options[name]) and not options["sensitive"]:
            _refuse(name, "given with --sensitive")
    for name, _ in options["trees"]:
        known = (*options["sensitive"], *(options["keys"] or ()))
        if name not in known:
            near = near_match(name, known)
            remedy = f"did you mean {near!r}?" if near else None
            _refuse("trees", "that of a sensitive variable or of a key", repr(name), remedy)
    if options["decimal"] is not None and options["weight"] is None:
        _refuse("decimal", "given with --weight")
    if options["missing"] == "all":
        for name in OF_ONE_POLICY:
            if _given(options[name]):
                rule = "left out with --missing all, which compares the main figures of policies"
                _refuse(name, rule, _shown(options[name]), "choose one policy")


def check_csv(
    options: Mapping[str, Any], inputs: "Iterable[Records]", trees: Sequence[Any]
) -> None:
    """Options about CSV files are given where some input is one."""
    opened = list(inputs)
    if trees or any(records.is_csv for records in opened):
        return
    for name in OF_CSV:
        if options[name] is not None:
            _refuse(name, "given with a CSV file", f"the file {opened[0].name!r}")


def by_name(option: str, given: Sequence[tuple[str, Named]]) -> dict[str, Named]:
    """What was given for each name, each name once."""
    found: dict[str, Named] = {}
    for name, value in given:
        if name in found:
            rule = "given once for each name"
            raise click.UsageError(must_be(option, rule, f"{name!r} twice"))
        found[name] = value
    return found


def _given(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _shown(value: Any) -> str:
    """What was given; a flag that was given has no value to show."""
    if value is True:
        return "it"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else repr(str(value))


def _refuse(name: str, rule: str, got: str = "none", remedy: str | None = None) -> None:
    raise click.UsageError(must_be(typed(name), rule, got, remedy=remedy))
