"""pandas and polars frames and Arrow tables, asked by a DuckDB in memory."""

import sys
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources.connections import in_memory
from leastnoise.tables.sources.engine import without_details

if TYPE_CHECKING:
    import ibis.expr.types as ir


_FRAMES = {
    ("pandas", "DataFrame"): "a pandas frame",
    ("polars", "DataFrame"): "a polars frame",
    ("pyarrow", "Table"): "an Arrow table",
}
_NAME = "records"  # of the table, in a query


def frame_name(source: object) -> str | None:
    """Return the name of a frame's kind; None if the object is no frame."""
    for (module, kind), name in _FRAMES.items():
        # If there is a frame, its library is loaded.
        type_ = getattr(sys.modules.get(module), kind, None)
        if type_ is not None and isinstance(source, type_):
            return name
    return None


def frame_table(frame: Any, name: str) -> "ir.Table":
    """Return a frame as a table of a DuckDB of our own.

    A pandas column of Python objects can hold anything, and is not read: it has no kind, and must
    be converted before it can be queried.
    """
    _check_names(list(frame.column_names if name == "an Arrow table" else frame.columns))
    backend = in_memory()

    def registered() -> "ir.Table":
        backend.con.register(_NAME, _arrow(frame, name))
        return backend.table(_NAME)

    table = without_details(registered)
    if table is None:
        raise Unsupported(
            f"{name} must have columns that Arrow and DuckDB can hold; this one has others. "
            "Convert them to numbers, texts, truth values or dates, or leave them out."
        )
    return table


def _check_names(names: list[object]) -> None:
    """Reject names that do not identify a column."""
    texts = [name for name in names if isinstance(name, str) and name]
    if not names or len({text.lower() for text in texts}) < len(names):
        raise InvalidParameter(
            "the columns of a frame must be named by texts, each differently, also where small and "
            "capital letters count as the same; these are not. Rename them."
        )


def _arrow(frame: Any, name: str) -> Any:
    """Return a frame as an Arrow table, with categories decoded."""
    import pyarrow as pa

    if name == "a pandas frame":
        frame = pa.table({column: _pandas_column(frame[column]) for column in frame.columns})
    elif name == "a polars frame":
        frame = frame.to_arrow()
    for place, field in enumerate(frame.schema):
        if pa.types.is_dictionary(field.type):
            decoded = frame.column(place).cast(field.type.value_type)
            frame = frame.set_column(place, field.name, decoded)
    return frame


def _pandas_column(column: Any) -> Any:
    import pyarrow as pa

    if column.dtype != object:
        return pa.Array.from_pandas(column)
    return pa.nulls(len(column), pa.binary())
