"""How much memory a process holds. The standard library alone: peers' processes use it too."""

import re
import resource
import sys
from pathlib import Path

_KILO = 1024
_PROC = Path("/proc")


def start_of_memory() -> int:
    """Return the bytes held now, and forget how many there have been at the most."""
    reset = _PROC / "self" / "clear_refs"
    if reset.exists():
        reset.write_text("5", encoding="ascii")
        return _read("self", "VmRSS")
    return highest_memory()


def highest_memory(process: int | None = None) -> int:
    """Return the most bytes held since then, by this process or by another.

    Not by getrusage where there is another way: on Linux that remembers the memory of whoever
    started the process.
    """
    if (_PROC / "self" / "status").exists():
        return _read("self" if process is None else str(process), "VmHWM")
    unit = 1 if sys.platform == "darwin" else _KILO
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _read(process: str, what: str) -> int:
    text = (_PROC / process / "status").read_text(encoding="utf-8")
    found = re.search(rf"(?m)^{what}:\s+(\d+) kB$", text)
    assert found is not None
    return int(found[1]) * _KILO
