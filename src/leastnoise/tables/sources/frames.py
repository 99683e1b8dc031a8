"""Frames of pandas, polars and Arrow, as tables of a DuckDB in memory.

The type of a column decides whether it can be read, never a cell. Otherwise one person's data could
decide whether ``protect`` succeeds. Columns of integers, floats, decimals, strings, booleans, dates
and timestamps are converted by a rule for every cell. A cell that the converted type cannot
represent is NULL: a string that is not Unicode, a decimal with more digits than its type has, a
``date64`` that is not midnight or does not fit into ``date32``, and a timestamp outside the years 1
to 9999. No two different cells become the same value, except timestamps that differ in nanoseconds.

Columns of all other types are not read. They are replaced by a column of kind "other", which no
query accepts.
"""

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources.connections import in_memory
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir

_NAME = "records"  # of the table, in a query
_FRAMES = {
    ("pandas", "DataFrame"): "a pandas frame",
    ("polars", "DataFrame"): "a polars frame",
    ("polars", "LazyFrame"): "a polars LazyFrame",
    ("pyarrow", "Table"): "an Arrow table",
}
_DAY = 86_400_000  # milliseconds
_DIGITS = 38  # of DuckDB's decimals
# The first second of the year 1 and the last of the year 9999, from 1970.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799


def frame_name(source: object) -> str | None:
    """Return the name of a frame's kind; None if the object is no frame."""
    for (module, kind), name in _FRAMES.items():
        # If there is a frame, its library is loaded.
        type_ = getattr(sys.modules.get(module), kind, None)
        if type_ is not None and isinstance(source, type_):
            return name
    return None


def frame_table(frame: Any, name: str) -> "ir.Table":
    """Return a frame as a table of a DuckDB of our own; a LazyFrame is collected first."""
    if name == "a polars LazyFrame":
        frame, name = without_details(frame.collect), "a polars frame"
        if frame is None:
            raise Unsupported(
                "The polars LazyFrame cannot be collected",
                fix="Collect it yourself, and pass the frame.",
            )
    names = list(frame.column_names if name == "an Arrow table" else frame.columns)
    _check_names(names)
    backend = in_memory()
    convert = {"a pandas frame": _from_pandas, "a polars frame": _from_polars}.get(
        name, lambda x: x
    )

    def register() -> "ir.Table":
        import pyarrow as pa

        columns = {column: _read_column(convert(frame[column]), len(frame)) for column in names}
        backend.con.register(_NAME, pa.table(columns))
        return backend.table(_NAME)

    table = without_details(register)
    if table is None:
        raise Unsupported(
            f"{name} must be valid in memory",
            got="a frame that cannot be read",
            fix="Write it to a Parquet file, and protect that file.",
        )
    return table


def _check_names(names: list[object]) -> None:
    """Reject names that do not identify a column."""
    texts = [name for name in names if isinstance(name, str) and name]
    if not names or len({text.lower() for text in texts}) < len(names):
        raise InvalidParameter(
            "The columns of a frame must have names that are strings and differ in more than case",
            got="other names",
            fix="Rename the columns.",
        )


# ---------------------------------------------------------------- pandas and polars


