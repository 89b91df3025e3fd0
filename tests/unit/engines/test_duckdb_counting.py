"""Keys of every type, weights, and missing values, counted into cells."""

import datetime as dt
import math
from collections import Counter
from decimal import Decimal
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.oracles.cells_beside import whole

from discreet.data.csv_dialect import CsvOptions
from discreet.data.records import open_records
from discreet.errors import ColumnError, InputError, MissingError, WeightError


def level_counts(cells, key=0):
    """Records of each level of a key, by its value; None for missing."""
    margin = cells.cells.margins([(key,)])[(key,)]
    return dict(zip(cells.keys[key].values, margin.tolist(), strict=True))


UTC = dt.UTC
DAY = dt.date(2020, 2, 29)
NOON = dt.datetime(2020, 2, 29, 12)
KINDS = {
    "text": pa.array(["b", "a", "b", None]),
    "large text": pa.array(["b", "a", "b", None], pa.large_string()),
    "text view": pa.array(["b", "a", "b", None], pa.string_view()),
    "text of numbers": pa.array(["10", "9", "10", None]),
    "text, zeros in front": pa.array(["1", "01", "1", None]),
    "text, the missing one empty": pa.array(["x", "w", "x", ""]),
    "dictionary, the missing one empty": pa.array(["x", "w", "x", ""]).dictionary_encode(),
    "integers": pa.array([7, -3, 7, None]),
    "integers of 8 bits": pa.array([127, -128, 127, None], pa.int8()),
    "integers, far apart": pa.array([2**63 - 1, -(2**63), 2**63 - 1, None]),
    "integers at the lower end": pa.array([-(2**63) + 1, -(2**63), -(2**63) + 1, None]),
    "unsigned": pa.array([2**64 - 1, 2**63, 2**64 - 1, None], pa.uint64()),
    "decimals": pa.array([Decimal("2.50"), Decimal("-1.00"), Decimal("2.5"), None]),
    "huge decimals": pa.array([Decimal(2**70 + 1), Decimal(2**70), Decimal(2**70 + 1), None]),
    "wide decimals": pa.array(
        [Decimal(2**200 + 1), Decimal(2**200), Decimal(2**200 + 1), None], pa.decimal256(76, 0)
    ),
    "floats": pa.array([2.5, 1.0, 2.5, None]),
    "floats with NaN": pa.array([2.5, 1.0, 2.5, math.nan]),
    "floats of 32 bits": pa.array([0.1, -0.1, 0.1, None], pa.float32()),
    "floats of 16 bits": pa.array(np.array([0.5, 0.25, 0.5, np.nan], np.float16)),
    "infinite floats": pa.array([math.inf, -math.inf, math.inf, None]),
    "huge floats": pa.array([1e300, 1e16, 1e300, None]),
    "booleans": pa.array([True, False, True, None]),
    "dates": pa.array([DAY, dt.date(1969, 12, 31), DAY, None]),
    "dates, far apart": pa.array([dt.date(9999, 12, 31), dt.date(1, 1, 1), None]).take(
        [0, 1, 0, 2]
    ),
    "timestamps": pa.array([NOON + dt.timedelta(microseconds=1), NOON, None]).take([0, 1, 0, 2]),
    "timestamps of a zone": pa.array(
        [NOON.replace(tzinfo=UTC), dt.datetime(1960, 1, 1, tzinfo=UTC), None]
    ).take([0, 1, 0, 2]),
    "nanoseconds": pa.array([2, 1, 2, None], pa.timestamp("ns")),
    "times": pa.array([dt.time(12, 0, 1), dt.time(12), dt.time(12, 0, 1), None]),
    "categories": pa.array(["b", "a", "b", None]).dictionary_encode(),
    "categories of integers": pa.array([10, 9, 10, None]).dictionary_encode(),
    "unused categories": pa.DictionaryArray.from_arrays(
        pa.array([2, 0, 2, None]), pa.array(["a", "never", "b", "nor this"])
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_of_key_counts_the_same(count, kind):
    cells = count(pa.table({"a": KINDS[kind]}), ["a"])
    found = level_counts(cells)
    assert list(found.values()) == [1, 2, 1]
    assert list(found)[-1] is None
    assert len(set(found)) == 3
    assert cells.n_records == 4
    assert cells.keys[0].n_missing == 1


FRAMES = {
    "pandas categories": pd.Series(pd.Categorical(["b", "a", "b", None], ["z", "b", "a"])),
    "pandas cut": pd.Series(pd.cut([7, 1, 8, np.nan], [0, 5, 10])),
    "pandas nullable": pd.array([2, 1, 2, None], dtype="Int64"),
    "pandas text": pd.array(["b", "a", "b", None], dtype="string"),
    "pandas booleans": pd.array([True, False, True, None], dtype="boolean"),
    "pandas objects": pd.Series([Decimal("2"), Decimal("1"), Decimal("2"), None], dtype=object),
    "pandas dates": pd.to_datetime(("2020-01-02", "2020-01-01", "2020-01-02", "NaT")),
    "pandas periods": pd.PeriodIndex(["2020-02", "2020-01", "2020-02", None], freq="M"),
    "pandas floats": pd.Series([2.0, 1.0, 2.0, np.nan]),
    "polars categories": pl.Series(["b", "a", "b", None], dtype=pl.Categorical),
    "polars enum": pl.Series(["b", "a", "b", None], dtype=pl.Enum(["z", "b", "a"])),
    "polars decimal": pl.Series([Decimal("2"), Decimal("1"), Decimal("2"), None]),
    "polars datetime": pl.Series([NOON, dt.datetime(2000, 1, 1), NOON, None]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_type_of_pandas_and_polars_counts_the_same(count, kind):
    maker = pl.DataFrame if kind.startswith("polars") else pd.DataFrame
    found = level_counts(count(maker({"a": FRAMES[kind]}), ["a"]))
    assert list(found.values()) == [1, 2, 1]
    assert list(found)[-1] is None


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("1180591620717411303425::HUGEINT", "1180591620717411303424::HUGEINT"),
        ("'b'::ENUM ('z', 'b', 'a')", "'a'::ENUM ('z', 'b', 'a')"),
        (f"'{UUID(int=2)}'::UUID", f"'{UUID(int=1)}'::UUID"),
        ("TIMETZ '12:00:01+00'", "TIMETZ '12:00:00+00'"),
    ],
)
def test_types_that_only_duckdb_has(count, value, other):
    with duckdb.connect() as con:
        relation = con.sql(f"SELECT unnest([{value}, {other}, {value}, NULL]) AS a")
        assert list(level_counts(count(relation, ["a"])).values()) == [1, 2, 1]


@pytest.mark.parametrize("kind", ["null", "text", "float", "pandas", "polars"])
def test_a_key_that_is_missing_everywhere(count, kind):
    frame = {
        "null": pa.table({"a": pa.nulls(3)}),
        "text": pa.table({"a": pa.nulls(3, pa.string())}),
        "float": pa.table({"a": [math.nan] * 3}),
        "pandas": pd.DataFrame({"a": pd.Series([None] * 3, dtype=object)}),
        "polars": pl.DataFrame({"a": [None] * 3}),
    }[kind]
    cells = count(frame, ["a"])
    assert level_counts(cells) == {None: 3}
    assert cells.cells.space.coding.n_combinations == 1
    with pytest.raises(MissingError, match="none among 3"):
        count(frame, ["a"], missing="drop")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([{"x": 1}, {"x": 2}]),
        pa.array([b"secret", b"b"]),
        pa.array([1, 2], pa.duration("s")),
    ],
    ids=["list", "struct", "bytes", "duration"],
)
def test_types_that_cannot_be_keys_are_named(count, column):
    with pytest.raises(ColumnError, match="'a' must be a column of single values") as caught:
        count(pa.table({"a": column}), ["a"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/New_York"])
def test_moments_are_named_the_same_wherever_it_runs(count, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    moment = pa.array([NOON.replace(tzinfo=UTC)])
    (name,) = count(pa.table({"a": moment}), ["a"]).keys[0].values
    assert name.startswith("2020-02-29 12:00:00")


def test_negative_zero_is_zero(count):
    assert level_counts(count(pa.table({"a": [0.0, -0.0, 1.0]}), ["a"])) == {"0": 2, "1": 1}


def test_floats_that_differ_in_the_last_digit_differ(count):
    column = [0.1 + 0.2, 0.3, np.nextafter(1e15, 2e15), 1e15, 2.0**53, 2.0**53 + 2]
    assert len(level_counts(count(pa.table({"a": column}), ["a"]))) == 6


def test_text_that_looks_alike_differs(count):
    column = ["é", "e\u0301", "e", "E", " e", "e ", "(missing)", "NULL", "\\N", "a\x00b", "a", None]
    cells = count(pa.table({"a": column}), ["a"])
    assert set(cells.keys[0].values) == set(column)
    assert cells.cells.n_cells == len(column)


def test_numbers_written_as_text_stand_in_the_order_of_their_size(count):
    column = ["10", "9", "x", "1", "-2", "1.5"]
    assert count(pa.table({"a": column}), ["a"]).keys[0].values == (
        "-2",
        "1",
        "1.5",
        "9",
        "10",
        "x",
    )


def test_ten_thousand_categories(count):
    levels = [f"level {i}" for i in range(10_000)]
    cells = count(pa.table({"a": levels * 2, "b": [0, 1] * 10_000}), ["a", "b"])
    assert cells.cells.space.coding.sizes == (10_000, 2)
    assert cells.cells.size_indices().to_json() == {"2": 10_000}


@pytest.mark.parametrize("far", [10**6, 10**9, 10**18])
def test_a_few_whole_numbers_far_apart_cost_nothing(count, far):
    cells = count(pa.table({"a": [0, far, far], "b": [far, 0, 0]}), ["a", "b"])
    assert level_counts(cells) == {"0": 1, str(far): 2}
    assert cells.cells.size_indices().to_json() == {"1": 1, "2": 1}


@pytest.mark.parametrize("missing", ["category", "drop"])
@pytest.mark.parametrize(("n_keys", "levels"), [(45, 3), (70, 2), (130, 4)])
def test_tables_beyond_every_machine_word(count, n_keys, levels, missing):
    rng = np.random.default_rng(n_keys)
    rows = rng.integers(0, levels, (60, n_keys)).astype(object)
    rows[30:] = rows[:30]
    rows[rng.random(rows.shape) < 0.005] = None
    names = [f"k{j}" for j in range(n_keys)]
    table = pa.table({name: rows[:, j].tolist() for j, name in enumerate(names)})
    cells = count(table, names, missing=missing)
    kept = [tuple(row) for row in rows if missing == "category" or None not in row]
    sizes = Counter(Counter(kept).values())
    assert cells.cells.size_indices().to_json() == {str(s): n for s, n in sorted(sizes.items())}
    assert cells.n_records == len(kept)
    assert cells.cells.space.coding.n_combinations == math.prod(
        len(set(column)) for column in zip(*kept)
    )
    assert cells.cells.space.coding.n_words > 1
    assert cells.n_incomplete == sum(None in row for row in rows)
    for j in range(n_keys):
        expected = Counter(row[j] if row[j] is None else str(row[j]) for row in kept)
        assert level_counts(cells, j) == expected


class TestMissing:
    TABLE = pa.table(
        {"a": [1, None, 1, 2, None, 7], "b": ["x", "x", None, "y", None, None], "w": [1.0] * 6}
    )

    def test_as_a_category_of_its_own(self, count):
        cells = count(self.TABLE, ["a", "b"])
        assert (cells.n_records, cells.n_dropped, cells.n_incomplete) == (6, 0, 4)
        assert cells.cells.size_indices().to_json() == {"1": 6}
        assert [key.n_missing for key in cells.keys] == [2, 3]
        assert [key.labels[-1] for key in cells.keys] == ["(missing)", "(missing)"]
        assert cells.cells.space.coding.sizes == (4, 3)

    def test_dropped_with_the_levels_that_only_they_have(self, count):
        cells = count(self.TABLE, ["a", "b"], missing="drop")
        assert (cells.n_records, cells.n_dropped, cells.n_incomplete) == (2, 4, 4)
        assert [key.n_missing for key in cells.keys] == [2, 3]
        assert [key.values for key in cells.keys] == [("1", "2"), ("x", "y")]

    def test_refused_with_their_number_and_the_keys(self, count):
        with pytest.raises(MissingError) as caught:
            count(self.TABLE, ["a", "b"], missing="error")
        assert "keys must be known in every record" in str(caught.value)
        assert "got 4 of 6 records without 'a' or 'b'" in str(caught.value)
        assert count(self.TABLE, ["w"], missing="error").n_records == 6

    def test_nothing_left_to_count(self, count):
        table = pa.table({"a": [1, None], "b": [None, "x"]})
        with pytest.raises(MissingError, match="none among 2"):
            count(table, ["a", "b"], missing="drop")

    @pytest.mark.parametrize("far", [2**63 - 1, 2**62, -(2**63)])
    def test_a_dropped_record_may_hold_any_number(self, count, far):
        table = pa.table({"a": [0, -5, -4, -3, -2, -1, far], "b": ["x"] * 6 + [None]})
        cells = count(table, ["a", "b"], missing="drop")
        assert cells.n_records == 6
        assert cells.cells.space.coding.sizes == (6, 1)

    def test_weights_of_dropped_records_do_not_count(self, count):
        table = pa.table({"a": [1, None, None, 2], "w": [0.5, 0.25, 7.0, 3.0]})
        weights = count(table, ["a"], missing="drop", weight="w").weights
        assert weights.total == 3.5
        assert weights.n_below_one == 1

    def test_empty_fields_of_csv_are_missing(self, count, tmp_path):
        (tmp_path / "s.csv").write_text('a,b\n1,\n"",x\n" ",x\n')
        cells = count(tmp_path / "s.csv", ["a", "b"])
        assert level_counts(cells, 0) == {"1": 1, " ": 1, None: 1}
        assert level_counts(cells, 1) == {"x": 2, None: 1}


def test_nan_in_a_parquet_file_is_missing(count, tmp_path):
    numbers = pa.table({"a": [2.5, 1.0, 2.5, math.nan]})  # the file says: from 1 to 2.5, no NULL
    pq.write_table(numbers, tmp_path / "s.parquet")
    assert level_counts(count(tmp_path / "s.parquet", ["a"])) == {"1": 1, "2.5": 2, None: 1}


class TestWeights:
    def totals(self, cells):
        return whole(cells.cells).weight_total.tolist()

    @pytest.mark.parametrize(
        "weights",
        [
            [1, 2, 3],
            [1.5, 2.25, 0.125],
            [Decimal("1.5"), Decimal("2.25"), Decimal("3.00")],
            ["1.5", " 2 ", "3e2"],
            [1e-10, 3e-10, 5e-9],
            [1e14, 2e14, 1.0],
            [0.1, 0.2, 0.3],
            [1 / 3_000_000] * 3,
        ],
        ids=["int", "float", "decimal", "text", "tiny", "large", "tenths", "shares"],
    )
    def test_they_add_up_in_every_cell(self, count, weights):
        cells = count(pa.table({"a": ["x", "y", "x"], "w": weights}), ["a"], weight="w")
        numbers = [float(weight) for weight in weights]
        expected = [math.fsum([numbers[0], numbers[2]]), numbers[1]]
        assert self.totals(cells) == pytest.approx(expected, rel=1e-9, abs=0)
        assert cells.weights.total == pytest.approx(math.fsum(numbers), rel=1e-9, abs=0)
        assert cells.weights.smallest == min(numbers)
        assert cells.weights.largest == max(numbers)
        assert cells.weights.n_below_one == sum(number < 1 for number in numbers)

    def test_sizes_too_far_apart_are_refused_rather_than_rounded(self, count):
        table = pa.table({"a": ["x", "y"], "w": [1e14, 1e-14]})
        try:
            assert self.totals(count(table, ["a"], weight="w")) == pytest.approx([1e14, 1e-14])
        except WeightError as error:
            assert "weight 'w' must be" in str(error)

    def test_the_total_does_not_depend_on_the_order(self, count):
        rng = np.random.default_rng(0)
        weights = rng.lognormal(3, 2, 20_000)
        keys = rng.integers(0, 3, 20_000)
        found = set()
        for _ in range(3):
            order = rng.permutation(20_000)
            table = pa.table({"a": keys[order], "w": weights[order]})
            cells = count(table, ["a"], weight="w")
            found.add((cells.weights.total, *self.totals(cells)))
        assert len(found) == 1

    @pytest.mark.parametrize(
        ("bad", "kind"),
        [
            (0.0, "1 zero"),
            (-1.0, "1 negative"),
            (None, "1 missing or not a number"),
            (math.nan, "1 missing or not a number"),
            (math.inf, "1 infinite"),
            (-math.inf, "1 infinite"),
        ],
    )
    def test_what_no_design_produces_is_refused(self, count, bad, kind):
        table = pa.table({"a": [1, 2, 3, 4], "w": [1.5, 12345.678, bad, 2.0]})
        with pytest.raises(WeightError) as caught:
            count(table, ["a"], weight="w")
        message = str(caught.value)
        assert "weight 'w' must be a positive, finite number in every record" in message
        assert f"got 1 that are not ({kind}) at record 3 first" in message
        assert "12345" not in message

    @pytest.mark.parametrize(
        "bad", ["x", "1,5", "", "0x10", "True", "1_000", "1.5.2", "1e400", "٣", "1 000", "$5", "-0"]
    )
    def test_text_that_is_no_number_is_refused(self, count, tmp_path, bad):
        (tmp_path / "s.csv").write_text(f'a,w\n1,2.5\n2,"{bad}"\n3,"{bad}"\n4,1\n')
        with pytest.raises(WeightError, match=r"got 2 that are not .* at record 2 first") as caught:
            count(tmp_path / "s.csv", ["a"], weight="w")
        assert not bad or bad in ("1,5", "-0") or f"{bad!r}" not in str(caught.value)

    def test_several_kinds_are_counted_apart(self, count):
        table = pa.table({"a": [1] * 5, "w": [1.0, 0.0, None, -2.0, 0.0]})
        with pytest.raises(WeightError) as caught:
            count(table, ["a"], weight="w")
        assert "got 4 that are not (1 missing or not a number, 2 zero, 1 negative)" in str(
            caught.value
        )

    def test_decimal_commas(self, count, tmp_path):
        (tmp_path / "s.csv").write_text("a;w\n1;1,5\n2;2\n")
        with pytest.raises(WeightError, match="give ',' as the mark"):
            count(tmp_path / "s.csv", ["a"], weight="w")
        options = CsvOptions(decimal=",")
        cells = count(tmp_path / "s.csv", ["a"], weight="w", csv=options, decimal=",")
        assert cells.weights.total == 3.5

    @pytest.mark.parametrize("bad", ["1.500", "1.234,5", "1,5,0"])
    def test_a_point_is_no_decimal_comma(self, count, tmp_path, bad):
        (tmp_path / "s.csv").write_text(f"a;w\n1;1,5\n2;{bad}\n")
        with pytest.raises(WeightError, match="at record 2 first"):
            count(tmp_path / "s.csv", ["a"], weight="w", decimal=",")

    @pytest.mark.parametrize("column", [[True, False], ["x", "y"], [dt.date(2020, 1, 1)] * 2])
    def test_columns_that_hold_no_numbers(self, count, column):
        with pytest.raises((ColumnError, WeightError), match="weight 'w' must be a"):
            count(pa.table({"a": [1, 2], "w": column}), ["a"], weight="w")

    def test_a_weight_missing_everywhere(self, count):
        with pytest.raises(WeightError, match="got 2 that are not"):
            count(pa.table({"a": [1, 2], "w": pa.nulls(2)}), ["a"], weight="w")

    def test_the_first_bad_record_of_a_long_file(self, count, tmp_path):
        lines = ["1,2.5"] * 700_000
        lines[600_000] = "1,-1"
        lines[600_005] = "1,"
        (tmp_path / "s.csv").write_text("a,w\n" + "\n".join(lines) + "\n")
        with pytest.raises(WeightError, match="got 2 .* at record 600,001 first"):
            count(tmp_path / "s.csv", ["a"], weight="w")


@pytest.mark.parametrize(
    "table", [pa.table({"a": pa.array([], pa.int64())}), pd.DataFrame({"a": []})]
)
def test_no_record_at_all(count, table):
    with pytest.raises(InputError, match="a frame with at least one record, got none"):
        count(table, ["a"])


@pytest.mark.parametrize(("role", "name"), [("keys", "aa"), ("weight", "ww")])
def test_a_column_that_is_not_there(count, role, name):
    options = {"weight": name} if role == "weight" else {}
    with pytest.raises(ColumnError, match=f"{role} must be .* got '{name}'; did you mean"):
        count(pa.table({"a": [1], "w": [1]}), [name if role == "keys" else "a"], **options)


def test_records_may_be_counted_twice():
    records = open_records(pa.table({"a": [1, 2]}))
    assert records.scan([0]) == records.scan([0])
