"""Algorithm 1 of the paper: exact, on the lattice that is sampled, and in floating-point numbers.

Algorithm 1 multiplies a binary number B by a uniform number U. In real numbers B·U is distributed
as P_α. Floating-point numbers represent only some results, and which ones depends on the true
value. So an output in floats can reveal the true value, whatever δ is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import shake_256
from math import log, sqrt
from typing import TYPE_CHECKING

from leastnoise.core.exact import (
    Number,
    as_float,
    format_up,
    magnitude,
    parse_count,
    parse_rational,
    quote,
)
from leastnoise.core.noise import Uniform
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Mechanism

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

# How U is computed from r, a multiple of 2⁻⁵³ in [0, 1): by hand, and in numpy's Generator.uniform.
FORMULAS = ("w*(2*r-1)", "-w + 2*w*r")
# A random float in [0, 1) is a multiple of this power of two, as in numpy and Python.
_BITS = 53
_SAMPLES = 20_000
# Between these, 2·w and Δ + w are finite, and multiples of 2⁻⁵³·w are normal floats.
_SMALLEST, _LARGEST = Fraction(1, 10**290), Fraction(10) ** 300
_FALSE_ALARM = 1e-9


@dataclass(frozen=True)
class FloatDistance:
    """How well an output in floats distinguishes the true values 0 and Δ; from a simulation.

    Attributes:
        estimate: An unbiased estimate of the total variation distance, the δ at ε = 0.
        lower_bound: A lower bound of the distance. For random inputs it is wrong with probability
            at most :attr:`false_alarm` (Hoeffding's inequality).
        certain: The share of the outputs for the true value 0 that are impossible for Δ.
        samples: The number of outputs that were examined.
        false_alarm: The largest probability with which the lower bound is wrong.
    """

    estimate: float
    lower_bound: float
    certain: float
    samples: int
    false_alarm: float = _FALSE_ALARM


@dataclass(frozen=True)
class Algorithm1:
    """Algorithm 1 of the paper, X = B·U; built by :func:`algorithm_1`.

    B is 0 with probability α and 1 otherwise. U is uniform on [−w, w] with
    w = (1−α)Δ / (2(δ−α)).

    Attributes:
        delta: δ of the claimed guarantee (0, δ).
        sensitivity: Δ, how much one person can change the true answer.
        alpha: α, the probability of the point mass at 0.
    """

    delta: Fraction
    sensitivity: Fraction
    alpha: Fraction

    @cached_property
    def noise(self) -> Uniform:
        """The distribution of B·U in real numbers: P_α."""
        return Uniform.for_privacy(
            Privacy(delta=self.delta), sensitivity=self.sensitivity, atom=self.alpha
        )

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism that leastnoise samples instead: P_α on a lattice, in integers."""
        privacy = Privacy(delta=self.delta)
        return Mechanism.from_noise(self.noise, privacy, sensitivity=self.sensitivity)

    def product(self, b: int, r: Number) -> Fraction:
        """Return X = B·U in exact numbers, with U = w·(2r − 1).

        Args:
            b: B, 0 or 1.
            r: A number in [0, 1).

        Raises:
            InvalidParameter: If an argument is out of range.
        """
        exact = parse_rational(r, "r")
        if b not in (0, 1) or not 0 <= exact < 1:
            raise InvalidParameter(
                "b must be 0 or 1, and r at least 0 and less than 1",
                got=f"{quote(b)} and {quote(r)}",
                fix="Use, for example, 1 and 0.25.",
            )
        return b * self.noise.radius * (2 * exact - 1)

    @property
    def exact_distance(self) -> Fraction:
        """The total variation distance in real numbers over all shifts up to Δ: δ."""
        return self.noise.total_variation(self.sensitivity)

    @property
    def lattice_distance(self) -> Fraction:
        """The distance of the noise that leastnoise samples, exactly; at most δ."""
        return self.mechanism.profile.advantage

    def float_distance(
        self, formula: str = FORMULAS[0], *, samples: int = _SAMPLES
    ) -> FloatDistance:
        """Measure how well outputs in floats distinguish the true values 0 and Δ.

        An output is y = q + B·U in floats of 64 bits, for a true value q. For each examined y, the
        number of r that lead to it is counted exactly for q = 0 and for q = Δ. The y themselves
        are from a reproducible sequence that stands for random numbers.

        Args:
            formula: How U is computed from r, one of :data:`FORMULAS`. Default: ``"w*(2*r-1)"``.
            samples: The number of outputs to examine. Default: 20,000.

        Raises:
            InvalidParameter: If an argument is invalid, or Δ or w overflows or underflows a float.
        """
        if formula not in FORMULAS:
            raise InvalidParameter(
                f"formula must be one of {', '.join(map(repr, FORMULAS))}",
                got=quote(formula),
                fix=f"Use, for example, {FORMULAS[0]!r}.",
            )
        count = parse_count(samples, "samples", least=1)
        self._check_floats()
        search = OutputSearch(self, formula)
        excess, certain = search.compare(_multiples(count))
        room = sqrt(log(1 / _FALSE_ALARM) / (2 * count))
        alpha = as_float(self.alpha)
        mean, at_zero = float(excess.mean()), search.excess_at_zero
        return FloatDistance(
            estimate=alpha * at_zero + (1 - alpha) * mean,
            lower_bound=alpha * at_zero + (1 - alpha) * max(0.0, mean - room),
            certain=alpha * (at_zero == 1) + (1 - alpha) * float(certain.mean()),
            samples=count,
        )

    def _check_floats(self) -> None:
        """Reject Δ and w for which the formulas overflow or lose digits in floats of 64 bits."""
        for name, number in (("sensitivity", self.sensitivity), ("w", self.noise.radius)):
            if not _SMALLEST <= number <= _LARGEST:
                raise InvalidParameter(
                    f"{name} must be between 1e-290 and 1e300 to be measured in floats",
                    got=f"about 10^{magnitude(number)}",
                    fix="Scale the answers, or use another α.",
                )
        if as_float(self.alpha) == 1:
            raise InvalidParameter(
                "alpha must be less than 1 in floats",
                got=f"1 − {format_up(1 - self.alpha, 3)}",
                fix="Use a smaller α.",
            )


def algorithm_1(delta: Number, sensitivity: Number, alpha: Number = 0) -> Algorithm1:
    """Return Algorithm 1 of the paper for these parameters, to inspect; not to release with.

    Args:
        delta: δ of the guarantee (0, δ), between 0 and 1.
        sensitivity: Δ, how much one person can change the true answer.
        alpha: α, the probability of the point mass at 0, from 0 to less than δ. Default: 0.

    Raises:
        InvalidParameter: If an argument is invalid.

    >>> algorithm = algorithm_1("0.1", sensitivity=1)
    >>> algorithm.noise, algorithm.product(1, "0.75"), algorithm.product(0, "0.75")
    (Uniform(radius=5, atom=0), Fraction(5, 2), Fraction(0, 1))
    >>> algorithm.exact_distance, algorithm.lattice_distance <= algorithm.delta
    (Fraction(1, 10), True)
    >>> algorithm.float_distance().lower_bound > 0.6
    True
    """
    privacy = Privacy(delta=delta)
    noise = Uniform.for_privacy(privacy, sensitivity=sensitivity, atom=alpha)
    return Algorithm1(privacy.delta, parse_rational(sensitivity, "sensitivity"), noise.atom)


class OutputSearch:
    """Counts the r for which an output in floats is y, for the true values 0 and Δ.

    r is k/2^bits for an integer k. Outputs never fall as k grows, because rounding is monotone. So
    bisection finds the first k with an output of at least y, and the first beyond y.
    """

    def __init__(self, algorithm: Algorithm1, formula: str, bits: int = _BITS) -> None:
        self._radius = as_float(algorithm.noise.radius)
        self._shift = as_float(algorithm.sensitivity)
        self._atom = as_float(algorithm.alpha)
        self._centered, self._bits = formula == FORMULAS[0], bits

    def outputs(self, value: float, multiples: Integers) -> Floats:
        """Return q + U in floats for r = k/2^bits, for each k."""
        import numpy as np

        r, w = np.ldexp(multiples.astype(np.float64), -self._bits), self._radius
        return value + (w * (2 * r - 1) if self._centered else -w + 2 * w * r)

    def compare(self, multiples: Integers) -> tuple[Floats, NDArray[np.bool_]]:
        """Return 1 − P(y if q = Δ)/P(y if q = 0), at least 0, and whether y is impossible if q = Δ.

        y is the output for q = 0, for each k. The mean over all k is the total variation distance.
        """
        places = self.outputs(0.0, multiples)
        at_zero = self.probabilities(0.0, places)
        at_shift = self.probabilities(self._shift, places)
        return (1 - at_shift / at_zero).clip(0), at_shift == 0

    @property
    def excess_at_zero(self) -> float:
        """The same for y = 0, the output if B = 0 and q = 0."""
        import numpy as np

        zero = np.zeros(1)
        mass = self.probabilities(0.0, zero)
        return float((1 - self.probabilities(self._shift, zero) / mass).clip(0)[0]) if mass else 0.0

    def probabilities(self, value: float, places: Floats) -> Floats:
        """Return P(q + B·U = y) in floats, for each y."""
        import numpy as np

        counts = self._first(value, places, beyond=True) - self._first(value, places, beyond=False)
        spread = (1 - self._atom) * np.ldexp(counts.astype(np.float64), -self._bits)
        return spread + np.where(places == value, self._atom, 0.0)

    def _first(self, value: float, places: Floats, *, beyond: bool) -> Integers:
        """Return the first k whose output is at least y, or beyond y; 2^bits if there is none."""
        import numpy as np

        low = np.zeros(len(places), np.int64)
        high = np.full(len(places), 1 << self._bits, np.int64)
        for _ in range(self._bits + 1):
            middle = (low + high) // 2
            outputs = self.outputs(value, middle)
            reached = outputs > places if beyond else outputs >= places
            open_ = low < high
            high = np.where(open_ & reached, middle, high)
            low = np.where(open_ & ~reached, middle + 1, low)
        return low


def _multiples(count: int) -> Integers:
    """Return integers below 2⁵³ that look random and never change."""
    import numpy as np

    words = np.frombuffer(shake_256(b"leastnoise/algorithm 1").digest(8 * count), "<u8")
    return (words >> np.uint64(64 - _BITS)).astype(np.int64)
