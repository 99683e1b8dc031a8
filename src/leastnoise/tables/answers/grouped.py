"""The answers of tables: one for each group, with its key."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import lt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import Receipt
from leastnoise.tables.answers import export
from leastnoise.tables.answers.figures import (
    One,
    columns_of,
    exact,
    figures_of,
    kind_of,
    whole_columns,
)
from leastnoise.tables.answers.text import as_html, as_text
from leastnoise.tables.keys import Key, Part

if TYPE_CHECKING:
    from datetime import date


_PARTS = ("int", "str", "bool", "date")


@dataclass(frozen=True, eq=False, repr=False)
class GroupedAnswers:
    """Released answers, one for each group, in the order of their keys.

    Attributes:
        names: The columns that groups are by.
        keys: The groups: for each, a tuple of a value for each column.
        answers: What was released for each.
        title: What was asked, in a few words.
        privacy: The promise of all of it together, for one unit.
        receipt: That they are in a ledger; None if they are in none.
        in_order: Whether keys rise, which is checked: the order of a table's rows could tell of
            them. False for an order that the question has, such as that of a histogram's ranges.
        discovered: Whether groups are shown because their noisy counts are large: chance shows some
            whose noise is, so that of those shown fewer than 95 % lie in their intervals.
    """

    names: tuple[str, ...]
    keys: tuple[Key, ...]
    answers: tuple[One, ...]
    title: str
    privacy: Privacy
    receipt: Receipt | None = None
    in_order: bool = True
    discovered: bool = False

    def __post_init__(self) -> None:
        """Refuse keys that do not belong to the answers, are there twice or in no order."""
        if not self.names or len(set(self.names)) != len(self.names):
            raise InvalidParameter(
                "groups must be by columns of different names; got none, or one twice. "
                "Give each column once."
            )
        if len(self.keys) != len(self.answers) or set(map(len, self.keys)) - {len(self.names)}:
            raise InvalidParameter(
                "every answer must have a key with a value for each column; got "
                f"{len(self.keys)} keys for {len(self.answers)} answers by {len(self.names)} "
                "columns. Give a tuple for each answer."
            )
        kind_of(self.answers)
        _of_one_type(self.keys)
        if self.in_order and not all(map(lt, self.keys, islice(self.keys, 1, None))):
            raise InvalidParameter(
                "keys must rise, each of them once; got one that is not above the one before. "
                "Sort them with their answers."
            )
        if not self.in_order and len(set(self.keys)) != len(self.keys):
            raise InvalidParameter("every key must be there once; got one twice. Leave one out.")

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def __getitem__(self, key: object) -> One:
        """Return the answer for a group: ``table["north"]``, by several columns ``table["n", 3]``.

        Raises:
            InvalidParameter: If there is no such group.
        """
        place = self._place(key)
        if place is None:
            asked = key if isinstance(key, tuple) else (key,)
            raise InvalidParameter(
                f"a key must be one of the {len(self)} groups of this table, by "
                f"{', '.join(self.names)}; got {', '.join(map(quote, asked))}. "
                "Choose one of its keys."
            )
        return self.answers[place]

    def __contains__(self, key: object) -> bool:
        """Whether there is such a group."""
        return self._place(key) is not None

    def _place(self, key: object) -> int | None:
        asked: Any = key if isinstance(key, tuple) else (key,)
        try:
            place = self._places.get(asked)
        except TypeError:  # a list or another thing that no key can be
            return None
        # True is 1 to Python, and another group.
        same = place is not None and [*map(type, self.keys[place])] == [*map(type, asked)]
        return place if same else None

    def __iter__(self) -> "Iterator[tuple[Part | Key, One]]":
        """Go through (key, answer), the key as indexing takes it: by one column, its value."""
        if len(self.names) == 1:
            return ((key[0], one) for key, one in zip(self.keys, self.answers, strict=True))
        return zip(self.keys, self.answers, strict=True)

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self.answers)

    def rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each group: what is exported, exactly.

        Its columns, then the figures (:func:`leastnoise.tables.answers.figures.columns_of`); real
        numbers are Fractions, whole ones integers. None for a bound that is infinite.
        """
        columns, whole = columns_of(self.answers), whole_columns(self.answers)
        names = export.key_names(self.names, columns)
        wholes = [name in whole for name in columns]
        return [
            dict(zip(names, key, strict=True))
            | {
                name: exact(figure, whole=kept)
                for name, figure, kept in zip(columns, figures, wholes, strict=True)
            }
            for key, figures in zip(self.keys, figures_of(self.answers), strict=True)
        ]

    def to_arrow(self) -> Any:
        """Return a table of Arrow (:func:`leastnoise.tables.answers.export.to_arrow`)."""
        return export.to_arrow(self)

    def to_pandas(self) -> Any:
        """Return a frame of pandas (:func:`leastnoise.tables.answers.export.to_pandas`)."""
        return export.to_pandas(self)

    def to_polars(self) -> Any:
        """Return a frame of polars (:func:`leastnoise.tables.answers.export.to_polars`)."""
        return export.to_polars(self)

    def to_csv(self, path: str | Path, *, overwrite: bool = False, formulas: bool = False) -> Path:
        """Write a CSV file (:func:`leastnoise.tables.answers.export.to_csv`)."""
        return export.to_csv(self, path, overwrite=overwrite, formulas=formulas)

    def to_parquet(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a Parquet file (:func:`leastnoise.tables.answers.export.to_parquet`)."""
        return export.to_parquet(self, path, overwrite=overwrite)

    def to_json(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a JSON file (:func:`leastnoise.tables.answers.export.to_json`)."""
        return export.to_json(self, path, overwrite=overwrite)

    def _repr_html_(self) -> str:
        """Show the first groups in a notebook; everything is escaped."""
        return as_html(self)

    def __str__(self) -> str:
        """Print the first groups as a table, and what is promised of all."""
        return as_text(self)

    def __repr__(self) -> str:
        """Print what was asked and of how many groups."""
        many = f"{len(self)} group{'s' * (len(self) != 1)}"
        return f"GroupedAnswers({self.title!r}, {many}, {self.privacy!r})"


def _of_one_type(keys: "tuple[tuple[int | str | bool | date, ...], ...]") -> None:
    """Refuse keys of a column that are not all of one of the types that groups have."""
    for i in range(len(keys[0]) if keys else 0):
        column = [key[i] for key in keys]  # zip would make an iterator for each key
        kinds = {kind.__name__ for kind in set(map(type, column))}
        if len(kinds) > 1 or not kinds <= set(_PARTS):
            raise InvalidParameter(
                "the keys of a column must all be whole numbers, texts, truth values or dates; got "
                f"{' and '.join(sorted(kinds))}. Give all of them in one of these types."
            )
        if kinds == {"str"} and not all(map(_encodes, column)):
            raise InvalidParameter(
                "texts of keys must be Unicode that can be written down; got one with half of a "
                "surrogate pair. Read them with the right encoding."
            )


def _encodes(text: Any) -> bool:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True
