"""Which finder answers a question.

Which finder answers which question.

Questions that differ only in Δ: for the cost |x|ᵖ one answer, at Δ = 1, serves them all.
"""

import contextlib
import time
from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration.cache import load, save
from leastnoise.calibration.families import (
    FAMILIES,
    cheapest_known,
    least_decreasing,
    noise_of_family,
)
from leastnoise.calibration.integers import least_canonical
from leastnoise.calibration.line import least_comb
from leastnoise.calibration.problem import Effort, Problem
from leastnoise.calibration.solve import Bracket, narrow, to_certificate
from leastnoise.calibration.staircase import cheapest_staircase
from leastnoise.certificate import CanonicalBound, Certificate, LatticeBound
from leastnoise.core.exact import format_exact, power
from leastnoise.core.noise import Noise, Smooth, Staircase, Steps, Uniform
from leastnoise.costs import Power
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.rendering import Progress

_SOLVED = "a linear programme, proved on a lattice (docs/theory/lattice-bound.md)"
_CHEAPEST = "cheapest of the known families, {}; not proved least"
_LARGEST_EPSILON = 5_000
_STAIRCASE = "Geng and Viswanath 2016 (the staircase)"


def find_noise(
    problem: Problem, effort: Effort, family: str | None = None
) -> tuple[Noise, Certificate]:
    """Return the least noise of a class, or one proved to be near it, and the proof.

    ============================  =================================================================
    ε = 0, decreasing             GDGK19's P_α; on the integers the mixture of two uniform noises
    ε = 0, any shape              the comb where it is proved least; P_α where a bound shows that
                                  it is near enough; else solved
    integers, Δ = 1               the canonical noise, least for every cost at once
    δ = 0                         the staircase, with a bound that shows how near
    else                          solved
    ============================  =================================================================

    ``family`` asks for a noise of one kind instead (:mod:`leastnoise.calibration.families`).
    """
    if not problem.privacy.delta and not problem.privacy.epsilon:
        raise InvalidParameter(
            "at ε = 0 no noise keeps δ = 0: the answer would have to be the same for all data",
            got="(0, 0)",
            fix="Give δ > 0.",
        )
    if problem.privacy.epsilon > _LARGEST_EPSILON:
        raise Unsupported(
            f"an ε above {_LARGEST_EPSILON} protects nobody, and e^ε is not computed for it",
            got=f"ε = {format_exact(problem.privacy.epsilon)}",
            fix="Promise less.",
        )
    # A cost is looked at before it is trusted, and again as far as the noise turned out to reach.
    level = max(problem.privacy.delta, min(problem.privacy.epsilon, Fraction(1)))
    problem.cost.probe(problem.sensitivity / level)
    noise, certificate = _found(problem, effort) if family is None else _forced(problem, family)
    if isinstance(noise.radius, Fraction):
        problem.cost.probe(2 * noise.radius)
    certificate.check()
    return noise, certificate


def _found(problem: Problem, effort: Effort) -> tuple[Noise, Certificate]:
    privacy = problem.privacy
    if not privacy.epsilon:
        closed = least_decreasing(problem)
        if problem.among == "decreasing":
            return closed
        found = None if problem.integer else least_comb(privacy, problem.sensitivity, problem.cost)
        if found is not None:
            return found
        return _bracketed(problem, closed[0], closed[1].source, effort)
    if not privacy.delta:
        with contextlib.suppress(Unsupported):  # for tiny ε its cost takes too many terms
            return _bracketed(problem, cheapest_staircase(problem), _STAIRCASE, effort)
    if problem.integer and problem.sensitivity == 1:
        with contextlib.suppress(Unsupported):  # it has too many steps to be listed
            return least_canonical(problem)
    unit = at_unit(problem)
    noise, family = cheapest_known(unit)
    source = _CHEAPEST.format(family)
    if problem.among == "any" and effort.solve:  # any shape begins with the least decreasing one
        begun, plainer = time.monotonic(), replace(unit, among="decreasing")
        first = replace(effort, seconds=effort.seconds / 8)
        noise, certificate = _bracketed(plainer, noise, source, first)
        source = certificate.source
        left = effort.seconds - (time.monotonic() - begun)
        effort = replace(effort, seconds=max(left, effort.seconds / 8))
    certificate = scaled(_bracketed(unit, noise, source, effort)[1], problem)
    if certificate.gap <= effort.gap and certificate.source == _CHEAPEST.format(family):
        certificate = replace(certificate, source=FAMILIES[family].source)
    return certificate.noise, certificate


def _forced(problem: Problem, family: str) -> tuple[Noise, Certificate]:
    """Return the noise of a family, with the best bound that is known at once."""
    noise, source = noise_of_family(family, problem)
    if not problem.privacy.epsilon and family == "uniform":
        return least_decreasing(problem)
    if not problem.privacy.epsilon and family == "comb":
        best = least_comb(problem.privacy, problem.sensitivity, problem.cost)
        if best is not None:
            return best
    bracket = (
        Bracket(problem).with_noise(noise).with_evidence(CanonicalBound(integer=problem.integer))
    )
    return to_certificate(bracket, source)


def _bracketed(
    problem: Problem, noise: Noise, source: str, effort: Effort
) -> tuple[Noise, Certificate]:
    """Return the noise if a bound that is known at once shows it near enough; else solve."""
    counting = problem.integer and problem.sensitivity == 1
    bracket = (
        Bracket(problem).with_noise(noise).with_evidence(CanonicalBound(integer=problem.integer))
    )
    if bracket.gap <= effort.gap or counting or not effort.solve:
        return to_certificate(bracket, source)
    kept = load(problem)
    if kept is not None and kept.gap <= effort.gap:
        return kept.noise, kept
    with Progress() as progress:
        bracket = narrow(bracket, gap=effort.gap, seconds=effort.seconds, progress=progress)
    noise, certificate = to_certificate(bracket, source if bracket.noise is noise else _SOLVED)
    save(problem, certificate)
    return noise, certificate


def at_unit(problem: Problem) -> Problem:
    """Return the question at Δ = 1 where its answer need only be scaled, else as it is."""
    scales = isinstance(problem.cost, Power) and not problem.integer
    return replace(problem, sensitivity=Fraction(1)) if scales else problem


def scaled(certificate: Certificate, problem: Problem) -> Certificate:
    """Return a certificate of :func:`at_unit`'s question as one of the question itself.

    The multipliers of a bound are scaled like the cost; since Δᵖ may be irrational only nearly, for
    which the bound is worked out anew.
    """
    moved, cost, evidence = problem.sensitivity, problem.cost, certificate.evidence
    if moved == certificate.sensitivity or not isinstance(cost, Power):
        return certificate
    if isinstance(evidence, LatticeBound):
        unit = evidence.unit * power(moved, cost.p).middle
        evidence = replace(evidence, unit=unit, floors=tuple(evidence.frame.floors(cost, moved)))
    return Certificate.of(
        _stretched(certificate.noise, moved),
        problem.privacy,
        moved,
        cost,
        source=certificate.source,
        lower_bound=None if evidence is None else evidence.prove(cost, problem.privacy, moved),
        evidence=evidence,
    )


def _stretched(noise: Noise, factor: Fraction) -> Noise:
    if isinstance(noise, Staircase):
        return Staircase(noise.period * factor, noise.gamma, noise.ratio)
    if isinstance(noise, Uniform):
        return Uniform(noise.radius * factor, noise.atom)
    assert isinstance(noise, Smooth | Steps)  # noqa: S101 -- the only other noises on the line
    return noise.scaled(factor)
