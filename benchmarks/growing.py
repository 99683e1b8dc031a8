"""A process whose time and memory are measured: ``python -m benchmarks.growing n gaussian 6``.

It does one thing, in a process of its own so that nothing else's memory is counted, and prints
seconds and megabytes as JSON.
"""

import json
import os
import sys

import numpy as np

import leastnoise as ln
from benchmarks.draws import FAMILIES
from benchmarks.memory import highest_memory, start_of_memory
from benchmarks.timing import Row, seconds

_MEGA = 1e6
_PROMISE = ln.Privacy(1, "0.05")


def main() -> None:
    """Measure what the command line names."""
    os.environ["LEASTNOISE_CACHE"] = "off"
    what, *details = sys.argv[1:]
    found = released(details[0], 10 ** int(details[1])) if what == "n" else solved(*details)
    print(json.dumps(found))


def released(name: str, size: int) -> Row:
    """Release so many numbers, first for memory, then for time.

    The memory is the highest during the first release, above what the process held before with the
    true values in it, and above the result. Libraries are loaded by a release of ten before.
    """
    (family,) = (one for one in FAMILIES if one.name == name)
    mechanism = family.calibrated()
    values = np.full(size, 42.5)
    mechanism.release(values[:10])
    before = start_of_memory()
    mechanism.release(values)
    above = highest_memory() - before - values.nbytes
    repeats = 3 if size >= 10**7 else 7
    times = [seconds(lambda: mechanism.release(values)) for _ in range(repeats)]
    return {"seconds": times, "megabytes": above / _MEGA}


def solved(gap: str, allowed: str) -> Row:
    """Solve to within a gap; a coarse solve before loads the libraries."""
    found: list[ln.Mechanism] = []

    def solve(near: str) -> None:
        found.append(
            ln.calibrate(
                _PROMISE, sensitivity=1, cost=ln.l2, shape="any", gap=near, seconds=allowed
            )
        )

    solve("0.5")
    before = start_of_memory()
    times = [seconds(lambda: solve(gap))]
    above = highest_memory() - before
    while len(times) < 3 and sum(times) < 3:
        times.append(seconds(lambda: solve(gap)))
    evidence = found[-1].certificate.evidence
    cells = getattr(getattr(evidence, "frame", None), "cells", None)
    return {"seconds": times, "megabytes": above / _MEGA, "cells": cells}


if __name__ == "__main__":
    main()
