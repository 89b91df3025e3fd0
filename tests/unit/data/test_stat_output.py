"""Stata, SPSS and SAS files come out with their labels, formats and kinds of missing values."""

import datetime
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from discreet.data.records import open_records
from discreet.data.stat_variables import Variable
from discreet.data.stata_writing import write_stata
from discreet.errors import OutputError

LONG = "é" * 1500  # three thousand bytes: too long to stand beside the other values
FRAME = pd.DataFrame(
    {
        "sex": pd.array([1, 2, 1], "int8"),
        "age": pd.array([30, 40, 50], "int16"),
        "pay": np.array([1e6, 2e6, 2_147_483_620], dtype="int32"),
        "share": np.array([0.5, 0.1, np.nan], dtype="float32"),
        "weight": [1.25, np.nan, 2.5],
        "born": pd.to_datetime(["1980-01-02", None, "2000-02-29"]),
        "seen": pd.to_datetime(["1980-01-02 03:04:05", None, "2000-02-29 23:59:59"]),
        "town": ["Köln", "", 'a"b'],
        "none": [np.nan, np.nan, np.nan],
        "story": [LONG, "", "short"],
    }
)
READERS = {
    ".dta": pyreadstat.read_dta,
    ".sav": pyreadstat.read_sav,
    ".zsav": pyreadstat.read_sav,
    ".xpt": pyreadstat.read_xport,
}
SAID = (
    "column_names",
    "column_names_to_labels",
    "file_label",
    "notes",
    "number_rows",
    "original_variable_types",
    "readstat_variable_types",
    "variable_value_labels",
    "variable_to_label",
    "variable_measure",
    "variable_display_width",
    "variable_storage_width",
    "missing_ranges",
    "missing_user_values",
)


@pytest.fixture
def stata(tmp_path):
    """A Stata file with every type that Stata has."""
    path = tmp_path / "in.dta"
    FRAME.to_stata(
        path,
        write_index=False,
        version=118,
        convert_dates={"born": "td", "seen": "tc"},
        convert_strl=["story"],
        value_labels={"sex": {1: "männlich", 2: "f"}},
        variable_labels={"age": "Age in år"},
        data_label="Läbel",
    )
    return path


@pytest.fixture
def spss(tmp_path):
    """An SPSS file with declared missing values, measures and formats."""
    frame = pd.DataFrame(
        {
            "SEX": [1.0, 2.0, 9.0, np.nan],
            "AGE": [30.0, 98.0, 99.0, 40.0],
            "Wt": [1.25, 2.5, 3.0, 4.0],
            "NAMÉ": ["a", "", "x y", "twenty bytes of text"],
            "BORN": [datetime.date(1980, 1, 2), None, datetime.date(2000, 2, 29), None],
        }
    )
    path = tmp_path / "in.sav"
    pyreadstat.write_sav(
        frame,
        path,
        file_label="Läbel",
        note=["first note", "second"],
        column_labels={"AGE": "Age in år"},
        variable_value_labels={"SEX": {1: "m", 2: "f", 9: "refused"}, "NAMÉ": {"a": "Alpha"}},
        missing_ranges={"SEX": [9], "AGE": [{"lo": 98, "hi": 99}], "NAMÉ": ["ZZ"]},
        variable_display_width={"AGE": 12},
        variable_measure={"SEX": "nominal", "AGE": "scale"},
        variable_format={"Wt": "F8.3"},
    )
    return path


def read(path, **options):
    more = {} if path.suffix == ".xpt" else {"user_missing": True}
    return READERS[path.suffix](path, disable_datetime_conversion=True, **more, **options)


def same(path, other, but=()):
    """Both files hold the same values and say the same of them."""
    (frame, meta), (other_frame, other_meta) = read(path), read(other)
    pd.testing.assert_frame_equal(frame, other_frame)
    for name in SAID:
        if name not in but:
            assert getattr(meta, name) == getattr(other_meta, name), name


