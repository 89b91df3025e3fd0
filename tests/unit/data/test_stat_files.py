"""Stata, SPSS and SAS files keep their value labels, and missing values stay missing."""

import datetime
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from discreet.data.records import open_records
from discreet.data.stat_files import level_text, read_columns, read_header
from discreet.errors import FileError

FRAME = pd.DataFrame(
    {
        "SEX": [1.0, 2.0, 2.0, np.nan],
        "SIZE": [1.5, 2.0, 2.0, 3.0],
        "TOWN": ["a", "b", "", "b"],
        "BORN": [
            datetime.date(2020, 1, 1),
            None,
            datetime.date(2020, 1, 1),
            datetime.date(2021, 1, 1),
        ],
    }
)
LABELS = {"SEX": {1: "male", 2: "female"}}
WRITERS: dict[str, Any] = {
    "dta": pyreadstat.write_dta,
    "sav": pyreadstat.write_sav,
    "zsav": partial(pyreadstat.write_sav, compress=True),
    "por": pyreadstat.write_por,
    "xpt": pyreadstat.write_xport,
}


def write(path, frame=FRAME, labels=LABELS):
    kind = path.suffix.removeprefix(".")
    keeps = kind in ("dta", "sav", "zsav")
    options = {"variable_value_labels": labels} if keeps else {}
    columns = list(frame) if keeps else [name for name in frame if name != "BORN"]
    WRITERS[kind](frame[columns], path, **options)
    return path


@pytest.mark.parametrize("kind", WRITERS)
def test_values_are_read_and_the_empty_are_missing(tmp_path, kind):
    path = write(tmp_path / f"s.{kind}")
    names, _ = read_header(path)
    assert names[:3] == ("SEX", "SIZE", "TOWN")
    table = read_columns(path, ["TOWN", "SEX", "SIZE"])
    assert table.column_names == ["TOWN", "SEX", "SIZE"]
    assert table.column("SEX").to_pylist() == [1, 2, 2, None]
    assert table.schema.field("SEX").type == pa.int64()
    assert table.column("SIZE").to_pylist() == [1.5, 2.0, 2.0, 3.0]
    assert table.column("TOWN").to_pylist() == ["a", "b", None, "b"]


@pytest.mark.parametrize("kind", ["dta", "sav", "zsav"])
def test_value_labels_are_kept(tmp_path, kind, count):
    path = write(tmp_path / f"s.{kind}")
    assert read_header(path)[1] == {"SEX": {"1": "male", "2": "female"}}
    assert open_records(path).value_labels == {"SEX": {"1": "male", "2": "female"}}
    (key,) = count(path, ["SEX"]).keys
    assert key.values == ("1", "2", None)
    assert key.labels == ("male", "female", "(missing)")
    assert key.n_missing == 1


def test_a_label_for_some_values_leaves_the_others(tmp_path, count):
    path = write(tmp_path / "s.sav", labels={"SIZE": {1.5: "small"}, "TOWN": {"a": "Alpha"}})
    sizes, towns = count(path, ["SIZE", "TOWN"]).keys
    assert sizes.labels == ("small", "2", "3")
    assert towns.labels == ("Alpha", "b", "(missing)")


@pytest.mark.parametrize("kind", ["dta", "sav", "zsav"])
def test_dates(tmp_path, kind, count):
    (key,) = count(write(tmp_path / f"s.{kind}"), ["BORN"]).keys
    assert key.values == ("2020-01-01", "2021-01-01", None)


def test_user_missing_values_of_spss_are_missing(tmp_path, count):
    path = tmp_path / "s.sav"
    frame = pd.DataFrame({"a": [1.0, 9.0, 9.0, 2.0]})
    pyreadstat.write_sav(frame, path, missing_ranges={"a": [9]})
    (key,) = count(path, ["a"]).keys
    assert (key.values, key.n_missing) == (("1", "2", None), 2)


@pytest.mark.parametrize("kind", ["dta", "sav", "xpt"])
def test_numbers_too_large_for_whole_ones(tmp_path, kind, count):
    numbers = [1.0, 1e20, 1e20, 2.0**53 + 2, 1e300, -1e300, np.nan]
    if kind == "xpt":  # its floats end at 7e75
        numbers[4:6] = [1e70, -1e70]
    path = write(tmp_path / f"s.{kind}", pd.DataFrame({"A": numbers}), {})
    (key,) = count(path, ["A"]).keys
    assert len(key.values) == 6
    assert {"1", None} <= set(key.values)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.75])
def test_a_cut_file_is_refused(tmp_path, kind, share):
    path = write(tmp_path / f"s.{kind}")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(
        FileError, match=rf"s.{kind} must be a (readable|whole) .{kind} file, got one that"
    ):
        open_records(path).scan([0])


def test_records_lost_at_the_end_of_a_sas_transport_file_are_noticed(tmp_path):
    frame = pd.DataFrame({"a": np.arange(100.0), "b": np.arange(100.0)})
    path = write(tmp_path / "s.xpt", frame)
    path.write_bytes(path.read_bytes()[:-150])
    with pytest.raises(FileError, match="s.xpt must be"):
        open_records(path).scan([0])


@pytest.mark.parametrize("kind", [*WRITERS, "sas7bdat"])
def test_another_kind_of_file_is_refused(tmp_path, kind):
    path = tmp_path / f"s.{kind}"
    path.write_text("a,b\nsecret,2\n")
    with pytest.raises(
        FileError, match=f"s.{kind} must be a (readable|whole) .{kind} file"
    ) as caught:
        open_records(path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (1, "1"), (-3.0, "-3"), (1.5, "1.5"), ("01", "01"), ("x", "x")],
)
def test_a_value_as_text(value, text):
    assert level_text(value) == text
