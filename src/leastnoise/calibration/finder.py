"""Find the noise for a problem, and prove its optimality gap.

For the cost |x|ᵖ, problems on the line that differ only in Δ are solved at Δ = 1 and scaled.
"""

import contextlib
import time
from dataclasses import dataclass, replace
from fractions import Fraction

from leastnoise.calibration.cache import load, save
from leastnoise.calibration.canonical import prove_canonical
from leastnoise.calibration.comb import prove_comb
from leastnoise.calibration.deadline import Clock, Deadline
from leastnoise.calibration.families import FAMILIES, check_family, find_cheapest
from leastnoise.calibration.problem import Effort, Problem, certify
from leastnoise.calibration.solve import Bracket, narrow
from leastnoise.calibration.sources import SOLVED
from leastnoise.calibration.staircase import find_cheapest_staircase
from leastnoise.calibration.uniform import find_optimal
from leastnoise.certificate import CanonicalBound, Certificate, LatticeBound
from leastnoise.core.exact import format_exact, power
from leastnoise.core.noise import LineNoise, Noise
from leastnoise.costs import Power
from leastnoise.errors import InvalidParameter, Unsupported, parameter
from leastnoise.rendering import Progress

# Stored in certificates, and part of their digests: these words must never change.
_CHEAPEST = "cheapest of the known families, {}; not proved least"
_STAIRCASE = "Geng and Viswanath 2016 (the staircase)"
_LARGEST_EPSILON = 5_000


@dataclass(frozen=True)
class _Attempt:
    """The effort of a search, its deadline, and its progress report."""

    effort: Effort
    deadline: Deadline
    progress: Progress


def find_noise(
    problem: Problem,
    effort: Effort,
    family: str | None = None,
    *,
    clock: Clock = time.monotonic,
) -> tuple[Noise, Certificate]:
    """Return optimal or near-optimal noise of a class, with a proof of its gap.

    ============================  =================================================================
    ε = 0, unimodal               GDGK19's P_α; on the integers a mixture of two uniform ones
    ε = 0, any shape              the comb if it is proved optimal; P_α if a bound proves that its
                                  gap is small enough; otherwise a linear program
    integers, Δ = 1               the canonical noise, optimal for every cost
    δ = 0                         the staircase, with a lower bound
    otherwise                     a linear program
    ============================  =================================================================

    With ``family`` it returns noise of that family (:mod:`leastnoise.calibration.families`).

    Solving ends ``effort.seconds`` after the call by the ``clock``, including the time to verify
    the result. All closed forms are always tried. One of them is the result if the time ends before
    anything better is verified.
    """
    attempt = _Attempt(effort, Deadline.after(effort.seconds, clock), Progress("looking for noise"))
    if not problem.privacy.delta and not problem.privacy.epsilon:
        raise InvalidParameter(
            "No noise satisfies ε = 0, δ = 0: the output would have to be the same for all data",
            fix="Use δ > 0.",
        )
    if problem.privacy.epsilon > _LARGEST_EPSILON:
        raise Unsupported(
            parameter("epsilon")
            + f" must be at most {_LARGEST_EPSILON}, because a larger one protects nobody",
            got=format_exact(problem.privacy.epsilon),
            fix="Use a smaller ε.",
        )
    # A cost is sampled before it is used. Verifying samples it again, up to twice the radius.
    level = max(problem.privacy.delta, min(problem.privacy.epsilon, Fraction(1)))
    problem.cost.probe(problem.sensitivity / level)
    with attempt.progress as report:
        noise, certificate = (
            _find_least(problem, attempt) if family is None else _find_in_family(problem, family)
        )
        report("verifying the noise")
        certificate.verify()
    return noise, certificate


def _find_least(problem: Problem, attempt: _Attempt) -> tuple[Noise, Certificate]:
    """Return the noise by the table of :func:`find_noise`."""
    privacy, effort = problem.privacy, attempt.effort
    if not privacy.epsilon:
        closed = find_optimal(problem)
        if problem.shape == "unimodal":
            return closed
        comb = prove_comb(problem)
        if comb is not None:
            return comb
        return _prove_or_solve(problem, closed[0], closed[1].source, attempt)
    if not privacy.delta:
        with contextlib.suppress(Unsupported):  # for tiny ε its cost has too many terms
            staircase = find_cheapest_staircase(problem)
            return _prove_or_solve(problem, staircase, _STAIRCASE, attempt)
    if problem.integer and problem.sensitivity == 1:
        with contextlib.suppress(Unsupported):  # it has too many steps to be listed
            return prove_canonical(problem)
    unit = _scale_to_unit(problem)
    noise, family = find_cheapest(unit)
    source = _CHEAPEST.format(family)
    if problem.shape == "any" and effort.solve:  # start from the optimal unimodal noise
        unimodal = replace(unit, shape="unimodal")
        first = replace(attempt, deadline=attempt.deadline.share(1 / 8))
        noise, certificate = _prove_or_solve(unimodal, noise, source, first)
        source = certificate.source
    certificate = _scale_certificate(_prove_or_solve(unit, noise, source, attempt)[1], problem)
    if certificate.gap <= effort.gap and certificate.source == _CHEAPEST.format(family):
        certificate = replace(certificate, source=FAMILIES[family].source)
    return certificate.noise, certificate


def _find_in_family(problem: Problem, family: str) -> tuple[Noise, Certificate]:
    """Return the noise of a family, with the best bound in closed form."""
    member = FAMILIES[check_family(family, "the optimal noise")]
    noise = member.find(problem)
    proved = None if member.prove_least is None else member.prove_least(problem)
    return proved or _certify_bracket(_make_bracket(problem, noise), member.source)


def _prove_or_solve(
    problem: Problem, noise: Noise, source: str, attempt: _Attempt
) -> tuple[Noise, Certificate]:
    """Return the noise if a closed-form bound proves that its gap is small enough; else solve."""
    counting, effort = problem.integer and problem.sensitivity == 1, attempt.effort
    bracket = _make_bracket(problem, noise)
    if bracket.gap <= effort.gap or counting or not effort.solve:
        return _certify_bracket(bracket, source)
    stored = load(problem)
    if stored is not None and stored.gap <= effort.gap:
        # The source has the words of this version, not those of the file.
        return stored.noise, replace(stored, source=source if stored.noise == noise else SOLVED)
    bracket = narrow(bracket, gap=effort.gap, deadline=attempt.deadline, progress=attempt.progress)
    noise, certificate = _certify_bracket(bracket, source if bracket.noise is noise else SOLVED)
    save(problem, certificate)
    return noise, certificate


def _make_bracket(problem: Problem, noise: Noise) -> Bracket:
    evidence = CanonicalBound(integer=problem.integer)
    return Bracket.of(problem, noise, evidence)


def _certify_bracket(bracket: Bracket, source: str) -> tuple[Noise, Certificate]:
    return certify(bracket.problem, bracket.noise, source, bracket.evidence, bracket.bound)


def _scale_to_unit(problem: Problem) -> Problem:
    """Return the problem at Δ = 1 if its solution can be scaled, else the problem itself."""
    scales = isinstance(problem.cost, Power) and not problem.integer
    return replace(problem, sensitivity=Fraction(1)) if scales else problem


def _scale_certificate(certificate: Certificate, problem: Problem) -> Certificate:
    """Return the certificate of a problem from the one at Δ = 1.

    The multipliers of a bound are scaled like the cost. Because Δᵖ can be irrational, they are
    rounded, and the bound is proved again.
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
