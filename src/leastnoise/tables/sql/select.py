"""``Select``: a SELECT as the queries that answer it, with the names and the order of its columns.

The text is parsed by sqlglot and then read node by node. Each node is on an explicit list, or it is
rejected by its name, so no part of the text is ignored. Nothing is charged for a rejected text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, Text, Words
from leastnoise.tables.keys import Groups
from leastnoise.tables.queries.planned_query import TableUnit
from leastnoise.tables.queries.query import Query
from leastnoise.tables.sources import Source
from leastnoise.tables.sql.aggregates import (
    Aggregate,
    check_bounds,
    find_bounds,
    is_aggregate,
    read_aggregate,
)
from leastnoise.tables.sql.conditions import read_condition
from leastnoise.tables.sql.parsing import parse_select, too_deep
from leastnoise.tables.sql.rejections import check_fields, reject, reject_node
from leastnoise.tables.sql.values import ValueReader
from leastnoise.tables.table_query import Bounds
from leastnoise.tables.where import (
    Column,
    ColumnExpression,
    GivenParameters,
    Node,
    Parameters,
    Value,
)

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class SelectedColumn:
    """A column of the answer.

    Attributes:
        name: Its name: that after AS, or else how it is spelled.
        content: The column of groups, or the aggregate.
    """

    name: str
    content: Value | Aggregate


@dataclass(frozen=True)
class Select:
    """A SELECT of one protected table.

    Attributes:
        columns: The columns of the answer, in order.
        where: The condition of WHERE; None for all rows.
    """

    columns: tuple[SelectedColumn, ...]
    where: Node | None

    @property
    def by(self) -> tuple[Value, ...]:
        """The columns to group by, in the order of the SELECT."""
        return tuple(
            column.content for column in self.columns if not isinstance(column.content, Aggregate)
        )

    @property
    def by_columns(self) -> tuple[ColumnExpression, ...]:
        """The columns to group by, as a query takes them."""
        return tuple(map(ColumnExpression, self.by))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates, in the order of the SELECT."""
        return tuple(
            column.content for column in self.columns if isinstance(column.content, Aggregate)
        )

    def make_queries(
        self,
        *,
        groups: Groups | None,
        max_groups: int | None,
        bounds: Mapping[str, Bounds] | None,
        known_bounds: Mapping[str, object],
    ) -> list[Query]:
        """Return a query for each aggregate.

        Args:
            groups: The groups to answer for; None to discover them, or for those of a card.
            max_groups: Maximum groups per unit; None for that of a card.
            bounds: The clipping bounds of columns; None for those of a card.
            known_bounds: The columns whose bounds a card states.
        """
        if groups is not None and not self.by:
            raise InvalidParameter(
                Words("groups=", "--group") + " needs GROUP BY", fix="Add GROUP BY, or omit it."
            )
        check_bounds(bounds, [each.column for each in self.aggregates if each.column is not None])
        shared: dict[str, object] = {"by": self.by_columns}
        shared |= {"groups": groups, "max_groups": max_groups}
        queries = []
        for aggregate in self.aggregates:
            own = find_bounds(bounds, aggregate.column)
            if own is None and aggregate.column is not None:
                _check_known(aggregate.column, known_bounds)
            queries.append(aggregate.make_query(self.where, own, **shared))
        return queries


def read_select(
    text: str, source: Source, unit: TableUnit, params: Parameters | None = None
) -> Select:
    """Read the text of a SELECT.

    Args:
        text: The SQL.
        source: The table.
        unit: The privacy unit of the table.
        params: The values of the parameters that the text names, as ``:name``.

    Raises:
        InvalidParameter: If the text is not SQL, or names what the table does not have.
        Unsupported: If it uses SQL outside of the subset.
    """
    try:
        return _read(parse_select(text), source, unit, GivenParameters(params, in_sql=True))
    except RecursionError:
        raise too_deep() from None


def _read(tree: "exp.Select", source: Source, unit: TableUnit, params: GivenParameters) -> Select:
    check_fields(tree, "expressions", "from_", "where", "group")
    values = ValueReader(source, _read_from(tree.args.get("from_"), source), params)
    names = [_read_alias(node) for node in tree.expressions]
    nodes = [node.unalias() for node in tree.expressions]
    by = _read_groups(tree.args.get("group"), nodes, names, values)
    contents = [_read_content(node, by, values, unit) for node in nodes]
    columns = [
        SelectedColumn(name or _spell(content), content)
        for name, content in zip(names, contents, strict=True)
    ]
    clause = tree.args.get("where")
    where = None if clause is None else read_condition(clause.this, values)
    select = Select(tuple(columns), where)
    _check_columns(select, by)
    params.check_used()
    return select


# ------------------------------------------------------------------------------------ FROM


def list_table_names(source: Source) -> tuple[str, ...]:
    """Return the names by which FROM can call a table; errors advise the first.

    They are the stem of its file, or the last part of its name in a database, and its whole name.
    Data in memory without a name has none, and FROM can call it as it likes.
    """
    if source.place is None:
        return ()
    name, kind = PurePath(source.short_name).name, source.place.parts[0]
    if kind == "name":
        return tuple(dict.fromkeys([source.name, name.partition(".")[0] or name]))
    short = name.lstrip(".").partition(".")[0] if kind == "file" else name.rpartition(".")[2]
    return tuple(dict.fromkeys([short or name, name, source.short_name]))


