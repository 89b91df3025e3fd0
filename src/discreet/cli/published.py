"""What `attack` and `audit` share about published tables, and the audit of such tables."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.cli.grouped import KNOWN, option
from discreet.cli.option_rules import by_name
from discreet.cli.options import NamedFile, Names

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
OF_PUBLISHED = ("trees", "labels", "others", "absent")
TYPED = {"trees": "tree", "labels": "label"}  # options by other names than those of the library
IN_WORDS = re.compile(r"\||:\s*[a-z]+\s*\(|\+\s*total", re.IGNORECASE)
PLAIN = ("policy", "small", "confidence", "max_risk", "seconds", "seed", "knows")
READING = ("variables", "count", "missing", "totals", "persons", "sheet")
# What a plain audit can be asked beside, with what it is where nobody asks.
OTHERS: Mapping[str, Any] = {
    "refused": (), "population": None, "nesting": True, "nested": (), "models": None,
    "model_priors": (), "model_weights": None, "alpha": 0.5, "targets": None, "sure": None,
    "sequence": False, "draws": 2000,
}  # fmt: skip


def published_options(command: Decorated) -> Decorated:
    """--tree, --label, --others, --absent"""
    options = (
        option(
            KNOWN, "--tree", "trees", type=NamedFile(), multiple=True,
            help="Which levels of a variable belong together, one leaf a row from the finest level "
            "to the root: region=regions.csv.",
        ),
        option(
            KNOWN, "--label", "labels", multiple=True, metavar="VAR:A=B",
            help="Another name: 'sex:Female=F' for a level, 'Geschlecht=sex' for a variable; may "
            "be given several times.",
        ),
        option(
            KNOWN, "--others", type=Names(), default=(),
            help="Variables that have levels which no published table lists.",
        ),
        option(
            KNOWN, "--absent", type=click.Choice(["unknown", "zero"]),
            help="What a combination is that a published table does not list [default: unknown].",
        ),
    )  # fmt: skip
    for one in reversed(options):
        command = one(command)
    return command


def given_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """These options as the library takes them."""
    found: dict[str, Any] = {
        "trees": {name: Path(file) for name, file in by_name("--tree", options["trees"]).items()},
        "labels": tuple(options["labels"]),
        "others": tuple(options["others"]),
    }
    return found | ({"absent": options["absent"]} if options["absent"] else {})


def is_of_published(options: Mapping[str, Any]) -> bool:
    """Whether a table is published, or described in words."""
    return bool(options["published"]) or any(map(IN_WORDS.search, options["release"]))


def audit_published(file: str, options: dict[str, Any]) -> Any:
    """Answer; the verdict."""
    from discreet.cli.again import as_choose_tables
    from discreet.cli.console import progress_bar
    from discreet.cli.show import outside, show
    from discreet.cli.table_file import table_of
    from discreet.flows import audit_published as flow
    from discreet.report.attack.audit_document import published_audit_document
    from discreet.report.attack.audit_json import published_audit_json

    _check_together(options)
    named = {name: options[name] for name in PLAIN}
    if options["measure"] is not None:
        named["measure"] = options["measure"]
    with progress_bar() as progress:
        source, table = table_of(file, options, progress)
        found = flow.audit_published(
            table, list(options["published"]), list(options["release"]), progress=progress,
            **named, **given_of(options),
        )  # fmt: skip
    command = as_choose_tables(options["release"]) if options["release"] else ""
    show(
        partial(published_audit_document, found, source, command),
        partial(published_audit_json, found),
        as_json=options["as_json"],
        full=options["full"],
        report=options["report"],
        others=outside(options, found, source),
    )
    return found.verdict


def _check_together(options: Mapping[str, Any]) -> None:
    """No option is given that has no effect on an audit of published tables."""
    for name, usual in OTHERS.items():
        if options[name] != usual:
            typed = {"model_priors": "model-prior"}.get(name, name.replace("_", "-"))
            rule = "left out with --published and with a --release in words"
            raise click.UsageError(f"--{typed} must be {rule}, got it")
    if options["measure"] is not None and options["max_risk"] is None:
        raise click.UsageError("--measure must be given with --max-risk, got none")
