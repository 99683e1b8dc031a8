"""What an exception holds: everything that a logger, a debugger or a crash report could show."""

import gc
import re
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

import leastnoise

_PACKAGE = str(Path(leastnoise.__file__).parent)
_DEEP = 12


def held(error: BaseException, secrets: Iterable[int]) -> list[str]:
    """Return where an exception holds one of these numbers; the frames of the tests do not count.

    Its printed traceback with the variables of our frames, its arguments, notes, context and
    cause, and whatever can be reached from them.
    """
    wanted = set(secrets)
    found = []
    text = _printed(error)
    if any(re.search(rf"(?<![0-9a-f])({one}|{one:x})(?![0-9a-f])", text) for one in wanted):
        found.append("printed")
    for path, each in _reached(error):
        if isinstance(each, np.ndarray) and each.dtype != object:
            same = any((each == one).any() for one in wanted)
        else:
            same = type(each) in (int, float) and each in wanted
        same = same or (isinstance(each, str) and any(each == f"{one:x}" for one in wanted))
        if same:
            found.append(path)
    return found


def _printed(error: BaseException) -> str:
    notes = getattr(error, "__notes__", [])
    try:
        whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    except Exception:  # noqa: BLE001 -- a variable that is not built yet cannot be printed
        whole = traceback.TracebackException.from_exception(error)
    behind: list[Any] = [whole]
    for each in behind:
        behind += [one for one in (each.__cause__, each.__context__) if one is not None]
        each.stack[:] = [frame for frame in each.stack if frame.filename.startswith(_PACKAGE)]
    return "".join([*whole.format(), repr(error.args), repr(vars(error)), *map(str, notes)])


def _reached(error: BaseException) -> Iterator[tuple[str, Any]]:
    """Go through what an exception refers to, but not through modules, classes and callers."""
    seen = {id(error)}
    level: list[tuple[str, Any]] = [("", error)]
    for _ in range(_DEEP):
        further: list[tuple[str, Any]] = []
        for path, each in level:
            for name, one in _referents(each):
                if id(one) not in seen:
                    seen.add(id(one))
                    further.append((f"{path}.{name}", one))
        yield from further
        level = further


def _referents(each: Any) -> list[tuple[str, Any]]:
    if isinstance(each, FrameType):
        ours = each.f_code.co_filename.startswith(_PACKAGE)
        return [*each.f_locals.items()] if ours else []
    if isinstance(each, FunctionType):
        cells = each.__closure__ or ()
        return [("closure", cell) for cell in cells] + [("defaults", each.__defaults__)]
    if isinstance(each, type | ModuleType | CodeType):
        return []
    referents = [one for one in gc.get_referents(each) if not isinstance(one, type | ModuleType)]
    return [(type(each).__name__, one) for one in referents]
