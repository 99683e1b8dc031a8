"""``privacy_for``: the smallest guarantee whose optimal noise is accurate enough."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING
from fractions import Fraction

from leastnoise.calibration import Effort, Problem, parse_effort, parse_sensitivity, parse_shape
from leastnoise.core.exact import (
    Number,
    as_float,
    format_exact,
    format_rounded,
    magnitude,
    parse_confidence,
    parse_positive,
    quote,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import renamed_arguments
from leastnoise.errors import INTEGER, InvalidParameter
from leastnoise.mechanism import calibrate_problem, half_width
from leastnoise.rendering import Progress

# ε and δ are looked for among the decimals of three digits: 900 to each power of ten.
_PER_DECADE = 900
_LARGEST_EPSILON = Fraction(50)
_LARGEST_DELTA = Fraction(999, 1000)


@renamed_arguments(among="shape")
def privacy_for(
    *,
    error: Number,
    confidence: Number,
    sensitivity: Number,
    epsilon: Number | None = None,
    delta: Number | None = None,
    cost: Cost = l1,
    integer: bool = False,
    shape: str = "unimodal",
    solve: bool = True,
    gap: Number = Fraction(1, 1000),
    seconds: Number = 10,
) -> Privacy:
    """Return the smallest guarantee for which :func:`calibrate` finds accurate enough noise.

    For the given δ the smallest ε, or for the given ε the smallest δ, to three significant digits
    and rounded up: :func:`leastnoise.calibrate` with the promise that is returned and the same
    ``cost``, ``integer``, ``shape``, ``solve``, ``gap`` and ``seconds`` draws noise that exceeds
    ``error`` with probability at most 1 − confidence, rounding to the lattice included. That call
    is made before returning.

    Args:
        error: The largest error that is still good; a whole number for whole-number answers.
        confidence: How often errors must be good, above 0 and below 1.
        sensitivity: Δ, how much one person can change the true answer.
        epsilon: ε, if δ is asked for; it may be 0.
        delta: δ, if ε is asked for; it may be 0.
        cost: What an error costs: which noise is the least depends on it.
        integer: Whether true answers are whole numbers.
        shape: The class of noises, as for calibrate.
        solve: Whether to solve where no closed form is proved least. A search takes about eight
            solutions.
        gap: How near to the least each solution must be.
        seconds: How long each may take.

    Raises:
        InvalidParameter: If the question is wrong, or no ε up to 50 and no δ up to 0.999 is enough.

    >>> privacy_for(error=2, confidence=0.95, sensitivity=1, epsilon=0)
    Privacy(epsilon=0, delta=0.238)
    >>> privacy_for(error=3, confidence=0.95, sensitivity=1, delta=0, integer=True)
    Privacy(epsilon=0.832, delta=0)
    """
    size = _read_error(error, integer=integer)
    often = parse_confidence(confidence, below_one="and below 1")
    effort = parse_effort(solve, gap, seconds)
    given = _given(epsilon, delta)
    moved = parse_sensitivity(given, sensitivity, cost, integer=integer)
    problem = Problem(given, moved, cost, integer, parse_shape(shape))
    with Progress() as progress:
        return _Search(problem, effort, size, often, epsilon is None, progress).smallest()


@dataclass(frozen=True)
class _Search:
    """The smallest of the decimals of three digits that is enough, by trying.

    The privacy of the problem is what is given, with 0 for what is asked for.
    """

    problem: Problem
    effort: Effort
    error: Fraction
    confidence: Fraction
    wants_epsilon: bool
    progress: Progress

    def smallest(self) -> Privacy:
        """Return the smallest promise: closed forms bracket it, solutions decide."""
        if self._enough(Fraction(0), self.effort):
            return self.problem.privacy
        quick = replace(self.effort, solve=False)
        first = self._first(_place(self._guess()), lambda place: self._enough(_at(place), quick))
        if self.effort.solve:

            def enough(place: int) -> bool:
                self.progress(f"trying {self._promise(_at(place))}")
                return self._enough(_at(place), self.effort)

            first = self._first(first, enough)
        return self._promise(_at(first))

    def _guess(self) -> Fraction:
        tail = -math.log(max(as_float(1 - self.confidence), 1e-300))
        wanted = tail * as_float(self.problem.sensitivity / self.error)
        return Fraction(min(max(wanted, 1e-300), 20.0 if self.wants_epsilon else 0.5))

    def _first(self, start: int, enough: Callable[[int], bool]) -> int:
        """Return the first place that is enough: steps that double from ``start``, then halving."""
        last = _place(_LARGEST_EPSILON if self.wants_epsilon else _LARGEST_DELTA)
        start, step = min(start, last), 1
        good, bad = (start, start - 1) if enough(start) else (None, start)
        while good is None:
            if bad == last:
                raise self._hopeless()
            place = min(bad + step, last)
            good, bad, step = (place, bad, step) if enough(place) else (None, place, 2 * step)
        if good == start:
            while enough(bad):
                good, step = bad, 2 * step
                bad -= step
        while good - bad > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if enough(middle) else (good, middle)
        return good

    def _enough(self, number: Fraction, effort: Effort) -> bool:
        """Tell whether the least noise of a promise is accurate enough."""
        promise = self._promise(number)
        if not promise.epsilon and not promise.delta:
            return False
        try:
            mechanism = calibrate_problem(replace(self.problem, privacy=promise), effort)
        except InvalidParameter:
            if number:
                raise
            return False  # at 0 there may be no least noise, and further on there is
        return half_width(mechanism, self.confidence) <= self.error

    def _promise(self, number: Fraction) -> Privacy:
        given = self.problem.privacy
        return (
            Privacy(number, given.delta) if self.wants_epsilon else Privacy(given.epsilon, number)
        )

    def _hopeless(self) -> InvalidParameter:
        asked, most = ("ε", _LARGEST_EPSILON) if self.wants_epsilon else ("δ", _LARGEST_DELTA)
        return InvalidParameter(
            f"the error must be one that some {asked} up to {format_exact(most)} allows so often, "
            f"got {format_exact(self.error)} with {format_exact(self.confidence)}. "
            "Accept a larger error or a smaller confidence."
        )


def _place(number: Fraction) -> int:
    short = Fraction(format_rounded(number, 3, ROUND_CEILING))
    exponent = magnitude(short)
    return exponent * _PER_DECADE + int(short / Fraction(10) ** (exponent - 2)) - 100


def _at(place: int) -> Fraction:
    exponent, digits = divmod(place, _PER_DECADE)
    return (digits + 100) * Fraction(10) ** (exponent - 2)


def _read_error(error: Number, *, integer: bool) -> Fraction:
    size = parse_positive(error, "error")
    if integer and size.denominator != 1:
        raise InvalidParameter(
            "the error of a whole-number answer must be a whole number",
            got=quote(error),
            fix=f"Give {max(1, math.floor(size))}, or leave out " + INTEGER + ".",
        )
    return size


def _given(epsilon: Number | None, delta: Number | None) -> Privacy:
    """Return what is given with 0 for what is asked for."""
    if (epsilon is None) == (delta is None):
        got = "neither" if epsilon is None else "both"
        raise InvalidParameter(
            f"one of ε and δ must be given, and the other is asked for, got {got}. "
            "Give for instance a δ of 1e-6 to ask for ε."
        )
    return Privacy(epsilon or 0, 0) if delta is None else Privacy(0, delta)
