"""No public signature contains ``Any``, because it switches off a user's type checker.

The element type of numpy arrays is the one exception. The noise and the given values decide it, and
type checkers reject most uses of an array whose element type is a union.
"""

import ast
import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Literal

import pytest

DOORS = [
    "leastnoise",
    *(
        f"leastnoise.{name}"
        for name in (
            *("accounting", "certificate", "costs", "errors", "events", "ledger", "mechanism"),
            *("noise", "paper", "planning", "plots", "tables", "testing"),
        )
    ),
]
# Special methods with which users call a value.
CALLED = ("__init__", "__call__", "__getitem__", "__iter__", "__enter__")


def contains_any(annotation: object, module: str, seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether an annotation contains Any, also inside of others and behind aliases."""
    if annotation is Any:
        return True
    if isinstance(annotation, typing.ForwardRef):
        return contains_any(annotation.__forward_arg__, module, seen)
    if isinstance(annotation, str):
        tree = ast.parse(re.sub(r"\bNDArray\[.*?\]", "None", annotation))
        words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return any(contains_any(*look_up(word, module), seen | words) for word in words - seen)
    if isinstance(annotation, typing.TypeVar):
        return contains_any(annotation.__bound__, module, seen)
    if typing.get_origin(annotation) is Literal:
        return False
    parts = annotation if isinstance(annotation, list) else typing.get_args(annotation)
    return any(contains_any(part, module, seen) for part in parts)


def look_up(word: str, module: str) -> tuple[object, str]:
    """Return the meaning of a word of an annotation, and the module that defines it.

    Some words exist for type checkers only, so the source is read for them.
    """
    loaded = import_module(module)
    if hasattr(loaded, word):
        return getattr(loaded, word), module
    for node in ast.walk(ast.parse(inspect.getsource(loaded))):
        if isinstance(node, ast.ImportFrom) and re.match("leastnoise|typing", str(node.module)):
            for alias in node.names:
                if word == (alias.asname or alias.name):
                    return look_up(alias.name, str(node.module))
        if isinstance(node, ast.Assign) and word in map(ast.unparse, node.targets):
            return ast.unparse(node.value), module
    return None, module


def functions_of(value: object) -> Iterator[Callable[..., object]]:
    """Go through the functions behind a name: getters and setters, and overloads."""
    if isinstance(value, property):
        yield from (one for one in (value.fget, value.fset) if one is not None)
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, classmethod | staticmethod):
        yield from functions_of(value.__func__)
    elif inspect.isfunction(value):
        function = inspect.unwrap(value)
        yield function
        yield from typing.get_overloads(function)


def annotations_of(value: object) -> Iterator[tuple[str, object, str]]:
    """Go through the annotations of a public value: the place of each, itself, and its module."""
    for function in functions_of(value):
        for name, annotation in function.__annotations__.items():
            yield name, annotation, function.__module__
    owners = value.__mro__ if isinstance(value, type) else ()
    for owner in owners:
        if owner.__module__.partition(".")[0] not in ("leastnoise", "tests"):
            continue
        for name, annotation in inspect.get_annotations(owner).items():
            if not name.startswith("_"):
                yield name, annotation, owner.__module__
        for name, member in vars(owner).items():
            if not isinstance(member, type) and (name in CALLED or not name.startswith("_")):
                for place, annotation, module in annotations_of(member):
                    yield f"{name}.{place}", annotation, module


def public_values() -> Iterator[tuple[str, object]]:
    """Go through the public names of all doors."""
    for door in DOORS:
        module = import_module(door)
        own = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == door]
        for name in getattr(module, "__all__", own):
            yield f"{door}.{name}", getattr(module, name)


def places_with_any(value: object) -> list[str]:
    return [
        place
        for place, annotation, module in annotations_of(value)
        if contains_any(annotation, module)
    ]


def test_no_public_signature_contains_any() -> None:
    values = dict(public_values())
    assert len(values) > 150
    found = {
        f"{name}: {place}" for name, value in values.items() for place in places_with_any(value)
    }
    assert not found


Alias = dict[str, list[Any]]


class Careless:
    """Any at every place where a user's type checker would read it."""

    field: Any
    later: "list[Alias]"
    _private: Any

    def method(self, given: int, rest: dict[str, Any]) -> "Alias | None":
        raise NotImplementedError

    @property
    def read(self) -> Callable[[Any], int]:
        raise NotImplementedError

    @functools.cached_property
    def found(self) -> Any: ...

    @classmethod
    def build(cls, *args: Any) -> int:
        raise NotImplementedError

    @typing.overload
    def choose(self, one: int) -> Any: ...

    @typing.overload
    def choose(self, one: str) -> int: ...

    def choose(self, one: object) -> object: ...

    def fine(self, one: Literal["Any"], two: "Literal['Any']") -> list[dict[str, object]]:
        raise NotImplementedError

    def _hidden(self, one: Any) -> Any: ...


def test_any_is_found_at_every_place() -> None:
    """The control: the test above can fail."""
    assert places_with_any(Careless) == [
        "field",
        "later",
        "method.rest",
        "method.return",
        "read.return",
        "found.return",
        "build.args",
        "choose.return",
    ]


@pytest.mark.parametrize("value", [Careless.method, Careless.choose])
def test_any_is_found_in_functions(value: object) -> None:
    assert places_with_any(value)
