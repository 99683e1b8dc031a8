"""``GroupedAnswers``: the answers of a query by group."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from operator import lt
from typing import Any, Generic, TypeVar, cast

from leastnoise.core.exact import quote
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.ledger import Receipt
from leastnoise.mechanism import Mechanism, format_brief
from leastnoise.suggestions import find_nearest
from leastnoise.tables.answers import document, export
from leastnoise.tables.answers.layout import TableAnswer, layout_of, mechanisms_of
from leastnoise.tables.answers.subject import Subject
from leastnoise.tables.answers.text import as_html, as_text, format_part
from leastnoise.tables.keys import Key, Part, encodes
from leastnoise.tables.ratio import Ratio

One_co = TypeVar("One_co", bound=TableAnswer, covariant=True)
_PARTS = ("int", "str", "bool", "date", "datetime")


@dataclass(frozen=True, eq=False, repr=False)
class GroupedAnswers(Generic[One_co]):
    """Released answers, one for each group, in the order of their keys.

    Attributes:
        names: The columns to group by.
        keys: The groups, each a tuple with a value for each column.
        answers: The answer for each group, all of one class.
        title: The query in a few words.
        privacy: The total guarantee of these answers, for one unit.
        receipt: The ledger's receipt; None if the answers are in no ledger.
        in_order: Whether keys must be sorted, because the order of rows in a table could reveal
            data. False if the query has an order, such as that of a histogram's ranges.
        discovered: Whether the groups were discovered: only groups with large noisy counts are
            shown. A small group can be shown because of large noise. So fewer than 95% of the shown
            counts and means lie in their intervals. Sums and quantiles have independent noise, so
            their intervals cover as stated.
        together: The guarantee of everything that was released together, for one unit; None if
            there was nothing else.
        about: The subject of the answers. Default: a subject with the title only.
    """

    names: tuple[str, ...]
    keys: tuple[Key, ...]
    answers: tuple[One_co, ...]
    title: str
    privacy: Privacy
    receipt: Receipt | None = None
    in_order: bool = True
    discovered: bool = False
    together: Privacy | None = None
    about: Subject | None = None

    def __post_init__(self) -> None:
        """Reject keys that do not fit the answers, are repeated or are not in order."""
        if not self.names or len(set(self.names)) != len(self.names):
            raise InvalidParameter(
                "names must be different columns",
                got="no column, or a column twice",
                fix="Name each column once.",
            )
        if len(self.keys) != len(self.answers) or set(map(len, self.keys)) - {len(self.names)}:
            raise InvalidParameter(
                "Every answer must have a key with a value for each column",
                got=f"{len(self.keys)} keys for {len(self.answers)} answers by {len(self.names)} "
                "columns",
                fix="Write a tuple for each answer.",
            )
        layout_of(self.answers)
        _check_types(self.keys)
        if self.in_order and not all(map(lt, self.keys, islice(self.keys, 1, None))):
            raise InvalidParameter(
                "keys must be sorted and different",
                got="a key that is not above the key before it",
                fix="Sort the keys with their answers.",
            )
        if not self.in_order and len(set(self.keys)) != len(self.keys):
            raise InvalidParameter(
                "keys must be different", got="a key twice", fix="Write each key once."
            )

    @cached_property
    def subject(self) -> Subject:
        """The quantity that the answers are about: bounds, contributions and omitted rows."""
        return Subject(title=self.title) if self.about is None else self.about

    @cached_property
    def mechanisms(self) -> list[Mechanism]:
        """The mechanisms that released the answers, each once."""
        return mechanisms_of(self.answers)

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.privacy if self.together is None else self.together

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def __getitem__(self, key: object) -> One_co:
        """Return the answer for a group: ``table["north"]``, by several columns ``table["n", 3]``.

        It prints with the name of the group.

        Raises:
            InvalidParameter: If there is no such group.
        """
        place = self._find_place(key)
        if place is None:
            raise self._missing_error(key if isinstance(key, tuple) else (key,))
        return self._name_group(self.answers[place], self.keys[place])

    def _name_group(self, answer: One_co, key: Key) -> One_co:  # type: ignore[misc]  # it is returned
        """Return the answer of a group with a subject that names the group."""
        with_group = layout_of([answer]).with_group
        if with_group is None:
            return answer
        parts = ", ".join(map(format_part, key))
        group = parts if len(key) == 1 else f"({parts})"
        named: Any = with_group(answer, group)
        return cast(One_co, named)

    def _missing_error(self, parts: tuple[object, ...]) -> InvalidParameter:
        """Return the error for a group that is not shown, with the nearest one that is."""
        shown = {", ".join(map(str, key)): key for key in self.keys}
        near = find_nearest(", ".join(map(str, parts)), shown)
        fix = "The groups are in .keys."
        if near is not None:
            fix = f"Did you mean {', '.join(map(quote, shown[near]))}? {fix}"
        return InvalidParameter(
            f"This table has no group {', '.join(map(quote, parts))} by {', '.join(self.names)}",
            fix=fix,
        )

    def __contains__(self, key: object) -> bool:
        return self._find_place(key) is not None

    def _find_place(self, key: object) -> int | None:
        parts: Any = key if isinstance(key, tuple) else (key,)
        try:
            place = self._places.get(parts)
        except TypeError:  # a value that is not hashable is no key
            return None
        # In Python True equals 1, but they are different groups.
        same = place is not None and [*map(type, self.keys[place])] == [*map(type, parts)]
        return place if same else None

    def __iter__(self) -> "Iterator[tuple[Part | Key, One_co]]":
        """Iterate over (key, answer); with one column to group by, the key is its value."""
        if len(self.names) == 1:
            return ((key[0], answer) for key, answer in zip(self.keys, self.answers, strict=True))
        return zip(self.keys, self.answers, strict=True)

    def __len__(self) -> int:
        return len(self.answers)

    def rows(self) -> list[dict[str, Part | Fraction | None]]:
        """Return a dictionary for each group: the exported columns, with exact numbers.

        It has the key, then the figures. Reals are Fractions, and an infinite maximum error is
        None. The last two entries are the subject (``quantity``) and the day of a stored answer
        (``reused``; None for a new answer).
        """
        layout = layout_of(self.answers)
        whole = layout.whole(self.answers)
        integers = [name in whole for name in layout.names]
        names = export.key_names(self.names, (*layout.names, *export.CONSTANTS))
        same = dict(zip(export.CONSTANTS, export.find_constants(self), strict=True))
        return [
            dict(zip(names, key, strict=True))
            | {
                name: _to_exact(figure, whole=integer)
                for name, figure, integer in zip(layout.names, figures, integers, strict=True)
            }
            | same
            for key, figures in zip(self.keys, layout.figures(self.answers), strict=True)
        ]

    to_arrow, to_pandas, to_polars = export.to_arrow, export.to_pandas, export.to_polars
    to_csv, to_parquet = export.to_csv, export.to_parquet
    to_dict, to_json = document.to_dict, document.to_json
    __arrow_c_stream__, __array__ = export.to_arrow_stream, export.to_array

    _repr_html_, to_text, __str__ = as_html, as_text, as_text

    def __repr__(self) -> str:
        groups = f"{len(self)} group{'s' * (len(self) != 1)}"
        return format_brief(self.title, groups, self.privacy)


def _to_exact(figure: Ratio | None, *, whole: bool) -> Fraction | int | None:
    if figure is None:
        return None
    return figure[0] // figure[1] if whole else Fraction(*figure)


def _check_types(keys: tuple[Key, ...]) -> None:
    """Reject keys if the values of a column are not all of one type that groups can have."""
    for i in range(len(keys[0]) if keys else 0):
        column = [key[i] for key in keys]  # zip would make an iterator for each key
        kinds = {kind.__name__ for kind in set(map(type, column))}
        if len(kinds) > 1 or not kinds <= set(_PARTS):
            raise InvalidParameter(
                "The groups of a column must all be integers, strings, booleans, dates or "
                "timestamps",
                got=" and ".join(sorted(kinds)),
                fix="Convert them to one of these types.",
            )
        if kinds == {"str"} and not all(encodes(str(part)) for part in column):
            raise InvalidParameter(
                parameter("groups") + " must be valid Unicode",
                got="a string with half of a surrogate pair",
                fix="Read them with the right encoding.",
            )
