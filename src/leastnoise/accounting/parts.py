"""The loss curves of one release: one from above and, where there is one, one from below."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch

from leastnoise.accounting.curves import Envelope, LossCurve, Table, shape_table
from leastnoise.accounting.smooth_curves import Decaying, Evaluated, Normal
from leastnoise.core.exact import Interval, exponential, format_exact
from leastnoise.core.noise import (
    FiniteLatticeNoise,
    Gaussian,
    Laplace,
    Noise,
    PiecewiseNoise,
    Rounded,
    Smooth,
    StaircaseNoise,
    TruncatedLaplace,
)
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile import Shape
from leastnoise.errors import Unsupported

_BITS = 320
# A curve that falls by less than 2^−18 of itself is taken for level.
_LEVEL_BITS = 18


@dataclass(frozen=True)
class PartLosses:
    """A curve that no neighbors exceed, and one that two fixed neighbors reach, if known."""

    above: LossCurve
    below: LossCurve | None


def guarantee_losses(privacy: Privacy) -> PartLosses:
    """Return the curve of the worst mechanism that satisfies a guarantee.

    It reveals everything with probability δ, and otherwise the truth with odds e^ε : 1. Every
    mechanism that satisfies (ε, δ) is a post-processing of it (Kairouz, Oh and Viswanath 2015).
    """

    def table(factor: Fraction) -> Table:
        likely = (1 - privacy.delta) * factor / (1 + factor)
        return Table(((factor, likely),) if factor > 1 else (), privacy.delta)

    factor = exponential(privacy.epsilon, _BITS)
    return PartLosses(table(factor.upper), table(factor.lower))


@singledispatch
def noise_losses(noise: Noise, sensitivity: Fraction) -> PartLosses:
    """Return the curves of noise, for shifts up to ``sensitivity``: by its kind."""
    raise Unsupported(
        "Privacy losses are known only for noise of leastnoise",
        got=f"{noise!r} at sensitivity {format_exact(sensitivity)}",
        fix="Use a noise of leastnoise.noise.",
    )


def has_loss_curve(noise: type[Noise]) -> bool:
    """Tell whether privacy losses are known for a class of noise, by its kind or its own."""
    return noise_losses.dispatch(noise) is not noise_losses.dispatch(object)


@noise_losses.register
def _(noise: PiecewiseNoise | FiniteLatticeNoise, sensitivity: Fraction) -> PartLosses:
    shape = _join_pieces(noise.curve(sensitivity).shape)
    longest = shape_table(shape, shape.longest)
    if shape.falls:
        return _flatten(longest)
    mirrored = shape.mirrored()
    symmetric = _place_pieces(mirrored) == _place_pieces(shape)
    shapes = [shape] if symmetric else [shape, mirrored]
    tables = dict.fromkeys(shape_table(each, shift) for each in shapes for shift in each.shifts)
    # A pair that its mirror image exchanges has a curve that is known from f ≥ 1 alone.
    return PartLosses(Envelope(tuple(tables)), longest if symmetric else None)


def _flatten(table: Table) -> PartLosses:
    """Return the curves of a table: level ones where it hardly falls, as for uniform noise."""
    falls = sum((mass * (1 - 1 / ratio) for ratio, mass in table.ratios), Fraction(0))
    if falls * (1 << _LEVEL_BITS) <= table.infinite:
        return PartLosses(Table((), table.infinite + falls), Table((), table.infinite))
    return PartLosses(table, table)


def _join_pieces(shape: Shape) -> Shape:
    """Return the shape with neighboring pieces of one height put together."""
    pieces: list[tuple[int, int, int]] = []
    for a, b, h in shape.pieces:
        if pieces and pieces[-1][1:] == (a, h):
            pieces[-1] = (pieces[-1][0], b, h)
        else:
            pieces.append((a, b, h))
    return replace(shape, pieces=tuple(pieces))


def _place_pieces(shape: Shape) -> list[tuple[int, int, int]]:
    start = shape.pieces[0][0] if shape.pieces else 0
    return [(a - start, b - start, h) for a, b, h in shape.pieces]


@noise_losses.register
def _(noise: StaircaseNoise, sensitivity: Fraction) -> PartLosses:
    table = Table(tuple(sorted(noise.curve(sensitivity).higher.items())), Fraction(0))
    return PartLosses(table, table)


@noise_losses.register
def _(noise: Smooth, sensitivity: Fraction) -> PartLosses:
    curve = Evaluated(noise, sensitivity)  # families with a formula have it below
    return PartLosses(curve, curve)


@noise_losses.register
def _(noise: Gaussian, sensitivity: Fraction) -> PartLosses:
    curve = Normal(Interval.exact((sensitivity / noise.sigma) ** 2).shortened(_BITS))
    return PartLosses(curve, curve)


@noise_losses.register
def _(noise: Laplace | TruncatedLaplace, sensitivity: Fraction) -> PartLosses:
    curve = Decaying(noise, sensitivity)
    return PartLosses(curve, curve)


@noise_losses.register
def _(noise: Rounded, sensitivity: Fraction) -> PartLosses:
    # Rounding is post-processing; and rounded noise reveals at least as much as the same noise on
    # the line shifted by one step less (docs/theory/composition.md).
    shift = sensitivity // noise.step * noise.step
    if shift <= 0:  # there is no shift
        return PartLosses(Table((), Fraction(0)), Table((), Fraction(0)))
    above = noise_losses(noise.noise, shift).above
    below = noise_losses(noise.noise, shift - noise.step).below if shift > noise.step else None
    return PartLosses(above, below)
