"""Columns in and out: what arrays give, in the form that was given, and nothing more is told."""

import copy
import math
import pickle
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, NoReturn, cast

import numpy as np
import pytest

import leastnoise
from leastnoise.core import arrays, release
from leastnoise.core.sampling.entropy import CipherTape, SystemTape
from leastnoise.errors import InvalidParameter, LeastnoiseError

ln: Any = leastnoise  # wrong types are given on purpose
# Of these three only polars is typed for all that is used here, and reading it takes mypy longer
# than the project itself.
pd: Any = import_module("pandas")
pl: Any = import_module("polars")
pa: Any = import_module("pyarrow")

GUARANTEE = ln.Privacy(delta="0.1")
LINE = ln.calibrate(GUARANTEE, sensitivity=1)
WHOLE = ln.calibrate(GUARANTEE, sensitivity=1, integer=True)
WIDE = ln.calibrate(ln.Privacy(delta="1e-40"), sensitivity=1, integer=True)  # ± 5·10³⁹
BEYOND = ln.calibrate(ln.Privacy(delta="1e-9"), sensitivity="1e300")  # ± 5·10³⁰⁸

WIDTHS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = [*WIDTHS, "float16", "float32", "float64"]
LABELS = ["g", "f", "e", "d", "c", "b", "a"]
TRUTH = [3, 0, 7, 100, 42, 42, 1]
LONGEST = 10**38 - 1


def capital(dtype: str) -> str:
    """Return the name that polars and pandas' nullable types have: uint8 is UInt8."""
    return dtype.replace("uint", "UInt").replace("int", "Int").replace("float", "Float")


def nullable(array: Any) -> Any:
    return pd.Series(array, LABELS, name="n").astype(capital(array.dtype.name))


def arrow_backed(array: Any) -> Any:
    dtype = pd.ArrowDtype(pa.from_numpy_dtype(array.dtype))
    return pd.Series(pa.array(array), LABELS, dtype=dtype, name="n")


def in_polars(array: Any) -> Any:
    return pl.Series("n", array.tolist(), dtype=getattr(pl, capital(array.dtype.name)))


def chunked(array: Any) -> Any:
    return pa.chunked_array([pa.array(part) for part in (array[:2], array[2:2], array[2:])])


# How an array becomes a column; the type of its released column by the kind of result: floats,
# integers of 64 bits, longer ones.
FORMS: dict[str, tuple[Callable[[Any], Any], dict[str, str]]] = {
    "pandas": (
        lambda array: pd.Series(array, LABELS, name="n"),
        {"f": "float64", "i": "int64", "O": "object"},
    ),
    "nullable": (nullable, {"f": "Float64", "i": "Int64", "O": "object"}),
    "backed": (arrow_backed, {"f": "double[pyarrow]", "i": "int64[pyarrow]", "O": "object"}),
    "polars": (in_polars, {"f": "Float64", "i": "Int64", "O": "Int128"}),
    "arrow": (pa.array, {"f": "double", "i": "int64", "O": "decimal128(38, 0)"}),
    "chunked": (chunked, {"f": "double", "i": "int64", "O": "decimal128(38, 0)"}),
}
# pandas has no nullable float of 16 bits.
CASES = [
    (form, dtype) for form in FORMS for dtype in DTYPES if (form, dtype) != ("nullable", "float16")
]


def type_of(column: Any) -> str:
    return str(column.dtype if hasattr(column, "dtype") else column.type)


def listed(column: Any) -> list[Any]:
    return cast(list[Any], column.to_pylist() if hasattr(column, "type") else column.to_list())


@pytest.fixture
def one_tape(monkeypatch: pytest.MonkeyPatch, replay: Callable[[list[int]], object]) -> None:
    """Let every release draw from the same words, of which none is refused."""
    words = [(i * 0x9E3779B97F4A7C15 + (1 << 61)) % (1 << 64) for i in range(64)]
    monkeypatch.setattr(release, "CipherTape", lambda: replay(words))