def _from_pandas(column: Any) -> Any:
    """Return a pandas column as Arrow has it; None if its type is not read.

    A column of Python objects can contain anything, also in the categories of a category.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind not in "biufM" or dtype.itemsize > 8:
            return None
        native = np.asarray(column, dtype=dtype.newbyteorder("="))
        return pa.array(native, from_pandas=True)
    if isinstance(dtype, pd.SparseDtype):
        return _from_pandas(column.sparse.to_dense())
    if isinstance(dtype, pd.StringDtype):
        return _from_strings(column)
    if isinstance(dtype, pd.CategoricalDtype):
        return _from_categories(column, _from_pandas(pd.Series(dtype.categories)))
    whole = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    nullable = [
        f"{kind}Dtype" for kind in ("Boolean", "Float32", "Float64", "Arrow", "DatetimeTZ", *whole)
    ]
    accepted = tuple(getattr(pd, name) for name in nullable)
    return pa.Array.from_pandas(column) if isinstance(dtype, accepted) else None


def _from_categories(column: Any, categories: Any) -> Any:
    import pyarrow as pa

    if categories is None:
        return None
    if isinstance(categories, pa.ChunkedArray):
        categories = categories.combine_chunks()
    codes = column.cat.codes.to_numpy()
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), categories)


def _from_strings(column: Any) -> Any:
    """Return a column of strings; those that are not Unicode, with half a surrogate pair, NULL."""
    import pyarrow as pa

    converted = without_details(lambda: pa.Array.from_pandas(column))
    if converted is not None:
        return converted
    cells = (cell if isinstance(cell, str) else "" for cell in column)
    unicode = [cell.encode(errors="replace").decode() == cell for cell in cells]
    return pa.Array.from_pandas(column.where(unicode))


def _from_polars(column: Any) -> Any:
    """Return a polars column as Arrow has it; None if its type is not read."""
    import polars as pl

    if column.dtype == pl.Object or column.dtype.is_nested():
        return None
    # By the type alone: Arrow has no integers of 128 bits.
    known = without_details(lambda: column.clear().to_arrow()) is not None
    return column.to_arrow() if known else None


# ---------------------------------------------------------------- Arrow


def _read_column(column: Any, rows: int) -> Any:
    """Return a column that DuckDB reads cell by cell, or one of kind "other"."""
    import pyarrow as pa

    readable = None if column is None else _read_arrow(column)
    return pa.nulls(rows, pa.binary()) if readable is None else readable


def _read_arrow(column: Any) -> Any:
    """Return an Arrow column in a type that DuckDB reads without loss; None for other types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, is_ = column.type, pa.types
    encoded = is_.is_dictionary(kind) or is_.is_run_end_encoded(kind)
    if encoded and is_.is_string_view(kind.value_type):  # Arrow cannot decode it
        return None
    if encoded and _read_arrow(pa.nulls(0, kind.value_type)) is None:  # by the type alone
        return None
    if is_.is_dictionary(kind):
        return _read_arrow(column.cast(_wide(kind.value_type)))
    if is_.is_run_end_encoded(kind):
        return _read_arrow(pc.run_end_decode(column))
    if is_.is_date64(kind):
        return _read_date64(column)
    if is_.is_timestamp(kind):
        return _read_times(column)
    if is_.is_float16(kind):
        return column.cast(pa.float32())
    if is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind):
        return _read_strings(column)
    if is_.is_decimal(kind):
        fits = 0 <= kind.scale <= kind.precision <= _DIGITS and not is_.is_decimal256(kind)
        return _read_decimals(column) if fits else None
    known = (is_.is_boolean, is_.is_integer, is_.is_float32, is_.is_float64, is_.is_date32)
    return column if any(fits(kind) for fits in known) else None


def _wide(kind: Any) -> Any:
    """Return a type for decoded values: strings may then have more than 2 GB in all."""
    import pyarrow as pa

    return pa.large_string() if pa.types.is_string(kind) else kind


def _read_date64(column: Any) -> Any:
    """Return the days of a column of milliseconds; NULL if out of range for date32."""
    import pyarrow as pa
    import pyarrow.compute as pc

    milliseconds = column.cast(pa.int64())
    days = pc.divide(milliseconds, _DAY)  # truncates
    exact = pc.equal(pc.multiply(days, _DAY), milliseconds)
    fits = pc.and_(pc.less(days, 1 << 31), pc.greater_equal(days, -(1 << 31)))
    known = pc.if_else(pc.and_(exact, fits), days, pa.scalar(None, pa.int64()))
    return known.cast(pa.int32()).cast(pa.date32())


def _read_times(column: Any) -> Any:
    """Return timestamps in microseconds; NULL if Python does not have them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    units, kind = column.cast(pa.int64()), column.type
    per = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.unit]
    least, most = _FIRST * per, (_LAST + 1) * per - 1
    known = pc.and_(
        pc.greater_equal(units, max(least, -1 << 63)),
        pc.less_equal(units, min(most, (1 << 63) - 1)),
    )
    units = pc.if_else(known, units, pa.scalar(None, pa.int64()))
    if per <= 1_000_000:
        micros = pc.multiply(units, 1_000_000 // per)
    else:
        micros = pc.divide(units, per // 1_000_000)
    return micros.cast(pa.timestamp("us", None if kind.tz is None else "UTC"))


def _read_decimals(column: Any) -> Any:
    """Return decimals, those with more digits than their type has as NULL.

    Arrow does not check them, and DuckDB would take them modulo a power of two.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.decimal128(column.type.precision, column.type.scale)
    decimals = column.cast(kind, safe=False)  # else a cell beyond could make it fail
    most = Decimal((0, (9,) * kind.precision, -kind.scale))
    low, high = pa.scalar(most.copy_negate(), kind), pa.scalar(most, kind)
    fits = pc.and_(pc.greater_equal(decimals, low), pc.less_equal(decimals, high))
    return pc.if_else(fits, decimals, pa.scalar(None, kind))


def _read_strings(column: Any) -> Any:
    """Return strings, those that are not UTF-8 as NULL, which DuckDB would fail to read."""
    import pyarrow as pa

    def validate() -> bool:
        column.validate(full=True)
        return True

    if without_details(validate):
        return column
    cells = (_decode(cell.as_py()) for cell in column.cast(pa.large_binary()))
    return pa.array(cells, pa.large_string())


def _decode(cell: bytes | None) -> str | None:
    return None if cell is None else without_details(cell.decode)
