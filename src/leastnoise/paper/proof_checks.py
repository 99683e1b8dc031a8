"""Theorem 2 and its proof, checked on random noise (GDGK19).

Every function checks one input and returns None, or the counterexample in words.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from leastnoise.core.exact import Interval, format_exact
from leastnoise.core.noise import (
    Gaussian,
    Laplace,
    Noise,
    Smooth,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2, lp
from leastnoise.mechanism import calibrate
from leastnoise.paper.random_checks import RATIONAL_COSTS, largest_distance
from leastnoise.paper.random_noise import Sample, p_alpha
from leastnoise.paper.rearrangement import Rearrangement, rearrange

Candidate = Callable[[Steps, Privacy, Fraction, Cost, int], Rearrangement | Uniform]
_POWERS: tuple[Cost, ...] = (l1, lp(Fraction(3, 2)), l2, lp(3))
# Rounded tails change costs by far less (docs/theory/theorem-2.md).
_ROUNDING = Fraction(1, 1 << 60)


def _rearrange(
    noise: Steps, privacy: Privacy, sensitivity: Fraction, cost: Cost, cells: int
) -> Rearrangement:
    return rearrange(noise, privacy, sensitivity=sensitivity, cost=cost, cells=cells)


def check_theorem_2(sample: Sample, candidate: Candidate = _rearrange) -> str | None:
    """Theorem 2: for unimodal noise there is a P_α that is as private and costs no more.

    For half of the inputs the cells fit the noise, so that stage 0 changes nothing. For the others
    it changes the cost by at most the bound of docs/theory/theorem-2.md. The later stages move mass
    towards 0 only, which proves that no other cost increases either. The optimum that a certificate
    proves, by another argument, is the infimum for the noise too.
    """
    unit = Fraction(1, sample.integer(1, 5))
    noise, fits = sample.unimodal(unit), sample.integer(0, 1) == 0
    # Half of Δ is inside the noise, so that the noise satisfies (0, δ) for some δ < 1.
    if fits:
        cells = sample.integer(1, 2 * int(noise.radius / unit) - 1)
        sensitivity = unit * cells
    else:
        cells, sensitivity = sample.integer(1, 6), 2 * Fraction(noise.radius) * sample.fraction()
    tight = largest_distance(noise, sensitivity)
    privacy = Privacy(delta=tight + (1 - tight) * sample.choice((Fraction(0), sample.fraction())))
    cost = sample.choice(RATIONAL_COSTS)
    proof = candidate(noise, privacy, sensitivity, cost, cells)
    inputs = f"{noise!r} for {privacy} at {format_exact(sensitivity)}, {cost!r}"
    if isinstance(proof, Uniform):
        return None if _is_best(proof, privacy, sensitivity, cost, noise.expected(cost)) else inputs
    first = proof.stages[0].noise
    half = sensitivity / 2
    same = first.is_unimodal and first.between(-half, half) == noise.between(-half, half)
    if not same or proof.change.upper > _bound_rise(noise, max(noise.heights), half / cells, cost):
        return f"{inputs}: stage 0 changes too much"
    if (fits and proof.change != Interval.exact(0)) or not proof.stages_move_inward:
        return f"{inputs}: a stage moves mass outward"
    most = noise.expected(cost) + proof.change.upper
    least = _find_least(privacy, sensitivity, cost)
    holds = _is_best(proof.result, privacy, sensitivity, cost, most)
    return None if holds and least <= noise.expected(cost) else inputs


def _find_least(privacy: Privacy, sensitivity: Fraction, cost: Cost) -> Fraction:
    """Return the certified minimum among unimodal noise; for costs that level off, L(0).

    For those, ever wider noise with more mass at 0 can cost ever less, and there is no optimum.
    """
    if cost not in (*_POWERS, lp(4)):
        return cost.value(Fraction(0)).lower
    return calibrate(privacy, sensitivity=sensitivity, cost=cost).certificate.lower_bound


def _is_best(
    result: Uniform, privacy: Privacy, sensitivity: Fraction, cost: Cost, most: Fraction
) -> bool:
    """Return whether a result is a P_α for this δ, exactly, and costs no more than stated."""
    atom, delta = result.atom, privacy.delta
    return (
        0 <= atom < delta
        and result == p_alpha(atom, delta, sensitivity)
        and largest_distance(result, sensitivity) == delta
        and result.enclose(cost).lower <= most
    )


def _bound_rise(noise: Noise, height: Fraction, cell: Fraction, cost: Cost) -> Fraction:
    """Return (c/2)·f(0+)·D, the most by which cells raise a cost (docs/theory/theorem-2.md).

    D is the largest rise of the cost in a cell.
    """
    last = -(-Fraction(noise.radius) // cell)
    values = [cost.value(i * cell) for i in range(int(last) + 1)]
    rises = (b.upper - a.lower for a, b in pairwise(values))
    return cell / 2 * height * max(rises)


def draw_smooth(sample: Sample) -> Smooth | Staircase:
    """Return a distribution with another density than steps on a lattice."""
    scale = sample.size() + Fraction(1, 8)
    kinds: tuple[Smooth | Staircase, ...] = (
        Laplace(scale),
        Gaussian(scale),
        TruncatedLaplace(scale, scale * (1 + sample.size())),
        Staircase(scale, sample.fraction(8), sample.fraction(8)),
    )
    return sample.choice(kinds)


def check_other_densities(sample: Sample, slack: Fraction = Fraction(1)) -> str | None:
    """Theorem 2's proof for other densities: stage 0 changes the cost by at most a bound.

    The bound vanishes as the cells shrink. Stages 1 to 3 move mass towards 0 only and end in a P_α.
    Tests pass a factor for the bound that is too small.
    """
    noise = draw_smooth(sample)
    sensitivity = Fraction(noise.std()).limit_denominator(64) * (sample.fraction(12) + 1) / 2
    tail = (
        noise.tail(sensitivity / 2).lower
        if isinstance(noise, Smooth)
        else 1 - noise.probability_up_to(sensitivity / 2)
    )
    tight = (1 - 2 * tail).limit_denominator(10**6) + Fraction(1, 10**5)
    privacy = Privacy(delta=tight + (1 - tight) * sample.fraction())
    cost, cells = sample.choice(_POWERS), sample.integer(2, 6)
    proof = rearrange(noise, privacy, sensitivity=sensitivity, cost=cost, cells=cells)
    inputs = f"{noise!r} for {privacy} at {format_exact(sensitivity)}, {cost!r}"
    height = noise.density(Fraction(0)).upper if isinstance(noise, Smooth) else noise.height
    first = proof.stages[0].noise
    most = slack * _bound_rise(first, height, sensitivity / 2 / cells, cost) + _ROUNDING
    least = _find_least(privacy, sensitivity, cost)
    holds = (
        proof.stages_move_inward
        and proof.change.upper <= most
        and least <= proof.start.upper
        and _is_best(proof.result, privacy, sensitivity, cost, proof.start.upper + most)
    )
    return None if holds else inputs


def check_last_step(sample: Sample, strictly: bool = False) -> str | None:
    """Theorem 2's last step: with less than δ within Δ/2, mass moves to 0 until it is δ.

    By hand: the density falls by the factor (1 − δ)/(1 − δ₀), where δ₀ is the mass before. Tests
    require that the cost falls strictly, which fails for costs that are constant near 0.
    """
    sensitivity = sample.size()
    before, noise = sample.p_alpha(sensitivity)
    delta = before + (1 - before) * sample.fraction()
    cost = sample.choice(RATIONAL_COSTS)
    result = rearrange(
        noise, Privacy(delta=delta), sensitivity=sensitivity, cost=cost, cells=sample.integer(1, 3)
    ).result
    stays = (1 - delta) / (1 - before)
    expected = Uniform(noise.radius, 1 - (1 - noise.atom) * stays)
    least, most = result.expected(cost), noise.expected(cost)
    holds = (
        result == expected
        and result.total_variation(sensitivity) == delta
        and (least < most if strictly else least <= most)
    )
    return None if holds else f"{noise!r} for δ = {delta} at {format_exact(sensitivity)}, {cost!r}"
