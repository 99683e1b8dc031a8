"""The outline of a law: what is drawn of its density and its atoms."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from leastnoise.errors import Unsupported
from leastnoise.exact import exactly
from leastnoise.noise import LatticeNoise, Noise, Smooth, Staircase, Steps, Uniform

_MOST_PERIODS = 1000
_NEARLY_ALL = Fraction(1999, 2000)
# What is smooth, or nearly so, is drawn as so many columns on each side, hard to tell apart.
_COLUMNS = 160


class Outline(NamedTuple):
    """What is drawn of a law: where its density may change, its density between, its atoms."""

    breaks: Sequence[Fraction]
    heights: Sequence[Fraction]
    points: Sequence[tuple[Fraction, Fraction]]


def outlined(noise: Noise) -> Outline:
    """Return the outline of a noise on the line; where it has no end, of nearly all of it."""
    if isinstance(noise, Uniform):
        ends = (-noise.radius, noise.radius)
        return Outline(ends, (noise.density,), tuple(noise.atoms.items()))
    if isinstance(noise, Steps) and noise.heights:
        return Outline(noise.breaks, noise.heights, noise.points)
    if isinstance(noise, Staircase):
        return _cut(noise)
    if isinstance(noise, Smooth):
        return _sampled(noise)
    raise Unsupported(
        f"only noise with a density on the line is drawn; got {type(noise).__name__}. "
        "Calibrate without integer=True."
    )


def _cut(noise: Staircase) -> Outline:
    """Return a staircase as far as all but a thousandth of it goes."""
    periods = -(-noise.quantile(_NEARLY_ALL) // noise.period)
    if periods > _MOST_PERIODS:
        raise Unsupported(
            f"a staircase is drawn with at most {_MOST_PERIODS} periods; got {exactly(periods)}. "
            "Give a ratio further from 1."
        )
    falls = [(n + (noise.gamma or 1)) * noise.period for n in range(periods)]
    heights = [noise.height * noise.ratio ** (n + (not noise.gamma)) for n in range(periods)]
    breaks = [*(-x for x in reversed(falls)), *falls]
    return Outline(breaks, [*reversed(heights), *heights[1:]], ())


def _sampled(noise: Smooth) -> Outline:
    """Return a smooth density as narrow columns, as far as all but a thousandth of it goes."""
    far = noise.radius if isinstance(noise.radius, Fraction) else noise.quantile(_NEARLY_ALL)
    breaks = [far * i / _COLUMNS for i in range(-_COLUMNS, _COLUMNS + 1)]
    side = [noise.density(far * (2 * i + 1) / (2 * _COLUMNS), 40).middle for i in range(_COLUMNS)]
    return Outline(breaks, [*reversed(side), *side], ())


def pointed(noise: LatticeNoise, reach: int) -> Outline:
    """Return the probabilities of whole numbers up to a reach, as columns about them.

    Where they are more than can be told apart, of evenly spaced ones.
    """
    apart = -(-reach // _COLUMNS) or 1
    places = range(-(reach // apart), reach // apart + 1)
    breaks = [Fraction((2 * i + 1) * apart, 2) for i in (places[0] - 1, *places)]
    heights = [Fraction(noise.weight(i * apart), noise.total) for i in places]
    return Outline(breaks, heights, ())
