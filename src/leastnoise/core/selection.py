"""Select one of many candidates by their true errors: permute-and-flip, exactly.

A selector takes an integer error rⱼ of each candidate, which one unit changes by at most Δ. With
r* the least of them, it flips for every candidate a coin that lands with probability
pⱼ = e^(−ε·(rⱼ − r*)/(2Δ)), and returns one of those whose coin landed, each with the same
probability. The coin of the best candidate always lands.

*It is permute-and-flip* (McKenna and Sheldon 2020, Algorithm 1), which goes through the candidates
in random order, flips for each and returns the first whose coin lands. Flip all coins beforehand:
the first candidate whose coin landed, in an order that does not depend on the coins, is uniform
among them.

*It satisfies (ε, 0)* (their Theorem 1). Let Sᵢ count the coins other than i's that land. Then
P(i) = pᵢ·E[1/(1 + Sᵢ)]. Write ′ for a neighboring dataset, and let r*′ = r* + d·Δ, −1 ≤ d ≤ 1.

* pᵢ ≤ A·pᵢ′ with A = e^(ε(1 − d)/2), because rᵢ′ ≤ rᵢ + Δ.
* pⱼ ≥ pⱼ′/B for all j with B = e^(ε(1 + d)/2), because rⱼ′ ≥ rⱼ − Δ. Take coins of probability
  min(pⱼ, pⱼ′) ≤ pⱼ instead: fewer land, so E[1/(1 + Sᵢ)] does not fall. To get these coins, take
  the coins of ′ and keep each landed coin with probability at least 1/B. If each is kept with
  probability exactly 1/B, even fewer remain. If s coins of ′ landed, then E[1/(1 + K)] for the
  number K ~ Binomial(s, 1/B) of kept coins is B·(1 − (1 − 1/B)^(s+1))/(s + 1) ≤ B/(s + 1). So
  E[1/(1 + Sᵢ)] ≤ B·E[1/(1 + Sᵢ′)].

Together P(i) ≤ A·B·P′(i) = e^ε·P′(i). ∎
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import format_exact
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import Rebuilt
from leastnoise.core.sampling import SYSTEM, Coins, coins_of
from leastnoise.core.tape import Tape
from leastnoise.errors import InvalidParameter, parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

# At a lower rate, errors that floats distinguish would not fit into 64 bits.
_LEAST_RATE = Fraction(1, 1 << 56)


@dataclass(frozen=True)
class Selector(Rebuilt):
    """Selects candidates by permute-and-flip; it cannot exist without an ε > 0.

    Attributes:
        privacy: The guarantee of one selection; its δ is not used.
        sensitivity: Δ, the most by which one unit can change any error.
    """

    privacy: Privacy
    sensitivity: int

    def __post_init__(self) -> None:
        """Reject a sensitivity that is not a positive integer, and an ε that is 0 or almost 0."""
        if type(self.sensitivity) is not int or self.sensitivity < 1:
            raise InvalidParameter(
                parameter("sensitivity") + " must be an integer above 0",
                got=format_exact(Fraction(self.sensitivity)),
                fix="Use the most by which one unit can change an error.",
            )
        if self.rate < _LEAST_RATE:
            raise InvalidParameter(
                "A selection, such as a quantile, requires ε > 0 (at least 2⁻⁵⁵ times its "
                "sensitivity); δ alone is not enough",
                got=f"ε = {format_exact(self.privacy.epsilon)}",
                fix="Use an ε such as 0.5.",
            )

    @property
    def rate(self) -> Fraction:
        """ε/(2Δ), the rate of the coins."""
        return self.privacy.epsilon / (2 * self.sensitivity)

    @property
    def coins(self) -> Coins:
        """The coins that are flipped."""
        return coins_of(self.rate)

    def choose(self, errors: "Sequence[int] | NDArray[Any]", tape: Tape | None = None) -> int:
        """Return the place of a candidate, given the true errors ≥ 0 of all, at least one.

        Errors are integers of any size, used exactly. The work depends on their number and not on
        their values.
        """
        import numpy as np

        from leastnoise.core.arrays import choose

        integers = np.asarray(errors)
        if integers.dtype != np.int64:
            integers = np.asarray(errors, dtype=object)
        return choose(integers - integers.min(), self.coins, tape or SYSTEM)
