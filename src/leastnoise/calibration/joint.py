"""Find joint noise for several numbers: the shape of its boxes and, if bounded, the last box.

Boxes have half-widths (m + γ)Δᵢ. With b = e^−ε and S_j(γ) = Σ bᵐ(m + γ)ʲ, k real numbers have

    E|Xᵢ|ᵖ  =  Δᵢᵖ/(p + 1) · S_{k+p}(γ)/S_k(γ),

because box m has the probability ∝ bᵐ(m + γ)ᵏ. Floats find a good γ; an error in γ costs accuracy,
never privacy.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from leastnoise.core.exact import as_float, as_log, exponential, format_short, round_up
from leastnoise.core.lattice import choose_lattice
from leastnoise.core.noise import BoundedJointStaircase, JointNoise, JointStaircase
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter, Unsupported, parameter

_SMALLEST = Fraction(1, 1 << 30)
_BITS = 64
# The last box is searched up to here.
_MOST_BOXES = 1 << 12
# Below this ε the gain from the best γ is smaller than 0.1%.
_FLAT = 0.25
# The places at which γ is tried, in two rounds, and the last terms of a sum.
_PLACES, _FINER, _ENOUGH = 32, 8, 60.0


def find_joint(
    privacy: Privacy,
    sensitivities: Sequence[Fraction],
    integers: Sequence[bool],
    *,
    bounded: bool = False,
    exponent: int = 1,
) -> JointNoise:
    """Return joint noise for numbers that one unit changes together, number i by at most Δᵢ.

    Args:
        privacy: The guarantee, with ε > 0. Unbounded noise does not use δ.
        sensitivities: Δ of each number.
        integers: Whether each number is an integer.
        bounded: Whether the noise must be bounded, which needs δ > 0.
        exponent: The p of the cost |x|ᵖ for which the boxes are shaped.

    Raises:
        InvalidParameter: If no such noise satisfies the guarantee.
        Unsupported: If there are too many numbers, or ε is too small.
    """
    _check(privacy, bounded=bounded)
    pairs = list(zip(sensitivities, integers, strict=True))
    lattices = [(Fraction(1), int(d)) if whole else choose_lattice(d) for d, whole in pairs]
    steps = tuple(step for step, _ in lattices)
    shifts = tuple(shift for _, shift in lattices)
    share = _find_share(as_float(privacy.epsilon), len(shifts), exponent)
    edges = tuple(
        math.floor(share * shift) if whole else max(1, math.floor(share * shift))
        for shift, (_, whole) in zip(shifts, pairs, strict=True)
    )
    bits = _BITS + math.ceil(1 / privacy.epsilon).bit_length()
    ratio = round_up(1 / exponential(privacy.epsilon).lower, bits)
    if not bounded:
        return JointStaircase(steps, shifts, edges, ratio)

    def suffices(last: int) -> bool:
        noise = BoundedJointStaircase(steps, shifts, edges, ratio, last)
        delta = noise.delta(privacy.epsilon)
        return delta is not None and delta <= privacy.delta

    last = _guess_last(ratio, shifts, edges, as_log(privacy.delta))
    while not suffices(last):
        last += 1  # ends with Unsupported if the noise has too many boxes
    while last and suffices(last - 1):
        last -= 1
    return BoundedJointStaircase(steps, shifts, edges, ratio, last)


def _guess_last(
    ratio: Fraction, shifts: Sequence[int], edges: Sequence[int], log_delta: float
) -> int:
    """Return about the smallest last box M at which δ ≈ b^M·(points beyond the shift)/total."""
    slope = as_log(ratio)
    fall, log_total = math.log(-math.expm1(slope)), -math.inf
    for last in range(_MOST_BOXES):
        sides = [2 * (last * shift + edge) + 1 for shift, edge in zip(shifts, edges, strict=True)]
        log_points = sum(map(math.log, sides))
        kept = math.prod(max(0, side - d) / side for side, d in zip(sides, shifts, strict=True))
        outer = slope * last + log_points
        total = math.log(math.exp(log_total - outer) + 1) + outer if last else outer
        if kept < 1 and outer + math.log1p(-kept) - total <= log_delta:
            return last
        own = outer + fall
        largest = max(log_total, own)
        log_total = largest + math.log(math.exp(log_total - largest) + math.exp(own - largest))
    return _MOST_BOXES


def _check(privacy: Privacy, *, bounded: bool) -> None:
    if not privacy.epsilon:
        raise InvalidParameter(
            parameter("epsilon") + " must be positive for joint noise",
            got="0",
            fix="Use for example Privacy(epsilon=1).",
        )
    if privacy.epsilon < _SMALLEST:
        raise Unsupported(
            parameter("epsilon") + " must be at least 2⁻³⁰ for joint noise",
            got=format_short(privacy.epsilon),
            fix="Use a larger ε.",
        )
    if bounded and not privacy.delta:
        raise InvalidParameter(
            "Bounded joint noise requires δ > 0",
            got=str(privacy),
            fix="Use for example Privacy(1, '1e-6').",
        )


def _find_share(epsilon: float, numbers: int, exponent: int) -> float:
    """Return about the best γ."""
    if epsilon < _FLAT:
        return 0.5
    ratio = math.exp(-min(epsilon, _ENOUGH))

    def cost(share: float) -> float:
        return _sum(ratio, share, numbers + exponent) - _sum(ratio, share, numbers)

    coarse = [i / _PLACES for i in range(1, _PLACES)] + [2.0**-i for i in range(5, 20)]
    best = min(coarse, key=cost)
    width = best if best < 1 / _PLACES else 1 / _PLACES
    near = [best + width * i / _FINER for i in range(1 - _FINER, _FINER)]
    return min((share for share in near if 0 < share < 1), key=cost)


def _sum(ratio: float, share: float, power: int) -> float:
    """Return about ln Σ ratioᵐ·(m + share)^power."""
    terms = int((power + _ENOUGH) / -math.log(ratio)) + 2
    logs = [m * math.log(ratio) + power * math.log(m + share) for m in range(terms)]
    largest = max(logs)
    return largest + math.log(sum(math.exp(term - largest) for term in logs))
