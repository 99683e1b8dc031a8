"""The bounded query: what a unit contributes is limited, on every engine in the same way.

Rows need not be chosen: the number of a unit's rows in a group is cut off at c and their sum is
clipped, which needs no order of rows. Only the groups in which a unit counts must be chosen: those
that come first by a hash of the question, the unit and the group. The hash is md5, which all
engines have. It must be the same everywhere and prefer no group; it protects nothing.

What a unit adds to each group depends on its own rows alone. So a unit that is added, removed or
replaced changes no group but those in which it counts, before and after (sensitivity.py says by how
much). This is the whole proof that the sensitivities are those declared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import parse_count as whole_number
from leastnoise.errors import InvalidParameter
from leastnoise.tables.bounding.keys import among, join_texts, to_text

if TYPE_CHECKING:
    import ibis.expr.types as ir

# The names of columns in a query: nothing that a table has.
COUNT, SUM = "leastnoise_n", "leastnoise_s"
_UNIT, _INDEX, _RANK = "leastnoise_u", "leastnoise_i", "leastnoise_r"
# c·index stays below 2¹⁰⁶, and a sum over 2⁶⁴ rows below 2¹¹⁸: 38 digits hold both.
_WIDE = "decimal(38, 0)"
_LARGEST = 1 << 53


@dataclass(frozen=True, repr=False)
class Summed:
    """What is added up.

    Attributes:
        index: An integer for each row, from ``low`` to ``high``, never NULL.
        low: The least index.
        high: The largest index.
        averaged: What a unit with more than c rows in a group adds. False: the sum of its rows,
            clipped to what c rows could have. True: c times their average, rounded down, so that
            the sum fits a count of c rows.
    """

    index: Any
    low: int
    high: int
    averaged: bool = False

    def __post_init__(self) -> None:
        """Reject indices whose sums could overflow."""
        if max(abs(self.low), abs(self.high)) > 2 * _LARGEST:
            raise InvalidParameter(
                "indices must lie within ±2⁵⁴; got bounds beyond. Give a coarser lattice."
            )


@dataclass(frozen=True)
class Bounding:
    """How contributions are bounded before rows are added up.

    Attributes:
        unit: The column that names units; None where a row is a unit.
        rows: c, how many rows of a unit count in each group.
        groups: In how many groups a unit counts.
        salt: What is hashed with names, so that questions choose groups independently.
        engine: "duckdb", "postgres" or "pyspark".
    """

    unit: str | None
    rows: int
    groups: int
    salt: str
    engine: str

    def __post_init__(self) -> None:
        """Reject numbers for which no sensitivity is declared."""
        whole_number(self.groups, "the number of groups a unit counts in", least=1)
        if whole_number(self.rows, "max_rows", least=1) > _LARGEST:
            raise InvalidParameter(
                "max_rows must be at most 2⁵³; got more. Give how many rows of one unit count."
            )
        if self.unit is None and self.rows != 1:
            raise InvalidParameter(
                "where a row is a unit, one row counts; got max_rows other than 1. Leave it out."
            )

    def query(
        self,
        table: "ir.Table",
        by: Mapping[str, "ir.Value"],
        *,
        keys: Sequence[tuple[Any, ...]] | None = None,
        count: bool = True,
        sums: Sequence[Summed] = (),
    ) -> "ir.Table":
        """Return, per group, the rows that count and the sums that count.

        Args:
            table: The rows that the question is about.
            by: What makes a group, by the names of the result's columns. A row counts nowhere if
                one of them is NULL or a date outside of the years 1 to 9999, or its unit is NULL.
            keys: The groups that count, at most some thousand; None for all.
            count: Whether to return COUNT.
            sums: What to add up, returned as SUM followed by its number from 0.

        Returns:
            A row for each group that has a row that counts; without ``by``, one row. Counts and
            sums are exact integers, however large.
        """
        names = tuple(by)
        rows = self._rows(table, by, sums, keys)
        if self.unit is None:
            figures = {COUNT: rows.count()} if count else {}
            figures |= {f"{SUM}{i}": self._total(rows[f"{_INDEX}{i}"]) for i in range(len(sums))}
            return _added(rows, names, figures)
        each = self._each(rows, names, len(sums))
        if names and (keys is None or len(keys) > self.groups):
            each = self._chosen(each, names)
        figures = {COUNT: _clipped(each[COUNT], None, self.rows, "int64").sum()} if count else {}
        for i, one in enumerate(sums):
            figures[f"{SUM}{i}"] = self._total(self._share(each[COUNT], each[f"{SUM}{i}"], one))
        return _added(each, names, figures)

    def _share(self, rows: Any, total: Any, one: Summed) -> Any:
        """Return what a unit's rows add to a group's sum, clipped whatever came before."""
        import ibis

        ends = self.rows * min(one.low, 0), self.rows * max(one.high, 0)
        largest = max(map(abs, ends))
        if one.averaged and largest <= _LARGEST:
            # In doubles, which all engines multiply and divide alike; clipping needs no accuracy.
            average = (total.cast("float64") * float(self.rows) / rows.cast("float64")).floor()
            most = ibis.literal(float(_LARGEST), "float64")
            average = ibis.cases((average > most, most), (average < -most, -most), else_=average)
            total = ibis.cases((rows > self.rows, average.cast("int64").cast(_WIDE)), else_=total)
        return _clipped(total, *ends, "int64" if largest < 1 << 63 else _WIDE)

    def _rows(
        self,
        table: "ir.Table",
        by: Mapping[str, "ir.Value"],
        sums: Sequence[Summed],
        keys: Sequence[tuple[Any, ...]] | None,
    ) -> "ir.Table":
        """Return the rows that could count: their unit, their group and their indices."""
        if self.unit is None and not by and not sums:
            return table
        kept = {name: self._name(value) for name, value in by.items()}
        if self.unit is not None:
            kept[_UNIT] = self._name(table[self.unit])
        named = tuple(kept)
        kept |= {f"{_INDEX}{i}": one.index for i, one in enumerate(sums)}
        rows = table.select(**kept)
        conditions = [rows[name].notnull() for name in named]
        if keys is not None and by:
            conditions.append(among([rows[name] for name in by], keys))
        return rows.filter(*conditions) if conditions else rows

    def _each(self, rows: "ir.Table", names: tuple[str, ...], sums: int) -> "ir.Table":
        """Return what each unit has in each of its groups, not yet bounded."""
        figures: dict[str, Any] = {COUNT: rows.count()}
        figures |= {f"{SUM}{i}": self._total(rows[f"{_INDEX}{i}"]) for i in range(sums)}
        return rows.group_by([_UNIT, *names]).aggregate(**figures)

    def _chosen(self, each: "ir.Table", names: tuple[str, ...]) -> "ir.Table":
        """Return the groups in which each unit counts."""
        import ibis

        # The names come last: the choice must not be random if two groups have one hash.
        order = [self._place(each, names), *(each[name] for name in names)]
        window = ibis.window(group_by=_UNIT, order_by=order)
        each = each.mutate(**{_RANK: ibis.row_number().over(window)})
        return each.filter(each[_RANK] < self.groups)

    def _place(self, each: "ir.Table", names: tuple[str, ...]) -> Any:
        """Return the hash that orders a unit's groups."""
        import ibis

        parts = (
            ibis.literal(self.salt),
            to_text(each[_UNIT]),
            *(to_text(each[name]) for name in names),
        )
        # Half of it orders them as well, in less time; ties are broken by names.
        return _md5()(join_texts(parts)).left(12)

    def _name(self, value: "ir.Value") -> "ir.Value":
        """Return what names a unit or a group: NULL if it does not identify one.

        The blanks at the end of PostgreSQL's CHAR(n) are removed: they do not count when it
        compares, but would be read as part of a key. Dates before the year 1 and after 9999, and
        ±∞, become NULL: Python has no such dates, so two of them could be read as one key.
        """
        import ibis

        if self.engine == "postgres" and value.type().is_string():
            return value + ""
        if value.type().is_date():
            known = value.between(ibis.literal(date.min), ibis.literal(date.max))
            return ibis.cases((known, value), else_=ibis.null("date"))
        return value

    def _total(self, column: Any) -> Any:
        """Return the sum of integers in a type that holds it.

        DuckDB and PostgreSQL add integers in wider types; Spark does not, and fails or wraps.
        """
        wide = column.cast(_WIDE) if self.engine == "pyspark" else column
        return wide.sum().cast(_WIDE)


def _added(table: "ir.Table", names: tuple[str, ...], figures: dict[str, Any]) -> "ir.Table":
    if names:
        return table.group_by(list(names)).aggregate(**figures)
    return table.aggregate(**{name: figure.fill_null(0) for name, figure in figures.items()})


def _clipped(figure: Any, low: int | None, high: int, kind: str) -> Any:
    """Return a figure clipped at both ends, in a type that holds them."""
    import ibis

    def end(value: int) -> Any:
        return ibis.literal(value, kind)

    cases = [(figure > end(high), end(high))]
    if low is not None:
        cases.append((figure < end(low), end(low)))
    return ibis.cases(*cases, else_=figure).cast(kind)


@cache
def _md5() -> Any:
    import ibis

    @ibis.udf.scalar.builtin(name="md5", signature=(("string",), "string"))
    def md5(text):  # type: ignore[no-untyped-def]  # ibis reads the signature
        ...

    return md5
