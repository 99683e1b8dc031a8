"""``privacy_for``: the smallest guarantee whose noise is accurate enough."""

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
from leastnoise.core.privacy import Privacy, format_guarantee
from leastnoise.costs import Cost, l1
from leastnoise.deprecation import renamed_arguments
from leastnoise.errors import INTEGER, InvalidParameter, Words, parameter
from leastnoise.mechanism import calibrate_problem, half_width
from leastnoise.rendering import Progress

# ε and δ are searched for among decimals of three significant digits: 900 per power of ten.
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
    """Find the smallest guarantee whose noise stays within an error at a confidence.

    Give δ to find the smallest ε, or ε to find the smallest δ, to three significant digits, rounded
    up. :func:`leastnoise.calibrate` with the returned guarantee and the same ``cost``, ``integer``,
    ``shape``, ``solve``, ``gap`` and ``seconds`` gives noise that exceeds ``error`` with
    probability at most 1 − confidence, rounding to the lattice included. This function verifies
    that before it returns.

    Args:
        error: The largest acceptable error, positive; an integer for integer answers.
        confidence: The probability with which the error must be acceptable, above 0 and below 1.
        sensitivity: Δ, how much one person can change the true answer.
        epsilon: ε, to find the smallest δ; it may be 0. Default: find ε.
        delta: δ, to find the smallest ε; it may be 0. Default: find δ.
        cost: The cost of an error, on which the choice of noise depends. Default: ``l1``.
        integer: Whether true answers are integers. Default: False.
        shape: The class of noise, as for :func:`calibrate`. Default: ``"unimodal"``.
        solve: Whether to run the solver if no closed form is proved optimal. A search runs it about
            eight times. Default: True.
        gap: The accepted gap of each run, as for :func:`calibrate`. Default: 1/1000.
        seconds: The time limit of each run. Default: 10.

    Returns:
        The guarantee, with the given one of ε and δ unchanged.

    Raises:
        InvalidParameter: If an argument is invalid, or no ε up to 50 and no δ up to 0.999 suffices.

    >>> privacy_for(error=2, confidence=0.95, sensitivity=1, epsilon=0)
    Privacy(epsilon=0, delta=0.238)
    >>> privacy_for(error=3, confidence=0.95, sensitivity=1, delta=0, integer=True)
    Privacy(epsilon=0.832, delta=0)
    """
    size = _parse_error(error, integer=integer)
    level = parse_confidence(confidence, below_one="and below 1")
    effort = parse_effort(solve, gap, seconds)
    privacy = _parse_given(epsilon, delta)
    shift = parse_sensitivity(privacy, sensitivity, cost, integer=integer)
    problem = Problem(privacy, shift, cost, integer, parse_shape(shape))
    with Progress() as progress:
        return _Search(problem, effort, size, level, epsilon is None, progress).find_smallest()


@dataclass(frozen=True)
class _Search:
    """A search for the smallest sufficient decimal of three digits.

    The privacy of the problem has the given one of ε and δ, and 0 for the other.
    """

    problem: Problem
    effort: Effort
    error: Fraction
    confidence: Fraction
    finds_epsilon: bool
    progress: Progress

    def find_smallest(self) -> Privacy:
        """Return the smallest guarantee; closed forms bracket it before the solver decides."""
        if self._suffices(Fraction(0), self.effort):
            return self.problem.privacy
        quick = replace(self.effort, solve=False)
        first = self._find_first(
            _to_place(self._guess()), lambda place: self._suffices(_from_place(place), quick)
        )
        if self.effort.solve:

            def suffices(place: int) -> bool:
                self.progress(f"trying {format_guarantee(self._guarantee(_from_place(place)))}")
                return self._suffices(_from_place(place), self.effort)

            first = self._find_first(first, suffices)
        return self._guarantee(_from_place(first))

    def _guess(self) -> Fraction:
        tail = -math.log(max(as_float(1 - self.confidence), 1e-300))
        number = tail * as_float(self.problem.sensitivity / self.error)
        return Fraction(min(max(number, 1e-300), 20.0 if self.finds_epsilon else 0.5))

    def _find_first(self, start: int, suffices: Callable[[int], bool]) -> int:
        """Return the first sufficient place: double the step from ``start``, then bisect."""
        last = _to_place(_LARGEST_EPSILON if self.finds_epsilon else _LARGEST_DELTA)
        start, step = min(start, last), 1
        good, bad = (start, start - 1) if suffices(start) else (None, start)
        while good is None:
            if bad == last:
                raise self._unreachable_error()
            place = min(bad + step, last)
            good, bad, step = (place, bad, step) if suffices(place) else (None, place, 2 * step)
        if good == start:
            while suffices(bad):
                good, step = bad, 2 * step
                bad -= step
        while good - bad > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if suffices(middle) else (good, middle)
        return good

    def _suffices(self, number: Fraction, effort: Effort) -> bool:
        """Return whether the calibrated noise of a guarantee is accurate enough."""
        privacy = self._guarantee(number)
        if not privacy.epsilon and not privacy.delta:
            return False
        try:
            mechanism = calibrate_problem(replace(self.problem, privacy=privacy), effort)
        except InvalidParameter:
            if number:
                raise
            return False  # at 0 there may be no optimal noise, although there is above 0
        return half_width(mechanism, self.confidence) <= self.error

    def _guarantee(self, number: Fraction) -> Privacy:
        privacy = self.problem.privacy
        return (
            Privacy(number, privacy.delta)
            if self.finds_epsilon
            else Privacy(privacy.epsilon, number)
        )

    def _unreachable_error(self) -> InvalidParameter:
        symbol, most = ("ε", _LARGEST_EPSILON) if self.finds_epsilon else ("δ", _LARGEST_DELTA)
        return InvalidParameter(
            f"No {symbol} up to {format_exact(most)} keeps errors within "
            f"{format_exact(self.error)} with probability {format_exact(self.confidence)}",
            fix="Accept a larger error or a smaller confidence.",
        )


def _to_place(number: Fraction) -> int:
    short = Fraction(format_rounded(number, 3, ROUND_CEILING))
    exponent = magnitude(short)
    return exponent * _PER_DECADE + int(short / Fraction(10) ** (exponent - 2)) - 100


def _from_place(place: int) -> Fraction:
    exponent, digits = divmod(place, _PER_DECADE)
    return (digits + 100) * Fraction(10) ** (exponent - 2)


def _parse_error(error: Number, *, integer: bool) -> Fraction:
    size = parse_positive(error, "error")
    if integer and size.denominator != 1:
        raise InvalidParameter(
            parameter("error") + " must be an integer for integer answers",
            got=quote(error),
            fix=f"Use {max(1, math.floor(size))}, or omit " + INTEGER + ".",
        )
    return size


def _parse_given(epsilon: Number | None, delta: Number | None) -> Privacy:
    """Return the given one of ε and δ, with 0 for the other."""
    if (epsilon is None) == (delta is None):
        raise InvalidParameter(
            "Exactly one of " + Words("epsilon and delta", "--epsilon and --delta") + " is needed",
            got="neither" if epsilon is None else "both",
            fix="Pass " + Words("delta='1e-6'", "--delta 1e-6") + " to find the smallest ε.",
        )
    return Privacy(epsilon or 0, 0) if delta is None else Privacy(0, delta)
