"""Bad input on the command line: exit 2, one line, no confidential value, nothing half-written."""

import gzip
import json
import os

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SECRET = "Zyx-Village"
WEIGHT = "98765.4321"
SURVEY = f"age,sex,income,w\n30,m,{SECRET},{WEIGHT}\n31,f,,2\n30,m,b,3\n"


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(SURVEY)
    return path


def complaint(run):
    message = run.complaint()
    assert SECRET not in message
    assert WEIGHT not in message
    return message


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("--keys agee", "keys must be columns of s.csv, got 'agee'; did you mean 'age'?"),
        ("--keys AGE", "did you mean 'age'?"),
        ("--keys zzz", "it has 4 columns, none of a name like it; is its first line a header?"),
        ("--keys age,age", "keys must be different columns, got 'age' twice"),
        ("--keys age,,sex", "must be column names separated by commas"),
        ("--keys ,", "must be column names separated by commas"),
        ("--keys age --weight ww", "weight must be a column of s.csv, got 'ww'"),
        ("--keys age,w --weight w", "weight must be no key, got 'w'"),
        ("--keys age --weight income", "weight 'income' must be a positive, finite number"),
        ("--keys age,income --missing error", "1 of 3 records without 'income'"),
        ("--keys age --missing perhaps", "missing must be one of"),
        ("--keys age --models nobody", "models must be 'auto' or among"),
        ("--keys age --population nan", "population must be"),
        ("--keys age --population many", "not a valid float"),
        ("--keys age,sex --cells 0", "cells must be at least 1"),
        ("--keys age --population 0", "population must be from 1"),
        ("--keys age --cells 1.5", "not a valid integer"),
        ("--keys age --k 1", "k must be at least 2"),
        ("--keys age --k two", "must be whole numbers"),
        ("--keys age --threads 0", "--threads"),
        ("--keys age --memory lots", "memory must be a size such as '4GB'"),
        ("--keys age --encoding utf-9", "encoding must be one that Python knows"),
        ("--keys age --encoding undefined", "encoding must be one that Python knows"),
        ("--keys age --delimiter ,,", "delimiter must be one character"),
        ("--keys age --quote ,", "delimiter"),
        ("--keys age --weight w --decimal ;", "decimal must be '.' or ','"),
        ("--keys age --decimal ,", "--decimal must be given with --weight, got none"),
        ("--keys age --keys sex", "--keys must be given once, got it 2 times"),
        ("--keys age --sensitive sex --sensitive w", "--sensitive must be given once"),
        ("--keys age --sensitive sex,sex", "sensitive must be different columns, got 'sex' twice"),
        ("--keys age --weight w --household w", "household must be another column than weight"),
        ("--keys age --weight w --sensitive w", "sensitive must be another column than weight"),
        ("--keys age --l 2", "--l must be given with --sensitive, got none"),
        ("--keys age --c 2", "--c must be given with --sensitive, got none"),
        ("--keys age --t .2", "--t must be given with --sensitive, got none"),
        ("--keys age --alpha .2", "--alpha must be given with --sensitive, got none"),
        ("--keys age --alpha-k 2", "--alpha-k must be given with --sensitive, got none"),
        ("--keys age --tree sex=s.csv", "--tree must be that of a sensitive variable or of a key"),
        ("--keys age --sensitive sex --l 0", "--l must be a whole number of at least 1, got 0"),
        ("--keys age --sensitive sex --c 0", "--c must be a number above 0, got 0"),
        ("--keys age --sensitive sex --t 1.5", "--t must be from 0 to 1, got 1.5"),
        ("--keys age --sensitive sex --t nan", "--t must be from 0 to 1, got nan"),
        ("--keys age --sensitive sex --alpha 0", "--alpha must be above 0 and at most 1, got 0"),
        ("--keys age --sensitive sex --alpha-k 0", "--alpha-k must be a whole number of at least"),
        ("--keys age --sensitive sex --tree sexx=s.csv", "got 'sexx'; did you mean 'sex'?"),
        (
            "--keys age --sensitive sex --tree w=s.csv",
            "--tree must be that of a sensitive variable",
        ),
        ("--keys age --suda 2", "--suda must be 1, as there is one key, got 2"),
        ("--keys age,sex --suda 0", "--suda must be from 1 to the 2 keys, got 0"),
        ("--keys age,sex --subsets 3", "--subsets must be from 1 to the 2 keys, got 3"),
        ("--keys age --loss-ratio 2", "--loss-ratio must be given with a model that says"),
        ("--keys age --shrinkage .5", "--shrinkage must be given with the model lancaster"),
        ("--keys age --scenario n=sex", "scenario 'n' must be made of keys, got 'sex'"),
        ("--scenario n=sexx", "scenario 'n' must be made of keys, got 'sexx'; did you mean 'sex'?"),
        ("--scenario n=sex,sex", "scenario 'n' must be made of different keys, got 'sex' twice"),
        ("--scenario n=sex --scenario n=age", "--scenario must be given once for each name"),
        ("--scenario n=sex --scenario N=age", "--scenario must be names that differ in more than"),
        ("--keys age --missing-code agee=9", "got 'agee'; did you mean 'age'?"),
        ("--keys age --missing-code sex=9", "must be a key or a sensitive variable, got 'sex'"),
        ("--keys age --suppressed-code agee=9", "a code for suppressed must be a key"),
        ("--keys age --not-applicable-code agee=9", "a code for not applicable must be a key"),
        ("--keys age --cells 9 --impossible s.csv", "--cells must be left out where impossible"),
        ("--keys age --population 9 --population-file s.csv", "--population must be left out"),
        ("--keys age --missing drop --missing-weight .5", "--missing-weight must be 1 unless"),
        ("--keys age --missing all --missing-weight 2", "--missing-weight must be from 0 to 1"),
        ("--keys age --missing all --risks r.parquet", "--risks must be left out with --missing"),
        ("--keys age --missing all --subsets 1", "--subsets must be left out with --missing all"),
        ("--keys age --missing all --shrinkage-table", "--shrinkage-table must be left out"),
        ("--keys age --missing all --loss-ratio 3", "--loss-ratio must be left out"),
        ("--keys age --missing all --all-pairs", "--all-pairs must be left out"),
        ("--keys age --missing all --population-file s.csv", "--population-file must be left out"),
        ("--keys age --missing all --weight ww", "weight must be a column of s.csv, got 'ww'"),
        ("--keys age --missing all --suda 2", "--suda must be 1, as there is one key, got 2"),
        ("--keys age --missing all --household income", "household 'income' must be known in"),
        ("--keys age --impossible nowhere.csv", "file must be one that exists"),
        ("--keys age --report s.csv", "--report must be a file that ends in .html or .pdf"),
        ("--keys age --risks s.csv", "in use already"),
        ("--keys age --report ./x.html --risks x.html", "in use already"),
        ("--keys age --report nowhere/x.html", "folder"),
        ("--keys age --report .", "--report must be a file that ends in .html or .pdf"),
        ("--keys age --unknown", "No such option"),
        ("--keys age extra", "unexpected extra argument"),
        ("--keys", "requires an argument"),
    ],
)
def test_options(discreet, survey, monkeypatch, arguments, part):
    monkeypatch.chdir(survey.parent)
    quick = () if "--models" in arguments else ("--models", "sample_frequency")
    run = discreet("assess", "s.csv", *quick, *arguments.split(" "))
    assert part in complaint(run)
    assert survey.read_text() == SURVEY
    assert [path.name for path in survey.parent.iterdir()] == ["s.csv"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--keys", "a\nb"),
        ("--keys", "age", "ex\ntra"),
        ("--keys", "age", "--x\ny"),
        ("--keys", "age", "--k", "2\n3x"),
        ("--keys", "age", "--models", "a\nb"),
        ("--keys", "age", "--report", "no\nwhere/x.html"),
        ("--keys", "age", "--report", "x" * 300 + ".html"),
        ("--keys", "age", "--report", "x/" * 3000),
        ("--keys", "age", "--impossible", "\x1b[2J"),
    ],
)
def test_hostile_arguments_stay_on_one_line(discreet, survey, arguments):
    message = complaint(discreet("assess", survey, *arguments))
    assert "\x1b" not in message


