"""Parse the text of a query to the tree of one SELECT; sqlglot reads it by DuckDB's grammar."""

from functools import cache
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import quote
from leastnoise.errors import InvalidParameter, LeastnoiseError
from leastnoise.tables.sql.rejections import reject, reject_node

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST = 10_000
_DIALECT = "duckdb"
_EXAMPLE = "SELECT region, COUNT(*) FROM people GROUP BY region"


def parse_select(text: str) -> "exp.Select":
    """Parse a text that is one SELECT.

    Raises:
        InvalidParameter: If it is not SQL; the error quotes the text only.
        Unsupported: If it is another statement, or several.
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if not isinstance(text, str):
        raise InvalidParameter(
            "SQL must be a string", got=quote(text), fix=f"Write, for example, {_EXAMPLE!r}."
        )
    if len(text) > _LONGEST:
        raise InvalidParameter(
            f"SQL must have at most {_LONGEST} characters",
            got=str(len(text)),
            fix="Send a shorter query.",
        )
    dialect = _load_dialect()
    try:
        tokens = dialect.tokenize(text)
        _check_tokens(tokens)
        trees = [tree for tree in dialect.parser().parse(tokens, text) if tree is not None]
    except SqlglotError as error:
        raise _fail(error) from None
    except RecursionError:
        raise too_deep() from None
    except LeastnoiseError:
        raise
    except Exception as error:  # noqa: BLE001 -- for some texts that are no SQL, sqlglot has bugs
        raise _fail(error) from None
    (tree,) = trees
    if not isinstance(tree, exp.Select):
        raise reject_node(tree)
    return tree


def too_deep() -> InvalidParameter:
    """Return the error for SQL whose brackets or operators nest too deeply."""
    return InvalidParameter("SQL must not nest so deeply", fix="Write it with fewer brackets.")


@cache
def _load_dialect() -> Any:
    from sqlglot.dialects.dialect import Dialect

    dialect = Dialect.get_or_raise(_DIALECT)
    vars(dialect)["PRESERVE_ORIGINAL_NAMES"] = True  # errors name functions as they are written
    return dialect


def _check_tokens(tokens: list[Any]) -> None:
    """Reject other statements, and spellings whose meaning differs between dialects."""
    if not tokens:
        raise InvalidParameter("SQL must not be empty", fix=f"Write, for example, {_EXAMPLE!r}.")
    first = tokens[0]
    if first.token_type.name == "WITH":
        raise reject("WITH", "A query reads the rows of one table.")
    if first.token_type.name != "SELECT":
        raise reject(
            f"A statement that begins with {quote(first.text)}",
            f"Write one SELECT, for instance {_EXAMPLE!r}.",
        )
    names = [token.token_type.name for token in tokens]
    if "SEMICOLON" in names[:-1]:
        ends = names.index("SEMICOLON")
        if set(names[ends:]) != {"SEMICOLON"}:
            raise reject("More than one statement", "Send one SELECT.")
    for token in tokens:
        if token.token_type.name == "NOT" and token.text.upper() != "NOT":
            raise reject(quote(token.text), "Write NOT or <>.")


def _fail(error: Exception) -> InvalidParameter:
    """Return the error for a text that is not SQL, with its place."""
    found = next(iter(getattr(error, "errors", ())), None)
    if found is None or found.get("line") is None:
        return InvalidParameter(
            "SQL must be a valid SELECT", got="text that cannot be split into words", fix=_ADVICE
        )
    at = f"line {found['line']}, character {found['col']}"
    got = f"something else near {quote(found.get('highlight') or '')} at {at}"
    return InvalidParameter("SQL must be a valid SELECT", got=got, fix=_ADVICE)


_ADVICE = f"Write, for example, {_EXAMPLE!r}; strings are in single quotes."
