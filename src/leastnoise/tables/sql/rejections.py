"""The errors for SQL outside of the subset: each names the clause, the function or the operator."""

from typing import TYPE_CHECKING

from leastnoise.errors import Text, Unsupported, Words

if TYPE_CHECKING:
    from sqlglot import exp

_AVERAGE = "Select the aggregates, and compute from the answers."
_JOIN = (
    "Join a lookup with "
    + Words("people.join(regions, on='region_id')", "--lookup FILE:KEY or a card")
    + ", then use its columns by their names."
)
_ORDER = "Groups come sorted by their keys. Sort the answers yourself."
_SUBQUERY = "A query reads the rows of one table. Use WHERE, or protect a table of the result."
# The names of clauses in the fields of a parsed SELECT, and what to do without them.
CLAUSES: dict[str, tuple[str, Text]] = {
    "with_": ("WITH", _SUBQUERY),
    "distinct": ("SELECT DISTINCT", "To count groups, list the columns in GROUP BY."),
    "joins": ("JOIN", _JOIN),
    "laterals": ("LATERAL", _JOIN),
    "having": ("HAVING", "Groups are shown or hidden by their noisy counts. Filter the answers."),
    "qualify": ("QUALIFY", _AVERAGE),
    "windows": ("WINDOW", "Use GROUP BY."),
    "order": ("ORDER BY", _ORDER),
    "limit": ("LIMIT", "Take the first rows of the answers."),
    "offset": ("OFFSET", "Skip rows of the answers."),
    "sample": ("SAMPLE", "Remove it: every row counts."),
    "into": ("INTO", "Write the answers to a file."),
    "locks": ("FOR UPDATE", "Remove it: a query only reads."),
}
# The same for nodes, by their class.
_NODES: dict[str, tuple[str, Text]] = {
    "Union": ("UNION", "Send separate queries."),
    "Except": ("EXCEPT", "Send separate queries."),
    "Intersect": ("INTERSECT", "Send separate queries."),
    "Subquery": ("A subquery", _SUBQUERY),
    "Select": ("A subquery", _SUBQUERY),
    "Exists": ("A subquery", _SUBQUERY),
    "Values": ("VALUES", _SUBQUERY),
    "Star": ("SELECT *", "Name aggregates and the columns of GROUP BY: rows are never released."),
    "Columns": ("COLUMNS()", "Name aggregates and the columns of GROUP BY."),
    "Window": ("OVER, a window function,", "Use GROUP BY."),
    "Filter": ("FILTER", "Write the condition in WHERE, in a query of its own."),
    "Cast": ("CAST", Words("Convert the column with types={…} of protect().", "Use --type.")),
    "TryCast": ("TRY_CAST", Words("Convert the column with types={…}.", "Use --type.")),
    "Case": ("CASE", "Select the rows in WHERE, or store the column in a table."),
    "NullSafeEQ": ("IS NOT DISTINCT FROM", "Write =, and IS NULL for missing values."),
    "NullSafeNEQ": ("IS DISTINCT FROM", "Write <>, and IS NULL for missing values."),
    "ILike": ("ILIKE", "Write LIKE, in which case matters."),
    "Glob": ("GLOB", "Write LIKE."),
    "SimilarTo": ("SIMILAR TO", "Write LIKE."),
    "RegexpFullMatch": ("A regular expression", "Write LIKE."),
    "RegexpLike": ("A regular expression", "Write LIKE."),
    "DPipe": ("||", "Store the string in a column."),
    "Concat": ("A string in several parts", "Write it as one string."),
    "IntDiv": ("//", "Write /, which divides exactly as reals do."),
    "Mod": ("%", "Store the result in a column."),
    "Pow": ("^", "Write products."),
    "Interval": ("INTERVAL", "Write the date itself, as in DATE '2024-02-29'."),
    "Tuple": ("A list of values in place of one", "Compare one column at a time."),
    "ByteString": ("A string that begins with E", "Write it in single quotes alone."),
    "RawString": ("A string in $$", "Write it in single quotes."),
    "Bracket": ("[ ]", "Use a column of plain values."),
    "Dot": ("A field of a column", "Use a column of plain values."),
    "Null": ("NULL as a value", "Nothing equals NULL: write IS NULL or IS NOT NULL."),
    "Distinct": (
        "DISTINCT within an aggregate",
        "Only COUNT(DISTINCT unit) is, for the column of units.",
    ),
    "DayOfWeek": ("DAYOFWEEK()", "Write ISODOW(column): 1 is Monday, 7 is Sunday."),
    "IgnoreNulls": ("IGNORE NULLS", "Remove it: NULLs are always ignored."),
    "RespectNulls": ("RESPECT NULLS", "NULLs are always ignored."),
    "PercentileDisc": ("PERCENTILE_DISC", "Write PERCENTILE_CONT."),
    "Variance": ("The sample variance", "Write VAR_POP."),
    "Stddev": ("The sample standard deviation", "Write STDDEV_POP."),
    "StddevSamp": ("STDDEV_SAMP", "Write STDDEV_POP."),
}
_FUNCTIONS = (
    "Functions of a column are YEAR, QUARTER, MONTH, WEEK, ISODOW, DAY and HOUR; store others in a "
    "column."
)


def reject(what: str, fix: Text = "") -> Unsupported:
    """Return the error for a part of SQL that is outside of the subset."""
    return Unsupported(f"{what} is not supported in SQL queries", fix=fix)


def reject_node(node: "exp.Expression | None") -> Unsupported:
    """Return the error for a node that no rule accepts, by its name."""
    from sqlglot import exp

    known = _NODES.get(type(node).__name__)
    if known is not None:
        return reject(*known)
    if isinstance(node, exp.AggFunc):
        return reject(f"{_name_function(node)} here", "Aggregates belong in SELECT, on a column.")
    if isinstance(node, exp.Func):
        return reject(_name_function(node), _FUNCTIONS)
    return reject("This expression" if node is None else node.key.upper().replace("_", " "))


def reject_aggregate(node: "exp.Expression", fix: Text) -> Unsupported:
    """Return the error for an aggregate function that no query answers."""
    known = _NODES.get(type(node).__name__)
    return reject(*known) if known is not None else reject(_name_function(node), fix)


def check_fields(node: "exp.Expression", *allowed: str) -> None:
    """Reject a node with a field beside the allowed ones; the error names the field."""
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            shown, fix = CLAUSES.get(name, (name.strip("_").replace("_", " ").upper(), ""))
            raise reject(shown, fix)


def _name_function(node: "exp.Expression") -> str:
    """Return the name of a function as the text writes it."""
    from sqlglot import exp

    anonymous = isinstance(node, exp.Anonymous | exp.AnonymousAggFunc)
    name = node.name if anonymous else node.meta.get("name")
    if not name and isinstance(node, exp.Func):
        name = node.sql_name()  # type: ignore[no-untyped-call]
    return f"{(name or node.key).upper()}()"
