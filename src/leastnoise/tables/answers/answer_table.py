"""``AnswerTable``: the answers of one ask by the same groups, printed and exported as a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import overload

from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.json_types import Json
from leastnoise.ledger import Receipt, mark
from leastnoise.mechanism import format_brief
from leastnoise.tables.answers import document, export
from leastnoise.tables.answers.answer_table_text import as_html, as_text
from leastnoise.tables.answers.grouped import GroupedAnswers
from leastnoise.tables.answers.layout import TableAnswer
from leastnoise.tables.answers.subject import Subject
from leastnoise.tables.answers.table_exports import TableExports
from leastnoise.tables.keys import Part

Result = TableAnswer | GroupedAnswers[TableAnswer]


@dataclass(frozen=True, eq=False, repr=False)
class AnswerTable(TableExports, Sequence[Result]):
    """The answers of several queries by the same columns, a sequence in the order of the queries.

    Answers with the same groups are one table, with a row for each group. It prints and exports as
    one. Any other answer, such as a histogram, prints below the table by itself.

    Attributes:
        names: The columns to group by.
        results: The answer of each query.
    """

    names: tuple[str, ...]
    results: tuple[Result, ...]

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Result, ...]: ...

    def __getitem__(self, place: int | slice) -> Result | tuple[Result, ...]:
        """Return the answer of the query at a place."""
        return self.results[place]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @cached_property
    def tables(self) -> tuple[GroupedAnswers[TableAnswer], ...]:
        """The answers that are columns of the one table."""
        by = [each for each in self.results if isinstance(each, GroupedAnswers)]
        by = [each for each in by if each.names == self.names]
        return tuple(each for each in by if each.keys == by[0].keys)

    @cached_property
    def others(self) -> tuple[Result, ...]:
        """The answers with other groups."""
        columns = set(map(id, self.tables))
        return tuple(each for each in self.results if id(each) not in columns)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name for each column of the table: the statistic, or the title if several share it."""
        amounts = Counter(table.subject.statistic for table in self.tables)
        end = f" by {', '.join(self.names)}"
        titles = (table.title.removesuffix(end) for table in self.tables)
        labels = [
            table.subject.statistic if amounts[table.subject.statistic] == 1 else title
            for table, title in zip(self.tables, titles, strict=True)
        ]
        seen: Counter[str] = Counter()
        for place, label in enumerate(labels):
            seen[label] += 1
            labels[place] = label if seen[label] == 1 else f"{label} {seen[label]}"
        return tuple(labels)

    @property
    def title(self) -> str:
        """The titles of the queries."""
        return "; ".join(each.subject.title for each in self.results)

    @property
    def privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.total_privacy

    @property
    def total_privacy(self) -> Privacy:
        """The guarantee of everything that was released together, for one unit."""
        return self.results[0].total_privacy

    @property
    def receipt(self) -> Receipt | None:
        """The ledger's receipt; None if the answers are in no ledger."""
        return self.results[0].receipt

    @cached_property
    def subject(self) -> Subject:
        """What the table is about: what holds for some of its columns names them."""
        subjects = [table.subject for table in self.tables]
        bounds = [subject.contributions for subject in subjects]
        limits = {subject.hidden_up_to for subject in subjects}
        return replace(
            subjects[0],
            title="; ".join(subject.quantity for subject in subjects),
            bounds=None,
            contributions=bounds[0] if len(set(bounds)) == 1 else self._attribute(bounds),
            omitted=tuple(self._merge([subject.omitted for subject in subjects])),
            notes=tuple(dict.fromkeys(note for subject in subjects for note in subject.notes)),
            hidden_up_to=max(filter(None, limits), default=None),
            selected=any(subject.selected for subject in subjects),
        )

    def _attribute(self, phrases: Sequence[str]) -> str:
        return "; ".join(map(": ".join, zip(self.labels, phrases, strict=True)))

    def _merge(self, rules: Sequence[Sequence[str]]) -> list[str]:
        """Return all phrases; one that not every column has names its columns."""
        owners: dict[str, list[str]] = {}
        for label, phrases in zip(self.labels, rules, strict=True):
            for phrase in phrases:
                owners.setdefault(phrase, []).append(label)
        return [
            phrase if len(own) == len(rules) else f"{phrase} ({', '.join(own)})"
            for phrase, own in owners.items()
        ]

    def rows(self) -> list[dict[str, Part | Fraction | None]]:
        """Return a dictionary for each group: its key, then the exact figures of each column.

        The figures have the name of their column, as ``count`` and ``count_low``. The last two
        entries are the subject (``quantity``) and the day of a stored answer (``reused``).
        """
        own = [table.rows() for table in self._whole]
        names = [column.name for column in self.exported_columns()]
        keys = len(self.names)
        return [
            dict(
                zip(
                    names,
                    [
                        *list(parts[0].values())[:keys],
                        *(part for row in parts for part in list(row.values())[keys:-2]),
                        *export.find_constants(self._exported),
                    ],
                    strict=True,
                )
            )
            for parts in zip(*own, strict=True)
        ]

    def exported_columns(self) -> list[export.Column]:
        """Return the exported columns."""
        parts = [export.export_columns(table) for table in self._whole]
        keys, last = len(self.names), len(export.CONSTANTS)
        own = [columns[keys:-last] for columns in parts]
        named = export.name_figures(
            self._prefixes, [[column.name for column in each] for each in own], export.CONSTANTS
        )
        figures = [
            replace(column, name=name)
            for columns, names in zip(own, named, strict=True)
            for column, name in zip(columns, names, strict=True)
        ]
        taken = (*(column.name for column in figures), *export.CONSTANTS)
        names = export.key_names(self.names, taken)
        same = zip(parts[0][-last:], export.find_constants(self._exported), strict=True)
        rows = len(parts[0][0].values)
        return [
            *(replace(key, name=name) for key, name in zip(parts[0][:keys], names, strict=True)),
            *figures,
            *(replace(column, values=[value] * rows) for column, value in same),
        ]

    def exported_about(self) -> Json:
        """Return the titles as JSON, and under ``answers`` each query and its guarantee."""
        return self._list_json([document.describe(table) for table in self._whole])

    def to_dict(self) -> Json:
        """Return the titles as JSON, and under ``answers`` the document of each answer."""
        return self._list_json(
            [
                document.to_dict(each)
                if isinstance(each, GroupedAnswers)
                else document.answer_to_dict(each)
                for each in self.results
            ]
        )

    def _list_json(self, answers: list[Json]) -> Json:
        return {"title": self.title, "by": list(self.names), "answers": answers}

    @property
    def _prefixes(self) -> list[str]:
        """The labels as names of columns: ``mean of income`` is ``mean_of_income``."""
        return ["_".join(label.split()) for label in self.labels]

    @property
    def _whole(self) -> tuple[GroupedAnswers[TableAnswer], ...]:
        """The columns of the table; raise an error if other answers are beside it."""
        if self.others:
            raise InvalidParameter(
                "Only answers with the same groups export as one table",
                got=f"{len(self.others)} with other groups",
                fix="Export each answer by itself: answers[0], answers[1], and so on.",
            )
        return self.tables

    def _repr_html_(self) -> str:
        return as_html(self)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        answers = f"{len(self)} answer{'s' * (len(self) != 1)}"
        return format_brief(
            f"{mark(self.receipt)}by {', '.join(self.names)}", answers, self.privacy
        )
