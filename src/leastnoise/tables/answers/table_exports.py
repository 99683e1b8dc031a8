"""``TableExports``: the exports that tables with the answers of several queries share."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from leastnoise.files import write_table
from leastnoise.json_types import Json
from leastnoise.mechanism import json_text
from leastnoise.tables.answers import export

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class TableExports(ABC):
    """A table of the answers of several queries that exports itself as one table."""

    @abstractmethod
    def exported_columns(self) -> list[export.Column]:
        """Return the exported columns."""

    @abstractmethod
    def exported_about(self) -> Json:
        """Return the queries and their guarantees as JSON, without the rows."""

    @abstractmethod
    def to_dict(self) -> Json:
        """Return all answers as JSON (docs/answers.md): numbers, and their exact ratios."""

    @property
    def _exported(self) -> Any:
        return self  # an export takes anything that has these columns

    def to_arrow(self) -> "pyarrow.Table":
        """Return an Arrow table with a row for each group."""
        return export.to_arrow(self._exported)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return export.to_arrow_stream(self._exported, requested_schema)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a pandas frame with a row for each group."""
        return export.to_pandas(self._exported)

    def to_polars(self) -> "polars.DataFrame":
        """Return a polars frame with a row for each group."""
        return export.to_polars(self._exported)

    def to_csv(self, path: str | Path, *, overwrite: bool = False, formulas: bool = False) -> Path:
        """Write a CSV file with a line for each group, as :meth:`GroupedAnswers.to_csv` does."""
        return export.to_csv(self._exported, path, overwrite=overwrite, formulas=formulas)

    def to_parquet(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a Parquet file: the table of :meth:`to_arrow` with its metadata."""
        return export.to_parquet(self._exported, path, overwrite=overwrite)

    @overload
    def to_json(self) -> str: ...
    @overload
    def to_json(self, path: str | Path, *, overwrite: bool = False) -> Path: ...

    def to_json(self, path: str | Path | None = None, *, overwrite: bool = False) -> str | Path:
        """Return :meth:`to_dict` as a JSON text, or write it to a file."""
        text = json_text(self.to_dict())
        if path is None:
            return text
        return write_table(path, lambda file: file.write(f"{text}\n".encode()), overwrite=overwrite)
