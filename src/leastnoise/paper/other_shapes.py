"""Noise that is not unimodal and costs less than the optimum among unimodal noise, at Δ = 1.

The paper states Theorem 3 and its corollaries without "among unimodal noise". These densities show
that the condition is necessary. Their guarantees and costs are exact (docs/theory/errata.md).
"""

from fractions import Fraction

from leastnoise.core.noise import Steps


def _alternate(edges: list[str], inner: str, outer: str) -> Steps:
    """Return a symmetric density with two levels in turns; ``outer`` is the last on each side."""
    ends = [Fraction(edge) for edge in edges]
    breaks = [-x for x in reversed(ends)] + ends
    pieces = len(breaks) - 1
    levels = [outer if i % 2 == 0 else inner for i in range(pieces)]
    return Steps(breaks, levels)


COUNTER_EXAMPLE = _alternate(["1/4", "3/4", "1"], inner="2/3", outer="1/3")
_MIDDLE = _alternate(["1/4", "3/4", "5/4", "79/56"], inner="21/50", outer="7/25")
_SMALL = _alternate(["1/10", "9/10", "11/10", "37/20"], inner="3/8", outer="1/4")


def cheaper_noise(p: Fraction) -> tuple[Fraction, Steps]:
    """Return a δ, and (0, δ)-private noise that costs less for |x|ᵖ than any unimodal noise.

    Args:
        p: The power of the cost, from 1/3 to 4.

    >>> delta, noise = cheaper_noise(Fraction(2))
    >>> delta, noise.is_unimodal
    (Fraction(1, 2), False)
    """
    if p > 1:
        return Fraction(1, 2), COUNTER_EXAMPLE
    return (Fraction(7, 20), _MIDDLE) if 2 * p >= 1 else (Fraction(11, 40), _SMALL)
