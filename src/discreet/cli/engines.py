"""Where the records are counted: DuckDB on this machine, or Spark."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from discreet.cli.grouped import COMPUTED, option
from discreet.errors import must_be

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
TABLE = "table:"
OF_DUCKDB = ("memory", "threads", "keep")


def engine_options(command: Decorated) -> Decorated:
    """The options that say where records are counted, and within what."""
    options = (
        option(
            COMPUTED, "--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb",
            show_default=True, help="What counts the records; the figures are the same.",
        ),
        option(
            COMPUTED, "--master", metavar="URL",
            help="With spark: where it runs, such as spark://host:7077, sc://host or local[4] "
            "[default: all cores of this machine].",
        ),
        option(COMPUTED, "--memory", help="Memory for all of it, such as 8GB [default: 4GB]."),
        option(
            COMPUTED, "--threads", type=click.IntRange(1, 1024),
            help="Threads [default: all cores].",
        ),
        option(
            COMPUTED, "--temporary", type=click.Path(path_type=Path), metavar="FOLDER",
            help="Where what does not fit in memory goes meanwhile; with spark on a cluster a "
            "folder that all machines see [default: that of this system].",
        ),
        option(
            COMPUTED, "--keep", type=click.Path(path_type=Path), metavar="FOLDER",
            help="Keep the coded records and the cells there (confidential), so that a run on the "
            "same file that was stopped goes on from there.",
        ),
    )  # fmt: skip
    for one in reversed(options):
        command = one(command)
    return command


@contextmanager
def engine_of(options: Mapping[str, Any], progress: Any) -> Iterator[Any]:
    """The engine that the options ask for; a Spark that is started for it ends afterwards."""
    check_engine(options)
    if options["engine"] == "duckdb":
        from discreet.engines.duckdb import DuckDBEngine

        yield DuckDBEngine(
            memory=options["memory"],
            threads=options["threads"],
            temporary=options["temporary"],
            keep=options["keep"],
            progress=progress,
        )
        return
    from discreet.engines.spark.engine import SparkEngine
    from discreet.engines.spark.sessions import opened

    with opened(None, options["master"]) as session:
        yield SparkEngine(session=session, temporary=options["temporary"], progress=progress)


def check_engine(options: Mapping[str, Any]) -> None:
    """No option of one engine is given with the other."""
    spark = options["engine"] == "spark"
    if options["master"] is not None and not spark:
        raise click.UsageError(must_be("--master", "given with --engine spark", "it without"))
    for name in OF_DUCKDB if spark else ():
        if options[name] is not None:
            rule = "left out with --engine spark, which has its own settings"
            raise click.UsageError(must_be(f"--{name}", rule, repr(str(options[name]))))
    folder = options["temporary"]
    if folder is not None and not Path(folder).is_dir():
        raise click.UsageError(must_be("--temporary", "a folder that is there", repr(str(folder))))


def source_of(file: str, engine: Any) -> Any:
    """What Spark reads by itself: a table by its name, or Parquet anywhere it can reach; else the
    name of the file."""
    remote = "://" in file
    if not file.startswith(TABLE) and not remote:
        return file
    session = getattr(engine, "session", None)
    if session is None:
        what = "a table of Spark" if not remote else "a file elsewhere"
        got = repr(file)
        raise click.UsageError(must_be(what, "read with --engine spark", got))
    from discreet.engines.spark.tables import file_elsewhere, table_named

    return file_elsewhere(session, file) if remote else table_named(session, file[len(TABLE) :])
