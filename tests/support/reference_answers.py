"""What a question about a table comes to, row by row in plain Python: no engine, no noise.

Written from docs/row-rules.md and not from the code, so that both can be compared. All
of it is slow, exact and short.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import leastnoise as ln

Row = dict[str, Any]
# Queries that select a bin, in which a unit counts.
_SELECTING = (ln.Quantile, ln.Min, ln.Max, ln.EstimateBounds)
Figures = dict[tuple[Any, ...], tuple[int, ...]]


def figures(
    rows: Sequence[Row],
    question: Any,
    *,
    unit: str | None,
    max_rows: int,
    salt: str,
    whole: bool = False,
    kept: Callable[[Row], bool] = lambda _: True,
) -> Figures:
    """Return the integers of each group, before noise.

    Args:
        rows: The table.
        question: Any registered query; its ``where`` is not read here.
        unit: The column of units, None if a row is a unit.
        max_rows: How many rows of a unit count in a group, unless the question states it.
        salt: The key of the hash that chooses in which groups a unit counts.
        whole: Whether the question's column holds integers or truth values.
        kept: What ``where`` says.
    """
    place = _Place(question, whole)
    most = question.max_rows or max_rows
    if type(question) is ln.Count and question.of == "units":
        most = 1
    held: dict[Any, dict[tuple[Any, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows):
        who = ("row", number) if unit is None else row[unit]
        at = place(row) if kept(row) else None
        if who is not None and at is not None:
            held[who][at[0]].append(at[1])
    total: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for who, groups in held.items():
        chosen = list(groups)
        if unit is not None:
            chosen.sort(key=lambda group: order_of_group(salt, who, *group))
            if isinstance(question, _SELECTING):  # the first bin of each group
                chosen = list({group[:-1]: group for group in reversed(chosen)}.values())[::-1]
                chosen.sort(key=lambda group: order_of_group(salt, who, *group))
            chosen = chosen[: question.groups_per_unit]
        for group in chosen if place.grouped else groups:
            for column, figure in enumerate(place.share(groups[group], most)):
                total[group][column] += figure
    if not place.grouped:
        total[()] = total.get((), [0, 0, 0])
    return {group: place.figures(*all_) for group, all_ in total.items()}


class _Place:
    """Of a row: its group, and its index on the lattice; None if it counts nowhere."""

    def __init__(self, question: Any, whole: bool) -> None:
        self.query = question
        self.cells = isinstance(question, (ln.Histogram, *_SELECTING))
        self.grouped = bool(question.by) or self.cells
        self.mean = isinstance(question, ln.Mean | ln.Variance)
        self.low, self.high, self.step = 0, 0, Fraction(1)
        if isinstance(question, (ln.Sum, ln.Mean, ln.Variance, *_SELECTING)):
            rough = not isinstance(question, ln.Sum)
            steps = 1 << (20 if rough else 40)
            exact = whole and not self.mean
            bounds = question.clipping_bounds
            if isinstance(question, ln.ClippedShare):  # 1 for each value outside, else 0
                bounds = Fraction(0), Fraction(1)
            self.low, self.high, self.step = lattice(bounds, steps, exact)
            self.exact = exact and all(end.denominator == 1 for end in question.clipping_bounds)
        self.middle = (self.low + self.high) // 2 if self.mean else 0
        self.whole = whole

    def __call__(self, row: Row) -> tuple[tuple[Any, ...], int] | None:
        question = self.query
        group = tuple(row[name] for name in question.by)
        if None in group or (question.groups is not None and group not in question.groups):
            return None
        if type(question) is ln.Count:
            return group, 0
        value = number(row[question.column])
        if isinstance(question, ln.Histogram):
            cell = _range(value, question.bin_edges)
            return None if cell is None else ((*group, cell), 0)
        if value is None and type(question) is not ln.Sum:
            return None
        if isinstance(question, ln.ClippedShare):
            low, high = question.clipping_bounds
            value = Fraction(int(not low <= value <= high)) if value is not None else None
        index = self._index(value)
        if isinstance(question, ln.EstimateBounds):
            assert value is not None
            return (*group, round_bin(value, question.clipping_bounds, self.whole)), 0
        if isinstance(question, _SELECTING):
            return (*group, self._cell(index)), 0
        return group, index - self.middle

    def _cell(self, index: int) -> int:
        """One of equal width, the last with both ends; of few integers, one for each."""
        width, cells = self.high - self.low, int(self.query.bins)
        if self.exact and width < cells:
            return index - self.low
        return min((index - self.low) * cells // width, cells - 1)

    def _index(self, value: Fraction | float | None) -> int:
        """The nearest to x/step between the ends, the even one of two; 0 for no value."""
        if value is None:
            return 0
        if isinstance(value, float):
            return self.high if value > 0 else self.low
        return min(max(round(value / self.step), self.low), self.high)

    def share(self, indices: list[int], most: int) -> tuple[int, int, int]:
        """Return what a unit's rows in a group count for: rows, sum, sum of squares."""
        n = min(len(indices), most)
        low, high = self.low - self.middle, self.high - self.middle
        added = self._add(indices, most, (low, high))
        if not isinstance(self.query, ln.Variance):
            return n, added, 0
        most_square = max(low * low, high * high)
        part = 1
        while most_square / part > 1 << 20:
            part *= 2
        centre = _nearest(most_square, part) // 2
        squares = [_nearest(index * index, part) - centre for index in indices]
        ends = -centre, _nearest(most_square, part) - centre
        return n, added, self._add(squares, most, ends)

    def _add(self, indices: list[int], most: int, ends: tuple[int, int]) -> int:
        added = sum(indices)
        if self.mean and len(indices) > most:
            added = math.floor(float(added) * float(most) / float(len(indices)))
        return min(max(added, most * min(ends[0], 0)), most * max(ends[1], 0))

    def figures(self, n: int, s: int, squares: int) -> tuple[int, ...]:
        """Return what the question asks of a group."""
        if isinstance(self.query, ln.Variance):
            return n, s, squares
        if type(self.query) is ln.Sum:
            return (n, s) if self.query.by and self.query.groups is None else (s,)
        return (n, s) if self.mean else (n,)


