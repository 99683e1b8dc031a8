"""The registration and the typed methods of the built-in queries describe the same methods."""

import inspect
from typing import Any, get_overloads, get_type_hints

import pytest

import leastnoise as ln
from leastnoise import tables
from leastnoise.cli import main
from leastnoise.tables import QUERIES, GroupedAnswers, ProtectedTable
from leastnoise.tables.methods import BuiltInQueries


def test_every_built_in_query_has_a_typed_method_and_no_other_has() -> None:
    methods = {name for name in dir(BuiltInQueries) if not name.startswith("_")}
    assert methods == QUERIES.keys()


@pytest.mark.parametrize("name", QUERIES)
def test_a_typed_method_has_the_signature_of_its_registration(name: str) -> None:
    """Names, order, kinds, defaults and types."""
    found = inspect.signature(getattr(ProtectedTable, name)).parameters
    assert found == QUERIES[name].signature.parameters


@pytest.mark.parametrize("name", [name for name in QUERIES if name != "histogram"])
def test_overloads_take_the_same_arguments_and_by_decides_what_they_return(name: str) -> None:
    parameters = inspect.signature(getattr(ProtectedTable, name)).parameters
    taken: set[str] = set()
    for overload in get_overloads(inspect.unwrap(getattr(ProtectedTable, name))):
        signature = inspect.signature(overload)
        grouped = getattr(signature.return_annotation, "__origin__", None) is GroupedAnswers
        assert ("by" in signature.parameters) is grouped
        assert signature.parameters.keys() <= parameters.keys()
        taken |= signature.parameters.keys()
        for each, one in signature.parameters.items():
            assert one.kind is parameters[each].kind
            assert one.annotation == parameters[each].annotation or each == "interval"
            assert one.default == parameters[each].default or each in ("by", "interval")
    assert taken == parameters.keys()


PUBLIC = [
    *[getattr(ProtectedTable, name) for name in (*QUERIES, "ask", "explain", "close")],
    ln.protect,
]


@pytest.mark.parametrize("method", PUBLIC, ids=lambda method: method.__name__)
def test_a_public_signature_is_documented_and_without_any(method: Any) -> None:
    words = inspect.getdoc(method) or ""
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]
    for name in parameters:
        assert f"\n    {name}: " in words
    if parameters:
        assert "Raises:" in words
    hints = get_type_hints(inspect.unwrap(method))
    assert "typing.Any" not in repr(list(hints.values()))


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_query_class_takes_no_any(query: tables.TableQuery) -> None:
    given = inspect.signature(query.load()).parameters
    assert [name for name, one in given.items() if one.annotation is Any] == []


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_query_has_its_export_and_its_command(query: tables.TableQuery) -> None:
    assert query.class_name in ln.__all__
    assert query.class_name in tables.__all__
    assert getattr(ln, query.class_name) is getattr(tables, query.class_name) is query.load()
    command = main.commands[query.command]
    assert command.name == query.command
    required = {one.name: one.required for one in command.params}
    for argument in query.arguments:
        assert required[argument.name] is argument.required


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_no_query_claims_the_least_noise(query: tables.TableQuery) -> None:
    """A certificate proves it for one number of one mechanism, and not for every use of a query."""
    said = " ".join([query.doc, query.help, query.notes, query.load().__doc__ or ""])
    assert "least noise" not in said
    assert "optimal" not in said
