"""``Figure``: a column of the figures of answers, and how figures become numbers of JSON."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.core.exact import format_ratio
from leastnoise.errors import Unsupported, Words
from leastnoise.json_types import Json

# A ratio of integers that is not reduced, because reducing would take most of the time.
Ratio = tuple[int, int]
# The figures of one answer, in the order of its columns; None for an infinite maximum error.
Figures = tuple[Ratio | None, ...]

# The confidence of printed and exported intervals.
USUAL = Fraction(19, 20)
# The fix for a number that an export format cannot hold.
USE_ROWS = "Use " + Words("rows(), which are", "--json, which is") + " exact."
# The field of the exact ratios in JSON, beside the numbers.
EXACT = "exact"


def float_near(upper: int, lower: int) -> float:
    """Return the float nearest to a ratio: Python rounds a quotient of integers once."""
    try:
        return upper / lower
    except OverflowError:
        raise Unsupported(
            "Exported real numbers must lie within the range of floats",
            got="a number beyond it",
            fix=USE_ROWS,
        ) from None


def float_below(upper: int, lower: int) -> float:
    """Return the largest float that is not above a ratio."""
    near = float_near(upper, lower)
    over, under = near.as_integer_ratio()
    return math.nextafter(near, -math.inf) if over * lower > upper * under else near


def float_above(upper: int, lower: int) -> float:
    """Return the smallest float that is not below a ratio."""
    near = float_near(upper, lower)
    over, under = near.as_integer_ratio()
    return math.nextafter(near, math.inf) if over * lower < upper * under else near


@dataclass(frozen=True)
class Figure:
    """A column of figures.

    Attributes:
        name: The name of the column.
        to_float: The function that rounds a ratio to a float: to the nearest, down or up.
        json: The name in the JSON of commands. Default: ``name``.
        confident: Whether the column holds with 95% confidence only.
        widened: Whether it is an error of the value, to which an export adds the rounding of the
            value.
    """

    name: str
    to_float: Callable[[int, int], float] = float_above
    json: str | None = None
    confident: bool = False
    widened: bool = False


# The columns of counts and sums, and the first columns of means.
INTERVAL = (
    Figure("value", float_near),
    Figure("low", float_below, json="interval_95", confident=True),
    Figure("high", json="interval_95", confident=True),
    Figure("max_error", json="bound", widened=True),
)


def figures_to_json(columns: Sequence[Figure], figures: Figures, integers: Collection[str]) -> Json:
    """Return the figures of one answer for JSON: numbers, and their exact ratios as strings.

    Interval ends are rounded outward. Maximum errors are rounded up, and include the rounding of
    the value. An infinite figure and its ratio are None. If only the number is None, it is beyond
    the range of floats.

    Args:
        columns: The columns; the first one is the value.
        figures: The figure of each column.
        integers: The names of the columns whose numbers are integers.

    >>> figures_to_json(INTERVAL[:1], ((1, 3),), ())
    {'value': 0.3333333333333333, 'exact': {'value': '1/3'}}
    """
    numbers = {
        column.name: None if figure is None else _to_number(column, figure, integers)
        for column, figure in zip(columns, figures, strict=True)
    }
    value = numbers[columns[0].name]
    for column in columns:
        error = numbers[column.name]
        if column.widened and isinstance(value, float) and error is not None:
            widened = math.nextafter(error + math.ulp(value) / 2, math.inf)
            numbers[column.name] = widened if math.isfinite(widened) else None
    exact = {
        column.name: None if figure is None else format_ratio(Fraction(*figure))
        for column, figure in zip(columns, figures, strict=True)
    }
    return {**numbers, EXACT: exact}


def _to_number(column: Figure, figure: Ratio, integers: Collection[str]) -> int | float | None:
    try:
        number = column.to_float(*figure)
    except Unsupported:
        return None
    if column.name in integers:
        return figure[0] // figure[1]
    return number if math.isfinite(number) else None
