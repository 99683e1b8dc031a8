"""The cost of an error: any non-decreasing function of its size, and the base of all costs.

A cost L never falls as the size |x| of an error grows (GDGK19, Property 1). Each kind of cost
defines its values and its integral. Expected costs, optimal noise and certificates use only these.
"""

import math
from array import array
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from threading import Lock
from weakref import WeakKeyDictionary

from leastnoise.core.exact import Interval, Number, as_float, format_rounded, parse_rational, quote
from leastnoise.core.noise import ExpectedCost, Noise, not_a_cost
from leastnoise.errors import InvalidParameter, Unsupported, parameter

_WIDTH_BITS = 36
# Below this size, floats have too few digits for cells.
_SMALLEST_SIZE = 1e-302
# The most terms of a sum over the lattice that are added up exactly, one by one.
_TERMS = 256
# Parts into which a cell of a function is divided to bound its sag below the chord.
_PARTS = 32


class Cost(ExpectedCost):
    """The cost L(|x|) of an error x, for a function L that never falls.

    Bounds are computed from :class:`~leastnoise.core.exact.Interval` values. For a function these
    are left and right Riemann sums over at least 16384 cells, which enclose the integral of any
    function that never falls.

    Args:
        function: L, a function of a size x ≥ 0. It is called with floats. You
            guarantee that it never falls. Calibrating and verifying sample it at 16385 evenly
            spaced sizes from 0 to twice the radius of the noise. They reject a fall and name its
            place. Nothing is verified between the samples or beyond them.
        name: The name that is printed. Default: the name of the function.

    Raises:
        InvalidParameter: If ``function`` is not callable, or ``name`` is not a string.

    >>> Cost(math.log1p)(-1.0) == math.log(2)
    True
    """

    def __init__(self, function: Callable[[float], float], name: str | None = None) -> None:
        if not callable(function):
            raise InvalidParameter(
                "function must be a function of the size of an error",
                got=quote(function),
                fix="Use, for example, Cost(math.log1p), or l1, l2, lp, threshold or "
                "piecewise_linear.",
            )
        if not isinstance(name, str | None):
            raise InvalidParameter(
                parameter("name") + " must be a string",
                got=quote(name),
                fix="Omit it, or use a string.",
            )
        object.__setattr__(self, "_function", function)
        named = name or f"Cost({getattr(function, '__name__', type(function).__name__)})"
        object.__setattr__(self, "_name", named)

    _function: Callable[[float], float]
    _name: str

    def __setattr__(self, name: str, value: object) -> None:
        """Reject changes: guarantees and certificates depend on a cost."""
        raise AttributeError(
            f"a cost cannot be changed: create another one instead of setting {name!r}"
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return self._name

    @property
    def stored_name(self) -> str:
        """The name in files, which must never change, even if ``repr`` does."""
        return repr(self)

    def __call__(self, error: Number) -> float:
        """Return the cost of one error, as a float."""
        return as_float(self.value(abs(parse_rational(error, "error"))).middle)

    def expectation(self, noise: Noise) -> Interval:
        """Enclose the expected cost E L(X) of noise."""
        from leastnoise.costs.expectation import expectation  # it imports every kind of cost

        return expectation(noise, self)

    def value(self, size: Fraction) -> Interval:
        """Enclose L(size) for size ≥ 0."""
        return Interval.exact(Fraction(self._call(_within_floats(size))))

    def integral(self, size: Fraction) -> Interval:
        """Enclose the integral of L from 0 to ``size``, by left and right sums over cells."""
        if not size:
            return Interval.exact(0)
        table = recall_values(self, _within_floats(size))
        width = Fraction(table.width)
        cells = size // width
        if not table.extend(self._call_at, cells):
            raise self._too_large()
        left, right = table.left(cells)[0], table.left(cells + 1)[1] - Fraction(table.values[0])
        sliver = size - cells * width
        lower, upper = Fraction(table.values[cells]), self.value(size).upper
        return Interval(left * width + lower * sliver, right * width + upper * sliver)

    def total(self, step: Fraction, terms: int) -> Interval:
        """Enclose L(step) + L(2·step) + … + L(terms·step)."""
        if terms <= _TERMS:
            return recall_sums(self, step).upto(self.value, terms)
        if terms <= CELLS:
            return self._total_one_by_one(step, terms)
        return self._total_by_integral(step, terms)

    def balance(self, width: Fraction, half: Fraction) -> Interval:
        """Enclose h(w) = (L(w)−L(0))·(w−Δ/2) − ∫₀ʷ(L−L(0)) at w = ``width``, Δ/2 = ``half``.

        Its sign decides whether wider noise costs more (docs/theory/critical-width.md).
        """
        gained = self.value(width).scaled(width - half)
        return gained - self.integral(width) + self.value(Fraction(0)).scaled(half)

    def beyond(self, size: Fraction) -> Fraction:
        """Return a lower bound of L(x) for all x > ``size``."""
        return self.value(size).lower

    def sag(self, low: Fraction, high: Fraction) -> Fraction:
        """Return an upper bound of how far L hangs below its chord from ``low`` to ``high``.

        If both ends of the chord are lowered by this bound, it lies below L. The bound uses that a
        function that never falls is, on each of a few parts, at least its value at the left end.
        """
        sags = recall_sags(self)
        if (low, high) not in sags:  # the solver, the lower bound and the certificate need it
            part = (high - low) / _PARTS
            values = [self.value(low + i * part) for i in range(_PARTS)]
            start, end = values[0].upper, self.value(high).upper
            rise = (end - start) / _PARTS
            sags[low, high] = max(start + (i + 1) * rise - values[i].lower for i in range(_PARTS))
        return sags[low, high]

    def largest_sag(self, step: Fraction, reach: Fraction) -> Fraction:
        """Return an upper bound of every sag between neighbors i·step up to ``reach``.

        A sag of a cost that never falls is at most its total rise.
        """
        return self.value(reach + step).upper - self.value(Fraction(0)).lower

    @property
    def kinks(self) -> tuple[Fraction, ...]:
        """The sizes at which L is known to jump or to bend."""
        return ()

    @property
    def constant_beyond(self) -> Fraction | None:
        """A size beyond which L is known to be constant, or None."""
        return None

    def probe(self, reach: Fraction) -> None:
        """Reject the cost if samples up to ``reach`` show that it falls."""
        width, values = self._read(reach)
        for place, (before, after) in enumerate(pairwise(values)):
            if after < before:
                start, end = (format_rounded(width * i, 9) for i in (place, place + 1))
                raise InvalidParameter(
                    "A cost must never fall as the error grows",
                    got=f"{self!r} falling from {before!r} at {start} to {after!r} at {end}",
                    fix="Use a function that never falls.",
                )

    def unbounded(self) -> Unsupported:
        """Return the error for unbounded noise, because the growth of the function is unknown."""
        return Unsupported(
            "The expected cost of unbounded noise needs a cost with a formula",
            got=f"{self!r}, a function",
            fix="Use l1, l2, lp, threshold or piecewise_linear.",
        )

    def _total_one_by_one(self, step: Fraction, terms: int) -> Interval:
        """Enclose the sum of L at each place, rounded once."""
        try:
            summed = float(recall_sums(self, step).upto(self.value, terms).lower)
        except OverflowError:
            raise self._too_large() from None
        return Interval(
            Fraction(math.nextafter(summed, -math.inf)), Fraction(math.nextafter(summed, math.inf))
        )

    def _total_by_integral(self, step: Fraction, terms: int) -> Interval:
        """Enclose the sum from both sides: each term bounds one cell of the integral."""
        area = self.integral(terms * step).scaled(1 / step)
        last = self.value(terms * step) - self.value(Fraction(0))
        return Interval(area.lower, area.upper + last.upper)

    def _read(self, reach: Fraction) -> tuple[Fraction, list[float]]:
        """Call L at i·width for i = 0 … 16384, where 16384·width is ``reach`` or slightly less.

        The width has so few binary digits that every place is a float exactly, so the sums over
        these cells are sums over the real line and not over places rounded elsewhere.
        """
        mantissa, exponent = math.frexp(_within_floats(reach) / CELLS)
        digits = math.floor(math.ldexp(mantissa, _WIDTH_BITS))
        width = math.ldexp(digits, exponent - _WIDTH_BITS)
        if Fraction(width) * CELLS > reach:
            width = math.ldexp(digits - 1, exponent - _WIDTH_BITS)
        return Fraction(width), self._call_at([width * i for i in range(CELLS + 1)])

    def _too_large(self) -> InvalidParameter:
        return InvalidParameter(
            f"The values of {self!r} are too large to sum as floats",
            fix="Scale the function down, for example by 1000.",
        )

    def _call_at(self, sizes: list[float]) -> list[float]:
        """Call L at many sizes; if a call fails, repeat the calls one by one to report it."""
        try:
            costs = [self._function(size) for size in sizes]
            if all(type(cost) is float for cost in costs) and math.isfinite(math.fsum(costs)):
                return costs
        except Exception:  # noqa: BLE001, S110 -- the calls below report it
            pass
        return [self._call(size) for size in sizes]

    def _call(self, size: float) -> float:
        try:
            cost: object = self._function(size)
        except Exception as error:
            raise InvalidParameter(
                "A cost must be a number at every size",
                got=f"{type(error).__name__} from {self!r} at {size!r}",
                fix="Use a function that is defined for all sizes ≥ 0.",
            ) from error
        number = _as_finite(cost)
        if number is not None:
            return number
        raise InvalidParameter(
            "A cost must be a finite number at every size",
            got=f"{quote(cost)} from {self!r} at {size!r}",
            fix="Use a function that is finite for all sizes ≥ 0.",
        )


def as_cost(cost: object) -> Cost:
    """Return a cost, or reject anything else."""
    if isinstance(cost, Cost):
        return cost
    raise not_a_cost(cost)


def has_expectation(noise: type[Noise]) -> bool:
    """Return whether expected costs are known for a class of noise."""
    from leastnoise.costs.expectation import expectation  # it imports every kind of cost

    return expectation.dispatch(noise) is not expectation.dispatch(object)


def sum_intervals(terms: Iterable[Interval]) -> Interval:
    """Return an enclosure of a sum of enclosures."""
    lower = upper = Fraction(0)
    for term in terms:
        lower += term.lower
        upper += term.upper
    return Interval(lower, upper)


def _as_finite(cost: object) -> float | None:
    """Return the result of a function as a float, or None if it is not a finite number."""
    if not isinstance(cost, Real | Decimal):
        return None
    try:
        number = float(cost)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _within_floats(size: Fraction) -> float:
    number = as_float(size)
    if math.isinf(number) or 0 < number < _SMALLEST_SIZE:
        raise InvalidParameter(
            f"The sizes of errors must be floats of at least {_SMALLEST_SIZE} for a cost given as "
            "a function",
            got=f"about {format_rounded(size)}",
            fix="Use l1, l2, lp, threshold or piecewise_linear.",
        )
    return number


# The width of a cell is a power of two: there are at least this many cells, and less than twice
# as many.
CELLS = 1 << 14
# The number of totals of a cost over a lattice that are stored.
MOST_STORED_SUMS = 1 << 15


class CellValues:
    """The values of L at 0, w, 2w, … that were needed so far, and bounds of their sums.

    All sizes of one octave have the same w, so noise of a thousand steps calls a function hardly
    more often than noise of one step. L is never called beyond the sizes that are needed.
    """

    def __init__(self, width: float) -> None:
        self.width = width
        self.values = array("d")
        self._lock = Lock()
        self._lower, self._upper = array("d", [0.0]), array("d", [0.0])

    def left(self, cells: int) -> tuple[Fraction, Fraction]:
        """Return a lower bound of L(0) + … + L((cells−1)·w), and an upper one."""
        return Fraction(self._lower[cells]), Fraction(self._upper[cells])

    def extend(self, called: Callable[[list[float]], list[float]], cells: int) -> bool:
        """Call L up to ``cells``·w; return whether the sums are finite floats."""
        count = len(self.values)
        if count <= cells:
            values = called([self.width * i for i in range(count, cells + 1)])
            with self._lock:  # another thread may have called some of them meanwhile
                for value in values[len(self.values) - count :]:
                    self._add(value)
        return math.isfinite(self._lower[cells + 1]) and math.isfinite(self._upper[cells + 1])

    def _add(self, value: float) -> None:
        """Add a value to the sums: a float sum is rounded once, so the next floats bound it."""
        self._lower.append(math.nextafter(self._lower[-1] + value, -math.inf))
        self._upper.append(math.nextafter(self._upper[-1] + value, math.inf))
        self.values.append(value)


_KNOWN_VALUES: WeakKeyDictionary[object, dict[float, CellValues]] = WeakKeyDictionary()


class LatticeSums:
    """L(h) + … + L(nh) for every n needed so far; each L(jh) is computed once.

    Noise of a thousand steps needs a thousand totals.
    """

    def __init__(self, step: Fraction) -> None:
        self._step = step
        self._sums = [Interval.exact(0)]
        self._lock = Lock()

    def upto(self, value: Callable[[Fraction], Interval], terms: int) -> Interval:
        """Enclose the total of the first ``terms`` terms."""
        with self._lock:
            while len(self._sums) <= terms:
                self._sums.append(self._sums[-1] + value(len(self._sums) * self._step))
            return self._sums[terms]


_KNOWN_SAGS: WeakKeyDictionary[object, dict[tuple[Fraction, Fraction], Fraction]] = (
    WeakKeyDictionary()
)


def recall_sags(cost: object) -> dict[tuple[Fraction, Fraction], Fraction]:
    """Return the cached sags of a cost, or an empty table if its function has no hash."""
    try:
        return _KNOWN_SAGS.setdefault(cost, {})
    except TypeError:  # a function that has no hash
        return {}


_KNOWN_SUMS: WeakKeyDictionary[object, dict[Fraction, LatticeSums]] = WeakKeyDictionary()


def recall_sums(cost: object, step: Fraction) -> LatticeSums:
    """Return the cached totals of a cost, or a new table if its function has no hash."""
    try:
        sums = _KNOWN_SUMS.setdefault(cost, {})
    except TypeError:  # a function that has no hash
        return LatticeSums(step)
    return sums.setdefault(step, LatticeSums(step))


def recall_values(cost: object, size: float) -> CellValues:
    """Return the cached values of a cost on cells, or a new table if its function has no hash."""
    width = math.ldexp(1.0, math.frexp(size)[1] - CELLS.bit_length())
    try:
        tables = _KNOWN_VALUES.setdefault(cost, {})
    except TypeError:  # a function that has no hash
        return CellValues(width)
    return tables.setdefault(width, CellValues(width))
