"""Stage 0 of Theorem 2's proof: noise cut into cells, with rational masses (GDGK19)."""

from fractions import Fraction
from itertools import pairwise
from math import ceil

from leastnoise.core.exact import Interval, first_index
from leastnoise.core.noise import Noise, PiecewiseNoise, Smooth, Staircase, Steps
from leastnoise.errors import InvalidParameter

MOST_CELLS = 5000
# Unbounded noise is cut where its tail is below this share of the squared mass of the first cell.
# The squared mass shrinks like the change by the cells, so the tail never dominates the change.
_TAIL_SHARE = Fraction(1, 1 << 16)
# Binary digits of the masses, and the most that are tried.
_BITS, _MOST_BITS = 128, 1 << 12


def discretize(noise: Noise, half: Fraction, parts: int) -> Steps:
    """Return unimodal noise averaged over cells, ``parts`` of which divide half of Δ.

    The masses of cells are exact where they are rational. For smooth noise they are differences of
    its tails, rounded up to multiples of 2⁻¹²⁸ or less. So [−Δ/2, Δ/2] loses mass, if anything, and
    the result satisfies every guarantee (0, δ) of the noise (GDGK19, Theorem 1). For unbounded
    noise, the tail beyond the last cell becomes one step at the level of that cell, which moves
    mass inward. docs/theory/theorem-2.md bounds the change of the cost.

    Raises:
        InvalidParameter: If there are more than 5000 cells on each side.
    """
    cell = half / parts
    if isinstance(noise, PiecewiseNoise):
        return _average(noise, cell)
    assert isinstance(noise, Smooth | Staircase)  # noqa: S101 -- rearrange() rejects other noise
    last = max(parts, _find_last_cell(noise, cell))
    bits = _BITS
    while True:
        masses, tail = _enclose_masses(noise, cell, last, bits)
        if masses == sorted(masses, reverse=True) and masses[-1] > 0:
            return _add_tail(cell, masses, tail)
        if bits >= _MOST_BITS:
            raise InvalidParameter(
                f"The masses of neighboring cells must differ by more than 2^-{bits}",
                got=f"{noise!r}, whose density is almost constant",
                fix="Use Uniform.",
            )
        bits *= 2


def _average(noise: PiecewiseNoise, cell: Fraction) -> Steps:
    """Return piecewise constant noise averaged over every cell, with its point mass at 0."""
    radius = max(b for _, b, _ in noise.pieces)
    _check_cells(radius / cell)
    last = -(-radius // cell)
    edges = [i * cell for i in range(last + 1)]
    heights = [
        (noise.probability_up_to(b) - noise.probability_up_to(a)) / cell for a, b in pairwise(edges)
    ]
    breaks = [-x for x in reversed(edges[1:])] + edges
    return Steps(breaks, heights[::-1] + heights, noise.atoms)


def _find_last_cell(noise: Smooth | Staircase, cell: Fraction) -> int:
    """Return the number of cells after which the tail is negligible."""
    first = Fraction(1, 2) - _tail(noise, cell, _BITS).upper
    limit = first**2 * _TAIL_SHARE

    def is_negligible(cells: int) -> bool:
        return _tail(noise, cells * cell, _BITS).upper <= limit

    if not is_negligible(MOST_CELLS):
        _check_cells(Fraction(MOST_CELLS + 1))
    return first_index(0, MOST_CELLS, is_negligible)


def _enclose_masses(
    noise: Smooth | Staircase, cell: Fraction, last: int, bits: int
) -> tuple[list[Fraction], Fraction]:
    """Return the masses of the cells on one side of 0, and the mass beyond them.

    They are the differences of the tails P(X > i·cell), rounded up to multiples of 2^−bits unless
    they are exact.
    """
    unit = 1 << bits
    tails = [Fraction(1, 2)]
    for i in range(1, last + 1):
        tail = _tail(noise, i * cell, bits + 8)
        tails.append(tail.upper if tail.is_exact else Fraction(ceil(tail.upper * unit), unit))
    return [near - far for near, far in pairwise(tails)], tails[-1]


def _add_tail(cell: Fraction, masses: list[Fraction], tail: Fraction) -> Steps:
    """Return cells of these masses on both sides of 0, and the rest at the level of the last."""
    edges = [i * cell for i in range(len(masses) + 1)]
    heights = [mass / cell for mass in masses]
    if tail:
        edges.append(edges[-1] + tail / heights[-1])
        heights.append(heights[-1])
    breaks = [-x for x in reversed(edges[1:])] + edges
    return Steps(breaks, heights[::-1] + heights)


def _tail(noise: Smooth | Staircase, size: Fraction, bits: int) -> Interval:
    """Enclose P(X > size) for size > 0."""
    if isinstance(noise, Smooth):
        return noise.tail(size, bits)
    return Interval.exact(1 - noise.probability_up_to(size))


def _check_cells(number: Fraction) -> None:
    if number > MOST_CELLS:
        raise InvalidParameter(
            f"noise must be cut into at most {MOST_CELLS} cells on each side",
            got="more",
            fix="Use fewer cells, or narrower noise.",
        )
