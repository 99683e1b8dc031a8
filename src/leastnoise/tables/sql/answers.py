"""``SelectAnswers``: the answers of a SELECT as one table, with its columns in its order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from html import escape

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.json_types import Json
from leastnoise.ledger import mark
from leastnoise.rendering import Fact, align_columns, fact_lines, printable
from leastnoise.suggestions import find_nearest
from leastnoise.tables.answers import (
    NONE,
    ExportedColumn,
    GroupedAnswers,
    TableAnswer,
    TableExports,
    closing_facts,
    describe,
    export,
    format_part,
    keep_key_whole,
    layout_of,
    make_keys,
    measure,
    note_discovery,
    note_exact,
    print_cells,
    table_guarantee,
)
from leastnoise.tables.keys import Key, Part
from leastnoise.tables.release import TableResult
from leastnoise.tables.sql.select import Select

_SHOWN = 20
_WIDTH = 80
_NO_GROUPS = "all"
Groups = GroupedAnswers[TableAnswer]
Row = dict[str, Part | Fraction | date | None]


@dataclass(frozen=True, eq=False, repr=False)
class SelectAnswers(TableExports):
    """The answers of a SELECT: a row for each group, a column for each part of the SELECT.

    ``answers["n"]`` has the answers of the aggregate ``n``, as ``ask`` returns them.

    Attributes:
        names: The names of the columns, in the order of the SELECT.
        by: The names of the columns of groups.
        results: The answers of each aggregate, in order.
    """

    names: tuple[str, ...]
    by: tuple[str, ...]
    results: tuple[TableResult, ...]

    @property
    def aggregates(self) -> tuple[str, ...]:
        """The names of the other columns, one for each of ``results``."""
        return tuple(name for name in self.names if name not in self.by)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The groups, sorted and the same for all aggregates; without GROUP BY the empty key."""
        return self._tables[0].keys if self.by else ((),)

    def __getitem__(self, name: str) -> TableResult:
        """Return the answers of one aggregate by its name: ``answers["n"]``.

        Raises:
            InvalidParameter: If there is no such aggregate.
        """
        if name in self.aggregates:
            return self.results[self.aggregates.index(name)]
        near = find_nearest(str(name), self.aggregates)
        raise InvalidParameter(
            f"The SELECT has no aggregate {quote(name)}",
            fix=f"Did you mean {near!r}?" if near else f"It has {', '.join(self.aggregates)}.",
        )

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def rows(self) -> list[Row]:
        """Return a dictionary for each group: the columns of the SELECT, with exact numbers.

        After the value of ``n`` come its errors, such as ``n_low``, ``n_high`` and ``n_max_error``.
        If the SELECT has a column of that name, the error is ``n_low_``. The last two entries are
        the subject (``quantity``) and the day of a stored answer (``reused``).
        """
        figures = {
            name: table.rows() for name, table in zip(self.aggregates, self._tables, strict=True)
        }
        rows = []
        for place, key in enumerate(self.keys):
            row: Row = {}
            for name in self.names:
                if name in self.by:
                    row[name] = key[self.by.index(name)]
                    continue
                found = figures[name][place]
                row |= {own: found[figure] for figure, own in self._figure_names[name].items()}
            rows.append(row | self._constants)
        return rows

    @cached_property
    def _figure_names(self) -> dict[str, dict[str, str]]:
        """For each aggregate the name of each of its figures, by its name in the layout."""
        figures = [layout_of(table.answers).names for table in self._tables]
        named = export.name_figures(self.aggregates, figures, self.by)
        each = (
            dict(zip(own, names, strict=True)) for own, names in zip(figures, named, strict=True)
        )
        return dict(zip(self.aggregates, each, strict=True))

    @cached_property
    def _constants(self) -> dict[str, str | date | None]:
        """The entries that are the same in every row, by their names."""
        taken = {name.casefold() for name in self.by}
        taken |= {own.casefold() for each in self._figure_names.values() for own in each.values()}
        pairs = zip(self.aggregates, map(export.find_constants, self._tables), strict=True)
        subjects = [(f"{printable(name)}: {subject}", reused) for name, (subject, reused) in pairs]
        values = "; ".join(subject for subject, _ in subjects), subjects[0][1]
        names = [export.find_free_name(name, taken) for name in export.CONSTANTS]
        return dict(zip(names, values, strict=True))

    @cached_property
    def _tables(self) -> tuple[Groups, ...]:
        """The answers of each aggregate by group; a single answer is a table of one row."""
        return tuple(map(_as_table, self.results))

    # ------------------------------------------------------------------------------- print

    def to_text(self, *, ledger: str = "") -> str:
        """Return the first groups in aligned columns, then the facts about all of them.

        Columns that do not fit beside the others follow below, again with the groups.
        """
        blocks = [
            "\n".join(align_columns(cells, left, measure)) if len(self) else "no group"
            for cells, left in self._cut_blocks()
        ]
        more = len(self.keys) - _SHOWN
        tail = [f"… and {more} more"] if more > 0 else []
        facts = fact_lines(keep_key_whole(self._facts(ledger)))
        seeded = mark(self._tables[0].receipt)
        head = [seeded.removesuffix(": ")] if seeded else []
        return "\n".join([*head, "\n\n".join(blocks), *tail, "", *facts])

    __str__ = to_text

    def _repr_html_(self) -> str:
        """Return the same as HTML; all text is escaped."""
        (cells, _), *_ = self._cut_blocks(width=1 << 30)
        lines = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
            for line in cells
        )
        facts = "".join(
            f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>"
            for label, text in self._facts("")
        )
        seeded = escape(mark(self._tables[0].receipt).removesuffix(": "))
        head = f"<caption>{seeded}</caption>" if seeded else ""
        return f"<table>{head}{lines}</table><table>{facts}</table>"

    def __repr__(self) -> str:
        seeded = mark(self._tables[0].receipt)
        return f"{seeded}SelectAnswers({', '.join(self.names)}: {len(self)} rows)"

    def _cut_blocks(self, width: int = _WIDTH) -> list[tuple[list[list[str]], list[int]]]:
        """Return tables of cells that are each at most so wide, with their left-aligned columns."""
        shown = self.keys[:_SHOWN]
        columns = {name: self._print_column(name, shown) for name in self.names}
        keys = [name for name in self.names if name in self.by]
        blocks: list[list[str]] = [[]]
        for name in self.names:
            wider = [*blocks[-1], name]
            others = [each for each in wider if each not in self.by]
            if name not in self.by and len(others) > 1 and _measure_width(columns, wider) > width:
                blocks.append([*keys, name])
            else:
                blocks[-1] = wider
        return [_arrange(columns, names, self.by) for names in blocks]

    def _print_column(self, name: str, shown: Sequence[Key]) -> list[list[str]]:
        """Return the cells of one column of the SELECT, the header first."""
        if name in self.by:
            place = self.by.index(name)
            return [[printable(name)], *([format_part(key[place])] for key in shown)]
        table = self._tables[self.aggregates.index(name)]
        layout = layout_of(table.answers)
        whole = bool(len(table)) and "value" in layout.whole(table.answers)
        first = table.answers[: len(shown)]
        figures = zip(layout.figures(first), first, strict=True)
        cells = (layout.cells(own, answer, whole)[:2] for own, answer in figures)
        return [[printable(name), layout.header[0]], *cells]

    def _facts(self, ledger: str) -> list[Fact]:
        """Return the facts about each aggregate, then those about all of them."""
        subjects = [table.subject for table in self._tables]
        omitted = [rule for rule in subjects[0].omitted if all(rule in s.omitted for s in subjects)]
        known = tuple(dict.fromkeys(note for subject in subjects for note in subject.notes))
        shared = replace(subjects[0], omitted=tuple(omitted), notes=known)
        facts, tables = list[Fact](), list(zip(self.aggregates, self._tables, strict=True))
        for name, table in tables:
            own = [rule for rule in table.subject.omitted if rule not in omitted]
            error = f"max error: {print_cells(table)[1] or 'differs by row'}"
            words = [table.subject.quantity, error, table.subject.contributions]
            words += [f"omitted: {', '.join(own)}"] if own else []
            facts.append((printable(name), printable("; ".join(filter(None, words)))))
            facts += note_exact(table)
        first = replace(self._tables[0], about=shared)
        closing = [fact for fact in closing_facts(first, ledger=ledger) if fact[0] != "Counted"]
        total = replace(first, privacy=first.total_privacy)
        unbounded = any(print_cells(table)[1] == NONE for table in self._tables)
        chosen = any(subject.selected for subject in subjects)
        about = replace(subjects[0], selected=chosen)
        notes = note_discovery(first, NONE if unbounded else None, "row", about)
        return [*facts, ("Guarantee", table_guarantee(total)), *closing, *notes]

    # ------------------------------------------------------------------------------ export

    def exported_columns(self) -> list[ExportedColumn]:
        """Return the columns of an export: those of :meth:`rows`."""
        columns: dict[str, ExportedColumn] = {}
        for name in self.names:
            if name in self.by:
                place = self.by.index(name)
                columns[name] = make_keys(name, [key[place] for key in self.keys])
                continue
            names = self._figure_names[name]
            for column in export.figure_columns(self._tables[self.aggregates.index(name)].answers):
                own = names[column.name]
                columns[own] = replace(column, name=own)
        rows = len(self.keys)
        same = zip(self._constants.items(), (export.TEXT, export.DATE), strict=True)
        constants = [ExportedColumn(name, kind, [value] * rows) for (name, value), kind in same]
        return [*columns.values(), *constants]

    def exported_about(self) -> Json:
        """Return the queries and their guarantee as JSON, numbers as exact ratios."""
        return {
            "columns": list(self.names),
            "by": list(self.by),
            "aggregates": {
                name: describe(table)
                for name, table in zip(self.aggregates, self._tables, strict=True)
            },
        }

    def to_dict(self) -> Json:
        """Return all answers as JSON: those of each aggregate by its name (docs/answers.md)."""
        tables = zip(self.aggregates, self._tables, strict=True)
        return {
            "columns": list(self.names),
            "by": list(self.by),
            "aggregates": {name: table.to_dict() for name, table in tables},
        }