@pytest.fixture
def no_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("bits were drawn")

    for tape in (SystemTape, CipherTape):
        for call in ("__init__", "word", "fill"):
            monkeypatch.setattr(tape, call, refuse)


# ------------------------------------------------------------------- what arrays give


@pytest.mark.parametrize("mechanism", [LINE, WHOLE], ids=["line", "whole"])
@pytest.mark.parametrize(("form", "dtype"), CASES)
def test_a_column_is_released_as_its_array_is(
    form: str, dtype: str, mechanism: Any, one_tape: None
) -> None:
    if mechanism is WHOLE and dtype.startswith("float"):
        dtype = dtype.replace("float", "int")  # floats are refused there, below
    array = np.array(TRUTH, dtype)
    make, types = FORMS[form]
    given = make(array)
    expected = mechanism.release(array)
    answers = mechanism.release(given)
    assert type(answers.values) is np.ndarray
    assert answers.values.dtype == expected.values.dtype
    assert answers.values.tolist() == expected.values.tolist() != array.tolist()
    assert (answers.max_error, answers.privacy) == (expected.max_error, expected.privacy)
    column = answers.column
    assert type(column).__module__ == type(given).__module__
    assert hasattr(column, "chunks") == (form == "chunked")
    assert type_of(column) == types[answers.values.dtype.kind]
    assert listed(column) == expected.values.tolist()
    assert listed(given) == array.tolist()
    if form in ("pandas", "nullable", "backed"):
        assert column.index.tolist() == LABELS
    if form not in ("arrow", "chunked"):
        assert column.name == "n"


def test_an_array_is_its_own_column() -> None:
    answers = LINE.release(np.zeros((2, 3)))
    assert answers.column is answers.values


def test_a_column_can_be_put_back_into_its_table() -> None:
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["k", None])
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], ("y", 2): [1, 2, 3]}, index=index)
    for name in ("x", ("y", 2)):
        truth = frame[name]
        frame[name] = WHOLE.release(truth.astype(int)).column
        assert frame[name].index.equals(index)
        assert frame[name].index.names == ["k", None]
        assert frame[name].name == name
        assert (abs(frame[name] - truth) <= 5).all()
    polars = pl.DataFrame({"x": [1, 2, 3], "y": [1, 2, 3]})
    polars = polars.with_columns(WHOLE.release(polars["x"]).column)
    assert polars.columns == ["x", "y"]
    assert (abs(polars["x"] - polars["y"]) <= 5).all()
    table = pa.table({"x": [1, 2, 3]})
    table = table.set_column(0, "x", WHOLE.release(table["x"]).column)
    assert table["x"].num_chunks == 1
    assert all(
        abs(out - true) <= 5 for out, true in zip(listed(table["x"]), (1, 2, 3), strict=True)
    )


def test_a_column_that_one_person_touches_often_promises_less() -> None:
    column = pl.Series([1.0, 2.0])
    assert LINE.release(column).privacy == GUARANTEE
    assert LINE.release(column, contributions=3).privacy == ln.Privacy(delta="0.271")
    with pytest.raises(InvalidParameter, match="contributions must be an integer of at least 1"):
        LINE.release(column, contributions=0)
    exact = ln.calibrate(ln.Privacy(delta="0.75"), sensitivity=1)
    with pytest.raises(InvalidParameter, match="accept it with allow_exact=True"):
        exact.release(column)
    assert len(exact.release(column, allow_exact=True)) == 2


# ------------------------------------------------------------------- how columns lie in memory

