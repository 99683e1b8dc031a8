"""What several releases about the same people reveal together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property, partial

from leastnoise.accounting.curves import LossCurve
from leastnoise.accounting.joint import JointLoss
from leastnoise.accounting.parts import PartLosses, noise_losses, promise_losses
from leastnoise.accounting.profile import Part, Profile, Releasing, parse_epsilon
from leastnoise.core.basic_composition import joint_failure
from leastnoise.core.exact import (
    Interval,
    Number,
    exponential,
    format_exact,
    format_rounded,
    parse_count,
    parse_rational,
    quote,
    round_up,
)
from leastnoise.core.privacy import Privacy
from leastnoise.errors import InvalidParameter

# Beyond this ε nothing is looked for.
_LARGEST = Fraction(1 << 16)
_SHOWN = Fraction(1, 10**6)
_BITS = 320
# How near the ε that is found is to the smallest that suffices, relative to it, or absolutely.
_NEAR_BITS, _LEAST_BITS = 40, 60


def compose(parts: Iterable[object]) -> Composition:
    """Say what several releases about the same people promise together.

    Each release may be chosen after the answers before it are seen, as long as the mechanisms are
    fixed beforehand. The bounds are proved in exact arithmetic, down to δ = 1e-30 and below.

    Args:
        parts: A list of mechanisms, answers, promises (:class:`Privacy`), profiles and
            compositions; or pairs (part, how often). A mechanism counts by the noise it draws, a
            promise by the worst mechanism that keeps it. Answers that one person touches several
            times count by their stated promise.

    Raises:
        InvalidParameter: If something in the list is none of these.

    >>> together = compose([(Privacy(epsilon="0.1"), 100)])
    >>> print(together)
    100 releases together: ε = 4.77457 at δ = 0.000001 (added up: ε = 10 at δ = 0)
    >>> print(compose([Privacy(delta="0.1"), Privacy(delta="0.2")]))
    2 releases together: ε = 0 at δ = 0.28 (nothing is gained over adding up)
    >>> compose([Privacy(delta="0.1"), Privacy(delta="0.2")]).delta(0)
    Fraction(7, 25)
    """
    if isinstance(parts, str | bytes) or not isinstance(parts, Iterable):
        raise InvalidParameter(
            "compose takes a list of releases",
            got=quote(parts),
            fix="Give for instance [mechanism, (other, 10)].",
        )
    return Composition(tuple(found for part in parts for found in _read(part)))


@dataclass(frozen=True, repr=False)
class Composition:
    """Several releases together; made by :func:`compose`. Nothing is computed before it is asked.

    Attributes:
        parts: What is released, each with how often.
    """

    parts: tuple[tuple[Part, int], ...]

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return sum(count for _, count in self.parts)

    def delta(self, epsilon: Number = 0) -> Fraction:
        """Return a δ that all releases together are proved to keep at this ε."""
        exact = parse_epsilon(epsilon)
        found = self._above.delta(exact)
        if exact >= self._added:
            return min(found, self._failing)
        if self._failing < 1 and self._added < _LARGEST:  # as good as what the sums promise
            found = min(found, part_delta(Privacy(self._added, self._failing), exact).upper)
        return found

    def enclose(self, epsilon: Number = 0) -> Interval:
        """Enclose the smallest δ that all releases together keep at this ε.

        The lower end is what two fixed neighbors reach: those that are furthest apart in every
        release, by a law of losses whose curve lies below; of noises that are not symmetric, it is
        what the others reach, or one of them alone. Of a promise it is what the worst mechanism
        that keeps it reaches.
        """
        upper, exact = self.delta(epsilon), parse_epsilon(epsilon)
        lower = self._below.delta(exact)
        for part, losses in self._losses.items():
            if losses.below is None:
                lower = max(lower, part_delta(part, exact).lower)
        if lower > upper:  # both are proved, so that one of the proofs is wrong
            raise AssertionError("a lower bound of δ must not exceed the upper one")
        return Interval(lower, upper)

    def epsilon(self, delta: Number) -> Fraction:
        """Return the smallest ε found at which all releases together are proved to keep δ.

        Within 2⁻⁴⁰ of the smallest that :meth:`delta` proves.

        Raises:
            InvalidParameter: If no ε suffices, for with more than δ something is told for certain.
        """
        allowed = parse_rational(delta, "δ")
        if not 0 <= allowed < 1:
            raise InvalidParameter(
                "δ must be at least 0 and less than 1",
                got=quote(delta),
                fix="Give a probability such as '1e-6'.",
            )
        high = self._added if allowed >= self._failing else _LARGEST
        least = self.delta(high)
        if least > allowed:
            raise InvalidParameter(
                f"no ε is proved to suffice at δ = {format_exact(allowed)}: these releases need at "
                f"least {_up(least)} whatever ε is",
                fix="Allow a larger δ.",
            )
        if self.delta(0) <= allowed:
            return Fraction(0)
        low = Fraction(0)
        while high - low > max(high / (1 << _NEAR_BITS), Fraction(1, 1 << _LEAST_BITS)):
            middle = _short((low + high) / 2, high - low)
            if self.delta(middle) <= allowed:
                high = middle
            else:
                low = middle
        return high

    @cached_property
    def basic(self) -> Privacy:
        """The sums (Σεᵢ, Σδᵢ) of what each release promises by itself.

        Valid whatever is chosen after whatever is seen, the promises themselves included, as long
        as the sums stay within it (Rogers, Roth, Ullman and Vadhan 2016, section 3). A profile,
        which promises nothing, counts as (0, its advantage).
        """
        total = sum((delta * count for (_, delta), count in self._promises), Fraction(0))
        return self._promised(total)

    @cached_property
    def simple(self) -> Privacy:
        """(Σεᵢ, 1 − Π(1−δᵢ)): at most :attr:`basic`, and valid as widely.

        For fixed promises Kairouz, Oh and Viswanath 2015, Theorem 3.3; for promises that are chosen
        on the way, as long as the sum and the product stay within it, docs/theory/composition.md.
        """
        return self._promised(self._failing)

    @property
    def advantage(self) -> Fraction:
        """δ at ε = 0: how far from blind guessing the best attacker gets, at most."""
        return self.delta(0)

    def explain(self) -> str:
        """Say in plain words what all releases together promise, and under which conditions."""
        guess = format_rounded((1 + self.advantage) * 50, 6, ROUND_CEILING)
        words = [
            f"{self}.",
            "Someone who sees all answers guesses whether one person is in the data right at most "
            f"{guess} % of the time.",
            "This holds also where each question depends on the answers before it, as long as the "
            "mechanisms, their noise and how many there are were fixed beforehand.",
            "Where these are chosen on the way, only what is added up holds: ε the sum, and 1 − δ "
            "the product, over all that was released.",
        ]
        return " ".join(words)

    def __str__(self) -> str:
        """Say it in one honest line, rounded up, beside what adding up says.

        At the δ that the added-up promises have, so that the two ε can be compared; at 1e-6 where
        that δ is 0, or where a profile is among the parts, which has no promise to add up. If that
        is too small for any ε, at ten times as much, and so on.
        """
        many = f"{self.releases} release{'s' * (self.releases != 1)} together"
        sums = f"ε = {_up(self._added)} at δ = {_up(self._failing)}"
        if not self.parts:
            return f"{many}: {sums}"
        shown = self._shown
        if shown >= 1:
            return f"{many}: δ = {_up(self.delta(0))} at any ε (added up: {sums})"
        epsilon = _up(self.epsilon(shown))
        if epsilon == _up(self._added) and (not self._failing or _up(shown) == _up(self._failing)):
            return f"{many}: {sums} (nothing is gained over adding up)"
        return f"{many}: ε = {epsilon} at δ = {_up(shown)} (added up: {sums})"

    @property
    def _shown(self) -> Fraction:
        """The δ at which ε is printed; 1 or more where no ε suffices."""
        if self._failing and not any(isinstance(part, Profile) for part, _ in self.parts):
            return Fraction(_up(self._failing))
        shown = _SHOWN
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
        return self._together({part: each.above for part, each in self._losses.items()}, above=True)

    @cached_property
    def _below(self) -> JointLoss:
        known = {part: each.below for part, each in self._losses.items() if each.below is not None}
        return self._together(known, above=False)

    def _together(self, curves: Mapping[Part, LossCurve], *, above: bool) -> JointLoss:
        """Gather the curves of all releases; one that alone is not level has a δ of its own."""
        bent = [part for part, curve in curves.items() if not curve.is_level]
        alone = partial(part_delta, bent[0]) if len(bent) == 1 else None
        known = tuple((curves[part], count) for part, count in self.parts if part in curves)
        return JointLoss(known, above, alone)

    @cached_property
    def _promises(self) -> list[tuple[tuple[Fraction, Fraction], int]]:
        kinds = {part: part_promise(part) for part, _ in self.parts}
        return [(kinds[part], count) for part, count in self.parts]

    @cached_property
    def _added(self) -> Fraction:
        return sum((epsilon * count for (epsilon, _), count in self._promises), Fraction(0))

    @cached_property
    def _failing(self) -> Fraction:
        """1 − Π(1−δᵢ), exactly where that is short, else from above."""
        return joint_failure((delta, count) for (_, delta), count in self._promises).upper

    def _promised(self, failing: Fraction) -> Privacy:
        """Return (Σεᵢ, δ), or refuse where it would promise nothing."""
        if failing >= 1:
            raise InvalidParameter(
                "a promise needs δ < 1",
                got="releases whose δ add up to 1 or more",
                fix="Ask delta(ε) for what they keep together, or release less.",
            )
        return Privacy(self._added, round_up(failing) if failing else 0)


def _short(number: Fraction, width: Fraction) -> Fraction:
    """Return a number of few binary digits near the given one, as measured by a width."""
    parts = 1 << max(0, (8 / width).__ceil__().bit_length())
    return Fraction(round(number * parts), parts)


def _up(number: Fraction) -> str:
    return format_rounded(number, 6, ROUND_CEILING)


def _read(part: object) -> list[tuple[Part, int]]:
    """Return what is released and how often, or reject it."""
    released, times = part if isinstance(part, tuple) and len(part) == 2 else (part, 1)
    if isinstance(released, Composition):
        found = list(released.parts)
    elif isinstance(released, Privacy | Profile):
        found = [(released, 1)]
    elif isinstance(released, Releasing):
        found = [(released.composed_as, 1)]
    else:
        raise InvalidParameter(
            "what is composed must be a mechanism, an answer, a promise, a profile or a "
            "composition, or a pair of one and how often",
            got=quote(released),
            fix="Give for instance [mechanism, (Privacy(epsilon=1), 10)].",
        )
    repeated = parse_count(times, "how often a part is released", least=1)
    return [(each, count * repeated) for each, count in found]


def part_promise(part: Part) -> tuple[Fraction, Fraction]:
    """Return the (ε, δ) that a part keeps by itself: of a profile, 0 and its advantage, or 1."""
    if isinstance(part, Profile):
        return Fraction(0), part.advantage
    privacy = part if isinstance(part, Privacy) else part.privacy
    return privacy.epsilon, privacy.delta


def part_losses(part: Part) -> PartLosses:
    """Return the curves of what a part can lose: of a mechanism, by the noise that it draws."""
    if isinstance(part, Privacy):
        return promise_losses(part)
    profile = part if isinstance(part, Profile) else part.profile
    return noise_losses(profile.noise, profile.sensitivity)


def part_delta(part: Part, epsilon: Fraction) -> Interval:
    """Enclose δ(ε) of one part alone; of a promise, that of the worst mechanism that keeps it."""
    if not isinstance(part, Privacy):
        return (part if isinstance(part, Profile) else part.profile).enclose(epsilon)
    most, level = exponential(part.epsilon, _BITS), exponential(epsilon, _BITS)
    if part.epsilon <= epsilon:
        return Interval.exact(part.delta)

    def share(grown: Fraction, factor: Fraction) -> Fraction:
        return max(Fraction(0), part.delta + (1 - part.delta) * (grown - factor) / (1 + grown))

    return Interval(share(most.lower, level.upper), share(most.upper, level.lower))
