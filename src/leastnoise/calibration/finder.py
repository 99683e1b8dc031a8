"""Find the noise for a problem, and prove how near to optimal it is.

Problems that differ only in Δ have one answer for the cost |x|ᵖ: that at Δ = 1, scaled.
"""

import contextlib
import time
from dataclasses import replace
from fractions import Fraction

from leastnoise.calibration.cache import load, save
from leastnoise.calibration.canonical import least_canonical
from leastnoise.calibration.comb import prove_comb
from leastnoise.calibration.families import FAMILIES, cheapest_known, check_family
from leastnoise.calibration.problem import Effort, Problem, certify
from leastnoise.calibration.solve import Bracket, narrow
from leastnoise.calibration.staircase import cheapest_staircase
from leastnoise.calibration.uniform import least_unimodal
from leastnoise.certificate import CanonicalBound, Certificate, LatticeBound
from leastnoise.core.exact import format_exact, power
from leastnoise.core.noise import LineNoise, Noise
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
    """Return the optimal noise of a class, or one proved to be near it, and the proof.

    ============================  =================================================================
    ε = 0, decreasing             GDGK19's P_α; on the integers a mixture of two uniform ones
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
    noise, certificate = (
        _find_least(problem, effort) if family is None else _find_in_family(problem, family)
    )
    if isinstance(noise.radius, Fraction):
        problem.cost.probe(2 * noise.radius)
    certificate.check()
    return noise, certificate


def _find_least(problem: Problem, effort: Effort) -> tuple[Noise, Certificate]:
    """Return the noise that the table of :func:`find_noise` names."""
    privacy = problem.privacy
    if not privacy.epsilon:
        closed = least_unimodal(problem)
        if problem.among == "decreasing":
            return closed
        found = prove_comb(problem)
        if found is not None:
            return found
        return _prove_or_solve(problem, closed[0], closed[1].source, effort)
    if not privacy.delta:
        with contextlib.suppress(Unsupported):  # for tiny ε its cost takes too many terms
            return _prove_or_solve(problem, cheapest_staircase(problem), _STAIRCASE, effort)
    if problem.integer and problem.sensitivity == 1:
        with contextlib.suppress(Unsupported):  # it has too many steps to be listed
            return least_canonical(problem)
    unit = _at_unit(problem)
    noise, family = cheapest_known(unit)
    source = _CHEAPEST.format(family)
    if problem.among == "any" and effort.solve:  # any shape begins with the least decreasing one
        begun, plainer = time.monotonic(), replace(unit, among="decreasing")
        first = replace(effort, seconds=effort.seconds / 8)
        noise, certificate = _prove_or_solve(plainer, noise, source, first)
        source = certificate.source
        left = effort.seconds - (time.monotonic() - begun)
        effort = replace(effort, seconds=max(left, effort.seconds / 8))
    certificate = _scale_certificate(_prove_or_solve(unit, noise, source, effort)[1], problem)
    if certificate.gap <= effort.gap and certificate.source == _CHEAPEST.format(family):
        certificate = replace(certificate, source=FAMILIES[family].source)
    return certificate.noise, certificate


def _find_in_family(problem: Problem, family: str) -> tuple[Noise, Certificate]:
    """Return the noise of a family, with the best bound that is known at once."""
    known = FAMILIES[check_family(family, "the least noise")]
    noise = known.find(problem)
    proved = None if known.prove_least is None else known.prove_least(problem)
    return proved or _certified(_bracket(problem, noise), known.source)


def _prove_or_solve(
    problem: Problem, noise: Noise, source: str, effort: Effort
) -> tuple[Noise, Certificate]:
    """Return the noise if a bound that is known at once shows it near enough; else solve."""
    counting = problem.integer and problem.sensitivity == 1
    bracket = _bracket(problem, noise)
    if bracket.gap <= effort.gap or counting or not effort.solve:
        return _certified(bracket, source)
    kept = load(problem)
    if kept is not None and kept.gap <= effort.gap:
        return kept.noise, kept
    with Progress() as progress:
        bracket = narrow(bracket, gap=effort.gap, seconds=effort.seconds, progress=progress)
    noise, certificate = _certified(bracket, source if bracket.noise is noise else _SOLVED)
    save(problem, certificate)
    return noise, certificate


def _bracket(problem: Problem, noise: Noise) -> Bracket:
    evidence = CanonicalBound(integer=problem.integer)
    return Bracket.of(problem, noise, evidence)


def _certified(bracket: Bracket, source: str) -> tuple[Noise, Certificate]:
    return certify(bracket.problem, bracket.noise, source, bracket.evidence, bracket.bound)


def _at_unit(problem: Problem) -> Problem:
    """Return the problem at Δ = 1 where its answer need only be scaled, else as it is."""
    scales = isinstance(problem.cost, Power) and not problem.integer
    return replace(problem, sensitivity=Fraction(1)) if scales else problem


def _scale_certificate(certificate: Certificate, problem: Problem) -> Certificate:
    """Return the certificate of a problem at Δ = 1 as one of the problem itself.

    The multipliers of a bound are scaled like the cost; since Δᵖ may be irrational only nearly, for
    which the bound is worked out anew.
    """
    sensitivity, cost, evidence = problem.sensitivity, problem.cost, certificate.evidence
    if sensitivity == certificate.sensitivity or not isinstance(cost, Power):
        return certificate
    noise = certificate.noise
    assert isinstance(noise, LineNoise)  # noqa: S101 -- only noise on the line is found at Δ = 1
    if isinstance(evidence, LatticeBound):
        unit = evidence.unit * power(sensitivity, cost.p).middle
        evidence = replace(
            evidence, unit=unit, floors=tuple(evidence.frame.floors(cost, sensitivity))
        )
    bound = None if evidence is None else evidence.prove(cost, problem.privacy, sensitivity)
    return certify(problem, noise.scaled(sensitivity), certificate.source, evidence, bound)[1]
