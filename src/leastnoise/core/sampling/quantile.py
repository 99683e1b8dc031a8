"""Smooth noise, rounded to a lattice, by its quantiles.

U = 0.w₁w₂w₃… in words of 64 bits is uniform on [0, 1). Its first bit chooses the side: below 1/2
the noise is negative and q = U is the probability of its lying farther out, from 1/2 on it is
positive and q = 1 − U. Its size is Q(q), P(X > Q(q)) = q, and the index is ±⌊Q/step + 1/2⌋. The
words read so far leave an interval of q. Q falls as q grows, so enclosures of Q at the two ends of
it settle the index for all of it; where they do not, and only there, the next word is read
(docs/theory/drawing.md).

Polynomials find the same index more quickly. The first word leaves the tail q an interval of length
2⁻⁶⁴. Its lower end, as a float, is looked up by its exponent and first digits in a table of Taylor
polynomials of Q. The place Q/step is then at most ``doubt`` off for all of the interval, proved
beforehand; what that leaves in doubt, and the words of the farthest tails, are left to exact
numbers. One by one here, many at once in core.arrays.lookup: the same floats of the same
polynomials.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import frexp, inf, ldexp, nextafter
from threading import Lock
from typing import Protocol

from leastnoise.core.exact import Interval, as_float
from leastnoise.core.sampling.entropy import WORD, Tape
from leastnoise.core.sampling.schemes import draw_exactly

# How much narrower than the interval of q the enclosures are, as a power of two.
_GUARD = 32
# Buckets to an octave of tails, as a power of two; how many octaves at most, for the tails beyond
# are too rare to be worth a table; and the largest degree.
BUCKET_BITS = 5
_BUCKETS = 1 << BUCKET_BITS
_TWICE_BUCKETS = 2 * _BUCKETS
_OCTAVES = 20
_LARGEST_DEGREE = 8
# A share of words that may be settled one by one without being felt.
_FEW = Fraction(1, 1 << 16)
# So many samples are taken exactly before polynomials are built for them.
_SOME = 1500
# Of wider noise, floats leave too many words in doubt.
LARGEST_REACH = 1 << 42
_LAST_WORD = (1 << WORD) - 1
_SIGN_BIT = WORD - 1
# The largest part of a number that rounding it to a float can put it off by.
_UNIT = Fraction(1, 1 << 53)
# A tail rounded to a float can lie in the next bucket, by a hair.
_BEFORE = 1 - Fraction(1, 1 << 10)
# How accurate the coefficients are before they are rounded.
_BITS = 64


class Smooth(Protocol):
    """What the scheme asks of a smooth noise: enclosures of its quantiles."""

    def series(self, tail: Fraction, terms: int, bits: int = 128) -> tuple[Interval, ...]:
        """See :meth:`leastnoise.core.noise.Smooth.series`."""
        ...


class QuantileScheme:
    """Samples ⌊X/step + 1/2⌋ for X of a smooth noise; ``farthest`` is None if it is unbounded."""

    def __init__(self, noise: Smooth, step: Fraction, farthest: int | None) -> None:
        self.noise, self.step, self.farthest = noise, step, farthest
        self.polynomials = PolynomialCache(self)

    @cached_property
    def reach(self) -> int:
        """How large an index is where q ≥ 2⁻⁶⁴: no sample but one in 2⁶³ has a larger one."""
        index = _index(self.noise.series(Fraction(1, 1 << WORD), 1)[0].upper, self.step)
        return index if self.farthest is None else min(index, self.farthest)

    def draw(self, tape: Tape) -> int:
        """See Scheme: by polynomials once they are built; exactly before, and where in doubt."""
        word = tape.word(WORD)
        polynomials = self.polynomials.built or self.polynomials.after(1)
        if polynomials is not None:
            index = polynomials.index(word)
            if index is not None:
                return index
        return draw_exactly(self.index_if_certain, word, tape)

    def index_if_certain(self, word: int, bits: int) -> int | None:
        """Return the index for every U in [word, word + 1)/2^bits, or None if that is not sure."""
        positive = word >> (bits - 1)
        size = self._size((1 << bits) - 1 - word if positive else word, bits)
        return size if size is None or positive else -size

    def _size(self, count: int, bits: int) -> int | None:
        """Return ⌊Q/step + 1/2⌋ for every q in [count, count + 1]/2^bits, or None if not sure."""
        fine = count.bit_length() + _GUARD
        if count:
            place = self.noise.series(Fraction(count, 1 << bits), 1, fine)[0]
            most = _index(place.upper, self.step)
            # At the other end Q is smaller by at most the part 1/(count·(1 − 2q)), q the tail
            # there: that nearly always spares a second enclosure.
            parts = count * ((1 << bits) - 2 * (count + 1))
            if parts and most == _index(place.lower, self.step, parts - (1 << bits), parts):
                return most
        elif self.farthest is None:
            return None  # unbounded noise has no place where q is 0
        else:
            most = self.farthest
        nearest = self.noise.series(Fraction(count + 1, 1 << bits), 1, fine)[0].lower
        return most if most == _index(nearest, self.step) else None


@lru_cache(maxsize=64)
def quantile_scheme(noise: Smooth, step: Fraction, farthest: int | None) -> QuantileScheme:
    """Return the scheme of a rounded noise: one for all noise that is equal."""
    return QuantileScheme(noise, step, farthest)


def _index(size: Fraction, step: Fraction, kept: int = 1, parts: int = 1) -> int:
    """Return ⌊size·(kept/parts)/step + 1/2⌋: in integers, for fractions would be shortened."""
    one = size.denominator * step.numerator * parts
    return (2 * size.numerator * step.denominator * kept + one) // (2 * one)


@dataclass(frozen=True)
class Plan:
    """How many octaves of tails get polynomials, of which degree, and how far off they can be."""

    octaves: int
    degree: int
    doubt: float

    @property
    def left(self) -> Fraction:
        """A bound of the share of words that are settled one by one."""
        return 2 * Fraction(self.doubt) + Fraction(1, 1 << self.octaves)


class Polynomials:
    """The polynomials of one scheme, built by a plan.

    Attributes:
        plan: The plan.
        rows: For each bucket, from the farthest tails on, the middle and the coefficients, the
            highest power first; words count tails in units of 2⁻⁶⁴.
    """

    def __init__(self, scheme: QuantileScheme, plan: Plan) -> None:
        self.plan = plan
        self.rows = [_row(scheme, plan, bucket) for bucket in range(plan.octaves * _BUCKETS)]
        # All of one length, so that they are worked out without a loop.
        none = (0.0,) * (_LARGEST_DEGREE - plan.degree)
        self._padded = [(middle, *none, *coefficients) for middle, coefficients in self.rows]
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
    """The polynomials of a scheme, once so many numbers are sampled from it that they pay.

    All of them are built at once, at a sample that its number alone chooses: built one by one for
    the tails that come up, they would reveal by their timing how rare a noise is.
    """

    def __init__(self, scheme: QuantileScheme) -> None:
        self.built: Polynomials | None = None
        self._scheme = scheme
        self._lock = Lock()  # the threads of one array want them at the same time
        self._samples = 0

    def after(self, samples: int) -> Polynomials | None:
        """Return the polynomials, to be used for so many more samples; None if they do not pay."""
        if self.built is None and self._scheme.reach < LARGEST_REACH:
            self._count(samples)
        return self.built

    def _count(self, samples: int) -> None:
        with self._lock:
            self._samples += samples
            if self.built is None and self._samples >= _SOME:
                self.built = Polynomials(self._scheme, plan_polynomials(self._scheme))


def plan_polynomials(scheme: QuantileScheme) -> Plan:
    """Return the plan of the lowest degree that leaves few words, or of the best that there is."""
    worst = [Fraction(0)] * (_LARGEST_DEGREE + 1)
    best: dict[int, Plan] = {}
    for octave in range(1, _OCTAVES + 1):
        terms = _terms(scheme, octave)
        for degree in range(1, _LARGEST_DEGREE + 1):
            worst[degree] = max(worst[degree], _doubt(terms, degree, octave))
            plan = Plan(octave, degree, nextafter(as_float(worst[degree]), inf))
            if degree not in best or plan.left < best[degree].left:
                best[degree] = plan
    enough = (plan for plan in best.values() if plan.left <= _FEW)
    return next(enough, min(best.values(), key=lambda plan: plan.left))


def _terms(scheme: QuantileScheme, octave: int) -> list[Fraction]:
    """Bound each term of the polynomials of an octave, in steps, and the one that follows them.

    They are largest where the tail is least: so at the octave's start, or a little before. Their
    signs alternate.
    """
    start = Fraction(1, 2 << octave)
    series = scheme.noise.series(start * _BEFORE, _LARGEST_DEGREE + 2, _BITS)
    reach = start / (2 * _BUCKETS)  # from the middle of a bucket to its ends
    # Rounded up to few digits, for they are added up many times.
    return [
        term.scaled((-reach) ** n / scheme.step).shortened(32).upper
        for n, term in enumerate(series)
    ]


def _doubt(terms: list[Fraction], degree: int, octave: int) -> Fraction:
    """Bound how far off a place is, for any q of a word, in steps (docs/theory/drawing.md)."""
    start = Fraction(1, 2 << octave)
    slope = terms[1] / (start / (2 * _BUCKETS))
    remainder = terms[degree + 1]
    roundings = (2 * degree + 4) * _UNIT * (1 + sum(terms[: degree + 1]))
    word = slope * (Fraction(2, 1 << WORD) + 2 * start * _UNIT)
    return remainder + roundings + word + _UNIT


def _row(scheme: QuantileScheme, plan: Plan, bucket: int) -> tuple[float, tuple[float, ...]]:
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
