"""Release or solve in a child process: ``python -m benchmarks.growth_process n gaussian 6``.

A separate process is used so that only the memory of this call is counted. It prints seconds and
megabytes as JSON.
"""

import json
import os
import sys

import numpy as np

import leastnoise as ln
from benchmarks.draws import FAMILIES
from benchmarks.memory import highest_memory, start_memory
from benchmarks.timing import Row, seconds

_MEGA = 1e6
_PRIVACY = ln.Privacy(1, "0.05")


def main() -> None:
    """Measure the part that the command line names."""
    os.environ["LEASTNOISE_CACHE"] = "off"
    part, *details = sys.argv[1:]
    is_release = part == "n"
    result = time_release(details[0], 10 ** int(details[1])) if is_release else time_solve(*details)
    print(json.dumps(result))


def time_release(name: str, size: int) -> Row:
    """Release an array of this size, first for memory, then for time.

    The memory is the peak during the first release, minus the memory before it, which includes the
    true values, and minus the result. A release of ten numbers before it loads the libraries.
    """
    (family,) = (family for family in FAMILIES if family.name == name)
    mechanism = family.calibrate()
    values = np.full(size, 42.5)
    mechanism.release(values[:10])
    before = start_memory()
    mechanism.release(values)
    above = highest_memory() - before - values.nbytes
    repeats = 3 if size >= 10**7 else 7
    times = [seconds(lambda: mechanism.release(values)) for _ in range(repeats)]
    return {"seconds": times, "megabytes": above / _MEGA}


def time_solve(gap: str, time_limit: str) -> Row:
    """Solve to within a gap; a coarse solve before it loads the libraries."""
    mechanisms: list[ln.Mechanism] = []

    def solve(target_gap: str) -> None:
        mechanisms.append(
            ln.calibrate(
                _PRIVACY, sensitivity=1, cost=ln.l2, shape="any", gap=target_gap, seconds=time_limit
            )
        )

    solve("0.5")
    before = start_memory()
    times = [seconds(lambda: solve(gap))]
    above = highest_memory() - before
    while len(times) < 3 and sum(times) < 3:
        times.append(seconds(lambda: solve(gap)))
    evidence = mechanisms[-1].certificate.evidence
    cells = getattr(getattr(evidence, "frame", None), "cells", None)
    return {"seconds": times, "megabytes": above / _MEGA, "cells": cells}


if __name__ == "__main__":
    main()
