"""What noise costs on average, for each kind of noise and each kind of cost."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from math import inf, isqrt

from leastnoise.core.exact import Interval, fixed_power
from leastnoise.core.noise import (
    BITS,
    DiscreteStaircase,
    DiscreteUniform,
    FiniteLatticeNoise,
    Noise,
    PiecewiseNoise,
    Rounded,
    Smooth,
    Staircase,
    Steps,
    Terms,
    Uniform,
    power_series_bound,
)
from leastnoise.costs.cost import KEPT_SUMS, Cost, sum_intervals, sums_of
from leastnoise.costs.piecewise import Points, Threshold
from leastnoise.costs.power import Power
from leastnoise.errors import Unsupported

# Up to this exponent the expected |X|ᵖ of a staircase is a closed form; beyond, it is added up.
_LARGEST_CLOSED = 64
# So many terms more are added to a known sum one by one.
_NEAR = 256
# The most periods that are added up one by one, and the digits of the powers while they are.
_TERMS, _BITS = 1 << 13, 256
_NARROW = Fraction(1, 1 << 80)
# Numbers of n binary digits take time like n². So much may a sum take: 8192 periods with numbers of
# 8192 digits each. One value of a cost takes as much as a number of 724 digits.
_MOST_SERIES_WORK, _VALUE_WORK = 1 << 39, 1 << 19
# A closed form takes p² additions of numbers with p times the digits of the ratio, and p³
# multiplications for each run.
_MOST_CLOSED_WORK, _MOST_RUN_WORK = 1 << 45, 1 << 24
_SEEN_BITS = 40
# A cost that can only be called is read at so many sizes.
_CELLS = 1 << 12
# Where the noise is rounded, at so many places of a block.
_PLACES = 8
# An empty piece: what lies before and after all others.
_NOTHING = (Fraction(0), Fraction(0), Fraction(0))


@singledispatch
def expectation(law: Noise, cost: Cost) -> Interval:
    """Enclose the expected cost E L(X), by the kind of the noise."""
    raise Unsupported(
        "an expected cost is known of the noises of leastnoise",
        got=f"{law!r} and {cost!r}",
        fix="Give one of them.",
    )


@expectation.register
def _(law: Uniform, cost: Cost) -> Interval:
    # α·L(0) + (1−α)/w · ∫₀ʷ L
    spread = cost.integral(law.width).scaled(2 * law.density)
    return spread + cost.value(Fraction(0)).scaled(law.atom)


@expectation.register
def _(law: Steps, cost: Cost) -> Interval:
    if not isinstance(cost, Power | Threshold | Points):
        return _enclose_pieces(law, cost)
    if cost not in law.known_costs:
        law.known_costs[cost] = _enclose_pieces(law, cost)
    return law.known_costs[cost]


@expectation.register(PiecewiseNoise)
def _enclose_pieces(law: PiecewiseNoise, cost: Cost) -> Interval:
    """Enclose E L(X): by the jumps of the density, and piece by piece; the tighter of the two.

    A sum over the jumps never cancels where the density falls; L at the ends of each piece is
    tighter for a function far from 0.
    """
    atoms = sum_intervals(cost.value(abs(x)).scaled(m) for x, m in law.atoms.items())
    jumps = sum_intervals(
        cost.integral(abs(edge)).scaled(jump if edge > 0 else -jump)
        for edge, jump in _jumps(law)
        if edge and jump
    )
    if jumps.is_exact:
        return atoms + jumps
    ends = sum_intervals(
        _between_ends(cost, abs(a), abs(b)).scaled(h * (b - a)) for a, b, h in _cut_at_zero(law)
    )
    return atoms + Interval(max(jumps.lower, ends.lower), min(jumps.upper, ends.upper))


def _jumps(law: PiecewiseNoise) -> list[tuple[Fraction, Fraction]]:
    """Return by how much the density falls at each place where it may change."""
    found: list[tuple[Fraction, Fraction]] = []
    for (_, end, before), (start, _, after) in pairwise([_NOTHING, *law.pieces, _NOTHING]):
        if start == end:
            found.append((start, before - after))
        else:  # the density is 0 in between
            found += [(end, before), (start, -after)]
    return found


def _cut_at_zero(law: PiecewiseNoise) -> list[tuple[Fraction, Fraction, Fraction]]:
    zero = Fraction(0)
    cut = [[(a, zero, h), (zero, b, h)] if a < 0 < b else [(a, b, h)] for a, b, h in law.pieces]
    return [piece for pieces in cut for piece in pieces]


def _between_ends(cost: Cost, one: Fraction, other: Fraction) -> Interval:
    low, high = sorted((one, other))
    return Interval(cost.value(low).lower, cost.value(high).upper)


@expectation.register
def _(law: DiscreteUniform, cost: Cost) -> Interval:
    # The sum of L over the lattice, weighted.
    spread = cost.total(law.step, law.reach).scaled(2 * law.level)
    spread += cost.value(Fraction(0)).scaled(law.level + law.atom)
    if law.rim:
        spread += cost.value((law.reach + 1) * law.step).scaled(2 * law.rim)
    return spread.scaled(Fraction(1, law.total))


@expectation.register
def _(law: FiniteLatticeNoise, cost: Cost) -> Interval:
    # On each side of 0 a run is a difference of two sums of L.
    total = cost.value(Fraction(0)).scaled(law.weight(0))
    for run in law.equal_runs:
        last = run.first + run.points - 1
        for near, far in ((max(run.first, 1), last), (max(-last, 1), -run.first)):
            if far >= near:
                terms = cost.total(law.step, far) - cost.total(law.step, near - 1)
                total += terms.scaled(run.weight)
    return total.scaled(Fraction(1, law.total))


@expectation.register
def _enclose_staircase(law: Staircase, cost: Cost) -> Interval:
    """Enclose E L(X): by its closed form for whole powers, else added up period by period."""
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        _check_closed_form(int(cost.p), _digits(law.ratio) + _digits(law.gamma))
        return Interval.exact(law.moment(int(cost.p)))

    def area(n: int) -> Interval:
        return cost.integral((n + law.gamma) * law.period)

    def rest(n: int) -> Interval | None:
        here, keep = area(n), 1 - law.ratio
        if cost.constant_beyond is not None:  # beyond, the area grows by the same in each period
            if (n + law.gamma) * law.period < cost.constant_beyond:
                return None
            grown = cost.value(cost.constant_beyond + 1).scaled(law.period)
            return here.scaled(1 / keep) + grown.scaled(law.ratio / keep**2)
        if not isinstance(cost, Power):
            raise cost.unbounded()
        bound = power_series_bound(law.ratio, n + law.gamma, cost.p + 1)
        return None if bound is None else Interval(here.lower, here.upper * bound)

    return _enclose_series(law.ratio, area, rest).scaled(2 * law.height * (1 - law.ratio))


@expectation.register
def _enclose_discrete_staircase(law: DiscreteStaircase, cost: Cost) -> Interval:
    """Enclose E L(X): by its closed form for whole powers, else added up period by period.

    With T(m) = L(step) + … + L(m·step), each point where the weights fall adds its drop times
    T: a sum in which nothing cancels.
    """
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        _check_closed_form(int(cost.p), _digits(law.ratio), len(law.runs))
        return Interval.exact(law.moment(int(cost.p)))
    upto = _totals(cost, law.step)

    def dropped(periods: int) -> Interval:
        """Enclose the sum of drop · T over the falls of one period, without its factor bⁿ."""
        first = periods * law.steps
        return sum_intervals(upto(first + last).scaled(drop) for last, drop in law.drops)

    runs = len(law.runs)
    values = runs + min(law.steps, _NEAR * runs)  # that one period asks for
    half = _enclose_series(
        law.ratio, dropped, _rest_of_staircase(law, cost, dropped), runs=runs, values=values
    )
    centre = cost.value(Fraction(0)).scaled(law.runs[0].weight)
    return (centre + half.scaled(2)).scaled(1 / law.total)


def _rest_of_staircase(
    law: DiscreteStaircase, cost: Cost, dropped: Callable[[int], Interval]
) -> Callable[[int], Interval | None]:
    """Return an enclosure of all that follows a period, for :func:`_enclose_series`."""
    all_drops = sum((drop for _, drop in law.drops), Fraction(0))
    keep, width = 1 - law.ratio, law.steps * law.step

    def rest(n: int) -> Interval | None:
        if cost.constant_beyond is not None:  # beyond, T grows by the same in each period
            if n * width <= cost.constant_beyond:
                return None
            grown = cost.value(cost.constant_beyond + 1).scaled(law.steps * all_drops)
            return dropped(n).scaled(1 / keep) + grown.scaled(law.ratio / keep**2)
        if not isinstance(cost, Power):
            raise cost.unbounded()
        # T(m) is at most m·L(m·step), and no point of a period lies beyond its end.
        bound = power_series_bound(law.ratio, Fraction(n + 1), cost.p + 1)
        if bound is None:
            return None
        end = cost.value((n + 1) * width).scaled((n + 1) * law.steps * all_drops)
        return Interval(Fraction(0), end.upper * bound)

    return rest


def _totals(cost: Cost, step: Fraction) -> Callable[[int], Interval]:
    """Return T(m) = L(step) + … + L(m·step) as a function that goes on from the last m it had."""
    last, total, sums = 0, Interval.exact(0), sums_of(cost, step)

    def upto(terms: int) -> Interval:
        nonlocal last, total
        if not 0 <= terms - last <= _NEAR:
            return cost.total(step, terms)
        if terms <= KEPT_SUMS:  # kept for the next noise
            total = sums.upto(cost.value, terms)
        else:
            total += sum_intervals(cost.value(j * step) for j in range(last + 1, terms + 1))
        last = terms
        return total

    return upto


def _digits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _check_closed_form(p: int, digits: int, runs: int = 1) -> None:
    """Reject a closed form that would take minutes, before it is computed."""
    if p**2 * (p * digits) ** 2 > _MOST_CLOSED_WORK or p**3 * runs > _MOST_RUN_WORK:
        raise Unsupported(
            f"p⁴·digits² may be at most {_MOST_CLOSED_WORK} and p³·runs at most {_MOST_RUN_WORK} "
            "for the expected |x|ᵖ of a staircase",
            got="more",
            fix="Choose a smaller exponent, or a shorter ratio.",
        )


def _enclose_series(
    ratio: Fraction,
    term: Callable[[int], Interval],
    rest: Callable[[int], Interval | None],
    *,
    runs: int = 1,
    values: int = 1,
) -> Interval:
    """Enclose Σ ratioⁿ·term(n) over n ≥ 0, for terms that are not negative.

    Term by term, until ``rest(n)``, an enclosure of Σ ratioᵐ·term(n + m) over m ≥ 0 or None where
    there is none yet, adds a doubt of at most 2⁻⁸⁰ of the sum. A term adds up ``runs`` numbers,
    and asks for so many ``values`` of a cost.

    Terms never fall. Once ratioⁿ is below the last digit kept, all that follows is known only to
    lie between 0 and its own size or more: if term n times that digit is a larger doubt than twice
    what the sum allows, no later one is smaller, and none is computed.
    """
    work = 0
    lower = upper = Fraction(0)
    low, high = 1 << _BITS, 1 << _BITS
    last = rest(_TERMS)
    # Where even the last term hardly counts less than the first, none need be added up to see it.
    level = fixed_power(ratio, _TERMS, _BITS)[0] >> (_BITS - _SEEN_BITS)
    for n in range(_TERMS if last is not None and (last.is_narrow(8) or not level) else 0):
        if n <= 16 or n == isqrt(n) ** 2:  # asked ever more seldom, for it may cost as much
            left = rest(n)
            if left is not None:
                after = Interval(
                    left.lower * Fraction(low, 1 << _BITS), left.upper * Fraction(high, 1 << _BITS)
                )
                if after.upper - after.lower <= _NARROW * (upper + after.upper):
                    return Interval(lower, upper) + after
        here = term(n)
        if not low and here.upper > 2 * _NARROW * upper * (1 << _BITS):
            break
        work += runs * _digits(here.upper) ** 2 + values * _VALUE_WORK
        if work > _MOST_SERIES_WORK:
            raise Unsupported(
                f"an expected cost is added up with work of at most {_MOST_SERIES_WORK}",
                got="a staircase with too many runs, periods or digits",
                fix="Ask for l1 or l2, or use shorter numbers.",
            )
        lower += here.lower * Fraction(low, 1 << _BITS)
        upper += here.upper * Fraction(high, 1 << _BITS)
        low = low * ratio.numerator // ratio.denominator
        high = -(-high * ratio.numerator // ratio.denominator)
    raise Unsupported(
        f"an expected cost is added up over at most {_TERMS} periods of a noise",
        got="one that needs more, with a ratio so near to 1 or a cost that grows so fast",
        fix="Ask for l1 or l2.",
    )


@expectation.register
def _enclose_smooth(law: Smooth, cost: Cost) -> Interval:
    """Enclose E L(X): by moments for powers, by tails for costs that level off.

    A function that can only be called is read cell by cell, which needs a largest size.
    """
    if isinstance(cost, Power):
        return law.moment(cost.p)
    if isinstance(cost, Threshold):
        return law.tail(cost.limit).scaled(2)
    if isinstance(cost, Points):
        return _enclose_lines(law, cost)
    if isinstance(law.radius, float):
        raise cost.unbounded()
    return _enclose_by_cells(law, cost, law.radius)


def _enclose_lines(law: Smooth, cost: Points) -> Interval:
    """Enclose E L(X) for straight pieces: each slope times the tails that lie beyond it."""
    total = Interval.exact(cost.costs[0])
    for (a, low), (b, high) in pairwise(zip(cost.sizes, cost.costs, strict=True)):
        area = law.tail_area(a) - law.tail_area(b)
        total += area.scaled(2 * (high - low) / (b - a))
    return total


def _enclose_by_cells(law: Smooth, cost: Cost, radius: Fraction) -> Interval:
    """Enclose E L(X) for a function that never falls: in each cell by L at its two ends."""
    edges = [radius * i / _CELLS for i in range(_CELLS + 1)]
    # Short enclosures of the tails make an outer bound that is quick to add up.
    tails = [law.tail(edge, 64).shortened(64) for edge in edges]
    values = [cost.value(edge) for edge in edges]
    cells = (
        Interval(max(Fraction(0), near.lower - far.upper), near.upper - far.lower)
        * Interval(low.lower, high.upper)
        for (near, far), (low, high) in zip(pairwise(tails), pairwise(values), strict=True)
    )
    return sum_intervals(cells).scaled(2)


@expectation.register
def _enclose_rounded(law: Rounded, cost: Cost) -> Interval:
    """Enclose E L(|R|g), for R the index of the noise and g its step.

    First by the noise on the line, from which Rg is at most g/2 away; where that is not narrow
    enough, by the sum over the tails.
    """
    if isinstance(cost, Threshold):  # |R|g > t exactly where |R| > ⌊t/g⌋
        return law.beyond(cost.limit // law.step).scaled(2)
    if isinstance(cost, Power):
        return law.moment(cost.p)
    if isinstance(cost, Points):
        near = _enclose_rounded_lines(law, cost)
    elif isinstance(law.radius, float):
        raise cost.unbounded()
    else:  # of a function nothing is known but that it never falls
        near = Interval(cost.value(Fraction(0)).lower, cost.value(law.radius).upper)
    return law.refine_by_tails(near, _CostTerms(cost, law.step))


def _enclose_rounded_lines(law: Rounded, cost: Points) -> Interval:
    """Enclose E L(|R|g) for straight pieces.

    P(|R|g > x) = 2T((⌊x/g⌋ + ½)g) lies between 2T(x + g/2) and 2T(x − g/2), and is at most 1.
    """
    half = law.step / 2
    lower = upper = cost.costs[0]
    for (a, low), (b, high) in pairwise(zip(cost.sizes, cost.costs, strict=True)):
        slope = 2 * (high - low) / (b - a)
        least = (_tail_area(law, a + half) - _tail_area(law, b + half)).lower
        lower += slope * max(Fraction(0), least)
        upper += slope * (_tail_area(law, a - half) - _tail_area(law, b - half)).upper
    return Interval(lower, upper)


def _tail_area(law: Rounded, size: Fraction) -> Interval:
    """Enclose the integral from ``size`` on of P(X > x), taken as 1/2 where x is below 0."""
    beyond = law.noise.tail_area(max(size, Fraction(0)), BITS)
    return beyond + Interval.exact(max(-size, Fraction(0)) / 2)


@dataclass(frozen=True)
class _CostTerms(Terms):
    """A cost that levels off, or a function that can only be called, at the lattice points."""

    cost: Cost
    step: Fraction

    def value(self, index: int) -> Interval:
        """Enclose L(index·g)."""
        return self.cost.value(index * self.step).shortened(BITS)

    @property
    def constant_from(self) -> int | float:
        """The index from which on L stays as it is, if one is known."""
        size = self.cost.constant_beyond
        return inf if size is None else size // self.step + 1

    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose Σ L(jg) over first < j < stop: exactly, or part by part.

        A function never falls: over each part of the way it lies between its values at the ends.
        """
        if self.cost.constant_beyond is not None:
            return self.cost.total(self.step, stop - 1) - self.cost.total(self.step, first)
        parts = sorted({first + (stop - first) * i // _PLACES for i in range(_PLACES + 1)})
        inner = [start, *(self.value(k) for k in parts[1:-1]), end]
        lower = upper = Fraction(0)
        for (a, low), (b, high) in pairwise(zip(parts, inner, strict=True)):
            lower += low.lower * (b - a)  # of first ≤ j < stop
            upper += high.upper * (b - a)  # of first < j ≤ stop
        return Interval(lower - start.lower, upper - end.upper)

    def rest(self, law: Rounded, end: int) -> Fraction | None:
        """Bound the rest by the tail times all that L still rises; a function has no such bound."""
        size = self.cost.constant_beyond
        if size is None:
            return None
        rise = self.cost.value(size + 1).upper - self.value(end).lower
        return law.beyond(end, BITS).upper * max(Fraction(0), rise)
