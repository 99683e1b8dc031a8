"""The loss curves of one release: one from above and, if known, one from below."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import pairwise

from leastnoise.accounting.curves import Envelope, LossCurve, RatioTable, tabulate_shape
from leastnoise.accounting.smooth_curves import (
    DecayingLossCurve,
    EvaluatedLossCurve,
    NormalLossCurve,
)
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
# Rounded noise of at most this many points on a side has a table of its losses. The points beyond
# it have at most the probability _UNSEEN.
_MOST_POINTS = 3000
_UNSEEN = Fraction(1, 1 << 300)
# From this many steps on, rounding barely changes what Gaussian noise reveals.
_WIDE = 8
# A curve that falls by less than 2^−18 of itself is treated as level.
_LEVEL_BITS = 18


@dataclass(frozen=True)
class PartLosses:
    """An upper curve for all neighbors and, if known, a curve attained by one pair."""

    above: LossCurve
    below: LossCurve | None


def guarantee_losses(privacy: Privacy) -> PartLosses:
    """Return the curve of the worst mechanism that satisfies a guarantee.

    It reveals everything with probability δ, and otherwise the truth with odds e^ε : 1. Every
    mechanism that satisfies (ε, δ) is a post-processing of it (Kairouz, Oh and Viswanath 2015).
    """

    def table(factor: Fraction) -> RatioTable:
        likely = (1 - privacy.delta) * factor / (1 + factor)
        return RatioTable(((factor, likely),) if factor > 1 else (), privacy.delta)

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
    """Return whether privacy losses are known for a class of noise or for its kind."""
    return noise_losses.dispatch(noise) is not noise_losses.dispatch(object)


@noise_losses.register
def _(noise: PiecewiseNoise | FiniteLatticeNoise, sensitivity: Fraction) -> PartLosses:
    shape = _join_pieces(noise.curve(sensitivity).shape)
    longest = tabulate_shape(shape, shape.longest)
    if shape.is_unimodal:
        return _flatten(longest)
    mirrored = shape.mirror()
    symmetric = _place_pieces(mirrored) == _place_pieces(shape)
    shapes = [shape] if symmetric else [shape, mirrored]
    tables = dict.fromkeys(tabulate_shape(side, shift) for side in shapes for shift in side.shifts)
    # If the mirror image exchanges two neighbors, their curve is determined by f ≥ 1.
    return PartLosses(Envelope(tuple(tables)), longest if symmetric else None)


def _flatten(table: RatioTable) -> PartLosses:
    """Return the curves of a table; level curves if it barely falls, as for uniform noise."""
    falls = sum((mass * (1 - 1 / ratio) for ratio, mass in table.ratios), Fraction(0))
    if falls * (1 << _LEVEL_BITS) <= table.infinite:
        return PartLosses(RatioTable((), table.infinite + falls), RatioTable((), table.infinite))
    return PartLosses(table, table)


def _join_pieces(shape: Shape) -> Shape:
    """Return the shape with neighboring pieces of equal height joined."""
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
    table = RatioTable(tuple(sorted(noise.curve(sensitivity).higher.items())), Fraction(0))
    return PartLosses(table, table)


@noise_losses.register
def _(noise: Smooth, sensitivity: Fraction) -> PartLosses:
    curve = EvaluatedLossCurve(noise, sensitivity)  # families with a formula are registered below
    return PartLosses(curve, curve)


@noise_losses.register
def _(noise: Gaussian, sensitivity: Fraction) -> PartLosses:
    curve = NormalLossCurve(Interval.exact((sensitivity / noise.sigma) ** 2).shortened(_BITS))
    return PartLosses(curve, curve)


@noise_losses.register
def _(noise: Laplace | TruncatedLaplace, sensitivity: Fraction) -> PartLosses:
    curve = DecayingLossCurve(noise, sensitivity)
    return PartLosses(curve, curve)


@noise_losses.register
def _(noise: Rounded, sensitivity: Fraction) -> PartLosses:
    shift = sensitivity // noise.step * noise.step
    if shift <= 0:  # there is no shift
        return PartLosses(RatioTable((), Fraction(0)), RatioTable((), Fraction(0)))
    if _is_coarse(noise):
        steps = int(shift / noise.step)
        return PartLosses(
            _tabulate_rounded(noise, steps), _tabulate_rounded(noise, steps, below=True)
        )
    # Rounding is post-processing; and rounded noise reveals at least as much as the same noise on
    # the line shifted by one step less (docs/theory/composition.md).
    above = noise_losses(noise.noise, shift).above
    below = noise_losses(noise.noise, shift - noise.step).below if shift > noise.step else None
    return PartLosses(above, below)


def _is_coarse(noise: Rounded) -> bool:
    """Return whether noise has few points, as on the integers: then its own losses are used.

    Wide Gaussian noise uses the curve of the noise on the line, which composes exactly
    and barely differs.
    """
    if isinstance(noise.noise, Gaussian) and noise.noise.sigma >= _WIDE * noise.step:
        return False
    return noise.first_below(_UNSEEN) <= _MOST_POINTS


@lru_cache(maxsize=32)
def _tabulate_rounded(noise: Rounded, shift: int, *, below: bool = False) -> RatioTable:
    """Return the likelihood ratios of rounded noise and the same noise shifted by full steps.

    The longest shift is the worst (RoundedLogConcaveCurve). From above, probabilities are rounded
    up and those of the neighbor down, and the points that are not listed count as impossible for
    it. From below it is the other way round, and these points are left out.
    """
    last = int(min(noise.first_below(_UNSEEN), noise.farthest))
    tails = [noise.beyond(index, _BITS) for index in range(last + 1)]
    center = Interval.exact(1) - tails[0].scaled(2)
    weights = [center, *(near - far for near, far in pairwise(tails))]
    masses: dict[Fraction, Fraction] = {}
    impossible = Fraction(0) if below else tails[-1].upper
    for index in range(-last, last + 1):
        weight, neighbor = weights[abs(index)], abs(index - shift)
        neighbor_weight = weights[neighbor] if neighbor <= last else Interval.exact(0)
        if below:
            mass, neighbor_mass = max(Fraction(0), weight.lower), neighbor_weight.upper
            if not neighbor_mass and neighbor <= noise.farthest:
                continue  # a point that is not listed
        else:
            mass, neighbor_mass = weight.upper, max(Fraction(0), neighbor_weight.lower)
        if not neighbor_mass:
            impossible += mass
        elif mass > neighbor_mass:
            ratio = mass / neighbor_mass
            masses[ratio] = masses.get(ratio, Fraction(0)) + mass
    return RatioTable(tuple(sorted(masses.items())), impossible)
