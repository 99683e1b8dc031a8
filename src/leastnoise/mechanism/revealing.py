"""How probable revealing outputs are, and the consent that exact releases require."""

from collections.abc import Callable
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import TYPE_CHECKING

from leastnoise.accounting import Profile
from leastnoise.core.exact import format_probability, format_rounded, quote
from leastnoise.errors import ALLOW_EXACT, InvalidParameter, parameter

if TYPE_CHECKING:
    from leastnoise.mechanism.mechanism import Mechanism


def revealing_probability(mechanism: "Mechanism") -> Fraction:
    """Return the largest probability of an output that is impossible for a neighbor.

    The continuous noise counts too: an output at one of its point masses is impossible for a
    neighbor there, but on the fine lattice only about a million times less likely. 0 for unbounded
    noise, which can reach every point from any other.
    """
    discretized = mechanism.discretized.noise
    if isinstance(discretized.radius, float):
        return Fraction(0)
    shifts = {mechanism.noise: mechanism.sensitivity, discretized: mechanism.effective_sensitivity}
    return max(Profile(noise, sensitivity=shift).infinity_mass for noise, shift in shifts.items())


def explain_outputs(mechanism: "Mechanism") -> list[str]:
    """Return sentences about revealing outputs and exact releases, probabilities rounded up."""
    sentences = []
    revealing = revealing_probability(mechanism)
    if revealing:
        sentences.append(
            "With this noise, the probability that the answer reveals with certainty whether a "
            f"person is in the data is at most {format_probability(revealing)}."
        )
    elif mechanism.privacy.delta:
        sentences.append(
            "This noise is unbounded, so no output reveals with certainty whether a person is in "
            "the data."
        )
    if mechanism.needs_allow_exact:
        exact = format_probability(mechanism.exact_probability)
        sentences.append(f"With probability {exact} the exact answer is released.")
    return sentences


def exact_release_problem(mechanism: "Mechanism") -> str:
    """Return why a release by this mechanism requires ``allow_exact``."""
    noise = mechanism.discretized.noise
    probability = format_rounded(mechanism.exact_probability, 6, ROUND_CEILING)
    if mechanism.integer or noise.isolated_weight == noise.weight(0):
        return (
            f"With probability {probability} this noise adds nothing and the release is the "
            "exact value"
        )
    return (
        f"With probability {probability} this noise adds one of a few known numbers and the "
        "release reveals the exact value"
    )


def check_allow_exact(
    allow_exact: object,
    *,
    needed: bool,
    what: str,
    refusal: Callable[[], str],
    got: str | None = None,
) -> None:
    """Reject an ``allow_exact`` that is no boolean, or that is False where True is required.

    Args:
        allow_exact: The argument of the caller.
        needed: Whether True is required.
        what: A noun phrase for what can be released exactly.
        refusal: The problem to report where True is required, computed only then.
        got: The words for the argument in messages. Default: the argument itself, quoted.

    Raises:
        InvalidParameter: In both cases. Nothing was charged.
    """
    if not isinstance(allow_exact, bool):
        raise InvalidParameter(
            parameter("allow_exact") + " must be True or False",
            got=got or quote(allow_exact),
            fix=f"Use True to accept that {what} can be released.",
        )
    if needed and not allow_exact:
        fix = "Use a smaller ε or δ, or accept it with " + ALLOW_EXACT + "."
        raise InvalidParameter(refusal(), fix=fix)
