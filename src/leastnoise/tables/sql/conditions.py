"""The condition of WHERE, as the nodes of ``where``: the same three values for every row."""

from typing import TYPE_CHECKING

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter
from leastnoise.tables.sql.rejections import check_fields, reject, reject_node
from leastnoise.tables.sql.values import ValueReader, read_day
from leastnoise.tables.where import (
    OPPOSITES,
    Column,
    Comparison,
    Literal,
    Node,
    Not,
    Value,
    check_pattern,
    join_nodes,
    to_literal,
)

if TYPE_CHECKING:
    from sqlglot import exp

_SIGNS = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TRUE = Literal("boolean", True)
_BACKSLASH = "\\"


def read_condition(node: "exp.Expression", values: ValueReader) -> Node:
    """Return a condition as a node."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return read_condition(node.this, values)
    if isinstance(node, exp.And | exp.Or):
        return _read_joined(node, values)
    if isinstance(node, exp.Not):
        return _read_negation(node, values)
    if type(node).__name__ in _SIGNS:
        return _read_comparison(node, _SIGNS[type(node).__name__], values)
    if isinstance(node, exp.In | exp.Between | exp.Is | exp.Like | exp.Escape):
        return _read_words(node, values)
    if isinstance(node, exp.Column):
        return Comparison(values.read_column(node).name, "=", (_TRUE,))
    if isinstance(node, exp.Literal | exp.Boolean | exp.Placeholder):
        raise reject("A constant as a condition", "Compare a column with a value.")
    raise reject_node(node)


def _read_joined(node: "exp.Expression", values: ValueReader) -> Node:
    """Return conditions joined by one word; a chain is parsed to a tree as deep as it is long."""
    from sqlglot import exp

    kind, terms = type(node), list[exp.Expression]()
    while type(node) is kind:
        check_fields(node, "this", "expression")
        terms.append(node.expression)
        node = node.this
    parts = [read_condition(term, values) for term in (node, *reversed(terms))]
    return join_nodes("and" if kind is exp.And else "or", parts)


def _read_negation(node: "exp.Expression", values: ValueReader) -> Node:
    """Return a negation; NOT IN and others are operators, as in ``where``."""
    from sqlglot import exp

    if isinstance(node.this, exp.In | exp.Between | exp.Is | exp.Like | exp.Escape):
        comparison = _read_words(node.this, values)
        opposite = OPPOSITES[comparison.operator]
        return Comparison(comparison.column, opposite, comparison.values)
    return Not(read_condition(node.this, values))


def _read_comparison(node: "exp.Expression", operator: str, values: ValueReader) -> Comparison:
    check_fields(node, "this", "expression")
    left, right = values.read_operand(node.this), values.read_operand(node.expression)
    if isinstance(left, Literal):
        left, right, operator = right, left, _FLIPPED[operator]
    if isinstance(left, Literal):
        raise reject("A comparison of constants", "Compare a column with a value.")
    if isinstance(right, Literal):
        right = _match_date(left, right, values)
    return Comparison(_name(left), operator, (right,))


def _read_words(node: "exp.Expression", values: ValueReader) -> Comparison:
    """Return a comparison by words: IN, BETWEEN, IS NULL or LIKE."""
    from sqlglot import exp

    if isinstance(node, exp.Escape | exp.Like):
        return _read_like(node, values)
    left = values.read_value(node.this)
    if isinstance(node, exp.Is):
        if not isinstance(node.expression, exp.Null):
            raise reject("IS TRUE, IS FALSE or IS of a value", "Write = TRUE, or IS NULL.")
        return Comparison(_name(left), "is null")
    if isinstance(node, exp.Between):
        check_fields(node, "this", "low", "high")
        ends = [values.read_literal(node.args[name]) for name in ("low", "high")]
        low, high = (_match_date(left, end, values) for end in ends)
        return Comparison(_name(left), "between", (low, high))
    listed = [_match_date(left, each, values) for each in _read_list(node, values)]
    return Comparison(_name(left), "in", tuple(listed))


def _read_list(node: "exp.Expression", values: ValueReader) -> list[Literal]:
    """Return the values after IN."""
    from sqlglot import exp

    if node.args.get("query") is not None or node.args.get("unnest") is not None:
        raise reject_node(node.args.get("query") or node.args.get("unnest"))
    check_fields(node, "this", "expressions", "field")
    field = node.args.get("field")
    if field is not None and not isinstance(field, exp.Placeholder | exp.Array):
        # DuckDB reads IN 'north' as a search for a part of this string.
        raise reject("IN without a list", "Write the values in brackets: IN ('north', 'south').")
    nodes = node.expressions if field is None else [field]
    listed = [literal for each in nodes for literal in values.read_list(each)]
    if len({literal.kind for literal in listed}) != 1:
        raise InvalidParameter(
            "The values after IN must be of one kind, at least one of them",
            got=f"{len(listed)} values",
            fix="Write, for example, region IN ('north', 'south').",
        )
    return listed


def _match_date(left: Value, right: Literal, values: ValueReader) -> Literal:
    """Return a date for a string that is compared with a column of dates, as in SQL."""
    if right.kind != "text" or values.source.is_text(left):
        return right
    dated = values.source.kind(left) in ("date", "timestamp")
    return (read_day(str(right.value)) if dated else None) or right


def _read_like(node: "exp.Expression", values: ValueReader) -> Comparison:
    r"""Return a comparison by LIKE; the escape of ``where`` is a backslash."""
    from sqlglot import exp

    escape = None
    if isinstance(node, exp.Escape):
        stated = values.read_literal(node.expression)
        escape, node = str(stated.value), node.this
        if not isinstance(node, exp.Like) or stated.kind != "text" or len(escape) != 1:
            raise reject("This ESCAPE", r"Write LIKE '…' ESCAPE '\' with one character.")
    check_fields(node, "this", "expression")
    left = values.read_value(node.this)
    if isinstance(node.expression, exp.Any | exp.All):
        raise reject("LIKE ANY or LIKE ALL", "Join several LIKE by OR or AND.")
    pattern = values.read_literal(node.expression)
    if pattern.kind != "text":
        raise reject("LIKE with another value than a string", "Write LIKE 'a%'.")
    text = _escape_pattern(str(pattern.value), escape)
    problem = check_pattern(text)
    if problem is not None:
        raise InvalidParameter("This pattern of LIKE is invalid", got=problem, fix="Correct it.")
    return Comparison(_name(left), "like", (to_literal(text, "A pattern"),))


def _escape_pattern(pattern: str, escape: str | None) -> str:
    """Return a pattern in which backslashes escape, in place of another character."""
    if escape is None:
        if _BACKSLASH in pattern:
            raise reject(
                "A backslash in LIKE without ESCAPE",
                r"Engines read it differently. Add ESCAPE '\' if it escapes the next character.",
            )
        return pattern
    written, characters = list[str](), iter(pattern)
    for character in characters:
        if character != escape:
            written.append(_BACKSLASH * (character == _BACKSLASH) + character)
            continue
        following = next(characters, "")
        if following not in ("%", "_", escape):
            raise InvalidParameter(
                f"In LIKE, {quote(escape)} must escape %, _ or itself",
                got="another character" if following else "the end of the pattern",
                fix="Write it twice for the character itself.",
            )
        written.append(_quote_character(following))
    return "".join(written)


def _quote_character(character: str) -> str:
    return _BACKSLASH + character if character in ("%", "_", _BACKSLASH) else character


def _name(value: Value) -> str | Value:
    return value.name if isinstance(value, Column) else value