def _read_from(clause: "exp.Expression | None", source: Source) -> tuple[str, ...]:
    """Return the names of the table in the query; reject another table."""
    from sqlglot import exp

    names = list_table_names(source)
    if clause is None:
        raise InvalidParameter("SQL must have a FROM", got="none", fix=f"Add FROM {_quote(names)}.")
    table = clause.this
    if not isinstance(table, exp.Table):
        raise reject_node(table)
    check_fields(table, "this", "db", "catalog", "alias")
    fields = ("catalog", "db", "this")
    parts = [part for field in fields if (part := table.args.get(field)) is not None]
    if not all(isinstance(part, exp.Identifier) for part in parts):
        raise reject("A function in FROM", f"Write FROM {_quote(names)}.")
    written = ".".join(part.name for part in parts)
    exact = any(part.args.get("quoted") for part in parts)
    known = written in names if exact else written.casefold() in map(str.casefold, names)
    if names and not known:
        raise InvalidParameter(
            f"FROM must name the protected table, {_quote(names)}",
            got=quote(written),
            fix=f"Write FROM {_quote(names)}. The columns of joined lookups are columns of it.",
        )
    alias = table.args.get("alias")
    if alias is None:
        return (table.name,)
    check_fields(alias, "this")
    return (alias.name,)


def _quote(names: tuple[str, ...]) -> str:
    """Return the first name as SQL spells it."""
    return str(Column(names[0])) if names else "people"


# ------------------------------------------------------------------------- SELECT, GROUP BY


def _read_alias(node: "exp.Expression") -> str:
    """Return the name after AS; empty without one."""
    from sqlglot import exp

    if not isinstance(node, exp.Alias):
        return ""
    check_fields(node, "this", "alias")
    return node.alias


def _read_groups(
    clause: "exp.Expression | None",
    nodes: list["exp.Expression"],
    names: list[str],
    values: ValueReader,
) -> list[Value]:
    """Return what GROUP BY names: columns, expressions, names after AS, or places from 1."""
    if clause is None:
        return []
    for name, word in (("all", "ALL"), ("rollup", "ROLLUP"), ("cube", "CUBE")):
        if clause.args.get(name):
            raise reject(f"GROUP BY {word}", "List the columns in GROUP BY.")
    check_fields(clause, "expressions")
    return [values.read_value(_resolve(node, nodes, names, values)) for node in clause.expressions]


def _resolve(
    node: "exp.Expression",
    nodes: list["exp.Expression"],
    names: list[str],
    values: ValueReader,
) -> "exp.Expression":
    """Return the selected expression that GROUP BY names by its place or alias, or else itself.

    A column of the table comes before an alias of the same name, as in PostgreSQL and DuckDB.
    """
    from sqlglot import exp

    if isinstance(node, exp.Literal) and not node.is_string:
        place = int(node.name) if node.name.isdecimal() else 0
        if not 1 <= place <= len(nodes):
            raise InvalidParameter(
                f"A place in GROUP BY must be from 1 to {len(nodes)}",
                got=quote(node.name),
                fix="Name the column.",
            )
        found = nodes[place - 1]
    elif isinstance(node, exp.Column) and not node.table and not values.is_column(node):
        same = [name.casefold() for name in names]
        if node.name.casefold() not in same:
            return node
        found = nodes[same.index(node.name.casefold())]
    else:
        return node
    if is_aggregate(found):
        raise reject("An aggregate in GROUP BY", "Group by a column or an expression of columns.")
    return found


def _read_content(
    node: "exp.Expression", by: list[Value], values: ValueReader, unit: TableUnit
) -> Value | Aggregate:
    """Return the column of groups or the aggregate that a node is."""
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if is_aggregate(node):
        return read_aggregate(node, values, unit)
    if isinstance(
        node, exp.Window | exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.Subquery
    ):
        raise reject_node(node)
    if node.find(exp.Subquery, exp.Select) is not None:
        raise reject("A subquery", "A query reads the rows of one table.")
    if node.find(exp.AggFunc) is not None:
        raise reject(
            "An expression of aggregates", "Select the aggregates, and compute from the answers."
        )
    value = values.read_value(node)
    if value not in by:
        raise InvalidParameter(
            "A selected column must be in GROUP BY or in an aggregate",
            got=quote(str(value)),
            fix=f"Add GROUP BY {value}, or write for instance AVG({value}).",
        )
    return value


def _check_columns(select: Select, by: list[Value]) -> None:
    """Reject a SELECT without aggregates, without a column of GROUP BY, or with equal names."""
    if not select.aggregates:
        raise InvalidParameter(
            "SELECT must have an aggregate", got="none", fix="Add, for example, COUNT(*)."
        )
    missing = [value for value in by if value not in select.by]
    if missing:
        raise InvalidParameter(
            "Every column of GROUP BY must be selected, because it names the groups",
            got=f"{quote(str(missing[0]))}, which is not",
            fix="Add it after SELECT.",
        )
    folded = [column.name.casefold() for column in select.columns]
    repeated = [
        column.name
        for place, column in enumerate(select.columns)
        if column.name.casefold() in folded[:place]
    ]
    if repeated or len(set(select.by)) < len(select.by):
        raise InvalidParameter(
            "The columns of SELECT must have different names",
            got=f"{quote(repeated[0] if repeated else str(select.by[0]))} twice",
            fix="Name one of them with AS, or remove it.",
        )


def _spell(content: Value | Aggregate) -> str:
    """Return the name of a column without an alias, the same for every spelling of it."""
    return content.name if isinstance(content, Aggregate | Column) else str(content)


def _check_known(column: Value, known: Mapping[str, object]) -> None:
    """Reject a column without clipping bounds."""
    name = column.name if isinstance(column, Column) else str(column)
    if name not in known:
        fix: Text = "Give, for example, " + Words(
            f"bounds={{{name!r}: (0, 200_000)}}", f"--bounds {name} 0 200000"
        )
        raise InvalidParameter(
            Words("bounds", "--bounds") + f" must be given for {quote(name)}, here or in a card",
            got="none",
            fix=fix + ", chosen without looking at the data.",
        )
