"""The bars of the exact core, measured in one run, interleaved, as medians (and best of all).

Times are of this machine and this minute; the ratios are what to compare.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from statistics import median

import numpy as np

import leastnoise as ln

SIZE = 5_000_000
# Smooth noises, and which of numpy's they are measured against.
SMOOTH = {
    "laplace": "x + laplace",
    "truncated_laplace": "x + laplace",
    "gaussian": "x + normal",
}


def main() -> None:
    """Measure and print."""
    show("import leastnoise, above bare Python", *started("import leastnoise"), "s", "≤ 0.1")
    show("leastnoise calibrate, whole command", *command(), "s", "≤ 0.3")
    for cost, delta in ((ln.l1, "0.1"), (ln.l2, "0.9")):
        calls = timed(partial(question, cost, delta), rounds=200)
        show(f"calibrate, {cost} at δ = {delta}", *in_unit(calls, 1e3), "ms", "≤ 1")
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    calls = timed(lambda: [mechanism.release(42.5) for _ in range(1000)], rounds=30)
    show("release of one float", *in_unit(calls, 1e3), "µs", "≤ 10")
    for family in SMOOTH:
        one = ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1, family=family)
        calls = timed(partial(released, one), rounds=30)
        show(f"release of one float, {family}", *in_unit(calls, 1e4), "µs", "≤ 60")
    bulk()
    drawn()


def question(cost: ln.Cost, delta: str) -> None:
    """Ask a question that has a closed form."""
    ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=cost)


def released(mechanism: ln.Mechanism) -> None:
    """Release a hundred floats, one by one."""
    for _ in range(100):
        mechanism.release(42.5)


def bulk() -> None:
    """Releases of five million floats beside numpy's own unsafe noise, in turns."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=SIZE) * 1000
    unsafe: dict[str, Callable[[], object]] = {
        "x + uniform": lambda: values + rng.uniform(-5, 5, SIZE),
        "x + laplace": lambda: values + rng.laplace(size=SIZE),
        "x + normal": lambda: values + rng.normal(size=SIZE),
    }
    contestants = dict(unsafe)
    for moved, delta in (("1", "0.1"), ("0.7", "0.1"), ("1", "1e-6"), ("0.7", "1e-6")):
        mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved)
        contestants[f"Δ = {moved}, δ = {delta}"] = partial(mechanism.release, values)
    for name, promise in (("steps", ln.Privacy(1, "0.05")), ("a staircase", ln.Privacy(1))):
        mechanism = ln.calibrate(promise, sensitivity=1)
        contestants[f"{name}, {promise}"] = partial(mechanism.release, values)
    for family in SMOOTH:
        mechanism = ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1, family=family)
        contestants[family] = partial(mechanism.release, values)
        mechanism.release(values)  # its table is made once
    times: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for turn in range(25):  # in turns, and each as often first as last
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            times[name] += timed(contestants[name], rounds=1)
    for name in names[len(unsafe) :]:
        own, like = times[name], SMOOTH.get(name, "x + uniform")
        numpy_times = times[like]
        ratio = median(own) / median(numpy_times), min(own) / min(numpy_times)
        bar = "≤ 1.2" if name.startswith("Δ") else "≤ 5"
        show(f"{SIZE:,} floats at {name}", *ratio, f"× numpy's {like}", bar)


def drawn() -> None:
    """How much the drawn noise costs above the line's optimum, at worst over a range of δ."""
    for cost in (ln.l1, ln.l2):
        worst = Fraction(0)
        for delta in ("1e-9", "0.01", "0.1", "0.3", "0.5", "0.7", "0.9", "0.99"):
            mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=cost)
            worst = max(worst, mechanism.drawn.cost / mechanism.cost - 1)
        show(f"drawn cost above the line's, {cost}", float(worst), float(worst), "", "≤ 0.001")


def timed(call: Callable[[], object], rounds: int) -> list[float]:
    """Return the seconds of each of so many calls."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def started(statement: str) -> tuple[float, float]:
    """Return how much longer Python takes to start with a statement than without: median, best."""
    with_it, without = [], []
    for _ in range(15):
        without += timed(lambda: _python("-c", "pass"), rounds=1)
        with_it += timed(lambda: _python("-c", statement), rounds=1)
    return median(with_it) - median(without), min(with_it) - min(without)


def command() -> tuple[float, float]:
    """Return the time of a whole command: median, best."""
    arguments = ("-m", "leastnoise", "calibrate", "--delta", "0.1", "--sensitivity", "1")
    times = timed(lambda: _python(*arguments), rounds=15)
    return median(times), min(times)


def in_unit(times: list[float], factor: float) -> tuple[float, float]:
    """Return median and best in another unit."""
    return median(times) * factor, min(times) * factor


def show(name: str, middle: float, best: float, unit: str, bar: str) -> None:
    """Print one row."""
    print(f"{name:<45} median {middle:10.4g}  best {best:10.4g}  {unit:<22} bar {bar}")


def _python(*arguments: str) -> None:
    subprocess.run(  # noqa: S603 -- it runs this Python
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main()
