"""Frames: whether a column is read depends on its type alone, and no two values become one."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise import UNRECORDED, Privacy, protect
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources import fetch, open_source

DAY = 86_400_000


def read(frame: object) -> tuple[str, list[Any]]:
    """Return the kind of the column c, and its values."""
    source = open_source(frame)
    return source.kinds["c"], [value for (value,) in fetch(source, source.table[["c"]])]


def of_bytes(*cells: bytes, kind: pa.DataType = pa.string()) -> pa.Array:  # noqa: B008 -- a type
    """Return an Arrow array of strings that are not checked to be UTF-8."""
    width = "i8" if kind == pa.large_string() else "i4"
    ends = np.cumsum([0, *map(len, cells)]).astype(width)
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(cells))]
    return pa.Array.from_buffers(kind, len(cells), buffers)


# ------------------------------------------------------------------------- types alone decide

# For each type of pandas, a column with harmless cells, and one with a cell that cannot be read.
PANDAS = {
    "objects": (pd.Series(["a", "b"], dtype=object), pd.Series(["a", 2**70], dtype=object)),
    "mixed categories": (
        pd.Series(pd.Categorical(pd.Index(["a", "b"], dtype=object))),
        pd.Series(pd.Categorical(pd.Index(["a", 1], dtype=object))),
    ),
    "large categories": (
        pd.Series(pd.Categorical(pd.Index([1, 2], dtype=object))),
        pd.Series(pd.Categorical(pd.Index([1, 2**70], dtype=object))),
    ),
    "strings": (
        pd.Series(["a", "b"], dtype="string[python]"),
        pd.Series(["a", "\ud800"], dtype="string[python]"),
    ),
    "categories": (
        pd.Series(["a", "b"], dtype="string[python]").astype("category"),
        pd.Series(["a", "\ud800"], dtype="string[python]").astype("category"),
    ),
    "Arrow strings": (
        pd.Series(["a", "b"], dtype=pd.ArrowDtype(pa.string())),
        pd.Series(pd.arrays.ArrowExtensionArray(of_bytes(b"a", b"\xff"))),
    ),
    "Arrow days": (
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array([0, DAY], pa.date64()))),
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array([0, DAY << 32], pa.date64()))),
    ),
    "complex": (pd.Series([1j, 2j]), pd.Series([1j, complex("nan")])),
    "periods": (
        pd.Series(pd.period_range("2020", periods=2)),
        pd.Series(pd.PeriodIndex(["2020-01-01", None], freq="D")),
    ),
    "intervals": (
        pd.Series(pd.interval_range(0.0, 2.0)),
        pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), None])),
    ),
    "cut": (pd.cut(pd.Series([1, 2]), 2), pd.cut(pd.Series([1, None]), 2)),
    "times": (
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"])),
        pd.Series(pd.to_datetime(["2020-01-01", None])),
    ),
}


@pytest.mark.parametrize("name", PANDAS)
def test_one_cell_does_not_decide_whether_a_frame_is_read(name: str) -> None:
    """Version 0.5 rejected a frame with a mixed category, a lone surrogate or a 2⁷⁰."""
    harmless, other = PANDAS[name]
    assert str(harmless.dtype) == str(other.dtype)
    (kind, _), (same, cells) = read(pd.DataFrame({"c": harmless})), read(pd.DataFrame({"c": other}))
    assert kind == same
    if kind == "other":
        assert cells == [None, None]
    else:
        assert cells[0] is not None
        assert cells[1] is None
    # So it is with no rows, and with other rows.
    assert open_source(pd.DataFrame({"c": other.iloc[:0]})).kinds["c"] == kind


@pytest.mark.parametrize(
    ("column", "kind", "cells"),
    [
        (pd.Series([1, None], dtype="Int64"), "integer", [1, None]),
        (pd.Series([2**64 - 1], dtype="uint64"), "integer", [2**64 - 1]),
        (pd.Series(np.array([1, 2], dtype=">i4")), "integer", [1, 2]),
        (pd.Series([1.5, None], dtype="Float32"), "real", [1.5, None]),
        (pd.Series([1.5, np.nan], dtype="float16"), "real", [1.5, None]),
        (pd.Series([1.5], dtype="longdouble"), "other", [None]),
        (pd.Series([True, None], dtype="boolean"), "boolean", [True, None]),
        (pd.Series(["a", None, "a\0", ""]), "text", ["a", None, "a\0", ""]),
        (pd.Series(["a", None, "b"]).astype("category"), "text", ["a", None, "b"]),
        (pd.Series([7, 8, 7]).astype("category"), "integer", [7, 8, 7]),
        (pd.Series([True, None], dtype="boolean").astype("category"), "boolean", [True, None]),
        (pd.Series(pd.arrays.SparseArray([0, 7, 0])), "integer", [0, 7, 0]),
        (
            pd.Series([datetime.date(2020, 2, 29)], dtype=pd.ArrowDtype(pa.date32())),
            "date",
            [datetime.date(2020, 2, 29)],
        ),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_pandas_columns_are_what_they_mean(column: pd.Series, kind: str, cells: list[Any]) -> None:
    assert read(pd.DataFrame({"c": column})) == (kind, cells)
    assert read(pd.DataFrame({"c": column.iloc[:0]})) == (kind, [])


@pytest.mark.parametrize(
    ("column", "kind", "cells"),
    [
        (pl.Series(["a", None, "b"], dtype=pl.Categorical), "text", ["a", None, "b"]),
        (pl.Series(["a", None], dtype=pl.Enum(["a", "b"])), "text", ["a", None]),
        (pl.Series(["a", "a\0"]), "text", ["a", "a\0"]),
        (pl.Series([object(), "\ud800"], dtype=pl.Object), "other", [None, None]),
        (pl.Series([[1], None]), "other", [None, None]),
        (pl.Series([{"a": 1}]), "other", [None]),
        (pl.Series([None, None]), "other", [None, None]),
        (pl.Series([datetime.timedelta(1)]), "other", [None]),
        (pl.Series([datetime.time(1)]), "other", [None]),
        (pl.Series([b"\xff"]), "other", [None]),
        (pl.Series([2**100], dtype=pl.Int128), "other", [None]),
        (pl.Series([2**64 - 1], dtype=pl.UInt64), "integer", [2**64 - 1]),
        (pl.Series([Decimal("1.5")], dtype=pl.Decimal(38, 2)), "decimal", None),
        (pl.Series([datetime.date(1, 1, 1)]), "date", [datetime.date(1, 1, 1)]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_polars_columns_are_what_they_mean(
    column: pl.Series, kind: str, cells: list[Any] | None
) -> None:
    frame = column.alias("c").to_frame()
    assert open_source(frame).kinds["c"] == open_source(frame.clear()).kinds["c"] == kind
    if cells is not None:
        assert read(frame) == (kind, cells)


ARROW = [
    *[pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.date32(), pa.date64()],
    *[pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(3), pa.null()],
    *[pa.decimal32(5, 2), pa.decimal128(38, 0), pa.decimal128(10, -2), pa.decimal128(5, 7)],
    *[pa.decimal256(38, 2), pa.decimal256(76, 0), pa.timestamp("ns", "UTC"), pa.timestamp("s")],
    *[pa.time32("s"), pa.time64("ns"), pa.duration("s"), pa.month_day_nano_interval()],
    *[pa.list_(pa.int8()), pa.struct([("a", pa.date64())]), pa.map_(pa.string(), pa.int8())],
    *[pa.list_view(pa.int8()), pa.list_(pa.dictionary(pa.int8(), pa.string()))],
    *[pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.date64())],
    *[pa.dictionary(pa.int8(), pa.string_view())],
    *[pa.dictionary(pa.int8(), pa.binary()), pa.dictionary(pa.int8(), pa.duration("s"))],
    *[pa.run_end_encoded(pa.int32(), pa.string()), pa.run_end_encoded(pa.int32(), pa.date64())],
    *[pa.run_end_encoded(pa.int32(), pa.time32("s")), pa.uuid(), pa.json_(), pa.bool8()],
]


@pytest.mark.parametrize("kind", ARROW, ids=str)
def test_every_arrow_type_is_read_or_of_another_kind(kind: pa.DataType) -> None:
    """No type makes a frame unreadable, with rows or without."""
    with_rows = read(pa.table({"c": pa.nulls(2, kind), "n": [1, 2]}))
    assert with_rows == (read(pa.schema([("c", kind)]).empty_table())[0], [None, None])


def test_encoded_columns_are_decoded() -> None:
    nulls = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["a", None, "b"]))
    nested = pa.DictionaryArray.from_arrays(
        pa.array([1, 0]), pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "b"]))
    )
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    chunks = pa.chunked_array([nested, nested.slice(1)])
    expected = [["a", None, None, "b"], ["b", "a"], ["a", "a", "b"], ["b", "a", "a"]]
    for column, cells in zip([nulls, nested, runs, chunks], expected, strict=True):
        assert read(pa.table({"c": column})) == ("text", cells)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_strings_that_are_not_utf8_are_missing(kind: pa.DataType) -> None:
    cells = of_bytes(b"a", b"\xff", b"\xed\xa0\x80", b"\xc3\xa9", b"", kind=kind)
    assert read(pa.table({"c": cells})) == ("text", ["a", None, None, "é", ""])
    indices = pa.array([0, 1, None, 3])
    encoded = pa.DictionaryArray.from_arrays(indices, cells)
    assert read(pa.table({"c": encoded})) == ("text", ["a", None, None, "é"])


def test_encoded_string_views_hide_no_other_column() -> None:
    """Arrow decodes neither of them."""
    views = pa.array(["a", "b"], pa.string_view())
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 1]), views)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), views)
    for column in (encoded, runs):
        source = open_source(pa.table({"c": column, "n": [1, 2]}))
        assert source.kinds == {"c": "other", "n": "integer"}


@pytest.mark.parametrize(
    "kind",
    [
        *[pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(4, 2), pa.decimal128(5, 2)],
        *[pa.decimal128(18, 2), pa.decimal128(20, 3), pa.decimal128(38, 0), pa.decimal128(38, 38)],
    ],
    ids=str,
)
def test_decimals_beyond_their_type_are_missing(kind: pa.DataType) -> None:
    """Arrow does not check the integers that decimals are stored as."""
    last = 1 << (kind.bit_width - 1)
    integers = [0, 1, 10**kind.precision - 1, 10**kind.precision, last - 1, 2**62, 10**20, 10**38]
    integers = [one for number in integers for one in (number, -number) if -last <= one < last]
    content = b"".join(one.to_bytes(kind.byte_width, "little", signed=True) for one in integers)
    cells = pa.Array.from_buffers(kind, len(integers), [None, pa.py_buffer(content)])
    source = open_source(pa.table({"c": cells, "n": range(len(integers))}))
    fitting = [place for place, one in enumerate(integers) if abs(one) < 10**kind.precision]
    assert 5 <= len(fitting) < len(integers)
    known = source.table.filter(source.table.c.notnull())
    digits = fetch(source, known.order_by("n").select(c=known.c.cast("string"), n=known.n))
    assert [place for _, place in digits] == fitting
    for text, place in digits:
        assert Fraction(text) * 10**kind.scale == integers[place]
    encoded = pa.DictionaryArray.from_arrays(pa.array(range(len(integers))), cells)
    source = open_source(pa.table({"c": encoded}))
    counts = fetch(source, source.table.aggregate(c=source.table.c.count()))
    assert counts == [(len(fitting),)]


def test_memory_that_is_no_arrow_table_is_rejected() -> None:
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["a"]), safe=False)
    with pytest.raises(Unsupported, match="must be valid in memory") as caught:
        open_source(pa.table({"c": wrong}))
    assert caught.value.__context__ is None


def test_a_column_that_is_not_read_is_rejected_where_it_is_used() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(pd.Index(["a", 1], dtype=object)), "n": [1, 2]})
    people = protect(frame, unit=None, ledger=UNRECORDED)
    with pytest.raises(InvalidParameter, match="'c'"):
        people.count(by="c", groups=["a"], privacy=Privacy(1))
    assert people.count(where="n = 1", privacy=Privacy(1)) is not None


# ------------------------------------------------------------------------- no two values become one

DATES = [0, 1, DAY - 1, DAY, DAY + 1, -1, -DAY, DAY << 31, DAY << 32, (DAY << 32) + DAY]
DATES += [DAY * ((1 << 31) - 1), -(DAY << 31), -(DAY << 31) - DAY, -(1 << 63), (1 << 63) - 1]


def naive(kind: pa.DataType, cells: list[Any]) -> list[Any]:
    """Read as version 0.5 did: DuckDB reads the Arrow table as it is."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("records", pa.table({"c": pa.array(cells, kind)}))
        return [cell for (cell,) in connection.sql("SELECT c::VARCHAR FROM records").fetchall()]


