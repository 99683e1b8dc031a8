"""Compute the total guarantee of several releases about the same people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

from leastnoise.accounting.curves import LossCurve
from leastnoise.accounting.joint import JointLoss
from leastnoise.accounting.parts import PartLosses, guarantee_losses, noise_losses
from leastnoise.accounting.profile import Composable, Part, Profile, parse_epsilon
from leastnoise.core.basic_composition import joint_failure
from leastnoise.core.exact import (
    Interval,
    Number,
    exponential,
    format_short,
    format_up,
    parse_count,
    parse_rational,
    quote,
    round_up,
)
from leastnoise.core.gaussian_cost import GaussianCost, total_cost
from leastnoise.core.privacy import Privacy, format_guess
from leastnoise.errors import InvalidParameter, parameter
from leastnoise.rendering import keep_together, paragraph, sentences

# The largest ε that :meth:`Composition.epsilon` tries.
_LARGEST = Fraction(1 << 16)
_SHOWN_DELTA = Fraction(1, 10**6)
_BITS = 320
# The accuracy of epsilon() in binary digits: relative, or absolute.
_NEAR_BITS, _LEAST_BITS = 40, 60


def compose(parts: Iterable[object]) -> Composition:
    """Compute the total guarantee of several releases about the same people.

    Each release may be chosen after the answers before it are seen, as long as the mechanisms are
    fixed beforehand. The bounds are proved in exact arithmetic, down to δ = 1e-30 and below.

    Args:
        parts: A list of releases: mechanisms, answers, guarantees (:class:`Privacy`), profiles
            and compositions, or pairs (part, count). For a mechanism the discretized noise is
            composed, for a guarantee the worst mechanism that satisfies it, and for an answer
            with several contributions per person its stated guarantee.

    Returns:
        The composition. It computes a bound when you ask for it.

    Raises:
        InvalidParameter: If a part is none of these.

    >>> print(compose([(Privacy(epsilon="0.1"), 100)]))
    100 releases together: ε = 4.77457, δ = 1e-6 (added up: ε = 10, δ = 0)
    >>> print(compose([Privacy(delta="0.1"), Privacy(delta="0.2")]))
    2 releases together: ε = 0, δ = 0.28 (the same as added up)
    >>> compose([Privacy(delta="0.1"), Privacy(delta="0.2")]).delta(0)
    Fraction(7, 25)
    """
    if isinstance(parts, str | bytes) or not isinstance(parts, Iterable):
        raise InvalidParameter(
            "parts must be a list of releases",
            got=quote(parts),
            fix="Use, for example, [mechanism, (other, 10)].",
        )
    return Composition(tuple(counted for part in parts for counted in _parse_part(part)))


@dataclass(frozen=True, repr=False)
class Composition:
    """Several releases about the same people; :func:`compose` returns it.

    Bounds are computed when you ask for them.

    Attributes:
        parts: The releases, each with its count.

    >>> compose([(Privacy(epsilon="0.1"), 100)]).releases
    100
    """

    parts: tuple[tuple[Part, int], ...]

    @property
    def releases(self) -> int:
        """The number of releases."""
        return sum(count for _, count in self.parts)

    def delta(self, epsilon: Number = 0) -> Fraction:
        """Return a δ that all releases together are proved to satisfy at this ε.

        >>> compose([Privacy(delta="0.1"), Privacy(delta="0.1")]).delta(0)
        Fraction(19, 100)
        """
        exact = parse_epsilon(epsilon)
        delta = self._above.delta(exact)
        if exact >= self._total_epsilon:
            return min(delta, self._total_delta)
        if self._total_delta < 1 and self._total_epsilon < _LARGEST:
            added_up = Privacy(self._total_epsilon, self._total_delta)
            delta = min(delta, part_delta(added_up, exact).upper)
        return delta

    def enclose(self, epsilon: Number = 0) -> Interval:
        """Enclose the smallest δ that all releases together satisfy at this ε.

        The lower end is the δ of two fixed neighbors, those furthest apart in every release, by a
        distribution of losses whose curve lies below. If some parts have asymmetric noise, it is
        the δ of the other parts, or of one asymmetric part alone. A guarantee counts by the worst
        mechanism that satisfies it.
        """
        upper, exact = self.delta(epsilon), parse_epsilon(epsilon)
        lower = self._below.delta(exact)
        for part, losses in self._losses.items():
            if losses.below is None:
                lower = max(lower, part_delta(part, exact).lower)
        if lower > upper:  # both are proved, so one of the proofs is wrong
            raise AssertionError("a lower bound of δ must not exceed the upper one")
        return Interval(lower, upper)

    def epsilon(self, delta: Number) -> Fraction:
        """Return the smallest ε found at which all releases together are proved to satisfy δ.

        Within 2⁻⁴⁰ of the smallest that :meth:`delta` proves.

        Args:
            delta: 0 ≤ δ < 1.

        Raises:
            InvalidParameter: If no ε suffices: with a probability above δ some output reveals a
                person for certain.
        """
        allowed = parse_rational(delta, "delta")
        if not 0 <= allowed < 1:
            raise InvalidParameter(
                parameter("delta") + " must be at least 0 and less than 1",
                got=quote(delta),
                fix="Use a probability such as '1e-6'.",
            )
        high = self._total_epsilon if allowed >= self._total_delta else _LARGEST
        least = self.delta(high)
        if least > allowed:
            raise InvalidParameter(
                f"No ε is proved to suffice at δ = {format_short(allowed)}: these releases need "
                f"at least δ = {format_up(least)} at every ε",
                fix="Use a larger δ.",
            )
        if self.delta(0) <= allowed:
            return Fraction(0)
        low = Fraction(0)
        while high - low > max(high / (1 << _NEAR_BITS), Fraction(1, 1 << _LEAST_BITS)):
            middle = _shorten((low + high) / 2, high - low)
            if self.delta(middle) <= allowed:
                high = middle
            else:
                low = middle
        return high

    @cached_property
    def basic(self) -> Privacy:
        """The sums (Σεᵢ, Σδᵢ) of the guarantees of the releases.

        Valid for fully adaptive releases, where even the guarantees are chosen on the way, as long
        as the sums stay within it (Rogers, Roth, Ullman and Vadhan 2016, section 3). A profile,
        which states no guarantee, counts as (0, its advantage).
        """
        total = sum((delta * count for (_, delta), count in self._guarantees), Fraction(0))
        return self._total_guarantee(total)

    @cached_property
    def simple(self) -> Privacy:
        """(Σεᵢ, 1 − Π(1−δᵢ)): at most :attr:`basic`, and valid as widely.

        For fixed guarantees by Kairouz, Oh and Viswanath 2015, Theorem 3.3. For guarantees that are
        chosen on the way, as long as the sum and the product stay within it, by
        docs/theory/composition.md.
        """
        return self._total_guarantee(self._total_delta)

    @cached_property
    def gaussian_cost(self) -> GaussianCost | None:
        """The μ and ρ of all releases together; None unless each of them has Gaussian noise.

        >>> from leastnoise.noise import Gaussian
        >>> compose([(Profile(Gaussian(4), sensitivity=1), 8)]).gaussian_cost.rho
        Fraction(1, 4)
        """
        costs = []
        for part, count in self.parts:
            if isinstance(part, Privacy):
                return None
            cost = (part if isinstance(part, Profile) else part.profile).gaussian_cost
            if cost is None:
                return None
            costs.append(cost * count)
        return total_cost(costs)

    @property
    def advantage(self) -> Fraction:
        """The largest advantage of an attacker over blind guessing: δ at ε = 0."""
        return self.delta(0)

    def explain(self) -> str:
        """Explain the total guarantee and its conditions in plain words."""
        words = [
            f"{self}.",
            "An attacker who sees all answers guesses correctly whether one person is in the data "
            f"at most {format_guess(self.advantage)} of the time.",
            "This also holds if each query depends on the answers before it, as long as the "
            "mechanisms and their number were fixed beforehand.",
            "If the mechanisms are chosen on the way, only the added-up guarantee holds: ε is the "
            "sum, and 1 − δ the product, over all releases.",
        ]
        if self.parts and self.gaussian_cost is not None:
            words.append(f"All releases have Gaussian noise: {self.gaussian_cost.describe()}.")
        return paragraph(*words)

    def __str__(self) -> str:
        """Return the total guarantee, rounded up, with the added-up one.

        ε is stated for the δ of the added-up guarantees, so that the two ε can be compared. If that
        δ is 0, or if a part is a profile, which has no guarantee to add up, ε is stated for δ =
        1e-6. If no ε suffices there, it is stated for the first of 1e-5, 1e-4, … where one does.
        """
        return "\n".join(sentences(self._describe()))

    def _describe(self) -> str:
        many = f"{self.releases} release{'s' * (self.releases != 1)} together"
        sums = f"ε = {format_up(self._total_epsilon)}, δ = {format_up(self._total_delta)}"
        if not self.parts:
            return f"{many}: {sums}"
        added = keep_together(f"(added up: {sums})")
        shown = self._shown_delta
        if shown >= 1:
            return f"{many}: δ = {format_up(self.delta(0))} at any ε {added}"
        epsilon = format_up(self.epsilon(shown))
        if epsilon == format_up(self._total_epsilon) and (
            not self._total_delta or format_up(shown) == format_up(self._total_delta)
        ):
            return f"{many}: {sums} (the same as added up)"
        return f"{many}: ε = {epsilon}, δ = {format_up(shown)} {added}"

    @property
    def _shown_delta(self) -> Fraction:
        """The δ for which ε is printed; 1 or more if no ε suffices."""
        if self._total_delta and not any(isinstance(part, Profile) for part, _ in self.parts):
            return Fraction(format_up(self._total_delta))
        shown = _SHOWN_DELTA
        while shown < 1 and self.delta(_LARGEST) * 2 > shown:
            shown *= 10
        return shown

    def __repr__(self) -> str:
        return f"Composition({self.releases} releases, {len(set(self.parts))} kinds)"

    @cached_property
    def _losses(self) -> dict[Part, PartLosses]:
        return {part: part_losses(part) for part, _ in self.parts}

    @cached_property
    def _above(self) -> JointLoss:
        return self._joint_loss(
            {part: losses.above for part, losses in self._losses.items()}, above=True
        )

    @cached_property
    def _below(self) -> JointLoss:
        curves = {
            part: losses.below for part, losses in self._losses.items() if losses.below is not None
        }
        return self._joint_loss(curves, above=False)

    def _joint_loss(self, curves: Mapping[Part, LossCurve], *, above: bool) -> JointLoss:
        """Combine the curves of all releases; use the exact δ if only one is not level."""
        falling = [part for part, curve in curves.items() if not curve.is_level]
        alone = partial(part_delta, falling[0]) if len(falling) == 1 else None
        counted = tuple((curves[part], count) for part, count in self.parts if part in curves)
        return JointLoss(counted, above, alone)

    @cached_property
    def _guarantees(self) -> list[tuple[tuple[Fraction, Fraction], int]]:
        kinds = {part: part_guarantee(part) for part, _ in self.parts}
        return [(kinds[part], count) for part, count in self.parts]

    @cached_property
    def _total_epsilon(self) -> Fraction:
        return sum((epsilon * count for (epsilon, _), count in self._guarantees), Fraction(0))

    @cached_property
    def _total_delta(self) -> Fraction:
        """1 − Π(1−δᵢ), exactly if short, otherwise from above."""
        return joint_failure((delta, count) for (_, delta), count in self._guarantees).upper

    def _total_guarantee(self, failing: Fraction) -> Privacy:
        """Return (Σεᵢ, δ), or reject a δ of 1, which is no guarantee."""
        if failing >= 1:
            raise InvalidParameter(
                "These releases have no total guarantee, because their δ add up to 1 or more",
                fix="Use delta(ε) for their joint δ, or release less.",
            )
        return Privacy(self._total_epsilon, round_up(failing) if failing else 0)


def _shorten(number: Fraction, width: Fraction) -> Fraction:
    """Return a number with few binary digits within a small part of ``width`` of ``number``."""
    parts = 1 << max(0, (8 / width).__ceil__().bit_length())
    return Fraction(round(number * parts), parts)


def _parse_part(part: object) -> list[tuple[Part, int]]:
    """Return the parts of a release with their counts, or reject it."""
    released, times = part if isinstance(part, tuple) and len(part) == 2 else (part, 1)
    if isinstance(released, Composition):
        parts = list(released.parts)
    elif isinstance(released, Privacy | Profile):
        parts = [(released, 1)]
    elif isinstance(released, Composable):
        parts = [(released.composed_as, 1)]
    else:
        raise InvalidParameter(
            "A part must be a mechanism, an answer, a Privacy, a Profile, a Composition, or a "
            "pair of one of these and a count",
            got=quote(released),
            fix="Use, for example, [mechanism, (Privacy(epsilon=1), 10)].",
        )
    repeated = parse_count(times, "the count of a part", least=1)
    return [(single, count * repeated) for single, count in parts]


def part_guarantee(part: Part) -> tuple[Fraction, Fraction]:
    """Return the (ε, δ) of one part; for a profile, 0 and its advantage."""
    if isinstance(part, Profile):
        return Fraction(0), part.advantage
    privacy = part if isinstance(part, Privacy) else part.privacy
    return privacy.epsilon, privacy.delta


def part_losses(part: Part) -> PartLosses:
    """Return the privacy loss curves of a part; for a mechanism, those of the noise it samples."""
    if isinstance(part, Privacy):
        return guarantee_losses(part)
    profile = part if isinstance(part, Profile) else part.profile
    return noise_losses(profile.noise, profile.sensitivity)


def part_delta(part: Part, epsilon: Fraction) -> Interval:
    """Enclose δ(ε) of one part; for a guarantee, of the worst mechanism that satisfies it."""
    if not isinstance(part, Privacy):
        return (part if isinstance(part, Profile) else part.profile).enclose(epsilon)
    most, level = exponential(part.epsilon, _BITS), exponential(epsilon, _BITS)
    if part.epsilon <= epsilon:
        return Interval.exact(part.delta)

    def share(grown: Fraction, factor: Fraction) -> Fraction:
        return max(Fraction(0), part.delta + (1 - part.delta) * (grown - factor) / (1 + grown))

    return Interval(share(most.lower, level.upper), share(most.upper, level.lower))
