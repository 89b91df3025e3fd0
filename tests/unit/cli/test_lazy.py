"""The list of commands is there before their modules are."""

import click
import pytest

from discreet.cli import cli
from discreet.cli.lazy import LazyGroup


def test_help_names_every_command_without_loading_it():
    group = LazyGroup(
        "g", commands={"a": ("no.such.module", "Does a."), "b": ("nor.this", "Does b.")}
    )
    context = click.Context(group)
    assert group.list_commands(context) == ["a", "b"]
    text = group.get_help(context)
    assert "Does a." in text
    assert "Does b." in text


def test_an_unknown_command_is_none():
    group = LazyGroup("g", commands={})
    assert group.get_command(click.Context(group), "x") is None


@pytest.mark.parametrize("name", ["assess", "demo"])
def test_each_command_loads_and_explains_itself(name):
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert "--json" in command.get_help(click.Context(command))


def test_every_listed_command_exists():
    context = click.Context(cli)
    for name in cli.list_commands(context):
        assert cli.get_command(context, name) is not None


def test_a_misspelt_command_is_told_the_one_meant(discreet):
    assert "No such command 'asess'; did you mean 'assess'?" in discreet("asess").complaint()
    assert "--help lists all" in discreet("xx").complaint()
