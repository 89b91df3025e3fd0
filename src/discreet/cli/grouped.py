"""A command whose help shows its options in groups, and which refuses an option given twice."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from discreet.errors import must_be

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
KNOWN, COMPUTED, OUTPUT, READING = (
    "What you know",
    "What to compute",
    "Output",
    "Reading the file",
)
JUDGED = "What may go out"


class Option(click.Option):
    """An option of a group of the help; `also` are other spellings, taken but not shown."""

    def __init__(
        self, declarations: Sequence[str], *, group: str, also: Sequence[str] = (), **more: Any
    ) -> None:
        super().__init__([*declarations, *also], **more)
        self.group = group
        self.also = tuple(also)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        kept, self.opts = self.opts, [name for name in self.opts if name not in self.also]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = kept


def option(group: str, *declarations: str, **more: Any) -> Callable[[Decorated], Decorated]:
    """A decorator like click.option, for an option of that group."""
    return click.option(*declarations, cls=Option, group=group, **more)


class Command(click.Command):
    """Every option once, unless it may be given several times; the help in groups."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for parameter, times in Counter(order).items():
            repeatable = getattr(parameter, "multiple", False) or getattr(
                parameter, "is_flag", False
            )
            if times > 1 and isinstance(parameter, click.Option) and not repeatable:
                rule = "given once"
                raise click.UsageError(must_be(parameter.opts[0], rule, f"it {times} times"), ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        last = OUTPUT if any(isinstance(one, Option) for one in options) else "Options"
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in options:
            record = one.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(one, "group", last), []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)
