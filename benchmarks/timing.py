"""Times of interleaved contestants, their medians and spread, ratios and slopes."""

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any

Row = dict[str, Any]
# A call that runs once and returns a number, usually seconds.
Contestant = Callable[[], float]

_DIGITS = 5


def interleaved(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, list[float]]:
    """Return the number of each contestant in each round.

    Each contestant first runs once without counting. In a round each runs once, in a different
    order every time, so that no contestant always runs after the same other one. The state of
    caches and memory that a contestant leaves can change the next time by half.
    """
    names = list(contestants)
    for name in names:
        contestants[name]()
    series: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        order = random.Random(turn)  # noqa: S311 -- not secret, and the same in each run
        for name in order.sample(names, len(names)):
            series[name].append(contestants[name]())
    return series


def seconds(call: Callable[[], object]) -> float:
    """Return the duration of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def each(call: Callable[[], object], count: int) -> Contestant:
    """Return a contestant for a call with ``count`` repetitions: the seconds of one repetition."""
    return lambda: seconds(call) / count


def summary(rounds: Iterable[float]) -> Row:
    """Return the median, the quartiles and the rounds themselves, all to five digits.

    The quartiles are computed from the rounded rounds, so that readers can reproduce them.
    """
    rounded = [short(number) for number in rounds]
    low, _, high = quantiles(rounded, n=4, method="inclusive") if len(rounded) > 1 else rounded * 3
    return {
        "median": short(median(rounded)),
        "low": short(low),
        "high": short(high),
        "rounds": rounded,
    }


def ratio(own: Row, other: Row) -> Row:
    """Return the ratio of two series, round by round."""
    pairs = zip(own["rounds"], other["rounds"], strict=True)
    return summary(mine / theirs for mine, theirs in pairs)


def slope(places: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent of the growth of values: least squares of logarithms."""
    across = [math.log(place) for place in places]
    up = [math.log(value) for value in values]
    middle, height = sum(across) / len(across), sum(up) / len(up)
    rise = sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True))
    return short(rise / sum((x - middle) ** 2 for x in across))


def short(number: float) -> float:
    """Return a number rounded to the digits of the results."""
    return float(f"{number:.{_DIGITS}g}")
