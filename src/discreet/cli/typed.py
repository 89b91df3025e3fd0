"""The command as it was typed, and the files that it names: what a report says of its making."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from discreet.cli.exit_codes import TYPED

INPUTS = (  # parameters that name a file to be read, by their names in the commands
    "file", "counts", "sets", "impossible", "population_file", "trees", "published",
)  # fmt: skip
# What a reader outside may see of a command: names of variables and of methods, and no level, no
# limit, no seed and no path. Every other option is left out.
PUBLIC = ("keys", "release", "variables", "by", "column", "measure", "prior")
LEVELS = set("=|:<>")  # signs of an expression that may name a level


def provenance_of_command() -> Any:
    """Where a report of the running command comes from; without a command (a test) only when."""
    from discreet.report.provenance import provenance, sources_of_files

    context = click.get_current_context(silent=True)
    typed = () if context is None else context.meta.get(TYPED, ())
    if context is None or not typed:
        return provenance()
    return provenance(
        command=shlex.join(("discreet", *typed)),
        public_command=_public(context),
        sources=sources_of_files(list(_files(context.params))),
    )


def _files(params: dict[str, Any]) -> Iterator[Path]:
    """The files behind the parameters that name some; what is no file is no input."""
    from discreet.data.records import files_of

    seen: set[Path] = set()
    for given in _named(params):
        for path in files_of(given):
            if path not in seen:
                seen.add(path)
                yield path


def _named(params: dict[str, Any]) -> Iterator[str]:
    for name in INPUTS:
        value = params.get(name)
        for one in value if isinstance(value, tuple) else (value,):
            given = one[1] if isinstance(one, tuple) else one  # NAME=FILE
            if isinstance(given, str | Path):
                yield str(given) if Path(given).exists() else str(given).split("|")[0].strip()


def _public(context: click.Context) -> str:
    """The command with the options that a reader outside may see."""
    parts = ["discreet", str(context.info_name)]
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name in PUBLIC:
            for value in _values(context.params.get(option.name), multiple=option.multiple):
                parts += [option.opts[0], value]
    return shlex.join(parts)


def _values(given: Any, *, multiple: bool) -> Iterator[str]:
    for one in given or () if multiple else (given,):
        text = ",".join(one) if _is_names(one) else one
        if isinstance(text, str) and not LEVELS & set(text):
            yield text


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str)
        and all(isinstance(name, str) for name in value)
    )
