"""The commands of the registered table queries: count, sum, mean, median, quantile, histogram."""

from collections.abc import Callable
from typing import Any

import click

from leastnoise.cli.app import Once
from leastnoise.cli.questions import OPTIONS, Decorator, TableRequest, ask
from leastnoise.errors import InvalidParameter
from leastnoise.tables import Argument, TableQuery

_SOURCE = (
    "SOURCE is a CSV or Parquet file, a pattern for several, or postgresql://user@host/database."
)
_EXIT_CODES = (
    "It exits with 1 if the engine fails, with 3 if the budget of the ledger refuses, with 4 if "
    "the ledger is damaged."
)


def command_of(query: TableQuery) -> click.Command:
    """Return the command of a query: its own arguments, then the options that all share."""

    def run(*, source: str, **given: Any) -> None:
        own = {one.name: _value(one, given.pop(one.name)) for one in query.arguments}
        ask(TableRequest(query=query, source=source, own=own, **given))

    parameters: list[Decorator] = [click.argument("source", metavar="SOURCE")]
    parameters += [*map(_parameter, query.arguments), *OPTIONS]
    callback: Callable[..., None] = run
    for parameter in reversed(parameters):
        callback = parameter(callback)
    make = click.command(query.command, cls=Once, help=_help(query), on_more=query.on_more)
    return make(callback)


def _parameter(argument: Argument) -> Decorator:
    if not argument.help:
        return click.argument(argument.name, metavar=argument.metavar)
    default = argument.option_default
    given: dict[str, Any] = {"default": default, "show_default": True}
    return click.option(
        f"--{argument.name}",
        nargs=argument.values,
        metavar=argument.metavar,
        help=argument.help,
        **given if default is not None else {"required": True},
    )


def _value(argument: Argument, text: Any) -> Any:
    """Return what the query takes: for a list, its items."""
    if argument.unless_listed is None:
        return text
    if "," not in text:
        raise InvalidParameter(argument.unless_listed)
    return text.split(",")


def _help(query: TableQuery) -> str:
    title = "Examples:" if len(query.examples) > 1 else "Example:"
    examples = [f"  leastnoise {query.command} {example}" for example in query.examples]
    return "\n\n".join(
        [
            query.help,
            f"{_SOURCE} {query.notes}".rstrip(),
            _EXIT_CODES,
            "\n".join(["\b", title, *examples]),
        ]
    )
