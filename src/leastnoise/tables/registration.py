"""The table queries there are: one entry gives a query its method, its command and its export.

An entry makes ``Protected.sum`` with its signature and docstring, ``leastnoise sum`` with its
options and help, and ``leastnoise.Sum``. What the query computes is in its class, one file in
:mod:`leastnoise.tables.queries`. docs/architecture.md lists the steps of adding one.

``leastnoise sum --help`` reads this file. So it imports nothing of what answers a query, and the
class of an entry is loaded on first use.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, TypedDict

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy

Columns = str | Sequence[str]
Bounds = tuple[Number, Number]

_REQUIRED: Any = Parameter.empty


class Shared(TypedDict, total=False):
    """What the methods of all queries take."""

    by: Columns
    keys: Iterable[Any] | None
    where: str | None
    max_groups: int | None
    key: str | None
    fresh: bool
    allow_exact: bool


# The fields of every question, the arguments of every release, and their defaults.
_FIELDS: dict[str, Any] = {"by": (), "keys": None, "where": None, "max_groups": None}
_TERMS: dict[str, Any] = {"key": None, "fresh": False, "allow_exact": False}
_PARTS = ("name", "question", "doc", "help", "examples")


@dataclass(frozen=True)
class Argument:
    """An argument that a query has of its own: a parameter in Python, an option of the command.

    Attributes:
        name: The name of the parameter, and of the field of the query's class.
        type: What Python callers give.
        positional: Whether Python callers may give it by its place.
        default: What it is in Python if left out; required if there is none.
        help: The option's help. An argument without one is positional on the command line too.
        metavar: What stands for the value in the help of the command.
        values: How many values the option takes.
        unless_listed: The error if the value is not a list with commas; None if it need not be one.
        example: What an example gives: a value that fits the census of the package.
    """

    name: str
    type: Any
    positional: bool = False
    default: Any = _REQUIRED
    help: str = ""
    metavar: str | None = None
    values: int = 1
    unless_listed: str | None = None
    example: str = ""

    @property
    def option_default(self) -> str | None:
        """The default on the command line; None if there is none."""
        return None if self.default in (_REQUIRED, None) else str(self.default)

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is _REQUIRED


@dataclass(frozen=True, kw_only=True)
class TableQuery:
    """An entry: what callers see of a table query.

    Attributes:
        name: The name of the method, and with - for _ of the command.
        question: The class, or ``"module:Class"`` to load it on first use.
        doc: The docstring of the method.
        help: The first line of the command's help.
        notes: What the help says further, if anything.
        examples: Arguments of the command, for its help.
        arguments: What the query has of its own, positional arguments first.
        on_more: The error if the command gets too many arguments; None for click's own.
        groups_itself: Whether its answers are by group without ``by``, as a histogram's are.
    """

    name: str
    question: type | str
    doc: str
    help: str
    notes: str = ""
    examples: tuple[str, ...]
    arguments: tuple[Argument, ...] = ()
    on_more: str | None = None
    groups_itself: bool = False

    def __post_init__(self) -> None:
        """Raise a TypeError that names every part that is missing."""
        missing = [part for part in _PARTS if not getattr(self, part)]
        if missing:
            raise TypeError(f"the table query {self.name!r} lacks its {' and '.join(missing)}")
        if not self.name.isidentifier():
            raise TypeError(f"the table query {self.name!r} lacks a name that a method can have")
        if not isinstance(self.question, str):
            self._check(self.question)

    @property
    def command(self) -> str:
        """The name of the command."""
        return self.name.replace("_", "-")

    @property
    def class_name(self) -> str:
        """The name under which the class is exported."""
        question = self.question
        return question.rpartition(":")[2] if isinstance(question, str) else question.__name__

    def load(self) -> Any:
        """Return the class; raise a TypeError that names what it lacks."""
        if not isinstance(self.question, str):
            return self.question
        module, _, name = self.question.partition(":")
        question = getattr(import_module(module), name)
        self._check(question)
        return question

    def _check(self, question: type) -> None:
        """Check that the class is whole, and that it and the arguments fit one another."""
        missing = sorted(getattr(question, "__abstractmethods__", ()))
        known = {field.name: field for field in fields(question)}
        given = {argument.name for argument in self.arguments}
        expected = given | _FIELDS.keys()
        missing += [f"a field {name}" for name in sorted(expected - known.keys())]
        missing += [
            f"an argument {name}"
            for name, field in known.items()
            if name not in expected
            and field.default is MISSING
            and field.default_factory is MISSING
        ]
        # Two questions with the same words would have the same answer in a ledger. What is no
        # argument of the class is found from the table.
        asked = {name for name, field in known.items() if field.init}
        if asked & vars(question).get("__annotations__", {}).keys() and (
            "to_dict" not in vars(question)
        ):
            missing.append("to_dict of its own, with its fields")
        if missing:
            raise TypeError(
                f"the table query {self.name!r} ({question.__name__}) lacks {', '.join(missing)}"
            )

    @property
    def signature(self) -> Signature:
        """The signature of the method: first what must be given, last what all queries share."""
        own = [
            _parameter(one.name, one.type, one.default, positional=one.positional)
            for one in self.arguments
        ]
        required = [one for one in own if one.default is _REQUIRED]
        optional = [one for one in own if one.default is not _REQUIRED]
        types = Shared.__annotations__
        defaults = (_FIELDS | _TERMS).items()
        shared = [_parameter(one, types[one], default) for one, default in defaults]
        parameters = [*required, _parameter("privacy", Privacy), *optional, *shared]
        own_self = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        return Signature([own_self, *parameters], return_annotation=Any)


class QueryMethods:
    """The methods of the registered queries; :class:`Protected` inherits them."""


QUERIES: dict[str, TableQuery] = {}


def register(query: TableQuery) -> None:
    """Give a query its method, its command and its export; reject a name that is taken."""
    if any(hasattr(kind, query.name) for kind in (QueryMethods, *QueryMethods.__subclasses__())):
        raise TypeError(f"the table query {query.name!r} lacks a name of its own: it is taken")
    setattr(QueryMethods, query.name, _method(query))
    QUERIES[query.name] = query


def _method(query: TableQuery) -> Callable[..., Any]:
    """Return the method: it reads its arguments by the signature of the query."""
    signature = query.signature

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{method.__qualname__}() {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        terms = {name: given.pop(name) for name in ("privacy", *_TERMS)}
        return self.ask([query.load()(**given)], **terms)[0]

    method.__name__, method.__qualname__ = query.name, f"Protected.{query.name}"
    method.__doc__ = query.doc
    vars(method)["__signature__"] = signature
    return method


def _parameter(
    name: str, type_: Any, default: Any = _REQUIRED, *, positional: bool = False
) -> Parameter:
    kind = Parameter.POSITIONAL_OR_KEYWORD if positional else Parameter.KEYWORD_ONLY
    return Parameter(name, kind, default=default, annotation=type_)


# --------------------------------------------------------------------------------- the entries

_COLUMN = Argument("column", str, positional=True, metavar="COLUMN", example="income")
_BOUNDS = Argument(
    "bounds",
    Bounds,
    values=2,
    metavar="LOW HIGH",
    help="The clipping bounds: what a value can be. Never take them from the table.",
    example="0 150000",
)
_CELLS = Argument(
    "cells",
    int,
    default=1024,
    help="Of the grid between the bounds, in one of which the answer lies.",
)
_INTERVAL = Argument(
    "interval",
    Number | None,
    default=None,
    metavar="CONFIDENCE",
    help="Find an interval for the quantile too, with this confidence, such as 0.95. It costs two "
    "thirds of ε.",
)
_SHARE = Argument(
    "share",
    Number,
    positional=True,
    metavar="SHARE",
    help="The share of rows below the value, above 0 and below 1; 0.5 is the median.",
    example="0.9",
)
_NO_COMMAS = (
    "edges must be two or more numbers, parted by commas, got one alone, or some that are parted "
    "otherwise. Give for instance --edges 0,18,65,120."
)
_EDGES = Argument(
    "edges",
    Sequence[Number],
    metavar="A,B,…",
    unless_listed=_NO_COMMAS,
    help="Where the ranges begin and end. Each includes its lower edge, the last one both.",
    example="0,20000,50000,150000",
)
_PERSON = "--unit person_id --max-rows 1"
_LEDGER = "--ledger people.ledger"
_RANK = (
    "Missing values are left out. What is known of the answer is its rank: how many rows lie below."
)

for _query in (
    TableQuery(
        name="count",
        question="leastnoise.tables.queries.count:Count",
        doc="Count rows (:class:`Count`, :meth:`ask`).",
        help="Count the rows of a table (Protected.count).",
        notes="With --max-rows 1 it is units that are counted.",
        examples=(
            f"people.csv {_PERSON} --by region --max-groups 1 --epsilon 0.2 --delta 1e-7 {_LEDGER}",
            f'people.csv {_PERSON} --where "age >= 18" --epsilon 0.2 --explain',
        ),
    ),
    TableQuery(
        name="sum",
        question="leastnoise.tables.queries.sum:Sum",
        doc="Add up a column between bounds (:class:`Sum`, :meth:`ask`).",
        help="Add up a COLUMN of a table (Protected.sum).",
        notes="Missing values add 0, as in SQL, also if the bounds exclude 0. All rows of a unit "
        "are added up, and its total is clipped to what --max-rows rows can add.",
        examples=(
            "people.csv income --bounds 0 150000 --unit person_id --max-rows 2 --epsilon 0.5 "
            + _LEDGER,
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="mean",
        question="leastnoise.tables.queries.mean:Mean",
        doc="Return the mean of a column, with the count and the sum it is made of "
        "(:class:`Mean`).",
        help="Find the mean of a COLUMN of a table (Protected.mean).",
        notes="Released are a count and a sum of what values are above the middle of the bounds; "
        "--json has both. Missing values are left out. A unit with more than --max-rows rows "
        "counts as that many, each with the average of its values.",
        examples=(
            f"people.csv income --bounds 0 150000 {_PERSON} --by sex --group f --group m "
            f"--max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _BOUNDS),
    ),
    TableQuery(
        name="median",
        question="leastnoise.tables.queries.quantile:Quantile",
        doc="Return between which values half of the rows is reached (:class:`Quantile`).",
        help="Find below which value of a COLUMN half of the rows lie (Protected.median).",
        notes=f"{_RANK} Other shares than one half are for the command quantile.",
        examples=(
            f"people.csv income --bounds 0 150000 --cells 150 {_PERSON} "
            f'--where "age >= 18" --epsilon 0.5 {_LEDGER}',
        ),
        arguments=(_COLUMN, _BOUNDS, _CELLS, _INTERVAL),
    ),
    TableQuery(
        name="quantile",
        question="leastnoise.tables.queries.quantile:Quantile",
        doc="Return between which values a share of the rows is reached (:class:`Quantile`).",
        help="Find below which value of a COLUMN a share of the rows lies (Protected.quantile).",
        notes=_RANK,
        examples=(
            f"people.csv income --share 0.9 --bounds 0 150000 --cells 150 {_PERSON} --epsilon 0.5 "
            + _LEDGER,
        ),
        arguments=(_COLUMN, _SHARE, _BOUNDS, _CELLS, _INTERVAL),
        on_more="the share of a quantile must be given by --share, got an argument more than "
        "SOURCE and COLUMN. Write for instance --share 0.9.",
    ),
    TableQuery(
        name="histogram",
        question="leastnoise.tables.queries.histogram:Histogram",
        doc="Count the rows in each range of a column (:class:`Histogram`, :meth:`ask`).",
        help="Count the rows in each range of a COLUMN (Protected.histogram).",
        notes="Rows outside of all ranges, or without a value, are left out.",
        examples=(
            f"people.csv age --edges 0,18,65,120 {_PERSON} --max-groups 1 --epsilon 0.5 {_LEDGER}",
        ),
        arguments=(_COLUMN, _EDGES),
        on_more=_NO_COMMAS,
        groups_itself=True,
    ),
):
    register(_query)
