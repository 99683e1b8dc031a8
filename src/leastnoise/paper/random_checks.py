"""Statements of the paper as programs that look for a counterexample among many inputs (GDGK19).

Every function below checks one input and returns None, or the counterexample in words. All
comparisons are exact, or compare rational bounds so that rounding cannot hide a counterexample.
Some functions take the statement's constant or construction as a parameter. Tests pass a false one
and require that the same function finds a counterexample.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm

from leastnoise.accounting import Profile
from leastnoise.core.exact import Interval, format_exact, logarithm, power
from leastnoise.core.noise import (
    Gaussian,
    Laplace,
    LineNoise,
    Smooth,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1, l2, lp, piecewise_linear, threshold
from leastnoise.mechanism import calibrate
from leastnoise.paper.random_noise import Sample, p_alpha
from leastnoise.paper.rearrangement import Rearrangement, rearrange, symmetrize

HALF = Fraction(1, 2)
# Costs that are rational for noise in steps, so that costs are compared exactly.
RATIONAL_COSTS: tuple[Cost, ...] = (
    l1,
    l2,
    lp(3),
    lp(4),
    threshold(HALF),
    piecewise_linear([(0, 1), (1, 1), (2, 5), (9, 6)]),
)
NAMED_COSTS: tuple[Cost, ...] = (
    *RATIONAL_COSTS,
    lp(HALF),
    lp(Fraction(5, 2)),
    Cost(math.log1p, name="log(1+x)"),
)


@dataclass(frozen=True)
class Search:
    """The result of a search: how many inputs were checked, and the first counterexample."""

    checked: int
    counterexample: str | None

    @property
    def holds(self) -> bool:
        """Whether there was no counterexample."""
        return self.counterexample is None

    def __str__(self) -> str:
        if self.holds:
            return f"no counterexample in {self.checked}"
        return f"counterexample: {self.counterexample}"


def search(name: str, check: Callable[[Sample], str | None], inputs: int = 400) -> Search:
    """Check a statement on so many inputs, or up to the first counterexample."""
    for number in range(inputs):
        found = check(Sample(name, number))
        if found is not None:
            return Search(number + 1, found)
    return Search(inputs, None)


def check_grid(results: Iterable[str | None]) -> Search:
    """Return the result of checks on every point of a grid."""
    found = list(results)
    return Search(len(found), next((each for each in found if each is not None), None))


def distance(noise: Steps | Uniform, shift: Fraction, factor: Fraction = Fraction(1)) -> Fraction:
    """Return the largest P(S) − factor·P(S − d) over all S, from density and atoms alone.

    At factor 1 it is the total variation distance of noise and itself shifted by d. No theorem
    about unimodal noise is used.
    """
    atoms = noise.atoms
    alone = (m - factor * atoms.get(x - shift, Fraction(0)) for x, m in atoms.items())
    pieces, unit, whole = _in_integers(noise, shift)
    spread = _spread(pieces, whole, factor) * unit
    return spread + sum((m for m in alone if m > 0), Fraction(0))


def largest_distance(noise: Steps | Uniform, sensitivity: Fraction) -> Fraction:
    """Return the largest distance over all shifts |d| ≤ Δ, exactly.

    The distance of the densities is linear in the shift between differences of ends of pieces, so
    its maximum is at such a difference or at Δ. It is the same for d and −d, because both densities
    have the same mass. Atoms meet at single shifts only. At shifts beside these they count in full.
    """
    pieces, unit, longest = _in_integers(noise, sensitivity)
    ends = {x for a, b, _ in pieces for x in (a, b)}
    shifts = {b - a for a in ends for b in ends if 0 < b - a <= longest} | {longest}
    apart = max(_spread(pieces, shift) for shift in shifts)
    return apart * unit + sum(noise.atoms.values(), Fraction(0))


Pieces = list[tuple[int, int, int]]


def _in_integers(noise: Steps | Uniform, size: Fraction) -> tuple[Pieces, Fraction, int]:
    """Return the density and a size in common integer units, and the mass of one unit."""
    ends = (x.denominator for a, b, _ in noise.pieces for x in (a, b))
    length = lcm(size.denominator, *ends)
    height = lcm(*(h.denominator for _, _, h in noise.pieces))
    pieces = [(int(a * length), int(b * length), int(h * height)) for a, b, h in noise.pieces]
    return pieces, Fraction(1, length * height), int(size * length)


def _spread(pieces: Pieces, shift: int, factor: Fraction = Fraction(1)) -> Fraction:
    """Return ∫ (p(x) − factor·p(x − d))₊ dx of a density p in pieces (start, end, height)."""
    times, share = factor.numerator, factor.denominator
    # By how much share·p(x) − times·p(x − d) rises at each place.
    rises: defaultdict[int, int] = defaultdict(int)
    for a, b, h in pieces:
        rises[a] += share * h
        rises[b] -= share * h
        rises[a + shift] -= times * h
        rises[b + shift] += times * h
    total = level = 0
    for place, following in pairwise(sorted(rises)):
        level += rises[place]
        total += max(level, 0) * (following - place)
    return Fraction(total, share)


def check_equations(sample: Sample, factor: Fraction = Fraction(1)) -> str | None:
    """Equations 4 and 7: P(S) ≤ P(S+d) + δ for all S and |d| ≤ Δ bounds |P(S) − P(S+d)| too.

    Tests pass a factor e^ε, with which the two directions differ.
    """
    noise, shift = sample.steps(), sample.size()
    right, left = (distance(noise, d, factor) for d in (shift, -shift))
    return None if right == left else f"{noise!r} shifted by {format_exact(shift)}"


def check_property_1(sample: Sample, costs: tuple[Cost, ...] = NAMED_COSTS) -> str | None:
    """Property 1: every cost is symmetric and never falls, on a pair of sizes x ≤ y."""
    x, y = sorted((sample.size(), sample.size()))
    for cost in costs:
        if cost(-x) != cost(x):
            return f"{cost!r} at ±{format_exact(x)}"
        if x < y and cost.value(x).upper > cost.value(y).lower:
            return f"{cost!r} falls from {format_exact(x)} to {format_exact(y)}"
    return None


def draw_named(sample: Sample) -> LineNoise:
    """Return a distribution that the paper names as an example of Property 2."""
    scale = sample.size() + Fraction(1, 8)
    return sample.choice(
        (
            Uniform(scale),
            p_alpha(Fraction(1, 4), Fraction(3, 4), scale),
            Laplace(scale),
            Gaussian(scale),
            TruncatedLaplace(scale, scale * 3),
            Staircase(scale, sample.fraction(), sample.fraction(8)),
            sample.unimodal(),
        )
    )


def check_property_2(
    sample: Sample, draw: Callable[[Sample], LineNoise] = draw_named
) -> str | None:
    """Property 2: P(S) ≥ P(S + a) for a union S of two intervals beyond 0, and some a > 0."""
    noise = draw(sample)
    first, second, third, fourth = accumulate(sample.size() / 4 for _ in range(4))
    spans, shift = [(first, second), (third, fourth)], sample.size() / 2
    near, far = (
        [_mass_between(noise, a + further, b + further) for a, b in spans]
        for further in (Fraction(0), shift)
    )
    lower = sum((mass.lower for mass in near), Fraction(0))
    upper = sum((mass.upper for mass in far), Fraction(0))
    return None if lower >= upper else f"{noise!r} on {spans} and further by {shift}"


def _mass_between(noise: LineNoise, low: Fraction, high: Fraction) -> Interval:
    """Enclose P(low < X ≤ high) for 0 < low."""
    if isinstance(noise, Smooth):
        return noise.tail(low) - noise.tail(high)
    return Interval.exact(noise.probability_up_to(high) - noise.probability_up_to(low))


def check_lemma_1(
    sample: Sample,
    construct: Callable[[Steps], Steps] = symmetrize,
    holds: Callable[[Fraction, Fraction], bool] = lambda after, before: after == before,
) -> str | None:
    """Lemma 1: symmetrized noise is symmetric, costs the same and is as private."""
    noise, sensitivity = sample.steps(), sample.size() / 2
    even = construct(noise)
    places = {abs(x) for x in (*even.breaks, *even.atoms)}
    if any(even.probability_up_to(x) + _below(even, -x) != 1 for x in places):
        return f"{noise!r}: {even!r} is not symmetric"
    for cost in RATIONAL_COSTS:
        if not holds(even.expected(cost), noise.expected(cost)):
            return f"{noise!r}: {cost!r}"
    if largest_distance(even, sensitivity) > largest_distance(noise, sensitivity):
        return f"{noise!r} at sensitivity {format_exact(sensitivity)}"
    return None


def _below(noise: Steps, place: Fraction) -> Fraction:
    """Return P(X < place)."""
    return noise.probability_up_to(place) - noise.atoms.get(place, Fraction(0))


def is_decreasing_at_points(noise: Steps) -> bool:
    """Return whether P({s}) ≥ P({t}) for atoms t > 0 and more than 1/P({t}) points s between.

    This is Property 2 for sets of one point. If it held at an atom, the points alone would have a
    probability of more than 1.
    """
    for t, mass in noise.atoms.items():
        points = (t * Fraction(i, 2 + int(1 / mass)) for i in range(1, 2 + int(1 / mass)))
        if t > 0 and any(noise.atoms.get(s, Fraction(0)) < mass for s in points):
            return False
    return True


def check_lemma_2(
    sample: Sample, is_decreasing: Callable[[Steps], bool] = is_decreasing_at_points
) -> str | None:
    """Lemma 2: decreasing noise has no atom except at 0, on symmetric noise with such an atom."""
    noise = sample.symmetric(atoms=1)
    return f"{noise!r}" if noise.is_decreasing or is_decreasing(noise) else None


def check_theorem_1(
    sample: Sample,
    share: Fraction = HALF,
    draw: Callable[[Sample], Steps] = Sample.unimodal,
) -> str | None:
    """Theorem 1: the largest distance over all shifts up to Δ is P([−Δ/2, Δ/2]).

    Equality means that noise is (0, δ)-private iff P([−Δ/2, Δ/2]) ≤ δ, for every δ at once.
    """
    noise, sensitivity = draw(sample), sample.size()
    edge = share * sensitivity
    central = noise.probability_up_to(edge) - _below(noise, -edge)
    if central == largest_distance(noise, sensitivity):
        return None
    return f"{noise!r} at sensitivity {format_exact(sensitivity)}"


def check_p_alpha(sample: Sample) -> str | None:
    """Section 3: P_α has mass δ within half of Δ, density (δ − α)/Δ, and is (0, δ)-private."""
    sensitivity = sample.size()
    delta, noise = sample.p_alpha(sensitivity)
    below, upto = (noise.probability_up_to(edge) for edge in (-sensitivity / 2, sensitivity / 2))
    holds = (
        noise.density == (delta - noise.atom) / sensitivity
        and upto - below == delta
        and largest_distance(noise, sensitivity) == delta
    )
    return None if holds else f"{noise!r} at sensitivity {format_exact(sensitivity)}"


Candidate = Callable[[Steps, Privacy, Fraction, Cost, int], Rearrangement | Uniform]


def _rearranged(
    noise: Steps, privacy: Privacy, sensitivity: Fraction, cost: Cost, cells: int
) -> Rearrangement:
    return rearrange(noise, privacy, sensitivity=sensitivity, cost=cost, cells=cells)


def check_theorem_2(sample: Sample, candidate: Candidate = _rearranged) -> str | None:
    """Theorem 2: for unimodal noise there is a P_α that is as private and costs no more.

    The cells fit the noise, so that stage 0 changes nothing. The later stages move mass towards 0
    only, which proves that no other cost increases either.
    """
    unit = Fraction(1, sample.integer(1, 5))
    noise = sample.unimodal(unit)
    # Half of Δ is inside the noise, so that the noise satisfies (0, δ) for some δ < 1.
    cells = sample.integer(1, 2 * int(noise.radius / unit) - 1)
    sensitivity = unit * cells
    tight = largest_distance(noise, sensitivity)
    privacy = Privacy(delta=tight + (1 - tight) * sample.choice((Fraction(0), sample.fraction())))
    cost = sample.choice(RATIONAL_COSTS)
    found = candidate(noise, privacy, sensitivity, cost, cells)
    result = found
    if isinstance(found, Rearrangement):
        result = found.result
        if found.change != Interval.exact(0) or not found.stages_move_inward:
            return f"{noise!r}: a stage moves mass outward"
    assert isinstance(result, Uniform)  # noqa: S101
    atom, delta = result.atom, privacy.delta
    holds = (
        0 <= atom < delta
        and result == p_alpha(atom, delta, sensitivity)
        and largest_distance(result, sensitivity) == delta
        and result.expected(cost) <= noise.expected(cost)
    )
    return None if holds else f"{noise!r} for {privacy} at {format_exact(sensitivity)}, {cost!r}"


def check_algorithm_1(sample: Sample) -> str | None:
    """Algorithm 1: B·U is distributed as P_α, at some place."""
    sensitivity = sample.size()
    delta, noise = sample.p_alpha(sensitivity)
    atom, place = noise.atom, sample.choice((Fraction(0), sample.size(), -sample.size()))
    radius = (1 - atom) / (delta - atom) * sensitivity / 2
    uniform = min(max((place + radius) / (2 * radius), Fraction(0)), Fraction(1))
    product = (1 - atom) * uniform + (atom if place >= 0 else 0)  # P(B·U ≤ place), by B
    return (
        None if noise.probability_up_to(place) == product else f"{noise!r} at {format_exact(place)}"
    )


EXPONENTS = tuple(Fraction(p) for p in ("1/3", "1/2", "1", "3/2", "2", "3", "4"))
DELTAS = tuple(Fraction(i, 20) for i in range(1, 20))
FINE_DELTAS = tuple(Fraction(i, 100) for i in range(1, 100))
SENSITIVITIES = (Fraction(1, 3), Fraction(1), Fraction(5, 2))
# α is searched for among so many multiples of δ.
_GRID = 1 << 16


def theorem_3_cost(p: Fraction, delta: Fraction, sensitivity: Fraction) -> Interval:
    """Enclose the minimal cost as Theorem 3 states it."""
    scale = power(sensitivity / 2, p)
    if delta <= p / (p + 1):
        return scale.scaled(1 / (p + 1)) * power(1 / delta, p)
    return scale * power((p + 1) / p, p).scaled(1 - delta)


def minimize_over_alpha(
    cost: Cost, delta: Fraction, sensitivity: Fraction
) -> tuple[Fraction, Interval]:
    """Return the best α among 2¹⁶ multiples of δ, and its cost, by integrating the cost of P_α.

    No formula for α is used. By docs/theory/critical-width.md the cost falls with α up to its
    minimum and rises after it. So halving the range by the sign of the slope finds it.
    """

    def integrate(index: int) -> Interval:
        return p_alpha(delta * Fraction(index, _GRID), delta, sensitivity).enclose(cost)

    before, last = -1, _GRID - 1
    while last - before > 1:
        middle = (before + last) // 2
        if integrate(middle).middle <= integrate(middle + 1).middle:
            last = middle
        else:
            before = middle
    return delta * Fraction(last, _GRID), integrate(last)


def check_theorem_3(
    p: Fraction,
    delta: Fraction,
    sensitivity: Fraction,
    formula: Callable[[Fraction, Fraction, Fraction], Interval] = theorem_3_cost,
) -> str | None:
    """Theorem 3: α* = max(0, (p+1)δ − p), and the minimal cost, against direct minimization."""
    stated = max(Fraction(0), (p + 1) * delta - p)
    cost, claimed = lp(p), formula(p, delta, sensitivity)
    at_stated = p_alpha(stated, delta, sensitivity).enclose(cost)
    found, least = minimize_over_alpha(cost, delta, sensitivity)
    narrow = claimed.upper / 10**7
    holds = (
        abs(found - stated) <= 2 * delta / _GRID
        and abs(at_stated.middle - claimed.middle) <= claimed.upper / 10**20
        and claimed.lower <= least.upper <= claimed.upper + narrow
    )
    return None if holds else f"p = {p}, δ = {delta}, Δ = {sensitivity}"


def check_corollary(
    p: Fraction, delta: Fraction, sensitivity: Fraction, border: Fraction | None = None
) -> str | None:
    """Corollaries 4 (p = 1) and 5 (p = 2): α* and the minimal cost, exactly.

    They are compared with the certified optimum, and with the cost of P_α for 10 other α. Tests
    pass a border between the two cases that is not p/(p + 1).
    """
    cost, scale = lp(p), sensitivity**p
    if delta <= (p / (p + 1) if border is None else border):
        atom, stated = Fraction(0), scale / (4 if p == 1 else 12) / delta**p
    else:
        atom, stated = (p + 1) * delta - p, scale * (1 - delta) * (1 if p == 1 else Fraction(9, 16))
    best = calibrate(Privacy(delta=delta), sensitivity=sensitivity, cost=cost)
    others = (p_alpha(delta * Fraction(i, 10), delta, sensitivity) for i in range(10))
    holds = (
        best.cost == best.certificate.lower_bound == stated
        and best.noise == p_alpha(atom, delta, sensitivity)
        and all(other.expected(cost) >= stated for other in others)
    )
    return None if holds else f"p = {p}, δ = {delta}, Δ = {sensitivity}"


def check_equation_8(p: Fraction, delta: Fraction, factor: Fraction = Fraction(1)) -> str | None:
    """Equation 8: δᵖ(1 − δ) ≤ pᵖ/(p+1)ᵖ⁺¹, equal at δ = p/(p+1) only.

    Tests pass a factor for the right side that is too small.
    """
    left = power(delta, p).scaled(1 - delta)
    right = power(p / (p + 1), p).scaled(factor / (p + 1))
    equal = delta == p / (p + 1)
    holds = left.lower <= right.upper if equal else left.upper < right.lower
    return None if holds else f"p = {p}, δ = {delta}"


def check_theorem_6(
    delta: Fraction, sensitivity: Fraction, factor: Fraction = Fraction(1)
) -> str | None:
    """Theorem 6: Gaussian noise of σ = Δ/2δ has P([−Δ/2, Δ/2]) ≤ δ.

    Tests pass a factor for σ that is too small.
    """
    noise = Gaussian(factor * sensitivity / (2 * delta))
    central = Interval.exact(1) - noise.tail(sensitivity / 2).scaled(2)
    return None if central.upper <= delta else f"δ = {delta}, Δ = {sensitivity}"


def check_classic_gaussian(
    epsilon: Fraction, delta: Fraction, factor: Fraction = Fraction(1)
) -> str | None:
    """Section 5: Gaussian noise of σ = (Δ/ε)·√(2·log(1.25/δ)) satisfies (ε, δ), at Δ = 1.

    Tests pass a factor for σ that is too small.
    """
    sigma = power(2 * logarithm(Fraction(5, 4) / delta).lower, HALF).lower / epsilon
    needed = Profile(Gaussian(factor * sigma), sensitivity=1).delta(epsilon)
    return None if needed <= delta else f"ε = {epsilon}, δ = {delta}"
