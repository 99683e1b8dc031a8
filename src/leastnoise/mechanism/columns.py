"""Read and create columns: pandas Series, polars Series, Arrow arrays and chunked arrays.

A column is read as a numpy array, without a copy if its library allows that. The array is released,
and the released values become a column of the same kind. This module imports no library that the
caller has not loaded, because a column can only come from a loaded library. (pyarrow itself loads
pandas, if it is installed, as soon as it creates or reads an array.)

The type of a released column depends only on the type of the given one and on the noise: 64-bit
floats, or 64-bit integers for integers. Integers from unsigned 64-bit columns, or with noise too
wide for the fast samplers, need more bits: they are Python integers in pandas, Int128 in polars and
decimal128(38, 0) in Arrow. The index of a pandas Series and the name of a Series are released
unchanged.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol

from leastnoise.core.exact import as_float
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


# Types of at most 64 bits, by their names in numpy; polars capitalizes them.
_KINDS = {f"int{bits}": "i" for bits in (8, 16, 32, 64)}
_KINDS |= {f"uint{bits}": "u" for bits in (8, 16, 32, 64)}
_KINDS |= {f"float{bits}": "f" for bits in (16, 32, 64)}
_ARROW_KINDS = _KINDS | {"halffloat": "f", "float": "f", "double": "f"}
# The longest integer that both Int128 and decimal128(38, 0) hold.
_LONGEST = 10**38 - 1


class Column(Protocol):
    """The common part of the columns of all three libraries, for type checkers.

    The types of the libraries are not named here, because then every user's type checker would have
    to read all three.
    """

    @property
    def to_numpy(self) -> "Callable[..., Array]":
        """Return the values."""

    def __len__(self) -> int:
        """Return the number of values."""


def is_array(value: object) -> bool:
    """Return whether a value is a numpy array of elements; it can be only if numpy is loaded."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.ndim > 0


def series_kind(value: object, *, integer: bool) -> "SeriesKind | None":
    """Return the kind of a column, or None for other values; reject columns of other types.

    Only the type is read and named in messages. A categorical type is named by its class, because
    in pandas and polars it prints its categories.
    """
    if isinstance(value, Number):  # a quick test, because releases of single values must be fast
        return None
    kind = _pandas_series(value) or _polars_series(value) or _arrow_array(value)
    if kind is None:
        return None
    letters, numbers = ("iu", "integers") if integer else ("iuf", "floats or integers")
    if not kind.kind or kind.kind not in letters:
        raise InvalidParameter(
            f"A column to release must hold {numbers} of at most 64 bits",
            got=f"type {kind.type}",
            fix="Convert it first.",
        )
    return kind


def to_array(column: Any, kind: "SeriesKind") -> "Array":
    """Return the values of a column as a numpy array; reject missing values."""
    try:
        missing = kind.has_missing(column)
        array = None if missing else kind.numbers(column)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 -- the error of a library can quote values
        missing, array = False, None
    if missing:
        raise InvalidParameter(
            "A column to release must not have missing values",
            got=f"type {kind.type} with missing values",
            fix="Fill them first, by a rule that does not depend on the data.",
        )
    import numpy as np  # on first use

    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind != kind.kind:
        raise InvalidParameter(
            "A column to release must convert to a numpy array of the same type",
            got=f"type {kind.type}, which does not",
            fix="Pass a numpy array.",
        )
    return array


@dataclass(frozen=True, slots=True)
class SeriesKind(ABC):
    """The kind of a column without its values, from which a similar column can be created.

    Its repr has the type only, because an index or a name can be about people too.

    Attributes:
        kind: The letter of numpy for the values: i, u or f for numbers; empty for other types.
        type: The name of the type of the values.
    """

    kind: str
    type: str

    @abstractmethod
    def has_missing(self, column: Any) -> bool:
        """Return whether the column has missing values other than NaN."""

    @abstractmethod
    def numbers(self, column: Any) -> "Array":
        """Return the values of a column without missing values."""

    @abstractmethod
    def column(self, values: "Array", *, integer: bool) -> Any:
        """Return a column of released values that shares no memory with them."""


@dataclass(frozen=True, slots=True)
class PandasSeries(SeriesKind):
    """A pandas Series, stored by numpy, by numpy with a mask (Int64, Float64), or by Arrow."""

    index: Any = field(repr=False)
    name: Any = field(repr=False)
    stored_by: str

    def has_missing(self, column: Any) -> bool:
        """See SeriesKind. numpy marks missing values by NaN, which releases reject."""
        return self.stored_by != "numpy" and bool(column.isna().any())

    def numbers(self, column: Any) -> "Array":
        """See SeriesKind."""
        if self.stored_by == "arrow":
            arrow: Array = column.array.__arrow_array__().to_numpy()
            return arrow
        dtype = column.dtype if self.stored_by == "numpy" else column.dtype.numpy_dtype
        array: Array = column.to_numpy(dtype=dtype, copy=False)
        return array

    def column(self, values: "Array", *, integer: bool) -> Any:  # noqa: ARG002 -- others need it
        """See SeriesKind."""
        pandas = import_module("pandas")
        dtype: Any = values.dtype
        if dtype.kind != "O" and self.stored_by == "masked":
            dtype = "Float64" if dtype.kind == "f" else "Int64"
        elif dtype.kind != "O" and self.stored_by == "arrow":
            dtype = pandas.ArrowDtype(import_module("pyarrow").from_numpy_dtype(dtype))
        own = values.copy()
        return pandas.Series(own, index=self.index, name=self.name, dtype=dtype, copy=False)


