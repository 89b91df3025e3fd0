"""JSON-stat 2.0, by files written by hand from its specification (https://json-stat.org/full/)."""

import json

import numpy as np
import pytest
from tests.oracles.published_files import figures

from discreet.data.published.about import About
from discreet.data.published.published_table import PublishedTable, Statistic
from discreet.data.published.writing import table_bytes
from discreet.errors import FileError

CUBE = {
    "version": "2.0",
    "class": "dataset",
    "label": "Persons by age and sex",
    "updated": "2024-01-31",
    "id": ["age", "sex"],
    "size": [3, 2],
    "dimension": {
        "age": {
            "label": "Age group",
            "category": {
                "index": {"Y_LT15": 0, "Y15-64": 1, "Y_GE65": 2},
                "label": {"Y_GE65": "65+", "Y_LT15": "under 15", "Y15-64": "15-64"},
            },
        },
        "sex": {"category": {"index": ["M", "F"]}},
    },
    "value": [1, 2, None, 4, 12.50, 0],
    "status": {"2": "c", "4": "p"},
}


def cube(**changes):
    """The dataset with parts put in or, where None, taken out."""
    return json.dumps({key: own for key, own in {**CUBE, **changes}.items() if own is not None})


@pytest.fixture
def dataset(read):
    """Reads the tables of a dataset."""
    return lambda text: read(text, "t.json")


def test_a_dataset(dataset):
    (table,) = dataset(cube().replace("12.5", "12.50"))
    assert table.name == "t.json"
    assert table.variables == ("Age group", "sex")
    assert table.labels == (("under 15", "15-64", "65+"), ("M", "F"))
    assert table.places.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert table.printed == ("1", "2", "", "4", "12.50", "0")
    assert table.marks == {2: "c"}
    assert table.where[2] == "value[2]"
    assert table.notes == ("1 × a sign of a footnote beside the figure, left out: value[4]",)
    assert table.statistic is Statistic.COUNT


def test_values_that_are_listed(dataset):
    (table,) = dataset(cube(value={"0": 1, "3": 4, "5": "<5"}, status={"1": ":"}))
    assert figures(table) == {
        ("under 15", "M"): "1", ("under 15", "F"): "⟨:⟩", ("15-64", "F"): "4", ("65+", "F"): "⟨<5⟩",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "marks"),
    [("c", {2: "c"}), (["", "", "x", "", "", None], {2: "x"}), (["s"], {2: "s"}), (None, {})],
)
def test_a_status_in_each_form(dataset, status, marks):
    (table,) = dataset(cube(status=status))
    assert table.marks == marks
    assert table.printed[2] == ""


def test_measures_are_tables_of_their_own(dataset):
    measures = {
        "label": "Measure",
        "category": {
            "index": ["n", "p", "m", "q"],
            "label": {"n": "Persons", "p": "Share", "m": "Mean income", "q": "Median income"},
            "unit": {"n": {"label": "number"}, "p": {"base": "percent", "decimals": 1}},
        },
    }
    text = cube(
        id=["sex", "what"], size=[2, 4], role={"metric": ["what"]},
        dimension={"sex": CUBE["dimension"]["sex"], "what": measures},
        value=[5, 50, -7.5, 3, 5, 50, 9, 3], status=None,
    )  # fmt: skip
    counts, percents, means = dataset(text)
    assert [one.statistic for one in (counts, percents, means)] == ["count", "percent", "mean"]
    assert (counts.variables, counts.printed) == (("sex",), ("5", "5"))
    assert means.of == ("income",)
    assert means.printed == ("-7.5", "9")
    assert counts.name == "t.json, Persons"
    assert "left out: 'Median income', which is neither a count" in counts.notes[0]


def test_a_dimension_of_units_is_one_of_measures(dataset):
    own = {"unit": {"category": {"index": ["PC"], "label": {"PC": "Percentage"}}}}
    text = cube(
        id=["unit", "sex"],
        size=[1, 2],
        dimension={**CUBE["dimension"], **own},
        value=[50, 50],
        status=None,
    )
    (table,) = dataset(text)
    assert (table.variables, table.statistic) == (("sex",), Statistic.PERCENT)


def test_labels_that_are_the_same_give_way_to_codes(dataset):
    own = {
        "age": {"label": "sex", "category": {"index": ["a", "b"], "label": {"a": "x", "b": "x"}}},
        "sex": CUBE["dimension"]["sex"],
    }
    (table,) = dataset(cube(size=[2, 2], dimension=own, value=[1, 2, 3, 4], status=None))
    assert table.labels[0] == ("a", "b")
    assert table.variables == ("age", "sex")
    assert table.notes == (
        "two variables have one name: their codes are given",
        "two labels of 'sex' are the same: its codes are given",
    )


