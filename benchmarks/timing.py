"""Times of contestants that take turns, their medians and spread, ratios and slopes."""

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any

Row = dict[str, Any]
# What runs once and returns a number, mostly seconds.
Contestant = Callable[[], float]

_DIGITS = 5


def interleaved(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, list[float]]:
    """Return what each contestant says in each round.

    Each runs once before that counts for nothing. In a round each runs once, in another order each
    time, so that none always runs after the same one: what another leaves in caches and memory
    can make up a half.
    """
    names = list(contestants)
    for name in names:
        contestants[name]()
    said: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        order = random.Random(turn)  # noqa: S311 -- no secret, and the same each time
        for name in order.sample(names, len(names)):
            said[name].append(contestants[name]())
    return said


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def each(call: Callable[[], object], count: int) -> Contestant:
    """Return what runs a call that does ``count`` things, and says the seconds of one of them."""
    return lambda: seconds(call) / count


def summary(rounds: Iterable[float]) -> Row:
    """Return the median, the quartiles and the rounds themselves, all to five digits.

    The quartiles are worked out from the rounded rounds: whoever reads them gets the same.
    """
    kept = [short(number) for number in rounds]
    low, _, high = quantiles(kept, n=4, method="inclusive") if len(kept) > 1 else kept * 3
    return {
        "median": short(median(kept)),
        "low": short(low),
        "high": short(high),
        "rounds": kept,
    }


def ratio(own: Row, other: Row) -> Row:
    """Return how many times another's number is, round by round."""
    pairs = zip(own["rounds"], other["rounds"], strict=True)
    return summary(mine / theirs for mine, theirs in pairs)


def slope(places: Sequence[float], values: Sequence[float]) -> float:
    """Return the power with which values grow: least squares of logarithms."""
    across = [math.log(place) for place in places]
    up = [math.log(value) for value in values]
    middle, height = sum(across) / len(across), sum(up) / len(up)
    rise = sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True))
    return short(rise / sum((x - middle) ** 2 for x in across))


def short(number: float) -> float:
    """Return a number to as many digits as are kept."""
    return float(f"{number:.{_DIGITS}g}")