def make_answers(select: Select, results: Sequence[TableResult]) -> SelectAnswers:
    """Return the answers of a SELECT from those of its queries."""
    names = tuple(column.name for column in select.columns)
    by = tuple(column.name for column in select.columns if column.content in select.by)
    return SelectAnswers(names, by, tuple(results))


def _as_table(result: TableResult) -> Groups:
    if isinstance(result, GroupedAnswers):
        return result
    return GroupedAnswers(
        names=("group",),
        keys=((_NO_GROUPS,),),
        answers=(result,),
        title=result.subject.title,
        privacy=result.privacy,
        receipt=result.receipt,
        together=result.total_privacy,
        about=result.subject,
    )


def _measure_width(columns: dict[str, list[list[str]]], names: Sequence[str]) -> int:
    """Return the width of some columns side by side."""
    return max(map(measure, align_columns(_join_cells(columns, names), [], measure)))


def _arrange(
    columns: dict[str, list[list[str]]], names: Sequence[str], by: Sequence[str]
) -> tuple[list[list[str]], list[int]]:
    """Return the cells of some columns, and the places of those that are aligned to the left."""
    left, place = list[int](), 0
    for name in names:
        left.append(place if name in by else place + 1)
        place += 1 if name in by else 2
    return _join_cells(columns, names), left


def _join_cells(columns: dict[str, list[list[str]]], names: Sequence[str]) -> list[list[str]]:
    """Return the lines of some columns side by side."""
    rows = range(len(columns[names[0]]))
    return [[cell for name in names for cell in columns[name][i]] for i in rows]
