"""The process of a peer. It lives as long as the run, so that its samples interleave with ours."""

import json
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peers.environments import PEERS, ROOT, Missing, of_peer, python_of

Row = dict[str, Any]

_TIMEOUT = 60.0


class Cannot(Exception):
    """A peer cannot answer a request; the message gives the reason."""


class PeerProcess:
    """The process of one peer, started at the first request and again after a crash."""

    def __init__(self, name: str, python: Path) -> None:
        """Prepare the command that starts the process."""
        self.name = name
        module = f"benchmarks.peers.drive_{name.replace('-', '_')}"
        self._command = [str(python), "-W", "ignore", "-m", module]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, do: str, **details: Any) -> Row:
        """Return the answer to a request.

        Raises:
            Cannot: If the peer fails, crashes or takes too long.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do, **details}) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._ended() from None
        if not select.select([process.stdout], [], [], _TIMEOUT)[0]:
            self.stop()
            raise Cannot(f"it took longer than {_TIMEOUT:.0f} s")
        line = process.stdout.readline()
        if not line:
            raise self._ended()
        answer: Row = json.loads(line)
        if "cannot" in answer:
            raise Cannot(answer["cannot"])
        return answer

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 -- it runs the Python of an environment of ours
                self._command,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
        return self._process

    def _ended(self) -> Cannot:
        """Return an error that describes how the process ended."""
        assert self._process is not None
        code = self._process.wait()
        self.stop()
        if code < 0:
            return Cannot(f"its process crashed ({signal.Signals(-code).name})")
        return Cannot(f"its process ended with exit code {code}")


@contextmanager
def peers(
    *, create: bool, alone: bool = False
) -> Iterator[tuple[dict[str, PeerProcess], dict[str, str]]]:
    """Start the available peers. Yield them, and the reasons for the missing ones."""
    available: dict[str, PeerProcess] = {}
    missing: dict[str, str] = dict.fromkeys(PEERS, "omitted by --alone") if alone else {}
    try:
        for name in () if alone else PEERS:
            try:
                process = PeerProcess(name, python_of(of_peer(name, create=create)))
                process.ask("introduce")
                available[name] = process
            except (Missing, Cannot) as error:
                missing[name] = str(error)
        yield available, missing
    finally:
        for process in available.values():
            process.stop()
