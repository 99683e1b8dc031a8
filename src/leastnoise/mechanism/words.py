"""What a mechanism is said to do, in plain words."""

from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.exact import approximately
from leastnoise.profiles import Profile

if TYPE_CHECKING:
    from leastnoise.mechanism.mechanism import Mechanism


def explained(mechanism: "Mechanism", people: int | None) -> str:
    """Say what is promised, then what the noise that is drawn does; chances are rounded up."""
    words = [mechanism.privacy.explain(people=people)]
    proved = proving(mechanism)
    if proved:
        words.append(
            f"With this noise an answer proves it outright with probability {_percent(proved)} % "
            "at the most."
        )
    elif mechanism.privacy.delta:
        words.append("This noise has no largest size: an answer never proves it outright.")
    if mechanism.needs_allowance:
        left = _percent(mechanism.exact_probability)
        words.append(f"With probability {left} % the exact answer leaves.")
    return " ".join(words)


def proving(mechanism: "Mechanism") -> Fraction:
    """Return the probability, at the most, of an answer that is impossible for a neighbour.

    Of the noise on the line too: what stands out there, as an atom does, is on the fine lattice not
    impossible for a neighbour, only a million times less likely. 0 for noise without a largest
    size, which can reach every point from any other.
    """
    drawn = mechanism.drawn.noise
    if isinstance(drawn.radius, float):
        return Fraction(0)
    laws = {mechanism.noise: mechanism.sensitivity, drawn: mechanism.protected}
    return max(Profile(law, sensitivity=moved).impossible for law, moved in laws.items())


def _percent(chance: Fraction) -> str:
    return approximately(chance * 100, 6, ROUND_CEILING)
