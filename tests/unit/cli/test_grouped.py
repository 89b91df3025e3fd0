"""The help of every command: groups in plain words, each option once, names as in Python."""

import inspect
from collections.abc import Callable

import click
import pytest

import discreet as library
from discreet.cli import cli
from discreet.cli.grouped import COMPUTED, KNOWN, OUTPUT, READING, Command, Option, option

FLOWS: dict[str, Callable[..., object]] = {  # the one function of the library behind each command
    "assess": library.assess,
    "attack": library.attack,
    "audit": library.audit,
    "choose": library.choose,
    "counts": library.counts,
    "backtest": library.backtest,
    "plan": library.plan,
}
MORE = {"audit": library.audit_published}  # the function behind some of its options
EDGE = {  # what only the command line has
    "as_json", "report", "external_report", "write", "format", "sequence", "memory", "threads", "master",
    "temporary", "keep", "delimiter",
    "quote", "encoding", "decimal", "full", "help",
}  # fmt: skip


def command(name):
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def options(name):
    return [one for one in command(name).params if isinstance(one, click.Option)]


@pytest.mark.parametrize("name", FLOWS)
def test_flags_have_the_names_of_keywords(name):
    known = set(inspect.signature(FLOWS[name]).parameters)
    known |= set(inspect.signature(MORE.get(name, FLOWS[name])).parameters)
    for one in options(name):
        typed = one.opts[0].removeprefix("--").replace("-", "_")
        if one.name not in EDGE:
            assert one.name in known, f"{name} {one.opts[0]}"
            several = "tries" if typed == "try" else f"{typed}s"
            singular = {typed, several} if one.multiple else {typed}
            assert one.name in singular, f"{name} {one.opts[0]} is {one.name}"


@pytest.mark.parametrize("name", FLOWS)
def test_every_option_is_in_a_group_and_explained(name):
    for one in options(name):
        assert isinstance(one, Option), one.opts
        assert one.help, one.opts
    text = command(name).get_help(click.Context(command(name), info_name=name))
    assert text.index(KNOWN) < text.index(COMPUTED) < text.index(OUTPUT)
    assert READING in text or name in ("plan", "attack")
    assert "Options:" not in text


def test_other_spellings_are_taken_and_not_shown():
    audit = command("audit")
    text = audit.get_help(click.Context(audit))
    assert "--models" in text
    assert "--posterior" not in text
    given = ["t.csv", "--release", "a", "--posterior", "saturated"]
    assert audit.make_context("audit", given).params["models"] == "saturated"


def test_a_command_without_groups_shows_a_plain_list():
    plain = Command("x", params=[click.Option(["--a"], help="An a.")])
    assert "Options:" in plain.get_help(click.Context(plain))


def test_the_decorator_is_that_of_click():
    @click.command(cls=Command)
    @option(KNOWN, "--size", type=int, help="A size.")
    def sized(size: int) -> None:
        click.echo(size * 2)

    assert "What you know:\n  --size" in sized.get_help(click.Context(sized))