class TestStata:
    def test_an_unchanged_file_says_and_holds_the_same(self, tmp_path, copies, stata):
        same(copies.write(stata, tmp_path / "out.dta"), stata)

    def test_another_reader_finds_the_same(self, tmp_path, copies, stata):
        path = copies.write(stata, tmp_path / "out.dta")
        pd.testing.assert_frame_equal(pd.read_stata(path), pd.read_stata(stata))
        with pd.io.stata.StataReader(path) as reader:
            assert reader.data_label == "Läbel"
            assert reader.variable_labels()["age"] == "Age in år"

    @pytest.mark.parametrize("version", [114, 117, 118, 119])
    def test_files_of_older_and_newer_releases(self, tmp_path, copies, version):
        source = tmp_path / "in.dta"
        frame = FRAME.drop(columns="story").assign(town=["Koln", "", 'a"b'])
        frame.to_stata(source, write_index=False, version=version)
        path = copies.write(source, tmp_path / "out.dta")
        same(path, source)
        pd.testing.assert_frame_equal(pd.read_stata(path), pd.read_stata(source))

    def test_extended_missing_values_pass_through(self, tmp_path, copies):
        frame = pd.DataFrame(
            {"x": [1, "a", "z", 4], "y": [0.5, "b", np.nan, 2.0], "k": [1, 2, 3, 4]}
        )
        source = tmp_path / "in.dta"
        labels = {"x": {1: "one", "a": "refused"}}
        missing = {"x": ["a", "z"], "y": ["b"]}
        pyreadstat.write_dta(
            frame, source, version=14, missing_user_values=missing, variable_value_labels=labels
        )
        path = copies.write(source, tmp_path / "out.dta")
        same(path, source)
        with pd.io.stata.StataReader(
            path, convert_missing=True, convert_categoricals=False
        ) as reader:
            again = reader.read()  # type: ignore[attr-defined]
        assert [str(value) for value in again["x"]] == ["1", ".a", ".z", "4"]
        assert [str(value) for value in again["y"]] == ["0.5", ".b", ".", "2.0"]

    @pytest.mark.parametrize("kind", ["int8", "int16", "int32", "float32", "float64"])
    def test_every_missing_value_of_every_type(self, tmp_path, copies, kind):
        storage = {"float32": "float", "float64": "double"}.get(kind, kind)
        letters = np.array([0, *range(ord("a"), ord("z") + 1), 0])
        values = np.array([np.nan] * 27 + [7.0])
        variable = Variable(name="x", storage=storage, values=values, letters=letters)
        write_stata(tmp_path / "x.dta", [variable], 28, "", ())
        with pd.io.stata.StataReader(tmp_path / "x.dta", convert_missing=True) as reader:
            found = reader.read()["x"]  # type: ignore[attr-defined]
        assert [str(value) for value in found[:27]] == [".", *(f".{chr(c)}" for c in letters[1:27])]
        assert found[27] == 7

    def test_changed_columns(self, tmp_path, copies, stata):
        path = copies.write(
            stata,
            tmp_path / "out.dta",
            rows=[2, 0],
            names=["town", "age", "sex", "weight", "pay", "born"],
            changed={
                "age": ["50+", None],
                "sex": [None, 1],
                "town": ["big", None],
                "weight": [3.0, 2.0],
                "born": pa.array([datetime.date(2000, 2, 29), None]),
            },
            recoded={"age": ("30-49", "50+"), "town": ("big", "small")},
            numbers=("weight",),
        )
        frame, meta = read(path)
        assert frame["age"].tolist()[0] == 2
        assert np.isnan(frame["age"].tolist()[1])
        assert frame["town"].tolist() == ["big", ""]
        assert frame["weight"].tolist() == [3.0, 2.0]
        assert meta.variable_value_labels == {
            "age": {1: "30-49", 2: "50+"},
            "sex": {1: "männlich", 2: "f"},
        }
        assert meta.readstat_variable_types["age"] == "int8"
        assert meta.readstat_variable_types["sex"] == "int8"
        assert meta.column_names_to_labels["age"] == "Age in år"
        assert meta.original_variable_types["born"] == "%td"
        table = open_records(path).scan((2, 5)).table
        assert table.column(0).to_pylist() == [None, 1]
        assert table.column(1).to_pylist() == [datetime.date(2000, 2, 29), None]

    def test_suppressed_values_lose_their_letter(self, tmp_path, copies):
        source = tmp_path / "in.dta"
        frame = pd.DataFrame({"x": [1, "a", 3]})
        pyreadstat.write_dta(frame, source, version=14, missing_user_values={"x": ["a"]})
        path = copies.write(source, tmp_path / "out.dta", changed={"x": [1, None, None]})
        assert read(path)[1].missing_user_values == {}
        assert np.isnan(read(path)[0]["x"].tolist()[1])

    @pytest.mark.parametrize("rows", [[], [1]])
    def test_no_rows_and_one(self, tmp_path, copies, stata, rows):
        frame, meta = read(copies.write(stata, tmp_path / "out.dta", rows=rows))
        assert len(frame) == len(rows)
        assert meta.column_names == list(FRAME)
        assert meta.variable_value_labels == {"sex": {1: "männlich", 2: "f"}}

    def test_two_sets_of_labels_of_one_name_are_told_apart(self, tmp_path, copies, stata):
        changed = {"sex": ["all", "all", "all"]}
        path = copies.write(stata, tmp_path / "out.dta", changed=changed, recoded={"sex": ("all",)})
        assert read(path)[1].variable_value_labels == {"sex": {1: "all"}}

    def test_variables_share_a_set_of_labels_and_its_name(self, tmp_path, copies):
        yes_no, other = {1: "yes", 2: "no"}, {1: "none"}
        numbers = np.array([1.0, 2.0])
        variables = [
            Variable(name="a", storage="int8", values=numbers, value_labels=yes_no, label_set="c"),
            Variable(name="b", storage="int8", values=numbers, value_labels=yes_no, label_set="c"),
            Variable(name="c", storage="int8", values=numbers, value_labels=other),
        ]
        write_stata(tmp_path / "x.dta", variables, 2, "", ())
        _, meta = read(copies.write(tmp_path / "x.dta", tmp_path / "out.dta"))
        assert meta.variable_value_labels == {"a": yes_no, "b": yes_no, "c": other}
        assert meta.variable_to_label == {"a": "c", "b": "c", "c": "c_"}

    def test_notes_are_kept(self, tmp_path, copies, spss):
        first = copies.write(spss, tmp_path / "a.dta")
        assert read(first)[1].notes == ["first note", "second"]
        assert read(copies.write(first, tmp_path / "b.dta"))[1].notes == ["first note", "second"]

    def test_a_number_that_stata_would_take_for_a_missing_one(self, tmp_path, copies):
        with pytest.raises(OutputError, match="column 'x' must be of numbers that Stata can hold"):
            copies.write(pa.table({"x": [1.0, 1e308]}), tmp_path / "out.dta")


