"""The command that was typed, once more: for what to type now."""

import shlex
from collections.abc import Collection, Iterator, Sequence

import click

from discreet.cli.exit_codes import TYPED

OUTPUT = (
    "as_json",
    "full",
    "report",
    "external_report",
    "write",
)  # what the next one asks anew
READ_AND_JUDGED = (  # options that audit and choose have in common
    "count", "variables", "persons", "totals", "missing", "sheet", "delimiter", "quote",
    "encoding", "decimal", "small", "confidence", "alpha", "targets", "sure", "nesting",
    "nested", "policy", "max_risk", "measure",
)  # fmt: skip

OF_TABLES = ("published", "trees", "labels")  # those of tables in words


def same_command() -> str:
    """The command as it was typed, without what it was to print and write."""
    return _joined(str(_context().info_name), without=OUTPUT)


def as_choose(variables: Sequence[str] | None = None) -> str:
    """The choice among releases of the same table by the same rules; of those `variables` where
    some of the file's were left out and none were named."""
    typed = {name for name, _ in _parts()}
    named = _joined("choose", only=READ_AND_JUDGED)
    if variables is None or "variables" in typed:
        return named
    return f"{named} {shlex.join(['--variables', ','.join(variables)])}"


def as_choose_tables(releases: Sequence[str]) -> str:
    """The choice among treatments of tables told in words, as one set: what was asked of them as
    they are is left out, and what is published stays."""
    from discreet.masks.layout_notation import parted
    from discreet.tables.linked.rules import rule_of

    typed = {name for name, _ in _parts()}
    command = _joined("choose", only=(*READ_AND_JUDGED, *OF_TABLES))
    own = ((parted(text)[0], rule_of(parted(text)[1])[1]) for text in releases)
    for text in dict.fromkeys(" | ".join([listed, *sections]) for listed, sections in own):
        command += f" {shlex.join(['--tables', text])}"
    return command if typed & {"max_risk", "policy"} else f"{command} --max-risk 0"


def _context() -> click.Context:
    return click.get_current_context()


def _joined(
    command: str, *, only: Collection[str] | None = None, without: Collection[str] = ()
) -> str:
    parts = ["discreet", command]
    for name, tokens in _parts():
        if name is None or (name not in without and (only is None or name in only)):
            parts += tokens
    return shlex.join(parts)


def _parts() -> Iterator[tuple[str | None, list[str]]]:
    """What was typed after the command: each option by its name with its value; None for others."""
    context = _context()
    options = {
        typed: option
        for option in context.command.params
        if isinstance(option, click.Option)
        for typed in (*option.opts, *option.secondary_opts)
    }
    words = iter(context.meta.get(TYPED, ())[1:])
    for word in words:
        typed, sign, value = word.partition("=")
        option = options.get(typed)
        if option is None:
            yield None, [word]
        elif option.is_flag:
            yield option.name, [word]
        else:
            yield option.name, [typed, value if sign else next(words, "")]
