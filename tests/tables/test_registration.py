"""What the registration gives, and what type checkers read, are the same."""

import ast
import inspect
from pathlib import Path

import pytest

import leastnoise as ln
from leastnoise import tables
from leastnoise.cli import main
from leastnoise.tables import QUERIES, ProtectedTable, protected, registration


def declared() -> dict[str, ast.FunctionDef]:
    """Return the methods of ProtectedTable that only type checkers see."""
    tree = ast.parse(Path(protected.__file__).read_text(encoding="utf-8"))
    (kind,) = (
        one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == "ProtectedTable"
    )
    (block,) = (one for one in kind.body if isinstance(one, ast.If))
    return {one.name: one for one in block.body if isinstance(one, ast.FunctionDef)}


def test_type_checkers_know_every_method_and_no_other() -> None:
    assert declared().keys() == QUERIES.keys()


@pytest.mark.parametrize("name", QUERIES)
def test_type_checkers_read_the_arguments_and_the_docstring_of_a_method(name: str) -> None:
    method, written = getattr(ProtectedTable, name), declared()[name]
    assert method.__doc__ == ast.get_docstring(written)
    parameters = inspect.signature(method).parameters
    shared = registration.Shared
    own = {each: one for each, one in parameters.items() if each not in shared.__annotations__}
    places = [one.arg for one in written.args.args]
    assert places == [each for each, one in own.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert [one.arg for one in written.args.kwonlyargs] == list(own)[len(places) :]
    defaults = [one and ast.literal_eval(one) for one in written.args.kw_defaults]
    empty = inspect.Parameter.empty
    assert defaults == [
        None if own[one.arg].default is empty else own[one.arg].default
        for one in written.args.kwonlyargs
    ]
    assert shared.__annotations__.keys() == parameters.keys() - own.keys()


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
