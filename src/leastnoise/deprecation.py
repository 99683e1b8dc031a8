"""Deprecated names: they work for one more version, and each use warns with the new name.

A warning points at the first line outside of leastnoise, where the old name is used.
"""

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, overload

from leastnoise.errors import InvalidParameter

REMOVAL = "0.7"
_PACKAGE = str(Path(__file__).parent) + os.sep

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def deprecation_message(old: str, new: str) -> str:
    """Return the warning for an old name.

    >>> deprecation_message("hold", "Mechanism.from_noise")
    '`hold` is deprecated; use `Mechanism.from_noise`. It will be removed in 0.7.'
    """
    return f"`{old}` is deprecated; use `{new}`. It will be removed in {REMOVAL}."


class RenamedWarning(DeprecationWarning):
    """An old name was used. The message has names only, so a release may issue it."""


def warn_deprecated(old: str, new: str) -> None:
    """Issue a warning that points at the nearest caller outside of leastnoise."""
    message = deprecation_message(old, new)
    warnings.warn(message, RenamedWarning, stacklevel=_levels_to_caller())


class RenamedAttribute(Generic[T]):
    """An attribute or a method under its old name, for the body of a class.

    ``Generic`` states its type: ``drawn = RenamedAttribute[Discretized]("discretized")``.

    Args:
        new: The attribute to read instead.
        advice: The name to recommend. Default: ``new``.
        convert: A function from the value to that of the old name. Default: the identity.
    """

    def __init__(
        self, new: str, *, advice: str | None = None, convert: Callable[[Any], T] | None = None
    ) -> None:
        self._new = new
        self._advice = advice or new
        self._convert = convert
        self._old = self._owner = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._old, self._owner = name, owner.__name__

    @overload
    def __get__(self, instance: None, owner: type) -> "RenamedAttribute[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> "RenamedAttribute[T] | T":
        if instance is None:
            return self
        warn_deprecated(f"{self._owner}.{self._old}", f"{self._owner}.{self._advice}")
        value: T = getattr(instance, self._new)
        return value if self._convert is None else self._convert(value)


def renamed_arguments(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function also accept keyword arguments by their old names.

    Do not use it for functions that receive true values, because a traceback would hold the frame
    of the wrapper with these values.

    Args:
        names: The new name of each argument, by its old one: ``among="shape"``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                new = names[old]
                kwargs[new] = take_renamed(old, kwargs.pop(old), new, given=new in kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def take_renamed(old: str, value: T, new: str, *, given: bool) -> T:
    """Return the value of an argument that was passed by its old name, with a warning.

    Raises:
        InvalidParameter: If it was passed by its new name too.
    """
    if given:
        raise InvalidParameter(
            f"{old}= is the old name of {new}=", got="both", fix=f"Pass {new}= only."
        )
    warn_deprecated(f"{old}=", f"{new}=")
    return value


def renamed_names(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` that finds old names.

    Args:
        module: The module that had them.
        homes: The new place of each old name: ``"leastnoise.noise:Uniform"``.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, path = homes[name].partition(":")
        warn_deprecated(f"{module}.{name}", f"{home}.{path}")
        value: Any = import_module(home)
        for part in path.split("."):
            value = getattr(value, part)
        return value

    return find


def _levels_to_caller() -> int:
    """Count the frames from :func:`warn_deprecated` to the first one outside of leastnoise."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, levels = frame.f_back, levels + 1
    return levels
