"""Sample the discretized planar staircase, exactly.

Contract: for any tape of independent fair bits, :func:`draw_pair` returns (i, j) with probability
exactly ``noise.probability(i, j)``.

The noise is a mixture of uniform ones on diamonds: the m-th, of radius N = mP + e − 1 with e the
edge, has the weight bᵐ·(2N² + 2N + 1). As a polynomial in m that is

    c₀ + c₁·m + c₂·m(m−1)/2,   c₀ = 2e² − 2e + 1,   c₁ = 2P² + 2P(2e − 1),   c₂ = 4P²,

and 1 + G + G′ for two geometric numbers is m with a probability proportional to m·bᵐ, 2 + G + G′ +
G″ for three with one proportional to m(m−1)/2·bᵐ. So m is j + G₀ + … + G_j with probability
proportional to c_j·bʲ / (1−b)ʲ⁺¹, j = 0, 1, 2: three integers, of which a ticket chooses.
"""

from functools import lru_cache

from leastnoise.core.sampling import Tape, geometric, uniform_below
from leastnoise.mechanism.pair.staircase import DiscretePlanarStaircase


def draw_pair(noise: DiscretePlanarStaircase, tape: Tape) -> tuple[int, int]:
    """Return one point of the lattice, with exactly its probability.

    All parts are sampled always, in the same order, whatever they turn out to be.
    """
    parts = mixture(noise)
    ticket = uniform_below(sum(parts), tape)
    extra = (ticket >= parts[0]) + (ticket >= parts[0] + parts[1])
    numbers = [geometric(noise.ratio).draw(tape) for _ in parts]
    diamond = extra + sum(numbers[: extra + 1])
    radius = diamond * noise.steps + noise.edge - 1
    return point(radius, uniform_below(2 * radius * (radius + 1) + 1, tape))


@lru_cache(maxsize=64)
def mixture(noise: DiscretePlanarStaircase) -> tuple[int, int, int]:
    """Return integers in proportion to c_j·bʲ / (1−b)ʲ⁺¹ for j = 0, 1, 2."""
    period, edge = noise.steps, noise.edge
    fall = noise.ratio.numerator
    keep = noise.ratio.denominator - fall
    return (
        (2 * edge * (edge - 1) + 1) * keep**2,
        2 * period * (period + 2 * edge - 1) * keep * fall,
        4 * period**2 * fall**2,
    )


def point(radius: int, index: int) -> tuple[int, int]:
    """Return the point of the diamond ‖i‖ ≤ radius that has this index, one for each.

    Seen along the diagonals, u = i + j and v = i − j, the diamond is two squares: (radius + 1)²
    points with u and v even or odd as the radius is, and radius² points with them the other way.
    """
    side = radius + 1
    if index >= side**2:
        index -= side**2
        side = radius
    u, v = (2 * place - (side - 1) for place in divmod(index, side))
    return (u + v) // 2, (u - v) // 2
