"""What audit, choose, assess and counts understand, and what they refuse by name."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InputError
from discreet.flows.table_input import margins_of

RNG = np.random.default_rng(1)
PEOPLE = pd.DataFrame(
    {
        "sex": RNG.choice(["m", "f"], 60),
        "age": RNG.integers(1, 4, 60),
        "ill": RNG.integers(0, 2, 60).astype(bool),
    }
)
LONG = PEOPLE.value_counts().reset_index()
SIZES = PEOPLE.groupby(["sex", "age"]).size().reset_index()
WIDE = pd.crosstab(PEOPLE.sex, PEOPLE.age).reset_index().rename(columns=str)
TABLE = discreet.read_table(PEOPLE)
COUNTS = {0: 15, 1: 20, 2: 9, 3: 5, 4: 2}
VALUES = pd.DataFrame({"x": [v for v, n in COUNTS.items() for _ in range(n)]})
VALUES["g"] = ["a", "b", "b"] * 17


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (PEOPLE, {}),
        (PEOPLE.value_counts(), {}),
        (pd.crosstab([PEOPLE.sex, PEOPLE.age], PEOPLE.ill, margins=True), {}),
        (LONG, {"count": "count"}),
        (pl.from_pandas(LONG), {"count": "count", "variables": ["sex", "age", "ill"]}),
    ],
)
def test_audit_takes_a_frame(source, options):
    wanted = discreet.audit(TABLE, [["sex", "age"], ["ill"]])
    found = discreet.audit(source, [["sex", "age"], ["ill"]], **options)
    assert found.to_json()["risk"] == wanted.to_json()["risk"]
    cells = found.to_frame("cells")
    assert cells["age"].dtype == np.int64
    assert cells["ill"].dtype == np.bool_


def test_choose_takes_a_frame_and_a_file(tmp_path):
    LONG.to_csv(tmp_path / "long.csv", index=False)
    wanted = discreet.choose(TABLE, "margins", max_risk=0.2, seed=1).to_json()
    for source, options in ((PEOPLE, {}), (tmp_path / "long.csv", {"count": "count"})):
        found = discreet.choose(source, "margins", max_risk=0.2, seed=1, **options).to_json()
        assert found["chosen"]["title"] == wanted["chosen"]["title"]


def test_a_frame_with_the_released_columns_holds_records():
    codes = PEOPLE[["age"]].assign(old=(PEOPLE.age > 2).astype(int)).iloc[[9, 3, 7, 5, 1]]
    assert discreet.audit(codes, ["age"]).release.table.total == 5
    with pytest.raises(InputError, match="labelled without a name"):
        discreet.choose(codes, max_risk=0.2)


def test_values_of_persons_with_names_are_counted():
    persons = pd.Index([f"p{i}" for i in range(len(VALUES))], name="person")
    found = discreet.counts(VALUES["x"].set_axis(persons))
    assert found.table == COUNTS
    with pytest.raises(InputError, match="could be either"):
        discreet.counts(VALUES["x"].rename_axis("person"))


def test_masks_may_be_listed():
    listed = discreet.choose(TABLE, ["margins", "rounding:base=3"], max_risk=0.2, seed=1)
    typed = discreet.choose(TABLE, "margins,rounding:base=3", max_risk=0.2, seed=1)
    assert listed.to_json()["chosen"] == typed.to_json()["chosen"]


def test_a_plain_list_of_names_is_one_margin():
    assert margins_of("release", ["sex", "age"]) == (("sex", "age"),)
    assert margins_of("release", "sex") == (("sex",),)
    assert margins_of("release", [["sex"], ["age", "ill"]]) == (("sex",), ("age", "ill"))
    assert margins_of("release", [["sex", "age"], "ill"]) == (("sex", "age"), ("ill",))
    assert margins_of("release", []) == ()
    assert discreet.audit(TABLE, ["sex", "age"]).release.sets == ((0, 1),)
    assert discreet.audit(TABLE, [["sex"], ["age"]]).release.sets == ((0,), (1,))
    with pytest.raises(InputError, match=r"got \[sex age\], which it would release"):
        discreet.audit(TABLE, ["sex"], refused=["sex", "age"], max_risk=0.5)
    chosen = discreet.choose(TABLE, "margins", max_risk=0.5, seed=1, out=["sex", "age"])
    assert chosen.options.out == (("sex", "age"),)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: discreet.audit(LONG, ["sex"]), "count must be the column of counts, got none; is"),
        (lambda: discreet.audit(PEOPLE, [1]), "release must be a margin as a list of names"),
        (lambda: discreet.audit(PEOPLE, 5), "release must be a margin as a list of names"),
        (lambda: discreet.audit(5, ["sex"]), "table must be a Table, a file, a frame, a pandas"),
        (lambda: discreet.audit(LONG, ["sex"], count="coun"), "count must be a column of the data"),
        (lambda: discreet.audit(PEOPLE, ["sex"], persons="yes"), "persons must be true or false"),
        (lambda: discreet.choose(SIZES, max_risk=0.2), "is it '0' .count"),
        (lambda: discreet.choose(WIDE, max_risk=0.2), "differ in 'sex' and hold numbers; melt"),
        (lambda: discreet.choose(pl.from_pandas(WIDE), max_risk=0.2), "differ in 'sex' and hold"),
        (lambda: discreet.audit(PEOPLE, "sex,age"), r"got 'sex,age'; give \['sex', 'age'\]"),
        (lambda: discreet.assess(PEOPLE, "sex,age"), r"got 'sex,age'; give \['sex', 'age'\]"),
        (lambda: discreet.assess(PEOPLE, ["sex"], engine="duckdb"), "engine must be an engine such"),
        (lambda: discreet.assess(PEOPLE, ["sex"], models="ewans"), "did you mean 'ewens'?"),
        (lambda: discreet.counts(COUNTS, by=5), "by must be names of columns, got 5"),
        (lambda: discreet.counts(n=51, s1=61, s2=21.55), "got a float; as text it shows how many"),
        (lambda: discreet.assess_statistics("51", 61, "2^3"), "n must be a whole number, got a str"),
        (lambda: discreet.assess_categories(sets={"a": (3, 2)}), "got 2 figures for one"),
        (lambda: discreet.counts(VALUES, column="y"), "column must be a column of the data frame"),
        (lambda: discreet.counts(VALUES, column="x", by="h"), "by must be a column of the data fr"),
        (lambda: discreet.assess(PEOPLE, ["zzz"]), "got 'zzz'; it has 'sex', 'age', 'ill'"),
        (lambda: discreet.assess(pl.LazyFrame({"a": [1]}), ["a"]), "got a LazyFrame; collect"),
        (lambda: discreet.audit(TABLE, ["sex"], count="n"), "count must be left out where a Table"),
        (lambda: discreet.audit(PEOPLE, ["sex"], variables=5), "variables must be names of columns"),
        (lambda: discreet.audit(PEOPLE, ["sex"], count=5), "count must be the name of a column"),
        (lambda: discreet.audit_sequence(TABLE, ["sex"], first=2), "first must be from 1 to the 1"),
        (lambda: discreet.assess(pd.crosstab(PEOPLE.sex, PEOPLE.age), ["m"]), "a crosstab of counts"),
        (lambda: discreet.assess(PEOPLE["age"], ["age"]), "a Series; to_frame"),
        (lambda: discreet.assess(PEOPLE, 5), "keys must be a list of column names, got 5"),
        (lambda: discreet.assess(PEOPLE, ["age"], sheet="x"), "sheet must be given with an Excel"),
        (lambda: discreet.best_margins(PEOPLE), "table must be a Table, got a DataFrame; read_table"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_one_line(call, says):
    with pytest.raises(InputError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("0:15,1:20,2:9,3:5,4:2", {}),
        (VALUES["x"], {}),
        (VALUES["x"].value_counts(), {}),
        (VALUES.groupby("x").size(), {}),
        (VALUES, {"column": "x"}),
        (pa.Table.from_pandas(VALUES), {"column": "x"}),
        (VALUES["x"].value_counts().reset_index(), {"column": "x", "count": "count"}),
    ],
)
def test_counts_are_understood_in_every_form(source, options):
    assert discreet.counts(source, **options).to_json() == discreet.assess_counts(COUNTS).to_json()


def test_counts_by_category_and_from_statistics(tmp_path):
    by = discreet.counts(VALUES, column="x", by="g", max_risk=0.2)
    assert isinstance(by, discreet.CategoriesAssessment)
    tables = {g: own["x"].value_counts().to_dict() for g, own in VALUES.groupby("g")}
    again = discreet.counts(tables, by=["g"], max_risk=0.2)
    assert by.to_json() == again.to_json()
    one = discreet.counts(n=51, s1=61, s2="2^20*3^7")
    assert one.to_json() == discreet.assess_statistics(51, 61, "2^20*3^7").to_json()
    sets = {"a": (51, 61, "2^20*3^7")}
    (tmp_path / "sets.csv").write_text("g,n,s1,s2\na,51,61,2^20*3^7\n")
    found = discreet.counts(sets=tmp_path / "sets.csv").to_json()
    assert found == discreet.counts(sets=sets, by=["g"]).to_json()


STATISTICS = {"n": 51, "s1": 61, "s2": "2^20*3^7"}


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        (None, {}, "counts must be a table of counts, or s1 and s2 .* got none"),
        (COUNTS, {"s1": 3}, "got source and s1 and s2"),
        (None, {"n": 3}, "s1 must be a whole number, got none"),
        (None, {"s1": 3}, "s2 must be given with s1, got none"),
        (None, STATISTICS | {"n": "a"}, "n must be a whole number, got a str"),
        ([1, 2], {}, "got a list, which may hold values or counts; give {value: count}"),
        (np.array([1, 2]), {}, "got a ndarray, which may hold values or counts"),
        (COUNTS, {"by": "g"}, "by must be given with a file or a frame"),
        (COUNTS, {"sheet": "g"}, "sheet must be given with a file or a frame"),
        ("0:1,1:2", {"column": "g"}, "column must be given with a file or a frame"),
        (COUNTS, {"truncate": True}, "truncate must be given with decimals, got none"),
        (COUNTS, {"small": 2}, "small must be given with max_risk, got none"),
        (COUNTS, {"measure": "truth"}, "measure must be given with max_risk, got none"),
        (COUNTS, {"number_prior": "reciprocal"}, "number_prior must be given where n is withheld"),
        (COUNTS, {"prior": (1, 1, 1)}, "prior must be given with bayes, got none"),
        (COUNTS, {"options": discreet.CategoryOptions()}, "options must be CountOptions"),
        (None, STATISTICS | {"decimals": 2}, "decimals must be given with the table of counts"),
        (None, STATISTICS | {"max_risk": 0.2}, "max_risk must be given with the table of counts"),
        (None, STATISTICS | {"truncate": True}, "truncate must be given with S2 as a decimal"),
        (None, STATISTICS | {"number_prior": "reciprocal"}, "where n is withheld"),
        (None, {"sets": 5}, "source must be a path"),
        ({"a": COUNTS}, {"total_table": COUNTS}, "total_table must be given with sets"),
        ({"a": COUNTS, "b": 5}, {}, "a dict of counts for each category, got an int for one"),
    ],
)
def test_counts_that_cannot_be_meant_are_refused(given, options, says):
    with pytest.raises(InputError, match=says):
        discreet.counts(given, **options)


@pytest.mark.parametrize("table", [5, VALUES, [1, 2]])
def test_assess_counts_wants_a_table(table):
    with pytest.raises(InputError, match="table must be {value: count}"):
        discreet.assess_counts(table)


def test_truncating_has_an_effect_where_decimals_are_tried():
    assert discreet.counts(COUNTS, truncate=True, decimals=2).release.words
    assert discreet.counts(COUNTS, truncate=True, max_risk=0.2).verdict is not None
