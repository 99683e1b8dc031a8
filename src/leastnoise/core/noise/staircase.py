"""Staircase noise on the line."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import ClassVar, overload

from leastnoise.core.exact import (
    Interval,
    Number,
    count_bits,
    exact_power,
    exponential,
    format_exact,
    parse_positive,
    parse_rational,
    power_sums,
    quote,
    smallest_exponent,
)
from leastnoise.core.lattice import Run, choose_lattice, fine_step
from leastnoise.core.noise.base import (
    LineNoise,
    no_quantile_at_ends,
    outside,
    read_guarantee,
)
from leastnoise.core.noise.discrete_staircase import DiscreteStaircase
from leastnoise.core.noise.kinds import StaircaseNoise
from leastnoise.core.privacy import Privacy, as_privacy
from leastnoise.core.profile import StaircaseCurve, check_periods, check_staircase_work
from leastnoise.core.sampling import Scheme, cell_scheme
from leastnoise.errors import InvalidParameter

# Binary digits of γ where it is irrational.
_GAMMA_BITS = 128


@dataclass(frozen=True, init=False, repr=False)
class Stairs:
    """The parameters of a density that falls by the same factor once in each period."""

    period: Fraction
    gamma: Fraction
    ratio: Fraction

    radius = math.inf  # the noise is unbounded

    def __init__(self, period: Number, gamma: Number, ratio: Number) -> None:
        share, fall = parse_rational(gamma, "gamma"), parse_rational(ratio, "ratio")
        if not 0 <= share <= 1:
            raise InvalidParameter(
                "gamma must be between 0 and 1",
                got=quote(gamma),
                fix="Use the share of a period before the density falls.",
            )
        if not 0 < fall < 1:
            raise InvalidParameter(
                "ratio must be between 0 and 1, both excluded",
                got=quote(ratio),
                fix="Use the factor by which the density falls, a little above e^−ε.",
            )
        object.__setattr__(self, "period", parse_positive(period, "period"))
        object.__setattr__(self, "gamma", share)
        object.__setattr__(self, "ratio", fall)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(period={format_exact(self.period)}, "
            f"gamma={format_exact(self.gamma)}, ratio={format_exact(self.ratio)})"
        )


@dataclass(frozen=True, init=False, repr=False)
class Staircase(Stairs, StaircaseNoise, LineNoise):
    """The staircase noise of Geng and Viswanath (2016), which is unbounded.

    For |x| between nΔ and (n+γ)Δ the density is a·bⁿ, from there to (n+1)Δ it is a·bⁿ⁺¹: it falls
    once in each period, by the factor b. At sensitivity Δ it satisfies (ε, 0) for e^ε ≥ 1/b. For b
    = e^−ε and the right γ its expected cost is optimal among all noise that satisfies (ε, 0). Here
    b is rational, slightly above e^−ε. Construct it by Δ, γ and b, or by ε and Δ
    (:meth:`for_privacy`).

    ============ =============================================
    a            (1−b) / 2Δ(γ + b(1−γ))
    E L(X)       2a(1−b)·Σ bⁿ·∫₀ˣ L, x = (n+γ)Δ, over n ≥ 0
    ============ =============================================

    Args:
        period: Δ > 0, the length between two falls of the density.
        gamma: γ from 0 to 1, the share of a period before the density falls.
        ratio: b between 0 and 1, the factor by which the density falls.
        epsilon: ε > 0 of a guarantee. γ is then the optimum for E|X|, unless ``gamma`` is given.
        sensitivity: Δ, with a guarantee.

    Raises:
        InvalidParameter: If an argument is invalid, or parameters and a guarantee are both given.

    >>> from leastnoise.costs.power import l1
    >>> Staircase(period=1, gamma="1/3", ratio="1/2").expected(l1)
    Fraction(17, 12)
    >>> float(Staircase(epsilon=1, sensitivity=1).expected(l1))
    0.9595173756674719
    """

    stored: ClassVar = {"period": "rational", "gamma": "rational", "ratio": "rational"}

    @overload
    def __init__(self, period: Number, gamma: Number, ratio: Number) -> None: ...

    @overload
    def __init__(self, *, epsilon: Number, sensitivity: Number, gamma: Number = ...) -> None: ...

    def __init__(
        self,
        period: Number | None = None,
        gamma: Number | None = None,
        ratio: Number | None = None,
        *,
        epsilon: Number | None = None,
        sensitivity: Number | None = None,
    ) -> None:
        parameters = {"period": period, "gamma": gamma, "ratio": ratio}
        guarantee = {"epsilon": epsilon, "sensitivity": sensitivity}
        target = read_guarantee("Staircase", parameters, guarantee, shared="gamma")
        if target is not None:
            noise = Staircase.for_privacy(target[0], sensitivity=target[1], gamma=gamma)
            period, gamma, ratio = noise.period, noise.gamma, noise.ratio
        super().__init__(period, gamma, ratio)  # type: ignore[arg-type]  # none of them is None

    @classmethod
    def for_privacy(
        cls, privacy: Privacy, *, sensitivity: Number, gamma: Number | None = None
    ) -> "Staircase":
        """Return the staircase of period Δ for ε; it satisfies (ε, 0), so δ does not matter.

        Its ratio is e^−ε, rounded up. The default of γ is 1/(1 + e^(ε/2)), which is optimal for
        E|X| (Geng and Viswanath 2016), to about 40 digits. ``calibrate`` finds γ for other costs.

        Args:
            privacy: The guarantee, with ε > 0.
            sensitivity: Δ, how much one person can change the true answer.
            gamma: γ from 0 to 1, the share of a period before the density falls. Default: the
                optimum for E|X|.

        Raises:
            InvalidParameter: If an argument is invalid.

        >>> from leastnoise.costs.power import l1
        >>> float(Staircase.for_privacy(Privacy(1), sensitivity=1).expected(l1))
        0.9595173756674719
        """
        epsilon = as_privacy(privacy, "Privacy(1)").epsilon
        period = parse_positive(sensitivity, "sensitivity")
        if not epsilon:
            raise outside("the staircase", "ε > 0", privacy)
        if gamma is None:
            share = 1 / (1 + exponential(epsilon / 2).middle)
            gamma = Interval.exact(share).shortened(_GAMMA_BITS).upper
        return Staircase(period, gamma, 1 / exponential(epsilon).lower)

    @property
    def atoms(self) -> dict[Fraction, Fraction]:
        """There are no atoms."""
        return {}

    @property
    def height(self) -> Fraction:
        """The density a at 0, or next to 0 if γ is 0."""
        fall = self.ratio
        return (1 - fall) / (2 * self.period * (self.gamma + fall * (1 - self.gamma)))

    def scaled(self, factor: Number) -> "Staircase":
        """Return the distribution of ``factor`` times this noise, factor > 0."""
        return Staircase(parse_positive(factor, "factor") * self.period, self.gamma, self.ratio)

    def discretize(self, sensitivity: Fraction) -> "DiscreteStaircase":
        """Return the lattice noise for a staircase that is private at ``sensitivity``.

        The staircase is scaled from Δ to :func:`effective_steps` steps and its period rounded up to
        an integer number of steps, so that periods end on lattice points. There the density does
        not fall. The falls within periods are moved to the nearest end of a cell. Then the density
        is constant on every cell, and rounding gives weight 1 to the first points of a period and b
        to the others. The cell at 0 has its own height, so a fall nearer to 0 than half a step
        leaves a single point of larger weight. γ = 0 and γ = 1 are the same noise.
        """
        step, steps = choose_lattice(sensitivity)
        period = ceil(self.period / sensitivity * steps)
        edge = min(max(1, floor((self.gamma or 1) * period + 1)), period)
        high, low = self.ratio.denominator, self.ratio.numerator
        runs = [Run(0, edge, high), Run(edge, period - edge, low)]
        return DiscreteStaircase(step, self.ratio, tuple(run for run in runs if run.points))

    def sampler(self) -> tuple[Scheme, Fraction, Fraction]:
        """Return the scheme of cells that divide each period, and half a cell as the offset.

        The cell in which the density falls has the weight of its two parts. So the index of the
        cell, ⌊X/step⌋, is sampled exactly.
        """
        cells = ceil(self.period / fine_step(self.variance()))
        before, part = divmod(self.gamma * cells, 1)
        high, low, unit = self.ratio.denominator, self.ratio.numerator, part.denominator
        mixed = part.numerator * high + (unit - part.numerator) * low
        runs = (
            Run(0, before, unit * high),
            Run(before, 1 if before < cells else 0, mixed),
            Run(before + 1, cells - before - 1, unit * low),
        )
        step = self.period / cells
        present = tuple(run for run in runs if run.points > 0)
        return cell_scheme(present, self.ratio), step, step / 2

    def total_variation(self, sensitivity: Fraction) -> Fraction:
        """Return P([−Δ/2, Δ/2)) (Theorem 1)."""
        check_staircase_work(sensitivity / 2, self.period, 1, count_bits(self.ratio, self.gamma))
        return self.probability_up_to(sensitivity / 2) - self.probability_up_to(-sensitivity / 2)

    def curve(self, sensitivity: Fraction) -> StaircaseCurve:
        """Return the likelihood ratios at the longest shift.

        The density is a·bⁿ after n falls, and the falls are at (n + γ)Δ. Between two neighboring
        falls of p or of the shifted p, the ratio is a constant power of 1/b.
        """
        period, shift, first = self.period, sensitivity, self.gamma * self.period
        check_periods(shift, period)
        falls_counted = 1 + int(shift / period)
        check_staircase_work(shift, period, falls_counted, count_bits(self.ratio, self.gamma))

        def falls(size: Fraction) -> int:
            return floor(size / period - self.gamma) + 1

        def ratios(
            breaks: set[Fraction], end: Fraction, other: Callable[[Fraction], Fraction]
        ) -> Iterable[tuple[Fraction, Fraction]]:
            cuts = sorted({Fraction(0), end, *(x for x in breaks if 0 < x < end)})
            for a, b in pairwise(cuts):
                middle = (a + b) / 2
                more = falls(other(middle)) - falls(middle)
                yield self.ratio**-more, self.probability_up_to(b) - self.probability_up_to(a)

        # On the far side of 0, x = −y, the ratios repeat with the period, and each period has b
        # times the mass of the one before it.
        beyond = ratios({first, (first - shift) % period}, period, lambda y: y + shift)
        places = [first + n * period for n in range(ceil(shift / period) + 1)]
        between = ratios({*places, *(shift - x for x in places)}, shift / 2, lambda x: shift - x)
        repeated = [(ratio, mass / (1 - self.ratio)) for ratio, mass in beyond]
        return StaircaseCurve.of(shift, [*repeated, *between])

    def probability_up_to(self, upto: Fraction) -> Fraction:
        """Return P(X ≤ upto), exactly."""
        return 1 - self._tail(upto) if upto >= 0 else self._tail(-upto)

    def quantile(self, probability: Fraction) -> Fraction:
        """Return the x with P(X ≤ x) = probability, exactly."""
        if probability in (0, 1):
            raise no_quantile_at_ends(probability)
        if 2 * probability < 1:
            return -self._tail_quantile(probability)
        return self._tail_quantile(1 - probability)

    def moment(self, p: int) -> Fraction:
        """Return E |X|ᵖ = Δᵖ·(1−b)² / ((p+1)(γ + b(1−γ))) · Σ bⁿ(n+γ)ᵖ⁺¹."""
        sums = power_sums(self.ratio, self.gamma, p + 1)[-1]
        scale = 2 * self.height * (1 - self.ratio)
        return scale * self.period ** (p + 1) / (p + 1) * sums

    def _tail(self, size: Fraction) -> Fraction:
        """Return P(X > size) for size ≥ 0: the rest of its period, and all later periods."""
        periods, part = divmod(size / self.period, 1)
        fall, gamma = self.ratio, self.gamma
        left = gamma - part + fall * (1 - gamma) if part < gamma else fall * (1 - part)
        return (self.height * self.period * left + fall / 2) * exact_power(fall, int(periods))

    def _tail_quantile(self, tail: Fraction) -> Fraction:
        """Return the size ≥ 0 with P(X > size) = tail, for a tail of at most 1/2."""
        fall, gamma = self.ratio, self.gamma
        periods = max(0, smallest_exponent(fall, 2 * tail) - 1)
        left = tail / exact_power(fall, periods) - fall / 2
        left /= self.height * self.period
        upper = fall * (1 - gamma)  # the rest of the period at the fall
        part = gamma + upper - left if left >= upper else 1 - left / fall
        return (periods + part) * self.period

    def _pdf(self, place: Fraction | float) -> Fraction:
        if isinstance(place, float):  # only infinities arrive as floats
            return Fraction(0)
        periods, part = divmod(abs(place) / self.period, 1)
        return self.height * exact_power(self.ratio, int(periods) + (part >= self.gamma))