class TestSpss:
    @pytest.mark.parametrize("ending", ["sav", "zsav"])
    def test_an_unchanged_file_says_and_holds_the_same(self, tmp_path, copies, spss, ending):
        same(copies.write(spss, tmp_path / f"out.{ending}"), spss)

    @pytest.mark.parametrize("packed", [False, True])
    def test_rows_are_packed_as_they_were(self, tmp_path, copies, packed):
        source = tmp_path / "in.sav"
        pyreadstat.write_sav(pd.DataFrame({"a": [1.0, 2.0]}), source, row_compress=packed)
        path = copies.write(source, tmp_path / "out.sav")
        assert path.read_bytes()[72:76] == source.read_bytes()[72:76] == bytes([packed, 0, 0, 0])

    def test_changed_columns(self, tmp_path, copies, spss):
        path = copies.write(
            spss,
            tmp_path / "out.sav",
            rows=[2, 0, 1],
            names=["NAMÉ", "AGE", "SEX"],
            changed={"AGE": [None, "30", "old"], "NAMÉ": [None, "a", None], "SEX": [None, 1, 2]},
            recoded={"AGE": ("30", "old")},
        )
        frame, meta = read(path)
        assert frame["AGE"].tolist()[1:] == [1.0, 2.0]
        assert frame.isna().to_numpy().tolist()[0][1:] == [True, True]
        assert frame["NAMÉ"].tolist() == ["", "a", ""]
        assert meta.variable_value_labels["AGE"] == {1: "30", 2: "old"}
        assert meta.variable_value_labels["SEX"] == {1: "m", 2: "f", 9: "refused"}
        assert set(meta.missing_ranges) == {"SEX", "NAMÉ"}
        assert meta.variable_measure["AGE"] == "ordinal"
        assert meta.original_variable_types["NAMÉ"] == "A20"
        assert meta.column_names_to_labels["AGE"] == "Age in år"

    def test_a_text_that_was_recoded_is_text(self, tmp_path, copies, spss):
        changed = {"NAMÉ": ["other", None, "other", "a"]}
        path = copies.write(
            spss, tmp_path / "o.sav", changed=changed, recoded={"NAMÉ": ("a", "other")}
        )
        frame, meta = read(path)
        assert frame["NAMÉ"].tolist() == ["other", "", "other", "a"]
        assert "NAMÉ" not in meta.missing_ranges

    def test_long_texts(self, tmp_path, copies):
        source = tmp_path / "in.sav"
        pyreadstat.write_sav(pd.DataFrame({"t": ["x" * 700, "", "y"]}), source)
        same(copies.write(source, tmp_path / "out.sav"), source)

    @pytest.mark.parametrize("rows", [[], [1]])
    def test_no_rows_and_one(self, tmp_path, copies, spss, rows):
        frame, meta = read(copies.write(spss, tmp_path / "out.sav", rows=rows))
        assert (len(frame), meta.column_names) == (len(rows), ["SEX", "AGE", "Wt", "NAMÉ", "BORN"])

    def test_labels_are_cut_where_spss_cuts_them_and_never_made_alike(self, tmp_path, copies, spss):
        def labels(*levels):
            changed = {"AGE": [levels[0], levels[1], None, None]}
            path = copies.write(spss, tmp_path / "o.sav", changed=changed, recoded={"AGE": levels})
            return read(path)[1].variable_value_labels["AGE"]

        assert labels("xé" * 60, "y")[1] == "xé" * 40
        with pytest.raises(OutputError, match="labels of column 'AGE' must be told apart"):
            labels("x" * 121, "x" * 122)

    def test_a_portable_file_becomes_a_sav_file(self, tmp_path, copies):
        source = tmp_path / "in.por"
        pyreadstat.write_por(
            pd.DataFrame({"A": [1.0, 2.0], "T": ["x", "y"]}), source, column_labels=["one", None]
        )
        frame, meta = read(copies.write(source, tmp_path / "out.sav"))
        assert frame.to_dict("list") == {"A": [1.0, 2.0], "T": ["x", "y"]}
        assert meta.column_names_to_labels["A"] == "one"