BASE = np.arange(40.0)
FROZEN = np.arange(5.0)
FROZEN.flags.writeable = False
HOLES = [None, 1, 2, 3, None]
LAID: dict[str, Callable[[], Any]] = {
    "pandas, every third": lambda: pd.Series(BASE[::3], copy=False),
    "pandas, backwards": lambda: pd.Series(BASE[::-1], copy=False),
    "pandas, of a matrix": lambda: pd.DataFrame(BASE.reshape(10, 4), copy=False)[2],
    "pandas, read only": lambda: pd.Series(FROZEN, copy=False),
    "pandas, other byte order": lambda: pd.Series(BASE.astype(">f8")),
    "nullable, sliced": lambda: pd.Series(HOLES, dtype="Int64").iloc[1:4],
    "backed, sliced": lambda: pd.Series(HOLES, dtype="int64[pyarrow]").iloc[1:4],
    "polars, sliced": lambda: pl.Series(HOLES)[1:4],
    "polars, every third": lambda: pl.Series(BASE)[::3],
    "polars, in chunks": lambda: pl.concat([pl.Series([1, 2]), pl.Series([3])], rechunk=False),
    "arrow, sliced": lambda: pa.array(HOLES)[1:4],
    "arrow, read only": lambda: pa.array(FROZEN)[2:],
    "chunked, sliced": lambda: pa.chunked_array([HOLES, [], HOLES[1:]]).slice(1, 3),
    "chunked, over an edge": lambda: pa.chunked_array([[0, 1, 2], [], [3, 4], [5]])[2:5],
    "chunked, of slices": lambda: pa.chunked_array([pa.array(HOLES)[2:4], pa.array([9, 8, 7])[1:]]),
}


@pytest.mark.parametrize("laid", LAID)
def test_columns_are_read_wherever_they_lie_and_never_written_to(laid: str, one_tape: None) -> None:
    given = LAID[laid]()
    before = listed(given)
    answers = LINE.release(given)
    assert answers.values.tolist() == LINE.release(np.array(before)).values.tolist()
    assert listed(answers.column) == answers.values.tolist()
    answers.values[:] = -1  # nor does what is given back share the memory of what was given
    assert listed(given) == before
    assert np.arange(40.0).tolist() == BASE.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_a_released_column_shares_no_memory_with_the_values(form: str) -> None:
    answers = LINE.release(FORMS[form][0](np.array(TRUTH)))
    column, before = answers.column, answers.values.tolist()
    answers.values[:] = 0
    assert listed(column) == before


def test_reading_makes_no_copy_where_the_library_gives_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []

    def prepare_array(values: Any, *_: object, **__: object) -> Any:
        seen.append(values)
        return lambda: values

    monkeypatch.setattr(arrays, "prepare_array", prepare_array)
    array = np.arange(1000.0)
    for column in (pd.Series(array, copy=False), pa.array(array), pa.chunked_array([array])):
        LINE.release(column)
        assert np.shares_memory(seen.pop(), array)
    series = pl.Series(array)
    LINE.release(series)
    assert np.shares_memory(seen.pop(), series.to_numpy(allow_copy=False))


@contextmanager
def lines_of_python() -> Iterator[list[int]]:
    """Count the lines that are run, once more for each turn of a loop, in all threads."""
    counted = [0]
    lock, before = threading.Lock(), sys.gettrace()

    def trace(*_: object) -> Any:
        with lock:
            counted[0] += 1
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield counted
    finally:
        sys.settrace(before)
        threading.settrace(cast(Any, None))


LONG = np.arange(1_000_000) % 1000
LONG_COLUMNS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.Series(LONG),
    "nullable": lambda: pd.Series(LONG, dtype="Int64"),
    "backed": lambda: pd.Series(LONG, dtype="int64[pyarrow]"),
    "polars": lambda: pl.Series(LONG),
    "arrow": lambda: pa.array(LONG),
    "chunked": lambda: pa.chunked_array([LONG[:300_000], LONG[300_000:]]),
}


@pytest.mark.parametrize("mechanism", [LINE, WHOLE], ids=["line", "whole"])
@pytest.mark.parametrize("form", LONG_COLUMNS)
def test_no_loop_of_python_runs_over_a_column(form: str, mechanism: Any) -> None:
    given = LONG_COLUMNS[form]()
    with lines_of_python() as counted:
        column = mechanism.release(given).column
    assert 0 < counted[0] < 50_000  # of a million elements
    assert len(column) == 1_000_000


def test_what_counts_lines_sees_loops() -> None:
    with lines_of_python() as counted:
        _listed_twice(range(10_000))
    assert counted[0] >= 10_000