def test_a_population_that_cannot_hold_the_sample_is_refused(discreet, survey):
    run = discreet("assess", survey, "--keys", "age,sex", "--population", "2")
    assert "--population must be at least the 3 records of the file, got 2" in complaint(run)


def test_possible_cells_that_cannot_be_are_said_to_be_unusable(discreet, survey):
    part = "1 possible cells that were given are fewer than the 2 that hold"
    run = discreet("assess", survey, "--keys", "age,sex", "--json", "--cells", "1")
    found = json.loads(run.out)
    assert run.code == 0
    assert any(part in warning for warning in found["warnings"])
    uniques = found["recommended"]["expected_population_uniques"]
    assert 0 <= uniques["lower"] <= uniques["upper"] <= found["sample_uniques"]


def make(folder):
    """Files that cannot be assessed, by name: content, keys, and a part of the complaint."""
    table = pa.table({"age": [1, 2], "name": [SECRET, "b"]})
    pq.write_table(table, folder / "whole.parquet")
    whole = (folder / "whole.parquet").read_bytes()
    with pa.ipc.new_stream(folder / "whole.arrow", table.schema) as writer:
        writer.write_table(table)
    stream = (folder / "whole.arrow").read_bytes()
    packed = gzip.compress(SURVEY.encode() * 50)
    pq.write_table(table.slice(0, 0), folder / "none.parquet")
    return {
        "empty.csv": (b"", "empty file"),
        "blank.csv": (b"\n\n \n", "empty file"),
        "mark.csv": (b"\xef\xbb\xbf", "empty file"),
        "header.csv": (b"age,sex\n", "at least one record, got none"),
        "ragged.csv": (f"age,sex\n1,m\n{SECRET}\n".encode(), "line 3"),
        "long.csv": (f"age,sex\n1,m\n2,f,{SECRET}\n".encode(), "line 3"),
        "quote.csv": (f'age,sex\n1,m\n"{SECRET},f\n'.encode(), "well quoted"),
        "headquote.csv": (f'age,"sex\n1,{SECRET}\n'.encode(), "well quoted"),
        "bytes.csv": (f"age,sex\n1,{SECRET}\xff\n".encode("latin-1"), "text in utf-8"),
        "far.csv": (
            b"age,sex\n" + b"1,m\n" * 300_000 + f"1,{SECRET}\xff\n".encode("latin-1"),
            "line 300,002",
        ),
        "nul.csv": (f"age,sex\n1\x00,{SECRET}\n".encode(), "NUL"),
        "twice.csv": (b"age,sex,age\n1,m,2\n", "'age' 2 times"),
        "wide16.csv": ("age,sex\n1,m\n".encode("utf-16-le"), "NUL"),
        "plain.csv.gz": (SURVEY.encode(), "gzip"),
        "cut.csv.gz": (packed[:-30], "gzip"),
        "none.parquet": (None, "at least one record, got none"),
        "cut.parquet": (whole[:-9], "readable Parquet file"),
        "text.parquet": (SURVEY.encode(), "readable Parquet file"),
        "cut.arrow": (stream[:-40], "readable Arrow"),
        "text.feather": (SURVEY.encode(), "readable Arrow"),
        "text.dta": (SURVEY.encode(), "readable .dta file"),
        "text.sav": (SURVEY.encode(), "readable .sav file"),
        "text.sas7bdat": (SURVEY.encode(), "readable .sas7bdat file"),
        "table.xlsx": (SURVEY.encode(), "a readable Excel workbook"),
        "new\nline.csv": (b"", "new\\nline.csv"),
        "new\nline.parquet": (b"", "new\\nline.parquet"),
    }