class TestSas:
    @pytest.mark.parametrize("version", [5, 8])
    def test_an_unchanged_file_says_and_holds_the_same(self, tmp_path, copies, version):
        frame = FRAME[["pay", "weight", "none"]].assign(town=["Koln", "", "a b"])
        source = tmp_path / "in.xpt"
        pyreadstat.write_xport(
            frame,
            source,
            file_label="Label",
            column_labels={"pay": "Pay"},
            table_name="PEOPLE",
            file_format_version=version,
            variable_format={"weight": "BEST12"},
        )
        path = copies.write(source, tmp_path / "out.xpt")
        same(path, source)
        assert read(path)[1].table_name == "PEOPLE"
        assert path.read_bytes()[:30] == source.read_bytes()[:30]

    def test_dates_stay_dates(self, tmp_path, copies):
        source = tmp_path / "in.xpt"
        born = [datetime.date(1980, 1, 2), None]
        pyreadstat.write_xport(pd.DataFrame({"born": born, "a": [1.0, 2.0]}), source)
        path = copies.write(source, tmp_path / "out.xpt", changed={"a": [None, 2.0]})
        assert open_records(path).scan((0, 1)).table.to_pydict() == {"c0": born, "c1": [None, 2]}

    def test_a_long_text_needs_the_newer_version(self, tmp_path, copies):
        source = tmp_path / "in.xpt"
        pyreadstat.write_xport(pd.DataFrame({"a": ["x"]}), source, file_format_version=5)
        for width, mark in ((200, b"LIBRARY"), (201, b"LIBV8")):
            told = {"changed": {"a": ["x" * width]}, "recoded": {"a": ("x" * width,)}}
            path = copies.write(source, tmp_path / "out.xpt", **told)
            assert path.read_bytes()[20:].startswith(mark)
            assert read(path)[0]["a"].tolist() == ["x" * width]

    def test_recoded_keys_are_text_because_labels_have_no_room(self, tmp_path, copies):
        source = tmp_path / "in.xpt"
        pyreadstat.write_xport(pd.DataFrame({"age": [30.0, 40.0]}), source, column_labels=["Age"])
        changed = {"age": ["30+", None]}
        path = copies.write(
            source, tmp_path / "out.xpt", changed=changed, recoded={"age": ("30+",)}
        )
        frame, meta = read(path)
        assert frame["age"].tolist() == ["30+", ""]
        assert meta.column_names_to_labels == {"age": "Age"}


