"""The registered table queries. An entry gives a query its method, its command and its export.

An entry makes ``leastnoise sum`` with its options and help, and ``leastnoise.Sum``. It makes
``ProtectedTable.sum`` too, with signature and docstring, unless the query is built in: those
methods are in :mod:`leastnoise.tables.methods`, with their types. The query's class, one file in
:mod:`leastnoise.tables.queries`, computes it. docs/architecture.md lists the steps of adding one.

``leastnoise sum --help`` imports this module. So it does not import the code that runs queries, and
the class of an entry is loaded on first use.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, TypedDict

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.keys import Groups
from leastnoise.tables.where import ColumnExpression, Node, Parameters, bind_parameters

# A column by name, or an expression of columns, also as text (docs/where.md).
ColumnName = str | ColumnExpression
Columns = ColumnName | Sequence[ColumnName]
Bounds = tuple[Number, Number]

_REQUIRED: object = Parameter.empty


class Shared(TypedDict, total=False):
    """The arguments that the methods of all queries share."""

    privacy: Privacy | None
    share: Number | None
    error: Number | None
    at_most: Number | None
    by: Columns
    groups: Groups | None
    where: str | Node | None
    params: Parameters | None
    max_groups: int | None
    key: str | None
    fresh: bool
    allow_exact: bool


# The fields of every query and the arguments of every release, with their defaults; and those that
# state how much a release may cost, of which one is given.
_FIELDS: dict[str, object] = {"by": (), "groups": None, "where": None, "max_groups": None}
_PARAMS: dict[str, object] = {"params": None}  # they become a part of the condition
_AMOUNTS = ("privacy", "share", "error", "at_most")
_TERMS: dict[str, object] = {"key": None, "fresh": False, "allow_exact": False}
_PARTS = ("name", "query_class", "help", "examples")


@dataclass(frozen=True)
class Argument:
    """An argument of one query: a parameter in Python, and an option of the command.

    Attributes:
        name: The name of the parameter, and of the field of the query's class.
        type: The type in Python.
        positional: Whether it may be positional in Python.
        default: The default in Python. Without a default, the argument is required.
        help: The option's help. An argument without help is positional on the command line.
        metavar: The placeholder for the value in the help of the command.
        values: The number of values of the option.
        unless_listed: The problem and the fix of the error if the value is not a list with commas;
            None if it need not be a list.
        example: A value for examples with the census of the package.
        from_card: Whether the card of a table can give it. Without a card it is required.
        renamed_from: The deprecated name of the argument; None if there is none.
    """

    name: str
    type: object
    positional: bool = False
    default: object = _REQUIRED
    help: str = ""
    metavar: str | None = None
    values: int = 1
    unless_listed: tuple[str, str] | None = None
    example: str = ""
    from_card: bool = False
    renamed_from: str | None = None

    @property
    def option_default(self) -> str | None:
        """The default on the command line; None if there is none."""
        return None if self.default in (_REQUIRED, None) else str(self.default)

    @property
    def required(self) -> bool:
        """Whether the argument is required."""
        return self.default is _REQUIRED


@dataclass(frozen=True, kw_only=True)
class TableQuery:
    """The entry of a table query: its method, command and export.

    Attributes:
        name: The name of the method. The command has - in place of _.
        query_class: The class, or ``"module:Class"`` to load it on first use.
        help: The first line of the command's help, a sentence.
        doc: The docstring of the method. Default: ``help``.
        notes: Further sentences of the command's help.
        examples: Arguments of the command, for its help.
        arguments: The arguments of this query only, positional ones first.
        fixed: Fields of the class that are not arguments, with their values.
        on_more: The problem and the fix of the error for too many arguments. Default: the error of
            click.
        groups_itself: Whether answers are by group even without ``by``, as for a histogram.
    """

    name: str
    query_class: type | str
    help: str
    examples: tuple[str, ...]
    doc: str = ""
    notes: str = ""
    arguments: tuple[Argument, ...] = ()
    fixed: Mapping[str, object] = field(default_factory=dict)
    on_more: tuple[str, str] | None = None
    groups_itself: bool = False

    def __post_init__(self) -> None:
        """Raise a TypeError that names all missing parts."""
        missing = [part for part in _PARTS if not getattr(self, part)]
        if missing:
            raise TypeError(f"the table query {self.name!r} lacks its {' and '.join(missing)}")
        if not self.name.isidentifier():
            raise TypeError(f"the table query {self.name!r} lacks a name that a method can have")
        if not isinstance(self.query_class, str):
            self._check(self.query_class)

    @property
    def command(self) -> str:
        """The name of the command."""
        return self.name.replace("_", "-")

    @property
    def class_name(self) -> str:
        """The name under which the class is exported."""
        query_class = self.query_class
        if isinstance(query_class, str):
            return query_class.rpartition(":")[2]
        return query_class.__name__

    def load(self) -> type:
        """Return the class of the query; raise a TypeError that names its missing parts."""
        if not isinstance(self.query_class, str):
            return self.query_class
        module, _, name = self.query_class.partition(":")
        query_class: type = getattr(import_module(module), name)
        self._check(query_class)
        return query_class

    def _check(self, query_class: type) -> None:
        """Check that the class is complete, and that its fields match the arguments."""
        missing = sorted(getattr(query_class, "__abstractmethods__", ()))
        known = {each.name: each for each in fields(query_class)}
        names = {argument.name for argument in self.arguments} | self.fixed.keys()
        expected = names | _FIELDS.keys()
        missing += [f"a field {name}" for name in sorted(expected - known.keys())]
        missing += [
            f"an argument {name}"
            for name, each in known.items()
            if name not in expected and each.default is MISSING and each.default_factory is MISSING
        ]
        # Two queries with the same words would have the same answer in a ledger. Fields without
        # init follow from the table.
        parameters = {name for name, each in known.items() if each.init}
        if parameters & vars(query_class).get("__annotations__", {}).keys() and (
            "to_dict" not in vars(query_class)
        ):
            missing.append("to_dict of its own, with its fields")
        if missing:
            raise TypeError(
                f"the table query {self.name!r} ({query_class.__name__}) lacks {', '.join(missing)}"
            )

    @property
    def signature(self) -> Signature:
        """The signature of the method: required arguments first, those of all queries last.

        An argument that a card can give comes with the required ones.
        """
        own = [
            _make_parameter(each.name, each.type, each.default, positional=each.positional)
            for each in self.arguments
        ]
        first = {each.name for each in self.arguments if each.required or each.from_card}
        required = [each for each in own if each.name in first]
        optional = [each for each in own if each.name not in first]
        types = Shared.__annotations__
        leading = {name: _FIELDS[name] for name in ("by", "groups", "where")}
        defaults = (leading | _PARAMS | _FIELDS | _TERMS).items()
        shared = [_make_parameter(name, types[name], default) for name, default in defaults]
        amounts = [_make_parameter(name, types[name], None) for name in _AMOUNTS]
        parameters = [*required, *amounts, *optional, *shared]
        itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        return Signature([itself, *parameters], return_annotation=Any)


class QueryMethods:
    """The methods of the queries that :func:`register` adds."""


QUERIES: dict[str, TableQuery] = {}


def register(query: TableQuery) -> None:
    """Add a query with its method, command and export; raise a TypeError if the name is taken."""
    owners = QueryMethods, *QueryMethods.__subclasses__()
    if query.name in QUERIES or any(hasattr(owner, query.name) for owner in owners):
        raise TypeError(f"the table query {query.name!r} lacks a name of its own: it is taken")
    setattr(QueryMethods, query.name, _make_method(query))
    QUERIES[query.name] = query


def _make_method(query: TableQuery) -> Callable[..., Any]:
    """Return the method of a query, which parses arguments by the query's signature."""
    signature = query.signature

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{method.__qualname__}() {error}") from None
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        del arguments["self"]
        arguments["where"] = bind_parameters(arguments["where"], arguments.pop("params"))
        terms = {name: arguments.pop(name) for name in (*_AMOUNTS, *_TERMS)}
        return self.ask([query.load()(**query.fixed, **arguments)], **terms)[0]

    method.__name__, method.__qualname__ = query.name, f"ProtectedTable.{query.name}"
    method.__doc__ = query.doc or query.help
    vars(method)["__signature__"] = signature
    return method


