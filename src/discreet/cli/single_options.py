"""A command that refuses an option given twice, where one of the two would be ignored."""

from collections import Counter

import click

from discreet.errors import must_be


class OnceCommand(click.Command):
    """Every option once, unless it may be given several times."""

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