class TestFromOtherKinds:
    table = pa.table(
        {
            "id": pa.array([2**62, 1, None]),
            "n": pa.array([100, -5, None], pa.int64()),
            "f": [0.5, None, 2.0],
            "ok": [True, None, False],
            "day": [datetime.date(1980, 1, 2), None, datetime.date(2000, 2, 29)],
            "at": pa.array(
                [datetime.datetime(1980, 1, 2, 3, 4, 5), None, None], pa.timestamp("ns")
            ),
            "t": pa.array(["é", "", None]).dictionary_encode(),
            "none": pa.nulls(3),
        }
    )

    @pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "xpt"])
    def test_values_are_the_same(self, tmp_path, copies, ending):
        table = self.table
        if ending == "xpt":
            table = table.set_column(6, "t", pa.array(["e", "", None]))
        path = copies.write(table, tmp_path / f"out.{ending}")
        records = open_records(path)
        found = records.scan(range(len(records.column_names))).table
        assert found.rename_columns(table.column_names).to_pydict() == {
            **table.to_pydict(),
            "id": [str(2**62), "1", None],
            "ok": [1, None, 0],
            "at": [datetime.datetime(1980, 1, 2, 3, 4, 5), None, None],
            "t": [table["t"][0].as_py(), None, None],
        }

    @pytest.mark.parametrize("ending", ["dta", "sav"])
    def test_numbers_of_a_csv_file_are_numbers_and_codes_stay_text(self, tmp_path, copies, ending):
        source = tmp_path / "in.csv"
        source.write_text("code,n,key,all\n01,5,1,7\n02,,2,8\n")
        changed = {"key": ["1-2", None], "all": ["7", None]}
        path = copies.write(
            source, tmp_path / f"out.{ending}", changed=changed, recoded={"key": ("1-2",)}
        )
        found = open_records(path).scan(range(4)).table.to_pydict()
        assert found == {"c0": ["01", "02"], "c1": [5, None], "c2": ["1-2", None], "c3": [7, None]}

    @pytest.mark.parametrize("ending", ["dta", "sav"])
    def test_a_recoded_number_has_labelled_codes(self, tmp_path, copies, ending):
        changed = {"n": ["high", None, "low"]}
        path = copies.write(
            self.table, tmp_path / f"out.{ending}", changed=changed, recoded={"n": ("low", "high")}
        )
        assert open_records(path).value_labels == {"n": {"1": "low", "2": "high"}}

    def test_new_levels_that_look_like_numbers_are_levels(self, tmp_path, copies):
        source = tmp_path / "in.csv"
        source.write_text("key\n1\n2\n")
        changed = {"key": ["1.50", "2"]}
        path = copies.write(
            source, tmp_path / "o.dta", changed=changed, recoded={"key": ("1.50", "2")}
        )
        assert open_records(path).scan((0,)).table.column(0).to_pylist() == ["1.50", "2"]

    def test_labels_go_from_one_program_to_the_other(self, tmp_path, copies, stata):
        path = copies.write(stata, tmp_path / "out.sav", names=["sex", "age", "born", "town"])
        _, meta = read(path)
        assert meta.variable_value_labels == {"sex": {1: "männlich", 2: "f"}}
        assert meta.column_names_to_labels["age"] == "Age in år"
        assert meta.file_label == "Läbel"
        days = [datetime.date(1980, 1, 2), None, datetime.date(2000, 2, 29)]
        assert open_records(path).scan((2,)).table.column(0).to_pylist() == days
        back = copies.write(path, tmp_path / "back.dta")
        assert read(back)[1].variable_value_labels == {"sex": {1: "männlich", 2: "f"}}
        assert open_records(back).scan((2,)).table.column(0).to_pylist() == days

    @pytest.mark.parametrize(
        ("ending", "name"),
        [
            ("dta", "two words"),
            ("dta", "x" * 33),
            ("sav", "1st"),
            ("xpt", "å"),
            ("xpt", "a-b"),
            ("dta", ""),
        ],
    )
    def test_names_that_the_program_cannot_hold(self, tmp_path, copies, ending, name):
        with pytest.raises(OutputError, match="column must be a name for S.*; rename the column"):
            copies.write(pa.table({name: [1]}), tmp_path / f"out.{ending}")

    @pytest.mark.parametrize("ending", ["dta", "sav", "xpt"])
    @pytest.mark.parametrize(
        ("values", "rule"),
        [([1.0, np.inf], "of finite numbers"), (["a\0b", ""], "of text without NUL")],
    )
    def test_values_that_no_program_holds(self, tmp_path, copies, ending, values, rule):
        with pytest.raises(OutputError, match=f"column 'x' must be {rule}"):
            copies.write(pa.table({"x": values}), tmp_path / f"out.{ending}")

    def test_what_readstat_refuses_is_one_line(self, tmp_path, copies):
        with pytest.raises(OutputError, match=r"output must be what a \.sav file can hold"):
            copies.write(pa.table({"x" * 65: [1]}), tmp_path / "out.sav")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is full")
