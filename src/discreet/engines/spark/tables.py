"""Tables that Spark knows by name, and Parquet files where only Spark can reach."""

from dataclasses import replace
from typing import Any

from discreet.data.records import Records, open_records
from discreet.engines.spark.errors import complaints
from discreet.errors import FileError, must_be


def table_named(session: Any, name: str) -> Records:
    """The records of a table; raises FileError where there is none of that name."""
    return _records(lambda: session.table(name), name, "a table that Spark knows")


def file_elsewhere(session: Any, address: str) -> Records:
    """The records of a Parquet file or folder at an address such as s3a://… or hdfs://…"""
    if address.lower().endswith((".csv", ".csv.gz", ".txt")):
        rule = "Parquet where it is read from elsewhere"
        remedy = "write it as Parquet, or read it from a folder"
        raise FileError(must_be(address, rule, "another format", remedy=remedy))
    return _records(lambda: session.read.parquet(address), address, "Parquet that Spark can read")


def _records(read: Any, name: str, rule: str) -> Records:
    try:
        return replace(open_records(read()), name=name)
    except complaints() as error:
        condition = getattr(error, "getCondition", lambda: None)()
        if condition is None:  # Java's own, such as a class for s3a that is not there
            got, remedy = "what it cannot reach", "give Spark what such an address needs"
        else:
            got, remedy = condition.lower().replace("_", " "), None
        raise FileError(must_be(name, rule, got, remedy=remedy)) from error
