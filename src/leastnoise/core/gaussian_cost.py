"""The cost of a release in Gaussian differential privacy: costs (μ², γ) add up.

A release costs (μ², γ) if for every pair of neighboring datasets and every ε

    δ(ε) ≤ γ + (1 − γ)·δ_μ(ε),   δ_μ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ),

that is, if its output can be computed from an experiment that shows the dataset with probability γ
and otherwise one draw of a normal distribution of standard deviation 1, shifted by μ for one of the
two datasets. γ = 0 is μ-Gaussian differential privacy (Dong, Roth and Su 2022); it implies zCDP
with ρ = μ²/2 (Bun and Steinke 2016).

Releases that cost (μᵢ², γᵢ) together cost (Σμᵢ², 1 − Π(1−γᵢ)), and at most (Σμᵢ², Σγᵢ). This holds
even if each is chosen after seeing the answers before it, as long as the caps on both sums are
fixed beforehand (docs/theory/many-answers.md; Smith and Thakurta 2022 for γ = 0).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from leastnoise.core.exact import (
    Interval,
    epsilon_of_square,
    format_rounded,
    format_up,
    gaussian_delta,
    power,
    square_of_epsilon,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter

if TYPE_CHECKING:  # noise is loaded on first use, because a ledger is read without it
    from leastnoise.core.noise import LatticeNoise, Noise, TruncatedGaussian

# Binary digits to which caps and charges are rounded: caps down, charges up.
_BITS = 64
# Pieces of the range of ε on which a profile is compared with that of Gaussian noise.
_PIECES = 48


@dataclass(frozen=True, slots=True)
class GaussianCost:
    """The cost of releases in an allocation, or the caps of one: (μ², γ).

    Attributes:
        square: μ², twice the ρ of zCDP.
        failure: γ, the probability of an output that may reveal anything.
    """

    square: Fraction
    failure: Fraction = Fraction(0)

    def __add__(self, other: "GaussianCost") -> "GaussianCost":
        """Return the cost of both together; γ₁ + γ₂ is at least 1 − (1−γ₁)(1−γ₂)."""
        return GaussianCost(self.square + other.square, self.failure + other.failure)

    def __mul__(self, factor: Fraction | int) -> "GaussianCost":
        """Return the cost of ``factor`` releases, or a share of this cost."""
        return GaussianCost(self.square * factor, self.failure * factor)

    def __str__(self) -> str:
        mu, rho = (format_rounded(part, 4, ROUND_CEILING) for part in (self.mu, self.rho))
        return f"μ = {mu}, ρ = {rho}, γ = {format_up(self.failure, 4)}"

    def describe(self) -> str:
        """Return μ and ρ, or μ and γ, each with the name of its kind of guarantee; rounded up."""
        mu = f"μ = {format_rounded(self.mu, 4, ROUND_CEILING)} (Gaussian differential privacy)"
        if self.failure:
            return f"{mu}, γ = {format_rounded(self.failure, 4, ROUND_CEILING)}"
        return f"{mu}, ρ = {format_rounded(self.rho, 4, ROUND_CEILING)} (zCDP)"

    @property
    def mu(self) -> Fraction:
        """μ, rounded up: the parameter of Gaussian differential privacy."""
        return _short_above(power(self.square, Fraction(1, 2)).upper)

    @property
    def rho(self) -> Fraction:
        """ρ = μ²/2 of zero-concentrated differential privacy (zCDP), which μ implies at γ = 0."""
        return self.square / 2

    def fits(self, caps: "GaussianCost") -> bool:
        """Return whether this cost is within caps."""
        return self.square <= caps.square and self.failure <= caps.failure

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound of γ + (1 − γ)·δ_μ(ε): the δ at ε that this cost guarantees."""
        if self.failure >= 1:
            return Fraction(1)
        normal = gaussian_delta(self.square, epsilon, _BITS).upper if self.square else Fraction(0)
        return self.failure + (1 - self.failure) * normal

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """Return the smallest ε, rounded up, at which this cost guarantees δ; None if for no ε."""
        if self.failure > delta or (self.square and self.failure == delta):
            return None
        if not self.square or self.delta(Fraction(0)) <= delta:
            return Fraction(0)
        high = Fraction(1)
        while self.delta(high) > delta:
            high *= 2
        low = Fraction(0) if high == 1 else high / 2
        return _bisect(low, high, lambda epsilon: self.delta(epsilon) > delta)[1]

    def privacy(self, delta: Fraction) -> Privacy | None:
        """Return the (ε, δ) guarantee that this cost implies at a δ; None if there is none."""
        epsilon = self.epsilon(delta)
        return None if epsilon is None else Privacy(epsilon, delta)


