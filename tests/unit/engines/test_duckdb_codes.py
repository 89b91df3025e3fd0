"""Codes for missing, suppressed and not applicable: as values, as labels, and those that never
occur.
"""

from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from tests.oracles.cells_beside import column

from discreet.data.missing import MissingCodes
from discreet.engines.contract import IdleCode
from discreet.errors import InputError, WeightError

LABELS: Any = {"job": {1: "Nurse", 2: "Teacher", 8: "Refused", 9: "Refused", 7: "No job"}}


@pytest.fixture
def labelled(tmp_path):
    """A file whose value labels are those of a survey."""
    path = tmp_path / "s.sav"
    data = pd.DataFrame({"job": [1, 1, 2, 8, 9, 7], "age": [30, 99, 30, 31, 32, 99]})
    pyreadstat.write_sav(data, path, variable_value_labels=LABELS)
    return path


def missing(cells):
    return {key.name: (key.n_missing, key.n_suppressed, key.n_not_applicable) for key in cells.keys}


@pytest.mark.parametrize(
    "codes",
    [
        MissingCodes(missing={"job": ["Refused"]}, not_applicable={"job": ["No job"]}),
        MissingCodes(missing={"job": ["8", "9"]}, not_applicable={"job": ["7"]}),
        MissingCodes(missing={"*": ["Refused"]}, not_applicable={"*": ["7"]}),
        MissingCodes(missing={"job": ["Refused", "8"]}, not_applicable={"job": ["7"]}),
    ],
)
def test_a_code_is_a_value_or_every_value_it_labels(count, labelled, codes):
    cells = count(labelled, ["job", "age"], codes=codes)
    assert missing(cells) == {"job": (2, 0, 1), "age": (0, 0, 0)}
    assert cells.idle_codes == ()
    assert cells.keys[0].labels == ("Nurse", "Teacher", "(not applicable)", "(missing)")


def test_one_value_of_two_kinds_by_its_label_is_refused(count, labelled):
    codes = MissingCodes(missing={"job": ["Refused"]}, suppressed={"job": ["8"]})
    with pytest.raises(InputError, match="codes of 'job' must be codes of one kind each"):
        count(labelled, ["job"], codes=codes)


@pytest.mark.parametrize("labels", [{1: "9", 9: "Other"}, {1: "9"}])
def test_a_value_that_is_the_label_of_another_is_ambiguous(count, tmp_path, labels):
    data = pd.DataFrame({"job": [1, 9, 9, 2]})
    given: Any = {"job": labels}
    pyreadstat.write_sav(data, tmp_path / "s.sav", variable_value_labels=given)
    with pytest.raises(InputError, match="code '9' of 'job' must be a value or the label of one"):
        count(tmp_path / "s.sav", ["job"], codes=MissingCodes(missing={"job": ["9"]}))


def test_a_label_of_a_value_that_never_occurs_leaves_the_value_alone(count, tmp_path):
    data = pd.DataFrame({"job": [9, 9, 2]})
    labels: Any = {"job": {1: "9"}}
    pyreadstat.write_sav(data, tmp_path / "s.sav", variable_value_labels=labels)
    cells = count(tmp_path / "s.sav", ["job"], codes=MissingCodes(missing={"job": ["9"]}))
    assert missing(cells)["job"] == (2, 0, 0)


@pytest.mark.parametrize("policy", ["category", "wildcard", "drop"])
def test_codes_that_never_occur_are_told(count, policy):
    table = pa.table({"a": ["x", "NA", "y"], "b": [1, 2, 99]})
    codes = MissingCodes(
        missing={"*": ["NA", "none"], "b": ["99", "98"]},
        suppressed={"a": ["*"]},
        not_applicable={"a": ["y"]},
    )
    cells = count(table, ["a", "b"], codes=codes, missing=policy)
    assert set(cells.idle_codes) == {
        IdleCode(kind="missing", column="*", code="none"),
        IdleCode(kind="missing", column="b", code="98"),
        IdleCode(kind="suppressed", column="a", code="*"),
    }


