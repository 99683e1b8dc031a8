"""Questions that differ only in Δ: for the cost |x|ᵖ one answer, at Δ = 1, serves them all."""

from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration.question import Question
from leastnoise.certificate import Certificate, LatticeBound
from leastnoise.costs import Power
from leastnoise.exact import power
from leastnoise.noise import Noise, Smooth, Staircase, Steps, Uniform


def at_unit(asked: Question) -> Question:
    """Return the question at Δ = 1 where its answer need only be scaled, else as it is."""
    scales = isinstance(asked.cost, Power) and not asked.integer
    return replace(asked, sensitivity=Fraction(1)) if scales else asked


def scaled(certificate: Certificate, asked: Question) -> Certificate:
    """Return a certificate of :func:`at_unit`'s question as one of the question itself.

    The multipliers of a bound are scaled like the cost; since Δᵖ may be irrational only nearly, for
    which the bound is worked out anew.
    """
    moved, cost, evidence = asked.sensitivity, asked.cost, certificate.evidence
    if moved == certificate.sensitivity or not isinstance(cost, Power):
        return certificate
    if isinstance(evidence, LatticeBound):
        unit = evidence.unit * power(moved, cost.p).middle
        evidence = replace(evidence, unit=unit, floors=tuple(evidence.frame.floors(cost, moved)))
    return Certificate.of(
        _stretched(certificate.noise, moved),
        asked.privacy,
        moved,
        cost,
        source=certificate.source,
        lower_bound=None if evidence is None else evidence.proved(cost, asked.privacy, moved),
        evidence=evidence,
    )


def _stretched(noise: Noise, factor: Fraction) -> Noise:
    if isinstance(noise, Staircase):
        return Staircase(noise.period * factor, noise.gamma, noise.ratio)
    if isinstance(noise, Uniform):
        return Uniform(noise.radius * factor, noise.atom)
    assert isinstance(noise, Smooth | Steps)  # noqa: S101 -- the only other noises on the line
    return noise.scaled(factor)