@pytest.mark.parametrize("ending", ["dta", "sav", "zsav", "xpt", "csv", "parquet", "arrow", "xlsx"])
def test_a_full_disk_is_told_in_one_line(tmp_path, copies, ending, monkeypatch):
    """The temporary name of the output is a device that takes nothing."""

    def full(**options):
        name = tmp_path / ("full" + options["suffix"])
        name.symlink_to("/dev/full")
        return os.open("/dev/null", os.O_RDONLY), str(name)

    monkeypatch.setattr(tempfile, "mkstemp", full)
    table = pa.table({"x": np.arange(10_000), "t": ["text"] * 10_000})
    with pytest.raises(
        OutputError, match="writable, got No space left|see whether the disk is full"
    ):
        copies.write(table, tmp_path / f"out.{ending}", batch=10_000)
    assert not (tmp_path / f"out.{ending}").exists()


def test_neither_pandas_nor_polars_is_needed(tmp_path):
    script = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("pandas", "polars"):
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
import numpy as np, pyarrow as pa
from pathlib import Path
from discreet.data.output_columns import OutputColumn
from discreet.data.record_output import record_output
from discreet.data.records import open_records
records = open_records(pa.table({"a": [1, None], "t": ["x", None]}))
for ending in ("dta", "sav", "zsav", "xpt", "xlsx", "parquet", "feather", "csv"):
    path = Path(sys.argv[1]) / f"out.{ending}"
    columns = [OutputColumn(name="a"), OutputColumn(name="t")]
    with record_output(path, records, columns, ["t"]) as output:
        output.write(np.arange(2), pa.table({"t": ["x", None]}))
    assert open_records(path).column_names == ("a", "t")
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