def test_codes_count_in_sensitive_variables_too(count):
    table = pa.table({"a": [1, 1, 1, 2], "s": ["p", "NA", "*", "q"]})
    codes = MissingCodes(missing={"s": ["NA"]}, suppressed={"s": ["*"]})
    cells = count(table, ["a"], sensitive=("s",), codes=codes)
    assert cells.idle_codes == ()
    labels, records = cells.sensitive_totals("s")
    assert dict(zip(labels, records.tolist(), strict=True)) == {"p": 1, "q": 1}


def test_the_population_is_read_by_the_same_codes(count, labelled, tmp_path):
    codes = MissingCodes(missing={"job": ["Refused"]})
    register = pd.DataFrame({"job": ["1", "1", "2", "8", "9", "9", "7", "5"]})
    register.to_csv(tmp_path / "p.csv", index=False)
    cells = count(labelled, ["job"], codes=codes)
    from discreet.data.records import open_records

    counts = cells.count_population(open_records(tmp_path / "p.csv"))
    told = dict(
        zip(cells.keys[0].labels, column(cells.cells, "population_count").tolist(), strict=True)
    )
    assert told == {"Nurse": 2, "Teacher": 1, "No job": 1, "(missing)": 3}
    assert counts.total == 8


def test_a_label_may_be_given_where_its_value_is_the_label_of_another(count, tmp_path):
    path = tmp_path / "l.sav"
    frame = pd.DataFrame({"job": [1.0, 9.0, 99.0]})
    pyreadstat.write_sav(frame, path, variable_value_labels={"job": {9: "Refused", 99: "9"}})
    cells = count(path, ["job"], codes=MissingCodes(missing={"job": ["Refused"]}))
    assert cells.keys[0].values == ("1", "99", None)
    with pytest.raises(InputError, match="code '9' of 'job' must be a value or the label of one"):
        count(path, ["job"], codes=MissingCodes(missing={"job": ["9"]}))


def test_not_applicable_is_counted_in_records_that_are_left_out_too(count):
    table = pa.table({"a": ["x", None, None], "b": ["none", "none", "*"]})
    codes = MissingCodes(not_applicable={"b": ["none"]}, suppressed={"b": ["*"]})
    key = count(table, ["a", "b"], missing="drop", codes=codes).keys[1]
    assert (key.n_not_applicable, key.n_suppressed, key.n_missing) == (2, 1, 0)


def test_values_that_a_stata_file_declares_missing_can_be_told_apart(count, tmp_path):
    path = tmp_path / "m.dta"
    frame = pd.DataFrame({"job": pd.Series([1, 2, "a", "b", "a", None], dtype=object)})
    pyreadstat.write_dta(
        frame,
        path,
        missing_user_values={"job": ["a", "b"]},
        variable_value_labels={"job": {1: "Nurse", "a": "Refused"}},
    )
    assert count(path, ["job"]).keys[0].n_missing == 4
    codes = MissingCodes(suppressed={"job": ["Refused"]}, not_applicable={"job": [".b"]})
    cells = count(path, ["job"], codes=codes)
    key = cells.keys[0]
    assert cells.idle_codes == ()
    assert (key.n_missing, key.n_suppressed, key.n_not_applicable) == (1, 2, 1)
    assert {"Nurse", "2", "(suppressed)", "(not applicable)", "(missing)"} == set(key.labels)


def test_values_that_an_spss_file_declares_missing_can_be_told_apart(count, tmp_path):
    path = tmp_path / "m.sav"
    frame = pd.DataFrame({"job": [1.0, 9.0, 98.0, 99.0, None], "w": [1.0, 2.0, 3.0, 4.0, 9.0]})
    pyreadstat.write_sav(
        frame,
        path,
        missing_ranges={"job": [9, {"lo": 98, "hi": 99}], "w": [9]},
        variable_value_labels={"job": {9: "Refused"}},
    )
    assert count(path, ["job"]).keys[0].n_missing == 4
    codes = MissingCodes(suppressed={"*": ["9"]}, not_applicable={"job": ["98"]})
    key = count(path, ["job"], codes=codes).keys[0]
    assert (key.n_missing, key.n_suppressed, key.n_not_applicable) == (2, 1, 1)
    with pytest.raises(WeightError, match="1 missing or not a number"):
        count(path, ["job"], codes=codes, weight="w")