def _listed_twice(numbers: range) -> list[int]:
    return [2 * number for number in numbers]


# ------------------------------------------------------------------- types that tell nothing


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("mechanism", [LINE, WHOLE, WIDE, BEYOND], ids=lambda m: f"{m.noise!r:.9}")
def test_the_type_of_a_released_column_does_not_tell_where_values_lie(
    form: str, dtype: str, mechanism: Any
) -> None:
    make, types = FORMS[form]
    long = mechanism is WIDE or (mechanism is WHOLE and dtype == "uint64")
    kind = "O" if long else "i" if mechanism is WHOLE else "f"
    if mechanism is BEYOND and types["O"] == "object":
        kind = "O"  # pandas can hold the fractions themselves
    ends = np.iinfo(dtype)
    for size in (0, ends.max, ends.min):
        column = mechanism.release(make(np.full(7, size, dtype))).column
        assert type_of(column) == types[kind]


@pytest.mark.parametrize("form", ["polars", "arrow", "chunked"])
def test_long_whole_numbers_stop_at_the_ends_and_err_no_more_for_it(form: str) -> None:
    for truth in (2**64 - 1, 0):
        answers = WIDE.release(FORMS[form][0](np.full(7, truth, "uint64")))
        inside = [value for value in answers.values.tolist() if abs(value) <= LONGEST]
        assert len(inside) < 7  # each stays inside once in fifty times
        for out, value in zip(listed(answers.column), answers.values.tolist(), strict=True):
            assert int(out) == (value if value in inside else LONGEST if value > 0 else -LONGEST)
            assert abs(int(out) - truth) <= abs(value - truth)


@pytest.mark.parametrize("form", ["polars", "arrow", "chunked"])
def test_noise_beyond_the_floats_stops_at_the_largest(form: str) -> None:
    largest = Fraction(sys.float_info.max)
    answers = BEYOND.release(FORMS[form][0](np.array(TRUTH, "float64")))
    for out, value in zip(listed(answers.column), answers.values.tolist(), strict=True):
        assert isinstance(value, Fraction)
        assert out == float(min(largest, max(-largest, value)))


def test_answers_can_be_copied_and_sent() -> None:
    for make, _ in FORMS.values():
        answers = LINE.release(make(np.array(TRUTH)))
        for other in (copy.deepcopy(answers), pickle.loads(pickle.dumps(answers))):
            assert listed(other.column) == listed(answers.column)
            assert type_of(other.column) == type_of(answers.column)


# ------------------------------------------------------------------- what is refused, and how

CANARY = 31337.4242
TEXT, WHEN = "canary31337", datetime(3133, 7, 4, 2, 42, tzinfo=UTC)
NAME: dict[str, Any] = {"name": TEXT}
TELLING = [TEXT, "b31337"]
ARROW_DECIMAL = pa.array([Decimal("31337.42")])


class Telltale(pd.Series):  # type: ignore[misc]  # pandas is untyped here, for the reason above
    """A column whose own error would tell what it holds."""

    def to_numpy(self, *_: object, **__: object) -> NoReturn:
        raise ValueError(f"I hold {self.iloc[0]}")


class Liar(pd.Series):  # type: ignore[misc]  # as above
    """A column that gives something else than it says."""

    def to_numpy(self, *_: object, **__: object) -> Any:
        return {31: [CANARY], 32: np.array([TEXT]), 33: np.array([[CANARY]])}[len(self)]


def coded(values: Any) -> Any:
    return pa.array(values).dictionary_encode()


