"""Make the evidence of a lower bound: a supporting line that is valid by construction."""

from fractions import Fraction

from leastnoise.certificate import SupportingLine
from leastnoise.costs import Cost
from leastnoise.errors import InvalidParameter
from leastnoise.exact import approximately


def line_through(
    cost: Cost, sensitivity: Fraction, *, low: Fraction, high: Fraction, height: Fraction
) -> SupportingLine:
    """Return a line for the real line that touches near widths low … high.

    ``height`` proposes the intercept; it is moved to where the cost crosses it between low and
    high, and the slope is then the least that makes the comparisons of
    :mod:`leastnoise.certificate` hold. A poor proposal makes a poor bound, never a false one.
    """
    half = sensitivity / 2
    start = cost.value(low)
    height = min(max(height, start.upper), cost.value(high).lower)
    area = cost.integral(low).lower + (high - low) * start.lower
    slope = max(height - cost.value(Fraction(0)).lower, (height * high - area) / half, Fraction(0))
    return SupportingLine(slope, height, low, high)


def line_through_integer(
    cost: Cost, sensitivity: Fraction, *, reach: int, height: Fraction
) -> SupportingLine:
    """Return a line for the integers that touches at the uniform noise on −reach … reach."""
    zero = cost.value(Fraction(0)).lower
    height = min(
        max(height, cost.value(Fraction(reach)).upper), cost.value(Fraction(reach + 1)).lower
    )
    total = zero + 2 * cost.total(Fraction(1), reach).lower
    slope = max(height - zero, (height * (2 * reach + 1) - total) / sensitivity, Fraction(0))
    return SupportingLine(slope, height, Fraction(reach), Fraction(reach), integer=True)


def not_attained(delta: Fraction, zero: Fraction, highest: Fraction) -> InvalidParameter:
    """Say that wider noise is always cheaper, and where the cost tends to."""
    infimum = zero + (1 - delta) * (highest - zero)
    return InvalidParameter(
        "no noise has the least cost here: ever wider noise with ever more mass at the origin "
        f"costs ever less, down to {approximately(infimum, 12)}, which none reaches. This cost "
        "levels off too early for this sensitivity: give one that goes on rising, or a higher "
        "threshold."
    )
