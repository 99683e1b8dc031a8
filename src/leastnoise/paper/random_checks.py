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

from leastnoise.core.exact import Interval, format_exact
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
from leastnoise.costs import Cost, l1, l2, lp, piecewise_linear, threshold
from leastnoise.paper.random_noise import Sample, p_alpha
from leastnoise.paper.rearrangement import symmetrize

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
class SearchResult:
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


def search(name: str, check: Callable[[Sample], str | None], inputs: int = 400) -> SearchResult:
    """Check a statement on ``inputs`` inputs, or up to the first counterexample."""
    for number in range(inputs):
        counterexample = check(Sample(name, number))
        if counterexample is not None:
            return SearchResult(number + 1, counterexample)
    return SearchResult(inputs, None)


def check_grid(results: Iterable[str | None]) -> SearchResult:
    """Return the result of checks on every point of a grid."""
    outcomes = list(results)
    counterexamples = (outcome for outcome in outcomes if outcome is not None)
    return SearchResult(len(outcomes), next(counterexamples, None))


def distance(noise: Steps | Uniform, shift: Fraction, factor: Fraction = Fraction(1)) -> Fraction:
    """Return the largest P(S) − factor·P(S − d) over all S, from density and atoms alone.

    At factor 1 it is the total variation distance of noise and itself shifted by d. No theorem
    about unimodal noise is used.
    """
    atoms = noise.atoms
    excesses = (m - factor * atoms.get(x - shift, Fraction(0)) for x, m in atoms.items())
    pieces, unit, units = _scale_to_integers(noise, shift)
    spread = _spread(pieces, units, factor) * unit
    return spread + sum((m for m in excesses if m > 0), Fraction(0))


def largest_distance(noise: Steps | Uniform, sensitivity: Fraction) -> Fraction:
    """Return the largest distance over all shifts |d| ≤ Δ, exactly.

    The distance of the densities is linear in the shift between differences of ends of pieces, so
    its maximum is at such a difference or at Δ. It is the same for d and −d, because both densities
    have the same mass. Atoms meet at single shifts only. At shifts beside these they count in full.
    """
    pieces, unit, longest = _scale_to_integers(noise, sensitivity)
    ends = {x for a, b, _ in pieces for x in (a, b)}
    shifts = {b - a for a in ends for b in ends if 0 < b - a <= longest} | {longest}
    apart = max(_spread(pieces, shift) for shift in shifts)
    return apart * unit + sum(noise.atoms.values(), Fraction(0))


Pieces = list[tuple[int, int, int]]


def _scale_to_integers(noise: Steps | Uniform, size: Fraction) -> tuple[Pieces, Fraction, int]:
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
    """Property 2: P(S) ≥ P(S + a) for some a > 0, and a union S of two intervals in [0, ∞).

    The first interval may begin at 0, with or without the point 0, or be the point 0 alone. The
    intervals may touch each other, and S + a may overlap S.
    """
    noise = draw(sample)
    first, second, third, fourth = accumulate(sample.size() / 4 for _ in range(4))
    start = sample.choice((first, Fraction(0)))
    with_zero = not start and sample.integer(0, 1) == 1
    end = sample.choice((second, Fraction(0))) if with_zero else second
    spans = [(start, end), (sample.choice((second, third)), fourth)]
    shift = sample.size() / sample.choice((2, 40))
    near, far = (
        [_mass_between(noise, a + further, b + further) for a, b in spans]
        for further in (Fraction(0), shift)
    )
    # (0, b] does not have the point 0. The shifted point has no probability (Lemma 2).
    at_zero = noise.atoms.get(Fraction(0), Fraction(0)) if with_zero else Fraction(0)
    shifted_mass = noise.atoms.get(shift, Fraction(0)) if with_zero else Fraction(0)
    lower = sum((mass.lower for mass in near), at_zero)
    upper = sum((mass.upper for mass in far), shifted_mass)
    zero = " with 0" if with_zero else ""
    return None if lower >= upper else f"{noise!r} on {spans}{zero} and further by {shift}"


def _mass_between(noise: LineNoise, low: Fraction, high: Fraction) -> Interval:
    """Enclose P(low < X ≤ high) for 0 ≤ low."""
    if low == high:
        return Interval.exact(0)
    if isinstance(noise, Smooth):
        return _tail(noise, low) - _tail(noise, high)
    return Interval.exact(noise.probability_up_to(high) - noise.probability_up_to(low))


def _tail(noise: Smooth, size: Fraction) -> Interval:
    """Enclose P(X > size) for 0 ≤ size."""
    return noise.tail(size) if size else Interval.exact(HALF)


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


def find_rise(noise: Steps) -> str | None:
    """Return an interval in (0, ∞) whose shift further from 0 is more probable, or None.

    This is Property 2 by the distribution function alone. Consecutive cells (x, x + h] are
    compared. Breaks and atoms lie at multiples of h, so cells have constant densities. Beside an
    atom the cell without it has less than the probability of the smallest atom.
    """
    places = [*noise.breaks, *noise.atoms]
    unit = Fraction(1, lcm(*(x.denominator for x in places)))
    least = min(noise.atoms.values(), default=Fraction(1))
    cell = unit / (2 + int(unit * max(noise.heights) / least))
    before = noise.probability_up_to(Fraction(0))
    mass = Fraction(1)
    for i in range(1, int(max(places) / cell) + 1):
        upto = noise.probability_up_to(i * cell)
        if upto - before > mass:
            return f"({format_exact((i - 1) * cell)}, {format_exact(i * cell)}]"
        mass, before = upto - before, upto
    return None


def draw_symmetric(sample: Sample) -> Steps:
    """Return symmetric noise, with and without atoms beyond 0; often unimodal except for them."""
    kind = sample.integer(0, 3)
    if kind == 0:
        return sample.unimodal()
    if kind == 1:
        return sample.symmetric()
    if kind == 2:
        return sample.symmetric(atoms=1)
    noise, share = sample.unimodal(), sample.fraction()
    place = sample.choice([x for x in noise.breaks if x > 0])
    atoms = {x: (1 - share) * mass for x, mass in noise.points}
    for x in (place, -place):
        atoms[x] = share / 2
    return Steps(noise.breaks, [(1 - share) * h for h in noise.heights], atoms)


def check_lemma_2(
    sample: Sample,
    rise: Callable[[Steps], str | None] = find_rise,
    allowed: tuple[Fraction, ...] = (Fraction(0),),
) -> str | None:
    """Lemma 2: if no interval contradicts Property 2, there is no atom except at 0.

    Tests pass a weaker property, or no place where an atom is allowed.
    """
    noise = draw_symmetric(sample)
    if rise(noise) is not None:
        return None
    return f"{noise!r}" if any(x not in allowed for x in noise.atoms) else None


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


def check_worst_set(
    sample: Sample, draw: Callable[[Sample], Steps] = Sample.unimodal
) -> str | None:
    """Theorem 1's proof: P(S) − P(S + d) is largest for S = [−d/2, ∞), where it is P([−d/2, d/2)).

    The largest difference over all S is the distance of noise and itself shifted by d.
    """
    noise, shift = draw(sample), sample.size()
    central = _below(noise, shift / 2) - _below(noise, -shift / 2)
    return (
        None if central == distance(noise, shift) else f"{noise!r} shifted by {format_exact(shift)}"
    )


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