NOTHING = GaussianCost(Fraction(0))


@lru_cache(maxsize=1024)
def find_caps(privacy: Privacy, failure: Fraction = Fraction(0)) -> GaussianCost:
    """Return the caps (M², Γ) with Γ = ``failure`` and the largest M for which they imply (ε, δ).

    M² is rounded down, and Γ + (1 − Γ)·δ_M(ε) ≤ δ is proved for the rounded M.

    Raises:
        InvalidParameter: If δ is 0, or Γ not below it: then no M > 0 exists.

    >>> float(1 / find_caps(Privacy(1, "1e-6")).mu)
    4.224678889...
    """
    if not 0 <= failure < privacy.delta:
        raise InvalidParameter(
            "Gaussian accounting needs δ > 0, of which only a part is set aside for discovery",
            got=f"{privacy}",
            fix="Use, for example, Privacy(1, '1e-6').",
        )

    def is_private(square: Fraction) -> bool:
        return GaussianCost(square, failure).delta(privacy.epsilon) <= privacy.delta

    low, high = Fraction(1), Fraction(1)
    while not is_private(low):
        high, low = low, low / 4
    while low == high or is_private(high):
        low, high = high, 4 * high
    square = _bisect(low, high, is_private)[0]
    return GaussianCost(square, failure)


@lru_cache(maxsize=1024)
def cost_of_guarantee(privacy: Privacy) -> GaussianCost:
    """Return the cost (μ(ε)², δ), rounded up, of every release that satisfies (ε, δ).

    μ(ε) = 2·Φ⁻¹(e^ε/(1 + e^ε)), and no smaller μ holds for all of them. Such a release can be
    computed from one that shows the dataset with probability δ and otherwise answers by randomized
    response at ε (Kairouz, Oh and Viswanath 2015). The trade-off curve of randomized response
    touches the Gaussian one at its corner and lies above it elsewhere.
    """
    square = square_of_epsilon(privacy.epsilon)
    return GaussianCost(_short_above(square.upper), privacy.delta)


def epsilon_within(square: Fraction) -> Fraction:
    """Return the largest ε, rounded down, at which every (ε, 0) release costs at most μ²."""
    return Interval.exact(epsilon_of_square(square).lower).shortened(_BITS).lower


