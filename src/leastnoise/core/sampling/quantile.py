"""Sample smooth noise, rounded to a lattice, by its quantiles.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1). Its first bit chooses the side. If U < 1/2,
the noise is negative and the tail is q = U; otherwise it is positive and q = 1 − U. The size of the
noise is Q(q), where P(X > Q(q)) = q, and the index is ±⌊Q/step + 1/2⌋. The words read so far leave
an interval of q. Q falls as q grows, so enclosures of Q at the two ends of the interval decide the
index for all of it. If and only if they do not, the next word is read (docs/theory/drawing.md).

Polynomials find the same index faster. The first word leaves an interval of length 2⁻⁶⁴ for q. The
lower end, as a float, selects a Taylor polynomial of Q by its exponent and first digits. The error
of Q/step is at most ``doubt`` over the whole interval, which is proved when the polynomials are
built. Exact numbers decide the words that this leaves in doubt, and those of the farthest tails.
Words are evaluated one by one here, and many at once in core.arrays.lookup, by the same floats of
the same polynomials.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import frexp, inf, ldexp, nextafter
from threading import RLock
from typing import Protocol

from leastnoise.core.exact import Interval, as_float
from leastnoise.core.sampling.entropy import WORD, Tape
from leastnoise.core.sampling.schemes import draw_exactly

# Enclosures are narrower than the interval of q by this many binary digits.
_GUARD = 32
# The number of buckets per octave of tails, as a power of two; the most octaves, because tails
# beyond are too rare to need a table; and the largest degree.
BUCKET_BITS = 5
_BUCKETS = 1 << BUCKET_BITS
_TWICE_BUCKETS = 2 * _BUCKETS
_OCTAVES = 20
_LARGEST_DEGREE = 8
# A share of words so small that deciding them one by one costs almost no time.
_FEW = Fraction(1, 1 << 16)
# The number of samples from which on polynomials are built.
_SOME = 1500
# For wider noise, floats leave too many words in doubt.
LARGEST_REACH = 1 << 42
_LAST_WORD = (1 << WORD) - 1
_SIGN_BIT = WORD - 1
# The relative error of rounding to a float.
_UNIT = Fraction(1, 1 << 53)
# A tail rounded to a float can lie slightly inside the next bucket.
_BEFORE = 1 - Fraction(1, 1 << 10)
# The binary digits of the coefficients before they are rounded to floats.
_BITS = 64


class SmoothQuantiles(Protocol):
    """The interface that the scheme needs from smooth noise: enclosures of its quantiles."""

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """See :meth:`leastnoise.core.noise.Smooth.series`."""
        ...


class QuantileScheme:
    """Samples ⌊X/step + 1/2⌋ for smooth noise X; ``farthest`` is None if it is unbounded."""

    def __init__(self, noise: SmoothQuantiles, step: Fraction, farthest: int | None) -> None:
        self.noise, self.step, self.farthest = noise, step, farthest
        self.polynomials = PolynomialCache(self)

    @cached_property
    def reach(self) -> int:
        """The largest |index| for q ≥ 2⁻⁶⁴; only one sample in 2⁶³ has a larger one."""
        index = _index(self.noise.series(Fraction(1, 1 << WORD), 1)[0].upper, self.step)
        return index if self.farthest is None else min(index, self.farthest)

    def draw(self, tape: Tape) -> int:
        """See Scheme. Uses polynomials once they are built; exact numbers before, and in doubt."""
        word = tape.word(WORD)
        polynomials = self.polynomials.built or self.polynomials.for_samples(1)
        if polynomials is not None:
            index = polynomials.index(word)
            if index is not None:
                return index
        return draw_exactly(self.index_if_certain, word, tape)

    def index_if_certain(self, word: int, bits: int) -> int | None:
        """Return the index for every U in [word, word + 1)/2^bits, or None if it is undecided."""
        positive = word >> (bits - 1)
        size = self._size((1 << bits) - 1 - word if positive else word, bits)
        return size if size is None or positive else -size

    def _size(self, count: int, bits: int) -> int | None:
        """Return ⌊Q/step + 1/2⌋ for every q in [count, count + 1]/2^bits, or None if undecided."""
        fine = count.bit_length() + _GUARD
        if count:
            place = self.noise.series(Fraction(count, 1 << bits), 1, fine)[0]
            most = _index(place.upper, self.step)
            # At the other end, with tail q, Q is smaller by at most the part 1/(count·(1 − 2q)).
            # That almost always makes a second enclosure unnecessary.
            parts = count * ((1 << bits) - 2 * (count + 1))
            if parts and most == _index(place.lower, self.step, parts - (1 << bits), parts):
                return most
        elif self.farthest is None:
            return None  # unbounded noise has no quantile at q = 0
        else:
            most = self.farthest
        nearest = self.noise.series(Fraction(count + 1, 1 << bits), 1, fine)[0].lower
        return most if most == _index(nearest, self.step) else None


@lru_cache(maxsize=64)
def quantile_scheme(noise: SmoothQuantiles, step: Fraction, farthest: int | None) -> QuantileScheme:
    """Return the scheme of rounded noise; the same object for equal noise."""
    return QuantileScheme(noise, step, farthest)


def _index(size: Fraction, step: Fraction, numerator: int = 1, denominator: int = 1) -> int:
    """Return ⌊size·(kept/parts)/step + 1/2⌋, in integers because Fractions would be reduced."""
    lower = size.denominator * step.numerator * denominator
    return (2 * size.numerator * step.denominator * numerator + lower) // (2 * lower)


@dataclass(frozen=True)
class PolynomialPlan:
    """The number of octaves with polynomials, their degree, and a bound of their error."""

    octaves: int
    degree: int
    doubt: float

    @property
    def left(self) -> Fraction:
        """An upper bound of the share of words that are decided one by one."""
        return 2 * Fraction(self.doubt) + Fraction(1, 1 << self.octaves)


class Polynomials:
    """The polynomials of one scheme, built by a plan.

    Attributes:
        plan: The plan.
        rows: For each bucket, from the farthest tails on, the middle and the coefficients, the
            highest power first; words count tails in units of 2⁻⁶⁴.
    """

    def __init__(self, scheme: QuantileScheme, plan: PolynomialPlan) -> None:
        self.plan = plan
        self.rows = [_row(scheme, plan, bucket) for bucket in range(plan.octaves * _BUCKETS)]
        # All rows have the same length, so that they are evaluated without a loop.
        padding = (0.0,) * (_LARGEST_DEGREE - plan.degree)
        self._padded = [(middle, *padding, *coefficients) for middle, coefficients in self.rows]
        # frexp's fraction is 1/2 at an octave's start.
        self._first = (WORD + 1 - plan.octaves) * _BUCKETS
        self._flag = 2 * plan.doubt

    def index(self, word: int) -> int | None:
        """Return the index for every U that begins with a word, or None if it is in doubt."""
        positive = word >> _SIGN_BIT
        tail = float(_LAST_WORD - word if positive else word)
        fraction, exponent = frexp(tail)
        bucket = exponent * _BUCKETS + int(fraction * _TWICE_BUCKETS) - self._first
        rows = self._padded
        if not 0 <= bucket < len(rows):
            return None
        middle, h, g, f, e, d, c, b, a, p = rows[bucket]
        x = tail - middle
        place = (((((((h * x + g) * x + f) * x + e) * x + d) * x + c) * x + b) * x + a) * x + p
        size = int(place)
        if place - size < self._flag:
            return None
        return size if positive else -size


class PolynomialCache:
    """The polynomials of a scheme, built after so many samples that they save time.

    All polynomials are built at once, at a sample that the number of samples alone determines. If
    each were built when its tail first occurs, the timing would reveal how rare a sample is.
    """

    def __init__(self, scheme: QuantileScheme) -> None:
        self.built: Polynomials | None = None
        self._scheme = scheme
        # The threads of one array need them at the same time. An interrupted one can enter again.
        self._lock = RLock()
        self._samples = 0

    def for_samples(self, samples: int) -> Polynomials | None:
        """Return the polynomials for ``samples`` further samples, or None if they are not built."""
        if self.built is None and self._scheme.reach < LARGEST_REACH:
            self._count(samples)
        return self.built

    def _count(self, samples: int) -> None:
        with self._lock:
            self._samples += samples
            if self.built is None and self._samples >= _SOME:
                self.built = Polynomials(self._scheme, plan_polynomials(self._scheme))


def plan_polynomials(scheme: QuantileScheme) -> PolynomialPlan:
    """Return the plan of the lowest degree that leaves few words in doubt, or the best plan."""
    worst = [Fraction(0)] * (_LARGEST_DEGREE + 1)
    best: dict[int, PolynomialPlan] = {}
    for octave in range(1, _OCTAVES + 1):
        terms = _terms(scheme, octave)
        for degree in range(1, _LARGEST_DEGREE + 1):
            worst[degree] = max(worst[degree], _doubt(terms, degree, octave))
            plan = PolynomialPlan(octave, degree, nextafter(as_float(worst[degree]), inf))
            if degree not in best or plan.left < best[degree].left:
                best[degree] = plan
    enough = (plan for plan in best.values() if plan.left <= _FEW)
    return next(enough, min(best.values(), key=lambda plan: plan.left))


def _terms(scheme: QuantileScheme, octave: int) -> list[Fraction]:
    """Bound each term of the polynomials of an octave, in steps, and the one that follows them.

    The terms are largest at the smallest tail, which is at the start of the octave or slightly
    before it. Their signs alternate.
    """
    start = Fraction(1, 2 << octave)
    series = scheme.noise.series(start * _BEFORE, _LARGEST_DEGREE + 2, _BITS)
    reach = start / (2 * _BUCKETS)  # from the middle of a bucket to its ends
    # Rounded up to few digits, because they are added many times.
    return [
        term.scaled((-reach) ** n / scheme.step).shortened(32).upper
        for n, term in enumerate(series)
    ]


def _doubt(terms: list[Fraction], degree: int, octave: int) -> Fraction:
    """Bound the error of Q/step for all q of a word (docs/theory/drawing.md)."""
    start = Fraction(1, 2 << octave)
    slope = terms[1] / (start / (2 * _BUCKETS))
    remainder = terms[degree + 1]
    roundings = (2 * degree + 4) * _UNIT * (1 + sum(terms[: degree + 1]))
    word = slope * (Fraction(2, 1 << WORD) + 2 * start * _UNIT)
    return remainder + roundings + word + _UNIT


def _row(
    scheme: QuantileScheme, plan: PolynomialPlan, bucket: int
) -> tuple[float, tuple[float, ...]]:
    """Return the middle of a bucket and the coefficients of its polynomial, the highest first."""
    octave, place = divmod(bucket, _BUCKETS)
    start = Fraction(1 << octave, 2 << plan.octaves)
    middle = start + start * (2 * place + 1) / (2 * _BUCKETS)
    series = scheme.noise.series(middle, plan.degree + 1, _BITS)
    terms = [term.lower / scheme.step for term in series]
    terms[0] += Fraction(1, 2) + Fraction(plan.doubt)
    # Words count tails in units of 2⁻⁶⁴.
    scaled = [ldexp(as_float(term), -WORD * n) for n, term in enumerate(terms)]
    return as_float(middle * (1 << WORD)), tuple(reversed(scaled))
