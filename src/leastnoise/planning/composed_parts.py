"""What can be composed: how each part is read, what it promises and what it can lose."""

from fractions import Fraction

from leastnoise.errors import InvalidParameter
from leastnoise.exact import Interval, count, described, exponential
from leastnoise.mechanism import Answer, Answers, Mechanism
from leastnoise.mechanism.pair import PairAnswer, PairMechanism
from leastnoise.privacy import Privacy
from leastnoise.profiles import Profile
from leastnoise.profiles.composition.parts import PartLosses, noise_losses, promise_losses

Part = Mechanism | Privacy | Profile

_BITS = 320


def parts_read(part: object) -> tuple[Part, int]:
    """Return what is released and how often.

    Raises:
        InvalidParameter: If it is nothing that can be composed.
    """
    if isinstance(part, tuple) and len(part) == 2:
        return _read(part[0]), count(part[1], "how often a part is released", least=1)
    return _read(part), 1


def _read(part: object) -> Part:
    if isinstance(part, Mechanism | Privacy | Profile):
        return part
    if isinstance(part, Answer):
        return part.mechanism
    if isinstance(part, Answers):  # priced for several touches, it is no longer one release
        alone = part.privacy == part.mechanism.privacy
        return part.mechanism if alone else part.privacy
    if isinstance(part, PairMechanism | PairAnswer):
        return part.privacy
    raise InvalidParameter(
        "what is composed must be a mechanism, an answer, a promise, a profile or a composition, "
        f"or a pair of one and how often; got {described(part)}. "
        "Give for instance [mechanism, (Privacy(epsilon=1), 10)]."
    )


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
    profile = part_profile(part)
    return noise_losses(profile.noise, profile.sensitivity)


def part_delta(part: Part, epsilon: Fraction) -> Interval:
    """Enclose δ(ε) of one part alone; of a promise, that of the worst mechanism that keeps it."""
    if not isinstance(part, Privacy):
        return part_profile(part).enclose(epsilon)
    most, level = exponential(part.epsilon, _BITS), exponential(epsilon, _BITS)
    if part.epsilon <= epsilon:
        return Interval.exact(part.delta)

    def share(grown: Fraction, factor: Fraction) -> Fraction:
        return max(Fraction(0), part.delta + (1 - part.delta) * (grown - factor) / (1 + grown))

    return Interval(share(most.lower, level.upper), share(most.upper, level.lower))


def part_profile(part: Mechanism | Profile) -> Profile:
    """Return the profile of what a part draws."""
    if isinstance(part, Profile):
        return part
    return Profile(part.drawn.noise, sensitivity=part.protected)