KIND = "A column to release must hold floats or integers of at most 64 bits, got type "
ARRAY_KIND = "A column to release must hold floats or integers of at most 64 bits, got one of type "
INTEGERS = "A column to release must hold integers of at most 64 bits, got type "
MISSING = "A column to release must not have missing values, got type "
FINITE = "A column to release must hold finite numbers only, got one of type "
EMPTY = "A column to release must have at least one element, got an empty one. Pass"
FRAME = "A value to release must be a number, an array or a single column, got a "
UNREADABLE = "A column to release must convert to a numpy array of the same type, got "
DO = {ARRAY_KIND: "", KIND: ". Convert it first.", INTEGERS: ". Convert it first."}
DO |= {
    MISSING: " with missing values. Fill them first, by a rule that does not",
    FRAME: ". Release its columns one by one",
}
DO |= {
    FINITE: " with others. Replace NaN and",
    EMPTY: " values",
    UNREADABLE: ", which does not. Pass a numpy array.",
}
REFUSED: list[tuple[str, str, Callable[[], Any]]] = [
    # pandas
    (KIND, "StringDtype", lambda: pd.Series(TELLING, TELLING, **NAME)),
    (KIND, "object_", lambda: pd.Series([CANARY, TEXT], dtype=object, **NAME)),
    (KIND, "bool", lambda: pd.Series([True], [TEXT])),
    (KIND, "BooleanDtype", lambda: pd.Series([True, None], dtype="boolean", **NAME)),
    (KIND, "bool", lambda: pd.Series([True], dtype="bool[pyarrow]", **NAME)),
    (KIND, "complex128", lambda: pd.Series([CANARY * 1j], **NAME)),
    (ARRAY_KIND, "longdouble", lambda: pd.Series([CANARY], dtype="longdouble", **NAME)),
    (KIND, "CategoricalDtype", lambda: pd.Series([CANARY, TEXT], dtype="category", **NAME)),
    (KIND, "CategoricalDtype", lambda: pd.Series([31337, 4242], dtype="category")),
    (KIND, "datetime64", lambda: pd.Series([WHEN.replace(tzinfo=None)] * 2).astype("M8[s]")),
    (KIND, "DatetimeTZDtype", lambda: pd.Series(pd.to_datetime([WHEN]).as_unit("s"), **NAME)),
    (KIND, "timedelta64", lambda: pd.Series([timedelta(31337)], **NAME)),
    (KIND, "PeriodDtype", lambda: pd.Series(pd.period_range("3133", periods=2, freq="D"))),
    (KIND, "SparseDtype", lambda: pd.Series(pd.arrays.SparseArray([31337, 0]), **NAME)),
    (
        KIND,
        "Decimal128Type",
        lambda: pd.Series(ARROW_DECIMAL, dtype=pd.ArrowDtype(ARROW_DECIMAL.type)),
    ),
    (
        KIND,
        "DictionaryType",
        lambda: pd.Series(coded([31337]), dtype=pd.ArrowDtype(coded([1]).type)),
    ),
    (MISSING, "Int64Dtype", lambda: pd.Series([31337, None], dtype="Int64", **NAME)),
    (MISSING, "UInt8Dtype", lambda: pd.Series([None, None], dtype="UInt8", **NAME)),
    (MISSING, "Float32Dtype", lambda: pd.Series([CANARY, None], dtype="Float32", **NAME)),
    (MISSING, "int64", lambda: pd.Series([31337, None], dtype="int64[pyarrow]", **NAME)),
    (MISSING, "double", lambda: pd.Series([CANARY, None], dtype="double[pyarrow]", **NAME)),
    (FINITE, "float64", lambda: pd.Series([CANARY, None], dtype="float64", **NAME)),
    (FINITE, "float32", lambda: pd.Series([CANARY, -math.inf], dtype="float32", **NAME)),
    (FINITE, "float64", lambda: pd.Series([CANARY, math.inf], dtype="Float64", **NAME)),
    (EMPTY, "", lambda: pd.Series([], dtype="int64", **NAME)),
    (EMPTY, "", lambda: pd.Series([], dtype="Int64", **NAME)),
    (EMPTY, "", lambda: pd.Series([], dtype="int64[pyarrow]", **NAME)),
    (FRAME, "DataFrame", lambda: pd.DataFrame({TEXT: [CANARY]})),
    (UNREADABLE, "type float64", lambda: Telltale([CANARY], **NAME)),
    (UNREADABLE, "type float64", lambda: Liar([CANARY] * 31, **NAME)),
    (UNREADABLE, "type float64", lambda: Liar([CANARY] * 32, **NAME)),
    (UNREADABLE, "type float64", lambda: Liar([CANARY] * 33, **NAME)),
    # polars
    (KIND, "String", lambda: pl.Series(TEXT, TELLING)),
    (KIND, "Boolean", lambda: pl.Series(TEXT, [True, None])),
    (KIND, "Categorical", lambda: pl.Series(TEXT, TELLING, dtype=pl.Categorical)),
    (KIND, "Enum", lambda: pl.Series(TEXT, TELLING, dtype=pl.Enum(TELLING))),
    (KIND, "Decimal", lambda: pl.Series(TEXT, [Decimal("31337.42")])),
    (KIND, "Int128", lambda: pl.Series(TEXT, [31337], dtype=pl.Int128)),
    (KIND, "Datetime", lambda: pl.Series(TEXT, [WHEN])),
    (KIND, "Date", lambda: pl.Series(TEXT, [WHEN.date()])),
    (KIND, "Duration", lambda: pl.Series(TEXT, [timedelta(31337)])),
    (KIND, "Null", lambda: pl.Series(TEXT, [None])),
    (KIND, "List", lambda: pl.Series(TEXT, [[31337]])),
    (KIND, "Array", lambda: pl.Series(TEXT, [[31337]], dtype=pl.Array(pl.Int64, 1))),
    (KIND, "Struct", lambda: pl.Series(TEXT, [{TEXT: CANARY}])),
    (KIND, "Object", lambda: pl.Series(TEXT, [object()], dtype=pl.Object)),
    (MISSING, "Int64", lambda: pl.Series(TEXT, [31337, None])),
    (MISSING, "Float32", lambda: pl.Series(TEXT, [CANARY, None], dtype=pl.Float32)),
    (FINITE, "float64", lambda: pl.Series(TEXT, [CANARY, math.nan])),
    (FINITE, "float32", lambda: pl.Series(TEXT, [CANARY, math.inf], dtype=pl.Float32)),
    (EMPTY, "", lambda: pl.Series(TEXT, [], dtype=pl.UInt8)),
    (FRAME, "DataFrame", lambda: pl.DataFrame({TEXT: [CANARY]})),
    (FRAME, "LazyFrame", lambda: pl.LazyFrame({TEXT: [CANARY], "b": [31337]})),
    # Arrow
    (KIND, "string", lambda: pa.array(TELLING)),
    (KIND, "string", lambda: pa.chunked_array([TELLING, TELLING])),
    (KIND, "bool", lambda: pa.array([True, None])),
    (KIND, "null", lambda: pa.array([None])),
    (KIND, "DictionaryType", lambda: coded(TELLING)),
    (KIND, "DictionaryType", lambda: coded([31337, 4242])),
    (KIND, "RunEndEncodedType", lambda: pa.RunEndEncodedArray.from_arrays([2], [31337])),
    (KIND, "Decimal128Type", lambda: ARROW_DECIMAL),
    (KIND, "TimestampType", lambda: pa.array([WHEN])),
    (KIND, "date32[day]", lambda: pa.array([date(3133, 7, 4)])),
    (KIND, "ListType", lambda: pa.array([[31337]])),
    (KIND, "StructType", lambda: pa.array([{TEXT: CANARY}])),
    (MISSING, "int64", lambda: pa.array([31337, None])),
    (MISSING, "double", lambda: pa.chunked_array([[CANARY], [None]], type=pa.float64())),
    (FINITE, "float64", lambda: pa.array([CANARY, math.nan])),
    (FINITE, "float64", lambda: pa.chunked_array([[CANARY], [-math.inf]])),
    (EMPTY, "", lambda: pa.array([], type=pa.int8())),
    (EMPTY, "", lambda: pa.chunked_array([], type=pa.int8())),
    (FRAME, "Table", lambda: pa.table({TEXT: [CANARY]})),
    (FRAME, "RecordBatch", lambda: pa.record_batch({TEXT: [CANARY]})),
]
NOT_WHOLE: list[tuple[str, str, Callable[[], Any]]] = [
    (INTEGERS, "float64", lambda: pd.Series([31337.0], **NAME)),
    (INTEGERS, "Float64Dtype", lambda: pd.Series([31337.0, None], dtype="Float64", **NAME)),
    (INTEGERS, "halffloat", lambda: pd.Series([313.0, None], dtype="halffloat[pyarrow]", **NAME)),
    (INTEGERS, "Float32", lambda: pl.Series(TEXT, [31337.0, None], dtype=pl.Float32)),
    (INTEGERS, "float", lambda: pa.array([31337.0, None], type=pa.float32())),
    (INTEGERS, "Enum", lambda: pl.Series(TEXT, TELLING, dtype=pl.Enum(TELLING))),
]
BAD = [(LINE, *case) for case in REFUSED] + [(WHOLE, *case) for case in NOT_WHOLE]