@given(days=st.lists(st.sampled_from(DATES) | st.integers(-(2**63), 2**63 - 1), max_size=9))
def test_days_of_date64_are_the_same_or_missing(days: list[int]) -> None:
    cells = read(pa.table({"c": pa.array(days, pa.date64())}))[1]
    for day, cell in zip(days, cells, strict=True):
        whole, rest = divmod(day, DAY)
        assert (cell is None) == (rest != 0 or not -(2**31) <= whole < 2**31)
        if isinstance(cell, datetime.date) and cell != datetime.date.max:
            assert (cell - datetime.date(1970, 1, 1)).days == whole


def test_the_naive_reading_of_date64_merges_days() -> None:
    first, second = naive(pa.date64(), [DAY, (DAY << 32) + DAY])
    assert first == second


PAIRS: dict[Any, list[Any]] = {
    pa.date64(): DATES,
    pa.date32(): [0, 1, -(2**31), 2**31 - 1, 2_932_896, 2_932_897, -719_162, -719_163],
    pa.int8(): [-128, 127, 0, 1, -1],
    pa.int64(): [-(2**63), 2**63 - 1, 2**53, 2**53 + 1, 0],
    pa.uint64(): [0, 2**63 - 1, 2**63, 2**64 - 1, 2**53, 2**53 + 1],
    pa.bool_(): [False, True],
    pa.string(): ["", " ", "a", "a ", "a\0", "a\0b", "A", "é", "e\u0301", "\ufeff", "1", "01", "ß"],
    pa.large_string(): ["i", "I", "ı", "İ", "ss", "ß", "ﬁ", "fi"],
}


