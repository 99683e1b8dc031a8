"""The aggregates of SQL, each as the query that answers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Words
from leastnoise.tables.queries.planned_query import TableUnit
from leastnoise.tables.queries.query import Query
from leastnoise.tables.registration import QUERIES
from leastnoise.tables.sql.rejections import check_fields, reject, reject_aggregate, reject_node
from leastnoise.tables.sql.values import ValueReader
from leastnoise.tables.table_query import Bounds
from leastnoise.tables.where import (
    Column,
    ColumnExpression,
    Comparison,
    Literal,
    Node,
    Value,
    join_nodes,
)

if TYPE_CHECKING:
    from sqlglot import exp

# The name and the registered query of each aggregate of one column, by its class in sqlglot.
_OF_A_COLUMN = {
    "Sum": ("sum", "sum"),
    "Avg": ("avg", "mean"),
    "Median": ("median", "median"),
    "VariancePop": ("var_pop", "variance"),
    "StddevPop": ("stddev_pop", "std"),
    "Min": ("min", "min"),
    "Max": ("max", "max"),
}
_KNOWN = (
    "Aggregates are COUNT, SUM, AVG, VAR_POP, STDDEV_POP, MIN, MAX, MEDIAN, PERCENTILE_CONT, "
    "QUANTILE and APPROX_QUANTILE."
)


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """An aggregate of a column.

    Attributes:
        name: Its name in the answer, if it has no alias.
        query: The name of its registered query.
        column: The column; None for a count.
        condition: A condition for its rows beside that of WHERE; None if there is none.
        fields: Further fields of its query.
    """

    name: str
    query: str
    column: Value | None = None
    condition: Node | None = None
    fields: Mapping[str, object] = field(default_factory=dict)

    def make_query(self, where: Node | None, bounds: Bounds | None, **shared: Any) -> Query:
        """Return the query.

        Args:
            where: The condition of WHERE.
            bounds: The clipping bounds; None for those of the card.
            shared: The fields that all queries of a SELECT share.
        """
        known = QUERIES[self.query]
        both = [node for node in (where, self.condition) if node is not None]
        own: dict[str, object] = {**known.fixed, **self.fields}
        if self.column is not None:
            own |= {"column": ColumnExpression(self.column), "bounds": bounds}
        query: Query = known.load()(
            **own, **shared, where=join_nodes("and", both) if both else None
        )
        return query


def read_aggregate(node: "exp.Expression", values: ValueReader, unit: TableUnit) -> Aggregate:
    """Return the aggregate that a node is.

    Raises:
        Unsupported: If it is another function or an expression.
    """
    kind = type(node).__name__
    if kind == "Count":
        return _read_count(node, values, unit)
    if kind in _OF_A_COLUMN:
        name, query = _OF_A_COLUMN[kind]
        check_fields(node, "this")
        column = _read_column(node.this, values)
        return Aggregate(name=f"{name}({column})", query=query, column=column)
    if kind in _QUANTILES:
        of, share = _QUANTILES[kind](node)
        column, q = _read_column(of, values), _read_q(share, values)
        name = f"quantile({column}, {q})"
        return Aggregate(name=name, query="quantile", column=column, fields={"q": q.value})
    raise reject_aggregate(node, _KNOWN)


def is_aggregate(node: "exp.Expression") -> bool:
    """Return whether a node is an aggregate function itself."""
    from sqlglot import exp

    return isinstance(node, exp.AggFunc | exp.WithinGroup)


def _read_count(node: "exp.Expression", values: ValueReader, unit: TableUnit) -> Aggregate:
    """Return COUNT(*), COUNT(column) or COUNT(DISTINCT unit)."""
    from sqlglot import exp

    check_fields(node, "this", "big_int")
    of = node.args.get("this")
    if isinstance(of, exp.Star):
        check_fields(of)
        return Aggregate(name="count(*)", query="count")
    if isinstance(of, exp.Literal):  # COUNT(1)
        return Aggregate(name="count(*)", query="count")
    if isinstance(of, exp.Distinct):
        return _read_units(of, values, unit)
    if of is None or (isinstance(of, exp.Column) and isinstance(of.this, exp.Star)):
        raise reject("This COUNT", "Write COUNT(*), COUNT(column) or COUNT(DISTINCT unit).")
    column = _read_column(of, values)
    name = column.name if isinstance(column, Column) else column
    condition = Comparison(name, "is not null")
    return Aggregate(name=f"count({column})", query="count", condition=condition)


def _read_units(node: "exp.Expression", values: ValueReader, unit: TableUnit) -> Aggregate:
    """Return COUNT(DISTINCT unit)."""
    check_fields(node, "expressions")
    columns = [values.read_value(each) for each in node.expressions]
    column = columns[0] if len(columns) == 1 else None
    if unit.column is None or column != Column(unit.column):
        who = "every row is one" if unit.column is None else f"it is {quote(unit.column)}"
        raise reject(
            "COUNT(DISTINCT column)", f"Only for the column of units, and in this table {who}."
        )
    name = f"count(distinct {column})"
    return Aggregate(name=name, query="count", fields={"of": "units"})


def _read_column(node: "exp.Expression", values: ValueReader) -> Value:
    """Return the column of an aggregate."""
    from sqlglot import exp

    if isinstance(node, exp.Distinct | exp.Star):
        raise reject_node(node)
    if isinstance(node, exp.Order):
        raise reject("ORDER BY within an aggregate", "Remove it.")
    return values.read_value(node)


def _read_q(node: "exp.Expression", values: ValueReader) -> Literal:
    """Return the share of a quantile."""
    from sqlglot import exp

    if not isinstance(node, exp.Array):
        operand = values.read_operand(node)
        if isinstance(operand, Literal) and operand.kind == "number":
            return operand
    raise reject("A quantile without a single number", "Write QUANTILE(column, 0.9).")


def _split_quantile(node: "exp.Expression") -> tuple["exp.Expression", "exp.Expression"]:
    check_fields(node, "this", "quantile")
    return node.this, node.args["quantile"]


def _split_percentile(node: "exp.Expression") -> tuple["exp.Expression", "exp.Expression"]:
    """Return column and share of DuckDB's QUANTILE_CONT(column, share)."""
    if node.args.get("expression") is None:
        raise reject("PERCENTILE_CONT without WITHIN GROUP (ORDER BY column)", "Add it.")
    return node.this, node.expression


