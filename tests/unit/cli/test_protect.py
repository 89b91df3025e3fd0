"""discreet protect: exit codes, what is written and what never is, and one line for bad input."""

import json

import numpy as np
import pandas as pd
import pytest

from discreet import protect
from discreet.errors import InputError
from discreet.protection import applying

PLAIN = ("--no-frontier",)


@pytest.fixture
def source(tmp_path):
    rng = np.random.default_rng(2)
    n = 200
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["m", "f"], n),
            "job": rng.choice(list("abcdef"), n),
            "ill": rng.choice(["x", "y"], n),
        }
    )
    path = tmp_path / "in.csv"
    frame.to_csv(path, index=False)
    return path


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_goal_that_is_reached_is_written_and_ends_with_0(discreet, source, tmp_path):
    out = tmp_path / "out.csv"
    run = discreet("protect", source, "--keys", "age,sex,job", "--min-k", 3, "--write", out,
                   "--json", *PLAIN)  # fmt: skip
    assert run.code == 0
    data = json.loads(run.out)
    assert {"verdict", "loss", "recipe", "frontier", "assessment"} <= set(data)
    told = data["loss"]["suppressed_values"]
    frame = pd.read_csv(out)
    assert sum(told["by_key"][key]["value"] for key in ("age", "sex", "job")) == told["value"]
    assert int(frame.isna().sum().sum()) == told["value"]
    assert frame.groupby(["age", "sex", "job"], dropna=False).size().min() >= 3
    assert left_in(tmp_path) == ["in.csv", "out.csv"]
    asked = discreet("assess", out, "--keys", "age,sex,job", "--min-k", 3, "--missing", "category")
    assert asked.code == 0


def test_a_goal_out_of_reach_writes_nothing_unless_the_closest_is_asked_for(
    discreet, source, tmp_path
):
    out, recipe = tmp_path / "out.csv", tmp_path / "r.toml"
    asked = ("protect", source, "--keys", "age,sex,job", "--min-k", 3, "--untouched", "age",
             "--write", out, "--write-recipe", recipe, *PLAIN)  # fmt: skip
    run = discreet(*asked)
    assert run.code == 3
    assert "Let age be changed" in run.out
    assert left_in(tmp_path) == ["in.csv"]
    closest = discreet(*asked, "--closest")
    assert closest.code == 3
    assert left_in(tmp_path) == ["in.csv", "out.csv", "r.toml"]