@pytest.mark.parametrize("frame", ["Arrow", "polars", "pandas", "dictionary"])
@pytest.mark.parametrize("kind", PAIRS, ids=str)
def test_different_values_are_different_units_and_groups(kind: pa.DataType, frame: str) -> None:
    """Each value is a unit and a group of its own, or counts nowhere; no two are one."""
    cells = pa.array(PAIRS[kind], kind)
    if frame == "dictionary":
        cells = pa.DictionaryArray.from_arrays(pa.array(range(len(cells))), cells)
    arrow = pa.table({"c": cells})
    made: dict[str, Any] = {
        "Arrow": lambda: arrow,
        "dictionary": lambda: arrow,
        "polars": lambda: pl.from_arrow(arrow),
        "pandas": lambda: arrow.to_pandas(types_mapper=pd.ArrowDtype),
    }
    source = open_source(made[frame]())
    table = source.table
    rows = fetch(source, table.group_by("c").aggregate(n=table.count()))
    assert all(n == 1 for cell, n in rows if cell is not None)
    kept = [cell for cell in PAIRS[kind] if kind != pa.date64() or _is_day(cell)]
    if source.kinds["c"] == "timestamp":
        assert (frame, kind) == ("polars", pa.date64())  # a time in polars
        kept = [cell for cell in PAIRS[kind] if -719_162 * DAY <= cell < 2_932_897 * DAY]
    assert sum(cell is not None for cell, _ in rows) == len(kept)


def _is_day(day: int) -> bool:
    return day % DAY == 0 and -(2**31) <= day // DAY < 2**31


def test_a_count_of_units_by_date64_merges_nobody() -> None:
    """The case from outside: d and d + 2³² were one unit; of the two one day is now missing."""
    days = [day * DAY + far for day in range(1, 101) for far in (0, DAY << 32)]
    frame = pa.table({"c": pa.array(days, pa.date64()), "g": ["g"] * 200})
    people = protect(frame, unit="c", max_rows=1, ledger=UNRECORDED)
    answer: Any = people.count(privacy=Privacy(1, "1e-3"))
    assert abs(answer.value - 100) <= answer.max_error
