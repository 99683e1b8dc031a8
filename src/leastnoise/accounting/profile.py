"""The privacy profile δ(ε) of noise, over every shift of the true answer up to Δ."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeAlias

from leastnoise.accounting.renyi import renyi
from leastnoise.accounting.tradeoff import infinity_mass, tradeoff
from leastnoise.core.exact import Interval, Number, parse_positive, parse_rational, quote
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_gaussian
from leastnoise.core.noise import Noise
from leastnoise.core.privacy import Privacy
from leastnoise.core.profile import Curve, Level
from leastnoise.deprecation import RenamedAttribute
from leastnoise.errors import InvalidParameter, parameter


@dataclass(frozen=True, init=False)
class Profile:
    """The privacy profile of noise: the smallest δ for each ε, at one sensitivity.

    δ(ε) = sup over |d| ≤ Δ of H_ε(P, P + d), where H_ε(P, Q) = sup over S of P(S) − e^ε·Q(S). For
    piecewise constant noise it is exact at ε = 0. Otherwise, and always for smooth noise, it is
    enclosed, and :meth:`delta` returns the upper end.

    Args:
        noise: The noise distribution.
        sensitivity: Δ > 0, the largest shift of the true answer.

    Raises:
        InvalidParameter: If ``noise`` is not a :class:`~leastnoise.noise.Noise`, or Δ ≤ 0.

    >>> from leastnoise.noise import Uniform
    >>> Profile(Uniform(5), sensitivity=1).delta(0)
    Fraction(1, 10)
    """

    noise: Noise
    sensitivity: Fraction
    impossible = RenamedAttribute[Fraction]("infinity_mass")

    def __init__(self, noise: Noise, *, sensitivity: Number) -> None:
        if not isinstance(noise, Noise):
            raise InvalidParameter(
                "noise must be a Noise",
                got=quote(noise),
                fix="Use, for example, Uniform(5).",
            )
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "sensitivity", parse_positive(sensitivity, "sensitivity"))

    def delta(self, epsilon: Number = 0) -> Fraction:
        """Return δ(ε): exact if rational, otherwise an upper bound within about 2⁻⁶⁰.

        Args:
            epsilon: ε ≥ 0. Default: 0.
        """
        return self.enclose(epsilon).upper

    def enclose(self, epsilon: Number = 0) -> Interval:
        """Enclose δ(ε)."""
        return self._curve.worst(Level.at(parse_epsilon(epsilon)))[0]

    @property
    def gaussian_cost(self) -> GaussianCost | None:
        """The μ and ρ of Gaussian noise, whose squares μ² add up; None for other noise.

        >>> from leastnoise.noise import Gaussian
        >>> Profile(Gaussian(4), sensitivity=1).gaussian_cost.rho
        Fraction(1, 32)
        """
        return cost_of_gaussian(self.noise, self.sensitivity)

    def at_factor(self, factor: Fraction) -> Fraction:
        """Return δ with e^ε replaced by a rational factor ≥ 0: exact, or a proved upper bound."""
        return self.worst(factor)[0]

    def worst(self, factor: Fraction = Fraction(1)) -> tuple[Fraction, Fraction]:
        """Return δ at a factor e^ε ≥ 0 and the worst shift (where atoms meet, one near it)."""
        exact = parse_rational(factor, "factor")
        if exact < 0:
            raise InvalidParameter(
                "factor must be 0 or more",
                got=quote(factor),
                fix="Use e^ε as a rational.",
            )
        reached, shift = self._curve.worst(Level.of(exact))
        return reached.upper, shift

    @property
    def advantage(self) -> Fraction:
        """The largest advantage of an attacker over blind guessing: δ(0)."""
        return self.at_factor(Fraction(1))

    @property
    def infinity_mass(self) -> Fraction:
        """The largest probability of a revealing output, which is impossible for a neighbor.

        The limit of δ(ε) for large ε. Exact for piecewise constant noise, else a proved upper
        bound; 0 for unbounded noise.

        >>> from leastnoise.noise import Uniform
        >>> Profile(Uniform(5), sensitivity=1).infinity_mass
        Fraction(1, 10)
        """
        return infinity_mass(self._curve)

    def tradeoff(self, fpr: Number) -> Fraction:
        """Return the smallest false negative rate of an attacker with this false positive rate.

        Args:
            fpr: The false positive rate, from 0 to 1.

        The best bound that the profile gives: sup over e^ε ≥ 0 of 1 − δ(ε) − e^ε·fpr, exactly for
        piecewise constant noise, else from below (Wasserman and Zhou 2010; Dong, Roth and Su 2022,
        Proposition 2.12).
        """
        rate = parse_rational(fpr, "fpr")
        if not 0 <= rate <= 1:
            raise InvalidParameter(
                "fpr must be between 0 and 1",
                got=quote(fpr),
                fix="Use a false positive rate such as 0.05.",
            )
        return tradeoff(self._curve, rate)

    def renyi(self, order: Number) -> Fraction | float:
        """Return the largest Rényi divergence of an order over all shifts up to Δ.

        Args:
            order: The order of the divergence, above 1.

        Exact if rational, otherwise a proved upper bound; ``math.inf`` where some output is
        impossible for a neighbor. Rényi differential privacy of this order is that of Mironov
        (2017), Definition 4.
        """
        exact = parse_rational(order, "order")
        if exact <= 1:
            raise InvalidParameter(
                "order must be greater than 1",
                got=quote(order),
                fix="Use, for example, 2.",
            )
        return renyi(self._curve, exact)

    @cached_property
    def _curve(self) -> Curve:
        return self.noise.curve(self.sensitivity)


def parse_epsilon(epsilon: Number) -> Fraction:
    """Return an ε ≥ 0 as an exact rational, or reject it."""
    exact = parse_rational(epsilon, "epsilon")
    if exact < 0:
        raise InvalidParameter(
            parameter("epsilon") + " must be 0 or more",
            got=quote(epsilon),
            fix="Use, for example, 0.5.",
        )
    return exact


class ReleasedMechanism(Protocol):
    """The interface of mechanisms that composition uses."""

    @property
    def privacy(self) -> Privacy:
        """The guarantee of one release."""
        ...

    @property
    def profile(self) -> Profile:
        """The profile of the noise that it samples."""
        ...


Part: TypeAlias = ReleasedMechanism | Privacy | Profile


class Composable(ABC):
    """A mechanism or an answer; higher packages register composable classes."""

    @property
    @abstractmethod
    def composed_as(self) -> Part:
        """The mechanism of the release, or the guarantee that counts instead of it."""
