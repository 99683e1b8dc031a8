"""Permute-and-flip selection with its guarantee, and a bound of its error."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from leastnoise.core.exact import (
    Number,
    decay,
    first_index,
    fixed_power,
    format_ratio,
    parse_confidence,
    parse_count,
)
from leastnoise.core.gaussian_cost import GaussianCost, cost_of_guarantee
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import Rebuilt
from leastnoise.core.selection import Selector
from leastnoise.core.tape import Tape
from leastnoise.deprecation import RenamedAttribute
from leastnoise.ledger import Json, Spending, privacy_to_json
from leastnoise.mechanism.mechanism import Mechanism
from leastnoise.mechanism.storage import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GUARD = 128


@dataclass(frozen=True, repr=False)
class PermuteAndFlip(Rebuilt):
    """Select one of several candidates by their errors, with an (ε, 0) guarantee.

    It takes the place of :class:`Mechanism` in releases that select instead of adding noise.

    Attributes:
        privacy: The guarantee of one selection.
        sensitivity: Δ, how much one unit can change the integer error of any candidate.
        candidates: The number of candidates.
        tape: The bits of selections. Default: those of the operating system, as for every release
            that is private.
        selector: The sampler, with the proof (:mod:`leastnoise.core.selection`).

    >>> selection = PermuteAndFlip(Privacy(epsilon=1), sensitivity=1, candidates=3)
    >>> selection([0, 400, 900])
    [0]
    """

    privacy: Privacy
    sensitivity: int
    candidates: int
    tape: Tape | None = field(default=None, repr=False, compare=False)
    selector: Selector = field(init=False, repr=False, compare=False)
    needs_allowance = RenamedAttribute[bool]("needs_allow_exact")

    def __post_init__(self) -> None:
        parse_count(self.candidates, "candidates", least=1)
        object.__setattr__(self, "selector", Selector(self.privacy, self.sensitivity))

    def __repr__(self) -> str:
        return f"PermuteAndFlip(candidates={self.candidates}, sensitivity={self.sensitivity})"

    @property
    def noise(self) -> "PermuteAndFlip":
        """The selection itself, which explanations show in place of noise."""
        return self

    @property
    def needs_allow_exact(self) -> bool:
        """Always False, because every dataset can lead to every candidate."""
        return False

    def __call__(self, errors: "Sequence[int] | NDArray[Any]") -> list[int]:
        """Select a candidate by the true errors; return its index as a list of one element."""
        return [self.selector.choose(errors, self.tape)]

    def error_bound(self, confidence: Number) -> int:
        """Return the smallest t with P(error ≤ smallest error + t) ≥ confidence for all data.

        Let the smallest error be 0, m the number of candidates and p = e^(−ε·s/(2Δ)) the
        probability that the coin of a candidate with error s shows heads. Then

            P(error ≥ s) ≤ 1 − (1 − (1 − p)ᵐ)/(m·p).

        *Proof.* Let b candidates with errors ≥ s, and g of the others, have coins that show heads;
        g ≥ 1, because the coin of the best candidate always does. P(error ≥ s) = E[b/(b + g)] ≤
        E[b/(b + 1)]. This grows with b, hence with the number of such candidates, at most m − 1,
        and with the probabilities of their coins, at most p. For b ~ Binomial(m − 1, p) it is
        1 − E[1/(1 + b)], as claimed. It is attained if one candidate has error 0 and all others
        have error s, so no smaller bound holds for all data. ∎
        """
        level = parse_confidence(confidence, below_one="and below 1, as any error is possible")
        return _error_bound(self.selector.rate, self.candidates, 1 - level)

    @property
    def gaussian_cost(self) -> GaussianCost:
        """The cost of one selection in an allocation: the cost of any release with its ε."""
        return cost_of_guarantee(self.privacy)

    def spending(self) -> Spending:
        """Return the charge for one selection."""
        mechanism, key = self._description
        return Spending(self.privacy, {key: mechanism}, {"answer": "selection"})

    @cached_property
    def _description(self) -> tuple[Json, str]:
        """The description that a ledger stores, and its digest. They must never change."""
        description: Json = {
            "privacy": privacy_to_json(self.privacy),
            "selection": "permute-and-flip",
            "sensitivity": format_ratio(Fraction(self.sensitivity)),
            "candidates": self.candidates,
        }
        return description | {"noise": repr(self)}, digest(description)


# A mechanism releases a number by adding noise or by selecting it.
AnyMechanism = Mechanism | PermuteAndFlip


def as_noise(mechanism: AnyMechanism) -> Mechanism:
    """Return a mechanism that adds noise; raise TypeError for a selection."""
    if isinstance(mechanism, Mechanism):
        return mechanism
    raise TypeError("a selection adds no noise")


@lru_cache(maxsize=1024)
def _error_bound(rate: Fraction, candidates: int, rare: Fraction) -> int:
    def is_rare(error: int) -> bool:
        return _exceedance_bound(rate, candidates, error, rare) <= rare

    last = 1
    while not is_rare(last):
        last *= 2
    return first_index(0, last, is_rare) - 1


def _exceedance_bound(rate: Fraction, candidates: int, error: int, rare: Fraction) -> Fraction:
    """Return a bound of P(error ≥ ``error``): the tight one, or a simpler one up to ``rare``.

    The tight bound is rounded up by far less than ``rare``.
    """
    bits = _GUARD + 4 * candidates.bit_length() + 2 * (1 / rare).__ceil__().bit_length()
    # The bound grows with p, and with (1 − p)ᵐ: both are rounded up.
    chance = min(decay(min(rate * error, Fraction(bits)), bits).upper, Fraction(1))
    simple = (candidates - 1) * chance / 2  # b/(b + 1) ≤ b/2
    if simple <= rare or chance == 1:
        return min(simple, 1 - Fraction(1, candidates))
    rest = Fraction(fixed_power(1 - chance, candidates, bits)[1], 1 << bits)
    return 1 - (1 - rest) / (candidates * chance)
