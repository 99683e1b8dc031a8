"""Processes of the tests' own: forked, killed and waited for.

They are forked, as 16 interpreters would take longer to start than the races take. A child never
returns into pytest: it ends by ``os._exit``, and by an alarm if it hangs. Nothing here loads
pytest, nor do the modules that are used :func:`apart`.
"""

import os
import signal
import traceback
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_HANGING = 170  # seconds


def forked(work: Callable[[], object]) -> int:
    """Do something in a process of its own and return its number.

    Its exit code is 0 if all went well; what did not is printed where pytest shows it.
    """
    with warnings.catch_warnings():
        # Python 3.12 warns where there are threads; what these children use is safe after a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.alarm(_HANGING)
        work()
        code = 0
    except BaseException:  # noqa: BLE001  (nothing may return into pytest)
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def apart(work: Callable[..., T], *arguments: object) -> T:
    """Do something in an interpreter of its own, which has little in memory.

    What a fork costs goes by that, and pytest has much: for those who fork a thousand times.
    """
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def on_one_core(process: int = 0) -> None:
    """Keep a process, and whatever it starts, on one core, another for each worker of pytest.

    For a client and a server that only wait for one another: to wake up another core takes longer
    than to go on on this one.
    """
    if hasattr(os, "sched_setaffinity"):  # on Linux
        cores = sorted(os.sched_getaffinity(0))
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        os.sched_setaffinity(process, {cores[worker % len(cores)]})


def waited(children: list[int]) -> list[int]:
    """Wait for processes to end; return their exit codes, or minus the signals that ended them."""
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def killed(child: int) -> bool:
    """End a process at once, wherever it is; tell whether it was still there to be ended."""
    os.kill(child, signal.SIGKILL)
    return waited([child]) == [-signal.SIGKILL]


class Outlet:
    """A file to which processes write what they published: all that the world has seen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def say(self, *words: object) -> None:
        """Publish a line, in one write."""
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        os.write(file, (" ".join(str(word) for word in words) + "\n").encode())
        os.close(file)

    def lines(self) -> list[list[str]]:
        """Return what was published."""
        return [line.split(" ") for line in self._path.read_text().splitlines()]
