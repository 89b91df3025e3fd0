"""Options of one engine are refused with the other."""

import click
import pytest

from discreet.cli.engines import engine_options


@click.command()
@engine_options
def command(**options):
    from discreet.cli.engines import check_engine

    check_engine(options)


@pytest.mark.parametrize(
    ("name", "value"), [("--memory", "2GB"), ("--threads", "3"), ("--keep", "kept")]
)
def test_options_of_duckdb_with_spark_are_told_as_they_were_given(name, value):
    with pytest.raises(click.UsageError) as error:
        command.main(["--engine", "spark", name, value], standalone_mode=False)
    said = f"{name} must be left out with --engine spark, which has its own settings, got '{value}'"
    assert error.value.message == said
