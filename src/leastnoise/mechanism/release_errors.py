"""The errors of a mechanism's releases: intervals, maximum errors and exact releases."""

from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.exact import Number, format_rounded, magnitude, parse_confidence
from leastnoise.core.lattice import rounding_error
from leastnoise.mechanism.figures import Figures

if TYPE_CHECKING:
    from leastnoise.mechanism.mechanism import Mechanism

_NEARLY_ALL = Fraction(999, 1000)


def farthest(mechanism: "Mechanism") -> Fraction | float:
    """Return the maximum error of a release, rounding to the lattice included, or infinity."""
    noise = mechanism.discretized
    if isinstance(noise.radius, float):
        return noise.radius
    return noise.radius + rounding_error(noise.step, integer=mechanism.integer)


def half_width(mechanism: "Mechanism", confidence: Number) -> Fraction:
    """Return the smallest error that a release exceeds with probability at most 1 − confidence."""
    noise = mechanism.discretized.noise
    steps = noise.half_width_in_steps(parse_confidence(confidence))
    return steps * noise.step + rounding_error(noise.step, integer=mechanism.integer)


def interval_figures(value: Fraction, width: Fraction, max_error: Fraction | float) -> Figures:
    """Return value, ends of the interval and maximum error as ratios."""
    ends = (value - width).as_integer_ratio(), (value + width).as_integer_ratio()
    error = max_error.as_integer_ratio() if isinstance(max_error, Fraction) else None
    return value.as_integer_ratio(), *ends, error


def decimal_place(mechanism: "Mechanism") -> Fraction:
    """Return the decimal place to which values are printed: 1 for integers."""
    if mechanism.integer:
        return Fraction(1)
    error = farthest(mechanism)
    if isinstance(error, float):  # unbounded noise: use the error that nearly all stay within
        error = half_width(mechanism, _NEARLY_ALL)
    return Fraction(10) ** magnitude(error / 1000)


def exact_release(mechanism: "Mechanism") -> str | None:
    """Format the probability of an exact release; None if it needs no consent."""
    if not mechanism.needs_allow_exact:
        return None
    return f"with probability {format_rounded(mechanism.exact_probability, 6, ROUND_CEILING)}"
