"""Where a report comes from: inside all of it, outside nothing that helps to work back."""

import hashlib
import platform
from datetime import datetime, timedelta
from importlib.metadata import version

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.unit.report.showing import page_words

from discreet.data.table import Table
from discreet.flows.audit import audit
from discreet.report import provenance as module
from discreet.report.document import Document
from discreet.report.provenance import provenance, sources_of, with_provenance
from discreet.report.writing import write_report


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("a,b\n1,2\n")
    return path


def test_a_file_is_told_by_its_name_and_hash(survey):
    found = provenance(command="discreet x", sources=sources_of(survey))
    told = dict(found.facts())
    assert told["survey.csv"] == f"SHA-256 {hashlib.sha256(survey.read_bytes()).hexdigest()}"
    assert told["command"] == "discreet x"
    assert f"Discreet {version('discreet')}, Python 3." in told["versions"]
    assert str(survey.parent) not in str(told)
    survey.write_text("a,b\n1,3\n")
    assert sources_of(survey) != found.sources


def test_many_files_have_one_hash_that_each_of_them_changes(tmp_path):
    frame = pd.DataFrame({"a": range(10)})
    for i in range(8):
        frame.to_parquet(tmp_path / f"{i}.parquet")
    before = sources_of(tmp_path)
    assert len(before) == 1
    assert before[0].told.startswith("8 files")
    frame.assign(a=1).to_parquet(tmp_path / "3.parquet")
    assert sources_of(tmp_path) != before


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (pd.DataFrame, "pandas DataFrame"),
        (pl.DataFrame, "polars DataFrame"),
        (pa.table, "pyarrow Table"),
    ],
)
def test_a_frame_is_told_by_its_kind_and_shape(make, kind):
    (found,) = sources_of(make({"a": [1, 2, 3], "b": [1, 2, 3]}))
    assert found.told == f"{kind}: 3 rows, 2 columns"


def test_nothing_is_made_up_where_nothing_is_known():
    assert sources_of(None) == ()
    assert sources_of("no-such-file") == ()
    assert [name for name, _ in provenance().facts()] == ["made", "versions"]


def test_the_date_has_its_zone_and_can_be_fixed(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    made = datetime.fromisoformat(provenance().made)
    assert made.utcoffset() is not None
    assert abs(datetime.now().astimezone() - made) < timedelta(minutes=5)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert provenance().made == "1970-01-02 00:00:00+00:00"


def test_a_public_report_has_no_hash_no_command_and_no_path(survey):
    """A hash of a small table tells which of the tables that fit is the true one."""
    found = provenance(
        command=f"discreet audit {survey} --max-risk 0.2 --seed 77",
        public_command="discreet audit",
        sources=sources_of(survey),
    )
    told = str(with_provenance(Document(title="t", mark="public"), found).made)
    assert "survey.csv" in told
    assert hashlib.sha256(survey.read_bytes()).hexdigest()[:4] not in told
    assert not [secret for secret in (str(survey.parent), "0.2", "77", "seed") if secret in told]
    inside = str(with_provenance(Document(title="t", mark="confidential"), found).made)
    assert "--seed 77" in inside


def test_reports_from_python_say_it_too(tmp_path, survey, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    result = audit(Table.of_dense(np.array([[3, 1], [2, 4]]), ["a", "b"]), [["a"]])
    pages = []
    for _ in range(2):
        write_report(result, tmp_path / "r.html", source=survey)
        pages.append((tmp_path / "r.html").read_bytes())
    assert pages[0] == pages[1]
    text = pages[0].decode()
    assert "1970-01-02" in text
    assert module._hash(survey) in text
    write_report(result, tmp_path / "e.html", source=survey, external=True)
    outside = (tmp_path / "e.html").read_text()
    assert "survey.csv" in outside
    assert module._hash(survey)[:8] not in outside


def test_it_stands_at_the_foot_of_the_page():
    document = with_provenance(Document(title="t"), provenance(command="discreet <x>"))
    said = page_words(document)
    assert said.endswith(f"Python {platform.python_version()}")
    assert "Where this report comes from" in said
    assert "discreet <x>" in said  # escaped in the page, as all texts
