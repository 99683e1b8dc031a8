"""The time to start: imports compared with bare Python, and the command line."""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.peers.environments import PEERS, Missing, of_peer, python_of
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Contestant, Row, interleaved, seconds, summary

IMPORTS = {
    "diffprivlib": "import diffprivlib.mechanisms",
    "opendp": "import opendp.prelude",
    "python-dp": "import pydp",
}
BARE = "bare Python"
_MOST_ROUNDS = 11
_CALIBRATE = ("-m", "leastnoise", "calibrate", "--delta", "0.1", "--sensitivity", "1")
_COUNT = ("--unit", "person_id", "--max-rows", "1", "--epsilon", "0.2", "--unrecorded")
_ROWS = 8_000  # of the table that is counted


def measure(plan: Plan) -> Row:
    """Return the times of whole processes, and those of imports minus that of bare Python."""
    with tempfile.TemporaryDirectory(prefix="leastnoise-") as folder:
        return _measure(plan, Path(folder) / "people.csv")


def _measure(plan: Plan, people: Path) -> Row:
    people.write_text(
        "person_id,region\n" + "".join(f"{i},{i % 7}\n" for i in range(_ROWS)), encoding="utf-8"
    )
    python = Path(sys.executable)
    contestants: dict[str, Contestant] = {
        BARE: _process(python, "-c", "pass"),
        "import leastnoise": _process(python, "-c", "import leastnoise"),
        "import leastnoise; calibrate": _process(
            python, "-c", "from leastnoise import Privacy, calibrate"
        ),
        "leastnoise --version": _process(python, "-m", "leastnoise", "--version"),
        "leastnoise calibrate": _process(python, *_CALIBRATE),
        "leastnoise count": _process(python, "-m", "leastnoise", "count", str(people), *_COUNT),
    }
    omitted = {}
    for name in PEERS:
        if plan.alone or not plan.install:
            omitted[name] = "not started in this run"
            continue
        try:
            other = python_of(of_peer(name, create=plan.install))
            contestants[IMPORTS[name]] = _process(other, "-W", "ignore", "-c", IMPORTS[name])
        except Missing as reason:
            omitted[name] = str(reason)
    say(f"starting: {len(contestants)} processes a round")
    times = interleaved(contestants, min(plan.rounds, _MOST_ROUNDS))
    above = {
        name: summary(a - b for a, b in zip(times[name], times[BARE], strict=True))
        for name in times
        if name.startswith("import")
    }
    whole = {name: summary(rounds) for name, rounds in times.items()}
    return {"seconds": whole, "minus_bare": above, "omitted": omitted}


def _process(python: Path, *arguments: str) -> Contestant:
    """Return a contestant that runs a process, which must succeed."""
    command = [str(python), *arguments]
    run = partial(
        subprocess.run,
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return partial(seconds, run)
