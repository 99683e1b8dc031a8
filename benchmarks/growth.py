"""Growth of time and memory with n, the number of samples, with 1/δ, and with m.

m is the number of lattice cells per Δ. Slopes are exponents of powers, fitted by
least squares of logarithms.
"""

import json
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np

import leastnoise as ln
from benchmarks.machine import available
from benchmarks.peers.environments import ROOT
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, each, interleaved, seconds, slope, summary

FAMILIES = ("uniform", "steps", "gaussian")
# The slope is that of long arrays; in short ones the fixed time of a call dominates.
_LONG = 6
_SINGLES = 20
# The length of an array for which every family builds its lookup tables.
_WARM = 20_000
CALLS: dict[str, dict[str, Any]] = {
    "uniform at (0, δ)": {"epsilon": 0},
    "truncated Laplace at (1, δ)": {"epsilon": 1, "family": "truncated_laplace"},
    "Gaussian at (1, δ)": {"epsilon": 1, "family": "gaussian"},
    "a count at (1, δ)": {"epsilon": 1, "integer": True},
}


def measure(plan: Plan) -> Row:
    """Return the growth with n, δ and m."""
    return {"n": grow_n(plan), "delta": grow_delta(plan), "m": grow_m(plan)}


def grow_n(plan: Plan) -> Row:
    """Return the seconds and the megabytes beyond the result, for each power of ten of samples."""
    rows, omitted = [], {}
    for power in plan.sizes:
        needed = 3 * 8 * 10**power  # true values, results, and the same again to spare
        if power >= 7 and needed > available():
            omitted[f"1e{power}"] = f"it needs {needed / 1e9:.1f} GB of free memory"
            continue
        for family in FAMILIES:
            say(f"growth: 1e{power} samples, {family}")
            measured = _child("n", family, str(power))
            times = summary(measured["seconds"])
            megabytes = round(measured["megabytes"], 2)
            rows.append({"family": family, "n": 10**power, "seconds": times, "above_mb": megabytes})
    slopes = {}
    for family in FAMILIES:
        own = [row for row in rows if row["family"] == family]
        long = [row for row in own if row["n"] >= 10**_LONG]
        used = long if len(long) > 1 else own
        slopes[family] = slope(
            [row["n"] for row in used], [row["seconds"]["median"] for row in used]
        )
    return {"rows": rows, "slopes": slopes, "omitted": omitted}


def grow_delta(plan: Plan) -> Row:
    """Return the seconds of a calibration and of one release, for each power of ten of 1/δ.

    Slopes are against the number of digits, because nothing here grows as a power of 1/δ itself.
    """
    rows = []
    for exponent in plan.exponents:
        say(f"growth: δ = 1e-{exponent}")
        for name, details in CALLS.items():
            arguments = {key: value for key, value in details.items() if key != "epsilon"}
            privacy = ln.Privacy(details["epsilon"], f"1e-{exponent}")
            call = partial(ln.calibrate, privacy, sensitivity=1, **arguments)
            mechanism = call()
            mechanism.release(np.full(_WARM, 42))  # builds its lookup tables
            times = interleaved(
                {
                    "calibrate": partial(seconds, call),
                    "release": each(partial(_release, mechanism), _SINGLES),
                },
                min(plan.rounds, 7),
            )
            row = {"question": name, "exponent": exponent}
            rows.append(row | {what: summary(rounds) for what, rounds in times.items()})
    slopes = {
        name: {what: _slope_in_digits(rows, name, what) for what in ("calibrate", "release")}
        for name in CALLS
    }
    return {"rows": rows, "slopes": slopes}


def grow_m(plan: Plan) -> Row:
    """Return the seconds and the megabytes of solves for l2 at (1, 0.05), by gap.

    m is the number of cells per Δ of the last lattice.
    """
    rows = []
    for gap in plan.gaps:
        say(f"growth: a gap of {gap}")
        measured = _child("m", gap, "60")
        rows.append(
            {
                "gap": gap,
                "m": measured["cells"],
                "seconds": summary(measured["seconds"]),
                "above_mb": round(measured["megabytes"], 2),
            }
        )
    ends = {row["m"]: row["seconds"]["median"] for row in rows if row["m"]}
    power = slope(list(ends), list(ends.values())) if len(ends) > 1 else None
    return {"rows": rows, "slope": power}


def _release(mechanism: ln.Mechanism) -> None:
    for _ in range(_SINGLES):
        mechanism.release(42)


def _slope_in_digits(rows: list[Row], name: str, what: str) -> float:
    own = [row for row in rows if row["question"] == name]
    return slope([row["exponent"] for row in own], [row[what]["median"] for row in own])


def _child(*arguments: str) -> Row:
    """Return the measurement of a child process."""
    command = [sys.executable, "-m", "benchmarks.growth_process", *arguments]
    done = subprocess.run(  # noqa: S603 -- it runs this Python
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    measurement: Row = json.loads(done.stdout)
    return measurement