@dataclass(frozen=True, slots=True)
class PolarsSeries(SeriesKind):
    """A polars Series."""

    name: str = field(repr=False)

    def has_missing(self, column: Any) -> bool:
        """See SeriesKind."""
        return bool(column.null_count())

    def numbers(self, column: Any) -> "Array":
        """See SeriesKind."""
        array: Array = column.to_numpy()
        return array

    def column(self, values: "Array", *, integer: bool) -> Any:
        """See SeriesKind."""
        polars = import_module("polars")
        if values.dtype.kind != "O":
            return polars.Series(self.name, values.copy())
        dtype = polars.Int128 if integer else polars.Float64
        return polars.Series(self.name, _clip_to_type(values, integer=integer), dtype=dtype)


@dataclass(frozen=True, slots=True)
class ArrowArray(SeriesKind):
    """An Arrow array or chunked array. The chunks become one."""

    chunked: bool

    def has_missing(self, column: Any) -> bool:
        """See SeriesKind."""
        return bool(column.null_count)

    def numbers(self, column: Any) -> "Array":
        """See SeriesKind."""
        array: Array = column.to_numpy(zero_copy_only=False)
        return array

    def column(self, values: "Array", *, integer: bool) -> Any:
        """See SeriesKind."""
        arrow = import_module("pyarrow")
        if values.dtype.kind != "O":
            array = arrow.array(values.copy())
        else:
            dtype = arrow.decimal128(38, 0) if integer else arrow.float64()
            array = arrow.array(_clip_to_type(values, integer=integer), type=dtype)
        return arrow.chunked_array([array]) if self.chunked else array


def _clip_to_type(values: "Array", *, integer: bool) -> list[int] | list[float]:
    """Return long integers, or else fractions, clipped to the range of the column type.

    Clipping never increases an error, because true values have 64 bits and lie in both ranges.
    """
    if integer:
        return [max(-_LONGEST, min(_LONGEST, whole)) for whole in values.tolist()]
    ends = Fraction(sys.float_info.max)
    return [as_float(max(-ends, min(ends, value))) for value in values.tolist()]


def _pandas_series(value: Any) -> PandasSeries | None:
    pandas = _find_library("pandas", value, ("DataFrame",))
    if pandas is None or not isinstance(value, pandas.Series):
        return None
    dtype, array = value.dtype, value.array
    if isinstance(dtype, sys.modules["numpy"].dtype):  # pandas has loaded numpy
        kind, name, stored_by = dtype.kind, dtype.type.__name__, "numpy"
    elif isinstance(array, pandas.arrays.IntegerArray | pandas.arrays.FloatingArray):
        kind, name, stored_by = dtype.numpy_dtype.kind, type(dtype).__name__, "masked"
    elif isinstance(dtype, pandas.ArrowDtype):
        name = _arrow_name(dtype.pyarrow_dtype)
        kind, stored_by = _ARROW_KINDS.get(name, ""), "arrow"
    else:
        kind, name, stored_by = "", type(dtype).__name__, ""
    return PandasSeries(kind, name, value.index, value.name, stored_by)


def _polars_series(value: Any) -> PolarsSeries | None:
    polars = _find_library("polars", value, ("DataFrame", "LazyFrame"))
    if polars is None or not isinstance(value, polars.Series):
        return None
    name = value.dtype.base_type().__name__
    return PolarsSeries(_KINDS.get(name.lower(), ""), name, value.name)


def _arrow_array(value: Any) -> ArrowArray | None:
    arrow = _find_library("pyarrow", value, ("Table", "RecordBatch"))
    if arrow is None or not isinstance(value, arrow.Array | arrow.ChunkedArray):
        return None
    name = _arrow_name(value.type)
    return ArrowArray(_ARROW_KINDS.get(name, ""), name, isinstance(value, arrow.ChunkedArray))


def _find_library(library: str, value: object, frames: tuple[str, ...]) -> Any:
    """Return a library if the caller has loaded it completely; reject its frames."""
    module = sys.modules.get(library)
    if not all(hasattr(module, frame) for frame in frames):
        return None  # not loaded, being loaded, or another module of that name
    if isinstance(value, tuple(getattr(module, frame) for frame in frames)):
        raise InvalidParameter(
            "A value to release must be a number, an array or a single column",
            got=f"a {type(value).__name__}",
            fix="Release its columns one by one: each has its own sensitivity.",
        )
    return module


def _arrow_name(dtype: Any) -> str:
    """Return the name of an Arrow type; for nested types, which can quote data, its class."""
    return str(dtype) if type(dtype).__name__ == "DataType" else type(dtype).__name__