def _make_parameter(
    name: str, type_: object, default: object = _REQUIRED, *, positional: bool = False
) -> Parameter:
    kind = Parameter.POSITIONAL_OR_KEYWORD if positional else Parameter.KEYWORD_ONLY
    return Parameter(name, kind, default=default, annotation=type_)


# --------------------------------------------------------------------------------- the entries

_COLUMN = Argument("column", ColumnName, positional=True, metavar="COLUMN", example="income")
_BOUNDS = Argument(
    "bounds",
    Bounds | None,
    default=None,
    values=2,
    metavar="LOW HIGH",
    help="Clipping bounds of values. Choose them without looking at the table.  [required, or "
    "--card]",
    example="0 150000",
    from_card=True,
)
_BINS = Argument(
    "bins",
    int,
    default=1024,
    metavar="N",
    help="Number of bins between the bounds; the answer is one of them.",
    renamed_from="cells",
)
_INTERVAL = Argument(
    "interval",
    Number | None,
    default=None,
    metavar="CONFIDENCE",
    help="Also find an interval with this confidence, such as 0.95. It uses two thirds of ε.",
)
_Q = Argument(
    "q",
    Number,
    positional=True,
    metavar="Q",
    help="Share of rows below the value, above 0 and below 1; 0.5 is the median.",
    example="0.9",
    renamed_from="share",
)
_NO_COMMAS = (
    "edges must be two or more numbers separated by commas, without blanks",
    "Write, for example, --edges 0,18,65,120.",
)
_EDGES = Argument(
    "edges",
    Sequence[Number] | None,
    default=None,
    metavar="A,B,…",
    unless_listed=_NO_COMMAS,
    help="Edges of the ranges. Ranges are [low, high), the last is [low, high].  "
    "[required, or --card]",
    example="0,20000,50000,150000",
    from_card=True,
)
_BINS_ONLY = replace(_BINS, renamed_from=None)
_SEARCHED = replace(
    _BOUNDS,
    help="Range in which bounds are searched. Default: the bounds of the card, else ±2⁵³.",
    from_card=False,
    example="",
)
_PERSON = "--unit person_id --max-rows 1"
_LEDGER = "--ledger people.ledger"
_SPREAD = (
    "A count, a sum and a sum of squares are released. Rows without a value are omitted. In a unit "
    "with more than --max-rows rows, each row has the weight --max-rows/rows."
)
_EXTREME = (
    "The {word} itself is the value of one row and cannot be private. The answer is a bin, with a "
    "bound on the number of rows {beyond} it. Rows without a value are omitted."
)
_RANK = "Rows without a value are omitted. The answer is a bin, with a bound on its rank error."

