"""``Selection``: a query with contribution bounds, the same on every engine.

No rows are chosen. The number of a unit's rows in a group is clipped at c and their sum is clipped
too, which does not depend on the order of rows. Only the groups of a unit are chosen: those that
come first by a hash of the query, the unit and the group (order.py). If groups are divided into
bins, as for a quantile, the bin of the unit in each group is chosen first, in the same way.

The contribution of a unit to each group depends on its own rows only. So a unit that is added,
removed or replaced changes only the groups in which it counts before or after (sensitivity.py
states by how much). This proves that the declared sensitivities hold.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.bounding.lattice import builtin
from leastnoise.tables.bounding.names import among
from leastnoise.tables.bounding.order import order_groups
from leastnoise.tables.sources import known_days, known_times

if TYPE_CHECKING:
    import ibis.expr.types as ir

# The names of columns in a query. They must differ from those of tables.
COUNT, SUM = "leastnoise_n", "leastnoise_s"
_UNIT, _INDEX, _RANK = "leastnoise_u", "leastnoise_i", "leastnoise_r"
# c·index is below 2¹⁰⁶, and a sum over 2⁶⁴ rows below 2¹¹⁸. 38 digits are enough for both.
_WIDE = "decimal(38, 0)"
_LARGEST = 1 << 53


@dataclass(frozen=True, repr=False)
class Summed:
    """A sum of integers, the indices of rows.

    Attributes:
        index: An integer for each row, from ``low`` to ``high`` or 0, never NULL.
        low: The least index.
        high: The largest index.
        averaged: Whether a unit with more than c rows in a group adds c times their average,
            rounded down, so that the sum fits a count of c rows. Otherwise it adds the sum of its
            rows, clipped to the range of c rows. So does a sum that could exceed 2⁵³.
    """

    index: Any
    low: int
    high: int
    averaged: bool = False

    @property
    def identity(self) -> Hashable:
        """A value that is equal for equal sums; Ibis compares expressions by structure."""
        return self.index.op(), self.low, self.high, self.averaged

    def __post_init__(self) -> None:
        """Reject indices whose sums could overflow."""
        if max(abs(self.low), abs(self.high)) > 2 * _LARGEST:
            raise InvalidParameter(
                "Lattice indices must lie within ±2⁵⁴",
                got="bounds beyond it",
                fix="Use a coarser lattice.",
            )


@dataclass(frozen=True, kw_only=True, repr=False)  # the repr of an Ibis expression may show rows
class Selection:
    """The rows and groups that count, with contribution bounds.

    Attributes:
        table: The rows of the query.
        by: The columns that define groups, by their names in the result. A row is omitted if its
            unit or one of these is NULL, or a date or time outside the years 1 to 9999.
        keys: The groups that count, at most some thousand; None for all.
        unit: The column that names units; None if every row is a unit.
        rows: Maximum rows per unit per group, c.
        groups: Maximum groups per unit.
        salt: A string that is hashed with names, so that queries choose groups independently.
        engine: "duckdb", "postgres" or "pyspark".
        bin: The name in ``by`` of a column that divides groups into bins, of which a unit counts in
            one for each of its groups; None if there is none.
    """

    table: "ir.Table"
    by: "Mapping[str, ir.Value]"
    keys: Sequence[tuple[Any, ...]] | None
    unit: str | None
    rows: int
    groups: int
    salt: str
    engine: str
    bin: str | None = None

    def __post_init__(self) -> None:
        if self.rows > _LARGEST:
            raise InvalidParameter(
                Words("max_rows", "--max-rows") + " must be at most 2⁵³",
                got="a larger number",
                fix="Give the maximum number of rows per unit per group, for instance 1.",
            )

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """A value that is equal for equal selections; Ibis compares expressions by structure."""
        by = tuple((name, part.op()) for name, part in self.by.items())
        how = self.unit, self.rows, self.groups, self.salt, self.engine, self.bin
        return self.table.op(), by, self.keys, how

    def query(self, *, count: bool = True, sums: Sequence[Summed] = ()) -> "ir.Table":
        """Return the bounded count and sums of each group.

        Args:
            count: Whether to return COUNT.
            sums: The sums, returned as SUM followed by a number from 0.

        Returns:
            A row for each group with a row that counts; without ``by``, one row. Counts and sums
            are exact integers of any size.
        """
        rows = self._select_rows(sums)
        if self.unit is None:
            figures = {COUNT: rows.count()} if count else {}
            return self._aggregate(rows, figures | self._add_up_all(rows, len(sums)))
        units = rows.group_by([_UNIT, *self.by]).aggregate(
            **{COUNT: rows.count()} | self._add_up_all(rows, len(sums))
        )
        if self.by and (self.keys is None or len(self.keys) > self.groups):
            units = self._choose_groups(units)
        figures = {COUNT: _clip(units[COUNT], None, self.rows, "int64").sum()} if count else {}
        for i, summed in enumerate(sums):
            share = self._bound_sum(units[COUNT], units[f"{SUM}{i}"], summed)
            figures[f"{SUM}{i}"] = self._add_up(share)
        return self._aggregate(units, figures)

    def _aggregate(self, table: "ir.Table", figures: dict[str, Any]) -> "ir.Table":
        if self.by:
            return table.group_by(list(self.by)).aggregate(**figures)
        return table.aggregate(**{name: figure.fill_null(0) for name, figure in figures.items()})

    def _bound_sum(self, rows: Any, total: Any, summed: Summed) -> Any:
        """Return a unit's contribution to the sum of a group, clipped in all cases."""
        import ibis

        ends = self.rows * min(summed.low, 0), self.rows * max(summed.high, 0)
        largest = max(map(abs, ends))
        if summed.averaged and largest <= _LARGEST:
            # All engines multiply and divide doubles in the same way.
            average = (total.cast("float64") * float(self.rows) / rows.cast("float64")).floor()
            most = ibis.literal(float(_LARGEST), "float64")
            average = ibis.cases((average > most, most), (average < -most, -most), else_=average)
            total = ibis.cases((rows > self.rows, average.cast("int64").cast(_WIDE)), else_=total)
        return _clip(total, *ends, "int64" if largest < 1 << 63 else _WIDE)

    def _select_rows(self, sums: Sequence[Summed]) -> "ir.Table":
        """Return unit, group and indices of the rows that may count."""
        if self.unit is None and not self.by and not sums:
            return self.table
        columns = {name: self._read_key(value) for name, value in self.by.items()}
        if self.unit is not None:
            columns[_UNIT] = self._read_name(self.table[self.unit])
        names = tuple(columns)
        columns |= {f"{_INDEX}{i}": summed.index for i, summed in enumerate(sums)}
        rows = self.table.select(**columns)
        conditions = [rows[name].notnull() for name in names]
        if self.keys is not None and self.by:
            conditions.append(among([rows[name] for name in self.by], self.keys, self.engine))
        return rows.filter(*conditions) if conditions else rows

    def _choose_groups(self, units: "ir.Table") -> "ir.Table":
        """Return the groups in which each unit counts, with one bin of each if there are bins.

        If a unit counts in one group, the first of its groups and bins is that group's first bin.
        """
        if self.bin is not None and self.groups > 1:
            groups = [name for name in self.by if name != self.bin]
            units = self._choose_first(units, 1, [_UNIT, *groups])
        return self._choose_first(units, self.groups, [_UNIT])

    def _choose_first(self, units: "ir.Table", most: int, within: list[str]) -> "ir.Table":
        """Return the first groups by a hash among those with equal columns ``within``."""
        import ibis

        # DuckDB finds the first group without sorting, in a third of the time.
        one = most == 1 and self.engine == "duckdb"
        order = order_groups(
            units[_UNIT],
            [units[name] for name in self.by],
            self.salt,
            engine=self.engine,
            one=one,
            narrow=self._is_narrow,
        )
        if not one:
            window = ibis.window(group_by=within, order_by=order)
            units = units.mutate(**{_RANK: ibis.row_number().over(window)})
            return units.filter(units[_RANK] < most)
        others = [name for name in units.columns if name not in within]
        first = ibis.struct({name: units[name] for name in others}).argmin(*order)
        chosen = units.group_by(within).aggregate(**{_RANK: first})
        return chosen.select(*within, **{name: chosen[_RANK][name] for name in others})

    @property
    def _is_narrow(self) -> bool:
        """Whether groups are named by one integer, and all names lie within 2³² of each other."""
        if len(self.by) > 1:
            return False
        (kind,) = (value.type() for value in self.by.values())
        if not kind.is_integer():
            return False
        if self.keys is None:
            return bool(kind.nbytes <= 4)
        names = [key[0] for key in self.keys]
        return bool(max(names) - min(names) < 1 << 32)

    def _read_name(self, value: "ir.Value") -> "ir.Value":
        """Return the value that names a unit or a group; NULL if it identifies none.

        The blanks at the end of PostgreSQL's CHAR(n) are removed, because PostgreSQL ignores them
        in comparisons, but returns them in keys. A cast removes them without copying other
        strings. Two copies of 550 MB in one row would exceed PostgreSQL's limit. Dates and
        timestamps that Python does not have become NULL.
        """
        if self.engine == "postgres" and value.type().is_string():
            return builtin("text", "string")(value)
        if value.type().is_date():
            return known_days(value)
        if value.type().is_timestamp():
            return known_times(value, self.engine)
        return value

    def _read_key(self, value: "ir.Value") -> "ir.Value":
        """Return the value that names a group, in a form that Python reads.

        Spark's strings need not be UTF-8. Python could read two invalid strings as the same key, so
        they become NULL. A boolean becomes cases, because Spark cannot parse
        ``x IN (1) IS NOT NULL``.
        """
        import ibis

        if self.engine == "pyspark" and value.type().is_string():
            return builtin("try_validate_utf8", "string")(value)
        if self.engine == "pyspark" and value.type().is_boolean():
            return ibis.cases((value, True), (~value, False), else_=ibis.null("boolean"))
        return self._read_name(value)

    def _add_up_all(self, rows: "ir.Table", sums: int) -> dict[str, Any]:
        return {f"{SUM}{i}": self._add_up(rows[f"{_INDEX}{i}"]) for i in range(sums)}

    def _add_up(self, column: Any) -> Any:
        """Return the sum of integers in a type that is wide enough.

        DuckDB and PostgreSQL sum integers in wider types. Spark does not, so it fails or wraps.
        """
        wide = column.cast(_WIDE) if self.engine == "pyspark" else column
        return wide.sum().cast(_WIDE)


def _clip(figure: Any, low: int | None, high: int, kind: str) -> Any:
    """Return a number clipped at both ends, in a type that represents them."""
    import ibis

    def end(value: int) -> Any:
        return ibis.literal(value, kind)

    cases = [(figure > end(high), end(high))]
    if low is not None:
        cases.append((figure < end(low), end(low)))
    return ibis.cases(*cases, else_=figure).cast(kind)
