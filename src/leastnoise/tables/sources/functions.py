"""Functions of engines that Ibis does not have, or compiles in another way."""

from functools import cache
from inspect import Parameter, Signature
from typing import Any


@cache
def engine_function(name: str, arguments: tuple[str, ...], result: str) -> Any:
    """Return a function of an engine as a function of Ibis values.

    Args:
        name: Its name in SQL.
        arguments: The type of each argument.
        result: The type of its result.
    """
    import ibis

    def function() -> None: ...

    names = [f"argument_{place}" for place in range(len(arguments))]
    vars(function)["__signature__"] = Signature(
        [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in names]
    )
    return ibis.udf.scalar.builtin(name=name, signature=(arguments, result))(function)
