"""Expected costs, for each kind of noise and each kind of cost."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from math import inf, isqrt

from leastnoise.core.exact import Interval, count_bits, fixed_power
from leastnoise.core.noise import (
    BITS,
    DiscreteStaircase,
    DiscreteUniform,
    FiniteLatticeNoise,
    JointMarginal,
    Noise,
    PiecewiseNoise,
    Rounded,
    Smooth,
    Staircase,
    Steps,
    TailTerms,
    Uniform,
    power_series_bound,
)
from leastnoise.costs.cost import MOST_STORED_SUMS, Cost, recall_sums, sum_intervals
from leastnoise.costs.piecewise import Points, Threshold, enclose_lines, enclose_rounded_lines
from leastnoise.costs.power import Power
from leastnoise.errors import Unsupported

# Up to this exponent the expected |X|ᵖ of a staircase has a closed form; beyond, it is a sum.
_LARGEST_CLOSED = 64
# The most terms that are added to a known sum one by one.
_NEAR = 256
# The most periods that are added up one by one, and the binary digits of their powers.
_TERMS, _BITS, _NARROW = 1 << 13, 256, Fraction(1, 1 << 80)
# A number of n binary digits takes time in proportion to n². The most work of a sum is that of 8192
# periods with numbers of 8192 digits. One value of a cost takes as long as a number of 724 digits.
_MOST_SERIES_WORK, _VALUE_WORK = 1 << 39, 1 << 19
# A closed form takes p² additions of numbers with p times the digits of the ratio, and p³
# multiplications for each run.
_MOST_CLOSED_WORK, _MOST_RUN_WORK = 1 << 45, 1 << 24
_SEEN_BITS = 40
# The number of cells in which a cost that is a function is called.
_CELLS = 1 << 12
# For rounded noise, the number of parts of a block in which it is called.
_PLACES = 8
# An empty piece, for the places before the first piece and after the last.
_NOTHING = (Fraction(0), Fraction(0), Fraction(0))


@singledispatch
def expectation(noise: Noise, cost: Cost) -> Interval:
    """Enclose the expected cost E L(X), by the kind of the noise."""
    raise Unsupported(
        "Expected costs are known only for noise of leastnoise",
        got=f"{noise!r} and {cost!r}",
        fix="Use a noise of leastnoise.noise.",
    )


@expectation.register
def _(noise: Uniform, cost: Cost) -> Interval:
    # α·L(0) + (1−α)/w · ∫₀ʷ L
    spread = cost.integral(noise.width).scaled(2 * noise.density)
    return spread + cost.value(Fraction(0)).scaled(noise.atom)


@expectation.register
def _(noise: Steps, cost: Cost) -> Interval:
    if not isinstance(cost, Power | Threshold | Points):
        return _enclose_pieces(noise, cost)
    if cost not in noise.known_costs:
        noise.known_costs[cost] = _enclose_pieces(noise, cost)
    return noise.known_costs[cost]


@expectation.register(PiecewiseNoise)
def _enclose_pieces(noise: PiecewiseNoise, cost: Cost) -> Interval:
    """Enclose E L(X) by the jumps of the density and by the pieces; return the intersection.

    In the sum over the jumps nothing cancels where the density falls. The values of L at the ends
    of each piece are tighter for a function far from 0.
    """
    atoms = sum_intervals(cost.value(abs(x)).scaled(m) for x, m in noise.atoms.items())
    jumps = sum_intervals(
        cost.integral(abs(edge)).scaled(jump if edge > 0 else -jump)
        for edge, jump in _find_jumps(noise)
        if edge and jump
    )
    if jumps.is_exact:
        return atoms + jumps
    ends = sum_intervals(
        _enclose_between(cost, abs(a), abs(b)).scaled(h * (b - a))
        for a, b, h in _cut_at_zero(noise)
    )
    return atoms + Interval(max(jumps.lower, ends.lower), min(jumps.upper, ends.upper))


def _find_jumps(noise: PiecewiseNoise) -> list[tuple[Fraction, Fraction]]:
    """Return each place where the density may change, with its fall there."""
    jumps: list[tuple[Fraction, Fraction]] = []
    for (_, end, before), (start, _, after) in pairwise([_NOTHING, *noise.pieces, _NOTHING]):
        if start == end:
            jumps.append((start, before - after))
        else:  # the density is 0 in between
            jumps += [(end, before), (start, -after)]
    return jumps


def _cut_at_zero(noise: PiecewiseNoise) -> list[tuple[Fraction, Fraction, Fraction]]:
    zero = Fraction(0)
    cut = [[(a, zero, h), (zero, b, h)] if a < 0 < b else [(a, b, h)] for a, b, h in noise.pieces]
    return [piece for pieces in cut for piece in pieces]


def _enclose_between(cost: Cost, first: Fraction, second: Fraction) -> Interval:
    low, high = sorted((first, second))
    return Interval(cost.value(low).lower, cost.value(high).upper)


@expectation.register
def _(noise: DiscreteUniform, cost: Cost) -> Interval:
    # The sum of L over the lattice, weighted.
    spread = cost.total(noise.step, noise.reach).scaled(2 * noise.level)
    spread += cost.value(Fraction(0)).scaled(noise.level + noise.atom)
    if noise.rim:
        spread += cost.value((noise.reach + 1) * noise.step).scaled(2 * noise.rim)
    return spread.scaled(Fraction(1, noise.total))


@expectation.register
def _(noise: FiniteLatticeNoise, cost: Cost) -> Interval:
    # On each side of 0 a run is a difference of two sums of L.
    total = cost.value(Fraction(0)).scaled(noise.weight(0))
    for run in noise.equal_runs:
        last = run.first + run.points - 1
        for near, far in ((max(run.first, 1), last), (max(-last, 1), -run.first)):
            if far >= near:
                terms = cost.total(noise.step, far) - cost.total(noise.step, near - 1)
                total += terms.scaled(run.weight)
    return total.scaled(Fraction(1, noise.total))


@expectation.register
def _enclose_staircase(noise: Staircase, cost: Cost) -> Interval:
    """Enclose E L(X): by a closed form for integer powers, otherwise period by period."""
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        _check_closed_form(int(cost.p), count_bits(noise.ratio) + count_bits(noise.gamma))
        return Interval.exact(noise.moment(int(cost.p)))

    def area(n: int) -> Interval:
        return cost.integral((n + noise.gamma) * noise.period)

    def enclose_rest(n: int) -> Interval | None:
        value, complement = area(n), 1 - noise.ratio
        if cost.constant_beyond is not None:  # beyond, the area grows by the same in each period
            if (n + noise.gamma) * noise.period < cost.constant_beyond:
                return None
            grown = cost.value(cost.constant_beyond + 1).scaled(noise.period)
            return value.scaled(1 / complement) + grown.scaled(noise.ratio / complement**2)
        if not isinstance(cost, Power):
            raise cost.unbounded()
        bound = power_series_bound(noise.ratio, n + noise.gamma, cost.p + 1)
        return None if bound is None else Interval(value.lower, value.upper * bound)

    return _enclose_series(noise.ratio, area, enclose_rest).scaled(
        2 * noise.height * (1 - noise.ratio)
    )


@expectation.register
def _enclose_discrete_staircase(noise: DiscreteStaircase, cost: Cost) -> Interval:
    """Enclose E L(X): by a closed form for integer powers, otherwise period by period.

    With T(m) = L(step) + … + L(m·step), the sum is that of drop · T over
    all points where the weights fall. Nothing cancels in it.
    """
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        _check_closed_form(int(cost.p), count_bits(noise.ratio), len(noise.runs))
        return Interval.exact(noise.moment(int(cost.p)))
    upto = _make_totals(cost, noise.step)

    def sum_drops(periods: int) -> Interval:
        """Enclose the sum of drop · T over the falls of one period, without its factor bⁿ."""
        first = periods * noise.steps
        return sum_intervals(upto(first + last).scaled(drop) for last, drop in noise.drops)

    runs = len(noise.runs)
    values = runs + min(noise.steps, _NEAR * runs)  # for one period
    half = _enclose_series(
        noise.ratio,
        sum_drops,
        _enclose_rest_of_staircase(noise, cost, sum_drops),
        runs=runs,
        values=values,
    )
    center = cost.value(Fraction(0)).scaled(noise.runs[0].weight)
    return (center + half.scaled(2)).scaled(1 / noise.total)


def _enclose_rest_of_staircase(
    noise: DiscreteStaircase, cost: Cost, sum_drops: Callable[[int], Interval]
) -> Callable[[int], Interval | None]:
    """Return the function that encloses the rest of the series (:func:`_enclose_series`)."""
    all_drops = sum((drop for _, drop in noise.drops), Fraction(0))
    complement, width = 1 - noise.ratio, noise.steps * noise.step

    def enclose_rest(n: int) -> Interval | None:
        if cost.constant_beyond is not None:  # beyond, T grows by the same in each period
            if n * width <= cost.constant_beyond:
                return None
            grown = cost.value(cost.constant_beyond + 1).scaled(noise.steps * all_drops)
            return sum_drops(n).scaled(1 / complement) + grown.scaled(noise.ratio / complement**2)
        if not isinstance(cost, Power):
            raise cost.unbounded()
        # T(m) is at most m·L(m·step), and no point of a period lies beyond its end.
        bound = power_series_bound(noise.ratio, Fraction(n + 1), cost.p + 1)
        if bound is None:
            return None
        end = cost.value((n + 1) * width).scaled((n + 1) * noise.steps * all_drops)
        return Interval(Fraction(0), end.upper * bound)

    return enclose_rest


def _make_totals(cost: Cost, step: Fraction) -> Callable[[int], Interval]:
    """Return the function T(m) = L(step) + … + L(m·step), which continues from its last m."""
    last, total, sums = 0, Interval.exact(0), recall_sums(cost, step)

    def upto(terms: int) -> Interval:
        nonlocal last, total
        if not 0 <= terms - last <= _NEAR:
            return cost.total(step, terms)
        if terms <= MOST_STORED_SUMS:  # stored for other noise
            total = sums.upto(cost.value, terms)
        else:
            total += sum_intervals(cost.value(j * step) for j in range(last + 1, terms + 1))
        last = terms
        return total

    return upto


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
    enclose_rest: Callable[[int], Interval | None],
    *,
    runs: int = 1,
    values: int = 1,
) -> Interval:
    """Enclose Σ ratioⁿ·term(n) over n ≥ 0, for terms that are not negative.

    ``enclose_rest(n)`` encloses Σ ratioᵐ·term(n + m) over m ≥ 0, or is None if it is not known yet.
    Terms are added until the rest is known to within 2⁻⁸⁰ of the sum. A term adds ``runs`` numbers
    and needs ``values`` values of a cost.

    Terms never fall. Once ratioⁿ is below the last stored digit, it is only known to lie between 0
    and that digit. If term n times that digit is more than twice the allowed width, no later term
    helps, and the sum is rejected.
    """
    work = 0
    lower = upper = Fraction(0)
    low, high = 1 << _BITS, 1 << _BITS
    last = enclose_rest(_TERMS)
    # If even the last term counts almost as much as the first, the sum is rejected at once.
    level = fixed_power(ratio, _TERMS, _BITS)[0] >> (_BITS - _SEEN_BITS)
    for n in range(_TERMS if last is not None and (last.is_narrow(8) or not level) else 0):
        # Less and less often, because it can take as long as a term.
        if n <= 16 or n == isqrt(n) ** 2:
            left = enclose_rest(n)
            if left is not None:
                after = Interval(
                    left.lower * Fraction(low, 1 << _BITS), left.upper * Fraction(high, 1 << _BITS)
                )
                if after.upper - after.lower <= _NARROW * (upper + after.upper):
                    return Interval(lower, upper) + after
        value = term(n)
        if not low and value.upper > 2 * _NARROW * upper * (1 << _BITS):
            break
        work += runs * count_bits(value.upper) ** 2 + values * _VALUE_WORK
        if work > _MOST_SERIES_WORK:
            raise Unsupported(
                f"The work of an expected cost may be at most {_MOST_SERIES_WORK}",
                got="a staircase with too many runs, periods or digits",
                fix="Use l1 or l2, or shorter numbers.",
            )
        lower += value.lower * Fraction(low, 1 << _BITS)
        upper += value.upper * Fraction(high, 1 << _BITS)
        low = low * ratio.numerator // ratio.denominator
        high = -(-high * ratio.numerator // ratio.denominator)
    raise Unsupported(
        f"This expected cost needs more than {_TERMS} periods of the noise: its ratio is too near "
        "to 1, or the cost grows too fast",
        fix="Use l1 or l2.",
    )


@expectation.register
def _(noise: JointMarginal, cost: Cost) -> Interval:
    if isinstance(cost, Threshold):
        return Interval.exact(2 * (1 - noise.probability_up_to(cost.limit))).shortened(_BITS)
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        return Interval.exact(noise.moment(int(cost.p))).shortened(_BITS)  # of very many digits
    raise Unsupported(
        "Expected costs of joint noise are known only for |x|ᵖ, p an integer, and for thresholds",
        got=repr(cost),
        fix="Use l1 or l2.",
    )


@expectation.register
def _enclose_smooth(noise: Smooth, cost: Cost) -> Interval:
    """Enclose E L(X): by moments for powers, by tails for costs that become constant.

    For a cost given as a function, L is called cell by cell, which needs bounded noise.
    """
    if isinstance(cost, Power):
        return noise.moment(cost.p)
    if isinstance(cost, Threshold):
        return noise.tail(cost.limit).scaled(2)
    if isinstance(cost, Points):
        return enclose_lines(noise, cost)
    if isinstance(noise.radius, float):
        raise cost.unbounded()
    return _enclose_by_cells(noise, cost, noise.radius)


def _enclose_by_cells(noise: Smooth, cost: Cost, radius: Fraction) -> Interval:
    """Enclose E L(X) for a function that never falls, by L at the two ends of each cell."""
    edges = [radius * i / _CELLS for i in range(_CELLS + 1)]
    # Enclosures of few digits give an outer bound that is fast to add.
    tails = [noise.tail(edge, 64).shortened(64) for edge in edges]
    values = [cost.value(edge) for edge in edges]
    cells = (
        Interval(max(Fraction(0), near.lower - far.upper), near.upper - far.lower)
        * Interval(low.lower, high.upper)
        for (near, far), (low, high) in zip(pairwise(tails), pairwise(values), strict=True)
    )
    return sum_intervals(cells).scaled(2)


@expectation.register
def _enclose_rounded(noise: Rounded, cost: Cost) -> Interval:
    """Enclose E L(|R|g), where R is the index of the noise and g its step.

    The first enclosure uses the noise on the line, from which Rg is at most g/2 away. If it is not
    narrow enough, the sum over the tails refines it.
    """
    if isinstance(cost, Threshold):  # |R|g > t exactly if |R| > ⌊t/g⌋
        return noise.beyond(cost.limit // noise.step).scaled(2)
    if isinstance(cost, Power):
        return noise.moment(cost.p)
    if isinstance(cost, Points):
        near = enclose_rounded_lines(noise, cost)
    elif isinstance(noise.radius, float):
        raise cost.unbounded()
    else:  # all that is known of a function is that it never falls
        near = Interval(cost.value(Fraction(0)).lower, cost.value(noise.radius).upper)
    return noise.refine_by_tails(near, _CostTerms(cost, noise.step))


@dataclass(frozen=True)
class _CostTerms(TailTerms):
    """The values at the lattice points of a cost that becomes constant, or of a function."""

    cost: Cost
    step: Fraction

    def value(self, index: int) -> Interval:
        """Enclose L(index·g)."""
        return self.cost.value(index * self.step).shortened(BITS)

    @property
    def constant_from(self) -> int | float:
        """The index from which L is constant, or ``math.inf`` if unknown."""
        size = self.cost.constant_beyond
        return inf if size is None else size // self.step + 1

    def sum_between(self, first: int, stop: int, start: Interval, end: Interval) -> Interval:
        """Enclose Σ L(jg) over first < j < stop: exactly, or part by part.

        A function never falls, so on each part it lies between its values at the ends.
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

    def bound_rest(self, noise: Rounded, end: int) -> Fraction | None:
        """Bound the rest by the tail times the remaining rise of L; None for a function."""
        size = self.cost.constant_beyond
        if size is None:
            return None
        rise = self.cost.value(size + 1).upper - self.value(end).lower
        return noise.beyond(end, BITS).upper * max(Fraction(0), rise)