def cost_of_noise(noise: "LatticeNoise", sensitivity: Fraction, privacy: Privacy) -> GaussianCost:
    """Return the cost of a release with this noise, for lattice shifts up to ``sensitivity``.

    The cost of Gaussian noise follows from its σ, that of truncated Gaussian noise from its σ and
    its ends. Any other noise costs the smaller of two bounds: by its profile, and by the guarantee
    ``privacy`` that it satisfies.
    """
    from leastnoise.core.noise import Rounded, TruncatedGaussian

    gaussian = cost_of_gaussian(noise, sensitivity)
    if gaussian is not None:
        return gaussian
    if isinstance(noise, Rounded) and isinstance(noise.noise, TruncatedGaussian):
        return cost_of_truncated(noise.noise, sensitivity // noise.step * noise.step)
    return _cost_of_profile(noise, sensitivity, privacy)


def cost_of_gaussian(noise: "Noise", sensitivity: Fraction) -> GaussianCost | None:
    """Return the cost ((d/σ)², 0) of Gaussian noise, rounded or not, at shifts up to d; else None.

    Rounded noise is for shifts by full steps.
    """
    from leastnoise.core.noise import Gaussian, Rounded

    if isinstance(noise, Rounded):
        return cost_of_gaussian(noise.noise, sensitivity // noise.step * noise.step)
    if isinstance(noise, Gaussian):
        return GaussianCost(_short_above((sensitivity / noise.sigma) ** 2))
    return None


def cost_of_truncated(noise: "TruncatedGaussian", shift: Fraction) -> GaussianCost:
    """Return the cost of truncated Gaussian noise at shifts up to d: ((d/σ)², P(X < d − A)).

    Each neighbor has the probability P(X < d − A) outside of the ends that both share. Between
    these ends the two densities are normal ones a distance of d apart, conditioned on the same
    interval around their middle. The size |x| of an output, measured from that middle, has one
    distribution for both neighbors; given |x|, only its sign distinguishes them, and
    better for larger |x|. Conditioning makes |x| smaller, so δ(ε) is at most its value without
    conditioning, for every ε (docs/theory/many-answers.md). Rounding to a lattice is
    post-processing.
    """
    failure = noise.below(shift - noise.radius).upper if shift < 2 * noise.radius else Fraction(1)
    return GaussianCost(_short_above((shift / noise.sigma) ** 2), _short_above(failure))


@lru_cache(maxsize=256)
def _cost_of_profile(
    noise: "LatticeNoise", sensitivity: Fraction, privacy: Privacy
) -> GaussianCost:
    """Return ((μ², δ) for the smallest μ that is proved from the noise's profile up to ε.

    On each piece a ≤ ε′ ≤ b of the range up to ε the profile is at most δ(a), and γ + (1−γ)·δ_μ is
    at least its value at b; beyond ε the profile is at most δ = γ.
    """
    plain = cost_of_guarantee(privacy)
    if not privacy.epsilon:
        return plain
    curve = noise.curve(sensitivity)
    edges = [privacy.epsilon * Fraction(i, _PIECES) for i in range(_PIECES + 1)]
    needed = [
        max(Fraction(0), (curve.delta_above(edge)[0] - privacy.delta) / (1 - privacy.delta))
        for edge in edges[:-1]
    ]
    square = max(
        (_square_reaching(delta, edge) for delta, edge in zip(needed, edges[1:], strict=True)),
        default=Fraction(0),
    )
    return GaussianCost(min(plain.square, square), privacy.delta)


def _square_reaching(delta: Fraction, epsilon: Fraction) -> Fraction:
    """Return the smallest μ², rounded up, with δ_μ(ε) ≥ δ."""
    if not delta:
        return Fraction(0)

    def is_short(square: Fraction) -> bool:
        return gaussian_delta(square, epsilon, _BITS).lower < delta

    low, high = Fraction(1), Fraction(1)
    while is_short(high):
        low, high = high, 4 * high
    while low == high or not is_short(low):
        high, low = low, low / 4
    return _bisect(low, high, is_short)[1]


def total_cost(costs: Iterable[GaussianCost]) -> GaussianCost:
    """Return the cost of releases together."""
    return sum(costs, NOTHING)


def _bisect(
    low: Fraction, high: Fraction, holds: Callable[[Fraction], bool]
) -> tuple[Fraction, Fraction]:
    """Narrow low < high, where ``holds`` is true at low and false at high, to 2⁻⁴⁸ of high."""
    for _ in range(_BITS):
        middle = Interval.exact((low + high) / 2).shortened(_BITS).lower
        if not low < middle < high or (high - low) * (1 << 48) < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _short_above(number: Fraction) -> Fraction:
    return Interval.exact(number).shortened(_BITS).upper