def test_one_category_needs_no_index(dataset):
    own = {"age": {"category": {"label": {"T": "all ages"}}}, "sex": CUBE["dimension"]["sex"]}
    (table,) = dataset(cube(size=[1, 2], dimension=own, value=[1, 2], status=None))
    assert table.labels[0] == ("all ages",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "t.json must be JSON, got text that is none at line 1, column 2"),
        ("[1]", 't.json must be JSON-stat 2.0 of class "dataset", got something else; save the dataset'),
        ('{"class": "collection"}', "got class 'collection'; save the dataset itself"),
        ('{"class": "dataset", "class": "dataset"}', "JSON without doubt, got 'class' twice in one object"),
        ("[" * 100_000, "JSON of a few levels, got too many"),
        (cube(id=None), "JSON-stat with a list 'id', got none"),
        (cube(size=[3]), "one size and one dimension for each id, got others"),
        (cube(dimension={}), "a category for dimension 'age', got none"),
        (cube(size=[4, 2]), "4 categories in dimension 'age', got 3"),
        (cube(dimension={"age": {"category": {"index": {"a": 0, "b": 0}}}}), "places from 0 on in dimension 'age'"),
        (cube(dimension={"age": {"category": {}}}), "an index of categories in dimension 'age', got none"),
        (cube(value=[1]), "6 entries in 'value', got 1"),
        (cube(value=None), "a list or an object of values, got neither"),
        (cube(value={"6": 1}), "places from 0 to 5 in 'value', got others"),
        (cube(value={"-1": 1}), "places from 0 to 5 in 'value', got others"),
        (cube(value=[1, 2, 3, 4, 5, -6]), "a figure from 0, got '-6' at value[5]"),
        (cube(value=[1, 2, 3, 4, 5, True]), "a number, a mark or null, got something else at value[5]"),
        (cube(value=[1, 2, 3, 4, 5, float("nan")]).replace("NaN", "Infinity"), "got 'Infinity' at value[5]"),
        (cube(value=[1, 2, 3, 4, 5, 2**60]), "a figure below 2**53, got '1152921504606846976' at value[5]"),
        (cube(value=[1, 2, 3, 4, 5, 6]).replace("6]", "9" * 5000 + "]"), "a figure below 2**53"),
        (cube(role={"metric": ["age", "sex"]}), "one dimension of measures, got 2"),
        (b'{"class": "\xff"}', "t.json must be text in utf-8, got bytes that are not"),
    ],
)  # fmt: skip
def test_what_is_refused(dataset, text, message):
    with pytest.raises(FileError) as raised:
        dataset(text)
    assert message in str(raised.value)


def table(**changes):
    """A table of ages and sexes with withheld figures."""
    own = {
        "name": "t",
        "variables": ("age", "sex"),
        "labels": (("0-14", "15+"), ("M", "F")),
        "places": np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
        "printed": ("3", "", "12.50", ""),
        "marks": {3: "x"},
    }
    return PublishedTable(**{**own, **changes})


def test_what_is_written_follows_the_specification():
    about = About(title="Persons", source="us", updated="2024-01-31")
    text = table_bytes(table(), "json-stat2", about=about).decode()
    assert json.loads(text) == {
        "version": "2.0",
        "class": "dataset",
        "label": "Persons",
        "source": "us",
        "updated": "2024-01-31",
        "id": ["age", "sex"],
        "size": [2, 2],
        "dimension": {
            "age": {
                "label": "age",
                "category": {"index": ["0-14", "15+"], "label": {"0-14": "0-14", "15+": "15+"}},
            },
            "sex": {
                "label": "sex",
                "category": {"index": ["M", "F"], "label": {"M": "M", "F": "F"}},
            },
        },
        "value": [3, None, 12.5, None],
        "status": {"1": "c", "3": "x"},
        "extension": {"status": {"label": {"c": "withheld"}}},
    }
    assert '"value":[3,null,12.50,null]' in text


def test_combinations_without_a_figure_are_not_listed():
    own = table(places=np.array([[1, 1], [0, 0]]), printed=("", "3"), marks={})
    found = json.loads(table_bytes(own, "json-stat2"))
    assert found["value"] == {"0": 3, "3": None}
    assert found["status"] == {"3": "c"}
    assert found["label"] == "count"
    assert "updated" not in found
