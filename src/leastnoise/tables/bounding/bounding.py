"""The bounded query: what a unit contributes is limited, on every engine in the same way.

Rows need not be chosen: the number of a unit's rows in a group is cut off at c and their sum is
clipped, which needs no order of rows. Only the groups in which a unit counts must be chosen: those
that come first by a hash of the query, the unit and the group. The hash is md5, which all
engines have. It must be the same everywhere and prefer no group; it protects nothing.

What a unit adds to each group depends on its own rows alone. So a unit that is added, removed or
replaced changes no group but those in which it counts, before and after (sensitivity.py says by how
much). This is the whole proof that the sensitivities are those declared.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import prod
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.bounding.lattice import builtin

if TYPE_CHECKING:
    import ibis.expr.types as ir

# The names of columns in a query: nothing that a table has.
COUNT, SUM = "leastnoise_n", "leastnoise_s"
_UNIT, _INDEX, _RANK = "leastnoise_u", "leastnoise_i", "leastnoise_r"
# c·index stays below 2¹⁰⁶, and a sum over 2⁶⁴ rows below 2¹¹⁸: 38 digits hold both.
_WIDE = "decimal(38, 0)"
_LARGEST = 1 << 53
_LONG = 1_000  # characters


@dataclass(frozen=True, repr=False)
class Summed:
    """What is added up.

    Attributes:
        index: An integer for each row, from ``low`` to ``high`` or 0, never NULL.
        low: The least index.
        high: The largest index.
        averaged: What a unit with more than c rows in a group adds. False: the sum of its rows,
            clipped to what c rows could have. True: c times their average, rounded down, so that
            the sum fits a count of c rows; where that could exceed 2⁵³, as for False.
    """

    index: Any
    low: int
    high: int
    averaged: bool = False

    @property
    def identity(self) -> Hashable:
        """What is equal for equal sums: Ibis compares the structure of expressions."""
        return self.index.op(), self.low, self.high, self.averaged

    def __post_init__(self) -> None:
        """Reject indices whose sums could overflow."""
        if max(abs(self.low), abs(self.high)) > 2 * _LARGEST:
            raise InvalidParameter(
                "lattice indices must lie within ±2⁵⁴",
                got="bounds beyond it",
                fix="Use a coarser lattice.",
            )


@dataclass(frozen=True, kw_only=True, repr=False)  # Ibis expressions might show records
class Selection:
    """Which rows count, by which groups, and how much of a unit.

    Attributes:
        table: The rows that the query is about.
        by: What makes a group, by the names of the result's columns. A row counts nowhere if one of
            them is NULL or a date outside of the years 1 to 9999, or its unit is NULL.
        keys: The groups that count, at most some thousand; None for all.
        unit: The column that names units; None where a row is a unit, and counts as one row.
        rows: c, how many rows of a unit count in each group.
        groups: In how many groups a unit counts.
        salt: What is hashed with names, so that queries choose groups independently.
        engine: "duckdb", "postgres" or "pyspark".
    """

    table: "ir.Table"
    by: "Mapping[str, ir.Value]"
    keys: Sequence[tuple[Any, ...]] | None
    unit: str | None
    rows: int
    groups: int
    salt: str
    engine: str

    def __post_init__(self) -> None:
        if self.rows > _LARGEST:
            raise InvalidParameter(
                Words("max_rows", "--max-rows") + " must be at most 2⁵³",
                got="a larger number",
                fix="Give the maximum number of rows per unit per group, for instance 1.",
            )

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """What is equal for equal selections: Ibis compares the structure of expressions."""
        by = tuple((name, part.op()) for name, part in self.by.items())
        how = self.unit, self.rows, self.groups, self.salt, self.engine
        return self.table.op(), by, self.keys, how

    def query(self, *, count: bool = True, sums: Sequence[Summed] = ()) -> "ir.Table":
        """Return, per group, the rows that count and the sums that count.

        Args:
            count: Whether to return COUNT.
            sums: What to add up, returned as SUM followed by its number from 0.

        Returns:
            A row for each group that has a row that counts; without ``by``, one row. Counts and
            sums are exact integers, however large.
        """
        rows = self._rows(sums)
        if self.unit is None:
            figures = {COUNT: rows.count()} if count else {}
            return self._added(rows, figures | self._totals(rows, len(sums)))
        each = rows.group_by([_UNIT, *self.by]).aggregate(
            **{COUNT: rows.count()} | self._totals(rows, len(sums))
        )
        if self.by and (self.keys is None or len(self.keys) > self.groups):
            each = self._chosen(each)
        figures = {COUNT: _clipped(each[COUNT], None, self.rows, "int64").sum()} if count else {}
        for i, one in enumerate(sums):
            figures[f"{SUM}{i}"] = self._total(self._share(each[COUNT], each[f"{SUM}{i}"], one))
        return self._added(each, figures)

    def _added(self, table: "ir.Table", figures: dict[str, Any]) -> "ir.Table":
        if self.by:
            return table.group_by(list(self.by)).aggregate(**figures)
        return table.aggregate(**{name: figure.fill_null(0) for name, figure in figures.items()})

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

    def _rows(self, sums: Sequence[Summed]) -> "ir.Table":
        """Return the rows that could count: their unit, their group and their indices."""
        if self.unit is None and not self.by and not sums:
            return self.table
        kept = {name: self._key(value) for name, value in self.by.items()}
        if self.unit is not None:
            kept[_UNIT] = self._name(self.table[self.unit])
        named = tuple(kept)
        kept |= {f"{_INDEX}{i}": one.index for i, one in enumerate(sums)}
        rows = self.table.select(**kept)
        conditions = [rows[name].notnull() for name in named]
        if self.keys is not None and self.by:
            conditions.append(among([rows[name] for name in self.by], self.keys))
        return rows.filter(*conditions) if conditions else rows

    def _chosen(self, each: "ir.Table") -> "ir.Table":
        """Return the groups in which each unit counts."""
        import ibis

        names = (_shorten(_to_text(each[name])) for name in (_UNIT, *self.by))
        parts = (ibis.literal(self.salt), *names)
        # Half of the hash orders them as well, in less time. The names come last: the choice must
        # not be random if two groups have one hash.
        order = [
            builtin("md5", "string")(_join_texts(parts)).left(12),
            *(each[name] for name in self.by),
        ]
        window = ibis.window(group_by=_UNIT, order_by=order)
        each = each.mutate(**{_RANK: ibis.row_number().over(window)})
        return each.filter(each[_RANK] < self.groups)

    def _name(self, value: "ir.Value") -> "ir.Value":
        """Return what names a unit or a group: NULL if it does not identify one.

        The blanks at the end of PostgreSQL's CHAR(n) are removed: they do not count when it
        compares, but would be read as part of a key. It is done by a cast, which does not copy
        other strings: two copies of 550 MB in one row would pass PostgreSQL's limit. Dates before
        the year 1 and after 9999, and ±∞, become NULL: Python has no such dates, so two of them
        could be read as one key.
        """
        import ibis

        if self.engine == "postgres" and value.type().is_string():
            return builtin("text", "string")(value)
        if value.type().is_date():
            known = value.between(ibis.literal(date.min), ibis.literal(date.max))
            return ibis.cases((known, value), else_=ibis.null("date"))
        return value

    def _key(self, value: "ir.Value") -> "ir.Value":
        """Return what names a group, and is read by Python.

        Spark's strings need not be UTF-8. Python would read two of them as one key, so they become
        NULL. A boolean is written as cases, because Spark cannot parse ``x IN (1) IS NOT NULL``.
        """
        import ibis

        if self.engine == "pyspark" and value.type().is_string():
            return builtin("try_validate_utf8", "string")(value)
        if self.engine == "pyspark" and value.type().is_boolean():
            return ibis.cases((value, True), (~value, False), else_=ibis.null("boolean"))
        return self._name(value)

    def _totals(self, rows: "ir.Table", sums: int) -> dict[str, Any]:
        return {f"{SUM}{i}": self._total(rows[f"{_INDEX}{i}"]) for i in range(sums)}

    def _total(self, column: Any) -> Any:
        """Return the sum of integers in a type that holds it.

        DuckDB and PostgreSQL add integers in wider types; Spark does not, and fails or wraps.
        """
        wide = column.cast(_WIDE) if self.engine == "pyspark" else column
        return wide.sum().cast(_WIDE)


def _clipped(figure: Any, low: int | None, high: int, kind: str) -> Any:
    """Return a figure clipped at both ends, in a type that holds them."""
    import ibis

    def end(value: int) -> Any:
        return ibis.literal(value, kind)

    cases = [(figure > end(high), end(high))]
    if low is not None:
        cases.append((figure < end(low), end(low)))
    return ibis.cases(*cases, else_=figure).cast(kind)


# ---------------------------------------------------------------- the names of units and groups


def among(columns: Sequence["ir.Value"], keys: Sequence[tuple[Any, ...]]) -> "ir.BooleanValue":
    """Return whether the columns together hold one of the keys.

    Each column is looked up in a list of its values. If the keys are not all combinations of these,
    the columns joined to a string are looked up in another list. A condition for each key would
    take engines seconds.
    """
    import ibis

    # By place: zip would make an iterator for each key.
    parts = [sorted({key[place] for key in keys}) for place in range(len(columns))]
    each = (_in(column, part) for column, part in zip(columns, parts, strict=True))
    held: ir.BooleanValue = ibis.and_(*each)
    if prod(map(len, parts)) == len(set(keys)):
        return held
    # Longer strings are none of the keys, and neither are they if one character more is left.
    longest = max(len(_part(part)) for key in keys for part in key)
    texts = [_to_text(column).left(longest + 1) for column in columns]
    return held & _join_texts(texts).isin(list(map(_written, keys)))


def _in(column: Any, part: list[Any]) -> Any:
    """Return whether a column holds one of some sorted values; a range is faster than a list."""
    if column.type().is_integer() and part[-1] - part[0] == len(part) - 1:
        return column.between(part[0], part[-1])
    return column.isin(part)


def _written(key: tuple[Any, ...]) -> str:
    *before, last = (_part(part) for part in key)
    return "".join(f"{len(part)}:{part}" for part in before) + last


def _part(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, date):
        return str(part.year * 10_000 + part.month * 100 + part.day)
    return str(part)


def _shorten(text: Any) -> Any:
    """Return a text to hash, a long one as its own hash.

    PostgreSQL fails at strings of 1 GB, which two strings of one row could make if joined.
    """
    import ibis

    return ibis.cases((text.length() > _LONG, builtin("md5", "string")(text)), else_=text)


def _join_texts(texts: Sequence[Any]) -> Any:
    """Return one string that identifies several: each but the last after its length."""
    import ibis

    *before, last = texts
    for part in reversed(before):
        last = part.length().cast("string") + ibis.literal(":") + part + last
    return last


def _to_text(value: Any) -> Any:
    """Return a name as a string that is the same on all engines.

    A date is written as one number, because engines print dates by their settings; dates outside
    of the years 1 to 9999 as the first or the last date within.
    """
    import ibis

    if value.type().is_date():
        first, last = ibis.literal(date.min), ibis.literal(date.max)
        day = ibis.cases((value > last, last), (value < first, first), else_=value)
        year, month, number = (part.cast("int64") for part in (day.year(), day.month(), day.day()))
        value = year * 10_000 + month * 100 + number
    return value.cast("string")
