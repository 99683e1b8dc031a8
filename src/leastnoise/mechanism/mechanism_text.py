"""A mechanism in words: its accuracy, its guarantee, and what its outputs can reveal."""

from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.core.noise import FiniteLatticeNoise
from leastnoise.mechanism.release_errors import farthest, half_width
from leastnoise.mechanism.revealing import explain_outputs
from leastnoise.rendering import fact_lines, paragraph, sentences

if TYPE_CHECKING:
    from leastnoise.mechanism.mechanism import Mechanism


def format_mechanism(mechanism: "Mechanism") -> str:
    """Return the accuracy of a mechanism, then facts, one per line."""
    error, largest = format_accuracy(mechanism)
    at = f"sensitivity {format_exact(mechanism.sensitivity)}"
    facts = [
        ("Max error", largest),
        ("Expected cost", mechanism.certificate.describe_cost()),
        ("Optimality", f"{mechanism.certificate}"),
        ("Guarantee", f"{mechanism.privacy} at {at}"),
    ]
    return "\n".join([*sentences(f"{mechanism.noise}: 95% error ± {error}"), *fact_lines(facts)])


def format_accuracy(mechanism: "Mechanism") -> tuple[str, str]:
    """Return the 95% error and the maximum error of a release, both rounded up."""
    usual = format_rounded(half_width(mechanism, Fraction(19, 20)), 4, ROUND_CEILING)
    largest = farthest(mechanism)
    if isinstance(largest, float):
        return usual, "none"
    return usual, format_rounded(largest, 6, ROUND_CEILING)


def explain_exact_release(mechanism: "Mechanism") -> str:
    """Return the probability of an exact release, and how it differs from an atom that is shown."""
    exact = format_rounded(mechanism.exact_probability, 6, ROUND_CEILING)
    words = f"with probability {exact}, the answer is the true value"
    noise = mechanism.discretized.noise
    if not isinstance(noise, FiniteLatticeNoise) or not noise.excess_at_0:
        return words
    adjacent = Fraction(max(noise.weight(1), noise.weight(-1)), noise.total)
    beside = format_exact(adjacent)
    return f"{words}. The atom is this probability minus that of an adjacent point, {beside}"


def explain_mechanism(mechanism: "Mechanism", people: int | None) -> str:
    """Return one paragraph about the guarantee and about what outputs can reveal."""
    words = [mechanism.privacy.explain(people=people), *explain_outputs(mechanism)]
    if mechanism.profile.gaussian_cost is not None:
        words.append(f"One release has {mechanism.gaussian_cost.describe()}.")
        if mechanism.integer and mechanism.sensitivity == 1:  # docs/theory/many-answers.md
            words.append(
                "Among integer noise with this μ, this noise is optimal for every cost that does "
                "not decrease with |error|."
            )
    return paragraph(*words)