@pytest.mark.parametrize(("mechanism", "rule", "kind", "make"), BAD)
def test_other_columns_are_refused_before_a_bit_is_drawn(
    mechanism: Any, rule: str, kind: str, make: Callable[[], Any], no_bits: None
) -> None:
    """With the rule, the type and what to do; nothing of values, categories, index or name."""
    column = make()
    with pytest.raises(InvalidParameter, match=f"^{re.escape(rule + kind + DO[rule])}") as caught:
        mechanism.release(column)
    error = cast(Any, caught.value)
    while error is not None:
        assert isinstance(error, LeastnoiseError)
        told = [*traceback.format_exception(error), repr(error), repr(error.args), str(vars(error))]
        assert not re.search("31337|4242|canary|3133", "".join(told))
        error = error.__cause__ or error.__context__


def test_what_shows_that_nothing_is_drawn_can_fail(no_bits: None) -> None:
    for column in (pd.Series([1]), pl.Series([1]), pa.array([1])):
        with pytest.raises(ln.errors.ReleaseFailed, match="unexpected error"):  # it is withheld
            LINE.release(column)


def test_an_answer_prints_neither_index_nor_name_and_holds_no_truth() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="1e-12"), sensitivity=1)
    truth = 8.313374242424275e15
    for column in (
        pd.Series([truth], [TEXT], name=TEXT),
        pd.Series([truth], [TEXT], name=TEXT, dtype="double[pyarrow]"),
        pl.Series(TEXT, [truth]),
        pa.array([truth]),
    ):
        answers = mechanism.release(column)
        told = f"{answers} {answers!r} {answers.form!r} {answers._repr_html_()}"
        assert not re.search("canary|31337", told)
        # Thirteen digits come up by chance once in 10¹² releases.
        held = f"{answers.values.tolist()} {listed(answers.column)}"
        assert "3133742424242" not in held
        assert np.array([truth]).tobytes() not in pickle.dumps(answers)


# ------------------------------------------------------------------- nothing else is loaded

LIBRARIES = {"pandas", "polars", "pyarrow"}
LOADED = f"print(sorted({LIBRARIES!r} & set(sys.modules)))"


@pytest.mark.parametrize(
    ("lines", "loaded"),
    [
        ("m.release(1); import numpy; m.release(numpy.zeros(3)).column", []),
        ("import polars; m.release(polars.Series([1.0])).column", ["polars"]),
        # pyarrow itself loads pandas as soon as it makes or reads an array.
        ("import pyarrow; m.release(pyarrow.array([1.0])).column", ["pandas", "pyarrow"]),
    ],
)
def test_only_what_the_caller_has_loaded_is_used(lines: str, loaded: list[str]) -> None:
    start = "import sys, leastnoise as ln; m = ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1)"
    code = f"{start}; {lines}; {LOADED}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(loaded)


def test_a_module_that_only_has_the_name_is_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES:
        monkeypatch.setitem(sys.modules, library, cast(Any, math))
    with pytest.raises(InvalidParameter, match="The value to release must be a number, got a list"):
        LINE.release([1])
    monkeypatch.undo()
    assert len(LINE.release(pd.Series([1])).column) == 1
