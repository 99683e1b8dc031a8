"""The registered table queries. An entry gives a query its method, its command and its export.

An entry makes ``leastnoise sum`` with its options and help, and ``leastnoise.Sum``. It makes
``ProtectedTable.sum`` too, with signature and docstring, unless the query is built in: those
methods are in :mod:`leastnoise.tables.methods`, with their types. The query's class, one file in
:mod:`leastnoise.tables.queries`, computes it. docs/architecture.md lists the steps of adding one.

``leastnoise sum --help`` imports this module. So it does not import the code that runs queries, and
the class of an entry is loaded on first use.
"""

from collections.abc import Callable
from typing import Any

from leastnoise.tables.built_in_queries import BUILT_IN
from leastnoise.tables.table_query import AMOUNTS, TERMS, TableQuery
from leastnoise.tables.where import bind_parameters


class QueryMethods:
    """The methods of the queries that :func:`register` adds."""


# The methods of the built-in queries are in leastnoise.tables.methods.
QUERIES: dict[str, TableQuery] = {query.name: query for query in BUILT_IN}


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
        terms = {name: arguments.pop(name) for name in (*AMOUNTS, *TERMS)}
        return self.ask([query.load()(**query.fixed, **arguments)], **terms)[0]

    method.__name__, method.__qualname__ = query.name, f"ProtectedTable.{query.name}"
    method.__doc__ = query.doc or query.help
    vars(method)["__signature__"] = signature
    return method
