"""The memory of a process. Uses only the standard library, because processes of peers import it."""

import re
import resource
import sys
from pathlib import Path

_KILO = 1024
_PROC = Path("/proc")


def start_memory() -> int:
    """Return the bytes in use now, and reset the peak."""
    reset = _PROC / "self" / "clear_refs"
    if reset.exists():
        reset.write_text("5", encoding="ascii")
        return _read("self", "VmRSS")
    return highest_memory()


def highest_memory(process: int | None = None) -> int:
    """Return the peak of the bytes in use since the reset, by this process or another.

    On Linux it is read from /proc, because getrusage includes the memory of the parent process.
    """
    if (_PROC / "self" / "status").exists():
        return _read("self" if process is None else str(process), "VmHWM")
    unit = 1 if sys.platform == "darwin" else _KILO
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _read(process: str, field: str) -> int:
    text = (_PROC / process / "status").read_text(encoding="utf-8")
    match = re.search(rf"(?m)^{field}:\s+(\d+) kB$", text)
    assert match is not None
    return int(match[1]) * _KILO