for _query in (
    TableQuery(
        name="count",
        query_class="leastnoise.tables.queries.count:Count",
        help="Count rows or people.",
        notes="With --max-rows 1, the command counts units instead of rows.",
        examples=(
            f"people.csv {_PERSON} --by region --max-groups 1 --epsilon 0.2 --delta 1e-7 {_LEDGER}",
            f'people.csv {_PERSON} --where "age >= 18" --epsilon 0.2 --dry-run',
        ),
    ),
    TableQuery(
        name="sum",
        query_class="leastnoise.tables.queries.sum:Sum",
        help="Sum a column.",
        notes="Missing values add 0. The total of a unit's rows is clipped to --max-rows times "
        "the bounds, extended to include 0.",
        examples=(
            "people.csv income --bounds 0 150000 --unit person_id --max-rows 2 --epsilon 0.5 "
            + _LEDGER,
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="mean",
        query_class="leastnoise.tables.queries.mean:Mean",
        help="Average a column.",
        notes="A count and a sum are released; --json has both. Rows without a value are omitted. "
        "A unit with more than --max-rows rows counts as that many rows, each holding its average "
        "value.",
        examples=(
            f"people.csv income --bounds 0 150000 {_PERSON} --by sex --group f --group m "
            f"--max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="variance",
        query_class="leastnoise.tables.queries.variance:Variance",
        help="Compute the population variance of a column.",
        notes=f"It divides by the number of rows, as SQL's VAR_POP. {_SPREAD}",
        examples=(f"people.csv income --bounds 0 150000 {_PERSON} --epsilon 0.5 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="std",
        query_class="leastnoise.tables.queries.variance:Std",
        help="Compute the population standard deviation of a column.",
        notes=f"It divides by the number of rows, as SQL's STDDEV_POP. {_SPREAD}",
        examples=(
            f"people.csv income --bounds 0 150000 {_PERSON} --by sex --group f --group m "
            f"--max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="median",
        query_class="leastnoise.tables.queries.quantile:Quantile",
        help="Find the median of a column.",
        notes=f"{_RANK} Other quantiles: leastnoise quantile.",
        examples=(
            f"people.csv income --bounds 0 150000 --bins 150 {_PERSON} "
            f'--where "age >= 18" --epsilon 0.5 {_LEDGER}',
        ),
        arguments=(_COLUMN, _BOUNDS, _BINS, _INTERVAL),
        fixed={"q": "1/2"},
    ),
    TableQuery(
        name="quantile",
        query_class="leastnoise.tables.queries.quantile:Quantile",
        help="Find any quantile of a column.",
        notes=_RANK,
        examples=(
            f"people.csv income --q 0.9 --bounds 0 150000 --bins 150 {_PERSON} --epsilon 0.5 "
            + _LEDGER,
        ),
        arguments=(_COLUMN, _Q, _BOUNDS, _BINS, _INTERVAL),
        on_more=(
            "There are more arguments than SOURCE and COLUMN; q is an option",
            "Write, for example, --q 0.9.",
        ),
    ),
    TableQuery(
        name="min",
        query_class="leastnoise.tables.queries.extreme:Min",
        help="Find the approximate minimum of a column.",
        notes=_EXTREME.format(word="minimum", beyond="below"),
        examples=(f"people.csv age --bounds 0 120 --bins 120 {_PERSON} --epsilon 0.5 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS, _BINS_ONLY),
    ),
    TableQuery(
        name="max",
        query_class="leastnoise.tables.queries.extreme:Max",
        help="Find the approximate maximum of a column.",
        notes=_EXTREME.format(word="maximum", beyond="above"),
        examples=(f"people.csv age --bounds 0 120 --bins 120 {_PERSON} --epsilon 0.5 {_LEDGER}",),
        arguments=(_COLUMN, _BOUNDS, _BINS_ONLY),
    ),
    TableQuery(
        name="estimate_bounds",
        query_class="leastnoise.tables.queries.estimate_bounds:EstimateBounds",
        help="Find clipping bounds of a column.",
        notes="The bounds are round numbers, with a bound on the number of rows outside them. Rows "
        "without a value are omitted.",
        examples=(f"people.csv income {_PERSON} --epsilon 0.2 {_LEDGER}",),
        arguments=(_COLUMN, _SEARCHED),
    ),
    TableQuery(
        name="histogram",
        query_class="leastnoise.tables.queries.histogram:Histogram",
        help="Count rows per range of a column.",
        notes="Rows outside all ranges, or without a value, are omitted. Ranges are [low, high), "
        "the last is [low, high].",
        examples=(
            f"people.csv age --edges 0,18,65,120 {_PERSON} --max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _EDGES),
        on_more=_NO_COMMAS,
        groups_itself=True,
    ),
):
    QUERIES[_query.name] = _query  # its method: leastnoise.tables.methods
