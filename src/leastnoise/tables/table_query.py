"""``TableQuery``, the entry of a registered table query, and the types of its arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, Literal, TypedDict

from leastnoise.core.exact import Number
from leastnoise.core.privacy import Privacy
from leastnoise.tables.keys import Groups
from leastnoise.tables.where import ColumnExpression, Node, Parameters

# A column by name, or an expression of columns, also as text (docs/where.md).
ColumnName = str | ColumnExpression
Columns = ColumnName | Sequence[ColumnName]
Bounds = tuple[Number, Number]
Counted = Literal["rows", "units"]

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
    max_rows: int | None
    key: str | None
    fresh: bool
    allow_exact: bool


# The fields of every query and the arguments of every release, with their defaults; and those that
# state how much a release may cost, of which one is given.
_FIELDS: dict[str, object] = {
    **{"by": (), "groups": None, "where": None},
    **{"max_groups": None, "max_rows": None},
}
_PARAMS: dict[str, object] = {"params": None}  # they become a part of the condition
AMOUNTS = ("privacy", "share", "error", "at_most")
TERMS: dict[str, object] = {"key": None, "fresh": False, "allow_exact": False}
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
        defaults = (leading | _PARAMS | _FIELDS | TERMS).items()
        shared = [_make_parameter(name, types[name], default) for name, default in defaults]
        amounts = [_make_parameter(name, types[name], None) for name in AMOUNTS]
        parameters = [*required, *amounts, *optional, *shared]
        itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        return Signature([itself, *parameters], return_annotation=Any)


def _make_parameter(
    name: str, type_: object, default: object = _REQUIRED, *, positional: bool = False
) -> Parameter:
    kind = Parameter.POSITIONAL_OR_KEYWORD if positional else Parameter.KEYWORD_ONLY
    return Parameter(name, kind, default=default, annotation=type_)