def _nearest(number: int, part: int) -> int:
    """Return a number in parts, rounded to the nearest, the larger one of two."""
    return math.floor(Fraction(number, part) + Fraction(1, 2))


def round_bin(value: Fraction | float, bounds: tuple[Fraction, Fraction], whole: bool) -> int:
    """Return between which round numbers a value lies; one of them is on the side of 0."""
    digits = [Fraction(d) * Fraction(10) ** p for p in range(-9, 16) for d in (1, 2, 5)]
    sizes = [size for size in digits if not whole or size >= 1]
    low, high = bounds
    value = min(max(value, low), high)
    inner = [edge for edge in (*sizes, *(-size for size in sizes)) if low < edge < high]
    if value == 0:
        return sum(edge < 0 for edge in inner) + (low < 0)
    if value < 0:
        return sum(edge <= value for edge in inner)
    at_zero = (low < 0) + (low <= 0 <= high)
    return sum(edge < value for edge in inner) + at_zero


def lattice(
    bounds: tuple[Fraction, Fraction], steps: int, whole: bool
) -> tuple[int, int, Fraction]:
    """Return the indices of the bounds, outward, and the step.

    The step is 1, or the largest power of two of which so many fit between the bounds.
    """
    low, high = bounds
    if whole and low.denominator == high.denominator == 1:
        return int(low), int(high), Fraction(1)
    step = Fraction(2) ** 60
    while step * steps > high - low:
        step /= 2
    return math.floor(low / step), math.ceil(high / step), step


def number(value: Any) -> Fraction | float | None:
    """Return what a field says: an exact number, ±∞, or None for what is no number."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if value is None or (not isinstance(value, bool | int) and math.isnan(value)):
        return None
    if isinstance(value, float) and math.isinf(value):
        return value
    return Fraction(value)


def _range(value: Fraction | float | None, edges: Sequence[Decimal]) -> int | None:
    """Return in which range a value lies: each holds its lower edge, the last holds both."""
    if value is None:
        return None
    for place, (start, end) in enumerate(pairwise(map(Fraction, edges))):
        if start <= value < end or value == end == edges[-1]:
            return place
    return None


def order_of_group(salt: str, *names: Any) -> tuple[Any, ...]:
    """Return what orders groups: a hash of the names, then the names of the group."""
    texts = [salt, *map(_written, names)]
    if any(isinstance(name, str | datetime) for name in names):
        *before, last = texts
        text = "".join(f"{len(part)}:{part}" for part in before) + last
        return hashlib.md5(text.encode()).hexdigest()[:12], *names[1:]
    numbers = [int({"true": "1", "false": "0"}.get(text, text)) for text in texts[1:]]
    return hash_numbers(salt, numbers), *names[1:]


def hash_numbers(salt: str, numbers: Sequence[int]) -> int:
    """Return the hash of integers: a product of three linear forms, none of them negative."""
    a, b, c = (
        _form(f"{salt}:{place}", numbers) % prime
        for place, prime in enumerate((2147483629, 2147483587, 2147483563))
    )
    return a * b % 2147483579 * c % 2147483549


def _form(salt: str, numbers: Sequence[int]) -> int:
    """Return a linear form, with factors from 1 to 2²⁷ by SHA-256."""
    digests = [hashlib.sha256(f"{salt}:{i}".encode()).digest() for i in range(len(numbers) + 1)]
    first, *factors = (int.from_bytes(digest[:8], "big") % 2**27 + 1 for digest in digests)
    residues = (_remainder(number, 2147483659) + 2147483659 for number in numbers)
    return first + sum(f * r for f, r in zip(factors, residues, strict=True))


def _remainder(number: int, divisor: int) -> int:
    """Return the remainder with the sign of the number, as SQL does."""
    return number % divisor if number >= 0 else -(-number % divisor)


def _written(name: Any) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return name.strftime("%Y%m%d") if isinstance(name, date) else str(name)
