"""Expected costs of staircases: closed forms for powers, otherwise series added up by period."""

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

from leastnoise.core.exact import Interval, fixed_power
from leastnoise.core.noise import DiscreteStaircase, Staircase, power_series_bound
from leastnoise.costs.cost import MOST_STORED_SUMS, Cost, known_sums, sum_intervals
from leastnoise.costs.power import Power
from leastnoise.errors import Unsupported

# Up to this exponent the expected |X|ᵖ of a staircase has a closed form; beyond, it is a sum.
_LARGEST_CLOSED = 64
# The most terms that are added to a known sum one by one.
_NEAR = 256
# The most periods that are added up one by one, and the digits of the powers while they are.
_TERMS, _BITS = 1 << 13, 256
_NARROW = Fraction(1, 1 << 80)
# A number of n binary digits takes time in proportion to n². The most work of a sum is that of 8192
# periods with numbers of 8192 digits. One value of a cost takes as long as a number of 724 digits.
_MOST_SERIES_WORK, _VALUE_WORK = 1 << 39, 1 << 19
# A closed form takes p² additions of numbers with p times the digits of the ratio, and p³
# multiplications for each run.
_MOST_CLOSED_WORK, _MOST_RUN_WORK = 1 << 45, 1 << 24
_SEEN_BITS = 40


def enclose_staircase(noise: Staircase, cost: Cost) -> Interval:
    """Enclose E L(X): by its closed form for integer powers, else added up period by period."""
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        _check_closed_form(int(cost.p), _digits(noise.ratio) + _digits(noise.gamma))
        return Interval.exact(noise.moment(int(cost.p)))

    def area(n: int) -> Interval:
        return cost.integral((n + noise.gamma) * noise.period)

    def rest(n: int) -> Interval | None:
        here, keep = area(n), 1 - noise.ratio
        if cost.constant_beyond is not None:  # beyond, the area grows by the same in each period
            if (n + noise.gamma) * noise.period < cost.constant_beyond:
                return None
            grown = cost.value(cost.constant_beyond + 1).scaled(noise.period)
            return here.scaled(1 / keep) + grown.scaled(noise.ratio / keep**2)
        if not isinstance(cost, Power):
            raise cost.unbounded()
        bound = power_series_bound(noise.ratio, n + noise.gamma, cost.p + 1)
        return None if bound is None else Interval(here.lower, here.upper * bound)

    return _enclose_series(noise.ratio, area, rest).scaled(2 * noise.height * (1 - noise.ratio))


def enclose_discrete_staircase(noise: DiscreteStaircase, cost: Cost) -> Interval:
    """Enclose E L(X): by its closed form for integer powers, else added up period by period.

    With T(m) = L(step) + … + L(m·step), each point where the weights fall adds its drop times
    T: a sum in which nothing cancels.
    """
    if isinstance(cost, Power) and cost.p.denominator == 1 and cost.p <= _LARGEST_CLOSED:
        _check_closed_form(int(cost.p), _digits(noise.ratio), len(noise.runs))
        return Interval.exact(noise.moment(int(cost.p)))
    upto = _totals(cost, noise.step)

    def sum_drops(periods: int) -> Interval:
        """Enclose the sum of drop · T over the falls of one period, without its factor bⁿ."""
        first = periods * noise.steps
        return sum_intervals(upto(first + last).scaled(drop) for last, drop in noise.drops)

    runs = len(noise.runs)
    values = runs + min(noise.steps, _NEAR * runs)  # for one period
    half = _enclose_series(
        noise.ratio, sum_drops, _rest_of_staircase(noise, cost, sum_drops), runs=runs, values=values
    )
    center = cost.value(Fraction(0)).scaled(noise.runs[0].weight)
    return (center + half.scaled(2)).scaled(1 / noise.total)


def _rest_of_staircase(
    noise: DiscreteStaircase, cost: Cost, sum_drops: Callable[[int], Interval]
) -> Callable[[int], Interval | None]:
    """Return the function that encloses the rest of the series (:func:`_enclose_series`)."""
    all_drops = sum((drop for _, drop in noise.drops), Fraction(0))
    keep, width = 1 - noise.ratio, noise.steps * noise.step

    def rest(n: int) -> Interval | None:
        if cost.constant_beyond is not None:  # beyond, T grows by the same in each period
            if n * width <= cost.constant_beyond:
                return None
            grown = cost.value(cost.constant_beyond + 1).scaled(noise.steps * all_drops)
            return sum_drops(n).scaled(1 / keep) + grown.scaled(noise.ratio / keep**2)
        if not isinstance(cost, Power):
            raise cost.unbounded()
        # T(m) is at most m·L(m·step), and no point of a period lies beyond its end.
        bound = power_series_bound(noise.ratio, Fraction(n + 1), cost.p + 1)
        if bound is None:
            return None
        end = cost.value((n + 1) * width).scaled((n + 1) * noise.steps * all_drops)
        return Interval(Fraction(0), end.upper * bound)

    return rest


def _totals(cost: Cost, step: Fraction) -> Callable[[int], Interval]:
    """Return the function T(m) = L(step) + … + L(m·step), which continues from its last m."""
    last, total, sums = 0, Interval.exact(0), known_sums(cost, step)

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

    ``rest(n)`` encloses Σ ratioᵐ·term(n + m) over m ≥ 0, or is None if it is not known yet. Terms
    are added until the rest is known to within 2⁻⁸⁰ of the sum. A term adds ``runs`` numbers and
    needs ``values`` values of a cost.

    Terms never fall. Once ratioⁿ is below the last stored digit, it is only known to lie between 0
    and that digit. If term n times that digit is more than twice the allowed width, no later term
    helps, and the sum is rejected.
    """
    work = 0
    lower = upper = Fraction(0)
    low, high = 1 << _BITS, 1 << _BITS
    last = rest(_TERMS)
    # If even the last term counts almost as much as the first, the sum is rejected at once.
    level = fixed_power(ratio, _TERMS, _BITS)[0] >> (_BITS - _SEEN_BITS)
    for n in range(_TERMS if last is not None and (last.is_narrow(8) or not level) else 0):
        if (
            n <= 16 or n == isqrt(n) ** 2
        ):  # less and less often, because it can take as long as a term
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
                f"The work of an expected cost may be at most {_MOST_SERIES_WORK}",
                got="a staircase with too many runs, periods or digits",
                fix="Use l1 or l2, or shorter numbers.",
            )
        lower += here.lower * Fraction(low, 1 << _BITS)
        upper += here.upper * Fraction(high, 1 << _BITS)
        low = low * ratio.numerator // ratio.denominator
        high = -(-high * ratio.numerator // ratio.denominator)
    raise Unsupported(
        f"This expected cost needs more than {_TERMS} periods of the noise: its ratio is too near "
        "to 1, or the cost grows too fast",
        fix="Use l1 or l2.",
    )
