"""The machine and the versions of a run."""

import datetime
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import leastnoise as ln

_PACKAGES = ("numpy", "cryptography", "highspy", "python-flint", "click")


def describe() -> dict[str, Any]:
    """Return the date, the machine and the versions of Python and the packages."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {
            "cores": os.cpu_count(),
            "processor": _processor(),
            "memory_gb": round(_memory("MemTotal") / 1e9, 1),
            "system": platform.system(),
        },
        "versions": {
            "Python": platform.python_version(),
            "leastnoise": ln.__version__,
            **{name: version(name) for name in _PACKAGES},
        },
    }


def available() -> int:
    """Return the bytes of available memory; 0 if unknown."""
    return _memory("MemAvailable")


def _processor() -> str:
    match = re.search(r"(?m)^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"))
    return match[1] if match else platform.processor() or platform.machine()


def _memory(field: str) -> int:
    match = re.search(rf"(?m)^{field}:\s+(\d+) kB$", _read("/proc/meminfo"))
    return int(match[1]) * 1024 if match else 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""  # not Linux