NAMES = sorted({
    "empty.csv", "blank.csv", "mark.csv", "header.csv", "ragged.csv", "long.csv", "quote.csv",
    "headquote.csv", "bytes.csv", "far.csv", "nul.csv", "twice.csv", "wide16.csv", "plain.csv.gz",
    "cut.csv.gz", "none.parquet", "cut.parquet", "text.parquet", "cut.arrow", "text.feather",
    "text.dta", "text.sav", "text.sas7bdat", "table.xlsx", "new\nline.csv", "new\nline.parquet",
})  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_files(discreet, tmp_path, name):
    files = make(tmp_path)
    assert set(files) == set(NAMES)
    content, part = files[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    keys = "age,sex" if ".csv" in name else "age"
    assert part in complaint(discreet("assess", tmp_path / name, "--keys", keys, "--json"))


def test_a_header_that_swallows_the_records_shows_none_of_them(discreet, tmp_path):
    (tmp_path / "s.csv").write_text(f'age,"sex\n30,{SECRET}\n')
    complaint(discreet("assess", tmp_path / "s.csv", "--keys", "zzz"))


@pytest.mark.parametrize(
    "given", ["", "nowhere.csv", "*.parquet", "x" * 4000, "/dev/null", "a\x00b"]
)
def test_files_that_are_none(discreet, tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    complaint(discreet("assess", given, "--keys", "a"))


def test_a_folder_without_files_and_a_name_that_is_not_text(discreet, tmp_path):
    complaint(discreet("assess", tmp_path, "--keys", "a"))
    name = os.path.join(os.fsencode(tmp_path), b"\xff.csv")
    with open(name, "wb") as file:
        file.write(SURVEY.encode())
    run = discreet("assess", os.fsdecode(name), "--keys", "age", "--models", "sample_frequency")
    assert run.code == 0 or complaint(run)


@pytest.mark.parametrize("bad", ["0", "-5", "", "nan", "inf", "x", "1,5"])
def test_weights(discreet, tmp_path, bad):
    (tmp_path / "s.csv").write_text(f'a,w\n{SECRET},{WEIGHT}\n2,"{bad}"\n3,"{bad}"\n')
    message = complaint(discreet("assess", tmp_path / "s.csv", "--keys", "a", "--weight", "w"))
    assert "got 2 that are not" in message
    assert "at record 2 first" in message


def test_impossible_combinations_that_occur(discreet, tmp_path, survey):
    (tmp_path / "z.csv").write_text(f"income\n{SECRET}\n")
    run = discreet("assess", survey, "--keys", "age,income", "--impossible", tmp_path / "z.csv")
    assert "impossible must be combinations that no record has" in complaint(run)


@pytest.mark.parametrize("option", ["--report", "--external-report", "--risks"])
def test_no_input_is_overwritten(discreet, tmp_path, survey, option):
    (tmp_path / "z.csv").write_text("age\n99\n")
    (tmp_path / "t.csv").write_text("leaf\nb\n")
    for name in ("s.csv", "z.csv", "t.csv"):
        before = (tmp_path / name).read_bytes()
        complaint(
            discreet(
                "assess",
                survey,
                "--keys",
                "age",
                "--impossible",
                tmp_path / "z.csv",
                "--tree",
                f"income={tmp_path / 't.csv'}",
                option,
                tmp_path / name,
            )
        )
        assert (tmp_path / name).read_bytes() == before


def test_nothing_is_written_when_one_output_cannot_be(discreet, tmp_path, survey):
    run = discreet(
        "assess", survey, "--keys", "age", "--report", tmp_path / "r.html",
        "--risks", tmp_path / "nowhere" / "r.parquet",
    )  # fmt: skip
    complaint(run)
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]


def test_no_command_no_file_wrong_command(discreet):
    assert "FILE" in discreet("assess").complaint()
    assert "nobody" in discreet("nobody").complaint()
    assert "--nothing" in discreet("--nothing").complaint()


def test_no_command_shows_the_help(discreet):
    run = discreet()
    assert run.code in (0, 2)
    assert "assess" in run.out
    assert run.err == ""


def test_frames_that_cannot_be_keys_show_no_value():
    import discreet as package

    for column in ([[SECRET]], [SECRET.encode()], [{"x": SECRET}]):
        with pytest.raises(package.InputError) as caught:
            package.assess(pa.table({"a": column}), ["a"])
        assert SECRET not in str(caught.value)
    with pytest.raises(package.InputError) as caught:
        package.assess(pd.DataFrame({"a": pd.Series([SECRET, 1], dtype=object)}), ["a"])
    assert SECRET not in str(caught.value)
