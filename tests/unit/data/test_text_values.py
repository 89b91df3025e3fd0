"""Numbers that came as text become numbers only where nothing is lost."""

import pyarrow as pa
import pytest

from discreet.data.text_values import typed_text


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-20", None, ""], pa.int64()),
        (["0", "999999999999999"], pa.int64()),
        (["1", "2.50", None], pa.float64()),
        (["-0.125"], pa.float64()),
        (["01", "2"], pa.string()),
        (["1", "a"], pa.string()),
        (["1 "], pa.string()),
        (["+1"], pa.string()),
        (["1e5"], pa.string()),
        (["1234567890123456"], pa.string()),
        (["0.12345678901234567"], pa.string()),
        (["nan"], pa.string()),
        (["1,5"], pa.string()),
        (["", None], pa.string()),
        ([], pa.string()),
    ],
)
def test_a_column_is_of_numbers_if_every_value_is_one_written_plainly(texts, kind):
    found = typed_text(pa.chunked_array([pa.array(texts, pa.string())]))
    assert found.type == kind
    if kind == pa.string():
        assert found.to_pylist() == texts
    else:
        assert found.to_pylist() == [float(text) if text else None for text in texts]


def test_what_is_no_text_stays_as_it_is():
    column = pa.chunked_array([[1, None]])
    assert typed_text(column) is column