def test_a_rule_that_stays_open_ends_with_4(discreet, source):
    asked = ("protect", source, "--keys", "age,sex", "--policy", "cbs-suf", "--population", 1e6)
    run = discreet(*asked, "--sensitive", "ill", *PLAIN)
    assert run.code == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "goal must be given, got none"),
        (("--min-k", "1"), "must be at least 2, got 1"),
        (("--min-k", "3", "--recode", "agee=bands(5)"), "did you mean 'age'?"),
        (("--min-k", "3", "--recode", "age=bands"), "must be written as"),
        (("--min-k", "3", "--recode", "job=bands(5)"), "'job' must be a key with numbers"),
        (("--min-k", "3", "--tree", "job=nowhere.csv"), "tree must be a file"),
        (("--min-k", "3", "--untouched", "ill"), "must be of the keys, got 'ill'"),
        (("--min-k", "3", "--importance", "age=0"), "importance of 'age' must be above 0, got 0"),
        (("--min-k", "3", "--most-records", ".5"), "given where whole records are suppressed"),
        (("--suppress", "records", "--most-records", "2", "--min-k", "3"), "a share from 0 to 1"),
        (("--min-k", "3", "--max-uniques", "-1"), "0 or more, got -1"),
        (("--min-k", "3", "--seed", "-1"), "0 or more, got -1"),
        (("--l", "2"), "given with a sensitive variable"),
        (("--min-k", "3", "--step", "shufle()"), "did you mean 'shuffle'?"),
        (("--min-k", "3", "--step", "shuffle(x=1)"), "something else"),
        (("--min-k", "3", "--step", "remove_columns(columns=zzz)"), "got 'zzz'"),
        (("--min-k", "3", "--step", "pram(key=zzz,retention=.8)"), "got 'zzz'"),
        (("--min-k", "3", "--recode", "age=drop", "--recode", "sex=drop"), "left in the file"),
        (("--recipe", "nowhere.toml"), "recipe must be a file"),
        (("--min-k", "3", "--write", "out.docx"), "got '.docx'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(discreet, source, tmp_path, options, message,
                                                  monkeypatch):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    keys = "age,sex" if "age=drop" in options else "age,sex,job"
    run = discreet("protect", source, "--keys", keys, *options, *PLAIN)
    assert message in run.complaint()
    assert left_in(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = 2\n", "must be of format 1, got 2"),
        ("nonsense", "a recipe in TOML"),
        ("format = 1\nkeys = []\n", "a list of names"),
        ("format = 1\nkeys = ['age']\nmore = 1\n", "got 'more'"),
        ("format = 1\nkeys = ['age']\nseed = -1\n", "a whole number of 0 or more"),
        ("format = 1\nkeys = ['age']\nmade = 1\n", "a table"),
        ("format = 1\nkeys = ['age']\nstep = 1\n", "[[step]] tables"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'x'\n", "method must be one of"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'bands'\nkey = 'age'\n", "'width' must be"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'drop'\nkey = 'q'\n", "recipe's keys"),
        ("format = 1\nkeys = ['q']\n[[step]]\nmethod = 'drop'\nkey = 'q'\n", "those of the recipe"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'bands'\nkey = 'age'\nwidth = 'x'\n",
         "must be a number"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'bands'\nkey = 'age'\nwide = 1\n", "'wide'"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'breaks'\nkey = 'age'\nat = ['x']\n",
         "a list of numbers"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'merge'\nkey = 'age'\nlevels = [1]\n",
         "a list of texts"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'suppress'\nk = 0\n", "k must be at least 1"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'suppress'\nk = 2\nguarantee = 'x'\n",
         "guarantee must be one of"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'suppress'\nk = 2\nmost = {age = 'x'}\n",
         "a table of whole numbers"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'suppress'\nk = 2\nimportance = {age = 'x'}\n",
         "a table of numbers"),
        ("format = 1\nkeys = ['age']\n[[step]]\nmethod = 'suppress'\nk = 2\nmost = {age = -1}\n",
         "0 or more"),
        ("format = 1\nkeys = ['age', 'sex', 'job']\n[[step]]\nmethod = 'suppress'\nk = 2\ndiverse = {ill = 2}\n",
         "one of the sensitive variables, got 'ill'"),
    ],
)  # fmt: skip
def test_a_bad_recipe_is_one_line(discreet, source, tmp_path, text, message):
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    run = discreet("protect", source, "--keys", "age,sex,job", "--recipe", path)
    assert message in run.complaint()


def test_the_source_and_files_that_are_there_stay(discreet, source, tmp_path):
    asked = ("protect", source, "--keys", "sex,job", "--min-k", 3, *PLAIN)
    before = source.read_bytes()
    assert "new file" in discreet(*asked, "--write", source, "--overwrite").complaint()
    out = tmp_path / "out.csv"
    out.write_text("mine", encoding="utf-8")
    assert "--overwrite" in discreet(*asked, "--write", out).complaint()
    assert out.read_text(encoding="utf-8") == "mine"
    assert discreet(*asked, "--write", out, "--overwrite").code == 0
    assert out.read_text(encoding="utf-8").startswith("age,sex,job")
    recipe = tmp_path / "r.toml"
    recipe.write_text("mine", encoding="utf-8")
    assert "--overwrite" in discreet(*asked, "--write-recipe", recipe).complaint()
    assert source.read_bytes() == before


def test_who_stops_it_leaves_nothing_half_written(source, tmp_path):
    def stop(step, done):
        if step == "assessing the protected file":
            assert len(left_in(tmp_path)) == 2  # the file that is being written
            raise KeyboardInterrupt

    out = tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        protect(source, keys=["sex", "job"], min_k=3, write=out, progress=stop)
    assert left_in(tmp_path) == ["in.csv"]


def test_too_many_combinations_are_refused(source, monkeypatch):
    monkeypatch.setattr(applying, "MOST_CELLS", 3)
    with pytest.raises(InputError, match="at most 3 combinations that occur"):
        protect(source, keys=["sex", "job"], min_k=3)


def test_names_and_values_of_any_kind(tmp_path):
    rng = np.random.default_rng(0)
    names = ["größe, 年齢", 'into="x"', "k"]
    frame = pd.DataFrame({name: rng.choice(['a"b', "c,d", "é;ü", "x\ny"], 60) for name in names})
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    frame.to_csv(path, index=False)
    found = protect(path, keys=names, min_k=3, search=False, write=out, frontier=False)
    shown = pd.read_csv(out)
    assert shown.columns.tolist() == names
    assert set(shown.stack().dropna()) <= set(frame.stack())
    assert int(shown.isna().sum().sum()) == found.loss.suppressed_values.overall.value