def _split_within_group(node: "exp.Expression") -> tuple["exp.Expression", "exp.Expression"]:
    """Return column and share of PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY column)."""
    from sqlglot import exp

    inner, order = node.this, node.expression
    if not isinstance(inner, exp.PercentileCont) or inner.args.get("expression") is not None:
        raise reject_aggregate(inner, _KNOWN)
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise reject("WITHIN GROUP with several columns", "Order by one column.")
    check_fields(order, "expressions")
    (ordered,) = order.expressions
    if ordered.args.get("desc"):
        raise reject("WITHIN GROUP (ORDER BY … DESC)", "Order upwards, and use 1 - q.")
    return ordered.this, inner.this


_QUANTILES: dict[str, Callable[["exp.Expression"], tuple["exp.Expression", "exp.Expression"]]] = {
    "Quantile": _split_quantile,
    "ApproxQuantile": _split_quantile,
    "PercentileCont": _split_percentile,
    "WithinGroup": _split_within_group,
}


def find_bounds(bounds: Mapping[str, Bounds] | None, column: Value | None) -> Bounds | None:
    """Return the clipping bounds that the caller gives for a column."""
    return None if bounds is None or column is None else bounds.get(_spell(column))


def check_bounds(bounds: object, columns: list[Value]) -> None:
    """Reject bounds for columns that no aggregate uses."""
    if bounds is None:
        return
    if not isinstance(bounds, Mapping):
        raise InvalidParameter(
            Words("bounds", "--bounds") + " must be a mapping of columns to bounds",
            got=quote(bounds),
            fix='Write, for example, bounds={"income": (0, 200_000)}.',
        )
    unused = [name for name in bounds if name not in {_spell(column) for column in columns}]
    if unused:
        raise InvalidParameter(
            Words("bounds", "--bounds") + " must be of a column in an aggregate",
            got=quote(unused[0]),
            fix="Spell it as the table does: " + ", ".join(sorted(map(_spell, columns))) + "."
            if columns
            else "Omit them.",
        )


def _spell(column: Value) -> str:
    return column.name if isinstance(column, Column) else str(column)
