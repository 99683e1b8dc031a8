"""``attempted``: how everything is done that an engine or a frame's library has a part in."""

import warnings
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")


def attempted(work: Callable[[], _Result]) -> _Result | None:
    """Return what something returns, or None if it fails, for whatever reason.

    What engines say when they fail, or warn of, quotes the records that they stumble over and the
    connection strings that they were given. Here it ends: whoever gets None raises an error of our
    own, which has then no other behind it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except Exception:  # noqa: BLE001 -- whatever it is, it may quote records
        return None
