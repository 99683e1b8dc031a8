"""``TableValue``: the parent class of single answers from tables."""

from typing import Any

from leastnoise.json_types import Json
from leastnoise.mechanism import ReleasedValue


class TableValue(ReleasedValue):
    """A single answer from a table, as a Python number and as JSON, by the layout of its class."""

    __slots__ = ()

    @property
    def _is_integer(self) -> bool:
        from leastnoise.tables.answers.layout import layout_of

        one: Any = self
        layout = layout_of([one])
        return layout.columns[0].name in layout.whole([one])

    def to_dict(self) -> Json:
        """Return the answer as JSON (docs/answers.md): numbers, and their exact ratios."""
        from leastnoise.tables.answers.document import answer_to_dict

        one: Any = self
        return answer_to_dict(one)
